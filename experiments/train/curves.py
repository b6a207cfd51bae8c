"""The curves of a run: win share, loss and speed, over what was done and over time."""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import EngFormatter, MaxNLocator, PercentFormatter

from experiments.study.pictures import COLOURS, INK, MUTED, STYLE, Picture, finish_axes, label_ends, to_picture

Rows = Sequence[dict[str, Any]]  # lines of curve.jsonl
_SURE = 1.96  # standard deviations of a 95% interval


def wilson(share: float, games: int) -> tuple[float, float]:
    """The 95% interval of a share of wins in so many games, by Wilson's formula."""
    square = _SURE**2 / games
    middle = (share + square / 2) / (1 + square)
    half = _SURE / (1 + square) * math.sqrt(share * (1 - share) / games + square / (4 * games))
    return max(0.0, middle - half), min(1.0, middle + half)


def speeds(rows: Rows) -> list[tuple[dict[str, Any], float]]:
    """Units a second up to each look since the one before, where any were done."""
    found = []
    for before, row in itertools.pairwise(rows):
        done, seconds = row["done"] - before["done"], row["seconds"] - before["seconds"]
        if done > 0 and seconds > 0:
            found.append((row, done / seconds))
    return found


def draw_curves(rows: Rows, unit: str, players: int) -> Picture:
    """Six charts in two columns: the left one over games or steps, the right one over minutes."""
    lost = [(row, float(row["loss"])) for row in rows if row["loss"] is not None]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(11, 6.6), layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.06))
        charts = figure.subplots(3, 2, sharex="col", sharey="row", height_ratios=(3.2, 1.2, 1.2))
        for column, key in enumerate(("done", "seconds")):
            places = {id(row): row[key] / (60 if key == "seconds" else 1) for row in rows}
            _draw_shares(charts[0, column], rows, [places[id(row)] for row in rows], players)
            for axes, points in ((charts[1, column], lost), (charts[2, column], speeds(rows))):
                xs, ys = [places[id(row)] for row, _ in points], [value for _, value in points]
                axes.plot(xs, ys, "o-", color=INK, linewidth=1.5, markersize=3)
            charts[2, column].set_xlabel(unit if key == "done" else "minutes")
        charts[2, 1].xaxis.set_major_locator(MaxNLocator(6))
        charts[2, 0].xaxis.set_major_formatter(EngFormatter(sep=""))
        for row, title in enumerate(("win share", "loss", f"{unit} a second")):
            for axes in charts[row]:
                finish_axes(axes, title if axes is charts[row, 0] else "")
        for axes in charts[1:, 0]:
            axes.yaxis.set_major_locator(MaxNLocator(3))
            axes.set_ylim(bottom=min(0, axes.dataLim.y0) if math.isfinite(axes.dataLim.y0) else 0)
        charts[2, 0].yaxis.set_major_formatter(EngFormatter(sep=""))
        _label(charts[0, 1], rows)
    return to_picture(figure)


def _draw_shares(axes: Axes, rows: Rows, xs: list[float], players: int) -> None:
    axes.axhline(1 / players, color=MUTED, linewidth=0.8, linestyle=":")
    for name, colour in zip(_names(rows), COLOURS * 9):
        shares = [row["shares"][name] for row in rows]
        lows, highs = zip(*(wilson(share, row["games"]) for share, row in zip(shares, rows)))
        axes.fill_between(xs, lows, highs, color=colour, alpha=0.16, linewidth=0)
        axes.plot(xs, shares, "o-", color=colour, linewidth=1.8, markersize=3)
    lowest = min((share for row in rows for share in row["shares"].values()), default=0.0)
    axes.set_ylim(max(0.0, min(lowest, 1 / players) - 0.1), 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(1, 0))


def _label(axes: Axes, rows: Rows) -> None:
    names = _names(rows)
    if names:
        axes.figure.canvas.draw()  # places the axes: how far apart names must be depends on it
        label_ends(axes, [rows[-1]["shares"][name] for name in names], names, COLOURS)


def _names(rows: Rows) -> list[str]:
    return list(rows[-1]["shares"]) if rows else []
