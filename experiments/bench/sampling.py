"""Random legal actions, drawn from the masks of many games in one compiled call."""

from typing import Any

import numpy as np

from tollero_env.game import Array
from tollero_env.jit import jit
from tollero_env.rng import GAMMA, below, mix

BLOCK = 64  # words of four actions each that are counted at once; no byte of their sum can overflow
BYTES, HALVES, S8, S16 = np.uint32(0x00FF00FF), np.uint32(0xFFFF), np.uint32(8), np.uint32(16)


@jit(inline=True)
def _count(words: Array, first: int, end: int) -> Any:
    """How many actions are legal in a part of a mask."""
    total = np.uint32(0)
    for word in range(first, end):
        total += words[word]
    total = (total & BYTES) + ((total >> S8) & BYTES)
    return np.int64((total & HALVES) + (total >> S16))


@jit
def _draw(mask: Array, words: Array, state: Array, counts: Array, out: Array) -> None:
    """One legal action a row, all equally likely. Not kept on disk."""
    size = words.shape[1]
    for game in range(mask.shape[0]):
        total = 0
        for block in range(counts.size):
            counts[block] = _count(words[game], block * BLOCK, min((block + 1) * BLOCK, size))
            total += counts[block]
        state[0] += GAMMA
        left, block = below(mix(state[0]), total), 0  # so many legal ones are passed over
        while left >= counts[block]:
            left -= counts[block]
            block += 1
        action = 4 * BLOCK * block
        while left > 0 or mask[game, action] == 0:
            left -= mask[game, action]
            action += 1
        out[game] = action


class Sampler:
    """Draws actions for so many games; the number of actions is a multiple of 4."""

    def __init__(self, num_games: int, seed: int = 1) -> None:
        self._state, self._actions = np.array([seed], np.uint64), np.zeros(num_games, np.int64)

    def __call__(self, mask: Array) -> Array:
        """An array of its own, the same one every time."""
        words = mask.view(np.uint32)
        counts = np.empty(-(-words.shape[1] // BLOCK), np.int64)
        with np.errstate(over="ignore"):  # uncompiled, words wrap round
            _draw(mask, words, self._state, counts, self._actions)
        return self._actions
