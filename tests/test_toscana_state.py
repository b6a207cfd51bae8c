"""Positions as bytes: the protocol's promises, what `check` lets through, playouts."""

from __future__ import annotations

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.toscana_tools import (
    deal_pair,
    deal_setup,
    grow,
    kernel_positions,
    kernel_table,
    reset_pair,
    rules_for,
    setup_of,
)
from tollero_env.game import HEADER, Rules
from tollero_env.games.toscana.constants import (
    ASKED,
    BAD_COUNTS,
    BAD_MATERIAL,
    BAD_TABLES,
    BAD_TILES,
    BAD_TURN,
    BAD_VERSION,
    BAD_WORDS,
    MAX_LEGAL,
    NUM_MOVES,
    OVER,
    PLACE,
    PROBLEMS,
)
from tollero_env.games.toscana.state import SETUP, STATE, TABLES
from tollero_env.rng import GAMMA, derive

OPTIONS: list[dict[str, Any]] = [
    {},
    {"size": 7},
    {"size": 5, "veto": "match"},
    {"size": 9, "contact": "colour", "veto": "match"},
    {"size": 11, "contact": "colour", "rounds": 1},
    {"size": 31, "rounds": 1},
]
seeds = st.integers(0, 2**63 - 1)
rulings = st.sampled_from(OPTIONS).map(lambda options: rules_for(**options))


def list_moves(rules: Rules, states: np.ndarray, i: int = 0) -> list[int]:
    buffer = np.full(MAX_LEGAL, -1, np.int64)
    return buffer[: rules.game.moves(states, i, rules.tables, buffer)].tolist()


def new_match(rules: Rules, seed: int) -> np.ndarray:
    states = np.zeros(1, STATE)
    rules.game.reset(states, 0, rules.tables, seed)
    return states


def play_some(rules: Rules, states: np.ndarray, seed: int, plies: int = 1000) -> list[int]:
    """Random moves, to the end if there is room; returns them."""
    rng, played = random.Random(seed), []
    while not states[0]["over"] and len(played) < plies:
        move = rng.choice(list_moves(rules, states))
        rules.game.apply(states, 0, rules.tables, move)
        played.append(move)
    return played


def a_position(rules: Rules, seed: int) -> np.ndarray:
    """Some position of a random match, drawn from the seed too."""
    states = new_match(rules, seed)
    play_some(rules, states, seed, random.Random(seed).randrange(70))
    return states


def get_scores(rules: Rules, states: np.ndarray) -> list[int]:
    points = np.zeros(2, np.int64)
    rules.game.scores(states, 0, rules.tables, points)
    return points.tolist()


# ---- the record


@pytest.mark.parametrize("dtype", [STATE, TABLES, SETUP], ids=["state", "tables", "setup"])
def test_records_have_no_holes(dtype: np.dtype[Any]) -> None:
    end = 0
    for name in dtype.names or ():
        field, offset = (dtype.fields or {})[name][:2]
        assert offset == end
        end += field.itemsize
    assert (dtype.itemsize, end % 8) == (end, 0)


def test_the_state_begins_with_the_header_and_words_lie_on_words() -> None:
    assert [(name, STATE[name]) for name in (STATE.names or ())[: len(HEADER)]] == [
        (name, np.dtype(kind)) for name, kind in HEADER
    ]
    for name in STATE.names or ():
        field, offset = (STATE.fields or {})[name][:2]
        assert offset % field.base.itemsize == 0, name


# ---- determinism, copies, bytes


@pytest.mark.uncompiled
@settings(max_examples=10)
@given(rules=rulings, seed=seeds)
def test_the_same_seed_and_moves_give_the_same_bytes(rules: Rules, seed: int) -> None:
    one, other = new_match(rules, seed), new_match(rules, seed)
    assert one.tobytes() == other.tobytes() != new_match(rules, seed ^ 1).tobytes()
    for move in play_some(rules, one, seed):
        rules.game.act(other, 0, rules.tables, move)
    assert one.tobytes() == other.tobytes()


def _playout_at(rules: Rules, states: np.ndarray, i: int) -> bytes:
    for seed in range(100):
        rules.game.reset(states, i, rules.tables, seed + i)
        rules.game.playout(states, i, rules.tables, seed)
    return states[i].tobytes()


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_threads_do_not_matter(options: dict[str, Any]) -> None:
    rules, shared = rules_for(**options), np.zeros(6, STATE)  # one array, a match a thread
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda i: _playout_at(rules, shared, i), range(6)))
    assert found == [_playout_at(rules, np.zeros(6, STATE), i) for i in range(6)]


