"""The state and the tables of Toscana: their dtypes are their documentation."""

import numpy as np

from tollero_env.game import HEADER, record_dtype
from tollero_env.games.toscana.constants import CELLS, MAX_ROUNDS, MAX_TILES, ROWS, SEATS, SET_TILES

STATE = record_dtype(
    [
        *HEADER,
        # bitboards of the round: bit x of word y is the square in row y, column x
        ("empty", np.uint32, (ROWS,)),  # squares of the board without a tile
        # squares beside a square of that player's colour, also off the board; from the start, the centre (R3)
        ("near", np.uint32, (SEATS, ROWS)),
        ("square", np.uint8, (CELLS,)),  # by cell: 0, or TAKEN + 64 * colour + 2 * slot + piece
        # by slot: the tiles of the round in the order in which they were laid
        ("cell", np.int16, (MAX_TILES,)),  # of the upper-left square
        ("tile", np.uint8, (MAX_TILES,)),  # owner * SET_TILES + number
        ("rotation", np.uint8, (MAX_TILES,)),
        # by seat: numbers of tiles, the top last; 0 where drawn
        ("stack", np.uint8, (SEATS, SET_TILES)),
        ("later", np.uint8, (SEATS, SET_TILES)),  # the stacks of the next round; zeros in the last one
        ("num_stack", np.uint8, (SEATS,)),
        ("sunk", np.uint8, (SEATS,)),  # R5: 1 once a veto has put a tile of this round to the bottom of the stack
        ("stone", np.uint8, (SEATS,)),  # 1 for a veto stone that is unspent
        ("points", np.uint8, (MAX_ROUNDS, SEATS)),  # of the rounds that are over
        ("num_tiles", np.uint8),  # on the board
        ("round", np.uint8),  # from 0
        ("starter", np.uint8),  # seat that starts this round
        ("passes", np.uint8),  # in a row, up to now
        ("stage", np.uint8),  # ASKED, PLACE or OVER
    ]
)

TABLES = record_dtype(
    [
        ("digest", np.uint64),  # of all that follows: positions of other tables are refused
        ("num_players", np.uint8),
        ("size", np.uint8),  # M2: side of the board
        ("by_colour", np.uint8),  # R4: 1 if the touching square itself must be of the own colour
        ("keeps_stone", np.uint8),  # R5: 1 if a veto stone is for the whole match
        ("rounds", np.uint8),  # T2
        ("piece", np.uint8, (SET_TILES, 8)),  # by tile and square, row by row: 64 if of the other colour, + piece
        ("pieces", np.uint8, (SET_TILES, 2)),  # word of the pieces of the own colour, of the other's
        ("offset", np.int16, (4, 8)),  # by rotation and square: cells from the upper-left one after turning
        # by tile * 4 + rotation: squares in each of four rows
        ("own_rows", np.uint32, (SET_TILES * 4, 4)),
        ("other_rows", np.uint32, (SET_TILES * 4, 4)),
        ("board", np.uint32, (ROWS,)),  # all squares
    ]
)

# What `deal` lays out: everything that chance decides.
SETUP = record_dtype(
    [
        ("starter", np.uint8),  # seat that starts the first round
        ("stacks", np.uint8, (MAX_ROUNDS, SEATS, SET_TILES)),  # numbers of tiles, the top first
    ]
)
