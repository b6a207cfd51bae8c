"""A player made by hand, compiled: it builds steps for its own pawn, and looks at what the next player could do.

It looks one turn ahead: every place for every block that the roll offers, by how high its own pawn could then walk, and
how high the others could. Blocks far from where pawns walk change nothing, and are not looked at twice.
"""

import numpy as np

from tollero_env.games.talo.constants import (
    AREA,
    BLOCKED,
    BUILDING,
    CELLS,
    DONE,
    END,
    FIELD,
    HEIGHT,
    LARGER,
    LAYING,
    PICK,
    REACH,
    SIDE,
    SMALLER,
    STARTING,
    STAY,
    TAKE,
    TAKING,
    TOP,
    WALK,
    WIDTH,
)
from tollero_env.games.talo.grid import drop_block, find_fits, find_free, put_block, reach_of
from tollero_env.games.talo.placing import forget_sure, may_place
from tollero_env.games.talo.protocol import list_with, play_with
from tollero_env.games.talo.rules import list_choices, list_fields, list_tops
from tollero_env.games.talo.state import WORK, hold
from tollero_env.games.talo.statics import judge
from tollero_env.games.talo.walking import find_tops
from tollero_env.jit import jit
from tollero_env.rng import below, draw_number, stream

# What a position is worth to a seat: levels that pawns could walk to, and how many tops of the highest level.
_OWN, _NEXT, _OTHER, _WIDE, _MOST_WIDE = 16.0, 9.0, 3.0, 1.0, 6.0
_WON = 1000.0
_NOISE = 0.5
_NEVER = -1e9
_PAIR_BONUS = 0.5  # two blocks are more use than one, all else being equal
_ROOM = 4096  # places that are rated, far more than there are
_MAX_TRIED = 60  # places whose balance is asked for before another block is


@jit
def _worth_of(state, work, seat):
    """What its pawn's ways are worth to the seat itself."""
    level = np.int64(state["pawn_level"][seat])
    best, number = level, 0
    for k in range(find_tops(state, work, seat)):
        top = np.int64(work["queue"][k]) // AREA + 1
        if top > best:
            best, number = top, 0
        number += top == best
    return best, min(np.float64(number), _MOST_WIDE) * _WIDE


@jit(apart=True)
def _worth(state, work, seat):
    """What the position is worth to a seat that has just built."""
    players = np.int64(state["num_players"])
    best, wide = _worth_of(state, work, seat)
    if best == TOP:
        return _WON
    worth = _OWN * best + wide
    for k in range(1, players):
        other, _ = _worth_of(state, work, (seat + k) % players)
        worth -= (_NEXT if k == 1 else _OTHER) * other
    return worth


@jit
def _mark_ways(state, work, ways):
    """Columns of the pawns and of all tops they walk on, and those beside: blocks elsewhere change no way."""
    for y in range(WIDTH):
        ways[y] = 0
    for seat in range(np.int64(state["num_players"])):
        number = find_tops(state, work, seat)
        for k in range(-1, number):
            if k < 0:
                x, y = np.int64(state["pawn_x"][seat]), np.int64(state["pawn_y"][seat])
            else:
                place = np.int64(work["queue"][k])
                x, y = place % WIDTH, place % AREA // WIDTH
            for j in range(max(y - 1, 0), min(y + 2, WIDTH)):
                word = (1 << x) | (((1 << x) << 1) | ((1 << x) >> 1) if j == y else 0)
                ways[j] |= np.int32(word & 0xFFFFFF)


@jit
def _touches(ways, length, axis, x, y):
    wide, deep, _ = reach_of(length, axis)
    word = ((1 << wide) - 1) << x
    for j in range(y, y + deep):
        if np.int64(ways[j]) & word:
            return True
    return False


