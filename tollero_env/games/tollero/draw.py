"""Pictures of Tollero: one tile as a group of SVG, for the board and for overviews of a tile set.

Lengths are in hundredths of the tile's side, whatever its size in the picture.
"""

from __future__ import annotations

from tollero_env.games.tollero.tiles import NO_FOUNTAIN, Face

# What is drawn on top of a tile (buildings) goes by these two and lot_centre().
LOT_CENTRE = 23.5  # from the two nearest sides of the tile
LOT_RADIUS = 15.0  # half the side of a foundation, radius of a fountain

CANAL_WIDTH = 15.0
BASIN_RADIUS = 15.5
DISC_RADIUS = 10.5  # under the value
BANK_WIDTH = 1.5

PAPER, PAPER_EDGE = "#f4e7c9", "#b59a6a"
GRASS = "#a9b873"
BANK, WATER, WATER_LIGHT = "#8a7a58", "#5fa9d0", "#cfe8f3"
STONE, STONE_EDGE, STONE_JOINT = "#fbf7ec", "#8b7a5b", "#ddd0b3"
INK = "#16385a"


def lot_centre(lot: int, size: float = 100) -> tuple[float, float]:
    """Centre of a lot (0..3: NW NE SE SW) on a tile of that size with its top left corner at (0, 0)."""
    near, far = LOT_CENTRE * size / 100, (100 - LOT_CENTRE) * size / 100
    return (far if lot in (1, 2) else near), (far if lot in (2, 3) else near)


def tile_svg(face: Face, size: float = 100) -> str:
    """An SVG group: the face as it lies (turn it first), top left at (0, 0); a value of 0 is not written."""
    parts = [_ground(), *(_lot(face, lot) for lot in range(4)), _water(face.canals), _value(face.value)]
    return f'<g class="tile" transform="scale({size / 100:g})">{"".join(parts)}</g>'


def _ground() -> str:
    edge = f'fill="{PAPER}" stroke="{PAPER_EDGE}" stroke-width="1.2"'
    return f'<rect x="0.6" y="0.6" width="98.8" height="98.8" rx="4.5" {edge}/>'


def _lot(face: Face, lot: int) -> str:
    x, y = lot_centre(lot)
    if face.foundations >> lot & 1:
        content = _foundation()
    elif face.fountains[lot] != NO_FOUNTAIN:
        content = _fountain(face.fountains[lot])
    else:
        content = _grass()
    return f'<g transform="translate({x:g} {y:g})">{content}</g>'


def _foundation() -> str:
    """Four flagstones."""
    r = LOT_RADIUS
    slab = f'<rect x="{-r:g}" y="{-r:g}" width="{2 * r:g}" height="{2 * r:g}" rx="1.8"'
    joints = f'<path d="M{-r:g} 0H{r:g}M0 {-r:g}V{r:g}" stroke="{STONE_JOINT}"/>'
    return f'{slab} fill="{STONE}"/>{joints}{slab} fill="none" stroke="{STONE_EDGE}" stroke-width="1.4"/>'


def _fountain(direction: int) -> str:
    """A round basin under an arrow that is drawn pointing north and then turned."""
    rim = f'<circle r="{LOT_RADIUS - 1.3:g}" fill="{WATER_LIGHT}" stroke="{WATER}" stroke-width="2.6"/>'
    arrow = "M0 -11L8.5 -0.5H3.2V10H-3.2V-0.5H-8.5Z"
    return f'{rim}<path d="{arrow}" transform="rotate({90 * direction})" fill="{INK}"/>'


def _grass() -> str:
    """Three faint tufts on a lot that is neither foundation nor fountain."""
    tuft = "M-3 2Q-2.5 -1 -4 -2.5M0 2V-4M3 2Q2.5 -1 4 -2.5"
    pen = f'fill="none" stroke="{GRASS}" stroke-width="1.2" stroke-linecap="round"'
    places = ("-6 -4.5", "6.5 -0.5", "-2.5 7.5")
    return "".join(f'<path d="{tuft}" transform="translate({place})" {pen}/>' for place in places)


def _water(canals: int) -> str:
    """Canals and the basin they meet in (M3): all banks first, then all water, so that they run into one another."""
    banks = _bands(canals, CANAL_WIDTH, BANK) + _disc(BASIN_RADIUS, BANK)
    return banks + _bands(canals, CANAL_WIDTH - 2 * BANK_WIDTH, WATER) + _disc(BASIN_RADIUS - BANK_WIDTH, WATER)


def _bands(canals: int, width: float, colour: str) -> str:
    """A band from the middle of the tile to each side that has a canal."""
    band = f'<rect x="{50 - width / 2:g}" width="{width:g}" height="50" fill="{colour}"'
    return "".join(f'{band} transform="rotate({90 * d} 50 50)"/>' for d in range(4) if canals >> d & 1)


def _disc(radius: float, colour: str) -> str:
    return f'<circle cx="50" cy="50" r="{radius:g}" fill="{colour}"/>'


def _value(value: int) -> str:
    if value == 0:
        return ""
    font = 'font-family="Georgia, serif" font-weight="bold" font-size="18" text-anchor="middle"'
    # The baseline is set by hand: viewers disagree about dominant-baseline.
    return f'{_disc(DISC_RADIUS, STONE)}<text x="50" y="56.2" {font} fill="{INK}">{value}</text>'
