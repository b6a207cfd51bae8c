"""The agents of the clone: what they choose, that they do not peek, and what they refuse."""

from collections import Counter

import numpy as np
import pytest

import agents
from tollero_env import new_game
from tollero_env.game import NAMES, OptionError, get_game, get_rules
from tollero_env.opponents import BatchAgent, agent_names, make_agent
from tollero_env.position import Position, as_word
from tollero_env.rng import choose, derive

SIMPLE = ("greedy", "greedy-turn")


def difference(position, seat):
    """Own points less the best other's."""
    points = position.scores()
    return points[seat] - max(points[:seat] + points[seat + 1 :], default=0)


def best_moves(position):
    """The moves after which the seat to act stands best."""
    worth = {}
    for move in position.moves():
        after = position.copy()
        after.play(move)
        worth[move] = difference(after, position.player)
    return {move for move in worth if worth[move] == max(worth.values())}


def positions(players, seed, every=1, **options):
    """Positions of a game in which good and random moves alternate."""
    agent, position = make_agent("greedy"), new_game(players=players, seed=seed, **options)
    while not position.over:
        if position.ply % every == 0:
            yield position
        moves = position.moves()
        pick = derive(seed, position.ply)
        position.play(agent.act(position, pick) if position.ply % 3 else moves[choose(pick, len(moves))])


def as_batch(listed):
    """The states of many positions as one array."""
    rules = listed[0].rules
    states = np.zeros(len(listed), rules.game.state)
    for i, position in enumerate(listed):
        states[i : i + 1] = position.states
    return rules, states


def act_batch(agent, listed, seeds):
    rules, states = as_batch(listed)
    out = np.full(len(listed), -1)
    agent.act_batch(rules, states, np.arange(len(listed)), np.array([as_word(seed) for seed in seeds]), out)
    return out.tolist()


def test_they_are_known_by_name():
    assert agents is not None
    assert set(SIMPLE) <= set(agent_names())
    for name in SIMPLE:
        assert isinstance(make_agent(name), BatchAgent)


@pytest.mark.parametrize("name", SIMPLE)
def test_parameters_they_do_not_have(name):
    with pytest.raises(OptionError, match=rf"agent '{name}:depth=2'") as caught:
        make_agent(f"{name}:depth=2")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_greedy_takes_a_best_move(players):
    agent = make_agent("greedy")
    for position in positions(players, players):
        assert agent.act(position, position.ply) in best_moves(position)


@pytest.mark.uncompiled
def test_ties_of_greedy_are_even():
    agent, position = make_agent("greedy"), new_game(seed=2, floors=2)
    best = best_moves(position)
    chosen = Counter(agent.act(position, derive(1, k)) for k in range(20 * len(best)))
    assert set(chosen) == best
    assert len(best) > 1


@pytest.mark.parametrize("name", SIMPLE)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_one_game_or_many_is_the_same(name, players):
    agent, listed = make_agent(name), [position.copy() for position in positions(players, 9, 4)]
    seeds = [derive(5, k) for k in range(len(listed))]
    assert act_batch(agent, listed, seeds) == [agent.act(position, seed) for position, seed in zip(listed, seeds)]


@pytest.mark.parametrize("game", NAMES)
@pytest.mark.parametrize("name", SIMPLE)
def test_what_is_hidden_makes_no_difference(name, game):
    if name == "greedy-turn" and get_game(game).turns is None:
        pytest.skip("no whole turns")
    agent = make_agent(name)
    for players in get_game(game).players:
        position = new_game(game, players=players, seed=6)
        while not position.over:
            seed = derive(6, position.ply)
            move = agent.act(position, seed)
            assert move == agent.act(position.hidden_from(position.player, seed), seed)
            position.play(position.moves()[choose(seed, len(position.moves()))] if position.ply % 2 else move)


def test_a_game_without_whole_turns_is_named():
    rules = get_rules("tollero")
    position = Position.new(rules._replace(game=rules.game._replace(turns=None)), 1)
    assert make_agent("greedy").act(position, 1) in position.moves()
    with pytest.raises(OptionError, match="agent 'greedy-turn': Tollero has no search of whole turns"):
        make_agent("greedy-turn").act(position, 1)


def test_greedy_turn_ends_its_turns_better():
    """Over a game's turns it stands at least as well after each of them as greedy does."""
    gained = 0
    for position in positions(2, 12):
        if position.states["stage"][0] != 0:
            continue
        ends = []
        for name in ("greedy-turn", "greedy"):
            after, seat, agent = position.copy(), position.player, make_agent(name)
            while not after.over and after.player == seat:
                after.play(agent.act(after, 1))
            ends.append(difference(after, seat))
        assert ends[0] >= ends[1]
        gained += ends[0] - ends[1]
    assert gained > 0
