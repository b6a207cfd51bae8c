"""Talō's replays: the format to the letter, written, read again, and every way a file can be wrong."""

import copy
import functools
import json

import pytest

import agents  # noqa: F401  # registers climber
from experiments.replay import main, play_game
from tests.talo_tools import POND
from tollero_env.film import film
from tollero_env.game import get_rules
from tollero_env.opponents import make_agent
from tollero_env.position import Position
from tollero_env.replay import ReplayError, load

OPTIONS = [
    {},
    {"board": "islands", "starts": "free"},
    {"starts": "symmetric"},
    {"collapse": "lose"},
    {"board": POND},
    {"variant": "fantasy"},
    {"variant": "fantasy", "board": "table", "goal": "three-feet"},
]
FORM = {
    "start": ["at"],
    "restart": ["at"],
    "stay": [],
    "roll": ["value"],
    "take": ["lengths"],
    "place": ["length", "at", "axis"],
    "move": ["to"],
    "end": [],
}


def record(agent, legal, **options):
    return play_game(get_rules("talo", 2, **options), make_agent(agent), 5, legal)


@functools.cache
def good_text():
    return json.dumps(record("climber", True))


def good():
    return json.loads(good_text())


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_game_of_any_kind_is_written_and_read(options):
    data = record("random", False, **options)
    assert list(data) == ["format", "game", "players", "options", "setup", "moves", "scores", "winner"]
    assert list(data["options"]) == ["collapse", "starts", "variant", "goal"]
    board = options.get("board", "green")
    assert data["setup"] == {"board": list(board.rows) if board is POND else board}
    for move in data["moves"]:
        assert list(move) == ["player", "type", *FORM[move["type"]]]
    again = load(json.loads(json.dumps(data)))
    assert again.rules.game.to_json(again.rules, again.start, again.moves, False, again.chances) == data
    position = Position(again.rules, again.start)
    for move, rolls in zip(again.moves, again.chances):
        position.play(move, rolls)
    assert position.states.tobytes() == again.end.tobytes()
    assert position.scores() == data["scores"]


def test_whole_legal_sets_hold_what_was_played():
    data = good()
    for move in data["moves"]:
        kind, legal = move["type"], move.get("legal")
        if kind == "roll":
            assert legal is None
        elif kind in ("start", "take"):
            assert move["at" if kind == "start" else "lengths"] in legal
        elif kind == "place":
            assert [move["length"], *move["at"], move["axis"]] in legal["place"]
        elif kind == "move":
            assert move["to"] in legal["move"]
        else:
            assert legal["end"] is True
            assert legal["place"] == []
    assert load(data).rules.game.name == "talo"


def test_a_climbers_game_ends_with_a_move_to_level_10():
    data = good()
    last = data["moves"][-1]
    assert (last["type"], last["to"][2]) == ("move", 10)
    assert data["winner"] == [last["player"]]
    assert data["scores"][last["player"]] == 10


def test_a_collapse_is_the_last_place_and_the_builder_loses():
    data = record("random", False, collapse="lose")
    builder = data["moves"][-1]
    assert builder["type"] == "place"
    assert data["winner"] == [1 - builder["player"]]


def test_fantasy_logs_rolls_takes_and_places_alone():
    data = record("random", False, variant="fantasy")
    assert {move["type"] for move in data["moves"]} == {"roll", "take", "place"}
    assert data["moves"][0]["type"] == "roll"
    assert data["scores"][0] == data["scores"][1]
    assert data["winner"] == []  # random players do not build to the end


def test_positions_remember_rolls_that_were_given():
    again = load(good())
    position = Position(again.rules, again.start, start=again.start.tobytes())
    for move, rolls in zip(again.moves, again.chances):
        position.play(move, rolls)
    assert {**position.to_replay(legal=True), "meta": 1} == {**good(), "meta": 1}
    assert position.to_replay() == position.copy().to_replay()


def test_a_replay_makes_a_film():
    again = load(good())
    frames = list(film(again.rules, again.start, again.moves[:9], chances=again.chances[:9]))
    assert len(frames) == 10
    assert len({(frame.scene.width, frame.scene.height) for frame in frames}) == 1


def spoil(change):
    data = copy.deepcopy(good())
    change(data)
    return data


def first(data, kind):
    return next(move for move in data["moves"] if move["type"] == kind)


def without_sets(data):
    for move in data["moves"]:
        move.pop("legal", None)


