"""The tiles of Toscana (M1): 2 x 4 squares, six of the own colour and two of the other's, in every way there is."""

import functools
from itertools import combinations
from typing import NamedTuple

ROWS, COLUMNS = 2, 4
OWN, OTHER = "o", "x"
Rows = tuple[str, ...]


class Tile(NamedTuple):
    """A tile of either set: the two sets are each other's colour-swap, so they share the ids."""

    id: str  # P01 to P16
    rows: Rows  # o a square of the owner's colour, x one of the other's; as it lies with rotation 0


def turned(rows: Rows, rotation: int) -> Rows:
    """The squares after so many quarter turns clockwise."""
    for _ in range(rotation):
        rows = tuple("".join(column) for column in zip(*rows[::-1]))
    return rows


@functools.cache
def all_tiles() -> tuple[Tile, ...]:
    """Every choice of two squares; of two that a half turn makes the same, the first, read from the lower row up."""
    found = set()
    for pair in combinations(range(ROWS * COLUMNS), 2):
        squares = "".join(OTHER if k in pair else OWN for k in range(ROWS * COLUMNS))
        rows = (squares[:COLUMNS], squares[COLUMNS:])
        found.add(min(rows, turned(rows, 2), key=_reading))
    return tuple(Tile(f"P{number:02}", rows) for number, rows in enumerate(sorted(found, key=_reading), 1))


def _reading(rows: Rows) -> Rows:
    return rows[::-1]


def pieces(rows: Rows) -> list[int]:
    """For each square, row by row: which piece of its colour it belongs to, 0 or 1. Corners do not join."""
    squares = "".join(rows)
    found = [-1] * len(squares)
    counts = {OWN: 0, OTHER: 0}
    for start, colour in enumerate(squares):
        if found[start] < 0:
            _spread(squares, start, found, counts[colour])
            counts[colour] += 1
    return found


def _spread(squares: str, start: int, found: list[int], piece: int) -> None:
    """Number the squares of one colour that hang together with the first."""
    rest = [start]
    while rest:
        square = rest.pop()
        found[square] = piece
        row, column = divmod(square, COLUMNS)
        beside = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
        for other in [y * COLUMNS + x for y, x in beside if y in range(ROWS) and x in range(COLUMNS)]:
            if found[other] < 0 and squares[other] == squares[start]:
                rest.append(other)
