"""The exact solver of statics.py: are there forces that balance every block of the part? A dense simplex, phase one.

Unknowns are forces at the corners of contacts (all other points lie between them); where an end leans (20), each
corner counts a second time, shifted for the block that leans. Three equations a block: force, and moments about its
centre of weight. Blocks that rest in one place alone, under a load that is known, are worked out beforehand.
"""

import numpy as np

from tollero_env.games.talo.constants import ALONG_X, BALANCED, DELTA
from tollero_env.games.talo.grid import reach_of
from tollero_env.jit import jit

_TINY = 1e-9  # as good as zero in the last row of the table
_LEAST_PIVOT, _SLACK = 1e-7, 1e-11
_ROUNDS = 6  # fresh starts from the basis that was reached, if too many digits were lost
_PATIENCE = 40  # steps without progress before the rule that cannot go in circles


@jit
def _centre(state, work, k):
    block = work["part"][k]
    wide, deep, _ = reach_of(np.int64(state["length"][block]), np.int64(state["axis"][block]))
    return np.int64(state["x"][block]) + wide / 2, np.int64(state["y"][block]) + deep / 2


@jit(apart=True)
def _peel(state, work):
    """Hand on the loads that can only go one way; returns how many blocks are left."""
    left = 0
    for k in range(work["size"]):
        load = np.float64(state["length"][work["part"][k]])
        x, y = _centre(state, work, k)
        work["weight"][k], work["weight_x"][k], work["weight_y"][k] = load, load * x, load * y
        work["is_sure"][k] = 1
    for k in range(work["size"]):
        c, end = work["first"][k], work["first"][k + 1]
        is_leaning = work["lean_low"][k] + work["lean_high"][k] > 0
        work["is_peeled"][k] = work["is_sure"][k] == 1 and end - c == 1 and not is_leaning
        if work["is_peeled"][k]:
            lower = work["lower"][c]
            if lower >= 0:
                work["weight"][lower] += work["weight"][k]
                work["weight_x"][lower] += work["weight_x"][k]
                work["weight_y"][lower] += work["weight_y"][k]
            continue
        work["row"][k] = 3 * left
        left += 1
        for one in range(c, end):
            if work["lower"][one] >= 0:
                work["is_sure"][work["lower"][one]] = 0
    return left


@jit
def _count_columns(work):
    n = 0
    for k in range(work["size"]):
        if not work["is_peeled"][k]:
            ends = work["lean_low"][k] + work["lean_high"][k]
            n += 4 * (work["first"][k + 1] - work["first"][k]) * (1 + ends)
    return n


@jit
def _set_columns(state, work, k, table, n):
    """The forces below block k, from column n on; returns the next column."""
    x, y = _centre(state, work, k)
    row = work["row"][k]
    is_x = state["axis"][work["part"][k]] == ALONG_X
    for c in range(work["first"][k], work["first"][k + 1]):
        lower = work["lower"][c]
        for shift in range(-1, 2):
            if (shift < 0 and not work["lean_low"][k]) or (shift > 0 and not work["lean_high"][k]):
                continue
            along = 2 * DELTA * shift
            for corner in range(4):
                i = work["high_x"][c] if corner & 1 else work["low_x"][c]
                j = work["high_y"][c] if corner & 2 else work["low_y"][c]
                table[row, n] = 1.0
                table[row + 1, n] = i - x + (along if is_x else 0.0)
                table[row + 2, n] = j - y + (0.0 if is_x else along)
                if lower >= 0:
                    u, v = _centre(state, work, lower)
                    below = work["row"][lower]
                    table[below, n], table[below + 1, n], table[below + 2, n] = -1.0, u - i, v - j
                n += 1
    return n


@jit(apart=True)
def _fill_table(state, work, table, signs, num_rows, num_columns):
    """All equations, each with a right side that is not negative; the last row is what is still unbalanced."""
    n = 0
    for k in range(work["size"]):
        if not work["is_peeled"][k]:
            x, y = _centre(state, work, k)
            row, load = work["row"][k], work["weight"][k]
            n = _set_columns(state, work, k, table, n)
            table[row, -1] = load
            table[row + 1, -1] = work["weight_x"][k] - load * x
            table[row + 2, -1] = work["weight_y"][k] - load * y
    for row in range(num_rows):
        signs[row] = 1.0
        if table[row, -1] < 0:
            signs[row] = -1.0
            for j in range(table.shape[1]):
                table[row, j] = -table[row, j]
        for j in range(num_columns):
            table[num_rows, j] -= table[row, j]
        table[num_rows, -1] -= table[row, -1]


@jit
def _entering(table, num_rows, num_columns, is_careful):
    """The column that helps most, or, carefully, the first that helps; -1 if none does."""
    best, least = -1, -_TINY
    for j in range(num_columns):
        if table[num_rows, j] < least:
            best, least = j, table[num_rows, j]
            if is_careful:
                return j
    return best


