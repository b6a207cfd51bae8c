"""Numbers of Toscana that every file of this game shares."""

import numpy as np

VERSION = 1  # of the state's layout
SEATS = 2
MIN_SIZE, MAX_SIZE = 5, 31  # M2: of the board; odd
SET_TILES = 16  # M1: of each player
MAX_TILES = SEATS * SET_TILES  # on the board
MAX_ROUNDS = 2

# A cell is row * 32 + column, whatever the size of the board. Column 31 and row 31 are never on it, so that the cells
# to the right of and below every square can be looked up, and no row runs on into the next.
ROW_BITS = 5
WIDTH = 1 << ROW_BITS
CELLS = WIDTH * WIDTH
ROWS = 36  # of the bitboards: tiles are four rows high, so up to three rows past the board are read

# A move: placing is rotation * CELLS + the cell of the upper-left square after turning.
VETO = 4 * CELLS
ALLOW = VETO + 1
NUM_MOVES = ALLOW + 1
MAX_LEGAL = 4 * (MAX_SIZE - 1) * (MAX_SIZE - 3)  # no more places on the largest board

ASKED, PLACE, OVER = 0, 1, 2  # what is decided next; ASKED: will the opponent of the player whose turn it is veto?

# What lies on a square: 0 nothing, else TAKEN + 64 * colour + 2 * slot + piece. A tile's squares of one colour may hang
# together in two pieces; slots number the tiles of a round in the order in which they were laid. So a set of pieces of
# one colour is a word.
TAKEN = 128

# The squares on the right and lower edges of a lying and of a standing tile, and the squares beyond them.
EDGES = np.array(
    [
        [[3, 4], [WIDTH + 3, WIDTH + 4], *([WIDTH + k, 2 * WIDTH + k] for k in range(4))],
        [*([k * WIDTH + 1, k * WIDTH + 2] for k in range(4)), *([3 * WIDTH + k, 4 * WIDTH + k] for k in range(2))],
    ],
    np.int64,
)

# What `check` finds wrong with a position.
BAD_VERSION, BAD_TABLES, BAD_COUNTS, BAD_MATERIAL, BAD_TILES, BAD_WORDS, BAD_TURN = range(1, 8)
PROBLEMS = {
    BAD_VERSION: "it has another version of the format",
    BAD_TABLES: "it was made with other options",
    BAD_COUNTS: "a number in it is out of range",
    BAD_MATERIAL: "its tiles are not the two sets",
    BAD_TILES: "a tile lies where it may not",
    BAD_WORDS: "its parts contradict each other",
    BAD_TURN: "the decision that is due cannot be due",
}
