"""The picture of Talō: the building from the south-east, and beside it a plan, what is left of the blocks, the players.

It has one size whatever is built, so that pictures of a game make a film.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tollero_env.game import Array, Rules
from tollero_env.games.talo import panel as side
from tollero_env.games.talo.boards import GREEN, NO_START
from tollero_env.games.talo.constants import HEIGHT, PICK, SIDE, TOP, WALK
from tollero_env.games.talo.iso import (
    EDGE,
    EDGE_LAST,
    WOODS,
    Cells,
    View,
    board_shapes,
    cell_shapes,
    cells_of,
    fit_view,
    wall_shapes,
)
from tollero_env.games.talo.notation import Cell, block_cells, pawn_at, place_of
from tollero_env.games.talo.pawns import GHOST, pawn_shapes, step_mark, way_mark
from tollero_env.scene import Rect, Scene, Shape, Sprite, centred_text, translate

TABLE = 900  # side of the square in which the building stands
WIDTH, HEIGHT_OF_SCENE = TABLE + side.WIDTH + 24, TABLE
BACK, PANEL = "#e9ecef", "#f7f4ec"
FIELDS = {GREEN: "#a9cf8f", NO_START: "#93bd7b", "~": "#a8cfe6"}
CLOTH = "#cdb79a"  # a table without a board
FIELD_LINE, WALL_LINE, WALL_STRONG, RULER_INK = "#8fae7b", "#d8dde2", "#b9c1c9", "#5c6670"


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
    """The table, the last move and these legal moves marked. Nothing is hidden from anybody.

    `room`, an array of one later state, makes pictures of one game line up: they leave room for its building.
    """
    state, legal = states[i], list(legal)
    view = _view(state if room is None else room[0])
    shapes = [
        *wall_shapes(view, WALL_LINE, WALL_STRONG),
        *board_shapes(view, _fields(rules), FIELD_LINE),
        *_coordinates(view),
        *_building(rules, states, i, view, last, legal),
        *_ghosts(rules, state, view),
        *_ruler(view, int(state["highest"])),
        Rect(TABLE, 0, WIDTH - TABLE, HEIGHT_OF_SCENE, PANEL),
        *translate(side.panel(rules, states, i, last, legal), TABLE + 12, 12),
    ]
    return Scene(WIDTH, HEIGHT_OF_SCENE, BACK, shapes)


def _view(state: Any) -> View:
    """Room for the board, and for what reaches over its edge."""
    places = [cell for block in range(1, int(state["num_blocks"]) + 1) for cell in block_cells(state, block)]
    xs, ys = [0, SIDE - 1, *(cell.x for cell in places)], [0, SIDE - 1, *(cell.y for cell in places)]
    return fit_view(range(min(xs), max(xs) + 1), range(min(ys), max(ys) + 1), TOP + 1, TABLE, TABLE, 44)


def _fields(rules: Rules) -> list[tuple[int, int, str]]:
    rows = rules.material.rows
    return [(x, y, FIELDS[rows[y][x]] if rows else CLOTH) for y in range(SIDE) for x in range(SIDE)]


def _coordinates(view: View) -> list[Shape]:
    """x along the south edge, y along the east edge."""
    size = max(11.0, view.unit * 0.32)
    xs = [centred_text(*view.at(x + 0.5, SIDE + 0.45), str(x), size, RULER_INK) for x in range(SIDE)]
    ys = [centred_text(*view.at(SIDE + 0.45, y + 0.5), str(y), size, RULER_INK) for y in range(SIDE)]
    return [*xs, *ys]


def _ruler(view: View, highest: int) -> list[Shape]:
    """A bar with the levels at the west corner of the board; how high the building is stands out."""
    x, y = view.at(0, SIDE, 0)
    x -= view.unit * 0.35
    wide = view.unit * 0.34
    shapes: list[Shape] = []
    for level in range(TOP):
        fill = "#e8b04a" if level < highest else "#ffffff" if level % 2 else "#dfe4e8"
        top = y - (level + 1) * view.unit
        shapes.append(Rect(x - wide, top, wide, view.unit, fill, RULER_INK, 1))
    for level in range(TOP + 1):
        place = (x - wide - view.unit * 0.32, y - level * view.unit)
        shapes.append(centred_text(*place, str(level), max(12.0, view.unit * 0.36), RULER_INK, level == TOP))
    return shapes


def _building(rules: Rules, states: Array, i: int, view: View, last: int | None, legal: list[int]) -> list[Shape]:
    """Blocks, pawns, where they can walk, and marks, what is further away first."""
    state = states[i]
    cells = cells_of(state, block_cells)
    newest = int(state["num_blocks"]) if last is not None and last < WALK else 0
    items: list[tuple[float, list[Shape]]] = []
    for cell, block in cells.items():
        edge = EDGE_LAST if block == newest else EDGE
        colour = WOODS[int(state["length"][block]) - 1]
        items.append((sum(cell), cell_shapes(view, cells, cell, colour, edge)))
    for seat in range(rules.players):
        if feet := pawn_at(state, seat):
            title = f"player {seat} on level {feet.z}"
            sprite = Sprite(*view.at(feet.x + 0.5, feet.y + 0.5, feet.z), view.unit / 100, pawn_shapes(seat), title)
            items.append((sum(feet) + 0.6, [sprite]))
        for cell in side.ways_of(states, i, seat):
            mark = Sprite(*_floor_of(view, cell, seat), view.unit / 100, way_mark(seat), f"player {seat} can walk here")
            items.append((sum(cell) - 0.4, [mark]))
    for move in legal:
        if move < PICK:
            place = place_of(move)
            mark = Sprite(*_floor_of(view, place), view.unit / 100, step_mark(), "legal")
            items.append((sum(place) - 0.3, [mark]))
    items.sort(key=lambda item: item[0])
    return [shape for _, shapes in items for shape in shapes]


def _floor_of(view: View, cell: Cell, seat: int | None = None) -> tuple[float, float]:
    """The middle of a cell's floor, or the part of it where a seat's marks go."""
    dx, dy = (0.5, 0.5) if seat is None else ((0.25, 0.25), (0.75, 0.25), (0.25, 0.75), (0.75, 0.75))[seat]
    return view.at(cell.x + dx, cell.y + dy, cell.z)


def _ghosts(rules: Rules, state: Any, view: View) -> list[Shape]:
    """Pawns behind the building shine through."""
    cells = cells_of(state, block_cells)
    shapes: list[Shape] = []
    for seat in range(rules.players):
        feet = pawn_at(state, seat)
        if feet and _is_hidden(cells, feet):
            at = view.at(feet.x + 0.5, feet.y + 0.5, feet.z)
            shapes.append(Sprite(*at, view.unit / 100, GHOST[seat], f"player {seat}, behind the building"))
    return shapes


def _is_hidden(cells: Cells, feet: Cell) -> bool:
    """Is there a block between the pawn's body and the eye?"""
    for k in range(1, HEIGHT + SIDE):
        for i, j in ((k, k), (k, k - 1), (k - 1, k)):
            if (feet.x + i, feet.y + j, feet.z + k) in cells or (feet.x + i, feet.y + j, feet.z + k - 1) in cells:
                return True
    return False
