"""What stands beside the building: a plan from above with the ways of every pawn, the blocks left, the players."""

from __future__ import annotations

from typing import Any

import numpy as np

from tollero_env.game import Array, Rules
from tollero_env.games.talo import protocol
from tollero_env.games.talo.boards import WATER
from tollero_env.games.talo.constants import AREA, HEIGHT, MAX_LENGTH, NOWHERE, PICK, SIDE, TOP
from tollero_env.games.talo.iso import WOODS
from tollero_env.games.talo.notation import Cell, block_cells, pawn_at, place_of, turn_text
from tollero_env.games.talo.pawns import COLOURS, INKS, LEGAL, SEATS
from tollero_env.scene import Circle, Line, Rect, Shape, Text, centred_text

WIDTH = 460
INK, MUTED, FRAME = "#2b2b2b", "#6d6a61", "#cfc7b4"
_PLAN = 420  # side
_LEVELS = (  # by level, from low to high
    "#ffffff", "#f4ecd8", "#ecdcb5", "#e6cc95", "#dfb975", "#d6a35b", "#c98c4b", "#b67442", "#9d5c3a", "#7f4533",
    "#5f2f2a",
)  # fmt: skip


def panel(rules: Rules, states: Array, i: int, last: int | None, legal: list[int]) -> list[Shape]:
    """All of it, from (0, 0)."""
    state = states[i]
    shapes = _wrapped(turn_text(rules, state), 22)
    shapes += _plan(rules, states, i, legal, 64)
    shapes += _stock(state, 64 + _PLAN + 62)
    shapes += _players(rules, state, 64 + _PLAN + 294)
    return shapes


def _wrapped(text: str, y: float) -> list[Shape]:
    """One line, or two."""
    if len(text) <= 46:
        return [Text(0, y, text, 17, INK, "start", True)]
    cut = text.rfind(" ", 0, 46)
    lines = (text[:cut], text[cut + 1 :])
    return [Text(0, y + 22 * k, line, 17, INK, "start", True) for k, line in enumerate(lines)]


# ---- the plan


def _plan(rules: Rules, states: Array, i: int, legal: list[int], top: float) -> list[Shape]:
    """The highest top of every column with its level, where each pawn can walk, and the pawns."""
    state = states[i]
    heights = _heights(state)
    xs, ys = [0, SIDE - 1, *(x for x, _ in heights)], [0, SIDE - 1, *(y for _, y in heights)]
    size = min(_PLAN / (max(xs) - min(xs) + 1), _PLAN / (max(ys) - min(ys) + 1), _PLAN / SIDE)
    left = (_PLAN - (max(xs) - min(xs) + 1) * size) / 2 - min(xs) * size
    up = top + 22 + (_PLAN - (max(ys) - min(ys) + 1) * size) / 2 - min(ys) * size
    shapes: list[Shape] = [Text(0, top + 8, "from above: levels, and where each pawn can walk", 13, MUTED, "start")]
    rows = rules.material.rows
    for y in range(SIDE):
        for x in range(SIDE):
            fill = "#cfe4f0" if rows and rows[y][x] == WATER else "#dbeacf" if rows else "#e4d6c0"
            shapes.append(Rect(left + x * size, up + y * size, size, size, fill, FRAME, 1))
    for (x, y), level in sorted(heights.items()):
        ink = "#ffffff" if level > 6 else INK
        shapes.append(Rect(left + x * size, up + y * size, size, size, _LEVELS[level], "#8d7b5c", 1))
        shapes.append(centred_text(left + (x + 0.5) * size, up + (y + 0.5) * size, str(level), size * 0.42, ink))
    for seat in range(rules.players):
        shapes += _ways(states, i, seat, left, up, size, heights)
    for move in legal:
        if move < PICK:
            x, y, _ = place_of(move)
            shapes.append(
                Rect(left + (x + 0.1) * size, up + (y + 0.1) * size, 0.8 * size, 0.8 * size, None, LEGAL, 2.5)
            )
    for seat in range(rules.players):
        if feet := pawn_at(state, seat):
            at = left + (feet.x + 0.5) * size, up + (feet.y + 0.5) * size
            shapes.append(Circle(*at, size * 0.36, COLOURS[seat], "#ffffff", 2))
            shapes.append(centred_text(*at, SEATS[seat], size * 0.42, INKS[seat], True))
    return shapes


