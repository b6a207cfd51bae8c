"""The best whole turn by a net, against playing every turn; what a net sees of a table."""

import random
from collections import Counter

import numpy as np
import pytest

from tests.learning_tools import owner_of, random_params
from tests.tollero_tools import RICH, make_set, rules_for
from tollero_env import new_game
from tollero_env.game import get_rules
from tollero_env.games.tollero.constants import ANYWHERE, BUILD, EXPAND, FIRST, SECOND
from tollero_env.jit import loop_for
from tollero_env.nets import offsets
from tollero_env.rng import derive
from tollero_env.vectors import WIDTH

LEARNING = get_rules("tollero").game.learning
PLANNER = LEARNING.planner
plan, evaluate, describe = PLANNER.plan, PLANNER.evaluate, PLANNER.describe


def plan_at(states, i, tables, params, scratch, work, noise, seed):
    return plan(states, i, tables[0], params, scratch, 0, work[0], noise, seed)


def value_at(states, i, tables, params, work, seat):
    return evaluate(states[i], tables[0], params, work[0], seat)


def describe_at(states, i, tables, seat, rows, tags, numbers):
    return describe(states[i], tables[0], seat, rows, tags, numbers)


plan_at, value_at, describe_at = (loop_for(owner_of(__name__), loop) for loop in (plan_at, value_at, describe_at))


def straight(params):
    """The same net with all units of its last layer at work: its value is then a sum over tiles and numbers, so that
    screening by slopes finds the best of all turns."""
    params, at = params.copy(), offsets(PLANNER.sizes)["table_bias"]
    params[at : at + WIDTH] += 60
    return params


class Planned:
    """A plan for a position, made from the states alone."""

    def __init__(self, rules, states, params, noise=0.0, seed=0):
        before, work = states.tobytes(), np.zeros(1, PLANNER.work)
        scratch = np.full(1, 99, np.uint8).repeat(states.itemsize).view(states.dtype)  # whatever was there
        number = plan_at(states, 0, rules.tables, params, scratch, work, noise, np.uint64(seed))
        assert states.tobytes() == before  # it is left as it was
        self.moves, self.value = work["plan"][0, :number].tolist(), float(work["value"][0])
        assert (work["plan"][0, number:] == -1).all()
        known = int(work["num_moves"][0])
        self.worth = dict(zip(work["move"][0, :known].tolist(), work["worth"][0, :known].tolist()))


def goes_on(states, i, seat, stage):
    """Does the turn in which `stage` was decided go on?"""
    state = states[i]
    now, origin = state["stage"], state["origin"]
    if state["over"] or state["player"] != seat:
        return False
    return (stage == EXPAND and now == FIRST and origin != ANYWHERE) or (stage == FIRST and now == SECOND)


class Turns:
    """Every way to end a turn: its moves, what the net says of the table then, and the scores if the game is over."""

    def __init__(self, rules, states, params):
        self.rules, self.params, self.seat = rules, params, int(states["player"][0])
        self._states, self._work = np.zeros(4, rules.game.state), np.zeros(1, PLANNER.work)
        self._words = self._states.view(np.uint64).reshape(4, -1)
        self._moves = np.zeros((4, rules.game.max_legal), np.int64)
        self.values, self.margins, self.wholly = {}, {}, {}
        self._states[:1] = states
        self.stage, self.left = int(states["stage"][0]), int(states["floors_left"][0, self.seat])
        self._play(0, ())

    def _play(self, depth, line):
        rules, states = self.rules, self._states
        number = rules.game.moves(states, depth, rules.tables, self._moves[depth])
        stage = int(states["stage"][depth])
        for move in self._moves[depth, :number].tolist():
            self._words[depth + 1] = self._words[depth]
            rules.game.apply(states, depth + 1, rules.tables, move)
            if goes_on(states, depth + 1, self.seat, stage):
                self._play(depth + 1, (*line, move))
            else:
                self._end(depth + 1, (*line, move))

    def _end(self, depth, line):
        due = 1 if self.stage == SECOND else min(2, self.left)
        self.wholly[line] = sum(move >= BUILD for move in line) == due  # no Floor was forfeited (B4)
        if self._states["over"][depth]:
            points = np.zeros(self.rules.players, np.int64)
            self.rules.game.scores(self._states, depth, self.rules.tables, points)
            self.margins[line] = min(points[self.seat] - np.delete(points, self.seat))
        else:
            how = (self._states, depth, self.rules.tables, self.params, self._work, self.seat)
            self.values[line] = float(value_at(*how))


