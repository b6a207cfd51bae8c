"""Whole turns of Tollero, counted exactly: what the best turn is worth that each legal move can still end in.

A turn is worth the own score minus the best other's, as the table stands after it. A Floor changes only the tile it
stands on, and the two of a turn never stand on the same one (B3): so what a Floor on each lot would bring is noted
once a lay, and the second Floor is looked up instead of being played.
"""

import numpy as np

from tollero_env.bits import ONE, ZERO, bit, copy, drop_lowest, lowest
from tollero_env.game import Turns, record_dtype
from tollero_env.games.tollero.constants import (
    BUILD,
    CELLS,
    DOWNTOWN_TILES,
    EXPAND,
    MAX_LEGAL,
    MAX_PLAYERS,
    SECOND,
    SLOTS,
)
from tollero_env.games.tollero.protocol import list_moves
from tollero_env.games.tollero.rules import (
    expand,
    find_entry,
    find_reached,
    find_targets,
    totals,
)
from tollero_env.games.tollero.state import STATE
from tollero_env.jit import jit
from tollero_env.rng import pick_best

TOP = 31  # no Floor is worth more: a tile's value won, the same value lost by another, four fountains
NONE = np.uint32(255)  # on a lot where the player may not build
NOBODY = -(1 << 30)  # the score of a seat that is not there

# What the Floors of one player would bring. A Floor's worth is the most by which it can move the difference.
NOTES = record_dtype(
    [
        ("floor", np.uint32, (SLOTS, 4)),  # by lot: worth + gain << 8 + loss << 16 + the seat that loses << 24; or NONE
        ("worth", np.uint64, (TOP + 1,)),  # [k]: tiles with a lot worth TOP - k
        ("levels", np.uint64),  # the k whose word is not empty
        ("points", np.int64, (MAX_PLAYERS,)),  # as the table stands
    ]
)


@jit(inline=True)
def find_rivals(state, player, slot):
    """(highest lead of the others on a tile, whose it is, whether it is one alone)."""
    highest, whose, is_lone = 0, 0, False
    for seat in range(np.int64(state["num_players"])):
        lead = np.int64(state["lead"][seat, slot])
        if seat != player and lead >= highest:
            is_lone = lead > highest
            highest, whose = lead, seat
    return highest, whose, is_lone


@jit(inline=True)
def floor_worth(state, tables, player, slot, lot, rivals):
    """(what a Floor there earns the player, what it takes from the rival who leads): F2 and F4."""
    highest, _, is_lone = rivals
    mine = np.int64(state["lead"][player, slot])
    height = (np.int64(state["building"][slot, lot]) & 31) + 1
    lead = (max(mine >> 5, height) << 5) + (mine & 31) + 1
    is_scored = slot > DOWNTOWN_TILES or (slot > 0 and tables["downtown_scores"])  # F3
    value = np.int64(state["value"][slot]) if is_scored else 0
    fountains = (np.int64(state["fountains"][slot]) >> (8 * lot)) & 255
    gain = fountains + value * (mine <= highest and lead > highest)
    return gain, value * (mine < highest and is_lone and lead >= highest)


@jit
def _note_tile(state, tables, player, slot, notes):
    """Note what a Floor on each lot of a tile would bring."""
    rivals = find_rivals(state, player, slot)
    for lot in range(4):
        if not (state["open_lots"][lot] | state["own_lots"][player, lot]) & bit(slot):  # B2
            notes["floor"][slot, lot] = NONE
            continue
        gain, loss = floor_worth(state, tables, player, slot, lot, rivals)
        worth = gain + loss
        notes["floor"][slot, lot] = np.uint32(worth + (gain << 8) + (loss << 16) + (rivals[1] << 24))
        notes["worth"][TOP - worth] |= bit(slot)


@jit(inline=True)
def _find_levels(notes):
    levels = ZERO
    for k in range(TOP + 1):
        levels |= np.uint64(notes["worth"][k] != ZERO) << np.uint64(k)
    notes["levels"] = levels


@jit
def _note_city(state, tables, player, notes):
    """Note what a Floor on each lot of the city would bring, and the points."""
    for k in range(TOP + 1):
        notes["worth"][k] = ZERO
    for slot in range(np.int64(state["num_tiles"])):
        _note_tile(state, tables, player, slot, notes)
    _find_levels(notes)
    points = totals(state, tables)
    for seat in range(MAX_PLAYERS):
        notes["points"][seat] = points[seat]


# ---- the difference


@jit(inline=True)
def _standing(notes, num_players, player):
    """(own points, the best other's, whose, the second best other's)."""
    best, whose, second = NOBODY, 0, NOBODY
    for seat in range(num_players):
        points = notes["points"][seat]
        if seat != player:
            if points > best:
                best, whose, second = points, seat, best
            else:
                second = max(second, points)
    return notes["points"][player], best, whose, second


@jit(inline=True)
def _after_floor(standing, floor):
    """The difference after one more Floor."""
    own, best, whose, second = standing
    gain, loss, loser = (floor >> 8) & 255, (floor >> 16) & 255, floor >> 24
    return own + gain - (max(best - loss, second) if loser == whose else best)


