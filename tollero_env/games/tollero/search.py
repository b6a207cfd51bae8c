"""What leads the tree search of Tollero: priors from whole turns, and random games or good builds."""

import math

import numpy as np

from tollero_env.bits import bit, drop_lowest, lowest
from tollero_env.game import Guide, Style
from tollero_env.games.tollero.constants import EXPAND, MAX_LEGAL
from tollero_env.games.tollero.protocol import INSIGHT, VERBS, play_out, random_lay
from tollero_env.games.tollero.rules import end_turn, find_targets, place_floor
from tollero_env.games.tollero.turns import NOTES, find_rivals, floor_worth, weigh_moves
from tollero_env.jit import jit
from tollero_env.rng import draw_number, stream
from tollero_env.searching import make_search

# what params holds
BY_TURN, TEMPERATURE, PLAYOUT, MARGIN, SCALE = range(5)


@jit(inline=True)
def _no_prior(states, i, tables, params, moves, n, out):
    pass


@jit(inline=True)
def _evaluate_at_random(states, i, tables, params, seed, out):
    play_out(states[i], tables, seed)
    VERBS.share(states[i], tables, out)


@jit
def _prior(states, i, tables, params, moves, n, out):
    """Softmax over the worth of the best turn that each move can still end in."""
    if not params[BY_TURN]:
        for k in range(n):
            out[k] = 1.0 / n
        return
    notes = np.empty(2, NOTES)
    weigh_moves(states, i, tables, notes, moves, n, out)
    most, total = out[0], 0.0
    for k in range(n):
        most = max(most, out[k])
    for k in range(n):
        out[k] = math.exp((out[k] - most) / params[TEMPERATURE])
        total += out[k]
    for k in range(n):
        out[k] /= total


@jit(inline=True)
def _best_build(state, tables, word):
    """Place the pending Floor where it is worth most; as random_build."""
    targets, player = find_targets(state), np.int64(state["player"])
    lots = state["own_lots"][player]
    a, b = lots[0] | state["open_lots"][0], lots[1] | state["open_lots"][1]
    c, d = lots[2] | state["open_lots"][2], lots[3] | state["open_lots"][3]
    tiles = targets & (a | b | c | d)
    if not tiles:
        return False
    best, draw = np.int64(-1), np.int64(word >> np.uint64(33))
    best_slot, best_lot = 0, 0
    is_two = state["num_players"] == 2
    while tiles:
        slot = lowest(tiles)
        tiles = drop_lowest(tiles)
        rivals = find_rivals(state, player, slot)
        for lot in range(4):
            if not (state["open_lots"][lot] | state["own_lots"][player, lot]) & bit(slot):
                continue
            gain, loss = floor_worth(state, tables, player, slot, lot, rivals)
            worth = gain + loss if is_two else 2 * gain + loss
            chance = ((draw * (8 * slot + 2 * lot + 1)) & 0x7FFFFFFF) >> 15  # settles ties
            key = (worth << 16) + chance
            if key > best:
                best, best_slot, best_lot = key, slot, lot
    return place_floor(state, best_slot, best_lot)


@jit(inline=True)
def _play_out_well(state, tables, seed):
    """Lays at random, Floors where each is worth most."""
    base = stream(seed, 1)
    while not state["over"]:
        word = draw_number(base, np.int64(state["ply"]))
        if state["stage"] == EXPAND:
            random_lay(state, tables, word)
        elif not _best_build(state, tables, word):
            end_turn(state, tables)


@jit
def _evaluate(states, i, tables, params, seed, out):
    if params[PLAYOUT]:
        _play_out_well(states[i], tables, seed)
    else:
        play_out(states[i], tables, seed)
    VERBS.share(states[i], tables, out)


PLAIN_GUIDE = Guide(0, _no_prior, _evaluate_at_random)
STRONG_GUIDE = Guide(1, _prior, _evaluate)
PLAIN = make_search(__name__, "plain", VERBS, INSIGHT, PLAIN_GUIDE, MAX_LEGAL)
STRONG = make_search(__name__, "strong", VERBS, INSIGHT, STRONG_GUIDE, MAX_LEGAL)
STYLES = {
    ("greedy", "turn"): Style(STRONG, np.array([1.0, 3.0, 1.0, 0.0, 1.0]), True, 1.0),
    ("random", "turn"): Style(STRONG, np.array([1.0, 3.0, 0.0, 0.0, 1.0]), True, 1.0),
    ("greedy", "none"): Style(STRONG, np.array([0.0, 3.0, 1.0, 0.0, 1.0]), False, 0.7),
    ("random", "none"): Style(PLAIN, np.zeros(1), False, 0.7),
}