@pytest.mark.uncompiled
@settings(max_examples=10)
@given(rules=rulings, seed=seeds)
def test_matches_side_by_side_do_not_touch_each_other(rules: Rules, seed: int) -> None:
    states = np.frombuffer(random.Random(seed).randbytes(3 * STATE.itemsize), STATE).copy()
    left, right = states[0].tobytes(), states[2].tobytes()
    rules.game.reset(states, 1, rules.tables, seed)
    assert states[1:2].tobytes() == new_match(rules, seed).tobytes()  # whatever lay there before
    rules.game.resample(states, 1, rules.tables, 0, seed)
    rules.game.apply(states, 1, rules.tables, list_moves(rules, states, 1)[0])
    rules.game.playout(states, 1, rules.tables, seed)
    rules.game.check(states, 1, rules.tables)
    assert (states[0].tobytes(), states[2].tobytes()) == (left, right)


@pytest.mark.uncompiled
@settings(max_examples=10)
@given(rules=rulings, seed=seeds)
def test_asking_changes_nothing(rules: Rules, seed: int) -> None:
    states = a_position(rules, seed)
    raw, tables = states.tobytes(), rules.tables.tobytes()
    list_moves(rules, states)
    get_scores(rules, states)
    rules.game.outcome(states, 0, rules.tables, np.zeros(2))
    rules.game.is_legal(states, 0, rules.tables, seed)
    rules.game.check(states, 0, rules.tables)
    rules.game.chance(states, 0, rules.tables, 1)  # nothing is left to chance
    assert (states.tobytes(), rules.tables.tobytes()) == (raw, tables)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_reset_is_a_deal(options: dict[str, Any]) -> None:
    for seed in range(10):
        pair = reset_pair(seed, **options)
        dealt = deal_setup(setup_of(pair.rules, pair.states), **options).states
        dealt["rng"] = pair.states["rng"]
        assert dealt.tobytes() == pair.states.tobytes()


def test_equal_positions_are_equal_bytes() -> None:
    """By whichever way they are reached: the same tiles laid in the same order, the same questions asked."""
    rules, found, ways = rules_for(size=5), {}, 0
    level = [new_match(rules, 3)]
    for _ in range(7):
        after = {}
        for before, move in ((states, move) for states in level for move in list_moves(rules, states)):
            child = before.copy()
            rules.game.apply(child, 0, rules.tables, move)
            key = repr((sorted(kernel_table(rules, child).items(), key=str), int(child[0]["ply"])))
            ways += 1
            assert found.setdefault(key, child.tobytes()) == child.tobytes()
            after[key] = child
        level = list(after.values())
    assert ways > len(found) > 100  # after two rounds that ended early, some are reached by several ways


# ---- what the game declares


@pytest.mark.uncompiled
@settings(max_examples=10)
@given(rules=rulings, seed=seeds)
def test_longest_game_and_score_bounds_hold(rules: Rules, seed: int) -> None:
    low, high = rules.game.score_bounds(rules.tables)
    for states in kernel_positions(rules, seed, seed):
        assert all(low <= score <= high for score in get_scores(rules, states))
        assert states[0]["ply"] <= rules.game.longest_game(rules.tables)
    shares = np.zeros(2)
    rules.game.outcome(states, 0, rules.tables, shares)
    assert shares.sum() == 1


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_bounds_hold_in_many_playouts(options: dict[str, Any]) -> None:
    rules = rules_for(**options)
    decisions, points = np.zeros(3000, np.int64), np.zeros((3000, 2), np.int64)
    rules.game.playouts(np.zeros(1, STATE), rules.tables, 1, decisions, points)
    low, high = rules.game.score_bounds(rules.tables)
    assert low < points.min()
    assert points.max() <= high
    assert decisions.max() <= rules.game.longest_game(rules.tables)