def positions(rules, seed, share):
    """States of a game of random moves, by and by."""
    rng, moves = random.Random(seed), np.zeros(rules.game.max_legal, np.int64)
    states = np.zeros(1, rules.game.state)
    rules.game.reset(states, 0, rules.tables, np.uint64(seed))
    while not states["over"][0]:
        if rng.random() < share:
            yield states.copy()
        number = rules.game.moves(states, 0, rules.tables, moves)
        rules.game.apply(states, 0, rules.tables, int(moves[rng.randrange(number)]))


def check_plan(found, turns, seen):
    """It is a whole turn, and worth what is said."""
    line = tuple(found.moves)
    assert line in turns.wholly
    if line in turns.values and turns.wholly[line]:
        seen["value"] += 1
        assert found.value == pytest.approx(turns.values[line], abs=2e-3, rel=2e-5)
    elif line in turns.margins:
        seen["last"] += 1
        assert np.sign(found.value) == np.sign(turns.margins[line])
    seen[turns.stage] += 1


def check_best(found, turns, seen):
    """No turn is better, as long as values are sums."""
    line = tuple(found.moves)
    if line in turns.values and all(turns.wholly.values()):
        seen["best"] += 1
        assert turns.values[line] > max(turns.values.values()) - 2e-3
        for move, worth in found.worth.items():
            best = max(value for other, value in turns.values.items() if other[0] == move)
            assert worth == pytest.approx(best, abs=2e-3, rel=2e-5)
    if line in turns.margins and turns.rules.players == 2:
        seen["best margin"] += 1
        assert turns.margins[line] == max(turns.margins.values())


@pytest.mark.parametrize("players", [2, 3, 4])
def test_of_a_straight_net_it_is_the_best_of_all_turns(players):
    seen, rules = Counter(), get_rules("tollero", players)
    for seed in range(3):
        params = straight(random_params(PLANNER.sizes, seed, 0.15))
        for states in positions(rules, seed, 0.25):
            found, turns = Planned(rules, states, params), Turns(rules, states, params)
            check_plan(found, turns, seen)
            check_best(found, turns, seen)
            if turns.stage == EXPAND:
                assert set(found.worth) == {line[0] for line in turns.wholly}
    assert min(seen[stage] for stage in (EXPAND, FIRST, SECOND)) > 5
    assert seen["best"] > 25


@pytest.mark.parametrize("players", [2, 3, 4])
def test_of_any_net_it_is_a_good_turn_and_its_value_is_exact(players):
    """Only the most promising turns by the slopes are judged: the best is found mostly, but not always."""
    seen, rules, behind = Counter(), get_rules("tollero", players), []
    for seed in range(3):
        params = random_params(PLANNER.sizes, 10 + seed, 0.15)
        for states in positions(rules, 10 + seed, 0.25):
            found, turns = Planned(rules, states, params), Turns(rules, states, params)
            check_plan(found, turns, seen)
            if tuple(found.moves) in turns.values:
                values = np.array(list(turns.values.values()))
                behind.append(float((values > turns.values[tuple(found.moves)] + 1e-3).mean()))
    assert seen["value"] > 25
    assert np.mean(np.array(behind) == 0) > 0.75
    assert np.mean(behind) < 0.02


