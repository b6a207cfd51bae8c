"""Kernel against twin: at every decision the whole legal set, the full state and the scores are the same."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from tests.tollero_tools import (
    BLANK,
    CITY,
    CROSS,
    DEFAULT,
    RICH,
    Choose,
    Data,
    F,
    crowd,
    deal_pair,
    difference,
    face,
    heap_up,
    kernel_outcome,
    kernel_scores,
    make_set,
    make_setup,
    pick_any,
    play_same,
    push,
    random_set,
    reset_pair,
    spread,
    spread_then_fill,
)

PLAYERS = (2, 3, 4)


def play_games(data: Data, players: int, seeds: range, choose: Choose = pick_any, **options: Any) -> int:
    """Games dealt from these seeds; returns how many decisions were compared."""
    total = 0
    for seed in seeds:
        rng = random.Random(f"{players} {seed}")
        total += play_same(deal_pair(data, players, rng, **options), choose, rng)
    return total


def block(number: int, size: int) -> range:
    return range(number * size, (number + 1) * size)


# ---- the default set


@pytest.mark.parametrize("players", PLAYERS)
def test_random_games(players: int) -> None:
    assert play_games(DEFAULT, players, range(8)) == 8 * 30 * players  # each seat places 20 Floors and lays 10 tiles


@pytest.mark.uncompiled
@pytest.mark.parametrize("players", PLAYERS)
def test_one_random_game(players: int) -> None:
    assert play_games(DEFAULT, players, range(8, 9)) == 30 * players


@pytest.mark.thorough
@pytest.mark.parametrize("number", range(1, 21))
@pytest.mark.parametrize("players", PLAYERS)
def test_thousands_of_random_games(players: int, number: int) -> None:
    play_games(DEFAULT, players, block(number, 50))


@pytest.mark.slow
@pytest.mark.parametrize("number", range(10, 30))
@pytest.mark.parametrize("players", PLAYERS)
def test_tens_of_thousands_of_random_games(players: int, number: int) -> None:
    play_games(DEFAULT, players, block(number, 500))


FIXED = "D3:A:2 D1:A:1 D4:B:3 D2:A:3"
OPTIONS: tuple[dict[str, Any], ...] = (
    {"floors": 1},
    {"floors": 3},
    {"floors": 20, "downtown_scores": False},
    {"floors": 3, "downtown": FIXED},
    {"floors": 2, "downtown_scores": False, "downtown": FIXED},
)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("players", PLAYERS)
def test_options(players: int, options: dict[str, Any]) -> None:
    games = range(30 // options["floors"])
    decisions = play_games(DEFAULT, players, games, **options)
    turns = -(-options["floors"] // 2)  # two Floors a turn, one if it is the last
    assert decisions == len(games) * players * (options["floors"] + turns)


def test_downtown_scores_changes_the_score_by_the_downtown_majorities() -> None:
    """F3 is seen: the same games give other scores with and without it."""
    differ = 0
    for seed in range(5):
        on, off = (deal_pair(DEFAULT, 2, random.Random(seed), downtown_scores=scores) for scores in (True, False))
        for pair in (on, off):
            play_same(pair, pick_any, random.Random(seed))
        assert on.twin.buildings == off.twin.buildings
        differ += kernel_scores(on) != kernel_scores(off)
    assert differ > 0


# ---- the kernel's own deals


@pytest.mark.parametrize("players", PLAYERS)
def test_games_from_reset(players: int) -> None:
    for seed in range(5):
        play_same(reset_pair(DEFAULT, players, seed), pick_any, random.Random(seed))


@pytest.mark.parametrize("players", PLAYERS)
def test_games_from_reset_on_other_sets(players: int) -> None:
    """The setup of a replay is the one before seat 0 put tiles away (E4)."""
    events: Counter[str] = Counter()
    for seed in range(12):
        pair = reset_pair((random_set(seed), FEW_FIT)[seed % 2], players, seed, floors=4)
        events["discard"] += bool(pair.twin.gone)
        play_same(pair, pick_any, random.Random(seed))
    assert events["discard"] > 0


def test_reset_lays_a_fixed_downtown() -> None:
    for seed in range(20):
        pair = reset_pair(DEFAULT, 2, seed, downtown=FIXED)
        laid = {
            tuple(one["at"]): (one["tile"], one["side"], one["rot"]) for one in make_setup(FIXED, [], 2)["downtown"]
        }
        assert {cell: pair.twin.tiles[cell] for cell in laid} == laid
        assert not difference(pair)


# ---- steered into rare corners

LOTS4 = {"NW": F, "NE": F, "SE": F, "SW": F}
STUB = face("N", 2, NW=F, SE="fountain:N")
STRAIGHT = face("NS", 2, NW=F, NE="fountain:W", SE="fountain:E", SW="fountain:S")
CORNER = face("NE", 4, NW="fountain:N", SE=F)
SPARSE = face("NESW", 0, NW=F, SE="fountain:N", SW="fountain:W")  # B3: one Floor a turn

DEAD_ENDS = make_set((STUB, CITY), downtown=(face("NS", 3, NW=F), face("NE", 2, SE=F)))
STRAIGHTS = make_set((STRAIGHT, 27), (face("EW", 3, NE=F, SW=F), 27), downtown=(face("NS", 2, NW=F), CORNER))
FEW_FIT = make_set((STUB, 20), (CORNER, 6), filler=BLANK, downtown=(face("NS", 3, **LOTS4), face("NES", 1, SE=F)))
NO_LOTS = make_set((CROSS, CITY), downtown=(CROSS,))
NO_LOTS_STRAIGHT = make_set((face("NS"), CITY), downtown=(CROSS,))
FEW_LOTS = make_set((face("NESW", 1), 40), (face("NESW", 2, NW=F), 14), downtown=(face("NESW", 1),))
ONE_FLOOR = make_set((SPARSE, CITY), downtown=(SPARSE, CROSS))
ONE_KIND = make_set((RICH, CITY))
BARREN = make_set((BLANK, CITY), downtown=(face("N"), face("E")))
BARREN_BUT_DOWNTOWN = make_set((BLANK, CITY), downtown=(face("N", 1, NW=F, NE="fountain:W"), face("N", 0)))
SPRINGS = make_set(
    (face("NESW", 2, NW=F, NE="fountain:W", SE="fountain:E", SW="fountain:N"), 18),
    (face("NESW", 2, NW="fountain:E", NE="fountain:W", SE="fountain:S", SW=F), 18),  # two point at each other
    (face("NESW", 1, NW="fountain:N", NE="fountain:N", SE=F, SW="fountain:S"), 18),
    downtown=(RICH, face("NESW", 9, NW=F, NE="fountain:W", SW="fountain:N")),
)
RANKS = (0, 1, 5, 6, 7, 8, 9)
VALUES = make_set(
    *((face("NS", value, NW=F, SE="fountain:W"), 6) for value in RANKS),
    filler=face("NE", 3, NE=F),
    downtown=(face("NS", 9, NW=F), face("NS", 0, SE=F)),
)
DISPUTES = make_set((face("NESW", 4, **LOTS4), 6), filler=face("NESW", 4), downtown=(face("NESW", 3, **LOTS4),))

MIXED = make_set((SPARSE, 30), (face("NS", 0, NW=F, NE="fountain:E"), 12), filler=face("NES", 0, SW=F, NW="fountain:S"))

CORNERS: dict[str, tuple[Data, Choose, tuple[str, ...]]] = {
    "dead ends": (DEAD_ENDS, pick_any, ("discard", "empty pile", "Expand skipped", "closed city", "no second")),
    "straights": (STRAIGHTS, pick_any, ("touching only", "no second", "reach 2", "reach 3")),
    "few fit": (FEW_FIT, pick_any, ("discard", "empty pile", "Expand skipped")),
    "no lots": (NO_LOTS, pick_any, ("no first", "all laid", "stuck", "full edge")),
    "few lots": (FEW_LOTS, pick_any, ("no first", "no second", "all laid")),
    "one Floor a turn": (ONE_FLOOR, pick_any, ("value 0", "one Floor left")),
    "one kind": (ONE_KIND, pick_any, ("tie kept", "last draw")),
    "disputes": (DISPUTES, crowd, ("tie kept", "tie broken")),
    "only Downtown": (BARREN_BUT_DOWNTOWN, pick_any, ("Expand skipped", "closed city", "idle turn", "stuck", "tall")),
    "fountains": (SPRINGS, crowd, tuple(f"fountains {n}" for n in (1, 2, 3)) + ("fountain at fountain",)),
    "values": (VALUES, pick_any, tuple(f"reach {value}" for value in RANKS)),
    "towers": (DISPUTES, heap_up, ("last draw", "tie kept")),
    "odd Floors": (make_set((SPARSE, 8), filler=RICH), pick_any, ("one Floor left", "seat done", "value 0")),
}


def play_corner(data: Data, choose: Choose, games: range, players: int, **options: Any) -> Counter[str]:
    """Play and count what happened."""
    events: Counter[str] = Counter()
    for seed in games:
        rng = random.Random(f"corner {seed}")
        play_same(deal_pair(data, players, rng, **options), choose, rng, events)
    return events


def missing(events: Counter[str], expected: tuple[str, ...]) -> set[str]:
    return {event for event in expected if not events[event]}


@pytest.mark.uncompiled
@pytest.mark.parametrize("name", CORNERS)
def test_corner(name: str) -> None:
    data, choose, expected = CORNERS[name]
    events: Counter[str] = Counter()
    for players in PLAYERS:
        events += play_corner(data, choose, range(1), players)
    assert not missing(events, expected)


@pytest.mark.thorough
@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("name", CORNERS)
def test_corner_many_times(name: str, players: int) -> None:
    data, choose, _ = CORNERS[name]
    play_corner(data, choose, range(1, 5), players)
    play_corner(data, choose, range(5, 15), players, floors=3)


def test_odd_floors_end_with_one() -> None:
    for players in PLAYERS:
        assert not missing(play_corner(DEFAULT, pick_any, range(2), players, floors=3), ("one Floor left", "last draw"))


@pytest.mark.uncompiled
@pytest.mark.parametrize("players", PLAYERS)
def test_over_right_after_the_deal(players: int) -> None:
    """F1: a turn that only discards by E4 is idle, so a barren set ends before the first decision."""
    events: Counter[str] = Counter()
    pair = deal_pair(BARREN, players, random.Random(players))
    assert play_same(pair, pick_any, random.Random(0), events) == 0
    assert (len(pair.twin.gone), events["stuck"]) == (CITY, 1)
    assert kernel_scores(pair) == {2: [5, 0], 3: [5, 2, 0], 4: [5, 3, 1, 0]}[players]  # S4
    assert kernel_outcome(pair) == [1.0, 0.0, 0.0, 0.0][:players]


@pytest.mark.parametrize("side", "NESW")
def test_city_pushed_one_way(side: str) -> None:
    """All 54 tiles in one row: the last lies 55 cells from the contract, and its edge 56."""
    assert not missing(play_corner(NO_LOTS, push(side), range(1), 2), ("far", "all the way", "all laid", "wide edge"))


@pytest.mark.thorough
@pytest.mark.parametrize("data", [NO_LOTS_STRAIGHT, ONE_FLOOR, MIXED], ids=["straights", "one Floor a turn", "mixed"])
@pytest.mark.parametrize("side", "NESW")
def test_other_cities_pushed_one_way(side: str, data: Data) -> None:
    assert not missing(play_corner(data, push(side), range(3), 4), ("far", "all laid", "wide edge"))


@pytest.mark.uncompiled
def test_city_pushed_to_the_east() -> None:
    assert not missing(play_corner(NO_LOTS, push("E"), range(1), 2), ("all the way", "wide edge"))


@pytest.mark.parametrize("choose", [spread, spread_then_fill], ids=["spread", "spread, then fill"])
@pytest.mark.parametrize("players", PLAYERS)
def test_more_than_64_cells_on_the_edge(players: int, choose: Choose) -> None:
    """Both halves of the edge's lists are in use; entries move between them as cells are filled."""
    data = ONE_FLOOR if players == 4 else NO_LOTS
    assert not missing(play_corner(data, choose, range(1), players), ("wide edge", "full edge", "all laid"))


