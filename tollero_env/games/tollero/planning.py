"""The whole turn that a net likes best: every lay, every pair of lots, screened by slopes, the best judged exactly.

The two Floors of a turn never go on one tile (B3), and a Floor changes the row of its own tile alone: so what a pair
does is a sum. Pairs are screened by how fast the value grows there; the most promising of each lay are judged.
"""

import numpy as np

from tollero_env.bits import ONE, ZERO, bit, copy, drop_lowest, lowest
from tollero_env.games.tollero.constants import BUILD, CELLS, EXPAND, NO_TILE, SECOND
from tollero_env.games.tollero.describing import NUMBERS, describe_scores
from tollero_env.games.tollero.judging import MAX_TOPS, NET, buildable_tiles, prepare, try_tile, vector_of
from tollero_env.games.tollero.rules import expand, find_targets, fitting_entries
from tollero_env.jit import jit
from tollero_env.rng import draw_number
from tollero_env.vectors import add, assign, subtract

judge = NET.judge
_KEPT, _KEPT_LAST = 3, 12  # pairs of a lay that are judged
_SURE = np.float32(16)  # the value of a game that is won
_NOUGHT = np.float32(0)


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
    buildable = buildable_tiles(state)
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


@jit(inline=True)
def _is_same(top, lay, first, second):
    return top[0] == lay and ((top[1] == first and top[2] == second) or (top[1] == second and top[2] == first))


@jit
def _remember(work, value, lay, first, second):
    """Insert a plan among the best, unless one that ends the same is there."""
    tops, values, number = work["top"], work["top_value"], work["num_tops"]
    if number == MAX_TOPS and value <= values[number - 1]:
        return
    for k in range(number):
        if values[k] == value and _is_same(tops[k], lay, first, second):
            return
    k = min(number, MAX_TOPS - 1)
    while k > 0 and values[k - 1] < value:
        values[k] = values[k - 1]
        for m in range(3):
            tops[k, m] = tops[k - 1, m]
        k -= 1
    values[k] = value
    tops[k, 0], tops[k, 1], tops[k, 2] = lay, first, second
    work["num_tops"] = min(number + 1, MAX_TOPS)


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
        _remember(work, value, lay, first, second)
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
    vector_of(state, tables, params, work, slot, out)
    add(pooled, 0, out, 0)
    if not is_new:
        subtract(pooled, 0, work["vector"][0, slot], 0)
    if (buildable >> np.uint64(slot)) & ONE:
        try_tile(state, tables, params, work, 1, slot)


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
    buildable = buildable_tiles(state)
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
def _plan_lays(states, i, tables, params, scratch, j, work, noise, seed):
    state = states[i]
    face = np.int64(state["hand"][work["seat"]])
    number = 0
    for rotation in range(4):
        for half in range(2):
            fitting = fitting_entries(state, tables, face * 4 + rotation, half)
            while fitting:
                entry = half * 64 + lowest(fitting)
                fitting = drop_lowest(fitting)
                copy(scratch, j, states, i)
                changed = _try_lay(scratch[j], tables, params, work, entry, rotation)
                lay = rotation * CELLS + np.int64(state["edge_cell"][entry])
                work["move"][number] = lay
                work["worth"][number] = _judge_pairs(scratch[j], params, work, 1, changed, lay, noise, seed)
                number += 1
    work["num_moves"] = number


@jit(inline=True)
def _to_moves(found):
    """Lay, first and second place as moves, with -1 behind the last; returns how many."""
    number = 1 if found[0] >= 0 else 0
    for k in range(1, 3):
        if found[k] >= 0:
            found[number] = BUILD + found[k]
            number += 1
    for k in range(number, 4):
        found[k] = -1
    return number


@jit
def plan(states, i, tables, params, scratch, j, work, noise, seed):
    """Find the best rest of the turn into work["plan"]: moves, -1 behind the last; returns how many.

    scratch[j] is free to play in. With noise, plans are drawn by the softmax of value / noise from those judged.
    """
    state = states[i]
    prepare(state, tables, params, work)
    work["best"], work["num_tops"] = -1e300, 0
    if state["stage"] == EXPAND and state["hand"][work["seat"]] != NO_TILE:
        _plan_lays(states, i, tables, params, scratch, j, work, noise, seed)
    else:
        copy(scratch, j, states, i)
        _judge_pairs(scratch[j], params, work, 0, ZERO, -1, noise, seed)
    for k in range(work["num_tops"]):
        _to_moves(work["top"][k])
    return _to_moves(work["plan"])


@jit(inline=True)
def _best_second(state, work, first):
    """How much the best second Floor is worth after a first on that tile; 0 if there is none."""
    if state["stage"] == SECOND or state["floors_left"][work["seat"]] < 2:
        return _NOUGHT
    stage, origin = state["stage"], state["origin"]
    state["stage"], state["origin"] = SECOND, first
    seconds = find_targets(state) & buildable_tiles(state)
    state["stage"], state["origin"] = stage, origin
    best, found = np.float32(-1e30), False
    while seconds:
        best = max(best, work["line"][0, lowest(seconds)])
        seconds = drop_lowest(seconds)
        found = True
    return best if found else _NOUGHT


@jit
def weigh(states, i, tables, params, scratch, j, work, moves, n, out):
    """For each legal move a value of the best turn it can still end in: exact for lays, by the slopes for Floors."""
    plan(states, i, tables, params, scratch, j, work, 0.0, np.uint64(0))
    if states[i]["stage"] == EXPAND:
        for k in range(n):
            out[k] = work["worth"][k]
        return
    for k in range(n):
        place = moves[k] - BUILD
        out[k] = work["steep"][0, place] + _best_second(states[i], work, place >> 2)
