"""Toscana's replays: the format to the letter, passes, and every way a file can be wrong."""

import copy
import functools
import json
import re

import pytest

from experiments.replay import main, play_game
from tests.toscana_tools import TILES
from tollero_env.game import get_rules
from tollero_env.opponents import make_agent
from tollero_env.position import Position
from tollero_env.replay import ReplayError, load

OPTIONS = {"size": 7, "contact": "colour", "veto": "match", "rounds": 2}


@functools.cache
def good_text(seed=3):
    return json.dumps(play_game(get_rules("toscana", 2, **OPTIONS), make_agent("random"), seed, legal=True))


def good(seed=3):
    return json.loads(good_text(seed))


def kinds(data, number=0):
    return [(move["player"], move["type"]) for move in data["rounds"][number]["moves"]]


def find(data, kind, number=0):
    """The number, from 0, of the first move of that type."""
    return next(k for k, move in enumerate(data["rounds"][number]["moves"]) if move["type"] == kind)


# ---- the format


@pytest.mark.parametrize("legal", [False, True])
@pytest.mark.parametrize("rounds", [1, 2])
def test_keys_their_order_and_their_types(rounds, legal):
    data = play_game(get_rules("toscana", 2, rounds=rounds), make_agent("random"), 11, legal)
    assert list(data) == ["format", "game", "players", "options", "tiles", "rounds", "scores"]
    assert (data["format"], data["game"], data["players"]) == ("toscana-replay/1", "toscana", 2)
    assert json.dumps(data["options"]) == json.dumps({"size": 17, "contact": "tile", "veto": "round", "rounds": rounds})
    assert data["tiles"] == TILES
    assert data["tiles"]["P01"] == ["ooxx", "oooo"]
    assert len(data["rounds"]) == rounds
    for played in data["rounds"]:
        assert list(played) == ["starts", "stacks", "moves", "scores"]
        assert [sorted(stack) for stack in played["stacks"]] == [sorted(TILES), sorted(TILES)]
        assert [type(score) for score in played["scores"]] == [int, int]
        for move in played["moves"]:
            own = ["tile", "at", "rot"] + ["legal"] * legal if move["type"] == "place" else []
            assert list(move) == ["player", "type", *own]
            if move["type"] == "place" and legal:
                assert move["legal"].count([*move["at"], move["rot"]]) == 1
    assert data["scores"] == [sum(played["scores"][seat] for played in data["rounds"]) for seat in range(2)]
    if rounds == 2:
        assert data["rounds"][1]["starts"] == 1 - data["rounds"][0]["starts"]
    assert json.loads(json.dumps(data)) == data


def test_a_round_reads_as_the_rules_tell_it():
    """R5, R6: a question to the opponent before each tile while the stone is unspent; two passes end the round."""
    seen = set()
    for seed in range(12):
        for played in good(seed)["rounds"]:
            moves, turn = played["moves"], played["starts"]
            for before, move in zip([None, *moves], moves):
                if move["type"] in ("veto", "allow"):
                    assert move["player"] == 1 - turn
                else:
                    assert move["player"] == turn
                    turn = 1 - turn
                if before and before["type"] == "pass" and move["type"] == "pass":
                    seen.add("two passes")
                    assert move is moves[-1]
                seen.add(move["type"])
    assert seen == {"veto", "allow", "place", "pass", "two passes"}


def test_no_pass_is_written_once_both_stacks_are_empty():
    found = 0
    for seed in range(4):
        data = play_game(get_rules("toscana", 2, size=31, rounds=1), make_agent("random"), seed)
        types = [move["type"] for move in data["rounds"][0]["moves"]]
        if types.count("place") == 32:
            assert types[-1] == "place"
            found += 1
    assert found


def test_a_match_can_be_written_at_any_time():
    position = Position.new(get_rules("toscana", 2, **OPTIONS), 4)
    assert [played["moves"] for played in position.to_replay()["rounds"]] == [[]]
    while not position.over:
        position.play(position.moves()[-1])
        data = position.to_replay()
        assert len(data["rounds"]) == int(position.states["round"][0]) + 1
        assert data["scores"] == position.scores()
        assert [sum(played["scores"][seat] for played in data["rounds"]) for seat in range(2)] == position.scores()
    assert Position(*load(data)[:2]).to_bytes()


def test_options_left_out_have_their_defaults():
    data = play_game(get_rules("toscana", 2), make_agent("random"), 5)
    data["options"] = {}
    assert load(data).rules.options == {"size": 17, "contact": "tile", "veto": "round", "rounds": 2}


