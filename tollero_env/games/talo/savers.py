"""Which second block would hold a first one that falls (B3, 21)?

The first falls in some way: a few blocks set off, each with a speed that changes evenly over space, and their weight
sinks. As long as such a motion exists, no forces can stop it. A second block stops it only if it is in its way: under
something that sinks, on something that rises, or where an end can lean. Only such places are looked at, and most of
them are too light: carried along by what they lie on, they would not even slow it down. The rest is judged exactly.
"""

import numpy as np

from tollero_env.games.talo.constants import ALONG_X, ALONG_Y, DELTA, HEIGHT, SLOTS, UPRIGHT, WIDTH
from tollero_env.games.talo.grid import does_fit, drop_block, find_free, is_block, put_block, reach_of, wipe
from tollero_env.games.talo.statics import judge_two, leans
from tollero_env.jit import jit

_STILL = 1e-7  # speeds below this are the solver's noise
_GAP = 1e-5


@jit(apart=True)
def _take_over(state, work):
    """Keep the motion that was noted: judging other blocks will write over it."""
    for k in range(SLOTS):
        work["moves_as"][k] = 0
    n = 0
    for k in range(work["size"]):
        a, b, c = work["fall"][k, 0], work["fall"][k, 1], work["fall"][k, 2]
        if abs(a) + abs(b) + abs(c) > _STILL:
            work["moving"][n] = work["part"][k]
            work["motion"][n, 0], work["motion"][n, 1], work["motion"][n, 2] = a, b, c
            n += 1
            work["moves_as"][work["part"][k]] = n
    work["num_moving"] = n
    work["sinks"] = work["drop"]


@jit(inline=True)
def _speeds(work, n, i, j):
    """Least and greatest upward speed of moving thing n over the shrunk square of cell (i, j); n < 0 stands still."""
    if n < 0:
        return 0.0, 0.0
    b, c = work["motion"][n, 1], work["motion"][n, 2]
    middle = work["motion"][n, 0] + b * (i + 0.5) + c * (j + 0.5)
    spread = (abs(b) + abs(c)) * (0.5 - DELTA)
    return middle - spread, middle + spread


@jit(inline=True)
def _less(work, n, m, i, j):
    """The least by which the speed of n is above that of m over a cell."""
    a = b = c = 0.0
    if n >= 0:
        a, b, c = work["motion"][n, 0], work["motion"][n, 1], work["motion"][n, 2]
    if m >= 0:
        a, b, c = a - work["motion"][m, 0], b - work["motion"][m, 1], c - work["motion"][m, 2]
    return a + b * (i + 0.5) + c * (j + 0.5) - (abs(b) + abs(c)) * (0.5 - DELTA)


@jit(apart=True)
def _is_in_way(state, work, block):
    """(Does the motion need the block to move? Does the block hold something from above or lean? What carries it?)"""
    x, y, z = np.int64(state["x"][block]), np.int64(state["y"][block]), np.int64(state["z"][block])
    wide, deep, tall = reach_of(np.int64(state["length"][block]), np.int64(state["axis"][block]))
    is_pushed, is_prop, carrier = False, False, -1
    for j in range(y, y + deep):
        for i in range(x, x + wide):
            if z > 0:
                n = work["moves_as"][np.int64(state["block_at"][z - 1, j, i])] - 1
                if n >= 0 and _speeds(work, n, i, j)[1] > _STILL:
                    is_pushed, carrier = True, n
            if z + tall < HEIGHT:
                n = work["moves_as"][np.int64(state["block_at"][z + tall, j, i])] - 1
                is_prop |= n >= 0 and _speeds(work, n, i, j)[0] < -_STILL
    if state["axis"][block] == UPRIGHT and state["length"][block] >= 2:
        for k in range(z, z + tall):
            for step in range(4):
                i, j = x + (step == 0) - (step == 1), y + (step == 2) - (step == 3)
                if is_block(state, i, j, k):
                    other = np.int64(state["block_at"][k, j, i])
                    is_end = state["axis"][other] == (ALONG_X if step < 2 else ALONG_Y)
                    is_prop |= is_end and work["moves_as"][other] > 0
    return is_pushed, is_prop, carrier


