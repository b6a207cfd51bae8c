"""Small nets: every function of compiled code against a twin in torch."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.learning_tools import Twin, random_params  # noqa: E402
from tollero_env.jit import jit  # noqa: E402
from tollero_env.nets import Sizes, make_net, num_params, offsets, parts  # noqa: E402
from tollero_env.vectors import WIDTH  # noqa: E402

SIZES = Sizes(9, 3)
NET = make_net(SIZES)
add_vector, encode, judge, slopes = NET


@jit
def row_vector(params, indices, total, middle, out):
    for index in indices:
        add_vector(params, index, total)
    encode(params, total, middle, out)


@jit
def value_of(params, pooled, numbers, hidden):
    return judge(params, pooled, numbers, hidden)


@jit
def slopes_of(params, hidden, weights, pooled_slopes, number_slopes):
    slopes(params, hidden, weights, pooled_slopes, number_slopes)


def vector(size=WIDTH):
    return np.zeros(size, np.float32)


def test_parts_fill_the_parameters_in_their_order():
    start = 0
    for name, shape in parts(SIZES):
        assert offsets(SIZES)[name] == start
        start += int(np.prod(shape))
    assert num_params(SIZES) == start


@pytest.mark.uncompiled
@pytest.mark.parametrize("seed", range(3))
def test_the_vector_of_a_row(seed):
    params = random_params(SIZES, seed)
    indices = np.random.default_rng(seed).integers(1, SIZES.indices, 5)
    total, out = vector(), vector()
    row_vector(params, indices, total, vector(), out)
    expected = Twin(SIZES, params).rows_of(indices[None, :], [0])[0].detach().numpy()
    assert out == pytest.approx(expected, rel=1e-4, abs=1e-5)
    assert (out == 0).any()
    assert (out > 0).any()


@pytest.mark.uncompiled
@pytest.mark.parametrize("seed", range(3))
def test_the_value_and_how_it_grows(seed):
    params, rng = random_params(SIZES, seed), np.random.default_rng(seed)
    pooled, numbers = np.abs(rng.normal(size=WIDTH)).astype(np.float32), rng.normal(size=3).astype(np.float32)
    hidden, pooled_slopes, number_slopes = vector(), vector(), vector(8)
    found = value_of(params, pooled, numbers, hidden)
    slopes_of(params, hidden, vector(), pooled_slopes, number_slopes)

    where = [torch.tensor(array, dtype=torch.float64, requires_grad=True) for array in (pooled, numbers)]
    value = Twin(SIZES, params).outputs_of(*where)[0]
    value.backward()
    assert found == pytest.approx(value.item(), rel=1e-5)
    assert pooled_slopes == pytest.approx(where[0].grad.numpy(), rel=1e-4, abs=1e-5)
    assert number_slopes[:3] == pytest.approx(where[1].grad.numpy(), rel=1e-4, abs=1e-5)
    assert not number_slopes[3:].any()
    assert 0 < np.count_nonzero(hidden) < WIDTH  # both sides of the relu
