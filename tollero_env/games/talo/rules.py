"""The turns of Talō, compiled. Rule numbers are those of docs/rules/talo.md.

Verbs that Python calls take (states, i, tables, ...); inside, `state`, `tables` and `work` (scratch) are records.
`chance` of the state's header is 10 while the die is due, and then nothing is legal.
"""

import numpy as np

from tollero_env.games.talo.constants import (
    AREA,
    BLOCKED,
    BUILDING,
    DONE,
    END,
    EXHAUSTED,
    FALLEN,
    FIELD,
    FIRST_PAIR,
    HEIGHT,
    LARGER,
    LAYING,
    MAX_LENGTH,
    MAX_PLAYERS,
    NOWHERE,
    NUM_CHOICES,
    NUM_PAIRS,
    OVER,
    PICK,
    REACHED,
    ROLLING,
    SMALLER,
    STARTING,
    STAY,
    TAKE,
    TAKING,
    TOP,
    UPRIGHT,
    VERSION,
    WALK,
    WIDTH,
)
from tollero_env.games.talo.grid import does_fit, find_free, put_block
from tollero_env.games.talo.placing import (
    forget_sure,
    has_pick,
    has_places,
    is_offered,
    may_place,
    other_in_hand,
)
from tollero_env.games.talo.savers import find_savers
from tollero_env.games.talo.statics import judge, judge_two
from tollero_env.games.talo.walking import can_hope, find_tops, may_start
from tollero_env.jit import jit

# ---- the beginning and the end


@jit
def open_table(state, tables):
    """A state of zero bytes becomes the table before anybody has started; in Fantasy the die is due at once."""
    state["version"] = VERSION
    state["digest"] = tables["digest"]
    state["num_players"] = tables["num_players"]
    for length in range(1, MAX_LENGTH + 1):  # M1
        state["stock"][length] = MAX_LENGTH + 1 - length
    for seat in range(MAX_PLAYERS):
        state["pawn_level"][seat] = NOWHERE
    if tables["fantasy"]:
        state["stage"], state["chance"] = ROLLING, 10
    else:
        state["stage"] = STARTING


@jit
def _finish(state, ending):
    """Blocks in hand stay there."""
    state["ending"] = ending
    state["over"] = 1
    state["stage"] = OVER
    state["player"] = 0
    state["chance"] = 0
    state["rolls"], state["die"] = 0, 0
    state["moved"], state["falling"] = 0, 0


@jit
def _fall(state, num_fallen):
    """B4: the builder loses."""
    state["builder"] = state["player"] + np.uint8(1)
    state["num_fallen"] = num_fallen
    _finish(state, FALLEN)


# ---- the die


@jit(apart=True)
def offers(state, tables, work, die):
    """Does a roll leave any choice of blocks? (D1, B5)"""
    if is_offered(state, tables, work, die, 0):
        return True
    for k in range(FIRST_PAIR[die], FIRST_PAIR[die] + NUM_PAIRS[die]):
        if is_offered(state, tables, work, LARGER[k], SMALLER[k]):
            return True
    return False


@jit(apart=True)
def is_exhausted(state, tables, work):
    """F2: no roll offers any choice; so it is with an empty pile."""
    for die in range(1, MAX_LENGTH + 1):
        if offers(state, tables, work, die):
            return False
    return True


@jit(apart=True)
def begin_turn(state, tables, work, player):
    """The turn of that seat: is the game over (F2)? May the pawn restart (P5)? Else the die is due."""
    state["player"] = player
    state["rolls"], state["die"] = 0, 0
    state["moved"] = 0
    forget_sure(work)
    if is_exhausted(state, tables, work):
        _finish(state, EXHAUSTED)
    elif not tables["fantasy"] and not can_hope(state, tables, work, player):
        state["stage"] = BLOCKED
    else:
        _roll(state)


@jit(inline=True)
def _roll(state):
    state["stage"] = ROLLING
    state["chance"] = MAX_LENGTH


@jit
def next_turn(state, tables, work):
    player = np.int64(state["player"]) + 1
    begin_turn(state, tables, work, player if player < np.int64(state["num_players"]) else 0)


@jit(apart=True)
def settle(state, tables, work, value):
    """D1: the die shows that value. After a third roll without a choice the turn ends."""
    state["chance"] = 0
    state["die"] = value
    state["rolls"] += np.uint8(1)
    forget_sure(work)
    if offers(state, tables, work, value):
        state["stage"] = TAKING
    elif state["rolls"] < 3:
        state["chance"] = MAX_LENGTH
    else:
        next_turn(state, tables, work)


# ---- what a player does