@pytest.mark.parametrize("choose", [spread, spread_then_fill], ids=["spread", "spread, then fill"])
def test_more_than_64_cells_on_the_edge_of_a_mixed_city(choose: Choose) -> None:
    assert not missing(play_corner(MIXED, choose, range(1), 4), ("wide edge", "touching only", "all laid"))


# ---- other contracts

CANALS = ["".join(side for k, side in enumerate("NESW") if n >> k & 1) for n in range(16)]


def with_contract(canals: str) -> Data:
    """A contract that can be built on, has a value, and lacks some canals; every Downtown tile fits wet and dry."""
    contract = face(canals, 1 + len(canals), NW=F, NE="fountain:W", SE=F, SW="fountain:S")
    city = ((RICH, 20), (STRAIGHT, 14), (CORNER, 20))
    return make_set(*city, downtown=(face("NS", 2, NW=F, SE="fountain:N"), face("NE", 3, **LOTS4)), contract=contract)


@pytest.mark.parametrize("canals", CANALS)
def test_contract_with_lots_and_few_canals(canals: str) -> None:
    events: Counter[str] = Counter()
    for seed in range(2):
        players = 2 + (len(canals) + seed) % 3
        events += play_corner(with_contract(canals), pick_any, range(seed, seed + 1), players, floors=5)
    assert events["contract built"] > 0 or not canals  # without canals only a skipped Expand leads there


