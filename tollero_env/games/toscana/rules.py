"""The rules of Toscana, compiled. Rule numbers are those of docs/rules/toscana.md.

Verbs that Python calls take (states, i, tables, ...); inside, `state` and `tables` are records. A word of a bitboard is
one row, a bit of it the upper-left square of a tile that could be placed. Legal moves have one fixed order: VETO,
ALLOW; or places by rotation, then row, then column.
"""

import numpy as np

from tollero_env.bits import ONE, ZERO, bit, drop_lowest, lowest, popcount
from tollero_env.games.toscana.constants import (
    ALLOW,
    ASKED,
    CELLS,
    EDGES,
    OVER,
    PLACE,
    ROWS,
    SET_TILES,
    TAKEN,
    VERSION,
    VETO,
    WIDTH,
)
from tollero_env.jit import jit

_S1, _S2, _S3 = np.uint64(1), np.uint64(2), np.uint64(3)
_EACH_TILE = np.uint64(0x5555555555555555)  # one bit for the two pieces of a tile


# ---- places. Rotations 0 and 2 lie, two rows of four squares; 1 and 3 stand, four rows of two.


@jit(inline=True)
def _rows_of(words, y):
    """Four rows from y on."""
    return np.uint64(words[y]), np.uint64(words[y + 1]), np.uint64(words[y + 2]), np.uint64(words[y + 3])


@jit(inline=True)
def _room_lying(empty, y):
    a, b, _, _ = _rows_of(empty, y)
    room = a & b
    room &= room >> _S1
    return room & (room >> _S2)


@jit(inline=True)
def _room_standing(empty, y):
    a, b, c, d = _rows_of(empty, y)
    room = (a & b) & (c & d)
    return room & (room >> _S1)


@jit(inline=True)
def lying_row(empty, near, y):
    """Places in row y for a lying tile any square of which touches (R4)."""
    a, b, _, _ = _rows_of(near, y)
    touch = a | b
    touch |= touch >> _S1
    return _room_lying(empty, y) & (touch | (touch >> _S2))


@jit(inline=True)
def standing_row(empty, near, y):
    """The same for a standing tile."""
    a, b, c, d = _rows_of(near, y)
    touch = (a | b) | (c | d)
    return _room_standing(empty, y) & (touch | (touch >> _S1))


@jit(inline=True)
def _touching(near, own, columns):
    """Where one of these squares of a tile's row touches, by the column of the row's first square."""
    touch = ZERO
    for x in range(columns):
        touch |= (near >> np.uint64(x)) if (own >> np.uint64(x)) & ONE else ZERO
    return touch


@jit(inline=True)
def lying_row_by_colour(empty, near, own, y):
    """Places in row y for a lying tile with squares of the own colour in `own`, one of which touches."""
    a, b, _, _ = _rows_of(near, y)
    touch = _touching(a, np.uint64(own[0]), 4) | _touching(b, np.uint64(own[1]), 4)
    return _room_lying(empty, y) & touch


@jit(inline=True)
def standing_row_by_colour(empty, near, own, y):
    """The same for a standing tile."""
    a, b, c, d = _rows_of(near, y)
    touch = _touching(a, np.uint64(own[0]), 2) | _touching(b, np.uint64(own[1]), 2)
    touch |= _touching(c, np.uint64(own[2]), 2) | _touching(d, np.uint64(own[3]), 2)
    return _room_standing(empty, y) & touch


@jit(inline=True)
def must_match(state, tables):
    """Must the touching square be of the own colour? The first tile only has to cover the centre (R3)."""
    return tables["by_colour"] and state["num_tiles"] > 0


@jit(inline=True)
def place_row(state, tables, player, turned, y):
    """Places in row y for that player's tile (number * 4 + rotation)."""
    empty, near, own = state["empty"], state["near"][player], tables["own_rows"][turned]
    if must_match(state, tables):
        if turned & 1:
            return standing_row_by_colour(empty, near, own, y)
        return lying_row_by_colour(empty, near, own, y)
    return standing_row(empty, near, y) if turned & 1 else lying_row(empty, near, y)


