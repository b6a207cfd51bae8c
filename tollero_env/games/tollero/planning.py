"""The whole turn that a net likes best: every lay, every pair of lots, screened by slopes, the best judged exactly.

A Floor changes the row of its own tile alone, and the two Floors of a turn never go on one tile (B3). So what a Floor
does to the sum of row vectors is worked out once for every lot, and again only for the tiles near a new one; a pair
of Floors is a sum. Pairs are screened by how fast the value grows there; the most promising of each lay are judged.
"""

import numpy as np

from tollero_env.bits import ONE, ZERO, bit, copy, drop_lowest, lowest
from tollero_env.game import record_dtype
from tollero_env.games.tollero.constants import BUILD, CELLS, EXPAND, MAX_LEGAL, MAX_PLAYERS, NO_TILE, SECOND, SLOTS
from tollero_env.games.tollero.describing import (
    NUMBERS,
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
from tollero_env.games.tollero.rules import expand, find_targets, fitting_entries, legal_lots
from tollero_env.jit import jit
from tollero_env.nets import make_net
from tollero_env.rng import draw_number
from tollero_env.vectors import WIDTH, add, assign, dot, subtract

NET = make_net(SIZES)
add_vector, encode, judge, slopes = NET.add_vector, NET.encode, NET.judge, NET.slopes
MAX_PLAN = 3  # decisions of a turn
_KEPT, _KEPT_LAST = 3, 12  # pairs of a lay that are judged
_SURE = np.float32(16)  # the value of a game that is won
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
        # what every move that is legal now is worth, if the turn goes on as well as it can
        ("num_moves", np.int64),
        ("move", np.int64, (MAX_LEGAL,)),
        ("worth", _F4, (MAX_LEGAL,)),
    ]
)


# ---- vectors


@jit(inline=True)
def _vector_of(state, tables, params, work, slot, out):
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
        _vector_of(state, tables, params, work, slot, out)
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
    _vector_of(state, tables, params, work, slot, gain)
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
def _try_tile(state, tables, params, work, side, slot):
    """The steepest Floor on a tile; there is none if no lot is legal (B2)."""
    best, where = np.float32(-1e30), -1
    for lot in range(4):
        if legal_lots(state, bit(slot), lot):
            steep = _try_floor(state, tables, params, work, side, slot, lot)
            if steep > best:
                best, where = steep, lot
    work["line"][side, slot], work["lot"][side, slot] = best, where


@jit(inline=True)
def _buildable(state):
    """Tiles with a legal lot, wherever they are."""
    everywhere = (ONE << np.uint64(state["num_tiles"])) - ONE
    one = legal_lots(state, everywhere, 0) | legal_lots(state, everywhere, 1)
    return one | legal_lots(state, everywhere, 2) | legal_lots(state, everywhere, 3)


@jit(inline=True)
def _prepare(state, tables, params, work):
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
    rest = _buildable(state)
    while rest:
        _try_tile(state, tables, params, work, 0, lowest(rest))
        rest = drop_lowest(rest)


# ---- pairs


@jit(inline=True)
def _side(changed, slot):
    return np.int64((changed >> np.uint64(slot)) & ONE)


@jit(inline=True)
def _keep_pair(work, kept, number, line, first, second):
    """Insert a pair among the steepest; returns how many there are."""
    lines, pairs = work["pair_line"], work["pair"]
    if number == kept and line <= lines[kept - 1]:
        return number
    k = min(number, kept - 1)
    while k > 0 and lines[k - 1] < line:
        lines[k] = lines[k - 1]
        pairs[k, 0], pairs[k, 1] = pairs[k - 1, 0], pairs[k - 1, 1]
        k -= 1
    lines[k] = line
    pairs[k, 0], pairs[k, 1] = first, second
    return min(number + 1, kept)


@jit(inline=True)
def _place(work, changed, slot):
    return slot * 4 + np.int64(work["lot"][_side(changed, slot), slot])


@jit(inline=True)
def _find_pairs(state, work, changed):
    """The steepest pairs of Floors that may be built now; returns how many are kept."""
    kept, number = _KEPT_LAST if work["last"] else _KEPT, 0
    buildable = _buildable(state)
    has_second = state["stage"] != SECOND and state["floors_left"][work["seat"]] > 1
    stage, origin = state["stage"], state["origin"]
    firsts = find_targets(state) & buildable
    while firsts:
        first = lowest(firsts)
        firsts = drop_lowest(firsts)
        line = work["line"][_side(changed, first), first]
        seconds = ZERO
        if has_second:
            state["stage"], state["origin"] = SECOND, first
            seconds = find_targets(state) & buildable
            state["stage"], state["origin"] = stage, origin
        steepest, partner = np.float32(-1e30), -1
        while seconds:
            second = lowest(seconds)
            seconds = drop_lowest(seconds)
            more = work["line"][_side(changed, second), second]
            if more > steepest:
                steepest, partner = more, second
        if partner >= 0:
            place = _place(work, changed, partner)
            number = _keep_pair(work, kept, number, line + steepest, _place(work, changed, first), place)
        else:
            number = _keep_pair(work, kept, number, line, _place(work, changed, first), -1)
    return number


@jit(inline=True)
def _add_gain(work, changed, place):
    side = _side(changed, place >> 2)
    trial, numbers = work["trial"], work["trial_numbers"]
    gain, points = work["gain"][side, place], work["points"][side, place]
    add(trial, 0, gain, 0)
    for k in range(3):
        numbers[k] += points[k]


