"""Hidden things: `resample` redraws what a player cannot know, evenly, and nothing else; deals are even too."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.reference.tollero import downtown_arrangements
from tests.tollero_tools import (
    BLANK,
    DEFAULT,
    RICH,
    Data,
    F,
    Pair,
    as_twin,
    city_ids,
    deal_pair,
    deal_setup,
    face,
    make_set,
    make_setup,
    random_set,
    rules_for,
)
from tollero_env.games.tollero.constants import CITY_TILES, EXPAND, FIRST_CITY, NO_TILE
from tollero_env.games.tollero.state import STATE

Resample = Callable[[np.ndarray, int, np.ndarray, int, int], None]
HIDDEN = ("pile", "hand", "rng")
P_LEAST = 1e-4  # seeds are fixed: a passing test keeps passing

# Half of the tiles fit nowhere, so that E4 tells what a hand can be.
HALF_FIT = make_set(
    (face("NS", 2, NW=F, SE=F), 12),
    (face("NE", 3, NW=F, SE="fountain:N"), 10),
    (face("NESW", 1, SW=F), 5),
    filler=BLANK,
    downtown=(face("NS", 2, NW=F), face("NES", 3, SE=F, NW=F)),
)


def positions(data: Data, players: int, seed: int, **options: Any) -> Iterator[Pair]:
    """A random game, decision by decision, to its end."""
    rng = random.Random(f"hidden {seed}")
    pair = deal_pair(data, players, rng, **options)
    while True:
        yield pair
        if pair.twin.over:
            return
        numbers = pair.kernel_moves()
        move = rng.choice(sorted(numbers))
        pair.play(move, numbers[move])


def redrawn(pair: Pair, player: int, seed: int, resample: Resample | None = None) -> np.ndarray:
    states = pair.states.copy()
    (resample or pair.rules.game.resample)(states, 0, pair.rules.tables, player, seed)
    return states


def is_due_to_lay(states: np.ndarray, player: int) -> bool:
    """Is another player about to lay? Then that hand fits: what did not was put away (E4)."""
    return bool(states["stage"][0] == EXPAND and states["player"][0] != player)


# ---- what a player knows stays


def breaches(pair: Pair, player: int, seeds: range, resample: Resample | None = None) -> set[str]:
    """What is wrong with the states that `resample` makes, other than how likely they are."""
    found, known = set(), as_twin(pair, pair.states).known_to(player)
    for seed in seeds:
        states = redrawn(pair, player, seed, resample)
        twin = as_twin(pair, states)
        if twin.known_to(player) != known:
            found.add("knowledge")
        if any(not np.array_equal(states[name], pair.states[name]) for name in STATE.names or () if name not in HIDDEN):
            found.add("fields")
        hand = twin.hands[twin.player]
        if is_due_to_lay(states, player) and not (hand and twin._places(hand)):
            found.add("fit")
        if pair.rules.game.check(states, 0, pair.rules.tables):
            found.add("check")
    return found


SETS = {"default": DEFAULT, "half fit": HALF_FIT, "any": random_set(6), "any other": random_set(13)}


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("name", SETS)
def test_what_a_player_knows_stays(name: str, players: int) -> None:
    stages = set()
    for pair in positions(SETS[name], players, players, floors=7):
        for player in range(players):
            assert breaches(pair, player, range(2)) == set()
        stages.add(pair.twin.stage)
    assert stages == {"expand", "first", "second", "over"}


@pytest.mark.thorough
@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("number", range(20))
def test_what_a_player_knows_stays_in_many_games(number: int, players: int) -> None:
    for pair in positions(HALF_FIT if number % 2 else random_set(2000 + number), players, number, floors=9):
        for player in range(players):
            assert breaches(pair, player, range(3)) == set()


@pytest.mark.uncompiled
def test_what_a_player_knows_stays_in_a_short_game() -> None:
    for pair in positions(HALF_FIT, 3, 1, floors=2):
        for player in range(3):
            assert breaches(pair, player, range(1)) == set()


# ---- what a player does not know is drawn evenly


def hidden_faces(states: np.ndarray, player: int) -> tuple[list[int], list[int]]:
    """Seats that hold a tile this player cannot see, and all unseen tiles."""
    hands = states["hand"][0].tolist()
    seats = [seat for seat, hand in enumerate(hands) if hand != NO_TILE and seat != player]
    return seats, [hands[seat] for seat in seats] + states["pile"][0, : int(states["num_pile"][0])].tolist()


def arranged(states: np.ndarray, player: int) -> tuple[int, ...]:
    return tuple(hidden_faces(states, player)[1])


def possible(pair: Pair, player: int) -> Counter[tuple[int, ...]]:
    """How many of the equally likely orders of the unseen tiles look like each arrangement."""
    seats, faces = hidden_faces(pair.states, player)
    ids = [tile["id"] for tile in pair.data["city"]]
    fitting = {number for number in faces if pair.twin._places(ids[number - FIRST_CITY])}
    orders = Counter(permutations(faces))
    if is_due_to_lay(pair.states, player):
        place = seats.index(int(pair.states["player"][0]))
        orders = Counter({order: n for order, n in orders.items() if order[place] in fitting})
    return orders


def unevenness(pair: Pair, player: int, resample: Resample | None = None, rate: int = 40) -> str:
    """Why the arrangements are not drawn evenly; "" if they are, as far as a chi-square test tells."""
    expected = possible(pair, player)
    samples = rate * len(expected)
    seen = Counter(arranged(redrawn(pair, player, seed, resample), player) for seed in range(samples))
    if set(seen) - set(expected):
        return "impossible"
    total = sum(expected.values())
    wanted = [samples * weight / total for weight in expected.values()]
    p = stats.chisquare([seen[order] for order in expected], wanted).pvalue
    return "" if p > P_LEAST else f"uneven: p = {p:.2g}"


# Few tiles fit, C01 to C04; C05 to C07 are blanks that can be told apart. All others are gone before the first move.
SHAPES = ("NS", "NE", "NESW", "NES")
FEW = make_set(
    *((face(canals, 2, NW=F, NE=F), 1) for canals in SHAPES),
    *((BLANK, 1) for _ in range(3)),
    filler=BLANK,
    downtown=(face("NS", 2, NW=F), face("NS", 3, SE=F, NW=F)),
)
COPIES = make_set((face("NS", 2, NW=F), 3), (face("NE", 2, NE=F), 2), filler=BLANK, downtown=(face("NS", 2, NW=F),))


def few_left(data: Data, players: int, tail: str, decisions: int = 0) -> Pair:
    """Seat 0 holds the first tile of the tail, other seats the next, the rest is the pile; then some moves."""
    last = [f"C0{digit}" for digit in tail]
    gone = city_ids(data)
    for tile in last:
        gone.remove(tile)
    tiles = [gone[0], *last[1:players], *gone[1:], last[0], *last[players:]]  # seat 0 puts the blanks away (E4)
    pair = deal_setup(data, players, make_setup("D1:A:0 D2:A:1 D3:B:0 D4:B:1", tiles, players))
    assert (pair.twin.hands, pair.twin.pile) == (last[:players], last[players:])
    for _ in range(decisions):
        numbers = pair.kernel_moves()
        pair.play(min(numbers), numbers[min(numbers)])
    return pair


SCARCE = make_set((face("NS", 2, NW=F), 2), (BLANK, 1), filler=BLANK, downtown=(face("NS", 2, NW=F),))

# name: set, players, tail, decisions made; then who looks, the stage, and how many arrangements are possible
SMALL: dict[str, tuple[tuple[Data, int, str, int], int, str, int]] = {
    "own turn, 2 players": ((FEW, 2, "152346", 0), 0, "expand", 120),
    "own turn, 3 players": ((FEW, 3, "152346", 0), 0, "expand", 120),
    "own turn, 4 players": ((FEW, 4, "1523467", 0), 0, "expand", 720),
    "another lays, 2 players": ((FEW, 2, "152364", 0), 1, "expand", 4 * 24),  # E4: one of the four that fit
    "another lays, 3 players": ((FEW, 3, "1256347", 0), 2, "expand", 4 * 120),
    "another lays, 4 players, no pile": ((SCARCE, 4, "1213", 0), 1, "expand", 2),
    "another builds": ((FEW, 3, "1253467", 1), 1, "first", 120),
    "another builds again": ((FEW, 3, "1253467", 2), 1, "second", 120),
    "own build": ((FEW, 4, "1523467", 1), 0, "first", 720),
    "copies": ((COPIES, 3, "1213132", 0), 1, "expand", 40),
}


def small_position(name: str) -> tuple[Pair, int]:
    arguments, player, stage, number = SMALL[name]
    pair = few_left(*arguments)
    assert (pair.twin.stage, len(possible(pair, player))) == (stage, number)
    return pair, player


@pytest.mark.parametrize("name", SMALL)
def test_every_arrangement_is_equally_likely(name: str) -> None:
    pair, player = small_position(name)
    assert breaches(pair, player, range(20)) == set()
    assert unevenness(pair, player) == ""


@pytest.mark.uncompiled
def test_few_arrangements_are_equally_likely() -> None:
    pair, player = small_position("copies")
    assert unevenness(pair, player, rate=15) == ""


ONE_OF_EACH = {
    **DEFAULT,
    "city": [
        {**tile, "id": f"{tile['id']}-{copy}", "copies": 1}
        for tile in DEFAULT["city"]
        for copy in range(tile.get("copies", 1))
    ],
}


def permutation_p(counts: np.ndarray, samples: int) -> float:
    """counts[place, tile] over random orders of n tiles: chi-square with (n - 1)² degrees of freedom."""
    n = len(counts)
    expected = samples / n
    statistic = ((counts - expected) ** 2).sum() / expected * (n - 1) / n
    return float(min(stats.chi2.cdf(statistic, (n - 1) ** 2), stats.chi2.sf(statistic, (n - 1) ** 2)))


@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_tile_comes_everywhere(players: int) -> None:
    """53 unseen tiles: each is in each other hand and at each place of the pile equally often."""
    pair = next(positions(ONE_OF_EACH, players, players))
    unseen = sorted(arranged(pair.states, 0))
    places = {number: k for k, number in enumerate(unseen)}
    samples, counts = 8000, np.zeros((len(unseen), len(unseen)))
    for seed in range(samples):
        order = arranged(redrawn(pair, 0, seed), 0)
        counts[np.arange(len(unseen)), [places[number] for number in order]] += 1
    assert len(unseen) == 53
    assert permutation_p(counts, samples) > P_LEAST


# ---- a resample that is wrong is found out


def do_nothing(states: np.ndarray, i: int, tables: np.ndarray, player: int, seed: int) -> None:
    """Leaves all as it is."""


def pile_only(states: np.ndarray, i: int, tables: np.ndarray, player: int, seed: int) -> None:
    """Leaves the other hands as they are."""
    size = int(states["num_pile"][i])
    states["pile"][i, :size] = random.Random(seed).sample(states["pile"][i, :size].tolist(), size)


def redraw(states: np.ndarray, player: int, order: list[int]) -> None:
    seats, faces = hidden_faces(states, player)
    states["hand"][0, seats] = order[: len(seats)]
    states["pile"][0, : len(faces) - len(seats)] = order[len(seats) :]


def forgets_e4(states: np.ndarray, i: int, tables: np.ndarray, player: int, seed: int) -> None:
    """Deals any tile to a player who is about to lay."""
    faces = hidden_faces(states, player)[1]
    redraw(states, player, random.Random(seed).sample(faces, len(faces)))


def turns_round(states: np.ndarray, i: int, tables: np.ndarray, player: int, seed: int) -> None:
    """Every tile comes everywhere equally often, yet few orders come up."""
    faces = hidden_faces(states, player)[1]
    start = random.Random(seed).randrange(len(faces))
    redraw(states, player, faces[start:] + faces[:start])


def changes_own_hand(states: np.ndarray, i: int, tables: np.ndarray, player: int, seed: int) -> None:
    hand, top = states["hand"][i], int(states["num_pile"][i]) - 1
    hand[player], states["pile"][i, top] = states["pile"][i, top], hand[player]


def peeks_at_the_board(states: np.ndarray, i: int, tables: np.ndarray, player: int, seed: int) -> None:
    states["floors_left"][i, player] -= 1


@pytest.mark.parametrize(
    ("name", "resample", "finding"),
    [
        ("own turn, 3 players", do_nothing, "uneven"),
        ("another lays, 2 players", do_nothing, "uneven"),
        ("another builds", pile_only, "uneven"),
        ("own turn, 3 players", turns_round, "uneven"),
        ("another lays, 2 players", forgets_e4, "impossible"),
        ("another lays, 3 players", forgets_e4, "fit"),
        ("own build", changes_own_hand, "knowledge"),
        ("own turn, 3 players", peeks_at_the_board, "fields"),
    ],
)
def test_a_wrong_resample_is_found_out(name: str, resample: Resample, finding: str) -> None:
    pair, player = small_position(name)
    found = {*breaches(pair, player, range(20), resample), unevenness(pair, player, resample).split(":")[0]}
    assert finding in found


def test_a_right_resample_in_plain_python_is_not_found_out() -> None:
    for name in ("own turn, 4 players", "another builds"):  # no hand that must fit, so no need to mind E4
        pair, player = small_position(name)
        assert (breaches(pair, player, range(20), forgets_e4), unevenness(pair, player, forgets_e4)) == (set(), "")


# ---- equal knowledge, equal bytes


def look_alike(pair: Pair, player: int, rng: random.Random) -> np.ndarray:
    """Another true state that looks the same to the player: the unseen tiles lie in another order."""
    ids = [tile["id"] for tile in pair.data["city"]]
    states = pair.states.copy()
    seats, faces = hidden_faces(states, player)
    while True:
        rng.shuffle(faces)
        mover = dict(zip(seats, faces)).get(pair.twin.player)
        if not (is_due_to_lay(states, player) and mover) or pair.twin._places(ids[mover - FIRST_CITY]):
            break
    redraw(states, player, faces)
    states["rng"] = rng.getrandbits(64)
    assert as_twin(pair, states).known_to(player) == as_twin(pair, pair.states).known_to(player)
    return states


def check_look_alikes(pair: Pair, player: int, rng: random.Random) -> int:
    """Same seed, same bytes; returns how many bytes of the two states differed before."""
    twin_state, seed = look_alike(pair, player, rng), rng.getrandbits(63)
    different = sum(a != b for a, b in zip(pair.states.tobytes(), twin_state.tobytes()))
    pair.rules.game.resample(twin_state, 0, pair.rules.tables, player, seed)
    assert twin_state.tobytes() == redrawn(pair, player, seed).tobytes()
    pair.rules.game.resample(twin_state, 0, pair.rules.tables, player, seed + 1)
    assert twin_state.tobytes() == redrawn(pair, player, seed + 1).tobytes()
    return different


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("name", SETS)
def test_states_that_look_the_same_give_the_same_bytes(name: str, players: int) -> None:
    rng, different = random.Random(players), 0
    for pair in positions(SETS[name], players, 100 + players, floors=7):
        for player in range(players):
            different += check_look_alikes(pair, player, rng)
    assert different > 1000


@pytest.mark.uncompiled
def test_states_that_look_the_same_give_the_same_bytes_in_a_short_game() -> None:
    for pair in positions(HALF_FIT, 2, 5, floors=2):
        for player in range(2):
            check_look_alikes(pair, player, random.Random(player))


def test_the_rest_of_the_game_is_drawn_anew_too() -> None:
    """The generator in the state is no trace of the deal."""
    pair = next(positions(DEFAULT, 3, 9))
    words = {int(redrawn(pair, 1, seed)["rng"][0]) for seed in range(100)}
    assert len(words) == 100
    assert int(pair.states["rng"][0]) not in words


def test_redrawn_games_can_be_played_to_the_end() -> None:
    for seed, pair in enumerate(positions(HALF_FIT, 4, 3, floors=5)):
        states = redrawn(pair, seed % 4, seed)
        pair.rules.game.playout(states, 0, pair.rules.tables, seed)
        assert pair.rules.game.check(states, 0, pair.rules.tables) == 0
        assert states["over"][0] == 1


# ---- deals


def many_resets(data: Data, players: int, number: int, **options: Any) -> np.ndarray:
    rules = rules_for(data, players, **options)
    states = np.zeros(number, STATE)
    for i in range(number):
        rules.game.reset(states, i, rules.tables, i)
    return states


# Orders of these four tiles have different numbers of ways to be laid around a contract with one dry side.
UNLIKE = {
    **make_set((RICH, CITY_TILES), contract=face("NES")),
    "downtown": [
        {"id": "D1", "a": face("N"), "b": face("NE")},
        {"id": "D2", "a": face("NESW"), "b": face("NESW")},
        {"id": "D3", "a": face("NS"), "b": face("NESW")},
        {"id": "D4", "a": face(""), "b": face("E")},
    ],
}


@pytest.mark.parametrize("data", [UNLIKE, {**UNLIKE, "contract": face("NS")}], ids=["NES", "NS"])
def test_s2_every_arrangement_of_downtown_is_equally_likely(data: Data) -> None:
    ids = {tile["id"]: 1 + 2 * k for k, tile in enumerate(data["downtown"])}
    arrangements = [
        tuple((ids[one["tile"]] + "AB".index(one["side"])) * 4 + one["rot"] for one in four)
        for four in downtown_arrangements(data)
    ]
    states = many_resets(data, 2, 20 * len(arrangements))
    laid = states["face"][:, 1:5].astype(int) * 4 + states["rotation"][:, 1:5]
    seen = Counter(map(tuple, laid.tolist()))
    assert len({order[:1] for order in arrangements}) > 4
    assert seen.keys() <= set(arrangements)
    assert stats.chisquare([seen[one] for one in arrangements]).pvalue > P_LEAST


@pytest.mark.parametrize("players", [2, 3, 4])
def test_s3_every_tile_is_dealt_everywhere_equally_often(players: int) -> None:
    samples = 6000
    states = many_resets(ONE_OF_EACH, players, samples)
    assert not states["num_gone"].any()
    size = CITY_TILES - players
    dealt = np.concatenate([states["hand"][:, :players], states["pile"][:, :size]], axis=1).astype(int) - FIRST_CITY
    counts = np.zeros((CITY_TILES, CITY_TILES))
    for place in range(CITY_TILES):
        counts[place] = np.bincount(dealt[:, place], minlength=CITY_TILES)
    assert permutation_p(counts, samples) > P_LEAST
