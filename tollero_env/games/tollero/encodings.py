"""What an agent is offered: actions and observations of Tollero as arrays, in two encodings, compiled.

`planes`: a square view of side V round the contract tile. Action = plane * V * V + row * V + column; planes 0 to 3 lay
the tile in hand turned so often, planes 4 to 7 build on lot NW NE SE SW. V = 64 numbers the whole table, wrapped round
like a torus, which no city is wide enough to notice.

`slots`: tiles by the order in which they were laid, 0 to 58. Build is 4 * slot + lot; laying is 236 + 16 * slot +
4 * side + rotation, where the cell is named by the lowest slot beside it and the side of that tile.

Observations are of one player: own things first, then the others in turn order; never what that player cannot know.
An output array must hold zeros, or an earlier observation of the same game in the same view: tiles never leave the
table, so only their places are written.
"""

import numpy as np

from tollero_env.bits import ONE, drop_lowest, lowest, popcount
from tollero_env.game import (
    STEP_ASK,
    STEP_HIDDEN,
    STEP_ILLEGAL,
    STEP_OVER,
    Encoding,
    OptionError,
    Part,
)
from tollero_env.games.tollero.constants import (
    ANYWHERE,
    BUILD,
    CELLS,
    CITY_TILES,
    DOWNTOWN_TILES,
    EXPAND,
    FIRST_CITY,
    MAX_TILES,
    MIDDLE,
    NO_ENTRY,
    NO_TILE,
    OVER,
    STEPS,
    WIDTH,
)
from tollero_env.games.tollero.rules import (
    allows,
    find_entry,
    find_targets,
    fitting_entries,
    legal_lots,
    play,
    totals,
)
from tollero_env.jit import jit

TORUS = 64  # the view of the whole table
ILLEGAL = -1

# ---- what the arrays hold: (name, how many, what). Offsets follow from these lists, and so does the documentation.

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


def _offset(table, name):
    """Where a name's entries begin."""
    names = [row[0] for row in table]
    return sum(row[1] for row in table[: names.index(name)])


def _size(table):
    return sum(row[1] for row in table)


NUM_PLANES = _size(PLANES)  # and 4 for each player
NUM_NUMBERS = _size(NUMBERS)
NUM_SHORT = _size(SHORT)
NUM_FEATURES = _size(ROWS)  # and 4 for each player
_SHORT_NUMBERS = _offset(NUMBERS, "unseen")
_P_CANALS, _P_VALUE, _P_OPEN = (_offset(PLANES, name) for name in ("canals", "value", "open"))
_P_FOUNTAINS, _P_JETS, _P_ORIGIN = (_offset(PLANES, name) for name in ("fountains", "jets", "origin"))
_R_AT, _R_CANALS, _R_VALUE, _R_OPEN = (_offset(ROWS, name) for name in ("at", "canals", "value", "open"))
_R_FOUNTAINS, _R_JETS, _R_ORIGIN = (_offset(ROWS, name) for name in ("fountains", "jets", "origin"))
_N_TO_ACT, _N_FLOORS, _N_SCORES = (_offset(NUMBERS, name) for name in ("to_act", "floors", "scores"))
_N_HOLDS, _N_PILE, _N_HAND = (_offset(NUMBERS, name) for name in ("holds", "pile", "hand"))
_N_VALUE, _N_CANALS, _N_OPEN = (_offset(NUMBERS, name) for name in ("hand_value", "hand_canals", "hand_open"))
_N_FOUNTAINS, _N_JETS, _N_UNSEEN = (_offset(NUMBERS, name) for name in ("hand_fountains", "hand_jets", "unseen"))

NUM_SLOT_ACTIONS = 20 * MAX_TILES
_LAY_SLOTS = 4 * MAX_TILES  # slots: laying is numbered behind building


# ---- the numbers beside the table


@jit(inline=True)
def _relative(seat, player, players):
    """How many turns after the observer that seat comes."""
    return seat - player if seat >= player else seat - player + players


@jit(inline=True)
def observe_numbers(state, tables, player, out):
    """Write the NUM_NUMBERS numbers."""
    out[:] = 0
    players = np.int64(state["num_players"])
    out[np.int64(state["stage"])] = 1
    if state["stage"] != OVER:
        out[_N_TO_ACT + _relative(np.int64(state["player"]), player, players)] = 1
    points = totals(state, tables)
    for seat in range(players):
        place = _relative(seat, player, players)
        out[_N_FLOORS + place] = state["floors_left"][seat]
        out[_N_SCORES + place] = points[seat]
        out[_N_HOLDS + place] = state["hand"][seat] != NO_TILE
    out[_N_PILE] = state["num_pile"]
    _observe_hand(state, tables, player, out)
    _observe_unseen(state, tables, player, out)


