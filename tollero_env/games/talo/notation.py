"""Moves and the table of Talō as text."""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from tollero_env.game import Array, MoveError, Rules
from tollero_env.games.talo.boards import WATER
from tollero_env.games.talo.constants import (
    ALONG_X,
    ALONG_Y,
    AREA,
    AXES,
    BLOCKED,
    BUILDING,
    CELLS,
    CHOICES,
    DONE,
    END,
    EXHAUSTED,
    FALLEN,
    FIELD,
    HEIGHT,
    LAYING,
    MAX_LENGTH,
    NOWHERE,
    PICK,
    REACH,
    REACHED,
    SIDE,
    STARTING,
    STAY,
    TAKE,
    TAKING,
    UPRIGHT,
    WALK,
    WIDTH,
)

SEATS = "ABCD"
_NUMBER = r"\s*\(?\s*(-?\d{1,2})\s*[, ]\s*(-?\d{1,2})\s*[, ]\s*(-?\d{1,2})\s*\)?"
_FIELD = re.compile(r"(?:start|restart)\s*\(?\s*(-?\d{1,2})\s*[, ]\s*(-?\d{1,2})\s*\)?")
_TAKE = re.compile(r"take\s*(\d{1,2})(?:\s*\+\s*(\d{1,2}))?")
_PLACE = re.compile(r"place\s*(\d{1,2})\s*([xyz])(?:\s*at)?" + _NUMBER)
_PICK = re.compile(r"place\s*(\d{1,2})\s*([xyz])")
_WALK = re.compile(r"move" + _NUMBER)
_FORMS = (
    '"start (x,y)", "restart (x,y)", "stay", "take 5" or "take 4+1", "place 4 x" and then "place 4 x (x,y,z)", '
    '"move (x,y,level)", "end"'
)


class Cell(NamedTuple):
    """A cell in the coordinates of people: the board is x, y from 0 to 9."""

    x: int
    y: int
    z: int


