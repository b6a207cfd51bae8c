"""Moves of Tollero as actions, both ways, and which of them are legal. `view` is its side; 0 stands for slots."""

import numpy as np

from tollero_env.bits import ONE, drop_lowest, lowest
from tollero_env.game import STEP_HIDDEN, STEP_OVER
from tollero_env.games.tollero.constants import (
    BUILD,
    CELLS,
    EXPAND,
    MAX_TILES,
    MIDDLE,
    NO_ENTRY,
    OVER,
    STEPS,
    WIDTH,
)
from tollero_env.games.tollero.observing import TORUS, place_in_view, slot_at
from tollero_env.games.tollero.rules import find_entry, find_targets, fitting_entries, legal_lots
from tollero_env.jit import jit

ILLEGAL = -1
NUM_SLOT_ACTIONS = 20 * MAX_TILES
LAY_SLOTS = 4 * MAX_TILES  # slots: laying is numbered behind building


@jit(inline=True)
def _fitting_turns(state, tables, half):
    """For each rotation of the tile in hand the word of edge entries where it may be laid, of one half of the edge."""
    tile = np.int64(state["hand"][np.int64(state["player"])]) * 4
    return (
        fitting_entries(state, tables, tile, half),
        fitting_entries(state, tables, tile + 1, half),
        fitting_entries(state, tables, tile + 2, half),
        fitting_entries(state, tables, tile + 3, half),
    )


@jit(inline=True)
def _legal_by_lot(state):
    """For each lot the word of tiles on which the pending Floor may go there."""
    targets = find_targets(state)
    return (
        legal_lots(state, targets, 0),
        legal_lots(state, targets, 1),
        legal_lots(state, targets, 2),
        legal_lots(state, targets, 3),
    )


@jit(inline=True)
def _any_of(words):
    return words[0] | words[1] | words[2] | words[3]


@jit(inline=True)
def _mark_four(mask, first, step, k, words):
    """Write bit k of four words to `first` and each `step` behind it, without a branch; returns how many are set."""
    shift = np.uint64(k)
    a, b, c, d = (
        (words[0] >> shift) & ONE,
        (words[1] >> shift) & ONE,
        (words[2] >> shift) & ONE,
        (words[3] >> shift) & ONE,
    )
    mask[first] = a
    mask[first + step] = b
    mask[first + 2 * step] = c
    mask[first + 3 * step] = d
    return np.int64(a + b + c + d)


@jit(inline=True)
def _num_halves(state):
    """Halves of the edge in use."""
    return 2 if state["num_edge"] > 64 else 1


# ---- planes


@jit(inline=True)
def _mark_planes(state, tables, view, mask):
    """Set the legal actions of the player to act; returns how many the view offers."""
    n = 0
    area = view * view
    if state["stage"] == EXPAND:
        for half in range(_num_halves(state)):
            words = _fitting_turns(state, tables, half)
            rest = _any_of(words)
            while rest:
                entry = lowest(rest)
                rest = drop_lowest(rest)
                place = place_in_view(np.int64(state["edge_cell"][half * 64 + entry]), view)
                if place >= 0:
                    n += _mark_four(mask, place, area, entry, words)
    elif state["stage"] != OVER:
        words = _legal_by_lot(state)
        rest = _any_of(words)
        while rest:
            slot = lowest(rest)
            rest = drop_lowest(rest)
            place = place_in_view(np.int64(state["cell"][slot]), view)
            if place >= 0:
                n += _mark_four(mask, 4 * area + place, area, slot, words)
    return n


