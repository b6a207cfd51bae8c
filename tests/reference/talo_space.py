"""Talō's space in plain Python: boards, cells, and how a pawn walks (M2, M3, P2 to P5)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache

from tests.reference.talo_statics import Block, Cell, cells

Place = tuple[int, int, int]  # x, y, level
Blocks = frozenset[Block]

TOP_LEVEL = 10  # M2, F1
REACH = range(-7, 17)  # M2: x and y of any cell
HEIGHTS = range(TOP_LEVEL)  # M2: z of any cell
GREEN = ("#" * 10,) * 10
ISLANDS = tuple(  # M3: four 3 x 3, and the 2 x 2 in the middle
    "".join("#" if {x, y} <= {1, 2, 3, 6, 7, 8} else "o" if {x, y} <= {4, 5} else "~" for x in range(10))
    for y in range(10)
)


def beside(x: int, y: int) -> tuple[tuple[int, int], ...]:
    """The cells that share a side."""
    return ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1))


def pawn_cells(place: Place) -> set[Cell]:
    x, y, level = place
    return {(x, y, level), (x, y, level + 1)}  # B1: its feet, and the one above


@lru_cache(maxsize=1 << 12)
def filled(blocks: Blocks) -> frozenset[Cell]:
    return frozenset(cell for block in blocks for cell in cells(block))


def read_board(board: str | Sequence[str], variant: str) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """M3: the fields that can be built on, and those a pawn may start from."""
    if board == "table":
        if variant != "fantasy":
            raise ValueError('board "table" is only for variant "fantasy"')
        return {(x, y) for x in REACH for y in REACH}, set()
    named = {"green": GREEN, "islands": ISLANDS}
    if isinstance(board, str) and board not in named:
        raise ValueError(f'board {board!r} is not "green", "islands", "table" or ten rows')
    rows = named[board] if isinstance(board, str) else board
    if len(rows) != 10 or any(len(row) != 10 or set(row) - set("#o~") for row in rows):
        raise ValueError("a board is ten rows of ten characters out of # o ~")
    fields = {(x, y): rows[y][x] for x in range(10) for y in range(10)}
    return {at for at, what in fields.items() if what != "~"}, {at for at, what in fields.items() if what == "#"}


# ---- walking


def walk(start: Place, may_enter: Callable[[Place], bool]) -> set[Place]:
    """P2, P3: every place on the way from here, the start with them."""
    found, todo = {start}, deque([start])
    while todo:
        x, y, level = todo.popleft()
        for there in beside(x, y):
            for to in ((*there, level + 1), (*there, level), (*there, level - 1)):
                if to[2] >= 1 and to not in found and may_enter(to):  # P3: never onto the board
                    found.add(to)
                    todo.append(to)
    return found


def reachable(here: Place, taken: AbstractSet[Cell], others: AbstractSet[Cell]) -> set[Place]:
    """P2 to P4: every top a pawn can get to, its own place left out; `others` are the other pawns' cells."""

    def is_top(place: Place) -> bool:
        x, y, level = place
        return (x, y, level - 1) in taken and not pawn_cells(place) & (taken | others)

    return walk(here, is_top) - {here}


def can_hope(here: Place, taken: AbstractSet[Cell], green: AbstractSet[tuple[int, int]]) -> bool:
    """P5: whether a pawn could get to level 10 if everything were built for it; other pawns do not count."""

    def is_hopeful(place: Place) -> bool:
        x, y, level = place
        if pawn_cells(place) & taken:
            return False
        inside = x in REACH and y in REACH and level - 1 in HEIGHTS
        return (x, y, level - 1) in taken or (inside and (level > 1 or (x, y) in green))

    return any(level == TOP_LEVEL for _, _, level in walk(here, is_hopeful))