def test_in_the_last_turn_the_score_decides():
    """Floors of one: every position is near the end, and the last seat's turn is the last."""
    seen = Counter()
    for players in (2, 3, 4):
        rules = get_rules("tollero", players, floors=2)
        for seed in range(6):
            params = random_params(PLANNER.sizes, seed, 0.15)
            for states in positions(rules, seed, 1.0):
                found, turns = Planned(rules, states, params), Turns(rules, states, params)
                check_plan(found, turns, seen)
                if turns.margins:
                    check_best(found, turns, seen)
                    wins = max(turns.margins.values()) > 0
                    assert not wins or players > 2 or found.value > 0
    assert seen["best margin"] > 10
    assert seen["last"] > 30


def test_with_one_floor_left_and_with_expand_skipped():
    """B4, E4: odd numbers of Floors; tiles that fit nowhere, so that a turn is nothing but building."""
    seen = Counter()
    rules = [get_rules("tollero", 2, floors=5), rules_for(make_set(filler={**RICH, "canals": ""}), 2, floors=4)]
    for one in rules:
        for seed in range(2):
            params = straight(random_params(PLANNER.sizes, seed, 0.15))
            for states in positions(one, seed, 1.0):
                found, turns = Planned(one, states, params), Turns(one, states, params)
                check_plan(found, turns, seen)
                check_best(found, turns, seen)
                seen["one left"] += turns.left == 1 and turns.stage != SECOND
                seen["skipped"] += turns.stage == FIRST and states["origin"][0] == ANYWHERE
    assert seen["one left"] > 0
    assert seen["skipped"] > 5


@pytest.mark.uncompiled
def test_an_opening_compiled_or_not():
    rules = get_rules("tollero", 2, floors=1)
    params, seen = straight(random_params(PLANNER.sizes, 4, 0.15)), Counter()
    for states in list(positions(rules, 4, 1.0))[:2]:
        found, turns = Planned(rules, states, params), Turns(rules, states, params)
        check_plan(found, turns, seen)
        check_best(found, turns, seen)
    assert seen["best"] == 2


def test_noise():
    """Without it the seed is nothing; with it a plan follows from its seed, is a whole turn and known by its value."""
    rules, params, several = get_rules("tollero", 3), random_params(PLANNER.sizes, 7, 0.15), 0
    for states in positions(rules, 7, 0.15):
        plain = Planned(rules, states, params)
        assert Planned(rules, states, params, 0.0, 5).moves == plain.moves
        assert Planned(rules, states, params, 1e-6, 5).value == pytest.approx(plain.value, abs=1e-3)
        turns, plans = Turns(rules, states, params), Counter()
        for seed in range(12):
            found = Planned(rules, states, params, 1.0, derive(1, seed))
            check_plan(found, turns, Counter())
            assert Planned(rules, states, params, 1.0, derive(1, seed)).moves == found.moves
            assert found.value <= plain.value + 1e-4
            plans[tuple(found.moves)] += 1
        several += len(plans) > 3
    assert several > 5


