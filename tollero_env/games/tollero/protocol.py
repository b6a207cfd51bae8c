"""Tollero's part of the protocol in game.py: what Python calls, over the verbs of rules.py."""

import numpy as np

from tollero_env.bits import ONE, ZERO, bit, clear, drop_lowest, lowest, popcount, select
from tollero_env.game import Insight, Verbs
from tollero_env.games.tollero.constants import (
    BUILD,
    CELLS,
    CITY_TILES,
    DOWNTOWN_TILES,
    EXPAND,
    MAX_PLAYERS,
    NO_TILE,
    OVER,
    SLOTS,
)
from tollero_env.games.tollero.rules import (
    add_up,
    allows,
    draw_tile,
    end_turn,
    expand,
    find_targets,
    first_turn,
    fits,
    fitting_entries,
    legal_lots,
    open_city,
    place_floor,
    play,
    totals,
)
from tollero_env.jit import jit
from tollero_env.rng import advance, below, draw_number, mix, stream


@jit(entry=True)
def deal(states, i, tables, setup):
    """Set up game i with the given Downtown, hands and pile; they are taken as they come."""
    clear(states, i)
    state, table, given = states[i], tables[0], setup[0]
    for side in range(DOWNTOWN_TILES):
        state["face"][1 + side] = given["downtown"][side] >> 2
        state["rotation"][1 + side] = given["downtown"][side] & 3
    open_city(state, table)
    players = np.int64(table["num_players"])
    state["num_pile"] = CITY_TILES
    for k in range(players):
        state["pile"][CITY_TILES - 1 - k] = given["hands"][k]
    for k in range(CITY_TILES - players):
        state["pile"][CITY_TILES - 1 - players - k] = given["pile"][k]
    first_turn(state, table)


@jit(inline=True)
def _shuffle(tiles, size, rng):
    """Fisher and Yates, from the end; returns the generator's state."""
    for last in range(size - 1, 0, -1):
        rng = advance(rng)
        k = below(mix(rng), last + 1)
        tiles[last], tiles[k] = tiles[k], tiles[last]
    return rng


@jit(inline=True)
def _reset(states, i, tables, seed):
    clear(states, i)
    state, table = states[i], tables[0]
    rng = advance(stream(seed, 0))
    arrangement = np.int64(mix(rng) >> np.uint64(16)) % table["order_end"][np.int64(table["num_orders"]) - 1]
    order = 0
    while table["order_end"][order] <= arrangement:
        order += 1
    for side in range(DOWNTOWN_TILES):  # S2
        tile = np.int64(table["order"][order, side])
        rng = advance(rng)
        way = below(mix(rng), np.int64(table["num_ways"][tile, side]))
        state["face"][1 + side] = table["ways"][tile, side, way] >> 2
        state["rotation"][1 + side] = table["ways"][tile, side, way] & 3
    open_city(state, table)
    for k in range(CITY_TILES):
        state["pile"][k] = table["city"][k]
    state["num_pile"] = CITY_TILES
    state["rng"] = _shuffle(state["pile"], CITY_TILES, rng)
    first_turn(state, table)


@jit(entry=True)
def reset(states, i, tables, seed):
    """Draw a setup from the seed and deal it."""
    _reset(states, i, tables, seed)


@jit(inline=True)
def list_moves(state, tables, out):
    """Write the legal moves; returns their number."""
    n = 0
    if state["stage"] == EXPAND:
        face = np.int64(state["hand"][np.int64(state["player"])])
        for rotation in range(4):
            for half in range(2):
                fitting = fitting_entries(state, tables, face * 4 + rotation, half)
                while fitting:
                    out[n] = rotation * CELLS + np.int64(state["edge_cell"][half * 64 + lowest(fitting)])
                    fitting = drop_lowest(fitting)
                    n += 1
    elif state["stage"] != OVER:
        targets = find_targets(state)
        for lot in range(4):
            lots = legal_lots(state, targets, lot)
            while lots:
                out[n] = BUILD + lowest(lots) * 4 + lot
                lots = drop_lowest(lots)
                n += 1
    return n


