"""A twin of the small nets in torch, written from what nets.py promises; a tiny game to check returns by hand."""

import hashlib
import sys
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from tollero_env.game import HEADER, Insight, Learning, Planner, Sizes, Verbs, record_dtype
from tollero_env.jit import jit
from tollero_env.learning import make_learning
from tollero_env.nets import parts


def owner_of(module):
    """Compiled loops are kept on disk by the name of the module that owns them: one that changes with its file."""
    found = sys.modules[module]
    digest = hashlib.sha256(Path(str(found.__file__)).read_bytes()).hexdigest()[:12]
    sys.modules[f"{module}_{digest}"] = found
    return f"{module}_{digest}"


# ---- nets


def random_params(sizes, seed, scale=0.3):
    """Every part at random; index 0 stands for nothing."""
    rng, found = np.random.default_rng(seed), []
    for name, shape in parts(sizes):
        array = rng.normal(0, scale, shape)
        if name == "vectors":
            array[0] = 0
        found.append(array.ravel())
    return np.concatenate(found).astype(np.float32)


class Twin:
    """The same net in torch, in float64; `flat` takes gradients."""

    def __init__(self, sizes, params):
        self.sizes = sizes
        self.flat = torch.tensor(params, dtype=torch.float64, requires_grad=True)

    def part(self, name):
        start = 0
        for other, shape in parts(self.sizes):
            size = int(np.prod(shape))
            if other == name:
                return self.flat[start : start + size].reshape(shape)
            start += size
        raise KeyError(name)

    def rows_of(self, rows, tags):
        """The vector of every row; indices 0 are nothing."""
        vectors = self.part("vectors")
        real = torch.cat((torch.zeros(1, vectors.shape[1]), vectors[1:]))
        inner = real[torch.as_tensor(rows, dtype=torch.long)].sum(1) + real[torch.as_tensor(tags)].sum(0)
        return torch.relu(torch.relu(inner) @ self.part("row_weights") + self.part("row_bias"))

    def outputs_of(self, pooled, numbers):
        """Value and margin."""
        inputs = torch.cat((pooled, numbers))
        hidden = torch.relu(inputs @ self.part("table_weights") + self.part("table_bias"))
        return self.part("out_weights") @ hidden + self.part("out_numbers") @ numbers + self.part("out_bias")

    def outputs(self, rows, tags, numbers):
        return self.outputs_of(self.rows_of(rows, tags).sum(0), torch.tensor(numbers, dtype=torch.float64))

    def loss(self, book, k, unit):
        """Cross entropy of the value, and 0.3 times the Huber loss of the margin."""
        rows, first, counts, tags, numbers, targets = book
        value, margin = self.outputs(rows[first[k] : first[k] + counts[k]], tags[k], numbers[k])
        target = torch.tensor(targets[k], dtype=torch.float64)
        entropy = functional.binary_cross_entropy_with_logits(value, target[0])
        return entropy + 0.3 * functional.huber_loss(margin, target[1] / unit)


def random_book(planner, positions, seed):
    """Positions that no game has, 0 and repeated indices among them."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, planner.rows + 1, positions)
    first = np.cumsum(counts) - counts + 3
    rows = rng.integers(0, planner.sizes.indices, (int(counts.sum()) + 8, planner.row)).astype(np.int16)
    tags = rng.integers(0, planner.sizes.indices, (positions, planner.tags))
    numbers = rng.normal(size=(positions, planner.sizes.numbers)).astype(np.float32)
    targets = np.stack((rng.random(positions), rng.normal(0, 2, positions) * planner.unit), 1).astype(np.float32)
    return rows, first, counts, tags, numbers, targets


# ---- a game in which a turn is one move: a number from 0 to 9, added to the own points. So many turns each; most wins

STATE = record_dtype([*HEADER, ("points", np.int64, (4,))])
TABLES = record_dtype([("num_players", np.int64), ("turns", np.int64)])
WORK = record_dtype([("plan", np.int64, (4,)), ("value", np.float64)])
SIZES = Sizes(40, 2)
MAX_ROWS = 3
LOGITS = 8  # where a net of this game has what it thinks, by ply and seat; before it, what it adds


@jit
def _reset(states, i, tables, seed):
    state = states[i]
    state["ply"], state["player"], state["over"] = 0, 0, 0
    state["num_players"] = tables[0]["num_players"]
    state["rng"] = seed
    for seat in range(4):
        state["points"][seat] = 0


@jit
def _list_moves(state, tables, out):
    for move in range(10):
        out[move] = move
    return 10


@jit
def _allows(state, tables, move):
    return 0 <= move <= 9


@jit
def _play(state, tables, move):
    players = np.int64(state["num_players"])
    state["points"][state["player"]] += move
    state["ply"] += 1
    state["player"] = np.int64(state["ply"]) % players
    if np.int64(state["ply"]) == players * tables["turns"]:
        state["over"], state["player"] = 1, 0


@jit
def _score(state, tables, out):
    for seat in range(np.int64(state["num_players"])):
        out[seat] = state["points"][seat]


@jit
def _share(state, tables, out):
    players, best, number = np.int64(state["num_players"]), np.int64(-1), 0
    for seat in range(players):
        best = max(best, state["points"][seat])
    for seat in range(players):
        number += state["points"][seat] == best
    for seat in range(players):
        out[seat] = 1.0 / number if state["points"][seat] == best else 0.0


@jit
def _describe(state, tables, seat, rows, tags, numbers):
    count = 1 + np.int64(state["ply"]) % 2
    for r in range(count):
        rows[r, 0] = 1 + np.int64(state["ply"])
        rows[r, 1] = r
    tags[0] = 20 + seat
    numbers[0], numbers[1] = state["points"][seat], state["ply"]
    return count


@jit
def _evaluate(state, tables, params, work, seat):
    return params[LOGITS + np.int64(state["ply"]) * 4 + seat]


@jit
def _plan(states, i, tables, params, scratch, j, work, noise, seed):
    """What the net adds, and a second move that is no longer its own."""
    work["plan"][0] = np.int64(params[states[i]["player"]])
    work["plan"][1] = 9
    return 2


@jit
def _gather(state, tables, player):
    """Nothing is hidden."""


@jit
def _scatter(state, tables, player, seed):
    """Nothing is hidden."""


@jit
def _situation(state):
    return 0


VERBS = Verbs(_reset, _list_moves, _allows, _play, _score, _share)
PLANNER = Planner(1, SIZES, MAX_ROWS, 2, 1, 4.0, WORK, _describe, _evaluate, _plan)
INSIGHT = Insight(_gather, _scatter, _situation)
TINY: Learning = make_learning(owner_of(__name__), VERBS, INSIGHT, PLANNER)


def tiny_tables(players, turns):
    tables = np.zeros(1, TABLES)
    tables[0]["num_players"], tables[0]["turns"] = players, turns
    return tables


def tiny_net(adds, logits=()):
    """A net that adds those numbers, by seat, and thinks those logits, by ply and seat."""
    params = np.zeros(4000, np.float32)
    params[: len(adds)] = adds
    for (ply, seat), logit in dict(logits).items():
        params[LOGITS + ply * 4 + seat] = logit
    return params
