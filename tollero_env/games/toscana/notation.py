"""Moves and the table of Toscana as text."""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from tollero_env.game import Array, MoveError, Rules
from tollero_env.games.toscana import protocol
from tollero_env.games.toscana.constants import (
    ALLOW,
    ASKED,
    CELLS,
    MAX_SIZE,
    OVER,
    PLACE,
    SEATS,
    TAKEN,
    VETO,
    WIDTH,
)
from tollero_env.games.toscana.tiles import OWN, Rows, turned

COLOURS = ("roofs", "paving")  # by seat
SQUARES = ("/\\", "::")
_WORDS = {VETO: "veto", ALLOW: "allow"}
_MOVE = re.compile(
    r"\s*(?:(veto|allow)|place\s*\(?\s*(\d{1,2})\s*[, ]\s*(\d{1,2})\s*\)?\s*r\s*([0-3]))\s*", re.IGNORECASE
)


def at_cell(cell: int) -> tuple[int, int]:
    """(row, column) of a cell."""
    return int(cell) // WIDTH, int(cell) % WIDTH


def cell_at(row: int, column: int) -> int:
    """The cell in that row and column."""
    return row * WIDTH + column


def move_text(rules: Rules, states: Array, i: int, move: int) -> str:
    """ "place (8,7) r1" (row, column of the upper-left square), "veto" or "allow"."""
    if move in _WORDS:
        return _WORDS[move]
    row, column = at_cell(move % CELLS)
    return f"place ({row},{column}) r{move // CELLS}"


def parse_move(rules: Rules, states: Array, i: int, text: str) -> int:
    """The move of a text; it need not be legal. Blanks, brackets and capitals are free."""
    match = _MOVE.fullmatch(text)
    if match is None:
        raise MoveError(f'{text!r} is no move; write "place (row,column) r0" to r3, "veto" or "allow"')
    word, row, column, rotation = match.groups()
    if word:
        return VETO if word.lower() == "veto" else ALLOW
    if max(int(row), int(column)) >= MAX_SIZE:
        raise MoveError(f"no board reaches as far as ({row},{column})")
    return int(rotation) * CELLS + cell_at(int(row), int(column))


# ---- what the table shows


def tile_rows(rules: Rules, number: int, rotation: int = 0) -> Rows:
    """The squares of a tile, turned."""
    return turned(rules.material[number].rows, rotation)


def stack_of(state: Any, seat: int) -> list[int]:
    """The numbers of the tiles in a stack, top first."""
    return [int(tile) for tile in state["stack"][seat][: int(state["num_stack"][seat])][::-1]]


def seen_stack(state: Any, seat: int, viewer: int | None) -> list[int]:
    """The stack as that seat may know it: the top, then the others in the order of their numbers; None knows all."""
    stack = stack_of(state, seat)
    return stack if viewer is None else stack[:1] + sorted(stack[1:])


def sunk_tile(state: Any, seat: int) -> int | None:
    """The number of the tile that a veto has put to the bottom of the stack, if it still lies there."""
    stack = stack_of(state, seat)
    return stack[-1] if state["sunk"][seat] and stack else None


def mover_of(state: Any) -> int:
    """Whose turn it is, whoever decides."""
    return int(state["player"]) ^ int(state["stage"] == ASKED)


def points_of(rules: Rules, states: Array, i: int) -> list[int]:
    """The points of both seats as they stand."""
    points = np.zeros(SEATS, np.int64)
    rules.game.scores(states, i, rules.tables, points)
    return [int(number) for number in points]


def areas_of(rules: Rules, states: Array, i: int) -> list[int]:
    """R7: tiles in the largest area of both colours, as the board stands."""
    areas = np.zeros(SEATS, np.int64)
    protocol.areas(states, i, rules.tables, areas)
    return [int(area) for area in areas]


def stands_on(state: Any, row: int, column: int) -> tuple[int, int] | None:
    """(slot, colour) of what lies on a square, if anything."""
    value = int(state["square"][cell_at(row, column)])
    return ((value & 63) >> 1, value >> 6 & 1) if value & TAKEN else None


