"""Blocks in space, compiled: putting them down, taking them away, and where one fits (B1, B2, M2)."""

import numpy as np

from tollero_env.bits import popcount
from tollero_env.games.talo.constants import ALONG_X, ALONG_Y, HEIGHT, MAX_LENGTH, NOWHERE, ROW, UPRIGHT, WIDTH
from tollero_env.jit import jit


@jit
def wipe(board):
    """Clear rows of cells. (A slice would do, but takes ten times as long to compile.)"""
    for z in range(board.shape[0]):
        for y in range(board.shape[1]):
            board[z, y] = 0


@jit(inline=True)
def is_block(state, x, y, z):
    """Does a block take that cell? Any cell may be asked."""
    if x < 0 or x >= WIDTH or y < 0 or y >= WIDTH or z < 0 or z >= HEIGHT:
        return False
    return state["block_at"][z, y, x] != 0


@jit(inline=True)
def reach_of(length, axis):
    """How far a block reaches along x, y and z."""
    wide = length if axis == ALONG_X else 1
    deep = length if axis == ALONG_Y else 1
    tall = length if axis == UPRIGHT else 1
    return wide, deep, tall


@jit(apart=True)
def _fill(state, block, value):
    x, y, z = np.int64(state["x"][block]), np.int64(state["y"][block]), np.int64(state["z"][block])
    wide, deep, tall = reach_of(np.int64(state["length"][block]), np.int64(state["axis"][block]))
    word = np.uint32(((1 << wide) - 1) << x)
    for k in range(z, z + tall):
        for j in range(y, y + deep):
            if value:
                state["rows"][k, j] |= word
            else:
                state["rows"][k, j] &= ~word
            for i in range(x, x + wide):
                state["block_at"][k, j, i] = value


@jit(apart=True)
def has_above(state, block):
    """Does anything rest on the block?"""
    x, y, z = np.int64(state["x"][block]), np.int64(state["y"][block]), np.int64(state["z"][block])
    wide, deep, tall = reach_of(np.int64(state["length"][block]), np.int64(state["axis"][block]))
    z += tall
    if z >= HEIGHT:
        return False
    word = ((1 << wide) - 1) << x
    for j in range(y, y + deep):
        if np.int64(state["rows"][z, j]) & word:
            return True
    return False


@jit(apart=True)
def _mark_firm(state, block):
    """Is the block firm, is it solid? Those below it are known."""
    x, y, z = np.int64(state["x"][block]), np.int64(state["y"][block]), np.int64(state["z"][block])
    if z == 0:
        state["firm"][block] = 1
        state["solid"][block] = 1
        return
    wide, deep, _ = reach_of(np.int64(state["length"][block]), np.int64(state["axis"][block]))
    first, last = state["block_at"][z - 1, y, x], state["block_at"][z - 1, y + deep - 1, x + wide - 1]
    is_firm = first != 0 and last != 0 and state["firm"][first] != 0 and state["firm"][last] != 0
    is_solid = is_firm
    if is_firm:
        for k in range(wide + deep - 1):
            below = state["block_at"][z - 1, y + (k if deep > 1 else 0), x + (k if wide > 1 else 0)]
            is_solid &= below == 0 or state["solid"][below] != 0
    state["firm"][block] = is_firm
    state["solid"][block] = is_solid


@jit(apart=True)
def mark_all_firm(state):
    """Bring `firm` and `solid` of all blocks up to date, from the board upwards."""
    for z in range(HEIGHT):
        for block in range(1, np.int64(state["num_blocks"]) + 1):
            if state["z"][block] == z:
                _mark_firm(state, block)


@jit(apart=True)
def put_block(state, length, axis, x, y, z):
    """Put a block where it fits; returns its number."""
    block = np.int64(state["num_blocks"]) + 1
    state["num_blocks"] = block
    state["x"][block], state["y"][block], state["z"][block] = x, y, z
    state["length"][block], state["axis"][block] = length, axis
    state["num_feet"] += np.uint8(z == 0)
    state["highest"] = max(np.int64(state["highest"]), z + (length if axis == UPRIGHT else 1))
    _fill(state, block, block)
    if has_above(state, block):  # slid under others: they may rest better now
        mark_all_firm(state)
    else:
        _mark_firm(state, block)
    return block


@jit(apart=True)
def drop_block(state, highest):
    """Take the last block away again; `highest` is the level of the highest top without it."""
    block = np.int64(state["num_blocks"])
    is_under = has_above(state, block)
    _fill(state, block, 0)
    state["num_feet"] -= np.uint8(state["z"][block] == 0)
    state["num_blocks"] = block - 1
    state["highest"] = highest
    state["x"][block], state["y"][block], state["z"][block] = 0, 0, 0
    state["length"][block], state["axis"][block] = 0, 0
    state["firm"][block], state["solid"][block] = 0, 0
    if is_under:
        mark_all_firm(state)


