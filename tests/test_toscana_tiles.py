"""The tiles are all there are, each once; what the tables say of them; options."""

from __future__ import annotations

import re
from itertools import combinations

import pytest

from tests.reference.toscana import printed_tiles, turn_form
from tests.toscana_tools import TILES, rules_for
from tollero_env.game import OptionError, get_rules
from tollero_env.games.toscana.constants import EDGES, MAX_SIZE, WIDTH
from tollero_env.games.toscana.tables import make_tables
from tollero_env.games.toscana.tiles import all_tiles, pieces, turned


def half_turn(rows: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(row[::-1] for row in rows[::-1])


def test_m1_the_count_argument() -> None:
    """28 choices of two squares, 4 of them their own half turn: (28 + 4) / 2 = 16."""
    choices = {
        tuple("".join("x" if 4 * y + x in pair else "o" for x in range(4)) for y in range(2))
        for pair in combinations(range(8), 2)
    }
    own = {rows for rows in choices if half_turn(rows) == rows}
    assert (len(choices), len(own)) == (28, 4)
    tiles = {tile.rows for tile in all_tiles()}
    assert len(tiles) == len(all_tiles()) == (28 + 4) // 2 == 16
    assert tiles | {half_turn(rows) for rows in tiles} == choices


def test_m1_the_forms_are_those_of_the_reference() -> None:
    ours = {frozenset((tile.rows, half_turn(tile.rows))) for tile in all_tiles()}
    theirs = {frozenset((tuple(form), half_turn(tuple(form)))) for form in printed_tiles().values()}
    assert ours == theirs


def test_ids_are_in_order_and_the_first_tile_is_that_of_the_format() -> None:
    assert [tile.id for tile in all_tiles()] == [f"P{number:02}" for number in range(1, 17)]
    assert all_tiles()[0].rows == ("ooxx", "oooo")


@pytest.mark.parametrize("rotation", range(4))
def test_a_quarter_turn_is_clockwise(rotation: int) -> None:
    for tile in all_tiles():
        assert list(turned(tile.rows, rotation)) == turn_form(list(tile.rows), rotation)
    assert turned(("ooxx", "oooo"), 1) == ("oo", "oo", "ox", "ox")


def test_pieces_hang_together_side_to_side() -> None:
    assert pieces(("oxoo", "oxoo")) == [0, 0, 1, 1, 0, 0, 1, 1]  # a column between two pieces
    assert pieces(("oxoo", "ooxo")) == [0, 0, 1, 1, 0, 0, 1, 1]  # corners do not join
    assert pieces(("xoox", "oooo")) == [0, 0, 0, 1, 0, 0, 0, 0]
    assert all(max(pieces(tile.rows)) <= 1 for tile in all_tiles())  # R7: two bits a tile are enough


def test_the_tables_say_the_same_of_every_tile_and_rotation() -> None:
    table = rules_for().tables[0]
    for number, rows in enumerate(TILES.values()):
        for rotation in range(4):
            form = turn_form(rows, rotation)
            for letter, field in (("o", "own_rows"), ("x", "other_rows")):
                words = [sum((mark == letter) << x for x, mark in enumerate(row)) for row in form]
                assert table[field][number * 4 + rotation].tolist() == words + [0] * (4 - len(form))
            for square in range(8):
                y, x = divmod(int(table["offset"][rotation, square]), WIDTH)
                is_other = int(table["piece"][number, square]) >> 6
                assert form[y][x] == "ox"[is_other] == rows[square // 4][square % 4]


def test_edges_are_the_right_and_lower_squares() -> None:
    for edges, (columns, rows) in zip(EDGES.tolist(), ((4, 2), (2, 4))):
        inside = {y * WIDTH + x for y in range(rows) for x in range(columns)}
        wanted = {(cell, cell + step) for cell in inside for step in (1, WIDTH) if cell + step not in inside}
        assert {tuple(edge) for edge in edges} == wanted


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": 8}, "option size: 8 is not an odd number from 5 to 31"),
        ({"size": 3}, "option size: 3 is not an odd number"),
        ({"size": 33}, "option size: 33 is not an odd number"),
        ({"size": 17.0}, "option size: 17.0 is not an odd number"),
        ({"size": True}, "option size: True is not an odd number"),
        ({"contact": "corner"}, "option contact: 'corner' is not one of 'tile', 'colour'"),
        ({"veto": None}, "option veto: None is not one of 'round', 'match'"),
        ({"rounds": 3}, "option rounds: 3 is not one of 2, 1"),
        ({"rounds": True}, "option rounds: True is not one of 2, 1"),
        ({"floors": 3}, "Toscana has no option 'floors'; there is size, contact, veto, rounds"),
    ],
)
def test_wrong_options_are_named(options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError, match=re.escape(message)):
        rules_for(**options)


@pytest.mark.parametrize("players", [1, 3, True])
def test_there_are_two_players(players: int) -> None:
    with pytest.raises(OptionError, match="option players"):
        get_rules("toscana", players)


def test_tables_differ_in_their_digest_whatever_the_option() -> None:
    kinds = [{}, {"size": 15}, {"contact": "colour"}, {"veto": "match"}, {"rounds": 1}]
    digests = {int(make_tables(**options)[0]["digest"][0]) for options in kinds}
    assert len(digests) == len(kinds)
    assert make_tables(size=MAX_SIZE)[0]["board"][0].tolist() == [2**MAX_SIZE - 1] * MAX_SIZE + [0] * 5
