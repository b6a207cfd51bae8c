"""Pictures of a report; drawn without any window or global state."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from tollero_env.files import beside
from tollero_env.game import get_game

INK, MUTED, GRID, ACCENT = "#222222", "#777777", "#e4e4e4", "#2b6ca3"
BOUNDS = {"none": ("o", ""), "lower": (">", "≥ "), "upper": ("<", "≤ ")}  # marker and sign of a rating
STYLE: Any = {
    "font.family": "sans-serif",
    "font.size": 10,
    "svg.fonttype": "none",
    "svg.hashsalt": "arena",  # the same report gives the same file
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.color": MUTED,
    "ytick.color": INK,
}


def draw_report(report: dict[str, Any], path: Path) -> None:
    """Head to head as a heat map, and the ratings beside it, strongest first."""
    config, ratings = report["config"], report["ratings"]
    number = len(ratings)
    room = 0.085 * max(len(row["agent"]) for row in ratings)  # inches for the names
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(room + 0.75 * number + 6.2, 0.55 * number + 1.9), layout="constrained")
        heat, chart = figure.subplots(1, 2, width_ratios=(0.75 * number, 4.8))
        figure.suptitle(
            f"{get_game(config['game']).title}, {config['players']} players: {report['games']:,} games",
            fontsize=12,
            fontweight="bold",
        )
        _draw_heat(heat, report)
        _draw_ratings(chart, report)
        _save(figure, path)


def _draw_heat(axes: Axes, report: dict[str, Any]) -> None:
    agents, players = report["config"]["agents"], report["config"]["players"]
    order = [agents.index(row["agent"]) for row in report["ratings"]]
    shares = [[report["head_to_head"][a][b] for b in order] for a in order]
    grid = [[float("nan") if share is None else share for share in row] for row in shares]
    axes.imshow(grid, cmap="RdBu", norm=TwoSlopeNorm(1 / players, -0.2, 1.2), aspect="auto")
    for y, row in enumerate(shares):
        for x, share in enumerate(row):
            if share is not None:
                strength = abs(share - 1 / players) / (1 - 1 / players if share > 1 / players else 1 / players)
                axes.text(x, y, f"{share:.0%}", ha="center", va="center", color="white" if strength > 0.6 else INK)
    names = [agents[a] for a in order]
    axes.set_yticks(range(len(names)), [f"{name}  {y}" for y, name in enumerate(names, 1)])
    axes.set_xticks(range(len(names)), [str(x) for x in range(1, len(names) + 1)])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    rivals = "column" if players == 2 else f"{players - 1} of column"
    axes.set_title(f"win share, row against {rivals}", fontsize=10)


def _draw_ratings(axes: Axes, report: dict[str, Any]) -> None:
    ratings = report["ratings"]
    values = [row["rating"]["value"] for row in ratings]
    spans = [(row["rating"]["low"], row["rating"]["high"]) for row in ratings]
    axes.axvline(0, color=MUTED, linewidth=0.8, linestyle=":")
    axes.hlines(range(len(values)), *zip(*spans), color=ACCENT, linewidth=2)
    for y, row in enumerate(ratings):
        marker, sign = BOUNDS[row["bound"]]
        axes.plot(values[y], y, marker, color=ACCENT, markersize=7)
        text = f"{sign}{row['rating']['value']:.0f}"
        axes.annotate(text, (values[y], y), (0, 7), textcoords="offset points", ha="center")
    axes.set_ylim(len(values) - 0.5, -0.5)
    axes.set_yticks(range(len(values)), [str(y) for y in range(1, len(values) + 1)])
    axes.margins(x=0.12)
    axes.grid(axis="x", color=GRID)
    axes.set_axisbelow(True)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_title(f"rating above {report['anchor']}, Elo points, 95% intervals", fontsize=10)


def draw_curve(curve: dict[str, Any], path: Path) -> None:
    """Win share against the value that was varied, doubling steps equally wide."""
    points = curve["points"]
    shares = [point["share"] for point in points]
    values = [share["value"] for share in shares]
    below = [max(0.0, share["value"] - share["low"]) for share in shares]
    above = [max(0.0, share["high"] - share["value"]) for share in shares]
    numbers = [float(point["value"]) for point in points]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7, 4.3), layout="constrained")
        axes = figure.subplots()
        if min(numbers) > 0:
            axes.set_xscale("log", base=2)
        axes.axhline(1 / curve["players"], color=MUTED, linewidth=0.8, linestyle=":")
        axes.annotate(
            "fair", (1, 1 / curve["players"]), (-2, 3), ("axes fraction", "data"), "offset points", ha="right"
        )
        axes.errorbar(numbers, values, yerr=(below, above), fmt="o-", color=ACCENT, capsize=4, markersize=6)
        for x, y in zip(numbers, values):
            axes.annotate(f"{y:.0%}", (x, y), (9, -12), textcoords="offset points", color=INK)
        axes.set_xticks(numbers, [point["value"] for point in points])
        axes.minorticks_off()
        axes.margins(x=0.12)
        axes.set_ylim(0, 1.02)
        axes.yaxis.set_major_formatter(PercentFormatter(1))
        axes.grid(color=GRID)
        axes.set_axisbelow(True)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        axes.set_xlabel(f"value in {curve['agent']}")
        rivals = curve["against"] if curve["players"] == 2 else f"{curve['players'] - 1} of {curve['against']}"
        axes.set_title(f"win share against {rivals}, 95% intervals", fontsize=11)
        _save(figure, path)


def _save(figure: Figure, path: Path) -> None:
    with beside(path) as neighbour:
        figure.savefig(neighbour, metadata={"Date": None})
