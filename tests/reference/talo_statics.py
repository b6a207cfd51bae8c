"""Talō's balance (B3) in plain Python: the linear program of the rules page, as it is written there.

`stands(blocks, shortcuts=False)` puts the whole construction into one program. With shortcuts it leaves out what cannot
matter and solves the rest part by part; every shortcut carries the reason why it changes no answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

Cell = tuple[int, int, int]

DELTA = 1 / 461  # B3: how far inside a shared square a force must be
BALANCED = 1e-6  # B3: a leftover imbalance below this counts as none
LOW, HIGH = -1, 1  # the two ends of a lying block


class Block(NamedTuple):
    """A block as it lies: `at` is its least cell, axis "x", "y" or "z"."""

    length: int
    x: int
    y: int
    z: int
    axis: str

    @property
    def at(self) -> Cell:
        return (self.x, self.y, self.z)


@cache
def cells(block: Block) -> tuple[Cell, ...]:
    """Every cell the block fills, from the least on."""
    length, x, y, z, axis = block
    return tuple((x + n * (axis == "x"), y + n * (axis == "y"), z + n * (axis == "z")) for n in range(length))


def under(cell: Cell) -> Cell:
    return (cell[0], cell[1], cell[2] - 1)


def bottom(block: Block) -> tuple[Cell, ...]:
    """The cells that can rest on something."""
    return cells(block)[:1] if block.axis == "z" else cells(block)


def end_faces(block: Block) -> dict[int, Cell]:
    """(20) The cells that the two ends of a lying block touch; a block of length 1 stands and never leans (B1)."""
    if block.axis == "z":
        return {}
    first, last = cells(block)[0], cells(block)[-1]
    dx, dy = (1, 0) if block.axis == "x" else (0, 1)
    return {LOW: (first[0] - dx, first[1] - dy, first[2]), HIGH: (last[0] + dx, last[1] + dy, last[2])}


def can_be_leaned_on(block: Block) -> bool:
    return block.axis == "z" and block.length >= 2  # (20)


def owners(blocks: Iterable[Block]) -> dict[Cell, Block]:
    return {cell: block for block in blocks for cell in cells(block)}


class Part(NamedTuple):
    """Blocks whose balance depends on one another only."""

    blocks: tuple[Block, ...]
    ground: frozenset[Cell]  # cells of these blocks that rest on the board, or on what bears anything like the board
    leans: frozenset[tuple[Block, int]]  # (20) which ends of which blocks lean


def stands(blocks: frozenset[Block], shortcuts: bool = True) -> bool:
    """B3: is there a set of forces that balances every block?"""
    if not shortcuts:
        return leftover(whole(blocks)) < BALANCED
    return _stands_by_parts(blocks)


@lru_cache(maxsize=1 << 16)
def _stands_by_parts(blocks: frozenset[Block]) -> bool:
    return next(falling_parts(blocks), None) is None


def whole(blocks: frozenset[Block]) -> Part:
    """The construction as one part."""
    ground = frozenset(cell for block in blocks for cell in bottom(block) if cell[2] == 0)
    return Part(tuple(sorted(blocks)), ground, _leans(blocks, owners(blocks)))


def _leans(blocks: Iterable[Block], owner: dict[Cell, Block]) -> frozenset[tuple[Block, int]]:
    return frozenset(
        (block, end)
        for block in blocks
        for end, cell in end_faces(block).items()
        if cell in owner and can_be_leaned_on(owner[cell])
    )


# ---- the linear program


def leftover(part: Part) -> float:
    """The least imbalance that any forces leave: the sum of what is left of every weight and every moment."""
    owner = owners(part.blocks)
    row = {block: 3 * n for n, block in enumerate(part.blocks)}  # upward force, moment along x, moment along y
    columns: list[dict[int, float]] = []  # of each force: what it adds to which row
    pushes_up: dict[Block, list[int]] = {block: [] for block in part.blocks}
    for block in part.blocks:
        for cell in bottom(block):
            below = owner.get(under(cell))
            if below is None and cell not in part.ground:
                continue
            for x in (cell[0] + DELTA, cell[0] + 1 - DELTA):  # any push in the square is a sum of pushes at its corners
                for y in (cell[1] + DELTA, cell[1] + 1 - DELTA):
                    pushes_up[block].append(len(columns))
                    columns.append(_effect(block, row[block], x, y, 1))
                    if below is not None:
                        columns[-1].update(_effect(below, row[below], x, y, -1))
    limits: list[dict[int, float]] = []  # each at most 0
    for block, end in part.leans:
        # (20) what would lower the high end is too great a load towards it: the lean adds to that end's side
        limits.append({len(columns): 1.0, **dict.fromkeys(pushes_up[block], -2 * DELTA)})
        columns.append({row[block] + (1 if block.axis == "x" else 2): float(end)})
    return _solve(part.blocks, columns, limits)


def _effect(block: Block, row: int, x: float, y: float, sign: int) -> dict[int, float]:
    """A push at (x, y), in the three rows of a block; moments are about its centre, where its weight has none."""
    centre_x = block.x + (block.length if block.axis == "x" else 1) / 2
    centre_y = block.y + (block.length if block.axis == "y" else 1) / 2
    return {row: sign, row + 1: sign * (x - centre_x), row + 2: sign * (y - centre_y)}


def _solve(blocks: tuple[Block, ...], columns: list[dict[int, float]], limits: list[dict[int, float]]) -> float:
    rows, forces = 3 * len(blocks), len(columns)
    balance = np.zeros((rows, forces + 2 * rows))
    for n, column in enumerate(columns):
        for at, value in column.items():
            balance[at, n] = value
    balance[:, forces : forces + rows] = np.eye(rows)  # what is missing, and what is too much
    balance[:, forces + rows :] = -np.eye(rows)
    weights = np.zeros(rows)
    weights[::3] = [block.length for block in blocks]
    at_most = np.zeros((len(limits), forces + 2 * rows))
    for n, limit in enumerate(limits):
        for at, value in limit.items():
            at_most[n, at] = value
    cost = np.concatenate([np.zeros(forces), np.ones(2 * rows)])
    found = linprog(
        cost,
        A_ub=at_most if limits else None,
        b_ub=np.zeros(len(limits)) if limits else None,
        A_eq=balance,
        b_eq=weights,
        method="highs",
        options={"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9},
    )
    if found.status != 0:  # it has a solution, however bad: leave everything unbalanced
        raise RuntimeError(f"the linear program of {len(blocks)} blocks was not solved: {found.message}")
    return float(found.fun)


# ---- shortcuts


def falling_parts(blocks: frozenset[Block]) -> Iterator[Part]:
    """The parts that cannot balance, one by one."""
    for part in parts(blocks):
        if not _part_stands(part):
            yield part


def ground_like(blocks: Iterable[Block], owner: dict[Cell, Block]) -> set[Block]:
    """Blocks that bear anything, and press on nothing but their like.

    A block on the board is one: by B2 all of it lies there, so every load has the board straight below it. So is a
    block whose ends (or whose foot) rest on such blocks, if it touches no others below: all loads and its own weight
    are between its ends, so these two can share them out.
    """
    found: set[Block] = set()
    for block in sorted(blocks, key=lambda one: one.z):  # what a block rests on begins lower
        below = [owner.get(under(cell)) for cell in bottom(block)]
        ends_rest = below[0] in found and below[-1] in found
        if block.z == 0 or (ends_rest and all(one is None or one in found for one in below)):
            found.add(block)
    return found


def parts(blocks: frozenset[Block]) -> list[Part]:
    """The blocks that are not like the ground, cut where nothing touches: no force goes from one part to another."""
    owner = owners(blocks)
    ground = ground_like(blocks, owner)
    rest = [block for block in blocks if block not in ground]
    touching: dict[Block, set[Block]] = {block: set() for block in rest}
    for block in rest:
        for cell in bottom(block):
            below = owner.get(under(cell))
            if below in touching:
                touching[block].add(below)
                touching[below].add(block)
    found = []
    while touching:
        members = {next(iter(touching))}
        new = set(members)
        while new:
            new = {other for one in new for other in touching[one]} - members
            members |= new
        for one in members:
            del touching[one]
        resting = frozenset(c for one in members for c in bottom(one) if owner.get(under(c)) in ground)
        found.append(Part(tuple(sorted(members)), resting, _leans(members, owner)))
    return found


@lru_cache(maxsize=1 << 16)
def _part_stands(part: Part) -> bool:
    owner = owners(part.blocks)
    resting: dict[Block, set[Block]] = {block: set() for block in part.blocks}  # what lies directly on it
    for block in part.blocks:
        for cell in bottom(block):
            if under(cell) in owner:
                resting[owner[under(cell)]].add(block)
    for block in part.blocks:
        group = {block}
        while bigger := {other for one in group for other in resting[one]} - group:
            group |= bigger
        if not _is_over_support(group, part, owner):
            return False
    if not _is_over_support(set(part.blocks), part, owner):
        return False
    return len(part.blocks) == 1 or _moved_part_stands(_to_origin(part))  # one block balances if its centre does


def _is_over_support(group: set[Block], part: Part, owner: dict[Cell, Block]) -> bool:
    """Nothing else presses on the group: so, all its sums added up, the centre of its weight is over its support.

    Each of its leans (20) makes up for at most two deltas, for no more than its weight pushes a block in it up.
    """
    feet = [
        cell
        for block in group
        for cell in bottom(block)
        if cell in part.ground or (under(cell) in owner and owner[under(cell)] not in group)
    ]
    weight = sum(block.length for block in group)
    for way, axis in enumerate("xy"):
        if not feet:
            return False
        moments = sum(
            block.length * (block[1 + way] + (block.length if block.axis == axis else 1) / 2) for block in group
        )
        leans = [end for block, end in part.leans if block in group and block.axis == axis]
        low = min(cell[way] for cell in feet) + DELTA - 2 * DELTA * leans.count(LOW)
        high = max(cell[way] for cell in feet) + 1 - DELTA + 2 * DELTA * leans.count(HIGH)
        if not low <= moments / weight <= high:
            return False
    return True


def _to_origin(part: Part) -> Part:
    """Balance is the same wherever the part is, also in height."""
    dx, dy, dz = (min(block.at[n] for block in part.blocks) for n in range(3))

    def moved(block: Block) -> Block:
        return block._replace(x=block.x - dx, y=block.y - dy, z=block.z - dz)

    return Part(
        tuple(moved(block) for block in part.blocks),
        frozenset((x - dx, y - dy, z - dz) for x, y, z in part.ground),
        frozenset((moved(block), end) for block, end in part.leans),
    )


@lru_cache(maxsize=1 << 18)
def _moved_part_stands(part: Part) -> bool:
    return leftover(part) < BALANCED


def could_save(block: Block, part: Part) -> bool:
    """Only a block that touches a falling part, or lets one of its ends lean, adds anything to its sums."""
    mine = set(cells(block))
    for other in part.blocks:
        if any(under(cell) in mine for cell in bottom(other)):
            return True
        if can_be_leaned_on(block) and any(cell in mine for cell in end_faces(other).values()):
            return True
    feet = {under(cell) for cell in bottom(block)}
    return any(cell in feet for other in part.blocks for cell in cells(other))
