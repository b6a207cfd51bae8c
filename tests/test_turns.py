"""Whole turns: the worth of every legal move against playing all turns out, on any tiles, for 2 to 4 players."""

import random
from collections import Counter

import numpy as np
import pytest

from tests.tollero_tools import RICH, make_set, random_set, rules_for
from tollero_env import new_game
from tollero_env.game import get_rules
from tollero_env.games.tollero.constants import ANYWHERE, EXPAND, FIRST, SECOND
from tollero_env.games.tollero.state import STATE
from tollero_env.games.tollero.turns import TURNS
from tollero_env.position import Position, as_word
from tollero_env.rng import derive, pick_best


def weigh(position):
    """The kernel's worth of every legal move."""
    moves = np.array(position.moves())
    out = np.full(len(moves), -99)
    TURNS.weigh(position.states, 0, position.rules.tables, moves, len(moves), out)
    return dict(zip(moves.tolist(), out.tolist()))


def difference(position, seat):
    """Own points less the best other's."""
    points = position.scores()
    return points[seat] - max(points[:seat] + points[seat + 1 :])


def same_turn(position, seat, stage):
    """Does the turn in which `stage` was decided go on?"""
    now, origin = position.states["stage"][0], position.states["origin"][0]
    if position.over or position.player != seat:
        return False
    return (stage == EXPAND and now == FIRST and origin != ANYWHERE) or (stage == FIRST and now == SECOND)


def play_out(position, move):
    """The best difference at the end of a turn that begins with this move: every turn is played."""
    seat, stage, after = position.player, position.states["stage"][0], position.copy()
    after.play(move)
    if not same_turn(after, seat, stage):
        return difference(after, seat)
    return max(play_out(after, following) for following in after.moves())


def compare_game(rules, seed, share, seen):
    """Compare at that share of a game's decisions, half of them random, half of them good."""
    rng, position = random.Random(seed), Position.new(rules, seed)
    while not position.over:
        moves = position.moves()
        worth = weigh(position)
        assert list(worth) == moves
        if rng.random() < share:
            assert worth == {move: play_out(position, move) for move in moves}, position.to_bytes()
            stage, left = position.states["stage"][0], position.states["floors_left"][0, position.player]
            seen[int(stage), "one left" if left == 1 else "", int(position.states["origin"][0]) == ANYWHERE] += 1
        position.play(max(worth, key=worth.get) if rng.random() < 0.5 else rng.choice(moves))


@pytest.mark.parametrize("players", [2, 3, 4])
def test_against_playing_every_turn(players):
    seen = Counter()
    compare_game(get_rules("tollero", players), players, 0.5, seen)
    compare_game(get_rules("tollero", players, downtown_scores=False, floors=5), players, 0.5, seen)
    assert {stage for stage, _, _ in seen} == {EXPAND, FIRST, SECOND}


@pytest.mark.parametrize("players", [2, 3, 4])
def test_against_playing_every_turn_on_any_tiles(players):
    seen = Counter()
    for seed in range(8):
        compare_game(rules_for(random_set(seed), players, floors=4), seed, 0.5, seen)
    assert any(left for _, left, _ in seen)
    assert any(stage == FIRST and is_anywhere for stage, _, is_anywhere in seen)  # E4: Expand was skipped


@pytest.mark.uncompiled
def test_a_short_game_compiled_or_not():
    seen = Counter()
    compare_game(get_rules("tollero", 2, floors=1), 3, 0.5, seen)
    position = new_game(seed=3, floors=3)
    position.play(max(weigh(position), key=weigh(position).get))
    assert weigh(position) == {move: play_out(position, move) for move in position.moves()}


# Every tile is worth 3 and has the lots NW and NE, a fountain on SE that points at its own NE and one on SW that
# points at NW of the tile to the south. Turned once, the latter lies on NW and points at NE of the tile to the west.
ALL_RICH = make_set(filler=RICH)
UPRIGHT = "D1:A:0 D2:A:0 D3:A:0 D4:A:0"