def test_noise_draws_by_the_softmax():
    """With two turns to choose from, the better one is taken so often as the values say."""
    rules, params = get_rules("tollero", 2), random_params(PLANNER.sizes, 8, 0.15)
    for states in positions(rules, 8, 1.0):
        turns = Turns(rules, states, params)
        if turns.stage != SECOND or len({move // 4 for (move,) in turns.values}) != 2:
            continue
        drawn = [Planned(rules, states, params, 0.3, derive(2, k)) for k in range(2000)]
        values = {tuple(one.moves): one.value for one in drawn}
        if len(values) != 2:
            continue
        better, worse = sorted(values, key=values.get, reverse=True)
        chance = 1 / (1 + np.exp((values[worse] - values[better]) / 0.3))
        share = sum(tuple(one.moves) == better for one in drawn) / 2000
        assert abs(share - chance) < 4 * (chance * (1 - chance) / 2000) ** 0.5
        return
    pytest.fail("no such position")


# ---- what a net sees


def described(position, seat):
    rows = np.full((PLANNER.rows, PLANNER.row), -7, np.int16)
    tags, numbers = np.full(PLANNER.tags, -7), np.full(PLANNER.sizes.numbers, np.nan, np.float32)
    number = describe_at(position.states, 0, position.rules.tables, seat, rows, tags, numbers)
    assert (rows[number:] == -7).all()
    return rows[:number].tolist(), tags.tolist(), numbers.tolist()


def between_turns(players, seed, **options):
    """Positions in which a turn begins."""
    position, rng = new_game(players=players, seed=seed, **options), random.Random(seed)
    while not position.over:
        if position.states["stage"][0] == EXPAND:
            yield position
        position.play(rng.choice(position.moves()))


@pytest.mark.parametrize("players", [2, 3, 4])
def test_what_is_hidden_has_no_part_in_it(players):
    params = random_params(PLANNER.sizes, players, 0.15)
    differing = 0
    for position in between_turns(players, players):
        for seat in range(players):
            seen = described(position, seat)
            for seed in range(2):
                other = position.hidden_from(seat, seed)
                differing += other.to_bytes() != position.to_bytes()
                assert described(other, seat) == seen
        own = position.hidden_from(position.player, 9)
        assert Planned(own.rules, own.states, params).moves == Planned(own.rules, position.states, params).moves
    assert differing > 50


@pytest.mark.uncompiled
def test_descriptions_are_within_bounds_and_tell_the_scores():
    for players in (2, 3, 4):
        for position in between_turns(players, 20 + players, floors=2):
            points = position.scores()
            for seat in range(players):
                rows, tags, numbers = described(position, seat)
                assert len(rows) == position.states["num_tiles"][0]
                indices = np.array([index for row in rows for index in row] + tags)
                assert indices.min() >= 0
                assert indices.max() < PLANNER.sizes.indices
                others = [points[(seat + k) % players] for k in range(1, players)]
                expected = [(points[seat] - other) / PLANNER.unit for other in others]
                assert numbers[: players - 1] == pytest.approx(expected)
                assert not any(numbers[players - 1 : 3])


def test_seats_see_the_same_table_in_their_own_way():
    """Two games that differ by whose Floors are whose alone: what seat 0 sees of one, seat 1 sees of the other."""
    for position in between_turns(2, 31):
        swapped = position.copy()
        state = swapped.states[0]
        for slot in range(64):
            for lot in range(4):
                building = int(state["building"][slot, lot])
                state["building"][slot, lot] = building ^ 32 if building else 0
        for name in ("lead", "own_lots", "stars", "floors_left", "hand"):
            field = position.states[name][0]
            state[name][0], state[name][1] = field[1].copy(), field[0].copy()
        state["stars"][:2] += np.array([-5, 5], np.int16)  # S4, which goes by seats
        state["player"] = 1 - state["player"]
        for seat in (0, 1):
            assert described(swapped, 1 - seat) == described(position, seat)


def test_many_games_in_one_call():
    """`act_many` gives the first move of each plan, `judge` the chance of every seat."""
    rules, params = get_rules("tollero", 3), random_params(PLANNER.sizes, 5, 0.15)
    listed = list(positions(rules, 5, 0.4))
    states, games = np.concatenate(listed), np.arange(len(listed))[::-2].copy()
    before, out = states.tobytes(), np.zeros(len(games), np.int64)
    scratch, work = np.zeros(1, rules.game.state), np.zeros(1, PLANNER.work)
    LEARNING.act_many(states, rules.tables, params, scratch, work, games, out)
    assert states.tobytes() == before
    assert out.tolist() == [Planned(rules, listed[g], params).moves[0] for g in games]
    chances = np.zeros(3)
    LEARNING.judge(states, 3, rules.tables, params, work, chances)
    logits = [value_at(states, 3, rules.tables, params, work, seat) for seat in range(3)]
    assert chances == pytest.approx([1 / (1 + np.exp(-logit)) for logit in logits])
