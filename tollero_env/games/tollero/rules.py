"""The rules of Tollero, compiled. Rule numbers are those of docs/rules/tollero.md.

Verbs that Python calls take (states, i, tables, ...); inside, `state` and `tables` are records and words are sets of
slots. Legal moves have one fixed order: laying by rotation, then by edge entry; building by lot, then by slot.
"""

import numpy as np

from tollero_env.bits import ONE, ZERO, bit, drop_lowest, equal16, lowest, matching
from tollero_env.games.tollero.constants import (
    ANYWHERE,
    BUILD,
    CELLS,
    CENTRE,
    CONTRACT,
    DOWNTOWN_TILES,
    EXPAND,
    FIRST,
    MAX_PLAYERS,
    NO_ENTRY,
    NO_TILE,
    OVER,
    SECOND,
    SLOTS,
    SPARE_ENTRY,
    START_STARS,
    STEPS,
    VERSION,
)
from tollero_env.jit import jit

_SPARE = ONE << np.uint64(SLOTS - 1)  # a slot no tile takes: loops unrolled by four land there once a word is empty

# ---- laying tiles


@jit(inline=True)
def fitting_entries(state, tables, tile, half):
    """Words of edge entries where `tile` (face * 4 + rotation) may be laid: entries half * 64 to half * 64 + 63."""
    # E2: entries without a canal have tag 0, which matches nothing; E3: both sides or neither
    return matching(state["edge_known"], state["edge_canals"], half * 64, np.int64(tables["canals"][tile]))


@jit(inline=True)
def fits(state, tables, face):
    """Is there a place for the tile? (E4)"""
    for tile in range(face * 4, face * 4 + 4):
        if fitting_entries(state, tables, tile, 0):
            return True
        if state["num_edge"] > 64 and fitting_entries(state, tables, tile, 1):
            return True
    return False


@jit(inline=True)
def find_entry(state, cell):
    """Index of an empty cell beside the city, NO_ENTRY if it is none."""
    found = equal16(state["edge_cell"], 0, cell)
    if state["num_edge"] > 64 and not found:
        return 64 + lowest(equal16(state["edge_cell"], 64, cell))
    return lowest(found) if found else NO_ENTRY


@jit(inline=True)
def _leave_edge(state, entry, last):
    """Drop an entry; the last one takes its place."""
    state["edge_cell"][entry] = state["edge_cell"][last]
    state["edge_known"][entry] = state["edge_known"][last]
    state["edge_canals"][entry] = state["edge_canals"][last]
    state["edge_slots"][entry] = state["edge_slots"][last]
    _empty_entry(state, last)


@jit(inline=True)
def _empty_entry(state, entry):
    state["edge_cell"][entry] = 0
    state["edge_known"][entry] = 0
    state["edge_canals"][entry] = 0
    state["edge_slots"][entry] = 0


@jit(inline=True)
def _touch_edge(state, entry, cell, side, slot, has_canal):
    """The tile in `slot` lies on that side of the empty cell: take it up into the edge."""
    state["edge_cell"][entry] = cell
    state["edge_known"][entry] |= np.uint8(1 << side)
    state["edge_canals"][entry] |= np.uint8((0x80 | (1 << side)) * has_canal)
    state["edge_slots"][entry] |= np.uint32((slot + 1) << (8 * side))


@jit(inline=True)
def _moved(beside, last, entry):
    return entry if beside == last else beside


@jit(inline=True)
def _touch_side(state, known, side, beside, size, cell, slot, canals):
    """Unless a tile lies there, the cell on that side of the new tile is on the edge; returns the edge's size."""
    is_tile = (known >> side) & 1
    is_new = (beside == NO_ENTRY) & (is_tile == 0)
    place = size if is_new else beside
    place = SPARE_ENTRY if is_tile else place  # branches here would be coin flips
    _touch_edge(state, place, cell + STEPS[side], side ^ 2, slot, (canals >> side) & 1)
    return size + is_new


@jit(inline=True)
def _earn(state, slot, lot, num_fountains):
    """So many more fountains point at that lot: the Floors on it earn at once (F4)."""
    building = np.int64(state["building"][slot, lot])
    state["stars"][building >> 5] += np.int16((building & 31) * num_fountains)