@jit
def _leaving(table, basis, num_rows, column, is_careful):
    """The row that limits the column, -1 if none does. Of several the largest pivot, which loses fewest digits."""
    limit = np.inf
    for row in range(num_rows):
        if table[row, column] > _LEAST_PIVOT:
            limit = min(limit, (table[row, -1] + _SLACK) / table[row, column])
    best = -1
    for row in range(num_rows):
        pivot = table[row, column]
        if pivot <= _LEAST_PIVOT or table[row, -1] > limit * pivot:
            continue
        if best < 0 or (basis[row] < basis[best] if is_careful else pivot > table[best, column]):
            best = row
    return best


@jit(apart=True)
def _pivot(table, num_rows, row, column):
    width = table.shape[1]
    scale = 1.0 / table[row, column]
    for j in range(width):
        table[row, j] *= scale
    for i in range(num_rows + 1):
        factor = table[i, column]
        if i != row and factor != 0.0:
            for j in range(width):
                table[i, j] -= factor * table[row, j]
            table[i, column] = 0.0


@jit(apart=True)
def _minimise(table, basis, num_rows, num_columns):
    """Make what is unbalanced as small as possible."""
    stalled, before = 0, np.inf
    while -table[num_rows, -1] > BALANCED * 1e-2:
        is_careful = stalled > _PATIENCE
        column = _entering(table, num_rows, num_columns, is_careful)
        if column < 0:
            break
        row = _leaving(table, basis, num_rows, column, is_careful)
        if row < 0:
            break
        basis[row] = column
        _pivot(table, num_rows, row, column)
        for k in range(num_rows):
            table[k, -1] = max(table[k, -1], 0.0)
        now = -table[num_rows, -1]
        stalled, before = (0, now) if now < before - 1e-12 else (stalled + 1, before)
    return -table[num_rows, -1]


@jit(apart=True)
def _imbalance(fresh, table, basis, num_rows, num_columns):
    """What the forces found really leave unbalanced, by the equations as they were."""
    total = 0.0
    for row in range(num_rows):
        rest = fresh[row, -1]
        for k in range(num_rows):
            if basis[k] < num_columns:
                rest -= fresh[row, basis[k]] * table[k, -1]
        total += abs(rest)
    return total


@jit
def _copy_table(table, out):
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            out[i, j] = table[i, j]


@jit(apart=True)
def _start_anew(fresh, table, basis, num_rows, num_columns):
    """The table of the basis that was reached, worked out from the equations as they were."""
    is_done, wanted = np.zeros(num_rows, np.bool_), np.empty(num_rows, np.int64)
    _copy_table(fresh, table)
    for row in range(num_rows):
        wanted[row], basis[row] = basis[row], num_columns + row
    for k in range(num_rows):
        column, best = wanted[k], -1
        if column >= num_columns:
            continue
        for row in range(num_rows):
            if not is_done[row] and (best < 0 or abs(table[row, column]) > abs(table[best, column])):
                best = row
        if best >= 0 and abs(table[best, column]) > _LEAST_PIVOT:
            _pivot(table, num_rows, best, column)
            basis[best], is_done[best] = column, True
    for row in range(num_rows):
        table[row, -1] = max(table[row, -1], 0.0)


@jit(apart=True)
def _note_fall(state, work, table, signs, num_columns, left_over):
    """How fast each block sets off, out of the prices of the equations."""
    for k in range(work["size"] - 1, -1, -1):
        if work["is_peeled"][k]:  # it goes with what it rests on
            lower = work["lower"][work["first"][k]]
            for j in range(3):
                work["fall"][k, j] = work["fall"][lower, j] if lower >= 0 else 0.0
            continue
        row, last = work["row"][k], table.shape[0] - 1
        x, y = _centre(state, work, k)
        force = (table[last, num_columns + row] - 1.0) * signs[row]
        about_x = (table[last, num_columns + row + 1] - 1.0) * signs[row + 1]
        about_y = (table[last, num_columns + row + 2] - 1.0) * signs[row + 2]
        work["fall"][k, 0] = force - about_x * x - about_y * y
        work["fall"][k, 1], work["fall"][k, 2] = about_x, about_y
    work["drop"] = left_over
    work["has_fall"] = 1


@jit(apart=True)
def solve(state, work, certify):
    """Can every block of the part be balanced? If not, and `certify`, how it falls is noted."""
    num_rows = 3 * _peel(state, work)
    num_columns = _count_columns(work)
    spare = num_rows if certify else 0
    table = np.zeros((num_rows + 1, num_columns + spare + 1))
    signs = np.empty(num_rows)
    basis = np.empty(num_rows, np.int64)
    _fill_table(state, work, table, signs, num_rows, num_columns)
    for row in range(num_rows):
        basis[row] = num_columns + row
        if certify:
            table[row, num_columns + row] = 1.0
    fresh = np.empty(table.shape)
    _copy_table(table, fresh)
    left_over = 0.0
    for _ in range(_ROUNDS):
        left_over = _minimise(table, basis, num_rows, num_columns)
        real = _imbalance(fresh, table, basis, num_rows, num_columns)
        if abs(real - left_over) < BALANCED / 2:
            break
        _start_anew(fresh, table, basis, num_rows, num_columns)
    if left_over < BALANCED:
        return True
    if certify:
        _note_fall(state, work, table, signs, num_columns, left_over)
    return False
