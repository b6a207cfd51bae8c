"""What observations of Toscana hold: (name, how many, what). Offsets and the manual follow from these lists."""

from tollero_env.games.toscana.constants import SET_TILES

Table = tuple[tuple[str, int, str], ...]

PLANES = (
    ("own", 1, "1 on squares of the own colour"),
    ("other", 1, "1 on squares of the other's colour"),
    ("joined", 4, "1 where the square to the N, E, S, W is of the same tile"),
    ("area", 1, "tiles in the area that the square belongs to"),
)
NUMBERS = (
    ("stage", 3, "1 for what is decided next: veto or allow, place, nothing (the game is over)"),
    ("to_act", 2, "1 for the player to act, own first; both 0 once the game is over"),
    ("scores", 2, "points as they stand, rounds before included, own first"),
    ("areas", 2, "tiles in the largest area of each colour, own first"),
    ("round", 1, "rounds that are over"),
    ("rounds_left", 1, "rounds to come after this one"),
    ("passed", 1, "1 if the last turn was a pass"),
    ("stones", 2, "1 for a veto stone that is unspent, own first"),
    ("stacks", 2, "tiles in the stack, own first"),
    ("top", 16, "squares of the top tile, unturned, row by row: 1 own colour, -1 the other's, 0 no tile; own first"),
    ("top_tile", 2, "number of the top tile, P01 being 1; 0 for none; own first"),
    ("sunk", 2, "number of the tile that a veto has put to the bottom of the stack; 0 for none; own first"),
    ("left", 2 * SET_TILES, "1 for each tile P01 to P16 that is in the stack, its top included; own set first"),
)
SHORT = (("numbers", sum(row[1] for row in NUMBERS), "all numbers, in their order"),)


def offset_of(table: Table, name: str) -> int:
    """Where a name's entries begin."""
    names = [row[0] for row in table]
    return sum(row[1] for row in table[: names.index(name)])


def size_of(table: Table) -> int:
    """How many entries a table names."""
    return sum(row[1] for row in table)


NUM_PLANES = size_of(PLANES)
NUM_NUMBERS = size_of(NUMBERS)
P_OTHER, P_JOINED, P_AREA = (offset_of(PLANES, name) for name in ("other", "joined", "area"))
N_TO_ACT, N_SCORES, N_AREAS = (offset_of(NUMBERS, name) for name in ("to_act", "scores", "areas"))
N_ROUND, N_ROUNDS_LEFT, N_PASSED = (offset_of(NUMBERS, name) for name in ("round", "rounds_left", "passed"))
N_STONES, N_STACKS, N_TOP = (offset_of(NUMBERS, name) for name in ("stones", "stacks", "top"))
N_TOP_TILE, N_SUNK, N_LEFT = (offset_of(NUMBERS, name) for name in ("top_tile", "sunk", "left"))
