"""Is this a position the rules can hold? For bytes from outside, which may be anything.

Blocks are put on an empty table anew; all that follows from them must then be the same bytes.
"""

import numpy as np

from tollero_env.bits import same
from tollero_env.games.talo.constants import (
    BAD_BLOCKS,
    BAD_COUNTS,
    BAD_PAWNS,
    BAD_TABLES,
    BAD_TURN,
    BAD_VERSION,
    BAD_WORDS,
    BLOCKED,
    BUILDING,
    DONE,
    EXHAUSTED,
    FALLEN,
    LAYING,
    MAX_LENGTH,
    MAX_PLAYERS,
    NOWHERE,
    NUM_BLOCKS,
    OVER,
    REACHED,
    ROLLING,
    STARTING,
    TAKING,
    TOP,
    UPRIGHT,
    VERSION,
    WIDTH,
)
from tollero_env.games.talo.grid import does_fit, find_free, put_block
from tollero_env.games.talo.placing import find_all_savers, forget_sure, has_pick, has_places
from tollero_env.games.talo.rules import is_exhausted, offers, open_table
from tollero_env.games.talo.state import STATE, WORK, hold
from tollero_env.games.talo.statics import stands
from tollero_env.games.talo.walking import can_hope, is_top
from tollero_env.jit import jit


@jit
def _check_counts(state, tables):
    """0 if every index that other checks and rules will use is in range."""
    players, stage = np.int64(tables["num_players"]), state["stage"]
    if state["version"] != VERSION:
        return BAD_VERSION
    if state["digest"] != tables["digest"] or state["num_players"] != players:
        return BAD_TABLES
    if stage > OVER or stage == ROLLING or state["chance"] != 0 or state["over"] != (stage == OVER):
        return BAD_COUNTS
    if state["player"] >= players or state["num_blocks"] > NUM_BLOCKS or state["num_fallen"] > state["num_blocks"]:
        return BAD_COUNTS
    if state["die"] > MAX_LENGTH or state["rolls"] > 3 or state["ending"] > FALLEN or state["builder"] > players:
        return BAD_COUNTS
    if state["moved"] > 1 or state["falling"] > 1 or state["num_fallen"] > 2:
        return BAD_COUNTS
    if state["hand"][0] > MAX_LENGTH or state["hand"][1] > state["hand"][0]:
        return BAD_COUNTS
    if state["picked_length"] > MAX_LENGTH or state["picked_axis"] > UPRIGHT:
        return BAD_COUNTS
    return 0


@jit
def _rebuild(state, other, tables, work):
    """Place the blocks of `state` anew in `other`, which has none."""
    free = work["free"][0]
    for block in range(1, np.int64(state["num_blocks"]) + 1):
        length, axis = np.int64(state["length"][block]), np.int64(state["axis"][block])
        cell = (np.int64(state["x"][block]), np.int64(state["y"][block]), np.int64(state["z"][block]))
        find_free(other, tables, free)
        if axis > UPRIGHT or not does_fit(other, free, length, axis, cell):
            return BAD_BLOCKS
        if other["stock"][length] == 0:
            return BAD_BLOCKS
        other["stock"][length] -= np.uint8(1)
        put_block(other, length, axis, cell[0], cell[1], cell[2])
        if block == np.int64(state["num_blocks"]) - np.int64(state["num_fallen"]) and not stands(other, work):
            if not (state["falling"] and state["num_fallen"] == 0):
                return BAD_BLOCKS
    if state["ending"] == FALLEN and stands(other, work):
        return BAD_BLOCKS
    for k in range(2):
        length = np.int64(state["hand"][k])
        if length:
            if other["stock"][length] == 0:
                return BAD_BLOCKS
            other["stock"][length] -= np.uint8(1)
    return 0


@jit
def _check_pawns(state, tables):
    """Does every pawn stand where it may, and as many as have started?"""
    started = np.int64(state["player"]) if state["stage"] == STARTING else np.int64(state["num_players"])
    if tables["fantasy"]:
        started = 0
    for seat in range(MAX_PLAYERS):
        x, y, level = state["pawn_x"][seat], state["pawn_y"][seat], np.int64(state["pawn_level"][seat])
        if seat >= started:
            if level != NOWHERE or x != 0 or y != 0:
                return BAD_PAWNS
            continue
        if x >= WIDTH or y >= WIDTH or level > TOP or (level == TOP and state["ending"] != REACHED):
            return BAD_PAWNS
        if level == 0:
            is_start = ((np.int64(tables["start"][np.int64(y)]) >> np.int64(x)) & 1) == 1
            if not is_start or state["block_at"][0, y, x] != 0 or state["block_at"][1, y, x] != 0:
                return BAD_PAWNS
        elif not is_top(state, np.int64(x), np.int64(y), level):
            return BAD_PAWNS
        for before in range(seat):
            if state["pawn_x"][before] == x and state["pawn_y"][before] == y and state["pawn_level"][before] == level:
                return BAD_PAWNS
    return 0


