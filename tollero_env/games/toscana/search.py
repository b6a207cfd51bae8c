"""What leads the tree search of Toscana: priors from what each place is worth, values from rounds played out."""

import math

import numpy as np

from tollero_env.game import Array, Guide, Style
from tollero_env.games.toscana.constants import CELLS, MAX_LEGAL, PLACE
from tollero_env.games.toscana.protocol import INSIGHT, VERBS, play_out
from tollero_env.games.toscana.rollouts import play_round, weigh_place
from tollero_env.games.toscana.rules import find_areas, top_tile
from tollero_env.jit import jit
from tollero_env.searching import make_search

# What the numbers of the strong guide say.
BY_WORTH, TEMPERATURE, TRIES, ODDS, BLEND, SCALE, LATER_SCALE = range(7)


@jit(inline=True)
def _no_prior(states, i, tables, params, moves, n, out):
    pass


@jit(inline=True)
def _evaluate_at_random(states, i, tables, params, seed, out):
    play_out(states[i], tables, seed)
    VERBS.share(states[i], tables, out)


@jit
def _prior(states, i, tables, params, moves, n, out):
    """Softmax over what each place is worth at once; both answers to a question are equal."""
    state = states[i]
    if not params[BY_WORTH] or state["stage"] != PLACE:
        for k in range(n):
            out[k] = 1.0 / n
        return
    player, most, total = np.int64(state["player"]), -math.inf, 0.0
    tile, words = top_tile(state, player), np.zeros(128, np.uint64)
    best = find_areas(state, tables, words)
    for k in range(n):
        out[k] = weigh_place(state, tables, player, tile, moves[k] // CELLS, moves[k] % CELLS, words, best)
        most = max(most, out[k])
    for k in range(n):
        out[k] = math.exp((out[k] - most) / params[TEMPERATURE])
        total += out[k]
    for k in range(n):
        out[k] /= total


@jit
def _evaluate(states, i, tables, params, seed, out):
    """This round is played out; a round to come is only the doubt about the points before it."""
    state = states[i]
    if state["over"] == 0:
        play_round(state, tables, seed, np.int64(params[TRIES]), np.int64(params[ODDS]))
    points = state["points"]
    lead = np.int64(points[0, 0]) + np.int64(points[1, 0]) - np.int64(points[0, 1]) - np.int64(points[1, 1])
    if state["over"]:
        VERBS.share(state, tables, out)
        clearly = 1 / (1 + math.exp(-lead / params[SCALE]))
        out[0] += params[BLEND] * (clearly - out[0])
    else:
        out[0] = 1 / (1 + math.exp(-lead / params[LATER_SCALE]))
    out[1] = 1 - out[0]


PLAIN = make_search(__name__, "plain", VERBS, INSIGHT, Guide(0, _no_prior, _evaluate_at_random), MAX_LEGAL)
STRONG = make_search(__name__, "strong", VERBS, INSIGHT, Guide(0, _prior, _evaluate), MAX_LEGAL)


def _params(by_worth: bool, tries: int) -> Array:
    return np.array([by_worth, 1.0, tries, 8, 0.3, 4.0, 5.0], np.float64)


STYLES = {
    ("greedy", "turn"): Style(STRONG, _params(by_worth=True, tries=4), by_prior=True, explore=1.0),
    ("greedy", "none"): Style(STRONG, _params(by_worth=False, tries=4), by_prior=False, explore=0.7),
    ("random", "turn"): Style(STRONG, _params(by_worth=True, tries=1), by_prior=True, explore=1.0),
    ("random", "none"): Style(PLAIN, np.zeros(1), by_prior=False, explore=0.7),
}
