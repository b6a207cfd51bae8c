"""Toscana in plain Python: slow, simple, written from the rules alone.

The oracle that the fast kernel is compared with. Comments cite the rules by number (M, R, T).
Cells are (row, col), row 0 at the top; rotations are quarter turns clockwise of the printed form.
Player 0 is roofs, player 1 paving; a colour is the number of the player it belongs to.
"""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

Cell = tuple[int, int]
Move = (
    tuple[str] | tuple[str, int, int, int]
)  # ("veto",), ("allow",), ("place", row, col, rot); in a log also ("pass",)
Form = list[str]  # rows of "o" (own colour) and "x" (the other's)

VETO: Move = ("veto",)
ALLOW: Move = ("allow",)
PASS: Move = ("pass",)
STEPS: tuple[Cell, ...] = ((-1, 0), (0, 1), (1, 0), (0, -1))


class Square(NamedTuple):
    """One square of a tile on the board."""

    colour: int
    tile: int  # by the order laid in the round, from 0


class Laid(NamedTuple):
    """One tile on the board; the cell is that of its upper-left square as it lies."""

    player: int
    tile: str
    row: int
    col: int
    rot: int


def printed_tiles() -> dict[str, Form]:
    """M1: the 16 forms, in this file's own numbering.

    Squares count 0 to 7 along the rows; a form is named by the pair of squares of the other's colour. Of a pair and
    its half turn the smaller is printed, and P01 to P16 are those pairs in ascending order: (0, 1), (0, 2), ...
    """
    forms: list[Form] = []
    for pair in combinations(range(8), 2):
        half_turn = (7 - pair[1], 7 - pair[0])
        if pair <= half_turn:
            squares = "".join("x" if square in pair else "o" for square in range(8))
            forms.append([squares[:4], squares[4:]])
    return {f"P{number:02}": form for number, form in enumerate(forms, 1)}


def turn_form(form: Form, rot: int) -> Form:
    """The form after rot quarter turns clockwise: each turn makes the columns, read upwards, the rows."""
    for _ in range(rot):
        form = ["".join(column) for column in zip(*reversed(form), strict=True)]
    return form


def neighbours(cell: Cell) -> list[Cell]:
    return [(cell[0] + down, cell[1] + right) for down, right in STEPS]


