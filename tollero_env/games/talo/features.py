"""What observations of Talō hold: (name, how many, what). Offsets and the manual follow from these lists."""

from tollero_env.games.talo.constants import HEIGHT, MAX_LENGTH, MAX_PLAYERS, NUM_STAGES

Table = tuple[tuple[str, int, str], ...]

PLANES = (
    ("along_x", HEIGHT, "for each z: cells of blocks that lie along x, numbered 1, 2, ... in each block; 0 elsewhere"),
    ("along_y", HEIGHT, "the same for blocks that lie along y"),
    ("upright", HEIGHT, "the same for standing blocks, from the bottom up"),
    ("pawns", MAX_PLAYERS, "1 + level of the pawn that stands there, own pawn first"),
    ("green", 1, "1 where z = 0 may be built on"),
    ("start", 1, "1 where a pawn may start"),
    ("action_larger", 1, "what the actions of plane 10 mean, place by place: the larger block of those to take"),
    ("action_smaller", 1, "the smaller one, 0 for none"),
    ("action_length", 1, "length of the block to pick"),
    ("action_axis", 1, "its axis: 1, 2, 3 for x, y, z"),
    ("action_other", 1, "1 to stay, 2 to end the turn"),
)
NUMBERS = (
    (
        "stage",
        NUM_STAGES,
        "1 for what is next: start, restart or stay, roll, take, build, place the block picked, end the turn, nothing",
    ),
    ("to_act", MAX_PLAYERS, "1 for the player to act, counted from the observer; all 0 once the game is over"),
    ("levels", MAX_PLAYERS, "1 + level of each pawn, own first; 0 before it starts, and for seats nobody has"),
    ("pawns_x", MAX_PLAYERS, "its x, 0 where it is not on the board"),
    ("pawns_y", MAX_PLAYERS, "its y"),
    ("stock", MAX_LENGTH, "blocks left of length 1 to 10"),
    ("die", 1, "what was rolled last, 0 before a roll"),
    ("rolls", 1, "rolls made in this turn"),
    ("hand", 2, "lengths of the blocks in hand, the larger first"),
    ("picked", 1, "length of the block whose place is due, 0 if none is"),
    ("picked_axis", 1, "1, 2, 3 for its axis x, y, z"),
    ("moved", 1, "1 if the pawn has moved since the last block was placed"),
    ("falling", 1, "1 if the first block needs the second to stand"),
    ("highest", 1, "level of the highest top"),
    ("feet", 1, "blocks that touch the board"),
)


def offset_of(table: Table, name: str) -> int:
    """Where a name's entries begin."""
    names = [row[0] for row in table]
    return sum(row[1] for row in table[: names.index(name)])


def size_of(table: Table) -> int:
    """How many entries a table names."""
    return sum(row[1] for row in table)


NUM_PLANES = size_of(PLANES)
NUM_NUMBERS = size_of(NUMBERS)
P_PAWNS, P_GREEN = offset_of(PLANES, "pawns"), offset_of(PLANES, "green")
P_LARGER = offset_of(PLANES, "action_larger")
N_TO_ACT, N_LEVELS = offset_of(NUMBERS, "to_act"), offset_of(NUMBERS, "levels")
N_X, N_Y, N_STOCK = offset_of(NUMBERS, "pawns_x"), offset_of(NUMBERS, "pawns_y"), offset_of(NUMBERS, "stock")
N_DIE = offset_of(NUMBERS, "die")
