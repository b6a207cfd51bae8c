"""Positions as bytes: the protocol's promises, what `check` lets through, playouts, and the words underneath."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.tollero_tools import (
    BLANK,
    CROSS,
    DEFAULT,
    RICH,
    Data,
    F,
    deal_pair,
    deal_setup,
    draw_setup,
    edge_of,
    face,
    kernel_positions,
    kernel_table,
    make_set,
    make_setup,
    random_set,
    reset_pair,
    rules_for,
    setup_record,
    spread,
)
from tollero_env import bits
from tollero_env.game import HEADER, Rules
from tollero_env.games.tollero.constants import (
    ANYWHERE,
    BAD_COUNTS,
    BAD_FLOORS,
    BAD_MATERIAL,
    BAD_TABLES,
    BAD_TILES,
    BAD_TURN,
    BAD_VERSION,
    BUILD,
    CELLS,
    EXPAND,
    FIRST,
    FIRST_CITY,
    MAX_LEGAL,
    NUM_MOVES,
    OVER,
    PROBLEMS,
    SECOND,
)
from tollero_env.games.tollero.state import SETUP, STATE, TABLES
from tollero_env.jit import DISABLED, jit
from tollero_env.rng import GAMMA, advance, below, draw_number, mix, stream

POOR = make_set(
    (face("NS", 2, NW=F, SE=F), 12),
    (face("NE", 3, NW=F, SE="fountain:N"), 10),
    filler=BLANK,
    downtown=(face("NS", 2, NW=F), face("NES", 3, SE=F, NW=F)),
)
ONE_FLOOR = make_set((face("NESW", 0, NW=F, SE="fountain:N"), 54), downtown=(face("NESW", 0, SE=F), RICH))
WIDE = make_set((CROSS, 54), downtown=(RICH, face("NESW", 2, NE=F)))
SETS: dict[str, Data] = {"default": DEFAULT, "poor": POOR, "one Floor a turn": ONE_FLOOR, "wide": WIDE}
SETS |= {f"random {seed}": random_set(seed) for seed in (3, 6, 13, 21, 34, 55)}

seeds = st.integers(0, 2**63 - 1)
rulings = st.builds(
    lambda name, players, floors: rules_for(SETS[name], players, floors=floors),
    st.sampled_from(list(SETS)),
    st.sampled_from((2, 3, 4)),
    st.sampled_from((1, 2, 7, 20)),
)


def list_moves(rules: Rules, states: np.ndarray, i: int = 0) -> list[int]:
    buffer = np.full(MAX_LEGAL, -1, np.int64)
    return buffer[: rules.game.moves(states, i, rules.tables, buffer)].tolist()


def new_game(rules: Rules, seed: int) -> np.ndarray:
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
    """Some position of a random game, drawn from the seed too."""
    states = new_game(rules, seed)
    play_some(rules, states, seed, random.Random(seed).randrange(rules.game.longest_game(rules.tables) + 1))
    return states


def get_scores(rules: Rules, states: np.ndarray) -> list[int]:
    points = np.zeros(rules.players, np.int64)
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


def test_the_state_begins_with_the_header() -> None:
    assert [(name, STATE[name]) for name in (STATE.names or ())[: len(HEADER)]] == [
        (name, np.dtype(kind)) for name, kind in HEADER
    ]


def test_words_lie_on_words() -> None:
    for name in STATE.names or ():
        field, offset = (STATE.fields or {})[name][:2]
        assert offset % field.base.itemsize == 0, name


# ---- determinism, copies, bytes


@pytest.mark.uncompiled
@settings(max_examples=20)
@given(rules=rulings, seed=seeds)
def test_the_same_seed_and_moves_give_the_same_bytes(rules: Rules, seed: int) -> None:
    one, other = new_game(rules, seed), new_game(rules, seed)
    other_seed = new_game(rules, seed ^ 1)
    assert one.tobytes() == other.tobytes() != other_seed.tobytes()
    for move in play_some(rules, one, seed):
        rules.game.act(other, 0, rules.tables, move)
    assert one.tobytes() == other.tobytes()


def play_games(rules: Rules, numbers: range) -> list[bytes]:
    """Games move by move, and playouts."""
    found = []
    for number in numbers:
        states = new_game(rules, number)
        play_some(rules, states, number, 40)
        found.append(states.tobytes())
        rules.game.playout(states, 0, rules.tables, number)
        found.append(states.tobytes())
    return found


@pytest.mark.parametrize("players", [2, 3, 4])
def test_threads_do_not_matter(players: int) -> None:
    rules = rules_for(DEFAULT, players)
    blocks = [range(25 * k, 25 * k + 25) for k in range(6)]
    alone = [play_games(rules, block) for block in blocks]
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(lambda block: play_games(rules, block), blocks)) == alone
        shared = np.zeros(len(blocks), STATE)  # one array, a game a thread
        assert list(pool.map(lambda i: _playout_at(rules, shared, i), range(len(blocks)))) == [
            _playout_at(rules, np.zeros(len(blocks), STATE), i) for i in range(len(blocks))
        ]


def _playout_at(rules: Rules, states: np.ndarray, i: int) -> bytes:
    for seed in range(200):
        rules.game.reset(states, i, rules.tables, seed + i)
        rules.game.playout(states, i, rules.tables, seed)
    return states[i].tobytes()


@pytest.mark.uncompiled
@settings(max_examples=20)
@given(rules=rulings, seed=seeds)
def test_copies_and_bytes_go_both_ways(rules: Rules, seed: int) -> None:
    states = a_position(rules, seed)
    raw = states.tobytes()
    again, copy = np.frombuffer(raw, STATE).copy(), states.copy()
    assert len(raw) == STATE.itemsize
    assert rules.game.check(again, 0, rules.tables) == 0
    assert list_moves(rules, again) == list_moves(rules, states)
    played = play_some(rules, again, seed)
    assert states.tobytes() == raw == copy.tobytes()  # nothing is shared
    for move in played:
        rules.game.apply(copy, 0, rules.tables, move)
    assert copy.tobytes() == again.tobytes()


@pytest.mark.uncompiled
@settings(max_examples=20)
@given(rules=rulings, seed=seeds)
def test_games_side_by_side_do_not_touch_each_other(rules: Rules, seed: int) -> None:
    states = np.frombuffer(random.Random(seed).randbytes(3 * STATE.itemsize), STATE).copy()
    left, right = states[0].tobytes(), states[2].tobytes()
    rules.game.reset(states, 1, rules.tables, seed)
    assert states[1:2].tobytes() == new_game(rules, seed).tobytes()  # whatever lay there before
    for player in range(rules.players):
        rules.game.resample(states, 1, rules.tables, player, seed)
    if not states[1]["over"]:
        rules.game.apply(states, 1, rules.tables, list_moves(rules, states, 1)[0])
    rules.game.playout(states, 1, rules.tables, seed)
    rules.game.check(states, 1, rules.tables)
    assert (states[0].tobytes(), states[2].tobytes()) == (left, right)


@pytest.mark.uncompiled
@settings(max_examples=15)
@given(rules=rulings, seed=seeds)
def test_asking_changes_nothing(rules: Rules, seed: int) -> None:
    states = a_position(rules, seed)
    raw, tables = states.tobytes(), rules.tables.tobytes()
    list_moves(rules, states)
    get_scores(rules, states)
    rules.game.outcome(states, 0, rules.tables, np.zeros(rules.players))
    rules.game.is_legal(states, 0, rules.tables, seed)
    rules.game.check(states, 0, rules.tables)
    rules.game.chance(states, 0, rules.tables, 1)  # nothing is left to chance
    assert (states.tobytes(), rules.tables.tobytes()) == (raw, tables)


@pytest.mark.parametrize("name", SETS)
def test_reset_is_a_deal(name: str) -> None:
    """`deal` with the setup that a replay of the reset game shows gives the same bytes, but for the generator."""
    for seed in range(10):
        pair = reset_pair(SETS[name], 2 + seed % 3, seed)
        setup = pair.rules.game.to_json(pair.rules, pair.states, [])["setup"]
        dealt = deal_setup(SETS[name], pair.rules.players, setup).states
        dealt["rng"] = pair.states["rng"]
        assert dealt.tobytes() == pair.states.tobytes()


def test_equal_positions_are_equal_bytes() -> None:
    """All positions up to four moves, by whichever way they are reached."""
    data = make_set((face("NS", 2, NW=F, SE=F), 54), downtown=(face("NS", 2, NW=F), face("NS", 3, SE=F)))
    tiles = ["C01"] * 54
    rules, found, ways = rules_for(data, 2), {}, 0
    level = [deal_setup(data, 2, make_setup("D1:A:0 D2:A:1 D3:B:0 D4:B:1", tiles, 2)).states]
    for _ in range(4):
        after = {}
        for states in level:
            for move in list_moves(rules, states):
                child = states.copy()
                rules.game.apply(child, 0, rules.tables, move)
                key = repr(sorted(kernel_table(data, child).items(), key=str))
                ways += 1
                assert found.setdefault(key, child.tobytes()) == child.tobytes()
                after[key] = child
        level = list(after.values())
    assert ways > len(found) > 100  # some are reached by several ways


# ---- what the game declares


@pytest.mark.uncompiled
@settings(max_examples=20)
@given(rules=rulings, seed=seeds)
def test_longest_game_and_score_bounds_hold(rules: Rules, seed: int) -> None:
    low, high = rules.game.score_bounds(rules.tables)
    last = 0
    for states in kernel_positions(rules, seed, seed):
        assert all(low <= score <= high for score in get_scores(rules, states))
        assert states[0]["ply"] <= rules.game.longest_game(rules.tables)
        last = int(states[0]["ply"])
    shares = np.zeros(rules.players)
    rules.game.outcome(states, 0, rules.tables, shares)
    assert shares.sum() == pytest.approx(1)
    assert last == 0 or shares.max() > 0


@pytest.mark.thorough
@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("name", SETS)
def test_bounds_hold_in_many_playouts(name: str, players: int) -> None:
    for floors in (1, 3, 20):
        rules = rules_for(SETS[name], players, floors=floors)
        decisions, points = np.zeros(3000, np.int64), np.zeros((3000, players), np.int64)
        rules.game.playouts(np.zeros(1, STATE), rules.tables, floors, decisions, points)
        low, high = rules.game.score_bounds(rules.tables)
        assert low <= points.min()
        assert points.max() <= high
        assert decisions.max() <= rules.game.longest_game(rules.tables)


@pytest.mark.parametrize("players", [3, 4])
def test_the_longest_game_is_reached(players: int) -> None:
    """One Floor a turn: every tile is laid, then every Floor that is left goes anywhere."""
    rules = rules_for(ONE_FLOOR, players)
    states = new_game(rules, 1)
    rules.game.playout(states, 0, rules.tables, 1)
    assert states[0]["ply"] == rules.game.longest_game(rules.tables) == 54 + 20 * players


def test_score_bounds_count_every_source() -> None:
    """S4, F2, F3 and at most four fountains for each Floor."""
    values = [tile["value"] * tile.get("copies", 1) for tile in DEFAULT["city"]]
    downtown = [max(tile["a"]["value"], tile["b"]["value"]) for tile in DEFAULT["downtown"]]
    for floors in (1, 20):
        rules = rules_for(DEFAULT, 2, floors=floors)
        assert rules.game.score_bounds(rules.tables) == (0, 5 + sum(values) + sum(downtown) + 4 * floors)


# ---- legal moves


@settings(max_examples=200)
@example(rules=rules_for(DEFAULT, 2), seed=0, move=-1)
@example(rules=rules_for(DEFAULT, 2), seed=0, move=NUM_MOVES)
@example(rules=rules_for(DEFAULT, 2), seed=0, move=-(2**63))
@example(rules=rules_for(DEFAULT, 2), seed=0, move=2**63 - 1)
@given(rules=rulings, seed=seeds, move=st.integers(-(2**63), 2**63 - 1) | st.integers(-300, NUM_MOVES + 300))
def test_is_legal_may_be_asked_anything(rules: Rules, seed: int, move: int) -> None:
    states = a_position(rules, seed)
    assert rules.game.is_legal(states, 0, rules.tables, move) == (move in list_moves(rules, states))


@pytest.mark.parametrize("name", SETS)
def test_is_legal_is_membership_in_moves(name: str) -> None:
    """Every number there is, at one position of each stage."""
    rules = rules_for(SETS[name], 3)
    stages = {int(states[0]["stage"]): states for states in kernel_positions(rules, 5, 5)}
    for states in stages.values():
        found = [move for move in range(NUM_MOVES) if rules.game.is_legal(states, 0, rules.tables, move)]
        assert found == sorted(list_moves(rules, states))


@pytest.mark.uncompiled
@settings(max_examples=15)
@given(rules=rulings, seed=seeds, draw=st.randoms(use_true_random=False))
def test_is_legal_agrees_with_moves_all_game_long(rules: Rules, seed: int, draw: random.Random) -> None:
    for states in kernel_positions(rules, seed, seed):
        legal = list_moves(rules, states)
        assert len(set(legal)) == len(legal)
        assert bool(legal) != bool(states[0]["over"])
        some = [draw.randrange(NUM_MOVES) for _ in range(3)] + [move ^ 1 for move in legal[:2]] + legal[-2:]
        for move in some:
            assert rules.game.is_legal(states, 0, rules.tables, move) == (move in legal)


@pytest.mark.uncompiled
@pytest.mark.parametrize("name", ["default", "poor"])
def test_numbers_that_only_look_like_legal_moves_are_refused(name: str) -> None:
    """The same cell with a rotation below 0 or above 3, the same lot of slots that are not there."""
    rules = rules_for(SETS[name], 3)
    for states in kernel_positions(rules, 5, 5):
        legal = list_moves(rules, states)
        cells = {move % CELLS for move in legal} if legal and legal[0] < BUILD else set()
        beside = [cell + CELLS * turn for cell in cells for turn in (*range(-9, 0), *range(4, 9))]
        beside += [move + 4 * step for move in legal if move >= BUILD for step in (-64, 60, 64, 2**20)]
        for move in beside:
            assert rules.game.is_legal(states, 0, rules.tables, move) == (move in legal)


def test_moves_and_is_legal_agree_on_a_wide_edge() -> None:
    """More than 64 cells: the second half of the lists."""
    rng = random.Random(2)
    pair = deal_pair(make_set((CROSS, 54), downtown=(CROSS,)), 2, rng)
    while len(edge_of(pair.twin)) < 100:
        numbers = pair.kernel_moves()
        move = spread(pair.twin, sorted(numbers), rng)
        pair.play(move, numbers[move])
    found = [move for move in range(NUM_MOVES) if pair.rules.game.is_legal(pair.states, 0, pair.rules.tables, move)]
    assert found == sorted(list_moves(pair.rules, pair.states))
    assert len(found) == 4 * len(edge_of(pair.twin))


# ---- bytes from outside


@pytest.mark.uncompiled
@settings(max_examples=15)
@given(rules=rulings, seed=seeds)
def test_every_position_of_a_game_is_sound(rules: Rules, seed: int) -> None:
    for states in kernel_positions(rules, seed, seed):
        assert rules.game.check(states, 0, rules.tables) == 0


@pytest.mark.thorough
@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("number", range(10))
def test_every_position_of_many_games_is_sound(number: int, players: int) -> None:
    for seed in range(40 * number, 40 * number + 40):
        rules = rules_for(random_set(seed), players, floors=1 + seed % 20)
        for states in kernel_positions(rules, seed, seed):
            assert rules.game.check(states, 0, rules.tables) == 0


def check_is_safe(rules: Rules, states: np.ndarray) -> int:
    """The code of `check`; a position that it lets through can be played to a sound end within the bounds."""
    code = rules.game.check(states, 0, rules.tables)
    assert code == 0 or code in PROBLEMS
    if code == 0:
        end = states.copy()
        moves = list_moves(rules, end)
        assert bool(moves) != bool(end[0]["over"])  # a decision that is due can be made
        assert all(rules.game.is_legal(end, 0, rules.tables, move) for move in moves)
        rules.game.resample(end, 0, rules.tables, 0, 1)
        assert rules.game.check(end, 0, rules.tables) == 0
        rules.game.playout(end, 0, rules.tables, 1)
        assert (rules.game.check(end, 0, rules.tables), end[0]["over"]) == (0, 1)
        low, high = rules.game.score_bounds(rules.tables)
        assert all(low <= score <= high for score in get_scores(rules, end))
    return int(code)


@pytest.mark.uncompiled
@settings(max_examples=100)
@given(rules=rulings, noise=st.binary(min_size=STATE.itemsize, max_size=STATE.itemsize), seed=seeds)
def test_noise_is_refused(rules: Rules, noise: bytes, seed: int) -> None:
    states = np.frombuffer(noise, STATE).copy()
    assert check_is_safe(rules, states) > 0
    for name in ("version", "digest", "num_players", "chance"):  # noise that gets past the first look
        states[name] = new_game(rules, seed)[name]
    assert check_is_safe(rules, states) > 0


@settings(max_examples=100)
@given(rules=rulings, seed=seeds)
def test_noise_in_range_is_refused(rules: Rules, seed: int) -> None:
    """Every byte small, the counts in range: the later looks have to cope."""
    draw = random.Random(seed)
    states = np.frombuffer(bytes(draw.choices(range(64), k=STATE.itemsize)), STATE).copy()
    sound = a_position(rules, seed)
    for name in ("version", "digest", "num_players", "chance", "player", "over", "stage", "origin", "num_tiles"):
        states[name] = sound[name]
    for name in draw.sample(
        ["num_pile", "num_gone", "hand", "pile", "gone", "face", "rotation", "cell", "building"], 6
    ):
        states[name] = sound[name]
    assert check_is_safe(rules, states) > 0


def flipped_fields(rules: Rules, states: np.ndarray, flips: Any) -> Counter[str]:
    """Fields in which a change of one byte was let through, with the number of such changes."""
    fields = STATE.fields or {}
    starts = np.array([fields[name][1] for name in STATE.names or ()])
    found: Counter[str] = Counter()
    changed = states.copy()
    raw = changed.view(np.uint8)
    for place, flip in flips:
        raw[place] ^= flip
        if check_is_safe(rules, changed) == 0:
            found[(STATE.names or ())[int(np.searchsorted(starts, place, "right")) - 1]] += 1
        raw[place] ^= flip
    return found


def assert_only_free_fields(accepted: Counter[str]) -> None:
    """Only what the rest does not settle may differ: the generator, the pending decision, how an even tile lies."""
    assert set(accepted) <= {"rng", "player", "origin", "stage", "rotation"}


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("name", ["default", "poor", "random 6"])
def test_every_single_bit_matters(name: str, players: int) -> None:
    rules = rules_for(SETS[name], players, floors=7)
    game = list(kernel_positions(rules, players, players))
    for states in (game[0], game[len(game) // 2], game[-1]):
        accepted = flipped_fields(rules, states, ((place, 1 << k) for place in range(STATE.itemsize) for k in range(8)))
        assert_only_free_fields(accepted)
        assert accepted["rng"] == 64


@pytest.mark.thorough
@pytest.mark.parametrize("name", SETS)
def test_every_byte_matters_at_every_position(name: str) -> None:
    rules = rules_for(SETS[name], 3, floors=5)
    rng = random.Random(name)
    for states in kernel_positions(rules, 8, 8):
        accepted = flipped_fields(rules, states, ((place, rng.randrange(1, 256)) for place in range(STATE.itemsize)))
        assert_only_free_fields(accepted)
        assert accepted["rng"] == 8


@pytest.mark.uncompiled
def test_some_bytes_matter() -> None:
    rules, rng = rules_for(POOR, 3, floors=3), random.Random(5)
    for states in kernel_positions(rules, 8, 8):
        flips = [(rng.randrange(STATE.itemsize), rng.randrange(1, 256)) for _ in range(10)]
        assert_only_free_fields(flipped_fields(rules, states, flips))


def damaged(states: np.ndarray, **changes: Any) -> np.ndarray:
    states = states.copy()
    for name, value in changes.items():
        states[0][name] = value
    return states


def other_decisions(states: np.ndarray, draw: random.Random | None = None) -> Iterator[np.ndarray]:
    """The same table with any other decision pending: every stage, player and origin, or some of them."""
    origins = [*range(int(states[0]["num_tiles"])), ANYWHERE]
    for stage, player in product((EXPAND, FIRST, SECOND, OVER), range(int(states[0]["num_players"]))):
        for origin in draw.sample(origins, 3) if draw else origins:
            yield damaged(states, stage=stage, player=player, origin=origin, over=stage == OVER)


def can_be_due(state: Any) -> bool:
    """Does the pending decision follow from the table, as far as stage and origin go? (B1, B3, B4)"""
    player, origin, last = int(state["player"]), int(state["origin"]), int(state["num_tiles"]) - 1
    if state["stage"] == SECOND:
        return any(one and one >> 5 == player for one in state["building"][origin].tolist())
    if state["stage"] == FIRST:
        return not state["num_pile"] if origin == ANYWHERE else 4 < origin == last
    return origin == ANYWHERE


def check_decision(rules: Rules, states: np.ndarray, was_over: bool) -> int:
    code = check_is_safe(rules, states)
    if code == 0:
        assert bool(states[0]["over"]) == was_over  # F1: the table says whether the game is over
        assert can_be_due(states[0])
    return code


@pytest.mark.parametrize("name", ["default", "poor", "random 6", "random 13"])
def test_any_other_decision_is_refused_or_can_be_made(name: str) -> None:
    rules, codes = rules_for(SETS[name], 3, floors=4), Counter()
    for states in kernel_positions(rules, 2, 2):
        was_over = bool(states[0]["over"])
        codes.update(check_decision(rules, other, was_over) for other in other_decisions(states))
    assert codes[0] > 0
    assert codes[BAD_TURN] > codes[0]


@pytest.mark.uncompiled
def test_some_other_decisions_are_refused_or_can_be_made() -> None:
    rules, draw = rules_for(SETS["random 6"], 2, floors=2), random.Random(1)
    for states in kernel_positions(rules, 2, 2):
        was_over = bool(states[0]["over"])
        for other in other_decisions(states, draw):
            check_decision(rules, other, was_over)


def positions_at(rules: Rules, stage: int, seeds: range = range(3)) -> Iterator[np.ndarray]:
    for seed in seeds:
        yield from (states for states in kernel_positions(rules, seed, seed) if states[0]["stage"] == stage)


@pytest.mark.uncompiled
def test_an_origin_that_is_no_tile_is_refused() -> None:
    rules = rules_for(DEFAULT, 3, floors=3)
    for states in positions_at(rules, SECOND, range(1)):
        for origin in range(int(states[0]["num_tiles"]), ANYWHERE):
            assert rules.game.check(damaged(states, origin=origin), 0, rules.tables) == BAD_COUNTS


@pytest.mark.uncompiled
def test_a_hand_that_fits_nowhere_is_not_due_to_be_laid() -> None:
    """E4: it would have been put away; here a blank comes from the pile into the hand of the player to lay."""
    rules, blank, tried = rules_for(POOR, 3, floors=4), FIRST_CITY + 2, 0
    for states in positions_at(rules, EXPAND):
        changed = states.copy()
        pile, hand, player = changed[0]["pile"], changed[0]["hand"], int(changed[0]["player"])
        for place in np.flatnonzero(pile == blank)[:1]:
            pile[place], hand[player] = hand[player], blank
            assert rules.game.check(changed, 0, rules.tables) == BAD_TURN
            tried += 1
    assert tried > 10


@pytest.mark.uncompiled
def test_who_waits_holds_a_tile_while_there_is_a_pile() -> None:
    """D1: here a player who waits has put the hand on the pile."""
    rules = rules_for(DEFAULT, 3, floors=4)
    for stage in (EXPAND, FIRST, SECOND):
        for states in positions_at(rules, stage, range(1)):
            state = states.copy()[0]
            waiting = (int(state["player"]) + 1) % 3
            changed = damaged(states, num_pile=int(state["num_pile"]) + 1)
            changed[0]["pile"][state["num_pile"]], changed[0]["hand"][waiting] = state["hand"][waiting], 0
            assert rules.game.check(changed, 0, rules.tables) == BAD_TURN


@pytest.mark.uncompiled
def test_a_decision_without_choices_is_not_due() -> None:
    """B4: from a tile of value 0 there is no second Floor."""
    rules, tried = rules_for(ONE_FLOOR, 2, floors=5), 0
    for states in positions_at(rules, EXPAND, range(1)):
        state = states[0]
        for slot in range(5, int(state["num_tiles"])):
            player = next((one >> 5 for one in state["building"][slot].tolist() if one), None)
            if player is not None and state["floors_left"][player]:
                changed = damaged(states, stage=SECOND, origin=slot, player=player)
                changed[0]["pile"][state["num_pile"]], changed[0]["hand"][player] = state["hand"][player], 0
                changed[0]["num_pile"] += 1
                assert rules.game.check(changed, 0, rules.tables) == BAD_TURN
                tried += 1
    assert tried > 5


@pytest.mark.uncompiled
@pytest.mark.parametrize("name", ["default", "poor"])
def test_a_city_that_breaks_e2_or_e3_is_refused(name: str) -> None:
    """The kernel plays what it is told, so that a tile laid wrongly gives a state whose parts all agree."""
    rules, tried = rules_for(SETS[name], 2, floors=4), 0
    for states in positions_at(rules, EXPAND):
        legal = set(list_moves(rules, states))
        cells = states[0]["edge_cell"][: int(states[0]["num_edge"])].tolist()
        for wrong in sorted({cell + CELLS * turn for cell in cells for turn in range(4)} - legal)[:6]:
            changed = states.copy()
            rules.game.apply(changed, 0, rules.tables, wrong)
            assert rules.game.check(changed, 0, rules.tables) == BAD_TILES
            tried += 1
    assert tried > 50


@pytest.mark.uncompiled
def test_more_floors_than_a_player_has_are_refused() -> None:
    """A position of longer games, passed off as one of shorter games."""
    long, short = rules_for(DEFAULT, 2, floors=8), rules_for(DEFAULT, 2, floors=3)
    for states in positions_at(long, OVER):
        changed = damaged(states, digest=short.tables[0]["digest"])
        changed[0]["floors_left"][:2] -= 5  # as if counted from 3
        assert short.game.check(changed, 0, short.tables) == BAD_FLOORS


SMALL_FIELDS = ("player", "stage", "origin", "over", "num_pile", "num_gone", "num_tiles", "num_edge", "ply", "stars")
LISTS = ("hand", "pile", "gone", "floors_left", "face", "rotation", "cell", "building", "lead", "edge_cell", "value")


def tamper(states: np.ndarray, draw: random.Random) -> None:
    """Change several fields to likely values, or swap two entries of the same list or of two lists."""
    state = states[0]
    for _ in range(draw.randint(1, 4)):
        kind = draw.randrange(3)
        if kind == 0:
            name = draw.choice(SMALL_FIELDS[:-1])
            state[name] = draw.choice((0, 1, 2, 3, 4, 5, 58, 59, 60, 255, int(state[name]) + 1 & 255))
        elif kind == 1:
            flat = state[draw.choice(LISTS)].reshape(-1)
            i, j = draw.randrange(min(12, len(flat))), draw.randrange(min(12, len(flat)))
            flat[i], flat[j] = flat[j], flat[i]
        else:
            one, other = state[draw.choice(("hand", "pile", "gone"))], state[draw.choice(("hand", "pile", "gone"))]
            i, j = draw.randrange(len(one)), draw.randrange(len(other))
            one[i], other[j] = other[j], one[i]


@pytest.mark.uncompiled
@settings(max_examples=300)
@given(rules=rulings, seed=seeds, draw=st.randoms(use_true_random=False))
def test_tampered_positions_are_refused_or_safe(rules: Rules, seed: int, draw: random.Random) -> None:
    states = a_position(rules, seed)
    tamper(states, draw)
    check_is_safe(rules, states)


@pytest.mark.thorough
@pytest.mark.parametrize("number", range(8))
def test_many_tampered_positions_are_refused_or_safe(number: int) -> None:
    draw, codes = random.Random(number), Counter()
    for seed in range(4000):
        rules = rules_for(draw.choice(list(SETS.values())), draw.choice((2, 3, 4)), floors=draw.choice((1, 3, 20)))
        states = a_position(rules, seed)
        tamper(states, draw)
        codes[check_is_safe(rules, states)] += 1
    assert codes.keys() >= {0, *PROBLEMS} - {BAD_VERSION, BAD_TABLES}


@pytest.mark.uncompiled
def test_positions_of_other_rules_are_refused() -> None:
    rules = rules_for(DEFAULT, 3, floors=7)
    others = [
        rules_for(DEFAULT, 2, floors=7),
        rules_for(DEFAULT, 4, floors=7),
        rules_for(DEFAULT, 3, floors=8),
        rules_for(DEFAULT, 3, floors=7, downtown_scores=False),
        rules_for(DEFAULT, 3, floors=7, downtown="D3:A:2 D1:A:1 D4:B:3 D2:A:3"),
        rules_for(POOR, 3, floors=7),
    ]
    states = a_position(rules, 1)
    assert rules.game.check(states, 0, rules.tables) == 0
    for other in others:
        assert other.game.check(states, 0, other.tables) == BAD_TABLES


@pytest.mark.uncompiled
def test_check_says_what_is_wrong() -> None:
    rules = rules_for(DEFAULT, 3, floors=7)
    states = new_game(rules, 3)
    play_some(rules, states, 3, 20)
    state = states[0]
    assert rules.game.check(damaged(states, version=2), 0, rules.tables) == BAD_VERSION
    assert rules.game.check(damaged(states, num_players=2), 0, rules.tables) == BAD_TABLES
    assert rules.game.check(damaged(states, digest=int(state["digest"]) ^ 1), 0, rules.tables) == BAD_TABLES
    for name, value in {"num_tiles": 60, "num_pile": 55, "num_gone": 55, "player": 3, "stage": 4, "chance": 1}.items():
        assert rules.game.check(damaged(states, **{name: value}), 0, rules.tables) == BAD_COUNTS, name
    assert rules.game.check(damaged(states, num_pile=int(state["num_pile"]) - 1), 0, rules.tables) == BAD_MATERIAL
    assert rules.game.check(damaged(states, rotation=4), 0, rules.tables) == BAD_TILES


def test_check_holds_downtown_to_the_option() -> None:
    """S2: the option fixes which tile lies where, so another order is no position of these rules."""
    asked, other = "D1:B:0 D2:A:0 D3:B:0 D4:A:0", "D2:A:0 D1:B:0 D3:B:0 D4:A:0"
    rules = rules_for(DEFAULT, 2, downtown=asked)
    states = np.zeros(1, STATE)
    for downtown, is_sound in ((asked, True), (other, False)):
        setup = draw_setup(DEFAULT, 2, random.Random(1), downtown)
        rules.game.deal(states, 0, rules.tables, setup_record(DEFAULT, setup))
        assert (rules.game.check(states, 0, rules.tables) == 0) == is_sound


# ---- playouts


def plain_playout(rules: Rules, states: np.ndarray, seed: int) -> None:
    """What `playout` does, over `moves` and `apply`."""
    base = np.uint64(stream(seed, 1))
    while not states[0]["over"]:
        moves, word = list_moves(rules, states), np.uint64(draw_number(base, int(states[0]["ply"])))
        rules.game.apply(states, 0, rules.tables, moves[below(word, len(moves))])


@pytest.mark.uncompiled
@settings(max_examples=30)
@given(rules=rulings, seed=seeds)
def test_playout_is_moves_and_apply(rules: Rules, seed: int) -> None:
    states = a_position(rules, seed)
    plain = states.copy()
    rules.game.playout(states, 0, rules.tables, seed)
    plain_playout(rules, plain, seed)
    assert states.tobytes() == plain.tobytes()


def test_playout_is_moves_and_apply_on_a_wide_edge() -> None:
    rng = random.Random(4)
    pair = deal_pair(make_set((CROSS, 40), filler=face("NES"), downtown=(CROSS,)), 2, rng)
    while len(edge_of(pair.twin)) < 80:
        numbers = pair.kernel_moves()
        move = spread(pair.twin, sorted(numbers), rng)
        pair.play(move, numbers[move])
    for seed in range(30):
        states, plain = pair.states.copy(), pair.states.copy()
        pair.rules.game.playout(states, 0, pair.rules.tables, seed)
        plain_playout(pair.rules, plain, seed)
        assert states.tobytes() == plain.tobytes()


@pytest.mark.uncompiled
@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("name", ["default", "poor", "random 13"])
def test_playouts_are_resets_and_playouts(name: str, players: int) -> None:
    rules, games, seed = rules_for(SETS[name], players), 8, 11
    decisions, points = np.zeros(games, np.int64), np.zeros((games, players), np.int64)
    states = np.zeros(1, STATE)
    rules.game.playouts(states, rules.tables, seed, decisions, points)
    for game in range(games):
        game_seed = np.uint64(stream(seed, game)).view(np.int64)  # the seeds of Python are signed
        one = new_game(rules, game_seed)
        rules.game.playout(one, 0, rules.tables, game_seed)
        assert (decisions[game], points[game].tolist()) == (one[0]["ply"], get_scores(rules, one))
    assert states.tobytes() == one.tobytes()
    assert len(set(map(tuple, points.tolist()))) > 1


def test_playouts_choose_evenly() -> None:
    """The first move of many playouts, by the tile that was laid first."""
    rules = rules_for(DEFAULT, 2)
    start = new_game(rules, 4)
    legal, seen, samples = list_moves(rules, start), Counter(), 4000
    for seed in range(samples):
        states = start.copy()
        rules.game.playout(states, 0, rules.tables, seed)
        seen[int(states[0]["rotation"][5]) * 128 * 128 + int(states[0]["cell"][5])] += 1
    assert seen.keys() == set(legal)
    expected = samples / len(legal)
    assert sum((seen[move] - expected) ** 2 / expected for move in legal) < len(legal) + 6 * (2 * len(legal)) ** 0.5


PRINT_GAMES = """
import hashlib, numpy as np
from tollero_env.game import get_rules
for players in (2, 3, 4):
    rules = get_rules("tollero", players)
    states = np.zeros(1, rules.game.state)
    for seed in range(4):
        rules.game.reset(states, 0, rules.tables, seed)
        rules.game.resample(states, 0, rules.tables, 1, seed)
        rules.game.playout(states, 0, rules.tables, seed)
        print(hashlib.sha256(states.tobytes()).hexdigest(), rules.game.check(states, 0, rules.tables))
