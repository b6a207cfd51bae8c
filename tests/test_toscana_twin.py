"""Kernel against twin: at every decision the whole legal set, the full state and the scores are the same."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from tests.toscana_tools import (
    OPTIONS,
    Choose,
    always,
    deal_pair,
    difference,
    grow,
    kernel_scores,
    pack,
    pick_any,
    play_same,
    reset_pair,
    scatter,
)

STEERED: dict[str, Choose] = {
    "pack": pack,
    "scatter": scatter,
    "grow": grow,
    "veto": always("veto"),
    "allow": always("allow"),
    "allow and pack": always("allow", pack),
}


def play_games(seeds: range, choose: Choose = pick_any, **options: Any) -> Counter[str]:
    """Matches dealt from these seeds; what happened in them."""
    events: Counter[str] = Counter()
    for seed in seeds:
        rng = random.Random(f"{seed} {options}")
        events["decisions"] += play_same(deal_pair(rng, **options), choose, rng, events)
    return events


@pytest.mark.parametrize("name", OPTIONS)
def test_random_matches_at_every_option(name: str) -> None:
    play_games(range(3 if OPTIONS[name]["size"] < 17 else 1), **OPTIONS[name])


@pytest.mark.thorough
@pytest.mark.parametrize("name", OPTIONS)
def test_many_random_matches_at_every_option(name: str) -> None:
    play_games(range(100, 130 if OPTIONS[name]["size"] < 17 else 106), **OPTIONS[name])


@pytest.mark.uncompiled
@pytest.mark.parametrize("contact", ["tile", "colour"])
def test_short_matches_in_either_layer(contact: str) -> None:
    play_games(range(2), size=7, contact=contact)


@pytest.mark.parametrize("size", [5, 7, 11, 13, 19, 31])
def test_boards_of_other_sizes(size: int) -> None:
    for contact in ("tile", "colour"):
        play_games(range(1), size=size, contact=contact, rounds=1)


@pytest.mark.parametrize("contact", ["tile", "colour"])
@pytest.mark.parametrize("name", STEERED)
def test_steered_matches(name: str, contact: str) -> None:
    play_games(range(2), STEERED[name], size=13, contact=contact)


@pytest.mark.thorough
@pytest.mark.parametrize("contact", ["tile", "colour"])
@pytest.mark.parametrize("name", STEERED)
def test_steered_matches_on_the_printed_board(name: str, contact: str) -> None:
    play_games(range(50, 53), STEERED[name], contact=contact)


EVENTS = (
    "asked after a pass",
    "asked about a tile without a place",
    "passed",
    "match asked with one stone",
    "ended by passes",
    "veto",
    "veto, then a pass",
    "allow, then a pass",
    "twice in a row",
    "no vetoes",
    "one round each",
    "a drawn match",
    "a drawn round",
)


def test_what_hardly_ever_happens_is_compared_too() -> None:
    events = play_games(range(20), size=7, contact="colour")
    events += play_games(range(20), always("allow"), size=7, veto="match")
    events += play_games(range(1), size=31, rounds=1)
    assert not {event for event in (*EVENTS, "all tiles laid") if not events[event]}


def test_thousands_of_positions_are_compared() -> None:
    assert play_games(range(60), size=9, contact="colour", veto="match")["decisions"] > 1000


@pytest.mark.parametrize("seed", range(6))
def test_matches_that_the_kernel_dealt(seed: int) -> None:
    """`reset` gives the setup, as a replay tells it."""
    rng = random.Random(seed)
    play_same(reset_pair(seed, size=9, rounds=1 + seed % 2), pick_any, rng)


def test_a_difference_is_found() -> None:
    """The comparison itself can fail: a match in which one square, stone or point is not the twin's."""
    rng = random.Random(1)
    pair = deal_pair(rng, size=9)
    while pair.twin.stage != "place" or len(pair.twin.laid) < 5:
        pair.play(rng.choice(sorted(pair.kernel_moves())))
    assert difference(pair) == ""
    cell = int(pair.states["cell"][0, 2])
    changes: list[tuple[str, tuple[int, ...], int]] = [
        ("square", (0, cell), 64),
        ("empty", (0, 8), 1 << 8),
        ("stone", (0, 0), 1),
        ("stack", (0, 1, 3), 1),
        ("passes", (0,), 1),
        ("sunk", (0, 1), 1),
    ]
    for field, place, flip in changes:
        before = pair.states[field][place]
        pair.states[field][place] = before ^ flip
        assert difference(pair) != "", field
        pair.states[field][place] = before
    assert difference(pair) == ""
    assert kernel_scores(pair) == pair.twin.scores()