@jit(inline=True)
def _final_value(work):
    """F5: the game is over; numbers are the own score less each other's."""
    numbers, players = work["trial_numbers"], work["players"]
    least = numbers[0]
    for k in range(1, players - 1):
        least = min(least, numbers[k])
    if least == _NOUGHT:
        return _NOUGHT
    return least * np.float32(0.1) + (_SURE if least > _NOUGHT else -_SURE)


@jit(inline=True)
def _judge_pair(params, work, laid, changed, first, second):
    """The value after a lay (or none) and up to two Floors."""
    assign(work["trial"], 0, work["pooled"][laid], 0)
    for k in range(NUMBERS):
        work["trial_numbers"][k] = work["numbers"][laid, k]
    if first >= 0:
        _add_gain(work, changed, first)
    if second >= 0:
        _add_gain(work, changed, second)
    if work["last"]:
        return _final_value(work)
    return judge(params, work["trial"], work["trial_numbers"], work["hidden"])


@jit(inline=True)
def _noise(seed, number):
    """Drawn from Gumbel's distribution: adding it to values and taking the highest samples from their softmax."""
    share = (np.float64(draw_number(seed, number) >> np.uint64(11)) + 0.5) / 9007199254740992.0
    return -np.log(-np.log(share))


@jit
def _judge_pairs(state, params, work, laid, changed, lay, noise, seed):
    """Judge the best pairs; the best of all becomes the plan. Returns the value of the best."""
    number = _find_pairs(state, work, changed)
    best = np.float32(-1e30)
    for k in range(max(number, 1)):
        first = np.int64(work["pair"][k, 0]) if number else -1
        second = np.int64(work["pair"][k, 1]) if number else -1
        value = _judge_pair(params, work, laid, changed, first, second)
        best = max(best, value)
        noisy = np.float64(value)
        if noise > 0:
            noisy += noise * _noise(seed, (lay + 1) * 1024 + first * 4 + k)
        if noisy > work["best"]:
            work["best"], work["value"] = noisy, value
            work["plan"][0], work["plan"][1], work["plan"][2] = lay, first, second
    return best


# ---- turns


@jit(inline=True)
def _change_tile(state, tables, params, work, slot, is_new, buildable):
    """A tile beside the new one, or itself: its vector, and its Floors, are worked out again."""
    out, pooled = work["vector"][1, slot], work["pooled"][1]
    _vector_of(state, tables, params, work, slot, out)
    add(pooled, 0, out, 0)
    if not is_new:
        subtract(pooled, 0, work["vector"][0, slot], 0)
    if (buildable >> np.uint64(slot)) & ONE:
        _try_tile(state, tables, params, work, 1, slot)


@jit
def _try_lay(state, tables, params, work, entry, rotation):
    """Lay the tile in a scratch state; returns the tiles that are changed."""
    beside = np.int64(state["edge_slots"][entry])
    expand(state, tables, entry, rotation)
    slot = np.int64(state["origin"])
    assign(work["pooled"][1], 0, work["pooled"][0], 0)
    for k in range(NUMBERS):
        work["numbers"][1, k] = work["numbers"][0, k]
    describe_scores(state, tables, work["seat"], work["numbers"][1])
    buildable = _buildable(state)
    _change_tile(state, tables, params, work, slot, True, buildable)
    others, joined = bit(slot), state["near1"][slot]
    for side in range(4):
        other = ((beside >> (8 * side)) & 255) - 1
        if other >= 0:  # a canal of a joined tile is no longer open, and all within two steps of it see that
            others |= state["near2"][other] if (joined >> np.uint64(other)) & ONE else bit(other)
    changed = others | bit(slot)
    others &= ~bit(slot)
    while others:
        _change_tile(state, tables, params, work, lowest(others), False, buildable)
        others = drop_lowest(others)
    return changed


@jit(inline=True)
def _plan_lays(states, i, tables, params, scratch, work, noise, seed):
    state = states[i]
    face = np.int64(state["hand"][work["seat"]])
    number = 0
    for rotation in range(4):
        for half in range(2):
            fitting = fitting_entries(state, tables, face * 4 + rotation, half)
            while fitting:
                entry = half * 64 + lowest(fitting)
                fitting = drop_lowest(fitting)
                copy(scratch, 0, states, i)
                changed = _try_lay(scratch[0], tables, params, work, entry, rotation)
                lay = rotation * CELLS + np.int64(state["edge_cell"][entry])
                work["move"][number] = lay
                work["worth"][number] = _judge_pairs(scratch[0], params, work, 1, changed, lay, noise, seed)
                number += 1
    work["num_moves"] = number


@jit
def plan(states, i, tables, params, scratch, work, noise, seed):
    """Find the best rest of the turn into work["plan"]: moves, -1 behind the last; returns how many.

    With noise, plans are drawn by the softmax of value / noise from those that are judged.
    """
    state, table = states[i], tables[0]
    _prepare(state, table, params, work)
    work["best"] = -1e300
    if state["stage"] == EXPAND and state["hand"][work["seat"]] != NO_TILE:
        _plan_lays(states, i, table, params, scratch, work, noise, seed)
    else:
        copy(scratch, 0, states, i)
        _judge_pairs(scratch[0], params, work, 0, ZERO, -1, noise, seed)
    found = work["plan"]
    number = 0
    if found[0] >= 0:
        number = 1
    for k in range(1, 3):
        if found[k] >= 0:
            found[number] = BUILD + found[k]
            number += 1
    for k in range(number, 4):
        found[k] = -1
    return number
