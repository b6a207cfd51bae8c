"""The table of Toscana in the colours of a terminal: the same letters as in plain text."""

from collections.abc import Iterable, Mapping
from typing import Any

from tollero_env.ansi import paint
from tollero_env.game import Array, Rules
from tollero_env.games.toscana.notation import table_lines

# By style of a piece: what `paint` is told.
STYLES: Mapping[str, Mapping[str, Any]] = {
    "roofs": {"colour": 224, "background": 130, "bold": True},
    "paving": {"colour": 236, "background": 250},
    "frame": {"colour": 240},
    "last": {"colour": 162, "bold": True},
    "place": {"colour": 16, "background": 42},
    "muted": {"colour": 245},
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