@jit(inline=True)
def count_places(state, tables, player, turned):
    """Number of places for that player's tile (number * 4 + rotation)."""
    empty, near, own = state["empty"], state["near"][player], tables["own_rows"][turned]
    size = np.int64(tables["size"])
    count = 0
    if must_match(state, tables):
        if turned & 1:
            for y in range(size):
                count += popcount(standing_row_by_colour(empty, near, own, y))
        else:
            for y in range(size):
                count += popcount(lying_row_by_colour(empty, near, own, y))
    elif turned & 1:
        for y in range(size):
            count += popcount(standing_row(empty, near, y))
    else:
        for y in range(size):
            count += popcount(lying_row(empty, near, y))
    return count


@jit(inline=True)
def top_tile(state, player):
    """The number of the tile that the player must play; the stack is not empty."""
    return np.int64(state["stack"][player, np.int64(state["num_stack"][player]) - 1])


@jit(inline=True)
def has_place(state, tables, player, tile):
    """Can that player's tile be placed at all? (R6)"""
    size, turned = np.int64(tables["size"]), tile * 4
    rotations = 4 if must_match(state, tables) else 2
    for y in range(size):
        for rotation in range(rotations):
            if place_row(state, tables, player, turned + rotation, y):
                return True
    return False


# ---- laying tiles


@jit(inline=True)
def _mark_near(near, y, word):
    """The squares beside those in row y."""
    near[y] |= np.uint32((word << _S1) | (word >> _S1))
    near[y + 1] |= np.uint32(word)
    if y > 0:
        near[y - 1] |= np.uint32(word)


@jit(inline=True)
def lay(state, tables, player, turned, cell):
    """Put that player's tile (number * 4 + rotation) on the board. What is legal was asked before."""
    slot, tile, rotation = np.int64(state["num_tiles"]), turned >> 2, turned & 3
    state["num_tiles"] = slot + 1
    state["cell"][slot] = cell
    state["tile"][slot] = player * SET_TILES + tile
    state["rotation"][slot] = rotation
    top, left = cell // WIDTH, np.uint64(cell % WIDTH)
    for y in range(2 if rotation & 1 == 0 else 4):
        own = np.uint64(tables["own_rows"][turned, y]) << left
        other = np.uint64(tables["other_rows"][turned, y]) << left
        state["empty"][top + y] &= np.uint32(~(own | other))
        _mark_near(state["near"][player], top + y, own)
        _mark_near(state["near"][1 - player], top + y, other)
    base = TAKEN + 64 * player + 2 * slot
    for square in range(8):
        place = cell + np.int64(tables["offset"][rotation, square])
        state["square"][place] = base ^ np.int64(tables["piece"][tile, square])


# ---- turns


@jit(inline=True)
def _take_top(state, player):
    left = np.int64(state["num_stack"][player]) - 1
    state["stack"][player, left] = 0
    state["num_stack"][player] = left


@jit(inline=True)
def _sink_top(state, player):
    """R5: the top tile goes to the bottom of its stack."""
    size = np.int64(state["num_stack"][player])
    tile = state["stack"][player, size - 1]
    for k in range(size - 1, 0, -1):
        state["stack"][player, k] = state["stack"][player, k - 1]
    state["stack"][player, 0] = tile
    state["sunk"][player] = 1


@jit(inline=True)
def begin_round(state, tables, starter):
    """An empty board; the stacks are there."""
    for y in range(ROWS):
        state["empty"][y] = tables["board"][y]
        state["near"][0, y] = state["near"][1, y] = 0
    middle = np.int64(tables["size"]) >> 1
    # R3: the first tile has to touch the centre itself, which no later tile can cover
    state["near"][0, middle] = state["near"][1, middle] = np.uint32(1 << middle)
    state["num_tiles"] = state["passes"] = 0
    state["starter"] = starter
    for player in range(2):
        state["num_stack"][player] = SET_TILES
        state["sunk"][player] = 0
    begin_turn(state, starter)


