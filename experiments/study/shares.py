"""Shares of the win as pictures: how sure one is after how many deals, and whether chances come true."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter, ScalarFormatter

from experiments.study.games import Course
from experiments.study.pictures import COLOURS, MUTED, STYLE, Picture, finish_axes, label_ends, room_for, to_picture
from experiments.tournament.statistics import Estimate, estimate_means, estimate_share
from tollero_env.game import Array

FIRST = 10  # deals


def running_estimates(shares: Array, points: int = 24) -> list[tuple[int, Estimate]]:
    """What the first so many deals say, for numbers of deals up to all."""
    numbers = np.unique(np.geomspace(min(FIRST, len(shares)), len(shares), points).round().astype(int))
    return [(int(n), estimate_share(estimate_means(shares[:n, np.newaxis])[0], int(n))) for n in numbers]


def draw_running(shares: Mapping[str, Array], fair: float) -> Picture:
    """The share of the win on each deal, by name: the mean of the first so many and its 95% interval."""
    names = [f"{name} {each.mean():.1%}" for name, each in shares.items()]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10, 3.6))
        axes = figure.add_axes((0.07, 0.14, 0.93 - room_for(names) / 10, 0.77))
        axes.axhline(fair, color=MUTED, linewidth=0.8, linestyle=":")
        for each, colour in zip(shares.values(), COLOURS * 9):
            numbers, found = zip(*running_estimates(each))
            axes.fill_between(numbers, [e.low for e in found], [e.high for e in found], color=colour, alpha=0.18, lw=0)
            axes.plot(numbers, [e.value for e in found], color=colour, linewidth=1.8)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(ScalarFormatter())
        axes.yaxis.set_major_formatter(PercentFormatter(1, 0))
        axes.set_xlabel("deals, each played from every seat")
        finish_axes(axes, "win share, with its 95% interval")
        axes.minorticks_off()
        axes.margins(x=0)
        label_ends(axes, [float(each.mean()) for each in shares.values()], names, COLOURS)
    return to_picture(figure)


class Bin(NamedTuple):
    """Moments at which about the same chance was given."""

    given: float  # mean
    came: float  # mean share of the win
    moments: int


def calibration(courses: Sequence[Course], bins: int = 10) -> list[Bin]:
    """What became of the chances that the judges of games gave themselves."""
    pairs = [
        (chance, course.chances[-1])
        for course in courses
        for chance in course.chances[:-1]
        if chance is not None and course.chances[-1] is not None
    ]
    given, came = np.array(pairs).T
    place = np.minimum((given * bins).astype(int), bins - 1)
    return [
        Bin(float(given[place == k].mean()), float(came[place == k].mean()), int((place == k).sum()))
        for k in range(bins)
        if (place == k).any()
    ]


def draw_calibration(courses: Sequence[Course], bins: int = 10) -> Picture:
    """Chances given against shares that came; on the line, the judge is right on average."""
    found = calibration(courses, bins)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(4.6, 4.4), layout="constrained")
        axes = figure.subplots()
        axes.plot((0, 1), (0, 1), ":", color=MUTED, linewidth=1)
        largest = max(one.moments for one in found)
        sizes = [20 + 220 * one.moments / largest for one in found]
        axes.scatter([one.given for one in found], [one.came for one in found], s=sizes, color=COLOURS[0], alpha=0.85)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(PercentFormatter(1, 0))
        axes.set_xlim(-0.05, 1.05)
        axes.set_ylim(-0.05, 1.05)
        axes.set_xlabel(f"chance it gave itself, in {len(courses)} games")
        finish_axes(axes, "share of the win that came of it", "both")
    return to_picture(figure)
