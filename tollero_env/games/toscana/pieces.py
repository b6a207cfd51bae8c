"""What lies on the table of Toscana, piece by piece: squares, tiles, stones, counters, marks. Squares are 100 wide.

The colours are told apart by pattern as well: rows of roof tiles, and cobbles.
"""

from __future__ import annotations

import functools
from itertools import pairwise

from tollero_env.games.toscana.tiles import OWN, Rows
from tollero_env.scene import Circle, Line, Polygon, Rect, Shape, Sprite, centred_text

Shapes = tuple[Shape, ...]

INK, MUTED, WHITE = "#40291c", "#8a745c", "#ffffff"
GROUND, GROUND_LINE, GROUND_EDGE = "#efe3c8", "#dccba6", "#a98f63"
LAST, LEGAL, LEGAL_FILL = "#d6107f", "#00855f", "#bff0d8"
SHADOW = "#2a1f0c40"

# By seat: roofs, paving. Fill, lines of the pattern, edge of a tile; a counter's rim and middle.
FILLS = ("#c8553a", "#b4b7b8")
LIGHTS = ("#dd7a58", "#d0d3d3")
DARKS = ("#8f3420", "#85898c")
PLAIN = ("#d56d4c", "#c3c6c7")  # of a small tile
COUNTERS = ("#ffd9c9", "#ffffff")
RIMS = ("#6d1f0f", "#3f464c")

EDGE = "#3b2a1e"  # around every tile


@functools.cache
def square_shapes(colour: int) -> Shapes:
    """One square, top left at (0, 0)."""
    return _roof() if colour == 0 else _cobbles()


def _roof() -> Shapes:
    """Four rows of tiles, each half a tile further on than the one above."""
    shapes: list[Shape] = [Rect(0, 0, 100, 100, FILLS[0])]
    for row in range(4):
        y = 25 * row
        for k in range(-1, 4):
            left = 25 * k + 12.5 * (row % 2)
            low, high = max(left, 0.0), min(left + 25, 100.0)
            if high - low > 20:  # a whole tile: its lower edge is round, as far as a few corners go
                corners = ((low + 2, y), (low + 2, y + 16), (low + 7, y + 22), (high - 7, y + 22), (high - 2, y + 16))
                shapes.append(Polygon((*corners, (high - 2, y)), LIGHTS[0]))
            elif high > low:
                shapes.append(Rect(low + (low > 0) * 2, y, high - low - 2, 19, LIGHTS[0]))
        shapes.append(Line(0, y + 24, 100, y + 24, DARKS[0], 2.5))
    return tuple(shapes)


def _cobbles() -> Shapes:
    """Rows of stones with joints between."""
    shapes: list[Shape] = [Rect(0, 0, 100, 100, DARKS[1])]
    for row in range(3):
        y = 2 + 33 * row
        edges = (0, 50, 100) if row % 2 == 0 else (0, 25, 75, 100)
        for left, right in pairwise(edges):
            fill = LIGHTS[1] if (left + row) % 2 == 0 else FILLS[1]
            shapes.append(Rect(left + 2, y, right - left - 4, 29, fill, None, 0, 7))
    return tuple(shapes)


def colours_of(rows: Rows, owner: int) -> list[list[int]]:
    """The colour of every square."""
    return [[owner if letter == OWN else 1 - owner for letter in row] for row in rows]


def tile_sprites(rows: Rows, owner: int, at: tuple[float, float], size: float, title: str) -> list[Shape]:
    """A tile as it lies (turn it first) with its top left there, squares `size` wide: each pattern is kept once."""
    x, y, factor, extent = *at, size / 100, (len(rows[0]), len(rows))
    shapes: list[Shape] = [Sprite(x, y, factor, _shadow(*extent))]
    for row, colours in enumerate(colours_of(rows, owner)):
        for column, colour in enumerate(colours):
            shapes.append(Sprite(x + column * size, y + row * size, factor, square_shapes(colour)))
    return [*shapes, Sprite(x, y, factor, _frame(*extent), title)]


@functools.cache
def _shadow(columns: int, rows: int) -> Shapes:
    return (Rect(5, 7, 100 * columns - 4, 100 * rows - 4, SHADOW, None, 0, 12),)


@functools.cache
def _frame(columns: int, rows: int) -> Shapes:
    return (Rect(2.5, 2.5, 100 * columns - 5, 100 * rows - 5, None, EDGE, 7, 9),)


@functools.lru_cache(maxsize=64)
def small_tile(rows: Rows, owner: int) -> Shapes:
    """A tile without patterns, for where it is small."""
    width, height = 100 * len(rows[0]), 100 * len(rows)
    shapes: list[Shape] = [Rect(0, 0, width, height, PLAIN[owner], None, 0, 9)]
    for y, row in enumerate(rows):
        shapes += [Rect(100 * x, 100 * y, 100, 100, PLAIN[1 - owner]) for x, letter in enumerate(row) if letter != OWN]
    return *shapes, Rect(2.5, 2.5, width - 5, height - 5, None, EDGE, 9, 9)


@functools.lru_cache(maxsize=16)
def ghost_shapes(width: int, height: int) -> Shapes:
    """The place of a tile that is not there."""
    return (Rect(4, 4, 100 * width - 8, 100 * height - 8, None, GROUND_LINE, 8, 14),)


@functools.lru_cache(maxsize=16)
def outline(width: int, height: int, colour: str) -> Shapes:
    """A frame around a tile of so many squares."""
    frame = Rect(0, 0, 100 * width, 100 * height, None, WHITE, 17, 9)
    return frame, frame._replace(stroke=colour, stroke_width=11)


@functools.cache
def counter(colour: int) -> Shapes:
    """A counter that marks a tile of the largest area (R7); its middle at (0, 0)."""
    return Circle(2, 3, 23, SHADOW), Circle(0, 0, 22, COUNTERS[colour], RIMS[colour], 7), Circle(0, 0, 9, FILLS[colour])


@functools.cache
def stone(is_unspent: bool) -> Shapes:
    """A veto stone, or the place of one; its middle at (0, 0)."""
    if not is_unspent:
        return (Circle(0, 0, 13, None, GROUND_EDGE, 2),)
    cross = [Line(-5.5, -5.5, 5.5, 5.5, WHITE, 3.4), Line(-5.5, 5.5, 5.5, -5.5, WHITE, 3.4)]
    return Circle(1, 2, 14, SHADOW), Circle(0, 0, 14, "#2f4858", "#16262f", 1.5), *cross


@functools.lru_cache(maxsize=16)
def place_mark(rotations: tuple[int, ...]) -> Shapes:
    """On the upper-left square of a place: a bar for each way to lie there; numbers where only some rotations fit."""
    shapes: list[Shape] = [Rect(8, 8, 84, 84, LEGAL_FILL, LEGAL, 5, 14)]
    if set(rotations) in ({0, 2}, {1, 3}, {0, 1, 2, 3}):
        if 0 in rotations:
            shapes.append(Rect(22, 22, 60, 18, LEGAL, None, 0, 8))
        if 1 in rotations:
            shapes.append(Rect(22, 22, 18, 60, LEGAL, None, 0, 8))
        return tuple(shapes)
    places = ((32, 32), (68, 32), (68, 70), (32, 70))
    return *shapes, *(centred_text(*places[turn], str(turn), 36, LEGAL, bold=True) for turn in rotations)
