"""The game in the terminal: by keys, by typing and by mouse; undo, hints, saves; what the person must not see."""

import asyncio
import base64
import html
import json
import os
import re
import select
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from textual.widgets import Input, OptionList, Static

from experiments import play as command
from experiments import replay
from experiments.play import choices as choosing
from experiments.play.app import PlayApp
from experiments.play.match import Plan, deal, free_path, from_json, load, save, seat_agents, to_json
from experiments.play.screens import Offer, result_text
from experiments.play.widgets import Board, Picture
from tollero_env import opponents
from tollero_env.ansi import strip
from tollero_env.game import MoveError, OptionError, get_rules
from tollero_env.games.tollero.notation import tile_id
from tollero_env.opponents import make_agent
from tollero_env.replay import ReplayError
from tollero_env.rng import choose

ROOT = Path(__file__).parents[1]


class FirstAgent:
    """Plays the first move; remembers what it was asked with."""

    asked: list = []  # noqa: RUF012

    def act(self, position, seed):
        self.asked.append((position, seed))
        return position.moves()[0]


class BrokenAgent:
    """Fails once, then plays."""

    failures = 1

    def act(self, position, seed):
        if BrokenAgent.failures:
            BrokenAgent.failures -= 1
            raise ZeroDivisionError("out of ideas")
        return position.moves()[0]


class CheatingAgent:
    """Plays what is not legal."""

    def act(self, position, seed):
        return position.rules.game.num_moves - 1


class LazyAgent:
    """Plays nothing."""

    def act(self, position, seed):
        return None


class SlowAgent:
    """Plays when it is let."""

    gate = threading.Event()

    def act(self, position, seed):
        assert self.gate.wait(20)
        return position.moves()[0]


@pytest.fixture(autouse=True)
def _agents(monkeypatch):
    FirstAgent.asked, BrokenAgent.failures, SlowAgent.gate = [], 1, threading.Event()
    known = {"first": FirstAgent, "broken": BrokenAgent, "cheat": CheatingAgent, "lazy": LazyAgent, "slow": SlowAgent}
    for name, factory in known.items():
        monkeypatch.setitem(opponents._FACTORIES, name, factory)
    yield
    SlowAgent.gate.set()


def make_plan(*names, players=2, seat=0, hint="first", save=None, **options):
    return Plan(get_rules("tollero", players, **options), seat, names or ("random",), hint, save)


def make_app(*names, seed=1, **options):
    plan = make_plan(*names, **options)
    return PlayApp(plan, deal(plan, seed))


def play_through(app, scenario, size=(80, 24)):
    """Run the app with a scenario, an async function of (app, pilot)."""

    async def run():
        async with app.run_test(size=size) as pilot:
            await settle(app, pilot)
            await scenario(app, pilot)

    asyncio.run(run())


async def settle(app, pilot):
    """Wait until nobody thinks and all is drawn."""
    for _ in range(1000):
        await pilot.pause(0.005)
        if not app._thinks:
            return
    raise AssertionError("an agent thinks for ever")


async def press(app, pilot, *keys):
    await pilot.press(*keys)
    await settle(app, pilot)


async def type_in(app, pilot, text):
    """Type a text where moves are typed, and Enter."""
    app.action_type()
    app.query_one(Input).value = text
    await pilot.pause()
    await press(app, pilot, "enter")


def list_choices(position, seed):
    return choosing.in_order(choosing.make_choices(position, seed))


def screen_text(app):
    lines = re.findall(r"<text[^>]*>([^<]*)</text>", app.export_screenshot())
    return html.unescape("\n".join(lines)).replace("\xa0", " ")


def note(app):
    shown = app.query_one("#note", Static)
    return str(shown.content) if shown.display else ""


def turn_line(app):
    return str(app.query_one("#turn", Static).content)


def selected_text(app):
    return app.choices[app.selected].text


# ---------------------------------------------------------------- whole games


