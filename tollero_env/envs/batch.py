"""Many games of one kind, stepped in one compiled call into arrays; every seat is stepped from outside.

    batch = Batch("tollero", num_games=1024, num_players=2, encoding="slots")
    seen = batch.reset(seed=1)
    for _ in range(1000):
        seen = batch.step(choose(seen))  # one action a game, for the seat in seen.player

A game that ends is dealt anew in the same step: `rewards`, `scores`, `terminated` and `truncated` tell of the game that
ended, everything else is of the new one. Game g of a batch is the row of games that `raw_env` plays after
`reset(seed=seeds[g])`: the batch's size and the number of threads change nothing.

Without `out`, the batch's own arrays come back: they are read-only, and each step writes only what has changed in them.
With `out`, arrays of your own (`batch.arrays()` makes a set) are written in full, whatever they held before.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from tollero_env.game import (
    MEMORY,
    NEW_GAME,
    PAID,
    Array,
    MoveError,
    OptionError,
    Rules,
    StateError,
    check_choice,
    get_rules,
)
from tollero_env.position import Position, as_word, is_whole, new_seed
from tollero_env.rng import derive

BLOCK = 256  # games: to wake another thread for fewer costs more than it saves
COPIED = 8192  # bytes a game: as many are sooner brought up to date and copied than made anew, more are not


class Arrays(NamedTuple):
    """What a step writes; the first axis is the game. `numbers` and `array` are as seen by the seat in `player`."""

    array: Array  # planes (N, C, V, V) int8, or slots (N, 59, F) int16
    numbers: Array  # (N, numbers) int16: the vector beside it
    mask: Array  # (N, actions) int8: 1 for legal ones; never all zeros
    rewards: Array  # (N, players) float32: of the game that ended, else 0
    scores: Array  # (N, players) int32: final scores of the game that ended, else 0
    terminated: Array  # (N,) bool
    truncated: Array  # (N,) bool: the view hid every legal move
    player: Array  # (N,) int8: the seat to act


class Batch:
    """N games of one kind; see the module."""

    def __init__(
        self,
        game: str,
        num_games: int,
        num_players: int = 2,
        *,
        encoding: str | None = None,
        view: int | str | None = None,
        reward: str = "win",
        threads: int = 1,
        **options: Any,
    ) -> None:
        """At most so many `threads` share the games in blocks; other options are those of the game's rules."""
        self._how = {
            "game": game, "num_games": num_games, "num_players": num_players, "encoding": encoding, "view": view,
            "reward": reward, "threads": threads, **options,
        }  # fmt: skip
        check_choice("num_games", num_games, range(1, 1 << 24))
        check_choice("threads", threads, range(1, 257))
        check_choice("reward", reward, PAID)
        self.rules: Rules = get_rules(game, num_players, **options)
        self.num_games, self.num_players = num_games, num_players
        encodings = self.rules.game.encodings
        name = next(iter(encodings)) if encoding is None else encoding
        check_choice("encoding", name, tuple(encodings))
        self._encoding = encodings[name]
        self._view = self._encoding.resolve_view(self.rules, view)
        self._kind = PAID.index(reward)
        self.num_actions = self._encoding.num_actions(num_players, self._view)
        self._states = np.zeros(num_games, self.rules.game.state)
        self._seeds, self._games = np.zeros(num_games, np.uint64), np.arange(num_games)
        self._actions, self._moves = np.zeros(num_games, np.int64), np.zeros(num_games, np.int64)
        self._memory, self._spare = np.zeros((num_games, MEMORY), np.int64), np.zeros((num_games, MEMORY), np.int64)
        self._own = self.arrays()
        self._seen = Arrays(*(_locked(array) for array in self._own))
        self._copies = self._own.array[0].nbytes <= COPIED
        self._is_dealt = self._is_current = False
        number = max(1, min(threads, num_games // BLOCK))
        self._blocks = list(pairwise(num_games * k // number for k in range(number + 1)))
        self._pool = ThreadPoolExecutor(number - 1) if number > 1 else None

    def arrays(self) -> Arrays:
        """A set of arrays that `out` takes."""
        return Arrays(*(np.zeros(shape, dtype) for shape, dtype in self._layout()))

    def _layout(self) -> list[tuple[tuple[int, ...], Any]]:
        n = self.num_games
        array, numbers = self._encoding.parts(self.num_players, self._view)
        return [
            ((n, *array.shape), array.dtype),
            ((n, *numbers.shape), numbers.dtype),
            ((n, self.num_actions), np.dtype(np.int8)),
            ((n, self.num_players), np.dtype(np.float32)),
            ((n, self.num_players), np.dtype(np.int32)),
            ((n,), np.dtype(np.bool)),
            ((n,), np.dtype(np.bool)),
            ((n,), np.dtype(np.int8)),
        ]

    def reset(self, seed: int | Sequence[int] | Array | None = None, out: Arrays | None = None) -> Arrays:
        """Deal all games anew: from one seed each, or from one for all (game g then has `derive(seed, g)`)."""
        self._check_out(out)
        self._seeds[:] = self._seeds_from(seed)
        self._moves[:] = NEW_GAME
        return self._run(out)

    def step(self, actions: Array, out: Arrays | None = None) -> Arrays:
        """Play one action in every game; if one is not legal, MoveError says which and no game has changed."""
        if not self._is_dealt:
            raise MoveError("there are no games to step in: call reset() first")
        self._check_out(out)
        self._check_actions(actions)
        self._actions[:] = actions  # of one kind for the compiled code, whatever the caller's is
        bad = self._encoding.to_moves(
            self._states, self.rules.tables, self._view, self._games, self._actions, self._moves
        )
        if bad >= 0:
            raise MoveError(self._refusal(bad, actions[bad]))
        return self._run(out)

    def position(self, game: int) -> Position:
        """One of the games as a Position of its own."""
        if not self._is_dealt:
            raise StateError("there are no games yet: call reset() first")
        check_choice("game", int(game) if is_whole(game) else game, range(self.num_games))
        return Position(self.rules, self._states[game : game + 1])

    def close(self) -> None:
        """Let the threads go."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None
            self._blocks = [(0, self.num_games)]

    # ---- copies: threads and compiled functions are made anew

    def __getstate__(self) -> dict[str, Any]:
        arrays = (self._states, self._seeds, self._memory, *self._own)
        return {"how": self._how, "arrays": arrays, "flags": (self._is_dealt, self._is_current)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state["how"])  # type: ignore[misc]
        for array, kept in zip((self._states, self._seeds, self._memory, *self._own), state["arrays"]):
            array[...] = kept
        self._is_dealt, self._is_current = state["flags"]

    # ---- inside

    def _run(self, out: Arrays | None) -> Arrays:
        """Step or deal every game, in blocks; this thread has one of its own."""
        states, tables, seeds, moves = self._states, self.rules.tables, self._seeds, self._moves
        into_own = out is None or self._copies
        keep, self._is_current = into_own and self._is_current, into_own
        memory = self._memory if into_own else self._spare
        target = self._flat(self._own if out is None or self._copies else out)

        def run(first: int, end: int) -> int:
            bad: int = self._encoding.step_many(
                states, tables, self._view, first, end, moves, seeds, self._kind, keep, memory, *target
            )
            if into_own:
                for own, array in zip(self._own, out or ()):
                    array[first:end] = own[first:end]
            return bad

        futures = [self._pool.submit(run, *block) for block in self._blocks[1:]] if self._pool else []
        bad = max([run(*self._blocks[0]), *(future.result() for future in futures)])
        self._is_dealt = bad < 0
        if not self._is_dealt:
            self._is_current = False
            raise OptionError("no new game offers an action: choose a larger view, or other tiles")
        return self._seen if out is None else out

    def _flat(self, arrays: Arrays) -> tuple[Array, ...]:
        """As compiled code takes them."""
        return (arrays.array.reshape(self.num_games, -1), *arrays[1:])

    def _check_out(self, out: Arrays | None) -> None:
        if out is None:
            return
        if not isinstance(out, Arrays):
            raise TypeError(f"out is {type(out).__name__}, not Arrays: batch.arrays() makes a set")
        for name, array, (shape, dtype) in zip(Arrays._fields, out, self._layout()):
            _check_array(f"out.{name}", array, shape, dtype)

    def _check_actions(self, actions: object) -> None:
        if not isinstance(actions, np.ndarray) or actions.dtype.kind not in "iu":
            found = actions.dtype if isinstance(actions, np.ndarray) else type(actions).__name__
            raise TypeError(f"actions are {found}, not a numpy array of whole numbers")
        if actions.shape != (self.num_games,):
            raise ValueError(f"actions have shape {actions.shape}, not ({self.num_games},): one for each game")

    def _seeds_from(self, seed: int | Sequence[int] | Array | None) -> Array:
        if seed is None or isinstance(seed, int | float | np.number):
            first = new_seed() if seed is None else int(as_word(seed))
            return np.array([derive(first, g) for g in range(self.num_games)], np.uint64)
        if len(seed) != self.num_games:
            raise ValueError(f"{len(seed)} seeds for {self.num_games} games: give one for each, or one for all")
        return np.array([as_word(number) for number in seed], np.uint64)

    def _refusal(self, game: int, action: Any) -> str:
        mask = np.zeros(self.num_actions, np.int8)
        number = self._encoding.mask(self._states, game, self.rules.tables, self._view, mask)
        some = ", ".join(str(legal) for legal in np.flatnonzero(mask)[:8]) + (", ..." if number > 8 else "")
        return f"action {action} is not legal in game {game}: {number} are, {some} (np.flatnonzero(mask[{game}]))"


def _locked(array: Array) -> Array:
    view = array.view()
    view.flags.writeable = False
    return view


def _check_array(name: str, array: object, shape: tuple[int, ...], dtype: Any) -> None:
    """Refuse an array that is not as `Batch.arrays` makes them."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{name} is {type(array).__name__}, not a numpy array")
    if array.dtype != dtype:
        raise TypeError(f"{name} has dtype {array.dtype}, not {dtype}")
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}, not {shape}")
    if not array.flags.c_contiguous or not array.flags.aligned:
        raise ValueError(f"{name} is not C-contiguous and aligned")
    if not array.flags.writeable:
        raise ValueError(f"{name} is read-only: give arrays that can be written")
