"""Good games to the end: every one again in plain Python, move by move, with Floors played to see what they bring."""

import numpy as np
import pytest

from tests.tollero_tools import random_set, rules_for
from tollero_env.game import get_rules
from tollero_env.games.tollero.constants import BUILD, EXPAND, FIRST, SLOTS
from tollero_env.games.tollero.search import STRONG, STYLES
from tollero_env.position import Position, as_word
from tollero_env.rng import below, derive, draw_number, stream


def worth(position, move):
    """What a Floor earns its player and takes from the others."""
    seat, after = position.player, position.copy()
    after.play(move)
    gains = [new - old for new, old in zip(after.scores(), position.scores())]
    return 2 * gains[seat] - sum(gains)


def best_lots(position):
    """{slot: (worth, move)} of the best lot of every tile."""
    found = {}
    for move in position.moves():
        slot, value = (move - BUILD) // 4, worth(position, move)
        if slot not in found or value > found[slot][0]:
            found[slot] = (value, move)
    return found


def best_tile(lots, first):
    """The tile worth most; of equal ones the first from `first` on, round."""
    return min(lots, key=lambda slot: (-lots[slot][0], (slot - first) % SLOTS))


def goes_on(after, seat):
    """Is a second Floor due?"""
    return not after.over and after.player == seat and after.states["stage"][0] == FIRST + 1


def build(position, first):
    """The Floors of the turn that are left, best together; of equal pairs the one whose first Floor is worth more."""
    seat, lots = position.player, best_lots(position)
    if position.states["stage"][0] == FIRST and position.states["floors_left"][0, seat] > 1:
        pairs = {}
        for slot, (value, move) in lots.items():
            after = position.copy()
            after.play(move)
            second = max(lot[0] for lot in best_lots(after).values()) if goes_on(after, seat) else -1
            pairs[slot] = (value + second, value)
        chosen = min(pairs, key=lambda slot: (-pairs[slot][0], -pairs[slot][1], (slot - first) % SLOTS))
        position.play(lots[chosen][1])
        if not goes_on(position, seat):
            return
        lots = best_lots(position)
    position.play(lots[best_tile(lots, first)][1])


def plain(position, seed):
    """The whole game."""
    base = as_word(stream(as_word(seed), 1))
    while not position.over:
        word = as_word(draw_number(base, position.ply))
        if position.states["stage"][0] == EXPAND:
            moves = position.moves()
            position.play(moves[int(below(word, len(moves)))])
        else:
            build(position, int(word) >> 58)


def compare(position, seed):
    states, out = position.copy().states, np.zeros(4)
    kernel_states = np.zeros(STRONG.num_states, states.dtype)
    kernel_states[:1] = states
    params = STYLES["greedy", "turn"].params
    STRONG.value(kernel_states, 0, position.rules.tables, params, as_word(seed), out)
    twin = position.copy()
    plain(twin, seed)
    assert twin.to_bytes() == kernel_states[:1].tobytes()
    return twin, out


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_same_game_in_plain_python(players):
    for seed in range(3):
        position = Position.new(get_rules("tollero", players), seed)
        for ply in range(5 * seed):
            position.play(position.moves()[derive(seed, ply) % len(position.moves())])
        twin, values = compare(position, derive(2, seed))
        assert twin.over
        leader = int(np.argmax(values[:players]))
        assert twin.scores()[leader] == max(twin.scores())
        assert ((values >= 0) & (values <= 1)).all()


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_same_game_on_any_tiles(players):
    for seed in range(10):
        compare(Position.new(rules_for(random_set(seed), players, floors=5), seed), seed)


@pytest.mark.uncompiled
def test_a_short_game_compiled_or_not():
    compare(Position.new(get_rules("tollero", 2, floors=2), 6), 6)
