"""The table of Tollero in the colours of a terminal: the same letters as in plain text."""

from collections.abc import Iterable, Mapping
from typing import Any

from tollero_env.ansi import paint
from tollero_env.game import Array, Rules
from tollero_env.games.tollero.notation import table_lines

# By style of a piece: what `paint` is told.
STYLES: Mapping[str, Mapping[str, Any]] = {
    "A": {"colour": 231, "background": 166, "bold": True},
    "B": {"colour": 231, "background": 25, "bold": True},
    "C": {"colour": 16, "background": 220, "bold": True},
    "D": {"colour": 231, "background": 240, "bold": True},
    "frame": {"colour": 137},
    "water": {"colour": 31, "background": 74},
    "value": {"bold": True},
    "foundation": {"colour": 245},
    "fountain": {"colour": 37, "bold": True},
    "place": {"colour": 35},
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
    """The table in colour, always: callers ask whether it is wanted. Seats and marks as in `draw`."""
    lines = table_lines(rules, states, i, viewer, last, legal)
    return "\n".join("".join(paint(text, **STYLES.get(style, {})) for text, style in line) for line in lines)
