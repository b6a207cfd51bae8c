"""The reference implementation of Tollero against small tables laid out by hand, rule by rule."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest

from tests.reference.tollero import Move, Tollero, downtown_arrangements, perft, pointed_at

Tile = dict[str, Any]
CITY = 54
IDS = [f"C{number:02}" for number in range(1, CITY + 1)]
F = "foundation"
SIDES = {"N": (0, -1), "E": (1, 0), "S": (0, 1), "W": (-1, 0)}


def face(canals: str, value: int = 2, **lots: str) -> Tile:
    return {"canals": canals, "value": value, "lots": lots}


CROSS = face("NESW")
BLANK = face("")  # joins nothing: never fits (E2)


def make_set(city: list[Tile], filler: Tile, downtown: dict[str, Tile], contract: Tile) -> dict[str, Any]:
    """Tiles C01, C02, ... as given, then the filler up to 54. Downtown faces by side of the contract, others CROSS."""
    tiles = city + [filler] * (CITY - len(city))
    downs = [{"id": "D" + side, "a": downtown.get(side, CROSS), "b": CROSS} for side in SIDES]
    named = [{"id": name, **tile} for name, tile in zip(IDS, tiles, strict=True)]
    return {"name": "test", "contract": contract, "downtown": downs, "city": named}


def game(
    *city: Tile,
    players: int = 2,
    filler: Tile = CROSS,
    contract: Tile = CROSS,
    options: dict[str, Any] | None = None,
    rots: str = "0000",
    **downtown: Tile,
) -> Tollero:
    """Hands C01, C02, ..., then the pile in order; Downtown tiles DN DE DS DW on their own sides."""
    tileset = make_set(list(city), filler, downtown, contract)
    placed = [
        {"at": list(at), "tile": "D" + side, "side": "A", "rot": int(rot)}
        for (side, at), rot in zip(SIDES.items(), rots, strict=True)
    ]
    setup = {"downtown": placed[::-1], "hands": IDS[:players], "pile": IDS[players:]}
    return Tollero(tileset, players, setup, options)


def cells(moves: set[Move]) -> set[tuple[int, int]]:
    return {(x, y) for _, x, y, _ in moves}


def play(one: Tollero, *moves: Move) -> None:
    for move in moves:
        one.play(move)


def test_s1_s2_s3_s4_the_table_at_the_start() -> None:
    table = game(players=3).table()
    assert table["order"] == [(0, 0), (0, -1), (1, 0), (0, 1), (-1, 0)]
    assert [table["tiles"][cell] for cell in table["order"][1:]] == [("D" + side, "A", 0) for side in "NESW"]
    assert (table["hands"], table["pile"]) == (IDS[:3], IDS[3:])
    assert (table["player"], table["stage"], table["last"], table["over"]) == (0, "expand", None, False)
    assert table["floors_left"] == [20, 20, 20]
    assert [game(players=n).scores() for n in (2, 3, 4)] == [[5, 0], [5, 2, 0], [5, 3, 1, 0]]


def test_e1_side_contact_and_all_four_rotations() -> None:
    beside = [(0, -2), (2, 0), (0, 2), (-2, 0), (1, 1), (1, -1), (-1, 1), (-1, -1)]
    assert game().legal() == {("expand", x, y, rot) for x, y in beside for rot in range(4)}


def test_e2_touching_without_joining_a_canal_is_illegal() -> None:
    # Downtown shows canals only to the contract, except DN's own north side.
    one = game(face("N"), N=face("NS"), E=face("W"), S=face("N"), W=face("E"))
    assert one.legal() == {("expand", 0, -2, 2)}


def test_e3_both_sides_or_neither_on_every_side_that_meets_a_tile() -> None:
    # (1, -1) meets DN's east side (no canal) and DE's north side (a canal): a straight fits only as N-S.
    one = game(face("NS"), N=face("NS"), E=face("NSW"))
    assert {rot for _, x, y, rot in one.legal() if (x, y) == (1, -1)} == {0, 2}
    assert (1, 1) not in cells(one.legal())  # DE and DS both show a canal there, around a corner
    assert (2, 0) not in cells(one.legal())  # DE has no canal to the east


def test_rotation_is_clockwise_for_canals_lots_and_fountains() -> None:
    one = game(face("S", 0, NW=F, NE="fountain:W", SE=F))
    assert ("expand", 1, 1, 0) not in one.legal()
    # One quarter turn: canal S to W, lot NW to NE, SE to SW, and the fountain NE:W becomes SE:N.
    play(one, ("expand", 2, 0, 1))
    assert one.legal() == {("build", 2, 0, "NE"), ("build", 2, 0, "SW")}
    play(one, ("build", 2, 0, "NE"))
    assert one.scores() == [5 + 1, 0]
    # Downtown tiles turn the same way: three turns take DN's W to S, and DW's S, W, NW to E, S, SW.
    down = game(face("N"), N=face("W"), E=face("W"), S=face("N"), W=face("SW", 2, NW=F), rots="3003")
    assert down.legal() == {("expand", -1, 1, 0)}
    play(down, ("expand", -1, 1, 0))
    assert down.legal() == {("build", -1, 0, "SW")}


def test_m5_a_fountain_points_at_the_next_half_tile() -> None:
    assert pointed_at((0, 0), "NW", "E") == ((0, 0), "NE")  # the two examples of the rule
    assert pointed_at((0, 0), "NW", "N") == ((0, -1), "SW")
    assert pointed_at((-3, 2), "SE", "S") == ((-3, 3), "NE")
    assert pointed_at((-3, 2), "SW", "W") == ((-4, 2), "SE")


def test_e4_discards_at_the_start_of_the_turn_and_keeps_the_order() -> None:
    one = game(BLANK, BLANK, BLANK, CROSS, BLANK)
    assert (one.gone, one.hands) == (["C01", "C03"], ["C04", "C02"])  # C02 is not looked at yet
    play(one, ("expand", 0, -2, 0))  # nothing to build; then D1 draws C05, then seat 1 discards C02
    assert (one.gone, one.hands) == (["C01", "C03", "C02"], ["C05", "C06"])
    assert (one.player, one.stage) == (1, "expand")


def test_e4_b4_without_a_tile_expand_is_skipped_and_the_first_floor_goes_anywhere() -> None:
    one = game(filler=BLANK, N=face("S", 1, NE=F), W=face("E", 1, NW=F))
    assert (one.stage, one.last, one.player) == ("first", None, 0)
    assert one.gone == ["C01", *IDS[2:]]
    assert one.legal() == {("build", 0, -1, "NE"), ("build", -1, 0, "NW")}
    play(one, ("build", 0, -1, "NE"))  # value 1 reaches only the contract: no second Floor, seat 1's turn
    assert (one.gone[-1], one.hands) == ("C02", [None, None])
    assert (one.player, one.stage, one.floors_left) == (1, "first", [19, 20])
    assert one.legal() == {("build", -1, 0, "NW")}


def test_b1_reach_is_the_value_in_steps_through_joined_canals() -> None:
    # From (0, -2): DN one step, the contract two, the other three Downtown tiles three steps.
    lot = face("NESW", 2, NW=F)
    near, far = [(0, -2), (0, -1)], [(1, 0), (0, 1), (-1, 0)]
    for value, expected in enumerate([near[:1], near, near, near + far]):
        one = game(face("NESW", value, NW=F), N=lot, E=lot, S=lot, W=lot)
        play(one, ("expand", 0, -2, 0))
        assert (one.stage, one.last) == ("first", (0, -2))
        assert cells(one.legal()) == set(expected)


def test_b1_no_step_between_neighbours_without_a_canal() -> None:
    # (1, -1) joins DE only: DN lies beside it, but three steps away by canal.
    one = game(face("S", 2, NW=F), N=face("NSW", 2, NW=F), E=face("NESW", 2, NW=F))
    play(one, ("expand", 1, -1, 0))
    assert cells(one.legal()) == {(1, -1), (1, 0)}


def test_b2_own_buildings_grow_and_others_are_closed() -> None:
    one = game(filler=BLANK, N=face("NESW", 1, NW=F), S=face("NESW", 1, NW=F))
    play(one, ("build", 0, -1, "NW"))
    assert one.legal() == {("build", 0, 1, "NW")}
    play(one, ("build", 0, 1, "NW"))
    assert one.legal() == {("build", 0, -1, "NW")}
    play(one, ("build", 0, -1, "NW"))
    assert one.buildings == {(0, -1, "NW"): (0, 2), (0, 1, "NW"): (1, 1)}


def test_b3_second_floor_counts_from_the_first_and_never_on_its_tile() -> None:
    one = game(face("NESW", 4, NW=F, SE=F), N=face("NESW", 1, NW=F, SE=F), E=face("NESW", 2, NW=F))
    play(one, ("expand", 0, -2, 0), ("build", 0, -1, "NW"))
    assert (one.stage, one.last, one.player) == ("second", (0, -1), 0)
    assert one.legal() == {("build", 0, -2, "NW"), ("build", 0, -2, "SE")}  # value 1, the contract has no lots
    play(one, ("build", 0, -2, "SE"))
    assert (one.player, one.stage, one.floors_left) == (1, "expand", [18, 20])
    assert one.hands == ["C03", "C02"]  # D1


def test_b3_a_tile_of_value_0_forfeits_the_second_floor() -> None:
    one = game(face("NESW", 0, NW=F, SE=F), N=face("NESW", 3, NW=F))
    play(one, ("expand", 0, -2, 0))
    assert one.legal() == {("build", 0, -2, "NW"), ("build", 0, -2, "SE")}
    play(one, ("build", 0, -2, "NW"))
    assert (one.player, one.floors_left) == (1, [19, 20])


def test_b4_no_legal_lot_for_the_first_floor_ends_the_build() -> None:
    one = game(face("NESW", 1), E=face("NESW", 4, NW=F))
    play(one, ("expand", 0, -2, 0))
    assert (one.player, one.stage, one.floors_left) == (1, "expand", [20, 20])
    assert one.hands[0] == "C03"


def test_a_contract_with_lots_is_built_on_and_has_a_value_but_f2_leaves_it_out() -> None:
    contract = face("NESW", 1, NW=F, NE="fountain:W")
    one = game(filler=BLANK, contract=contract, N=face("NESW", 3, SW=F), S=face("NESW", 3))
    play(one, ("build", 0, 0, "NW"))
    assert one.legal() == {("build", 0, -1, "SW")}
    play(one, ("build", 0, -1, "SW"))
    assert one.scores() == [5 + 3 + 1, 0]  # DN's 3, the contract's fountain 1, not the contract's value


def test_contract_without_canals_parts_the_city() -> None:
    north, south = face("N", 4, NW=F), face("S", 4, NW=F)
    one = game(face("S", 9, NW=F), contract=face(""), N=north, S=south, E=face("E"), W=face("W"))
    play(one, ("expand", 0, -2, 0))
    assert cells(one.legal()) == {(0, -2), (0, -1)}


def test_f1_one_floor_each_ends_at_once_without_a_draw() -> None:
    lots = face("NESW", 2, NW=F, SE=F)
    one = game(lots, options={"floors": 1})
    play(one, ("expand", 0, -2, 0), ("build", 0, -2, "NW"))
    assert (one.player, one.stage, one.hands) == (1, "expand", ["C03", "C02"])  # one Floor left: one placed; D1
    play(one, ("expand", 0, -3, 0), ("build", 0, -2, "SE"))
    assert (one.over, one.stage, one.last, one.legal()) == (True, "over", None, set())
    assert (one.hands, one.pile) == (["C03", None], IDS[3:])


def test_f1_players_without_floors_take_no_more_turns() -> None:
    lots = face("NESW", 1, NW=F, NE=F, SE=F, SW=F)
    one = game(lots, face("NESW", 0, NW=F), options={"floors": 2}, N=lots)
    play(one, ("expand", 0, -2, 0), ("build", 0, -2, "NW"), ("build", 0, -1, "NW"))
    assert (one.player, one.floors_left, one.hands) == (1, [0, 2], ["C03", "C02"])
    play(one, ("expand", 0, 2, 0), ("build", 0, 2, "NW"))
    assert (one.player, one.stage, one.floors_left) == (1, "expand", [0, 1])
    assert one.hands == ["C03", "C04"]


def test_f1_over_at_once_on_a_barren_tile_set() -> None:
    one = game(filler=BLANK, players=3)
    assert (one.over, one.legal(), perft(one, 0), perft(one, 1)) == (True, set(), 1, 0)
    assert one.gone == ["C01", *IDS[3:], "C02", "C03"]
    assert one.outcome() == [1, 0, 0]
    with pytest.raises(ValueError, match="illegal move"):
        one.play(("expand", 0, -2, 0))


def test_f1_an_idle_player_does_not_end_the_game_for_others() -> None:
    # One foundation in all: seat 0 builds it up alone while seat 1's turns are idle.
    one = game(filler=BLANK, N=face("NESW", 2, NW=F), options={"floors": 3})
    for left in (3, 2, 1):
        assert (one.player, one.floors_left) == (0, [left, 3])
        play(one, ("build", 0, -1, "NW"))
    assert (one.over, one.buildings) == (True, {(0, -1, "NW"): (0, 3)})


def test_f1_laying_without_building_is_not_idle() -> None:
    one = game()
    for number in range(CITY):
        assert (one.over, one.player) == (False, number % 2)
        play(one, min(one.legal(), key=str))
    assert (one.over, len(one.tiles), one.floors_left) == (True, CITY + 5, [20, 20])


def stars(buildings: dict[tuple[int, int, str], tuple[int, int]], **changes: Any) -> list[int]:
    one = game(face("NESW", 4), players=3, **changes)
    play(one, ("expand", 0, -2, 0))
    one.buildings = buildings
    return one.scores()


def test_f2_tallest_then_most_floors_then_nobody() -> None:
    at = (0, -2)  # a City tile of value 4; players start with 5, 2, 0
    assert stars({(*at, "NW"): (1, 3), (*at, "NE"): (2, 2), (*at, "SE"): (2, 2)}) == [5, 6, 0]
    assert stars({(*at, "NW"): (1, 3), (*at, "NE"): (2, 3), (*at, "SE"): (2, 1)}) == [5, 2, 4]
    assert stars({(*at, "NW"): (1, 3), (*at, "NE"): (2, 3)}) == [5, 2, 0]
    # Most Floors counts only among those tied for tallest.
    assert stars({(*at, "NW"): (1, 2), (*at, "NE"): (2, 2), (*at, "SE"): (0, 1), (*at, "SW"): (0, 2)}) == [9, 2, 0]
    assert stars({(*at, "NW"): (1, 2), (*at, "NE"): (2, 2), (*at, "SE"): (0, 1), (*at, "SW"): (0, 1)}) == [5, 2, 0]
    assert stars({(*at, "NW"): (1, 2), (*at, "NE"): (1, 2)}) == [5, 6, 0]


def test_f3_downtown_scores_only_with_the_option_but_f4_always() -> None:
    down = face("NESW", 3, NE="fountain:W")
    built = {(0, -1, "NW"): (2, 2)}
    assert stars(built, N=down) == [5, 2, 5]
    assert stars(built, N=down, options={"downtown_scores": False}) == [5, 2, 2]
    assert stars({(0, -2, "NW"): (2, 2)}, options={"downtown_scores": False}) == [5, 2, 4]


def test_f4_each_floor_for_each_fountain_across_tiles() -> None:
    # Two fountains point at (0, -1) NW: DN's own NE:W and (0, -2) SW:S; the third points at no tile.
    one = game(face("NESW", 0, SW="fountain:S", NW="fountain:N"), N=face("NESW", 0, NE="fountain:W", NW=F))
    play(one, ("expand", 0, -2, 0))
    one.buildings = {(0, -1, "NW"): (1, 3)}
    assert one.scores() == [5, 6]


def test_f5_ties_share_the_win() -> None:
    one = game(filler=BLANK, players=3, N=face("S", 3, NW=F))
    one.buildings = {(0, -1, "NW"): (1, 1)}
    assert one.outcome() == [Fraction(1, 2), Fraction(1, 2), 0]


def test_known_to_hides_other_hands_and_the_order_of_the_pile() -> None:
    one, other = game(players=3), game(players=3)
    other.hands, other.pile = ["C01", "C09", "C02"], ["C03", *IDS[:8:-1], *IDS[3:8]]
    assert len({one.known_to(0), other.known_to(0)}) == 1
    assert one.known_to(1) != other.known_to(1)
    changes = {"gone": ["C02"], "buildings": {(0, -1, "NW"): (0, 1)}, "floors_left": [20, 20, 19], "last": (0, 0)}
    for name, value in {**changes, "pile": ["C01"] * 51, "player": 1, "stage": "first"}.items():
        changed = one.copy()
        setattr(changed, name, value)
        assert changed.known_to(0) != one.known_to(0), name
    one.hands, other.hands, other.pile = ["C01", None, "C03"], ["C01", "C03", None], one.pile
    assert one.known_to(0) != other.known_to(0)  # who holds a tile is seen


def test_illegal_moves_raise_and_copies_are_independent() -> None:
    one = game(face("NESW", 2, NW=F))
    before = one.table()
    illegal: list[Move] = [("expand", 0, -3, 0), ("expand", 0, -1, 0), ("expand", 0, -2, 4), ("build", 0, -2, "NW")]
    for move in illegal:
        with pytest.raises(ValueError, match="illegal move"):
            one.play(move)
    other = one.copy()
    play(other, ("expand", 0, -2, 0), ("build", 0, -2, "NW"))
    assert one.table() == before


def test_perft_by_hand() -> None:
    # 4 tips and 4 corners, 4 rotations each; then a tip leaves 10 empty cells beside the city, a corner 9.
    assert [perft(game(), depth) for depth in (0, 1, 2)] == [1, 32, 16 * 40 + 16 * 36]


def test_s2_downtown_arrangements() -> None:
    stub = face("N")
    tileset = make_set([], CROSS, {}, CROSS)
    tileset["downtown"] = [{"id": "D" + side, "a": stub, "b": stub} for side in SIDES]
    arrangements = downtown_arrangements(tileset)
    assert len(arrangements) == len({str(one) for one in arrangements}) == 24 * 16
    for one in arrangements:
        assert [(*part["at"], part["rot"]) for part in one] == [(0, -1, 2), (1, 0, 3), (0, 1, 0), (-1, 0, 1)]
        assert sorted(part["tile"] for part in one) == ["DE", "DN", "DS", "DW"]
    tileset["contract"] = face("NSW")  # the tile to the east must now show no canal: three rotations
    assert len(downtown_arrangements(tileset)) == 24 * 16 * 3


@pytest.mark.parametrize("players", [2, 3, 4])
def test_random_games_keep_their_books(players: int) -> None:
    rng = random.Random(players)
    shapes = [rng.choice(["NS", "NE", "NES", "NESW", "N"]) for _ in IDS]
    city = [face(shape, rng.randrange(5), NW=F, SE=F, NE="fountain:S") for shape in shapes]
    one = game(*city, players=players, options={"floors": 6})
    while not one.over:
        assert one.floors_left[one.player] > 0
        play(one, rng.choice(sorted(one.legal(), key=str)))  # fails if there is none
        held = [hand for hand in one.hands if hand is not None]
        laid = [tile for tile, _, _ in list(one.tiles.values())[5:]]
        assert sorted(held + laid + one.pile + one.gone) == IDS
        assert sum(height for _, height in one.buildings.values()) + sum(one.floors_left) == 6 * players
    assert sum(one.outcome()) == 1
    for (x, y), tile in one.faces.items():  # E3
        for side, other_side, other in [("E", "W", (x + 1, y)), ("S", "N", (x, y + 1))]:
            assert other not in one.faces or (side in tile.canals) == (other_side in one.faces[other].canals)
