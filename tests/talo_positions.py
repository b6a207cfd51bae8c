"""Talō positions made by hand, for the reference implementation."""

from __future__ import annotations

from typing import Any

from tests.reference.talo import Move, Talo
from tests.reference.talo_space import Place
from tests.reference.talo_statics import Block, stands

Line = tuple[int, int, int, int, str]  # length, x, y, z, axis
PAWNS: tuple[Place, ...] = ((0, 0, 0), (9, 9, 0))
ONE: Line = (1, 5, 5, 0, "z")  # a single block in the middle


def game(*blocks: Line, pawns: tuple[Place, ...] = PAWNS, **options: Any) -> Talo:
    """Seat 0 is to roll, unless P5 or F2 come first."""
    one = Talo(max(2, len(pawns)), **options)
    one.set_up([Block(*block) for block in blocks], () if one.fantasy else pawns)
    return one


def taken(*lengths: int, blocks: tuple[Line, ...] = (), pawns: tuple[Place, ...] = PAWNS, **options: Any) -> Talo:
    """The same, with these blocks in hand."""
    one = game(*blocks, pawns=pawns, **options)
    if one.stage == "restart":
        one.play(("stay",))
    one.roll(sum(lengths))
    one.play(("take", tuple(sorted(lengths, reverse=True))))
    return one


def place(*block: Any) -> Move:
    return ("place", *block)


def places(one: Talo, length: int, axis: str = "xyz", level: int | None = None) -> set[tuple[int, int, int]]:
    """Where blocks of this length may be placed in such a way."""
    return {
        (x, y, z)
        for _, n, x, y, z, way in one.legal_places()
        if n == length and way in axis and (level is None or z == level)
    }


def do_stand(*blocks: Line) -> bool:
    """The same answer in one program and with shortcuts."""
    construction = frozenset(Block(*block) for block in blocks)
    assert len(construction) == len(blocks)
    assert stands(construction) == stands(construction, shortcuts=False)
    return stands(construction)


def rows(**fields: str) -> tuple[str, ...]:
    """A board of water with these fields: x3y5="#"."""
    given = {(int(name[1]), int(name[3])): what for name, what in fields.items()}
    return tuple("".join(given.get((x, y), "~") for x in range(10)) for y in range(10))
