"""How a net judges a table of Tollero, and what each Floor would change.

A Floor changes the row of its own tile alone, so what it does to the sum of row vectors is worked out once for every
lot. Side 0 of the scratch is the table as it stands; side 1 holds the tiles that a lay has changed.
"""

import numpy as np

from tollero_env.bits import ONE, bit, drop_lowest, lowest
from tollero_env.game import record_dtype
from tollero_env.games.tollero.constants import MAX_LEGAL, MAX_PLAYERS, SECOND, SLOTS
from tollero_env.games.tollero.describing import (
    POINT,
    ROW,
    SIZES,
    TAGS,
    counts,
    describe_scores,
    describe_seats,
    describe_tile,
    majority,
)
from tollero_env.games.tollero.rules import legal_lots
from tollero_env.jit import jit
from tollero_env.nets import make_net
from tollero_env.vectors import WIDTH, add, assign, dot, subtract

NET = make_net(SIZES)
add_vector, encode, judge, slopes = NET.add_vector, NET.encode, NET.judge, NET.slopes
MAX_TOPS = 32  # plans that are remembered
_NOUGHT = np.float32(0)
_F4 = np.float32

WORK = record_dtype(
    [
        ("row", np.int64, (ROW,)),
        ("tags", np.int64, (TAGS + 3,)),
        ("tag_sum", _F4, (WIDTH,)),
        ("total", _F4, (WIDTH,)),
        ("middle", _F4, (WIDTH,)),
        ("hidden", _F4, (WIDTH,)),
        ("slopes", _F4, (WIDTH,)),
        ("number_slopes", _F4, (8,)),
        ("pooled", _F4, (2, WIDTH)),  # of the table as it stands, and after a lay
        ("numbers", _F4, (2, 8)),  # likewise
        ("trial", _F4, (WIDTH,)),
        ("trial_numbers", _F4, (8,)),
        # for the table as it stands, and for the tiles that a lay changes
        ("vector", _F4, (2, SLOTS, WIDTH)),
        ("gain", _F4, (2, 4 * SLOTS, WIDTH)),  # of a Floor, by slot * 4 + lot
        ("points", _F4, (2, 4 * SLOTS, 4)),  # likewise, of the numbers
        ("steep", _F4, (2, 4 * SLOTS)),  # how much that is worth, by the slopes
        ("line", _F4, (2, SLOTS)),  # the steepest gain on each tile
        ("lot", np.int8, (2, SLOTS)),  # and where it is
        ("pair_line", _F4, (16,)),
        ("pair", np.int16, (16, 2)),  # slot * 4 + lot; -1 for none
        ("seat", np.int64),
        ("players", np.int64),
        ("last", np.int64),  # 1 if the game ends with this turn
        ("best", np.float64),  # value with noise
        ("value", np.float64),  # of the plan
        ("plan", np.int64, (4,)),  # moves, -1 behind the last
        # the best plans without noise, best first; one for each pair of lots, in whichever order they are built
        ("num_tops", np.int64),
        ("top", np.int64, (MAX_TOPS, 4)),
        ("top_value", _F4, (MAX_TOPS,)),
        # what every lay is worth, if the turn goes on as well as it can
        ("num_moves", np.int64),
        ("move", np.int64, (MAX_LEGAL,)),
        ("worth", _F4, (MAX_LEGAL,)),
    ]
)


# ---- vectors


@jit(inline=True)
def vector_of(state, tables, params, work, slot, out):
    row, total = work["row"], work["total"]
    describe_tile(state, tables, work["seat"], slot, row)
    assign(total, 0, work["tag_sum"], 0)
    for k in range(ROW):
        if row[k]:
            add_vector(params, row[k], total)
    encode(params, total, work["middle"], out)


@jit(inline=True)
def _sum_tags(params, work):
    for j in range(WIDTH):
        work["tag_sum"][j] = _NOUGHT
    for k in range(TAGS):
        if work["tags"][k]:
            add_vector(params, work["tags"][k], work["tag_sum"])


@jit(inline=True)
def _pool(state, tables, params, work):
    """The vectors of all tiles and their sum."""
    pooled = work["pooled"][0]
    for j in range(WIDTH):
        pooled[j] = _NOUGHT
    for slot in range(np.int64(state["num_tiles"])):
        out = work["vector"][0, slot]
        vector_of(state, tables, params, work, slot, out)
        add(pooled, 0, out, 0)


