"""Numbers of Tollero that every file of this game shares."""

import numpy as np

VERSION = 1  # of the state's layout
MAX_PLAYERS = 4
MAX_FLOORS = 20
CITY_TILES = 54  # M1
DOWNTOWN_TILES = 4
MAX_TILES = 59  # on the table: the contract, Downtown and all City tiles
SLOTS = 64  # tiles are numbered in the order they were laid; a set of them is one word
EDGE_CELLS = 128  # empty cells beside a city of n tiles: at most 2n + 2 = 120
NO_ENTRY = EDGE_CELLS
SPARE_ENTRY = EDGE_CELLS - 1  # never in use

# A cell is row * 128 + column with the contract tile in the middle. A city of 59 tiles reaches at most 58 cells from
# it, and its edge 59, so this table is as good as one without bounds.
WIDTH = 128
MIDDLE = 64
CENTRE = MIDDLE * WIDTH + MIDDLE
CELLS = WIDTH * WIDTH
STEPS = (-WIDTH, 1, WIDTH, -1)  # to the next cell N, E, S, W

# A move: laying is rotation * CELLS + cell, building is BUILD + slot * 4 + lot.
BUILD = 4 * CELLS
NUM_MOVES = BUILD + MAX_TILES * 4
MAX_LEGAL = 4 * (2 * MAX_TILES + 2)  # four rotations on every cell of the edge; building has fewer

EXPAND, FIRST, SECOND, OVER = 0, 1, 2, 3  # what is decided next
ANYWHERE = 255  # building is not counted from a tile: Expand was skipped (B4), or comes first

# Faces: 0 the contract, 1..8 Downtown (D1 A, D1 B, D2 A, ...), from 9 the City tiles in the order of the file.
CONTRACT = 0
NO_TILE = 0  # an empty hand
FIRST_DOWNTOWN = 1
FIRST_CITY = 9
NUM_FACES = FIRST_CITY + CITY_TILES

START_STARS = np.array([[0, 0, 0, 0], [0, 0, 0, 0], [5, 0, 0, 0], [5, 2, 0, 0], [5, 3, 1, 0]], np.int8)  # S4

# What `check` finds wrong with a position.
BAD_VERSION, BAD_TABLES, BAD_COUNTS, BAD_MATERIAL, BAD_TILES, BAD_FLOORS, BAD_WORDS, BAD_TURN = range(1, 9)
PROBLEMS = {
    BAD_VERSION: "it has another version of the format",
    BAD_TABLES: "it was made with other tiles, options or players",
    BAD_COUNTS: "a number in it is out of range",
    BAD_MATERIAL: "its City tiles are not those of the tile set",
    BAD_TILES: "a tile lies where it may not",
    BAD_FLOORS: "a Floor stands where it may not, or there are too many",
    BAD_WORDS: "its parts contradict each other",
    BAD_TURN: "the decision that is due cannot be due",
}
