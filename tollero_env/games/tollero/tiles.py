"""Tile sets of Tollero: what is printed on the tiles, read from a TOML file and checked (M1 to M5)."""

from __future__ import annotations

import functools
import os
import reprlib
import tomllib
from pathlib import Path
from typing import NamedTuple, NoReturn

SIDES = "NESW"  # side d and direction d, clockwise
LOTS = ("NW", "NE", "SE", "SW")  # lot k, clockwise; lot k is the corner before side k
NO_FOUNTAIN = -1

NUM_CITY = 54
NUM_DOWNTOWN = 4
MAX_VALUE = 9
MAX_BYTES = 1_000_000

FOLDER = Path(__file__).with_name("tilesets")


class TileSetError(ValueError):
    """A tile set that cannot be read or breaks the format; the message is one line: file, tile, field, problem."""


class Face(NamedTuple):
    """One printed face, as it lies unturned."""

    value: int
    canals: int  # bit d: side d has a canal
    foundations: int  # bit k: lot k can be built on
    fountains: tuple[int, int, int, int]  # by lot: direction of its fountain, or NO_FOUNTAIN


class CityTile(NamedTuple):
    id: str
    copies: int
    face: Face


class DowntownTile(NamedTuple):
    id: str
    a: Face
    b: Face


class TileSet(NamedTuple):
    name: str
    contract: Face
    downtown: tuple[DowntownTile, ...]  # NUM_DOWNTOWN of them
    city: tuple[CityTile, ...]  # their copies add up to NUM_CITY


def turned(face: Face, rot: int) -> Face:
    """The face after `rot` quarter turns clockwise: sides, lots and directions all move on by `rot`."""
    rot %= 4
    fountains = [NO_FOUNTAIN] * 4
    for lot, direction in enumerate(face.fountains):
        if direction != NO_FOUNTAIN:
            fountains[(lot + rot) % 4] = (direction + rot) % 4
    nw, ne, se, sw = fountains
    return Face(face.value, _turned_bits(face.canals, rot), _turned_bits(face.foundations, rot), (nw, ne, se, sw))


