"""Policies learned by MaskablePPO, as players: what the seat to act may know goes in, a legal move comes out."""

import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from agents.checkpoint import Checkpoint, check_fits, plain_options
from tollero_env.adapters.sb3 import MaskedVecEnv, PlacesPolicy, policy_kwargs
from tollero_env.game import MEMORY, Array, Encoding, OptionError, Rules
from tollero_env.position import Position, as_word

SIZES = ("kept", "width", "channels", "blocks")  # what PlanesExtractor and RowsExtractor take


class Reading(NamedTuple):
    """How a policy sees a game, and the sizes of its net: with the rules, all it takes to build it."""

    encoding: str
    view: int | str | None
    sizes: dict[str, int]

    def resolve(self, rules: Rules) -> tuple[Encoding, int]:
        """The encoding and its view."""
        encodings = rules.game.encodings
        if self.encoding not in encodings:
            known = ", ".join(encodings)
            raise OptionError(f"encoding {self.encoding!r}: {rules.game.title} has {known}")
        encoding = encodings[self.encoding]
        return encoding, encoding.resolve_view(rules.players, self.view)

    def options(self, rules: Rules) -> dict[str, Any]:
        """What MaskedVecEnv takes beside game and players."""
        return {"encoding": self.encoding, "view": self.view, **rules.options}

    def version(self, rules: Rules) -> int:
        """A number for what the arrays hold: it changes with their legend and their sizes."""
        encoding, view = self.resolve(rules)
        parts = [(part.shape, part.dtype.str) for part in encoding.parts(rules.players, view)]
        facts = [sorted(encoding.legend.items()), parts, encoding.num_actions(rules.players, view)]
        return zlib.crc32(json.dumps(facts, default=list).encode())


@contextmanager
def one_thread() -> Iterator[None]:
    """These nets are small: several threads mostly wait for each other, and results would hang on their number."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def make_policy(rules: Rules, reading: Reading) -> PlacesPolicy:
    """A net with random weights, which leave torch's generator as it was."""
    games = MaskedVecEnv(rules.game.name, 1, rules.players, **reading.options(rules))
    try:
        with torch.random.fork_rng(devices=[]):
            kwargs = policy_kwargs(games, **reading.sizes)
            return PlacesPolicy(games.observation_space, games.action_space, lambda _: 0.0, **kwargs)
    except TypeError as error:  # rows have no channels, planes no width
        raise OptionError(f"sizes of a net for {reading.encoding}: {error}") from error


def to_arrays(policy: PlacesPolicy) -> dict[str, Array]:
    """Its weights by name, copied."""
    return {name: weights.detach().numpy().copy() for name, weights in policy.named_parameters()}


def fill_policy(path: object, policy: PlacesPolicy, arrays: dict[str, Array]) -> None:
    """Take weights over; such as do not fit are refused."""
    for name, weights in policy.named_parameters():
        array, shape = arrays.get(name), tuple(weights.shape)
        if array is None or array.shape != shape or array.dtype != np.float32:
            found = "missing" if array is None else f"{array.dtype} {array.shape}"
            raise OptionError(f"{path}: array {name!r} is {found}, not float32 {shape}")
        if not np.isfinite(array).all():
            raise OptionError(f"{path}: array {name!r} holds numbers that are not finite")
        weights.data.copy_(torch.from_numpy(array))


class Eyes:
    """Many games as the seats to act may see them."""

    def __init__(self, rules: Rules, reading: Reading) -> None:
        """In an encoding."""
        self.rules = rules
        self.encoding, self.view = reading.resolve(rules)
        self._make_room(0)

    def _make_room(self, rows: int) -> None:
        """Arrays with a row for each state."""
        players, how = self.rules.players, self.encoding
        whole, (array, numbers) = how.whole(players, self.view), how.parts(players, self.view)
        self._cells, self._size = int(np.prod(array.shape)), rows
        self._seen = np.zeros((rows, *whole.shape), whole.dtype)
        self._numbers, self._memory = (
            np.zeros((rows, *numbers.shape), numbers.dtype),
            np.zeros((rows, MEMORY), np.int64),
        )
        self._mask = np.zeros((rows, how.num_actions(players, self.view)), np.int8)
        self._seats, self._offered = np.zeros(rows, np.int64), np.zeros(rows, np.int64)

    def look(self, states: Array, games: Array) -> tuple[Array, Array]:
        """Observations and masks, a row for each of the games; a mask may be all zeros where a view hides too much."""
        if len(states) != self._size:
            self._make_room(len(states))
        self._seats[games] = states["player"][games]
        flat = self._seen.reshape(self._size, -1)
        self.encoding.present(
            states, self.rules.tables, self.view, games, self._seats, True, self._cells,
            self._memory, flat, self._numbers, self._mask, self._offered,
        )  # fmt: skip
        return self._seen[games], self._mask[games]