def at_cell(cell: int) -> Cell:
    """(x, y, z) of a cell's number."""
    return Cell(int(cell) % WIDTH - REACH, int(cell) % AREA // WIDTH - REACH, int(cell) // AREA)


def cell_at(x: int, y: int, z: int) -> int:
    """The number of a cell; MoveError outside of space (M2)."""
    if not (-REACH <= x < SIDE + REACH and -REACH <= y < SIDE + REACH and 0 <= z < HEIGHT):
        raise MoveError(f"({x},{y},{z}) is out of reach: x and y go from {-REACH} to {SIDE + REACH - 1}, z from 0 to 9")
    return z * AREA + (y + REACH) * WIDTH + x + REACH


def lengths_of(choice: int) -> list[int]:
    """The blocks of a choice, the larger first."""
    return [length for length in CHOICES[choice] if length]


def block_cells(state: Any, block: int) -> list[Cell]:
    """The cells of a block, from its least."""
    x, y, z = int(state["x"][block]) - REACH, int(state["y"][block]) - REACH, int(state["z"][block])
    step = {ALONG_X: (1, 0, 0), ALONG_Y: (0, 1, 0), UPRIGHT: (0, 0, 1)}[int(state["axis"][block])]
    return [Cell(x + k * step[0], y + k * step[1], z + k * step[2]) for k in range(int(state["length"][block]))]


def pawn_at(state: Any, seat: int) -> Cell | None:
    """Where a pawn's feet are: (x, y, level), None before it starts."""
    if state["pawn_level"][seat] == NOWHERE:
        return None
    return Cell(int(state["pawn_x"][seat]) - REACH, int(state["pawn_y"][seat]) - REACH, int(state["pawn_level"][seat]))


def move_text(rules: Rules, states: Array, i: int, move: int) -> str:
    """Such as "take 4+1", "place 4 x", "place 4 x (2,3,0)", "move (2,3,1)", "end"."""
    state = states[i]
    if move < WALK:
        length = int(state["picked_length"])
        if not length:
            raise MoveError(f"cell ({','.join(map(str, at_cell(move)))}) needs a block: pick one first")
        return f"place {length} {AXES[int(state['picked_axis'])]} ({','.join(map(str, at_cell(move)))})"
    if move < FIELD:
        x, y, z = at_cell(move - WALK)
        return f"move ({x},{y},{z + 1})"
    if move < PICK:
        x, y, _ = at_cell(move - FIELD)
        return f"{'restart' if state['stage'] == BLOCKED else 'start'} ({x},{y})"
    if move < TAKE:
        return f"place {(move - PICK) // 3 + 1} {AXES[(move - PICK) % 3]}"
    if move < STAY:
        return f"take {'+'.join(map(str, lengths_of(move - TAKE)))}"
    return "end" if move == END else "stay"


def parse_move(rules: Rules, states: Array, i: int, text: str) -> int:
    """The move of a text; it need not be legal. Blanks, brackets and capitals are free.

    A whole placement is the move that is due: the block and its axis, or, once these are picked, the cell.
    """
    words = text.strip().lower()
    if words in ("end", "stay"):
        return END if words == "end" else STAY
    if match := _FIELD.fullmatch(words):
        return FIELD + cell_at(int(match[1]), int(match[2]), 0)
    if match := _TAKE.fullmatch(words):
        blocks = sorted((int(match[1]), int(match[2] or 0)), reverse=True)
        if tuple(blocks) not in CHOICES:
            raise MoveError(f"{text!r}: one or two blocks of length 1 to 10, 10 in all at most")
        return TAKE + CHOICES.index((blocks[0], blocks[1]))
    if match := _PICK.fullmatch(words):
        return _pick(text, match[1], match[2])
    if match := _PLACE.fullmatch(words):
        cell, pick, state = (
            cell_at(int(match[3]), int(match[4]), int(match[5])),
            _pick(text, match[1], match[2]),
            states[i],
        )
        if state["stage"] != LAYING:
            return pick
        if pick != PICK + 3 * (int(state["picked_length"]) - 1) + int(state["picked_axis"]):
            due = f"{int(state['picked_length'])} {AXES[int(state['picked_axis'])]}"
            raise MoveError(f"{text!r}: the block picked is {due}")
        return cell
    if match := _WALK.fullmatch(words):
        return WALK + cell_at(int(match[1]), int(match[2]), int(match[3]) - 1)
    raise MoveError(f"{text!r} is no move; write {_FORMS}")


def _pick(text: str, length: str, axis: str) -> int:
    if not 1 <= int(length) <= MAX_LENGTH:
        raise MoveError(f"{text!r}: blocks have lengths from 1 to {MAX_LENGTH}")
    return PICK + 3 * (int(length) - 1) + AXES.index(axis)


# ---- the table


class Piece(NamedTuple):
    """Some letters of the table as text, and what they are: the coloured form goes by that."""

    text: str
    style: str = ""  # a seat's letter, or: frame water green lying upright legal last


Line = list[Piece]
Grid = dict[tuple[int, int], Piece]
_PER_ROW = 3  # plans side by side


def to_text(rules: Rules, states: Array, i: int, viewer: int | None = None) -> str:
    """The table in plain letters: a plan of every level that holds anything, then the players."""
    return "\n".join("".join(piece.text for piece in line).rstrip() for line in table_lines(rules, states, i))


def table_lines(rules: Rules, states: Array, i: int, last: int | None = None, legal: Iterable[int] = ()) -> list[Line]:
    """The table as lines of pieces, the last move and these legal moves marked."""
    state, legal = states[i], list(legal)
    plans = _plans(rules, state, last, legal)
    places = [place for plan in plans for place in plan]
    columns = range(min([0, *(x for x, _ in places)]), max([SIDE - 1, *(x for x, _ in places)]) + 1)
    rows = range(min([0, *(y for _, y in places)]), max([SIDE - 1, *(y for _, y in places)]) + 1)
    lines: list[Line] = []
    for first in range(0, len(plans), _PER_ROW):
        blocks = [
            _plan_lines(rules, z, plans[z], columns, rows) for z in range(first, min(first + _PER_ROW, len(plans)))
        ]
        lines += [[piece for block in blocks for piece in block[k]] for k in range(len(blocks[0]))]
    return [*lines, [], *_player_lines(rules, states, i), *_turn_lines(rules, state)]


def _plans(rules: Rules, state: Any, last: int | None, legal: list[int]) -> list[Grid]:
    """What every level holds, from z = 0 on, each cell as two letters."""
    plans: list[Grid] = [{} for _ in range(HEIGHT + 2)]
    for block in range(1, int(state["num_blocks"]) + 1):
        is_last = last is not None and last < WALK and block == state["num_blocks"]
        for k, (x, y, z) in enumerate(block_cells(state, block)):
            text, style = _block_letters(state, block, k)
            plans[z][x, y] = Piece(text, "last" if is_last else style)
    for seat in range(rules.players):
        if feet := pawn_at(state, seat):
            is_last = last is not None and WALK <= last < PICK and place_of(last) == feet
            plans[feet.z][feet.x, feet.y] = Piece(f"{SEATS[seat]}{SEATS[seat]}", "last" if is_last else SEATS[seat])
            plans[min(feet.z + 1, HEIGHT + 1)][feet.x, feet.y] = Piece("''", SEATS[seat])
    for move in legal:
        if move < PICK:
            place = place_of(move)
            if (place.x, place.y) not in plans[place.z]:
                plans[place.z][place.x, place.y] = Piece("++", "legal")
    highest = max((z for z, plan in enumerate(plans) if plan), default=0)
    return plans[: highest + 1]


def place_of(move: int) -> Cell:
    """The cell that a move is shown in: of the block, of the pawn's feet."""
    cell = at_cell(move % CELLS)
    return cell._replace(z=cell.z + 1) if WALK <= move < FIELD else cell


def _block_letters(state: Any, block: int, k: int) -> tuple[str, str]:
    length, axis = int(state["length"][block]), int(state["axis"][block])
    if axis == UPRIGHT:
        return f"{length:2d}" if k == length - 1 else "##", "upright"
    if axis == ALONG_Y:
        return ("^^" if k == 0 else "vv" if k == length - 1 else "||"), "lying"
    return ("<=" if k == 0 else "=>" if k == length - 1 else "=="), "lying"


def _plan_lines(rules: Rules, z: int, plan: Grid, columns: range, rows: range) -> list[Line]:
    head = f"z={z}".ljust(5) + "".join(f"{x:3d}" for x in columns) + "   "
    lines: list[Line] = [[Piece(head, "frame")]]
    for y in rows:
        cells = [piece for x in columns for piece in (Piece(" "), plan.get((x, y)) or _ground(rules, x, y, z))]
        lines.append([Piece(f"{y:4d} ", "frame"), *cells, Piece("   ")])
    return [*lines, [Piece(" " * len(head))]]


def _ground(rules: Rules, x: int, y: int, z: int) -> Piece:
    """An empty cell."""
    if not (0 <= x < SIDE and 0 <= y < SIDE):
        return Piece("  ")
    rows = rules.material.rows
    if z == 0 and rows and rows[y][x] == WATER:
        return Piece("~~", "water")
    return Piece(" .", "green" if z == 0 else "frame")


def _player_lines(rules: Rules, states: Array, i: int) -> list[Line]:
    state, lines = states[i], []
    if rules.tables["fantasy"][0]:
        return [[Piece(f"together: {int(state['num_blocks'])} blocks, level {int(state['highest'])}")]]
    for seat in range(rules.players):
        feet = pawn_at(state, seat)
        where = f"level {feet.z} at ({feet.x},{feet.y})" if feet else "not on the board yet"
        lines.append([Piece(f"player {seat} ({SEATS[seat]})", SEATS[seat]), Piece(f"  {where}")])
    return lines


def _turn_lines(rules: Rules, state: Any) -> list[Line]:
    stock = "  ".join(f"{length}:{int(state['stock'][length])}" for length in range(1, MAX_LENGTH + 1))
    return [[Piece(f"blocks left  {stock}")], [Piece(f"{turn_text(rules, state)}")]]


def turn_text(rules: Rules, state: Any) -> str:
    """What is due, in a few words."""
    seat = int(state["player"])
    who = f"player {seat} ({SEATS[seat]})"
    if state["over"]:
        if state["ending"] == FALLEN:
            builder = int(state["builder"]) - 1
            return f"it fell: player {builder} ({SEATS[builder]}) had built; the game is over"
        reason = {REACHED: "level 10 is reached", EXHAUSTED: "nobody can build any more"}[int(state["ending"])]
        return f"{reason}; the game is over"
    hand = "+".join(str(int(length)) for length in state["hand"] if length)
    if state["stage"] == LAYING:
        picked = f"{int(state['picked_length'])} {AXES[int(state['picked_axis'])]}"
        return f"{who} rolled {int(state['die'])} and places {picked}"
    return {
        STARTING: f"{who} is to start",
        BLOCKED: f"{who} can never reach level 10: restart, or stay",
        TAKING: f"{who} rolled {int(state['die'])} and takes blocks",
        BUILDING: f"{who} rolled {int(state['die'])} and has {hand} to place"
        + (", which must hold the block that is falling" if state["falling"] else ""),
        DONE: f"{who} has built and may move",
    }.get(int(state["stage"]), f"{who} is to roll")