def falling(data):
    """The first block that lies is put on the air beside something."""
    place = next(move for move in data["moves"] if move["type"] == "place")
    place.pop("legal")
    place["at"][2] += 1


SPOILED = {
    "no room": (falling, "no room, or nothing to rest on"),
    "not in hand": (lambda d: first(d, "place").update(length=10, axis="x"), "the blocks in hand are"),
    "axis": (lambda d: first(d, "place").update(axis="w"), '"axis" is "w"; allowed: x, y, z'),
    "out of space": (lambda d: first(d, "place").update(at=[40, 0, 0]), '"at" is 40, not a whole number from -7 to 16'),
    "die": (lambda d: first(d, "roll").update(value=11), '"value" is 11, not a whole number from 1 to 10'),
    "no roll": (lambda d: d["moves"].remove(first(d, "roll")), "the rules ask for roll"),
    "take": (lambda d: first(d, "take").update(lengths=[10, 9]), "at most 10 in all"),
    "player": (lambda d: first(d, "take").update(player=1), '"player" is 1; it is the turn of 0'),
    "end": (lambda d: d["moves"].pop(), "the game is not over"),
    "more": (lambda d: d["moves"].append(d["moves"][-1]), "the game is already over"),
    "scores": (lambda d: d.update(scores=[3, 3]), r'"scores" is \[3, 3\]; the rules give'),
    "winner": (lambda d: d.update(winner=[0, 1]), r'"winner" is \[0, 1\]; the rules give'),
    "rows": (lambda d: d["setup"].update(board=["#" * 10] * 9), "9 rows; there must be ten"),
    "board": (lambda d: d["setup"].update(board="moon"), '"board" is "moon"; allowed: green, islands, table'),
    "option": (lambda d: d["options"].update(gravity=0), 'unknown key "gravity"; allowed: collapse, starts'),
    "value": (lambda d: d["options"].update(starts="high"), "option starts: 'high' is not one of 'free', 'symmetric'"),
    "key": (lambda d: d.update(colour=1), 'unknown key "colour"'),
    "move key": (lambda d: first(d, "place").update(colour=1), 'unknown key "colour"'),
    "legal twice": (lambda d: first(d, "take")["legal"].append(first(d, "take")["legal"][0]), "twice"),
    "legal lacks": (lambda d: first(d, "place")["legal"]["place"].pop(), '"legal" lacks'),
    "legal extra": (lambda d: first(d, "place")["legal"]["place"].append([9, 0, 0, 9, "x"]), "which is not legal"),
    "legal end": (lambda d: first(d, "end")["legal"].update(end=False), '"end" is false; the rules give true'),
}


@pytest.mark.parametrize("name", SPOILED)
def test_a_spoiled_replay_gets_one_clear_error(name):
    change, message = SPOILED[name]
    with pytest.raises(ReplayError, match=message) as caught:
        load(spoil(change))
    assert "\n" not in str(caught.value)


def test_a_block_that_falls_is_named():
    """A 2 laid across a 1 tips (19)."""
    moves = [
        {"player": 0, "type": "start", "at": [0, 0]},
        {"player": 1, "type": "start", "at": [9, 9]},
        {"player": 0, "type": "roll", "value": 3},
        {"player": 0, "type": "take", "lengths": [2, 1]},
        {"player": 0, "type": "place", "length": 1, "at": [4, 4, 0], "axis": "z"},
        {"player": 0, "type": "place", "length": 2, "at": [4, 4, 1], "axis": "x"},
    ]
    data = {**good(), "moves": moves}
    with pytest.raises(ReplayError, match=r'move 6: place \[2, \[4, 4, 1\], "x"\]|move 6: .*it would not stand'):
        load(data)


def test_the_command_line_makes_verifies_and_shows(tmp_path, capsys):
    out = tmp_path / "games.jsonl"
    how = ["--game", "talo", "--agent", "climber", "--games", "2", "--legal", "--option", "board=islands"]
    main(["make", *how, str(out)])
    main(["verify", str(out)])
    assert "2 games verified" in capsys.readouterr().out
    main(["show", str(out), "--only", "2", "--html", str(tmp_path / "game.html")])
    assert "<svg" in (tmp_path / "game.html").read_text(encoding="utf-8")
    main(["show", str(out), "--only", "1"])
    shown = capsys.readouterr().out
    assert "plays: place" in shown
    assert "Talō: 2 players, board islands" in shown
