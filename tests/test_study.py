"""What notebooks and reports are made of: games with what was thought of them, opinions, pictures."""

import itertools
import json
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import agents  # noqa: F401
from agents.net import TurnNet
from agents.search import Budget, Forest
from experiments.study import (
    Page,
    Picture,
    Table,
    calibration,
    changes_of_mind,
    course_frames,
    draw_calibration,
    draw_course,
    draw_layers,
    draw_opinions,
    draw_running,
    layer_names,
    opinions,
    running_estimates,
    show_film,
    watch,
)
from experiments.study.games import LEFT, Judge, course_width, seat_name
from experiments.study.pictures import spread
from experiments.train.config import make_config
from experiments.train.turns import TurnsTrainer
from tollero_env.game import OptionError, get_rules
from tollero_env.opponents import make_agent
from tollero_env.position import Position
from tollero_env.replay import load
from tollero_env.rng import derive


@pytest.fixture(scope="module")
def net():
    """A net that has learned nothing, for four Floors."""
    config = make_config({"options": {"floors": 4}, "games_a_round": 10})
    return TurnsTrainer(config, config.rules()).agent()


@pytest.fixture(scope="module")
def course(net):
    """A game of it, seen from the second seat."""
    rules = get_rules("tollero", 2, floors=4)
    return watch(rules, ["greedy", "net"], [make_agent("greedy"), net], 5, judged=1)


def words_of(picture):
    """Every text in it; it is well-formed."""
    return [text.strip() for text in ET.fromstring(picture.svg).itertext() if text.strip()]


# ---------------------------------------------------------------- games


def test_a_course_is_the_game_that_these_agents_play(course, net):
    position = Position.new(course.rules, 5)
    assert course.start.tobytes() == position.to_bytes()
    for step, move in enumerate(course.moves):
        draw = derive(5, 1 + position.ply)
        agent = (make_agent("greedy"), net)[position.player]
        assert move == agent.act(position.hidden_from(position.player, draw), draw)
        assert (course.players[step], course.points[step]) == (position.player, position.scores())
        is_told = step == 0 or course.players[step - 1] != position.player
        assert course.chances[step] == (net.judge(position)[1] if is_told else None)
        position.play(move)
    assert position.over
    assert course.points[-1] == position.scores()
    assert course.chances[-1] == position.outcome()[1]
    assert load(course.replay).moves == course.moves


def test_a_net_judges_by_what_its_seat_may_know(net):
    assert isinstance(net, Judge)
    assert isinstance(net, TurnNet)
    for players in (2, 3):
        config = make_config({"players": players, "options": {"floors": 4}, "games_a_round": 10})
        judge = TurnsTrainer(config, config.rules()).agent()
        position = Position.new(config.rules(), 3)
        chances = judge.judge(position)
        assert len(chances) == players
        assert all(0 < chance < 1 for chance in chances)
        for seat in range(players):
            assert judge.judge(position.hidden_from(seat, 7))[seat] == chances[seat]


def test_agents_without_opinions_are_watched_as_well():
    rules = get_rules("tollero", 3, floors=2)
    course = watch(rules, ["random"] * 3, [make_agent("random")] * 3, 1, judged=0)
    assert course.judged is None
    assert set(course.chances) == {None}
    assert [seat_name(course, seat) for seat in range(3)] == ["random 0", "random 1", "random 2"]
    assert "points" in words_of(draw_course(course))
    assert not any("chance" in word for word in words_of(draw_course(course)))
    assert not any("·" in frame.caption for frame in course_frames(course))


def test_frames_say_who_played_and_what_was_thought(course):
    frames = course_frames(course)
    assert len(frames) == len(course.moves) + 1 == len(course.chances)
    for step, frame in enumerate(frames):
        chance = course.chances[step]
        assert ("·" in frame.caption) == (chance is not None and step < len(course.moves))
        if "·" in frame.caption:
            assert frame.caption.endswith(f" · net {chance:.0%}")
        if step:
            assert frame.caption.startswith(f"{step}. {('greedy', 'net')[course.players[step - 1]]}: ")


def test_the_picture_of_a_course_leaves_room_for_names(course):
    words = words_of(draw_course(course))
    assert {f"greedy: {course.points[-1][0]}", f"net: {course.points[-1][1]}", "moves"} <= set(words)
    assert any("net gave itself" in word for word in words)
    longer = course._replace(names=["greedy", "a net of a very long name"])
    assert 0.5 < LEFT + course_width(longer) < LEFT + course_width(course) < 1
    draw_course(longer)


def test_a_film_lies_in_a_frame_of_its_own(course):
    page = show_film(course, "A <title> & more")
    assert "<title>A &lt;title&gt; &amp; more</title>" in page.html
    shown = page._repr_html_()
    assert shown.count("<") == 2  # the frame alone: the page in it is escaped
    film = json.loads(re.search(r'id="film">(.*?)</script>', page.html, re.DOTALL)[1])
    assert len(film["frames"]) == len(course.moves) + 1
    assert "height:300px" in Page("x", 300).frame()


# ---------------------------------------------------------------- opinions


