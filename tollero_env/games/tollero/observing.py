"""Positions of Tollero as arrays: what one player may know, own things first, then the others in turn order.

`show` writes into zeros; `follow` brings up to date what it wrote before the last move, touching only what changed.
`view` is the side of the view; 0 stands for slots: rows of tiles in the order in which they were laid.
"""

import numpy as np

from tollero_env.bits import ONE, ZERO, drop_lowest, equal16, lowest, popcount
from tollero_env.games.tollero.constants import (
    ANYWHERE,
    BUILD,
    DOWNTOWN_TILES,
    FIRST_CITY,
    MIDDLE,
    NO_TILE,
    OVER,
    STEPS,
    WIDTH,
)
from tollero_env.games.tollero.features import (
    N_CANALS,
    N_FLOORS,
    N_FOUNTAINS,
    N_HAND,
    N_HOLDS,
    N_JETS,
    N_OPEN,
    N_PILE,
    N_SCORES,
    N_TO_ACT,
    N_UNSEEN,
    N_VALUE,
    NUM_FEATURES,
    NUM_FIRST,
    NUM_NUMBERS,
    NUM_PLANES,
    P_CANALS,
    P_FOUNTAINS,
    P_JETS,
    P_OPEN,
    P_ORIGIN,
    P_VALUE,
    R_AT,
    ROW_SHIFT,
)
from tollero_env.games.tollero.rules import totals
from tollero_env.jit import jit

TORUS = 64  # the view of the whole table

# What `follow` must know of the observation before, by place in its memory.
OBSERVER, ORIGIN, GONE = 0, 1, 2


@jit(inline=True)
def place_in_view(cell, view):
    """Index of a cell in a view, -1 if it is outside."""
    x, y = cell % WIDTH - MIDDLE, cell // WIDTH - MIDDLE
    if view == TORUS:
        return (y & (TORUS - 1)) * TORUS + (x & (TORUS - 1))
    half = view >> 1
    if x < -half or x > half or y < -half or y > half:
        return -1
    return (y + half) * view + x + half


@jit(inline=True)
def _relative(seat, player, players):
    """How many turns after the observer that seat comes."""
    return seat - player if seat >= player else seat - player + players


# ---- the numbers beside the table


@jit(inline=True)
def _show_first(state, tables, player, out):
    """Write all numbers but the unseen tiles."""
    for k in range(NUM_FIRST):
        out[k] = 0
    players = np.int64(state["num_players"])
    out[np.int64(state["stage"])] = 1
    if state["stage"] != OVER:
        out[N_TO_ACT + _relative(np.int64(state["player"]), player, players)] = 1
    points = totals(state, tables)
    for seat in range(players):
        place = _relative(seat, player, players)
        out[N_FLOORS + place] = state["floors_left"][seat]
        out[N_SCORES + place] = points[seat]
        out[N_HOLDS + place] = state["hand"][seat] != NO_TILE
    out[N_PILE] = state["num_pile"]
    face = np.int64(state["hand"][player])
    if face == NO_TILE:
        return
    out[N_HAND] = face - FIRST_CITY + 1
    out[N_VALUE] = tables["value"][face]
    for k in range(4):
        out[N_CANALS + k] = (np.int64(tables["canals"][face * 4]) >> k) & 1
        out[N_OPEN + k] = (np.int64(tables["foundations"][face * 4]) >> k) & 1
        out[N_FOUNTAINS + k] = (np.int64(tables["fountains"][face * 4]) >> (8 * k)) & 255
        out[N_JETS + k] = (np.int64(tables["jets"][face * 4]) >> (2 * k)) & 3


@jit(inline=True)
def _see(face, out):
    out[N_UNSEEN + face - FIRST_CITY] -= 1


@jit(inline=True)
def show_numbers(state, tables, player, out):
    """Write the NUM_NUMBERS numbers."""
    _show_first(state, tables, player, out)
    out[N_UNSEEN:] = 0
    # all copies, less those on the table, gone, or in the own hand
    for face in range(FIRST_CITY, np.int64(tables["num_faces"])):
        out[N_UNSEEN + face - FIRST_CITY] = popcount(tables["copies"][face])
    for slot in range(1 + DOWNTOWN_TILES, np.int64(state["num_tiles"])):
        _see(np.int64(state["face"][slot]), out)
    for k in range(np.int64(state["num_gone"])):
        _see(np.int64(state["gone"][k]), out)
    if state["hand"][player] != NO_TILE:
        _see(np.int64(state["hand"][player]), out)


