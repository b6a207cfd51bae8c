"""The family `turns`: self-play and fitting side by side, round after round, all in compiled code.

Round k plays chunk k + 1 with the net as it stands while the net is fitted to positions of the chunks before: two cores
are busy, and yet all follows from config and seed alone. What a run needs to go on exactly are the net, Adam's moments
and the nets that played the chunks still drawn from: those chunks are played again.
"""

import threading
from pathlib import Path
from typing import Any

import numpy as np

from agents.checkpoint import Checkpoint, plain_options, to_arrays, to_params
from agents.net import TurnNet
from experiments.train.config import TurnsConfig
from experiments.train.folder import read_state, write_state
from tollero_env.game import Array, Learning, OptionError, Rules
from tollero_env.learning import Book, make_book
from tollero_env.nets import num_params, offsets, parts
from tollero_env.rng import derive
from tollero_env.vectors import WIDTH


def first_params(learning: Learning, players: int, seed: int) -> Array:
    """A net that has learned nothing: it goes by the scores alone, as greedy-turn does, with small random weights."""
    rng = np.random.default_rng(seed)
    scale = {"vectors": 0.3, "row_weights": (2 / WIDTH) ** 0.5, "table_weights": 0.03, "out_weights": 0.05}
    found = []
    for name, shape in parts(learning.planner.sizes):
        array = rng.normal(0, 1, shape) * scale.get(name, 0)
        if name == "vectors":
            array[0] = 0
        if name == "out_numbers":
            array[:, : players - 1] = 1 / (players - 1)
        found.append(array.ravel())
    return np.concatenate(found).astype(np.float32)


def score_params(learning: Learning, players: int) -> Array:
    """A net that sees nothing but the scores: the first of the rivals."""
    params = np.zeros(num_params(learning.planner.sizes), np.float32)
    start = offsets(learning.planner.sizes)["out_numbers"]
    params[start : start + players - 1] = 1
    return params


