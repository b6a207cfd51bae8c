"""What observations of Tollero hold: (name, how many, what). Offsets and the manual follow from these lists."""

from tollero_env.games.tollero.constants import CITY_TILES

Table = tuple[tuple[str, int, str], ...]

PLANES = (
    ("tile", 1, "1 where a tile lies"),
    ("canals", 4, "1 where the tile has a canal on side N, E, S, W"),
    ("value", 1, "value of the tile"),
    ("open", 4, "1 where lot NW, NE, SE, SW is an empty foundation"),
    ("fountains", 4, "fountains that point at lot NW, NE, SE, SW"),
    ("jets", 4, "fountains that point over side N, E, S, W: 1 from its first lot clockwise, 2 from its second, 3 both"),
    ("origin", 1, "1 on the tile from which the pending Floor is counted"),
)
BUILDINGS = ("heights", 4, "height of the building on lot NW, NE, SE, SW, for each player in turn order, own first")

NUMBERS = (
    ("stage", 4, "1 for what is decided next: lay, first Floor, second Floor, nothing (the game is over)"),
    ("to_act", 4, "1 for the player to act, counted from the observer; all 0 once the game is over"),
    ("floors", 4, "Floors left, own first; 0 for seats nobody has"),
    ("scores", 4, "stars as the table stands, own first; 0 for seats nobody has"),
    ("holds", 4, "1 for each player with a tile in hand, own first"),
    ("pile", 1, "tiles in the pile"),
    ("hand", 1, "own tile: 1 + its number among the City tiles of the set; 0 for none"),
    ("hand_value", 1, "its value"),
    ("hand_canals", 4, "1 for a canal on side N, E, S, W of the unturned tile"),
    ("hand_open", 4, "1 for a foundation on lot NW, NE, SE, SW"),
    ("hand_fountains", 4, "fountains of its own that point at lot NW, NE, SE, SW"),
    ("hand_jets", 4, "its fountains that point over side N, E, S, W, as in the planes"),
    ("unseen", CITY_TILES, "copies that this player has not seen, for each City tile of the set"),
)
SHORT = (
    ("numbers", 39, "all numbers from stage to hand_jets, in their order"),
    ("unseen_values", 4, "tiles not seen, of value 0 or 1, 2, 3, 4 or more"),
    ("unseen_canals", 4, "tiles not seen, with 0 or 1 canals, 2, 3, 4"),
)
ROWS = (
    ("tile", 1, "1 for a tile on the table"),
    ("at", 2, "x (east) and y (south) of its cell, counted from the contract"),
    ("canals", 4, "1 for a canal on side N, E, S, W"),
    ("value", 1, "value of the tile"),
    ("open", 4, "1 where lot NW, NE, SE, SW is an empty foundation"),
    ("fountains", 4, "fountains that point at lot NW, NE, SE, SW"),
    ("jets", 4, "fountains that point over side N, E, S, W, as in the planes"),
    ("origin", 1, "1 for the tile from which the pending Floor is counted"),
)


def offset_of(table: Table, name: str) -> int:
    """Where a name's entries begin."""
    names = [row[0] for row in table]
    return sum(row[1] for row in table[: names.index(name)])


def size_of(table: Table) -> int:
    """How many entries a table names."""
    return sum(row[1] for row in table)


NUM_PLANES = size_of(PLANES)  # and 4 for each player
NUM_NUMBERS = size_of(NUMBERS)
NUM_SHORT = size_of(SHORT)
NUM_FEATURES = size_of(ROWS)  # and 4 for each player
NUM_FIRST = offset_of(NUMBERS, "unseen")  # numbers before the unseen tiles
P_CANALS, P_VALUE, P_OPEN = (offset_of(PLANES, name) for name in ("canals", "value", "open"))
P_FOUNTAINS, P_JETS, P_ORIGIN = (offset_of(PLANES, name) for name in ("fountains", "jets", "origin"))
R_AT = offset_of(ROWS, "at")
ROW_SHIFT = NUM_FEATURES - NUM_PLANES  # behind `at`, a row is what the planes hold of a tile
N_TO_ACT, N_FLOORS, N_SCORES = (offset_of(NUMBERS, name) for name in ("to_act", "floors", "scores"))
N_HOLDS, N_PILE, N_HAND = (offset_of(NUMBERS, name) for name in ("holds", "pile", "hand"))
N_VALUE, N_CANALS, N_OPEN = (offset_of(NUMBERS, name) for name in ("hand_value", "hand_canals", "hand_open"))
N_FOUNTAINS, N_JETS, N_UNSEEN = (offset_of(NUMBERS, name) for name in ("hand_fountains", "hand_jets", "unseen"))
