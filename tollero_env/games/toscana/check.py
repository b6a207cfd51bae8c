"""Is this a position the rules can hold? For bytes from outside, which may be anything.

The tiles are laid on an empty board anew, by the rules; all that follows from them must then be the same bytes.
"""

import numpy as np

from tollero_env.bits import ZERO, bit, same
from tollero_env.games.toscana.constants import (
    ASKED,
    BAD_COUNTS,
    BAD_MATERIAL,
    BAD_TABLES,
    BAD_TILES,
    BAD_TURN,
    BAD_VERSION,
    BAD_WORDS,
    CELLS,
    MAX_ROUNDS,
    MAX_TILES,
    OVER,
    SEATS,
    SET_TILES,
    VERSION,
    WIDTH,
)
from tollero_env.games.toscana.rules import has_place, largest_areas, lay, open_match, place_row, top_tile
from tollero_env.games.toscana.state import STATE
from tollero_env.games.toscana.tables import LONGEST_ROUND
from tollero_env.jit import jit

_WHOLE_SET = np.uint64((1 << SET_TILES) - 1)
_SHORTEST_ROUND = 3  # two questions and the first tile


@jit
def _check_counts(state, tables):
    """0 if every index that other checks and rules will use is in range."""
    if state["version"] != VERSION:
        return BAD_VERSION
    if state["digest"] != tables["digest"] or state["num_players"] != SEATS:
        return BAD_TABLES
    if state["player"] > 1 or state["stage"] > OVER or state["chance"] != 0:
        return BAD_COUNTS
    if np.int64(state["over"]) != (state["stage"] == OVER) or state["num_tiles"] > MAX_TILES:
        return BAD_COUNTS
    if state["round"] >= tables["rounds"] or state["starter"] > 1 or state["passes"] > 2:
        return BAD_COUNTS
    for seat in range(SEATS):
        if state["num_stack"][seat] > SET_TILES or state["sunk"][seat] > 1 or state["stone"][seat] > 1:
            return BAD_COUNTS
    return 0


@jit(inline=True)
def _add_tile(tile, found):
    """The word of tiles found so far with one more; ZERO if there is no such tile, or it is found a second time."""
    if tile >= SET_TILES or (found & bit(tile)) != ZERO:
        return ZERO
    return found | bit(tile)


@jit
def _check_material(state, tables):
    """Are a player's tiles on the board and in the stack together the set? And those of the next round?"""
    has_later = np.int64(state["round"]) + 1 < np.int64(tables["rounds"])
    for seat in range(SEATS):
        found, later = ZERO, ZERO
        for slot in range(np.int64(state["num_tiles"])):
            owner = np.int64(state["tile"][slot]) // SET_TILES
            if owner > 1:
                return BAD_MATERIAL
            if owner == seat:
                found = _add_tile(np.int64(state["tile"][slot]) % SET_TILES, found)
                if found == ZERO:
                    return BAD_MATERIAL
        for k in range(np.int64(state["num_stack"][seat])):
            found = _add_tile(np.int64(state["stack"][seat, k]), found)
            if found == ZERO:
                return BAD_MATERIAL
        if found != _WHOLE_SET:
            return BAD_MATERIAL
        if has_later:
            for k in range(SET_TILES):
                later = _add_tile(np.int64(state["later"][seat, k]), later)
                if later == ZERO:
                    return BAD_MATERIAL
    return 0


@jit
def _could_pass(state, other, tables, player, slot):
    """Had that player no place on the board of `other` just before the tile in `slot` was laid?"""
    following = bottom = -1
    for later in range(slot, np.int64(state["num_tiles"])):
        if np.int64(state["tile"][later]) // SET_TILES == player:
            bottom = np.int64(state["tile"][later]) % SET_TILES
            following = bottom if following < 0 else following
    if state["num_stack"][player] > 0:
        bottom = np.int64(state["stack"][player, 0])
        following = top_tile(state, player) if following < 0 else following
    if following < 0 or not has_place(other, tables, player, following):
        return True
    # before a veto another tile was on top, which now is at the bottom
    return state["sunk"][player] == 1 and not has_place(other, tables, player, bottom)


