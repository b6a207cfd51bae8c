"""Agents by name: the registry, and the random one."""

from collections import Counter

import numpy as np
import pytest
from scipy import stats

from tollero_env import new_game, opponents
from tollero_env.game import OptionError
from tollero_env.opponents import BatchAgent, RandomAgent, agent_names, make_agent, register
from tollero_env.rng import choose, derive


@pytest.fixture
def registry(monkeypatch):
    """The registry, to be changed at will."""
    monkeypatch.setattr(opponents, "_FACTORIES", dict(opponents._FACTORIES))
    return opponents._FACTORIES


class Tuned:
    """An agent with parameters."""

    def __init__(self, sims="100", playout="random"):
        self.sims, self.playout = int(sims), playout

    def act(self, position, seed):
        return position.moves()[0]


def test_random_is_there():
    assert "random" in agent_names()
    assert isinstance(make_agent("random"), RandomAgent)
    assert isinstance(make_agent("random:"), RandomAgent)


def test_names_are_sorted_and_a_new_one_is_among_them(registry):
    register("zebra", Tuned)
    register("ant", Tuned)
    assert agent_names() == sorted(["ant", "zebra", *(set(registry) - {"ant", "zebra"})])
    assert isinstance(make_agent("zebra"), Tuned)


def test_an_unknown_name_is_told_which_are_known(registry):
    registry.clear()
    register("random", RandomAgent)
    register("tuned", Tuned)
    for text in ("clever", "clever:sims=3", "", "Random", " random"):
        with pytest.raises(OptionError) as caught:
            make_agent(text)
        name = text.partition(":")[0]
        assert (
            str(caught.value) == f"agent {name!r} is not known; there is random, tuned, and `import agents` brings more"
        )


def test_parameters_go_to_the_factory_as_texts(registry):
    register("tuned", Tuned)
    for text, expected in {
        "tuned": (100, "random"),
        "tuned:sims=2000": (2000, "random"),
        "tuned:sims=2000,playout=greedy": (2000, "greedy"),
        "tuned:playout=a=b": (100, "a=b"),
        "tuned:playout=": (100, ""),
    }.items():
        agent = make_agent(text)
        assert (agent.sims, agent.playout) == expected


@pytest.mark.parametrize("part", ["sims", "=3", "sims=1,sims=2", "sims=1,playout"])
def test_parameters_are_key_and_value_each_once(part, registry):
    register("tuned", Tuned)
    with pytest.raises(OptionError, match=r"agent 'tuned:.* is not key=value, each key once"):
        make_agent(f"tuned:{part}")


def test_parameters_that_the_agent_does_not_have(registry):
    register("tuned", Tuned)
    with pytest.raises(OptionError, match=r"agent 'tuned:speed=3': .*'speed'"):
        make_agent("tuned:speed=3")
    with pytest.raises(OptionError, match=r"agent 'random:sims=3': .*takes no arguments"):
        make_agent("random:sims=3")


def test_batch_agents_are_told_apart_by_what_they_have():
    class Batch(Tuned):
        def act_batch(self, rules, states, games, seeds, out):
            out[:] = 0

    assert isinstance(Batch(), BatchAgent)
    assert not isinstance(Tuned(), BatchAgent)


# ---------------------------------------------------------------- random


@pytest.mark.parametrize("players", [2, 3, 4])
def test_random_plays_legal_moves_to_the_end(players):
    agent, position = make_agent("random"), new_game(players=players, seed=players)
    while not position.over:
        before = position.to_bytes()
        move = agent.act(position, derive(1, position.ply))
        assert position.to_bytes() == before
        assert move in position.moves()
        position.play(move)


def test_random_is_repeatable_and_seeds_differ():
    agent, position = make_agent("random"), new_game(seed=1)
    choices = [agent.act(position, seed) for seed in range(200)]
    assert choices == [RandomAgent().act(position.copy(), seed) for seed in range(200)]
    assert set(choices) == set(position.moves())


SEEDS = {
    "in a row": lambda count: range(count),
    "derived": lambda count: [derive(7, number) for number in range(count)],
    "far apart": lambda count: [number << 50 for number in range(count)],
}


@pytest.mark.parametrize("seeds", SEEDS.values(), ids=SEEDS)
@pytest.mark.parametrize("decisions", [0, 1, 2, 40])
def test_random_is_uniform(seeds, decisions):
    agent, position = make_agent("random"), new_game(seed=3)
    for _ in range(decisions):
        position.play(position.moves()[-1])
    moves = position.moves()
    counts = Counter(agent.act(position, seed) for seed in seeds(2**14))
    assert set(counts) == set(moves)
    assert stats.chisquare([counts[move] for move in moves]).pvalue > 1e-3


def test_a_choice_in_plain_numbers_is_in_range():
    for n in (1, 2, 3, 54, 472):
        drawn = [choose(derive(5, number), n) for number in range(20 * n)]
        assert set(drawn) <= set(range(n))
        assert type(drawn[0]) is int
    assert np.mean([choose(derive(5, number), 1000) for number in range(4000)]) == pytest.approx(499.5, abs=20)
