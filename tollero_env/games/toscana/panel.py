"""The panel beside the board of Toscana: whose turn it is, points, areas, veto stones, top tiles, what is left."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tollero_env.game import Array, Rules
from tollero_env.games.toscana.constants import ASKED, PLACE, SEATS, SET_TILES
from tollero_env.games.toscana.notation import (
    COLOURS,
    areas_of,
    move_text,
    mover_of,
    points_of,
    stack_of,
    sunk_tile,
    tile_rows,
)
from tollero_env.games.toscana.pieces import (
    EDGE,
    FILLS,
    GROUND_LINE,
    INK,
    LAST,
    MUTED,
    WHITE,
    Shapes,
    counter,
    ghost_shapes,
    small_tile,
    square_shapes,
    stone,
    tile_sprites,
)
from tollero_env.scene import Line, Rect, Shape, Sprite, Text, scale, translate

WIDTH, BLOCK, GAP, PAD = 276, 318, 14, 13  # a player's block is BLOCK high
HEAD, FOOT = 112, 778  # where the players begin, and the legend
TOP, SMALL = 0.36, 0.11  # scales of tiles: the top one, those below
A_ROW = 5  # of small tiles


def panel(rules: Rules, states: Array, i: int, viewer: int | None, last: int | None) -> list[Shape]:
    """The panel with its top left corner at (0, 0)."""
    state, points, areas = states[i], points_of(rules, states, i), areas_of(rules, states, i)
    shares = np.zeros(SEATS)
    rules.game.outcome(states, i, rules.tables, shares)
    shapes = _head(rules, state, shares.tolist(), None if last is None else move_text(rules, states, i, last))
    for seat in range(SEATS):
        is_marked = shares[seat] > 0 if state["over"] else seat == mover_of(state)
        block = _block(rules, state, seat, (points[seat], areas[seat]), viewer, is_marked)
        shapes += translate(block, 0, HEAD + seat * (BLOCK + GAP))
    return [*shapes, *_legend()]


def _head(rules: Rules, state: Any, shares: list[float], last: str | None) -> list[Shape]:
    done = f"{int(state['ply'])} decisions" if state["ply"] != 1 else "1 decision"
    number, rounds = int(state["round"]), int(rules.tables["rounds"][0])
    where = f"round {number + 1} of {rounds}"
    if number:
        before = state["points"][:number].tolist()
        where += f", before: {', '.join(f'{one} to {other}' for one, other in before)}"
    shapes: list[Shape] = [
        Text(0, 22, "Toscana", 24, INK, "start", bold=True),
        Text(WIDTH, 22, done, 14, MUTED, "end"),
        Text(0, 48, _status(rules, state, shares), 16, INK, "start", bold=True),
        Text(0, 71, where, 15, INK, "start"),
    ]
    return shapes + ([Text(0, 93, f"last: {last}", 14, LAST, "start")] if last else [])


def _status(rules: Rules, state: Any, shares: list[float]) -> str:
    if state["over"]:
        winners = [seat for seat in range(SEATS) if shares[seat] == 1]
        return f"Over: player {winners[0]} ({COLOURS[winners[0]]}) wins" if winners else "Over: a draw"
    player = int(state["player"])
    tile = rules.material[stack_of(state, mover_of(state))[0]].id
    return f"player {player} ({COLOURS[player]}) {'is to place' if state['stage'] == PLACE else 'may veto'} {tile}"


def _block(
    rules: Rules, state: Any, seat: int, numbers: tuple[int, int], viewer: int | None, is_marked: bool
) -> list[Shape]:
    """One player: colour, points, area, veto stone; the top tile and those below."""
    points, area = numbers
    stack = stack_of(state, seat)
    has_stone = bool(state["stone"][seat])
    frame = Rect(0, 0, WIDTH, BLOCK, WHITE, FILLS[seat] if is_marked else GROUND_LINE, 5 if is_marked else 1.5, 8)
    stone_title = f"player {seat} has {'a' if has_stone else 'no'} veto stone"
    shapes: list[Shape] = [
        frame,
        Sprite(PAD, PAD, 0.44, _chip(seat), f"player {seat}, {COLOURS[seat]}"),
        Text(PAD + 56, PAD + 19, f"player {seat}", 16, INK, "start", bold=True),
        Text(PAD + 56, PAD + 39, COLOURS[seat], 15, MUTED, "start"),
        Text(WIDTH - PAD, PAD + 37, str(points), 40, INK, "end", bold=True),
        Sprite(PAD + 16, 88, 0.62, counter(seat), "the largest area"),
        Text(PAD + 40, 93, f"{area} in the largest area", 15, INK, "start"),
        Sprite(WIDTH - PAD - 16, 88, 1, stone(has_stone), stone_title),
    ]
    is_asked = bool(state["stage"] == ASKED and state["player"] == seat)
    if is_asked:
        shapes.append(Text(WIDTH - PAD - 36, 93, "veto?", 15, LAST, "end", bold=True))
    return [*shapes, *translate(_stack(rules, state, seat, stack, viewer), PAD, 118)]


def _stack(rules: Rules, state: Any, seat: int, stack: list[int], viewer: int | None) -> list[Shape]:
    """The top tile large; below it the others by number, or in their order for who may see that."""
    left = f"{len(stack)} tile{'s' * (len(stack) != 1)} left"
    shapes: list[Shape] = [Text(WIDTH - 2 * PAD, 50, left, 15, INK, "end")]
    if not stack:
        shapes.append(Sprite(0, 0, TOP, ghost_shapes(4, 2), "no tile left"))
    else:
        name = rules.material[stack[0]].id
        shapes += tile_sprites(tile_rows(rules, stack[0]), seat, (0, 0), 100 * TOP, f"{name} on top of the stack")
        shapes.append(Text(WIDTH - 2 * PAD, 28, f"top {name}", 15, INK, "end", bold=True))
    places: list[int | None] = [number if number in stack[1:] else None for number in range(SET_TILES)]
    if viewer is None:
        below = stack[1:]
        places = [below[k] if k < len(below) else None for k in range(SET_TILES)]
    return shapes + _smalls(rules, seat, places, sunk_tile(state, seat))


def _smalls(rules: Rules, seat: int, places: list[int | None], bottom: int | None) -> list[Shape]:
    """Tiles below the top, in rows; one is underlined: it is known to be the last."""
    shapes: list[Shape] = []
    for k, number in enumerate(places):
        x, y = k % A_ROW * 51.5, 84 + k // A_ROW * 28.0
        if number is None:
            shapes.append(Sprite(x, y, SMALL, ghost_shapes(4, 2)))
            continue
        name, drawing = rules.material[number].id, small_tile(tile_rows(rules, number), seat)
        shapes.append(Sprite(x, y, SMALL, drawing, f"{name} in the stack"))
        if number == bottom:
            shapes.append(Line(x + 1, y + 24.5, x + 43, y + 24.5, EDGE, 3))
    return shapes


@functools.cache
def _chip(seat: int) -> Shapes:
    return square_shapes(seat) + (Rect(3, 3, 94, 94, None, EDGE, 6, 8),)


@functools.cache
def _legend() -> Shapes:
    rows: tuple[tuple[list[Shape], str], ...] = (
        ([*translate(scale(counter(0), 0.5), 8, 12), *translate(scale(counter(1), 0.5), 24, 12)], "tiles that count"),
        (translate(scale(stone(True), 0.75), 16, 12), "veto stone, unspent"),
        ([Line(2, 14, 30, 14, EDGE, 3)], "at the bottom of the stack"),
    )
    shapes: list[Shape] = []
    for k, (sample, words) in enumerate(rows):
        shapes += translate([*sample, Text(42, 17, words, 13, MUTED, "start")], 0, FOOT + 31 * k)
    return tuple(shapes)
