"""What a place is worth, and rounds of Toscana played out: tiles go to the best of a few places drawn at random."""

import numpy as np

from tollero_env.bits import ZERO
from tollero_env.games.toscana.constants import ASKED, WIDTH
from tollero_env.games.toscana.protocol import draw_place
from tollero_env.games.toscana.rules import answer, count_tiles, find_areas, pass_turn, place_tile, top_tile
from tollero_env.games.toscana.tiles import turned
from tollero_env.jit import jit
from tollero_env.rng import below, draw_number, stream

_SQUARES = ("0123", "4567")


def _sides(rotation):
    """For each side of a tile so turned: the square inside, and the cell outside counted from the upper-left square."""
    rows = turned(_SQUARES, rotation)
    inside = {(y, x): int(square) for y, row in enumerate(rows) for x, square in enumerate(row)}
    sides = []
    for (y, x), square in inside.items():
        for down, right in ((-1, 0), (0, 1), (1, 0), (0, -1)):
            if (y + down, x + right) not in inside:
                sides.append((square, (y + down) * WIDTH + x + right))
    return sides


# A cell above the first row has a negative index, which numpy counts from the end: row 31, where nothing ever lies.
SIDES = np.array([_sides(rotation) for rotation in range(4)])


@jit(inline=True)
def _joined_tiles(a, b, has_second):
    """Tiles of the larger area that a new tile makes with one or two pieces that touch these areas."""
    if has_second and not a & b:
        return 1 + max(count_tiles(a), count_tiles(b))
    return 1 + count_tiles(a | b)


@jit(inline=True)
def weigh_place(state, tables, player, tile, rotation, cell, words, best):
    """Own area less the other's, in tiles, once that player's tile lies there; `words`, `best` as of `find_areas`."""
    own0, own1, other0, other1 = ZERO, ZERO, ZERO, ZERO
    for k in range(12):
        there = np.int64(state["square"][cell + SIDES[rotation, k, 1]])
        code = np.int64(tables["piece"][tile, SIDES[rotation, k, 0]])
        if there == 0 or ((there ^ code) >> 6) & 1 != player:
            continue
        area = words[there & 127]
        if code == 0:
            own0 |= area
        elif code == 1:
            own1 |= area
        elif code == 64:
            other0 |= area
        else:
            other1 |= area
    own = _joined_tiles(own0, own1, tables["pieces"][tile, 0] == 3)
    other = _joined_tiles(other0, other1, tables["pieces"][tile, 1] == 3)
    return max(own, best[player]) - max(other, best[1 - player])


@jit(inline=True)
def _best_drawn(state, tables, player, tile, word, tries):
    """(rotation, cell) of the best of so many places drawn at random; rotation -1 if there is none."""
    rotation, cell = draw_place(state, tables, player, tile * 4, word)
    if rotation < 0 or tries == 1:
        return rotation, cell
    words = np.zeros(128, np.uint64)
    best = find_areas(state, tables, words)
    most = weigh_place(state, tables, player, tile, rotation, cell, words, best)
    for number in range(1, tries):
        turn, place = draw_place(state, tables, player, tile * 4, draw_number(word, number))
        worth = weigh_place(state, tables, player, tile, turn, place, words, best)
        if worth > most:
            rotation, cell, most = turn, place, worth
    return rotation, cell


@jit
def play_round(state, tables, seed, tries, odds):
    """To the end of this round; one question in `odds` is answered with a veto."""
    base, number = stream(seed, 1), state["round"]
    while state["over"] == 0 and state["round"] == number:
        word = draw_number(base, np.int64(state["ply"]))
        if state["stage"] == ASKED:
            answer(state, below(word, odds) == 0)
            continue
        player = np.int64(state["player"])
        rotation, cell = _best_drawn(state, tables, player, top_tile(state, player), word, tries)
        if rotation < 0:
            pass_turn(state, tables)
        else:
            place_tile(state, tables, rotation, cell)
