"""Agents that look no further than their own next decision, or their own turn."""

import numpy as np

from tollero_env.game import Array, OptionError, Rules, Turns
from tollero_env.position import Position, as_word

_FIRST = np.zeros(1, np.int64)  # the one game of a position


class Greedy:
    """The move after which its points less the best other's are most; the seed settles ties."""

    def act(self, position: Position, seed: int) -> int:
        """One of the best moves."""
        return _act(self, position, seed)

    def act_batch(self, rules: Rules, states: Array, games: Array, seeds: Array, out: Array) -> None:
        """The same for many games in one call."""
        scratch = np.empty(1, rules.game.state)
        rules.game.loops.greedy_many(states, scratch, rules.tables, games, seeds, out)


class GreedyTurn:
    """A move of the best whole turn: the one after which its points less the best other's are most."""

    def act(self, position: Position, seed: int) -> int:
        """The first move, or the next one, of one of the best turns."""
        return _act(self, position, seed)

    def act_batch(self, rules: Rules, states: Array, games: Array, seeds: Array, out: Array) -> None:
        """The same for many games in one call."""
        _turns(rules).choose_many(states, rules.tables, games, seeds, out)


def _act(agent: Greedy | GreedyTurn, position: Position, seed: int) -> int:
    out = np.empty(1, np.int64)
    agent.act_batch(position.rules, position.states, _FIRST, np.array([as_word(seed)]), out)
    return int(out[0])


def _turns(rules: Rules) -> Turns:
    if rules.game.turns is None:
        raise OptionError(f"agent 'greedy-turn': {rules.game.title} has no search of whole turns; 'greedy' plays it")
    return rules.game.turns