@jit(inline=True)
def _observe_hand(state, tables, player, out):
    face = np.int64(state["hand"][player])
    if face == NO_TILE:
        return
    out[_N_HAND] = face - FIRST_CITY + 1
    out[_N_VALUE] = tables["value"][face]
    for k in range(4):
        out[_N_CANALS + k] = (np.int64(tables["canals"][face * 4]) >> k) & 1
        out[_N_OPEN + k] = (np.int64(tables["foundations"][face * 4]) >> k) & 1
        out[_N_FOUNTAINS + k] = (np.int64(tables["fountains"][face * 4]) >> (8 * k)) & 255
        out[_N_JETS + k] = (np.int64(tables["jets"][face * 4]) >> (2 * k)) & 3


@jit(inline=True)
def _observe_unseen(state, tables, player, out):
    """All copies, less those on the table, gone, or in the own hand."""
    for face in range(FIRST_CITY, np.int64(tables["num_faces"])):
        out[_N_UNSEEN + face - FIRST_CITY] = popcount(tables["copies"][face])
    for slot in range(1 + DOWNTOWN_TILES, np.int64(state["num_tiles"])):
        out[_N_UNSEEN + np.int64(state["face"][slot]) - FIRST_CITY] -= 1
    for k in range(np.int64(state["num_gone"])):
        out[_N_UNSEEN + np.int64(state["gone"][k]) - FIRST_CITY] -= 1
    if state["hand"][player] != NO_TILE:
        out[_N_UNSEEN + np.int64(state["hand"][player]) - FIRST_CITY] -= 1


@jit(inline=True)
def _is_origin(state, slot):
    return np.int64(state["origin"]) == slot and state["origin"] != ANYWHERE


# ---- planes


@jit(inline=True)
def _place_in_view(cell, view):
    """Index of a cell in a view, -1 if it is outside."""
    x, y = cell % WIDTH - MIDDLE, cell // WIDTH - MIDDLE
    if view == TORUS:
        return (y & (TORUS - 1)) * TORUS + (x & (TORUS - 1))
    half = view >> 1
    if x < -half or x > half or y < -half or y > half:
        return -1
    return (y + half) * view + x + half


@jit(inline=True)
def _observe_tile(state, tables, player, slot, out, base, step):
    """Write the planes of one tile, from index `base` on, `step` apart."""
    players = np.int64(state["num_players"])
    tile = np.int64(state["face"][slot]) * 4 + np.int64(state["rotation"][slot])
    out[base] = 1
    out[base + _P_VALUE * step] = state["value"][slot]
    out[base + _P_ORIGIN * step] = _is_origin(state, slot)
    canals, jets = np.int64(tables["canals"][tile]), np.int64(state["jets"][slot])
    fountains = np.int64(state["fountains"][slot])
    for k in range(4):
        out[base + (_P_CANALS + k) * step] = (canals >> k) & 1
        out[base + (_P_OPEN + k) * step] = (state["open_lots"][k] >> np.uint64(slot)) & ONE
        out[base + (_P_FOUNTAINS + k) * step] = (fountains >> (8 * k)) & 255
        out[base + (_P_JETS + k) * step] = (jets >> (2 * k)) & 3
        building = np.int64(state["building"][slot, k])
        if building:
            place = _relative(building >> 5, player, players)
            out[base + (NUM_PLANES + 4 * place + k) * step] = building & 31


@jit(inline=True)
def observe_planes(state, tables, player, view, out):
    """Write the planes, as one row of NUM_PLANES + 4 * players times view * view numbers."""
    for slot in range(np.int64(state["num_tiles"])):
        place = _place_in_view(np.int64(state["cell"][slot]), view)
        if place >= 0:
            # a building stays where it is and whose it is, but the observer may be another than the last
            for k in range(4 * np.int64(state["num_players"])):
                out[place + (NUM_PLANES + k) * view * view] = 0
            _observe_tile(state, tables, player, slot, out, place, view * view)


