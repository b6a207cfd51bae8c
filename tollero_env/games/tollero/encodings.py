"""What an agent is offered: actions and observations of Tollero as arrays, in two encodings, compiled.

`planes`: a square view of side V round the contract tile. Action = plane * V * V + row * V + column; planes 0 to 3 lay
the tile in hand turned so often, planes 4 to 7 build on lot NW NE SE SW. V = 64 numbers the whole table, wrapped round
like a torus, which no city is wide enough to notice.

`slots`: tiles by the order in which they were laid, 0 to 58. Build is 4 * slot + lot; laying is 236 + 16 * slot +
4 * side + rotation, where the cell is named by the lowest slot beside it and the side of that tile.
"""

import numpy as np

from tollero_env.game import Encoding, Facts, OptionError, Part, Rules, Sight
from tollero_env.games.tollero.actions import NUM_SLOT_ACTIONS, action_of, mark, move_of, status, unmark
from tollero_env.games.tollero.constants import MAX_TILES
from tollero_env.games.tollero.features import (
    BUILDINGS,
    NUM_FEATURES,
    NUM_NUMBERS,
    NUM_PLANES,
    NUM_SHORT,
    NUMBERS,
    PLANES,
    ROWS,
    SHORT,
)
from tollero_env.games.tollero.observing import TORUS, follow, remember, show, show_tail
from tollero_env.games.tollero.protocol import VERBS
from tollero_env.kernels import make_encoding

DEFAULT_VIEWS = {2: 19, 3: 23, 4: 25}  # by players


def planes_view(rules: Rules, view: int | str | None) -> int:
    """The side of the view: odd, or "all"; by default one that hides hardly anything."""
    if view is None:
        return DEFAULT_VIEWS[rules.players]
    if view == "all":
        return TORUS
    if type(view) is not int or view not in range(3, 2 * MAX_TILES + 2, 2):
        raise OptionError(f'option view: {view!r} is not an odd number from 3 to {2 * MAX_TILES + 1}, nor "all"')
    return view


def slots_view(rules: Rules, view: int | str | None) -> int:
    """Slots have no view."""
    if view is not None:
        raise OptionError(f"option view: {view!r} is for the encoding planes; slots has none")
    return 0


def _planes_parts(players: int, view: int) -> tuple[Part, Part]:
    planes = Part((NUM_PLANES + 4 * players, view, view), np.dtype(np.int8))
    return planes, Part((NUM_NUMBERS,), np.dtype(np.int16))


def _planes_whole(players: int, view: int) -> Part:
    return Part((NUM_PLANES + 4 * players + NUM_SHORT, view, view), np.dtype(np.int8))


def _slots_parts(players: int, view: int) -> tuple[Part, Part]:
    rows = Part((MAX_TILES, NUM_FEATURES + 4 * players), np.dtype(np.int16))
    return rows, Part((NUM_NUMBERS,), np.dtype(np.int16))


def _slots_whole(players: int, view: int) -> Part:
    return Part((MAX_TILES * (NUM_FEATURES + 4 * players) + NUM_NUMBERS,), np.dtype(np.int16))


_OWNER = "tollero_env.games.tollero"
_SIGHT = Sight(move_of, action_of, status, mark, unmark, show, follow, remember, show_tail)
_PLANES = Facts(
    resolve_view=planes_view,
    num_actions=lambda players, view: 8 * view * view,
    parts=_planes_parts,
    whole=_planes_whole,
    groups=(1,) * 8,
    legend={"plane": (*PLANES, BUILDINGS), "constant plane": SHORT, "number": NUMBERS},
)
_SLOTS = Facts(
    resolve_view=slots_view,
    num_actions=lambda players, view: NUM_SLOT_ACTIONS,
    parts=_slots_parts,
    whole=_slots_whole,
    groups=(4, 16),  # lots; sides and rotations
    legend={"feature of a row": (*ROWS, BUILDINGS), "number": NUMBERS},
)
ENCODINGS: dict[str, Encoding] = {
    name: make_encoding(_OWNER, name, facts, VERBS, _SIGHT) for name, facts in (("planes", _PLANES), ("slots", _SLOTS))
}