@jit(apart=True)
def _is_too_light(state, work, block, carrier):
    """Could the block ride along with what pushes it up, and all still sink?"""
    low, high = leans(state, block)
    if low + high > 0:
        return False
    x, y, z = np.int64(state["x"][block]), np.int64(state["y"][block]), np.int64(state["z"][block])
    length = np.int64(state["length"][block])
    wide, deep, tall = reach_of(length, np.int64(state["axis"][block]))
    for j in range(y, y + deep):
        for i in range(x, x + wide):
            if z > 0 and state["block_at"][z - 1, j, i] != 0:
                n = work["moves_as"][np.int64(state["block_at"][z - 1, j, i])] - 1
                if n != carrier and _less(work, carrier, n, i, j) < -_STILL:
                    return False
            if z + tall < HEIGHT and state["block_at"][z + tall, j, i] != 0:
                n = work["moves_as"][np.int64(state["block_at"][z + tall, j, i])] - 1
                if n != carrier and _less(work, n, carrier, i, j) < -_STILL:
                    return False
    a, b, c = work["motion"][carrier, 0], work["motion"][carrier, 1], work["motion"][carrier, 2]
    rises = length * (a + b * (x + wide / 2) + c * (y + deep / 2))
    return work["sinks"] - rises > _GAP


@jit(apart=True)
def _saves(state, work, first, length, axis, cell):
    """Does everything stand with this second block, which fits?"""
    x, y, z = cell
    highest = np.int64(state["highest"])
    block = put_block(state, length, axis, x, y, z)
    is_pushed, is_prop, carrier = _is_in_way(state, work, block)
    is_saved = is_pushed or is_prop
    if is_pushed and not is_prop and _is_too_light(state, work, block, carrier):
        is_saved = False
    if is_saved:
        is_saved = judge_two(state, work, block, first) > 0
    drop_block(state, highest)
    return is_saved


@jit(apart=True)
def _try(state, work, first, length, axis, cell):
    """As `_saves`, once for every place, for any numbers."""
    x, y, z = cell
    if x < 0 or y < 0 or z < 0 or x >= WIDTH or y >= WIDTH or z >= HEIGHT:
        return False
    if (work["tried"][axis, z, y] >> x) & 1:
        return False
    work["tried"][axis, z, y] |= np.int32(1 << x)
    return does_fit(state, work["free"][2], length, axis, cell) and _saves(state, work, first, length, axis, cell)


@jit(apart=True)
def _try_around(state, work, first, length, want, cell):
    """All ways to take up a cell: with the top there (want -1), the foot (1), or upright anywhere (0).

    The first that saves ends it unless `fits` is to hold them all (`want` + 10).
    """
    x, y, z = cell
    is_all = want >= 5
    want -= 10 if is_all else 0
    n = 0
    for k in range(length if want == 0 else 1):
        at = (x, y, z - k if want == 0 else (z - length + 1 if want < 0 else z))
        if _try(state, work, first, length, UPRIGHT, at):
            n += 1
            if not is_all:
                return n
            work["fits"][UPRIGHT, at[2], y] |= np.int32(1 << x)
    if want == 0 or length == 1:
        return n
    for k in range(length):
        if _try(state, work, first, length, ALONG_X, (x - k, y, z)):
            n += 1
            if not is_all:
                return n
            work["fits"][ALONG_X, z, y] |= np.int32(1 << (x - k))
        if _try(state, work, first, length, ALONG_Y, (x, y - k, z)):
            n += 1
            if not is_all:
                return n
            work["fits"][ALONG_Y, z, y - k] |= np.int32(1 << x)
    return n


@jit(apart=True)
def find_savers(state, tables, work, first, length, is_all):
    """How many places for a second block save the first, whose fall was just noted; all of them in `fits`, or one."""
    _take_over(state, work)
    find_free(state, tables, work["free"][2])
    for axis in range(3):
        wipe(work["tried"][axis])
        if is_all:
            wipe(work["fits"][axis])
    extra, total = 10 if is_all else 0, 0
    for k in range(work["num_moving"]):
        block = work["moving"][k]
        x, y, z = np.int64(state["x"][block]), np.int64(state["y"][block]), np.int64(state["z"][block])
        wide, deep, tall = reach_of(np.int64(state["length"][block]), np.int64(state["axis"][block]))
        for j in range(y, y + deep):
            for i in range(x, x + wide):
                least, most = _speeds(work, k, i, j)
                if z > 0 and least < -_STILL and not is_block(state, i, j, z - 1):
                    total += _try_around(state, work, first, length, -1 + extra, (i, j, z - 1))
                if most > _STILL and z + tall < HEIGHT and not is_block(state, i, j, z + tall):
                    total += _try_around(state, work, first, length, 1 + extra, (i, j, z + tall))
                if total and not is_all:
                    return total
        if length >= 2 and state["axis"][block] != UPRIGHT:
            for end in range(2):
                along = -1 if end == 0 else max(wide, deep)
                i, j = (x + along, y) if state["axis"][block] == ALONG_X else (x, y + along)
                if 0 <= i < WIDTH and 0 <= j < WIDTH:
                    total += _try_around(state, work, first, length, extra, (i, j, z))
        if total and not is_all:
            return total
    return total