class Toscana:
    """One match, from a known setup. Everything that is no decision happens inside __init__ and play.

    setup: {"starts": who starts round 1, "stacks": [round][player] -> tile ids, top first}.
    """

    def __init__(self, tiles: dict[str, Form], setup: dict[str, Any], options: dict[str, Any] | None = None) -> None:
        options = options or {}
        self.size: int = options.get("size", 17)  # M2
        self.contact: str = options.get("contact", "tile")  # R4
        self.veto: str = options.get("veto", "round")  # R5
        self.rounds: int = options.get("rounds", 2)  # T1, T2
        self.tiles = tiles
        self.starts: int = setup["starts"]
        self.deals: list[list[list[str]]] = [[list(stack) for stack in stacks] for stacks in setup["stacks"]]

        self.round = -1
        self.board: dict[Cell, Square] = {}
        self.laid: list[Laid] = []  # in the order laid
        self.stacks: list[list[str]] = [[], []]  # top first
        self.stones = [True, True]  # M3: who still has the veto stone
        self.bottom: list[str | None] = [None, None]  # R5: the vetoed tile under each stack
        self.passes = 0  # in a row
        self.turn = self.starts  # whose tile is to be played
        self.player = self.starts  # who decides now
        self.stage = "over"
        self.round_scores: list[list[int]] = []  # of the rounds that are over
        self.log: list[list[tuple[int, Move]]] = []  # by round: who, and what; the automatic passes are in it
        self._begin_round()

    @property
    def over(self) -> bool:
        return self.stage == "over"

    # ---- what is legal ----

    def legal(self) -> set[Move]:
        """Every legal move of the pending decision; empty only when the match is over."""
        if self.stage == "veto":
            return {VETO, ALLOW}
        if self.stage == "place":
            return {("place", row, col, rot) for row, col, rot in self._places()}
        return set()

    def _places(self) -> set[tuple[int, int, int]]:
        """R2: where and how the mover's top tile may be laid."""
        own = [cell for cell, square in self.board.items() if square.colour == self.turn]
        beside = {there for cell in own for there in neighbours(cell)}  # R4: on tiles of either player, never corners
        found = set()
        for rot in range(4):  # all four count, even where two look the same
            form = turn_form(self.tiles[self.stacks[self.turn][0]], rot)
            for row in range(self.size - len(form) + 1):  # inside the board
                for col in range(self.size - len(form[0]) + 1):
                    squares = self._squares(form, row, col)
                    if squares.keys().isdisjoint(self.board) and self._is_joined(squares, beside):  # on empty squares
                        found.add((row, col, rot))
        return found

    def _squares(self, form: Form, row: int, col: int) -> dict[Cell, int]:
        """The cells that the mover's tile, turned so, would cover, each with the colour it would show."""
        own, other = self.turn, 1 - self.turn
        return {
            (row + down, col + right): own if mark == "o" else other
            for down, marks in enumerate(form)
            for right, mark in enumerate(marks)
        }

    def _is_joined(self, squares: dict[Cell, int], beside: set[Cell]) -> bool:
        """Does a tile on these squares meet R3, or R4 with these cells beside the mover's colour?"""
        if not self.board:
            return (self.size // 2, self.size // 2) in squares  # R3
        return any(
            cell in beside
            for cell, colour in squares.items()
            if self.contact == "tile" or colour == self.turn  # R4: which squares of the new tile may touch
        )

    # ---- play ----

    def play(self, move: Move) -> None:
        """Make this move and all that follows from it. ValueError if it is illegal; nothing has changed then."""
        if move not in list(self.legal()):
            raise ValueError(f"illegal move {move!r} at stage {self.stage!r}")
        self.log[-1].append((self.player, move))
        if len(move) == 1:
            if move == VETO:
                self._spend_stone()
            self._place_or_pass()
        else:
            _, row, col, rot = move
            self._lay(row, col, rot)
            self.turn = 1 - self.turn
            self._begin_turn()

    def _spend_stone(self) -> None:
        """R5: the top tile goes to the bottom, and the next one must be played."""
        stack = self.stacks[self.turn]
        stack.append(stack.pop(0))
        self.bottom[self.turn] = stack[-1]
        self.stones[1 - self.turn] = False

    def _lay(self, row: int, col: int, rot: int) -> None:
        tile = self.stacks[self.turn].pop(0)
        for cell, colour in self._squares(turn_form(self.tiles[tile], rot), row, col).items():
            self.board[cell] = Square(colour, len(self.laid))
        self.laid.append(Laid(self.turn, tile, row, col, rot))
        self.passes = 0

    def _begin_round(self) -> None:
        self.round += 1
        self.board, self.laid, self.passes, self.bottom = {}, [], 0, [None, None]
        self.stacks = [list(stack) for stack in self.deals[self.round]]  # R1
        if self.veto == "round":
            self.stones = [True, True]  # R5: with the option "match" a spent stone stays spent
        self.log.append([])
        self.turn = (self.starts + self.round) % 2  # T1
        self._begin_turn()

    def _begin_turn(self) -> None:
        if not any(self.stacks):
            self._end_round()  # R6: at once when both stacks are empty
        elif self.stones[1 - self.turn] and len(self.stacks[self.turn]) >= 2:
            self.stage, self.player = "veto", 1 - self.turn  # R5: asked also when the tile cannot be placed
        else:
            self._place_or_pass()

    def _place_or_pass(self) -> None:
        """R6: a pass is no decision; it needs an empty stack or a top tile without a place."""
        if self.stacks[self.turn] and self._places():
            self.stage, self.player = "place", self.turn
            return
        self.log[-1].append((self.turn, PASS))
        self.passes += 1
        self.turn = 1 - self.turn
        if self.passes == 2:
            self._end_round()  # R6
        else:
            self._begin_turn()

    def _end_round(self) -> None:
        self.round_scores.append(self.round_score())
        if self.round + 1 < self.rounds:
            self._begin_round()
        else:
            self.stage = "over"

    # ---- scoring ----

    def round_score(self) -> list[int]:
        """R7 for both players, as the board stands."""
        return [max((len(tiles) for tiles in self._areas(colour)), default=0) for colour in (0, 1)]

    def _areas(self, colour: int) -> list[set[int]]:
        """R7: the tiles of each connected area of this colour."""
        unseen = {cell for cell, square in self.board.items() if square.colour == colour}
        areas = []
        while unseen:
            edge = [unseen.pop()]
            area: set[int] = set()
            while edge:
                cell = edge.pop()
                area.add(self.board[cell].tile)  # a set: each tile once, however often it joins
                joined = unseen.intersection(neighbours(cell))
                unseen -= joined
                edge.extend(joined)
            areas.append(area)
        return areas

    def scores(self) -> list[int]:
        """Totals over the match: the rounds that are over, and the round at play as it stands."""
        counted = self.round_scores if self.over else [*self.round_scores, self.round_score()]
        return [sum(score[player] for score in counted) for player in (0, 1)]

    def outcome(self) -> list[Fraction]:
        """T1, T2: each player's share of the win, as if the match ended now."""
        counted = self.round_scores if self.over else [*self.round_scores, self.round_score()]
        for player in (0, 1):
            if all(score[player] > score[1 - player] for score in counted):
                return [Fraction(int(seat == player)) for seat in (0, 1)]  # T1: won every round
        totals = self.scores()
        best = max(totals)
        return [Fraction(1, totals.count(best)) if total == best else Fraction(0) for total in totals]

    # ---- looking at the game ----

    def table(self) -> dict[str, Any]:
        """The full state, hidden things included, in plain terms."""
        return {
            "round": self.round,
            "board": dict(self.board),
            "laid": list(self.laid),
            "stacks": [list(stack) for stack in self.stacks],
            "stones": list(self.stones),
            "bottom": list(self.bottom),
            "passes": self.passes,
            "turn": self.turn,
            "player": self.player,
            "stage": self.stage,
            "over": self.over,
            "round_scores": [list(score) for score in self.round_scores],
        }

    def known_to(self, player: int) -> Hashable:
        """What this player may know: never the order of a stack, but for its top and a vetoed tile under it."""
        seen = []
        for stack, bottom in zip(self.stacks, self.bottom, strict=True):
            known_end = 1 if bottom is not None and len(stack) > 1 else 0
            hidden = sorted(stack[1 : len(stack) - known_end])
            seen.append((tuple(stack[:1]), tuple(hidden), tuple(stack[len(stack) - known_end :])))
        return (
            player,
            self.round,
            tuple(self.laid),
            tuple(sorted(self.board.items())),
            tuple(seen),
            tuple(self.stones),
            (self.stage, self.passes, None if self.over else (self.turn, self.player)),
            tuple(tuple(score) for score in self.round_scores),
        )

    def copy(self) -> Toscana:
        twin = object.__new__(Toscana)
        twin.__dict__.update(self.__dict__)
        twin.board, twin.laid = dict(self.board), list(self.laid)
        twin.stacks = [list(stack) for stack in self.stacks]
        twin.stones, twin.bottom = list(self.stones), list(self.bottom)
        twin.round_scores = list(self.round_scores)
        twin.log = [list(entries) for entries in self.log]
        return twin


def perft(game: Toscana, depth: int) -> int:
    """The number of sequences of exactly depth moves from here."""
    if depth == 0:
        return 1
    total = 0
    for move in game.legal():
        after = game.copy()
        after.play(move)
        total += perft(after, depth - 1)
    return total