@jit
def _relay(state, other, tables):
    """Lay the tiles of `state` anew in the cleared state `other`, each by the rules."""
    open_match(other, tables, np.int64(state["starter"]))
    before = 1 - np.int64(state["starter"])
    for slot in range(np.int64(state["num_tiles"])):
        player, tile = np.int64(state["tile"][slot]) // SET_TILES, np.int64(state["tile"][slot]) % SET_TILES
        cell, rotation = np.int64(state["cell"][slot]), np.int64(state["rotation"][slot])
        if player == before and (slot == 0 or not _could_pass(state, other, tables, 1 - player, slot)):
            return BAD_TURN
        if cell < 0 or cell >= CELLS or cell // WIDTH >= np.int64(tables["size"]) or rotation > 3:
            return BAD_TILES
        places = place_row(other, tables, player, tile * 4 + rotation, cell // WIDTH)
        if (places & bit(cell % WIDTH)) == ZERO:
            return BAD_TILES
        lay(other, tables, player, tile * 4 + rotation, cell)
        before = player
    return 0


@jit
def _copy_free(state, other):
    """What the tiles on the board do not settle."""
    other["ply"], other["player"], other["over"] = state["ply"], state["player"], state["over"]
    other["rng"], other["stage"], other["passes"] = state["rng"], state["stage"], state["passes"]
    other["round"] = state["round"]
    for seat in range(SEATS):
        other["num_stack"][seat] = state["num_stack"][seat]
        other["sunk"][seat], other["stone"][seat] = state["sunk"][seat], state["stone"][seat]
        for k in range(np.int64(state["num_stack"][seat])):
            other["stack"][seat, k] = state["stack"][seat, k]
        for number in range(MAX_ROUNDS):
            other["points"][number, seat] = state["points"][number, seat]


@jit
def _copy_later(state, other, tables):
    if np.int64(state["round"]) + 1 < np.int64(tables["rounds"]):
        for seat in range(SEATS):
            for k in range(SET_TILES):
                other["later"][seat, k] = state["later"][seat, k]


@jit
def _check_points(state, tables):
    """R7: of rounds that are over, and of no other."""
    number, areas = np.int64(state["round"]), largest_areas(state, tables)
    for k in range(MAX_ROUNDS):
        for seat in range(SEATS):
            points = np.int64(state["points"][k, seat])
            if k < number:
                if points < 1 or points > MAX_TILES:
                    return BAD_WORDS
            elif points != (areas[seat] if k == number and state["over"] else 0):
                return BAD_WORDS
    return 0


@jit(inline=True)
def _is_stuck(state, tables, player):
    return state["num_stack"][player] == 0 or not has_place(state, tables, player, top_tile(state, player))


@jit
def _check_turn(state, tables):
    """Can the pending decision be pending? The state is otherwise known to be sound."""
    num_tiles, passes, stage = np.int64(state["num_tiles"]), np.int64(state["passes"]), np.int64(state["stage"])
    for seat in range(SEATS):
        is_spent = state["stone"][1 - seat] == 0
        may_be_older = tables["keeps_stone"] == 1 and state["round"] > 0
        if not is_spent and state["sunk"][seat] == 1:
            return BAD_TURN
        if is_spent and state["sunk"][seat] == 0 and not may_be_older:
            return BAD_TURN
    if not _is_ply_possible(state, tables):
        return BAD_TURN
    if stage == OVER:
        if state["player"] != 0 or np.int64(state["round"]) + 1 != np.int64(tables["rounds"]):
            return BAD_TURN
        is_empty = state["num_stack"][0] == 0 and state["num_stack"][1] == 0
        if passes == 2:  # R6
            return 0 if not is_empty and _is_stuck(state, tables, 0) and _is_stuck(state, tables, 1) else BAD_TURN
        return 0 if is_empty and passes == 0 else BAD_TURN
    player = np.int64(state["player"])
    mover = 1 - player if stage == ASKED else player
    if num_tiles == 0:
        if mover != state["starter"] or passes != 0:
            return BAD_TURN
    else:
        last = np.int64(state["tile"][num_tiles - 1]) // SET_TILES
        if passes == 2 or mover != (last if passes == 1 else 1 - last):
            return BAD_TURN
        if passes == 1 and not _is_stuck(state, tables, 1 - mover):
            return BAD_TURN
    if stage == ASKED:  # R5
        return 0 if state["stone"][player] == 1 and state["num_stack"][mover] >= 2 else BAD_TURN
    return 0 if not _is_stuck(state, tables, mover) else BAD_TURN


@jit
def _count_turns(state, player):
    """Turns of that player in this round, up to now, in which the stack had two tiles: R5 was asked, if it could be."""
    placed, turns, before = 0, 0, 1 - np.int64(state["starter"])
    for slot in range(np.int64(state["num_tiles"])):
        owner = np.int64(state["tile"][slot]) // SET_TILES
        if owner == before and owner != player:  # this player passed
            turns += placed < SET_TILES - 1
        if owner == player:
            turns += placed < SET_TILES - 1
            placed += 1
        before = owner
    is_passer = state["passes"] == 2 or (state["passes"] == 1 and player != before)
    is_placing = state["over"] == 0 and state["stage"] != ASKED and np.int64(state["player"]) == player
    if placed < SET_TILES - 1:
        turns += is_passer + is_placing
    return turns


@jit
def _is_ply_possible(state, tables):
    """Tiles and questions of this round, and what the round before can have had."""
    least = most = np.int64(state["num_tiles"])
    for seat in range(SEATS):
        turns = _count_turns(state, seat)
        if state["stone"][1 - seat] == 1:
            least += turns
            most += turns
        elif state["sunk"][seat] == 1:
            least += 1
            most += turns
            if turns == 0:
                return False
    if state["round"] > 0:
        least += _SHORTEST_ROUND
        most += LONGEST_ROUND
    return least <= state["ply"] and state["ply"] <= most


@jit(entry=True)
def check(states, i, tables):
    """0 if these bytes are a position the rules can hold, else what is wrong (PROBLEMS in constants)."""
    state, table = states[i], tables[0]
    code = _check_counts(state, table)
    if code == 0:
        code = _check_material(state, table)
    if code:
        return code
    twin = np.zeros(1, STATE)  # all that follows from the tiles is worked out anew and compared
    other = twin[0]
    code = _relay(state, other, table)
    if code:
        return code
    _copy_free(state, other)
    _copy_later(state, other, table)
    if not same(states, i, twin, 0):
        return BAD_WORDS
    code = _check_points(state, table)  # no longer `other`: compiled, an array ends with its last use
    return code if code else _check_turn(state, table)