@jit(entry=True)
def moves(states, i, tables, out):
    """Write the legal moves of game i; returns their number."""
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
    """Nothing is left to chance once a game is dealt."""


@jit(entry=True)
def apply(states, i, tables, move):
    """As `act`: nothing is left to chance."""
    play(states[i], tables[0], move)


@jit(entry=True)
def scores(states, i, tables, out):
    """The stars of each seat as the table stands."""
    add_up(states[i], tables[0], out)


@jit(inline=True)
def _share(state, tables, out):
    """F5: the highest total wins; equal ones share."""
    players = np.int64(tables["num_players"])
    points = totals(state, tables)
    best, num_winners = points[0], 0
    for seat in range(players):
        best = max(best, points[seat])
    for seat in range(players):
        num_winners += points[seat] == best
    for seat in range(players):
        out[seat] = 1.0 / num_winners if points[seat] == best else 0.0


@jit(entry=True)
def outcome(states, i, tables, out):
    """Each seat's share of the win (F5), as if the game ended now."""
    _share(states[i], tables[0], out)


@jit(inline=True)
def random_lay(state, tables, word):
    """Lay the tile in hand on a place drawn uniformly."""
    tile = np.int64(state["hand"][np.int64(state["player"])]) * 4
    a, b = fitting_entries(state, tables, tile, 0), fitting_entries(state, tables, tile + 1, 0)
    c, d = fitting_entries(state, tables, tile + 2, 0), fitting_entries(state, tables, tile + 3, 0)
    if state["num_edge"] <= 64:
        n1 = popcount(a)
        n2 = n1 + popcount(b)
        n3 = n2 + popcount(c)
        k = below(word, n3 + popcount(d))
        rotation, fitting, before = 0, a, 0
        if k >= n1:
            rotation, fitting, before = 1, b, n1
        if k >= n2:
            rotation, fitting, before = 2, c, n2
        if k >= n3:
            rotation, fitting, before = 3, d, n3
        expand(state, tables, select(fitting, k - before), rotation)
        return
    e, f = fitting_entries(state, tables, tile, 1), fitting_entries(state, tables, tile + 1, 1)
    g, h = fitting_entries(state, tables, tile + 2, 1), fitting_entries(state, tables, tile + 3, 1)
    fittings = (a, e, b, f, c, g, d, h)
    total = 0
    for k in range(8):
        total += popcount(fittings[k])
    rest = below(word, total)
    k = 0
    while rest >= popcount(fittings[k]):
        rest -= popcount(fittings[k])
        k += 1
    expand(state, tables, (k & 1) * 64 + select(fittings[k], rest), k >> 1)


@jit(inline=True)
def random_build(state, word):
    """Place the pending Floor on a lot drawn uniformly; False if there is none, or no second Floor follows."""
    targets = find_targets(state)
    a, b = legal_lots(state, targets, 0), legal_lots(state, targets, 1)
    c, d = legal_lots(state, targets, 2), legal_lots(state, targets, 3)
    n1 = popcount(a)
    n2 = n1 + popcount(b)
    n3 = n2 + popcount(c)
    total = n3 + popcount(d)
    if total == 0:
        return False
    k = below(word, total)
    lot, lots, before = 0, a, 0
    if k >= n1:
        lot, lots, before = 1, b, n1
    if k >= n2:
        lot, lots, before = 2, c, n2
    if k >= n3:
        lot, lots, before = 3, d, n3
    return place_floor(state, select(lots, k - before), lot)


@jit(inline=True)
def play_out(state, tables, seed):
    """Uniformly random moves to the end. One draw a decision: number `below` of the moves in their order."""
    base = stream(seed, 1)
    while not state["over"]:
        word = draw_number(base, np.int64(state["ply"]))
        if state["stage"] == EXPAND:
            random_lay(state, tables, word)
        elif not random_build(state, word):
            end_turn(state, tables)


@jit(entry=True)
def playout(states, i, tables, seed):
    """Play random moves to the end of the game."""
    play_out(states[i], tables[0], seed)


