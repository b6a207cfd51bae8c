"""Positions of Toscana as arrays: what a player may know, own things first.

`show` writes into zeros; `follow` brings up to date what it wrote before the last move, touching only what changed.
`view` is the side of the board.
"""

import numpy as np

from tollero_env.games.toscana.constants import OVER, ROW_BITS, SET_TILES, VETO, WIDTH
from tollero_env.games.toscana.features import (
    N_AREAS,
    N_LEFT,
    N_PASSED,
    N_ROUND,
    N_ROUNDS_LEFT,
    N_SCORES,
    N_STACKS,
    N_STONES,
    N_SUNK,
    N_TO_ACT,
    N_TOP,
    N_TOP_TILE,
    NUM_NUMBERS,
    P_AREA,
    P_JOINED,
)
from tollero_env.games.toscana.rules import count_tiles, find_areas, top_tile
from tollero_env.jit import jit

# What `follow` must know of the observation before, by place in its memory.
OBSERVER, ROUND = 0, 1


# ---- the numbers beside the board


@jit(inline=True)
def _show_stack(state, tables, seat, place, out):
    """What is known of a stack, in the first or second place."""
    size = np.int64(state["num_stack"][seat])
    out[N_STONES + place] = state["stone"][seat]
    out[N_STACKS + place] = size
    for k in range(SET_TILES):
        out[N_LEFT + place * SET_TILES + k] = 0
    for k in range(size):
        out[N_LEFT + place * SET_TILES + np.int64(state["stack"][seat, k])] = 1
    for k in range(8):
        out[N_TOP + place * 8 + k] = 0
    out[N_TOP_TILE + place] = out[N_SUNK + place] = 0
    if size == 0:
        return
    tile = top_tile(state, seat)
    for k in range(8):
        is_other = np.int64(tables["piece"][tile, k]) >> 6 ^ place
        out[N_TOP + place * 8 + k] = 1 - 2 * is_other
    out[N_TOP_TILE + place] = tile + 1
    if state["sunk"][seat]:
        out[N_SUNK + place] = state["stack"][seat, 0] + 1


@jit(inline=True)
def _show_numbers(state, tables, player, areas, out):
    """Write the NUM_NUMBERS numbers; `areas` by colour."""
    for k in range(N_SCORES):
        out[k] = 0
    out[np.int64(state["stage"])] = 1
    if state["stage"] != OVER:
        out[N_TO_ACT + (np.int64(state["player"]) ^ player)] = 1
    for place in range(2):
        seat = player ^ place
        points = np.int64(state["points"][0, seat]) + np.int64(state["points"][1, seat])
        out[N_SCORES + place] = points + (0 if state["over"] else areas[seat])
        out[N_AREAS + place] = areas[seat]
        _show_stack(state, tables, seat, place, out)
    is_over = np.int64(state["over"])
    out[N_ROUND] = np.int64(state["round"]) + is_over
    out[N_ROUNDS_LEFT] = np.int64(tables["rounds"]) - 1 - np.int64(state["round"])
    out[N_PASSED] = state["passes"] > 0


# ---- the board


@jit(inline=True)
def _show_tile(state, player, slot, view, out):
    """Colours and outline of a tile."""
    area, is_standing = view * view, np.int64(state["rotation"][slot]) & 1
    last_row, last_column = 1 + 2 * is_standing, 3 - 2 * is_standing
    for k in range(8):
        row, column = k >> (2 - is_standing), k & last_column
        cell = np.int64(state["cell"][slot]) + row * WIDTH + column
        place = (cell >> ROW_BITS) * view + (cell & (WIDTH - 1))
        colour = (np.int64(state["square"][cell]) >> 6) & 1
        out[(colour ^ player) * area + place] = 1
        out[P_JOINED * area + place] = row > 0
        out[(P_JOINED + 1) * area + place] = column < last_column
        out[(P_JOINED + 2) * area + place] = row < last_row
        out[(P_JOINED + 3) * area + place] = column > 0


@jit
def _show_areas(state, tables, view, out):
    """Write for every square how many tiles its area has; returns the largest of each colour."""
    words = np.zeros(128, np.uint64)
    best = find_areas(state, tables, words)
    for slot in range(np.int64(state["num_tiles"])):
        first, rotation = np.int64(state["cell"][slot]), np.int64(state["rotation"][slot])
        place = (P_AREA * view + (first >> ROW_BITS)) * view + (first & (WIDTH - 1))
        for k in range(8):
            offset = np.int64(tables["offset"][rotation, k])
            piece = np.int64(state["square"][first + offset]) & 127
            out[place + (offset >> ROW_BITS) * view + (offset & (WIDTH - 1))] = count_tiles(words[piece])
    return best


@jit(inline=True)
def show(state, tables, player, view, out, numbers):
    """What that player may know: the board into an array of zeros, and the numbers."""
    for slot in range(np.int64(state["num_tiles"])):
        _show_tile(state, player, slot, view, out)
    areas = _show_areas(state, tables, view, out)
    _show_numbers(state, tables, player, areas, numbers)


@jit(inline=True)
def remember(state, player, memory):
    """Note what `follow` must know of the observation just written."""
    memory[OBSERVER] = player
    memory[ROUND] = state["round"]


@jit(inline=True)
def _swap_colours(view, out):
    """The other player looks on: own and other change places."""
    area = view * view
    for place in range(area):
        out[place], out[area + place] = out[area + place], out[place]


@jit(inline=True)
def follow(state, tables, player, view, move, memory, out, numbers):
    """Bring the arrays up to date after one move of any player, and the memory too."""
    before = np.int64(memory[OBSERVER])
    if memory[ROUND] != np.int64(state["round"]):
        out[: (P_AREA + 1) * view * view] = 0
        show(state, tables, player, view, out, numbers)
    else:
        areas = (np.int64(numbers[N_AREAS + before]), np.int64(numbers[N_AREAS + 1 - before]))
        if before != player:
            _swap_colours(view, out)
        if move < VETO:
            _show_tile(state, player, np.int64(state["num_tiles"]) - 1, view, out)
            areas = _show_areas(state, tables, view, out)
        _show_numbers(state, tables, player, areas, numbers)
    remember(state, player, memory)


# ---- the one array of the envs: the board first, then a tail made of the numbers


@jit(inline=True)
def show_tail(tables, view, numbers, out, fresh):
    """Constant planes, one for each number; if not `fresh`, those that have changed."""
    area = view * view
    for k in range(NUM_NUMBERS):
        value = np.int64(numbers[k])
        if fresh or out[k * area] != value:
            out[k * area : (k + 1) * area] = value
