"""The AEC loop as people write it: last(), a legal action drawn with np.flatnonzero of the mask, step()."""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from experiments.bench.cases import Case
from tollero_env import tollero_v0


class NullEnv(AECEnv[str, dict[str, Any], int]):  # type: ignore[misc]
    """Two agents in turn and nothing else: what PettingZoo itself costs."""

    metadata = {"name": "null_v0", "is_parallelizable": False}  # noqa: RUF012

    def __init__(self, steps: int = 60) -> None:
        super().__init__()
        self.possible_agents = ["player_0", "player_1"]
        self._steps, self._seen = steps, {"observation": np.zeros(1, np.int8), "action_mask": np.ones(2, np.int8)}
        self._spaces = spaces.Dict({name: spaces.Box(0, 1, array.shape, np.int8) for name, array in self._seen.items()})
        self._actions = spaces.Discrete(2)

    def observation_space(self, agent: str) -> Any:
        """One space for both."""
        return self._spaces

    def action_space(self, agent: str) -> Any:
        """One space for both."""
        return self._actions

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start anew."""
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection, self._count = self.agents[0], 0

    def observe(self, agent: str) -> dict[str, Any]:
        """Always the same arrays."""
        return self._seen

    def step(self, action: int | None) -> None:
        """Hand the turn over."""
        if self.terminations[self.agent_selection]:
            self._was_dead_step(action)
            return
        self._count += 1
        self.agent_selection = self.possible_agents[self._count & 1]
        if self._count == self._steps:
            self.terminations = dict.fromkeys(self.agents, True)


def loop(env: Any, games: int) -> Callable[[], float]:
    """So many random games; returns how many steps they took."""

    def run() -> float:
        rng, steps = np.random.default_rng(1), 0
        for seed in range(games):
            env.reset(seed=seed)
            for _ in env.agent_iter():
                observation, _, terminated, truncated, _ = env.last()
                if terminated or truncated:
                    env.step(None)
                    continue
                legal = np.flatnonzero(observation["action_mask"].view(bool))  # numpy is fast for bool alone
                env.step(legal[int(rng.random() * len(legal))])
                steps += 1
        return steps

    return run


def wrapped_null() -> Any:
    """NullEnv in PettingZoo's usual wrappers."""
    inner = wrappers.TerminateIllegalWrapper(NullEnv(), illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(inner))


def classic(name: str) -> Any:
    """A game of PettingZoo's own, None if it is not installed."""
    try:
        return importlib.import_module(f"pettingzoo.classic.{name}")
    except ImportError:
        return None


def cases() -> list[Case]:
    """Tollero, PettingZoo with an env that does nothing, and its own games."""
    unit = "us/step"
    found = [
        Case("tollero raw aec", 2, unit, loop(tollero_v0.raw_env(2), 20), ("pettingzoo null raw env",)),
        Case("tollero raw aec", 3, unit, loop(tollero_v0.raw_env(3), 14), ("pettingzoo null raw env",)),
        Case("tollero raw aec", 4, unit, loop(tollero_v0.raw_env(4), 10), ("pettingzoo null raw env",)),
        Case(
            "tollero raw aec slots",
            2,
            unit,
            loop(tollero_v0.raw_env(2, encoding="slots"), 20),
            ("pettingzoo null raw env",),
        ),
        Case("tollero wrapped aec", 2, unit, loop(tollero_v0.env(2), 20), ("pettingzoo null env",)),
        Case("pettingzoo null env", 2, unit, loop(wrapped_null(), 20)),
        Case("pettingzoo null raw env", 2, unit, loop(NullEnv(), 20)),
    ]
    for name, module, games in (("connect_four", "connect_four_v3", 20), ("go", "go_v5", 1)):
        if game := classic(module):
            found.append(Case(f"pettingzoo {name}", 2, unit, loop(game.env(), games), ("pettingzoo null env",)))
    return found
