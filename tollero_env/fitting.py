"""Fits a net of nets.py to positions: forward, backward and Adam, compiled; a few microseconds a position.

Positions are those of a book (learning.py). The loss of a position is the cross entropy of its
value against the target share of the win, plus MARGIN_LOSS times the Huber loss of the margin.
"""

from typing import Any

import numpy as np

from tollero_env.game import Array, Fit, Planner, record_dtype
from tollero_env.jit import jit, loop_for
from tollero_env.nets import OUTPUTS, num_params, offsets
from tollero_env.rng import advance, below, mix
from tollero_env.vectors import WIDTH, add, add_outer, add_scaled, assign, dot, gate, multiply, relu

MARGIN_LOSS = np.float32(0.3)
BETA_1, BETA_2, EPSILON = np.float32(0.9), np.float32(0.999), np.float32(1e-8)
_NOUGHT, _ONE = np.float32(0), np.float32(1)
_F4 = np.float32


def make_fit(owner: str, planner: Planner) -> Fit:
    """The loops for the nets of a planner; `owner` is the module of the game."""
    sizes, max_rows = planner.sizes, planner.rows
    at: Any = offsets(sizes)
    num_numbers, total_params = sizes.numbers, num_params(sizes)
    w2, b2, w3, b3 = at["row_weights"], at["row_bias"], at["table_weights"], at["table_bias"]
    w4, w5, b4 = at["out_weights"], at["out_numbers"], at["out_bias"]
    num_inputs = WIDTH + num_numbers
    work_dtype = record_dtype(
        [
            ("tag_sum", _F4, (WIDTH,)),
            ("first", _F4, (max_rows, WIDTH)),  # sums of vectors, after relu
            ("second", _F4, (max_rows, WIDTH)),  # row vectors
            ("inputs", _F4, (num_inputs,)),  # their sum, and the numbers
            ("hidden", _F4, (WIDTH,)),
            ("outputs", _F4, (OUTPUTS,)),
            ("slopes", _F4, (OUTPUTS,)),  # of the loss, by what stands before; likewise all that follow
            ("hidden_slopes", _F4, (WIDTH,)),
            ("pooled_slopes", _F4, (WIDTH,)),
            ("second_slopes", _F4, (WIDTH,)),
            ("first_slopes", _F4, (WIDTH,)),
            ("tag_slopes", _F4, (WIDTH,)),
            ("middle", _F4, (WIDTH,)),
            ("turned_rows", _F4, (WIDTH * WIDTH,)),  # row_weights, turned; likewise table_weights
            ("turned_table", _F4, (WIDTH * WIDTH,)),
        ]
    )

    def scratch() -> Array:
        return np.zeros(1, work_dtype)

    @jit(inline=True)
    def turn(params, work):
        for i in range(WIDTH):
            for j in range(WIDTH):
                work["turned_rows"][j * WIDTH + i] = params[w2 + i * WIDTH + j]
                work["turned_table"][j * WIDTH + i] = params[w3 + i * WIDTH + j]

    @jit(inline=True)
    def forward_rows(params, work, rows, count, tags):
        tag_sum, pooled, middle = work["tag_sum"], work["inputs"], work["middle"]
        for j in range(WIDTH):
            tag_sum[j] = _NOUGHT
            pooled[j] = _NOUGHT
        for k in range(tags.shape[0]):
            if tags[k]:
                add(tag_sum, 0, params, np.int64(tags[k]) * WIDTH)
        for r in range(count):
            first, second = work["first"][r], work["second"][r]
            assign(first, 0, tag_sum, 0)
            for k in range(rows.shape[1]):
                if rows[r, k]:
                    add(first, 0, params, np.int64(rows[r, k]) * WIDTH)
            relu(first, 0, first, 0)
            assign(middle, 0, params, b2)
            multiply(middle, 0, first, 0, params, w2)
            relu(second, 0, middle, 0)
            add(pooled, 0, second, 0)

    @jit(inline=True)
    def forward_table(params, work, numbers):
        inputs, hidden = work["inputs"], work["hidden"]
        assign(hidden, 0, params, b3)
        multiply(hidden, 0, inputs, 0, params, w3)
        for k in range(num_numbers):
            inputs[WIDTH + k] = numbers[k]
            add_scaled(hidden, 0, numbers[k], params, w3 + (WIDTH + k) * WIDTH)
        relu(hidden, 0, hidden, 0)
        for o in range(OUTPUTS):
            total = params[b4 + o]
            for k in range(num_numbers):
                total += params[w5 + o * num_numbers + k] * numbers[k]
            work["outputs"][o] = total + dot(params, w4 + o * WIDTH, hidden, 0)

    @jit(inline=True)
    def find_loss(work, target, unit):
        """The loss; its slopes at the outputs go into work."""
        value, margin = np.float64(work["outputs"][0]), np.float64(work["outputs"][1])
        share = np.float64(target[0])
        work["slopes"][0] = np.float32(1 / (1 + np.exp(-value)) - share)
        loss = max(value, 0.0) - value * share + np.log1p(np.exp(-abs(value)))
        off = margin - np.float64(target[1]) / unit
        work["slopes"][1] = MARGIN_LOSS * np.float32(min(max(off, -1.0), 1.0))
        return loss + MARGIN_LOSS * (0.5 * off * off if abs(off) < 1 else abs(off) - 0.5)

    @jit(inline=True)
    def backward_table(params, gradient, work):
        inputs, hidden, slopes = work["inputs"], work["hidden"], work["slopes"]
        back, pooled = work["hidden_slopes"], work["pooled_slopes"]
        for j in range(WIDTH):
            back[j] = _NOUGHT
            pooled[j] = _NOUGHT
        for o in range(OUTPUTS):
            gradient[b4 + o] += slopes[o]
            for k in range(num_numbers):
                gradient[w5 + o * num_numbers + k] += slopes[o] * inputs[WIDTH + k]
            add_scaled(gradient, w4 + o * WIDTH, slopes[o], hidden, 0)
            add_scaled(back, 0, slopes[o], params, w4 + o * WIDTH)
        gate(back, 0, back, 0, hidden, 0)
        add(gradient, b3, back, 0)
        add_outer(gradient, w3, inputs, 0, back, 0)
        for k in range(num_numbers):
            add_scaled(gradient, w3 + (WIDTH + k) * WIDTH, inputs[WIDTH + k], back, 0)
        multiply(pooled, 0, back, 0, work["turned_table"], 0)

    @jit(inline=True)
    def backward_rows(gradient, work, rows, count, tags):
        back, vectors, tag_slopes = work["second_slopes"], work["first_slopes"], work["tag_slopes"]
        for j in range(WIDTH):
            tag_slopes[j] = _NOUGHT
        for r in range(count):
            first, second = work["first"][r], work["second"][r]
            gate(back, 0, work["pooled_slopes"], 0, second, 0)
            add(gradient, b2, back, 0)
            add_outer(gradient, w2, first, 0, back, 0)
            for j in range(WIDTH):
                vectors[j] = _NOUGHT
            multiply(vectors, 0, back, 0, work["turned_rows"], 0)
            gate(vectors, 0, vectors, 0, first, 0)
            add(tag_slopes, 0, vectors, 0)
            for k in range(rows.shape[1]):
                if rows[r, k]:
                    add(gradient, np.int64(rows[r, k]) * WIDTH, vectors, 0)
        for k in range(tags.shape[0]):
            if tags[k]:
                add(gradient, np.int64(tags[k]) * WIDTH, tag_slopes, 0)

    @jit
    def add_one(params, gradient, work, rows, count, tags, numbers, target, unit):
        forward_rows(params, work, rows, count, tags)
        forward_table(params, work, numbers)
        loss = find_loss(work, target, unit)
        backward_table(params, gradient, work)
        backward_rows(gradient, work, rows, count, tags)
        return loss

    @jit(inline=True)
    def add_position(params, gradient, work, book, k, unit):
        rows, first, counts, tags, numbers, targets = book
        view = rows[first[k] : first[k] + counts[k]]
        return add_one(params, gradient, work, view, counts[k], tags[k], numbers[k], targets[k], unit)

    def add_gradient(params, gradient, work, book, chosen, unit):
        turn(params, work[0])
        loss = 0.0
        for k in chosen:
            loss += add_position(params, gradient, work[0], book, k, unit)
        return loss

    @jit
    def adam(params, gradient, moments, batch, rate, step):
        scale_1 = _ONE / (_ONE - np.float32(0.9**step))
        scale_2 = _ONE / (_ONE - np.float32(0.999**step))
        share = _ONE / np.float32(batch)
        for k in range(total_params):
            slope = gradient[k] * share
            gradient[k] = _NOUGHT
            moments[0, k] = BETA_1 * moments[0, k] + (_ONE - BETA_1) * slope
            moments[1, k] = BETA_2 * moments[1, k] + (_ONE - BETA_2) * slope * slope
            way = moments[0, k] * scale_1 / (np.sqrt(moments[1, k] * scale_2) + EPSILON)
            params[k] -= np.float32(rate) * way
        for j in range(WIDTH):  # index 0 stands for nothing
            params[j] = _NOUGHT

    def run(params, gradient, moments, work, book, live, seed, settings, unit):
        steps, batch, rate, number = settings
        rng, loss = seed, 0.0
        for step in range(steps):
            turn(params, work[0])
            for _ in range(batch):
                rng = advance(rng)
                k = live[below(mix(rng), live.shape[0])]
                loss += add_position(params, gradient, work[0], book, k, unit)
            adam(params, gradient, moments, batch, rate, number + step)
        return loss / (steps * batch)

    return Fit(scratch, *(loop_for(owner, loop) for loop in (add_gradient, run)))
