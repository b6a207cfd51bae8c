"""Fitting: losses, gradients and Adam, against a twin in torch and by hand."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.learning_tools import PLANNER, SIZES, TINY, Twin, random_book, random_params  # noqa: E402
from tollero_env.game import get_rules  # noqa: E402
from tollero_env.learning import make_book  # noqa: E402
from tollero_env.nets import num_params, offsets, parts  # noqa: E402
from tollero_env.vectors import WIDTH  # noqa: E402

FIT = TINY.fit
SIZE = num_params(SIZES)


def gradient_of(fit, params, book, chosen, unit):
    """(loss, gradient) of some positions together."""
    gradient = np.zeros_like(params)
    loss = fit.add_gradient(params, gradient, fit.scratch(), book, np.array(chosen), unit)
    return loss, gradient


def twin_gradient(sizes, params, book, chosen, unit):
    twin = Twin(sizes, params)
    loss = sum(twin.loss(book, k, unit) for k in chosen)
    loss.backward()
    return loss.item(), twin.flat.grad.numpy()


def check_parts(sizes, gradient, theirs):
    """Every part of the net takes a share in it, where torch says it does."""
    at = offsets(sizes)
    for name, shape in parts(sizes):
        part = slice(at[name], at[name] + int(np.prod(shape)))
        assert np.array_equal(gradient[part] != 0, theirs[part] != 0), name
        assert gradient[part].any(), name


@pytest.mark.uncompiled
@pytest.mark.parametrize("seed", range(3))
def test_gradients_are_those_of_torch(seed):
    params, book = random_params(SIZES, seed), random_book(PLANNER, 6, seed)
    chosen = [0, 3, 3, 5]  # one of them twice
    loss, gradient = gradient_of(FIT, params, book, chosen, PLANNER.unit)
    expected, theirs = twin_gradient(SIZES, params, book, chosen, PLANNER.unit)
    assert loss == pytest.approx(expected, rel=1e-5)
    assert gradient == pytest.approx(theirs, rel=1e-3, abs=1e-4)
    assert not gradient[:WIDTH].any()  # index 0 stands for nothing
    check_parts(SIZES, gradient, theirs)
    again = gradient.copy()
    FIT.add_gradient(params, again, FIT.scratch(), book, np.array(chosen), PLANNER.unit)
    assert again == pytest.approx(2 * gradient, rel=1e-4, abs=1e-5)  # it is added


@pytest.mark.parametrize("players", [2, 4])
def test_gradients_of_real_positions(players):
    rules = get_rules("tollero", players, floors=6)
    learning = rules.game.learning
    planner, sizes = learning.planner, learning.planner.sizes
    params, state = random_params(sizes, players, 0.15), np.zeros(1, rules.game.state)
    book = make_book(planner, 200, 200 * planner.rows)
    at, _ = learning.self_play(
        state, rules.tables, params, params[None], 0.0, state.copy(), np.zeros(1, planner.work),
        np.uint64(players), 0, 2, 0.1, 0.9, (0, 0), book,
    )  # fmt: skip
    chosen = list(range(0, at, 3))
    assert len(chosen) > 5
    loss, gradient = gradient_of(learning.fit, params, book, chosen, planner.unit)
    expected, theirs = twin_gradient(sizes, params, book, chosen, planner.unit)
    assert loss == pytest.approx(expected, rel=1e-4)
    assert np.abs(gradient - theirs).max() < 1e-4 * np.abs(theirs).max()
    check_parts(sizes, gradient, theirs)


# ---- losses by hand. A net of which only the last biases are set says the same of every position


def told(value, margin):
    params = np.zeros(SIZE, np.float32)
    start = offsets(SIZES)["out_bias"]
    params[start : start + 2] = value, margin
    return params


def book_with(share, margin):
    book = random_book(PLANNER, 1, 1)
    book[5][0] = share, margin
    return book


@pytest.mark.uncompiled
@pytest.mark.parametrize(
    ("value", "margin", "share", "target", "expected"),
    [
        (0, 0, 1, 0, math.log(2)),
        (math.log(3), 0, 1, 0, -math.log(0.75)),
        (math.log(3), 0, 0, 0, -math.log(0.25)),
        (math.log(3), 0, 0.5, 0, -0.5 * math.log(0.75) - 0.5 * math.log(0.25)),
        (0, 0.5, 1, 0, math.log(2) + 0.3 * 0.125),  # half a unit off: a square
        (0, 2, 1, 0, math.log(2) + 0.3 * 1.5),  # two: a line
        (0, 1, 1, -4, math.log(2) + 0.3 * 1.5),  # -4 points are -1 of this game's units
        (-40, 0, 1, 0, 40),
        (40, 0, 1, 0, 0),
    ],
)
def test_losses_by_hand(value, margin, share, target, expected):
    loss, gradient = gradient_of(FIT, told(value, margin), book_with(share, target), [0], PLANNER.unit)
    assert loss == pytest.approx(expected, abs=1e-6)
    start = offsets(SIZES)["out_bias"]
    off = margin - target / 4
    assert gradient[start] == pytest.approx(1 / (1 + math.exp(-value)) - share, abs=1e-6)
    assert gradient[start + 1] == pytest.approx(0.3 * min(max(off, -1), 1), abs=1e-6)


def test_the_loss_of_a_position_of_tollero():
    """The opening: 5 stars to 0 (S4), so that a net of scores alone gives seat 0 the chance of 5 units of a point."""
    from experiments.train.turns import score_params

    rules = get_rules("tollero", 2)
    learning = rules.game.learning
    states, chances = np.zeros(1, rules.game.state), np.zeros(2)
    rules.game.reset(states, 0, rules.tables, np.uint64(1))
    params = score_params(learning, 2)
    learning.judge(states, 0, rules.tables, params, np.zeros(1, learning.planner.work), chances)
    logit = 5 / learning.planner.unit
    assert chances == pytest.approx([1 / (1 + math.exp(-logit)), 1 / (1 + math.exp(logit))], abs=1e-6)
    book = make_book(learning.planner, 1, 1)
    book[2][0], book[4][0, 0] = 1, logit
    book[5][0] = 0, -3  # lost by 3
    loss, _ = gradient_of(learning.fit, params, book, [0], learning.planner.unit)
    assert loss == pytest.approx(-math.log(1 - chances[0]) + 0.3 * 0.5 * (3 / learning.planner.unit) ** 2, abs=1e-6)


# ---- Adam


def run(params, moments, book, live, seed, settings):
    gradient, given = np.zeros_like(params), params.copy()
    loss = FIT.run(given, gradient, moments, FIT.scratch(), book, np.array(live), np.uint64(seed), settings, 4.0)
    assert not gradient.any()
    return given, loss


@pytest.mark.uncompiled
def test_the_first_step_of_adam_by_hand():
    """Every parameter goes by the rate against its slope, whatever the slope's size: m / sqrt(v) is its sign."""
    params, moments = random_params(SIZES, 1), np.zeros((2, SIZE), np.float32)
    book = random_book(PLANNER, 1, 1)
    _, slope = gradient_of(FIT, params, book, [0], 4.0)
    after, _ = run(params, moments, book, [0], 5, (1, 4, 0.01, 1))
    steep = np.abs(slope) > 1e-3
    assert steep.sum() > 500
    assert (after - params)[steep] == pytest.approx(-0.01 * np.sign(slope[steep]), rel=1e-3)
    assert np.array_equal(after[slope == 0], params[slope == 0])
    assert moments[0] == pytest.approx(0.1 * slope, rel=1e-3, abs=1e-7)
    assert moments[1] == pytest.approx(0.001 * slope**2, rel=1e-3, abs=1e-7)


