"""A picture as a list of shapes: games make it, backends (SVG, pixels, HTML) show it, neither knows the other.

Lengths are in the scene's own unit, x to the right and y down, all coordinates absolute. A colour is "#rrggbb", or
"#rrggbbaa" where it is translucent; None paints nothing. Later shapes cover earlier ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

Colour = str | None
Anchor = Literal["start", "middle", "end"]
Points = tuple[tuple[float, float], ...]

CAP_HEIGHT = 0.72  # of a capital or a digit, in font sizes
LETTER_WIDTH = 1.0  # at most: no backend's font is known here


class Rect(NamedTuple):
    x: float
    y: float
    w: float
    h: float
    fill: Colour = None
    stroke: Colour = None
    stroke_width: float = 1
    radius: float = 0  # of the corners


class Circle(NamedTuple):
    x: float
    y: float
    r: float
    fill: Colour = None
    stroke: Colour = None
    stroke_width: float = 1


class Line(NamedTuple):
    """Its ends are round."""

    x1: float
    y1: float
    x2: float
    y2: float
    stroke: str
    stroke_width: float = 1


class Polygon(NamedTuple):
    points: Points
    fill: Colour = None
    stroke: Colour = None
    stroke_width: float = 1


class Text(NamedTuple):
    """One line without serifs; y is the baseline."""

    x: float
    y: float
    text: str
    size: float
    fill: str
    anchor: Anchor = "middle"
    bold: bool = False


class Sprite(NamedTuple):
    """A drawing that comes up again and again: backends keep it, so equal ones should be equal tuples."""

    x: float
    y: float
    scale: float
    shapes: tuple[Shape, ...]  # no sprite among them; their (0, 0) goes to (x, y)
    title: str = ""  # what it is, in words: a tooltip where there can be one


Shape = Rect | Circle | Line | Polygon | Text | Sprite


class Scene(NamedTuple):
    width: float
    height: float
    background: str
    shapes: Sequence[Shape]


class Frame(NamedTuple):
    """One picture of a film."""

    scene: Scene
    caption: str


def centred_text(x: float, y: float, text: str, size: float, fill: str, bold: bool = False) -> Text:
    """A text whose capitals and digits have their middle at (x, y)."""
    return Text(x, y + CAP_HEIGHT * size / 2, text, size, fill, "middle", bold)


def translate(shapes: Iterable[Shape], dx: float, dy: float) -> list[Shape]:
    """The shapes moved by (dx, dy)."""
    return [_mapped(shape, lambda x, y: (x + dx, y + dy)) for shape in shapes]


def scale(shapes: Iterable[Shape], factor: float) -> list[Shape]:
    """The shapes enlarged from (0, 0), strokes and letters too."""
    return [_resized(_mapped(shape, lambda x, y: (x * factor, y * factor)), factor) for shape in shapes]


def rotate(shapes: Iterable[Shape], turns: int) -> list[Shape]:
    """The shapes after quarter turns clockwise about (0, 0); texts and sprites move along but stay upright."""
    cos, sin = ((1, 0), (0, 1), (-1, 0), (0, -1))[turns % 4]
    return [_mapped(shape, lambda x, y: (x * cos - y * sin, x * sin + y * cos)) for shape in shapes]


def bounds(shapes: Iterable[Shape]) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of all shapes with their strokes; for texts, room enough."""
    boxes = [_box(shape) for shape in shapes]
    if not boxes:
        return 0, 0, 0, 0
    left, top, right, bottom = zip(*boxes)
    return min(left), min(top), max(right), max(bottom)


def _mapped(shape: Shape, move: Callable[[float, float], tuple[float, float]]) -> Shape:
    """The shape with its points moved; `move` turns by quarters, shifts or enlarges."""
    match shape:
        case Rect(x, y, w, h):
            (x1, y1), (x2, y2) = move(x, y), move(x + w, y + h)
            return shape._replace(x=min(x1, x2), y=min(y1, y2), w=abs(x2 - x1), h=abs(y2 - y1))
        case Line(x1, y1, x2, y2, stroke, width):
            return Line(*move(x1, y1), *move(x2, y2), stroke, width)
        case Polygon(points):
            return shape._replace(points=tuple(move(x, y) for x, y in points))
        case Circle(x, y) | Text(x, y) | Sprite(x, y):
            x, y = move(x, y)
            return shape._replace(x=x, y=y)


def _resized(shape: Shape, factor: float) -> Shape:
    """What is not a point: widths, radii and letters."""
    match shape:
        case Sprite():
            return shape._replace(scale=shape.scale * factor)
        case Text():
            return shape._replace(size=shape.size * factor)
        case Rect():
            return shape._replace(radius=shape.radius * factor, stroke_width=shape.stroke_width * factor)
        case Circle():
            return shape._replace(r=shape.r * factor, stroke_width=shape.stroke_width * factor)
        case Line() | Polygon():
            return shape._replace(stroke_width=shape.stroke_width * factor)


def _box(shape: Shape) -> tuple[float, float, float, float]:
    match shape:
        case Sprite(x, y, factor, shapes):
            left, top, right, bottom = bounds(shapes)
            return x + factor * left, y + factor * top, x + factor * right, y + factor * bottom
        case Text(x, y, text, size, _, anchor):
            width = LETTER_WIDTH * size * len(text)
            left = x - {"start": 0, "middle": width / 2, "end": width}[anchor]
            return left, y - size, left + width, y + size / 3
        case Line(x1, y1, x2, y2, _, width):
            return min(x1, x2) - width / 2, min(y1, y2) - width / 2, max(x1, x2) + width / 2, max(y1, y2) + width / 2
        case Polygon(points):
            xs, ys = zip(*points)
            box = min(xs), min(ys), max(xs), max(ys)
        case Rect(x, y, w, h):
            box = x, y, x + w, y + h
        case Circle(x, y, r):
            box = x - r, y - r, x + r, y + r
    edge = shape.stroke_width / 2 if shape.stroke else 0.0
    return box[0] - edge, box[1] - edge, box[2] + edge, box[3] + edge
