"""A tile set and the rule options, resolved into the one record that the kernels read."""

import functools
import hashlib
import itertools
import os
from typing import Any

import numpy as np

from tollero_env.game import Array, OptionError, check_choice
from tollero_env.games.tollero.constants import (
    CITY_TILES,
    DOWNTOWN_TILES,
    FIRST_CITY,
    FIRST_DOWNTOWN,
    MAX_FLOORS,
    START_STARS,
    VERSION,
)
from tollero_env.games.tollero.state import TABLES
from tollero_env.games.tollero.tiles import NO_FOUNTAIN, SIDES, Face, TileSet, load_tileset, turned

DEFAULT_TILESET = "reconstruction"


def make_tables(
    players: int = 2,
    tileset: str | os.PathLike[str] | TileSet = DEFAULT_TILESET,
    floors: int = MAX_FLOORS,
    downtown_scores: bool = True,
    downtown: str | None = None,
) -> tuple[Array, TileSet]:
    """The tables of a game and its tiles; a wrong option gets one clear error."""
    check_choice("floors", floors, range(1, MAX_FLOORS + 1))
    check_choice("downtown_scores", downtown_scores, (False, True))
    if downtown is not None and not isinstance(downtown, str):
        raise OptionError(f"option downtown: {downtown!r} is not a string such as 'D3:B:1 D4:B:0 D2:A:3 D1:B:1'")
    if not isinstance(tileset, str | os.PathLike | TileSet):
        raise OptionError(f"option tileset: {tileset!r} is not the name of a tile set or the path of a file")
    tiles = tileset if isinstance(tileset, TileSet) else load_tileset(tileset)
    return _make_tables(players, tiles, floors, downtown_scores, downtown), tiles


@functools.lru_cache(maxsize=64)
def _make_tables(players: int, tiles: TileSet, floors: int, downtown_scores: bool, downtown: str | None) -> Array:
    tables = np.zeros(1, TABLES)
    record = tables[0]
    record["num_players"], record["floors"], record["downtown_scores"] = players, floors, downtown_scores
    _fill_faces(record, tiles)
    _fill_downtown(record, tiles, None if downtown is None else _parse_downtown(downtown, tiles))
    digest = hashlib.sha256(bytes([VERSION]) + tables.tobytes()).digest()
    record["digest"] = np.frombuffer(digest[:8], np.uint64)[0]
    return tables


@functools.lru_cache(maxsize=64)
def faces_of(tiles: TileSet) -> tuple[Face, ...]:
    """Every face by its number: the contract, Downtown A and B in turn, the City tiles."""
    downtown = [face for tile in tiles.downtown for face in (tile.a, tile.b)]
    return (tiles.contract, *downtown, *(tile.face for tile in tiles.city))


def longest_game(tables: Array) -> int:
    """Every City tile is laid and every Floor placed at most once."""
    return CITY_TILES + int(tables["num_players"][0]) * int(tables["floors"][0])


def score_bounds(tables: Array) -> tuple[int, int]:
    """At most the seat's first stars, every tile, and four fountains for each Floor."""
    record = tables[0]
    on_downtown = [
        max(record["value"][face], record["value"][face + 1]) for face in range(FIRST_DOWNTOWN, FIRST_CITY, 2)
    ]
    most = int(START_STARS.max()) + sum(map(int, record["value"][record["city"]])) + sum(map(int, on_downtown))
    return 0, most + 4 * int(record["floors"])


def _fill_faces(record: Any, tiles: TileSet) -> None:
    faces = faces_of(tiles)
    record["num_faces"] = len(faces)
    for number, face in enumerate(faces):
        record["value"][number] = face.value
        for rotation in range(4):
            _fill_turned(record, number * 4 + rotation, turned(face, rotation))
    record["city"] = np.repeat(np.arange(FIRST_CITY, len(faces)), [tile.copies for tile in tiles.city])
    for place, number in enumerate(record["city"]):
        record["copies"][number] |= np.uint64(1 << place)