@jit(inline=True)
def _mark_planes(state, tables, view, mask):
    """Set the legal actions of the player to act; returns how many the view offers."""
    n = 0
    area = view * view
    if state["stage"] == EXPAND:
        face = np.int64(state["hand"][np.int64(state["player"])])
        for rotation in range(4):
            for half in range(2):
                entries = fitting_entries(state, tables, face * 4 + rotation, half)
                while entries:
                    cell = np.int64(state["edge_cell"][half * 64 + lowest(entries)])
                    entries = drop_lowest(entries)
                    place = _place_in_view(cell, view)
                    if place >= 0:
                        mask[rotation * area + place] = 1
                        n += 1
    elif state["stage"] != OVER:
        targets = find_targets(state)
        for lot in range(4):
            lots = legal_lots(state, targets, lot)
            while lots:
                place = _place_in_view(np.int64(state["cell"][lowest(lots)]), view)
                lots = drop_lowest(lots)
                if place >= 0:
                    mask[(4 + lot) * area + place] = 1
                    n += 1
    return n


@jit(inline=True)
def _slot_in_view(state, place, view):
    """The slot of the tile at an index of the view, -1 if none lies there."""
    for slot in range(np.int64(state["num_tiles"])):
        if _place_in_view(np.int64(state["cell"][slot]), view) == place:
            return slot
    return -1