def tileset_names() -> list[str]:
    """Names of the tile sets that come with the package, sorted."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load_tileset(name_or_path: str | os.PathLike[str]) -> TileSet:
    """Read and check a shipped tile set by its name, or any other by its path."""
    path = _find(name_or_path)
    return parse_tileset(_read(path), str(path))


@functools.lru_cache(maxsize=64)
def parse_tileset(text: str, where: str) -> TileSet:
    """Check the text of a tile-set file; `where` names the file in errors."""
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError: TOML's own, and numbers of thousands of digits
        _fail(where, "not TOML", str(error) or type(error).__name__)
    _check_keys(where, data, ("name", "contract", "downtown", "city"))
    tileset = TileSet(
        _name(where, data["name"]),
        _contract(where, data["contract"]),
        tuple(_downtown_tile(at, table) for at, table in _tiles(where, "downtown", data["downtown"])),
        tuple(_city_tile(at, table) for at, table in _tiles(where, "city", data["city"])),
    )
    _check_ids(where, tileset)
    _check_counts(where, tileset)
    _check_layable(where, tileset)
    return tileset


def _find(name_or_path: str | os.PathLike[str]) -> Path:
    """A shipped name goes before a file of that name; what looks like a path is never a name."""
    text = os.fspath(name_or_path)
    if not isinstance(name_or_path, str) or text.endswith(".toml") or "/" in text or os.sep in text:
        return Path(text)
    if text in tileset_names():
        return FOLDER / f"{text}.toml"
    if Path(text).is_file():
        return Path(text)
    _fail(f"tile set {_shown(text)}", "name", f"not one of {', '.join(tileset_names())}, nor the path of a file")


def _read(path: Path) -> str:
    """The file's text; the byte-order mark some editors write is dropped."""
    try:
        with open(path, "rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        _fail(str(path), "file", f"cannot be read: {getattr(error, 'strerror', None) or error}")
    if len(raw) > MAX_BYTES:
        _fail(str(path), "file", f"too large; a tile set has at most {MAX_BYTES} bytes")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        _fail(str(path), "file", f"not UTF-8 text (byte {error.start})")


def _tiles(where: str, kind: str, entries: object) -> list[tuple[str, dict[str, object]]]:
    """Each table of an array, with its place in words: by id, or by number while the id is unknown."""
    if not isinstance(entries, list):
        _fail(where, kind, f"{_shown(entries)} is not an array of tables; write each tile under [[{kind}]]")
    tiles: list[tuple[str, dict[str, object]]] = []
    for number, entry in enumerate(entries, 1):
        at = f"{where}: {kind} tile number {number}"
        table = _table(at, "tile", entry)
        if "id" not in table:
            _fail(at, "id", "missing; each tile needs one")
        tiles.append((f"{where}: {kind} tile {_id(at, table['id'])}", table))
    return tiles


def _contract(where: str, value: object) -> Face:
    table = _table(where, "contract", value)
    _check_keys(f"{where}: contract", table, ("canals",), ("value", "lots"))
    return _face(f"{where}: contract", table)


def _downtown_tile(at: str, table: dict[str, object]) -> DowntownTile:
    _check_keys(at, table, ("id", "a", "b"))
    faces = []
    for side in ("a", "b"):
        face_at = f"{at} side {side}"
        face = _table(at, side, table[side])
        _check_keys(face_at, face, ("value", "canals"), ("lots",))
        faces.append(_face(face_at, face))
    return DowntownTile(_id(at, table["id"]), *faces)


def _city_tile(at: str, table: dict[str, object]) -> CityTile:
    _check_keys(at, table, ("id", "value", "canals"), ("lots", "copies"))
    copies = _whole(at, "copies", table.get("copies", 1), 1, NUM_CITY)
    return CityTile(_id(at, table["id"]), copies, _face(at, table))


def _face(at: str, table: dict[str, object]) -> Face:
    """A face out of a table whose keys are checked; the contract may lack a value."""
    value = _whole(at, "value", table.get("value", 0), 0, MAX_VALUE)
    return Face(value, _canals(at, table["canals"]), *_lots(at, table.get("lots", {})))


def _canals(at: str, value: object) -> int:
    if not isinstance(value, str) or set(value) - set(SIDES) or len(set(value)) < len(value):
        _fail(at, "canals", f'{_shown(value)} is not a string of the letters N E S W, each at most once, such as "NS"')
    return sum(1 << SIDES.index(side) for side in value)


def _lots(at: str, value: object) -> tuple[int, tuple[int, int, int, int]]:
    """Foundations and fountains of a face; a lot that is not named is plain (M4)."""
    table = _table(at, "lots", value)
    foundations, fountains = 0, [NO_FOUNTAIN] * 4
    for lot, content in table.items():
        if lot not in LOTS:
            _fail(at, f"lots.{_shown(lot)}", f"unknown lot; allowed: {' '.join(LOTS)}")
        kind, _, direction = content.partition(":") if isinstance(content, str) else ("", "", "")
        if content == "foundation":
            foundations |= 1 << LOTS.index(lot)
        elif kind == "fountain" and direction in tuple(SIDES):
            fountains[LOTS.index(lot)] = SIDES.index(direction)
        elif kind == "fountain":
            _fail(at, f"lots.{lot}", f'direction {_shown(direction)} is not one of N E S W, as in "fountain:N"')
        elif content != "plain":
            _fail(at, f"lots.{lot}", f'{_shown(content)} is not "foundation" or "fountain:N" or "plain"')
    nw, ne, se, sw = fountains
    return foundations, (nw, ne, se, sw)


def _name(where: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        _fail(where, "name", f"{_shown(value)} is not a string of one or more printable characters")
    return value


def _id(at: str, value: object) -> str:
    """Ids stand in options such as "D3:A:1 D1:B:0" (S2), so a blank or a colon would split them."""
    if not isinstance(value, str) or not value or not value.isprintable() or set(value) & {" ", ":"}:
        _fail(
            at, "id", f"{_shown(value)} is not a string of one or more printable characters without blanks and colons"
        )
    return value


def _whole(at: str, field: str, value: object, least: int, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        _fail(at, field, f"{_shown(value)} is not a whole number from {least} to {most}")
    return value


def _table(at: str, field: str, value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        _fail(at, field, f"{_shown(value)} is not a table")
    return value


def _check_keys(at: str, table: dict[str, object], required: tuple[str, ...], optional: tuple[str, ...] = ()) -> None:
    for key in table:
        if key not in required + optional:  # first, so that a misspelt key is named rather than the missing one
            _fail(at, _shown(key), f"unknown key; allowed: {' '.join(required + optional)}")
    for key in required:
        if key not in table:
            _fail(at, key, f"missing; needed: {' '.join(required)}")


def _check_ids(where: str, tileset: TileSet) -> None:
    seen: set[str] = set()
    for kind, tiles in (("downtown", tileset.downtown), ("city", tileset.city)):
        for tile in tiles:
            if tile.id in seen:
                _fail(f"{where}: {kind} tile {tile.id}", "id", "already used; Downtown and City ids must all differ")
            seen.add(tile.id)


def _check_counts(where: str, tileset: TileSet) -> None:
    if len(tileset.downtown) != NUM_DOWNTOWN:
        _fail(where, "downtown", f"{len(tileset.downtown)} Downtown tiles; there must be {NUM_DOWNTOWN}")
    num_city = sum(tile.copies for tile in tileset.city)
    if num_city != NUM_CITY:
        _fail(where, "city", f"{num_city} City tiles, copies counted; there must be {NUM_CITY}")


def _check_layable(where: str, tileset: TileSet) -> None:
    """S2: Downtown tiles meet only the contract, so each needs a contract side that one of its own sides matches."""
    num_wet = tileset.contract.canals.bit_count()
    dry = [tile.id for tile in tileset.downtown if tile.a.canals | tile.b.canals == 0]
    wet = [tile.id for tile in tileset.downtown if tile.a.canals & tile.b.canals == 0b1111]
    for ids, room, canals in ((dry, 4 - num_wet, "no canals"), (wet, num_wet, "canals on all sides")):
        if len(ids) > room:
            problem = f"cannot be laid: {canals}, A and B, which fits {room} sides of the contract"
            _fail(f"{where}: downtown tile {', '.join(ids)}", "canals", problem)


def _turned_bits(bits: int, rot: int) -> int:
    return (bits << rot | bits >> (4 - rot)) & 0b1111


def _shown(value: object) -> str:
    """A value out of a file, short enough for one line."""
    try:
        return reprlib.repr(value)
    except ValueError:  # numbers of thousands of digits have no repr
        return f"a huge {type(value).__name__}"


def _fail(at: str, field: str, problem: str) -> NoReturn:
    """Paths and TOML's messages may hold line breaks; the error is one line all the same."""
    line = f"{at}: {field}: {problem}"
    raise TileSetError("".join(c if c.isprintable() else "?" for c in line))
