"""The reference implementation of Toscana against small boards laid out by hand, rule by rule."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest

from tests.reference.toscana import Form, Laid, Move, Square, Toscana, perft, printed_tiles, turn_form

FORMS: dict[str, Form] = {
    "left": ["xxoo", "oooo"],
    "right": ["ooox", "ooox"],
    "bars": ["oxoo", "oxoo"],
    "ends": ["xooo", "ooox"],  # the half turn leaves it unchanged
    "hook": ["ooox", "xooo"],  # the other two ends
}
VETO: Move = ("veto",)
ALLOW: Move = ("allow",)
PASS: Move = ("pass",)


def game(*stacks: tuple[str, str], starts: int = 0, **options: Any) -> Toscana:
    """Two stacks a round, top first, as words; a single round unless two are given."""
    deals = [[one.split(), two.split()] for one, two in stacks]
    return Toscana(FORMS, {"starts": starts, "stacks": deals}, {"rounds": len(deals), **options})


def place(row: int, col: int, rot: int) -> Move:
    return ("place", row, col, rot)


def places(rots: tuple[int, ...], cells: list[tuple[int, int]]) -> set[Move]:
    return {place(row, col, rot) for row, col in cells for rot in rots}


def play(one: Toscana, *moves: Move) -> None:
    for move in moves:
        one.play(move)


def paint(one: Toscana, picture: str) -> Toscana:
    """Lay out the board: a letter is a tile, small where it shows player 0's colour, capital where player 1's."""
    for row, line in enumerate(picture.split()):
        for col, letter in enumerate(line):
            if letter != ".":
                one.board[row, col] = Square(int(letter.isupper()), ord(letter.lower()))
    return one


def test_m1_sixteen_forms_each_once_up_to_a_half_turn() -> None:
    forms = list(printed_tiles().values())
    assert list(printed_tiles()) == [f"P{number:02}" for number in range(1, 17)]
    assert forms[:7] == [[f"x{rest}", "oooo"] for rest in ("xoo", "oxo", "oox")] + [
        ["xooo", row] for row in ("xooo", "oxoo", "ooxo", "ooox")
    ]
    assert all("".join(form).count("x") == 2 and [len(row) for row in form] == [4, 4] for form in forms)
    assert sum(turn_form(form, 2) == form for form in forms) == 4
    # Both ways round, the 16 are the 28 choices; a flip or a quarter turn makes no two the same.
    assert len({tuple(turn_form(form, rot)) for form in forms for rot in (0, 2)}) == 28


def test_m1_the_other_player_has_the_colours_swapped() -> None:
    one = game(("left", "left"), starts=1)
    play(one, place(8, 8, 0))
    assert {cell: square.colour for cell, square in one.board.items()} == {
        **{(8, col): 0 for col in (8, 9)},
        **{(8, col): 1 for col in (10, 11)},
        **{(9, col): 1 for col in range(8, 12)},
    }
    assert one.round_score() == [1, 1]


def test_m2_r3_the_first_tile_covers_the_centre() -> None:
    one = game(("left", "left"))
    lying = [(row, col) for row in (7, 8) for col in (5, 6, 7, 8)]
    standing = [(row, col) for row in (5, 6, 7, 8) for col in (7, 8)]
    assert one.legal() == places((0, 2), lying) | places((1, 3), standing)
    # On a board of 5 the edge leaves two places across instead of four; on 31 all four.
    small = game(("left", "left"), size=5).legal()
    assert small == places((0, 2), [(1, 0), (1, 1), (2, 0), (2, 1)]) | places((1, 3), [(0, 1), (0, 2), (1, 1), (1, 2)])
    large = game(("left", "left"), size=31).legal()
    assert len(large) == 32
    assert {place(15, 15, 0), place(12, 14, 3)} <= large


def test_m3_r1_the_round_at_the_start() -> None:
    table = game(("left right", "right left"), ("left right", "right left")).table()
    assert (table["stacks"], table["stones"]) == ([["left", "right"], ["right", "left"]], [True, True])
    assert (table["board"], table["laid"], table["passes"], table["bottom"]) == ({}, [], 0, [None, None])
    assert (table["round"], table["turn"], table["player"], table["stage"]) == (0, 0, 1, "veto")
    assert (table["over"], table["round_scores"]) == (False, [])


def test_r2_a_quarter_turn_is_clockwise_and_the_cell_is_the_upper_left_after_turning() -> None:
    turned = [["xxoo", "oooo"], ["ox", "ox", "oo", "oo"], ["oooo", "ooxx"], ["oo", "oo", "xo", "xo"]]
    for rot, rows in enumerate(turned):
        one = game(("left", "left"))
        play(one, place(7, 8, rot))
        assert one.laid == [Laid(0, "left", 7, 8, rot)]
        assert {cell: square.colour for cell, square in one.board.items()} == {
            (7 + down, 8 + right): "ox".index(mark) for down, row in enumerate(rows) for right, mark in enumerate(row)
        }


def test_r2_rotations_that_look_the_same_are_moves_of_their_own() -> None:
    assert turn_form(FORMS["ends"], 2) == FORMS["ends"]
    assert {place(8, 8, rot) for rot in range(4)} <= game(("ends", "ends")).legal()


def test_r2_the_players_alternate_with_their_top_tiles() -> None:
    one = game(("left", "right bars"), starts=1)
    assert one.player == 0  # asked first
    play(one, ALLOW, place(8, 8, 0))
    assert (one.turn, one.player, one.stage, one.stacks) == (0, 0, "place", [["left"], ["bars"]])


def test_r4_the_tile_touches_the_own_colour_by_a_side() -> None:
    # Player 0's "right" lies at rows 4-5, columns 2-5; player 1's colour is in column 5 alone.
    # Free squares beside it: (3, 5), (6, 5), (4, 6), (5, 6). Whatever covers one of them is legal.
    one = game(("right", "bars"), size=11)
    play(one, place(4, 2, 0))
    above, below, right = [(2, col) for col in range(2, 6)], [(6, col) for col in range(2, 6)], [3, 4, 5]
    lying = above + below + [(row, 6) for row in right]
    standing = [(0, 4), (0, 5), (6, 4), (6, 5)] + [(row, 6) for row in range(1, 6)]
    assert one.legal() == places((0, 2), lying) | places((1, 3), standing)
    assert place(2, 6, 0) not in one.legal()  # (3, 6) meets (4, 5) at a corner


def test_r4_option_colour_wants_the_own_colour_on_both_sides_of_the_touch() -> None:
    # The same place; now "right" is player 1's tile too, and the column of x must not be the one that touches.
    one = game(("right", "right"), size=11, contact="colour")
    play(one, place(4, 2, 0))
    x_right = [(2, 3), (2, 4), (2, 5), (6, 3), (6, 4), (6, 5), (3, 6), (4, 6), (5, 6)]
    x_left = [(2, 2), (2, 3), (2, 4), (6, 2), (6, 3), (6, 4)]
    x_below = [(6, 4), (6, 5), (2, 6), (3, 6), (4, 6), (5, 6)]
    x_above = [(0, 4), (0, 5), (1, 6), (2, 6), (3, 6), (4, 6)]
    assert one.legal() == (places((0,), x_right) | places((2,), x_left) | places((1,), x_below) | places((3,), x_above))


@pytest.mark.parametrize(
    ("picture", "fits"),
    [
        ("....A ....A BBBBa AAAAA AAAAA", False),  # a corner only
        ("....A ....a BBBBA AAAAA AAAAA", True),
        ("....A ....A BBBbA AAAAA AAAAA", True),
        ("....A ....A BBBBA aaaaa aaaaa", False),  # not beside it
    ],
)
@pytest.mark.parametrize("contact", ["tile", "colour"])
def test_r2_r4_a_hole_of_one_tile(picture: str, fits: bool, contact: str) -> None:
    # Lying either way, "bars" shows player 0's own colour in columns 0 and 3.
    one = paint(game(("bars", "bars"), size=5, contact=contact), picture)
    assert one.legal() == (places((0, 2), [(0, 0)]) if fits else set())


def test_r4_the_own_colour_on_any_tile_counts_and_the_other_colour_never() -> None:
    hole, mine, theirs = "....B ....B", "aAAAA BBBBB BBBBB", "AAAAA BBBBB BBBBB"
    one = paint(game(("bars", "bars"), size=5), f"{hole} {mine}")
    assert one.legal() == places((0, 2), [(0, 0)])
    other = paint(game(("bars", "bars"), size=5), f"{hole} {theirs}")
    assert other.legal() == set()
    paving = paint(game(("bars", "bars"), size=5, starts=1), f"{hole} {theirs}")
    assert paving.legal() == places((0, 2), [(0, 0)])


def test_r5_the_opponent_is_asked_before_the_tile_is_played() -> None:
    one = game(("left right bars", "ends hook left"))
    assert (one.turn, one.player, one.stage, one.legal()) == (0, 1, "veto", {VETO, ALLOW})
    play(one, ALLOW)
    assert (one.turn, one.player, one.stage, one.stones) == (0, 0, "place", [True, True])
    play(one, place(8, 8, 0))
    assert one.laid[0].tile == "left"
    assert (one.turn, one.player, one.stage, one.legal()) == (1, 0, "veto", {VETO, ALLOW})


def test_r5_a_vetoed_tile_goes_to_the_bottom_and_the_next_is_played() -> None:
    one = game(("left right bars", "ends hook left"))
    play(one, VETO)
    assert (one.player, one.stage) == (0, "place")
    assert (one.stacks[0], one.bottom, one.stones) == (["right", "bars", "left"], ["left", None], [True, False])
    assert len(one.legal()) == 32  # R3 holds for it
    play(one, place(8, 8, 0))
    assert one.laid[0].tile == "right"
    play(one, ALLOW, place(10, 8, 0))
    # The stone is spent: no question about player 0's next tile; player 0 still has a stone.
    assert (one.player, one.stage, one.stacks[0][0]) == (0, "place", "bars")
    play(one, place(6, 8, 0))
    assert (one.player, one.turn, one.stage) == (0, 1, "veto")
    assert one.log == [[(1, VETO), (0, place(8, 8, 0)), (0, ALLOW), (1, place(10, 8, 0)), (0, place(6, 8, 0))]]


def test_r5_no_question_about_a_last_tile() -> None:
    one = game(("left", "right ends"))
    assert (one.player, one.stage) == (0, "place")
    play(one, place(8, 8, 0))
    assert (one.player, one.stage, one.turn) == (0, "veto", 1)


# Player 0 meets the own colour at (2, 0) alone, so that the touching square is the tile's (1, 0): with option "colour"
# the form "hook" shows x there both as printed and turned by a half.
NARROW = "....B ....B aAAAA BBBBB BBBBB"


def test_r5_asked_also_when_the_tile_cannot_be_placed_and_the_veto_may_help() -> None:
    stuck = paint(game(("hook left", "left left"), size=5, contact="colour"), NARROW)
    assert (stuck.player, stuck.stage) == (1, "veto")
    helped = stuck.copy()
    play(stuck, ALLOW)
    assert stuck.log == [[(1, ALLOW), (0, PASS)]]
    play(helped, VETO)
    assert (helped.player, helped.stage) == (0, "place")
    assert helped.legal() == {place(0, 0, 0), place(0, 0, 2)}
    hindered = paint(game(("left hook", "left left"), size=5, contact="colour"), NARROW)
    play(hindered, VETO)  # R6: the new tile has no place
    assert (hindered.log, hindered.stacks[0]) == ([[(1, VETO), (0, PASS)]], ["hook", "left"])


def test_r5_the_stone_is_for_one_round_or_with_the_option_for_the_match() -> None:
    for veto, stones in (("round", [True, True]), ("match", [True, False])):
        one = game(("left bars", "right"), ("left bars", "right bars"), veto=veto)
        play(one, VETO, place(8, 8, 0), place(10, 8, 0), place(6, 8, 0))
        assert (one.round, one.stones, one.turn, one.bottom) == (1, stones, 1, [None, None])
        assert (one.player, one.stage) == (0, "veto")  # player 0 kept the stone either way
        play(one, ALLOW, place(8, 8, 0))
        assert (one.player, one.stage) == ((1, "veto") if veto == "round" else (0, "place"))


def test_r6_passes_are_automatic_and_two_in_a_row_end_the_round() -> None:
    # A board of 5: "left" at (1, 0) leaves player 1 only the squares beside (1, 0) and (1, 1), all in row 0: no room.
    one = game(("left left left left", "right bars"), size=5)
    play(one, ALLOW, place(1, 0, 0))
    assert (one.player, one.stage) == (0, "veto")  # R5: asked though nothing fits
    play(one, ALLOW)
    assert (one.turn, one.player, one.stage, one.passes) == (0, 1, "veto", 1)
    play(one, ALLOW)
    assert one.legal() == places((0, 2), [(3, 0), (3, 1)])
    play(one, place(3, 0, 0))
    assert (one.passes, one.player, one.stage) == (0, 0, "veto")  # asked again
    assert one.stacks[1] == ["right", "bars"]  # about the same tile
    play(one, ALLOW)
    assert (one.passes, one.over, one.player, one.stage) == (1, False, 1, "veto")
    play(one, ALLOW)  # a question between two passes does not part them
    assert (one.passes, one.over, one.stage, one.legal()) == (2, True, "over", set())
    assert (one.stacks, one.stones) == ([["left", "left"], ["right", "bars"]], [True, True])
    assert one.log == [
        [
            *[(1, ALLOW), (0, place(1, 0, 0)), (0, ALLOW), (1, PASS)],
            *[(1, ALLOW), (0, place(3, 0, 0)), (0, ALLOW), (1, PASS)],
            *[(1, ALLOW), (0, PASS)],
        ]
    ]
    assert one.scores() == [2, 1]  # R7: x at (1, 0), (1, 1) and x at (3, 0), (3, 1) do not meet


def test_r6_an_empty_stack_passes_and_the_round_ends_when_both_are_empty() -> None:
    one = game(("left", "right bars ends"))
    play(one, place(8, 8, 0), ALLOW, place(6, 8, 0))
    assert (one.turn, one.player, one.stage, one.passes) == (1, 0, "veto", 1)
    play(one, ALLOW, place(4, 8, 0))
    assert (one.turn, one.player, one.stage, one.over) == (1, 1, "place", False)  # last tile: no question
    play(one, place(2, 8, 0))
    assert (one.over, one.passes, one.stacks) == (True, 0, [[], []])
    who = [(seat, move[0]) for seat, move in one.log[0]]
    laid, passed, allowed = (1, "place"), (0, "pass"), (0, "allow")
    assert who == [(0, "place"), allowed, laid, passed, allowed, laid, passed, laid]  # and no pass after the end


def test_r7_most_tiles_not_most_squares() -> None:
    board = """
        aaaa...
        aa.....
        ......b
        ...C..c
        ...D...
        ...EE..
        ...e...
        """
    one = paint(game(("left", "left"), size=7), board)
    assert one.round_score() == [2, 3]  # b and c; C, D and E down column 3


def test_r7_each_tile_once_and_corners_do_not_join() -> None:
    # a, b and c go round in a ring and join twice each; d meets the ring at a corner only.
    ring = "aaab... a..b... cccb... ...Cdd. ....dd."
    assert paint(game(("left", "left"), size=7), ring).round_score() == [3, 1]


def test_r7_the_two_colours_of_a_tile_do_not_join_its_areas() -> None:
    # Tile a has squares in two areas of player 0: it counts in each, and they stay two: {a, b} and {a, c, d}.
    split = "ba..... AA..... acd...."
    assert paint(game(("left", "left"), size=7), split).round_score() == [3, 1]


@pytest.mark.parametrize(("rot", "scores"), [(0, [1, 2]), (2, [2, 1])])
def test_r7_squares_of_the_own_colour_on_the_others_tiles_join(rot: int, scores: list[int]) -> None:
    # Player 0's "right" lies at rows 8-9, columns 8-11, paving in column 11; player 1's "left" right above it.
    # As printed its lower row is all paving and joins (8, 11); turned by a half it shows roofs at (7, 10) and (7, 11),
    # which join (8, 10), and no paving square meets (8, 11).
    one = game(("right", "left"))
    play(one, place(8, 8, 0), place(6, 8, rot))
    assert one.scores() == scores


def test_r7_an_empty_board_and_a_single_tile() -> None:
    one = game(("left", "left"))
    assert one.scores() == [0, 0]
    play(one, place(8, 8, 0))
    assert one.scores() == [1, 1]


def test_t1_two_rounds_with_alternating_starters() -> None:
    for starts in (0, 1):
        one = game(("left", "right"), ("bars", "ends"), starts=starts)
        assert (one.round, one.player) == (0, starts)
        play(one, place(8, 8, 3))
        play(one, min(one.legal()))
        assert (one.round, one.player, one.stage, one.over) == (1, 1 - starts, "place", False)
        assert (one.board, one.laid, one.stacks) == ({}, [], [["bars"], ["ends"]])
        assert len(one.round_scores) == 1
        assert one.scores() == one.round_scores[0]
        play(one, place(8, 8, 3))
        play(one, min(one.legal()))
        assert one.over
        assert [seat for seat, _ in one.log[0]] == [starts, 1 - starts]
        assert [seat for seat, _ in one.log[1]] == [1 - starts, starts]


def test_t1_a_round_that_ended_by_passes_leaves_nothing_to_the_next() -> None:
    # As in the test of R6: nobody can answer "left" at (1, 0) but player 0, whose next tile ends the room for all.
    one = game(("left left left", "right"), ("left", "right"), size=5)
    play(one, ALLOW, place(1, 0, 0), ALLOW, place(3, 0, 0))
    assert one.log == [
        [(1, ALLOW), (0, place(1, 0, 0)), (1, PASS), (1, ALLOW), (0, place(3, 0, 0)), (1, PASS), (0, PASS)],
        [],
    ]
    assert (one.round, one.passes, one.board, one.stacks) == (1, 0, {}, [["left"], ["right"]])
    assert (one.player, one.stage, one.round_scores, one.scores()) == (1, "place", [[2, 1]], [2, 1])


def test_t2_a_match_of_a_single_round() -> None:
    one = game(("left", "left"), ("left", "left"), starts=1, rounds=1)
    play(one, place(8, 8, 0))
    play(one, min(one.legal()))
    assert (one.over, len(one.round_scores), len(one.log)) == (True, 1, 1)
    with pytest.raises(ValueError, match="illegal move"):
        one.play(place(8, 8, 0))


@pytest.mark.parametrize(
    ("rounds", "totals", "shares"),
    [
        ([[9, 7], [8, 7]], [17, 14], [1, 0]),  # both rounds
        ([[9, 7], [6, 10]], [15, 17], [0, 1]),  # one each: the total
        ([[9, 8], [6, 7]], [15, 15], [Fraction(1, 2), Fraction(1, 2)]),  # one each, equal totals
        ([[8, 8], [6, 7]], [14, 15], [0, 1]),  # a tied round and a win
        ([[8, 8], [7, 7]], [15, 15], [Fraction(1, 2), Fraction(1, 2)]),
        ([[12, 11]], [12, 11], [1, 0]),  # T2
        ([[11, 11]], [11, 11], [Fraction(1, 2), Fraction(1, 2)]),
    ],
)
def test_t1_who_wins(rounds: list[list[int]], totals: list[int], shares: list[Fraction]) -> None:
    one = game(("left", "left"), ("left", "left"))
    one.stage, one.round_scores = "over", rounds
    assert (one.scores(), one.outcome()) == (totals, shares)


def test_known_to_hides_the_order_of_the_stacks_but_for_top_and_vetoed_tile() -> None:
    deals = [[["left", "right", "bars", "ends"], ["hook", "left", "ends", "bars"]]] * 2

    def stand(*moves: Move, **stacks: list[str]) -> Toscana:
        one = Toscana(FORMS, {"starts": 0, "stacks": deals})
        play(one, *moves)
        for name, stack in stacks.items():
            one.stacks["ab".index(name)] = stack
        return one

    for player in (0, 1):
        known = stand().known_to(player)
        assert stand(a=["left", "ends", "right", "bars"], b=["hook", "bars", "left", "ends"]).known_to(player) == known
        assert stand(a=["right", "left", "bars", "ends"]).known_to(player) != known
        later = stand()
        later.deals = [deals[0], [deals[0][1], deals[0][0]]]
        assert later.known_to(player) == known
        vetoed = stand(VETO).known_to(player)  # right, bars, ends, left
        assert stand(VETO, a=["right", "ends", "bars", "left"]).known_to(player) == vetoed
        assert stand(VETO, a=["right", "left", "bars", "ends"]).known_to(player) != vetoed
    changes: dict[str, Any] = {"round": 1, "stage": "place", "passes": 1, "turn": 1, "player": 0}
    changes |= {"stones": [True, False], "round_scores": [[1, 2]], "laid": [Laid(0, "left", 8, 8, 0)]}
    for name, value in {**changes, "board": {(8, 8): Square(0, 0)}}.items():
        changed = stand()
        setattr(changed, name, value)
        assert changed.known_to(0) != stand().known_to(0), name


def test_illegal_moves_change_nothing() -> None:
    one = game(("left right", "left right"))
    before = one.table()
    for move in (place(8, 8, 0), PASS):
        with pytest.raises(ValueError, match=r"illegal move .* at stage 'veto'"):
            one.play(move)
    assert one.table() == before
    play(one, ALLOW)
    for move in (place(0, 0, 0), place(8, 8, 4), VETO):
        with pytest.raises(ValueError, match=r"illegal move .* at stage 'place'"):
            one.play(move)
    assert (one.board, one.log) == ({}, [[(1, ALLOW)]])


def test_copies_are_independent() -> None:
    one = game(("left right", "left right"))
    before, after = one.table(), one.copy()
    play(after, VETO, place(8, 8, 0))
    assert (one.table(), one.log) == (before, [[]])
    assert after.table() != before


def test_perft_by_hand() -> None:
    # A board of 5, one tile each: 16 first places (R3). On one long side of that tile is a strip two squares wide,
    # where the second fits at two places, two rotations each; on the other a strip too narrow. Both x of "left" lie on
    # one long side: half of the first places turn them to the wide strip and allow 4 replies, the others none.
    assert [perft(game(("left", "left"), size=5), depth) for depth in range(4)] == [1, 16, 8 * 4, 0]
    # A question doubles every branch of the first move.
    assert [perft(game(("left left", "left"), size=5), depth) for depth in range(3)] == [1, 2, 2 * 16]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("options", [{}, {"size": 9, "contact": "colour", "veto": "match"}])
def test_random_matches_keep_their_books(seed: int, options: dict[str, Any]) -> None:
    rng = random.Random(seed)
    tiles = printed_tiles()
    stacks = [[rng.sample(sorted(tiles), 16) for _ in range(2)] for _ in range(2)]
    one = Toscana(tiles, {"starts": seed % 2, "stacks": stacks}, options)
    vetoes = 0
    while not one.over:
        move = rng.choice(sorted(one.legal()))  # fails if there is none
        vetoes += move == VETO
        play(one, move)
        for player in (0, 1):
            mine = [laid.tile for laid in one.laid if laid.player == player]
            assert sorted(mine + one.stacks[player]) == sorted(tiles)
        assert len(one.board) == 8 * len(one.laid)
        colours = [square.colour for square in one.board.values()]
        by_roofs = sum(laid.player == 0 for laid in one.laid)
        assert colours.count(0) == 6 * by_roofs + 2 * (len(one.laid) - by_roofs)
        assert not one.board or (one.size // 2, one.size // 2) in one.board
    assert vetoes <= (2 if options.get("veto") == "match" else 4)
    assert len(one.round_scores) == len(one.log) == 2
    assert sum(one.outcome()) == 1
    for score, entries in zip(one.round_scores, one.log, strict=True):
        num_laid = sum(move[0] == "place" for _, move in entries)
        assert all(1 <= points <= num_laid for points in score)
        ends = [move for _, move in entries[-3:]]
        assert num_laid == 32 or ends.count(PASS) == 2
