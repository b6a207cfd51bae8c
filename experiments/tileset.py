"""Make, check and draw tile sets of Tollero.

python -m experiments.tileset make [OUT.toml]          the default set, `reconstruction`, from its recipe
python -m experiments.tileset check NAME|PATH          is the file right, and what is in it?
python -m experiments.tileset draw NAME|PATH OUT.svg   every tile, to compare with those on your table
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Annotated

import tyro
from tyro.conf import Positional, arg

from experiments.options import clear_errors
from tollero_env.files import write_beside
from tollero_env.games.tollero.pieces import INK, MUTED, tile_shapes
from tollero_env.games.tollero.tiles import (
    LOTS,
    NO_FOUNTAIN,
    SIDES,
    CityTile,
    DowntownTile,
    Face,
    TileSet,
    TileSetError,
    load_tileset,
    turned,
)
from tollero_env.render.svg import to_svg
from tollero_env.scene import Scene, Shape, Sprite, Text

app = tyro.extras.SubcommandApp()
Name = Annotated[Positional[str], arg(metavar="NAME|PATH", help="Tile set.")]
Out = Annotated[Positional[Path], arg(metavar="OUT", help="File to write.")]
OutOrNone = Annotated[Positional[Path | None], arg(metavar="OUT", help="File to write.")]

SHAPES = {0: "none", 1: "end", 5: "straight", 3: "corner", 7: "T", 15: "crossing"}  # by the least of the four turns


def shape(face: Face) -> str:
    """What its canals look like, however the tile lies."""
    return SHAPES[min(turned(face, rot).canals for rot in range(4))]


def inside_target(lot: int, direction: int) -> int | None:
    """M5: the lot of its own tile that a fountain points at, or None if it points outside."""
    return {1: (lot + 1) % 4, 2: (lot + 3) % 4}.get((direction - lot) % 4)


# ---------------------------------------------------------------- the recipe of the reconstruction

SEED = 1

# Printed canals of the 18 tiles of value 2, and of value 3. Value 4 has no fountains to tell its tiles apart, so there
# one face of each shape has copies, all printed one way: values 2 and 3 use that way less, to even out the whole set.
CANALS = ["NS", "EW", "EW", "EW", *["ES", "SW", "NW"] * 2, *["NSW", "NEW", "NES"] * 2, "NESW", "NESW"]
CANALS_OF_4 = {"NS": 4, "NE": 6, "ESW": 6, "NESW": 2}  # canals: copies
CANALS_DOWNTOWN = ["NES", "NESW", "NSW", "NESW", "NESW", "ESW", "NESW", "NEW"]  # four sides A, then four sides B

# Lots with a fountain, tile by tile. Value 2: each pair of corners three times. Value 3: each corner four times, and
# two opposite ones once more. Downtown: sides A have one fountain (value 3), sides B two.
PLACES_2 = list(combinations(range(4), 2)) * 3
PLACES_3 = [(0,), (1,), (2,), (3,)] * 4 + [(0,), (2,)]
PLACES_DOWNTOWN = [(0,), (1,), (2,), (3,), (0, 2), (0, 1), (1, 3), (2, 3)]

# Directions of the fountains of each corner, NW NE SE SW. What value 2 has beyond an even share (an E at NW, an N at
# NE, ...) is what Downtown lacks: one for each corner and each direction, half of them inside. Value 3 adds one inside
# and one outside.
DIRECTIONS_2 = ("NESWNESWE", "NESWNESWN", "NESWNESWW", "NESWNESWS")
DIRECTIONS_3 = ("NESWS", "NESW", "NESWE", "NESW")
DIRECTIONS_DOWNTOWN = ("NSW", "ESW", "NES", "NEW")

Fountains = dict[int, int]  # lot: direction


def reconstruction() -> TileSet:
    """The default tile set, always the same; all its faces differ, however they are turned."""
    rng = random.Random(SEED)
    two = deal_faces(CANALS, PLACES_2, DIRECTIONS_2, rng)
    three = deal_faces(CANALS, PLACES_3, DIRECTIONS_3, rng)
    four = [make_face(canals, {}) for canals in CANALS_OF_4]
    downtown = deal_faces(CANALS_DOWNTOWN, PLACES_DOWNTOWN, DIRECTIONS_DOWNTOWN, rng)
    while not all_differ(two + three + downtown):
        downtown = deal_faces(CANALS_DOWNTOWN, PLACES_DOWNTOWN, DIRECTIONS_DOWNTOWN, rng)
    copies = [1] * 36 + list(CANALS_OF_4.values())
    city = enumerate(zip(copies, two + three + four, strict=True), 1)
    sides = enumerate(zip(downtown[:4], downtown[4:], strict=True), 1)
    return TileSet(
        "reconstruction",
        Face(0, 0b1111, 0, (NO_FOUNTAIN,) * 4),  # S1
        tuple(DowntownTile(f"D{number}", a, b) for number, (a, b) in sides),
        tuple(CityTile(f"C{number:02}", num_copies, face) for number, (num_copies, face) in city),
    )


def deal_faces(
    canals: Sequence[str], places: Sequence[tuple[int, ...]], directions: Sequence[str], rng: random.Random
) -> list[Face]:
    """Faces with those canals, and the places and directions of fountains dealt to them until all differ."""
    while True:
        dealt = sorted(rng.sample(places, len(places)), key=len)  # one fountain before two: Downtown's sides A
        tiles = point_fountains(dealt, directions, rng)
        faces = [make_face(sides, fountains) for sides, fountains in zip(canals, tiles, strict=True)]
        if all_differ(faces):
            return faces


def point_fountains(
    places: Iterable[tuple[int, ...]], directions: Sequence[str], rng: random.Random
) -> list[Fountains]:
    """Deal each corner's directions to the tiles that need one; none points at a fountain of its own tile."""
    tiles: list[Fountains] = [dict.fromkeys(lots, NO_FOUNTAIN) for lots in places]
    for lot in range(4):
        in_need = [tile for tile in tiles if lot in tile]
        while any(tile[lot] == NO_FOUNTAIN or inside_target(lot, tile[lot]) in tile for tile in in_need):
            for tile, side in zip(in_need, rng.sample(directions[lot], len(directions[lot])), strict=True):
                tile[lot] = SIDES.index(side)
    return tiles