def test_r7_an_area_of_every_tile_is_possible() -> None:
    """Where both players want large areas, a colour runs through nearly all 32 tiles; none counts twice."""
    rng = random.Random(2)
    pair = deal_pair(rng, size=21, rounds=1)
    while not pair.twin.over:
        pair.play(grow(pair.twin, sorted(pair.kernel_moves()), rng))
    assert len(pair.twin.laid) == 32
    assert get_scores(pair.rules, pair.states) == pair.twin.scores()
    assert 25 < max(pair.twin.scores()) <= 32


def plain_playout(rules: Rules, seed: int) -> np.ndarray:
    """The loop that `playout` stands for, over `moves` and `apply`."""
    word = (1 << 64) - 1

    def mix(number: int) -> int:
        number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 & word
        number = (number ^ number >> 27) * 0x94D049BB133111EB & word
        return number ^ number >> 31

    states, base = new_match(rules, seed), derive(seed, 1)
    while not states[0]["over"]:
        moves = list_moves(rules, states)
        drawn = mix((base + int(states[0]["ply"]) * int(GAMMA)) & word)
        rules.game.apply(states, 0, rules.tables, moves[(drawn >> 32) * len(moves) >> 32])
    return states


@pytest.mark.uncompiled
@settings(max_examples=10)
@given(rules=rulings, seed=seeds)
def test_a_playout_is_random_moves(rules: Rules, seed: int) -> None:
    states = new_match(rules, seed)
    rules.game.playout(states, 0, rules.tables, seed)
    assert states.tobytes() == plain_playout(rules, seed).tobytes()


# ---- legal moves


@settings(max_examples=100)
@example(rules=rules_for(), seed=0, move=-1)
@example(rules=rules_for(), seed=0, move=NUM_MOVES)
@example(rules=rules_for(), seed=0, move=-(2**63))
@example(rules=rules_for(), seed=0, move=2**63 - 1)
@given(rules=rulings, seed=seeds, move=st.integers(-(2**63), 2**63 - 1) | st.integers(-300, NUM_MOVES + 300))
def test_is_legal_may_be_asked_anything(rules: Rules, seed: int, move: int) -> None:
    states = a_position(rules, seed)
    assert rules.game.is_legal(states, 0, rules.tables, move) == (move in list_moves(rules, states))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_is_legal_is_membership_in_moves(options: dict[str, Any]) -> None:
    """Every number there is, at some positions of each stage."""
    rules, stages = rules_for(**options), Counter()
    for states in list(kernel_positions(rules, 5, 5))[::5]:
        found = [move for move in range(NUM_MOVES) if rules.game.is_legal(states, 0, rules.tables, move)]
        listed = list_moves(rules, states)
        assert found == sorted(listed)
        assert listed == sorted(listed)  # by rotation, row, column
        assert bool(listed) != bool(states[0]["over"])
        stages[int(states[0]["stage"])] += 1
    assert {ASKED, PLACE} <= set(stages)


def test_max_legal_is_reached_nowhere_but_bounds_all() -> None:
    """The most places there can be, on the largest board, if all of it were empty and touching."""
    rules = rules_for(size=31, rounds=1)
    most = max(len(list_moves(rules, states)) for seed in range(3) for states in kernel_positions(rules, seed, seed))
    assert 200 < most <= MAX_LEGAL == 4 * 30 * 28


# ---- bytes from outside


@pytest.mark.uncompiled
@settings(max_examples=15)
@given(rules=rulings, seed=seeds)
def test_every_position_of_a_match_is_sound(rules: Rules, seed: int) -> None:
    for states in kernel_positions(rules, seed, seed):
        assert rules.game.check(states, 0, rules.tables) == 0


@pytest.mark.parametrize("size", [5, 7, 9])
def test_every_position_of_many_matches_with_many_passes_is_sound(size: int) -> None:
    passes = 0
    for seed, contact, veto in product(range(60), ("tile", "colour"), ("round", "match")):
        rules = rules_for(size=size, contact=contact, veto=veto, rounds=1 + seed % 2)
        for states in kernel_positions(rules, seed, seed):
            assert rules.game.check(states, 0, rules.tables) == 0
            passes += states[0]["passes"] == 1
    assert passes > 40