@jit(apart=True)
def _rate_all(state, tables, work, length, seed, codes, worths):
    """Every place where the block fits, as axis * CELLS + cell, with its worth; returns how many."""
    seat, highest = np.int64(state["player"]), np.int64(state["highest"])
    ways = np.empty(WIDTH, np.int32)
    _mark_ways(state, work, ways)
    still = _worth(state, work, seat)
    find_free(state, tables, work["free"][0])
    n = 0
    for axis in range(3):
        find_fits(state, work["free"][0], length, axis, work["fits"][axis])
        for z in range(HEIGHT):
            for y in range(WIDTH):
                word, x = np.int64(work["fits"][axis, z, y]), 0
                while word and n < _ROOM:
                    if word & 1:
                        worth = still
                        if _touches(ways, length, axis, x, y):
                            put_block(state, length, axis, x, y, z)
                            worth = _worth(state, work, seat)
                            drop_block(state, highest)
                        codes[n] = axis * CELLS + z * AREA + y * WIDTH + x
                        worths[n] = worth + _NOISE * below(draw_number(seed, n), 1024) / 1024
                        n += 1
                    word >>= 1
                    x += 1
    return n


@jit
def _keep_axis(codes, worths, number, axis):
    """Forget places along other axes."""
    for k in range(number):
        if codes[k] // CELLS != axis:
            worths[k] = _NEVER


