"""splitmix64: the state is one word, so it fits in a position; advance, then mix."""

import numpy as np

from tollero_env.jit import DISABLED, jit

GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


@jit(inline=True)
def _advance(state):
    """The generator's next state."""
    return state + GAMMA


@jit(inline=True)
def _mix(state):
    """The number drawn in that state."""
    word = (state ^ (state >> _S30)) * _MIX_1
    word = (word ^ (word >> _S27)) * _MIX_2
    return word ^ (word >> _S31)


@jit(inline=True)
def _draw_number(base, number):
    """Draw number `number` of the stream that starts at `base`, without the ones before it."""
    return _mix(base + np.uint64(number) * GAMMA)


def _wrapping(function):
    """Uncompiled, numpy warns where a word wraps round; that is what words are for here."""

    def wrapped(*words):
        with np.errstate(over="ignore"):
            return function(*(np.uint64(word) for word in words))

    return wrapped


if DISABLED:
    advance, mix, draw_number = _wrapping(_advance), _wrapping(_mix), _wrapping(_draw_number)
else:
    advance, mix, draw_number = _advance, _mix, _draw_number


@jit(inline=True)
def below(word, n):
    """A number from 0 to n - 1 out of a random word, n < 2**31; the bias is below n / 2**32."""
    return np.int64(((word >> _S32) * np.uint64(n)) >> _S32)


@jit(inline=True)
def stream(seed, number):
    """The state from which that numbered stream of a seed starts."""
    return mix(mix(np.uint64(seed)) ^ np.uint64(number))


@jit
def pick_best(values, n, seed):
    """Index of the greatest of the first n numbers; equal ones are equally likely."""
    best, count = values[0], 0
    for k in range(n):
        if values[k] > best:
            best, count = values[k], 0
        count += values[k] == best
    left = below(mix(seed), count)
    for k in range(n):
        if values[k] == best:
            if left == 0:
                return k
            left -= 1
    return -1  # never: one of them is the greatest


# ---- the same in plain whole numbers, for Python


def derive(seed: int, number: int) -> int:
    """`stream`, for Python: a seed of its own for each number."""
    return _mix_plain(_mix_plain(seed) ^ number)


def choose(seed: int, n: int) -> int:
    """A number from 0 to n - 1 that follows from the seed."""
    return (_mix_plain(seed) >> 32) * n >> 32


def _mix_plain(word: int) -> int:
    mask = (1 << 64) - 1
    word = (word ^ word >> 30) * int(_MIX_1) & mask
    word = (word ^ word >> 27) * int(_MIX_2) & mask
    return word ^ word >> 31
