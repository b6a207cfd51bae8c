"""The family `ppo`: sb3-contrib's MaskablePPO on many games at once, against past selves and the baselines.

In every game one seat learns, another one from game to game, and one opponent plays all other seats: a baseline, the
policy as it stands or one of the past. Each round's randomness follows from config and round alone.

On one machine a run that is resumed equals one that never stopped, bit for bit. Elsewhere torch may round otherwise:
on another processor or by another version nets differ in the last digits, and in time altogether.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import Logger

from agents.checkpoint import Checkpoint
from agents.ppo import (
    Player,
    PolicyNet,
    Reading,
    check_sizes,
    fill_policy,
    make_policy,
    one_thread,
    to_arrays,
    to_checkpoint,
)
from experiments.train.config import PpoConfig
from experiments.train.folder import read_state, write_state
from experiments.train.measure import batch_agents
from tollero_env.adapters.sb3 import MaskedVecEnv, PlacesPolicy, policy_kwargs
from tollero_env.game import Array, OptionError, Rules
from tollero_env.opponents import BatchAgent
from tollero_env.position import Position
from tollero_env.rng import choose, derive

_PAST_AT_ONCE = 3  # of the past selves that new games are played against in a round: few, so that batches are large
_FIGURES = ("policy_gradient_loss", "value_loss", "entropy_loss", "approx_kl", "clip_fraction", "explained_variance")


class Pool:
    """Opponents, one for each game, chosen anew where a game begins."""

    def __init__(self, members: Sequence[BatchAgent], games: int) -> None:
        """For games in so many rows."""
        self.members, self.chances = list(members), np.ones(len(members))
        self.chosen = np.zeros(games, np.int64)
        self.plies = np.full(games, 1 << 32)  # at which each row was last seen: they grow as long as a game lasts

    def act(self, position: Position, seed: int) -> int:
        """A move of any member."""
        return self.members[choose(derive(seed, 1), len(self.members))].act(position, seed)

    def act_batch(self, rules: Rules, states: Array, games: Array, seeds: Array, out: Array) -> None:
        """Every game's own member decides."""
        plies = states["ply"][games].astype(np.int64)
        new = plies <= self.plies[games]
        self.plies[games] = plies
        sums = np.cumsum(self.chances)
        shares = np.array([derive(int(seed), 1) >> 12 for seed in seeds[new]]) / 2.0**52
        self.chosen[games[new]] = np.searchsorted(sums, shares * sums[-1], side="right")
        chosen = self.chosen[games]
        for number in np.unique(chosen):
            theirs = np.flatnonzero(chosen == number)
            moves = np.empty(theirs.size, np.int64)
            self.members[number].act_batch(rules, states, games[theirs], seeds[theirs], moves)
            out[theirs] = moves