def test_the_command_line(tmp_path, capsys):
    path = tmp_path / "games.jsonl"
    options = ["--option", "contact=colour", "--option", "size=11", "--option", "rounds=1", "--option", "veto=match"]
    main(["make", "--game", "toscana", "--games", "3", "--seed", "2", "--legal", *options, str(path)])
    main(["verify", str(path)])
    assert capsys.readouterr().out == f"{path}: 3 games of Toscana\n{path}: 3 games verified\n"
    data = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    assert data["options"] == {"size": 11, "contact": "colour", "veto": "match", "rounds": 1}
    for how in (["--html", str(tmp_path / "game.html")], ["--svg", str(tmp_path / "game.svg")], []):
        main(["show", str(path), "--only", "2", *how])
    assert "is to place" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="Toscana has no tileset"):
        main(["verify", str(path), "--tileset", "reconstruction"])


# ---- what is wrong is named: (how it is spoiled, what the error says)


def at(data, *path):
    for key in path[:-1]:
        data = data[key]
    return data, path[-1]


def put(value, *path):
    def spoil(data):
        holder, key = at(data, *path)
        holder[key] = value

    return spoil


def drop(*path):
    def spoil(data):
        holder, key = at(data, *path)
        del holder[key]

    return spoil


def change_move(kind, **changes):
    """Change the first move of that type; a value of None drops the key."""

    def spoil(data):
        move = data["rounds"][0]["moves"][find(data, kind)]
        for key, value in changes.items():
            if value is None:
                del move[key]
            else:
                move[key] = value

    return spoil


def on_moves(change, number=0):
    def spoil(data):
        change(data["rounds"][number]["moves"])

    return spoil


def swap_stack(data):
    stack = data["rounds"][0]["stacks"][1]
    stack[3] = stack[4]


def change_legal(change):
    def spoil(data):
        change(data["rounds"][0]["moves"][find(data, "place")]["legal"])

    return spoil


PASSED = next(seed for seed in range(100) if (0, "pass") in kinds(good(seed)) or (1, "pass") in kinds(good(seed)))

