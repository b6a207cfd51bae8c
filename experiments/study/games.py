"""Games with what was thought of them, step by step."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from experiments.study.pictures import MUTED, SEATS, STYLE, Page, Picture, finish_axes, label_ends, room_for, to_picture
from tollero_env.film import film
from tollero_env.game import Array, Rules
from tollero_env.opponents import Agent
from tollero_env.position import Position
from tollero_env.render.html import to_html
from tollero_env.rng import derive
from tollero_env.scene import Frame

INCHES, LEFT = 11, 0.055  # width of a picture, and the part left of its charts


@runtime_checkable
class Judge(Protocol):
    """An agent that says what it thinks of a table."""

    def judge(self, position: Position) -> list[float]:
        """Each seat's chance to win; for a position between two turns."""


class Course(NamedTuple):
    """A game from its deal to its end, and what was thought of it. Lists by step begin with the table as dealt."""

    rules: Rules
    names: list[str]  # by seat
    start: Array
    moves: list[int]
    players: list[int]  # who made each move
    points: list[list[int]]  # by step, each seat's
    judged: int | None  # the seat whose chances are told
    chances: list[float | None]  # by step; None within a turn, at the end the share of the win
    replay: dict[str, Any]


def watch(rules: Rules, names: Sequence[str], agents: Sequence[Agent], seed: int, judged: int | None = None) -> Course:
    """Play a game, agents by seat, each told what its seat may know; one seat's chances by its own judgment."""
    position = Position.new(rules, seed)
    judge = None if judged is None else agents[judged]
    if judge is not None and not isinstance(judge, Judge):
        judge = judged = None
    start, players, points = position.states.copy(), list[int](), [position.scores()]
    chances = [None if judge is None or judged is None else judge.judge(position)[judged]]
    while not position.over:
        player, draw = position.player, derive(seed, 1 + position.ply)
        position.play(agents[player].act(position.hidden_from(player, draw), draw))
        players.append(player)
        points.append(position.scores())
        chance = None
        if judged is not None and judge is not None:
            if position.over:
                chance = position.outcome()[judged]
            elif position.player != player:
                chance = judge.judge(position)[judged]
        chances.append(chance)
    moves = position.history()
    return Course(rules, list(names), start, moves, players, points, judged, chances, position.to_replay())


def course_frames(course: Course) -> list[Frame]:
    """Its pictures; captions say who played, and behind a dot what the judge thought its chance was."""
    frames = []
    for step, frame in enumerate(film(course.rules, course.start, course.moves)):
        caption = frame.caption
        if step:
            player = course.players[step - 1]
            caption = caption.replace(f"player {player}:", f"{seat_name(course, player)}:", 1)
        if course.judged is not None and course.chances[step] is not None and step < len(course.moves):
            caption += f" · {seat_name(course, course.judged)} {course.chances[step]:.0%}"
        frames.append(Frame(frame.scene, caption))
    return frames


def seat_name(course: Course, seat: int) -> str:
    """The name of the agent there, with the seat where several have the same."""
    name = course.names[seat]
    return name if course.names.count(name) == 1 else f"{name} {seat}"


def show_film(course: Course, title: str = "") -> Page:
    """The game as a page that steps through it."""
    return Page(to_html(course_frames(course), title or f"{course.rules.game.title}: {' – '.join(course.names)}"))


def course_width(course: Course) -> float:
    """The part of its picture in which the moves lie, from LEFT on; the rest is room for names."""
    return 1 - LEFT - room_for(_ends(course)) / INCHES


def _ends(course: Course) -> list[str]:
    return [f"{seat_name(course, seat)}: {course.points[-1][seat]}" for seat in range(course.rules.players)]


def draw_course(course: Course) -> Picture:
    """The judge's chances and the points of all seats, step by step."""
    is_judged, width = course.judged is not None, course_width(course)
    height = 3.7 if is_judged else 2.2
    bottom, gap, lower = 0.42 / height, 0.42 / height, 1.5 / height
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(INCHES, height))
        axes = figure.add_axes((LEFT, bottom, width, lower))
        for seat in range(course.rules.players):
            axes.plot([points[seat] for points in course.points], color=SEATS[seat], linewidth=1.8)
        last = [float(points) for points in course.points[-1]]
        label_ends(axes, last, _ends(course), SEATS)
        finish_axes(axes, "points")
        axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlim(0, len(course.moves))
        axes.set_xlabel("moves")
        if course.judged is not None:
            above = figure.add_axes((LEFT, bottom + lower + gap, width, 1.0 / height))
            _draw_chances(above, course)
    return to_picture(figure)


def _draw_chances(axes: Axes, course: Course) -> None:
    assert course.judged is not None
    known = [(step, chance) for step, chance in enumerate(course.chances) if chance is not None]
    colour = SEATS[course.judged]
    axes.axhline(1 / course.rules.players, color=MUTED, linewidth=0.8, linestyle=":")
    axes.plot(*zip(*known), "o-", color=colour, linewidth=1.8, markersize=3.2)
    axes.set_xlim(0, len(course.moves))
    axes.set_ylim(-0.04, 1.04)
    axes.set_yticks((0, 0.5, 1))
    axes.yaxis.set_major_formatter(PercentFormatter(1, 0))
    finish_axes(axes, f"chance to win that {seat_name(course, course.judged)} gave itself (at the end: what it got)")
    axes.set_xticklabels([])
