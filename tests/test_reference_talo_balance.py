"""The reference implementation of Talō: B3, with the examples (18) to (22) of the sheets."""

from __future__ import annotations

import random

import pytest

from tests.reference.talo import Talo
from tests.reference.talo_statics import Block, could_save, falling_parts, leftover, stands, whole
from tests.talo_positions import ONE, Line, do_stand, place, places, rows, taken

# ---- the sheets and the rulings


@pytest.mark.parametrize("length", [3, 5, 7, 9])
@pytest.mark.parametrize("base", [(1, 5, 5, 0, "z"), (4, 5, 5, 0, "z"), (3, 5, 4, 0, "y")])
def test_b3_18_an_odd_block_lies_across_at_its_middle(length: int, base: Line) -> None:
    one = taken(length, blocks=(base,))
    top = base[0] if base[4] == "z" else 1
    across = {(x, y) for x, y, _ in places(one, length, "x", level=top)}
    assert across == {(5 - length // 2, y) for y in ((4, 5, 6) if base[4] == "y" else (5,))}


@pytest.mark.parametrize("length", [2, 4, 6, 8, 10])
@pytest.mark.parametrize("base", [(1, 5, 5, 0, "z"), (4, 5, 5, 0, "z"), (3, 5, 4, 0, "y")])
def test_b3_19_an_even_block_tips(length: int, base: Line) -> None:
    one = taken(length, blocks=(base,))
    top = base[0] if base[4] == "z" else 1
    assert any(z == top and axis == "x" for _, _, _, _, z, axis in one.candidates())
    assert places(one, length, "x", level=top) == set()


def test_b3_20_an_even_block_may_lean_on_a_standing_one() -> None:
    four = (4, 4, 5, 1, "x")  # over 4 ... 7, its centre on the edge of ONE's top: the far end at 7 would sink
    assert not do_stand(ONE, four)
    assert do_stand(ONE, four, (2, 8, 5, 0, "z"))  # its end face touches z = 1 of a standing 2
    assert do_stand(ONE, four, (5, 8, 5, 0, "z"))
    assert not do_stand(ONE, four, (1, 8, 5, 0, "z"), (1, 8, 5, 1, "z"))  # a standing block of length 1 will not do
    assert not do_stand(ONE, four, (1, 8, 5, 0, "z"), (3, 8, 4, 1, "y"))  # nor a lying one
    assert not do_stand(ONE, four, (2, 3, 5, 0, "z"))  # nor one at the end that rises
    assert not do_stand(ONE, four, (2, 7, 4, 0, "z"), (2, 7, 6, 0, "z"))  # nor at its sides
    assert not do_stand(ONE, four, (3, 8, 5, 2, "z"), (1, 8, 5, 0, "z"), (1, 8, 5, 1, "z"))  # touched too high
    one = taken(4, blocks=(ONE, (2, 8, 5, 0, "z")))
    assert places(one, 4, "x", level=1) == {(4, 5, 1)}


def test_b3_20_a_lean_holds_no_more_than_the_edge() -> None:
    post = (2, 8, 5, 0, "z")
    assert not do_stand(ONE, (4, 5, 5, 1, "x"), (2, 9, 5, 0, "z"))  # the centre a whole cell beyond
    # On 4 ... 7 a block over the support helps, one beyond it is too much for the lean.
    assert do_stand(ONE, (4, 4, 5, 1, "x"), post, (1, 5, 5, 2, "z"))
    assert not do_stand(ONE, (4, 4, 5, 1, "x"), post, (1, 6, 5, 2, "z"))
    # Loads that cancel out leave the centre on the edge: 1 at 4.5 and at 7.5, then the lean holds.
    assert do_stand(ONE, (4, 4, 5, 1, "x"), post, (1, 4, 5, 2, "z"), (1, 7, 5, 2, "z"))


def test_b3_20_in_the_other_directions() -> None:
    for four, post in [
        ((4, 3, 5, 1, "x"), (2, 2, 5, 0, "z")),  # ONE under 5 of 3 ... 6: the low end sinks
        ((4, 5, 4, 1, "y"), (2, 5, 8, 0, "z")),
        ((4, 5, 3, 1, "y"), (2, 5, 2, 0, "z")),
    ]:
        assert not do_stand(ONE, four)
        assert do_stand(ONE, four, post)


def test_b3_21_two_blocks_may_balance_each_other() -> None:
    one = taken(4, 1, blocks=(ONE,), pawns=((4, 4, 0), (9, 9, 0)))
    assert one.is_legal(place(4, 4, 5, 1, "x"))
    assert not taken(4, blocks=(ONE,)).is_legal(place(4, 4, 5, 1, "x"))  # alone it falls
    one.play(place(4, 4, 5, 1, "x"))
    # On its short side the 1 makes a centre of 1.7, over the support 1.9, next to it 2.1: too far. Or as a prop.
    assert one.legal() == {place(1, x, 5, z, "z") for x, z in ((4, 2), (5, 2), (6, 0), (7, 0))}
    one.play(place(1, 4, 5, 2, "z"))
    assert ("end",) in one.legal()
    assert do_stand(*one.blocks)


def test_b3_21_the_pawn_does_not_move_between_the_two() -> None:
    step = (1, 1, 0, 0, "z")  # beside the pawn in the corner
    one = taken(4, 1, blocks=(ONE, step))
    assert one.legal_moves() == {("move", 1, 0, 1)}  # before
    one.play(place(4, 4, 5, 1, "x"))
    assert one.legal_moves() == set()
    one.play(place(1, 6, 5, 0, "z"))
    assert one.legal_moves() == {("move", 1, 0, 1)}  # after
    stable = taken(4, 1, blocks=(ONE, step))
    stable.play(place(4, 2, 2, 0, "x"))
    assert stable.legal_moves() == {("move", 1, 0, 1)}  # a first block that stands: between, too


def test_b3_21_both_of_the_same_length() -> None:
    one = taken(2, 2, blocks=(ONE,))
    one.play(place(2, 5, 5, 1, "x"))  # over 5 and 6: the far half sinks
    # Stand on the near half (centre 5.75), lie as a prop under the far one, or stand where its end face leans (20).
    saving = {(5, 5, 2, "z"), (6, 5, 0, "x"), (6, 5, 0, "y"), (6, 4, 0, "y"), (7, 5, 0, "z")}
    assert one.legal() == {place(2, *how) for how in saving}


def test_b3_21_the_first_may_not_float_until_the_second_comes() -> None:
    # At z = 1 over (8, 8) there is nothing yet to rest on (B1).
    assert not taken(4, 1, blocks=(ONE,)).is_legal(place(4, 5, 8, 1, "x"))


def test_b3_a_first_block_must_leave_room_for_the_second() -> None:
    # Two fields, built up to level 8 and 9, the others taken by pawns.
    board = rows(x0y0="#", x3y3="#", x6y6="#", x9y9="#")
    low, high = (8, 0, 0, 0, "z"), (9, 3, 3, 0, "z")
    one = taken(2, 1, blocks=(low, high), pawns=((6, 6, 0), (9, 9, 0)), board=board)
    # On top of the low one the 1 would leave no place for the 2; on the high one it does. The 2 stands on the low one,
    # or lies there, half beyond it, for the 1 then weighs it down. On the high one there is no room for that 1.
    lying = {(2, 0, 0, 8, "x"), (2, -1, 0, 8, "x"), (2, 0, 0, 8, "y"), (2, 0, -1, 8, "y")}
    assert one.legal_places() == {place(*how) for how in lying | {(2, 0, 0, 8, "z"), (1, 3, 3, 9, "z")}}
    assert place(1, 0, 0, 8, "z") in one.candidates()
    single = taken(1, blocks=(low, high), pawns=((6, 6, 0), (9, 9, 0)), board=board)
    assert single.legal_places() == {place(1, 0, 0, 8, "z"), place(1, 3, 3, 9, "z")}


def test_b3_22_a_pawn_weighs_nothing() -> None:
    bar: tuple[Line, ...] = (ONE, (3, 4, 5, 1, "x"))
    for pawn in ((4, 5, 2), (0, 0, 0)):
        heavy = taken(3, blocks=bar, pawns=(pawn, (9, 9, 0)))
        assert not heavy.is_legal(place(3, 6, 5, 2, "z"))  # centre (3·5.5 + 3·6.5) / 6 = 6: on the edge
        light = taken(2, blocks=bar, pawns=(pawn, (9, 9, 0)))
        assert light.is_legal(place(2, 6, 5, 2, "z"))  # (3·5.5 + 2·6.5) / 5 = 5.9


def test_b3_strictly_inside_the_support() -> None:
    seven: tuple[Line, ...] = (ONE, (7, 3, 5, 1, "x"))  # the support is 5 ... 6, its own centre at 6.5
    weight: Line = (1, 3, 5, 2, "z")
    assert not do_stand(*seven, weight)  # (7·6.5 + 3.5) / 8 = 6.125
    assert not do_stand(*seven, weight, (1, 4, 5, 2, "z"), (1, 6, 5, 2, "z"))  # 60 / 10 = 6
    assert do_stand(*seven, weight, (1, 4, 5, 2, "z"))  # 53.5 / 9 = 5.94


def test_b3_a_centre_a_hair_inside_the_edge() -> None:
    # The support is 5 ... 6. On a 9 over 4 ... 12 (centre 8.5) a load of 15 at 4.5 brings the centre to the edge;
    # bars across at 5.5 and 6.5, with towers on them, leave it there, or half a unit of moment inside.
    base: tuple[Line, ...] = (ONE, (9, 4, 5, 1, "x"), (7, 4, 2, 2, "y"), (7, 4, 5, 3, "z"), (1, 4, 4, 3, "z"))
    bars: tuple[Line, ...] = ((9, 5, 1, 2, "y"), (9, 6, 1, 2, "y"), (7, 5, 5, 3, "z"))
    assert not do_stand(*base)  # (76.5 + 67.5) / 24 = 6
    assert not do_stand(*base, *bars, (7, 6, 5, 3, "z"))  # 336 / 56 = 6
    assert do_stand(*base, *bars, (6, 6, 5, 3, "z"))  # 329.5 / 55 = 5.991


def test_b3_what_lies_on_several_supports_chooses_where_to_press() -> None:
    four: tuple[Line, ...] = ((2, 5, 5, 0, "z"), (4, 4, 5, 2, "x"))  # over 4 ... 7, on a post at 5
    bar: Line = (3, 4, 4, 3, "y")  # across its short side
    posts: tuple[Line, ...] = ((3, 4, 4, 0, "z"), (3, 4, 6, 0, "z"))  # they alone could carry the bar
    assert not do_stand(*four)
    assert do_stand(*four, bar)  # (4·6 + 3·4.5) / 7 = 5.36
    assert do_stand(*four, bar, *posts)  # the bar may still rest its weight on the 4
    assert not do_stand(*four, *posts)


def test_b3_balance_in_both_directions_at_once() -> None:
    base: tuple[Line, ...] = (ONE, (5, 3, 5, 1, "x"))
    assert not do_stand(*base, (3, 7, 4, 2, "y"))  # (5·5.5 + 3·7.5) / 8 = 6.25
    assert do_stand(*base, (3, 7, 4, 2, "y"), (3, 3, 4, 2, "y"))
    weights: tuple[Line, ...] = ((1, 3, 6, 3, "z"), (1, 7, 6, 3, "z"))  # both on the same side of the beam
    assert do_stand(*base, (3, 7, 4, 2, "y"), (3, 3, 4, 2, "y"), *weights)  # in y (11·5.5 + 2·6.5) / 13 = 5.65
    assert not do_stand(*base, (3, 7, 5, 2, "y"), (3, 3, 3, 2, "y"))  # each 3 is off its own middle
    assert not do_stand((3, 5, 5, 0, "x"), (4, 5, 5, 1, "y"))


# ---- shortcuts


def holding(length: int, blocks: frozenset[Block]) -> list[Block]:
    """Every place where a block of this length fits, in Fantasy."""
    board = Talo(2, variant="fantasy")
    board.blocks, board.stage, board.hand = list(blocks), "build", [length]
    return sorted(Block(*move[1:]) for move in board.candidates())


def grow(rng: random.Random, count: int) -> frozenset[Block]:
    """A crowded construction, most of whose blocks were placed so that it stood."""
    blocks: frozenset[Block] = frozenset()
    area = rng.choice([range(3, 6), range(3, 7), range(2, 8)])
    for _ in range(count):
        near = [one for one in holding(rng.choice([1, 1, 2, 2, 3, 3, 4, 5, 6]), blocks) if {one.x, one.y} <= {*area}]
        high = [one for one in near if one.z > 0] or near
        tried = rng.choices(high if rng.random() < 0.8 else near, k=4)
        blocks |= {next((one for one in tried if stands(blocks | {one})), tried[0])}
    return blocks


@pytest.mark.thorough
def test_the_shortcuts_change_no_answer() -> None:
    rng = random.Random(1)
    standing = 0
    for _ in range(150):
        blocks = grow(rng, rng.randint(4, 14))
        left = leftover(whole(blocks))
        assert left < 1e-9 or left > 4e-3  # B3: nothing in between
        assert stands(blocks) == (left < 1e-6)
        standing += left < 1e-6
    assert 30 < standing < 120


@pytest.mark.thorough
def test_only_a_block_that_touches_what_falls_saves_it() -> None:
    rng = random.Random(2)
    saved = 0
    for _ in range(40):
        blocks = grow(rng, rng.randint(4, 10))
        falling = list(falling_parts(blocks))
        for block in holding(rng.choice([1, 2, 3]), blocks) if falling else []:
            if stands(blocks | {block}):
                saved += 1
                assert all(could_save(block, part) for part in falling)
    assert saved > 10
