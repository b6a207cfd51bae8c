"""Perft: how many sequences of so many moves there are from fixed setups, counted by kernel and twin."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.reference.tollero import Tollero
from tests.reference.tollero import perft as plain_perft
from tests.tollero_tools import (
    BLANK,
    CROSS,
    DEFAULT,
    RICH,
    Data,
    F,
    Pair,
    city_ids,
    deal_setup,
    face,
    make_set,
    make_setup,
)
from tollero_env.game import Rules
from tollero_env.games.tollero.constants import MAX_LEGAL
from tollero_env.games.tollero.state import STATE

STUB = face("N", 1, NW=F, SE="fountain:N")
STRAIGHT = face("NS", 2, NW=F, SE="fountain:W")
DEAD_ENDS = make_set((STUB, 30), filler=STRAIGHT, downtown=(face("NS", 1, NW=F), face("N", 2, SE=F)))
MISFITS = make_set((BLANK, 40), filler=STRAIGHT, downtown=(face("NS", 2, NW=F, SE=F), face("NE", 1, SE=F)))
SKIPPED = make_set((BLANK, 54), downtown=(face("N", 2, NW=F, SE=F), face("N", 1, NE=F)))
BARREN = make_set((BLANK, 54), downtown=(face("N"),))
ONE_KIND = make_set((face("NE", 1, NW=F), 54), downtown=(face("NS", 1, SE=F),))
CONTRACT = make_set(
    (STRAIGHT, 54), downtown=(face("NS", 3, NW=F), face("EW", 0, NE=F)), contract=face("NS", 2, NW=F, SE=F)
)
VALUES = make_set(
    (face("NS", 9, NW=F), 18), (face("NES", 0, NE=F), 18), (face("NW", 6, SE=F), 18), downtown=(RICH, CROSS)
)


class Case(NamedTuple):
    data: Data
    players: int
    step: int  # City tiles are dealt in the order of the file, every `step`-th; no factor of 54
    downtown: str
    floors: int
    counts: tuple[int, ...]  # by depth, from 1


# fmt: off
CASES: dict[str, Case] = {
    "2 players": Case(DEFAULT, 2, 5, "D1:A:0 D2:A:3 D3:A:1 D4:A:2", 20, (8, 40, 312, 3198, 18996, 152844, 2359128)),
    "3 players": Case(DEFAULT, 3, 7, "D3:B:2 D1:A:1 D4:B:3 D2:A:1", 20, (12, 54, 342, 4218, 20764, 125672, 2260416)),
    "4 players": Case(DEFAULT, 4, 11, "D2:B:1 D4:B:2 D1:B:0 D3:A:3", 20, (10, 42, 236, 4100, 19480, 103448, 1303232)),
    # one Floor each: every turn is two moves, and the game is over after the last
    "2 players, 1 Floor": Case(DEFAULT, 2, 13, "D1:B:0 D2:A:3 D3:B:1 D4:A:2", 1, (8, 36, 720, 4212, 0)),
    "3 players, 1 Floor": Case(DEFAULT, 3, 17, "D1:B:0 D2:A:3 D3:B:1 D4:A:2", 1, (8, 36, 1152, 7056, 255744, 2894336)),
    "4 players, 1 Floor": Case(
        DEFAULT, 4, 19, "D1:B:0 D2:A:3 D3:B:1 D4:A:2", 1, (8, 36, 288, 3160, 25280, 392480, 3139840)
    ),
    # E4, B4: the city closes, tiles are put away, Floors are left over
    "dead ends, 3": Case(
        DEAD_ENDS, 3, 5, "D1:A:0 D2:A:1 D3:B:0 D4:B:1", 3, (2, 4, 4, 4, 8, 8, 16, 16, 32, 64, 128, 0)
    ),
    "dead ends, 4": Case(
        DEAD_ENDS, 4, 7, "D1:B:2 D2:A:1 D3:B:0 D4:B:1", 20, (1, 2, 2, 6, 12, 12, 24, 24, 48, 48, 48, 96)
    ),
    "misfits": Case(
        MISFITS, 2, 11, "D1:A:0 D2:A:1 D3:B:0 D4:B:0", 3, (8, 20, 56, 448, 1008, 2560, 18432, 49920, 354240, 830656)
    ),
    "skipped, 4": Case(
        SKIPPED, 4, 13, "D1:A:2 D2:B:3 D3:A:0 D4:A:1", 2, (7, 36, 174, 624, 1776, 3264, 3552, 3840, 0)
    ),
    "skipped, 3": Case(SKIPPED, 3, 13, "D1:A:2 D2:B:3 D3:B:0 D4:A:1", 2, (6, 26, 96, 264, 544, 1040, 0)),
    "barren": Case(BARREN, 3, 17, "D1:A:2 D2:B:3 D3:A:0 D4:A:1", 2, (0, 0)),
    "one kind": Case(
        ONE_KIND, 3, 1, "D1:A:0 D2:B:1 D3:A:2 D4:A:3", 20,
        (8, 16, 16, 128, 224, 432, 1968, 3056, 10832, 27424, 58656, 193328),
    ),
    "contract": Case(
        CONTRACT, 2, 5, "D1:A:2 D2:A:0 D3:B:1 D4:A:0", 20,
        (12, 32, 84, 776, 1692, 5608, 36000, 84672, 389808, 1921424),
    ),
    "values": Case(
        VALUES, 4, 5, "D1:A:2 D2:B:3 D3:A:0 D4:B:1", 2, (8, 40, 128, 1024, 4096, 10784, 86272, 258816, 513408)
    ),
}
# fmt: on


def depths(least: int, most: int) -> list[Any]:
    """(name, depth) of every count that takes more than `least` and up to `most` positions to make."""
    found = []
    for name, case in CASES.items():
        for depth in range(1, len(case.counts) + 1):
            positions = sum(case.counts[: depth - 1])
            if least < positions <= most:
                found.append(pytest.param(name, depth, id=f"{name}, depth {depth}"))
    return found


def deal(case: Case) -> Pair:
    tiles = city_ids(case.data)
    order = [tiles[case.step * k % len(tiles)] for k in range(len(tiles))]
    setup = make_setup(case.downtown, order, case.players)
    pair = deal_setup(case.data, case.players, setup, floors=case.floors)
    assert pair.rules.game.check(pair.states, 0, pair.rules.tables) == 0
    return pair


def kernel_perft(rules: Rules, states: np.ndarray, ply: int, depth: int) -> int:
    """Sequences of `depth` moves from states[ply]; later entries are scratch."""
    moves = np.zeros(MAX_LEGAL, np.int64)
    number = rules.game.moves(states, ply, rules.tables, moves)
    if depth == 1:
        return number
    total = 0
    for move in moves[:number].tolist():
        states[ply + 1] = states[ply]
        rules.game.apply(states, ply + 1, rules.tables, move)
        total += kernel_perft(rules, states, ply + 1, depth - 1)
    return total


def twin_perft(twin: Tollero, depth: int) -> int:
    """The same; the last move is counted, not played."""
    legal = twin.legal()
    if depth == 1:
        return len(legal)
    total = 0
    for move in legal:
        after = twin.copy()
        after.play(move)
        total += twin_perft(after, depth - 1)
    return total


def check_kernel(name: str, depth: int) -> None:
    pair = deal(CASES[name])
    states = np.zeros(depth, STATE)
    states[0] = pair.states[0]
    assert kernel_perft(pair.rules, states, 0, depth) == CASES[name].counts[depth - 1]


def check_twin(name: str, depth: int) -> None:
    assert twin_perft(deal(CASES[name]).twin, depth) == CASES[name].counts[depth - 1]


@pytest.mark.parametrize(("name", "depth"), depths(-1, 40_000))
def test_kernel(name: str, depth: int) -> None:
    check_kernel(name, depth)


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "depth"), depths(40_000, 10_000_000))
def test_kernel_deeper(name: str, depth: int) -> None:
    check_kernel(name, depth)


@pytest.mark.parametrize(("name", "depth"), depths(-1, 400))
def test_twin(name: str, depth: int) -> None:
    check_twin(name, depth)


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "depth"), depths(400, 6_000))
def test_twin_deeper(name: str, depth: int) -> None:
    check_twin(name, depth)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "depth"), depths(6_000, 200_000))
def test_twin_deepest(name: str, depth: int) -> None:
    check_twin(name, depth)


@pytest.mark.uncompiled
@pytest.mark.parametrize(("name", "depth"), depths(-1, 60))
def test_shallow_counts(name: str, depth: int) -> None:
    """Kernel and twin, and the reference's own way to count."""
    check_kernel(name, depth)
    assert plain_perft(deal(CASES[name]).twin, min(depth, 3)) == CASES[name].counts[min(depth, 3) - 1]


def test_every_player_count_goes_to_depth_4_in_kernel_and_twin() -> None:
    twin_depths = [param.values for param in depths(-1, 6_000)]
    for name in ("2 players", "3 players", "4 players"):
        assert max(depth for one, depth in twin_depths if one == name) >= 4
        assert len(CASES[name].counts) >= 7