def choose(policy: PlacesPolicy, seen: Array, masks: Array, shares: Array | None) -> Array:
    """An action for each row: the likeliest, or with `shares` (0 to 1, one a row) one drawn by its likelihood."""
    with torch.no_grad(), one_thread():
        features = policy.extract_features(torch.from_numpy(seen))
        logits = policy.action_net(policy.mlp_extractor.forward_actor(features)).numpy()
    logits = np.where(masks, logits.astype(np.float64), -np.inf)
    worth = logits
    if shares is not None:
        sums = np.cumsum(np.exp(logits - logits.max(axis=1, keepdims=True)), axis=1)
        worth = sums > shares[:, None] * sums[:, -1:]  # argmax finds the first of them
    actions: Array = worth.argmax(axis=1)
    return actions


class Player:
    """A policy at the table: the likeliest move, or one drawn by its likelihood, which follows from the seed.

    It looks the policy's weights up whenever it moves, so that it may go on learning.
    """

    def __init__(self, rules: Rules, reading: Reading, policy: PlacesPolicy, draws: bool) -> None:
        """For these rules."""
        self._policy, self._eyes, self._draws = policy, Eyes(rules, reading), draws

    def act(self, position: Position, seed: int) -> int:
        """What it does in a batch of one."""
        out = np.empty(1, np.int64)
        self.act_batch(position.rules, position.states, np.zeros(1, np.int64), np.array([as_word(seed)]), out)
        return int(out[0])

    def act_batch(self, rules: Rules, states: Array, games: Array, seeds: Array, out: Array) -> None:
        """All games in one call of the net."""
        seen, masks = self._eyes.look(states, games)
        blind = np.flatnonzero(~masks.any(axis=1))
        masks[blind] = 1
        shares = (seeds >> np.uint64(12)) / 2.0**52 if self._draws else None
        actions = choose(self._policy, seen, masks, shares)
        self._eyes.encoding.to_moves(states, rules.tables, self._eyes.view, games, actions, out)
        if blind.size:  # its view shows nothing that is legal
            drawn = np.empty(blind.size, np.int64)
            rules.game.loops.sample_many(states, rules.tables, games[blind], seeds[blind], drawn)
            out[blind] = drawn


class PolicyNet:
    """The likeliest move by the policy of a checkpoint."""

    def __init__(self, path: Path, checkpoint: Checkpoint, **parameters: str) -> None:
        """Of the family `ppo`."""
        if parameters:
            raise OptionError(f"agent 'net': {path} is a policy, which takes no {', '.join(parameters)}")
        self.path, self.checkpoint = path, checkpoint
        self.reading = _reading_of(path, checkpoint)
        self._rules: Rules | None = None

    def act(self, position: Position, seed: int) -> int:
        """What it does in a batch of one."""
        return self.prepare(position.rules).act(position, seed)

    def act_batch(self, rules: Rules, states: Array, games: Array, seeds: Array, out: Array) -> None:
        """All games in one call of the net."""
        self.prepare(rules).act_batch(rules, states, games, seeds, out)

    def prepare(self, rules: Rules) -> Player:
        """Make ready for these rules, or refuse them."""
        if self._rules is not rules:
            check_fits(self.path, self.checkpoint, rules)
            version, known = self.checkpoint.version, self.reading.version(rules)
            if version != known:
                raise OptionError(f"{self.path}: reads version {version} of the encoding, this is version {known}")
            policy = make_policy(rules, self.reading)
            fill_policy(self.path, policy, self.checkpoint.arrays)
            self._player, self._rules = Player(rules, self.reading, policy, draws=False), rules
        return self._player


def to_checkpoint(rules: Rules, reading: Reading, policy: PlacesPolicy, notes: dict[str, Any]) -> Checkpoint:
    """A policy as it stands, with all it takes to build it again."""
    options, version = plain_options(rules.options), reading.version(rules)
    notes = {**notes, "policy": reading._asdict()}
    return Checkpoint(to_arrays(policy), "ppo", rules.game.name, rules.players, options, version, notes)


def check_sizes(where: object, sizes: Any) -> None:
    """Refuse sizes that are none."""
    if type(sizes) is not dict or not set(sizes) <= set(SIZES):
        raise OptionError(f"{where}: sizes of a net are {', '.join(SIZES)}, not {sizes!r}")
    if any(type(size) is not int or not 1 <= size <= 4096 for size in sizes.values()):
        raise OptionError(f"{where}: sizes of a net are whole numbers from 1 to 4096, not {sizes!r}")


def _reading_of(path: Path, checkpoint: Checkpoint) -> Reading:
    found = checkpoint.notes.get("policy")
    if type(found) is not dict or set(found) != set(Reading._fields) or type(found["encoding"]) is not str:
        raise OptionError(f"{path}: does not say how its policy reads the game")
    check_sizes(path, found["sizes"])
    return Reading(**found)
