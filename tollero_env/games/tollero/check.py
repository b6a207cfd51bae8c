"""Is this a position the rules can hold? For bytes from outside, which may be anything.

Tiles and Floors are put on an empty table anew, by the rules; all that follows from them must then be the same bytes.
"""

import numpy as np

from tollero_env.bits import ONE, ZERO, bit, same
from tollero_env.games.tollero.constants import (
    ANYWHERE,
    BAD_COUNTS,
    BAD_FLOORS,
    BAD_MATERIAL,
    BAD_TABLES,
    BAD_TILES,
    BAD_TURN,
    BAD_VERSION,
    BAD_WORDS,
    CITY_TILES,
    DOWNTOWN_TILES,
    EXPAND,
    FIRST,
    FIRST_CITY,
    FIRST_DOWNTOWN,
    MAX_TILES,
    NO_ENTRY,
    NO_TILE,
    OVER,
    VERSION,
)
from tollero_env.games.tollero.rules import (
    add_floor,
    can_build,
    find_entry,
    fits,
    fitting_entries,
    lay,
    open_city,
)
from tollero_env.games.tollero.state import STATE
from tollero_env.jit import jit


@jit
def _check_counts(state, tables):
    """0 if every index that other checks and rules will use is in range."""
    players = np.int64(tables["num_players"])
    if state["version"] != VERSION:
        return BAD_VERSION
    if state["digest"] != tables["digest"] or state["num_players"] != players:
        return BAD_TABLES
    stage, origin, num_tiles = np.int64(state["stage"]), np.int64(state["origin"]), np.int64(state["num_tiles"])
    if num_tiles < 1 + DOWNTOWN_TILES or num_tiles > MAX_TILES or state["num_pile"] > CITY_TILES:
        return BAD_COUNTS
    if state["num_gone"] > CITY_TILES or state["player"] >= players or stage > OVER:
        return BAD_COUNTS
    if np.int64(state["over"]) != (stage == OVER) or state["chance"] != 0:
        return BAD_COUNTS
    if origin != ANYWHERE and origin >= num_tiles:
        return BAD_COUNTS
    return 0


@jit(inline=True)
def _use_up(tables, face, used):
    """The word of City tiles used so far with one more of that face; ZERO if there is none left."""
    if face < FIRST_CITY or face >= np.int64(tables["num_faces"]):
        return ZERO
    free = tables["copies"][face] & ~used
    return used | (free & (~free + ONE)) if free else ZERO


@jit
def _check_material(state, tables):
    """Are the tiles on the table, in hands, in the pile and gone together the tiles of the set?"""
    tiles = np.zeros(4 * CITY_TILES, np.uint8)
    n = np.int64(state["num_tiles"]) - 1 - DOWNTOWN_TILES
    tiles[:n] = state["face"][1 + DOWNTOWN_TILES : 1 + DOWNTOWN_TILES + n]
    for k in range(np.int64(state["num_pile"])):
        tiles[n] = state["pile"][k]
        n += 1
    for k in range(np.int64(state["num_gone"])):
        tiles[n] = state["gone"][k]
        n += 1
    for seat in range(np.int64(state["num_players"])):
        if state["hand"][seat] != NO_TILE:
            tiles[n] = state["hand"][seat]
            n += 1
    used = ZERO
    for k in range(n):
        used = _use_up(tables, np.int64(tiles[k]), used)
        if used == ZERO:
            return BAD_MATERIAL
    return 0 if n == CITY_TILES else BAD_MATERIAL


@jit
def _relay(state, other, tables):
    """Lay the tiles of `state` anew in the cleared state `other`, each by the rules."""
    seen = 0
    for side in range(DOWNTOWN_TILES):
        face, rotation = np.int64(state["face"][1 + side]), np.int64(state["rotation"][1 + side])
        if face < FIRST_DOWNTOWN or face >= FIRST_CITY or rotation > 3:
            return BAD_TILES
        tile = (face - FIRST_DOWNTOWN) >> 1
        is_way = False
        for way in range(np.int64(tables["num_ways"][tile, side])):
            is_way |= tables["ways"][tile, side, way] == face * 4 + rotation
        if not is_way or (seen >> tile) & 1:
            return BAD_TILES
        seen |= 1 << tile
        other["face"][1 + side], other["rotation"][1 + side] = face, rotation
    open_city(other, tables)
    for slot in range(1 + DOWNTOWN_TILES, np.int64(state["num_tiles"])):
        cell, rotation = np.int64(state["cell"][slot]), np.int64(state["rotation"][slot])
        entry = find_entry(other, cell) if cell > 0 else NO_ENTRY
        if entry >= NO_ENTRY or rotation > 3:
            return BAD_TILES
        tile = np.int64(state["face"][slot]) * 4 + rotation
        if (fitting_entries(other, tables, tile, entry >> 6) & bit(entry & 63)) == ZERO:
            return BAD_TILES
        lay(other, tables, entry, tile)
    return 0


