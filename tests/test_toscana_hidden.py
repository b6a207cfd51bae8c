"""Hidden things: `resample` redraws the order of the stacks evenly, and nothing else; deals are even too."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from itertools import permutations
from math import factorial
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.reference.toscana import Toscana
from tests.toscana_tools import IDS, Pair, deal_pair, kernel_table, rules_for
from tollero_env.games.toscana.constants import SET_TILES
from tollero_env.games.toscana.notation import stack_of
from tollero_env.games.toscana.state import STATE

Resample = Callable[[np.ndarray, int, np.ndarray, int, int], None]
HIDDEN = ("stack", "later", "rng")
P_LEAST = 1e-4  # seeds are fixed: a passing test keeps passing


def play_until(pair: Pair, rng: random.Random, is_there: Callable[[Toscana], bool], prefer: str | None = None) -> Pair:
    """Random moves until something is so; questions are answered by `prefer`, where it is given."""
    while not is_there(pair.twin):
        moves = sorted(pair.kernel_moves())
        pair.play((prefer,) if prefer and pair.twin.stage == "veto" else rng.choice(moves))
    return pair


def redrawn(pair: Pair, player: int, seed: int, resample: Resample | None = None) -> np.ndarray:
    states = pair.states.copy()
    (resample or pair.rules.game.resample)(states, 0, pair.rules.tables, player, seed)
    return states


def as_twin(pair: Pair, states: np.ndarray) -> Toscana:
    """A twin that shows a state of the kernel which differs from the pair's in its stacks alone."""
    twin = pair.twin.copy()
    twin.stacks = kernel_table(pair.rules, states)["stacks"]
    twin.bottom = [stack[-1] if sunk and stack else None for stack, sunk in zip(twin.stacks, states["sunk"][0])]
    return twin


def breaches(pair: Pair, player: int, seeds: range, resample: Resample | None = None) -> set[str]:
    """What is wrong with the states that `resample` makes, other than how likely they are."""
    found, known = set(), as_twin(pair, pair.states).known_to(player)
    for seed in seeds:
        states = redrawn(pair, player, seed, resample)
        if as_twin(pair, states).known_to(player) != known:
            found.add("knowledge")
        if any(not np.array_equal(states[name], pair.states[name]) for name in STATE.names or () if name not in HIDDEN):
            found.add("fields")
        if pair.rules.game.check(states, 0, pair.rules.tables):
            found.add("check")
    return found


@pytest.mark.parametrize("veto", ["round", "match"])
@pytest.mark.parametrize("rounds", [1, 2])
def test_what_a_player_knows_stays(rounds: int, veto: str) -> None:
    sunk = 0
    for seed in range(4):
        rng = random.Random(seed)
        pair = deal_pair(rng, size=11, rounds=rounds, veto=veto)
        while True:
            for player in range(2):
                assert breaches(pair, player, range(2)) == set()
            sunk += any(pair.twin.bottom)
            if pair.twin.over:
                break
            pair.play(rng.choice(sorted(pair.kernel_moves())))
    assert sunk > 30


@pytest.mark.uncompiled
def test_what_a_player_knows_stays_in_a_short_match() -> None:
    rng = random.Random(3)
    pair = deal_pair(rng, size=5)
    while not pair.twin.over:
        assert breaches(pair, 0, range(1)) == set()
        pair.play(rng.choice(sorted(pair.kernel_moves())))


def test_the_vetoed_tile_stays_at_the_bottom_and_the_top_on_top() -> None:
    rng = random.Random(1)
    pair = play_until(deal_pair(rng), rng, lambda twin: all(twin.bottom), "veto")
    for seed in range(50):
        states = redrawn(pair, 0, seed)
        for seat, stack in enumerate(pair.twin.stacks):
            names = [IDS[tile] for tile in stack_of(states[0], seat)]
            assert (names[0], names[-1]) == (stack[0], stack[-1])
            assert sorted(names) == sorted(stack)


# ---- what a player does not know is drawn evenly


def middles(states: np.ndarray) -> tuple[tuple[int, ...], ...]:
    """The parts of both stacks that nobody knows, and the stacks of the next round."""
    state = states[0]
    seen = [tuple(stack_of(state, seat)[1 : None if not state["sunk"][seat] else -1]) for seat in range(2)]
    return (*seen, *(tuple(state["later"][seat].tolist()) for seat in range(2)))


