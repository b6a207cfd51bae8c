"""Moves of Tollero as actions, both ways, and which of them are legal. `view` is its side; 0 stands for slots."""

import numpy as np

from tollero_env.bits import drop_lowest, lowest
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

# ---- planes


@jit(inline=True)
def _mark_planes(state, tables, view, mask):
    """Set the legal actions of the player to act; returns how many the view offers."""
    n = 0
    area = view * view
    if state["stage"] == EXPAND:
        face = np.int64(state["hand"][np.int64(state["player"])])
        for rotation in range(4):
            for half in range(2):
                entries = fitting_entries(state, tables, face * 4 + rotation, half)
                while entries:
                    cell = np.int64(state["edge_cell"][half * 64 + lowest(entries)])
                    entries = drop_lowest(entries)
                    place = place_in_view(cell, view)
                    if place >= 0:
                        mask[rotation * area + place] = 1
                        n += 1
    elif state["stage"] != OVER:
        targets = find_targets(state)
        for lot in range(4):
            lots = legal_lots(state, targets, lot)
            while lots:
                place = place_in_view(np.int64(state["cell"][lowest(lots)]), view)
                lots = drop_lowest(lots)
                if place >= 0:
                    mask[(4 + lot) * area + place] = 1
                    n += 1
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
    for side in range(4):
        slot = ((slots >> (8 * side)) & 255) - 1
        if slot >= 0 and 4 * slot + (side ^ 2) < best:
            best = 4 * slot + (side ^ 2)
    return best


@jit(inline=True)
def _mark_slots(state, tables, mask):
    """Set the legal actions of the player to act; returns how many."""
    n = 0
    if state["stage"] == EXPAND:
        face = np.int64(state["hand"][np.int64(state["player"])])
        for rotation in range(4):
            for half in range(2):
                entries = fitting_entries(state, tables, face * 4 + rotation, half)
                while entries:
                    mask[LAY_SLOTS + 4 * _entry_name(state, half * 64 + lowest(entries)) + rotation] = 1
                    entries = drop_lowest(entries)
                    n += 1
    elif state["stage"] != OVER:
        targets = find_targets(state)
        for lot in range(4):
            lots = legal_lots(state, targets, lot)
            while lots:
                mask[4 * lowest(lots) + lot] = 1
                lots = drop_lowest(lots)
                n += 1
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
    if not view:
        mask[:] = 0
    elif state["stage"] == EXPAND:
        mask[: 4 * view * view] = 0
    else:
        mask[4 * view * view :] = 0


@jit(inline=True)
def _offers(state, tables, view):
    """Does the view show a legal move?"""
    if state["stage"] == EXPAND:
        face = np.int64(state["hand"][np.int64(state["player"])])
        for rotation in range(4):
            for half in range(2):
                entries = fitting_entries(state, tables, face * 4 + rotation, half)
                while entries:
                    if place_in_view(np.int64(state["edge_cell"][half * 64 + lowest(entries)]), view) >= 0:
                        return True
                    entries = drop_lowest(entries)
        return False
    targets = find_targets(state)
    lots = legal_lots(state, targets, 0) | legal_lots(state, targets, 1)
    lots |= legal_lots(state, targets, 2) | legal_lots(state, targets, 3)
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
