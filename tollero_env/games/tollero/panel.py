"""The panel beside the table of Tollero: whose turn it is, players, hands, the pile, tiles that left the game."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tollero_env.game import Array, Rules
from tollero_env.games.tollero.constants import EXPAND, NO_TILE, SECOND, START_STARS
from tollero_env.games.tollero.notation import SEATS, move_text, tile_id
from tollero_env.games.tollero.pieces import (
    FACADES,
    GOLD,
    INK,
    LAST,
    LETTERS,
    MUTED,
    PAPER_EDGE,
    ROOFS,
    WHITE,
    Shapes,
    bonus,
    building,
    lead_sample,
    star,
    tile_back,
    tile_shapes,
)
from tollero_env.games.tollero.tables import faces_of
from tollero_env.scene import Polygon, Rect, Shape, Sprite, Text, centred_text, translate

WIDTH, BLOCK, GAP, PAD = 276, 128, 10, 13  # a player's block is BLOCK high
HEAD, FOOT = 84, 788  # where the players begin, and the legend
HAND, SMALL = 90, 40  # sizes of tiles
PIPS_A_ROW, PIP = 10, 11
GONE_A_ROW = 6
EMPTY_PIP = "#e3dac6"


def panel(rules: Rules, states: Array, i: int, viewer: int | None, last: int | None) -> list[Shape]:
    """The panel with its top left corner at (0, 0)."""
    state = states[i]
    points, shares = np.zeros(rules.players, np.int64), np.zeros(rules.players)
    rules.game.scores(states, i, rules.tables, points)
    rules.game.outcome(states, i, rules.tables, shares)
    winners = [seat for seat in range(rules.players) if shares[seat] > 0] if state["over"] else []
    shapes = _head(state, winners, None if last is None else move_text(rules, states, i, last))
    for seat in range(rules.players):
        is_marked = seat in winners or (not state["over"] and seat == state["player"])
        block = _block(rules, state, seat, int(points[seat]), viewer in (None, seat), is_marked)
        shapes += translate(block, 0, HEAD + seat * (BLOCK + GAP))
    return shapes + translate(_rest(rules, state), 0, HEAD + rules.players * (BLOCK + GAP)) + [*_legend()]


def _head(state: Any, winners: list[int], last: str | None) -> list[Shape]:
    done = f"{int(state['ply'])} decisions" if state["ply"] != 1 else "1 decision"
    shapes: list[Shape] = [
        Text(0, 22, "Tollero", 24, INK, "start", bold=True),
        Text(WIDTH, 22, done, 14, MUTED, "end"),
        Text(0, 50, _status(state, winners), 17, INK, "start", bold=True),
    ]
    return shapes + ([Text(0, 72, f"last: {last}", 14, LAST, "start")] if last else [])


def _status(state: Any, winners: list[int]) -> str:
    if len(winners) == 1:
        return f"Over: player {winners[0]} ({SEATS[winners[0]]}) wins"
    if winners:
        names = [SEATS[seat] for seat in winners]
        return f"Over: {', '.join(names[:-1])} and {names[-1]} share the win"
    job = {EXPAND: "lay a tile", SECOND: "place one more"}.get(int(state["stage"]), "place a Floor")
    return f"player {int(state['player'])} ({SEATS[int(state['player'])]}) is to {job}"


def _block(rules: Rules, state: Any, seat: int, points: int, is_open: bool, is_marked: bool) -> list[Shape]:
    """One player: letter, stars and where they come from, Floors left, hand."""
    frame = Rect(0, 0, WIDTH, BLOCK, WHITE, ROOFS[seat] if is_marked else "#d9d2c0", 4 if is_marked else 1.5, 8)
    start, jets = int(START_STARS[rules.players, seat]), int(state["stars"][seat])
    parts = f"{start} start + {points - start - jets} tiles + {jets} fountains"
    return [
        frame,
        Sprite(PAD, PAD, 1, _chip(seat), f"player {seat}"),
        Text(PAD + 80, PAD + 30, str(points), 36, INK, "start", bold=True),
        Sprite(PAD, 55, 1, _pips(int(rules.tables["floors"][0]), int(state["floors_left"][seat]), seat)),
        Text(PAD, BLOCK - 11, parts, 14, MUTED, "start"),
        _hand(rules, int(state["hand"][seat]), seat, is_open),
    ]


@functools.cache
def _chip(seat: int) -> Shapes:
    """The player's colour and letter, and the star before the score."""
    letter = centred_text(17, 17, SEATS[seat], 23, LETTERS[seat], bold=True)
    return Rect(0, 0, 34, 34, ROOFS[seat], FACADES[seat], 2, 5), letter, Polygon(star(58, 17, 14), GOLD, PAPER_EDGE, 1)


@functools.cache
def _pips(floors: int, left: int, seat: int) -> Shapes:
    """A square for each Floor that the player began with, full while it is in the supply."""
    shapes: list[Shape] = []
    for k in range(floors):
        x, y = k % PIPS_A_ROW * (PIP + 2.5), k // PIPS_A_ROW * (PIP + 2.5)
        shapes.append(Rect(x, y, PIP, PIP, ROOFS[seat] if k < left else EMPTY_PIP, None, 0, 2))
    return *shapes, Text(0, 40, f"{left} Floor{'s' * (left != 1)} left", 14, INK, "start")


def _hand(rules: Rules, face: int, seat: int, is_open: bool) -> Shape:
    """The tile itself for those who may see it, its back for the others."""
    x, y = WIDTH - HAND - PAD, PAD
    if face == NO_TILE:
        return Sprite(x, y, HAND / 100, (Rect(1, 1, 98, 98, None, EMPTY_PIP, 2, 4.5),), f"{SEATS[seat]} has no tile")
    if not is_open:
        return Sprite(x, y, HAND / 100, tile_back(), f"{SEATS[seat]} has a hidden tile")
    shapes = tile_shapes(faces_of(rules.material)[face])
    return Sprite(x, y, HAND / 100, shapes, f"{SEATS[seat]} has {tile_id(rules, face)}")


def _rest(rules: Rules, state: Any) -> list[Shape]:
    """The pile, and what left the game (E4)."""
    size, gone = int(state["num_pile"]), [int(face) for face in state["gone"][: int(state["num_gone"])]]
    shapes: list[Shape] = [
        Sprite(2.5 * k, 12 - 2.5 * k, SMALL / 100, tile_back(), "the pile") for k in range(min(3, -(-size // 18)))
    ]
    shapes.append(Text(60, 32, f"{size} in the pile", 16, INK, "start"))
    if gone:
        shapes.append(Text(60, 51, f"{len(gone)} left the game:", 14, MUTED, "start"))
    for k, face in enumerate(gone[-GONE_A_ROW:]):
        drawing = tile_shapes(faces_of(rules.material)[face])
        shapes.append(Sprite(k * (SMALL + 7), 66, SMALL / 100, drawing, f"{tile_id(rules, face)} left the game"))
    return shapes


@functools.cache
def _legend() -> Shapes:
    rows = (
        (Sprite(0, 1, 0.24, lead_sample()), "frame: leads the tile, scores its value"),
        (Sprite(12, 14, 0.7, building(1, 4)), "number on the roof: Floors"),
        (Sprite(2, 2, 0.9, bonus(1)), "stars a Floor there earns by fountains"),
    )
    shapes: list[Shape] = []
    for k, (sample, words) in enumerate(rows):
        shapes += translate([sample, Text(36, 17, words, 13, MUTED, "start")], 0, FOOT + 30 * k)
    return tuple(shapes)
