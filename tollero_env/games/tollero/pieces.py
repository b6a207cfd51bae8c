"""What lies on the table of Tollero, piece by piece: tiles, buildings, marks. All on tiles 100 wide.

Players are told apart by letter as well as by colour, and their colours by lightness too.
"""

from __future__ import annotations

import functools
import math

from tollero_env.games.tollero.notation import NOBODY, SEATS
from tollero_env.games.tollero.tiles import NO_FOUNTAIN, Face
from tollero_env.scene import Circle, Line, Points, Polygon, Rect, Shape, centred_text, rotate, scale, translate

Shapes = tuple[Shape, ...]

# What is drawn on top of a tile (buildings) goes by these two and lot_centre().
LOT_CENTRE = 23.5  # from the two nearest sides of the tile
LOT_RADIUS = 15.0  # half the side of a foundation, radius of a fountain

CANAL_WIDTH = 15.0
BASIN_RADIUS = 15.5
DISC_RADIUS = 10.5  # under the value
BANK_WIDTH = 1.5
ROOF = 13.0  # half the side of a building
STOREY = 3.2  # height of a Floor, while there are few
MAX_FACADE = 18.0  # the room to the next lot north

PAPER, PAPER_EDGE = "#f4e7c9", "#b59a6a"
GRASS = "#a9b873"
BANK, WATER, WATER_LIGHT = "#8a7a58", "#5fa9d0", "#cfe8f3"
STONE, STONE_EDGE, STONE_JOINT = "#fbf7ec", "#8b7a5b", "#ddd0b3"
INK, MUTED, WHITE, GOLD = "#16385a", "#7d6c4d", "#ffffff", "#e0a526"
LAST, LEGAL, LEGAL_FILL, LEGAL_LIGHT = "#d6107f", "#00855f", "#bff0d8", "#e9f5ee"
SHADOW = "#2a1f0c40"

# By seat: roof, facade, letters. Vermilion, blue, yellow and black stay apart for every kind of colour vision.
ROOFS = ("#d9541e", "#1769b0", "#f5c92e", "#3a3735")
FACADES = ("#9c3510", "#0d4273", "#b78c0a", "#161514")
LETTERS = (WHITE, WHITE, "#2b2100", WHITE)


def lot_centre(lot: int, size: float = 100) -> tuple[float, float]:
    """Centre of a lot (0..3: NW NE SE SW) on a tile of that size with its top left corner at (0, 0)."""
    near, far = LOT_CENTRE * size / 100, (100 - LOT_CENTRE) * size / 100
    return (far if lot in (1, 2) else near), (far if lot in (2, 3) else near)


# ---- tiles


@functools.lru_cache(maxsize=1024)
def tile_shapes(face: Face, size: float = 100, leader: int = NOBODY) -> Shapes:
    """The face as it lies (turn it first), top left at (0, 0), with who leads it; a value of 0 is not written."""
    shapes: list[Shape] = [Rect(0.6, 0.6, 98.8, 98.8, PAPER, PAPER_EDGE, 1.2, 4.5)]
    if leader != NOBODY:
        shapes.append(_frame(leader))  # under the water: canals run on from tile to tile
    for lot in range(4):
        shapes += translate(_lot(face, lot), *lot_centre(lot))
    shapes += _water(face.canals)
    if leader != NOBODY:
        shapes += _lead(face.value, leader)
    elif face.value:
        shapes += _value(face.value, DISC_RADIUS, STONE, INK)
    return tuple(scale(shapes, size / 100))


@functools.cache
def tile_back() -> Shapes:
    """What others see of a hand, and all see of the pile."""
    edge = Rect(0.6, 0.6, 98.8, 98.8, INK, "#0c2138", 1.2, 4.5)
    waves = [Polygon(_wave(y), None, WATER, 2.5) for y in (30, 46, 62, 78)]
    return edge, Rect(9, 9, 82, 82, None, WATER, 2, 3), *waves


@functools.cache
def emblem() -> Shapes:
    """In the basin of the contract, which has no value."""
    return Circle(50, 50, 12.5, STONE, BANK, 1), Polygon(star(50, 50, 10.5), GOLD, BANK, 0.8)


def star(x: float, y: float, radius: float) -> Points:
    """A star of five points."""
    corners = []
    for k in range(10):
        r, angle = radius if k % 2 == 0 else 0.42 * radius, math.pi * k / 5
        corners.append((round(x + r * math.sin(angle), 3), round(y - r * math.cos(angle), 3)))
    return tuple(corners)


def _lot(face: Face, lot: int) -> list[Shape]:
    if face.foundations >> lot & 1:
        return _foundation()
    return _grass() if face.fountains[lot] == NO_FOUNTAIN else _fountain(face.fountains[lot])


def _foundation() -> list[Shape]:
    """Four flagstones."""
    r = LOT_RADIUS
    joints = [Line(1 - r, 0, r - 1, 0, STONE_JOINT), Line(0, 1 - r, 0, r - 1, STONE_JOINT)]
    return [
        Rect(-r, -r, 2 * r, 2 * r, STONE, None, 0, 1.8),
        *joints,
        Rect(-r, -r, 2 * r, 2 * r, None, STONE_EDGE, 1.4, 1.8),
    ]


def _fountain(direction: int) -> list[Shape]:
    """A round basin under an arrow that is drawn pointing north and then turned."""
    arrow = Polygon(((0, -11), (8.5, -0.5), (3.2, -0.5), (3.2, 10), (-3.2, 10), (-3.2, -0.5), (-8.5, -0.5)), INK)
    return [Circle(0, 0, LOT_RADIUS - 1.3, WATER_LIGHT, WATER, 2.6), *rotate([arrow], direction)]