def all_differ(faces: Sequence[Face]) -> bool:
    """No two look the same, however they are turned."""
    return len({min(turned(face, rot) for rot in range(4)) for face in faces}) == len(faces)


def make_face(canals: str, fountains: Fountains) -> Face:
    """A face whose other lots are all foundations, and whose value is their number."""
    foundations = sum(1 << lot for lot in range(4) if lot not in fountains)
    nw, ne, se, sw = (fountains.get(lot, NO_FOUNTAIN) for lot in range(4))
    return Face(4 - len(fountains), sum(1 << SIDES.index(side) for side in canals), foundations, (nw, ne, se, sw))


# ---------------------------------------------------------------- TOML

HEADER = """\
# The default tile set of Tollero, made by: python -m experiments.tileset make
# The published rules do not show the tiles, so these faces are a reconstruction. To play with other ones, copy this
# file, change the name and the tiles, and give its path instead of a name.
#
# value      whole number from 0 to 9
# canals     sides with a canal, letters out of N E S W
# lots       NW NE SE SW: "foundation", or "fountain:" and the direction it points in; a lot left out is plain
# copies     how many tiles are printed like this; 1 if left out; there are 54 City tiles in all
"""


def to_toml(tileset: TileSet) -> str:
    """The text of a tile-set file; for names and ids that need no escapes."""
    contract = "\n".join(f"{key} = {value}" for key, value in face_items(tileset.contract))
    blocks = [f'{HEADER}\nname = "{tileset.name}"', f"[contract]\n{contract}"]
    for downtown in tileset.downtown:
        sides = (("a", downtown.a), ("b", downtown.b))
        tables = [f"{side} = {inline_table(face_items(face))}" for side, face in sides]
        blocks.append("\n".join(["[[downtown]]", f'id = "{downtown.id}"', *tables]))
    for tile in tileset.city:
        copies = [f"copies = {tile.copies}"] if tile.copies > 1 else []
        items = [f"{key} = {value}" for key, value in face_items(tile.face)]
        blocks.append("\n".join(["[[city]]", f'id = "{tile.id}"', *copies, *items]))
    return "\n\n".join(blocks) + "\n"


