"""Learned players: the best whole turn by a net, or a tree search that the net leads."""

from pathlib import Path
from typing import Any

import numpy as np

from agents.checkpoint import Checkpoint, find_checkpoint, load_params, read_checkpoint
from agents.ismcts import Searcher, check_parameters
from agents.lookahead import Lookahead
from agents.search import Budget
from tollero_env.game import Array, OptionError, Rules, Style
from tollero_env.position import Position


class TurnNet:
    """A move of the whole turn whose end the net likes best."""

    def __init__(self, path: Path, checkpoint: Checkpoint) -> None:
        """Of a checkpoint of the family `turns`."""
        self.path, self.checkpoint = path, checkpoint
        self._rules: Rules | None = None

    def act(self, position: Position, seed: int) -> int:
        """The next move of that turn."""
        out = np.empty(1, np.int64)
        self.act_batch(position.rules, position.states, np.zeros(1, np.int64), np.zeros(1, np.uint64), out)
        return int(out[0])

    def act_batch(self, rules: Rules, states: Array, games: Array, seeds: Array, out: Array) -> None:
        """The same for many games in one call."""
        self.prepare(rules)
        scratch = np.empty(1, rules.game.state)
        self._learning.act_many(states, rules.tables, self.params, scratch, self._work, games, out)

    def judge(self, position: Position) -> list[float]:
        """Each seat's chance to win, as the net sees it from there; for a position between two turns."""
        self.prepare(position.rules)
        chances = np.zeros(position.rules.players)
        self._learning.judge(position.states, 0, position.rules.tables, self.params, self._work, chances)
        return [float(chance) for chance in chances]

    def prepare(self, rules: Rules) -> None:
        """Make ready for these rules, or refuse them."""
        if self._rules is rules:
            return
        self._learning, self.params = load_params(self.path, self.checkpoint, rules)
        self._work = np.zeros(1, self._learning.planner.work)
        self._rules = rules


def make_net(path: str = "", **parameters: str) -> Any:
    """An agent of a checkpoint: by itself, or with sims= or ms= (and threads=, reuse=) searching."""
    if not path:
        raise OptionError("agent 'net' needs a checkpoint: net:PATH, net:RUN_FOLDER or net:NAME of a shipped one")
    file = find_checkpoint(path)
    checkpoint = read_checkpoint(file)
    if checkpoint.family == "ppo":
        from agents.ppo import PolicyNet  # brings torch

        return PolicyNet(file, checkpoint, **parameters)
    if checkpoint.family != "turns":
        raise OptionError(f"{file}: nets of the family {checkpoint.family!r} are not known; there is turns, ppo")
    if not parameters:
        return TurnNet(file, checkpoint)

    check_parameters("net", parameters, ("sims", "ms", "threads", "reuse", "turns", "by"))
    if parameters.pop("by", "turns") == "turns":
        return _make_lookahead(file, checkpoint, parameters)

    def find_style(rules: Rules) -> Style:
        learning, params = load_params(file, checkpoint, rules)
        if learning.search is None:
            raise OptionError(f"agent 'net': {rules.game.title} has no tree search that a net leads: leave out by=tree")
        more = np.array(learning.search_params, np.float32)
        return Style(learning.search, np.concatenate((params, more)), True, float(learning.search_params[0]))

    return Searcher("net", find_style, parameters)


def _make_lookahead(file: Path, checkpoint: Checkpoint, parameters: dict[str, str]) -> Lookahead:
    check_parameters("net", parameters, ("sims", "ms", "turns"))
    if ("sims" in parameters) == ("ms" in parameters):
        raise OptionError("agent 'net': give sims= or ms=, one of both, or neither to play without looking ahead")
    turns = int(parameters["turns"]) if "turns" in parameters else None
    return Lookahead(file, checkpoint, Budget(int(parameters.get("sims", 0)), int(parameters.get("ms", 0))), turns)