@jit(inline=True)
def _cell_in_view(state, place, view):
    """The cell at an index of the view; on the torus the one beside the city, -1 if there is none."""
    if view != TORUS:
        half = view >> 1
        return (place // view - half + MIDDLE) * WIDTH + place % view - half + MIDDLE
    for entry in range(np.int64(state["num_edge"])):
        if _place_in_view(np.int64(state["edge_cell"][entry]), view) == place:
            return np.int64(state["edge_cell"][entry])
    return -1


@jit(inline=True)
def _planes_move(state, view, action):
    """The move of an action, ILLEGAL if there is none such; it need not be legal."""
    area = view * view
    if action < 0 or action >= 8 * area:
        return ILLEGAL
    plane, place = action // area, action % area
    if plane >= 4:
        slot = _slot_in_view(state, place, view)
        return BUILD + 4 * slot + plane - 4 if slot >= 0 else ILLEGAL
    cell = _cell_in_view(state, place, view)
    return plane * CELLS + cell if cell >= 0 else ILLEGAL


@jit(inline=True)
def _planes_action(state, view, move):
    """The action of a legal move, ILLEGAL if the view does not show it."""
    if move >= BUILD:
        plane, cell = 4 + ((move - BUILD) & 3), np.int64(state["cell"][(move - BUILD) >> 2])
    else:
        plane, cell = move // CELLS, move % CELLS
    place = _place_in_view(cell, view)
    return plane * view * view + place if place >= 0 else ILLEGAL


# ---- slots


@jit(inline=True)
def observe_rows(state, tables, player, out):
    """Write one row of NUM_FEATURES + 4 * players numbers for each tile, all in one row."""
    players = np.int64(state["num_players"])
    width = NUM_FEATURES + 4 * players
    for slot in range(np.int64(state["num_tiles"])):
        base = slot * width
        cell = np.int64(state["cell"][slot])
        tile = np.int64(state["face"][slot]) * 4 + np.int64(state["rotation"][slot])
        out[base] = 1
        out[base + _R_AT] = cell % WIDTH - MIDDLE
        out[base + _R_AT + 1] = cell // WIDTH - MIDDLE
        out[base + _R_VALUE] = state["value"][slot]
        out[base + _R_ORIGIN] = _is_origin(state, slot)
        canals, jets = np.int64(tables["canals"][tile]), np.int64(state["jets"][slot])
        fountains = np.int64(state["fountains"][slot])
        for k in range(4 * players):
            out[base + NUM_FEATURES + k] = 0
        for k in range(4):
            out[base + _R_CANALS + k] = (canals >> k) & 1
            out[base + _R_OPEN + k] = (state["open_lots"][k] >> np.uint64(slot)) & ONE
            out[base + _R_FOUNTAINS + k] = (fountains >> (8 * k)) & 255
            out[base + _R_JETS + k] = (jets >> (2 * k)) & 3
            building = np.int64(state["building"][slot, k])
            if building:
                place = _relative(building >> 5, player, players)
                out[base + NUM_FEATURES + 4 * place + k] = building & 31


@jit(inline=True)
def _entry_name(state, entry):
    """4 * slot + side of the lowest slot beside an edge cell."""
    slots = np.int64(state["edge_slots"][entry])
    best = 4 * MAX_TILES
    for side in range(4):
        slot = ((slots >> (8 * side)) & 255) - 1
        if slot >= 0 and 4 * slot + (side ^ 2) < best:
            best = 4 * slot + (side ^ 2)
    return best


@jit(inline=True)
def _mark_slots(state, tables, mask):
    """Set the legal actions of the player to act; returns how many."""
    n = 0
    if state["stage"] == EXPAND:
        face = np.int64(state["hand"][np.int64(state["player"])])
        for rotation in range(4):
            for half in range(2):
                entries = fitting_entries(state, tables, face * 4 + rotation, half)
                while entries:
                    mask[_LAY_SLOTS + 4 * _entry_name(state, half * 64 + lowest(entries)) + rotation] = 1
                    entries = drop_lowest(entries)
                    n += 1
    elif state["stage"] != OVER:
        targets = find_targets(state)
        for lot in range(4):
            lots = legal_lots(state, targets, lot)
            while lots:
                mask[4 * lowest(lots) + lot] = 1
                lots = drop_lowest(lots)
                n += 1
    return n


@jit(inline=True)
def _slots_move(state, action):
    """The move of an action, ILLEGAL if there is none such; it need not be legal."""
    if action < 0 or action >= NUM_SLOT_ACTIONS:
        return ILLEGAL
    if action < _LAY_SLOTS:
        return BUILD + action
    slot, side, rotation = (action - _LAY_SLOTS) >> 4, ((action - _LAY_SLOTS) >> 2) & 3, action & 3
    if slot >= np.int64(state["num_tiles"]):
        return ILLEGAL
    cell = np.int64(state["cell"][slot]) + STEPS[side]
    entry = find_entry(state, cell)
    if entry >= NO_ENTRY or _entry_name(state, entry) != 4 * slot + side:  # one name a cell
        return ILLEGAL
    return rotation * CELLS + cell


@jit(inline=True)
def _slots_action(state, move):
    """The action of a legal move."""
    if move >= BUILD:
        return move - BUILD
    return _LAY_SLOTS + 4 * _entry_name(state, find_entry(state, move % CELLS)) + move // CELLS


# ---- what Python calls; `view` is the side V, and 0 for slots


@jit(inline=True)
def _move_of(state, view, action):
    return _planes_move(state, view, action) if view else _slots_move(state, action)


@jit(entry=True)
def to_move(states, i, tables, view, action):
    """The move that an action stands for, ILLEGAL if it stands for none or is not legal here."""
    move = _move_of(states[i], view, action)
    return move if allows(states[i], tables[0], move) else ILLEGAL


@jit(entry=True)
def to_action(states, i, tables, view, move):
    """The action of a legal move, ILLEGAL if the view does not show it."""
    return _planes_action(states[i], view, move) if view else _slots_action(states[i], move)


@jit(inline=True)
def mark(state, tables, view, mask):
    """Set the legal actions of the player to act in an array of zeros; returns how many there are."""
    return _mark_planes(state, tables, view, mask) if view else _mark_slots(state, tables, mask)


@jit(inline=True)
def _offers(state, tables, view):
    """Does the view show a legal move?"""
    if state["stage"] == EXPAND:
        face = np.int64(state["hand"][np.int64(state["player"])])
        for rotation in range(4):
            for half in range(2):
                entries = fitting_entries(state, tables, face * 4 + rotation, half)
                while entries:
                    if _place_in_view(np.int64(state["edge_cell"][half * 64 + lowest(entries)]), view) >= 0:
                        return True
                    entries = drop_lowest(entries)
        return False
    targets = find_targets(state)
    lots = legal_lots(state, targets, 0) | legal_lots(state, targets, 1)
    lots |= legal_lots(state, targets, 2) | legal_lots(state, targets, 3)
    while lots:
        if _place_in_view(np.int64(state["cell"][lowest(lots)]), view) >= 0:
            return True
        lots = drop_lowest(lots)
    return False


@jit(inline=True)
def status(state, tables, view):
    """The seat to act; STEP_OVER once the game is over, STEP_HIDDEN if the view hides every legal move."""
    if state["over"]:
        return STEP_OVER
    if view and not _offers(state, tables, view):
        return STEP_HIDDEN
    return np.int64(state["player"])


@jit(entry=True)
def step(states, i, tables, view, action):
    """Play an action; returns the status, or STEP_ILLEGAL and nothing has changed. ASK plays nothing."""
    state, table = states[i], tables[0]
    if action != STEP_ASK:
        move = _move_of(state, view, action)
        if not allows(state, table, move):
            return STEP_ILLEGAL
        play(state, table, move)
    return status(state, table, view)


@jit(entry=True)
def observe(states, i, tables, player, view, array, numbers):
    """Both parts of an observation: planes or rows as one row of numbers, and the numbers beside the table."""
    if view:
        observe_planes(states[i], tables[0], player, view, array)
    else:
        observe_rows(states[i], tables[0], player, array)
    observe_numbers(states[i], tables[0], player, numbers)


@jit(entry=True)
def observe_planes_whole(states, i, tables, player, view, out, mask):
    """The planes with the numbers in short behind them as constant planes, and the mask; every byte is written."""
    state, table = states[i], tables[0]
    area = view * view
    base = (NUM_PLANES + 4 * np.int64(state["num_players"])) * area
    out[:base] = 0
    mask[:] = 0
    observe_planes(state, table, player, view, out)
    numbers = np.empty(NUM_NUMBERS, np.int16)
    observe_numbers(state, table, player, numbers)
    for k in range(_SHORT_NUMBERS):
        out[base + k * area : base + (k + 1) * area] = min(127, max(-128, np.int64(numbers[k])))
    base += _SHORT_NUMBERS * area
    counts = np.zeros(8, np.int64)
    for face in range(FIRST_CITY, np.int64(table["num_faces"])):
        unseen = np.int64(numbers[_N_UNSEEN + face - FIRST_CITY])
        canals = popcount(np.uint64(table["canals"][face * 4]))
        counts[min(max(np.int64(table["value"][face]), 1), 4) - 1] += unseen
        counts[4 + max(canals, 1) - 1] += unseen
    for k in range(8):
        out[base + k * area : base + (k + 1) * area] = counts[k]
    return mark(state, table, view, mask) if _is_to_act(state, player) else 0


@jit(entry=True)
def observe_slots_whole(states, i, tables, player, view, out, mask):
    """The rows, then the numbers, and the mask; every byte is written."""
    state, table = states[i], tables[0]
    out[:] = 0
    mask[:] = 0
    observe_rows(state, table, player, out)
    observe_numbers(state, table, player, out[MAX_TILES * (NUM_FEATURES + 4 * np.int64(state["num_players"])) :])
    return mark(state, table, view, mask) if _is_to_act(state, player) else 0


@jit(inline=True)
def _is_to_act(state, player):
    return state["over"] == 0 and np.int64(state["player"]) == player


@jit(entry=True)
def mask(states, i, tables, view, out):
    """Set the legal actions of the player to act in an array of zeros; returns how many there are."""
    return mark(states[i], tables[0], view, out)


# ---- the two encodings as the envs know them

DEFAULT_VIEWS = {2: 19, 3: 23, 4: 25}  # by players


def planes_view(players: int, view: int | str | None) -> int:
    """The side of the view: odd, or "all"; by default one that hides hardly anything."""
    if view is None:
        return DEFAULT_VIEWS[players]
    if view == "all":
        return TORUS
    if type(view) is not int or view not in range(3, 2 * MAX_TILES + 2, 2):
        raise OptionError(f'option view: {view!r} is not an odd number from 3 to {2 * MAX_TILES + 1}, nor "all"')
    return view


def slots_view(players: int, view: int | str | None) -> int:
    """Slots have no view."""
    if view is not None:
        raise OptionError(f"option view: {view!r} is for the encoding planes; slots has none")
    return 0


def _planes_parts(players: int, view: int) -> tuple[Part, Part]:
    planes = Part((NUM_PLANES + 4 * players, view, view), np.dtype(np.int8))
    return planes, Part((NUM_NUMBERS,), np.dtype(np.int16))


def _planes_whole(players: int, view: int) -> Part:
    return Part((NUM_PLANES + 4 * players + NUM_SHORT, view, view), np.dtype(np.int8))


def _slots_parts(players: int, view: int) -> tuple[Part, Part]:
    rows = Part((MAX_TILES, NUM_FEATURES + 4 * players), np.dtype(np.int16))
    return rows, Part((NUM_NUMBERS,), np.dtype(np.int16))


def _slots_whole(players: int, view: int) -> Part:
    return Part((MAX_TILES * (NUM_FEATURES + 4 * players) + NUM_NUMBERS,), np.dtype(np.int16))


ENCODINGS = {
    "planes": Encoding(
        resolve_view=planes_view,
        num_actions=lambda players, view: 8 * view * view,
        parts=_planes_parts,
        whole=_planes_whole,
        legend={"plane": (*PLANES, BUILDINGS), "constant plane": SHORT, "number": NUMBERS},
        observe=observe,
        observe_whole=observe_planes_whole,
        mask=mask,
        to_move=to_move,
        to_action=to_action,
        step=step,
    ),
    "slots": Encoding(
        resolve_view=slots_view,
        num_actions=lambda players, view: NUM_SLOT_ACTIONS,
        parts=_slots_parts,
        whole=_slots_whole,
        legend={"feature of a row": (*ROWS, BUILDINGS), "number": NUMBERS},
        observe=observe,
        observe_whole=observe_slots_whole,
        mask=mask,
        to_move=to_move,
        to_action=to_action,
        step=step,
    ),
}
