"""The state and the tables of Tollero: their dtypes are their documentation."""

import numpy as np

from tollero_env.game import HEADER, record_dtype
from tollero_env.games.tollero.constants import (
    CITY_TILES,
    DOWNTOWN_TILES,
    EDGE_CELLS,
    MAX_PLAYERS,
    NUM_FACES,
    SLOTS,
)

STATE = record_dtype(
    [
        *HEADER,
        # whose words: bit s stands for the tile in slot s, the s-th that was laid (0 the contract, 1..4 Downtown)
        ("near1", np.uint64, (SLOTS,)),  # tiles within one step of each tile, itself included
        ("near2", np.uint64, (SLOTS,)),  # within two steps
        ("open_lots", np.uint64, (4,)),  # by lot NW NE SE SW: tiles where it is an empty foundation
        ("own_lots", np.uint64, (MAX_PLAYERS, 4)),  # tiles where that player builds on that lot
        # by slot
        ("lead", np.uint16, (MAX_PLAYERS, SLOTS)),  # F2: tallest building * 32 + Floors of that player on that tile
        ("cell", np.int16, (SLOTS,)),
        ("face", np.uint8, (SLOTS,)),
        ("rotation", np.uint8, (SLOTS,)),
        ("value", np.uint8, (SLOTS,)),
        ("jets", np.uint8, (SLOTS,)),  # fountains that point over a side: bit 2d from lot d, bit 2d + 1 from lot d + 1
        ("building", np.uint8, (SLOTS, 4)),  # by lot: owner * 32 + height, 0 where none stands
        ("fountains", np.uint32, (SLOTS,)),  # byte k: how many fountains point at lot k
        # the empty cells beside the city, in no order a person would see; unused entries are 0
        ("edge_cell", np.int16, (EDGE_CELLS,)),
        ("edge_known", np.uint8, (EDGE_CELLS,)),  # bit d: a tile lies on that side
        ("edge_canals", np.uint8, (EDGE_CELLS,)),  # 0x80 + bit d: with a canal towards this cell; 0 if none has
        ("edge_slots", np.uint32, (EDGE_CELLS,)),  # byte d: 1 + slot of the tile on that side, 0 if none
        # hidden things
        ("pile", np.uint8, (CITY_TILES,)),  # faces, the top last; 0 where drawn
        ("hand", np.uint8, (MAX_PLAYERS,)),  # faces, NO_TILE if none
        ("gone", np.uint8, (CITY_TILES,)),  # faces that left the game by E4, in order
        # counts
        ("stars", np.int16, (MAX_PLAYERS,)),  # F4: earned by fountains so far
        ("floors_left", np.uint8, (MAX_PLAYERS,)),
        ("num_tiles", np.uint8),
        ("num_edge", np.uint8),
        ("num_pile", np.uint8),
        ("num_gone", np.uint8),
        ("stage", np.uint8),  # EXPAND, FIRST, SECOND or OVER
        ("origin", np.uint8),  # slot from which the pending build is counted, or ANYWHERE
    ]
)

TABLES = record_dtype(
    [
        ("digest", np.uint64),  # of all that follows: positions of other tables are refused
        ("num_players", np.uint8),
        ("floors", np.uint8),  # that each player begins with
        ("downtown_scores", np.uint8),  # F3
        ("num_faces", np.uint8),
        # by face
        ("value", np.uint8, (NUM_FACES,)),
        # by face * 4 + rotation
        ("canals", np.uint8, (NUM_FACES * 4,)),  # bit d: side d
        ("foundations", np.uint8, (NUM_FACES * 4,)),  # bit k: lot k
        ("jets", np.uint8, (NUM_FACES * 4,)),  # as in the state
        ("fountains", np.uint32, (NUM_FACES * 4,)),  # byte k: the tile's own fountains that point at lot k
        # S2: how Downtown is drawn. Orders of the four tiles on N E S W, and ways to lay a tile on a side
        ("num_orders", np.uint8),
        ("order", np.uint8, (24, DOWNTOWN_TILES)),  # the tile on each side
        ("order_end", np.int64, (24,)),  # running number of arrangements
        ("num_ways", np.uint8, (DOWNTOWN_TILES, 4)),  # by tile and side
        ("ways", np.uint8, (DOWNTOWN_TILES, 4, 8)),  # face * 4 + rotation
        ("city", np.uint8, (CITY_TILES,)),  # the faces of all City tiles, sorted
        ("copies", np.uint64, (NUM_FACES,)),  # bits of the copies of a City tile in that list
    ]
)

# What `deal` lays out: everything that chance decides.
SETUP = record_dtype(
    [
        ("downtown", np.uint8, (DOWNTOWN_TILES,)),  # N E S W: face * 4 + rotation
        ("hands", np.uint8, (MAX_PLAYERS,)),  # faces
        ("pile", np.uint8, (CITY_TILES,)),  # faces, the top first; 0 behind the last
    ]
)
