"""How much of a learner's time the env takes: sb3-contrib's MaskablePPO on one core."""

import time
from typing import Any

import torch
from sb3_contrib import MaskablePPO

from experiments.bench.cases import Case, Done
from tollero_env.adapters.sb3 import MaskedVecEnv, policy_kwargs

GAMES, STEPS = 64, 32  # 2048 steps for each update of the network
ROUNDS = 3


class TimedGames(MaskedVecEnv):
    """Adds up the seconds that steps and masks take."""

    seconds = 0.0

    def step_wait(self) -> Any:
        """As it is."""
        start = time.perf_counter()
        found = super().step_wait()
        self.seconds += time.perf_counter() - start
        return found

    def env_method(self, method_name: str, *method_args: Any, **keywords: Any) -> list[Any]:
        """As it is."""
        start = time.perf_counter()
        found = super().env_method(method_name, *method_args, **keywords)
        self.seconds += time.perf_counter() - start
        return found


def case(games: int = GAMES, steps: int = STEPS) -> Case:
    """One update with the algorithm's own settings, but for the number of steps; the network of our adapter."""
    envs = TimedGames("tollero", games, encoding="slots")
    models: list[Any] = []

    def run() -> Done:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            if not models:
                how = policy_kwargs(envs)
                models.append(MaskablePPO("MlpPolicy", envs, n_steps=steps, policy_kwargs=how, seed=1, device="cpu"))
            start, before = time.perf_counter(), envs.seconds
            models[0].learn(steps * games, reset_num_timesteps=False)
            return Done(time.perf_counter() - start, envs.seconds - before)
        finally:
            torch.set_num_threads(threads)

    return Case("maskable ppo env share", 2, "%", run, facts={"games": games}, max_rounds=ROUNDS)
