"""Moves and the table of Tollero as text."""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from tollero_env.game import Array, MoveError, Rules
from tollero_env.games.tollero.constants import (
    BUILD,
    CELLS,
    DOWNTOWN_TILES,
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
NOBODY = -1  # leads a tile
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
    if slot >= states[i]["num_tiles"]:
        raise MoveError(f"there is no tile number {slot} on the table")
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


class Piece(NamedTuple):
    """Some letters of the table as text, and what they are: the coloured form goes by that."""

    text: str
    style: str = ""  # a seat's letter, or: frame water value foundation fountain place legal last


Line = list[Piece]


def to_text(rules: Rules, states: Array, i: int, viewer: int | None = None) -> str:
    """The table in plain letters. A viewer sees no other hand; None sees them all."""
    lines = table_lines(rules, states, i, viewer)
    return "\n".join("".join(piece.text for piece in line).rstrip() for line in lines)


def table_lines(
    rules: Rules, states: Array, i: int, viewer: int | None, last: int | None = None, legal: Iterable[int] = ()
) -> list[Line]:
    """The table as lines of pieces, the last move and these legal moves marked."""
    shown = visible_moves(states[i], viewer, legal)
    city = _city_lines(rules, states[i], last, shown)
    return [*city, [], *_player_lines(rules, states, i, viewer), [Piece(_stage_line(rules, states[i]))]]


def visible_moves(state: Any, viewer: int | None, moves: Iterable[int]) -> list[int]:
    """The legal moves that the viewer may see: where a tile fits tells which it is."""
    is_hidden = viewer is not None and viewer != state["player"] and state["stage"] == EXPAND
    return [] if is_hidden else list(moves)


def find_leader(rules: Rules, state: Any, slot: int) -> int:
    """The seat that would score the tile now (F2, F3), or NOBODY."""
    if slot < (1 if rules.tables["downtown_scores"][0] else 1 + DOWNTOWN_TILES):
        return NOBODY
    leads = state["lead"][: rules.players, slot].tolist()
    best = max(leads)
    return leads.index(best) if best and leads.count(best) == 1 else NOBODY


def rotations_by_cell(moves: Iterable[int]) -> dict[int, str]:
    """The rotations in which a tile may be laid on each cell, such as "02"."""
    rotations: dict[int, str] = {}
    for move in sorted(move for move in moves if move < BUILD):
        rotations[move % CELLS] = rotations.get(move % CELLS, "") + str(move // CELLS)
    return rotations


def _city_lines(rules: Rules, state: Any, last: int | None, legal: list[int]) -> list[Line]:
    places = {at_cell(cell): turns for cell, turns in rotations_by_cell(legal).items()}
    tiles = {at_cell(state["cell"][slot]): slot for slot in range(int(state["num_tiles"]))}
    xs, ys = [x for x, _ in (*tiles, *places)], [y for _, y in (*tiles, *places)]
    columns = range(min(xs), max(xs) + 1)
    lines = [[Piece("      " + "".join(f"x={x}".center(8) for x in columns))]]
    for y in range(min(ys), max(ys) + 1):
        blocks = []
        for x in columns:
            is_tile = (x, y) in tiles
            blocks.append(
                _tile_lines(rules, state, tiles[x, y], last, legal) if is_tile else _empty_lines(places.get((x, y)))
            )
        for row in range(5):
            margin = Piece(f"y={y}".ljust(6) if row == 2 else " " * 6)
            lines.append([margin, *(piece for block in blocks for piece in block[row])])
    return lines


def _empty_lines(rotations: str | None) -> list[Line]:
    """Nothing, or a place for the tile in hand with the rotations in which it fits."""
    if rotations is None:
        return [[Piece(" " * 8)]] * 5
    corners, blank, words = [Piece(".      .", "place")], [Piece(" " * 8)], f"r{rotations}"
    before = (8 - len(words)) // 2
    middle = [Piece(" " * before), Piece(words, "legal"), Piece(" " * (8 - before - len(words)))]
    return [corners, blank, middle, blank, corners]


def _tile_lines(rules: Rules, state: Any, slot: int, last: int | None, legal: list[int]) -> list[Line]:
    """Five lines of eight letters: canals break the frame, lots stand in the corners, the value in the middle."""
    face = turned(faces_of(rules.material)[int(state["face"][slot])], int(state["rotation"][slot]))
    frame = "last" if last is not None and last < BUILD and last % CELLS == state["cell"][slot] else "frame"
    lots = []
    for lot in range(4):
        move, piece = BUILD + 4 * slot + lot, _lot(face, lot, int(state["building"][slot, lot]))
        lots.append(Piece(piece.text, "last" if move == last else "legal" if move in legal else piece.style))
    north, east, south, west = ((face.canals >> side) & 1 == 1 for side in range(4))
    leader = find_leader(rules, state, slot)
    middle = Piece("**" if slot == 0 and not face.value else f" {face.value}", "value" if leader < 0 else SEATS[leader])
    side = Piece("|", frame)
    return [
        _edge(north, frame),
        [side, lots[0], _water("  ", north), lots[1], side],
        [_canal(west, frame), _water("  ", west), middle, _water("  ", east), _canal(east, frame)],
        [side, lots[3], _water("  ", south), lots[2], side],
        _edge(south, frame),
    ]


def _edge(has_canal: bool, frame: str) -> Line:
    middle = Piece("||", "water") if has_canal else Piece("--", frame)
    return [Piece("+--", frame), middle, Piece("--+", frame)]


def _canal(has_canal: bool, frame: str) -> Piece:
    return Piece("=", "water") if has_canal else Piece("|", frame)


def _water(text: str, has_canal: bool) -> Piece:
    return Piece(text, "water" if has_canal else "")


def _lot(face: Face, lot: int, building: int) -> Piece:
    """ "B3" a building of seat B, "[]" a foundation, ">>" a fountain."""
    if building:
        return Piece(SEATS[building >> 5] + HEIGHTS[building & 31], SEATS[building >> 5])
    if (face.foundations >> lot) & 1:
        return Piece("[]", "foundation")
    return Piece("  ") if face.fountains[lot] == NO_FOUNTAIN else Piece(_ARROWS[face.fountains[lot]], "fountain")


def _player_lines(rules: Rules, states: Array, i: int, viewer: int | None) -> list[Line]:
    state = states[i]
    points = np.zeros(rules.players, np.int64)
    rules.game.scores(states, i, rules.tables, points)
    lines = []
    for seat in range(rules.players):
        hand = int(state["hand"][seat])
        shows = tile_id(rules, hand) if viewer is None or viewer == seat else "hidden"
        hand_text = shows if hand != NO_TILE else "none"
        who = Piece(f"player {seat} ({SEATS[seat]})", SEATS[seat])
        floors = int(state["floors_left"][seat])
        counts = f"{int(points[seat]):3d} stars  {floors:2d} {'floor ' if floors == 1 else 'floors'}"
        lines.append([who, Piece(f"  {counts}  hand {hand_text}")])
    return lines


def _stage_line(rules: Rules, state: Any) -> str:
    pile = f"pile {int(state['num_pile'])}"
    if state["num_gone"]:
        pile += f", gone {' '.join(tile_id(rules, int(face)) for face in state['gone'][: int(state['num_gone'])])}"
    if state["over"]:
        return f"{pile}; the game is over"
    decision = "lay a tile" if state["stage"] == EXPAND else "place a floor"
    return f"{pile}; player {int(state['player'])} ({SEATS[int(state['player'])]}) is to {decision}"
