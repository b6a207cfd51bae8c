"""Pawns, compiled: where one can go (P2 to P4), and whether it could ever reach the top again (P5)."""

import numpy as np

from tollero_env.games.talo.constants import AREA, HEIGHT, NOWHERE, TOP, WIDTH
from tollero_env.games.talo.grid import wipe
from tollero_env.jit import jit


@jit(inline=True)
def _is_free(state, x, y, z):
    """No block is there; above the tenth cell nothing ever is."""
    return z >= HEIGHT or state["block_at"][z, y, x] == 0


@jit(inline=True)
def is_top(state, x, y, level):
    """Is there a top at that level with two free cells above it? (P4)"""
    has_block = state["block_at"][level - 1, y, x] != 0
    return has_block and _is_free(state, x, y, level) and _is_free(state, x, y, level + 1)


@jit(inline=True)
def has_pawn(state, x, y, level):
    """Does a pawn stand there?"""
    for seat in range(np.int64(state["num_players"])):
        if state["pawn_level"][seat] == level and state["pawn_x"][seat] == x and state["pawn_y"][seat] == y:
            return True
    return False


@jit(inline=True)
def is_hopeful(state, tables, x, y, level):
    """Could a pawn come to stand there some day? (P5)"""
    if not (_is_free(state, x, y, level) and _is_free(state, x, y, level + 1)):
        return False
    return level > 1 or state["block_at"][0, y, x] != 0 or ((np.int64(tables["ground"][y]) >> x) & 1) == 1


@jit(apart=True)
def find_tops(state, work, seat):
    """Write the places that the seat's pawn can walk to into `queue`, without its own; returns how many.

    A place at level t is the number of the cell under it, of z = t - 1.
    """
    wipe(work["seen"])
    queue, seen = work["queue"], work["seen"]
    x, y = np.int64(state["pawn_x"][seat]), np.int64(state["pawn_y"][seat])
    level = np.int64(state["pawn_level"][seat])
    seen[level, y] |= np.int32(1 << x)
    k, n = -1, 0
    while True:
        for step in range(4):
            i, j = x + (step == 1) - (step == 3), y + (step == 2) - (step == 0)
            if i < 0 or i >= WIDTH or j < 0 or j >= WIDTH:
                continue
            for t in range(max(level - 1, 1), min(level + 1, TOP) + 1):  # P3: the board is level 0
                if level == 0 and t != 1:
                    continue
                if (seen[t, j] >> i) & 1 or not is_top(state, i, j, t):
                    continue
                if has_pawn(state, i, j, t):  # P4
                    continue
                seen[t, j] |= np.int32(1 << i)
                queue[n] = (t - 1) * AREA + j * WIDTH + i
                n += 1
        k += 1
        if k >= n:
            return n
        place = np.int64(queue[k])
        level, y, x = place // AREA + 1, place % AREA // WIDTH, place % WIDTH


@jit(apart=True)
def can_hope(state, tables, work, seat):
    """Could the seat's pawn reach the top if others built for it? Other pawns do not count (P5)."""
    wipe(work["seen"])
    stack, seen = work["queue"], work["seen"]
    x, y = np.int64(state["pawn_x"][seat]), np.int64(state["pawn_y"][seat])
    level = np.int64(state["pawn_level"][seat])
    seen[level, y] |= np.int32(1 << x)
    n = 0
    while True:
        if level == TOP:
            return True
        for t in range(max(level - 1, 1), level + 2):  # the highest comes off the stack first
            if level == 0 and t != 1:
                continue
            for step in range(4):
                i, j = x + (step == 1) - (step == 3), y + (step == 2) - (step == 0)
                if i < 0 or i >= WIDTH or j < 0 or j >= WIDTH:
                    continue
                if (seen[t, j] >> i) & 1 or not is_hopeful(state, tables, i, j, t):
                    continue
                seen[t, j] |= np.int32(1 << i)
                stack[n] = t * AREA + j * WIDTH + i
                n += 1
        if n == 0:
            return False
        n -= 1
        place = np.int64(stack[n])
        level, y, x = place // AREA, place % AREA // WIDTH, place % WIDTH


@jit(inline=True)
def may_start(state, tables, x, y):
    """Is that a field to start or restart on: green, not `o`, its two lowest cells free? (S1, P5)"""
    if not (0 <= x < WIDTH and 0 <= y < WIDTH) or ((np.int64(tables["start"][y]) >> x) & 1) == 0:
        return False
    for seat in range(np.int64(state["num_players"])):
        level = np.int64(state["pawn_level"][seat])
        if level != NOWHERE and level <= 1 and state["pawn_x"][seat] == x and state["pawn_y"][seat] == y:
            return False
    return _is_free(state, x, y, 0) and _is_free(state, x, y, 1)