@jit
def put_pawn(state, tables, work, cell):
    """S1, P5: the pawn starts, or restarts, on a field of the board."""
    seat = np.int64(state["player"])
    state["pawn_x"][seat], state["pawn_y"][seat] = cell % WIDTH, cell // WIDTH
    state["pawn_level"][seat] = 0
    if state["stage"] == BLOCKED:
        _roll(state)
    elif seat + 1 < np.int64(state["num_players"]):
        state["player"] = seat + 1
    else:
        begin_turn(state, tables, work, 0)


@jit
def take(state, choice):
    """D1: these blocks out of the pile."""
    larger, smaller = LARGER[choice], SMALLER[choice]
    state["stock"][larger] -= np.uint8(1)
    if smaller:
        state["stock"][smaller] -= np.uint8(1)
    state["hand"][0], state["hand"][1] = larger, smaller
    state["stage"] = BUILDING


@jit
def pick(state, number):
    """Half of a placement: this block, along this axis."""
    state["picked_length"], state["picked_axis"] = number // 3 + 1, number % 3
    state["stage"] = LAYING


@jit(apart=True)
def lay(state, tables, work, cell):
    """The other half: its least cell. Then the next block, or the end of building."""
    length, axis = np.int64(state["picked_length"]), np.int64(state["picked_axis"])
    state["picked_length"], state["picked_axis"] = 0, 0
    other, first = other_in_hand(state, length), np.int64(state["num_blocks"])
    block = put_block(state, length, axis, cell % WIDTH, cell % AREA // WIDTH, cell // AREA)
    state["hand"][0], state["hand"][1] = other, 0
    state["moved"] = 0
    state["stage"] = BUILDING if other else DONE
    if other:
        _judge_first(state, tables, work, block, other)
        return
    was_falling = state["falling"] != 0
    if tables["may_fall"]:
        code = judge_two(state, work, block, first) if was_falling else judge(state, work, block, False)
        if code < 0:
            _fall(state, 2 if was_falling else 1)
            return
    state["falling"] = 0
    if tables["fantasy"]:
        next_turn(state, tables, work)


@jit(apart=True)
def _judge_first(state, tables, work, block, other):
    """B3 (21): the first of two may need the second to stand. B4: if none can help, that was the end."""
    if judge(state, work, block, True) > 0:
        return
    state["falling"] = 1
    if tables["may_fall"] and not find_savers(state, tables, work, block, other, False):
        _fall(state, 1)


@jit
def walk(state, place):
    """P1: the pawn goes to a top. F1: the first one on level 10 wins."""
    seat = np.int64(state["player"])
    state["pawn_x"][seat], state["pawn_y"][seat] = place % WIDTH, place % AREA // WIDTH
    state["pawn_level"][seat] = place // AREA + 1
    state["moved"] = 1
    if state["pawn_level"][seat] == TOP:
        _finish(state, REACHED)


# ---- what is legal


@jit(inline=True)
def may_walk(state):
    """Is it a time for the pawn to move? (P1; not while the first block needs the second: 21)"""
    is_time = state["stage"] in (BUILDING, DONE)
    return is_time and state["moved"] == 0 and state["falling"] == 0 and state["pawn_level"][0] != NOWHERE


@jit(apart=True)
def leaves_places(state, tables, work, place):
    """P1: could the blocks in hand still be placed if the pawn stood there? A winning move need not care."""
    if state["stage"] == DONE or place // AREA + 1 == TOP:
        return True
    seat = np.int64(state["player"])
    x, y, level = state["pawn_x"][seat], state["pawn_y"][seat], state["pawn_level"][seat]
    state["pawn_x"][seat], state["pawn_y"][seat] = place % WIDTH, place % AREA // WIDTH
    state["pawn_level"][seat] = place // AREA + 1
    forget_sure(work)
    is_legal = has_places(state, tables, work, np.int64(state["hand"][0]), np.int64(state["hand"][1]))
    state["pawn_x"][seat], state["pawn_y"][seat], state["pawn_level"][seat] = x, y, level
    forget_sure(work)
    return is_legal


@jit
def _may_lay(state, tables, work, cell):
    length, axis = np.int64(state["picked_length"]), np.int64(state["picked_axis"])
    x, y, z = cell % WIDTH, cell % AREA // WIDTH, cell // AREA
    find_free(state, tables, work["free"][0])
    if not does_fit(state, work["free"][0], length, axis, (x, y, z)):
        return False
    return may_place(state, tables, work, length, (axis, x, y, z))


@jit
def _can_walk(state, tables, work, place):
    if not may_walk(state):
        return False
    for k in range(find_tops(state, work, np.int64(state["player"]))):
        if work["queue"][k] == place:
            return leaves_places(state, tables, work, place)
    return False


@jit
def _is_choice(state, tables, work, choice):
    total = LARGER[choice] + SMALLER[choice]
    return total == state["die"] and is_offered(state, tables, work, LARGER[choice], SMALLER[choice])


@jit
def is_field(state, tables, cell):
    """May the pawn be put on that cell of the board? (S1, P5)"""
    if state["stage"] == STARTING and tables["has_symmetric"]:
        return cell == tables["symmetric"][np.int64(state["player"])]
    return may_start(state, tables, cell % WIDTH, cell // WIDTH)


@jit(apart=True)
def may_do(state, tables, work, move):
    """Is a move legal? Any number may be asked."""
    stage = state["stage"]
    forget_sure(work)
    if move < 0 or state["chance"]:
        return False
    if move < WALK:
        return stage == LAYING and _may_lay(state, tables, work, move)
    if move < FIELD:
        return _can_walk(state, tables, work, move - WALK)
    if move < PICK:
        return stage in (STARTING, BLOCKED) and is_field(state, tables, move - FIELD)
    if move < TAKE:
        length, axis = (move - PICK) // 3 + 1, (move - PICK) % 3
        is_held = state["hand"][0] == length or state["hand"][1] == length
        return stage == BUILDING and is_held and has_pick(state, tables, work, length, axis)
    if move < STAY:
        return stage == TAKING and _is_choice(state, tables, work, move - TAKE)
    return (move == STAY and stage == BLOCKED) or (move == END and stage == DONE)


@jit(apart=True)
def do(state, tables, work, move):
    """Play a legal move, up to where the die is due."""
    state["ply"] += np.uint16(1)
    if move < WALK:
        lay(state, tables, work, move)
    elif move < FIELD:
        walk(state, move - WALK)
    elif move < PICK:
        put_pawn(state, tables, work, move - FIELD)
    elif move < TAKE:
        pick(state, move - PICK)
    elif move < STAY:
        take(state, move - TAKE)
    elif move == STAY:
        _roll(state)
    else:
        next_turn(state, tables, work)


# ---- lists


@jit(apart=True)
def list_tops(state, tables, work, out, n):
    """Write the legal moves of the pawn behind the first n; returns how many there are then."""
    if not may_walk(state):
        return n
    number, first = find_tops(state, work, np.int64(state["player"])), n
    for k in range(number):
        out[n] = WALK + np.int64(work["queue"][k])
        n += 1
    if state["stage"] == DONE:
        return n
    legal = first
    for k in range(first, n):  # `queue` is written over by nobody, but `out` is safe
        if leaves_places(state, tables, work, out[k] - WALK):
            out[legal] = out[k]
            legal += 1
    return legal


@jit(apart=True)
def list_cells(work, axis, out, n):
    """Write the cells in `fits` for that axis behind the first n; returns how many there are then."""
    for z in range(HEIGHT):
        for y in range(WIDTH):
            word = np.int64(work["fits"][axis, z, y])
            x = 0
            while word:
                if word & 1:
                    out[n] = z * AREA + y * WIDTH + x
                    n += 1
                word >>= 1
                x += 1
    return n


@jit
def list_fields(state, tables, out):
    n = 0
    for cell in range(AREA):
        if is_field(state, tables, cell):
            out[n] = FIELD + cell
            n += 1
    return n


@jit
def list_choices(state, tables, work, out):
    n = 0
    for choice in range(NUM_CHOICES):
        if _is_choice(state, tables, work, choice):
            out[n] = TAKE + choice
            n += 1
    return n


@jit(apart=True)
def list_picks(state, tables, work, out):
    n = 0
    for k in range(2):
        length = np.int64(state["hand"][k])
        if length == 0 or (k == 1 and state["hand"][0] == length):
            continue
        for axis in range(3):
            if (length > 1 or axis == UPRIGHT) and has_pick(state, tables, work, length, axis):
                out[n] = PICK + 3 * (length - 1) + axis
                n += 1
    return n


# ---- points


@jit
def count_points(state, tables, out):
    """Levels of the pawns; in Fantasy what the group has built, for each seat."""
    players = np.int64(state["num_players"])
    if not tables["fantasy"]:
        for seat in range(players):
            level = np.int64(state["pawn_level"][seat])
            out[seat] = 0 if level == NOWHERE else level
        return
    blocks = np.int64(state["num_blocks"]) - np.int64(state["num_fallen"]) - np.int64(state["falling"])
    level = 0
    for block in range(1, blocks + 1):
        tall = np.int64(state["length"][block]) if state["axis"][block] == UPRIGHT else 1
        level = max(level, np.int64(state["z"][block]) + tall)
    for seat in range(players):
        out[seat] = level if tables["three_feet"] else blocks + level