"""


def print_games(**environment: str) -> str:
    command = [sys.executable, "-W", "error", "-c", PRINT_GAMES]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path), **environment}
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


@pytest.mark.thorough
@pytest.mark.skipif(DISABLED, reason="compares with the compiled games")
@pytest.mark.parametrize("environment", [{"NUMBA_DISABLE_JIT": "1"}, {"NUMBA_CPU_NAME": "generic"}], ids=str)
def test_other_builds_play_the_same_games(environment: dict[str, str]) -> None:
    assert print_games(**environment) == print_games()


# ---- words and draws


@pytest.mark.uncompiled
def test_splitmix64_known_answers() -> None:
    """The first numbers of the published generator for two seeds."""
    known = {
        0: [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F],
        1234567: [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431],
    }
    for seed, numbers in known.items():
        state = np.uint64(seed)
        for k, number in enumerate(numbers, 1):
            state = np.uint64(advance(state))
            assert int(state) == (seed + k * int(GAMMA)) % 2**64
            assert int(mix(state)) == number
            assert int(draw_number(np.uint64(seed), k)) == number


@pytest.mark.uncompiled
@given(word=st.integers(0, 2**64 - 1), n=st.integers(1, 2**31 - 1))
def test_below_is_a_share_of_the_word(word: int, n: int) -> None:
    assert below(np.uint64(word), n) == (word >> 32) * n >> 32
    assert (below(np.uint64(0), n), below(np.uint64(2**64 - 1), n)) == (0, n - 1)


@pytest.mark.uncompiled
def test_streams_differ() -> None:
    assert len({int(stream(seed, number)) for seed in range(50) for number in range(50)}) == 2500


compiled_only = pytest.mark.skipif(DISABLED, reason="there is only the plain form")


@jit
def _words(word, k):
    return bits.popcount(word), bits.lowest(word), bits.select(word, k), bits.bit(k), bits.drop_lowest(word)


@jit
def _compare(masks, tags, values, start, byte, value):
    return bits.matching(masks, tags, start, byte), bits.equal16(values, start, value)


@jit
def _clear(records, i):
    bits.clear(records, i)


@jit
def _copy(target, i, source, j):
    bits.copy(target, i, source, j)


@jit
def _same(records, i, others, j):
    return bits.same(records, i, others, j)


@jit
def _fetch(array, i):
    bits.fetch(array, i)


@compiled_only
@settings(max_examples=300)
@given(word=st.integers(1, 2**64 - 1), draw=st.randoms(use_true_random=False))
def test_compiled_words_are_the_plain_ones(word: int, draw: random.Random) -> None:
    k = draw.randrange(word.bit_count())
    plain = (bits.popcount_plain(word), bits.lowest_plain(word), bits.select_plain(word, k), 1 << k)
    assert tuple(map(int, _words(np.uint64(word), k))) == (*plain, int(bits.drop_lowest_plain(word)))
    assert bits.drop_lowest_plain(word) == word - (1 << plain[1])
    assert plain[2] == [place for place in range(64) if word >> place & 1][k]


@compiled_only
def test_compiled_words_of_an_empty_word() -> None:
    found = _words(bits.ZERO, 63)
    assert (found[0], found[1], found[4]) == (0, bits.NO_BIT, 0)
    assert (bits.popcount_plain(0), bits.lowest_plain(0), bits.drop_lowest_plain(0)) == (0, bits.NO_BIT, 0)
    assert _words(np.uint64(2**64 - 1), 63)[2:4] == (63, 2**63)


@compiled_only
@settings(max_examples=200)
@given(seed=seeds, start=st.sampled_from((0, 64, 1, 33)))
def test_compiled_compares_are_the_plain_ones(seed: int, start: int) -> None:
    rng = np.random.default_rng(seed)
    masks, byte = rng.integers(0, 16, 128, np.uint8), int(rng.integers(0, 16))
    tags = np.where(rng.random(128) < 0.5, (byte & masks) | 0x80, rng.integers(0, 256, 128)).astype(np.uint8)
    values = rng.integers(-3, 3, 128).astype(np.int16)
    value = int(values[start])
    plain = bits.matching_plain(masks, tags, start, byte), bits.equal16_plain(values, start, value)
    assert _compare(masks, tags, values, start, byte, value) == plain
    wanted = [(byte & int(masks[start + j])) | 0x80 == tags[start + j] for j in range(64)]
    assert plain[0] == sum(1 << j for j, is_match in enumerate(wanted) if is_match)
    assert plain[1] == sum(1 << j for j in range(64) if values[start + j] == value)


@compiled_only
@settings(max_examples=50)
@given(seed=seeds)
def test_compiled_moves_of_records_are_the_plain_ones(seed: int) -> None:
    noise = np.frombuffer(random.Random(seed).randbytes(4 * STATE.itemsize), STATE)
    ours, plain = noise.copy(), noise.copy()
    for act, act_plain, arguments in ((_copy, bits.copy_plain, (2, noise, 3)), (_clear, bits.clear_plain, (1,))):
        act(ours, *arguments)
        act_plain(plain, *arguments)
        assert ours.tobytes() == plain.tobytes() != noise.tobytes()
    place = random.Random(seed).randrange(STATE.itemsize)
    for i, j in ((2, 3), (0, 1), (1, 1)):
        assert _same(ours, i, noise, j) == bits.same_plain(plain, i, noise, j) == (j == 3)
    ours[2:3].view(np.uint8)[place] ^= 1 << seed % 8
    assert not _same(ours, 2, noise, 3)
    assert not bits.same_plain(ours, 2, noise, 3)


@compiled_only
@pytest.mark.parametrize("array", [np.ones(3, STATE), np.ones((3, 1180), np.int8), np.ones((2, 5), np.int16)])
def test_what_is_asked_for_stays_as_it_is(array) -> None:
    before = array.tobytes()
    for i in range(len(array)):
        _fetch(array, i)
        bits.fetch_plain(array, i)
    assert array.tobytes() == before
    assert any("llvm.prefetch" in text for text in _fetch.inspect_llvm().values())