def test_a_game_by_keys_ends_with_offers_and_a_replay_that_verifies(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    async def scenario(app, pilot):
        keys = ["right", "space", "down", "left", "up"]
        while not app.match.position.over:
            assert app.match.is_mine
            await press(app, pilot, keys[app.match.position.ply % 5], "enter")
        assert isinstance(app.screen, Offer)
        shown = screen_text(app)
        assert "The game is over" in shown
        assert all(f"{score:4d}  " in shown for score in app.match.position.scores())
        seed = app.match.seed
        await press(app, pilot, "s")
        assert len(list(tmp_path.glob("tollero-*.json"))) == 1
        assert isinstance(app.screen, Offer)  # still offers the rest
        await press(app, pilot, "n")
        assert (app.match.position.over, app.match.seed != seed) == (False, True)
        await press(app, pilot, "q")
        assert app.return_value == [path.name for path in tmp_path.iterdir()]

    play_through(make_app(floors=2), scenario)
    (path,) = tmp_path.iterdir()
    assert json.loads(path.read_text())["meta"] == {"agents": ["person", "random"], "seed": 1}
    replay.main(["verify", str(path)])
    assert "1 game verified" in capsys.readouterr().out


def test_a_game_by_typing_is_the_same_game():
    async def scenario(app, pilot):
        while not app.match.position.over:
            text = sorted(app.match.position.legal())[-1]
            await type_in(app, pilot, text.upper().replace("(", " ").replace(",", " ").replace(")", ""))
        mine = [played.text for played in app.match.log if played.player == 1]
        assert len(mine) >= 2
        assert {played.player for played in app.match.log} == {0, 1, 2}
        await press(app, pilot, "l")
        assert turn_line(app).startswith("The game is over")
        lines = str(app.query_one("#played", Static).content).split("\n")
        assert [line.split(maxsplit=2)[2] for line in lines] == [played.text for played in app.match.log]

    play_through(make_app("random", "first", players=3, seat=1, floors=1), scenario)


def test_moves_can_be_picked_from_the_list_and_with_the_mouse():
    async def scenario(app, pilot):
        await press(app, pilot, "tab")
        assert app.focused.id == "moves"
        before = app.selected
        await press(app, pilot, "down")
        assert app.selected == before + 1
        text = selected_text(app)
        await press(app, pilot, "enter")
        assert app.match.log[0].text == text
        choice = app.choices[-1]
        await pilot.click(Picture, offset=choice.place[:2])
        assert selected_text(app) == choice.text
        await press(app, pilot, "enter")  # a click is on the table, so that is where the keys go
        assert app.match.log[1].text == choice.text

    play_through(make_app(floors=2), scenario, size=(120, 50))


# ---------------------------------------------------------------- choosing


def test_moves_that_take_long_are_listed_beside(monkeypatch):
    """In a thread from the first one on: the same choices, and what is played meanwhile makes them void."""
    monkeypatch.setattr("experiments.play.app.AT_ONCE", -1)
    make, gate = choosing.make_choices, threading.Event()

    def slowly(position, seed):
        for number, choice in enumerate(make(position, seed)):
            assert not number or gate.wait(20)
            yield choice

    async def scenario(app, pilot):
        gate.set()
        await settle(app, pilot)
        first = app.match.position.copy()
        expected = list_choices(first, app.match.question()[1])
        assert app.choices == expected
        assert app.query_one("#moves", OptionList).option_count == len(expected)
        gate.clear()
        await pilot.press("enter")
        assert "moves are looked at" in turn_line(app)
        await pilot.press("enter")
        assert note(app) == "wait a moment"
        await pilot.press("h", "down", "space", "u")  # nothing to choose from; taking back goes
        assert app.match.position == first
        gate.set()
        await settle(app, pilot)
        assert app.choices == expected
        gate.clear()
        await pilot.press("enter")
        app.action_type()
        app.query_one(Input).value = app.match.position.legal()[0]
        await pilot.press("enter")
        assert len(app.match.log) == 2
        gate.set()
        await settle(app, pilot)
        assert app.choices == list_choices(app.match.position, app.match.question()[1])

    monkeypatch.setattr("experiments.play.app.make_choices", slowly)
    app = make_app()
    gate.set()
    play_through(app, scenario)


def test_without_a_wish_the_best_that_the_game_has_is_taken():
    rules = get_rules("tollero", 2)
    assert (command._opponent(rules), command._adviser(rules)) == ("ismcts:ms=500", "greedy-turn")
    rules = rules._replace(game=rules.game._replace(styles={}))
    assert command._opponent(rules) == "greedy-turn"
    rules = rules._replace(game=rules.game._replace(turns=None))
    assert (command._opponent(rules), command._adviser(rules)) == ("greedy", "greedy")


def test_every_place_is_reached_with_arrow_keys_and_every_move_there_with_space():
    position = deal(make_plan(players=4), 5).position
    while not position.over:
        if position.ply % 25 < 2:
            found = list_choices(position, 9)
            assert sorted(choice.move for choice in found) == sorted(position.moves())
            reached, todo = {0}, [0]
            while todo:
                here = todo.pop()
                ways = [choosing.step(found, here, way) for way in choosing.STEPS] + [choosing.turn(found, here)]
                todo += {number for number in ways if number not in reached}
                reached.update(ways)
            assert len(reached) == len(found)
        moves = position.moves()
        position.play(moves[choose(position.ply, len(moves))])


def test_the_place_of_a_move_is_where_the_table_shows_it():
    match = deal(make_plan(), 1)
    found = {choice.text: choice for choice in list_choices(match.position, 3)}
    east, north = found["lay (2,0) r0"], found["lay (0,-2) r1"]
    assert (east.place.width, east.place.height) == (north.place.width, north.place.height) == (8, 5)
    assert east.place == found["lay (2,0) r2"].place
    lines = strip(east.picture).split("\n")
    assert lines[east.place.row][east.place.column :].startswith("+--")
    match.play("lay (2,0) r0")
    found = list_choices(match.position, 3)
    assert {(choice.place.width, choice.place.height) for choice in found} == {(2, 1)}
    assert len({choice.place for choice in found}) == len(found)
    for choice in found:
        match.play(choice.move)
        before = [5, 0]
        assert [new - old for new, old in zip(match.position.scores(), before)] == choice.gains
        match.undo()


def test_moves_without_a_place_are_walked_like_a_list():
    some = [choosing.Choice(number, "", "", None, []) for number in range(3)]
    assert [choosing.step(some, 0, way) for way in ("down", "right", "up", "left")] == [1, 1, 2, 2]
    assert (choosing.turn(some, 2), choosing.nearest(some, [(1, 1)]), choosing.at(some, 0, (1, 1))) == (0, 0, None)


@pytest.mark.parametrize(
    ("typed", "does"),
    [("", True), ("l", True), ("lay 0", True), ("0,-2", True), ("LAY(0,-2)R1", True), ("r1", True), ("r2", False)]
    + [("build", False), ("-2 0", False), ("lay 0 -2 r1 r1", False)],
)
def test_what_fits_a_beginning(typed, does):
    assert choosing.fits("lay (0,-2) r1", typed) == does


def test_the_selected_place_is_always_seen_in_a_small_terminal():
    async def scenario(app, pilot):
        board, picture = app.query_one(Board), app.query_one(Picture)
        for number, choice in enumerate(app.choices):
            app.select(number)
            await pilot.pause()
            region = picture.virtual_region.offset + choice.place[:2] - board.scroll_offset
            assert 0 <= region.x <= board.scrollable_content_region.width - choice.place.width
            assert 0 <= region.y <= board.scrollable_content_region.height - choice.place.height

    play_through(make_app(players=4), scenario)


def test_typing_filters_the_list_and_completes():
    async def scenario(app, pilot):
        moves = app.query_one("#moves", OptionList)
        await press(app, pilot, "slash", *"r2")
        assert [str(option.prompt)[-2:] for option in moves.options] == ["r2"] * len(moves.options)
        assert moves.border_title == f"{len(moves.options)} of {len(app.choices)} moves"
        assert selected_text(app).endswith("r2")
        await press(app, pilot, "enter")
        assert "moves begin like this" in note(app)
        await press(app, pilot, "tab")
        assert app.query_one(Input).value == str(moves.options[moves.highlighted].prompt)
        await press(app, pilot, "down")
        wanted = app.query_one(Input).value
        assert wanted == selected_text(app) == str(moves.options[1].prompt)
        await press(app, pilot, "escape")
        assert (app.query_one(Input).value, len(moves.options)) == ("", len(app.choices))
        await press(app, pilot, "slash", *wanted.replace("(", "").replace(")", "").replace(",", " ")[:-1], "tab")
        await press(app, pilot, "enter")
        assert app.match.log[0].text[:-1] == wanted[:-1]

    play_through(make_app(), scenario)


def test_a_typed_move_that_is_not_legal_is_refused_with_a_line():
    refused = {
        "lay (0,0) r0": "lay (0,0) r0 is not legal here; player 0 may: lay",
        "build (0,9) NE": "there is no tile at (0,9)",
        "castle": "'castle' is no move",
        "lay (99,0) r1": "no city reaches as far",
    }

    async def scenario(app, pilot):
        before = app.match.position.to_bytes()
        for text, said in refused.items():
            await type_in(app, pilot, text)
            assert said in note(app)
            assert (app.match.position.to_bytes(), app.match.log) == (before, [])
        await type_in(app, pilot, app.match.position.legal()[0])
        assert (note(app), len(app.match.log)) == ("", 1)

    play_through(make_app(), scenario)


# ---------------------------------------------------------------- undo, hints, agents


def test_undo_goes_back_to_the_persons_previous_decision():
    async def scenario(app, pilot):
        await press(app, pilot, "u")
        assert "no move of yours" in note(app)
        seen = []
        for _ in range(4):
            seen.append((app.match.position.to_bytes(), list(app.match.log)))
            await press(app, pilot, "enter")
        assert [played.player for played in app.match.log] == [0, 0, 0, 1, 1, 1, 0]
        later = app.match.position.to_bytes()
        for data, log in reversed(seen):
            await press(app, pilot, "u")
            assert (app.match.position.to_bytes(), app.match.log) == (data, log)
        for played in [seen[1][1][0], *seen[2][1][1:], *seen[3][1][2:3]]:
            await type_in(app, pilot, played.text)
        assert app.match.position.to_bytes() == seen[3][0]  # the agents answer as before
        await press(app, pilot, "escape", "enter")
        assert app.match.position.to_bytes() == later

    play_through(make_app(), scenario)


def test_undo_works_at_the_end_and_while_an_agent_thinks():
    async def scenario(app, pilot):
        for _ in range(2):
            await pilot.press("enter")
        assert "thinking" in turn_line(app)
        await pilot.press("question_mark")
        await pilot.press("b", "u")
        assert (app.match.is_mine, len(app.match.log)) == (True, 1)
        SlowAgent.gate.set()
        await asyncio.sleep(0.05)
        await settle(app, pilot)
        assert len(app.match.log) == 1  # the late answer was dropped
        await press(app, pilot, "enter")
        assert app.match.position.over
        await press(app, pilot, "u")
        assert (app.match.is_mine, len(app.match.log)) == (True, 1)

    play_through(make_app("slow", floors=1), scenario)


def test_an_answer_may_come_while_the_help_is_open():
    async def scenario(app, pilot):
        await pilot.press("enter", "enter", "enter", "question_mark")
        assert isinstance(app.screen, Offer)
        assert "arrows" in screen_text(app)
        SlowAgent.gate.set()
        await settle(app, pilot)
        await press(app, pilot, "escape")
        assert app.match.is_mine
        assert not isinstance(app.screen, Offer)

    play_through(make_app("slow", floors=4), scenario)


def test_a_hint_is_selected_and_comes_from_what_the_person_may_know():
    async def scenario(app, pilot):
        await press(app, pilot, "h")
        position, seed = FirstAgent.asked[-1]
        assert position == app.match.position.hidden_from(0, seed)
        assert selected_text(app) == position.text(position.moves()[0])
        assert note(app) == f"first would play {selected_text(app)}"
        assert not app.match.log

    play_through(make_app(), scenario)


@pytest.mark.parametrize(("hint", "said"), [("broken", "out of ideas"), ("cheat", "not legal")])
def test_a_hint_that_fails_is_said(hint, said):
    async def scenario(app, pilot):
        await press(app, pilot, "h")
        assert said in note(app)
        await press(app, pilot, "enter")
        assert len(app.match.log) == 1

    play_through(make_app(hint=hint), scenario)


def test_agents_are_asked_with_what_their_seat_may_know():
    differs = 0
    for seed in range(4):
        match = deal(make_plan("first"), seed)
        while match.is_mine:
            match.play(match.position.legal()[0])
        position, draw = match.question()
        assert position == match.position.hidden_from(1, draw)
        assert position.states["hand"][0, 1] == match.position.states["hand"][0, 1]
        differs += position.states["hand"][0, 0] != match.position.states["hand"][0, 0]
        with pytest.raises(MoveError, match="hidden"):
            position.undo()
    assert differs


def test_the_screen_shows_no_tile_that_the_person_may_not_know():
    async def scenario(app, pilot):
        rules, hidden = app.match.rules, 0
        for _ in range(9):
            state = app.match.position.states[0]
            hands = [tile_id(rules, int(face)) if face >= 0 else "" for face in state["hand"][:2]]
            gone = {tile_id(rules, int(face)) for face in state["gone"][: state["num_gone"]]}
            ids = set(re.findall(r"C\d\d", screen_text(app)))
            assert ids <= {hands[0], *gone}
            assert hands[0] in ids or not re.fullmatch(r"C\d\d", hands[0])
            assert "hand hidden" in screen_text(app)
            hidden += hands[1] != hands[0]
            await press(app, pilot, "right", "enter")
        assert hidden

    play_through(make_app(), scenario, size=(120, 50))


@pytest.mark.parametrize(
    ("name", "said"),
    [("broken", "ZeroDivisionError: out of ideas"), ("cheat", "is not legal"), ("lazy", "None is not legal")],
)
def test_an_agent_that_fails_is_said_and_the_game_can_be_saved(name, said, tmp_path):
    path = tmp_path / "game.json"

    async def scenario(app, pilot):
        await press(app, pilot, "enter", "enter", "enter")
        assert f"player 1 ({name}) failed: " in note(app)
        assert said in note(app)
        assert "may:" not in note(app)  # what the other hand may do is not told
        await press(app, pilot, "h")
        assert "your turn" in note(app)
        await press(app, pilot, "s")
        assert len(load(str(path)).log) == 3
        await press(app, pilot, "enter")
        assert app.match.is_mine == (name == "broken")
        await press(app, pilot, "u")
        assert len(app.match.log) == 2

    play_through(make_app(name, save=path, floors=4), scenario)


# ---------------------------------------------------------------- saving and resuming


def play_some(match, decisions):
    """Play on, the person at random; all follows from the seed."""
    person = make_agent("random")
    for _ in range(decisions):
        if not match.position.over:
            match.play((person if match.is_mine else match.agent).act(*match.question()))
    return match


@pytest.mark.parametrize("decisions", [0, 1, 5, 11])
def test_a_resumed_game_is_the_same_game(tmp_path, decisions):
    path = tmp_path / "game.json"
    match = play_some(deal(make_plan("random", "first", players=3, seat=2, floors=3), 7), decisions)
    save(match, path)
    assert [file.name for file in tmp_path.iterdir()] == ["game.json"]
    again = load(str(path))
    assert (again.position, again.log, again.agents) == (match.position, match.log, match.agents)
    assert to_json(again) == to_json(match)
    for one in (match, again):
        play_some(one, 1000)
        assert one.position.over
    assert again.position.to_replay() == match.position.to_replay()
    if decisions:
        while any(played.player == 2 for played in again.log):
            again.undo()


def test_save_and_resume_in_the_app(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    async def begin(app, pilot):
        await press(app, pilot, "enter", "down", "enter", "q")
        assert app.return_value == ["game.json"]

    async def go_on(app, pilot):
        assert (len(app.match.log), app.match.seed, str(app.path)) == (2, 3, "game.json")
        await press(app, pilot, "enter")
        assert len(app.match.log) > 2
        await press(app, pilot, "n")  # leaves the game saved, for it was asked for
        assert (app.match.log, str(app.path)) == ([], "game-2.json")
        await press(app, pilot, "q")

    words = {"opponents": ("first",), "hint": "first", "pace": 0.0}
    play_through(command.play(seed=3, save="game.json", option=("floors=4",), **words), begin)
    play_through(command.play(resume="game.json", **words), go_on)
    assert len(load("game.json").log) > 2
    assert not Path("game-2.json").exists()


def test_a_game_that_would_be_lost_is_asked_about(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    async def scenario(app, pilot):
        seed = app.match.seed
        await press(app, pilot, "enter", "n", "g")
        assert (app.match.seed, len(app.match.log)) == (seed, 1)
        await press(app, pilot, "n", "escape")
        assert (app.match.seed, len(app.match.log)) == (seed, 1)
        await press(app, pilot, "n", "n")
        assert (app.match.seed != seed, app.match.log, list(tmp_path.iterdir())) == (True, [], [])
        await press(app, pilot, "enter", "n", "s")
        assert (app.match.log, len(list(tmp_path.iterdir()))) == ([], 1)
        await press(app, pilot, "enter", "s", "n")  # saved, so nothing is asked
        assert (app.match.log, len(list(tmp_path.iterdir()))) == ([], 2)
        await press(app, pilot, "enter", "q", "down", "enter")
        assert app._exit
        assert len(app.return_value) == 2

    play_through(make_app(), scenario)


def test_a_save_that_fails_is_said_and_loses_nothing(tmp_path):
    async def scenario(app, pilot):
        await press(app, pilot, "enter", "s")
        assert "cannot be written" in note(app)
        await press(app, pilot, "q")
        assert isinstance(app.screen, Offer)
        await press(app, pilot, "g")
        assert len(app.match.log) == 1

    play_through(make_app(save=tmp_path / "no" / "game.json"), scenario)


def spoil(**changes):
    return lambda data: {**data, **changes}


def other_start(**options):
    match = deal(make_plan(**options), 1)
    return base64.b64encode(match.start).decode()


def late_start():
    return base64.b64encode(play_some(deal(make_plan(floors=2), 7), 1).position.to_bytes()).decode()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: [data], '"the save" is'),
        (spoil(format="tollero-play/2"), '"format" is "tollero-play/2"; allowed: tollero-play/1'),
        (spoil(format="tollero-replay/1"), "this game is over"),
        (spoil(game="chess"), '"game" is "chess"; allowed: tollero'),
        (spoil(players=7), "option players: 7"),
        (spoil(players="2"), "option players: '2'"),
        (spoil(colour=1), 'unknown key "colour"'),
        (lambda data: {key: value for key, value in data.items() if key != "seed"}, '"seed" is missing'),
        (spoil(options={"floors": 99}), "option floors: 99"),
        (spoil(options={"players": 2}), 'in "options": unknown key "players"'),
        (spoil(options={"tileset": "nowhere.toml"}), "nowhere.toml"),
        (spoil(options=3), '"options" is 3, not an object'),
        (spoil(seat=2), '"seat" is 2'),
        (spoil(agents=["random", None]), '"agents" has "random" for seat 0'),
        (spoil(agents=[None, 5]), '"agents" has 5 for seat 1'),
        (spoil(agents=[None, "nobody"]), "agent 'nobody' is not known"),
        (spoil(seed=-1), '"seed" is -1'),
        (spoil(seed=True), '"seed" is true'),
        (spoil(start="?"), '"start": '),
        (spoil(start=5), '"start" is 5, not a text'),
        (spoil(start="QUJD"), '"start": 3 bytes are no position'),
        (lambda data: spoil(start=other_start(floors=3))(data), '"start": these bytes are no position of this game'),
        (lambda data: spoil(start=late_start())(data), '"start": not a new game, but one after 1 decisions'),
        (spoil(moves=["lay (0,0) r0"]), "move 1: lay (0,0) r0 is not legal here"),
        (spoil(moves=[5]), "move 1: 5 is not a text"),
        (spoil(moves="none"), '"moves" is "none", not a list'),
    ],
)
def test_a_damaged_save_gets_one_clear_line(tmp_path, change, said):
    path = tmp_path / "game.json"
    data = to_json(play_some(deal(make_plan(floors=2), 7), 2))
    assert from_json(json.loads(json.dumps(data)))
    path.write_text(json.dumps(change(data)))
    with pytest.raises(ReplayError) as caught:
        load(str(path))
    assert str(caught.value).startswith(f"{path}: ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_are_never_taken_twice(tmp_path):
    plan = make_plan(save=tmp_path / "game.json")
    names = []
    for _ in range(3):
        free_path(plan).touch()
        names.append(sorted(path.name for path in tmp_path.iterdir())[-1])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["game-2.json", "game-3.json", "game.json"]


# ---------------------------------------------------------------- seats, results, the command line


def test_seats():
    assert seat_agents(2, 0, ("a",)) == [None, "a"]
    assert seat_agents(4, 2, ("a",)) == ["a", "a", None, "a"]
    assert seat_agents(3, 1, ("a", "b")) == ["a", None, "b"]
    with pytest.raises(OptionError, match=r"it takes 1 \(for all\) or 3"):
        seat_agents(4, 0, ("a", "b"))
    assert {deal(make_plan(seat=None), seed).seat for seed in range(9)} == {0, 1}
    against = [deal(make_plan(*names, players=3, seat=1), 1).against() for names in (["first"], ["first", "random"])]
    assert [*against, deal(make_plan(), 1).against()] == ["2 x first", "0 first, 2 random", "random"]


@pytest.mark.parametrize(
    ("shares", "head"),
    [
        ([1, 0, 0], "You win!"),
        ([0.5, 0, 0.5], "You share the win."),
        ([0, 1, 0], "player 1 (random) wins."),
        ([0, 0.5, 0.5], "player 1 (random) and player 2 (random) win."),
        ([0, 0, 0], "Nobody wins."),
    ],
)
def test_the_result_in_words(monkeypatch, shares, head):
    match = deal(make_plan(players=3), 1)
    monkeypatch.setattr(type(match.position), "outcome", lambda self: shares)
    assert result_text(match).split("\n")[:3] == [head, "", "   5  you"]


GOOD = ["--opponents", "random", "--hint", "random"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--opponents", "nobody", "--hint", "random"], "agent 'nobody' is not known"),
        (["--opponents", "random", "--hint", "nobody"], "agent 'nobody' is not known"),
        ([*GOOD, "--game", "chess"], "game 'chess' is not known"),
        ([*GOOD, "--players", "9"], "option players: 9"),
        ([*GOOD, "--seat", "2"], "--seat 2 is not a seat: they are 0 to 1, or random"),
        ([*GOOD, "--seed", "-1"], "--seed -1"),
        ([*GOOD, "--option", "floors=0"], "option floors: 0"),
        ([*GOOD, "--option", "walls=0"], "no option 'walls'"),
        ([*GOOD, "--tileset", "nowhere.toml"], "nowhere.toml"),
        ([*GOOD, "--pace", "-1"], "--pace -1"),
        (["--opponents", "random", "random", "--hint", "random"], "2 players: there are 2 opponents, but it takes 1"),
        ([*GOOD, "--save", str(ROOT / "README.md")], "this file exists"),
        ([*GOOD, "--resume", "nowhere.json"], "nowhere.json: cannot be read"),
        ([*GOOD, "--resume", str(ROOT / "README.md")], "not JSON"),
        ([*GOOD, "--resume", "x.json", "--players", "2"], "--players does not go with --resume"),
        ([*GOOD, "--resume", "x.json", "--option", "floors=2"], "--option does not go with --resume"),
        (GOOD, "a game is played in a terminal"),
    ],
)
def test_a_bad_command_line_gets_one_clear_line(words, said):
    with pytest.raises(SystemExit) as caught:
        command.main(words)
    assert str(caught.value).startswith("error: ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_in_a_real_terminal(tmp_path):
    """One move, then quit: the game is saved and the shell is told where."""
    terminal, other_end = pytest.importorskip("pty").openpty()
    path, said, keys = tmp_path / "game.json", b"", [b"\r", b"q"]
    words = [sys.executable, "-m", "experiments.play", *GOOD, "--pace", "0", "--save", str(path)]
    ends = {"stdin": other_end, "stdout": other_end, "stderr": other_end, "start_new_session": True}
    with subprocess.Popen(words, cwd=ROOT, env={**os.environ, "TERM": "xterm"}, **ends) as process:
        os.close(other_end)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if select.select([terminal], [], [], 0.3)[0]:
                try:
                    said += os.read(terminal, 1 << 16)
                except OSError:  # the other end is closed
                    break
            elif keys and b"Your turn" in said:  # quiet: it waits for a key
                os.write(terminal, keys.pop(0))
        else:
            process.terminate()
    os.close(terminal)
    assert process.returncode == 0
    assert f"saved: {path}".encode() in said
    assert len(load(str(path)).log) == 1
