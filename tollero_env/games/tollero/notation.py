"""Moves and the table of Tollero as text."""

import re
from typing import Any

import numpy as np

from tollero_env.game import Array, MoveError, Rules
from tollero_env.games.tollero.constants import (
    BUILD,
    CELLS,
    EXPAND,
    FIRST_CITY,
    FIRST_DOWNTOWN,
    MIDDLE,
    NO_TILE,
    WIDTH,
)
from tollero_env.games.tollero.tables import faces_of
from tollero_env.games.tollero.tiles import LOTS, NO_FOUNTAIN, Face, turned

SEATS = "ABCD"
HEIGHTS = "0123456789abcdefghijk"  # one letter each: a is 10, k is 20
_ARROWS = ("^^", ">>", "vv", "<<")
_MOVE = re.compile(
    r"\s*(?:(lay)\s*\(?\s*(-?\d{1,2})\s*[, ]\s*(-?\d{1,2})\s*\)?\s*r\s*([0-3])"
    r"|(build)\s*\(?\s*(-?\d{1,2})\s*[, ]\s*(-?\d{1,2})\s*\)?\s*(NW|NE|SE|SW))\s*",
    re.IGNORECASE,
)


def cell_at(x: int, y: int) -> int:
    """The cell x east and y south of the contract."""
    return (y + MIDDLE) * WIDTH + x + MIDDLE


def at_cell(cell: int) -> tuple[int, int]:
    """(x, y) of a cell."""
    return int(cell) % WIDTH - MIDDLE, int(cell) // WIDTH - MIDDLE


def slot_at(state: Any, x: int, y: int) -> int:
    """The slot of the tile on that cell, -1 if there is none."""
    found = np.flatnonzero(state["cell"][: int(state["num_tiles"])] == cell_at(x, y))
    return int(found[0]) if len(found) else -1


def tile_id(rules: Rules, face: int) -> str:
    """The id of a face's tile; Downtown faces without their side, nothing for the contract and no tile."""
    if face >= FIRST_CITY:
        return str(rules.material.city[face - FIRST_CITY].id)
    return str(rules.material.downtown[(face - FIRST_DOWNTOWN) // 2].id) if face else ""


def move_text(rules: Rules, states: Array, i: int, move: int) -> str:
    """ "lay (0,-2) r1" or "build (0,-2) NE"."""
    if move < BUILD:
        x, y = at_cell(move % CELLS)
        return f"lay ({x},{y}) r{move // CELLS}"
    slot, lot = divmod(move - BUILD, 4)
    x, y = at_cell(states[i]["cell"][slot])
    return f"build ({x},{y}) {LOTS[lot]}"


def parse_move(rules: Rules, states: Array, i: int, text: str) -> int:
    """The move of a text; it need not be legal. Blanks, brackets and capitals are free."""
    match = _MOVE.fullmatch(text)
    if match is None:
        raise MoveError(f'{text!r} is no move; write "lay (x,y) r0" to r3, or "build (x,y) NW" (NE SE SW)')
    lay, x, y, rotation, _, build_x, build_y, lot = match.groups()
    if lay:
        if max(abs(int(x)), abs(int(y))) >= MIDDLE:
            raise MoveError(f"no city reaches as far as ({x},{y})")
        return int(rotation) * CELLS + cell_at(int(x), int(y))
    slot = slot_at(states[i], int(build_x), int(build_y))
    if slot < 0:
        raise MoveError(f"there is no tile at ({build_x},{build_y})")
    return BUILD + 4 * slot + LOTS.index(lot.upper())


def to_text(rules: Rules, states: Array, i: int, viewer: int | None = None) -> str:
    """The table in plain letters. A viewer sees no other hand; None sees them all."""
    state = states[i]
    return "\n".join(
        [*_city_lines(rules, state), "", *_player_lines(rules, states, i, viewer), _stage_line(rules, state)]
    )


def _city_lines(rules: Rules, state: Any) -> list[str]:
    tiles = {at_cell(state["cell"][slot]): slot for slot in range(int(state["num_tiles"]))}
    xs, ys = [x for x, _ in tiles], [y for _, y in tiles]
    columns = range(min(xs), max(xs) + 1)
    lines = ["      " + "".join(f"x={x}".center(8) for x in columns).rstrip()]
    for y in range(min(ys), max(ys) + 1):
        blocks = [_tile_lines(rules, state, tiles[x, y]) if (x, y) in tiles else [" " * 8] * 5 for x in columns]
        for row in range(5):
            margin = f"y={y}".ljust(6) if row == 2 else " " * 6
            lines.append((margin + "".join(block[row] for block in blocks)).rstrip())
    return lines


def _tile_lines(rules: Rules, state: Any, slot: int) -> list[str]:
    """Five lines of eight letters: canals break the frame, lots stand in the corners, the value in the middle."""
    face = turned(faces_of(rules.material)[int(state["face"][slot])], int(state["rotation"][slot]))
    lots = [_lot(face, lot, int(state["building"][slot, lot])) for lot in range(4)]
    north, east, south, west = ((face.canals >> side) & 1 for side in range(4))
    middle = "**" if slot == 0 and not face.value else f" {face.value}"
    return [
        "+--||--+" if north else "+------+",
        f"|{lots[0]}  {lots[1]}|",
        f"{'=' if west else '|'}  {middle}  {'=' if east else '|'}",
        f"|{lots[3]}  {lots[2]}|",
        "+--||--+" if south else "+------+",
    ]


def _lot(face: Face, lot: int, building: int) -> str:
    """ "B3" a building of seat B, "[]" a foundation, ">>" a fountain."""
    if building:
        return SEATS[building >> 5] + HEIGHTS[building & 31]
    if (face.foundations >> lot) & 1:
        return "[]"
    return "  " if face.fountains[lot] == NO_FOUNTAIN else _ARROWS[face.fountains[lot]]


def _player_lines(rules: Rules, states: Array, i: int, viewer: int | None) -> list[str]:
    state = states[i]
    points = np.zeros(rules.players, np.int64)
    rules.game.scores(states, i, rules.tables, points)
    lines = []
    for seat in range(rules.players):
        hand = int(state["hand"][seat])
        shows = tile_id(rules, hand) if viewer is None or viewer == seat else "hidden"
        hand_text = shows if hand != NO_TILE else "none"
        who = f"player {seat} ({SEATS[seat]})"
        floors = int(state["floors_left"][seat])
        lines.append(f"{who}  {int(points[seat]):3d} stars  {floors:2d} floors  hand {hand_text}")
    return lines


def _stage_line(rules: Rules, state: Any) -> str:
    pile = f"pile {int(state['num_pile'])}"
    if state["num_gone"]:
        pile += f", gone {' '.join(tile_id(rules, int(face)) for face in state['gone'][: int(state['num_gone'])])}"
    if state["over"]:
        return f"{pile}; the game is over"
    decision = "lay a tile" if state["stage"] == EXPAND else "place a floor"
    return f"{pile}; player {int(state['player'])} ({SEATS[int(state['player'])]}) is to {decision}"
