"""Does the construction stand (B3)? Decided in stages, from what is quick to see to a solver for what is left.

Every block needs forces from below, at points of the squares it shares with what it rests on (shrunk by DELTA on every
side), that balance its weight, what presses on it, and their moments. Where an end leans (20), a moment that would
lower it may be met by up to twice DELTA times all that pushes the block up: as if those forces acted so much nearer to
that end. Blocks never pull, and a pawn weighs nothing (22).

Before the last placements the construction stood, so only a part of it can be in question: the new blocks and what
touches them, directly or through blocks that are not solid. A block is *firm* if its ends rest on firm blocks or on the
board: it passes any load down. It is *solid* if all that it rests on is solid too: then nothing it carries ever
matters, and it is as good as the board. `docs/balance.md` has the reasons.
"""

import numpy as np

from tollero_env.bits import ONE, ZERO, bit, drop_lowest, lowest
from tollero_env.games.talo.constants import (
    ALONG_X,
    BY_FIRM,
    BY_GROUND,
    BY_ITSELF,
    BY_SHARING,
    BY_SOLVER,
    DELTA,
    HEIGHT,
    UPRIGHT,
    WIDTH,
)
from tollero_env.games.talo.grid import has_above, reach_of
from tollero_env.games.talo.solver import solve
from tollero_env.jit import jit

ELSEWHERE = ONE << np.uint64(63)  # in `below`: something that is not in the part, and cannot move
EPS = 1e-9
LEAN = 2 * DELTA


# ---- one block


@jit(inline=True)
def _is_post(state, x, y, z):
    """Can an end lean there: on a standing block of length 2 or more (20)?"""
    if x < 0 or x >= WIDTH or y < 0 or y >= WIDTH:
        return False
    block = np.int64(state["block_at"][z, y, x])
    return block != 0 and state["axis"][block] == UPRIGHT and state["length"][block] >= 2


@jit(apart=True)
def leans(state, block):
    """Do the low and the high end of a block lean? (0 or 1 each)"""
    axis = np.int64(state["axis"][block])
    if axis == UPRIGHT:
        return 0, 0
    x, y, z = np.int64(state["x"][block]), np.int64(state["y"][block]), np.int64(state["z"][block])
    length = np.int64(state["length"][block])
    if axis == ALONG_X:
        return int(_is_post(state, x - 1, y, z)), int(_is_post(state, x + length, y, z))
    return int(_is_post(state, x, y - 1, z)), int(_is_post(state, x, y + length, z))


@jit
def _support_span(state, block, only_firm):
    """First and last of a lying block's cells, counted from its least, that rest on a (firm) block; (-1, -1) if none"""
    x, y, z = np.int64(state["x"][block]), np.int64(state["y"][block]), np.int64(state["z"][block])
    is_x = state["axis"][block] == ALONG_X
    first, last = -1, -1
    for k in range(np.int64(state["length"][block])):
        below = np.int64(state["block_at"][z - 1, y, x + k] if is_x else state["block_at"][z - 1, y + k, x])
        if below != 0 and (not only_firm or state["firm"][below] != 0):
            first = k if first < 0 else first
            last = k
    return first, last


@jit(apart=True)
def _judge_alone(state, work, block, certify):
    """BY_FIRM if firm blocks below carry the block, -BY_ITSELF if it falls whatever they can carry, else 0."""
    z = np.int64(state["z"][block])
    if state["axis"][block] == UPRIGHT:
        return BY_FIRM if state["firm"][np.int64(state["block_at"][z - 1, state["y"][block], state["x"][block]])] else 0
    low, high = leans(state, block)
    middle = np.int64(state["length"][block]) / 2
    first, last = _support_span(state, block, True)
    if first >= 0 and first + DELTA - LEAN * low <= middle <= last + 1 - DELTA + LEAN * high:
        return BY_FIRM
    first, last = _support_span(state, block, False)
    least, most = first + DELTA - LEAN * low, last + 1 - DELTA + LEAN * high
    if least <= middle <= most or has_above(state, block):
        return 0
    if certify:
        _tip(state, work, block, least, most, middle)
    return -BY_ITSELF


@jit
def _tip(state, work, block, least, most, middle):
    """Note how a block falls by itself: it turns about the edge of what it rests on."""
    work["size"] = 1
    work["part"][0] = block
    is_x = state["axis"][block] == ALONG_X
    start = np.float64(state["x"][block] if is_x else state["y"][block])
    sign, edge = (-1.0, start + most) if middle > most else (1.0, start + least)
    work["fall"][0, 0] = -sign * edge
    work["fall"][0, 1] = sign if is_x else 0.0
    work["fall"][0, 2] = 0.0 if is_x else sign
    work["drop"] = np.float64(state["length"][block]) * abs(start + middle - edge)
    work["has_fall"] = 1


# ---- the part in question


@jit
def _add(state, work, block):
    if block != 0 and state["solid"][block] == 0 and work["number"][block] == 0:
        work["part"][work["size"]] = block
        work["size"] += 1
        work["number"][block] = work["size"]