@jit
def _rebuild(state, other):
    """Place the Floors of `state` anew in `other`, whose tiles are laid."""
    for slot in range(np.int64(state["num_tiles"])):
        for lot in range(4):
            building = np.int64(state["building"][slot, lot])
            owner, height = building >> 5, building & 31
            if building == 0:
                continue
            if height == 0 or owner >= np.int64(state["num_players"]):
                return BAD_FLOORS
            if (other["open_lots"][lot] & bit(slot)) == ZERO or height > np.int64(other["floors_left"][owner]):
                return BAD_FLOORS
            other["player"] = owner
            for _ in range(height):
                add_floor(other, slot, lot)
    return 0


@jit
def _check_turn(state, tables):
    """Can the pending decision be pending? The state is otherwise known to be sound."""
    player, stage, origin = np.int64(state["player"]), np.int64(state["stage"]), np.int64(state["origin"])
    players, has_pile = np.int64(state["num_players"]), state["num_pile"] > 0
    for seat in range(players):  # D1: with tiles in the pile only a player who has just laid one holds none
        is_laying = seat == player and (stage != EXPAND)
        if has_pile and state["hand"][seat] == NO_TILE and not is_laying and stage != OVER:
            return BAD_TURN
    built = np.int64(tables["floors"]) * players
    for seat in range(players):
        built -= np.int64(state["floors_left"][seat])
    if np.int64(state["ply"]) != built + np.int64(state["num_tiles"]) - 1 - DOWNTOWN_TILES:
        return BAD_TURN
    if stage == OVER:
        return 0 if origin == ANYWHERE and player == 0 and _is_finished(state, tables) else BAD_TURN
    if state["floors_left"][player] == 0:
        return BAD_TURN
    if stage == EXPAND:
        is_sound = state["hand"][player] != NO_TILE and fits(state, tables, np.int64(state["hand"][player]))
        return 0 if is_sound and origin == ANYWHERE else BAD_TURN
    if state["hand"][player] != NO_TILE or not can_build(state):
        return BAD_TURN
    if stage == FIRST:  # B1 counts from the tile just laid; B4 from nowhere, once no tile is left
        is_sound = (
            not has_pile
            if origin == ANYWHERE
            else origin == np.int64(state["num_tiles"]) - 1 and origin > DOWNTOWN_TILES
        )
        return 0 if is_sound else BAD_TURN
    return 0 if origin != ANYWHERE and state["lead"][player, origin] > 0 else BAD_TURN


@jit
def _is_finished(state, tables):
    """F1: all Floors are placed, or nobody who has some can lay or build."""
    for seat in range(np.int64(state["num_players"])):
        if state["floors_left"][seat] == 0:
            continue
        if state["num_pile"] > 0 or state["hand"][seat] != NO_TILE:
            return False
        for lot in range(4):
            if state["open_lots"][lot] | state["own_lots"][seat, lot]:
                return False
    return True


@jit
def _copy_free(state, other):
    """What tiles and Floors on the table do not settle."""
    other["ply"], other["player"], other["over"], other["rng"] = (
        state["ply"],
        state["player"],
        state["over"],
        state["rng"],
    )
    other["stage"], other["origin"] = state["stage"], state["origin"]
    other["num_pile"], other["num_gone"] = state["num_pile"], state["num_gone"]
    for k in range(np.int64(state["num_pile"])):
        other["pile"][k] = state["pile"][k]
    for k in range(np.int64(state["num_gone"])):
        other["gone"][k] = state["gone"][k]
    for seat in range(np.int64(state["num_players"])):
        other["hand"][seat] = state["hand"][seat]


@jit(entry=True)
def check(states, i, tables):
    """0 if these bytes are a position the rules can hold, else what is wrong (PROBLEMS in constants)."""
    state, table = states[i], tables[0]
    code = _check_counts(state, table)
    if code == 0:
        code = _check_material(state, table)
    if code:
        return code
    twin = np.zeros(1, STATE)  # all that follows from tiles and Floors is worked out anew and compared
    other = twin[0]
    code = _relay(state, other, table)
    if code == 0:
        code = _rebuild(state, other)
    if code:
        return code
    _copy_free(state, other)
    if not same(states, i, twin, 0):
        return BAD_WORDS
    return _check_turn(state, table)  # no longer `other`: compiled, an array ends with its last use
