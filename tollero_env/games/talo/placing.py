"""Which blocks may go where (B1 to B5), compiled. Rule numbers are those of docs/rules/talo.md.

Before a block is placed the construction stands, unless the first of two needs the second (`falling`).
"""

import numpy as np

from tollero_env.bits import drop_lowest, lowest, popcount, select
from tollero_env.games.talo.constants import ALONG_X, DELTA, HEIGHT, MAX_LENGTH, NUM_SURE, UPRIGHT, WIDTH
from tollero_env.games.talo.grid import drop_block, find_fits, find_free, overlap, put_block
from tollero_env.games.talo.savers import find_savers
from tollero_env.games.talo.statics import judge, judge_two
from tollero_env.jit import jit

_PER_AXIS = NUM_SURE // 3
_ORDER = (UPRIGHT, 0, 1)  # the likeliest first


# ---- places that are legal beyond doubt


@jit
def _is_carried(state, length, axis, x, y, z):
    """Does the block rest on the board, or with its centre between firm blocks?"""
    if z == 0:
        return True
    if axis == UPRIGHT:
        return state["firm"][np.int64(state["block_at"][z - 1, y, x])] != 0
    first, last = -1, -1
    for k in range(length):
        below = np.int64(state["block_at"][z - 1, y, x + k] if axis == ALONG_X else state["block_at"][z - 1, y + k, x])
        if below != 0 and state["firm"][below] != 0:
            first = k if first < 0 else first
            last = k
    return first >= 0 and first + DELTA <= length / 2 <= last + 1 - DELTA


@jit(apart=True)
def nth_place(fits, rank):
    """The cell (x, y, z) of the set bit of that rank, and -1; if there are fewer bits, how much rank is left."""
    for z in range(HEIGHT):
        for y in range(WIDTH):
            word = np.uint64(fits[z, y])
            number = popcount(word)
            if rank < number:
                return select(word, rank), y, z, -1
            rank -= number
    return -1, -1, -1, rank