@jit(apart=True)
def _gather(state, work, block, other):
    """The blocks that could move if one of these two did, by descending z."""
    for k in range(np.int64(state["num_blocks"]) + 1):
        work["number"][k] = 0
    work["size"] = 0
    _add(state, work, block)
    _add(state, work, other)
    k = 0
    while k < work["size"]:
        one = work["part"][k]
        k += 1
        x, y, z = np.int64(state["x"][one]), np.int64(state["y"][one]), np.int64(state["z"][one])
        wide, deep, tall = reach_of(np.int64(state["length"][one]), np.int64(state["axis"][one]))
        for j in range(y, y + deep):
            for i in range(x, x + wide):
                if z > 0:
                    _add(state, work, np.int64(state["block_at"][z - 1, j, i]))
                if z + tall < HEIGHT:
                    _add(state, work, np.int64(state["block_at"][z + tall, j, i]))
    _sort(state, work)


@jit
def _sort(state, work):
    part, size = work["part"], work["size"]
    for k in range(1, size):
        block, j = part[k], k
        while j > 0 and state["z"][part[j - 1]] < state["z"][block]:
            part[j] = part[j - 1]
            j -= 1
        part[j] = block
    for k in range(size):
        work["number"][part[k]] = k + 1


@jit(apart=True)
def _find_contacts(state, work):
    """Where each block of the part rests on what."""
    n = 0
    for k in range(work["size"]):
        block = work["part"][k]
        work["first"][k] = n
        work["lean_low"][k], work["lean_high"][k] = leans(state, block)
        work["below"][k] = ZERO
        x, y, z = np.int64(state["x"][block]), np.int64(state["y"][block]), np.int64(state["z"][block])
        wide, deep, _ = reach_of(np.int64(state["length"][block]), np.int64(state["axis"][block]))
        before = 0
        for step in range(wide + deep - 1):
            i, j = (x + step, y) if wide > 1 else (x, y + step)
            below = np.int64(state["block_at"][z - 1, j, i])
            if below != 0 and below != before:
                work["lower"][n] = work["number"][below] - 1
                work["below"][k] |= bit(work["lower"][n]) if work["lower"][n] >= 0 else ELSEWHERE
                work["low_x"][n], work["low_y"][n] = i + DELTA, j + DELTA
                n += 1
            if below != 0:  # one block below touches in one rectangle: both are straight
                work["high_x"][n - 1], work["high_y"][n - 1] = i + 1 - DELTA, j + 1 - DELTA
            before = below
    work["first"][work["size"]] = n


# ---- what must fall, and what can share its load


@jit
def _middle(state, block):
    """The centre of a block's weight."""
    wide, deep, _ = reach_of(np.int64(state["length"][block]), np.int64(state["axis"][block]))
    return np.int64(state["x"][block]) + wide / 2, np.int64(state["y"][block]) + deep / 2


@jit
def _find_above(work):
    """For each block of the part, the blocks of the part above it. Blocks come from the top down."""
    for k in range(work["size"]):
        work["above"][k] = ZERO
    for k in range(work["size"]):
        rest = work["below"][k] & ~ELSEWHERE
        while rest:
            work["above"][lowest(rest)] |= work["above"][k] | bit(k)
            rest = drop_lowest(rest)


@jit
def _rests_alone(work, k):
    """Does all that is above block k rest on it and on nothing else, and lean nowhere?"""
    rest, within = work["above"][k], work["above"][k] | bit(k)
    while rest:
        one = lowest(rest)
        if work["below"][one] & ~within or work["lean_low"][one] + work["lean_high"][one] > 0:
            return False
        rest = drop_lowest(rest)
    return True


@jit
def _edges(work, k, is_x):
    """Between which limits along x or y the load of a block must act, leaning counted."""
    low, high = np.inf, -np.inf
    for c in range(work["first"][k], work["first"][k + 1]):
        low = min(low, work["low_x"][c] if is_x else work["low_y"][c])
        high = max(high, work["high_x"][c] if is_x else work["high_y"][c])
    return low, high


@jit(apart=True)
def _find_fall(state, work, certify):
    """Is there a block whose whole load, with all that can rest on nothing else, acts outside what it rests on?"""
    for k in range(work["size"]):
        if not _rests_alone(work, k):
            continue
        members = work["above"][k] | bit(k)
        weight, x, y = 0.0, 0.0, 0.0
        rest = members
        while rest:
            block = work["part"][lowest(rest)]
            rest = drop_lowest(rest)
            load = np.float64(state["length"][block])
            i, j = _middle(state, block)
            weight, x, y = weight + load, x + load * i, y + load * j
        if _turns(state, work, k, members, (weight, x / weight, y / weight), certify):
            return True
    return False