def unevenness(pair: Pair, resample: Resample | None = None) -> str:
    """Why the orders are not drawn evenly; "" if they are, as far as a chi-square test tells."""
    first, second, *_ = middles(pair.states)
    expected = {(a, b) for a in permutations(first) for b in permutations(second)}
    samples = 30 * len(expected)
    seen = Counter(middles(redrawn(pair, 0, seed, resample))[:2] for seed in range(samples))
    if set(seen) - expected:
        return "impossible"
    p = stats.chisquare([seen[order] for order in sorted(expected)]).pvalue
    return "" if p > P_LEAST else f"uneven: p = {p:.2g}"


def few_left(sunk: bool, seed: int = 0) -> Pair:
    """Few tiles are left on both stacks of a large board."""
    rng = random.Random(seed)
    pair = deal_pair(rng, size=31, rounds=1)
    length = 5 if sunk else 4
    return play_until(
        pair, rng, lambda twin: all(len(stack) <= length for stack in twin.stacks), "veto" if sunk else "allow"
    )


@pytest.mark.parametrize("sunk", [False, True])
def test_every_order_is_equally_likely(sunk: bool) -> None:
    pair = few_left(sunk)
    sizes = [len(middle) for middle in middles(pair.states)[:2]]
    assert factorial(sizes[0]) * factorial(sizes[1]) >= 12
    assert breaches(pair, 0, range(20)) == set()
    assert unevenness(pair) == ""


def permutation_p(counts: np.ndarray, samples: int) -> float:
    """counts[place, tile] over random orders of n tiles: chi-square with (n - 1)² degrees of freedom."""
    n = len(counts)
    expected = samples / n
    statistic = ((counts - expected) ** 2).sum() / expected * (n - 1) / n
    return float(min(stats.chi2.cdf(statistic, (n - 1) ** 2), stats.chi2.sf(statistic, (n - 1) ** 2)))


def test_every_tile_comes_everywhere_in_this_round_and_the_next() -> None:
    pair = deal_pair(random.Random(5))
    samples = 4000
    orders = [middles(redrawn(pair, 1, seed)) for seed in range(samples)]
    for part in range(4):
        tiles = sorted(orders[0][part])
        counts = np.zeros((len(tiles), len(tiles)))
        for order in orders:
            counts[np.arange(len(tiles)), [tiles.index(tile) for tile in order[part]]] += 1
        assert len(tiles) == (15 if part < 2 else 16)
        assert permutation_p(counts, samples) > P_LEAST


def test_the_next_rounds_stacks_are_hidden_whole() -> None:
    """Its tops too: they lie face up only once the round begins."""
    pair = deal_pair(random.Random(5))
    tops = {tuple(redrawn(pair, 0, seed)["later"][0, :, -1].tolist()) for seed in range(200)}
    assert len(tops) > 100
    one = deal_pair(random.Random(5), rounds=1)
    assert not redrawn(one, 0, 1)["later"].any()


# ---- a resample that is wrong is found out


def do_nothing(states: np.ndarray, i: int, tables: np.ndarray, player: int, seed: int) -> None:
    """Leaves all as it is."""


def forgets_the_sunk(states: np.ndarray, i: int, tables: np.ndarray, player: int, seed: int) -> None:
    """Shuffles all below the top."""
    for seat in range(2):
        size = int(states["num_stack"][i, seat])
        below = states["stack"][i, seat, : size - 1].tolist()
        states["stack"][i, seat, : size - 1] = random.Random(seed + seat).sample(below, size - 1)


def draws_a_new_top(states: np.ndarray, i: int, tables: np.ndarray, player: int, seed: int) -> None:
    size = int(states["num_stack"][i, 0])
    states["stack"][i, 0, :size] = states["stack"][i, 0, :size][::-1].copy()


def peeks_at_the_stone(states: np.ndarray, i: int, tables: np.ndarray, player: int, seed: int) -> None:
    states["stone"][i, player] ^= 1