class PpoTrainer:
    """A run in memory. `advance()` does a round of it; equal configs give equal nets."""

    unit = "steps"

    def __init__(self, config: PpoConfig, rules: Rules) -> None:
        """With a policy that has learned nothing."""
        check_sizes("net", config.net)
        if config.num_envs * config.steps_a_round % config.batch == 1:
            raise OptionError(f"batch: {config.batch} leaves a batch of one, which has no spread to scale by")
        self.config, self.rules = config, rules
        self.reading = Reading(_encoding_of(config, rules), config.view, config.net)
        self.rounds, self.loss = 0, float("nan")
        self.figures: dict[str, float] = {}
        self.pool = Pool(list(batch_agents(config.baselines).values()), config.num_envs)
        options = self.reading.options(rules)
        self._games = MaskedVecEnv(
            config.game, config.num_envs, config.players, opponents=self.pool, seat="rotate", **options
        )
        with _seeded(derive(config.seed, 1)):
            self._model = self._make_model()
        self._games.seed(derive(config.seed, 2) >> 1)
        self.pool.members.append(Player(rules, self.reading, self._model.policy, draws=True))
        self._first_past, self._past = len(self.pool.members), list[dict[str, Array]]()

    def _make_model(self) -> MaskablePPO:
        config = self.config
        make_policy(self.rules, self.reading)  # says what is wrong with the sizes
        model = MaskablePPO(
            PlacesPolicy, self._games, learning_rate=config.rate, n_steps=config.steps_a_round,
            batch_size=config.batch, n_epochs=config.epochs, gamma=1.0, gae_lambda=config.decay,
            clip_range=config.clip, ent_coef=config.entropy, policy_kwargs=policy_kwargs(self._games, **config.net),
            device="cpu",
        )  # fmt: skip
        model.set_logger(Logger(None, []))
        return model

    @property
    def total(self) -> int:
        """Steps of the whole run."""
        size = self.config.num_envs * self.config.steps_a_round
        return -(-self.config.steps // size) * size

    @property
    def done(self) -> int:
        """Steps so far: decisions of the seats that learn."""
        return self.rounds * self.config.num_envs * self.config.steps_a_round

    def agent(self) -> PolicyNet:
        """The policy as it stands, as a player."""
        return PolicyNet(Path("net"), self.checkpoint({}))

    def advance(self) -> None:
        """A round: play, and learn from it."""
        config, model = self.config, self._model
        seed = derive(derive(config.seed, 3), self.rounds)
        self._choose_opponents(derive(seed, 1))
        rate = config.rate * (1 - self.done / self.total)
        model.lr_schedule = lambda _: rate
        with _seeded(derive(seed, 2)), one_thread():
            model.learn(config.num_envs * config.steps_a_round, log_interval=None, reset_num_timesteps=False)
        told = model.logger.name_to_value
        self.figures = {name: float(told[f"train/{name}"]) for name in _FIGURES}
        losses = self.figures["policy_gradient_loss"], self.figures["value_loss"], self.figures["entropy_loss"]
        self.loss = losses[0] + model.vf_coef * losses[1] + config.entropy * losses[2]
        self.figures["rate"] = rate
        self.rounds += 1
        if self.rounds % config.pool_every == 0:
            self._remember(to_arrays(model.policy))

    def _choose_opponents(self, seed: int) -> None:
        """Who may be met in games that begin in this round, and how likely."""
        config, pool = self.config, self.pool
        num_past = len(self._past)
        pool.chances = np.zeros(len(pool.members))
        pool.chances[: self._first_past - 1] = config.baselines_share / max(1, self._first_past - 1)
        rest = 1 - config.baselines_share if self._first_past > 1 else 1.0
        pool.chances[self._first_past - 1] = rest * (0.5 if num_past else 1)
        for k in range(_PAST_AT_ONCE if num_past else 0):  # one may come more than once
            pool.chances[self._first_past + choose(derive(seed, k), num_past)] += rest * 0.5 / _PAST_AT_ONCE

    def _remember(self, arrays: dict[str, Array]) -> None:
        """Let these weights join the pool."""
        self._past.append(arrays)
        policy = make_policy(self.rules, self.reading)
        fill_policy("net", policy, arrays)
        self.pool.members.append(Player(self.rules, self.reading, policy, draws=True))

    # ---- on disk

    def checkpoint(self, notes: dict[str, Any]) -> Checkpoint:
        """The policy as agents play it."""
        return to_checkpoint(self.rules, self.reading, self._model.policy, notes)

    def save(self, path: Path, notes: dict[str, Any]) -> None:
        """All it takes to go on: weights, Adam's moments, past selves, and the games as they stand."""
        model, pool = self._model, self.pool
        arrays = {f"net.{name}": array for name, array in to_arrays(model.policy).items()}
        for k, state in model.policy.optimizer.state_dict()["state"].items():
            arrays |= {f"adam.{k}.{name}": tensor.numpy() for name, tensor in state.items()}
        for k, past in enumerate(self._past):
            arrays |= {f"past.{k}.{name}": array for name, array in past.items()}
        arrays |= {"pool.chosen": pool.chosen, "pool.plies": pool.plies, "clock": np.array([self.rounds])}
        if self.rounds:
            arrays["starts"] = model._last_episode_starts
            arrays |= {f"games.{name}": _as_bytes(array) for name, array in self._games_arrays().items()}
        write_state(path, arrays, notes)

    def load(self, path: Path) -> dict[str, Any]:
        """Go on where `save` was called; returns its notes."""
        arrays, notes = read_state(path, "clock", "pool.chosen", "pool.plies")
        try:
            self._take(path, arrays)
        except OptionError:
            raise
        except (KeyError, ValueError, RuntimeError) as error:
            raise OptionError(f"{path}: no state of this run: {' '.join(str(error).split())}") from error
        return notes

    def _take(self, path: Path, arrays: dict[str, Array]) -> None:
        model, pool, groups = self._model, self.pool, _grouped(arrays)
        self.rounds = int(arrays["clock"][0])
        fill_policy(path, model.policy, groups["net"])
        optimizer = model.policy.optimizer
        moments = {
            int(k): {name: torch.from_numpy(array.copy()) for name, array in found.items()}
            for k, found in _grouped(groups.get("adam", {})).items()
        }
        for found in moments.values():
            found["step"] = found["step"].reshape(())  # files have no numbers, only arrays
        optimizer.load_state_dict({**optimizer.state_dict(), "state": moments})
        past = _grouped(groups.get("past", {}))
        for k in range(len(past)):
            self._remember(past[str(k)])
        pool.chosen[:], pool.plies[:] = arrays["pool.chosen"], arrays["pool.plies"]
        model.num_timesteps = self.done
        if self.rounds:
            for name, array in self._games_arrays().items():
                array[...] = groups["games"][name].view(array.dtype).reshape(array.shape)
            model._last_obs = self._games.games.observation.copy()
            model._last_episode_starts = arrays["starts"]

    def _games_arrays(self) -> dict[str, Array]:
        """Everything that the games in progress consist of."""
        found = vars(self._games.games).items()
        return {name: one for name, one in found if isinstance(one, np.ndarray) and one.base is None}


def _encoding_of(config: PpoConfig, rules: Rules) -> str:
    """The one that is asked for; else slots, for games that have it."""
    if config.encoding is not None:
        return config.encoding
    return "slots" if "slots" in rules.game.encodings else next(iter(rules.game.encodings))


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """The generators that stable-baselines3 shares with everybody: weights and actions are drawn by torch's, batches
    by numpy's. Both are as before afterwards."""
    before = np.random.get_state()  # noqa: NPY002
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed >> 1)
        np.random.seed(seed >> 32)  # noqa: NPY002
        try:
            yield
        finally:
            np.random.set_state(before)  # noqa: NPY002


def _as_bytes(array: Array) -> Array:
    """Any array as safetensors takes it: records are none of its types."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _grouped(arrays: dict[str, Array]) -> dict[str, dict[str, Array]]:
    """{"a": {"b.c": ...}} from {"a.b.c": ...}."""
    found: dict[str, dict[str, Array]] = {}
    for name, array in arrays.items():
        first, dot, rest = name.partition(".")
        if dot:
            found.setdefault(first, {})[rest] = array
    return found
