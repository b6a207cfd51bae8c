"""The rows as one picture: bars beside the peers', and how the batch scales. Drawn without any window."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from experiments.bench.tables import is_scaling, short
from tollero_env.files import beside

INK, MUTED, GRID, OURS, PEER = "#222222", "#666666", "#e4e4e4", "#2b6ca3", "#b9b4ab"
LINES = ("#2b6ca3", "#d9822b", "#4c9a6a", "#8a5fa8")  # by number of threads
STYLE: Any = {
    "font.family": "sans-serif",
    "font.size": 9.5,
    "svg.fonttype": "none",
    "svg.hashsalt": "bench",  # the same rows give the same file
    "figure.facecolor": "white",  # a card of its own, on dark pages too
    "text.color": INK,
    "axes.labelcolor": MUTED,
    "xtick.color": MUTED,
    "ytick.color": INK,
}
Rows = Sequence[dict[str, Any]]


class Panel(NamedTuple):
    """One chart, and how many lines high it is."""

    draw: Callable[[Axes], None]
    lines: int


def draw(rows: Rows, path: str) -> None:
    """Write the picture; groups that are not among the rows are left out."""
    columns = [column for column in (_left(rows), _right(rows)) if column]
    if not columns:
        raise ValueError("there is nothing to draw in these rows")
    lines = max(sum(panel.lines + 4 for panel in column) for column in columns)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(5.6 * len(columns), 0.245 * lines + 0.4), layout="constrained")
        figure.suptitle("Random play on one core", fontsize=12.5, fontweight="bold")
        figure.set_layout_engine("constrained", h_pad=0.09, w_pad=0.12)
        for part, column in zip(figure.subfigures(1, len(columns), squeeze=False)[0], columns):
            charts = part.subplots(len(column), 1, height_ratios=[panel.lines for panel in column], squeeze=False)
            for axes, panel in zip(charts[:, 0], column):
                panel.draw(axes)
        figure.legend(
            handles=[Patch(color=OURS, label="Tollero"), Patch(color=PEER, label="other games")],
            loc="outside lower center",
            ncols=2,
            frameon=False,
        )
        with beside(path) as neighbour:
            figure.savefig(neighbour, format="svg", metadata={"Date": None})


def _left(rows: Rows) -> list[Panel]:
    return [
        *_bars(rows, "kernel", "Rules alone: decisions a second"),
        *_bars(rows, "batch", "1024 games at once: steps a second"),
    ]


def _right(rows: Rows) -> list[Panel]:
    sizes = [row for row in rows if is_scaling(row)]
    scaling = [Panel(lambda axes: _draw_scaling(axes, sizes), 11)] if sizes else []
    return [*_bars(rows, "aec", "PettingZoo's loop: µs a step, less is better"), *scaling]


def _bars(rows: Rows, group: str, title: str) -> list[Panel]:
    """One bar a case; other numbers of players are dots on it. Drawing actions is left to the tables."""
    names: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        is_other = is_scaling(row) or row["unit"] == "%" or row["case"].endswith(" sampled")
        if row.get("group") == group and not is_other:
            names.setdefault(row["case"], []).append(row)
    if not names:
        return []
    ordered = sorted(names.values(), key=lambda members: _speed(members[0]), reverse=True)
    return [Panel(lambda axes: _draw_bars(axes, ordered, title), len(ordered))]


def _speed(row: dict[str, Any]) -> float:
    return float(row["value"] if row["unit"] == "steps/s" else 1 / row["value"])


def _draw_bars(axes: Axes, cases: Sequence[Rows], title: str) -> None:
    first = [members[0] for members in cases]
    values = [row["value"] for row in first]
    colours = [OURS if row["case"].startswith("tollero") else PEER for row in first]
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: short(value))
    axes.set_xlim(10.0 ** _digits(min(values) / 2), max(values) * 4)
    axes.barh(range(len(values)), values, color=colours, height=0.72)
    for y, members in enumerate(cases):
        others = [row["value"] for row in members[1:]]
        axes.plot(others, [y] * len(others), "o", color="white", markeredgecolor=INK, markersize=4.5)
        right = max(row["value"] for row in members)
        axes.annotate(short(values[y]), (right, y), (7, 0), textcoords="offset points", va="center", color=INK)
    axes.set_yticks(range(len(values)), [row["case"] for row in first])
    axes.set_ylim(len(values) - 0.4, -0.6)
    has_others = any(len(members) > 1 for members in cases)
    _finish(axes, title, "x")
    if has_others:
        axes.set_xlabel("bars and figures: 2 players; dots: 3 and 4")


def _digits(value: float) -> int:
    """The power of ten below it."""
    return int(f"{value:e}".partition("e")[2])


def _draw_scaling(axes: Axes, rows: Rows) -> None:
    sizes = sorted({row["games"] for row in rows})
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda value, _: short(value))
    for colour, threads in zip(LINES, sorted({row["threads"] for row in rows})):
        points = sorted((row["games"], row["value"]) for row in rows if row["threads"] == threads)
        axes.plot(*zip(*points), "o-", color=colour, markersize=5, label=f"{threads} thread{'s' * (threads > 1)}")
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.legend(loc="lower right", frameon=False)
    axes.set_xlabel("games in the batch")
    _finish(axes, "Batches of slots: steps a second", "both")


def _finish(axes: Axes, title: str, grid: Any) -> None:
    axes.minorticks_off()
    axes.grid(axis=grid, color=GRID)
    axes.set_axisbelow(True)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_title(title, fontsize=10.5, fontweight="bold", loc="left")