@jit(apart=True)
def find_sure(state, tables, work, length):
    """Fill in a few places where a block of that length may go whatever else is placed, if that is not done yet."""
    if work["num_sure"][length] >= 0:
        return
    free, fits = work["free"][2], work["second_fits"]
    find_free(state, tables, free)
    n = 0
    for axis in _ORDER:
        total = find_fits(state, free, length, axis, fits)
        for k in range(min(total, _PER_AXIS)):
            x, y, z, _ = nth_place(fits, k * total // _PER_AXIS if total > _PER_AXIS else k)
            if _is_carried(state, length, axis, x, y, z):
                work["sure"][length, n, 0], work["sure"][length, n, 1] = axis, x
                work["sure"][length, n, 2], work["sure"][length, n, 3] = y, z
                n += 1
    work["num_sure"][length] = n


@jit(inline=True)
def forget_sure(work):
    """Blocks or pawns have changed."""
    for length in range(MAX_LENGTH + 1):
        work["num_sure"][length] = -1


@jit
def _is_clear(work, length, k, other_length, other):
    """Does sure place k of a length leave room for the other block (axis, x, y, z)?"""
    axis, x = work["sure"][length, k, 0], work["sure"][length, k, 1]
    y, z = work["sure"][length, k, 2], work["sure"][length, k, 3]
    other_axis, u, v, w = other
    return not overlap(length, axis, x, y, z, other_length, other_axis, u, v, w)


@jit
def _has_sure_beside(state, tables, work, length, other_length, other):
    find_sure(state, tables, work, length)
    for k in range(work["num_sure"][length]):
        if _is_clear(work, length, k, other_length, other):
            return True
    return False


# ---- is there a place?


@jit(apart=True)
def fits_somewhere(state, tables, work, length):
    """Is there room for one block?"""
    free, fits = work["free"][2], work["second_fits"]
    find_free(state, tables, free)
    for axis in _ORDER:
        if find_fits(state, free, length, axis, fits):
            return True
    return False


@jit(apart=True)
def has_place(state, tables, work, length):
    """Is there a legal place for the only block in hand, or the last? The construction stands."""
    if tables["may_fall"]:
        return fits_somewhere(state, tables, work, length)
    free, fits = work["free"][2], work["second_fits"]
    find_free(state, tables, free)
    highest = np.int64(state["highest"])
    for axis in _ORDER:
        find_fits(state, free, length, axis, fits)
        for z in range(min(highest + 1, HEIGHT)):
            for y in range(WIDTH):
                word = np.uint64(fits[z, y])
                while word:
                    x = lowest(word)
                    word = drop_lowest(word)
                    if z == 0:
                        return True
                    block = put_block(state, length, axis, x, y, z)
                    code = judge(state, work, block, False)
                    drop_block(state, highest)
                    if code > 0:
                        return True
    return False


@jit(apart=True)
def may_be_first(state, tables, work, length, other_length, place):
    """Is a place (axis, x, y, z) where the block fits legal for the first of two? (B3 (21), B4)"""
    axis, x, y, z = place
    highest = np.int64(state["highest"])
    if not tables["may_fall"] and (z == 0 or _is_carried(state, length, axis, x, y, z)):
        if _has_sure_beside(state, tables, work, other_length, length, place):
            return True
    if not tables["may_fall"]:
        find_sure(state, tables, work, other_length)  # before the block is there
    block = put_block(state, length, axis, x, y, z)
    code = judge(state, work, block, not tables["may_fall"])
    if tables["may_fall"]:
        is_legal = code < 0 or fits_somewhere(state, tables, work, other_length)
    elif code < 0:
        is_legal = find_savers(state, tables, work, block, other_length, False) > 0
    elif _has_sure_beside(state, tables, work, other_length, length, place):
        is_legal = True
    else:
        is_legal = has_place(state, tables, work, other_length)
    drop_block(state, highest)
    return is_legal


@jit(apart=True)
def _has_first(state, tables, work, length, other_length):
    """Is there a legal place for the first of two?"""
    free, fits = work["free"][1], work["first_fits"]
    find_free(state, tables, free)
    for axis in _ORDER:
        find_fits(state, free, length, axis, fits)
        for z in range(HEIGHT):
            for y in range(WIDTH):
                word = np.uint64(fits[z, y])
                while word:
                    x = lowest(word)
                    word = drop_lowest(word)
                    if tables["may_fall"]:
                        if _leaves_room(state, tables, work, length, other_length, (axis, x, y, z)):
                            return True
                    elif may_be_first(state, tables, work, length, other_length, (axis, x, y, z)):
                        return True
    return False


@jit
def _leaves_room(state, tables, work, length, other_length, place):
    axis, x, y, z = place
    highest = np.int64(state["highest"])
    put_block(state, length, axis, x, y, z)
    has_room = fits_somewhere(state, tables, work, other_length)
    drop_block(state, highest)
    return has_room


@jit(apart=True)
def has_places(state, tables, work, larger, smaller):
    """Can these blocks (the second may be 0) all be placed, in some order, the pawns where they stand? (B5)"""
    if smaller == 0:
        return has_place(state, tables, work, larger)
    if not tables["may_fall"]:
        find_sure(state, tables, work, larger)
        for k in range(work["num_sure"][larger]):
            sure = work["sure"][larger, k]
            if _has_sure_beside(state, tables, work, smaller, larger, (sure[0], sure[1], sure[2], sure[3])):
                return True
    if _has_first(state, tables, work, larger, smaller):
        return True
    return larger != smaller and _has_first(state, tables, work, smaller, larger)


@jit(apart=True)
def is_offered(state, tables, work, larger, smaller):
    """Is this choice of blocks left, and can they be placed? (D1, B5)"""
    if state["stock"][larger] < 1 + (larger == smaller) or (smaller and state["stock"][smaller] < 1):
        return False
    return has_places(state, tables, work, larger, smaller)


# ---- the placement that is due


@jit(inline=True)
def other_in_hand(state, length):
    """The length of the other block in hand, 0 if there is none."""
    larger, smaller = np.int64(state["hand"][0]), np.int64(state["hand"][1])
    return smaller if larger == length else larger


@jit(apart=True)
def may_place(state, tables, work, length, place):
    """Is a place (axis, x, y, z) where the block fits legal now?"""
    other = other_in_hand(state, length)
    if other:
        return may_be_first(state, tables, work, length, other, place)
    if tables["may_fall"]:  # B4
        return True
    axis, x, y, z = place
    highest, first = np.int64(state["highest"]), np.int64(state["num_blocks"])
    block = put_block(state, length, axis, x, y, z)
    code = judge_two(state, work, block, first) if state["falling"] else judge(state, work, block, False)
    drop_block(state, highest)
    return code > 0


@jit(apart=True)
def find_all_savers(state, tables, work, length):
    """Write all places for the second block that save the first to `fits`; returns how many."""
    first = np.int64(state["num_blocks"])
    judge(state, work, first, True)
    return find_savers(state, tables, work, first, length, True)


@jit(apart=True)
def keep_legal(state, tables, work, length, axis):
    """Of the places in `fits` for that axis, keep the legal ones; returns how many."""
    total = 0
    for z in range(HEIGHT):
        for y in range(WIDTH):
            word = np.uint64(work["fits"][axis, z, y])
            while word:
                x = lowest(word)
                word = drop_lowest(word)
                if may_place(state, tables, work, length, (axis, x, y, z)):
                    total += 1
                else:
                    work["fits"][axis, z, y] &= ~np.int32(1 << x)
    return total


@jit(apart=True)
def find_places(state, tables, work, length, axis):
    """Write the legal least cells for a block of the hand to `fits` for that axis; returns how many."""
    if state["falling"] and not tables["may_fall"]:
        find_all_savers(state, tables, work, length)
        total = 0
        for z in range(HEIGHT):
            for y in range(WIDTH):
                total += popcount(np.uint64(work["fits"][axis, z, y]))
        return total
    find_free(state, tables, work["free"][0])
    total = find_fits(state, work["free"][0], length, axis, work["fits"][axis])
    if total == 0 or (tables["may_fall"] and other_in_hand(state, length) == 0):
        return total
    return keep_legal(state, tables, work, length, axis)


@jit(apart=True)
def has_pick(state, tables, work, length, axis):
    """Does a legal cell follow this pick?"""
    if state["falling"] and not tables["may_fall"]:
        return find_places(state, tables, work, length, axis) > 0
    find_free(state, tables, work["free"][0])
    find_fits(state, work["free"][0], length, axis, work["fits"][axis])
    for z in range(HEIGHT):
        for y in range(WIDTH):
            word = np.uint64(work["fits"][axis, z, y])
            while word:
                if may_place(state, tables, work, length, (axis, lowest(word), y, z)):
                    return True
                word = drop_lowest(word)
    return False