def _fill_turned(record: Any, tile: int, face: Face) -> None:
    record["canals"][tile] = face.canals
    record["foundations"][tile] = face.foundations
    for lot, direction in enumerate(face.fountains):
        if direction == lot:  # lots d and d + 1 lie along side d
            record["jets"][tile] |= 1 << (2 * direction)
        elif direction == (lot + 3) % 4:
            record["jets"][tile] |= 1 << (2 * direction + 1)
        elif direction != NO_FOUNTAIN:  # M5: the lot next to it on the same tile
            clockwise = direction == (lot + 1) % 4
            record["fountains"][tile] += 1 << (8 * ((lot + (1 if clockwise else 3)) % 4))


def _fill_downtown(record: Any, tiles: TileSet, fixed: list[tuple[int, int]] | None) -> None:
    """S2: the orders of the four tiles, each with the number of ways to lay it, or the one that is asked for."""
    ways = [[_ways(tiles, tile, side) for side in range(4)] for tile in range(DOWNTOWN_TILES)]
    if fixed is not None:
        possible, ways = ways, [[[] for _ in range(4)] for _ in range(DOWNTOWN_TILES)]
        for side, (tile, way) in enumerate(fixed):
            if way not in possible[tile][side]:
                raise OptionError(
                    f"option downtown: {tiles.downtown[tile].id} so turned does not match the contract on side "
                    f"{SIDES[side]}: a canal must meet a canal, and none meets none"
                )
            ways[tile][side] = [way]
    orders = [tuple(tile for tile, _ in fixed)] if fixed is not None else itertools.permutations(range(DOWNTOWN_TILES))
    total = num_orders = 0
    for order in orders:
        arrangements = int(np.prod([len(ways[tile][side]) for side, tile in enumerate(order)]))
        if arrangements:
            total += arrangements
            record["order"][num_orders] = order
            record["order_end"][num_orders] = total
            num_orders += 1
    record["num_orders"] = num_orders
    for tile, side in itertools.product(range(DOWNTOWN_TILES), range(4)):
        record["num_ways"][tile, side] = len(ways[tile][side])
        record["ways"][tile, side, : len(ways[tile][side])] = ways[tile][side]


def _ways(tiles: TileSet, tile: int, side: int) -> list[int]:
    """Numbers face * 4 + rotation in which that Downtown tile can lie on that side of the contract."""
    wanted = (tiles.contract.canals >> side) & 1
    found = []
    for letter, face in enumerate(tiles.downtown[tile][1:]):
        for rotation in range(4):
            if (turned(face, rotation).canals >> ((side + 2) % 4)) & 1 == wanted:
                found.append((FIRST_DOWNTOWN + 2 * tile + letter) * 4 + rotation)
    return found


def _parse_downtown(text: str, tiles: TileSet) -> list[tuple[int, int]]:
    """ "D3:B:1 D4:B:0 D2:A:3 D1:B:1" as (tile, face * 4 + rotation) for N E S W."""
    ids = [tile.id for tile in tiles.downtown]
    wanted = f'write tile:side:rotation for N E S W, such as "{" ".join(f"{name}:A:0" for name in ids)}"'
    found = []
    for word in text.split():
        name, _, rest = word.partition(":")
        if name not in ids or rest not in {f"{letter}:{rotation}" for letter in "AB" for rotation in range(4)}:
            raise OptionError(f"option downtown: {word!r} is not understood; {wanted}")
        tile = ids.index(name)
        found.append((tile, (FIRST_DOWNTOWN + 2 * tile + "AB".index(rest[0])) * 4 + int(rest[2])))
    if sorted(tile for tile, _ in found) != list(range(DOWNTOWN_TILES)):
        raise OptionError(f"option downtown: {text!r} does not name each of the four tiles once; {wanted}")
    return found
