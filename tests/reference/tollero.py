"""Tollero in plain Python: slow, simple, written from the rules alone.

The oracle that the fast kernel is compared with. Comments cite the rules by number (M, S, E, B, D, F).
Cells are (x, y), x grows to the east and y to the south; rotations are quarter turns clockwise.
"""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction
from itertools import permutations, product
from typing import Any, NamedTuple

Cell = tuple[int, int]
Move = tuple[str, int, int, int | str]  # ("expand", x, y, rot) or ("build", x, y, "NE")

SIDES = ("N", "E", "S", "W")  # clockwise, so one quarter turn is one place further
LOTS = ("NW", "NE", "SE", "SW")  # clockwise too
STEP: dict[str, Cell] = {"N": (0, -1), "E": (1, 0), "S": (0, 1), "W": (-1, 0)}
OPPOSITE = {"N": "S", "E": "W", "S": "N", "W": "E"}
CORNER: dict[str, Cell] = {"NW": (0, 0), "NE": (1, 0), "SE": (1, 1), "SW": (0, 1)}  # place in the tile's 2 x 2 lots
START_STARS = {2: (5, 0), 3: (5, 2, 0), 4: (5, 3, 1, 0)}  # S4
CONTRACT: Cell = (0, 0)  # S1
CONTRACT_ID = "contract"


class Face(NamedTuple):
    """One face of a tile, as it lies."""

    value: int
    canals: frozenset[str]
    foundations: frozenset[str]
    fountains: dict[str, str]  # lot -> direction


def read_face(entry: dict[str, Any]) -> Face:
    """A face as printed, from its entry in the tile set. A lot that is not named is plain."""
    lots: dict[str, str] = entry.get("lots", {})
    return Face(
        value=entry["value"],
        canals=frozenset(entry["canals"]),
        foundations=frozenset(lot for lot, what in lots.items() if what == "foundation"),
        fountains={lot: what.split(":")[1] for lot, what in lots.items() if what.startswith("fountain:")},
    )


def turn_side(side: str, rot: int) -> str:
    return SIDES[(SIDES.index(side) + rot) % 4]


def turn_lot(lot: str, rot: int) -> str:
    return LOTS[(LOTS.index(lot) + rot) % 4]


def turn_face(face: Face, rot: int) -> Face:
    """The face after rot quarter turns clockwise; a fountain's direction turns with the tile."""
    return Face(
        value=face.value,
        canals=frozenset(turn_side(side, rot) for side in face.canals),
        foundations=frozenset(turn_lot(lot, rot) for lot in face.foundations),
        fountains={turn_lot(lot, rot): turn_side(to, rot) for lot, to in face.fountains.items()},
    )


def neighbour(cell: Cell, side: str) -> Cell:
    return (cell[0] + STEP[side][0], cell[1] + STEP[side][1])