def test_an_opening_by_hand():
    position = Position.new(rules_for(ALL_RICH, 2, downtown=UPRIGHT), 1)
    worth = {position.text(move): value for move, value in weigh(position).items()}
    # upright, east of D1: a Floor is worth at most 3 and one fountain, twice; and seat 0 starts with 5 to 0 (S4)
    assert worth["lay (1,-1) r0"] == 5 + 4 + 4
    # turned once, its outer fountain points at NE of D1, where the inner one does: 3 and two fountains
    assert worth["lay (1,-1) r1"] == 5 + 5 + 4
    # turned three times and south of D2: D2's outer fountain points at its NW, and so does its inner one
    assert worth["lay (1,1) r3"] == 5 + 5 + 4
    assert max(worth.values()) == 14
    position.play("lay (1,-1) r1")
    worth = {position.text(move): value for move, value in weigh(position).items()}
    assert worth["build (0,-1) NE"] == 14
    assert worth["build (0,-1) NW"] == 5 + 3 + 4  # no second Floor on the same tile (B3)
    position.play("build (0,-1) NE")
    worth = {position.text(move): value for move, value in weigh(position).items()}
    assert worth["build (1,-1) SE"] == 14
    assert worth["build (1,-1) NE"] == 13


@pytest.mark.parametrize(("players", "taken"), [(2, 3), (3, 0)])
def test_what_a_rival_loses_counts_as_far_as_he_is_the_best_one(players, taken):
    """The last seat leads on D1; seat 0 may only draw level there, so that nobody has its 3. With three, seat 1 is
    far ahead, and what the last seat loses does not matter."""
    position = Position.new(rules_for(ALL_RICH, players, downtown=UPRIGHT), 1)
    state, last, d1 = position.states[0], players - 1, 1
    state["lead"][last, d1] = 1 * 32 + 1
    state["building"][d1, 1] = (last << 5) + 1
    state["open_lots"][1] &= ~np.uint64(1 << d1)
    state["own_lots"][last, 1] |= np.uint64(1 << d1)
    state["stage"], state["origin"], state["value"][0] = SECOND, 0, 1  # a Floor one step from the contract
    state["stars"][1] += 20 * (players == 3)
    before = difference(position, 0)
    gains = {position.text(move): value - before for move, value in weigh(position).items()}
    assert gains["build (0,-1) NW"] == taken
    assert "build (0,-1) NE" not in gains  # B2
    assert gains["build (1,0) NW"] == 3
    assert gains["build (1,0) NE"] == 3 + 1


def test_nothing_is_touched_and_nothing_hidden_counts():
    for players in (2, 3, 4):
        position = new_game(players=players, seed=4)
        for turn in range(12):
            before = position.to_bytes()
            worth = weigh(position)
            assert position.to_bytes() == before
            for seed in range(3):
                assert weigh(position.hidden_from(position.player, seed)) == worth
            position.play(position.moves()[turn % len(position.moves())])


def test_many_games_in_one_call_choose_among_the_best():
    rules = get_rules("tollero", 3)
    states, games = np.zeros(40, STATE), np.arange(39, 0, -3)
    for i in range(40):
        rules.game.reset(states, i, rules.tables, as_word(derive(1, i)))
        rules.game.playout(states, i, rules.tables, 1) if i % 7 == 0 else None
    games = games[states["over"][games] == 0]
    before = states.tobytes()
    seeds, out = np.array([derive(2, int(g)) for g in games], np.uint64), np.zeros(len(games), np.int64)
    TURNS.choose_many(states, rules.tables, games, seeds, out)
    assert states.tobytes() == before
    for move, g in zip(out.tolist(), games):
        worth = weigh(Position(rules, states[g : g + 1]))
        assert worth[move] == max(worth.values())


@pytest.mark.uncompiled
def test_the_best_is_picked_and_ties_are_even():
    values = np.array([3, 7, -2, 7, 7, 9])
    assert pick_best(values, 6, as_word(5)) == 5
    picked = Counter(pick_best(values, 5, as_word(derive(3, k))) for k in range(600))
    assert set(picked) == {1, 3, 4}
    assert min(picked.values()) > 150
    assert pick_best(np.array([-4.5]), 1, as_word(0)) == 0
