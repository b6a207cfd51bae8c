"""What shows itself in a notebook and lies in a page: figures as SVG, pages in a frame, tables."""

import io
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.pages import markdown_table

INK, MUTED, GRID = "#16385a", "#6b7684", "#e6e1d4"
COLOURS = ("#1f6f9f", "#c8622d", "#3f8f63", "#7d5aa6", "#8a6d1f")
SEATS = ("#d9541e", "#1769b0", "#c99a12", "#3a3735")  # near the colours in which games draw their seats
STYLE: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["Helvetica", "Arial", "Liberation Sans", "DejaVu Sans", "sans-serif"],
    "font.size": 10,
    "svg.fonttype": "none",
    "svg.hashsalt": "study",  # the same figures give the same file
    "figure.facecolor": "white",  # a card of its own, on dark pages too
    "text.color": INK,
    "axes.labelcolor": MUTED,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
}


class Picture(NamedTuple):
    """An SVG element."""

    svg: str

    def __repr__(self) -> str:
        return f"<Picture, {len(self.svg):,} characters>"

    def _repr_svg_(self) -> str:
        return self.svg


class Page(NamedTuple):
    """An HTML page, shown in a frame of its own."""

    html: str
    height: int = 640

    def frame(self, name: str = "page") -> str:
        """The frame as an element with that id."""
        style = f"width:100%;height:{self.height}px;border:0"
        return f'<iframe id="{escape(name)}" style="{style}" srcdoc="{escape(self.html)}"></iframe>'

    def __repr__(self) -> str:
        return f"<Page, {len(self.html):,} characters>"

    def _repr_html_(self) -> str:
        return self.frame()


class Table(NamedTuple):
    """Rows of cells in Markdown, the first ones headings."""

    cells: Sequence[Sequence[str]]

    def _repr_markdown_(self) -> str:
        return markdown_table(self.cells)


def to_picture(figure: Figure) -> Picture:
    """A figure as it stands in a page: without prolog, drawn with the letters of the reader."""
    text = io.StringIO()
    with mpl.rc_context(STYLE):
        figure.savefig(text, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    return Picture(text.getvalue()[text.getvalue().index("<svg") :])


def finish_axes(axes: Axes, title: str, grid: str = "y") -> None:
    """What all charts have in common."""
    axes.set_title(title, fontsize=10, loc="left", color=INK)
    axes.grid(axis=grid, color=GRID, linewidth=0.8)  # type: ignore[arg-type]
    axes.set_axisbelow(True)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def room_for(names: Iterable[str]) -> float:
    """Inches that names at the ends of lines need."""
    return 0.2 + 0.085 * max(map(len, names))


def label_ends(axes: Axes, values: Sequence[float], names: Sequence[str], colours: Sequence[str]) -> None:
    """Names at the right ends of lines, pushed apart as far as they would overlap."""
    low, high = axes.get_ylim()
    height = axes.get_position().height * axes.figure.get_size_inches()[1]  # type: ignore[union-attr]
    room = 0.17 * (high - low) / height  # of a line of text
    order = sorted(range(len(values)), key=lambda k: values[k])
    places = spread([values[k] for k in order], room)
    for k, place in zip(order, places):
        axes.annotate(
            names[k], (1, place), (6, 0), ("axes fraction", "data"), "offset points",
            color=colours[k % len(colours)], va="center", annotation_clip=False,
        )  # fmt: skip


def spread(values: Sequence[float], room: float) -> list[float]:
    """Rising numbers moved as little as brings all neighbours so far apart."""
    groups: list[list[float]] = []  # values that touch, moved together about their mean
    for value in values:
        groups.append([value])
        while len(groups) > 1 and _bottom(groups[-1], room) - _top(groups[-2], room) < room:
            groups[-2:] = [groups[-2] + groups[-1]]
    return [_bottom(group, room) + k * room for group in groups for k in range(len(group))]


def _bottom(group: list[float], room: float) -> float:
    return float(np.mean(group)) - room * (len(group) - 1) / 2


def _top(group: list[float], room: float) -> float:
    return float(np.mean(group)) + room * (len(group) - 1) / 2