@jit(inline=True)
def _meet_tile(state, slot, side, other):
    """Fountains between two neighbours (M5): `other` lies on that side of `slot`. Lots d and d + 1 lie along side d."""
    jets = (np.int64(state["jets"][slot]) >> (2 * side)) & 3
    near, far = (side + 3) & 3, (side + 2) & 3  # the other tile's lots opposite to lots `side` and `side + 1`
    state["fountains"][other] += np.uint32(((jets & 1) << (8 * near)) + ((jets >> 1) << (8 * far)))
    _earn(state, other, near, jets & 1)
    _earn(state, other, far, jets >> 1)
    jets = (np.int64(state["jets"][other]) >> (2 * ((side + 2) & 3))) & 3
    state["fountains"][slot] += np.uint32(((jets & 1) << (8 * ((side + 1) & 3))) + ((jets >> 1) << (8 * side)))


@jit(inline=True)
def _join(state, slot, joined):
    """Canals of the new tile meet those of the tiles in `joined`: bring the words of near tiles up to date (B1)."""
    here = bit(slot)
    around = joined | here
    state["near1"][slot] = around
    within2 = around
    rest = joined
    while rest:
        other = lowest(rest)
        rest = drop_lowest(rest)
        within2 |= state["near1"][other]
        state["near1"][other] |= here
        state["near2"][other] |= around
    state["near2"][slot] = within2
    rest = within2 & ~around
    while rest:
        for _ in range(4):
            state["near2"][lowest(rest | _SPARE)] |= here
            rest = drop_lowest(rest)
    state["near2"][SLOTS - 1] = ZERO


@jit(inline=True)
def _put(state, tables, slot, cell, tile):
    """What a tile (face * 4 + rotation) brings to the table by itself."""
    state["num_tiles"] = slot + 1
    state["cell"][slot] = cell
    state["face"][slot] = tile >> 2
    state["rotation"][slot] = tile & 3
    state["value"][slot] = tables["value"][tile >> 2]
    state["jets"][slot] = tables["jets"][tile]
    state["fountains"][slot] = tables["fountains"][tile]
    foundations = np.uint64(tables["foundations"][tile])
    for lot in range(4):
        state["open_lots"][lot] |= ((foundations >> np.uint64(lot)) & ONE) << np.uint64(slot)


@jit(inline=True)
def lay(state, tables, entry, tile):
    """Put a tile (face * 4 + rotation) on an edge cell; returns its slot. What is legal was asked before."""
    cell = np.int64(state["edge_cell"][entry])
    # all four are looked up before anything is written: a vector load that overlaps a fresh store has to wait for it
    north, east = find_entry(state, cell + STEPS[0]), find_entry(state, cell + STEPS[1])
    south, west = find_entry(state, cell + STEPS[2]), find_entry(state, cell + STEPS[3])
    canals_met = np.int64(state["edge_canals"][entry])
    known = np.int64(state["edge_known"][entry])
    slots = np.int64(state["edge_slots"][entry])
    slot = np.int64(state["num_tiles"])
    num_edge = np.int64(state["num_edge"]) - 1
    _leave_edge(state, entry, num_edge)
    _put(state, tables, slot, cell, tile)
    canals = np.int64(tables["canals"][tile])
    size = _touch_side(state, known, 0, _moved(north, num_edge, entry), num_edge, cell, slot, canals)
    size = _touch_side(state, known, 1, _moved(east, num_edge, entry), size, cell, slot, canals)
    size = _touch_side(state, known, 2, _moved(south, num_edge, entry), size, cell, slot, canals)
    size = _touch_side(state, known, 3, _moved(west, num_edge, entry), size, cell, slot, canals)
    state["num_edge"] = size
    _empty_entry(state, SPARE_ENTRY)
    joined = ZERO
    rest = np.uint64(known)
    while rest:
        side = lowest(rest)
        rest = drop_lowest(rest)
        other = ((slots >> (8 * side)) & 255) - 1
        _meet_tile(state, slot, side, other)
        joined |= np.uint64((canals_met >> side) & 1) << np.uint64(other)
    _join(state, slot, joined)
    return slot


# ---- building


@jit(inline=True)
def find_reached(state, slot, steps):
    """Tiles at most that many steps from a tile along joined canals (B1)."""
    near1, reached = state["near1"][slot], state["near2"][slot]
    if steps < 2:
        return near1 if steps else bit(slot)
    ring = near1 ^ bit(slot) if steps & 1 else reached & ~near1
    if steps == 2:
        ring = ZERO
    while True:  # two steps further from each tile of the outermost ring
        before = reached
        while ring:
            for _ in range(4):
                reached |= state["near2"][lowest(ring | _SPARE)]
                ring = drop_lowest(ring)
        if steps <= 4:
            return reached
        steps -= 2
        ring = reached & ~before


@jit(inline=True)
def find_targets(state):
    """Tiles on which the pending Floor may go, if they have a legal lot."""
    origin = np.int64(state["origin"])
    if origin == ANYWHERE:  # B4
        return (ONE << np.uint64(state["num_tiles"])) - ONE
    reached = find_reached(state, origin, np.int64(state["value"][origin]))
    if state["stage"] == SECOND:  # B3: never on that same tile
        reached &= ~bit(origin)
    return reached


