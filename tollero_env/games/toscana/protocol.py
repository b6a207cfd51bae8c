"""Toscana's part of the protocol in game.py: what Python calls, over the verbs of rules.py."""

import numpy as np

from tollero_env.bits import ZERO, bit, clear, drop_lowest, lowest, popcount, select
from tollero_env.game import Insight, Verbs
from tollero_env.games.toscana.constants import ALLOW, ASKED, CELLS, PLACE, SEATS, SET_TILES, VETO, WIDTH
from tollero_env.games.toscana.rules import (
    add_up,
    all_pieces,
    allows,
    answer,
    count_places,
    count_tiles,
    grow_area,
    join_pieces,
    largest_areas,
    must_match,
    open_match,
    pass_turn,
    place_row,
    place_tile,
    play,
    top_tile,
    totals,
)
from tollero_env.jit import jit
from tollero_env.rng import advance, below, draw_number, mix, stream


@jit(entry=True)
def deal(states, i, tables, setup):
    """Set up match i with the given starter and stacks; they are taken as they come."""
    clear(states, i)
    state, table, given = states[i], tables[0], setup[0]
    for seat in range(SEATS):
        for k in range(SET_TILES):
            state["stack"][seat, SET_TILES - 1 - k] = given["stacks"][0, seat, k]
            if table["rounds"] == 2:
                state["later"][seat, SET_TILES - 1 - k] = given["stacks"][1, seat, k]
    open_match(state, table, np.int64(given["starter"]))


@jit(inline=True)
def _shuffle(tiles, first, size, rng):
    """Fisher and Yates over tiles[first:size], from the end; returns the generator's state."""
    for last in range(size - 1, first, -1):
        rng = advance(rng)
        k = first + below(mix(rng), last - first + 1)
        tiles[last], tiles[k] = tiles[k], tiles[last]
    return rng


@jit(inline=True)
def _reset(states, i, tables, seed):
    clear(states, i)
    state, table = states[i], tables[0]
    rng = advance(stream(seed, 0))
    starter = below(mix(rng), SEATS)  # T1
    for seat in range(SEATS):  # R1
        for k in range(SET_TILES):
            state["stack"][seat, k] = k
        rng = _shuffle(state["stack"][seat], 0, SET_TILES, rng)
    if table["rounds"] == 2:
        for seat in range(SEATS):
            for k in range(SET_TILES):
                state["later"][seat, k] = k
            rng = _shuffle(state["later"][seat], 0, SET_TILES, rng)
    state["rng"] = rng
    open_match(state, table, starter)


@jit(entry=True)
def reset(states, i, tables, seed):
    """Draw a setup from the seed and deal it."""
    _reset(states, i, tables, seed)


@jit(inline=True)
def list_moves(state, tables, out):
    """Write the legal moves; returns their number."""
    n = 0
    if state["stage"] == ASKED:
        out[0], out[1] = VETO, ALLOW
        return 2
    if state["stage"] == PLACE:
        player = np.int64(state["player"])
        tile = top_tile(state, player)
        for rotation in range(4):
            for y in range(np.int64(tables["size"])):
                places = place_row(state, tables, player, tile * 4 + rotation, y)
                while places:
                    out[n] = rotation * CELLS + y * WIDTH + lowest(places)
                    places = drop_lowest(places)
                    n += 1
    return n


@jit(entry=True)
def moves(states, i, tables, out):
    """Write the legal moves of match i; returns their number."""
    return list_moves(states[i], tables[0], out)


@jit(entry=True)
def is_legal(states, i, tables, move):
    """Is the move among `moves`? Any number may be asked."""
    return allows(states[i], tables[0], move)


@jit(entry=True)
def act(states, i, tables, move):
    """Play a legal move, then everything that follows of itself."""
    play(states[i], tables[0], move)


@jit(entry=True)
def chance(states, i, tables, value):
    """Nothing is left to chance once a match is dealt."""


@jit(entry=True)
def apply(states, i, tables, move):
    """As `act`: nothing is left to chance."""
    play(states[i], tables[0], move)


@jit(entry=True)
def scores(states, i, tables, out):
    """The points of each seat as they stand."""
    add_up(states[i], tables[0], out)


@jit(entry=True)
def areas(states, i, tables, out):
    """R7: tiles in the largest area of each colour, as the board stands."""
    out[0], out[1] = largest_areas(states[i], tables[0])


@jit(entry=True)
def counted(states, i, tables, colour):
    """R7: the word of slots whose tiles count for that colour, as the board stands."""
    state = states[i]
    joined = np.zeros(128, np.uint64)
    join_pieces(state, joined)
    best, rest = ZERO, all_pieces(state, tables[0], colour)
    while rest:
        area = grow_area(joined, colour, lowest(rest))
        rest &= ~area
        if count_tiles(area) > count_tiles(best):
            best = area
    slots = 0
    while best:
        slots |= 1 << (lowest(best) >> 1)
        best = drop_lowest(best)
    return slots


