"""Vectors of 32 floats: the compiled functions and their plain forms against sums in float64, one number at a time."""

import numpy as np
import pytest

from tollero_env import vectors
from tollero_env.jit import jit
from tollero_env.vectors import WIDTH

SIZE = 60 + WIDTH * WIDTH
AT, START, FIRST = 3, 17, 11  # odd places: nothing is aligned


def as_entry(function, arrays, scaled=False):
    """A function of compiled code as one that Python calls."""
    if scaled:

        @jit
        def call(a, i, x, b, j):
            function(a, i, x, b, j)

    elif arrays == 2:

        @jit
        def call(a, i, b, j):
            function(a, i, b, j)

    else:

        @jit
        def call(a, i, b, j, c, k):
            function(a, i, b, j, c, k)

    return call


@jit
def compiled_dot(a, i, b, j):
    return vectors.dot(a, i, b, j)


def draw(number, seed):
    """Arrays of numbers of both signs, with zeros among them."""
    rng = np.random.default_rng(seed)
    drawn = [rng.normal(size=SIZE).astype(np.float32) for _ in range(number)]
    for array in drawn:
        array[rng.random(SIZE) < 0.2] = 0
    return drawn


def part(array, at, size=WIDTH):
    return array[at : at + size].astype(np.float64)


def pairwise(one, two):
    """What each of these does to `out`, from `out` and `source`."""
    return {"add": one + two, "subtract": one - two, "assign": two, "relu": np.where(two > 0, two, 0)}


def both(name, arrays, scaled=False):
    return [as_entry(getattr(vectors, name), arrays, scaled), getattr(vectors, f"{name}_plain")]


def check(found, before, expected, at, size=WIDTH):
    """The vector is as expected, and nothing round it was touched."""
    assert part(found, at, size) == pytest.approx(expected, abs=1e-5)
    rest = np.ones(SIZE, bool)
    rest[at : at + size] = False
    assert np.array_equal(found[rest], before[rest])


@pytest.mark.uncompiled
@pytest.mark.parametrize("name", ["add", "subtract", "assign", "relu"])
def test_of_two(name):
    for function in both(name, 2):
        for seed in range(3):
            out, source = draw(2, seed)
            before, given = out.copy(), source.copy()
            function(out, AT, source, START)
            check(out, before, pairwise(part(before, AT), part(given, START))[name], AT)
            assert np.array_equal(source, given)
            same = given.copy()  # onto itself
            function(same, START, same, START)
            check(same, given, pairwise(part(given, START), part(given, START))[name], START)


@pytest.mark.uncompiled
def test_gate():
    for function in both("gate", 3):
        out, source, passed = draw(3, 1)
        before = out.copy()
        function(out, AT, source, START, passed, FIRST)
        check(out, before, np.where(part(passed, FIRST) > 0, part(source, START), 0), AT)
        same = before.copy()
        function(same, AT, same, AT, passed, FIRST)
        check(same, before, np.where(part(passed, FIRST) > 0, part(before, AT), 0), AT)
        assert (part(passed, FIRST) == 0).any()  # a nought lets nothing through


@pytest.mark.uncompiled
def test_add_scaled():
    for function in both("add_scaled", 2, True):
        for x in (np.float32(-1.75), np.float32(0)):
            out, source = draw(2, 2)
            before = out.copy()
            function(out, AT, x, source, START)
            check(out, before, part(before, AT) + float(x) * part(source, START), AT)


@pytest.mark.uncompiled
def test_multiply():
    for function in both("multiply", 3):
        out, inputs, weights = draw(3, 3)
        before = out.copy()
        function(out, AT, inputs, FIRST, weights, START)
        expected = part(before, AT)
        for i in range(WIDTH):
            for j in range(WIDTH):
                expected[j] += float(inputs[FIRST + i]) * float(weights[START + i * WIDTH + j])
        check(out, before, expected, AT)


@pytest.mark.uncompiled
def test_add_outer():
    for function in both("add_outer", 3):
        out, inputs, slopes = draw(3, 4)
        before = out.copy()
        function(out, AT, inputs, FIRST, slopes, START)
        expected = part(before, AT, WIDTH * WIDTH)
        for i in range(WIDTH):
            for j in range(WIDTH):
                expected[i * WIDTH + j] += float(inputs[FIRST + i]) * float(slopes[START + j])
        check(out, before, expected, AT, WIDTH * WIDTH)


@pytest.mark.uncompiled
def test_dot():
    for function in (compiled_dot, vectors.dot_plain):
        one, two = draw(2, 5)
        expected = sum(float(one[AT + k]) * float(two[START + k]) for k in range(WIDTH))
        assert function(one, AT, two, START) == pytest.approx(expected, abs=1e-5)


def test_each_has_a_compiled_form():
    plain = {name for name in vars(vectors) if name.endswith("_plain")}
    assert len(plain) == 9
    for name in plain:
        assert getattr(vectors, name.removesuffix("_plain")) is not getattr(vectors, name)
