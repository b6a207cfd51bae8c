"""What an agent is offered: actions and observations of Toscana as arrays, compiled.

`planes`: the whole board of side V. Action = rotation * V * V + row * V + column of the upper-left square after
turning; then 4 * V * V to veto, and the next to allow.
"""

import numpy as np

from tollero_env.game import Encoding, Facts, OptionError, Part, Rules, Sight
from tollero_env.games.toscana.actions import NUM_ANSWERS, action_of, mark, move_of, status, unmark
from tollero_env.games.toscana.features import NUM_NUMBERS, NUM_PLANES, NUMBERS, PLANES, SHORT
from tollero_env.games.toscana.observing import follow, remember, show, show_tail
from tollero_env.games.toscana.protocol import VERBS
from tollero_env.kernels import make_encoding


def board_view(rules: Rules, view: int | str | None) -> int:
    """The side of the board; there is no other view."""
    size = int(rules.tables["size"][0])
    if view is not None:
        raise OptionError(f"option view: {view!r} is not for Toscana: planes show the whole board (option size)")
    return size


def _parts(players: int, view: int) -> tuple[Part, Part]:
    return Part((NUM_PLANES, view, view), np.dtype(np.int8)), Part((NUM_NUMBERS,), np.dtype(np.int16))


def _whole(players: int, view: int) -> Part:
    return Part((NUM_PLANES + NUM_NUMBERS, view, view), np.dtype(np.int8))


_OWNER = "tollero_env.games.toscana"
_SIGHT = Sight(move_of, action_of, status, mark, unmark, show, follow, remember, show_tail)
_PLANES = Facts(
    resolve_view=board_view,
    num_actions=lambda players, view: 4 * view * view + NUM_ANSWERS,
    parts=_parts,
    whole=_whole,
    groups=(1,) * 4,
    legend={"plane": PLANES, "constant plane": SHORT, "number": NUMBERS},
)
ENCODINGS: dict[str, Encoding] = {"planes": make_encoding(_OWNER, "planes", _PLANES, VERBS, _SIGHT)}
