"""Perft: how many sequences of so many moves there are from fixed setups, counted by kernel and twin."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.reference.toscana import perft as plain_perft
from tests.toscana_tools import IDS, Data, Pair, deal_setup
from tollero_env.game import Rules
from tollero_env.games.toscana.constants import MAX_LEGAL
from tollero_env.games.toscana.state import STATE


class Case(NamedTuple):
    options: Data
    starts: int
    steps: tuple[int, int, int, int]  # every stack is dealt in the order of the ids, every `step`-th: odd
    counts: tuple[int, ...]  # by depth, from 1


CASES: dict[str, Case] = {
    "printed board": Case({}, 0, (1, 3, 5, 7), (2, 64, 128, 3840, 159664)),
    "printed board, colour": Case({"contact": "colour"}, 1, (5, 7, 3, 1), (2, 64, 128, 3136, 124448, 3515288)),
    "large": Case({"size": 31, "rounds": 1}, 0, (3, 9, 1, 1), (2, 64, 128, 4736, 218048)),
    "5": Case({"size": 5}, 1, (7, 9, 11, 13), (2, 32, 64, 192, 448, 2240, 9856, 31488, 81920, 154624)),
    "5, colour": Case(
        {"size": 5, "contact": "colour"},
        0,
        (3, 5, 13, 15),
        (2, 32, 64, 204, 472, 2624, 10624, 32256, 78464, 144128, 183808),
    ),
    "5, match": Case(
        {"size": 5, "veto": "match"},
        1,
        (9, 11, 1, 3),
        (2, 32, 64, 224, 1408, 7104, 14144, 23680, 34816, 37376, 31744, 24576, 14336),
    ),
    "5, one round": Case({"size": 5, "rounds": 1}, 0, (13, 15, 1, 1), (2, 32, 64, 208, 368, 320, 128, 0)),
    "5, all": Case(
        {"size": 5, "contact": "colour", "veto": "match", "rounds": 1},
        1,
        (11, 3, 1, 1),
        (2, 32, 64, 212, 376, 320, 128, 0),
    ),
    "7, colour, match": Case(
        {"size": 7, "contact": "colour", "veto": "match"}, 0, (1, 7, 9, 5), (2, 64, 128, 1128, 8136, 43516, 601788)
    ),
    "9": Case({"size": 9}, 1, (5, 15, 7, 9), (2, 64, 128, 3168, 67264, 863120)),
}


def depths(least: int, most: int, largest: int = 31) -> list[Any]:
    """(name, depth) of every count that takes more than `least` and up to `most` positions, on boards up to a size."""
    found = []
    for name, case in CASES.items():
        if case.options.get("size", 17) > largest:
            continue
        for depth in range(1, len(case.counts) + 1):
            positions = sum(case.counts[: depth - 1])
            if least < positions <= most:
                found.append(pytest.param(name, depth, id=f"{name}, depth {depth}"))
    return found


def deal(case: Case) -> Pair:
    stacks = [[IDS[step * k % len(IDS)] for k in range(len(IDS))] for step in case.steps]
    setup = {"starts": case.starts, "stacks": [stacks[:2], stacks[2:]][: case.options.get("rounds", 2)]}
    return deal_setup(setup, **case.options)


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


def check_kernel(name: str, depth: int) -> None:
    pair = deal(CASES[name])
    states = np.zeros(depth, STATE)
    states[0] = pair.states[0]
    assert kernel_perft(pair.rules, states, 0, depth) == CASES[name].counts[depth - 1]


def check_twin(name: str, depth: int) -> None:
    """The last move is counted, not played."""
    counts = [deal(CASES[name]).twin]
    for _ in range(depth - 1):
        after = []
        for twin in counts:
            for move in twin.legal():
                after.append(twin.copy())
                after[-1].play(move)
        counts = after
    assert sum(len(twin.legal()) for twin in counts) == CASES[name].counts[depth - 1]


@pytest.mark.parametrize(("name", "depth"), depths(-1, 20_000))
def test_kernel(name: str, depth: int) -> None:
    check_kernel(name, depth)


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "depth"), depths(20_000, 10_000_000))
def test_kernel_deeper(name: str, depth: int) -> None:
    check_kernel(name, depth)


@pytest.mark.parametrize(("name", "depth"), depths(-1, 120))
def test_twin(name: str, depth: int) -> None:
    check_twin(name, depth)


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "depth"), depths(120, 6_000, largest=9))
def test_twin_deeper(name: str, depth: int) -> None:
    check_twin(name, depth)


@pytest.mark.uncompiled
@pytest.mark.parametrize(("name", "depth"), depths(-1, 40))
def test_shallow_counts(name: str, depth: int) -> None:
    """Kernel and twin, and the reference's own way to count."""
    check_kernel(name, depth)
    assert plain_perft(deal(CASES[name]).twin, min(depth, 3)) == CASES[name].counts[min(depth, 3) - 1]


def test_a_round_ends_within_the_counts() -> None:
    """On the smallest board whole matches are counted: the last count is of no sequence at all."""
    assert all(CASES[name].counts[-1] == 0 for name in ("5, one round", "5, all"))
