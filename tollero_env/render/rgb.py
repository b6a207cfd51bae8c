"""Scenes as pixels, by Pillow (the extra `render`): drawn larger, then averaged down, so that edges are smooth.

Sprites are kept: a frame of a film is mostly copies of what was drawn before.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tollero_env.render.extras import need
from tollero_env.scene import Circle, Line, Polygon, Rect, Scene, Shape, Sprite, Text, bounds

if TYPE_CHECKING:
    from PIL import Image, ImageDraw, ImageFont

OVERSAMPLING = 2  # and sprites as much again
BOLD = 0.022  # Pillow's own font has one weight: bold letters get an outline, in font sizes
_ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}


class Surface(NamedTuple):
    """An image to draw on, and where the scene's (0, 0) and (1, 1) lie on it."""

    image: Image.Image  # RGB, or RGBA for a sprite
    pen: ImageDraw.ImageDraw
    factor: float
    dx: float
    dy: float

    def at(self, x: float, y: float) -> tuple[float, float]:
        return self.dx + self.factor * x, self.dy + self.factor * y


def to_rgb(scene: Scene, width: int | None = None, height: int | None = None) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Pixels of shape (height, width, 3).

    With both lengths given the picture has exactly that size, the scene in its middle; of one given the other follows;
    with none, a unit of the scene is a pixel.
    """
    return np.array(to_image(scene, width, height))  # a copy of its own: Pillow's memory cannot be written to


def to_image(scene: Scene, width: int | None = None, height: int | None = None) -> Image.Image:
    """As `to_rgb`, but an image of Pillow's."""
    limits = [limit / length for limit, length in ((width, scene.width), (height, scene.height)) if limit is not None]
    factor = min(limits, default=1.0)
    size = width or round(scene.width * factor), height or round(scene.height * factor)
    large = size[0] * OVERSAMPLING, size[1] * OVERSAMPLING
    image, factor = need("PIL.Image", "render").new("RGB", large, scene.background), factor * OVERSAMPLING
    surface = _surface(image, factor, (large[0] - factor * scene.width) / 2, (large[1] - factor * scene.height) / 2)
    for shape in scene.shapes:
        _draw(surface, shape)
    return image.reduce(OVERSAMPLING)  # type: ignore[no-any-return]


def _surface(image: Image.Image, factor: float, dx: float, dy: float) -> Surface:
    return Surface(image, need("PIL.ImageDraw", "render").Draw(image), factor, dx, dy)


def _draw(surface: Surface, shape: Shape) -> None:
    if isinstance(shape, Sprite):
        _stamp(surface, shape.x, shape.y, shape.shapes, shape.scale)
    elif isinstance(shape, Text) and surface.image.mode == "RGB":  # letters are dear
        _stamp(surface, shape.x, shape.y, (shape._replace(x=0, y=0),), 1)
    elif any(isinstance(field, str) and len(field) == 9 and field[0] == "#" for field in shape):
        _blend(surface, shape)
    else:
        _ink(surface, shape)


def _stamp(surface: Surface, x: float, y: float, drawing: tuple[Shape, ...], factor: float) -> None:
    image, left, top = _sprite(drawing, factor * surface.factor)
    x, y = surface.at(x, y)
    surface.image.paste(image, (round(x) + left, round(y) + top), image)


@functools.lru_cache(maxsize=1024)
def _sprite(drawing: tuple[Shape, ...], factor: float) -> tuple[Image.Image, int, int]:
    """The drawing on a clear ground, and the place of its top left pixel from the drawing's (0, 0)."""
    box = bounds(drawing)
    if width := box[2] - box[0]:  # whole pixels: tiles that lie side by side must leave no gap
        factor = math.ceil(width * factor - 1e-6) / width
    left, top, right, bottom = (factor * edge for edge in box)
    x, y = math.floor(left), math.floor(top)
    size = (math.ceil(right) - x + 1) * OVERSAMPLING, (math.ceil(bottom) - y + 1) * OVERSAMPLING
    large = need("PIL.Image", "render").new("RGBA", size)
    surface = _surface(large, factor * OVERSAMPLING, -x * OVERSAMPLING, -y * OVERSAMPLING)
    for shape in drawing:
        _draw(surface, shape)
    return large.reduce(OVERSAMPLING), x, y


def _blend(surface: Surface, shape: Shape) -> None:
    """Pillow's pens write over what is there: a translucent shape is drawn on its own and laid on top."""
    layer = _surface(need("PIL.Image", "render").new("RGBA", surface.image.size), *surface[2:])
    _ink(layer, shape)
    if surface.image.mode == "RGBA":
        surface.image.alpha_composite(layer.image)
    else:
        surface.image.paste(layer.image, mask=layer.image)


def _ink(surface: Surface, shape: Shape) -> None:
    match shape:
        case Rect(x, y, w, h, fill, stroke, width, radius):
            edge, box = _edge(surface, stroke, width), (*surface.at(x, y), *surface.at(x + w, y + h))
            corner = surface.factor * radius + edge / 2 if radius else 0
            surface.pen.rounded_rectangle(_grown(box, edge), corner, fill, stroke, edge)
        case Circle(x, y, r, fill, stroke, width):
            edge, box = _edge(surface, stroke, width), (*surface.at(x - r, y - r), *surface.at(x + r, y + r))
            surface.pen.ellipse(_grown(box, edge), fill, stroke, edge)
        case Polygon(points, fill, stroke, width):
            corners = [surface.at(x, y) for x, y in points]
            if fill:
                surface.pen.polygon(corners, fill)
            if stroke:
                surface.pen.line([*corners, *corners[:2]], stroke, _edge(surface, stroke, width), joint="curve")
        case Line(x1, y1, x2, y2, stroke, width):
            _line(surface, surface.at(x1, y1), surface.at(x2, y2), stroke, _edge(surface, stroke, width))
        case Text(x, y, text, size, fill, anchor, bold):
            font, outline = _font(round(size * surface.factor, 1)), BOLD * size * surface.factor if bold else 0
            surface.pen.text(surface.at(x, y), text, fill, font, _ANCHORS[anchor], stroke_width=outline)


def _line(surface: Surface, start: tuple[float, float], end: tuple[float, float], stroke: str, width: int) -> None:
    surface.pen.line([start, end], stroke, width)
    if width > 2:
        for x, y in (start, end):
            surface.pen.circle((x, y), width / 2 - 0.5, stroke)


def _edge(surface: Surface, stroke: str | None, width: float) -> int:
    return max(1, round(width * surface.factor)) if stroke else 0


def _grown(box: tuple[float, float, float, float], edge: int) -> tuple[float, float, float, float]:
    """Pillow draws an outline inside the box and counts the last pixel in; here it lies on the box, without it."""
    left, top, right, bottom = box
    grown = edge / 2
    left, top = round(left - grown), round(top - grown)
    return left, top, max(left, round(right + grown) - 1), max(top, round(bottom + grown) - 1)


@functools.lru_cache(maxsize=256)
def _font(size: float) -> ImageFont.FreeTypeFont:
    font: ImageFont.FreeTypeFont = need("PIL.ImageFont", "render").load_default(max(1.0, size))
    return font