@pytest.mark.parametrize(
    ("sunk", "resample", "finding"),
    [
        (False, do_nothing, "uneven"),
        (True, forgets_the_sunk, "knowledge"),
        (True, forgets_the_sunk, "impossible"),
        (False, draws_a_new_top, "knowledge"),
        (False, peeks_at_the_stone, "fields"),
    ],
)
def test_a_wrong_resample_is_found_out(sunk: bool, resample: Resample, finding: str) -> None:
    pair = few_left(sunk)
    found = {*breaches(pair, 0, range(20), resample), unevenness(pair, resample).split(":")[0]}
    assert finding in found


# ---- equal knowledge, equal bytes


def look_alike(pair: Pair, rng: random.Random) -> np.ndarray:
    """Another true state that looks the same to both players."""
    states = pair.states.copy()
    state = states[0]
    for seat in range(2):
        first, last = int(state["sunk"][seat]), int(state["num_stack"][seat]) - 1
        if first < last:
            state["stack"][seat, first:last] = rng.sample(state["stack"][seat, first:last].tolist(), last - first)
        if state["later"][seat].any():
            state["later"][seat] = rng.sample(range(SET_TILES), SET_TILES)
    states["rng"] = rng.getrandbits(64)
    for player in range(2):
        assert as_twin(pair, states).known_to(player) == as_twin(pair, pair.states).known_to(player)
    return states


@pytest.mark.uncompiled
@pytest.mark.parametrize("rounds", [1, 2])
def test_states_that_look_the_same_give_the_same_bytes(rounds: int) -> None:
    rng, different = random.Random(rounds), 0
    pair = deal_pair(rng, size=7, rounds=rounds)
    while not pair.twin.over:
        other, seed = look_alike(pair, rng), rng.getrandbits(63)
        different += sum(a != b for a, b in zip(pair.states.tobytes(), other.tobytes()))
        for player in range(2):
            twice = other.copy()
            pair.rules.game.resample(twice, 0, pair.rules.tables, player, seed)
            assert twice.tobytes() == redrawn(pair, player, seed).tobytes()
        pair.play(rng.choice(sorted(pair.kernel_moves())))
    assert different > 100


def test_the_generator_is_no_trace_of_the_deal() -> None:
    pair = deal_pair(random.Random(9))
    words = {int(redrawn(pair, 1, seed)["rng"][0]) for seed in range(100)}
    assert len(words) == 100
    assert int(pair.states["rng"][0]) not in words


def test_redrawn_matches_can_be_played_to_the_end() -> None:
    rng = random.Random(4)
    pair = deal_pair(rng, size=9)
    while not pair.twin.over:
        states = redrawn(pair, 0, len(pair.moves))
        pair.rules.game.playout(states, 0, pair.rules.tables, 1)
        assert pair.rules.game.check(states, 0, pair.rules.tables) == 0
        assert states["over"][0] == 1
        pair.play(rng.choice(sorted(pair.kernel_moves())))


# ---- deals


def many_resets(number: int, **options: Any) -> np.ndarray:
    rules = rules_for(**options)
    states = np.zeros(number, STATE)
    for i in range(number):
        rules.game.reset(states, i, rules.tables, i)
    return states


def test_r1_every_tile_is_dealt_everywhere_equally_often() -> None:
    samples = 4000
    states = many_resets(samples)
    for stacks in (states["stack"], states["later"]):
        for seat in range(2):
            counts = np.array([np.bincount(stacks[:, seat, place], minlength=SET_TILES) for place in range(SET_TILES)])
            assert permutation_p(counts, samples) > P_LEAST


def test_r1_stacks_have_nothing_to_do_with_each_other() -> None:
    states = many_resets(6000)
    tops = [states["stack"][:, 0, -1], states["stack"][:, 1, -1], states["later"][:, 0, -1], states["later"][:, 1, -1]]
    for one in range(4):
        for other in range(one):
            table = np.zeros((SET_TILES, SET_TILES))
            np.add.at(table, (tops[one], tops[other]), 1)
            assert stats.chi2_contingency(table).pvalue > P_LEAST


def test_t1_either_player_starts_equally_often() -> None:
    starts = int(many_resets(4000)["starter"].sum())
    assert stats.binomtest(starts, 4000).pvalue > P_LEAST
