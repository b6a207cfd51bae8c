"""The state and the tables of Talō: their dtypes are their documentation. x and y count from 7 cells off the board."""

import numpy as np

from tollero_env.game import HEADER, Array, record_dtype
from tollero_env.games.talo.constants import AREA, CELLS, HEIGHT, MAX_LENGTH, MAX_PLAYERS, NUM_SURE, SLOTS, WIDTH
from tollero_env.jit import jit

STATE = record_dtype(
    [
        *HEADER,
        ("rows", np.uint32, (HEIGHT, WIDTH)),  # by z and y: bit x is set where a block is
        ("block_at", np.uint8, (HEIGHT, WIDTH, WIDTH)),  # by z, y, x: number of the block there, 0 for none
        # by block, in the order of placing; number 0 is the board
        ("x", np.uint8, (SLOTS,)),  # of its least cell
        ("y", np.uint8, (SLOTS,)),
        ("z", np.uint8, (SLOTS,)),
        ("length", np.uint8, (SLOTS,)),
        ("axis", np.uint8, (SLOTS,)),  # ALONG_X, ALONG_Y, UPRIGHT
        ("firm", np.uint8, (SLOTS,)),  # 1 for a block that carries any load: both ends rest on firm ones, or the board
        ("solid", np.uint8, (SLOTS,)),  # 1 for a firm one that rests on solid ones alone: it is as good as the board
        ("num_blocks", np.uint8),
        ("num_feet", np.uint8),  # blocks that touch the board
        ("highest", np.uint8),  # level of the highest top
        ("stock", np.uint8, (MAX_LENGTH + 1,)),  # by length: blocks left
        # by seat
        ("pawn_x", np.uint8, (MAX_PLAYERS,)),
        ("pawn_y", np.uint8, (MAX_PLAYERS,)),
        ("pawn_level", np.uint8, (MAX_PLAYERS,)),  # NOWHERE before the start, and for seats nobody has
        # the turn
        ("stage", np.uint8),  # STARTING to OVER
        ("rolls", np.uint8),  # made in this turn
        ("die", np.uint8),  # the last of them
        ("hand", np.uint8, (2,)),  # lengths still to be placed, the larger first
        ("picked_length", np.uint8),  # of the block whose cell is due
        ("picked_axis", np.uint8),
        ("moved", np.uint8),  # 1 if the pawn moved since the last placement (P1)
        ("falling", np.uint8),  # 1 if the first block of the turn needs the second to stand (B3, 21)
        ("ending", np.uint8),  # REACHED, EXHAUSTED or FALLEN
        ("builder", np.uint8),  # 1 + the seat whose placement fell, 0 if none did
        ("num_fallen", np.uint8),  # blocks at the end of the list that did not stand
    ]
)

TABLES = record_dtype(
    [
        ("digest", np.uint64),  # of all that follows: positions of other tables are refused
        ("ground", np.uint32, (WIDTH,)),  # by y: bit x is set where z = 0 may be built on
        ("start", np.uint32, (WIDTH,)),  # where pawns may start and restart
        ("symmetric", np.uint16, (MAX_PLAYERS,)),  # by seat: the one field to start on
        ("num_players", np.uint8),
        ("has_symmetric", np.uint8),
        ("may_fall", np.uint8),  # B4, or Fantasy: what does not stand is legal, and ends the game
        ("fantasy", np.uint8),
        ("max_feet", np.uint8),  # blocks that may touch the board
        ("three_feet", np.uint8),
    ]
)

# Nothing in Talō is hidden: there is nothing to lay out.
SETUP = record_dtype([("nothing", np.uint8)])

# Scratch of one call: never part of a position.
WORK = record_dtype(
    [
        # searches nest: places for a pick, for a first block, for a second one
        ("free", np.int32, (3, HEIGHT, WIDTH)),  # cells a block may take
        ("fits", np.int32, (3, HEIGHT, WIDTH)),  # by axis: least cells where the block in question fits
        ("many", np.int32, (6, HEIGHT, WIDTH)),  # the same for both blocks in hand
        ("counts", np.int64, (6,)),
        ("first_fits", np.int32, (HEIGHT, WIDTH)),
        ("second_fits", np.int32, (HEIGHT, WIDTH)),
        ("tried", np.int32, (3, HEIGHT, WIDTH)),  # by axis: least cells that were looked at
        ("seen", np.int32, (HEIGHT + 1, WIDTH)),  # by level: places a pawn has reached
        ("queue", np.int16, (CELLS + AREA,)),
        # by length: places that stay legal whatever else stands, for they rest on firm blocks; -1 if not looked for
        ("num_sure", np.int64, (MAX_LENGTH + 1,)),
        ("sure", np.int64, (MAX_LENGTH + 1, NUM_SURE, 4)),  # axis, x, y, z
        # the part of the construction that is in question: blocks by descending z, under numbers of their own
        ("size", np.int64),
        ("part", np.int64, (SLOTS,)),  # blocks
        ("number", np.int64, (SLOTS,)),  # by block: 1 + its place in the part, 0 if it is not in it
        ("first", np.int64, (SLOTS + 1,)),  # of its contacts
        ("lean_low", np.int64, (SLOTS,)),  # 1 if that end leans
        ("lean_high", np.int64, (SLOTS,)),
        ("above", np.uint64, (SLOTS,)),  # blocks of the part that rest on it, directly or not
        ("below", np.uint64, (SLOTS,)),  # blocks of the part that it rests on; bit 63 for anything else
        ("weight", np.float64, (SLOTS,)),  # load with its moments about the origin, its own weight included
        ("weight_x", np.float64, (SLOTS,)),
        ("weight_y", np.float64, (SLOTS,)),
        ("is_sure", np.int64, (SLOTS,)),  # 1 if that load could not be otherwise
        ("is_peeled", np.int64, (SLOTS,)),  # 1 if the solver need not look at it
        ("row", np.int64, (SLOTS,)),  # of the solver's table where its equations begin
        # contacts: the upper block rests on the lower one in a rectangle, shrunk
        ("lower", np.int64, (256,)),  # place in the part, -1 for what cannot move
        ("low_x", np.float64, (256,)),
        ("high_x", np.float64, (256,)),
        ("low_y", np.float64, (256,)),
        ("high_y", np.float64, (256,)),
        # how a construction falls: block k of the part sets off upwards with speed a + b x + c y
        ("has_fall", np.int64),
        ("drop", np.float64),  # how fast the centre of weight sinks, times the weight
        ("fall", np.float64, (SLOTS, 3)),
        # the same while a second block is sought that would hold it
        ("num_moving", np.int64),
        ("moving", np.int64, (SLOTS,)),  # blocks
        ("moves_as", np.int64, (SLOTS,)),  # by block: 1 + its place among these, 0 if it stays
        ("motion", np.float64, (SLOTS, 3)),
        ("sinks", np.float64),
    ]
)


@jit
def hold(scratch: Array) -> None:
    """Keep scratch alive up to here: a record does not keep the array it is in."""
