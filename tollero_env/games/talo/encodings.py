"""What an agent is offered: actions and observations of Talō as arrays, compiled.

`voxels`: the whole of space, level by level. Action = plane * 576 + y * 24 + x, with x and y counted from 7 cells
beyond the board; see actions.py for what a plane is.
"""

import numpy as np

from tollero_env.game import Encoding, Facts, OptionError, Part, Rules, Sight
from tollero_env.games.talo.actions import NUM_ACTIONS, action_of, mark, move_of, status, unmark
from tollero_env.games.talo.constants import WIDTH
from tollero_env.games.talo.features import NUM_NUMBERS, NUM_PLANES, NUMBERS, PLANES
from tollero_env.games.talo.observing import follow, remember, show, show_tail
from tollero_env.games.talo.protocol import VERBS
from tollero_env.kernels import make_encoding


def voxels_view(rules: Rules, view: int | str | None) -> int:
    """There is one view: everything."""
    if view is not None:
        raise OptionError(f"option view: {view!r} is for other games; voxels show the whole of space")
    return WIDTH


_SIGHT = Sight(move_of, action_of, status, mark, unmark, show, follow, remember, show_tail)
_VOXELS = Facts(
    resolve_view=voxels_view,
    num_actions=lambda players, view: NUM_ACTIONS,
    parts=lambda players, view: (
        Part((NUM_PLANES, WIDTH, WIDTH), np.dtype(np.int8)),
        Part((NUM_NUMBERS,), np.dtype(np.int16)),
    ),
    whole=lambda players, view: Part((NUM_PLANES + NUM_NUMBERS, WIDTH, WIDTH), np.dtype(np.int8)),
    groups=(1,) * (NUM_ACTIONS // (WIDTH * WIDTH)),
    legend={"plane": PLANES, "constant plane": NUMBERS, "number": NUMBERS},
)
ENCODINGS: dict[str, Encoding] = {
    "voxels": make_encoding("tollero_env.games.talo", "voxels", _VOXELS, VERBS, _SIGHT),
}