@jit(entry=True)
def playouts(states, tables, seed, decisions, points):
    """Reset and play out as many games as `decisions` has room for, in states[0]."""
    for game in range(decisions.shape[0]):
        game_seed = stream(seed, game)
        _reset(states, 0, tables, game_seed)
        play_out(states[0], tables[0], game_seed)
        decisions[game] = np.int64(states[0]["ply"])
        add_up(states[0], tables[0], points[game])


# ---- hidden things


@jit(inline=True)
def _collect_hidden(state, player):
    """The other hands go behind the pile; returns how many tiles that are, and the seats that held one."""
    size, holding = np.int64(state["num_pile"]), ZERO
    for seat in range(MAX_PLAYERS):
        if seat != player and state["hand"][seat] != NO_TILE:
            state["pile"][size] = state["hand"][seat]  # never above 54: there is room
            size += 1
            holding |= bit(seat)
    return size, holding


@jit(inline=True)
def _sort_pile(state, tables, size):
    """Sort so many tiles of the pile by face."""
    hidden = ZERO  # places in the sorted list of all City tiles; of several copies the first ones
    for k in range(size):
        free = tables["copies"][np.int64(state["pile"][k])] & ~hidden
        hidden |= free & (~free + ONE)
    for k in range(size):
        state["pile"][k] = tables["city"][lowest(hidden)]
        hidden = drop_lowest(hidden)


@jit(inline=True)
def _top_fitting(state, tables, size, word):
    """Bring one of the tiles that can be laid, drawn uniformly, to the top of the pile."""
    num_fitting = 0
    for k in range(size):
        num_fitting += fits(state, tables, np.int64(state["pile"][k]))
    chosen = below(word, num_fitting)
    for k in range(size):
        if fits(state, tables, np.int64(state["pile"][k])):
            if chosen == 0:
                state["pile"][k], state["pile"][size - 1] = state["pile"][size - 1], state["pile"][k]
                return
            chosen -= 1


@jit(inline=True)
def _deal_hidden(state, tables, player, size, holding, seed):
    """Shuffle so many tiles of the pile and give those seats one each."""
    rng = advance(_shuffle(state["pile"], size, stream(seed, 2)))
    state["num_pile"] = size
    mover = np.int64(state["player"])
    if state["stage"] == EXPAND and mover != player:  # E4: what did not fit was put away, so this hand fits
        if not fits(state, tables, np.int64(state["pile"][size - 1])):
            _top_fitting(state, tables, size, mix(rng))
        draw_tile(state, mover)
        holding &= ~bit(mover)
    while holding:
        draw_tile(state, lowest(holding))
        holding = drop_lowest(holding)
    state["rng"] = mix(advance(rng))


@jit(inline=True)
def gather(state, tables, player):
    """Bring what the player cannot know into one order: equal knowledge gives equal states."""
    size, holding = _collect_hidden(state, player)
    _sort_pile(state, tables, size)
    state["num_pile"] = size
    for seat in range(MAX_PLAYERS - 1, -1, -1):  # the other way round than `_collect_hidden`: the order stays
        if holding & bit(seat):
            draw_tile(state, seat)
    state["rng"] = ZERO


@jit(inline=True)
def scatter(state, tables, player, seed):
    """Redraw what the player cannot know, in a state that went through `gather`: as `resample`, but quicker."""
    size, holding = _collect_hidden(state, player)
    _deal_hidden(state, tables, player, size, holding, seed)


@jit(inline=True)
def situation(state):
    """What the moves so far do not tell of the decision that is due: whose and which it is, and the tile in hand."""
    player, stage = np.int64(state["player"]), np.int64(state["stage"])
    tile = np.int64(state["hand"][player]) if stage == EXPAND else 0
    return tile + SLOTS * (stage + 4 * player)


@jit(entry=True)
def resample(states, i, tables, player, seed):
    """Redraw the other hands and the order of the pile, evenly among all that the player may hold possible."""
    state = states[i]
    size, holding = _collect_hidden(state, player)
    _sort_pile(state, tables[0], size)
    _deal_hidden(state, tables[0], player, size, holding, seed)


INSIGHT = Insight(gather, scatter, situation)
VERBS = Verbs(reset=_reset, list_moves=list_moves, allows=allows, play=play, score=add_up, share=_share)
