"""Tollero for learned players: whole turns, and a tree search that a net leads."""

import math

import numpy as np

from tollero_env.game import Guide, Planner
from tollero_env.games.tollero.constants import EXPAND, MAX_LEGAL
from tollero_env.games.tollero.describing import MAX_ROWS, ROW, SIZES, TAGS, UNIT, VERSION, describe
from tollero_env.games.tollero.judging import WORK, evaluate
from tollero_env.games.tollero.planning import plan, weigh
from tollero_env.games.tollero.protocol import INSIGHT, VERBS
from tollero_env.games.tollero.rules import allows, play
from tollero_env.jit import jit
from tollero_env.learning import make_learning
from tollero_env.nets import num_params
from tollero_env.searching import make_search

# behind a net's params
_EXPLORE, _TEMPERATURE = 1.0, 0.3
_AT_TEMPERATURE = num_params(SIZES) + 1


@jit
def _prior(states, i, tables, params, moves, n, out):
    """Softmax over the value of the best turn that each move can still end in."""
    work = np.empty(1, WORK)
    weigh(states, i, tables, params, states, i + 1, work[0], moves, n, out)
    most, total, temperature = out[0], 0.0, np.float64(params[_AT_TEMPERATURE])
    for k in range(n):
        most = max(most, out[k])
    for k in range(n):
        out[k] = math.exp((out[k] - most) / temperature)
        total += out[k]
    for k in range(n):
        out[k] /= total


@jit
def _evaluate(states, i, tables, params, seed, out):
    """What the net thinks once the turn is played to its end; the seats' chances made to sum to 1."""
    state, work = states[i], np.empty(1, WORK)
    if not state["over"] and state["stage"] != EXPAND:
        seat = np.int64(state["player"])
        number = plan(states, i, tables, params, states, i + 1, work[0], 0.0, np.uint64(0))
        for k in range(number):
            move = work[0]["plan"][k]
            if not state["over"] and np.int64(state["player"]) == seat and allows(state, tables, move):
                play(state, tables, move)
    if state["over"]:
        VERBS.share(state, tables, out)
        return
    total = 0.0
    for seat in range(np.int64(state["num_players"])):
        out[seat] = 1.0 / (1.0 + math.exp(-np.float64(evaluate(state, tables, params, work[0], seat))))
        total += out[seat]
    for seat in range(np.int64(state["num_players"])):
        out[seat] /= total


PLANNER = Planner(VERSION, SIZES, MAX_ROWS, ROW, TAGS, UNIT, WORK, describe, evaluate, plan)
SEARCH = make_search(__name__, "led", VERBS, INSIGHT, Guide(1, _prior, _evaluate), MAX_LEGAL)
LEARNING = make_learning(__name__, VERBS, INSIGHT, PLANNER, SEARCH, (_EXPLORE, _TEMPERATURE))