@jit(inline=True)
def begin_turn(state, player):
    """That player's stack is not empty: what is decided first, not yet minding whether the tile can be placed."""
    is_asked = state["stone"][1 - player] == 1 and state["num_stack"][player] >= 2  # R5
    state["stage"] = ASKED if is_asked else PLACE
    state["player"] = 1 - player if is_asked else player


@jit(inline=True)
def _clear_board(state):
    for cell in range(CELLS):
        state["square"][cell] = 0
    for slot in range(np.int64(state["num_tiles"])):
        state["cell"][slot] = 0
        state["tile"][slot] = state["rotation"][slot] = 0


@jit(inline=True)
def _end_round(state, tables):
    """R7; then the next round begins, or the game is over."""
    number = np.int64(state["round"])
    state["points"][number, 0], state["points"][number, 1] = largest_areas(state, tables)
    if number + 1 == np.int64(tables["rounds"]):
        state["over"] = 1
        state["stage"] = OVER
        state["player"] = 0
        return
    _clear_board(state)
    state["round"] = number + 1
    for player in range(2):
        for k in range(SET_TILES):
            state["stack"][player, k] = state["later"][player, k]
            state["later"][player, k] = 0
        if tables["keeps_stone"] == 0:
            state["stone"][player] = 1
    begin_round(state, tables, 1 - np.int64(state["starter"]))  # T1


@jit(inline=True)
def next_turn(state, tables, player):
    """After a turn of the other player: this one's, or the end of the round (R6)."""
    if state["num_stack"][0] == 0 and state["num_stack"][1] == 0:
        _end_round(state, tables)
        return
    if state["num_stack"][player] == 0:
        state["passes"] += np.uint8(1)
        if state["passes"] == 2:
            _end_round(state, tables)
            return
        player = 1 - player
    begin_turn(state, player)


@jit(inline=True)
def pass_turn(state, tables):
    """R6: the player to place cannot."""
    state["passes"] += np.uint8(1)
    if state["passes"] == 2:
        _end_round(state, tables)
    else:
        next_turn(state, tables, 1 - np.int64(state["player"]))


@jit(inline=True)
def settle(state, tables):
    """Passes follow of themselves, until somebody has a choice."""
    while state["stage"] == PLACE:
        player = np.int64(state["player"])
        if has_place(state, tables, player, top_tile(state, player)):
            return
        pass_turn(state, tables)


@jit(inline=True)
def answer(state, is_veto):
    """The question of R5 is decided; the tile that now is on top is placed next, if it can be."""
    player = 1 - np.int64(state["player"])
    if is_veto:
        state["stone"][1 - player] = 0
        _sink_top(state, player)
    state["player"] = player
    state["stage"] = PLACE
    state["ply"] += np.uint16(1)


@jit(inline=True)
def place_tile(state, tables, rotation, cell):
    """The player to act places the top tile; passes of the others do not follow yet."""
    player = np.int64(state["player"])
    lay(state, tables, player, top_tile(state, player) * 4 + rotation, cell)
    _take_top(state, player)
    state["passes"] = 0
    state["ply"] += np.uint16(1)
    next_turn(state, tables, 1 - player)


# ---- moves


@jit(inline=True)
def allows(state, tables, move):
    if move < 0 or move > ALLOW or state["stage"] == OVER:
        return False
    if move >= VETO or state["stage"] == ASKED:
        return move >= VETO and state["stage"] == ASKED
    rotation, row, column = move // CELLS, move % CELLS // WIDTH, move % WIDTH
    if row >= np.int64(tables["size"]):
        return False
    player = np.int64(state["player"])
    places = place_row(state, tables, player, top_tile(state, player) * 4 + rotation, row)
    return (places & bit(column)) != ZERO