@jit
def evaluate(state, tables, params, work, seat):
    """What the seat thinks of a table between two turns."""
    work["seat"] = seat
    numbers = work["numbers"][0]
    left, upcoming = np.int64(state["floors_left"][seat]), np.int64(state["player"])
    describe_seats(state, seat, left, upcoming, work["tags"], numbers)
    describe_scores(state, tables, seat, numbers)
    _sum_tags(params, work)
    _pool(state, tables, params, work)
    return judge(params, work["pooled"][0], numbers, work["hidden"])


# ---- Floors


@jit(inline=True)
def _note_points(work, side, place, before, after, value):
    """Numbers of a Floor: a majority of that value goes from one seat to another."""
    points, seat, players = work["points"][side, place], work["seat"], work["players"]
    lost = value if after != seat and before == seat else 0
    won = value if after == seat and before != seat else 0
    for k in range(1, MAX_PLAYERS):
        who = seat + k - (players if seat + k >= players else 0)
        theirs = -value if before == who and after != who else 0
        points[k - 1] += np.float32(won - lost - theirs) * POINT if k < players else _NOUGHT


@jit(inline=True)
def _try_floor(state, tables, params, work, side, slot, lot):
    """Gains of a Floor there; returns how steep they are."""
    seat, place = work["seat"], slot * 4 + lot
    building, lead = state["building"][slot, lot], state["lead"][seat, slot]
    open_lots, before = state["open_lots"][lot], majority(state, slot)
    height = (np.int64(building) & 31) + 1
    state["building"][slot, lot] = (seat << 5) | height
    state["lead"][seat, slot] = (max(np.int64(lead) >> 5, height) << 5) + (np.int64(lead) & 31) + 1
    state["open_lots"][lot] = open_lots & ~bit(slot)
    gain, points = work["gain"][side, place], work["points"][side, place]
    vector_of(state, tables, params, work, slot, gain)
    value = np.int64(state["value"][slot]) if counts(tables, slot) else 0
    stars = (np.int64(state["fountains"][slot]) >> (8 * lot)) & 255
    for k in range(3):
        points[k] = np.float32(stars) * POINT if k + 1 < work["players"] else _NOUGHT
    _note_points(work, side, place, before, majority(state, slot), value)
    state["building"][slot, lot], state["lead"][seat, slot] = building, lead
    state["open_lots"][lot] = open_lots
    subtract(gain, 0, work["vector"][side, slot], 0)
    steep = dot(gain, 0, work["slopes"], 0)
    for k in range(3):
        steep += points[k] * work["number_slopes"][k]
    return steep


@jit
def try_tile(state, tables, params, work, side, slot):
    """The steepest Floor on a tile; there is none if no lot is legal (B2)."""
    best, where = np.float32(-1e30), -1
    for lot in range(4):
        if legal_lots(state, bit(slot), lot):
            steep = _try_floor(state, tables, params, work, side, slot, lot)
            work["steep"][side, slot * 4 + lot] = steep
            if steep > best:
                best, where = steep, lot
    work["line"][side, slot], work["lot"][side, slot] = best, where


@jit(inline=True)
def buildable_tiles(state):
    """Tiles with a legal lot, wherever they are."""
    everywhere = (ONE << np.uint64(state["num_tiles"])) - ONE
    one = legal_lots(state, everywhere, 0) | legal_lots(state, everywhere, 1)
    return one | legal_lots(state, everywhere, 2) | legal_lots(state, everywhere, 3)


@jit(inline=True)
def prepare(state, tables, params, work):
    """Vectors, slopes and gains of the table as it stands, for the seat to act."""
    seat, players = np.int64(state["player"]), np.int64(state["num_players"])
    left = np.int64(state["floors_left"][seat])
    after = max(left - (1 if state["stage"] == SECOND else 2), 0)
    others = 0
    for k in range(MAX_PLAYERS):
        others += np.int64(state["floors_left"][k]) if k != seat else 0
    work["seat"], work["last"] = seat, 1 if others == 0 and after == 0 else 0
    work["players"] = players
    numbers = work["numbers"][0]
    describe_seats(state, seat, after, seat + 1 if seat + 1 < players else 0, work["tags"], numbers)
    describe_scores(state, tables, seat, numbers)
    _sum_tags(params, work)
    _pool(state, tables, params, work)
    judge(params, work["pooled"][0], numbers, work["hidden"])
    slopes(params, work["hidden"], work["middle"], work["slopes"], work["number_slopes"])
    if work["last"]:
        for j in range(WIDTH):
            work["slopes"][j] = _NOUGHT
        for k in range(3):
            work["number_slopes"][k] = np.float32(1)
    rest = buildable_tiles(state)
    while rest:
        try_tile(state, tables, params, work, 0, lowest(rest))
        rest = drop_lowest(rest)