def pointed_at(cell: Cell, lot: str, direction: str) -> tuple[Cell, str]:
    """M5: the lot next to this one in that direction, on the grid of half tiles."""
    half_x = 2 * cell[0] + CORNER[lot][0] + STEP[direction][0]
    half_y = 2 * cell[1] + CORNER[lot][1] + STEP[direction][1]
    target = (half_x // 2, half_y // 2)
    corner = (half_x % 2, half_y % 2)
    return target, next(name for name in LOTS if CORNER[name] == corner)


class Tollero:
    """One game, from a known setup. Everything that is no decision happens inside __init__ and play."""

    def __init__(
        self, tileset: dict[str, Any], players: int, setup: dict[str, Any], options: dict[str, Any] | None = None
    ) -> None:
        options = options or {}
        self.players = players
        self.downtown_scores: bool = options.get("downtown_scores", True)  # F3
        self.city = {entry["id"]: read_face(entry) for entry in tileset["city"]}

        self.tiles: dict[Cell, tuple[str, str, int]] = {}  # in the order laid: id, side, rotation
        self.faces: dict[Cell, Face] = {}  # the same tiles, turned as they lie
        self.buildings: dict[tuple[int, int, str], tuple[int, int]] = {}  # (x, y, lot) -> owner, height
        self.floors_left = [int(options.get("floors", 20))] * players  # M1, F1
        self.hands: list[str | None] = list(setup["hands"])  # S3
        self.pile: list[str] = list(setup["pile"])  # top first
        self.gone: list[str] = []
        self.player = 0
        self.stage = "over"
        self.last: Cell | None = None

        self._lay(CONTRACT, CONTRACT_ID, "", 0, read_face(tileset["contract"]))  # S1
        downtown = {entry["id"]: entry for entry in tileset["downtown"]}
        placed = {tuple(one["at"]): one for one in setup["downtown"]}
        for side in SIDES:  # S2
            cell = neighbour(CONTRACT, side)
            one = placed[cell]
            face = read_face(downtown[one["tile"]][one["side"].lower()])
            self._lay(cell, one["tile"], one["side"], one["rot"], face)
        self._begin_turn(0)  # S5

    @property
    def over(self) -> bool:
        return self.stage == "over"

    # ---- what is legal ----

    def legal(self) -> set[Move]:
        """Every legal move of the pending decision; empty only when the game is over."""
        if self.stage == "expand":
            hand = self.hands[self.player]
            assert hand is not None
            return {("expand", x, y, rot) for (x, y), rot in self._places(hand)}
        if self.stage in ("first", "second"):
            return {("build", x, y, lot) for (x, y) in self._in_reach() for lot in self._legal_lots((x, y))}
        return set()

    def _places(self, tile: str) -> set[tuple[Cell, int]]:
        """Where and how this City tile may be laid."""
        # E1: an empty cell that shares a side with a tile of the city
        cells = {neighbour(cell, side) for cell in self.tiles for side in SIDES} - set(self.tiles)
        return {(cell, rot) for cell in cells for rot in range(4) if self._fits(turn_face(self.city[tile], rot), cell)}

    def _fits(self, face: Face, cell: Cell) -> bool:
        joins = False
        for side in SIDES:
            other = self.faces.get(neighbour(cell, side))
            if other is None:
                continue  # E3: a canal may face an empty cell
            mine, theirs = side in face.canals, OPPOSITE[side] in other.canals
            if mine != theirs:
                return False  # E3: both sides or neither
            if mine and theirs:
                joins = True
        return joins  # E2: at least one canal of the city

    def _in_reach(self) -> set[Cell]:
        """The tiles that may take the pending Floor, as far as distance goes."""
        if self.last is None:
            return set(self.tiles)  # B4: Expand was skipped, the first Floor may go anywhere
        reach = {self.last}
        for _ in range(self.faces[self.last].value):  # B1, B3: one step for each point of value
            reach |= {there for here in reach for there in self._joined(here)}
        if self.stage == "second":
            reach.remove(self.last)  # B3: never on the tile that took the first
        return reach

    def _joined(self, cell: Cell) -> set[Cell]:
        """B1: the side neighbours that one step through a joined canal leads to (M3: a tile's canals all meet)."""
        found = set()
        for side in self.faces[cell].canals:
            other = neighbour(cell, side)
            if other in self.faces and OPPOSITE[side] in self.faces[other].canals:
                found.add(other)
        return found

    def _legal_lots(self, cell: Cell) -> set[str]:
        """B2: empty foundations, and lots that carry the player's own Floors."""
        lots = set()
        for lot in self.faces[cell].foundations:
            building = self.buildings.get((*cell, lot))
            if building is None or building[0] == self.player:
                lots.add(lot)
        return lots

    # ---- play ----

    def play(self, move: Move) -> None:
        """Make this move and all that follows from it. ValueError if it is illegal; nothing has changed then."""
        if move not in list(self.legal()):
            raise ValueError(f"illegal move {move!r} at stage {self.stage!r}")
        kind, x, y, how = move
        if kind == "expand":
            self._expand((x, y), int(how))
        else:
            self._build((x, y), str(how))

    def _lay(self, cell: Cell, tile: str, side: str, rot: int, printed: Face) -> None:
        self.tiles[cell] = (tile, side, rot)
        self.faces[cell] = turn_face(printed, rot)

    def _expand(self, cell: Cell, rot: int) -> None:
        tile = self.hands[self.player]
        assert tile is not None
        self.hands[self.player] = None
        self._lay(cell, tile, "", rot, self.city[tile])
        self.stage, self.last = "first", cell
        if not self.legal():
            self._end_turn()  # B4: without a first Floor there is no second

    def _build(self, cell: Cell, lot: str) -> None:
        _, height = self.buildings.get((*cell, lot), (self.player, 0))
        self.buildings[(*cell, lot)] = (self.player, height + 1)
        self.floors_left[self.player] -= 1
        if not any(self.floors_left):
            self._end_game()  # F1: at once, before any draw
            return
        if self.stage == "second" or self.floors_left[self.player] == 0:
            self._end_turn()  # B4: a player with one Floor left places one
            return
        self.stage, self.last = "second", cell
        if not self.legal():
            self._end_turn()  # B4: the Floor stays in the supply

    def _end_turn(self) -> None:
        if self.pile:
            self.hands[self.player] = self.pile.pop(0)  # D1
        self._begin_turn((self.player + 1) % self.players)

    def _begin_turn(self, seat: int) -> None:
        """Find the next decision, from the start of this seat's turn on. The turn before it (if any) was not idle."""
        idle = 0
        while idle < sum(left > 0 for left in self.floors_left):  # F1: nobody could lay or build, one after the other
            if self.floors_left[seat] > 0:  # F1: no turns without Floors
                self.player, self.last = seat, None
                self._discard_misfits()
                self.stage = "first" if self.hands[seat] is None else "expand"  # E4: no tile left, Expand is skipped
                if self.legal():
                    return
                idle += 1  # nothing to draw by D1: Expand is skipped only when the pile is empty
            seat = (seat + 1) % self.players
        self._end_game()

    def _discard_misfits(self) -> None:
        """E4: a tile that fits nowhere leaves the game and is replaced, until one fits or none is left."""
        while True:
            tile = self.hands[self.player]
            if tile is None or self._places(tile):
                return
            self.gone.append(tile)
            self.hands[self.player] = self.pile.pop(0) if self.pile else None

    def _end_game(self) -> None:
        self.stage, self.last = "over", None

    # ---- scoring ----

    def scores(self) -> list[int]:
        """Starting stars (S4) and F2 to F4, as the table stands."""
        stars = list(START_STARS[self.players])
        for cell, (_, side, _) in self.tiles.items():
            if cell == CONTRACT:
                continue  # F2 never scores the contract
            if side != "" and not self.downtown_scores:
                continue  # F3
            winner = self._majority(cell)
            if winner is not None:
                stars[winner] += self.faces[cell].value
        for cell, face in self.faces.items():  # F4: fountains of any tile
            for lot, direction in face.fountains.items():
                target, target_lot = pointed_at(cell, lot, direction)
                building = self.buildings.get((*target, target_lot))
                if building is not None:
                    owner, height = building
                    stars[owner] += height
        return stars

    def _majority(self, cell: Cell) -> int | None:
        """F2: tallest building; among those tied, most Floors on the tile; else nobody."""
        here = [self.buildings[(*cell, lot)] for lot in LOTS if (*cell, lot) in self.buildings]
        if not here:
            return None
        tallest = max(height for _, height in here)
        tied = {owner for owner, height in here if height == tallest}
        floors = {player: sum(height for owner, height in here if owner == player) for player in tied}
        most = max(floors.values())
        winners = [player for player in tied if floors[player] == most]
        return winners[0] if len(winners) == 1 else None

    def outcome(self) -> list[Fraction]:
        """F5: each player's share of the win, as if the game ended now."""
        scores = self.scores()
        best = max(scores)
        return [Fraction(1, scores.count(best)) if score == best else Fraction(0) for score in scores]

    # ---- looking at the game ----

    def table(self) -> dict[str, Any]:
        """The full state, hidden things included, in plain terms."""
        return {
            "tiles": dict(self.tiles),
            "order": list(self.tiles),
            "buildings": dict(self.buildings),
            "floors_left": list(self.floors_left),
            "hands": list(self.hands),
            "pile": list(self.pile),
            "gone": list(self.gone),
            "player": self.player,
            "stage": self.stage,
            "over": self.over,
            "last": self.last,
        }

    def known_to(self, player: int) -> Hashable:
        """What this player may know: never another hand, nor the order of the pile."""
        others = [hand for seat, hand in enumerate(self.hands) if seat != player and hand is not None]
        return (
            player,
            tuple(self.tiles.items()),  # in the order laid
            tuple(sorted(self.buildings.items())),
            tuple(self.floors_left),
            (self.stage, self.last, None if self.over else self.player),
            tuple(self.gone),
            len(self.pile),
            tuple(hand is not None for hand in self.hands),
            self.hands[player],
            tuple(sorted(others + self.pile)),  # the unseen tiles, all in one heap
        )

    def copy(self) -> Tollero:
        twin = object.__new__(Tollero)
        twin.__dict__.update(self.__dict__)
        twin.tiles, twin.faces = dict(self.tiles), dict(self.faces)
        twin.buildings, twin.floors_left = dict(self.buildings), list(self.floors_left)
        twin.hands, twin.pile, twin.gone = list(self.hands), list(self.pile), list(self.gone)
        return twin


def perft(game: Tollero, depth: int) -> int:
    """The number of sequences of exactly depth moves from here."""
    if depth == 0:
        return 1
    total = 0
    for move in game.legal():
        after = game.copy()
        after.play(move)
        total += perft(after, depth - 1)
    return total


def downtown_arrangements(tileset: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """S2: every labelled arrangement (tile, face, rotation, for N E S W) in which the sides that meet match."""
    contract = read_face(tileset["contract"])
    found: list[list[dict[str, Any]]] = []
    for tiles in permutations(tileset["downtown"]):
        choices: list[list[dict[str, Any]]] = []
        for side, entry in zip(SIDES, tiles, strict=True):
            # The four Downtown tiles touch only the contract, not one another, so each is checked alone.
            fitting = []
            for label, rot in product("AB", range(4)):
                face = turn_face(read_face(entry[label.lower()]), rot)
                if (OPPOSITE[side] in face.canals) == (side in contract.canals):
                    at = list(neighbour(CONTRACT, side))
                    fitting.append({"at": at, "tile": entry["id"], "side": label, "rot": rot})
            choices.append(fitting)
        found.extend([dict(one) for one in four] for four in product(*choices))
    return found