@jit(inline=True)
def _follow_numbers(state, tables, player, move, gone, out):
    """The same after a move, from the numbers before it; so many tiles were gone then."""
    if out[N_HAND]:  # the hand that was shown is no longer looked at
        out[N_UNSEEN + np.int64(out[N_HAND]) - 1] += 1
    if move < BUILD:
        _see(np.int64(state["face"][np.int64(state["num_tiles"]) - 1]), out)
    for k in range(gone, np.int64(state["num_gone"])):
        _see(np.int64(state["gone"][k]), out)
    if state["hand"][player] != NO_TILE:
        _see(np.int64(state["hand"][player]), out)
    _show_first(state, tables, player, out)


# ---- tiles. What is known of one stands `step` apart from index `base` on: planes, or one row.


@jit(inline=True)
def _base_of(state, slot, view):
    """Where what is known of a tile begins, -1 if the view does not show it."""
    if view:
        return place_in_view(np.int64(state["cell"][slot]), view)
    return slot * (NUM_FEATURES + 4 * np.int64(state["num_players"])) + ROW_SHIFT


@jit(inline=True)
def _step_of(view):
    return view * view if view else 1


@jit(inline=True)
def _show_building(state, player, slot, lot, out, base, step):
    """The height of the building on a lot, in the place of its owner; returns that place."""
    building = np.int64(state["building"][slot, lot])
    place = _relative(building >> 5, player, np.int64(state["num_players"]))
    out[base + (NUM_PLANES + 4 * place + lot) * step] = building & 31


@jit(inline=True)
def _show_fountains(state, slot, out, base, step):
    fountains = np.int64(state["fountains"][slot])
    for lot in range(4):
        out[base + (P_FOUNTAINS + lot) * step] = (fountains >> (8 * lot)) & 255


@jit(inline=True)
def _show_tile(state, tables, player, slot, view, out):
    """All that is known of one tile but whether the pending Floor is counted from it."""
    base, step = _base_of(state, slot, view), _step_of(view)
    if base < 0:
        return
    tile = np.int64(state["face"][slot]) * 4 + np.int64(state["rotation"][slot])
    if view:
        out[base] = 1
    else:
        cell = np.int64(state["cell"][slot])
        out[base - ROW_SHIFT] = 1
        out[base - ROW_SHIFT + R_AT] = cell % WIDTH - MIDDLE
        out[base - ROW_SHIFT + R_AT + 1] = cell // WIDTH - MIDDLE
    out[base + P_VALUE * step] = state["value"][slot]
    canals, jets = np.int64(tables["canals"][tile]), np.int64(state["jets"][slot])
    for k in range(4):
        out[base + (P_CANALS + k) * step] = (canals >> k) & 1
        out[base + (P_OPEN + k) * step] = (state["open_lots"][k] >> np.uint64(slot)) & ONE
        if state["building"][slot, k]:
            _show_building(state, player, slot, k, out, base, step)
    if jets:
        for k in range(4):
            out[base + (P_JETS + k) * step] = (jets >> (2 * k)) & 3
    if state["fountains"][slot]:
        _show_fountains(state, slot, out, base, step)


@jit(inline=True)
def _show_origin(state, origin, view, out, value):
    """Mark or clear the tile from which the pending Floor is counted."""
    if origin != ANYWHERE:
        base = _base_of(state, origin, view)
        if base >= 0:
            out[base + P_ORIGIN * _step_of(view)] = value


@jit(inline=True)
def show(state, tables, player, view, out, numbers):
    """What that player may know: the tiles into an array of zeros, and the numbers."""
    for slot in range(np.int64(state["num_tiles"])):
        _show_tile(state, tables, player, slot, view, out)
    _show_origin(state, np.int64(state["origin"]), view, out, 1)
    show_numbers(state, tables, player, numbers)


@jit(inline=True)
def remember(state, player, memory):
    """Note what `follow` must know of the observation just written."""
    memory[OBSERVER] = player
    memory[ORIGIN] = state["origin"]
    memory[GONE] = state["num_gone"]


