"""How a learned player sees a table of Tollero: a row of indices for each tile, tags, and a few numbers (see nets.py).

Everything is seen from one seat, the others in turn order from it; what is hidden has no part in it.
"""

import numpy as np

from tollero_env.bits import ONE, drop_lowest, equal16, lowest, popcount
from tollero_env.games.tollero.constants import DOWNTOWN_TILES, MAX_FLOORS, MAX_PLAYERS, MAX_TILES, STEPS
from tollero_env.games.tollero.rules import totals
from tollero_env.jit import jit
from tollero_env.nets import Sizes

VERSION = 1  # of this description
UNIT = 8.0  # points that count as 1
ROW = 15  # indices of a tile
TAGS = 5  # own Floors left, the others', who is next
NUMBERS = 7  # own score less each other's, Floors left of all
_NEAR, _FAR, _NEIGHBOURS = 10, 18, 14
_VALUES, _TALL, _FLOORS, _WATERS = 5, 7, 9, 5  # how far is counted; what is more counts as the last

# kinds of indices, each with how many there are; 0 stands for nothing
_KINDS = (
    ("nothing", 1),
    ("majority", _VALUES * 4),  # value; nobody built, own, another's, tied
    ("tallest", _TALL * _TALL),  # own, best other's
    ("floors", _FLOORS * _FLOORS),  # own, best other's
    ("room", _VALUES * 5),  # value, empty foundations
    ("canals", 5 * 5 * 5),  # joined, open, fountains that point over free sides
    ("empty_lot", _WATERS * 3),  # fountains, cells free from where one may come
    ("building", MAX_PLAYERS * _TALL * _WATERS * 3),  # whose, height, fountains, such cells
    ("other", MAX_PLAYERS * _TALL * _FLOORS),  # of three or more: who, tallest, Floors
    ("exposed", 4 * _NEAR),  # majority as above, open canals within a step
    ("exposed_2", 4 * _FAR),  # within two steps
    ("neighbours", _NEIGHBOURS),  # tiles within two steps
    ("own_left", MAX_FLOORS + 1),
    ("other_left", MAX_PLAYERS * (MAX_FLOORS + 1)),
    ("next", MAX_PLAYERS),
)
_START = {name: sum(size for _, size in _KINDS[:k]) for k, (name, _) in enumerate(_KINDS)}
SIZES = Sizes(sum(size for _, size in _KINDS), NUMBERS)
MAX_ROWS = MAX_TILES
_MAJORITY, _TALLEST, _ON_TILE, _ROOM = (_START[name] for name in ("majority", "tallest", "floors", "room"))
_EXPOSED, _EXPOSED_2, _NEIGHBOUR = (_START[name] for name in ("exposed", "exposed_2", "neighbours"))
_CANALS, _EMPTY, _BUILDING, _OTHER = (_START[name] for name in ("canals", "empty_lot", "building", "other"))
_OWN_LEFT, _OTHER_LEFT, _NEXT = (_START[name] for name in ("own_left", "other_left", "next"))
POINT, FLOOR = np.float32(1 / UNIT), np.float32(1 / MAX_FLOORS)  # units of the numbers


@jit(inline=True)
def majority(state, slot):
    """F2: the seat that has the majority on a tile; -1 if nobody has built, -2 if it is tied."""
    best, seat = 0, -1
    for other in range(MAX_PLAYERS):
        lead = np.int64(state["lead"][other, slot])
        if lead > best:
            best, seat = lead, other
        elif lead == best and lead > 0:
            seat = -2
    return seat


@jit(inline=True)
def counts(tables, slot):
    """F3: does a majority on this tile score?"""
    return slot > DOWNTOWN_TILES or (slot > 0 and tables["downtown_scores"] != 0)


@jit(inline=True)
def _best_other(state, seat, slot):
    best = 0
    for other in range(MAX_PLAYERS):
        if other != seat:
            best = max(best, np.int64(state["lead"][other, slot]))
    return best


@jit(inline=True)
def open_canals(state, tables, slot):
    """Canals of a tile that lead to an empty cell."""
    tile = np.int64(state["face"][slot]) * 4 + np.int64(state["rotation"][slot])
    return popcount(np.uint64(tables["canals"][tile])) + 1 - popcount(state["near1"][slot])


@jit(inline=True)
def _open_among(state, tables, tiles):
    number = 0
    while tiles:
        number += open_canals(state, tables, lowest(tiles))
        tiles = drop_lowest(tiles)
    return number


@jit(inline=True)
def free_sides(state, slot):
    """Bit d: no tile lies on side d."""
    cell, free = np.int64(state["cell"][slot]), 0
    for side in range(4):
        if not equal16(state["cell"], 0, cell + STEPS[side]):
            free |= 1 << side
    return free


