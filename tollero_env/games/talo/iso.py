"""Where things lie in the picture of Talō: seen from above the south-east corner, and blocks as what faces are seen."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

from tollero_env.games.talo.constants import ALONG_X, ALONG_Y, HEIGHT, SIDE
from tollero_env.scene import Line, Polygon, Shape

_ACROSS, _DOWN = math.cos(math.pi / 6), math.sin(math.pi / 6)
EDGE, EDGE_LAST = "#5b4126", "#d6246e"
# By length, what a block looks like on top; the sides are darker.
WOODS = (
    "#f6e3b4", "#f3d79c", "#efcb86", "#ebbd73", "#e5ad62", "#dc9c54", "#d08a49", "#c27a40", "#b16a38", "#9d5a31"
)  # fmt: skip
_FACES = (  # what is seen: offset of the neighbour that would hide it, corners, shade
    ((0, 0, 1), ((0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)), 1.0),
    ((1, 0, 0), ((1, 0, 0), (1, 1, 0), (1, 1, 1), (1, 0, 1)), 0.62),
    ((0, 1, 0), ((0, 1, 0), (1, 1, 0), (1, 1, 1), (0, 1, 1)), 0.8),
)
# the edges of each face: corners by number, and the neighbour in the plane beyond that edge
_RIMS = (
    ((0, 1, (0, -1, 0)), (1, 2, (1, 0, 0)), (2, 3, (0, 1, 0)), (3, 0, (-1, 0, 0))),
    ((0, 1, (0, 0, -1)), (1, 2, (0, 1, 0)), (2, 3, (0, 0, 1)), (3, 0, (0, -1, 0))),
    ((0, 1, (0, 0, -1)), (1, 2, (1, 0, 0)), (2, 3, (0, 0, 1)), (3, 0, (-1, 0, 0))),
)
_STEPS = {ALONG_X: (1, 0, 0), ALONG_Y: (0, 1, 0)}

Cells = dict[tuple[int, int, int], int]  # block of each cell


class View(NamedTuple):
    """A scale and the place of (0, 0, 0)."""

    unit: float
    left: float
    top: float

    def at(self, x: float, y: float, z: float = 0) -> tuple[float, float]:
        """A point of space in the picture."""
        return (
            round(self.left + (x - y) * _ACROSS * self.unit, 2),
            round(self.top + ((x + y) * _DOWN - z) * self.unit, 2),
        )


def fit_view(columns: range, rows: range, levels: int, width: float, height: float, margin: float) -> View:
    """The view that shows these columns and rows of cells up to that level in a rectangle."""
    wide = (len(columns) + len(rows)) * _ACROSS
    tall = (len(columns) + len(rows)) * _DOWN + levels
    unit = min((width - 2 * margin) / wide, (height - 2 * margin) / tall)
    left = width / 2 - unit * _ACROSS * ((columns[0] - rows.stop) + (columns.stop - rows[0])) / 2
    top = height / 2 + unit * tall / 2 - unit * _DOWN * (columns.stop + rows.stop)
    return View(unit, left, top)


def shaded(colour: str, factor: float) -> str:
    """A darker colour."""
    return "#" + "".join(f"{int(int(colour[k : k + 2], 16) * factor):02x}" for k in (1, 3, 5))


def cells_of(state: Any, cells_of_block: Any) -> Cells:
    """Every cell that a block takes."""
    return {
        (cell.x, cell.y, cell.z): block
        for block in range(1, int(state["num_blocks"]) + 1)
        for cell in cells_of_block(state, block)
    }


def cell_shapes(view: View, cells: Cells, cell: tuple[int, int, int], colour: str, edge: str) -> list[Shape]:
    """The faces of one cell that are seen, with lines where its block ends."""
    x, y, z = cell
    block = cells[cell]
    shapes: list[Shape] = []
    for (hider, corners, shade), rims in zip(_FACES, _RIMS):
        if (x + hider[0], y + hider[1], z + hider[2]) in cells:
            continue
        points = tuple(view.at(x + i, y + j, z + k) for i, j, k in corners)
        fill = shaded(colour, shade)
        shapes.append(Polygon(points, fill, fill, 0.6))
        for first, second, (i, j, k) in rims:
            beside = (x + i, y + j, z + k)
            hidden = (beside[0] + hider[0], beside[1] + hider[1], beside[2] + hider[2])
            if cells.get(beside) != block or hidden in cells:
                shapes.append(Line(*points[first], *points[second], edge, view.unit * 0.045))
    return shapes


def board_shapes(view: View, colours: Iterable[tuple[int, int, str]], line: str) -> list[Shape]:
    """The fields of the board, flat."""
    return [
        Polygon((view.at(x, y), view.at(x + 1, y), view.at(x + 1, y + 1), view.at(x, y + 1)), colour, line, 1)
        for x, y, colour in colours
    ]


def wall_shapes(view: View, line: str, strong: str) -> list[Shape]:
    """Levels 1 to 10 as lines behind the board."""
    shapes: list[Shape] = []
    for level in range(1, HEIGHT + 1):
        colour = strong if level in (5, 10) else line
        shapes.append(Line(*view.at(0, SIDE, level), *view.at(0, 0, level), colour, 1))
        shapes.append(Line(*view.at(0, 0, level), *view.at(SIDE, 0, level), colour, 1))
    for x, y in ((0, SIDE), (0, 0), (SIDE, 0)):
        shapes.append(Line(*view.at(x, y, 0), *view.at(x, y, HEIGHT), strong, 1))
    return shapes
