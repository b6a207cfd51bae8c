"""Self-play in compiled loops: returns by hand in a tiny game, who plays whom, and how far a book is filled."""

import math

import numpy as np
import pytest

pytest.importorskip("torch")

from tests.learning_tools import PLANNER, STATE, TINY, WORK, tiny_net, tiny_tables
from tollero_env.game import get_rules
from tollero_env.learning import make_book


def logit(chance):
    return math.log(chance / (1 - chance))


def play(params, rivals, share, games, *, players=2, turns=2, decay=0.9, seed=1, first=0, start=(0, 0), book=None):
    """(position, row) behind the last one, and the book."""
    book = make_book(PLANNER, 4000, 9000) if book is None else book
    states, scratch = np.zeros(1, STATE), np.zeros(1, STATE)
    end = TINY.self_play(
        states, tiny_tables(players, turns), params, np.stack(rivals), share, scratch, np.zeros(1, WORK),
        np.uint64(seed), first, games, 0.0, decay, start, book,
    )  # fmt: skip
    return end, book


@pytest.mark.uncompiled
def test_returns_by_hand():
    """Two players add 3 and 2, twice: 6 to 4. Positions are between turns: after plies 1, 2 and 3, seen by both."""
    chances = {(1, 0): 0.6, (1, 1): 0.3, (2, 0): 0.8, (2, 1): 0.25, (3, 0): 0.5, (3, 1): 0.9}
    net = tiny_net((3, 2), {where: logit(chance) for where, chance in chances.items()})
    (end, row), book = play(net, [net], 0.0, 1, decay=0.75)
    rows, first, counts, tags, numbers, targets = book
    assert end == 6
    assert tags[:end, 0].tolist() == [20, 21, 20, 21, 20, 21]  # both seats of each position
    assert numbers[:end].tolist() == [[3, 1], [0, 1], [3, 2], [2, 2], [6, 3], [2, 3]]
    assert counts[:end].tolist() == [2, 2, 1, 1, 2, 2]
    assert first[:end].tolist() == [0, 2, 4, 5, 6, 8]
    assert row == 10
    assert rows[:row, 0].tolist() == [2, 2, 2, 2, 3, 3, 4, 4, 4, 4]
    # from the end: seat 0 has won; before that a quarter of what the net says next and three quarters of the return
    last = [1, 0]
    second = [0.25 * 0.5 + 0.75 * last[0], 0.25 * 0.9 + 0.75 * last[1]]
    third = [0.25 * 0.8 + 0.75 * second[0], 0.25 * 0.25 + 0.75 * second[1]]
    assert targets[:end, 0] == pytest.approx([*third, *second, *last], abs=1e-6)
    assert targets[:end, 1].tolist() == [2, -2, 2, -2, 2, -2]  # margins
    assert not targets[end:].any()


@pytest.mark.uncompiled
@pytest.mark.parametrize(("decay", "expected"), [(1.0, [0.5, 0.5]), (0.0, [0.9, 0.6])])
def test_the_ends_of_lambda_and_ties(decay, expected):
    """lambda 1 is the share of the win, lambda 0 what the net says of the position after. Seats 0 and 2 tie."""
    net = tiny_net((4, 1, 4), {(2, 0): logit(0.9), (3, 0): logit(0.6)})
    (end, _), book = play(net, [net], 0.0, 1, players=3, decay=decay)
    assert end == 15
    own = [k for k in range(end) if book[3][k, 0] == 20]
    assert book[5][own, 0] == pytest.approx([*expected, 0.5, 0.5, 0.5], abs=1e-6)
    other = [k for k in range(end) if book[3][k, 0] == 21]
    assert book[5][other, 1].tolist() == [-6] * 5  # behind the best other


def test_a_rival_plays_the_other_seats_and_is_not_written_down():
    net, rivals = tiny_net((5, 5, 5)), [tiny_net((1, 1, 1)), tiny_net((2, 2, 2))]
    heroes, met = set(), set()
    at, row, book = 0, 0, make_book(PLANNER, 4000, 9000)
    for game in range(40):
        begin = at
        (at, row), _ = play(net, rivals, 1.0, 1, players=3, first=game, start=(at, row), book=book)
        assert at - begin == 5
        tags, numbers, targets = (book[k][begin:at] for k in (3, 4, 5))
        hero = int(tags[0, 0]) - 20
        assert (tags == 20 + hero).all()  # one seat alone
        assert targets[:, 0] == pytest.approx([*targets[:4, 0], 1])
        assert numbers[-1, 0] in (5, 10)  # it adds fives
        heroes.add(hero)
        met.add(float(targets[-1, 1]))
    assert heroes == {0, 1, 2}
    assert met == {8.0, 6.0}  # 10 to 2, or 10 to 4


def test_the_share_of_games_with_rivals():
    net = tiny_net((5, 5))
    games = 600
    (end, _), _ = play(net, [net], 0.3, games)
    mixed = (6 * games - end) / 3  # each of them is written down by one seat instead of two
    assert abs(mixed - 0.3 * games) < 4 * math.sqrt(games * 0.3 * 0.7)
    for share, positions in ((0.0, 6), (1.0, 3)):
        assert play(net, [net], share, 50)[0][0] == 50 * positions


def test_a_game_that_does_not_fit_is_left_out():
    net = tiny_net((3, 2))
    whole = play(net, [net], 0.0, 5)[1]
    for positions, rows in ((13, 9000), (18, 9000), (4000, 22)):  # six positions a game, ten rows
        (end, row), book = play(net, [net], 0.0, 5, book=make_book(PLANNER, positions, rows))
        assert end % 6 == 0
        assert 6 <= end <= positions
        assert row == end // 6 * 10 <= rows
        assert np.array_equal(book[5][:end], whole[5][:end])


def test_games_are_numbered():
    """Game k is the same whatever was played before it, and from wherever it is written."""
    rules = get_rules("tollero", 2, floors=3)
    learning = rules.game.learning
    planner = learning.planner
    from experiments.train.turns import first_params

    params = first_params(learning, 2, 1)

    def book_of(first, games, start, seed=7, noise=0.2):
        book, state = make_book(planner, 400, 400 * planner.rows), np.zeros(1, rules.game.state)
        end = learning.self_play(
            state, rules.tables, params, params[None], 0.5, state.copy(), np.zeros(1, planner.work), np.uint64(seed),
            first, games, noise, 0.9, start, book,
        )  # fmt: skip
        return end, book

    (end, row), whole = book_of(0, 6, (0, 0))
    (middle, middle_row), _ = book_of(0, 4, (0, 0))
    (last, last_row), part = book_of(4, 2, (50, 600))
    assert (last - 50, last_row - 600) == (end - middle, row - middle_row)
    assert np.array_equal(part[0][600:last_row], whole[0][middle_row:row])
    for k in (2, 3, 4, 5):
        assert np.array_equal(part[k][50:last], whole[k][middle:end])
    assert not np.array_equal(book_of(0, 6, (0, 0), seed=8)[1][0], whole[0])
    assert not np.array_equal(book_of(0, 6, (0, 0), noise=0.0)[1][0], whole[0])
