"""Positions of Talō as arrays, compiled: own things first, then the others' in turn order. Nothing is hidden.

`show` writes into zeros; `follow` brings up to date what it wrote before the last move, touching only what changed.
"""

import numpy as np

from tollero_env.games.talo.constants import (
    AREA,
    HEIGHT,
    LARGER,
    MAX_LENGTH,
    MAX_PLAYERS,
    NOWHERE,
    NUM_CHOICES,
    OVER,
    REACH,
    SMALLER,
    STAY,
    TAKE,
    WALK,
    WIDTH,
)
from tollero_env.games.talo.constants import PICK as FIRST_OTHER
from tollero_env.games.talo.features import (
    N_DIE,
    N_LEVELS,
    N_STOCK,
    N_TO_ACT,
    N_X,
    N_Y,
    NUM_NUMBERS,
    P_GREEN,
    P_LARGER,
    P_PAWNS,
)
from tollero_env.games.talo.grid import reach_of
from tollero_env.jit import jit


@jit(inline=True)
def _relative(seat, player, players):
    """How many turns after the observer that seat comes."""
    return seat - player if seat >= player else seat - player + players


@jit
def show_numbers(state, player, out):
    """Write the NUM_NUMBERS numbers."""
    out[:] = 0
    players = np.int64(state["num_players"])
    out[np.int64(state["stage"])] = 1
    if state["stage"] != OVER:
        out[N_TO_ACT + _relative(np.int64(state["player"]), player, players)] = 1
    for seat in range(players):
        place = _relative(seat, player, players)
        if state["pawn_level"][seat] != NOWHERE:
            out[N_LEVELS + place] = np.int64(state["pawn_level"][seat]) + 1
            out[N_X + place] = np.int64(state["pawn_x"][seat]) - REACH
            out[N_Y + place] = np.int64(state["pawn_y"][seat]) - REACH
    for length in range(1, MAX_LENGTH + 1):
        out[N_STOCK + length - 1] = state["stock"][length]
    out[N_DIE] = state["die"]
    out[N_DIE + 1] = state["rolls"]
    out[N_DIE + 2], out[N_DIE + 3] = state["hand"][0], state["hand"][1]
    out[N_DIE + 4] = state["picked_length"]
    out[N_DIE + 5] = np.int64(state["picked_axis"]) + 1 if state["picked_length"] else 0
    out[N_DIE + 6] = state["moved"]
    out[N_DIE + 7] = state["falling"]
    out[N_DIE + 8] = state["highest"]
    out[N_DIE + 9] = state["num_feet"]


@jit
def _show_block(state, block, out):
    x, y, z = np.int64(state["x"][block]), np.int64(state["y"][block]), np.int64(state["z"][block])
    length, axis = np.int64(state["length"][block]), np.int64(state["axis"][block])
    wide, deep, _ = reach_of(length, axis)
    for k in range(length):
        i, j = x + (k if wide > 1 else 0), y + (k if deep > 1 else 0)
        up = k if wide == 1 and deep == 1 else 0
        out[((axis * HEIGHT + z + up) * WIDTH + j) * WIDTH + i] = k + 1


@jit
def _show_pawns(state, player, out):
    players = np.int64(state["num_players"])
    for seat in range(players):
        if state["pawn_level"][seat] != NOWHERE:
            place = P_PAWNS + _relative(seat, player, players)
            at = np.int64(state["pawn_y"][seat]) * WIDTH + np.int64(state["pawn_x"][seat])
            out[place * AREA + at] = np.int64(state["pawn_level"][seat]) + 1


@jit
def _show_fixed(tables, out):
    """The board, and what the actions of plane 10 mean."""
    for y in range(WIDTH):
        for x in range(WIDTH):
            out[(P_GREEN * WIDTH + y) * WIDTH + x] = (np.int64(tables["ground"][y]) >> x) & 1
            out[((P_GREEN + 1) * WIDTH + y) * WIDTH + x] = (np.int64(tables["start"][y]) >> x) & 1
    first = P_LARGER * AREA
    for choice in range(NUM_CHOICES):
        at = first + TAKE - FIRST_OTHER + choice
        out[at], out[at + AREA] = LARGER[choice], SMALLER[choice]
    for pick in range(3 * MAX_LENGTH):
        out[first + 2 * AREA + pick], out[first + 3 * AREA + pick] = pick // 3 + 1, pick % 3 + 1
    out[first + 4 * AREA + STAY - FIRST_OTHER], out[first + 4 * AREA + STAY - FIRST_OTHER + 1] = 1, 2


@jit
def show(state, tables, player, view, out, numbers):
    """What that player may know: planes into an array of zeros, and the numbers."""
    for block in range(1, np.int64(state["num_blocks"]) + 1):
        _show_block(state, block, out)
    _show_pawns(state, player, out)
    _show_fixed(tables, out)
    show_numbers(state, player, numbers)


@jit(inline=True)
def remember(state, player, memory):
    """Nothing of an observation need be known to bring it up to date."""


@jit
def follow(state, tables, player, view, move, memory, out, numbers):
    """Bring the arrays up to date after one move of any player."""
    if move < WALK:
        _show_block(state, np.int64(state["num_blocks"]), out)
    out[P_PAWNS * AREA : (P_PAWNS + MAX_PLAYERS) * AREA] = 0
    _show_pawns(state, player, out)
    show_numbers(state, player, numbers)


@jit
def show_tail(tables, view, numbers, out, fresh):
    """The numbers as constant planes; if not `fresh`, those that have changed."""
    for k in range(NUM_NUMBERS):
        if fresh or out[k * AREA] != numbers[k]:
            out[k * AREA : (k + 1) * AREA] = numbers[k]