@jit(inline=True)
def slot_at(state, cell):
    """The slot of the tile on a cell, -1 if none lies there."""
    found = equal16(state["cell"], 0, cell)
    return lowest(found) if found else -1


@jit(inline=True)
def _follow_lay(state, tables, player, view, out):
    """The last tile, and its fountains that point at its neighbours (M5)."""
    slot = np.int64(state["num_tiles"]) - 1
    _show_tile(state, tables, player, slot, view, out)
    for side in range(4):
        if (np.int64(state["jets"][slot]) >> (2 * side)) & 3:
            other = slot_at(state, np.int64(state["cell"][slot]) + STEPS[side])
            if other >= 0:
                base = _base_of(state, other, view)
                if base >= 0:
                    _show_fountains(state, other, out, base, _step_of(view))


@jit(inline=True)
def _follow_build(state, player, move, view, out):
    slot, lot = (move - BUILD) >> 2, (move - BUILD) & 3
    base, step = _base_of(state, slot, view), _step_of(view)
    if base >= 0:
        out[base + (P_OPEN + lot) * step] = 0
        _show_building(state, player, slot, lot, out, base, step)


@jit(inline=True)
def _turn_round(state, before, player, view, out):
    """Another player looks on: every building moves to another place."""
    players, step = np.int64(state["num_players"]), _step_of(view)
    for seat in range(players):
        old, new = _relative(seat, before, players), _relative(seat, player, players)
        for lot in range(4):
            lots = state["own_lots"][seat, lot]
            while lots != ZERO:
                slot = lowest(lots)
                lots = drop_lowest(lots)
                base = _base_of(state, slot, view)
                if base >= 0:
                    out[base + (NUM_PLANES + 4 * old + lot) * step] = 0
                    out[base + (NUM_PLANES + 4 * new + lot) * step] = np.int64(state["building"][slot, lot]) & 31


@jit(inline=True)
def follow(state, tables, player, view, move, memory, out, numbers):
    """Bring the arrays up to date after one move of any player, and the memory too."""
    before = np.int64(memory[OBSERVER])
    _show_origin(state, np.int64(memory[ORIGIN]), view, out, 0)
    _show_origin(state, np.int64(state["origin"]), view, out, 1)
    if move < BUILD:
        _follow_lay(state, tables, before, view, out)
    else:
        _follow_build(state, before, move, view, out)
    if before != player:
        _turn_round(state, before, player, view, out)
    _follow_numbers(state, tables, player, move, np.int64(memory[GONE]), numbers)
    remember(state, player, memory)


# ---- the one array of the envs: tiles first, then a tail made of the numbers


@jit(inline=True)
def _fill(out, k, area, value, fresh):
    """Write a constant plane, unless it holds that number already."""
    value = min(127, max(-128, value))
    if fresh or out[k * area] != value:
        out[k * area : (k + 1) * area] = value


@jit(inline=True)
def show_tail(tables, view, numbers, out, fresh):
    """Slots: the numbers. Planes: constant planes, the numbers in short; if not `fresh`, those that have changed."""
    if not view:
        for k in range(NUM_NUMBERS):
            out[k] = numbers[k]
        return
    area = view * view
    for k in range(NUM_FIRST):
        _fill(out, k, area, np.int64(numbers[k]), fresh)
    values, canals = ZERO, ZERO  # four counts of 16 bits each
    for face in range(FIRST_CITY, np.int64(tables["num_faces"])):
        unseen = np.uint64(numbers[N_UNSEEN + face - FIRST_CITY])
        value = min(max(np.int64(tables["value"][face]), 1), 4) - 1
        values += unseen << np.uint64(16 * value)
        num_canals = max(popcount(np.uint64(tables["canals"][face * 4])), 1) - 1
        canals += unseen << np.uint64(16 * num_canals)
    for k in range(4):
        _fill(out, NUM_FIRST + k, area, np.int64(values >> np.uint64(16 * k)) & 0xFFFF, fresh)
        _fill(out, NUM_FIRST + 4 + k, area, np.int64(canals >> np.uint64(16 * k)) & 0xFFFF, fresh)