def check_is_safe(rules: Rules, states: np.ndarray) -> int:
    """The code of `check`; a position that it lets through can be played to a sound end within the bounds."""
    code = rules.game.check(states, 0, rules.tables)
    assert code == 0 or code in PROBLEMS
    if code == 0:
        end = states.copy()
        moves = list_moves(rules, end)
        assert bool(moves) != bool(end[0]["over"])  # a decision that is due can be made
        rules.game.resample(end, 0, rules.tables, 0, 1)
        assert rules.game.check(end, 0, rules.tables) == 0
        rules.game.playout(end, 0, rules.tables, 1)
        assert (rules.game.check(end, 0, rules.tables), end[0]["over"]) == (0, 1)
        low, high = rules.game.score_bounds(rules.tables)
        assert all(low <= score <= high for score in get_scores(rules, end))
    return int(code)


@pytest.mark.uncompiled
@settings(max_examples=60)
@given(rules=rulings, noise=st.binary(min_size=STATE.itemsize, max_size=STATE.itemsize), seed=seeds)
def test_noise_is_refused(rules: Rules, noise: bytes, seed: int) -> None:
    states = np.frombuffer(noise, STATE).copy()
    assert check_is_safe(rules, states) > 0
    for name in ("version", "digest", "num_players", "chance"):  # noise that gets past the first look
        states[name] = new_match(rules, seed)[name]
    assert check_is_safe(rules, states) > 0


@settings(max_examples=100)
@given(rules=rulings, seed=seeds)
def test_noise_in_range_is_refused(rules: Rules, seed: int) -> None:
    """Every byte small, the counts in range: the later looks have to cope."""
    draw = random.Random(seed)
    states = np.frombuffer(bytes(draw.choices(range(32), k=STATE.itemsize)), STATE).copy()
    sound = a_position(rules, seed)
    for name in ("version", "digest", "num_players", "chance", "player", "over", "stage", "num_tiles", "num_stack"):
        states[name] = sound[name]
    for name in ("round", "starter", "passes", "sunk", "stone", *draw.sample(["stack", "later", "tile", "cell"], 3)):
        states[name] = sound[name]
    states["rotation"] &= 3
    assert check_is_safe(rules, states) > 0


# Only what the rest does not settle may differ: the generator; how many questions were asked before a veto or in the
# round before; points of the round before; the pending decision; who will start, while nobody has laid a tile.
FREE = {"rng", "ply", "points", "player", "stage", "starter", "rotation", "stone", "sunk"}


def flipped_fields(rules: Rules, states: np.ndarray, flips: Any) -> Counter[str]:
    """Fields in which a change of one byte was let through, with the number of such changes."""
    starts = np.array([(STATE.fields or {})[name][1] for name in STATE.names or ()])
    found: Counter[str] = Counter()
    changed = states.copy()
    raw = changed.view(np.uint8)
    for place, flip in flips:
        raw[place] ^= flip
        if check_is_safe(rules, changed) == 0:
            found[(STATE.names or ())[int(np.searchsorted(starts, place, "right")) - 1]] += 1
        raw[place] ^= flip
    return found