@jit(inline=True)
def legal_lots(state, targets, lot):
    """Tiles among the targets whose lot the player may build on (B2)."""
    return targets & (state["open_lots"][lot] | state["own_lots"][np.int64(state["player"]), lot])


@jit(inline=True)
def can_build(state):
    """Is there a lot for the pending Floor? (B4)"""
    targets = find_targets(state)
    lots = legal_lots(state, targets, 0) | legal_lots(state, targets, 1)
    return (lots | legal_lots(state, targets, 2) | legal_lots(state, targets, 3)) != ZERO


@jit(inline=True)
def add_floor(state, slot, lot):
    """The player to act puts a Floor there."""
    player = np.int64(state["player"])
    height = (np.int64(state["building"][slot, lot]) & 31) + 1
    state["building"][slot, lot] = (player << 5) | height
    state["open_lots"][lot] &= ~bit(slot)
    state["own_lots"][player, lot] |= bit(slot)
    lead = np.int64(state["lead"][player, slot])
    state["lead"][player, slot] = (max(lead >> 5, height) << 5) + (lead & 31) + 1
    state["stars"][player] += np.int16((np.int64(state["fountains"][slot]) >> (8 * lot)) & 255)
    state["floors_left"][player] -= np.uint8(1)


# ---- turns


@jit(inline=True)
def draw_tile(state, player):
    """D1, S3, E4: the top tile of the pile into the hand; an empty pile leaves it empty."""
    size = np.int64(state["num_pile"])
    if size == 0:
        state["hand"][player] = NO_TILE
        return
    state["hand"][player] = state["pile"][size - 1]
    state["pile"][size - 1] = 0
    state["num_pile"] = size - 1


@jit(inline=True)
def _find_fitting(state, tables, player):
    """E4: put away tiles that fit nowhere until the hand holds one that does, or nothing."""
    while state["hand"][player] != NO_TILE and not fits(state, tables, np.int64(state["hand"][player])):
        gone = np.int64(state["num_gone"])
        state["gone"][gone] = state["hand"][player]
        state["num_gone"] = gone + 1
        draw_tile(state, player)


@jit(inline=True)
def _finish(state):
    state["over"] = 1
    state["stage"] = OVER
    state["origin"] = ANYWHERE
    state["player"] = 0


@jit(inline=True)
def _seek_turn(state, tables, player):
    """Start the turn of the first player, from this seat on, who can do anything; else the game is over (F1)."""
    num_players = np.int64(state["num_players"])
    state["origin"] = ANYWHERE
    for _ in range(num_players):
        if state["floors_left"][player] > 0:
            state["player"] = player
            _find_fitting(state, tables, player)
            if state["hand"][player] != NO_TILE:
                state["stage"] = EXPAND
                return
            state["stage"] = FIRST  # E4: Expand is skipped
            if can_build(state):
                return
        player = player + 1 if player + 1 < num_players else 0
    _finish(state)


@jit(inline=True)
def _all_built(state):
    for seat in range(MAX_PLAYERS):
        if state["floors_left"][seat] > 0:
            return False
    return True


@jit(inline=True)
def end_turn(state, tables):
    player = np.int64(state["player"])
    if state["floors_left"][player] == 0 and _all_built(state):  # F1: at once
        _finish(state)
        return
    if state["hand"][player] == NO_TILE:
        draw_tile(state, player)
    _seek_turn(state, tables, player + 1 if player + 1 < np.int64(state["num_players"]) else 0)


@jit(inline=True)
def expand(state, tables, entry, rotation):
    """Lay the tile in hand; the first Floor is next, if there is a lot for it."""
    player = np.int64(state["player"])
    face = np.int64(state["hand"][player])
    state["hand"][player] = NO_TILE
    state["origin"] = lay(state, tables, entry, face * 4 + rotation)
    state["stage"] = FIRST
    state["ply"] += np.uint16(1)


@jit(inline=True)
def place_floor(state, slot, lot):
    """Build a Floor; returns whether a second one is next, if there is a lot for it."""
    add_floor(state, slot, lot)
    state["ply"] += np.uint16(1)
    if state["stage"] == SECOND or state["floors_left"][np.int64(state["player"])] == 0:
        return False
    state["stage"] = SECOND
    state["origin"] = slot
    return True


# ---- the beginning


