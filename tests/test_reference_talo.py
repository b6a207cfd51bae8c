"""The reference implementation of Talō against small positions made by hand, rule by rule; B3 has its own file."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest

from tests.reference.talo import Move, Talo
from tests.reference.talo_space import ISLANDS
from tests.reference.talo_statics import Block, stands
from tests.talo_positions import ONE, Line, game, place, places, rows, taken

# ---- material, boards, setup


def test_m1_ten_of_length_1_down_to_one_of_length_10() -> None:
    pile = Talo().pile
    assert (sum(pile.values()), sum(length * left for length, left in pile.items())) == (55, 220)
    assert (pile[1], pile[2], pile[10]) == (10, 9, 1)
    with pytest.raises(ValueError, match="5 players"):
        Talo(5)


def test_m2_nothing_above_level_10() -> None:
    one = taken(9, blocks=(ONE,))
    assert (5, 5, 1) in places(one, 9, "z")  # z = 1 ... 9
    assert (5, 5, 1) not in places(taken(10, blocks=(ONE,)), 10, "z")


def test_m2_nothing_more_than_seven_cells_beyond_the_edge() -> None:
    one = taken(9, blocks=((1, 0, 0, 0, "z"), (1, 9, 9, 0, "z")), variant="fantasy")
    along = {(x, y) for _, _, x, y, z, axis in one.candidates() if (z, axis) == (1, "x")}
    assert {x for x, y in along if y == 0} == set(range(-7, 1))  # from -8 on it would still touch (0, 0)
    assert {x for x, y in along if y == 9} == set(range(1, 9))  # the last cell at 9 ... 16, not 17


def test_m3_the_islands_have_forty_fields() -> None:
    one = Talo(board="islands")
    assert len(one.green) == 40
    assert len(one.start_fields) == 36  # S1: not the middle island
    assert ISLANDS[0] == "~" * 10
    assert ISLANDS[1] == "~###~~###~"
    assert ISLANDS[4] == "~~~~oo~~~~"


def test_m3_a_custom_board_reads_rows_from_y() -> None:
    one = Talo(board=rows(x3y5="#", x4y0="#", x9y9="o"))
    assert one.green == {(3, 5), (4, 0), (9, 9)}
    assert one.legal() == {("start", 3, 5), ("start", 4, 0)}
    with pytest.raises(ValueError, match="ten rows"):
        Talo(board=["#" * 10] * 9)
    with pytest.raises(ValueError, match="start fields"):
        Talo(3, board=rows(x3y5="#", x4y0="#"))


def test_s1_each_puts_the_pawn_on_a_free_field_then_seat_0_begins() -> None:
    one = Talo(3)
    assert len(one.legal()) == 100
    one.play(("start", 4, 7))
    assert (one.player, len(one.legal()), one.is_legal(("start", 4, 7))) == (1, 99, False)
    one.play(("start", 0, 0))
    one.play(("start", 9, 9))
    assert (one.player, one.stage, one.legal()) == (0, "roll", set())
    assert one.pawns == [(4, 7, 0), (0, 0, 0), (9, 9, 0)]


def test_s1_symmetric_starts() -> None:
    one = Talo(4, starts="symmetric")
    for x, y in ((2, 2), (7, 7), (7, 2), (2, 7)):
        assert one.legal() == {("start", x, y)}
        one.play(("start", x, y))
    assert one.stage == "roll"
    with pytest.raises(ValueError, match="no start fields"):
        Talo(2, starts="symmetric", board=rows(x2y2="#", x7y7="o", x1y1="#"))


# ---- the roll


def test_d1_one_block_or_two_that_add_up_larger_first() -> None:
    one = game()
    one.roll(5)
    assert one.legal() == {("take", (5,)), ("take", (4, 1)), ("take", (3, 2))}
    one = game()
    one.roll(2)
    assert one.legal() == {("take", (2,)), ("take", (1, 1))}
    one.play(("take", (1, 1)))
    assert (one.pile[1], one.hand) == (8, [1, 1])


def test_d1_only_what_is_left() -> None:
    one = game((10, 5, 5, 0, "z"), *((6, 0, y, 0, "x") for y in range(1, 5)), (6, 0, 6, 0, "x"))
    assert one.choices(10) == {(9, 1), (8, 2), (7, 3), (5, 5)}
    one.pile[5] = 1  # a pair of equals needs two
    assert one.choices(10) == {(9, 1), (8, 2), (7, 3)}


def test_d1_the_third_failed_roll_ends_the_turn() -> None:
    one = game()
    one.pile = dict.fromkeys(one.pile, 0) | {10: 1}
    one.roll(3)
    one.roll(9)
    assert (one.player, one.stage, one.rolls) == (0, "roll", 2)
    one.roll(1)
    assert (one.player, one.stage, one.rolls) == (1, "roll", 0)
    one.roll(2)
    one.roll(10)
    assert one.legal() == {("take", (10,))}
    with pytest.raises(ValueError, match="roll 4 at stage 'take'"):
        one.roll(4)
    with pytest.raises(ValueError, match="roll 11"):
        game().roll(11)


# ---- placing


def test_b1_every_place_of_a_ten_on_the_empty_board() -> None:
    one = taken(10)
    # Pawns in two corners: each closes one row and one column, and its own field.
    assert len(places(one, 10, "x")) == len(places(one, 10, "y")) == 8
    assert len(places(one, 10, "z")) == 98


def test_b1_a_one_always_stands_and_must_rest() -> None:
    one = taken(1, blocks=(ONE,))
    assert places(one, 1, "xy") == set()
    assert places(one, 1, level=1) == {(5, 5, 1)}
    assert places(one, 1, level=2) == set()
    assert len(places(one, 1, level=0)) == 97


def test_b1_the_two_cells_of_a_pawn_are_not_free() -> None:
    for height, fits in [(1, False), (2, True)]:  # a bar at z = 1 is where the pawn's head is
        one = taken(3, blocks=((height, 4, 5, 0, "z"),), pawns=((5, 5, 0), (9, 9, 0)))
        assert one.is_legal(place(3, 3, 5, height, "x")) is fits
        assert one.is_legal(place(3, 4, 4, height, "y"))
        assert not one.is_legal(place(3, 5, 5, 0, "z"))


def test_b1_a_block_may_be_slid_in_under_others() -> None:
    bridge: tuple[Line, ...] = ((1, 3, 5, 0, "z"), (1, 5, 5, 0, "z"), (3, 3, 5, 1, "x"))
    assert taken(1, blocks=bridge).is_legal(place(1, 4, 5, 0, "z"))


def test_b2_over_the_edge_from_z_1_on() -> None:
    one = taken(3, blocks=((1, 0, 5, 0, "z"),))
    assert places(one, 3, "x", level=1) == {(-1, 5, 1)}
    assert all(0 <= x <= 7 and 0 <= y <= 9 for x, y, _ in places(one, 3, "x", level=0))


def test_b2_water_takes_nothing_at_z_0_but_may_be_built_over() -> None:
    one = taken(3, board="islands", pawns=((1, 1, 0), (8, 8, 0)))
    # Three rows and three columns on each island; two islands lose one of each to a pawn.
    assert len(places(one, 3, "x")) == len(places(one, 3, "y")) == 4 * 3 - 2
    assert len(places(one, 3, "z")) == 38
    edge = taken(3, blocks=((1, 3, 2, 0, "z"),), board="islands", pawns=((1, 1, 0), (8, 8, 0)))
    assert edge.is_legal(place(3, 2, 2, 1, "x"))  # over (4, 2), which is water


# ---- collapse


def test_b4_without_collapse_only_what_stands() -> None:
    one = taken(4, blocks=(ONE,))
    assert place(4, 4, 5, 1, "x") in one.candidates() - one.legal_places()


def test_b4_collapse_loses_and_the_highest_other_pawn_wins() -> None:
    blocks: tuple[Line, ...] = (ONE, (3, 0, 1, 0, "z"), (1, 1, 1, 0, "z"), (1, 8, 8, 0, "z"))
    pawns = ((0, 1, 3), (1, 1, 1), (8, 8, 1), (9, 9, 0))
    one = taken(4, blocks=blocks, pawns=pawns, collapse="lose")
    assert one.legal_places() == one.candidates()
    one.play(place(4, 4, 5, 1, "x"))
    assert (one.over, one.collapsed, one.scores()) == (True, 0, [3, 1, 1, 0])
    assert one.outcome() == [0, Fraction(1, 2), Fraction(1, 2), 0]
    assert (one.winner(), one.legal()) == ([1, 2], set())
    assert (len(one.blocks), one.fallen) == (4, [Block(4, 4, 5, 1, "x")])


def test_b4_a_falling_first_waits_if_a_second_could_save_it() -> None:
    one = taken(4, 1, blocks=(ONE, (1, 1, 0, 0, "z")), collapse="lose")
    one.play(place(4, 4, 5, 1, "x"))
    assert (one.stage, one.falling) == ("build", True)
    assert one.legal() == one.candidates()  # wherever it fits, and no move (21)
    saved = one.copy()
    saved.play(place(1, 4, 5, 2, "z"))
    assert (saved.over, saved.falling, ("end",) in saved.legal()) == (False, False, True)
    one.play(place(1, 7, 5, 2, "z"))
    assert (one.over, one.collapsed, len(one.fallen), len(one.blocks)) == (True, 0, 2, 2)


def test_b4_a_falling_first_that_no_second_could_save() -> None:
    # At z = 2 no 1 reaches the far end as a prop, and none outweighs it.
    post: tuple[Line, ...] = ((2, 5, 5, 0, "z"),)
    assert not taken(8, 1, blocks=post).is_legal(place(8, 5, 5, 2, "x"))
    one = taken(8, 1, blocks=post, collapse="lose")
    one.play(place(8, 5, 5, 2, "x"))
    assert (one.over, one.collapsed, one.outcome()) == (True, 0, [0, 1])


def test_b4_then_a_first_that_stands_needs_only_a_second_that_fits() -> None:
    board = rows(x0y0="#", x6y6="#", x9y9="#")
    spare: dict[str, Any] = {"pawns": ((6, 6, 0), (9, 9, 0)), "board": board, "collapse": "lose"}
    one = taken(2, 1, blocks=((8, 0, 0, 0, "z"),), **spare)
    assert place(2, 0, 0, 8, "z") not in one.legal_places()  # stands, and leaves no place
    assert place(2, 0, 0, 8, "x") in one.legal_places()
    assert place(1, 0, 0, 8, "z") in one.legal_places()  # then the 2 fits at z = 9, lying, though it will fall
    assert not taken(2, 1, blocks=((8, 0, 0, 0, "z"),), **{**spare, "collapse": "illegal"}).is_legal(
        place(1, 0, 0, 8, "z")
    )
    top = game((9, 0, 0, 0, "z"), **spare)
    assert top.choices(3) == {(3,)}  # B5: after a 2 at z = 9, which falls, no 1 fits; nor a 2 after a 1
    assert top.choices(2) == {(2,)}  # it fits, though it will fall


def test_b5_a_choice_that_cannot_be_placed_is_not_offered() -> None:
    board = rows(x0y0="#", x6y6="#", x9y9="#")
    one = game((9, 0, 0, 0, "z"), pawns=((6, 6, 0), (9, 9, 0)), board=board)
    assert one.choices(1) == {(1,)}  # on top
    assert one.choices(2) == set()  # neither the 2, which tips, nor a 1 upon a 1
    assert one.choices(3) == {(3,)}  # across
    assert game((8, 0, 0, 0, "z"), pawns=((6, 6, 0), (9, 9, 0)), board=board).choices(2) == {(2,), (1, 1)}


def test_b5_a_pair_that_balances_itself_is_offered() -> None:
    board = rows(x0y0="#", x6y6="#", x9y9="#")
    one = game((8, 0, 0, 0, "z"), pawns=((6, 6, 0), (9, 9, 0)), board=board)
    assert one.choices(3) == {(3,), (2, 1)}  # the 2 lying at z = 8, the 1 upon its supported half


# ---- the pawn


def test_p1_before_between_and_after_each_at_most_once() -> None:
    one = taken(4, 1, blocks=((1, 1, 0, 0, "z"),))
    assert one.legal_moves() == {("move", 1, 0, 1)}
    assert ("end",) not in one.legal()
    one.play(("move", 1, 0, 1))
    assert one.legal_moves() == set()
    assert place(4, 0, 0, 0, "z") in one.legal()  # its field is free now
    one.play(place(4, 2, 0, 0, "x"))
    assert one.legal_moves() == {("move", x, 0, 1) for x in range(2, 6)}
    one.play(("move", 5, 0, 1))
    assert {move[0] for move in one.legal()} == {"place"}
    one.play(place(1, 4, 0, 1, "z"))
    # The 1 stands on the 4, and beyond it the way goes on.
    assert one.legal() == {("end",)} | {("move", x, 0, 1 + (x == 4)) for x in range(1, 5)}
    one.play(("move", 4, 0, 2))
    assert one.legal() == {("end",)}
    one.play(("end",))
    assert (one.player, one.stage, one.pawns[0]) == (1, "roll", (4, 0, 2))


def test_p1_no_move_that_leaves_the_hand_without_a_place() -> None:
    # The 10 can only lie over (0, 5) and (9, 5); no free field is left to stand it on.
    board = rows(x0y5="#", x0y6="#", x9y5="#", x9y9="#")
    ones: tuple[Line, ...] = ((1, 0, 5, 0, "z"), (1, 0, 6, 0, "z"), (1, 9, 5, 0, "z"))
    spare: dict[str, Any] = {"blocks": ones, "pawns": ((0, 6, 1), (9, 9, 0)), "board": board}
    one = taken(10, **spare)
    assert one.legal() == {place(10, 0, 5, 1, "x")}
    assert one.reachable(0) == {(0, 5, 1)}
    assert taken(1, **spare).legal_moves() == {("move", 0, 5, 1)}
    assert taken(10, **spare, collapse="lose").legal_moves() == {("move", 0, 5, 1)}  # B4: fit is enough


def test_p2_steps_of_one_level_never_diagonal() -> None:
    stairs: tuple[Line, ...] = ((1, 4, 5, 0, "z"), (2, 5, 5, 0, "z"), (3, 6, 5, 0, "z"), (2, 7, 5, 0, "z"))
    beyond: tuple[Line, ...] = ((4, 8, 5, 0, "z"), (4, 6, 6, 0, "z"), (1, 3, 4, 0, "z"), (1, 6, 4, 0, "z"))
    one = game(*stairs, *beyond, pawns=((4, 5, 1), (9, 9, 0)))
    # (8, 5) is two levels up, (6, 4) two down; (3, 4) shares a corner only.
    assert one.reachable(0) == {(5, 5, 2), (6, 5, 3), (7, 5, 2), (6, 6, 4)}


def test_p2_over_the_edge() -> None:
    one = game((1, 0, 5, 0, "z"), (3, -1, 5, 1, "x"), pawns=((1, 5, 2), (9, 9, 0)))
    assert one.reachable(0) == {(0, 5, 2), (-1, 5, 2)}


def test_p3_the_board_is_left_by_a_top_at_level_1_and_never_entered() -> None:
    one = game((1, 5, 6, 0, "z"), (2, 6, 5, 0, "z"), (1, 4, 4, 0, "z"), pawns=((5, 5, 0), (9, 9, 0)))
    assert one.reachable(0) == {(5, 6, 1)}
    assert game(pawns=((5, 5, 0), (9, 9, 0))).reachable(0) == set()
    assert game((1, 5, 6, 0, "z"), pawns=((5, 6, 1), (9, 9, 0))).reachable(0) == set()


def test_p4_another_pawn_is_in_the_way() -> None:
    row: Line = (5, 3, 5, 0, "x")
    assert game(row, pawns=((3, 5, 1), (9, 9, 0))).reachable(0) == {(x, 5, 1) for x in range(4, 8)}
    assert game(row, pawns=((3, 5, 1), (5, 5, 1))).reachable(0) == {(4, 5, 1)}


def test_p4_two_free_cells_above_every_top() -> None:
    row: Line = (5, 3, 5, 0, "x")
    for height, ways in [(2, {4}), (3, {4, 5, 6, 7})]:  # the beam leaves a gap of one cell, or of two
        gate: tuple[Line, ...] = ((height, 5, 4, 0, "z"), (height, 5, 6, 0, "z"), (3, 5, 4, height, "y"))
        one = game(row, *gate, pawns=((3, 5, 1), (9, 9, 0)))
        assert {x for x, y, level in one.reachable(0) if level == 1} == ways


WALL: tuple[Line, ...] = tuple((2, x, y, 0, "z") for x, y in ((4, 5), (6, 5), (5, 4), (5, 6)))


def test_p5_walled_in_a_pawn_may_restart_or_stay() -> None:
    one = game(*WALL, pawns=((5, 5, 0), (9, 9, 0)))
    assert one.stage == "restart"
    free = {(x, y) for x in range(10) for y in range(10)} - {(5, 5), (4, 5), (6, 5), (5, 4), (5, 6), (9, 9)}
    assert one.legal() == {("stay",)} | {("restart", x, y) for x, y in free}
    stays = one.copy()
    stays.play(("stay",))
    assert (stays.stage, stays.player, stays.pawns[0]) == ("roll", 0, (5, 5, 0))
    one.play(("restart", 1, 1))
    assert (one.stage, one.player, one.pawns) == ("roll", 0, [(1, 1, 0), (9, 9, 0)])
    assert game(*WALL[1:], (1, 4, 5, 0, "z"), pawns=((5, 5, 0), (9, 9, 0))).stage == "roll"


def test_p5_hope_is_for_everything_that_could_still_be_built() -> None:
    assert game(*WALL[:3], pawns=((5, 5, 0), (9, 9, 0))).stage == "roll"  # (5, 6) could get a 1
    assert game(*WALL[:3], pawns=((5, 5, 0), (5, 6, 0))).stage == "roll"  # pawns are ignored
    tall: list[Line] = [(3, block[1], block[2], 0, "z") for block in WALL]
    assert game(ONE, *tall, pawns=((5, 5, 1), (9, 9, 0))).stage == "restart"  # the posts are two levels higher
    assert game(ONE, *tall[:3], WALL[3], pawns=((5, 5, 1), (9, 9, 0))).stage == "roll"
    # One post ends at level 2, but a beam lies two cells over it: only one cell is free.
    beam: tuple[Line, ...] = ((3, 4, 6, 3, "x"), (3, 4, 6, 0, "z"))
    assert game(ONE, *tall[:3], WALL[3], *beam, pawns=((5, 5, 1), (9, 9, 0))).stage == "restart"


def test_p5_level_1_is_for_green_fields_only() -> None:
    alone = rows(x2y2="#", x6y6="#", x7y6="#", x4y4="o")
    one = game(pawns=((2, 2, 0), (6, 6, 0)), board=alone)
    assert one.legal() == {("stay",), ("restart", 7, 6)}  # neither water nor `o`
    assert game(pawns=((7, 6, 0), (2, 2, 0)), board=alone).stage == "roll"
    # From level 1 on, water is no hindrance: level 2 over (1, 2) could be built.
    assert game((1, 2, 2, 0, "z"), pawns=((2, 2, 1), (6, 6, 0)), board=alone).stage == "roll"


def test_p5_a_field_below_a_beam_is_free_if_two_cells_are() -> None:
    low: tuple[Line, ...] = ((1, 0, 3, 0, "z"), (3, 0, 2, 1, "y"))  # over (0, 2) and (0, 4) at z = 1
    high: tuple[Line, ...] = ((2, 9, 3, 0, "z"), (3, 9, 2, 2, "y"))
    one = game(*WALL, *low, *high, pawns=((5, 5, 0), (9, 9, 0)))
    assert not {("restart", 0, 2), ("restart", 0, 4)} & one.legal()
    assert {("restart", 9, 2), ("restart", 9, 4)} <= one.legal()


# ---- the end


def test_f1_the_first_pawn_on_level_10_wins_at_once() -> None:
    blocks: tuple[Line, ...] = ((9, 5, 5, 0, "z"), (10, 6, 5, 0, "z"), (9, 7, 5, 0, "z"))
    one = taken(1, blocks=blocks, pawns=((5, 5, 9), (9, 9, 0)))
    assert one.reachable(0) == {(6, 5, 10), (7, 5, 9)}  # P2 says where it can go; the game ends where it stops
    one.play(("move", 6, 5, 10))
    assert (one.over, one.legal(), one.hand) == (True, set(), [1])
    assert (one.scores(), one.outcome(), one.winner()) == ([10, 0], [1, 0], [0])


def test_f2_an_empty_pile_ends_the_game_and_the_highest_wins() -> None:
    one = taken(1, blocks=((3, 1, 1, 0, "z"), (3, 3, 3, 0, "z")), pawns=((1, 1, 3), (3, 3, 3), (9, 9, 0)))
    one.pile = dict.fromkeys(one.pile, 0)
    one.play(place(1, 5, 5, 0, "z"))
    assert not one.over  # the turn is finished first
    one.play(("end",))
    assert (one.over, one.scores(), one.winner()) == (True, [3, 3, 0], [0, 1])
    assert one.outcome() == [Fraction(1, 2), Fraction(1, 2), 0]


def test_f2_no_roll_offers_anything() -> None:
    board = rows(x0y0="#", x6y6="#", x9y9="#")
    pawns = ((6, 6, 0), (9, 9, 0))
    one = game((10, 0, 0, 0, "z"), pawns=pawns, board=board)
    assert (one.over, one.winner()) == (True, [0, 1])  # the pawns are walled in by water: F2 comes before P5
    # There is a place at the top, but what is left would tip there.
    even = game((9, 0, 0, 0, "z"), pawns=pawns, board=board)
    assert even.legal() == {("stay",)}
    even.pile = dict.fromkeys(even.pile, 0) | {2: 1, 10: 1}
    even.play(("stay",))
    for _ in range(3):
        assert not even.over
        even.roll(2)
    assert even.over


# ---- fantasy


def test_fantasy_has_no_pawns_and_no_end() -> None:
    one = Talo(2, variant="fantasy", starts="symmetric")
    assert (one.stage, one.pawns) == ("roll", [])
    one.roll(5)
    one.play(("take", (4, 1)))
    one.play(place(4, 0, 0, 0, "z"))
    assert {move[0] for move in one.legal()} == {"place"}
    one.play(place(1, 9, 9, 0, "z"))
    assert (one.player, one.stage, one.scores()) == (1, "roll", [2 + 4] * 2)
    assert (one.outcome(), one.winner()) == ([Fraction(6, 65)] * 2, [0, 1])


def test_fantasy_counts_what_stood_before_the_fall() -> None:
    one = taken(4, blocks=(ONE,), variant="fantasy")
    one.play(place(4, 4, 5, 1, "x"))
    assert (one.over, one.scores(), one.winner()) == (True, [2, 2], [])
    pair = taken(4, 1, blocks=(ONE,), variant="fantasy")
    pair.play(place(4, 4, 5, 1, "x"))
    assert (pair.falling, pair.scores()) == (True, [2, 2])
    saved = pair.copy()
    saved.play(place(1, 4, 5, 2, "z"))
    assert (saved.stage, saved.scores()) == ("roll", [3 + 3] * 2)
    pair.play(place(1, 0, 0, 0, "z"))  # saves nothing: neither counts
    assert (pair.over, pair.scores()) == (True, [2, 2])
    second = taken(4, 1, blocks=(ONE,), variant="fantasy")
    second.play(place(1, 0, 0, 0, "z"))
    second.play(place(4, 4, 5, 1, "x"))  # the first stood, and counts
    assert (second.over, second.scores()) == (True, [3, 3])


def test_fantasy_ends_well_when_nothing_more_fits() -> None:
    one = Talo(3, variant="fantasy", board=rows(x0y0="#"))
    one.set_up([Block(10, 0, 0, 0, "z")])
    assert (one.over, one.winner(), one.outcome()) == (True, [0, 1, 2], [Fraction(11, 65)] * 3)


def test_fantasy_on_the_table_builds_beyond_the_board() -> None:
    one = taken(3, variant="fantasy", board="table")
    assert one.is_legal(place(3, -7, 16, 0, "x"))
    assert not one.is_legal(place(3, -8, 16, 0, "x"))
    assert len(one.candidates()) == 24 * 24 + 2 * 24 * 22
    with pytest.raises(ValueError, match="fantasy"):
        Talo(board="table")


def test_fantasy_on_three_feet() -> None:
    feet: tuple[Line, ...] = ((1, 0, 0, 0, "z"), (2, 5, 5, 0, "z"), (4, 9, 4, 0, "y"))
    one = taken(1, blocks=feet, variant="fantasy", goal="three-feet")
    tops = {(0, 0, 1), (5, 5, 2), (9, 4, 1), (9, 5, 1), (9, 6, 1), (9, 7, 1)}
    assert one.legal() == {place(1, *top, "z") for top in tops}
    one.play(place(1, 5, 5, 2, "z"))
    assert (one.scores(), one.outcome()) == ([3, 3], [Fraction(3, 10)] * 2)
    with pytest.raises(ValueError, match="fantasy"):
        Talo(goal="three-feet")


# ---- the twin itself


def test_an_illegal_move_says_so_and_changes_nothing() -> None:
    one = taken(4, 1, blocks=(ONE,))
    before = one.table()
    for move in [("end",), ("stay",), place(5, 0, 0, 0, "z"), place(4, 7, 0, 0, "x"), place(1, 2, 2, 0, "x"), ("nod",)]:
        with pytest.raises(ValueError, match="illegal move"):
            one.play(move)
    assert one.table() == before


@pytest.mark.parametrize("collapse", ["illegal", "lose"])
def test_legal_sets_the_long_way(collapse: str) -> None:
    board = rows(x4y4="#", x4y5="#", x5y5="#", x6y5="#", x8y5="#")  # few fields keep the sets small
    blocks = (ONE, (2, 8, 5, 0, "z"))
    sets = []
    for shortcuts in (True, False):
        one = taken(2, 1, blocks=blocks, pawns=((4, 4, 0), (4, 5, 0)), board=board, collapse=collapse)
        one.shortcuts = shortcuts
        first = one.legal()
        assert first == {move for move in one.candidates() | one.legal_moves() if one.is_legal(move)}
        one.play(place(2, 5, 5, 1, "x"))
        sets.append((first, one.legal(), one.falling))
    assert sets[0] == sets[1]
    assert sets[0][2]


def brings_down(one: Talo, move: Move) -> bool:
    after = one.copy()
    after.play(move)
    return after.collapsed is not None


@pytest.mark.parametrize(
    "options",
    [
        {"players": 2},
        {"players": 4, "board": "islands", "collapse": "lose"},
        {"players": 3, "variant": "fantasy", "goal": "three-feet", "board": "table"},
    ],
)
def test_a_random_game_keeps_its_promises(options: dict[str, Any]) -> None:
    rng = random.Random(1)
    one = Talo(**options)
    for _ in range(80):
        if one.stage == "roll":
            one.roll(rng.randint(1, 10))
        elif not one.over:
            choices = sorted(one.candidates()) or sorted(one.legal())
            rng.shuffle(choices)
            moves = sorted(one.legal_moves()) if rng.random() < 0.3 else []
            # P1, B5: a turn that was begun can be finished; where it may fall, mostly what does not is chosen.
            able = [next(move for move in [*moves, *choices] if one.is_legal(move))]
            able += [move for move in choices[:20] if one.can_fall and one.is_legal(move)]
            one.play(next((move for move in able if not brings_down(one, move)), able[0]))
        lengths = [block.length for block in one.blocks + one.fallen] + one.hand
        assert sum(lengths) + sum(length * left for length, left in one.pile.items()) == 220
        assert one.falling or stands(frozenset(one.blocks))
    assert len(one.blocks) > 8
    assert one.fantasy or sum(one.outcome()) == 1