@jit(inline=True)
def _share(state, tables, out):
    """T1: the sign of the total difference decides."""
    a, b = totals(state, tables)
    out[0] = 1.0 if a > b else 0.5 if a == b else 0.0
    out[1] = 1.0 - out[0]


@jit(entry=True)
def outcome(states, i, tables, out):
    """Each seat's share of the win (T1), as if the match ended now."""
    _share(states[i], tables[0], out)


@jit(inline=True)
def draw_place(state, tables, player, turned, word):
    """(rotation, cell) of a place for that player's tile (number * 4), drawn evenly; rotation -1 if there is none."""
    a, b = count_places(state, tables, player, turned), count_places(state, tables, player, turned + 1)
    c, d = a, b
    if must_match(state, tables):
        c, d = count_places(state, tables, player, turned + 2), count_places(state, tables, player, turned + 3)
    total = a + b + c + d
    if total == 0:
        return -1, 0
    k = below(word, total)
    rotation, before = 0, 0
    if k >= a:
        rotation, before = 1, a
    if k >= a + b:
        rotation, before = 2, a + b
    if k >= a + b + c:
        rotation, before = 3, a + b + c
    k -= before
    y = 0
    places = place_row(state, tables, player, turned + rotation, 0)
    count = popcount(places)
    while k >= count:
        k -= count
        y += 1
        places = place_row(state, tables, player, turned + rotation, y)
        count = popcount(places)
    return rotation, y * WIDTH + select(places, k)


@jit(inline=True)
def play_out(state, tables, seed):
    """Uniformly random moves to the end. One draw a decision: number `below` of the moves in their order."""
    base = stream(seed, 1)
    while not state["over"]:
        word = draw_number(base, np.int64(state["ply"]))
        if state["stage"] == ASKED:
            answer(state, below(word, 2) == 0)
        else:
            player = np.int64(state["player"])
            rotation, cell = draw_place(state, tables, player, top_tile(state, player) * 4, word)
            if rotation < 0:
                pass_turn(state, tables)
            else:
                place_tile(state, tables, rotation, cell)


@jit(entry=True)
def playout(states, i, tables, seed):
    """Play random moves to the end of the match."""
    play_out(states[i], tables[0], seed)


@jit(entry=True)
def playouts(states, tables, seed, decisions, points):
    """Reset and play out as many matches as `decisions` has room for, in states[0]."""
    for game in range(decisions.shape[0]):
        game_seed = stream(seed, game)
        _reset(states, 0, tables, game_seed)
        play_out(states[0], tables[0], game_seed)
        decisions[game] = np.int64(states[0]["ply"])
        add_up(states[0], tables[0], points[game])


# ---- hidden things


@jit(inline=True)
def _sort(tiles, first, size):
    """The tiles in tiles[first:size], all different, in order."""
    found = ZERO
    for k in range(first, size):
        found |= bit(tiles[k])
    for k in range(first, size):
        tiles[k] = lowest(found)
        found = drop_lowest(found)


@jit(inline=True)
def _has_later(state):
    """Is there a next round? Its stacks are zeros if not."""
    return state["later"][0, 0] != state["later"][0, 1]


@jit(inline=True)
def _sort_hidden(state):
    for seat in range(SEATS):
        # known are the top, and a tile that a veto has put to the bottom (R5)
        _sort(state["stack"][seat], np.int64(state["sunk"][seat]), np.int64(state["num_stack"][seat]) - 1)
        if _has_later(state):
            _sort(state["later"][seat], 0, SET_TILES)


@jit(inline=True)
def gather(state, tables, player):
    """Bring what nobody can know into one order: equal knowledge gives equal states."""
    _sort_hidden(state)
    state["rng"] = ZERO


@jit(inline=True)
def scatter(state, tables, player, seed):
    """Redraw what nobody can know, in a state that went through `gather`: as `resample`, but quicker."""
    rng = stream(seed, 2)
    for seat in range(SEATS):
        first, last = np.int64(state["sunk"][seat]), np.int64(state["num_stack"][seat]) - 1
        rng = _shuffle(state["stack"][seat], first, last, rng)
        if _has_later(state):
            rng = _shuffle(state["later"][seat], 0, SET_TILES, rng)
    state["rng"] = mix(advance(rng))


@jit(inline=True)
def situation(state):
    """What the moves so far do not tell of the decision that is due: whose and which it is, and about which tile."""
    player, stage = np.int64(state["player"]), np.int64(state["stage"])
    tile = top_tile(state, player if stage == PLACE else 1 - player)
    return tile + SET_TILES * (player + 2 * (stage + 2 * np.int64(state["round"])))


@jit(entry=True)
def resample(states, i, tables, player, seed):
    """Redraw the order of both stacks below the top, and the next round's; no player knows more than the other."""
    _sort_hidden(states[i])
    scatter(states[i], tables[0], player, seed)


INSIGHT = Insight(gather, scatter, situation)
VERBS = Verbs(reset=_reset, list_moves=list_moves, allows=allows, play=play, score=add_up, share=_share)
