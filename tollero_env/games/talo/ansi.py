"""The table of Talō in the colours of a terminal: the same letters as in plain text."""

from collections.abc import Iterable, Mapping
from typing import Any

from tollero_env.ansi import paint
from tollero_env.game import Array, Rules
from tollero_env.games.talo.notation import table_lines

# By style of a piece: what `paint` is told.
STYLES: Mapping[str, Mapping[str, Any]] = {
    "A": {"colour": 231, "background": 160, "bold": True},
    "B": {"colour": 231, "background": 25, "bold": True},
    "C": {"colour": 16, "background": 220, "bold": True},
    "D": {"colour": 231, "background": 28, "bold": True},
    "frame": {"colour": 245},
    "green": {"colour": 71},
    "water": {"colour": 74},
    "lying": {"colour": 94, "background": 223},
    "upright": {"colour": 52, "background": 180, "bold": True},
    "legal": {"colour": 16, "background": 42},
    "last": {"colour": 231, "background": 162, "bold": True},
}


def to_ansi(
    rules: Rules,
    states: Array,
    i: int,
    viewer: int | None = None,
    last: int | None = None,
    legal: Iterable[int] = (),
) -> str:
    """The table in colour, always: callers ask whether it is wanted. Marks as in `draw`."""
    lines = table_lines(rules, states, i, last, legal)
    return "\n".join("".join(paint(text, **STYLES.get(style, {})) for text, style in line) for line in lines)