@jit(apart=True)
def find_free(state, tables, free):
    """Rows of cells that a block may take: M2, B2, no block there, no pawn."""
    is_grounded = state["num_feet"] < tables["max_feet"]
    for z in range(HEIGHT):
        for y in range(WIDTH):
            free[z, y] = np.int32(~np.int64(state["rows"][z, y]) & ROW)
    for y in range(WIDTH):
        free[0, y] &= np.int32(tables["ground"][y]) if is_grounded else np.int32(0)
    for seat in range(np.int64(state["num_players"])):
        level = np.int64(state["pawn_level"][seat])
        if level != NOWHERE:  # B1: the cell its feet are in and the one above it
            word = np.int32(1 << np.int64(state["pawn_x"][seat]))
            for z in range(level, min(level + 2, HEIGHT)):
                free[z, np.int64(state["pawn_y"][seat])] &= ~word


@jit(apart=True)
def _find_along_x(state, free, length, top, fits):
    for z in range(top + 1):
        for y in range(WIDTH):
            room, held = np.int64(free[z, y]), np.int64(0)
            if room and z:
                held = np.int64(state["rows"][z - 1, y])
            have = 1
            while have < length:
                step = min(have, length - have)
                room &= room >> step
                held |= held >> step
                have += step
            fits[z, y] = np.int32(room & held) if z else np.int32(room)


@jit(apart=True)
def _find_along_y(state, free, length, top, fits):
    for z in range(top + 1):
        for y in range(WIDTH - length + 1):
            room, held = np.int64(free[z, y]), np.int64(0)
            if room:
                for k in range(1, length):
                    room &= np.int64(free[z, y + k])
                if room and z:
                    for k in range(length):
                        held |= np.int64(state["rows"][z - 1, y + k])
            fits[z, y] = np.int32(room & held) if z else np.int32(room)
        for y in range(WIDTH - length + 1, WIDTH):
            fits[z, y] = 0


@jit(apart=True)
def _find_upright(state, free, length, top, fits):
    for z in range(top + 1):
        for y in range(WIDTH):
            room = np.int64(free[z, y])
            if z:
                room &= np.int64(state["rows"][z - 1, y])
            if z + length > HEIGHT:
                room = 0
            if room:
                for k in range(1, length):
                    room &= np.int64(free[z + k, y])
            fits[z, y] = np.int32(room)


@jit(apart=True)
def find_fits(state, free, length, axis, fits):
    """Write the least cells where such a block fits, as rows of `fits`; returns how many there are (B1, B2)."""
    wipe(fits)
    if length == 1 and axis != UPRIGHT:  # B1: it always counts as standing
        return 0
    top = min(np.int64(state["highest"]), HEIGHT - 1)  # above that nothing rests on anything
    if axis == ALONG_X:
        _find_along_x(state, free, length, top, fits)
    elif axis == ALONG_Y:
        _find_along_y(state, free, length, top, fits)
    else:
        _find_upright(state, free, length, top, fits)
    total = 0
    for z in range(top + 1):
        for y in range(WIDTH):
            total += popcount(np.uint64(fits[z, y]))
    return total


@jit(apart=True)
def does_fit(state, free, length, axis, cell):
    """Does such a block fit with its least cell there? (x, y, z) may be any numbers."""
    x, y, z = cell
    wide, deep, tall = reach_of(length, axis)
    if length < 1 or length > MAX_LENGTH or (length == 1 and axis != UPRIGHT):
        return False
    if x < 0 or y < 0 or z < 0 or x + wide > WIDTH or y + deep > WIDTH or z + tall > HEIGHT:
        return False
    word = np.int32(((1 << wide) - 1) << x)
    for k in range(z, z + tall):
        for j in range(y, y + deep):
            if (free[k, j] & word) != word:
                return False
    if z == 0:
        return True
    for j in range(y, y + deep):
        if np.int32(state["rows"][z - 1, j]) & word:
            return True
    return False


@jit(inline=True)
def overlap(length, axis, x, y, z, other_length, other_axis, u, v, w):
    """Do two blocks have a cell in common?"""
    wide, deep, tall = reach_of(length, axis)
    wide2, deep2, tall2 = reach_of(other_length, other_axis)
    return x < u + wide2 and u < x + wide and y < v + deep2 and v < y + deep and z < w + tall2 and w < z + tall
