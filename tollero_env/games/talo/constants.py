"""Numbers of Talō that every file of this game shares."""

import numpy as np

VERSION = 1  # of the state's layout
MAX_PLAYERS = 4

# Space (M2): a block cell is x, y from -7 to 16 and z from 0 to 9; kernels count x and y from 0, so that field (0, 0)
# of the board is (7, 7).
SIDE = 10  # of the board
REACH = 7  # cells beyond its edge
WIDTH = SIDE + 2 * REACH
HEIGHT = 10
TOP = 10  # the level that wins
AREA = WIDTH * WIDTH
CELLS = AREA * HEIGHT  # cell = (z * WIDTH + y) * WIDTH + x
ROW = (1 << WIDTH) - 1  # a row of cells as a word: bit x

# M1: ten blocks of length 1, nine of 2, ... one of 10.
MAX_LENGTH = 10
NUM_BLOCKS = 55
TOTAL_WEIGHT = 220
SLOTS = NUM_BLOCKS + 1  # blocks are numbered from 1 as they were placed; 0 is the board, or nothing
ALONG_X, ALONG_Y, UPRIGHT = 0, 1, 2
AXES = "xyz"

# Choices of blocks (D1): one block of length 1 to 10, then pairs by their sum, the larger first.
PAIRS = [(larger, total - larger) for total in range(2, 11) for larger in range(total - 1, (total - 1) // 2, -1)]
CHOICES = [(length, 0) for length in range(1, MAX_LENGTH + 1)] + PAIRS
NUM_CHOICES = len(CHOICES)
LARGER = np.array([larger for larger, _ in CHOICES], np.int64)
SMALLER = np.array([smaller for _, smaller in CHOICES], np.int64)
# by value of the die: where its pairs begin, and how many there are
FIRST_PAIR = np.array([0, 0] + [MAX_LENGTH + sum(k // 2 for k in range(2, die)) for die in range(2, 11)], np.int64)
NUM_PAIRS = np.array([0, 0] + [die // 2 for die in range(2, 11)], np.int64)

# A move. A placement is two: the block with its axis, then its least cell.
PLACE = 0  # + cell
WALK = CELLS  # + cell of the feet: a top at level z + 1 is named by the cell below it
FIELD = 2 * CELLS  # + cell at z = 0: start, or restart there
PICK = FIELD + AREA  # + 3 * (length - 1) + axis
TAKE = PICK + 3 * MAX_LENGTH  # + number of a choice of blocks
STAY = TAKE + NUM_CHOICES
END = STAY + 1
NUM_MOVES = END + 1
MAX_LEGAL = 2 * CELLS + AREA

# What is decided next; at ROLLING, by the die.
STARTING, BLOCKED, ROLLING, TAKING, BUILDING, LAYING, DONE, OVER = range(8)
NUM_STAGES = 8
NOWHERE = 255  # level of a pawn that is not on the board yet
REACHED, EXHAUSTED, FALLEN = 1, 2, 3  # how a game ended: F1, F2, B4

# B3. The square of a contact is shrunk by this on every side; a leaning end shifts what pushes up by twice as much.
DELTA = 1 / 461
BALANCED = 1e-6  # a leftover imbalance below this counts as balanced
# Who decided that a construction stands (positive) or falls (negative).
BY_GROUND, BY_FIRM, BY_ITSELF, BY_SHARING, BY_SOLVER = 1, 2, 3, 4, 5

NUM_SURE = 12  # places kept ready for a block
MOST_SHARED = 65  # Fantasy: 55 blocks and level 10
THREE_FEET = 3
SYMMETRIC = ((2, 2), (7, 7), (7, 2), (2, 7))  # S1, in seat order

# What `check` finds wrong with a position.
BAD_VERSION, BAD_TABLES, BAD_COUNTS, BAD_BLOCKS, BAD_PAWNS, BAD_WORDS, BAD_TURN = range(1, 8)
PROBLEMS = {
    BAD_VERSION: "it has another version of the format",
    BAD_TABLES: "it was made with other options, another board or other players",
    BAD_COUNTS: "a number in it is out of range",
    BAD_BLOCKS: "a block lies where it may not, or the construction does not stand",
    BAD_PAWNS: "a pawn stands where it may not",
    BAD_WORDS: "its parts contradict each other",
    BAD_TURN: "the decision that is due cannot be due",
}
