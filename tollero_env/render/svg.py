"""Scenes as SVG: one self-contained element, in which every sprite is defined once."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterable
from html import escape

from tollero_env.scene import Circle, Colour, Line, Polygon, Rect, Scene, Shape, Sprite, Text

FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_svg(scene: Scene, width: float | None = None) -> str:
    """The scene as one SVG element, a valid XML document; shown so wide, or as wide as the scene."""
    width = width or scene.width
    size = f'width="{number(width)}" height="{number(width * scene.height / scene.width)}"'
    frame = f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="{view_box(scene)}" font-family="{FONT}">'
    defined = f"<defs>{''.join(definitions(scene.shapes))}</defs>"
    return "\n".join([frame, defined, *elements(scene), "</svg>"]) + "\n"


def view_box(scene: Scene) -> str:
    return f"0 0 {number(scene.width)} {number(scene.height)}"


def elements(scene: Scene) -> list[str]:
    """The background and every shape."""
    return [element(shape) for shape in (Rect(0, 0, scene.width, scene.height, scene.background), *scene.shapes)]


def definitions(shapes: Iterable[Shape]) -> list[str]:
    """The definition of every sprite that the shapes use, each once."""
    drawings = dict.fromkeys(shape.shapes for shape in shapes if isinstance(shape, Sprite))
    return [f'<g id="{_name(drawing)}">{_content(drawing)}</g>' for drawing in drawings]


def element(shape: Shape) -> str:
    """One shape as an element; sprites refer to their definition."""
    match shape:
        case Rect(x, y, w, h, fill, stroke, width, radius):
            corners = f' rx="{number(radius)}"' if radius else ""
            place = f'x="{number(x)}" y="{number(y)}" width="{number(w)}" height="{number(h)}"'
            return f"<rect {place}{corners}{_paint(fill, stroke, width)}/>"
        case Circle(x, y, r, fill, stroke, width):
            place = f'cx="{number(x)}" cy="{number(y)}" r="{number(r)}"'
            return f"<circle {place}{_paint(fill, stroke, width)}/>"
        case Line(x1, y1, x2, y2, stroke, width):
            place = f'x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}"'
            return f'<line {place} stroke-linecap="round"{_paint(None, stroke, width)}/>'
        case Polygon(points, fill, stroke, width):
            corners = " ".join(f"{number(x)},{number(y)}" for x, y in points)
            return f'<polygon points="{corners}" stroke-linejoin="round"{_paint(fill, stroke, width)}/>'
        case Text(x, y, text, size, fill, anchor, bold):
            font = f'font-size="{number(size)}" text-anchor="{anchor}"' + (' font-weight="bold"' if bold else "")
            return f'<text x="{number(x)}" y="{number(y)}" {font}{_paint(fill, None, 0)}>{_words(text)}</text>'
        case Sprite(x, y, factor, drawing, title):
            place = f"translate({number(x)} {number(y)})" + (f" scale({factor:.6g})" if factor != 1 else "")
            tooltip = f"<title>{_words(title)}</title>" if title else ""
            return f'<use href="#{_name(drawing)}" transform="{place}">{tooltip}</use>'


def number(value: float) -> str:
    """A length to a hundredth, as short as can be."""
    return f"{round(value, 2) + 0:.8g}"  # + 0: no "-0"


@functools.lru_cache(maxsize=4096)
def _content(drawing: tuple[Shape, ...]) -> str:
    return "".join(map(element, drawing))


@functools.lru_cache(maxsize=4096)
def _name(drawing: tuple[Shape, ...]) -> str:
    """An id made from the content: pictures that end up on one page (a notebook) share ids."""
    return "s" + hashlib.sha256(_content(drawing).encode()).hexdigest()[:10]


def _paint(fill: Colour, stroke: Colour, width: float) -> str:
    outline = f'{_colour("stroke", stroke)} stroke-width="{number(width)}"' if stroke else ""
    return _colour("fill", fill) + outline


def _colour(attribute: str, colour: Colour) -> str:
    """Opacity goes into its own attribute: not every viewer reads "#rrggbbaa"."""
    if colour is None:
        return f' {attribute}="none"'
    opacity = f' {attribute}-opacity="{number(int(colour[7:], 16) / 255)}"' if len(colour) == 9 else ""
    return f' {attribute}="{colour[:7]}"{opacity}'


def _words(text: str) -> str:
    """Escaped; what XML cannot hold at all becomes a replacement character."""
    return escape(_NOT_XML.sub("\ufffd", text))