@jit(inline=True)
def open_city(state, tables):
    """A state of zero bytes but for the faces and rotations of Downtown becomes the table before hands are drawn."""
    state["version"] = VERSION
    state["digest"] = tables["digest"]
    state["num_players"] = tables["num_players"]
    for seat in range(np.int64(tables["num_players"])):
        state["floors_left"][seat] = tables["floors"]
    _put(state, tables, 0, CENTRE, CONTRACT * 4)  # S1
    _join(state, 0, ZERO)
    for side in range(DOWNTOWN_TILES):  # S2
        slot = 1 + side
        tile = np.int64(state["face"][slot]) * 4 + np.int64(state["rotation"][slot])
        _put(state, tables, slot, CENTRE + STEPS[side], tile)
        _meet_tile(state, 0, side, slot)
        _join(state, slot, np.uint64((np.int64(tables["canals"][CONTRACT * 4]) >> side) & 1))
    _open_edge(state, tables)


@jit(inline=True)
def _open_edge(state, tables):
    """The eight cells beside the contract and Downtown: two steps out on each side, and the corners between."""
    for side in range(4):
        after = (side + 1) & 3
        here = np.int64(state["face"][1 + side]) * 4 + np.int64(state["rotation"][1 + side])
        there = np.int64(state["face"][1 + after]) * 4 + np.int64(state["rotation"][1 + after])
        canals, canals_after = np.int64(tables["canals"][here]), np.int64(tables["canals"][there])
        cell = CENTRE + STEPS[side]
        _touch_edge(state, side, cell + STEPS[side], side ^ 2, 1 + side, (canals >> side) & 1)
        _touch_edge(state, 4 + side, cell + STEPS[after], after ^ 2, 1 + side, (canals >> after) & 1)
        _touch_edge(state, 4 + side, cell + STEPS[after], side ^ 2, 1 + after, (canals_after >> side) & 1)
    state["num_edge"] = 8


@jit(inline=True)
def first_turn(state, tables):
    """S3: hands are drawn in turn order; then seat 0 begins (S5)."""
    for seat in range(np.int64(state["num_players"])):
        draw_tile(state, seat)
    _seek_turn(state, tables, 0)


# ---- moves and scores


@jit(inline=True)
def allows(state, tables, move):
    if move < 0 or move >= BUILD + 4 * np.int64(state["num_tiles"]) or state["stage"] == OVER:
        return False
    if move >= BUILD:
        slot, lot = (move - BUILD) >> 2, (move - BUILD) & 3
        return state["stage"] != EXPAND and (legal_lots(state, find_targets(state), lot) & bit(slot)) != ZERO
    if state["stage"] != EXPAND:
        return False
    entry = find_entry(state, move % CELLS) if move % CELLS else NO_ENTRY
    if entry >= NO_ENTRY:
        return False
    tile = np.int64(state["hand"][np.int64(state["player"])]) * 4 + move // CELLS
    return (fitting_entries(state, tables, tile, entry >> 6) & bit(entry & 63)) != ZERO


@jit(inline=True)
def play(state, tables, move):
    if move >= BUILD:
        if not (place_floor(state, (move - BUILD) >> 2, (move - BUILD) & 3) and can_build(state)):
            end_turn(state, tables)
    else:
        expand(state, tables, find_entry(state, move % CELLS), move // CELLS)
        if not can_build(state):  # B4: then the second is not placed either
            end_turn(state, tables)


@jit(inline=True)
def totals(state, tables):
    """The stars of four seats as the table stands; seats nobody has stay at 0."""
    a, b, c, d = 0, 0, 0, 0  # F2: a lone highest lead takes the value; written without branches, for vectors
    leads, values = state["lead"], state["value"]
    for slot in range(1 if tables["downtown_scores"] else 1 + DOWNTOWN_TILES, np.int64(state["num_tiles"])):  # F3
        w, x, y, z = leads[0, slot], leads[1, slot], leads[2, slot], leads[3, slot]
        value = np.int64(values[slot])
        a += value * (w > max(x, max(y, z)))
        b += value * (x > max(w, max(y, z)))
        c += value * (y > max(z, max(w, x)))
        d += value * (z > max(y, max(w, x)))
    stars, start = state["stars"], START_STARS[np.int64(state["num_players"])]  # F4, S4
    return (
        a + np.int64(stars[0]) + np.int64(start[0]),
        b + np.int64(stars[1]) + np.int64(start[1]),
        c + np.int64(stars[2]) + np.int64(start[2]),
        d + np.int64(stars[3]) + np.int64(start[3]),
    )


@jit(inline=True)
def add_up(state, tables, out):
    """Write the stars of each seat as the table stands."""
    points = totals(state, tables)
    for seat in range(np.int64(state["num_players"])):
        out[seat] = points[seat]