class TurnsTrainer:
    """A run in memory. `advance()` does a round of it; equal configs give equal nets."""

    unit = "games"

    def __init__(self, config: TurnsConfig, rules: Rules, start: Array | None = None) -> None:
        """`start`: the weights to begin with."""
        if rules.game.learning is None:
            raise OptionError(f"game: {rules.game.title} offers no description to nets")
        self.config, self.rules, self.learning = config, rules, rules.game.learning
        planner, players = self.learning.planner, rules.players
        size = num_params(planner.sizes)
        self.params = first_params(self.learning, players, config.seed) if start is None else start.copy()
        self.gradient, self.moments = np.zeros(size, np.float32), np.zeros((2, size), np.float32)
        self.step, self.rounds = 1, 0
        self.rivals, self.joined = [score_params(self.learning, players)], [0]
        self.loss = float("nan")
        self.figures: dict[str, float] = {}
        self._work = self.learning.fit.scratch()
        longest = rules.game.longest_game(rules.tables)
        self._room = config.games_a_round * longest * players
        self._row_room = self._room * min(planner.rows, 40) // 2
        self._kept = config.rounds_kept + 1  # one is being written
        self._book = make_book(planner, self._room * self._kept, self._row_room * self._kept)
        self._live: dict[int, Array] = {}
        self._players: dict[int, Array] = {}  # who played each chunk that is kept

    @property
    def total(self) -> int:
        """Games of the whole run."""
        return -(-self.config.games // self.config.games_a_round) * self.config.games_a_round

    @property
    def done(self) -> int:
        """Games played so far."""
        return self.rounds * self.config.games_a_round

    def agent(self) -> TurnNet:
        """The net as it stands, as a player."""
        return TurnNet(Path("net"), self.checkpoint({}))

    def advance(self) -> None:
        """A round: fit to what was played, and play on."""
        k = self.rounds
        if k not in self._live:
            self._generate(k, self.params.copy())
        player = threading.Thread(target=self._generate, args=(k + 1, self.params.copy()))
        player.start()
        try:
            self._fit(k)
        finally:
            player.join()
        self.rounds = k + 1
        if self.rounds % self.config.pool_every == 0:
            self.rivals.append(self.params.copy())
            self.joined.append(self.rounds)

    def _generate(self, chunk: int, params: Array) -> None:
        """Play a chunk of games into its place in the book."""
        config, rules, at = self.config, self.rules, chunk % self._kept
        states, scratch = np.zeros(1, rules.game.state), np.zeros(1, rules.game.state)
        rivals = np.stack([rival for rival, when in zip(self.rivals, self.joined) if when < max(chunk, 1)])
        end, _ = self.learning.self_play(
            states, rules.tables, params, rivals, config.rivals, scratch, np.zeros(1, self.learning.planner.work),
            np.uint64(derive(config.seed, 1)), chunk * config.games_a_round, config.games_a_round,
            config.noise, config.decay, (at * self._room, at * self._row_room), self._place(at),
        )  # fmt: skip
        self._live[chunk] = np.arange(at * self._room, end)
        self._players[chunk] = params
        for old in [number for number in self._live if number <= chunk - self._kept]:
            del self._live[old], self._players[old]

    def _place(self, at: int) -> Book:
        """The book up to the end of a chunk's place."""
        rows, *others = self._book
        room = (at + 1) * self._room
        first, counts, tags, numbers, targets = (array[:room] for array in others)
        return rows[: (at + 1) * self._row_room], first, counts, tags, numbers, targets

    def _fit(self, k: int) -> None:
        config = self.config
        live = np.concatenate(
            [self._live[chunk] for chunk in sorted(self._live) if k - config.rounds_kept < chunk <= k]
        )
        steps = max(1, int(config.passes * len(self._live[k]) / config.batch))
        rate = config.rate * max(0.0, 1 - self.done / self.total)
        seed = np.uint64(derive(derive(config.seed, 2), k))
        settings = (steps, config.batch, rate, self.step)
        self.loss = self.learning.fit.run(
            self.params, self.gradient, self.moments, self._work, self._book, live, seed, settings,
            self.learning.planner.unit,
        )  # fmt: skip
        self.step += steps
        self.figures = {"rate": rate, "rivals": len(self.rivals), "positions": len(live)}

    # ---- on disk

    def checkpoint(self, notes: dict[str, Any]) -> Checkpoint:
        """The net as agents play it."""
        rules = self.rules
        arrays = to_arrays(self.learning, self.params.copy())
        options = plain_options(rules.options)
        version = self.learning.planner.version
        return Checkpoint(arrays, "turns", rules.game.name, rules.players, options, version, notes)

    def save(self, path: Path, notes: dict[str, Any]) -> None:
        """All it takes to go on."""
        chunks = sorted(self._players)
        arrays = {
            "params": self.params,
            "moments": self.moments,
            "players": np.array([self._players[chunk] for chunk in chunks], np.float32),
            "chunks": np.array(chunks, np.int64),
            "rivals": np.stack(self.rivals),
            "joined": np.array(self.joined),
            "clock": np.array([self.rounds, self.step]),
        }
        write_state(path, arrays, notes)

    def load(self, path: Path) -> dict[str, Any]:
        """Go on where `save` was called; returns its notes."""
        arrays, notes = read_state(path, "params", "moments", "players", "chunks", "rivals", "joined", "clock")
        if arrays["params"].shape != self.params.shape:
            raise OptionError(f"{path}: made by another version of the description; it cannot be gone on with")
        self.params[:], self.moments[:] = arrays["params"], arrays["moments"]
        self.rounds, self.step = (int(number) for number in arrays["clock"])
        self.rivals, self.joined = list(arrays["rivals"]), arrays["joined"].tolist()
        for chunk, params in zip(arrays["chunks"].tolist(), arrays["players"]):
            self._generate(chunk, params.copy())
        return notes


def start_from(path: object, checkpoint: Checkpoint, rules: Rules) -> Array:
    """The weights of a checkpoint, to go on from."""
    assert rules.game.learning is not None
    return to_params(path, checkpoint, rules.game.learning)
