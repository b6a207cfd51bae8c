"""Small drawings of Talō, in hundredths of a cell: pawns and marks."""

from __future__ import annotations

from tollero_env.scene import Circle, Polygon, Shape, centred_text

COLOURS = ("#d33b32", "#2f6bb5", "#f2c218", "#2e8b57")  # by seat
INKS = ("#ffffff", "#ffffff", "#3b3107", "#ffffff")
SEATS = "ABCD"
LEGAL, OUTLINE = "#12a150", "#2b2b2b"


def _ellipse(x: float, y: float, wide: float, tall: float) -> tuple[tuple[float, float], ...]:
    """A circle as it lies on a level."""
    corners = ((1, 0), (0.87, 0.5), (0.5, 0.87), (0, 1), (-0.5, 0.87), (-0.87, 0.5))
    half = [(x + i * wide, y + j * tall) for i, j in corners]
    return (*half, *((2 * x - i, 2 * y - j) for i, j in half))


def pawn_shapes(seat: int) -> tuple[Shape, ...]:
    """A pawn whose feet are at (0, 0)."""
    body = ((-27, -4), (-12, -92), (12, -92), (27, -4))
    return (
        Polygon(_ellipse(0, -2, 34, 19), "#00000040"),
        Polygon(_ellipse(0, -6, 28, 15), COLOURS[seat], OUTLINE, 4),
        Polygon(body, COLOURS[seat], OUTLINE, 4),
        Polygon(((-25, -7), (-11, -86), (11, -86), (25, -7), (10, 5), (-10, 5)), COLOURS[seat]),
        Circle(0, -112, 29, COLOURS[seat], OUTLINE, 4),
        Circle(-9, -121, 7, "#ffffff80"),
        centred_text(0, -110, SEATS[seat], 34, INKS[seat], bold=True),
    )


def _ghost(seat: int) -> tuple[Shape, ...]:
    return (
        Circle(0, -112, 30, COLOURS[seat] + "66", "#ffffff", 5),
        centred_text(0, -110, SEATS[seat], 34, "#ffffff", bold=True),
    )


GHOST = tuple(_ghost(seat) for seat in range(4))


def step_mark() -> tuple[Shape, ...]:
    """A legal place, lying on a level."""
    return (Polygon(_ellipse(0, 0, 26, 15), LEGAL + "cc", "#ffffff", 4),)


def way_mark(seat: int) -> tuple[Shape, ...]:
    """A top that a pawn can walk to: a small dot lying there."""
    return (Polygon(_ellipse(0, 0, 13, 7.5), COLOURS[seat], "#ffffffaa", 3),)