@pytest.mark.parametrize("options", OPTIONS[:5], ids=str)
def test_every_single_bit_matters(options: dict[str, Any]) -> None:
    rules = rules_for(**options)
    match = list(kernel_positions(rules, 4, 4))
    for states in (match[0], match[len(match) // 3], match[-1]):
        accepted = flipped_fields(rules, states, ((place, 1 << k) for place in range(STATE.itemsize) for k in range(8)))
        assert set(accepted) <= FREE
        assert accepted["rng"] == 64


@pytest.mark.thorough
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_every_byte_matters_at_every_position(options: dict[str, Any]) -> None:
    rules, rng = rules_for(**options), random.Random(1)
    for states in kernel_positions(rules, 8, 8):
        flips = [(place, rng.randrange(1, 256)) for place in range(STATE.itemsize)]
        accepted = flipped_fields(rules, states, flips)
        assert set(accepted) <= FREE
        assert accepted["rng"] == 8


@pytest.mark.uncompiled
def test_some_bytes_matter() -> None:
    rules, rng = rules_for(size=7, contact="colour"), random.Random(5)
    for states in kernel_positions(rules, 8, 8):
        flips = [(rng.randrange(STATE.itemsize), rng.randrange(1, 256)) for _ in range(10)]
        assert set(flipped_fields(rules, states, flips)) <= FREE


def damaged(states: np.ndarray, **changes: Any) -> np.ndarray:
    states = states.copy()
    for name, value in changes.items():
        states[0][name] = value
    return states


@pytest.mark.parametrize("options", OPTIONS[1:4], ids=str)
def test_any_other_decision_is_refused_or_can_be_made(options: dict[str, Any]) -> None:
    rules, codes = rules_for(**options), Counter()
    for states in kernel_positions(rules, 2, 2):
        state = states[0]
        for stage, player, passes in product((ASKED, PLACE, OVER), range(2), range(3)):
            code = check_is_safe(
                rules, damaged(states, stage=stage, player=player, passes=passes, over=int(stage == OVER))
            )
            codes[code] += 1
            if (stage, player, passes) == (state["stage"], state["player"], state["passes"]):
                assert code == 0
            elif code == 0:  # the same turn: the question may still be due, or be answered
                assert (passes, stage == OVER) == (state["passes"], bool(state["over"]))
                assert player != state["player"]
    assert codes[BAD_TURN] > codes[0] > 0


def some_place(rules: Rules, tiles: int = 4, seed: int = 1) -> np.ndarray:
    """A tile is due, others lie on the board."""
    for number in range(seed, seed + 100):
        for states in kernel_positions(rules, number, number):
            if states[0]["stage"] == PLACE and states[0]["num_tiles"] == tiles and not states[0]["passes"]:
                return states
    raise AssertionError("there is no such position")


def test_what_is_wrong_is_named() -> None:
    rules = rules_for(size=9)
    states = some_place(rules)
    stack = states["stack"][0].copy()
    stack[0, 0] = stack[0, 1]
    later = states["later"][0].copy()
    later[1, 3] = 16
    cell = states["cell"][0].copy()
    cell[2] += 1
    tile = states["tile"][0].copy()
    tile[0], tile[1] = tile[1], tile[0]
    square = states["square"][0].copy()
    square[int(states["cell"][0, 0])] ^= 64
    cases: list[tuple[dict[str, Any], int | tuple[int, ...]]] = [
        ({"version": 2}, BAD_VERSION),
        ({"digest": 1}, BAD_TABLES),
        ({"num_players": 3}, BAD_TABLES),
        ({"stage": 3}, BAD_COUNTS),
        ({"over": 1}, BAD_COUNTS),
        ({"num_tiles": 33}, BAD_COUNTS),
        ({"round": 2}, BAD_COUNTS),
        ({"stack": stack}, BAD_MATERIAL),
        ({"later": later}, BAD_MATERIAL),
        ({"later": 0}, BAD_MATERIAL),
        ({"num_tiles": 3}, BAD_MATERIAL),
        ({"cell": cell}, (BAD_TILES, BAD_WORDS)),
        ({"tile": tile}, (BAD_TILES, BAD_TURN)),
        ({"square": square}, BAD_WORDS),
        ({"points": 3}, BAD_WORDS),
        ({"ply": 2}, BAD_TURN),
        ({"passes": 1}, BAD_TURN),
        ({"starter": 1 - int(states[0]["starter"])}, BAD_TURN),
    ]
    for changes, code in cases:
        assert check_is_safe(rules, damaged(states, **changes)) in np.atleast_1d(code), changes


def test_r5_a_stone_that_is_spent_has_sunk_a_tile() -> None:
    for veto in ("round", "match"):
        rules = rules_for(size=9, veto=veto)
        seen = 0
        for states in kernel_positions(rules, 3, 3):
            state = states[0]
            for seat in range(2):
                other = damaged(states, sunk=[1 - int(s) if k == seat else int(s) for k, s in enumerate(state["sunk"])])
                code = check_is_safe(rules, other)
                may_be_older = veto == "match" and state["round"] == 1 and not state["stone"][1 - seat]
                assert may_be_older or code > 0
                seen += code == 0
        assert (seen > 0) == (veto == "match")


def test_r6_a_pass_of_a_player_who_could_place_is_refused() -> None:
    """Two tiles of one player in a row: the other must have had no place."""
    rules = rules_for(size=9, rounds=1)
    refused = 0
    for seed in range(30):
        for states in kernel_positions(rules, seed, seed):
            state = states[0]
            if state["stage"] != PLACE or state["num_tiles"] < 2:
                continue
            mover = int(state["player"])
            other = damaged(states, player=1 - mover, passes=1)
            assert check_is_safe(rules, other) == BAD_TURN
            refused += 1
    assert refused > 50