def test_contract_without_canals_is_built_on_once_expand_is_skipped() -> None:
    data = make_set((BLANK, CITY), downtown=(face(""),), contract=face("", 4, **LOTS4))
    assert not missing(play_corner(data, pick_any, range(2), 3), ("contract built", "Expand skipped", "no second"))


# ---- tile sets of any kind


def play_random_sets(seeds: range) -> None:
    for seed in seeds:
        rng = random.Random(f"random set {seed}")
        options = {"floors": rng.choice((1, 2, 3, 5, 20)), "downtown_scores": rng.random() < 0.7}
        play_same(deal_pair(random_set(seed), 2 + seed % 3, rng, **options), pick_any, rng)


@pytest.mark.parametrize("number", range(4))
def test_random_sets(number: int) -> None:
    play_random_sets(block(number, 12))


@pytest.mark.uncompiled
@pytest.mark.parametrize("seed", range(48, 58))
def test_a_few_random_sets(seed: int) -> None:
    play_random_sets(range(seed, seed + 1))


@pytest.mark.thorough
@pytest.mark.parametrize("number", range(2, 12))
def test_hundreds_of_random_sets(number: int) -> None:
    play_random_sets(block(number, 50))


@pytest.mark.slow
@pytest.mark.parametrize("number", range(10, 30))
def test_thousands_of_random_sets(number: int) -> None:
    play_random_sets(block(number, 500))


def test_random_sets_are_of_every_kind() -> None:
    """What the generator is for: over a few hundred sets all of this comes up."""
    sets = [random_set(seed) for seed in range(300)]
    faces = [one for data in sets for one in data["city"]]
    assert {one["value"] for one in faces} == set(range(10))
    assert {"".join(sorted(one["canals"])) for one in faces} == {"".join(sorted(canals)) for canals in CANALS}
    assert {len(data["contract"]["canals"]) for data in sets} == set(range(5))
    assert max(one["copies"] for one in faces) >= 20
    assert {what.split(":")[0] for one in faces for what in one["lots"].values()} == {F, "fountain"}
