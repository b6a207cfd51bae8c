"""The picture of Tollero: the whole table, as a seat may see it.

It has one size whatever the city's, so that pictures of a game make a film; the cells shrink instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from tollero_env.game import Array, Rules
from tollero_env.games.tollero import panel as side
from tollero_env.games.tollero.constants import BUILD, CELLS
from tollero_env.games.tollero.notation import (
    NOBODY,
    SEATS,
    at_cell,
    find_leader,
    rotations_by_cell,
    tile_id,
    visible_moves,
)
from tollero_env.games.tollero.pieces import (
    LAST,
    LEGAL,
    MUTED,
    bonus,
    building,
    emblem,
    last_tile,
    legal_cell,
    lot_centre,
    lot_mark,
    tile_shapes,
)
from tollero_env.games.tollero.tables import faces_of
from tollero_env.games.tollero.tiles import LOTS, turned
from tollero_env.scene import Line, Rect, Scene, Shape, Sprite, centred_text, translate

BOARD = 900  # side of the square in which the city lies
RULER = 26  # for coordinates
MAX_CELL = 124
WIDTH, HEIGHT = BOARD + side.WIDTH + 24, BOARD
TABLE, TABLE_LINE, PANEL = "#dde3dc", "#cdd5cc", "#f7f4ec"


class Grid(NamedTuple):
    """Where cells lie in the picture."""

    columns: range  # x of the cells shown
    rows: range
    cell: float  # side
    left: float  # of the first column
    top: float

    def at(self, x: int, y: int) -> tuple[float, float]:
        """The top left corner of a cell."""
        return self.left + (x - self.columns[0]) * self.cell, self.top + (y - self.rows[0]) * self.cell


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
    """The table with all that this seat may see (None sees all hands), the last move and these legal moves marked.

    `room`, an array of one later state, makes pictures of one game line up: they leave room for its city.
    """
    state = states[i]
    grid = _grid(state if room is None else room[0])
    places = visible_moves(state, viewer, legal)
    shapes = [
        *_ruled(grid),
        *_tiles(rules, state, grid),
        *_legal_cells(places, grid),
        *_last_tile(last, grid),
        *_buildings(state, grid),
        *_lot_marks(state, places, last, grid),
        *_bonuses(state, grid),
        Rect(BOARD, 0, WIDTH - BOARD, HEIGHT, PANEL),
        *translate(side.panel(rules, states, i, viewer, last), BOARD + 12, 12),
    ]
    return Scene(WIDTH, HEIGHT, TABLE, shapes)


def _grid(state: Any) -> Grid:
    """The city and one cell of room around it, in the middle of the board."""
    places = [at_cell(cell) for cell in state["cell"][: int(state["num_tiles"])]]
    xs, ys = [x for x, _ in places], [y for _, y in places]
    columns, rows = range(min(xs) - 1, max(xs) + 2), range(min(ys) - 1, max(ys) + 2)
    space = BOARD - 2 * RULER
    cell = min(space / len(columns), space / len(rows), MAX_CELL)
    return Grid(columns, rows, cell, (BOARD - cell * len(columns)) / 2, (BOARD - cell * len(rows)) / 2)


def _ruled(grid: Grid) -> list[Shape]:
    """Faint lines between the cells, and their coordinates on the margin."""
    (left, top), (right, bottom) = grid.at(grid.columns[0], grid.rows[0]), grid.at(grid.columns.stop, grid.rows.stop)
    shapes: list[Shape] = []
    for x in range(grid.columns[0], grid.columns.stop + 1):
        shapes.append(Line(grid.at(x, 0)[0], top, grid.at(x, 0)[0], bottom, TABLE_LINE, 1.5))
    for y in range(grid.rows[0], grid.rows.stop + 1):
        shapes.append(Line(left, grid.at(0, y)[1], right, grid.at(0, y)[1], TABLE_LINE, 1.5))
    for x in grid.columns:
        shapes.append(centred_text(grid.at(x, 0)[0] + grid.cell / 2, top - RULER / 2, str(x), 14, MUTED))
    for y in grid.rows:
        shapes.append(centred_text(left - RULER / 2, grid.at(0, y)[1] + grid.cell / 2, str(y), 14, MUTED))
    return shapes


def _tiles(rules: Rules, state: Any, grid: Grid) -> list[Shape]:
    faces = faces_of(rules.material)
    shapes: list[Shape] = []
    for slot in range(int(state["num_tiles"])):
        face, rotation = int(state["face"][slot]), int(state["rotation"][slot])
        x, y = at_cell(state["cell"][slot])
        value, leader = int(state["value"][slot]), find_leader(rules, state, slot)
        name = f"{tile_id(rules, face) or 'contract'} at ({x},{y}), turned {rotation}"
        lead = f", {SEATS[leader]} leads for {value}" if leader != NOBODY else ""
        place, shown = (*grid.at(x, y), grid.cell / 100), turned(faces[face], rotation)
        shapes.append(Sprite(*place, tile_shapes(shown, leader=leader), name + lead))
        if slot == 0 and not value:
            shapes.append(Sprite(*place, emblem(), "contract"))
    return shapes


def _buildings(state: Any, grid: Grid) -> list[Shape]:
    """From north to south: tall ones overlap what is behind them."""
    found: list[Sprite] = []
    for slot, lot in zip(*state["building"].nonzero()):
        stands, place = int(state["building"][slot, lot]), lot_at(state, slot, lot, grid)
        seat, height = stands >> 5, stands & 31
        stars = height * (int(state["fountains"][slot]) >> 8 * int(lot) & 255)
        x, y = at_cell(state["cell"][slot])
        title = f"{SEATS[seat]} {height} at ({x},{y}) {LOTS[lot]}, {stars} by fountains"
        found.append(Sprite(*place, grid.cell / 100, building(seat, height), title))
    return [*sorted(found, key=lambda sprite: sprite.y)]


def _bonuses(state: Any, grid: Grid) -> list[Shape]:
    """What fountains give, on buildings and on empty foundations."""
    shapes: list[Shape] = []
    for slot in state["fountains"].nonzero()[0].tolist():
        for lot in range(4):
            num_fountains = int(state["fountains"][slot]) >> 8 * lot & 255
            if num_fountains and (state["building"][slot, lot] or int(state["open_lots"][lot]) >> slot & 1):
                place, title = lot_at(state, slot, lot, grid), f"+{num_fountains} a Floor"
                shapes.append(Sprite(*place, grid.cell / 100, bonus(num_fountains), title))
    return shapes


def lot_at(state: Any, slot: int, lot: int, grid: Grid) -> tuple[float, float]:
    """The centre of a lot in the picture."""
    x, y = grid.at(*at_cell(state["cell"][slot]))
    dx, dy = lot_centre(lot, grid.cell)
    return x + dx, y + dy


def _legal_cells(legal: list[int], grid: Grid) -> list[Shape]:
    """Where the tile in hand may go, and how turned."""
    return [
        Sprite(*grid.at(*at_cell(cell)), grid.cell / 100, legal_cell(turns), f"fits turned {' '.join(turns)}")
        for cell, turns in rotations_by_cell(legal).items()
    ]


def _last_tile(last: int | None, grid: Grid) -> list[Shape]:
    if last is None or last >= BUILD:
        return []
    return [Sprite(*grid.at(*at_cell(last % CELLS)), grid.cell / 100, last_tile(), "just laid")]


def _lot_marks(state: Any, legal: list[int], last: int | None, grid: Grid) -> list[Shape]:
    """Lots for the next Floor, and the Floor just placed."""
    marks = [(move, LEGAL, "legal") for move in legal if move >= BUILD]
    if last is not None and last >= BUILD:
        marks.append((last, LAST, "just built"))
    shapes: list[Shape] = []
    for move, colour, title in marks:
        slot, lot = divmod(move - BUILD, 4)
        mark = lot_mark(int(state["building"][slot, lot]) & 31, colour)
        shapes.append(Sprite(*lot_at(state, slot, lot, grid), grid.cell / 100, mark, title))
    return shapes
