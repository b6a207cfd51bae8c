"""Talō in plain Python: slow, simple, written from the rules alone.

The oracle that the fast kernel is compared with. Comments cite the rules by number (M, S, D, B, P, F; (18) to (22)).
A cell is (x, y, z), a place of a pawn (x, y, level); a block is named by its least cell, and one of length 1 has axis
"z". The die comes from outside: when `stage` is "roll", call `roll(value)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from tests.reference.talo_space import (
    HEIGHTS,
    REACH,
    TOP_LEVEL,
    Blocks,
    Place,
    can_hope,
    filled,
    pawn_cells,
    reachable,
    read_board,
)
from tests.reference.talo_statics import Block, Cell, cells, could_save, falling_parts, stands, under

Move = tuple[Any, ...]  # ("start", x, y) ("restart", x, y) ("stay",) ("take", (4, 1)) ("end",)
# ("place", length, x, y, z, axis) ("move", x, y, level)

LONGEST = 10
ROLLS = 3  # D1
FEET = 3  # three-feet
SYMMETRIC = ((2, 2), (7, 7), (7, 2), (2, 7))  # S1, in seat order
OPTIONS: dict[str, tuple[str, ...]] = {
    "starts": ("free", "symmetric"),
    "collapse": ("illegal", "lose"),
    "variant": ("talo", "fantasy"),
    "goal": ("free", "three-feet"),
}


class Talo:
    """One game. Everything that is neither a decision nor a roll happens inside __init__, play and roll."""

    def __init__(self, players: int = 2, shortcuts: bool = True, **options: Any) -> None:
        unknown = set(options) - set(OPTIONS) - {"board"}
        if unknown:
            raise ValueError(f"unknown options {sorted(unknown)}")
        for name, allowed in OPTIONS.items():
            if options.setdefault(name, allowed[0]) not in allowed:
                raise ValueError(f"option {name}={options[name]!r} is not one of {allowed}")
        if players not in range(2, 5):
            raise ValueError(f"{players} players: 2 to 4 may play")  # M1
        self.players = players
        self.shortcuts = shortcuts  # False: every answer the long way
        self.fantasy: bool = options["variant"] == "fantasy"
        self.three_feet: bool = options["goal"] == "three-feet"
        if self.three_feet and not self.fantasy:
            raise ValueError('goal "three-feet" is only for variant "fantasy"')
        self.can_fall: bool = self.fantasy or options["collapse"] == "lose"  # B4
        self.symmetric: bool = options["starts"] == "symmetric" and not self.fantasy
        self.green, self.start_fields = read_board(options.get("board", "green"), options["variant"])
        if not self.fantasy:
            self._check_starts()

        self.blocks: list[Block] = []  # in the order placed; a block that fell is not among them
        self.fallen: list[Block] = []  # B4: what fell, at the end of the game
        self.pile = {length: 11 - length for length in range(1, LONGEST + 1)}  # M1
        self.pawns: list[Place | None] = [] if self.fantasy else [None] * players
        self.player = 0
        self.stage = "start"  # start, restart, roll, take, build, over
        self.rolls = 0  # failed ones of this turn
        self.value = 0  # the roll that counts, 0 before it
        self.hand: list[int] = []  # lengths still to be placed, larger first
        self.moved = False  # P1: the pawn has used its move before, between or after
        self.falling = False  # (21): the first block waits for the second to save it
        self.collapsed: int | None = None  # B4: the builder
        if self.fantasy:
            self._begin_turn(0)

    def set_up(self, blocks: Iterable[Block], pawns: Sequence[Place] = (), player: int = 0) -> None:
        """Begin this player's turn from a position made by hand; the pile is what is not on the board."""
        self.blocks, self.pawns = list(blocks), list(pawns)
        self.pile = {length: 11 - length for length in range(1, LONGEST + 1)}
        for block in self.blocks:
            self.pile[block.length] -= 1
        self._begin_turn(player)

    def _check_starts(self) -> None:
        if len(self.start_fields) < self.players:
            raise ValueError(f"{self.players} players need as many start fields, the board has {self.start_fields}")
        wrong = [at for at in SYMMETRIC[: self.players] if at not in self.start_fields]
        if self.symmetric and wrong:
            raise ValueError(f'starts "symmetric": {wrong} are no start fields of this board')

    @property
    def over(self) -> bool:
        return self.stage == "over"

    # ---- what is legal ----

    def legal(self) -> set[Move]:
        """Every legal move of the pending decision; empty when the die is to be rolled and when the game is over."""
        if self.stage == "start":
            return {("start", x, y) for x, y in self._starts()}
        if self.stage == "restart":
            return {("restart", x, y) for x, y in self._restarts()} | {("stay",)}
        if self.stage == "take":
            return {("take", lengths) for lengths in self.choices(self.value)}
        if self.stage == "build":
            return self.legal_places() | self.legal_moves() | ({("end",)} if not self.hand else set())
        return set()

    def legal_places(self) -> set[Move]:
        """The "place" moves among legal(): dear, for each asks for balance."""
        return {move for move in self.candidates() if self._may_place(Block(*move[1:]))}

    def candidates(self) -> set[Move]:
        """The "place" moves that fit (B1, B2): what legal_places() chooses from."""
        if self.stage != "build":
            return set()
        return {
            ("place", *block)
            for length in set(self.hand)
            for block in self._fitting(length, self._standing, self.pawns)
        }

    def legal_moves(self) -> set[Move]:
        """The "move" moves among legal()."""
        if self.stage != "build" or not self._may_move():
            return set()
        return {("move", *place) for place in self.reachable(self.player) if self._may_go(place)}

    def is_legal(self, move: Move) -> bool:
        """Whether the move is in legal(), without the rest of it."""
        if self.stage != "build":
            return move in self.legal()
        match move:
            case ("place", int(length), int(x), int(y), int(z), "x" | "y" | "z" as axis):
                block = Block(length, x, y, z, axis)
                return length in self.hand and self._fits(block, self._standing, self.pawns) and self._may_place(block)
            case ("move", x, y, level):
                return self._may_move() and (x, y, level) in self.reachable(self.player) and self._may_go((x, y, level))
            case ("end",):
                return not self.hand
        return False

    @property
    def _standing(self) -> Blocks:
        return frozenset(self.blocks)

    # ---- starting places ----

    def _starts(self) -> set[tuple[int, int]]:
        """S1"""
        if self.symmetric:
            return {SYMMETRIC[self.player]}
        return self.start_fields - {place[:2] for place in self.pawns if place}

    def _restarts(self) -> set[tuple[int, int]]:
        """P5: free fields, whatever `starts` says."""
        taken = filled(self._standing) | self._cells_of(self.pawns)
        return {(x, y) for x, y in self.start_fields if not {(x, y, 0), (x, y, 1)} & taken}

    # ---- blocks ----

    def choices(self, value: int) -> set[tuple[int, ...]]:
        """D1, B5: what may be taken for this roll, the larger block first."""
        return {lengths for lengths in self._in_pile(value) if self._can_place_all(lengths, self._standing, self.pawns)}

    def _in_pile(self, value: int) -> list[tuple[int, ...]]:
        pairs: list[tuple[int, ...]] = [(value - less, less) for less in range(1, value // 2 + 1)]
        return [
            lengths for lengths in [(value,), *pairs] if all(self.pile[one] >= lengths.count(one) for one in lengths)
        ]

    def _cells_of(self, pawns: Sequence[Place | None]) -> set[Cell]:
        return {cell for place in pawns if place for cell in pawn_cells(place)}

    def _fits(self, block: Block, blocks: Blocks, pawns: Sequence[Place | None]) -> bool:
        """M2, B1, B2 and three-feet: everything but balance."""
        if not 1 <= block.length <= LONGEST or (block.length == 1 and block.axis != "z"):
            return False
        taken, pawn = filled(blocks), self._cells_of(pawns)
        for x, y, z in cells(block):
            if x not in REACH or y not in REACH or z not in HEIGHTS or (x, y, z) in taken or (x, y, z) in pawn:
                return False
            if z == 0 and (x, y) not in self.green:
                return False  # B2, M3
        if block.z == 0:
            return not (self.three_feet and sum(other.z == 0 for other in blocks) >= FEET)
        return any(under(cell) in taken for cell in cells(block))

    def _fitting(self, length: int, blocks: Blocks, pawns: Sequence[Place | None]) -> Iterator[Block]:
        """Every block of this length that fits, each once, those on the board first."""
        supports: list[Cell] = [(x, y, 0) for x, y in sorted(self.green)]
        supports += sorted((x, y, z + 1) for x, y, z in filled(blocks) if (x, y, z + 1) not in filled(blocks))
        seen = set()
        for x, y, z in supports:  # B1: a cell of it is here
            tried = [Block(length, x, y, z, "z")]
            if length > 1:
                for back in range(length):
                    tried += [Block(length, x - back, y, z, "x"), Block(length, x, y - back, z, "y")]
            for block in tried:
                if block not in seen:
                    seen.add(block)
                    if self._fits(block, blocks, pawns):
                        yield block

    def _stands(self, blocks: Blocks) -> bool:
        return stands(blocks, self.shortcuts)

    def _may_place(self, block: Block) -> bool:
        """B3, B4 for a block in hand that fits."""
        after = self._standing | {block}
        rest = list(self.hand)
        rest.remove(block.length)
        if not rest:
            return self.can_fall or self._stands(after)
        if not self.can_fall:
            return self._some_second_stands(rest[0], after, self.pawns)
        # B4: a falling first needs no second; a standing one does, if only one that fits
        return not self._stands(after) or self._some_fits(rest[0], after, self.pawns)

    def _some_fits(self, length: int, blocks: Blocks, pawns: Sequence[Place | None]) -> bool:
        return next(self._fitting(length, blocks, pawns), None) is not None

    def _some_second_stands(self, length: int, blocks: Blocks, pawns: Sequence[Place | None]) -> bool:
        """(21): a block of this length can be placed so that everything stands."""
        falling = list(falling_parts(blocks)) if self.shortcuts else []
        return any(
            all(could_save(block, part) for part in falling) and self._stands(blocks | {block})
            for block in self._fitting(length, blocks, pawns)
        )

    def _can_place_all(self, hand: Sequence[int], blocks: Blocks, pawns: Sequence[Place | None]) -> bool:
        """B5: the hand can be placed legally in some order with the pawns where they are; or just fits (B4)."""
        if len(hand) == 1:
            if self.can_fall:
                return self._some_fits(hand[0], blocks, pawns)
            return self._some_second_stands(hand[0], blocks, pawns)
        some_last = self._some_fits if self.can_fall else self._some_second_stands
        return any(
            some_last(last, blocks | {block}, pawns)
            for first, last in {(hand[0], hand[1]), (hand[1], hand[0])}
            for block in self._fitting(first, blocks, pawns)
        )

    # ---- the pawn ----

    def _may_move(self) -> bool:
        """P1: once before, once between and once after; (21) never while a block waits to be saved."""
        return not (self.fantasy or self.moved or self.falling)

    def _may_go(self, place: Place) -> bool:
        """P1: the blocks in hand can still be placed, or it wins."""
        if place[2] == TOP_LEVEL or not self.hand:
            return True
        pawns = list(self.pawns)
        pawns[self.player] = place
        return self._can_place_all(self.hand, self._standing, pawns)

    def reachable(self, seat: int) -> set[Place]:
        """P2 to P4: every top the pawn can get to, its own place left out."""
        here = self.pawns[seat]
        assert here is not None
        others = self._cells_of([place for other, place in enumerate(self.pawns) if other != seat])
        return reachable(here, filled(self._standing), others)

    def is_blockaded(self, seat: int) -> bool:
        """P5"""
        here = self.pawns[seat]
        assert here is not None
        return not can_hope(here, filled(self._standing), self.green)

    # ---- play ----

    def play(self, move: Move) -> None:
        """Make this move and all that follows from it. ValueError if it is illegal; nothing has changed then."""
        if not self.is_legal(move):
            raise ValueError(f"illegal move {move!r} at stage {self.stage!r}")
        kind = move[0]
        if kind == "start":
            self._start(move[1], move[2])
        elif kind in ("restart", "stay"):
            if kind == "restart":
                self.pawns[self.player] = (move[1], move[2], 0)
            self.stage = "roll"
        elif kind == "take":
            self._take(move[1])
        elif kind == "place":
            self._place(Block(*move[1:]))
        elif kind == "move":
            self.pawns[self.player] = (move[1], move[2], move[3])
            self.moved = True
            if move[3] == TOP_LEVEL:
                self.stage = "over"  # F1
        else:
            self._end_turn()

    def roll(self, value: int) -> None:
        """D1: the die shows this. The third failed roll ends the turn."""
        if self.stage != "roll" or value not in range(1, LONGEST + 1):
            raise ValueError(f"roll {value!r} at stage {self.stage!r}: 1 to {LONGEST}, at stage 'roll'")
        if self.choices(value):
            self.stage, self.value = "take", value
            return
        self.rolls += 1
        if self.rolls == ROLLS:
            self._end_turn()

    def _start(self, x: int, y: int) -> None:
        self.pawns[self.player] = (x, y, 0)
        if self.player + 1 < self.players:
            self.player += 1
        else:
            self._begin_turn(0)  # S1

    def _take(self, lengths: tuple[int, ...]) -> None:
        for length in lengths:
            self.pile[length] -= 1
        self.hand = list(lengths)
        self.stage, self.moved, self.falling = "build", False, False

    def _place(self, block: Block) -> None:
        self.blocks.append(block)
        self.hand.remove(block.length)
        self.moved = False  # P1: the next of its three times
        if self._stands(self._standing):
            self.falling = False
            if self.fantasy and not self.hand:
                self._end_turn()
        elif self.hand and self._some_second_stands(self.hand[0], self._standing, self.pawns):
            self.falling = True  # (21)
        else:
            self._collapse()

    def _collapse(self) -> None:
        """B4. If a second block fails to save a falling first, both fall."""
        count = 2 if self.falling else 1
        self.fallen, self.blocks = self.blocks[-count:], self.blocks[:-count]
        self.collapsed, self.stage, self.falling = self.player, "over", False

    def _end_turn(self) -> None:
        self._begin_turn((self.player + 1) % self.players)

    def _begin_turn(self, seat: int) -> None:
        self.player, self.rolls, self.value = seat, 0, 0
        self.hand, self.moved, self.falling = [], False, False
        if self._nobody_can_build():
            self.stage = "over"  # F2, before a restart
        elif not self.fantasy and self.is_blockaded(seat):
            self.stage = "restart"  # P5
        else:
            self.stage = "roll"

    def _nobody_can_build(self) -> bool:
        """F2: no roll offers anything; with an empty pile none does."""
        return not any(
            self._can_place_all(lengths, self._standing, self.pawns)
            for value in range(1, LONGEST + 1)
            for lengths in self._in_pile(value)
        )

    # ---- the end ----

    def scores(self) -> list[int]:
        """The levels the pawns stand on; in Fantasy for each seat the blocks that stand and the level they reach."""
        if not self.fantasy:
            return [place[2] if place else 0 for place in self.pawns]
        stood = frozenset(self.blocks[:-1] if self.falling else self.blocks)
        level = max((z + 1 for _, _, z in filled(stood)), default=0)
        return [level if self.three_feet else len(stood) + level] * self.players

    def outcome(self) -> list[Fraction]:
        """F1, F2, B4: each seat's share of the win, as if the game ended now; in Fantasy the shared reward."""
        scores = self.scores()
        if self.fantasy:
            return [Fraction(score, TOP_LEVEL if self.three_feet else 65) for score in scores]
        in_it = [seat for seat in range(self.players) if seat != self.collapsed]
        best = max(scores[seat] for seat in in_it)
        winners = [seat for seat in in_it if scores[seat] == best]
        return [Fraction(seat in winners, len(winners)) for seat in range(self.players)]

    def winner(self) -> list[int]:
        """The seats that have won; in Fantasy all if nothing fell, else none."""
        if self.fantasy:
            return [] if self.collapsed is not None else list(range(self.players))
        return [seat for seat, share in enumerate(self.outcome()) if share]

    # ---- looking at the game ----

    def table(self) -> dict[str, Any]:
        """The full state in plain terms."""
        return {
            "blocks": list(self.blocks),
            "fallen": list(self.fallen),
            "pile": dict(self.pile),
            "pawns": list(self.pawns),
            "player": self.player,
            "stage": self.stage,
            "rolls": self.rolls,
            "value": self.value,
            "hand": list(self.hand),
            "moved": self.moved,
            "falling": self.falling,
            "collapsed": self.collapsed,
        }

    def copy(self) -> Talo:
        twin = object.__new__(Talo)
        twin.__dict__.update(self.__dict__)
        for name in ("blocks", "fallen", "pawns", "hand"):
            setattr(twin, name, list(getattr(self, name)))
        twin.pile = dict(self.pile)
        return twin