def _grass() -> list[Shape]:
    """Three faint tufts on a lot that is neither foundation nor fountain."""
    blades = (-3, 2, -2.8, -0.2), (-2.8, -0.2, -4, -2.5), (0, 2, 0, -4), (3, 2, 2.8, -0.2), (2.8, -0.2, 4, -2.5)
    tuft = [Line(x1, y1, x2, y2, GRASS, 1.2) for x1, y1, x2, y2 in blades]
    return [blade for place in ((-6, -4.5), (6.5, -0.5), (-2.5, 7.5)) for blade in translate(tuft, *place)]


def _water(canals: int) -> list[Shape]:
    """Canals and the basin they meet in (M3): all banks first, then all water, so that they run into one another."""
    banks = _bands(canals, CANAL_WIDTH, BANK) + [Circle(50, 50, BASIN_RADIUS, BANK)]
    narrow = CANAL_WIDTH - 2 * BANK_WIDTH
    return banks + _bands(canals, narrow, WATER) + [Circle(50, 50, BASIN_RADIUS - BANK_WIDTH, WATER)]


def _bands(canals: int, width: float, colour: str) -> list[Shape]:
    """A band from the middle of the tile to each side that has a canal."""
    bands = [rotate([Rect(-width / 2, -50, width, 50, colour)], side) for side in range(4) if canals >> side & 1]
    return translate([shape for band in bands for shape in band], 50, 50)


def _value(value: int, radius: float, disc: str, ink: str) -> list[Shape]:
    return [Circle(50, 50, radius, disc), centred_text(50, 50, str(value), 17, ink, bold=True)]


def _frame(leader: int) -> Shape:
    return Rect(3.6, 3.6, 92.8, 92.8, None, ROOFS[leader], 5, 3)


def _lead(value: int, leader: int) -> list[Shape]:
    """The value on the colour of who would score it (F2)."""
    rim = Circle(50, 50, DISC_RADIUS + 2, None, WHITE, 1.6)
    return [*_value(value, DISC_RADIUS + 2, ROOFS[leader], LETTERS[leader]), rim]


@functools.cache
def lead_sample() -> Shapes:
    """For a legend, where a tile is small: the frame and a large value."""
    return _frame(0), *translate(scale(_lead(3, 0), 2.4), -70, -70)


def _wave(y: float) -> Points:
    """There and back again: a polygon that is a line."""
    there = [(18 + 4 * k, y - 4 * math.sin(math.pi * k / 4)) for k in range(17)]
    return tuple((round(x, 2), round(h, 2)) for x, h in there + there[::-1])


# ---- what stands on them, and marks


@functools.cache
def building(seat: int, height: int) -> Shapes:
    """Floors as seen from the south: one line a storey on the facade, letter and height on the roof; lot at (0, 0)."""
    r, facade = ROOF, _facade(height)
    shadow = Polygon(((r, -r), (r + 4, -r + 4), (r + 4, r + 4), (-r + 4, r + 4), (-r, r)), SHADOW)
    block = Rect(-r, -r - facade, 2 * r, 2 * r + facade, FACADES[seat], None, 0, 1.5)
    storeys = [r - facade * k / height for k in range(1, height)]
    joints = [Line(0.6 - r, y, r - 0.6, y, ROOFS[seat], min(0.9, 0.3 * facade / height)) for y in storeys]
    roof = Rect(0.7 - r, 0.7 - r - facade, 2 * r - 1.4, 2 * r - 1.4, ROOFS[seat], None, 0, 1.2)
    return shadow, block, *joints, roof, *translate(_label(seat, height), 0, -facade)


def _label(seat: int, height: int) -> list[Shape]:
    """The letter small, the number large."""
    size, letter, x = (19.0, 11.0, 3.6) if height < 10 else (15.5, 8.5, 3.2)
    return [
        centred_text(x - 11.2, 0.3 * (size - letter), SEATS[seat], letter, LETTERS[seat], bold=True),
        centred_text(x, 0, str(height), size, LETTERS[seat], bold=True),
    ]


@functools.cache
def bonus(num_fountains: int) -> Shapes:
    """Stars that each Floor on a lot earns by fountains (F4); lot at (0, 0)."""
    words = centred_text(12.1, 12.7, f"+{num_fountains}", 11, INK, bold=True)
    return Circle(12.5, 12.5, 7.8, WATER_LIGHT, INK, 1.2), words


@functools.cache
def legal_cell(rotations: str) -> Shapes:
    """A place for the tile in hand, with the rotations in which it fits."""
    words = [f"r{rotation}" for rotation in rotations]
    lines = [" ".join(words[:2]), " ".join(words[2:])] if len(words) > 2 else [" ".join(words)]
    middle = 50 - 13 * (len(lines) - 1)
    texts = [centred_text(50, middle + 26 * k, line, 20, LEGAL, bold=True) for k, line in enumerate(lines)]
    return Rect(4, 4, 92, 92, LEGAL_LIGHT, LEGAL, 2.5, 6), *texts


@functools.cache
def last_tile() -> Shapes:
    """The tile that was laid just now."""
    return Rect(-0.5, -0.5, 101, 101, None, WHITE, 8, 5), Rect(-0.5, -0.5, 101, 101, None, LAST, 5, 5)


@functools.cache
def lot_mark(height: int, colour: str) -> Shapes:
    """A frame around a lot and what stands on it; lot at (0, 0)."""
    r, facade = LOT_RADIUS + 0.5, _facade(height)
    frame = Rect(-r, -r - facade, 2 * r, 2 * r + facade, None if height else LEGAL_FILL, WHITE, 6, 3)
    return frame, frame._replace(fill=None, stroke=colour, stroke_width=3.6)


def _facade(height: int) -> float:
    return min(STOREY * height, MAX_FACADE)