def test_steps_are_those_of_torch():
    params, moments = random_params(SIZES, 2), np.zeros((2, SIZE), np.float32)
    book = random_book(PLANNER, 1, 2)
    after, loss = run(params, moments, book, [0], 5, (6, 3, 0.01, 1))
    twin = Twin(SIZES, params)
    adam, losses = torch.optim.Adam([twin.flat], lr=0.01), []
    for _ in range(6):
        adam.zero_grad()
        one = twin.loss(book, 0, 4.0)
        one.backward()
        losses.append(one.item())
        adam.step()
    assert loss == pytest.approx(np.mean(losses), rel=1e-4)
    assert after == pytest.approx(twin.flat.detach().numpy(), abs=2e-4)
    assert losses[-1] < losses[0]


def test_steps_may_be_taken_in_parts():
    """The moments and the number of the next step are all that Adam remembers."""
    params, book = random_params(SIZES, 3), random_book(PLANNER, 1, 3)
    moments, parted = np.zeros((2, SIZE), np.float32), np.zeros((2, SIZE), np.float32)
    whole, _ = run(params, moments, book, [0], 5, (5, 2, 0.01, 1))
    half, _ = run(params, parted, book, [0], 5, (2, 2, 0.01, 1))
    half, _ = run(half, parted, book, [0], 5, (3, 2, 0.01, 3))
    assert np.array_equal(whole, half)
    assert np.array_equal(moments, parted)


def test_positions_are_drawn_from_the_live_ones_alone():
    params, book = random_params(SIZES, 4), random_book(PLANNER, 8, 4)
    book[4][[0, 2, 5, 6, 7]] = np.nan  # would spread to every parameter
    moments = np.zeros((2, SIZE), np.float32)
    after, _ = run(params, moments, book, [1, 3, 4], 5, (20, 8, 0.001, 1))
    assert np.isfinite(after).all()
    for live in ([1], [3], [4]):
        alone, _ = run(params, np.zeros((2, SIZE), np.float32), book, live, 5, (20, 8, 0.001, 1))
        assert not np.array_equal(after, alone)
    again, _ = run(params, np.zeros((2, SIZE), np.float32), book, [1, 3, 4], 5, (20, 8, 0.001, 1))
    other, _ = run(params, np.zeros((2, SIZE), np.float32), book, [1, 3, 4], 6, (20, 8, 0.001, 1))
    assert np.array_equal(after, again)
    assert not np.array_equal(after, other)


def test_a_book_is_learned():
    """A few positions by heart: the loss nearly vanishes, but for what the shares leave open."""
    params, book = random_params(SIZES, 5), random_book(PLANNER, 6, 5)
    book[5][:, 0] = [0, 1, 0, 1, 1, 0]
    moments = np.zeros((2, SIZE), np.float32)
    before, _ = gradient_of(FIT, params, book, range(6), 4.0)
    after, _ = run(params, moments, book, range(6), 1, (400, 6, 0.01, 1))
    assert gradient_of(FIT, after, book, range(6), 4.0)[0] < 0.02 * before