@jit(inline=True)
def _cell_in_view(place, view):
    """The cell at an index of a view that is not the torus."""
    half = view >> 1
    return (place // view - half + MIDDLE) * WIDTH + place % view - half + MIDDLE


@jit(inline=True)
def _slot_in_view(state, place, view):
    """The slot of the tile at an index of the view, -1 if none lies there."""
    if view != TORUS:
        return slot_at(state, _cell_in_view(place, view))
    for slot in range(np.int64(state["num_tiles"])):
        if place_in_view(np.int64(state["cell"][slot]), view) == place:
            return slot
    return -1


@jit(inline=True)
def _edge_in_view(state, place, view):
    """The cell at an index of the view; on the torus the one beside the city, -1 if there is none."""
    if view != TORUS:
        return _cell_in_view(place, view)
    for entry in range(np.int64(state["num_edge"])):
        if place_in_view(np.int64(state["edge_cell"][entry]), view) == place:
            return np.int64(state["edge_cell"][entry])
    return -1


@jit(inline=True)
def _planes_move(state, view, action):
    """The move of an action, ILLEGAL if there is none such; it need not be legal."""
    area = view * view
    if action < 0 or action >= 8 * area:
        return ILLEGAL
    plane, place = action // area, action % area
    if plane >= 4:
        slot = _slot_in_view(state, place, view)
        return BUILD + 4 * slot + plane - 4 if slot >= 0 else ILLEGAL
    cell = _edge_in_view(state, place, view)
    return plane * CELLS + cell if cell >= 0 else ILLEGAL


@jit(inline=True)
def _planes_action(state, view, move):
    """The action of a legal move, ILLEGAL if the view does not show it."""
    if move >= BUILD:
        plane, cell = 4 + ((move - BUILD) & 3), np.int64(state["cell"][(move - BUILD) >> 2])
    else:
        plane, cell = move // CELLS, move % CELLS
    place = place_in_view(cell, view)
    return plane * view * view + place if place >= 0 else ILLEGAL


# ---- slots


@jit(inline=True)
def _entry_name(state, entry):
    """4 * slot + side of the lowest slot beside an edge cell."""
    slots = np.int64(state["edge_slots"][entry])
    best = 4 * MAX_TILES
    for side in range(4):  # a byte is 1 + slot; 0, for none, becomes the highest of all
        best = min(best, 4 * (((slots >> (8 * side)) - 1) & 255) + (side ^ 2))
    return best


@jit(inline=True)
def _mark_slots(state, tables, mask):
    """Set the legal actions of the player to act; returns how many."""
    n = 0
    if state["stage"] == EXPAND:
        for half in range(_num_halves(state)):
            words = _fitting_turns(state, tables, half)
            rest = _any_of(words)
            while rest:
                entry = lowest(rest)
                rest = drop_lowest(rest)
                n += _mark_four(mask, LAY_SLOTS + 4 * _entry_name(state, half * 64 + entry), 1, entry, words)
    elif state["stage"] != OVER:
        words = _legal_by_lot(state)
        rest = _any_of(words)
        while rest:
            slot = lowest(rest)
            rest = drop_lowest(rest)
            n += _mark_four(mask, 4 * slot, 1, slot, words)
    return n


@jit(inline=True)
def _slots_move(state, action):
    """The move of an action, ILLEGAL if there is none such; it need not be legal."""
    if action < 0 or action >= NUM_SLOT_ACTIONS:
        return ILLEGAL
    if action < LAY_SLOTS:
        return BUILD + action
    slot, side, rotation = (action - LAY_SLOTS) >> 4, ((action - LAY_SLOTS) >> 2) & 3, action & 3
    if slot >= np.int64(state["num_tiles"]):
        return ILLEGAL
    cell = np.int64(state["cell"][slot]) + STEPS[side]
    entry = find_entry(state, cell)
    if entry >= NO_ENTRY or _entry_name(state, entry) != 4 * slot + side:  # one name a cell
        return ILLEGAL
    return rotation * CELLS + cell


@jit(inline=True)
def _slots_action(state, move):
    """The action of a legal move."""
    if move >= BUILD:
        return move - BUILD
    return LAY_SLOTS + 4 * _entry_name(state, find_entry(state, move % CELLS)) + move // CELLS


# ---- either


@jit(inline=True)
def move_of(state, view, action):
    """The move that an action stands for, ILLEGAL if it stands for none; it need not be legal."""
    return _planes_move(state, view, action) if view else _slots_move(state, action)


@jit(inline=True)
def action_of(state, view, move):
    """The action of a legal move, ILLEGAL if the view does not show it."""
    return _planes_action(state, view, move) if view else _slots_action(state, move)


@jit(inline=True)
def mark(state, tables, view, mask):
    """Set the legal actions of the player to act in an array of zeros; returns how many there are."""
    return _mark_planes(state, tables, view, mask) if view else _mark_slots(state, tables, mask)


@jit(inline=True)
def unmark(state, view, mask):
    """Clear what `mark` set for this position."""
    area, tiles = view * view, np.int64(state["num_tiles"])
    if state["stage"] == EXPAND:
        first, end = (0, 4 * area) if view else (LAY_SLOTS, LAY_SLOTS + 16 * tiles)
    else:
        first, end = (4 * area, 8 * area) if view else (0, 4 * tiles)
    mask[first:end] = 0


@jit(inline=True)
def _offers(state, tables, view):
    """Does the view show a legal move?"""
    if state["stage"] == EXPAND:
        for half in range(_num_halves(state)):
            entries = _any_of(_fitting_turns(state, tables, half))
            while entries:
                if place_in_view(np.int64(state["edge_cell"][half * 64 + lowest(entries)]), view) >= 0:
                    return True
                entries = drop_lowest(entries)
        return False
    lots = _any_of(_legal_by_lot(state))
    while lots:
        if place_in_view(np.int64(state["cell"][lowest(lots)]), view) >= 0:
            return True
        lots = drop_lowest(lots)
    return False


@jit(inline=True)
def status(state, tables, view):
    """The seat to act; STEP_OVER once the game is over, STEP_HIDDEN if the view hides every legal move."""
    if state["over"]:
        return STEP_OVER
    if view and not _offers(state, tables, view):
        return STEP_HIDDEN
    return np.int64(state["player"])