SPOILINGS = [
    (put("toscana-replay/2", "format"), r'"format" is "toscana-replay/2"; allowed: toscana-replay/1'),
    (put("chess", "game"), '"game" is "chess"; allowed: tollero, toscana'),
    (put(3, "players"), '"players" is 3, not a whole number from 2 to 2'),
    (put([], "options"), r'"options" is \[\], not an object'),
    (put(8, "options", "size"), "option size: 8 is not an odd number from 5 to 31"),
    (put("side", "options", "contact"), "option contact: 'side' is not one of"),
    (put(1, "options", "floors"), 'in "options": unknown key "floors"'),
    (put("reconstruction", "tileset"), 'unknown key "tileset"'),
    (drop("tiles"), '"tiles" is missing'),
    (drop("tiles", "P07"), 'in "tiles": "P07" is missing'),
    (put(["oooo", "ooxx"], "tiles", "P01"), r'in "tiles": "P01" is \["oooo", "ooxx"\], not \["ooxx", "oooo"\]'),
    (put(["oooo", "ooxx"], "tiles", "P17"), 'in "tiles": unknown key "P17"'),
    (drop("rounds", 1), '"rounds" has 1 entries, not 2'),
    (put("x", "rounds", 0), r'round 1: "rounds" is "x", not an object'),
    (put(1, "rounds", 0, "extra"), 'round 1: unknown key "extra"'),
    (drop("rounds", 1, "stacks"), 'round 2: "stacks" is missing'),
    (put(2, "rounds", 0, "starts"), 'round 1: "starts" is 2, not a whole number from 0 to 1'),
    (lambda data: put(data["rounds"][0]["starts"], "rounds", 1, "starts")(data), r"round 2: .*rule T1"),
    (swap_stack, r'round 1: "stacks" has "P\d\d" twice in one stack'),
    (put("P17", "rounds", 0, "stacks", 0, 5), r'round 1: "stacks" has "P17"; tiles are P01 to P16'),
    (put(["x"], "rounds", 0, "stacks", 0, 5), r'round 1: "stacks" has \["x"\]; tiles are'),
    (drop("rounds", 0, "stacks", 0, 5), r'round 1: "stacks" has 15 entries, not 16'),
    (put(5, "rounds", 0, "moves", 0), "round 1, move 1: a move is an object, not 5"),
    (change_move("place", type="veto"), r'round 1, move \d+: "type" is "veto"; the rules ask for place'),
    (change_move("place", type="pass"), r'round 1, move \d+: "type" is "pass"; the rules ask for place'),
    (change_move("allow", type="place"), r'round 1, move \d+: "type" is "place"; the rules ask for veto or allow'),
    (change_move("allow", legal=[]), r'round 1, move \d+: unknown key "legal"'),
    (change_move("allow", player=True), r'round 1, move \d+: "player" is true; it is the turn of \d'),
    (change_move("place", player=5), r'round 1, move \d+: "player" is 5; it is the turn of \d'),
    (change_move("place", tile="P99"), r'round 1, move \d+: "tile" is "P99"; the top of the stack is P\d\d'),
    (change_move("place", at=None), r'round 1, move \d+: "at" is missing'),
    (change_move("place", at=[1]), r'round 1, move \d+: "at" has 1 entries, not 2'),
    (change_move("place", at=[1, 7]), r'round 1, move \d+: "at" is 7, not a whole number from 0 to 6'),
    (change_move("place", at=[1, 1.0]), r'round 1, move \d+: "at" is 1.0, not a whole number'),
    (change_move("place", rot=4), r'round 1, move \d+: "rot" is 4, not a whole number from 0 to 3'),
    (change_move("place", at=[6, 6]), r"round 1, move \d+: place \[6, 6, \d\] is not legal; allowed: \["),
    (change_legal(list.clear), r'round 1, move \d+: "legal" lacks \[\d, \d, \d\] and \d+ more'),
    (change_legal(lambda legal: legal.append([6, 6, 0])), r'"legal" has \[6, 6, 0\], which is not legal'),
    (change_legal(lambda legal: legal.append(legal[0])), r'"legal" has \[\d, \d, \d\] twice'),
    (change_legal(lambda legal: legal.append([1, 2])), r'in "legal": \[1, 2\] is not \[row, column, rotation\]'),
    (on_moves(lambda moves: moves.pop()), r"round 1: after move \d+, the last, "),
    (
        on_moves(lambda moves: moves.append({"player": 0, "type": "pass"})),
        r"round 1, move \d+: the round is already over",
    ),
    (on_moves(lambda moves: moves.pop(), 1), r"round 2: after move \d+, the last, "),
    (put([99, 0], "rounds", 0, "scores"), r'round 1: "scores" is \[99, 0\]; the rules give \[\d+, \d+\]'),
    (put([1, 1], "scores"), r'"scores" is \[1, 1\]; the rules give \[\d+, \d+\]'),
    (put([True, 1], "rounds", 1, "scores"), r'round 2: "scores" is \[true, 1\]'),
]


@pytest.mark.parametrize(("spoil", "message"), SPOILINGS, ids=[message for _, message in SPOILINGS])
def test_a_spoiled_match_gets_one_line_that_says_what_and_where(spoil, message):
    data = good(PASSED)
    load(copy.deepcopy(data))
    spoil(data)
    with pytest.raises(ReplayError, match=f"^{message}" if message.startswith("round") else message) as caught:
        load(data)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda move: move.update(player=1 - move["player"]), r'"player" is \d; it is the turn of \d'),
        (lambda move: move.update(type="place"), '"type" is "place"; the rules ask for pass'),
        (lambda move: move.update(tile="P01"), 'unknown key "tile"'),
        (lambda move: move.clear(), '"type" is null; the rules ask for pass'),
    ],
)
def test_passes_are_checked_too(change, message):
    data = good(PASSED)
    number = find(data, "pass")
    change(data["rounds"][0]["moves"][number])
    with pytest.raises(ReplayError, match=f"^round 1, move {number + 1}: {message}"):
        load(data)


def test_a_pass_left_out_or_made_up_is_found():
    data = good(PASSED)
    moves = data["rounds"][0]["moves"]
    left_out = copy.deepcopy(data)
    del left_out["rounds"][0]["moves"][find(data, "pass")]
    with pytest.raises(ReplayError, match=r"ask for pass|passes \(rule R6\)|it is the turn of"):
        load(left_out)
    made_up = copy.deepcopy(data)
    made_up["rounds"][0]["moves"].insert(0, {"player": moves[0]["player"], "type": "pass"})
    with pytest.raises(ReplayError, match=re.escape('round 1, move 1: "type" is "pass"; the rules ask for veto or')):
        load(made_up)