def _heights(state: Any) -> dict[tuple[int, int], int]:
    """The level of the highest top of every column."""
    heights: dict[tuple[int, int], int] = {}
    for block in range(1, int(state["num_blocks"]) + 1):
        for x, y, z in block_cells(state, block):
            heights[x, y] = max(heights.get((x, y), 0), z + 1)
    return heights


def ways_of(states: Array, i: int, seat: int) -> list[Cell]:
    """The tops that a seat's pawn can walk to, as (x, y, level)."""
    buffer = np.zeros(HEIGHT * AREA, np.int64)
    number = protocol.walks(states, i, seat, buffer)
    return [place_of(int(move)) for move in buffer[:number]]


def _ways(
    states: Array, i: int, seat: int, left: float, up: float, size: float, heights: dict[tuple[int, int], int]
) -> list[Shape]:
    """A dot on every top the pawn can walk to, hollow if something is above it."""
    dx, dy = ((0.2, 0.2), (0.8, 0.2), (0.2, 0.8), (0.8, 0.8))[seat]
    shapes: list[Shape] = []
    for x, y, level in ways_of(states, i, seat):
        fill = COLOURS[seat] if heights.get((x, y)) == level else None
        shapes.append(Circle(left + (x + dx) * size, up + (y + dy) * size, size * 0.1, fill, COLOURS[seat], 2))
    return shapes


# ---- blocks and players


def _stock(state: Any, top: float) -> list[Shape]:
    """What is left of each length; what is in hand stands out."""
    shapes: list[Shape] = [Text(0, top, "blocks left", 13, MUTED, "start")]
    unit, high = 15.0, 17.0
    hand = [int(length) for length in state["hand"]]
    for length in range(1, MAX_LENGTH + 1):
        y = top + 12 + (length - 1) * (high + 3)
        left, held = int(state["stock"][length]), hand.count(length)
        fill = WOODS[length - 1] if left else "#e9e4d6"
        for k in range(length):
            shapes.append(Rect(24 + k * unit, y, unit, high, fill, "#8d7b5c" if left else FRAME, 1))
        shapes.append(Text(16, y + high - 4, str(length), 13, INK if left else MUTED, "end"))
        shapes.append(
            Text(24 + 10 * unit + 12, y + high - 4, f"x {left}", 14, INK if left else MUTED, "start", left > 0)
        )
        if held:
            words = "in hand" if held == 1 else "both in hand"
            shapes.append(Text(24 + 10 * unit + 56, y + high - 4, words, 13, "#d6246e", "start", True))
    return shapes


def _players(rules: Rules, state: Any, top: float) -> list[Shape]:
    if rules.tables["fantasy"][0]:
        words = f"{int(state['num_blocks'])} blocks, level {int(state['highest'])}"
        return [Text(0, top + 16, f"built together: {words}", 17, INK, "start", True)]
    shapes: list[Shape] = []
    for seat in range(rules.players):
        y = top + seat * 26
        level = int(state["pawn_level"][seat])
        shown = 0 if level == NOWHERE else level
        is_due = not state["over"] and seat == state["player"]
        shapes.append(Circle(12, y + 10, 10, COLOURS[seat], INK if is_due else "#ffffff", 2))
        shapes.append(centred_text(12, y + 10, SEATS[seat], 12, INKS[seat], True))
        shapes.append(Rect(32, y + 3, 22 * TOP, 14, "#ffffff", FRAME, 1))
        if shown:
            shapes.append(Rect(32, y + 3, 22 * shown, 14, COLOURS[seat]))
        for k in range(1, TOP):
            shapes.append(Line(32 + 22 * k, y + 3, 32 + 22 * k, y + 17, FRAME, 1))
        words = "not yet on the board" if level == NOWHERE else f"level {level}"
        shapes.append(Text(32 + 22 * TOP + 12, y + 15, words, 14, INK, "start", is_due))
    return shapes
