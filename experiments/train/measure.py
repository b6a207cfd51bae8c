"""How strong an agent is, quickly: seat-balanced games on common deals, all agents in batches."""

from collections.abc import Sequence

import numpy as np

from tollero_env.game import Array, OptionError, Rules
from tollero_env.opponents import Agent, BatchAgent, make_agent
from tollero_env.rng import derive


def play_batch(rules: Rules, seats: Sequence[BatchAgent], seeds: Array) -> Array:
    """One game a seed; the shares of the win, shape (games, players)."""
    n, players, loops = len(seeds), rules.players, rules.game.loops
    states, games = np.zeros(n, rules.game.state), np.arange(n)
    agent_seeds, acting = np.zeros(n, np.uint64), np.zeros(n, np.int64)
    loops.deal_many(states, rules.tables, games, seeds.copy(), agent_seeds, acting)
    groups = {id(agent): (agent, [s for s, other in enumerate(seats) if other is agent]) for agent in seats}
    while (acting >= 0).any():
        for agent, seated in groups.values():
            theirs = games[np.isin(acting, seated)]
            if theirs.size:
                drawn, moves = np.empty(theirs.size, np.uint64), np.empty(theirs.size, np.int64)
                loops.seed_many(states, theirs, agent_seeds, drawn)
                agent.act_batch(rules, states, theirs, drawn, moves)
                loops.play_many(states, rules.tables, theirs, moves, acting)
    rewards, scores = np.zeros((n, players)), np.zeros((n, players), np.int64)
    shares = np.zeros((n, players))
    loops.settle_many(states, rules.tables, games, 0, rewards, scores, shares)
    return shares


def win_shares(rules: Rules, agent: BatchAgent, other: BatchAgent, games: int, seed: int) -> Array:
    """The agent's share of the win on each deal, mean over all its seats; the others are all `other`."""
    deals = max(1, games // rules.players)
    seeds = np.array([derive(seed, deal) for deal in range(deals)], np.uint64)
    tables = [[agent if seat == own else other for seat in range(rules.players)] for own in range(rules.players)]
    found = [play_batch(rules, seats, seeds)[:, own] for own, seats in enumerate(tables)]
    shares: Array = np.mean(found, axis=0)
    return shares


def batch_agents(names: Sequence[str]) -> dict[str, BatchAgent]:
    """Agents by name, all of a kind that plays many games at once."""
    found = {}
    for name in names:
        agent: Agent = make_agent(name)
        if not isinstance(agent, BatchAgent):
            raise OptionError(f"baseline {name!r} cannot play many games at once: choose random, greedy or greedy-turn")
        found[name] = agent
    return found
