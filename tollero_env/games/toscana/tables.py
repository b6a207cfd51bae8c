"""The tiles and the rule options, resolved into the one record that the kernels read."""

import functools
import hashlib
from typing import Any

import numpy as np

from tollero_env.game import Array, OptionError, check_choice
from tollero_env.games.toscana.constants import MAX_SIZE, MAX_TILES, MIN_SIZE, SET_TILES, VERSION, WIDTH
from tollero_env.games.toscana.state import TABLES
from tollero_env.games.toscana.tiles import OTHER, OWN, Tile, all_tiles, pieces, turned

CONTACTS = ("tile", "colour")
VETOES = ("round", "match")
DEFAULT_SIZE = 17

# Every tile is placed; a question before each but the last of a stack, and before a pass; no two passes in a row
# between two tiles.
LONGEST_ROUND = MAX_TILES + (MAX_TILES - 2) + (MAX_TILES - 1)


def make_tables(
    players: int = 2, size: int = DEFAULT_SIZE, contact: str = "tile", veto: str = "round", rounds: int = 2
) -> tuple[Array, tuple[Tile, ...]]:
    """The tables of a game and its tiles; a wrong option gets one clear error."""
    if type(size) is not int or size not in range(MIN_SIZE, MAX_SIZE + 1, 2):
        raise OptionError(f"option size: {size!r} is not an odd number from {MIN_SIZE} to {MAX_SIZE}")
    check_choice("contact", contact, CONTACTS)
    check_choice("veto", veto, VETOES)
    check_choice("rounds", rounds, (2, 1))
    return _make_tables(players, size, contact, veto, rounds), all_tiles()


@functools.lru_cache(maxsize=64)
def _make_tables(players: int, size: int, contact: str, veto: str, rounds: int) -> Array:
    tables = np.zeros(1, TABLES)
    record = tables[0]
    record["num_players"], record["size"], record["rounds"] = players, size, rounds
    record["by_colour"], record["keeps_stone"] = CONTACTS.index(contact), VETOES.index(veto)
    record["board"][:size] = (1 << size) - 1
    for number, tile in enumerate(all_tiles()):
        _fill_tile(record, number, tile)
    digest = hashlib.sha256(bytes([VERSION]) + tables.tobytes()).digest()
    record["digest"] = np.frombuffer(digest[:8], np.uint64)[0]
    return tables


def _fill_tile(record: Any, number: int, tile: Tile) -> None:
    squares = "".join(tile.rows)
    for square, piece in enumerate(pieces(tile.rows)):
        is_other = squares[square] == OTHER
        record["piece"][number, square] = 64 * is_other + piece
        record["pieces"][number, int(is_other)] |= 1 << piece
    numbers = ("0123", "4567")
    for rotation in range(4):
        for y, digits in enumerate(turned(numbers, rotation)):
            for x, digit in enumerate(digits):
                record["offset"][rotation, int(digit)] = y * WIDTH + x
        for y, row in enumerate(turned(tile.rows, rotation)):
            for rows, colour in ((record["own_rows"], OWN), (record["other_rows"], OTHER)):
                rows[number * 4 + rotation, y] = sum(1 << x for x, square in enumerate(row) if square == colour)


def longest_game(tables: Array) -> int:
    """Every tile is placed, every question asked."""
    return LONGEST_ROUND * int(tables["rounds"][0])


def score_bounds(tables: Array) -> tuple[int, int]:
    """An area of one colour may reach every tile of both sets."""
    return 0, 2 * SET_TILES * int(tables["rounds"][0])
