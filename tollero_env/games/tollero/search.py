"""What leads the tree search of Tollero: priors from whole turns, values from games played out."""

import math

import numpy as np

from tollero_env.game import Array, Guide, Style
from tollero_env.games.tollero.constants import MAX_LEGAL
from tollero_env.games.tollero.protocol import INSIGHT, VERBS, play_out
from tollero_env.games.tollero.rollouts import play_out_well
from tollero_env.games.tollero.rules import totals
from tollero_env.games.tollero.turns import NOTES, weigh_moves
from tollero_env.jit import jit
from tollero_env.searching import make_search

# What the numbers of the strong guide say.
BY_TURN, TEMPERATURE, WELL, BLEND, SCALE = range(5)


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
    notes, most, total = np.empty(2, NOTES), -math.inf, 0.0
    weigh_moves(states, i, tables, notes, moves, n, out)
    for k in range(n):
        most = max(most, out[k])
    for k in range(n):
        out[k] = math.exp((out[k] - most) / params[TEMPERATURE])
        total += out[k]
    for k in range(n):
        out[k] /= total


@jit(inline=True)
def _blend(points, num_players, params, out):
    """Mix the shares of the win with how clearly each seat is ahead: what is lost anyway is lost by little."""
    for seat in range(num_players):
        best = points[0 if seat else 1]
        for other in range(num_players):
            if other != seat:
                best = max(best, points[other])
        clearly = 1 / (1 + math.exp((best - points[seat]) / params[SCALE]))
        out[seat] += params[BLEND] * (clearly - out[seat])


@jit
def _evaluate(states, i, tables, params, seed, out):
    state = states[i]
    if params[WELL]:
        play_out_well(state, tables, seed)
    else:
        play_out(state, tables, seed)
    VERBS.share(state, tables, out)
    _blend(totals(state, tables), np.int64(state["num_players"]), params, out)


PLAIN = make_search(__name__, "plain", VERBS, INSIGHT, Guide(0, _no_prior, _evaluate_at_random), MAX_LEGAL)
STRONG = make_search(__name__, "strong", VERBS, INSIGHT, Guide(1, _prior, _evaluate), MAX_LEGAL)


def _params(by_turn: bool, well: bool) -> Array:
    return np.array([by_turn, 1.5, well, 0.3, 6.0], np.float64)


STYLES = {
    ("greedy", "turn"): Style(STRONG, _params(by_turn=True, well=True), by_prior=True, explore=1.0),
    ("greedy", "none"): Style(STRONG, _params(by_turn=False, well=True), by_prior=False, explore=0.7),
    ("random", "turn"): Style(STRONG, _params(by_turn=True, well=False), by_prior=True, explore=1.0),
    ("random", "none"): Style(PLAIN, np.zeros(1), by_prior=False, explore=0.7),
}