@jit
def _best_floor(notes, targets, standing, least):
    """The best difference after a Floor on one of the targets, and `least` if none is better."""
    before = standing[0] - standing[1]
    levels = notes["levels"]
    while levels:
        k = lowest(levels)
        levels = drop_lowest(levels)
        if before + TOP - k <= least:
            break
        tiles = notes["worth"][k] & targets
        while tiles and before + TOP - k > least:
            slot = lowest(tiles)
            tiles = drop_lowest(tiles)
            for lot in range(4):
                floor = np.int64(notes["floor"][slot, lot])
                if floor & 255 == TOP - k:
                    least = max(least, _after_floor(standing, floor))
    return least


@jit
def _with_second(state, notes, slot, lot, least):
    """The best difference after a first Floor there and what may follow it, and `least` if that is not better."""
    player, num_players = np.int64(state["player"]), np.int64(state["num_players"])
    floor = np.int64(notes["floor"][slot, lot])
    gain, loss, loser = (floor >> 8) & 255, (floor >> 16) & 255, floor >> 24
    notes["points"][player] += gain
    notes["points"][loser] -= loss
    standing = _standing(notes, num_players, player)
    notes["points"][player] -= gain
    notes["points"][loser] += loss
    least = max(least, standing[0] - standing[1])  # a second Floor never does harm
    if state["floors_left"][player] > 1:
        targets = find_reached(state, slot, np.int64(state["value"][slot])) & ~bit(slot)  # B3
        least = _best_floor(notes, targets, standing, least)
    return least


@jit
def _best_pair(state, notes, targets, least):
    """The best difference after the Floors of a turn, the first of them on one of the targets."""
    standing = _standing(notes, np.int64(state["num_players"]), np.int64(state["player"]))
    most = TOP - lowest(notes["levels"]) if state["floors_left"][np.int64(state["player"])] > 1 else 0
    before = standing[0] - standing[1]
    levels = notes["levels"]
    while levels:
        k = lowest(levels)
        levels = drop_lowest(levels)
        tiles = notes["worth"][k] & targets
        while tiles and before + TOP - k + most > least:
            slot = lowest(tiles)
            tiles = drop_lowest(tiles)
            for lot in range(4):
                if np.int64(notes["floor"][slot, lot]) & 255 == TOP - k:
                    least = _with_second(state, notes, slot, lot, least)
    return least


# ---- each move


@jit
def _weigh_lay(states, i, tables, move, notes):
    """The best difference after a turn that begins with this lay; notes[0] are of the city before it."""
    copy(states, i + 1, states, i)
    copy(notes, 1, notes, 0)
    before, state, after = states[i], states[i + 1], notes[1]
    player = np.int64(state["player"])
    entry = find_entry(state, move % CELLS)
    beside = np.int64(state["edge_slots"][entry])
    expand(state, tables, entry, move // CELLS)
    changed = bit(np.int64(state["origin"]))  # fountains point from the new tile and at it
    for side in range(4):
        changed |= (ONE << np.uint64((beside >> (8 * side)) & 255)) >> ONE
    for k in range(TOP + 1):
        after["worth"][k] &= ~changed
    while changed:
        _note_tile(state, tables, player, lowest(changed), after)
        changed = drop_lowest(changed)
    _find_levels(after)
    for seat in range(MAX_PLAYERS):
        after["points"][seat] += np.int64(state["stars"][seat]) - np.int64(before["stars"][seat])
    standing = _standing(after, np.int64(state["num_players"]), player)
    return _best_pair(state, after, find_targets(state), standing[0] - standing[1])  # no lot: the turn ends (B4)


@jit
def weigh_moves(states, i, tables, notes, moves, n, out):
    """For each of these legal moves the worth of the best turn it can still end in.

    states[i + 1] is free to play in; `notes` are two.
    """
    state, city = states[i], notes[0]
    _note_city(state, tables, np.int64(state["player"]), city)
    standing = _standing(city, np.int64(state["num_players"]), np.int64(state["player"]))
    for k in range(n):
        slot, lot = (moves[k] - BUILD) >> 2, (moves[k] - BUILD) & 3
        if state["stage"] == EXPAND:
            out[k] = _weigh_lay(states, i, tables, moves[k], notes)
        elif state["stage"] == SECOND:
            out[k] = _after_floor(standing, np.int64(city["floor"][slot, lot]))
        else:
            out[k] = _with_second(state, city, slot, lot, NOBODY)


# ---- called from Python


@jit(entry=True)
def weigh(states, i, tables, moves, n, out):
    """The protocol's `Turns.weigh`."""
    scratch, notes = np.empty(2, STATE), np.empty(2, NOTES)
    copy(scratch, 0, states, i)
    weigh_moves(scratch, 0, tables[0], notes, moves, n, out)


@jit(entry=True)
def choose_many(states, tables, games, seeds, out):
    """The protocol's `Turns.choose_many`."""
    scratch, notes = np.empty(2, STATE), np.empty(2, NOTES)
    moves, worth = np.empty(MAX_LEGAL, np.int64), np.empty(MAX_LEGAL, np.int64)
    for k in range(games.shape[0]):
        copy(scratch, 0, states, games[k])
        n = list_moves(scratch[0], tables[0], moves)
        weigh_moves(scratch, 0, tables[0], notes, moves, n, worth)
        out[k] = moves[pick_best(worth, n, seeds[k])]


TURNS = Turns(weigh, choose_many)
