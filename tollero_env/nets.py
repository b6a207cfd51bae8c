"""Small nets over sets of rows, evaluated in compiled code: what a learned player thinks of a table.

A game describes a table to a seat as rows (one for each tile, say), tags and numbers. A row and the tags are indices
into one table of vectors:

    row vector   h = relu(W2 relu(sum of its vectors + sum of the tags' vectors) + b2)
    table        s = sum of all row vectors
    outputs      v = w . relu(W3 [s, numbers] + b3) + u . numbers + b, two of them

`params` is one flat float32 array, in the order of `parts`. The first output is the value, a logit of the seat's share
of the win; the second foretells its margin to the best other, in units of the game.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tollero_env.jit import jit
from tollero_env.vectors import WIDTH, add, add_scaled, assign, dot, multiply, relu

OUTPUTS = 2  # value, margin
_NOUGHT = np.float32(0)


class Sizes(NamedTuple):
    """What a game's description has: how many vectors there are to choose from, and how many numbers."""

    indices: int
    numbers: int


class Net(NamedTuple):
    """Functions for compiled code; vectors are float32 arrays of WIDTH that the caller owns."""

    add_vector: Callable[..., None]  # (params, index, out): out += the vector of that index
    encode: Callable[..., None]  # (params, total, middle, out): the row vector of a sum of vectors, which is spent
    judge: Callable[..., float]  # (params, pooled, numbers, hidden): the value; leaves `hidden` for `slopes`
    slopes: Callable[
        ..., None
    ]  # (params, hidden, weights, pooled_slopes, number_slopes): how the value grows with each


def parts(sizes: Sizes) -> list[tuple[str, tuple[int, ...]]]:
    """The arrays that a net is made of, in the order of `params`."""
    return [
        ("vectors", (sizes.indices, WIDTH)),
        ("row_weights", (WIDTH, WIDTH)),  # from each input to all outputs, as all weights here
        ("row_bias", (WIDTH,)),
        ("table_weights", (WIDTH + sizes.numbers, WIDTH)),
        ("table_bias", (WIDTH,)),
        ("out_weights", (OUTPUTS, WIDTH)),
        ("out_numbers", (OUTPUTS, sizes.numbers)),
        ("out_bias", (OUTPUTS,)),
    ]


def num_params(sizes: Sizes) -> int:
    """Length of `params`."""
    return sum(int(np.prod(shape)) for _, shape in parts(sizes))


def offsets(sizes: Sizes) -> dict[str, int]:
    """Where each array begins in `params`."""
    found, start = {}, 0
    for name, shape in parts(sizes):
        found[name] = start
        start += int(np.prod(shape))
    return found


def make_net(sizes: Sizes) -> Net:
    """The functions for these sizes."""
    at: Any = offsets(sizes)
    row_weights, row_bias = at["row_weights"], at["row_bias"]
    table_weights, table_bias = at["table_weights"], at["table_bias"]
    out_weights, out_numbers, out_bias = at["out_weights"], at["out_numbers"], at["out_bias"]
    number_weights, num_numbers = table_weights + WIDTH * WIDTH, sizes.numbers

    @jit(inline=True)
    def add_vector(params, index, out):
        add(out, 0, params, index * WIDTH)

    @jit(inline=True)
    def encode(params, total, middle, out):
        relu(total, 0, total, 0)
        assign(middle, 0, params, row_bias)
        multiply(middle, 0, total, 0, params, row_weights)
        relu(out, 0, middle, 0)

    @jit(inline=True)
    def judge(params, pooled, numbers, hidden):
        assign(hidden, 0, params, table_bias)
        multiply(hidden, 0, pooled, 0, params, table_weights)
        total = params[out_bias]
        for i in range(num_numbers):
            add_scaled(hidden, 0, numbers[i], params, number_weights + i * WIDTH)
            total += params[out_numbers + i] * numbers[i]
        relu(hidden, 0, hidden, 0)
        return total + dot(params, out_weights, hidden, 0)

    @jit(inline=True)
    def slopes(params, hidden, weights, pooled_slopes, number_slopes):
        for j in range(WIDTH):
            weights[j] = params[out_weights + j] if hidden[j] > _NOUGHT else _NOUGHT
        for i in range(WIDTH):
            pooled_slopes[i] = dot(params, table_weights + i * WIDTH, weights, 0)
        for i in range(num_numbers):
            number_slopes[i] = params[out_numbers + i] + dot(params, number_weights + i * WIDTH, weights, 0)

    return Net(add_vector, encode, judge, slopes)
