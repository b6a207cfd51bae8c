"""Many games at once, random play: every step with observation, mask and auto-reset.

A figure counts decisions of all seats in a second of *stepping alone*. Our actions are drawn between the steps, while
the clock stands still; Pgx's are drawn beforehand and replayed (see pgx_batch.py), which favours Pgx: whatever its
sampling costs is left out. The cases "... sampled" count the choice of actions on both sides, too.

"bytes" are those of what one step hands out for one game: observation, mask, rewards and flags. A batch's own arrays
are kept up to date, so that fewer bytes are written than handed out; "out arrays" belong to the caller and are written
in full. A round is about as many steps as a game has decisions: openings and endings weigh as they do in play.
"""

import importlib.util
import time
from collections.abc import Callable

from gymnasium import spaces

import tollero_env
from experiments.bench import pgx_batch
from experiments.bench.cases import Case, Done
from experiments.bench.sampling import Sampler
from tollero_env.envs.batch import Batch
from tollero_env.envs.vector import VectorGames
from tollero_env.game import Array

GAMES = 1024
SIZES = (1, 4, 16, 64, 256, 1024, 4096)
LEAST = 8192  # decisions of a round of the scaling, where the games are few
SCALING_ROUNDS = 5
ENCODINGS = ("planes", "slots")
PEERS = ("pgx hex", "pgx othello")


def game_length(players: int) -> int:
    """Decisions of a random game, on average."""
    decisions, _ = tollero_env.playouts("tollero", players=players, games=1000, seed=1)
    return round(float(decisions.mean()))


class Stepped:
    """A batch that plays on at random from run to run; dealt in the first, by the threads that it then keeps."""

    def __init__(self, batch: Batch, steps: int, *, into_arrays: bool = False) -> None:
        self._batch, self._steps, self._sampler = batch, steps, Sampler(batch.num_games)
        self._out = batch.arrays() if into_arrays else None
        self._mask: Array | None = None

    def run(self) -> Done:
        """The time of the steps alone."""
        batch, out, choose, seconds = self._batch, self._out, self._sampler, 0.0
        mask = self._start()
        for _ in range(self._steps):
            actions = choose(mask)
            start = time.perf_counter()
            mask = batch.step(actions, out).mask
            seconds += time.perf_counter() - start
        return Done(self._steps * batch.num_games, seconds)

    def run_sampled(self) -> float:
        """The choice of actions counts, too."""
        mask = self._start()
        for _ in range(self._steps):
            mask = self._batch.step(self._sampler(mask), self._out).mask
        return self._steps * self._batch.num_games

    def _start(self) -> Array:
        if self._mask is None:
            self._mask = self._batch.reset(seed=1, out=self._out).mask
        return self._mask  # the same array from step to step


def batch_bytes(batch: Batch) -> int:
    """What one step hands out for one game."""
    return sum(array.nbytes for array in batch.arrays()) // batch.num_games


def batch_cases(encoding: str, players: int, games: int, steps: int) -> list[Case]:
    """The batch's own arrays, and arrays of the caller's."""
    found = []
    for words, into_arrays in (("", False), (" out arrays", True)):
        batch = Batch("tollero", games, players, encoding=encoding)
        stepped = Stepped(batch, steps, into_arrays=into_arrays)
        facts = {"bytes": batch_bytes(batch)}
        found.append(Case(f"tollero batch {encoding}{words}", players, "steps/s", stepped.run, PEERS, facts))
    return found


def sampled_case(encoding: str, games: int, steps: int) -> Case:
    """Two players, the choice of actions counted."""
    batch = Batch("tollero", games, 2, encoding=encoding)
    run, peers = Stepped(batch, steps).run_sampled, tuple(f"{peer} sampled" for peer in PEERS)
    facts = {"bytes": batch_bytes(batch)}
    return Case(f"tollero batch {encoding} sampled", 2, "steps/s", run, peers, facts)


def vector_case(encoding: str, players: int, games: int, steps: int) -> Case:
    """The Gymnasium face: one seat learns, the others play at random; decisions of all seats count."""
    envs = VectorGames("tollero", games, players, encoding=encoding, copy=False)
    masks: list[Array] = []
    choose, seen = Sampler(games), envs.single_observation_space.sample()

    def run() -> Done:
        if not masks:
            masks.append(envs.reset(seed=1)[1]["action_mask"])  # the same array from step to step
        seconds, before = 0.0, envs.decisions
        for _ in range(steps):
            actions = choose(masks[0])
            start = time.perf_counter()
            envs.step(actions)
            seconds += time.perf_counter() - start
        return Done(envs.decisions - before, seconds)

    handed_out = seen.nbytes + spaces.flatdim(envs.single_action_space) + 8 + 1 + 1  # mask, reward, two flags
    name = "tollero vector" if encoding == "slots" else f"tollero vector {encoding}"
    facts = {"bytes": handed_out, "encoding": encoding}
    return Case(name, players, "steps/s", run, (f"tollero batch {encoding}",), facts)


def scaling_case(games: int, threads: int, steps: int) -> Case:
    """Another number of games, or of threads."""
    batch = Batch("tollero", games, 2, encoding="slots", threads=threads)
    run, facts = Stepped(batch, max(steps, LEAST // games)).run, {"games": games, "threads": threads}
    return Case("tollero batch slots scaling", 2, "steps/s", run, facts=facts, cores=threads, max_rounds=SCALING_ROUNDS)


def cases(games: int = GAMES, sizes: tuple[int, ...] = SIZES, length: Callable[[int], int] = game_length) -> list[Case]:
    """The batch in all its forms, its peers, a learner, and other sizes."""
    steps = {players: length(players) for players in (2, 3, 4)}
    found: list[Case] = []
    for encoding in ENCODINGS:
        for players in (2, 3, 4):
            found += batch_cases(encoding, players, games, steps[players])
    found.sort(key=lambda case: case.name)
    found += [sampled_case(encoding, games, steps[2]) for encoding in ENCODINGS]
    found += [
        vector_case(encoding, players, games, steps[players] // players)
        for encoding in ENCODINGS
        for players in (2, 3, 4)
    ]
    found += pgx_batch.cases(games)
    if importlib.util.find_spec("sb3_contrib"):
        found.append(_learner_case())
    found += [scaling_case(size, threads, steps[2]) for size in sizes for threads in (1, 2)]
    return found


def _learner_case() -> Case:
    from experiments.bench import learner  # brings torch

    return learner.case()