def face_items(face: Face) -> list[tuple[str, str]]:
    """Keys and values of a face, as TOML writes them."""
    lots = [(LOTS[lot], f'"{text}"') for lot in range(4) if (text := lot_text(face, lot))]
    return [("value", str(face.value)), ("canals", f'"{canals_text(face)}"'), ("lots", inline_table(lots))]


def inline_table(items: Iterable[tuple[str, str]]) -> str:
    text = ", ".join(f"{key} = {value}" for key, value in items)
    return f"{{ {text} }}" if text else "{}"


def canals_text(face: Face) -> str:
    return "".join(side for d, side in enumerate(SIDES) if face.canals >> d & 1)


def lot_text(face: Face, lot: int) -> str:
    """As in the file; empty if plain."""
    if face.fountains[lot] != NO_FOUNTAIN:
        return f"fountain:{SIDES[face.fountains[lot]]}"
    return "foundation" if face.foundations >> lot & 1 else ""


# ---------------------------------------------------------------- summary


def summary(tileset: TileSet) -> str:
    """What is in a set: a line for each value, then where fountains stand and point."""
    city = [tile.face for tile in tileset.city for _ in range(tile.copies)]
    downtown = [face for tile in tileset.downtown for face in (tile.a, tile.b)]
    what = f"{len(city)} City tiles ({len(tileset.city)} ids), {len(tileset.downtown)} Downtown tiles"
    heads = "".join(f"{name:>10}" for name in SHAPES.values())
    lines = [
        f'{tileset.name}: {what}, contract "{canals_text(tileset.contract)}"',
        "",
        f"{'':17}tiles{heads} foundations   fountains",
    ]
    for value in sorted({face.value for face in city}):
        lines.append(count_line(f"value {value}", [face for face in city if face.value == value]))
    lines += [count_line("City", city), count_line("Downtown faces", downtown), ""]
    return "\n".join(lines + [fountain_line("City", city), fountain_line("Downtown faces", downtown)])


def count_line(title: str, faces: Sequence[Face]) -> str:
    shapes = Counter(map(shape, faces))
    foundations = sum(face.foundations.bit_count() for face in faces)
    counts = "".join(f"{shapes[name]:10}" for name in SHAPES.values())
    return f"{title:17}{len(faces):5}{counts}{foundations:12}{len(fountains_of(faces)):12}"


def fountain_line(title: str, faces: Sequence[Face]) -> str:
    fountains = fountains_of(faces)
    corners, directions = Counter(lot for lot, _ in fountains), Counter(direction for _, direction in fountains)
    num_inside = sum(inside_target(lot, direction) is not None for lot, direction in fountains)
    by_corner = "  ".join(f"{name} {corners[lot]}" for lot, name in enumerate(LOTS))
    by_direction = "  ".join(f"{name} {directions[d]}" for d, name in enumerate(SIDES))
    inside = f"inside {num_inside}  outside {len(fountains) - num_inside}"
    return f"{title + ' fountains':25}at {by_corner}   to {by_direction}   {inside}"


def fountains_of(faces: Iterable[Face]) -> list[tuple[int, int]]:
    """(lot, direction) of every fountain."""
    return [(lot, d) for face in faces for lot, d in enumerate(face.fountains) if d != NO_FOUNTAIN]