@jit
def _turns(state, work, k, members, load, certify):
    """Does a load (weight, x, y) make block k turn over an edge, with all its members? If `certify`, note how."""
    weight, x, y = load
    is_x = state["axis"][work["part"][k]] == ALONG_X
    for along_x in (True, False):
        low, high = _edges(work, k, along_x)
        if along_x == is_x:  # an upright block leans nowhere
            low -= LEAN * work["lean_low"][k]
            high += LEAN * work["lean_high"][k]
        at = x if along_x else y
        if low - EPS <= at <= high + EPS:
            continue
        if not certify:
            return True
        sign, edge = (-1.0, high) if at > high else (1.0, low)
        for m in range(work["size"]):
            turns = sign if members & bit(m) else 0.0
            work["fall"][m, 0] = -turns * edge
            work["fall"][m, 1] = turns if along_x else 0.0
            work["fall"][m, 2] = 0.0 if along_x else turns
        work["drop"] = weight * abs(at - edge)
        work["has_fall"] = 1
        return True
    return False


@jit
def _press(work, c, weight, x, y):
    """So much presses on the lower block of a contact at (x, y)."""
    k = work["lower"][c]
    if k >= 0:
        work["weight"][k] += weight
        work["weight_x"][k] += weight * x
        work["weight_y"][k] += weight * y


@jit
def _best_contact(work, k, at, is_x, side):
    """The contact nearest to `at` that reaches over it (side 0), begins before it (-1), ends behind it (1); or -1.

    What cannot move is preferred.
    """
    best, best_rank = -1, np.inf
    for c in range(work["first"][k], work["first"][k + 1]):
        low = work["low_x"][c] if is_x else work["low_y"][c]
        high = work["high_x"][c] if is_x else work["high_y"][c]
        if (side == 0 and low <= at <= high) or (side < 0 and high < at) or (side > 0 and low > at):
            rank = abs(at - (low + high) / 2) + (100.0 if work["lower"][c] >= 0 else 0.0)
            if rank < best_rank:
                best, best_rank = c, rank
    return best


@jit(apart=True)
def _share(work, k, is_x):
    """Hand the load of a block on to what it rests on; False if it acts beyond all that."""
    first, last = work["first"][k], work["first"][k + 1]
    weight = work["weight"][k]
    x, y = work["weight_x"][k] / weight, work["weight_y"][k] / weight
    at, across = (x, y) if is_x else (y, x)
    low, high = _edges(work, k, is_x)
    if not low - LEAN * work["lean_low"][k] <= at <= high + LEAN * work["lean_high"][k]:
        return False
    least, most = _edges(work, k, not is_x)
    if not least <= across <= most:
        return False
    at = min(max(at, low), high)  # a leaning end makes up for the rest
    c = _best_contact(work, k, at, is_x, 0)
    left, right = _best_contact(work, k, at, is_x, -1), _best_contact(work, k, at, is_x, 1)
    is_bridge = left >= 0 and right >= 0 and work["lower"][left] < 0 and work["lower"][right] < 0
    if c >= 0 and (work["lower"][c] < 0 or not is_bridge or last - first == 1):
        _press(work, c, weight, at if is_x else across, across if is_x else at)
        return True
    if left < 0 or right < 0:
        return False
    i = work["high_x"][left] if is_x else work["high_y"][left]
    j = work["low_x"][right] if is_x else work["low_y"][right]
    part = (at - i) / (j - i)
    _press(work, left, weight * (1 - part), i if is_x else across, across if is_x else i)
    _press(work, right, weight * part, j if is_x else across, across if is_x else j)
    return True


@jit(apart=True)
def _can_share(state, work):
    """From the top down, each block hands its load on as seems best: if that works out, the construction stands."""
    for k in range(work["size"]):
        block = work["part"][k]
        load = np.float64(state["length"][block])
        x, y = _middle(state, block)
        work["weight"][k], work["weight_x"][k], work["weight_y"][k] = load, load * x, load * y
    for k in range(work["size"]):
        if not _share(work, k, state["axis"][work["part"][k]] != 1):
            return False
    return True


# ---- the verdict


@jit(apart=True)
def judge_part(state, work, block, other, certify):
    """Does the part with these blocks stand? If not, and `certify`, how it falls is noted."""
    _gather(state, work, block, other)
    _find_contacts(state, work)
    _find_above(work)
    if _find_fall(state, work, certify):
        return -BY_SHARING
    if _can_share(state, work):
        return BY_SHARING
    return BY_SOLVER if solve(state, work, certify) else -BY_SOLVER


@jit(apart=True)
def judge(state, work, block, certify):
    """The construction stood; does it stand with this new block? The stage that knew, negative if it does not."""
    work["has_fall"] = 0
    if state["z"][block] == 0:
        return BY_GROUND
    code = _judge_alone(state, work, block, certify)
    if code != 0:
        return code
    return judge_part(state, work, block, 0, certify)


@jit(apart=True)
def judge_two(state, work, block, other):
    """Does it stand with these two new blocks, if it did not with the second alone?"""
    work["has_fall"] = 0
    code = BY_GROUND if state["z"][block] == 0 else _judge_alone(state, work, block, False)
    if code < 0:
        return code
    return judge_part(state, work, other, block, False)


@jit
def stands(state, work):
    """Does the whole construction stand, whatever was known of it before?"""
    for block in range(1, np.int64(state["num_blocks"]) + 1):
        if state["solid"][block] == 0 and judge_part(state, work, block, 0, False) < 0:
            return False
    return True
