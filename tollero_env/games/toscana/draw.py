"""The picture of Toscana: the board and a panel beside it, as a seat may see it; one size, whatever the board's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tollero_env.game import Array, Rules
from tollero_env.games.toscana import panel as side
from tollero_env.games.toscana.constants import SET_TILES
from tollero_env.games.toscana.notation import COLOURS, at_cell, last_slot, places_by_cell, tile_rows
from tollero_env.games.toscana.pieces import (
    GROUND,
    GROUND_EDGE,
    GROUND_LINE,
    LAST,
    MUTED,
    counter,
    outline,
    place_mark,
    tile_sprites,
)
from tollero_env.games.toscana.protocol import counted
from tollero_env.scene import Circle, Line, Rect, Scene, Shape, Sprite, centred_text, translate

BOARD = 900  # side of the square in which the board lies
RULER = 30  # for the numbers of rows and columns
WIDTH, HEIGHT = BOARD + side.WIDTH + 24, BOARD
TABLE, PANEL = "#cfc3a4", "#f9f4e8"


def draw(
    rules: Rules,
    states: Array,
    i: int,
    *,
    viewer: int | None = None,
    last: int | None = None,
    legal: Iterable[int] = (),
    room: Array | None = None,
) -> Scene:
    """The table with all that this seat may see (None sees the order of the stacks), the last move and these marked.

    `room` is not needed: every picture of a match has the same board.
    """
    state, size = states[i], int(rules.tables["size"][0])
    cell = (BOARD - 2 * RULER) / size
    shapes = [
        *_ground(size, cell),
        *_tiles(rules, state, cell),
        *_counters(rules, states, i, cell),
        *_last_tile(state, last, cell),
        *_places(legal, cell),
        Rect(BOARD, 0, WIDTH - BOARD, HEIGHT, PANEL),
        *translate(side.panel(rules, states, i, viewer, last), BOARD + 12, 12),
    ]
    return Scene(WIDTH, HEIGHT, TABLE, shapes)


def _at(cell: float, row: float, column: float) -> tuple[float, float]:
    """Where a square's top left corner is in the picture."""
    return RULER + column * cell, RULER + row * cell


def _ground(size: int, cell: float) -> list[Shape]:
    """The empty board with its marked centre (M2), and numbers on the margin."""
    length = size * cell
    shapes: list[Shape] = [Rect(RULER - 4, RULER - 4, length + 8, length + 8, GROUND, GROUND_EDGE, 5, 6)]
    for k in range(1, size):
        shapes.append(Line(*_at(cell, k, 0), *_at(cell, k, size), GROUND_LINE, 1.5))
        shapes.append(Line(*_at(cell, 0, k), *_at(cell, size, k), GROUND_LINE, 1.5))
    for k in range(size):
        middle, letters = RULER + (k + 0.5) * cell, min(15.0, 0.5 * cell)
        shapes.append(centred_text(middle, RULER / 2 - 2, str(k), letters, MUTED))
        shapes.append(centred_text(RULER / 2 - 2, middle, str(k), letters, MUTED))
    x, y = _at(cell, size / 2, size / 2)
    return [*shapes, Circle(x, y, 0.3 * cell, None, GROUND_EDGE, 0.06 * cell), Circle(x, y, 0.1 * cell, GROUND_EDGE)]


def _tiles(rules: Rules, state: Any, cell: float) -> list[Shape]:
    shapes: list[Shape] = []
    for slot in range(int(state["num_tiles"])):
        owner, number = divmod(int(state["tile"][slot]), SET_TILES)
        rotation, (row, column) = int(state["rotation"][slot]), at_cell(state["cell"][slot])
        title = f"{rules.material[number].id} of {COLOURS[owner]} at ({row},{column}), turned {rotation}"
        shapes += tile_sprites(tile_rows(rules, number, rotation), owner, _at(cell, row, column), cell, title)
    return shapes


def _extent(state: Any, slot: int) -> tuple[int, int]:
    """Columns and rows of a tile."""
    return (2, 4) if state["rotation"][slot] & 1 else (4, 2)


def _counters(rules: Rules, states: Array, i: int, cell: float) -> list[Shape]:
    """R7: a counter of each colour on the tiles that count for it, as the board stands."""
    state, words = states[i], counted_tiles(rules, states, i)
    shapes: list[Shape] = []
    for slot in range(int(state["num_tiles"])):
        width, height = _extent(state, slot)
        row, column = at_cell(state["cell"][slot])
        colours = [colour for colour in range(2) if words[colour] >> slot & 1]
        for place, colour in enumerate(colours):
            shift = 0.5 * place - 0.25 * (len(colours) - 1)
            along = (shift, 0.0) if width > height else (0.0, shift)
            x, y = _at(cell, row + height / 2 + along[1], column + width / 2 + along[0])
            shapes.append(Sprite(x, y, cell / 100, counter(colour), f"counts for {COLOURS[colour]}"))
    return shapes


def counted_tiles(rules: Rules, states: Array, i: int) -> list[int]:
    """By colour, the word of slots in the area of most tiles."""
    return [int(counted(states, i, rules.tables, colour)) for colour in range(2)]


def _last_tile(state: Any, last: int | None, cell: float) -> list[Shape]:
    slot = last_slot(state, last)
    if slot is None:
        return []
    place = _at(cell, *at_cell(state["cell"][slot]))
    return [Sprite(*place, cell / 100, outline(*_extent(state, slot), LAST), "just placed")]


def _places(legal: Iterable[int], cell: float) -> list[Shape]:
    """Upper-left squares of the places for the top tile."""
    return [
        Sprite(*_at(cell, *at_cell(place)), cell / 100, place_mark(turns), f"can be placed turned {_listed(turns)}")
        for place, turns in places_by_cell(legal).items()
    ]


def _listed(turns: tuple[int, ...]) -> str:
    return " ".join(str(turn) for turn in turns)
