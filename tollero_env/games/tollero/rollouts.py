"""Games of Tollero played out quickly and well: tiles are laid at random, Floors built where they are worth most.

What a Floor on each lot is worth is noted for every seat, and noted anew only where something changed and somebody
looks.
"""

import numpy as np

from tollero_env.bits import ZERO, bit, drop_lowest, equal16, lowest
from tollero_env.game import record_dtype
from tollero_env.games.tollero.constants import EXPAND, FIRST, MAX_PLAYERS, SLOTS, STEPS
from tollero_env.games.tollero.protocol import random_lay
from tollero_env.games.tollero.rules import end_turn, find_reached, find_targets, place_floor
from tollero_env.games.tollero.turns import TOP, find_rivals, floor_worth
from tollero_env.jit import jit
from tollero_env.rng import draw_number, stream

NO_LOT = 255

# What Floors are worth, by seat. A tile that is stale may have changed since it was noted.
WORTHS = record_dtype(
    [
        ("stale", np.uint64, (MAX_PLAYERS,)),
        ("tiles", np.uint64, (MAX_PLAYERS, TOP + 1)),  # [k]: with a lot worth TOP - k
        ("worth", np.uint8, (MAX_PLAYERS, SLOTS, 4)),  # by lot; NO_LOT where the seat may not build
    ]
)


@jit(inline=True)
def _forget(worths, tiles):
    """These tiles changed."""
    for seat in range(MAX_PLAYERS):
        worths["stale"][seat] |= tiles


@jit
def _refresh(state, tables, player, worths, tiles):
    """Note these tiles anew, as that player sees them."""
    worths["stale"][player] &= ~tiles
    for k in range(TOP + 1):
        worths["tiles"][player, k] &= ~tiles
    while tiles:
        slot = lowest(tiles)
        tiles = drop_lowest(tiles)
        rivals = find_rivals(state, player, slot)
        for lot in range(4):
            if not (state["open_lots"][lot] | state["own_lots"][player, lot]) & bit(slot):  # B2
                worths["worth"][player, slot, lot] = NO_LOT
                continue
            gain, loss = floor_worth(state, tables, player, slot, lot, rivals)
            worth = gain + loss
            worths["worth"][player, slot, lot] = worth
            worths["tiles"][player, TOP - worth] |= bit(slot)


@jit(inline=True)
def _best_level(worths, player, tiles, end):
    """The first level before `end` that has one of the tiles; else `end`."""
    for k in range(end):
        if worths["tiles"][player, k] & tiles:
            return k
    return end


@jit(inline=True)
def _buildable(state, player):
    """Tiles on which the player may build, wherever they are (B2)."""
    lots, empty = state["own_lots"][player], state["open_lots"]
    return lots[0] | lots[1] | lots[2] | lots[3] | empty[0] | empty[1] | empty[2] | empty[3]


@jit(inline=True)
def _turned(word, k):
    """The word with bit k first."""
    return (word >> np.uint64(k)) | ((word << np.uint64(1)) << np.uint64(63 - k))


@jit(inline=True)
def _choose(worths, player, tiles, k, first):
    """A tile of that level: the first one, counted from `first` round."""
    return (lowest(_turned(worths["tiles"][player, k] & tiles, first)) + first) & (SLOTS - 1)


@jit
def _choose_pair(state, worths, player, targets, buildable, first):
    """(the tile for the first Floor of the best two, the tiles for the second)."""
    least = _best_level(worths, player, buildable, TOP + 1)
    best, slot, behind = 2 * TOP + 2, np.int64(0), ZERO
    k = least
    while targets and k + least < best:
        tiles = worths["tiles"][player, k] & targets
        targets &= ~tiles  # a tile's best lot alone
        tiles = _turned(tiles, first)
        while tiles:
            one = (lowest(tiles) + first) & (SLOTS - 1)
            tiles = drop_lowest(tiles)
            reached = find_reached(state, one, np.int64(state["value"][one])) & ~bit(one) & buildable  # B3
            total = k + _best_level(worths, player, reached, min(best - k, TOP + 1))
            if total < best:
                best, slot, behind = total, one, reached
        k += 1
    return slot, behind


@jit
def _build(state, tables, worths, word):
    """Place the Floors that are left of the turn where they are worth most."""
    player = np.int64(state["player"])
    buildable = _buildable(state, player)
    targets = find_targets(state) & buildable
    if not targets:
        return
    stale = buildable & worths["stale"][player]
    if stale:
        _refresh(state, tables, player, worths, stale)
    first = np.int64(word >> np.uint64(58))  # settles ties
    if state["stage"] == FIRST and state["floors_left"][player] > 1:
        slot, targets = _choose_pair(state, worths, player, targets, buildable, first)
        _place(state, worths, player, slot)
        if not targets:
            return
    k = _best_level(worths, player, targets, TOP + 1)
    _place(state, worths, player, _choose(worths, player, targets, k, first))


@jit(inline=True)
def _place(state, worths, player, slot):
    """Place a Floor on the best lot of a tile."""
    lot, worth = 0, -1
    for k in range(4):
        one = np.int64(worths["worth"][player, slot, k])
        if one != NO_LOT and one > worth:
            lot, worth = k, one
    _forget(worths, bit(slot))
    place_floor(state, slot, lot)


@jit(inline=True)
def _around(state):
    """The tile just laid and those beside it: fountains point over their sides."""
    laid = np.int64(state["origin"])
    cell, cells = np.int64(state["cell"][laid]), state["cell"]
    beside = equal16(cells, 0, cell + STEPS[0]) | equal16(cells, 0, cell + STEPS[1])
    return beside | equal16(cells, 0, cell + STEPS[2]) | equal16(cells, 0, cell + STEPS[3]) | bit(laid)


@jit
def play_out_well(state, tables, seed):
    """To the end of the game."""
    records = np.empty(1, WORTHS)
    worths = records[0]
    for seat in range(MAX_PLAYERS):
        worths["stale"][seat] = ~ZERO
        for k in range(TOP + 1):
            worths["tiles"][seat, k] = ZERO
    base = stream(seed, 1)
    while not state["over"]:
        word = draw_number(base, np.int64(state["ply"]))
        if state["stage"] == EXPAND:
            random_lay(state, tables, word)
            _forget(worths, _around(state))
        else:
            _build(state, tables, worths, word)
            end_turn(state, tables)
