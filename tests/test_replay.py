"""Replays: the format to the letter, make, verify and show as a user runs them, and every way a file can be wrong."""

import copy
import functools
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiments.replay import main, play_game
from tollero_env import opponents
from tollero_env.ansi import strip
from tollero_env.game import OptionError, get_rules
from tollero_env.games.tollero.tiles import FOLDER
from tollero_env.opponents import make_agent
from tollero_env.position import Position
from tollero_env.replay import ReplayError, load, read, shown, write

ROOT = Path(__file__).parents[1]
SHIPPED = (FOLDER / "reconstruction.toml").read_text(encoding="utf-8")
LOTS = ["NW", "NE", "SE", "SW"]


def run(capsys, *args):
    """Exit code, stdout and stderr of a command; Python prints a text that it exits with."""
    try:
        main([str(arg) for arg in args])
        code = 0
    except SystemExit as stop:
        code = stop.code
    out, err = capsys.readouterr()
    return (1, out, f"{err}{code}\n") if isinstance(code, str) else (code or 0, out, err)


def run_process(*args):
    """The same in a process of its own."""
    words = [sys.executable, "-m", "experiments.replay", *map(str, args)]
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=120)


def read_games(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@functools.cache
def good_text():
    """A game of two players and two Floors: lay, build, build; lay, build, build."""
    return json.dumps(play_game(get_rules("tollero", 2, floors=2), make_agent("random"), 5, legal=True))


def good():
    return json.loads(good_text())


# ---------------------------------------------------------------- the format


def test_the_good_game_is_what_the_spoilings_below_take_it_for():
    kinds = [(move["player"], move["type"]) for move in good()["moves"]]
    assert kinds == [(0, "expand"), (0, "build"), (0, "build"), (1, "expand"), (1, "build"), (1, "build")]


@pytest.mark.parametrize("legal", [False, True])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_keys_their_order_and_their_types(players, legal):
    data = play_game(get_rules("tollero", players, floors=3), make_agent("random"), 11, legal)
    assert list(data) == ["format", "game", "players", "tileset", "options", "setup", "moves", "scores"]
    assert (data["format"], data["game"], data["tileset"]) == ("tollero-replay/1", "tollero", "reconstruction")
    assert type(data["players"]) is int
    assert json.dumps(data["options"]) == '{"downtown_scores": true, "floors": 3}'
    assert list(data["setup"]) == ["downtown", "hands", "pile"]
    assert [tile["at"] for tile in data["setup"]["downtown"]] == [[0, -1], [1, 0], [0, 1], [-1, 0]]
    for tile in data["setup"]["downtown"]:
        assert list(tile) == ["at", "tile", "side", "rot"]
        assert tile["tile"] in ("D1", "D2", "D3", "D4")
        assert tile["side"] in ("A", "B")
        assert type(tile["rot"]) is int
    assert (len(data["setup"]["hands"]), len(data["setup"]["pile"])) == (players, 54 - players)
    assert len(data["scores"]) == players
    assert all(type(score) is int for score in data["scores"])
    for move in data["moves"]:
        keys = {"expand": ["player", "type", "tile", "at", "rot"], "build": ["player", "type", "at", "lot"]}
        assert list(move) == keys[move["type"]] + ["legal"] * legal
        assert type(move["player"]) is int
        assert [type(number) for number in move["at"]] == [int, int]
    assert json.loads(json.dumps(data)) == data


def test_legal_lists_hold_the_move_and_have_its_form():
    for move in good()["moves"]:
        how = move["rot"] if move["type"] == "expand" else move["lot"]
        assert move["legal"].count([*move["at"], how]) == 1
        for x, y, choice in move["legal"]:
            assert type(x) is type(y) is int
            assert choice in (range(4) if move["type"] == "expand" else LOTS)


def test_hands_and_pile_are_the_54_an_id_for_each_copy():
    setup = good()["setup"]
    dealt = sorted(setup["hands"] + setup["pile"])
    copies = {"C37": 4, "C38": 6, "C39": 6, "C40": 2}
    assert dealt == sorted(f"C{n:02}" for n in range(1, 41) for _ in range(copies.get(f"C{n:02}", 1)))


def test_the_first_tiles_are_the_hands_and_then_the_pile_from_the_top():
    data = good()
    laid = [move["tile"] for move in data["moves"] if move["type"] == "expand"]
    assert laid == data["setup"]["hands"]
    longer = play_game(get_rules("tollero", 2, floors=6), make_agent("random"), 5)
    laid = [move["tile"] for move in longer["moves"] if move["type"] == "expand"]
    assert laid == (longer["setup"]["hands"] + longer["setup"]["pile"])[: len(laid)]


def test_loading_gives_the_game_back():
    data = good()
    replay = load(data)
    position = Position(replay.rules, replay.start)
    for move in replay.moves:
        position.play(move)
    assert position.to_bytes() == replay.end.tobytes()
    assert position.over
    assert position.scores() == data["scores"]
    assert replay.rules.game.to_json(replay.rules, replay.start, replay.moves, True) == data


def test_downtown_may_be_listed_in_any_order():
    for order in itertools.permutations(good()["setup"]["downtown"]):
        data = good()
        data["setup"]["downtown"] = list(order)
        assert load(data).end.tobytes() == load(good()).end.tobytes()


def test_legal_lists_are_sets_and_may_be_left_out_one_by_one():
    data = good()
    for number, move in enumerate(data["moves"]):
        move["legal"].reverse()
        if number % 2:
            del move["legal"]
    load(data)


def test_meta_may_hold_anything():
    for meta in (None, 1, {"agents": ["a", "b"], "seeds": [1.5, None]}, []):
        load({**good(), "meta": meta})


def test_options_left_out_have_their_defaults():
    data = play_game(get_rules("tollero"), make_agent("random"), 3)
    load({**data, "options": {}})
    data = good()
    del data["options"]["downtown_scores"]
    load(data)


# ---------------------------------------------------------------- make, verify, show


@pytest.mark.parametrize("players", [2, 3, 4])
def test_what_make_writes_verify_takes(players, tmp_path, capsys):
    out = tmp_path / "games.jsonl"
    args = ["--game", "tollero", "--players", players, "--games", 3, "--agent", "random", "--seed", 4, "--legal"]
    assert run(capsys, "make", *args, out) == (0, f"{out}: 3 games of Tollero\n", "")
    games = read_games(out)
    assert [game["players"] for game in games] == [players] * 3
    assert all("legal" in move for game in games for move in game["moves"])
    assert len({json.dumps(game["setup"]) for game in games}) == 3
    assert [path.name for path in tmp_path.iterdir()] == ["games.jsonl"]
    assert run(capsys, "verify", out) == (0, f"{out}: 3 games verified\n", "")


def test_each_line_is_a_game_as_json_dumps_writes_it(tmp_path, capsys):
    out = tmp_path / "games.jsonl"
    run(capsys, "make", "--games", 2, "--option", "floors=1", out)
    assert out.read_bytes() == b"".join(json.dumps(game).encode() + b"\n" for game in read_games(out))


def test_one_game_is_not_called_games(tmp_path, capsys):
    out = tmp_path / "game.jsonl"
    assert run(capsys, "make", "--option", "floors=1", out)[1] == f"{out}: 1 game of Tollero\n"
    assert run(capsys, "verify", out)[1] == f"{out}: 1 game verified\n"


def test_without_legal_there_is_none(tmp_path, capsys):
    run(capsys, "make", "--option", "floors=2", tmp_path / "a")
    run(capsys, "make", "--option", "floors=2", "--legal", tmp_path / "b")
    (plain,), (whole,) = read_games(tmp_path / "a"), read_games(tmp_path / "b")
    assert not any("legal" in move for move in plain["moves"])
    for move in whole["moves"]:
        del move["legal"]
    assert plain == whole


@pytest.mark.parametrize("place", range(4))
def test_out_may_stand_anywhere(place, tmp_path, capsys):
    words = [["--legal"], ["--option", "floors=1"], ["--seed", "3"]]
    words.insert(place, [str(tmp_path / "out.jsonl")])
    assert run(capsys, "make", *itertools.chain.from_iterable(words))[0] == 0
    (game,) = read_games(tmp_path / "out.jsonl")
    assert game["options"]["floors"] == 1
    assert "legal" in game["moves"][0]


def test_options_are_read_as_their_own_type_and_written_so(tmp_path, capsys):
    out, fixed = tmp_path / "games.jsonl", "D3:B:1 D4:B:0 D2:A:3 D1:B:1"
    options = ["--option", "floors=3", "--option", "downtown_scores=false", "--option", f"downtown={fixed}"]
    assert run(capsys, "make", *options, out)[0] == 0
    (game,) = read_games(out)
    assert json.dumps(game["options"]) == f'{{"downtown_scores": false, "floors": 3, "downtown": "{fixed}"}}'
    laid = [f"{tile['tile']}:{tile['side']}:{tile['rot']}" for tile in game["setup"]["downtown"]]
    assert " ".join(laid) == fixed
    assert run(capsys, "verify", out)[0] == 0


def test_the_seed_decides_everything(tmp_path, capsys):
    for name, seed in (("a", 7), ("b", 7), ("c", 8)):
        run(capsys, "make", "--players", 3, "--games", 2, "--seed", seed, "--option", "floors=2", tmp_path / name)
    first, again, other = ((tmp_path / name).read_bytes() for name in "abc")
    assert first == again
    assert first != other


def test_games_of_a_file_do_not_depend_on_how_many_there_are(tmp_path, capsys):
    for name, games in (("few", 2), ("many", 4)):
        run(capsys, "make", "--games", games, "--option", "floors=1", tmp_path / name)
    assert read_games(tmp_path / "many")[:2] == read_games(tmp_path / "few")


# Sets in which tiles are put away (E4) before anybody decided anything: the setup must still be the one dealt.
BARE = '[contract]\ncanals = "NESW"\n'
RICH = '{ value = 3, canals = "NESW", lots = { NW = "foundation", SE = "foundation" } }'


def tile_set(name, downtown, *city):
    """City tiles as (copies, canals, lots)."""
    text = f'name = "{name}"\n{BARE}'
    for number in range(1, 5):
        text += f'[[downtown]]\nid = "D{number}"\na = {downtown}\nb = {downtown}\n'
    for number, (copies, canals, lots) in enumerate(city):
        text += f'[[city]]\nid = "T{number}"\ncopies = {copies}\nvalue = 2\ncanals = "{canals}"\nlots = {lots}\n'
    return text


FOUNDATION = '{ NE = "foundation" }'
SETS = {
    "mostly unfit": tile_set("mostly unfit", RICH, (50, "", FOUNDATION), (4, "NS", FOUNDATION)),
    "nothing fits": tile_set("nothing fits", RICH, (54, "", "{}")),
    "nothing to do": tile_set("nothing to do", RICH.replace("foundation", "plain"), (54, "", "{}")),
    "no lots": tile_set("no lots", RICH.replace("foundation", "plain"), (54, "NE", "{}")),
    "mine": SHIPPED.replace('name = "reconstruction"', 'name = "mine"').replace("value = 4", "value = 9"),
}


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("name", SETS)
def test_custom_tile_sets_by_path(name, players, tmp_path, capsys):
    tiles, out = tmp_path / "tiles.toml", tmp_path / "games.jsonl"
    tiles.write_text(SETS[name], encoding="utf-8")
    args = ["--games", 4, "--players", players, "--tileset", tiles, "--option", "floors=4", "--legal"]
    assert run(capsys, "make", out, *args)[0] == 0
    games = read_games(out)
    assert [game["tileset"] for game in games] == [name] * 4
    for game in games:
        assert (len(game["setup"]["hands"]), len(game["setup"]["pile"])) == (players, 54 - players)
    assert run(capsys, "verify", out, "--tileset", tiles) == (0, f"{out}: 4 games verified\n", "")
    assert run(capsys, "show", "--tileset", tiles, out)[0] == 0
    code, _, err = run(capsys, "verify", out)
    assert (code, err.count("\n")) == (1, 1)
    assert f'"tileset" is "{name}", which is not shipped; name its file with --tileset PATH' in err


def test_the_set_that_is_given_must_be_the_one_that_the_game_names(tmp_path, capsys):
    tiles, out = tmp_path / "tiles.toml", tmp_path / "games.jsonl"
    tiles.write_text(SETS["mine"], encoding="utf-8")
    run(capsys, "make", "--option", "floors=1", out)
    code, _, err = run(capsys, "verify", out, "--tileset", tiles)
    assert code == 1
    assert '"tileset" is "reconstruction", but the given set is "mine"' in err
    assert run(capsys, "verify", out, "--tileset", "reconstruction")[0] == 0


def test_a_tile_set_that_breaks_the_format_is_named(tmp_path, capsys):
    tiles, out = tmp_path / "tiles.toml", tmp_path / "games.jsonl"
    tiles.write_text(SHIPPED.replace("copies = 6", "copies = 7"), encoding="utf-8")
    for args in (["make", out], ["verify", out]):
        out.write_text(good_text())
        code, _, err = run(capsys, *args, "--tileset", tiles)
        assert (code, err) == (1, f"error: {tiles}: city: 56 City tiles, copies counted; there must be 54\n")


def test_a_tile_set_of_the_same_name_but_other_tiles_does_not_pass(tmp_path, capsys):
    tiles, out = tmp_path / "tiles.toml", tmp_path / "games.jsonl"
    tiles.write_text(SETS["mine"], encoding="utf-8")
    run(capsys, "make", "--tileset", tiles, out)
    tiles.write_text(SETS["mine"].replace("value = 9", "value = 1"), encoding="utf-8")
    assert run(capsys, "verify", "--tileset", tiles, out)[0] == 1


def test_show_prints_every_game_or_the_one_asked_for(tmp_path, capsys):
    out = tmp_path / "games.jsonl"
    run(capsys, "make", "--games", 3, "--option", "floors=1", out)
    code, everything, _ = run(capsys, "show", out)
    assert code == 0
    parts = ["Game " + part for part in everything.split("Game ")[1:]]
    assert [part[:7] for part in parts] == ["Game 1\n", "Game 2\n", "Game 3\n"]
    for number, game in enumerate(read_games(out), 1):
        assert run(capsys, "show", out, "--only", number) == (0, parts[number - 1], "")
        assert parts[number - 1].count("plays: ") == len(game["moves"])
        assert parts[number - 1].endswith(f"scores: {game['scores']}\n\n")
    for number in (0, 4):
        assert run(capsys, "show", "--only", number, out) == (1, "", f"error: {out}: there is no game {number}\n")


def test_show_checks_what_it_shows(tmp_path, capsys):
    (tmp_path / "bad").write_text(json.dumps({**good(), "scores": [0, 0]}))
    code, out, err = run(capsys, "show", tmp_path / "bad")
    assert (code, out) == (1, "")
    assert '"scores" is [0, 0]' in err


# ---------------------------------------------------------------- other ways to write a good file


def pretty(text):
    return json.dumps(json.loads(text), indent=2)


FORMS = {
    "one line": lambda text: text,
    "pretty": pretty,
    "pretty, one blank": lambda text: json.dumps(json.loads(text), indent=1),
    "pretty, tabs": lambda text: json.dumps(json.loads(text), indent="\t"),
    "pretty, blank lines around": lambda text: f"\n\n{pretty(text)}\n\n",
    "pretty, CRLF": lambda text: pretty(text).replace("\n", "\r\n"),
    "two": lambda text: f"{text}\n{text}",
    "two, CRLF": lambda text: f"{text}\r\n{text}\r\n",
    "two, blank lines": lambda text: f"\n{text}\n\n  \n{text}\n\n\n",
    "byte order mark": lambda text: f"\ufeff{text}\n",
    "other order of keys": lambda text: json.dumps(dict(reversed(json.loads(text).items()))),
    "no blanks": lambda text: json.dumps(json.loads(text), separators=(",", ":")),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_that_are_taken(form, tmp_path, capsys):
    path = tmp_path / "game.json"
    path.write_bytes(FORMS[form](good_text()).encode())
    games = "2 games" if form.startswith("two") else "1 game"
    assert run(capsys, "verify", path) == (0, f"{path}: {games} verified\n", "")


# ---------------------------------------------------------------- spoiled games


def put(*where):
    """A spoiling: the last word takes the place that the words before it lead to."""
    *path, key, value = where

    def spoil(data):
        for step in path:
            data = data[step]
        data[key] = value

    return spoil


def drop(*where):
    *path, key = where

    def spoil(data):
        for step in path:
            data = data[step]
        del data[key]

    return spoil


def tile_twice(data):
    setup = data["setup"]
    single = next(tile for tile in setup["pile"] if setup["pile"].count(tile) == 1)
    setup["pile"][setup["pile"].index("C38")] = single


def downtown_twice(data):
    """Side B of D2 has four canals, so it can lie anywhere."""
    for number in (0, 1):
        data["setup"]["downtown"][number] |= {"tile": "D2", "side": "B", "rot": 0}


def downtown_dry(data):
    """Side B of D4 has no canal in the south, which is where the centre is if it lies in the north."""
    downtown = data["setup"]["downtown"]
    place = next(number for number, tile in enumerate(downtown) if tile["tile"] == "D4")
    downtown[place]["tile"] = downtown[0]["tile"]
    downtown[0] |= {"tile": "D4", "side": "B", "rot": 0}


def fix_other_turn(data):
    """The option asks for the same tiles in the same places, the first turned in another way that matches too."""
    words = [f"{tile['tile']}:{tile['side']}:{tile['rot']}" for tile in data["setup"]["downtown"]]
    for rot in range(4):
        asked = " ".join([f"{words[0][:5]}{rot}", *words[1:]])
        if rot != int(words[0][5]):
            try:
                get_rules("tollero", downtown=asked)
            except OptionError:
                continue
            data["options"]["downtown"] = asked
            return


def illegal_turn(data):
    """The same cell, turned in a way that is not legal there."""
    move = data["moves"][3]
    x, y = move["at"]
    here = [rot for cell_x, cell_y, rot in move["legal"] if [cell_x, cell_y] == [x, y]]
    assert len(here) < 4
    move["rot"] = next(rot for rot in range(4) if rot not in here)


def illegal_lot(data):
    """A lot of the same tile that cannot be built on."""
    move = data["moves"][1]
    here = [lot for x, y, lot in move["legal"] if [x, y] == move["at"]]
    assert len(here) < 4
    move["lot"] = next(lot for lot in LOTS if lot not in here)


def other_owner(data):
    """B2: where another player's Floor stands."""
    data["moves"][4] |= {key: data["moves"][1][key] for key in ("at", "lot")}


def same_tile_again(data):
    """B3: the second Floor on the tile that took the first."""
    move = data["moves"][1]
    data["moves"][2] |= {key: move[key] for key in ("at", "lot")}


def legal_lacks(*numbers):
    """Leave so many out, but never the move itself."""

    def spoil(data):
        move = data["moves"][3]
        others = [one for one in move["legal"] if one != [*move["at"], move["rot"]]]
        for number in numbers:
            move["legal"].remove(others[number])

    return spoil


def too_many_moves(data):
    data["moves"].append(data["moves"][-1])


def swapped_turns(data):
    moves = data["moves"]
    moves[:] = moves[3:] + moves[:3]


def better_score(data):
    data["scores"][1] += 1


def equal_bools(data):
    data["scores"] = [bool(score) if score in (0, 1) else score for score in [1, 0]]


DOWN = ("setup", "downtown")
SETUP = 'game 1: in "setup": '
DOWNTOWN = 'game 1: in "setup", "downtown": '
FIXED = "D1:A:0 D2:B:0 D3:A:0 D4:A:0"

SPOILINGS = [
    ("no format", drop("format"), 'game 1: "format" is missing'),
    ("other format", put("format", "tollero-replay/2"), 'game 1: "format" is "tollero-replay/2"; allowed: tollero-rep'),
    ("format of another game", put("format", "talo-replay/1"), 'game 1: "format" is "talo-replay/1"; allowed'),
    ("format a list", put("format", ["tollero-replay/1"]), 'game 1: "format" is ["tollero-replay/1"]; allowed'),
    ("no game", drop("game"), 'game 1: "game" is missing'),
    ("other game", put("game", "chess"), 'game 1: "game" is "chess"; allowed: tollero'),
    ("game a list", put("game", ["tollero"]), 'game 1: "game" is ["tollero"]; allowed'),
    ("no players", drop("players"), 'game 1: "players" is missing'),
    ("five players", put("players", 5), 'game 1: "players" is 5, not a whole number from 2 to 4'),
    ("players true", put("players", True), 'game 1: "players" is true, not a whole number'),
    ("players a float", put("players", 2.0), 'game 1: "players" is 2.0, not a whole number'),
    ("players a string", put("players", "2"), 'game 1: "players" is "2", not a whole number'),
    ("players null", put("players", None), 'game 1: "players" is null, not a whole number'),
    ("players more than hands", put("players", 3), f'{SETUP}"hands" has 2 entries, not 3'),
    ("unknown key", put("winner", [0]), 'game 1: unknown key "winner"; allowed: format, game, players, tileset, opt'),
    ("misspelt key", put("Meta", {}), 'game 1: unknown key "Meta"; allowed'),
    ("no tile set", drop("tileset"), 'game 1: "tileset" is missing'),
    ("unknown tile set", put("tileset", "mine"), 'game 1: "tileset" is "mine", which is not shipped; name its file'),
    ("tile set a path", put("tileset", str(FOLDER / "reconstruction.toml")), "which is not shipped"),
    ("tile set a number", put("tileset", 1), 'game 1: "tileset" is 1, which is not shipped'),
    ("no options", drop("options"), 'game 1: "options" is missing'),
    ("options a list", put("options", []), 'game 1: "options" is [], not an object'),
    ("unknown option", put("options", "speed", 1), 'in "options": unknown key "speed"; allowed: downtown_scores, '),
    ("tile set as option", put("options", "tileset", "reconstruction"), 'in "options": unknown key "tileset"'),
    ("no floors", put("options", "floors", 0), "game 1: option floors: 0 is not a whole number from 1 to 20"),
    ("21 floors", put("options", "floors", 21), "game 1: option floors: 21 is not a whole number from 1 to 20"),
    ("floors true", put("options", "floors", True), "game 1: option floors: True is not a whole number"),
    ("floors a float", put("options", "floors", 2.0), "game 1: option floors: 2.0 is not a whole number"),
    ("floors a string", put("options", "floors", "2"), "game 1: option floors: '2' is not a whole number"),
    ("fewer floors", put("options", "floors", 1), 'game 1: move 3: "type" is "build"; the rules ask for expand'),
    ("more floors", put("options", "floors", 3), "game 1: after move 6, the last, the game is not over: player 0 is"),
    ("scores option 1", put("options", "downtown_scores", 1), "game 1: option downtown_scores: 1 is not one of"),
    ("scores option null", put("options", "downtown_scores", None), "option downtown_scores: None is not one of"),
    ("downtown not understood", put("options", "downtown", "D1"), "game 1: option downtown: 'D1' is not understood"),
    ("downtown a list", put("options", "downtown", []), "game 1: option downtown: [] is not a string"),
    ("another downtown", put("options", "downtown", FIXED), "cannot lie so at [0, -1] (rule S2, or option downtown)"),
    ("downtown turned otherwise", fix_other_turn, "cannot lie so at [0, -1] (rule S2, or option downtown)"),
    ("no setup", drop("setup"), 'game 1: "setup" is missing'),
    ("setup null", put("setup", None), 'game 1: "setup" is null, not an object'),
    ("no pile", drop("setup", "pile"), f'{SETUP}"pile" is missing'),
    ("unknown key in setup", put("setup", "seed", 1), f'{SETUP}unknown key "seed"; allowed: downtown, hands, pile'),
    ("hands a string", put("setup", "hands", "C01"), f'{SETUP}"hands" is "C01", not a list'),
    ("one hand", drop("setup", "hands", 0), f'{SETUP}"hands" has 1 entries, not 2'),
    ("foreign hand", put("setup", "hands", 0, "C99"), f'{SETUP}"hands" has "C99", which is no City tile of the set'),
    ("Downtown in hand", put("setup", "hands", 0, "D1"), f'{SETUP}"hands" has "D1", which is no City tile'),
    ("hand a number", put("setup", "hands", 0, 1), f'{SETUP}"hands" has 1, which is no City tile'),
    ("hand a list", put("setup", "hands", 0, ["C01"]), f'{SETUP}"hands" has ["C01"], which is no City tile'),
    ("pile an object", put("setup", "pile", {}), f'{SETUP}"pile" is {{}}, not a list'),
    ("pile too short", drop("setup", "pile", 51), f'{SETUP}"pile" has 51 entries, not 52'),
    ("pile too long", lambda data: data["setup"]["pile"].append("C01"), f'{SETUP}"pile" has 53 entries, not 52'),
    ("foreign tile in pile", put("setup", "pile", 9, "X"), f'{SETUP}"pile" has "X", which is no City tile'),
    ("a tile twice", tile_twice, "is dealt 2 times; the tile set has 1"),
    ("three downtown", drop(*DOWN, 0), f'{SETUP}"downtown" has 3 entries, not 4'),
    ("five downtown", lambda data: data["setup"]["downtown"].append({}), f'{SETUP}"downtown" has 5 entries, not 4'),
    ("downtown entry a string", put(*DOWN, 1, "D1:A:0"), f'{DOWNTOWN}"downtown" is "D1:A:0", not an object'),
    ("downtown entry with more", put(*DOWN, 1, "value", 3), f'{DOWNTOWN}unknown key "value"; allowed: at, tile'),
    ("downtown without a side", drop(*DOWN, 1, "side"), f'{DOWNTOWN}"side" is missing'),
    ("downtown on one cell", put(*DOWN, 1, "at", [0, -1]), f'{DOWNTOWN}"at" is [0, -1]; each of [[0, -1], [1, 0], ['),
    ("downtown elsewhere", put(*DOWN, 1, "at", [2, 0]), f'{DOWNTOWN}"at" is [2, 0]; each of'),
    ("downtown at three numbers", put(*DOWN, 1, "at", [1, 0, 0]), f'{DOWNTOWN}"at" has 3 entries, not 2'),
    ("downtown at floats", put(*DOWN, 1, "at", [1.0, 0]), f'{DOWNTOWN}"at" is 1.0, not a whole number'),
    ("downtown at bools", put(*DOWN, 1, "at", [True, False]), f'{DOWNTOWN}"at" is true, not a whole number'),
    ("unknown downtown", put(*DOWN, 1, "tile", "D5"), f'{DOWNTOWN}"D5", side "'),
    ("city as downtown", put(*DOWN, 1, "tile", "C01"), f'{DOWNTOWN}"C01", side "'),
    ("side C", put(*DOWN, 1, "side", "C"), 'side "C" is no Downtown tile of the set'),
    ("side a", put(*DOWN, 1, "side", "a"), 'side "a" is no Downtown tile of the set'),
    ("side AB", put(*DOWN, 1, "side", "AB"), 'side "AB" is no Downtown tile of the set'),
    ("downtown turned 4 times", put(*DOWN, 1, "rot", 4), f'{DOWNTOWN}"rot" is 4, not a whole number from 0 to 3'),
    ("downtown turned true", put(*DOWN, 1, "rot", True), f'{DOWNTOWN}"rot" is true, not a whole number'),
    ("a downtown tile twice", downtown_twice, f"{DOWNTOWN}a tile comes twice"),
    ("downtown that does not match", downtown_dry, f"{DOWNTOWN}D4 cannot lie so at [0, -1] (rule S2, or option"),
    ("no moves", drop("moves"), 'game 1: "moves" is missing'),
    ("moves an object", put("moves", {}), 'game 1: "moves" is {}, not a list'),
    ("moves empty", put("moves", []), "game 1: after move 0, the last, the game is not over: player 0 is to act"),
    ("moves cut short", drop("moves", 5), "game 1: after move 5, the last, the game is not over: player 1 is to act"),
    ("a move left out", drop("moves", 2), 'game 1: move 3: "type" is "expand"; the rules ask for build'),
    ("a move too many", too_many_moves, "game 1: move 7: the game is already over"),
    ("turns swapped", swapped_turns, 'game 1: move 1: "player" is 1; it is the turn of 0'),
    ("a move a list", put("moves", 1, []), "game 1: move 2: a move is an object, not []"),
    ("no player", drop("moves", 1, "player"), 'game 1: move 2: "player" is missing'),
    ("wrong player", put("moves", 3, "player", 0), 'game 1: move 4: "player" is 0; it is the turn of 1'),
    ("player who is not there", put("moves", 3, "player", 2), 'game 1: move 4: "player" is 2; it is the turn of 1'),
    ("player true", put("moves", 3, "player", True), 'game 1: move 4: "player" is true; it is the turn of 1'),
    ("player a float", put("moves", 3, "player", 1.0), 'game 1: move 4: "player" is 1.0; it is the turn of 1'),
    ("no type", drop("moves", 1, "type"), 'game 1: move 2: "type" is null; the rules ask for build'),
    ("unknown type", put("moves", 1, "type", "pass"), 'game 1: move 2: "type" is "pass"; the rules ask for build'),
    ("other type", put("moves", 1, "type", "expand"), 'game 1: move 2: "type" is "expand"; the rules ask for build'),
    ("unknown key in a move", put("moves", 1, "time", 3), 'game 1: move 2: unknown key "time"; allowed: player, type'),
    ("tile in a build", put("moves", 1, "tile", "C01"), 'game 1: move 2: unknown key "tile"; allowed: player, type'),
    ("no tile", drop("moves", 0, "tile"), 'game 1: move 1: "tile" is missing'),
    ("wrong tile", put("moves", 3, "tile", "C00"), 'game 1: move 4: "tile" is "C00"; the player holds C'),
    ("tile null", put("moves", 3, "tile", None), 'game 1: move 4: "tile" is null; the player holds C'),
    ("no cell", drop("moves", 0, "at"), 'game 1: move 1: "at" is missing'),
    ("on the contract", put("moves", 0, "at", [0, 0]), "game 1: move 1: expand [0, 0, "),
    ("beside nothing", put("moves", 3, "at", [40, 3]), "game 1: move 4: expand [40, 3, "),
    ("out of reach", put("moves", 3, "at", [60, 0]), 'game 1: move 4: "at" is 60, not a whole number from -59 to 59'),
    ("far out", put("moves", 3, "at", [0, 10**30]), 'game 1: move 4: "at" is 1000000000'),
    ("one coordinate", put("moves", 3, "at", [1]), 'game 1: move 4: "at" has 1 entries, not 2'),
    ("coordinates in an object", put("moves", 3, "at", {"x": 1, "y": 2}), 'move 4: "at" is {"x": 1, "y": 2}, not'),
    ("a coordinate true", put("moves", 3, "at", [True, 0]), 'game 1: move 4: "at" is true, not a whole number'),
    ("a coordinate a float", put("moves", 3, "at", [1.0, 0]), 'game 1: move 4: "at" is 1.0, not a whole number'),
    ("a coordinate a string", put("moves", 3, "at", ["1", 0]), 'game 1: move 4: "at" is "1", not a whole number'),
    ("a rotation that is not legal", illegal_turn, "is not legal; allowed: ["),
    ("no rotation", drop("moves", 3, "rot"), 'game 1: move 4: "rot" is missing'),
    ("rotation 4", put("moves", 3, "rot", 4), 'game 1: move 4: "rot" is 4, not a whole number from 0 to 3'),
    ("rotation -1", put("moves", 3, "rot", -1), 'game 1: move 4: "rot" is -1, not a whole number from 0 to 3'),
    ("rotation true", put("moves", 3, "rot", True), 'game 1: move 4: "rot" is true, not a whole number'),
    ("no lot", drop("moves", 1, "lot"), 'game 1: move 2: "lot" is missing'),
    ("a lot that is not legal", illegal_lot, "game 1: move 2: build ["),
    ("a lot of another player", other_owner, "game 1: move 5: build ["),
    ("a build where no tile is", put("moves", 1, "at", [9, 9]), "game 1: move 2: build [9, 9, "),
    ("both Floors on one tile", same_tile_again, "game 1: move 3: build ["),
    ("lot N", put("moves", 1, "lot", "N"), 'game 1: move 2: "lot" is "N"; allowed: NW, NE, SE, SW'),
    ("lot in small letters", put("moves", 1, "lot", "ne"), 'game 1: move 2: "lot" is "ne"; allowed: NW, NE, SE, SW'),
    ("lot a number", put("moves", 1, "lot", 0), 'game 1: move 2: "lot" is 0; allowed: NW, NE, SE, SW'),
    ("legal lacks one", legal_lacks(0), 'game 1: move 4: "legal" lacks ['),
    ("legal lacks three", legal_lacks(0, 1, 2), "] and 2 more"),
    ("legal empty", put("moves", 1, "legal", []), 'game 1: move 2: "legal" lacks ['),
    ("legal null", put("moves", 1, "legal", None), 'game 1: move 2: "legal" is null, not a list'),
    ("legal with one more", lambda data: data["moves"][3]["legal"].append([9, 9, 0]), "has [9, 9, 0], which is not"),
    ("legal with the contract", lambda data: data["moves"][1]["legal"].append([0, 0, "NE"]), '[0, 0, "NE"], which'),
    ("legal with one twice", lambda data: data["moves"][3]["legal"].append(data["moves"][3]["legal"][0]), "] twice"),
    ("legal cell alone", put("moves", 3, "legal", 0, [0, 2]), 'move 4: in "legal": [0, 2] is not [x, y, rotation]'),
    ("legal a text", put("moves", 1, "legal", 0, "NE"), 'move 2: in "legal": "NE" is not [x, y, lot]'),
    ("legal lot where a tile is laid", put("moves", 3, "legal", 0, 2, "NE"), 'move 4: in "legal": "rot" is "NE", not'),
    ("legal rotation true", put("moves", 3, "legal", 0, 2, True), 'move 4: in "legal": "rot" is true, not a whole'),
    ("legal cell a float", put("moves", 3, "legal", 0, 0, 0.0), 'move 4: in "legal": "at" is 0.0, not a whole number'),
    ("no scores", drop("scores"), 'game 1: "scores" is missing'),
    ("another score", better_score, "; the rules give ["),
    ("one score", drop("scores", 0), "; the rules give ["),
    ("three scores", lambda data: data["scores"].append(0), "; the rules give ["),
    ("scores floats", lambda data: data.update(scores=[float(s) for s in data["scores"]]), "; the rules give ["),
    ("scores bools", equal_bools, 'game 1: "scores" is [true, false]; the rules give ['),
    ("scores an object", put("scores", {"0": 1}), 'game 1: "scores" is {"0": 1}, not a list'),
    ("scores null", put("scores", None), 'game 1: "scores" is null, not a list'),
]  # fmt: skip


def check_refusal(outcome, path, expected):
    code, out, err = outcome
    assert (code, out) == (1, "")
    assert err.startswith(f"error: {path}: ")
    assert err.endswith("\n")
    assert err.removesuffix("\n").isprintable()  # one line, no traceback
    assert len(err) - len(str(path)) < 260
    assert expected in err


@pytest.mark.parametrize(("spoil", "expected"), [s[1:] for s in SPOILINGS], ids=[s[0] for s in SPOILINGS])
def test_a_spoiled_game_gets_one_line_that_says_what_and_where(spoil, expected, tmp_path, capsys):
    data, path = good(), tmp_path / "spoiled.jsonl"
    spoil(data)
    assert data != good() or json.dumps(data) != good_text()
    path.write_text(json.dumps(data))
    check_refusal(run(capsys, "verify", path), path, expected)


def test_a_bad_game_is_named_by_its_number(tmp_path, capsys):
    path = tmp_path / "games.jsonl"
    spoiled = good()
    put("moves", 3, "rot", 7)(spoiled)
    path.write_text(f"{good_text()}\n\n{json.dumps(spoiled)}\n{good_text()}\n")
    check_refusal(run(capsys, "verify", path), path, 'game 2: move 4: "rot" is 7, not a whole number from 0 to 3')


def test_an_illegal_move_is_told_what_is_allowed():
    data = good()
    allowed = sorted(map(tuple, data["moves"][3]["legal"]))
    put("moves", 3, "at", [40, 3])(data)
    with pytest.raises(ReplayError) as caught:
        load(data)
    first = ", ".join(json.dumps(list(choice)) for choice in allowed[:3])
    rest = f"allowed: {first} and {len(allowed) - 3} more"
    assert str(caught.value) == f"move 4: expand [40, 3, {data['moves'][3]['rot']}] is not legal; {rest}"


# ---------------------------------------------------------------- spoiled files


def twice(key, text=None):
    return (text or good_text()).replace(f'"{key}": ', f'"{key}": 0, "{key}": ', 1)


def players(text):
    return good_text().replace('"players": 2', f'"players": {text}').encode()


def meta(text):
    return f'{good_text()[:-1]}, "meta": {text}}}'.encode()


FILES = [
    ("empty", b"", "no game in this file"),
    ("blank", b" \n\n\t\r\n", "no game in this file"),
    ("byte order mark alone", b"\xef\xbb\xbf", "no game in this file"),
    ("not JSON", b"hello\n", "game 1: not JSON: Expecting value (line 1, column 1)"),
    ("cut short", lambda: good_text()[:-9].encode(), "game 1: not JSON: "),
    ("cut short, then a good one", lambda: f"{good_text()[:200]}\n{good_text()}".encode(), "game 1: not JSON: "),
    ("good, then cut short", lambda: f"{good_text()}\n{good_text()[:200]}".encode(), "game 2: not JSON: "),
    ("good, then no JSON", lambda: f"{good_text()}\n\nhello\n".encode(), "game 2: not JSON: Expecting value (line 3"),
    ("two in one line", lambda: f"{good_text()} {good_text()}".encode(), "not JSON: Extra data (line 1, column"),
    ("good, then more", lambda: f"{good_text()} 1\n".encode(), "game 1: not JSON: Extra data (line 1, column "),
    ("pretty, cut short", lambda: pretty(good_text())[:-5].encode(), "game 1: not JSON: "),
    ("pretty, spoiled", lambda: pretty(good_text()).replace('"game":', '"game"').encode(), "delimiter (line 3, col"),
    ("pretty, a key twice", lambda: twice("players", pretty(good_text())).encode(), 'key "players" comes twice'),
    ("key twice", lambda: twice("players").encode(), 'game 1: not JSON: key "players" comes twice'),
    ("key twice in a move", lambda: twice("rot").encode(), 'game 1: not JSON: key "rot" comes twice'),
    ("NaN", lambda: players("NaN"), "not JSON: NaN is no number"),
    ("Infinity", lambda: meta("-Infinity"), "-Infinity is no number"),
    ("1e999", lambda: players("1e999"), '"players" is Infinity, not'),
    ("huge number", lambda: players("9" * 5000), "game 1: not JSON: "),
    ("long number", lambda: players("9" * 900), '"players" is 9999'),
    ("nested deeply", b"[" * 100_000, "game 1: not JSON: nested too deeply"),
    ("nested deeply in meta", lambda: meta("[" * 99999 + "]" * 99999), "nested too deeply"),
    ("comment", lambda: f"// a game\n{good_text()}".encode(), "game 1: not JSON: "),
    ("single quotes", lambda: good_text().replace('"', "'").encode(), "game 1: not JSON: "),
    ("comma at the end", lambda: f"{good_text()},\n{good_text()}\n".encode(), "game 1: not JSON: Extra data"),
    ("a list of games", lambda: f"[{good_text()}]".encode(), "game 1: a game is a JSON object, not [{"),
    ("null", b"null", "game 1: a game is a JSON object, not null"),
    ("number", b"1\n", "game 1: a game is a JSON object, not 1"),
    ("text", b'"tollero"\n', 'game 1: a game is a JSON object, not "tollero"'),
    ("empty object", b"{}", 'game 1: "game" is missing'),
    ("UTF-16", lambda: good_text().encode("utf-16"), "not UTF-8 text (byte 0)"),
    ("Latin-1", b'{"game": "\xe4"}', "not UTF-8 text (byte 10)"),
    ("binary", bytes(range(256)) * 20, "not UTF-8 text (byte 128)"),
    ("zero bytes", bytes(1000), "game 1: not JSON: Expecting value"),
    ("half a surrogate", lambda: good_text().replace('"tollero",', r'"\ud800",').encode(), r'"game" is "\ud800"; al'),
    ("bell", lambda: good_text().replace('"tollero",', r'"\u0007\n",').encode(), r'"game" is "\u0007\n"; allowed'),
]  # fmt: skip


@pytest.mark.parametrize(("content", "expected"), [f[1:] for f in FILES], ids=[f[0] for f in FILES])
def test_a_spoiled_file_gets_one_line(content, expected, tmp_path, capsys):
    path = tmp_path / "spoiled.jsonl"
    path.write_bytes(content() if callable(content) else content)
    check_refusal(run(capsys, "verify", path), path, expected)


def test_what_cannot_be_read(tmp_path, capsys):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    problems = {"folder": "Is a directory", "absent": "No such file or directory", "file/inside": "Not a directory"}
    for name, problem in problems.items():
        path = tmp_path / name
        for command in ("verify", "show"):
            assert run(capsys, command, path) == (1, "", f"error: {path}: cannot be read: {problem}\n")


@pytest.mark.parametrize("depth", range(100, 1000, 50))
def test_values_nested_at_any_depth_are_named(depth, tmp_path, capsys):
    path = tmp_path / "spoiled.jsonl"
    path.write_bytes(players("[" * depth + "]" * depth))
    check_refusal(run(capsys, "verify", path), path, "game 1: ")


def test_shown_is_short_and_in_one_line():
    assert shown("a\nb\x07ä") == r'"a\nb\u0007\u00e4"'
    assert len(shown(["x"] * 1000)) == 60
    nested = []
    for _ in range(sys.getrecursionlimit() * 50):
        nested = [nested]
    assert shown(nested) == "something nested deeply"


def test_all_good_games_before_a_bad_one_are_handed_out(tmp_path):
    path = tmp_path / "games.jsonl"
    path.write_text(f"{good_text()}\n{{\n")
    games = read(path)
    assert next(games) == (1, good())
    with pytest.raises(ReplayError, match=r"games.jsonl: game 2: not JSON: .* \(line 2, column 2\)"):
        next(games)


# ---------------------------------------------------------------- nothing is half-written


class Stumbles:
    """Plays the first legal move, and raises at the 30th."""

    def __init__(self, error):
        self.error, self.left = error, 30

    def act(self, position, seed):
        self.left -= 1
        if not self.left:
            raise self.error
        return position.moves()[0]


STUMBLES = [
    (ValueError("no idea"), (1, "", "error: no idea\n")),
    (OSError("no power"), (1, "", "no power\n")),
    (KeyboardInterrupt(), (130, "", "stopped\n")),
]


@pytest.mark.parametrize(("error", "expected"), STUMBLES, ids=["ValueError", "OSError", "KeyboardInterrupt"])
@pytest.mark.parametrize("before", [None, "what was there\n"])
def test_out_is_as_it_was_if_something_fails(error, expected, before, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(opponents._FACTORIES, "stumbles", lambda: Stumbles(copy.copy(error)))
    out = tmp_path / "out.jsonl"
    if before is not None:
        out.write_text(before)
    code, stdout, stderr = run(capsys, "make", "--games", 9, "--option", "floors=2", "--agent", "stumbles", out)
    assert (code, stdout) == expected[:2]
    assert stderr.endswith(expected[2])
    assert stderr.count("\n") == 1
    assert [path.read_text() for path in tmp_path.iterdir()] == ([] if before is None else [before])


def test_an_agent_with_a_bug_leaves_nothing_either(tmp_path, monkeypatch):
    monkeypatch.setitem(opponents._FACTORIES, "stumbles", lambda: Stumbles(ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        main(["make", "--games", "9", "--option", "floors=2", "--agent", "stumbles", str(tmp_path / "out.jsonl")])
    assert list(tmp_path.iterdir()) == []


def test_an_agent_that_cheats_is_refused(tmp_path, capsys, monkeypatch):
    class Cheats:
        def act(self, position, seed):
            return 0

    monkeypatch.setitem(opponents._FACTORIES, "cheats", Cheats)
    code, _, err = run(capsys, "make", "--agent", "cheats", tmp_path / "out.jsonl")
    assert code == 1
    assert "lay (-64,-64) r0 is not legal here; player 0 may: lay (" in err
    assert list(tmp_path.iterdir()) == []


def test_agents_see_only_what_their_seat_may_know(monkeypatch):
    truths, seen = [], []
    monkeypatch.setattr(Position, "hidden_from", spy := recording(Position.hidden_from, truths))

    class Peeks:
        def act(self, position, seed):
            seen.append(position)
            return position.moves()[0]

    play_game(get_rules("tollero", 3, floors=2), Peeks(), 1)
    assert spy is Position.hidden_from
    assert len(seen) == len(truths) == 9
    for (truth, seat), position in zip(truths, seen):
        assert seat == truth.player == position.player
        assert position.states["hand"][0, seat] == truth.states["hand"][0, seat]
        assert position.history() == truth.history()
    assert any(p.states["pile"].tobytes() != t.states["pile"].tobytes() for p, (t, _) in zip(seen, truths))
    with pytest.raises(ValueError, match="does not know how its game began"):
        seen[-1].to_replay()
    with pytest.raises(ValueError, match="hidden"):
        seen[-1].undo()


def recording(method, calls):
    def wrapped(position, player, *rest):
        calls.append((position.copy(), player))
        return method(position, player, *rest)

    return wrapped


MISUSES = [
    (["--games", 0], "--games is at least 1"),
    (["--games", -1], "--games is at least 1"),
    (["--seed", -1], "--seed from 0 to 2**64 - 1"),
    (["--seed", 2**64], "--seed from 0 to 2**64 - 1"),
    (["--players", 1], "option players: 1 is not a whole number from 2 to 4"),
    (["--players", 5], "option players: 5 is not a whole number from 2 to 4"),
    (["--game", "chess"], "game 'chess' is not known; there is tollero"),
    (["--agent", "clever"], "agent 'clever' is not known; there is greedy, greedy-turn, ismcts, net, random"),
    (["--agent", "random:x=1"], "agent 'random:x=1': "),
    (["--tileset", "nope"], "tile set 'nope': name: not one of reconstruction"),
    (["--tileset", "nope.toml"], "nope.toml: file: "),
    (["--option", "floors"], "--option 'floors' is not key=value, each key once; keys are tileset, floors, "),
    (["--option", "floors=1", "--option", "floors=2"], "--option 'floors=2' is not key=value, each key once"),
    (["--option", "floors=two"], "option floors: 'two' is not a whole number"),
    (["--option", "floors=21"], "option floors: 21 is not a whole number from 1 to 20"),
    (["--option", "floors="], "option floors: '' is not a whole number"),
    (["--option", "downtown_scores=1"], "option downtown_scores: '1' is not true or false"),
    (["--option", "downtown=D1:A:0"], "option downtown: 'D1:A:0' does not name each of the four tiles once"),
    (["--option", "speed=3"], "Tollero has no option 'speed'; there is tileset, floors, downtown_scores, downtown"),
    (["--option", "tileset=reconstruction", "--tileset", "reconstruction"], "say the same thing; give one"),
]


@pytest.mark.parametrize(("args", "expected"), MISUSES, ids=[" ".join(map(str, args)) for args, _ in MISUSES])
def test_a_misuse_of_make_gets_one_line(args, expected, tmp_path, capsys):
    code, out, err = run(capsys, "make", *args, tmp_path / "out.jsonl")
    assert (code, out) == (1, "")
    assert err.startswith("error: ")
    assert expected in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_places_that_cannot_be_written(tmp_path, capsys):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    problems = {
        "folder": "not a regular file, so it is not written",
        "absent/out": "cannot be written: No such file or directory",
        "file/out": "cannot be written: Not a directory",
        "n" * 300: "File name too long",
    }
    for name, problem in problems.items():
        code, out, err = run(capsys, "make", "--option", "floors=1", tmp_path / name)
        assert (code, out, err.count("\n")) == (1, "", 1)
        assert problem in err
    assert run(capsys, "make", "--option", "floors=1", os.devnull)[0] == 1
    assert Path(os.devnull).is_char_device()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


def test_write_counts_and_takes_the_place_of_what_was_there(tmp_path):
    path = tmp_path / "games.jsonl"
    path.write_text("old")
    assert write(path, ({"a": "ä"} for _ in range(3))) == 3
    assert path.read_bytes() == '{"a": "ä"}\n'.encode() * 3


# ---------------------------------------------------------------- as a user runs it


def test_the_command_line_in_a_process_of_its_own(tmp_path):
    out, bad = tmp_path / "games.jsonl", tmp_path / "bad.jsonl"
    args = ["--players", 2, "--games", 2, "--option", "floors=2", "--legal", "--seed", 1]
    made = run_process("make", out, *args)
    assert (made.returncode, made.stdout, made.stderr) == (0, f"{out}: 2 games of Tollero\n", "")
    right = run_process("verify", out)
    assert (right.returncode, right.stdout, right.stderr) == (0, f"{out}: 2 games verified\n", "")
    games = read_games(out)
    games[1]["moves"][4]["lot"] = "X"
    bad.write_text("\n".join(map(json.dumps, games)))
    wrong = run_process("verify", bad)
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert wrong.stderr == f'error: {bad}: game 2: move 5: "lot" is "X"; allowed: NW, NE, SE, SW\n'


def test_show_into_a_closed_pipe_is_quiet(tmp_path):
    path = tmp_path / "games.jsonl"
    path.write_text(f"{good_text()}\n" * 40)
    command = f"{sys.executable} -m experiments.replay show {path} | head -n 1"
    shell = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (shell.stdout, shell.stderr) == ("Game 1\n", "")


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_interrupted_make_leaves_nothing(tmp_path):
    out = tmp_path / "games.jsonl"
    code = (  # shells let their background jobs ignore Ctrl-C, and children inherit that
        "import runpy, signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "runpy.run_module('experiments.replay', run_name='__main__')"
    )
    words = [sys.executable, "-c", code, "make", "--games", "1000000", str(out)]
    how = {"cwd": ROOT, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(words, **how) as process:
        try:
            deadline = time.monotonic() + 120
            while not any(path.stat().st_size for path in tmp_path.iterdir()) and time.monotonic() < deadline:
                time.sleep(0.05)
            assert list(tmp_path.iterdir()) != [out]  # it is written beside
            process.send_signal(signal.SIGINT)
            stdout, stderr = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, stdout, stderr) == (130, "", "stopped\n")
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- pictures


@pytest.fixture
def two_games(tmp_path, capsys):
    path = tmp_path / "games.jsonl"
    assert run(capsys, "make", "--games", 2, "--option", "floors=2", path)[0] == 0
    return path


def test_show_writes_pages_pictures_and_films(two_games, tmp_path, capsys):
    outs = {kind: tmp_path / f"game.{kind}" for kind in ("html", "svg", "gif")}
    words = [word for kind, out in outs.items() for word in (f"--{kind}", out)]
    code, out, _ = run(capsys, "show", two_games, "--only", 2, *words)
    assert (code, out.count(": game 2\n")) == (0, 3)
    assert outs["html"].read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert outs["svg"].read_text(encoding="utf-8").startswith("<svg ")
    assert outs["gif"].read_bytes().startswith(b"GIF89a")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["game.gif", "game.html", "game.svg", "games.jsonl"]


def test_show_in_colour_is_the_same_text(two_games, capsys):
    _, plain, _ = run(capsys, "show", two_games)
    _, colour, _ = run(capsys, "show", two_games, "--colour")
    assert "\x1b[" in colour
    lines = [line.rstrip() for line in strip(colour).split("\n")]
    assert lines == [line.rstrip() for line in plain.split("\n")]


def test_a_viewer_is_shown_no_other_hand_and_no_other_choices(two_games, capsys):
    _, told, _ = run(capsys, "show", two_games, "--only", 1, "--viewer", 1)
    assert "hand hidden" in told
    assert "player 1 has" in told
    assert "player 0 has" not in told
    code, _, err = run(capsys, "show", two_games, "--viewer", 2)
    assert (code, "--viewer 2 is not a seat: they are 0 to 1" in err) == (1, True)


def test_show_of_a_game_that_is_not_there(two_games, capsys):
    code, _, err = run(capsys, "show", two_games, "--only", 3)
    assert (code, err.count("\n"), "there is no game 3" in err) == (1, 1, True)
