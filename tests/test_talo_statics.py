"""Balance (B3): the sheet's examples by their numbers, and every stage against an independent linear program."""

from collections import Counter

import numpy as np
import pytest

from tests.talo_tools import blocks_of, cell_of, decode, positions, put_all, stands_by_lp, trial
from tollero_env.game import get_rules
from tollero_env.games.talo import grid, protocol
from tollero_env.games.talo.constants import (
    BUILDING,
    BY_FIRM,
    BY_GROUND,
    BY_ITSELF,
    BY_SHARING,
    BY_SOLVER,
    CELLS,
)

X, Y, Z = range(3)


def verdict(*blocks):
    """Does the last block stand on the others, which do? Both ways of asking must agree."""
    code = trial(blocks[:-1], blocks[-1])
    assert (code > 0) == stands_by_lp(list(blocks))
    return code > 0


@pytest.mark.uncompiled
@pytest.mark.parametrize("length", [3, 5, 7, 9])
@pytest.mark.parametrize("post", [(1, 4, 4, 0, Z), (3, 4, 4, 0, Z), (4, 4, 3, 0, Y)])
def test_18_an_odd_block_stands_across_a_single_one_at_its_middle(length, post):
    top = 3 if post[0] == 3 else 1
    assert verdict(post, (length, 4 - length // 2, 4, top, X))
    for shift in (-1, 1):
        assert verdict(post, (length, 4 - length // 2 + shift, 4, top, X)) is False


@pytest.mark.uncompiled
@pytest.mark.parametrize("length", [2, 4, 6, 8, 10])
@pytest.mark.parametrize("post", [(1, 4, 4, 0, Z), (2, 4, 4, 0, Z), (4, 4, 3, 0, Y)])
def test_19_an_even_block_on_a_single_one_tips(length, post):
    top = 2 if post[0] == 2 else 1
    for first in range(4 - length + 1, 5):
        assert verdict(post, (length, first, 4, top, X)) is False


@pytest.mark.uncompiled
@pytest.mark.parametrize("length", [2, 4, 6, 8])
def test_20_an_even_block_may_lean_on_a_higher_standing_one(length):
    low, end = 4 - length // 2 + 1, 4 + length // 2 + 1  # its centre is over the high edge of the post at (4, 4)
    post, beam = (1, 4, 4, 0, Z), (length, low, 4, 1, X)
    assert verdict(post, (2, end, 4, 0, Z), beam)
    assert verdict(post, (3, end, 4, 0, Z), beam)
    assert verdict(post, (2, low - 1, 4, 0, Z), beam) is False  # it leans with the end that does not sink
    assert verdict(post, (1, end, 4, 0, Z), (1, end, 4, 1, Z), beam) is False  # a block of length 1 holds nothing
    assert verdict(post, (2, end, 3, 0, Y), (2, end, 3, 1, Y), beam) is False  # nor does one that lies
    assert verdict(post, (2, end, 3, 0, Z), beam) is False  # it does not touch the end


def test_20_leaning_helps_by_an_edge_and_no_more():
    assert verdict((1, 4, 4, 0, Z), (2, 7, 4, 0, Z), (4, 3, 4, 1, X))
    assert verdict((1, 3, 4, 0, Z), (2, 7, 4, 0, Z), (4, 3, 4, 1, X)) is False


def test_21_two_blocks_balance_each_other():
    one, four, weight = (1, 4, 4, 0, Z), (4, 3, 4, 1, X), (1, 3, 4, 2, Z)
    assert verdict(one, four) is False
    assert stands_by_lp([one, four, weight])
    assert stands_by_lp([one, four, (1, 6, 4, 2, Z)]) is False
    states = put_all([one, four], falling=True)
    assert protocol.try_block(states, 0, 1, Z, cell_of(weight)) > 0
    assert protocol.try_block(states, 0, 1, Z, cell_of((1, 6, 4, 2, Z))) < 0
    assert protocol.try_block(states, 0, 1, Z, cell_of((1, 6, 4, 0, Z))) > 0  # a prop slid underneath
    assert protocol.try_block(states, 0, 1, Z, cell_of((1, 3, 4, 0, Z))) < 0  # one under the end that rises


def test_a_prop_makes_what_is_above_it_firm_and_a_weight_may_make_it_fall():
    posts = [(2, 2, 4, 0, Z), (2, 6, 4, 0, Z)]
    assert verdict(*posts, (5, 2, 4, 2, X))
    assert verdict(*posts, (7, 2, 4, 2, X), (1, 8, 4, 3, Z))
    assert verdict((1, 4, 4, 0, Z), (9, 0, 4, 1, X), (1, 8, 4, 2, Z))
    assert verdict((1, 4, 4, 0, Z), (9, 0, 4, 1, X), (3, 6, 4, 2, X)) is False
    assert verdict((1, 4, 4, 0, Z), (9, 0, 4, 1, X), (9, 0, 4, 2, X))


def compare(rules, seeds, every, most):
    """Judge placements of real games both ways; how often each stage decided."""
    codes, buffer, tally = np.zeros(40_000, np.int64), np.zeros(40_000, np.int64), Counter()
    for seed in seeds:
        rng = np.random.default_rng(seed)
        for states in positions(rules, seed):
            if states[0]["stage"] != BUILDING:
                continue
            before = states.tobytes()
            number = protocol.try_all(states, 0, rules.tables, buffer, codes)
            assert states.tobytes() == before
            blocks = blocks_of(states[0])
            for k in rng.permutation(number)[: max(1, number // every)]:
                code = int(codes[k])
                assert (code > 0) == stands_by_lp([*blocks, decode(buffer[k])]), (blocks, decode(buffer[k]), code)
                tally[code] += 1
            if tally.total() >= most:
                return tally
    return tally


STAGES = {BY_GROUND, BY_FIRM, -BY_ITSELF, BY_SHARING, -BY_SHARING, BY_SOLVER, -BY_SOLVER}


@pytest.mark.thorough
@pytest.mark.parametrize("board", ["green", "islands"])
def test_placements_of_real_games_are_judged_as_by_the_linear_program(board):
    tally = compare(get_rules("talo", 2, board=board), range(100, 130), 60, 1500)
    assert tally.total() >= 1500
    assert set(tally) == STAGES


@pytest.mark.slow
@pytest.mark.parametrize("board", ["green", "islands"])
def test_a_hundred_thousand_placements_are(board, capsys):
    tally = compare(get_rules("talo", 3, board=board), range(1000, 3000), 40, 50_000)
    assert tally.total() >= 50_000
    shares = {code: f"{100 * number / tally.total():.1f} %" for code, number in sorted(tally.items())}
    with capsys.disabled():
        print(f"\n{board}: {tally.total()} placements, by stage {shares}")


@pytest.mark.thorough
@pytest.mark.parametrize("board", ["green", "islands"])
def test_places_for_the_first_of_two_are_those_after_which_some_second_stands(board):
    """(21): the search for seconds looks at few places; here all are tried."""
    rules, found = get_rules("talo", 2, board=board), Counter()
    out, codes, seconds = (np.zeros(40_000, np.int64) for _ in range(3))
    for seed in range(12):
        rng = np.random.default_rng(seed)
        for states in positions(rules, seed):
            state = states[0]
            if state["stage"] != BUILDING or not state["hand"][1]:
                continue
            number = protocol.try_all(states, 0, rules.tables, out, codes)
            falling = [int(out[k]) for k in range(number) if codes[k] < 0]
            for code in rng.permutation(falling)[:6].tolist():
                length, axis, cell = decode_raw(code)
                after = with_first(states, length, axis, cell)
                many = protocol.try_all(after, 0, rules.tables, seconds, codes)
                can_save = bool((codes[:many] > 0).any())
                legal = protocol.find_problem(states, 0, rules.tables, length, axis, cell) == 0
                assert legal == can_save, (blocks_of(state), decode(code))
                if can_save:  # and the list of what may follow is whole
                    number = protocol.placements(after, 0, rules.tables, out)
                    assert sorted(out[:number]) == sorted(seconds[:many][codes[:many] > 0])
                found[can_save] += 1
    assert found[True] > 20
    assert found[False] > 20
    assert sum(found.values()) > 300


def decode_raw(code):
    """(length, axis, cell) of pick * CELLS + cell."""
    pick, cell = divmod(code, CELLS)
    return pick // 3 + 1, pick % 3, cell


def with_first(states, length, axis, cell):
    """The position after a first block that falls, whether that is legal or not."""
    after = states.copy()
    state = after[0]
    hand = [int(one) for one in state["hand"]]
    hand.remove(length)
    grid.put_block(state, length, axis, cell % 24, cell % 576 // 24, cell // 576)
    state["hand"][0], state["hand"][1], state["falling"] = hand[0], 0, 1
    return after