@jit
def _check_hand(state, tables, work):
    """Could these blocks be in hand, and placed?"""
    larger, smaller, die = np.int64(state["hand"][0]), np.int64(state["hand"][1]), np.int64(state["die"])
    is_first = larger + smaller == die
    if not is_first:  # the other one is the last that was placed
        if smaller or larger > die or np.int64(state["length"][np.int64(state["num_blocks"])]) != die - larger:
            return BAD_TURN
    if state["falling"]:
        if is_first or (not tables["may_fall"] and find_all_savers(state, tables, work, larger) == 0):
            return BAD_TURN
    elif not has_places(state, tables, work, larger, smaller):
        return BAD_TURN
    if state["stage"] == BUILDING:
        return 0 if state["picked_length"] == 0 and state["picked_axis"] == 0 else BAD_TURN
    picked = np.int64(state["picked_length"])
    if picked == 0 or (picked != larger and picked != smaller):
        return BAD_TURN
    return 0 if has_pick(state, tables, work, picked, np.int64(state["picked_axis"])) else BAD_TURN


@jit
def _check_end(state, tables, work):
    if state["player"] != 0 or state["rolls"] != 0 or state["die"] != 0 or state["moved"] or state["falling"]:
        return BAD_TURN
    ending, has_fallen = state["ending"], state["ending"] == FALLEN
    if (state["builder"] != 0) != has_fallen or (state["num_fallen"] != 0) != has_fallen:
        return BAD_TURN
    if has_fallen:
        return 0 if tables["may_fall"] else BAD_TURN
    if ending == REACHED:
        num_winners = 0
        for seat in range(np.int64(state["num_players"])):
            num_winners += state["pawn_level"][seat] == TOP
        return 0 if num_winners == 1 else BAD_TURN
    is_sound = ending == EXHAUSTED and state["hand"][0] == 0 and is_exhausted(state, tables, work)
    return 0 if is_sound else BAD_TURN


@jit
def _check_turn(state, tables, work):
    """Can the pending decision be pending? The state is otherwise known to be sound."""
    stage = state["stage"]
    if state["ply"] < 2 * np.int64(state["num_blocks"]) + (stage == LAYING):
        return BAD_TURN
    is_laying = stage in (BUILDING, LAYING)
    if not is_laying and (state["picked_length"] or state["picked_axis"]):
        return BAD_TURN
    if stage == OVER:
        return _check_end(state, tables, work)
    if state["ending"] or state["builder"] or state["num_fallen"]:
        return BAD_TURN
    if stage in (STARTING, BLOCKED):
        if tables["fantasy"] or state["rolls"] or state["die"] or state["hand"][0] or state["moved"]:
            return BAD_TURN
        if stage == STARTING:
            return 0 if state["num_blocks"] == 0 and state["ply"] == state["player"] else BAD_TURN
        return 0 if not can_hope(state, tables, work, np.int64(state["player"])) else BAD_TURN
    if state["rolls"] == 0 or state["die"] == 0 or (state["falling"] and not is_laying):
        return BAD_TURN
    if state["moved"] and (tables["fantasy"] or state["falling"] or stage == TAKING or not _is_up(state)):
        return BAD_TURN
    if is_laying:
        return _check_hand(state, tables, work) if state["hand"][0] else BAD_TURN
    if state["hand"][0]:
        return BAD_TURN
    if stage == DONE:
        return 0 if state["num_blocks"] and not tables["fantasy"] else BAD_TURN
    return 0 if offers(state, tables, work, np.int64(state["die"])) else BAD_TURN


@jit
def _is_up(state):
    """Has the pawn of the player to act left the board?"""
    return state["pawn_level"][np.int64(state["player"])] > 0


@jit
def _copy_free(state, other):
    """What the blocks do not settle."""
    other["ply"], other["player"], other["over"] = state["ply"], state["player"], state["over"]
    other["rng"], other["stage"] = state["rng"], state["stage"]
    other["chance"] = state["chance"]
    for seat in range(MAX_PLAYERS):
        other["pawn_x"][seat], other["pawn_y"][seat] = state["pawn_x"][seat], state["pawn_y"][seat]
        other["pawn_level"][seat] = state["pawn_level"][seat]
    other["rolls"], other["die"] = state["rolls"], state["die"]
    other["hand"][0], other["hand"][1] = state["hand"][0], state["hand"][1]
    other["picked_length"], other["picked_axis"] = state["picked_length"], state["picked_axis"]
    other["moved"], other["falling"], other["ending"] = state["moved"], state["falling"], state["ending"]
    other["builder"], other["num_fallen"] = state["builder"], state["num_fallen"]


@jit
def _check_anew(states, i, tables, twin, work):
    """Is all that follows from the blocks the same when they are placed anew, in `twin`?"""
    other = twin[0]
    forget_sure(work)
    open_table(other, tables)
    code = _rebuild(states[i], other, tables, work)
    if code:
        return code
    _copy_free(states[i], other)
    if not same(states, i, twin, 0):
        return BAD_WORDS
    code = _check_pawns(other, tables)
    return code if code else _check_turn(other, tables, work)


@jit(entry=True)
def check(states, i, tables):
    """0 if these bytes are a position the rules can hold, else what is wrong (PROBLEMS in constants)."""
    state, table = states[i], tables[0]
    code = _check_counts(state, table)
    if code:
        return code
    scratch, twin = np.zeros(1, WORK), np.zeros(1, STATE)
    code = _check_anew(states, i, table, twin, scratch[0])
    hold(scratch)
    return code
