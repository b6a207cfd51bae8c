"""Boards: which fields are green, where pawns may start, and where there is water (M3). Two are shipped, as TOML files.

rows = ["##########", ...]    ten strings of ten, rows[y][x]: # green, o green but no start, ~ water
"""

import functools
import os
import reprlib
import tomllib
from pathlib import Path
from typing import NamedTuple, NoReturn

from tollero_env.game import OptionError
from tollero_env.games.talo.constants import SIDE

FOLDER = Path(__file__).parent / "boards"
GREEN, NO_START, WATER = "#o~"
TABLE = "table"  # no board at all (Fantasy)
MAX_BYTES = 100_000


class BoardError(OptionError):
    """A board file that is damaged; the message is one line: where, what, and what is allowed."""


class Board(NamedTuple):
    """Fields of the board; a board without rows is the table top, green everywhere."""

    name: str
    rows: tuple[str, ...]
    is_shipped: bool = False


def board_names() -> list[str]:
    """Boards that need no file."""
    return [*sorted(path.stem for path in FOLDER.glob("*.toml")), TABLE]


def load_board(name_or_path: str | os.PathLike[str]) -> Board:
    """A board by its name or from a file."""
    text = os.fspath(name_or_path)
    if text == TABLE:
        return Board(TABLE, (), True)
    if text in board_names():
        return _shipped(text)
    path = Path(text)
    if not (path.suffix == ".toml" or path.is_file()):
        raise BoardError(f"option board: {_shown(text)} is not one of {', '.join(board_names())}, nor a TOML file")
    return parse_board(_read(path), path.stem, str(path))


@functools.cache
def _shipped(name: str) -> Board:
    path = FOLDER / f"{name}.toml"
    return parse_board(_read(path), name, name)._replace(is_shipped=True)


def parse_board(text: str, name: str, where: str) -> Board:
    """The board of a TOML text; `where` begins the message of an error."""
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        _fail(where, f"not TOML: {error}")
    for key in data:
        if key not in ("name", "rows"):
            _fail(where, f"{_shown(key)}: unknown key; allowed: name, rows")
    if "rows" not in data:
        _fail(where, "rows: missing; needed: ten strings of ten")
    given: object = data.get("name", name)
    if not isinstance(given, str) or not given.strip() or not given.isprintable():
        _fail(where, f"name: {_shown(given)} is not a string of one or more printable characters")
    return Board(given, check_rows(data["rows"], where))


def check_rows(rows: object, where: str) -> tuple[str, ...]:
    """Ten strings of ten letters # o ~, as a tuple."""
    if not isinstance(rows, list):
        _fail(where, f"rows: {_shown(rows)} is not a list of ten strings of ten")
    if len(rows) != SIDE:
        _fail(where, f"rows: {len(rows)} rows; there must be ten, each of ten letters # o ~")
    for y, row in enumerate(rows):
        if not isinstance(row, str) or len(row) != SIDE or set(row) - {GREEN, NO_START, WATER}:
            _fail(where, f"rows: number {y}, {_shown(row)}, is not a string of ten letters # o ~")
    if not any(GREEN in row or NO_START in row for row in rows):
        _fail(where, "rows: no field is green (# or o), so nothing could be built")
    return tuple(rows)


def fields_of(board: Board, letters: str) -> list[tuple[int, int]]:
    """(x, y) of the fields with one of these letters."""
    return [(x, y) for y, row in enumerate(board.rows) for x, letter in enumerate(row) if letter in letters]


def _read(path: Path) -> str:
    try:
        with open(path, "rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        _fail(str(path), f"cannot be read: {getattr(error, 'strerror', None) or error}")
    if len(raw) > MAX_BYTES:
        _fail(str(path), f"too large; a board has at most {MAX_BYTES} bytes")
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        _fail(str(path), f"not UTF-8 text (byte {error.start})")


def _shown(value: object) -> str:
    try:
        return reprlib.repr(value)
    except ValueError:  # numbers of thousands of digits have no repr
        return f"a huge {type(value).__name__}"


def _fail(where: str, problem: str) -> NoReturn:
    """Paths and TOML's messages may hold line breaks; the error is one line all the same."""
    line = f"board {where}: {problem}"
    raise BoardError("".join(c if c.isprintable() else "?" for c in line))