def places_by_cell(moves: Iterable[int]) -> dict[int, tuple[int, ...]]:
    """The rotations in which the tile may be placed, by the cell of its upper-left square."""
    found: dict[int, tuple[int, ...]] = {}
    for move in sorted(move for move in moves if move < VETO):
        found[move % CELLS] = (*found.get(move % CELLS, ()), move // CELLS)
    return found


def last_slot(state: Any, last: int | None) -> int | None:
    """The slot of the tile that the last move laid, if it lies on the board still."""
    slot = int(state["num_tiles"]) - 1
    if last is None or last >= VETO or slot < 0:
        return None
    laid = int(state["rotation"][slot]) * CELLS + int(state["cell"][slot])
    return slot if laid == last else None


# ---- the table in letters


class Piece(NamedTuple):
    """Some letters of the table as text, and what they are: the coloured form goes by that."""

    text: str
    style: str = ""  # a colour of COLOURS, or: frame place last muted


Line = list[Piece]


def to_text(rules: Rules, states: Array, i: int, viewer: int | None = None) -> str:
    """The table in plain letters. A viewer sees no order of the stacks; None sees it."""
    lines = table_lines(rules, states, i, viewer)
    return "\n".join("".join(piece.text for piece in line).rstrip() for line in lines)


def table_lines(
    rules: Rules, states: Array, i: int, viewer: int | None, last: int | None = None, legal: Iterable[int] = ()
) -> list[Line]:
    """The table as lines of pieces, the last move and these legal moves marked."""
    state = states[i]
    board = _board_lines(int(rules.tables["size"][0]), state, last_slot(state, last), places_by_cell(legal))
    return [*board, [], *_player_lines(rules, states, i, viewer), [Piece(_stage_line(rules, state))]]


def _board_lines(size: int, state: Any, last: int | None, places: dict[int, tuple[int, ...]]) -> list[Line]:
    """A line of letters for each row of squares, and one between rows for the outlines of tiles."""
    lines = [[Piece("   " + "".join(f"{column:3d}" for column in range(size)), "muted")]]
    for row in range(size + 1):
        lines.append([Piece("   "), *_outline(size, state, row, last)])
        if row < size:
            lines.append([Piece(f"{row:2d} ", "muted"), *_squares(size, state, row, last, places)])
    return lines


def _slot(state: Any, size: int, row: int, column: int) -> int | None:
    if row not in range(size) or column not in range(size):
        return None
    found = stands_on(state, row, column)
    return found[0] if found else None


def _frame(slots: Iterable[int | None], last: int | None) -> str:
    return "last" if last is not None and last in slots else "frame"


def _outline(size: int, state: Any, row: int, last: int | None) -> Line:
    """The line above a row: dashes between different tiles, a cross where such lines meet."""
    line = []
    for column in range(size + 1):
        a, b = _slot(state, size, row - 1, column - 1), _slot(state, size, row - 1, column)
        c, d = _slot(state, size, row, column - 1), _slot(state, size, row, column)
        line.append(Piece(" " if a == b == c == d else "+", _frame((a, b, c, d), last)))
        if column < size:
            line.append(Piece("  " if b == d else "--", _frame((b, d), last)))
    return line


def _squares(size: int, state: Any, row: int, last: int | None, places: dict[int, tuple[int, ...]]) -> Line:
    """A row of squares, with bars between different tiles."""
    line = []
    for column in range(size + 1):
        left, right = _slot(state, size, row, column - 1), _slot(state, size, row, column)
        line.append(Piece(" " if left == right else "|", _frame((left, right), last)))
        if column < size:
            line.append(_square(state, size, row, column, places.get(cell_at(row, column), ())))
    return line


def _square(state: Any, size: int, row: int, column: int, rotations: tuple[int, ...]) -> Piece:
    """A square's colour; on an empty one, whether a tile can be placed from here, lying = or standing |."""
    found = stands_on(state, row, column)
    if found:
        return Piece(SQUARES[found[1]], COLOURS[found[1]])
    if rotations:
        ways = {("=", "|")[rotation & 1] for rotation in rotations}
        return Piece("=|" if len(ways) == 2 else ways.pop() * 2, "place")
    return Piece("()" if row == column == size // 2 else " .", "muted")


def _player_lines(rules: Rules, states: Array, i: int, viewer: int | None) -> list[Line]:
    state, points = states[i], points_of(rules, states, i)
    areas, lines = areas_of(rules, states, i), []
    for seat in range(SEATS):
        stone = "veto stone" if state["stone"][seat] else "no veto stone"
        who = Piece(f"player {seat} ({COLOURS[seat]} {SQUARES[seat]})", COLOURS[seat])
        done = "1 point " if points[seat] == 1 else f"{points[seat]} points"
        lines.append([who, Piece(f"  {done}  area {areas[seat]}  {stone}")])
        lines += _stack_lines(rules, state, seat, viewer)
    return lines


def _stack_lines(rules: Rules, state: Any, seat: int, viewer: int | None) -> list[Line]:
    """The top tile as it lies with rotation 0, and what is below it."""
    stack = seen_stack(state, seat, viewer)
    if not stack:
        return [[Piece("   no tile left")]]
    below = " ".join(rules.material[tile].id for tile in stack[1:])
    sunk = sunk_tile(state, seat)
    words = [f"top {rules.material[stack[0]].id}", f"below {below}" if below else "none below"]
    if sunk is not None and viewer is not None:
        words[1] += f" ({rules.material[sunk].id} at the bottom)"
    lines = []
    for row, text in zip(tile_rows(rules, stack[0]), words):
        squares = [seat if letter == OWN else 1 - seat for letter in row]
        shown = [Piece(SQUARES[colour], COLOURS[colour]) for colour in squares]
        lines.append([Piece("   "), *shown, Piece(f"  {text}")])
    return lines


def _stage_line(rules: Rules, state: Any) -> str:
    number = f"round {int(state['round']) + 1} of {int(rules.tables['rounds'][0])}"
    if state["stage"] == OVER:
        return f"{number}; the game is over"
    player, mover = int(state["player"]), mover_of(state)
    if state["stage"] == PLACE:
        return f"{number}; player {player} ({COLOURS[player]}) is to place {_top_id(rules, state, player)}"
    return f"{number}; player {player} ({COLOURS[player]}) may veto {_top_id(rules, state, mover)} of player {mover}"


def _top_id(rules: Rules, state: Any, seat: int) -> str:
    return str(rules.material[stack_of(state, seat)[0]].id)
