"""A player of Talō made by hand: it builds steps for its own pawn, and grudges the next player theirs."""

import numpy as np

from tollero_env.game import Array, OptionError, Rules
from tollero_env.games.talo import climbing
from tollero_env.position import Position, as_word

_FIRST = np.zeros(1, np.int64)  # the one game of a position


class Climber:
    """The move that lets its own pawn walk highest when the turn is over, less how high others then can."""

    def act(self, position: Position, seed: int) -> int:
        """One of the best moves; the seed settles ties."""
        out = np.empty(1, np.int64)
        self.act_batch(position.rules, position.states, _FIRST, np.array([as_word(seed)]), out)
        return int(out[0])

    def act_batch(self, rules: Rules, states: Array, games: Array, seeds: Array, out: Array) -> None:
        """The same for many games in one call."""
        if rules.game.name != "talo":
            raise OptionError(f"agent 'climber' plays Talō alone, not {rules.game.title}")
        climbing.choose_many(states, rules.tables, games, seeds, out)