@jit(inline=True)
def describe_tile(state, tables, seat, slot, row):
    """The indices of a tile."""
    players = np.int64(state["num_players"])
    value = min(np.int64(state["value"][slot]), _VALUES - 1) if counts(tables, slot) else 0
    owner = majority(state, slot)
    standing = 0 if owner == -1 else 1 if owner == seat else 2 if owner >= 0 else 3
    own, other = np.int64(state["lead"][seat, slot]), _best_other(state, seat, slot)
    tall, tall_other = min(own >> 5, _TALL - 1), min(other >> 5, _TALL - 1)
    floors, floors_other = min(own & 31, _FLOORS - 1), min(other & 31, _FLOORS - 1)
    joined = popcount(state["near1"][slot]) - 1
    waters = np.int64(state["fountains"][slot])
    room, free = 0, free_sides(state, slot)
    for lot in range(4):
        airs = ((free >> lot) & 1) + ((free >> ((lot + 3) & 3)) & 1)
        fountains = min((waters >> (8 * lot)) & 255, _WATERS - 1)
        building = np.int64(state["building"][slot, lot])
        row[5 + lot] = 0
        if (state["open_lots"][lot] >> np.uint64(slot)) & ONE:
            room += 1
            row[5 + lot] = _EMPTY + fountains * 3 + airs
        elif building:
            whose = (building >> 5) - seat
            whose += players if whose < 0 else 0
            building = (whose * _TALL + min(building & 31, _TALL) - 1) * _WATERS + fountains
            row[5 + lot] = _BUILDING + building * 3 + airs
    row[0] = _MAJORITY + value * 4 + standing
    row[1] = _TALLEST + tall * _TALL + tall_other
    row[2] = _ON_TILE + floors * _FLOORS + floors_other
    row[3] = _ROOM + value * 5 + room
    jets = np.int64(state["jets"][slot])
    over = 0
    for side in range(4):
        if (free >> side) & 1:
            over += ((jets >> (2 * side)) & 1) + ((jets >> (2 * side + 1)) & 1)
    row[4] = _CANALS + (joined * 5 + open_canals(state, tables, slot)) * 5 + min(over, 4)
    near = _open_among(state, tables, state["near1"][slot])
    far = near + _open_among(state, tables, state["near2"][slot] & ~state["near1"][slot])
    row[12] = _EXPOSED + standing * _NEAR + min(near, _NEAR - 1)
    row[13] = _EXPOSED_2 + standing * _FAR + min(far, _FAR - 1)
    row[14] = _NEIGHBOUR + min(popcount(state["near2"][slot]), _NEIGHBOURS) - 1
    for k in range(1, MAX_PLAYERS):
        row[8 + k] = 0
        if players > 2 and k < players:
            who = seat + k - (players if seat + k >= players else 0)
            lead = np.int64(state["lead"][who, slot])
            row[8 + k] = _OTHER + (k * _TALL + min(lead >> 5, _TALL - 1)) * _FLOORS + min(lead & 31, _FLOORS - 1)


@jit(inline=True)
def describe_seats(state, seat, left, upcoming, tags, numbers):
    """Tags, and the Floors left as numbers; `left` are the own ones then, `upcoming` whose turn is next."""
    players = np.int64(state["num_players"])
    for k in range(MAX_PLAYERS):
        who = seat + k - (players if seat + k >= players else 0)
        floors = left if k == 0 else np.int64(state["floors_left"][who]) if k < players else 0
        numbers[3 + k] = np.float32(floors) * FLOOR
        if k == 0:
            tags[0] = _OWN_LEFT + floors
        else:
            tags[k] = _OTHER_LEFT + k * (MAX_FLOORS + 1) + floors if k < players else 0
    whose = upcoming - seat
    tags[4] = _NEXT + whose + (players if whose < 0 else 0)


@jit(inline=True)
def describe_scores(state, tables, seat, numbers):
    """The own score less each other's, as numbers."""
    players = np.int64(state["num_players"])
    points = totals(state, tables)
    for k in range(1, MAX_PLAYERS):
        who = seat + k - (players if seat + k >= players else 0)
        numbers[k - 1] = np.float32(points[seat] - points[who]) * POINT if k < players else np.float32(0)


@jit(inline=True)
def describe(state, tables, seat, rows, tags, numbers):
    """A table between two turns, the game not over; returns the number of rows."""
    for slot in range(np.int64(state["num_tiles"])):
        describe_tile(state, tables, seat, slot, rows[slot])
    describe_seats(state, seat, np.int64(state["floors_left"][seat]), np.int64(state["player"]), tags, numbers)
    describe_scores(state, tables, seat, numbers)
    return np.int64(state["num_tiles"])
