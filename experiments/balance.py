"""Pictures of Talō's five examples of balance, for docs/balance.md.

python -m experiments.balance [--out docs/pictures]
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import tyro

from experiments.options import clear_errors
from tollero_env.files import write_beside
from tollero_env.games.talo.constants import AXES
from tollero_env.games.talo.iso import EDGE, WOODS, Cells, View, board_shapes, cell_shapes, fit_view
from tollero_env.games.talo.pawns import pawn_shapes
from tollero_env.render.svg import to_svg
from tollero_env.scene import Scene, Shape, Sprite, Text, translate

Block = tuple[int, int, int, int, str]  # length, x, y, z, axis
WIDTH, HEIGHT = 300, 260
STANDS, FALLS = "#2e8b57", "#c0392b"


class Example(NamedTuple):
    """One construction on a small board, and whether it stands."""

    caption: str
    blocks: tuple[Block, ...]
    stands: bool
    pawn: tuple[int, int, int] | None = None


POST: Block = (1, 2, 1, 0, "z")
EXAMPLES: dict[str, tuple[Example, ...]] = {
    "talo-18": (
        Example("a 5 at its middle, on a 2 upright", ((2, 2, 1, 0, "z"), (5, 0, 1, 2, "x")), True),
        Example("a 3 across a 3 that lies", ((3, 2, 0, 0, "y"), (3, 1, 1, 1, "x")), True),
        Example("a 5 off its middle", ((2, 2, 1, 0, "z"), (5, 1, 1, 2, "x")), False),
    ),
    "talo-19": (
        Example("a 4 on a 1", (POST, (4, 1, 1, 1, "x")), False),
        Example("a 2 across a 3 that lies", ((3, 2, 0, 0, "y"), (2, 2, 1, 1, "x")), False),
    ),
    "talo-20": (
        Example("a 4 leans on a 2 upright", (POST, (4, 1, 1, 1, "x"), (2, 5, 1, 0, "z")), True),
        Example("on the side that does not sink", (POST, (4, 1, 1, 1, "x"), (2, 0, 1, 0, "z")), False),
    ),
    "talo-21": (
        Example("the 4 alone", (POST, (4, 1, 1, 1, "x")), False),
        Example("with a 1 on its short side", (POST, (4, 1, 1, 1, "x"), (1, 1, 1, 2, "z")), True),
        Example("with a 1 underneath", (POST, (4, 1, 1, 1, "x"), (1, 3, 1, 0, "z")), True),
    ),
    "talo-22": (Example("a pawn weighs nothing", (POST, (4, 1, 1, 1, "x")), False, (1, 1, 2)),),
}


def cells_of(block: Block) -> list[tuple[int, int, int]]:
    """The cells of a block, from its least."""
    length, x, y, z, axis = block
    i, j, k = ((1, 0, 0), (0, 1, 0), (0, 0, 1))[AXES.index(axis)]
    return [(x + n * i, y + n * j, z + n * k) for n in range(length)]


def picture(examples: Sequence[Example]) -> str:
    """The examples side by side, as SVG."""
    shapes: list[Shape] = []
    for number, example in enumerate(examples):
        shapes += translate(_panel(example), WIDTH * number, 0)
    return to_svg(Scene(WIDTH * len(examples), HEIGHT, "#ffffff", shapes))


def _panel(example: Example) -> list[Shape]:
    view: View = fit_view(range(6), range(3), 4, WIDTH, HEIGHT - 44, 16)
    fields = [(x, y, "#a9cf8f") for x in range(6) for y in range(3)]
    cells: Cells = {cell: number for number, block in enumerate(example.blocks) for cell in cells_of(block)}
    items: list[tuple[float, list[Shape]]] = []
    for cell, number in cells.items():
        colour = WOODS[example.blocks[number][0] - 1]
        items.append((sum(cell), cell_shapes(view, cells, cell, colour, EDGE)))
    if example.pawn:
        x, y, level = example.pawn
        items.append(
            (x + y + level + 0.6, [Sprite(*view.at(x + 0.5, y + 0.5, level), view.unit / 100, pawn_shapes(0))])
        )
    items.sort(key=lambda item: item[0])
    verdict, colour = ("stands", STANDS) if example.stands else ("falls", FALLS)
    words = [
        Text(WIDTH / 2, HEIGHT - 32, example.caption, 15, "#2b2b2b"),
        Text(WIDTH / 2, HEIGHT - 10, verdict, 16, colour, bold=True),
    ]
    return [*board_shapes(view, fields, "#8fae7b"), *(shape for _, group in items for shape in group), *words]


def run(out: str = "docs/pictures") -> None:
    """Write the pictures.

    Args:
        out: Folder to write them to.
    """
    for name, examples in EXAMPLES.items():
        with write_beside(Path(out) / f"{name}.svg") as file:
            file.write(picture(examples))
    print(f"{out}{os.sep}: {', '.join(EXAMPLES)}")


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line."""
    with clear_errors(ValueError, OSError):
        tyro.cli(run, prog="python -m experiments.balance", description=__doc__, args=args)


if __name__ == "__main__":
    main()
