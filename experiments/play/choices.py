"""The moves a person may choose from: how each would look, where it is on the picture, which is next to which.

Nothing here knows a game. A picture is what `to_ansi` gives: the table, then, after an empty line, what the players
have. The place of a move is where the picture changes when that move is marked as the last one.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tollero_env.position import Position

Cell = tuple[int, int]  # column and row of a letter in the picture
_CODE = re.compile(r"\x1b\[[0-9;]*m")
_WORD = re.compile(r"[a-zA-Z]*-?\d+|[a-zA-Z]+")
STEPS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
TALL = 2  # a letter is about twice as tall as it is wide


class Box(NamedTuple):
    """A rectangle of letters."""

    column: int
    row: int
    width: int
    height: int

    @property
    def centre(self) -> tuple[float, float]:
        """Across and down, in the same unit."""
        return self.column + self.width / 2, TALL * (self.row + self.height / 2)


class Choice(NamedTuple):
    """A legal move."""

    move: int
    text: str
    picture: str  # the table as it would be, with the move marked
    place: Box | None  # on that picture; None if the table does not show the move
    gains: list[int]  # points by seat


def make_choices(position: Position, seed: int) -> Iterator[Choice]:
    """The legal moves of the seat to act, one by one: pictures of a large table take their time.

    The seed draws what this seat cannot know: nothing true of that is in the pictures.
    """
    known, moves, before = position.hidden_from(position.player, seed), position.moves(), position.scores()
    for move in moves:
        yield _make_choice(known, move, moves, before)


def in_order(choices: Iterable[Choice]) -> list[Choice]:
    """By their places from top to bottom."""
    return sorted(choices, key=lambda choice: (_corner(choice.place), choice.text))


def _make_choice(known: Position, move: int, moves: list[int], before: list[int]) -> Choice:
    after, rules = known.copy(), known.rules
    rules.game.act(after.states, 0, rules.tables, move)  # not apply: no die is rolled for a picture
    # The seat may see all of it, for the rest is only drawn; as None, or the marks would go when the turn passes.
    picture, _ = split(rules.game.to_ansi(rules, after.states, 0, None, move, moves))
    unmarked, _ = split(rules.game.to_ansi(rules, after.states, 0, None, None, moves))
    gains = [new - old for new, old in zip(after.scores(), before)]
    return Choice(move, known.text(move), picture, _box(changed(picture, unmarked)), gains)


def _corner(place: Box | None) -> tuple[int, int]:
    return (place.row, place.column) if place else (-1, -1)


def show(position: Position, viewer: int, last: int | None = None, legal: Iterable[int] = ()) -> tuple[str, str]:
    """The table and what the players have, as that seat may see them."""
    rules = position.rules
    return split(rules.game.to_ansi(rules, position.states, 0, viewer, last, legal))


def split(picture: str) -> tuple[str, str]:
    """The table, and what the players have."""
    table, _, players = picture.rpartition("\n\n")
    return (table, players) if table else (players, "")


def marked_cells(position: Position, viewer: int, move: int, legal: Sequence[int]) -> list[Cell]:
    """The letters that show a move that was played."""
    return changed(show(position, viewer, move, legal)[0], show(position, viewer, None, legal)[0])


def changed(picture: str, other: str) -> list[Cell]:
    """The letters that differ, or whose colour does."""
    cells = []
    for row, (line, other_line) in enumerate(zip(picture.split("\n"), other.split("\n"))):
        if line != other_line:
            pairs = zip(_letters(line), _letters(other_line))
            cells += [(column, row) for column, (letter, same) in enumerate(pairs) if letter != same]
    return cells


def _letters(line: str) -> list[tuple[str, str]]:
    """(letter, code of its colour) for each."""
    letters, code, at = [], "", 0
    for match in _CODE.finditer(line):
        letters += [(letter, code) for letter in line[at : match.start()]]
        code, at = match.group(), match.end()
    return letters + [(letter, code) for letter in line[at:]]


def _box(cells: list[Cell]) -> Box | None:
    if not cells:
        return None
    columns, rows = [column for column, _ in cells], [row for _, row in cells]
    return Box(min(columns), min(rows), max(columns) - min(columns) + 1, max(rows) - min(rows) + 1)


# ---- from one to another


def step(choices: Sequence[Choice], selected: int, direction: str) -> int:
    """The choice next to the selected one in that direction, itself if there is none; without places, in the list."""
    here = choices[selected].place
    if here is None:
        return (selected + sum(STEPS[direction])) % len(choices)
    best, least = selected, None
    for number, choice in enumerate(choices):
        if choice.place is None or (cost := _cost(here, choice.place, direction)) is None:
            continue
        if least is None or cost < least:
            best, least = number, cost
    return best


def _cost(here: Box, there: Box, direction: str) -> float | None:
    """How far it is; None if it is not that way. Straight on is near, off the line is far."""
    across, down = (there.centre[axis] - here.centre[axis] for axis in (0, 1))
    x, y = STEPS[direction]
    along, aside = across * x + down * y, abs(across * y) + abs(down * x)
    if along <= 0:
        return None
    return along + 2 * aside + (1000 if aside > along else 0)  # only for want of one within 45 degrees


def turn(choices: Sequence[Choice], selected: int) -> int:
    """The next choice at the same place, around."""
    place = choices[selected].place
    same = [number for number, choice in enumerate(choices) if choice.place == place]
    return same[(same.index(selected) + 1) % len(same)]


def nearest(choices: Sequence[Choice], cells: list[Cell]) -> int:
    """The choice nearest to these letters."""
    box = _box(cells)
    if box is None:
        return 0
    x, y = box.centre

    def distance(number: int) -> float:
        place = choices[number].place
        return float("inf") if place is None else (place.centre[0] - x) ** 2 + (place.centre[1] - y) ** 2

    return min(range(len(choices)), key=distance)


def at(choices: Sequence[Choice], selected: int, cell: Cell) -> int | None:
    """The choice at that letter: another one if the selected is there."""
    found = [number for number, choice in enumerate(choices) if choice.place and _holds(choice.place, cell)]
    if not found:
        return None
    return found[(found.index(selected) + 1) % len(found)] if selected in found else found[0]


def _holds(box: Box, cell: Cell) -> bool:
    return 0 <= cell[0] - box.column < box.width and 0 <= cell[1] - box.row < box.height


def fits(text: str, typed: str) -> bool:
    """Has the move's text words that begin like the typed ones, in their order? Blanks and brackets are free."""
    words = iter(_words(text))
    return all(any(word.startswith(start) for word in words) for start in _words(typed))


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]