@jit(apart=True)
def _best_legal(state, tables, work, length, number, codes, worths, most):
    """The most valuable place that is legal; -1 if none is among so many that were tried."""
    for _ in range(min(number, most)):
        best = 0
        for k in range(1, number):
            if worths[k] > worths[best]:
                best = k
        if worths[best] == _NEVER:
            return -1
        axis, cell = codes[best] // CELLS, codes[best] % CELLS
        if may_place(state, tables, work, length, (axis, cell % WIDTH, cell % AREA // WIDTH, cell // AREA)):
            if not tables["may_fall"] or _stands(state, work, length, axis, cell):
                return best
        worths[best] = _NEVER
    return -1


@jit
def _stands(state, work, length, axis, cell):
    """Where falling is allowed, it is not wanted."""
    highest = np.int64(state["highest"])
    block = put_block(state, length, axis, cell % WIDTH, cell % AREA // WIDTH, cell // AREA)
    code = judge(state, work, block, False)
    drop_block(state, highest)
    return code > 0


@jit(apart=True)
def _best_place(state, tables, work, length, seed, most):
    """(worth, axis * CELLS + cell) of the best place for a block; (_NEVER, -1) if none was found."""
    codes, worths = np.empty(_ROOM, np.int64), np.empty(_ROOM)
    number = _rate_all(state, tables, work, length, seed, codes, worths)
    best = _best_legal(state, tables, work, length, number, codes, worths, most)
    if best < 0:
        return _NEVER, -1
    return worths[best], codes[best]


@jit(apart=True)
def _rate_choice(state, tables, work, larger, smaller, seed):
    """What it would be worth to have these blocks: the better order of placing them one by one."""
    state["hand"][0], state["hand"][1] = larger, smaller
    forget_sure(work)
    best = _NEVER
    for k in range(2 if smaller and smaller != larger else 1):
        length, other = (larger, smaller) if k == 0 else (smaller, larger)
        worth, code = _best_place(state, tables, work, length, seed, _MAX_TRIED)
        if code >= 0 and other:
            worth = _rate_second(state, tables, work, length, code, other, seed)
        best = max(best, worth)
    state["hand"][0], state["hand"][1] = 0, 0
    forget_sure(work)
    return best + (_PAIR_BONUS if smaller else 0.0)


@jit
def _rate_second(state, tables, work, length, code, other, seed):
    highest, cell = np.int64(state["highest"]), code % CELLS
    block = put_block(state, length, code // CELLS, cell % WIDTH, cell % AREA // WIDTH, cell // AREA)
    state["hand"][0], state["hand"][1] = other, 0
    state["falling"] = judge(state, work, block, False) < 0
    forget_sure(work)
    worth, _ = _best_place(state, tables, work, other, seed, _MAX_TRIED)
    state["falling"] = 0
    drop_block(state, highest)
    return worth


@jit(apart=True)
def _climb_take(state, tables, work, seed):
    out = np.empty(32, np.int64)
    number = list_choices(state, tables, work, out)
    best, choice = _NEVER - 1.0, out[0]
    for k in range(number):
        larger, smaller = LARGER[out[k] - TAKE], SMALLER[out[k] - TAKE]
        worth = _rate_choice(state, tables, work, larger, smaller, seed)
        if worth > best:
            best, choice = worth, out[k]
    return choice


@jit(apart=True)
def _climb_pick(state, tables, work, seed):
    """The block whose best place is best, and that place as a pick."""
    best, move = _NEVER, -1
    if state["falling"] == 0 or tables["may_fall"]:
        for k in range(2):
            length = np.int64(state["hand"][k])
            if length and not (k == 1 and state["hand"][0] == length):
                worth, code = _best_place(state, tables, work, length, seed, _MAX_TRIED)
                if code >= 0 and worth > best:
                    best, move = worth, PICK + 3 * (length - 1) + code // CELLS
    return move


@jit(apart=True)
def _climb_lay(state, tables, work, seed):
    codes, worths = np.empty(_ROOM, np.int64), np.empty(_ROOM)
    length = np.int64(state["picked_length"])
    number = _rate_all(state, tables, work, length, seed, codes, worths)
    _keep_axis(codes, worths, number, np.int64(state["picked_axis"]))
    best = _best_legal(state, tables, work, length, number, codes, worths, _MAX_TRIED)
    return codes[best] % CELLS if best >= 0 else -1


@jit
def _best_top(state, moves, number):
    """The highest place to go to, -1 if the pawn stands as high; the last of several, for it is the furthest."""
    best, level = -1, np.int64(state["pawn_level"][np.int64(state["player"])])
    for k in range(number):
        if WALK <= moves[k] < FIELD and (moves[k] - WALK) // AREA + 1 > level:
            best, level = moves[k], (moves[k] - WALK) // AREA + 1
    return best


@jit
def _most_central(moves, number):
    """The field nearest to the middle of the board."""
    best, least = moves[0], 1 << 20
    for k in range(number):
        if FIELD <= moves[k] < PICK:
            x, y = (moves[k] - FIELD) % WIDTH - REACH, (moves[k] - FIELD) // WIDTH - REACH
            away = (2 * x - SIDE + 1) ** 2 + (2 * y - SIDE + 1) ** 2
            if away < least:
                best, least = moves[k], away
    return best


@jit(apart=True)
def climb(state, tables, work, seed, out):
    """The climber's move; `out` is room for a list of moves."""
    from_list = -1
    forget_sure(work)
    stage = state["stage"]
    base = stream(seed, 3)
    if stage in (STARTING, BLOCKED):
        number = list_fields(state, tables, out)
        return _most_central(out, number) if number else STAY
    if stage == TAKING:
        return _climb_take(state, tables, work, base)
    if stage == LAYING:
        from_list = _climb_lay(state, tables, work, base)
    elif stage == BUILDING:
        top = _best_top(state, out, list_tops(state, tables, work, out, 0))
        if top >= 0 and (top - WALK) // AREA + 1 == TOP:
            return top
        from_list = _climb_pick(state, tables, work, base)
    elif stage == DONE:
        top = _best_top(state, out, list_tops(state, tables, work, out, 0))
        return top if top >= 0 else END
    return from_list


@jit(apart=True)
def _choose(state, tables, work, seed, out):
    move = climb(state, tables, work, seed, out)
    if move >= 0:
        return move
    return out[below(draw_number(stream(seed, 4), 0), list_with(state, tables, work, out))]


@jit(entry=True)
def choose_many(states, tables, games, seeds, out):
    """Write the climber's move for each of the games to `out`."""
    scratch, buffer = np.empty(1, WORK), np.empty(2 * CELLS, np.int64)
    for k in range(games.shape[0]):
        out[k] = _choose(states[games[k]], tables[0], scratch[0], seeds[k], buffer)
    hold(scratch)


@jit(entry=True)
def climb_on(states, i, tables, seed, most):
    """Let the climber play every seat for so many moves, or to the end; returns how many moves it made."""
    scratch, buffer = np.empty(1, WORK), np.empty(2 * CELLS, np.int64)
    number = 0
    while number < most and not states[i]["over"]:
        move = _choose(states[i], tables[0], scratch[0], stream(seed, number), buffer)
        play_with(states[i], tables[0], scratch[0], move)
        number += 1
    hold(scratch)
    return number