# ---------------------------------------------------------------- picture

TILE, GAP, MARGIN, COLUMNS = 100, 16, 36, 9  # nine: the contract and four pairs fill the first row
CAPTION, HEADING = 22, 40  # heights, below a tile and above a section
BACKGROUND = "#fffdf7"

LEGEND = (
    "Faces as printed. Number: value. Paved square: foundation. Arrow: fountain, and where it points. "
    "Grass: plain lot. × n: copies."
)

Captioned = tuple[str, str, Face]  # id, what to write after it, face


def set_svg(tileset: TileSet) -> str:
    """Every face once: contract and Downtown on top, then City tiles in rows by value."""
    first: list[Captioned] = [("Contract", "", tileset.contract)]
    for tile in tileset.downtown:
        first += [(tile.id, "A", tile.a), (tile.id, "B", tile.b)]
    sections = [("Contract and Downtown", first)]
    for value in sorted({tile.face.value for tile in tileset.city}):
        tiles = [tile for tile in tileset.city if tile.face.value == value]
        shown = [(tile.id, f"× {tile.copies}" if tile.copies > 1 else "", tile.face) for tile in tiles]
        sections.append((f"City, value {value}: {sum(tile.copies for tile in tiles)} tiles", shown))
    return to_svg(page_scene(tileset.name, sections))


def page_scene(title: str, sections: Sequence[tuple[str, Sequence[Captioned]]]) -> Scene:
    shapes: list[Shape] = [Text(MARGIN, MARGIN + 16, f"Tollero tile set: {title}", 26, INK, "start")]
    shapes.append(Text(MARGIN, MARGIN + 42, LEGEND, 14, MUTED, "start"))
    y = MARGIN + 50.0
    for heading, tiles in sections:
        shapes.append(Text(MARGIN, y + HEADING - 12, heading, 17, INK, "start"))
        y += HEADING
        for index, tile in enumerate(tiles):
            row, column = divmod(index, COLUMNS)
            shapes += captioned_shapes(tile, MARGIN + column * (TILE + GAP), y + row * (TILE + CAPTION + GAP / 2))
        y += -(-len(tiles) // COLUMNS) * (TILE + CAPTION + GAP / 2)
    return Scene(2 * MARGIN + COLUMNS * (TILE + GAP) - GAP, y + MARGIN / 2, BACKGROUND, shapes)


def captioned_shapes(tile: Captioned, x: float, y: float) -> list[Shape]:
    caption, addition, face = tile
    room = 10 - len(addition)
    short = caption if len(caption) <= room else caption[: room - 1] + "…"  # the whole id is in the tooltip
    words = f"{short} {addition}".strip()
    return [
        Sprite(x, y, TILE / 100, tile_shapes(face), caption),
        Text(x + TILE / 2, y + TILE + 16, words, 14, INK, bold=True),
    ]


# ---------------------------------------------------------------- command line


@app.command
def make(out: OutOrNone = None) -> None:
    """Write the reconstruction, the default tile set; to the terminal if no file is given."""
    text = to_toml(reconstruction())
    if out is None:
        sys.stdout.write(text)
    else:
        with write_beside(out) as file:
            file.write(text)


@app.command
def check(tileset: Name) -> None:
    """Check a tile set, shipped (by name) or in a file (by path), and print what is in it."""
    print(summary(load_tileset(tileset)))


@app.command
def draw(tileset: Name, out: Out) -> None:
    """Draw every tile of a set, shipped (by name) or in a file (by path), into an SVG file."""
    picture = set_svg(load_tileset(tileset))
    with write_beside(out) as file:
        file.write(picture)


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line."""
    with clear_errors(TileSetError, OSError):
        app.cli(
            prog="python -m experiments.tileset", description="Make, check and draw tile sets of Tollero.", args=args
        )


if __name__ == "__main__":
    main()
