"""Looks ahead by whole turns: the best plans are played on against replies by the same net, the better half on more.

Each plan is played with many draws of what the seat cannot know, the same for all plans; every other seat answers with
the turn its net likes best, and the net judges what comes of it.
"""

import math
import time
from pathlib import Path

import numpy as np

from agents.checkpoint import Checkpoint, load_params
from agents.search import Budget
from tollero_env.game import Array, Rules
from tollero_env.position import Position, as_word

FIRST_PLANS = 16  # that are looked at


class Lookahead:
    """The first move of the plan that turns out best."""

    def __init__(self, path: Path, checkpoint: Checkpoint, budget: Budget, turns: int | None = None) -> None:
        """Of a checkpoint of the family `turns`. `turns`: how far; by default until it is the own turn again."""
        self.path, self.checkpoint, self.budget, self.turns = path, checkpoint, budget, turns
        self._rules: Rules | None = None

    def act(self, position: Position, seed: int) -> int:
        """With sims= equal seeds give equal moves; with ms= it thinks as long as that."""
        since = time.perf_counter()
        moves = position.moves()
        if len(moves) == 1:
            return moves[0]
        plans = self._list_plans(position)
        return int(plans[self._find_best(plans, seed, since)][0])

    def _list_plans(self, position: Position) -> Array:
        rules = position.rules
        if self._rules is not rules:
            self._learning, self._params = load_params(self.path, self.checkpoint, rules)
            self._work = np.zeros(1, self._learning.planner.work)
            self._states = np.zeros(3, rules.game.state)
            self._rules = rules
        states, tables = self._states, rules.tables
        states.view(np.uint64).reshape(3, -1)[0] = position.states.view(np.uint64)
        self._learning.settle(states, 0, tables, position.player)
        self._learning.list_plans(states, tables, self._params, states[2:], self._work, 0)
        plans: Array = self._work["top"][0][: self._work["num_tops"][0]][:FIRST_PLANS].copy()
        return plans

    def _find_best(self, plans: Array, seed: int, since: float) -> int:
        """Halve the plans until one is left; each round has the same budget."""
        active, sums, first = np.arange(len(plans)), np.zeros(len(plans)), 0
        rounds = math.ceil(math.log2(len(plans))) if len(plans) > 1 else 0
        for number in range(1, rounds + 1):
            if self.budget.ms:
                until = since + self.budget.ms / 1000 * number / rounds
                first = self._sample_until(plans, active, sums, seed, first, until)
            else:
                count = max(1, self.budget.sims // (rounds * len(active)))
                self._sample(plans, active, sums, seed, first, count)
                first += count
            best = np.argsort(-sums[active], kind="stable")[: (len(active) + 1) // 2]
            active = active[np.sort(best)]
        return int(active[0])

    def _sample_until(self, plans: Array, active: Array, sums: Array, seed: int, first: int, until: float) -> int:
        """Sample at least once, and then as long as another sample is likely to be done in time."""
        while True:
            before = time.perf_counter()
            self._sample(plans, active, sums, seed, first, 1)
            first += 1
            now = time.perf_counter()
            if now + (now - before) > until:
                return first

    def _sample(self, plans: Array, active: Array, sums: Array, seed: int, first: int, count: int) -> None:
        assert self._rules is not None
        turns = self._rules.players - 1 if self.turns is None else self.turns
        self._learning.look_ahead(
            self._states, self._rules.tables, self._params, self._work, plans, active, sums, as_word(seed),
            first, count, turns,
        )  # fmt: skip