def test_opinions_are_what_the_search_found():
    position = Position.new(get_rules("tollero", 2, floors=4), 2)
    found = opinions(position, "ismcts:sims=300", 9)
    agent = make_agent("ismcts:sims=300")
    forest = Forest(position.rules, agent._find_style(position.rules), 1, 300)
    forest.start(position.hidden_from(0, 9))
    tried = forest.think(Budget(300), 9, 0.0)
    assert {one.move: (one.visits, one.value) for one in found} == tried
    assert sum(one.visits for one in found) == 300
    assert [one.text for one in found] == [position.text(one.move) for one in found]
    assert {one.move for one in found} == set(position.moves())
    assert all(a.visits >= b.visits for a, b in itertools.pairwise(found))
    assert agent.act(position.hidden_from(0, 9), 9) == found[0].move


def test_only_who_searches_has_opinions():
    position = Position.new(get_rules("tollero", 2, floors=4), 2)
    with pytest.raises(OptionError, match="agent 'greedy' does not tell what it thinks of each move"):
        opinions(position, "greedy")


def test_changes_of_mind_are_where_a_search_plays_something_else(course):
    agent = make_agent("random")
    found = changes_of_mind(course, 1, agent, "ismcts:sims=100")
    assert found
    for change in found:
        assert course.players[change.step] == change.position.player == 1
        assert course.players[change.step - 1] == 0  # the beginning of a turn
        assert change.found[0].move != change.chosen
        assert change.chosen in change.position.moves()
        seed = derive(1, change.step)
        assert change.chosen == agent.act(change.position.hidden_from(1, seed), seed)
        assert change.found == opinions(change.position, "ismcts:sims=100", seed)
    assert changes_of_mind(course, 0, make_agent("ismcts:sims=100"), "ismcts:sims=100") == []


def test_the_chosen_move_is_always_in_the_picture():
    position = Position.new(get_rules("tollero", 2, floors=4), 2)
    found = opinions(position, "ismcts:sims=100")
    assert len(found) > 4
    last = found[-1]
    words = words_of(draw_opinions(found, last.move, most=4))
    assert last.text in words
    assert [one.text in words for one in found[:5]] == [True, True, True, False, False]
    assert [one.text in words_of(draw_opinions(found, most=4)) for one in found[:4]] == [True] * 4


# ---------------------------------------------------------------- pictures


@pytest.mark.parametrize("values", [[], [1.0], [0, 0, 0], [0, 0.5, 5, 5.2, 5.3], [1, 2, 3], [0, 0.9, 1.8, 1.9]])
def test_spread_keeps_order_and_distance(values):
    found = spread(values, 1.0)
    assert all(b - a >= 1 - 1e-9 for a, b in itertools.pairwise(found))
    assert sum(found) == pytest.approx(sum(values))
    if all(b - a >= 1 for a, b in itertools.pairwise(values)):
        assert found == pytest.approx(values)


def test_layers_have_their_names():
    picture = draw_layers(np.eye(3)[None].repeat(5, axis=0), ["a", "b", "c", "d"], columns=3)
    assert words_of(picture)[-4:] == ["a", "b", "c", "d"]
    assert picture.svg.count("<image") == 4
    assert Picture("<svg/>")._repr_svg_() == "<svg/>"
    assert repr(picture) == f"<Picture, {len(picture.svg):,} characters>"


def test_tables_are_markdown():
    assert Table([["a", "b"], ["1", "2"]])._repr_markdown_() == "| a | b |\n| --- | --- |\n| 1 | 2 |"


def test_equal_figures_are_equal_texts(course):
    assert draw_course(course) == draw_course(course)


@pytest.mark.parametrize("players", [2, 4])
def test_each_plane_has_its_name(players):
    how = get_rules("tollero", players).game.encodings["planes"]
    number = 19 + 4 * players  # docs/observations.md
    names = layer_names(how.legend["plane"], number)
    assert len(names) == len(set(names)) == number
    assert (names[0], names[1], names[4], names[-1]) == ("tile", "canals N", "canals W", f"heights {players - 1} SW")
    assert layer_names([("a", 1, ""), ("b", 3, "of X, Y"), ("c", 1, "")], 6) == ["a", "b 0", "b 1", "b 2", "c 0", "c 1"]


# ---------------------------------------------------------------- shares


def test_running_estimates_end_with_all_deals():
    shares = np.random.default_rng(1).integers(0, 3, 400) / 2
    found = running_estimates(shares)
    numbers = [number for number, _ in found]
    assert (numbers[0], numbers[-1]) == (10, 400)
    assert numbers == sorted(set(numbers))
    for number, estimate in found:
        assert estimate.value == pytest.approx(shares[:number].mean())
    first, last = found[0][1], found[-1][1]
    assert last.high - last.low < 0.3 * (first.high - first.low)
    words = words_of(draw_running({"one": shares, "other": np.ones(30)}, 0.5))
    assert {f"one {shares.mean():.1%}", "other 100.0%"} <= set(words)


def test_calibration_compares_what_was_given_with_what_came(course):
    one = course._replace(chances=[0.12, None, 0.5, 1.0])
    two = course._replace(chances=[0.18, 0.99, 0.0])
    unknown = course._replace(chances=[None, None])
    found = calibration([one, two, unknown])
    assert [bin.moments for bin in found] == [2, 1, 1]
    assert [bin.given for bin in found] == pytest.approx([0.15, 0.5, 0.99])
    assert [bin.came for bin in found] == pytest.approx([0.5, 1.0, 0.0])
    assert "chance it gave itself, in 2 games" in words_of(draw_calibration([one, two]))