@jit(inline=True)
def play(state, tables, move):
    if move >= VETO:
        answer(state, move == VETO)
    else:
        place_tile(state, tables, move // CELLS, move % CELLS)
    settle(state, tables)


# ---- areas


@jit(inline=True)
def join_pieces(state, joined):
    """For each piece (64 * colour + 2 * slot + piece), the word of those it touches side to side."""
    for slot in range(np.int64(state["num_tiles"])):
        cell, edge = np.int64(state["cell"][slot]), np.int64(state["rotation"][slot]) & 1
        for k in range(6):
            here = np.int64(state["square"][cell + EDGES[edge, k, 0]])
            there = np.int64(state["square"][cell + EDGES[edge, k, 1]])
            is_same = np.uint64((here ^ there) & (TAKEN + 64) == 0)
            joined[here & 127] |= is_same << np.uint64(there & 63)
            joined[there & 127] |= is_same << np.uint64(here & 63)


@jit(inline=True)
def grow_area(joined, colour, piece):
    """All pieces that hang together with one."""
    area = rest = bit(piece)
    while rest:
        found = joined[64 * colour + lowest(rest)] & ~area
        area |= found
        rest = drop_lowest(rest) | found
    return area


@jit(inline=True)
def count_tiles(area):
    """R7: each tile once, however often it joins."""
    return popcount((area | (area >> _S1)) & _EACH_TILE)


@jit(inline=True)
def all_pieces(state, tables, colour):
    """The word of pieces of that colour on the board."""
    found = ZERO
    for slot in range(np.int64(state["num_tiles"])):
        tile = np.int64(state["tile"][slot])
        is_other = tile // SET_TILES ^ colour
        found |= np.uint64(tables["pieces"][tile % SET_TILES, is_other]) << np.uint64(2 * slot)
    return found


@jit(inline=True)
def _gather_areas(words, colour, rest):
    """Put its whole area in the place of each piece's word of neighbours; returns the most tiles of one."""
    best = 0
    while rest:
        area = grow_area(words, colour, lowest(rest))
        best = max(best, count_tiles(area))
        rest &= ~area
        left = area
        while left:
            words[64 * colour + lowest(left)] = area
            left = drop_lowest(left)
    return best


@jit(inline=True)
def find_areas(state, tables, words):
    """For each piece (as in `join_pieces`) the word of its area, into zeros; returns the tiles of the largest (R7)."""
    join_pieces(state, words)
    return _gather_areas(words, 0, all_pieces(state, tables, 0)), _gather_areas(words, 1, all_pieces(state, tables, 1))


@jit(inline=True)
def _largest(joined, rest, colour):
    best = 0
    while rest:
        area = grow_area(joined, colour, lowest(rest))
        best = max(best, count_tiles(area))
        rest &= ~area
    return best


@jit
def largest_areas(state, tables):
    """R7: for both colours, tiles in the area of most tiles, as the board stands."""
    joined = np.zeros(128, np.uint64)
    join_pieces(state, joined)
    return _largest(joined, all_pieces(state, tables, 0), 0), _largest(joined, all_pieces(state, tables, 1), 1)


@jit(inline=True)
def totals(state, tables):
    """Points of both seats: of the rounds that are over, and the areas of this one as they stand."""
    points = state["points"]
    a, b = np.int64(points[0, 0]) + np.int64(points[1, 0]), np.int64(points[0, 1]) + np.int64(points[1, 1])
    if state["over"]:
        return a, b
    c, d = largest_areas(state, tables)
    return a + c, b + d


@jit(inline=True)
def add_up(state, tables, out):
    """Write the points of each seat as they stand."""
    out[0], out[1] = totals(state, tables)


@jit(inline=True)
def open_match(state, tables, starter):
    """A state of zero bytes but for the stacks becomes the match before the first decision."""
    state["version"] = VERSION
    state["digest"] = tables["digest"]
    state["num_players"] = tables["num_players"]
    state["stone"][0] = state["stone"][1] = 1
    begin_round(state, tables, starter)
