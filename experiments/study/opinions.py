"""What a search thinks of the moves of a position, and where it would have played another one."""

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from experiments.study.games import Course
from experiments.study.pictures import COLOURS, INK, STYLE, Picture, finish_axes, to_picture
from tollero_env.game import OptionError
from tollero_env.opponents import Agent, make_agent
from tollero_env.position import Position
from tollero_env.rng import derive


@runtime_checkable
class Weigher(Protocol):
    """An agent that tells what it found out about each move, such as ismcts."""

    def weigh(self, position: Position, seed: int) -> dict[int, tuple[int, float]]:
        """For every legal move how often it was tried, and its mean."""


class Opinion(NamedTuple):
    """What a search thinks of a move."""

    move: int
    text: str
    visits: int
    value: float  # mean share of the win


def opinions(position: Position, name: str = "ismcts:sims=2000", seed: int = 1) -> list[Opinion]:
    """What a searching agent thinks of each legal move, what it tried most often first."""
    agent = make_agent(name)
    if not isinstance(agent, Weigher):
        raise OptionError(f"agent {name!r} does not tell what it thinks of each move; ismcts does")
    tried = agent.weigh(position.hidden_from(position.player, seed), seed)
    found = [Opinion(move, position.text(move), *tried[move]) for move in position.moves()]
    return sorted(found, key=_rank, reverse=True)


def _rank(one: Opinion) -> tuple[int, float]:
    return one.visits, one.value


class Change(NamedTuple):
    """A place in a game where a search prefers another move."""

    step: int
    position: Position
    chosen: int  # by the agent
    found: list[Opinion]


def changes_of_mind(course: Course, seat: int, agent: Agent, name: str = "ismcts:sims=2000") -> list[Change]:
    """Where a search prefers another move than the agent at the beginning of a seat's turns; the clearest first.

    Within a turn the two may only differ in the order of the same moves.
    """
    found, position, last = [], Position(course.rules, course.start), -1
    for step, (move, player) in enumerate(zip(course.moves, course.players)):
        if player == seat != last and len(position.moves()) > 1:
            seed = derive(1, step)
            chosen = agent.act(position.hidden_from(player, seed), seed)
            seen = opinions(position, name, seed)
            if _rank(seen[0]) > _rank(_opinion_of(seen, chosen)):
                found.append(Change(step, position.copy(), chosen, seen))
        position.play(move)
        last = player
    return sorted(found, key=_doubt, reverse=True)


def _opinion_of(found: Sequence[Opinion], move: int) -> Opinion:
    return next(one for one in found if one.move == move)


def _doubt(change: Change) -> float:
    """By how much the search's move is surely thought better than the agent's: less a standard error."""
    best, chosen = change.found[0], _opinion_of(change.found, change.chosen)
    if not chosen.visits:
        return -1.0
    return best.value - chosen.value - 0.5 * math.sqrt(1 / best.visits + 1 / chosen.visits)


def draw_opinions(found: Sequence[Opinion], chosen: int | None = None, most: int = 12) -> Picture:
    """The moves tried most often: how often, and how good they are thought to be; another agent's choice in orange."""
    shown = list(found[:most])
    if chosen is not None and chosen not in [one.move for one in shown]:
        shown[-1] = _opinion_of(found, chosen)
    colours = [COLOURS[1] if one.move == chosen else COLOURS[0] for one in shown]
    places, total = range(len(shown)), max(1, sum(one.visits for one in found))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9, 0.27 * len(shown) + 0.75), layout="constrained")
        left, right = figure.subplots(1, 2, sharey=True)
        left.barh(places, [one.visits / total for one in shown], color=colours, height=0.7)
        left.xaxis.set_major_formatter(PercentFormatter(1, 0))
        left.set_yticks(places, [one.text for one in shown], color=INK)
        left.set_ylim(len(shown) - 0.5, -0.5)
        finish_axes(left, "how often it was tried", "x")
        tried = [(one.value, place, colour) for one, place, colour in zip(shown, places, colours) if one.visits]
        for value, place, colour in tried:
            right.plot(value, place, "o", color=colour, markersize=7)
        right.xaxis.set_major_locator(MaxNLocator(6))
        right.xaxis.set_major_formatter(PercentFormatter(1, 0))
        finish_axes(right, "share of the win that it promised", "x")
    return to_picture(figure)
