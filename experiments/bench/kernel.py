"""Rules alone: compiled random games, deal and scoring included."""

import importlib.util
import statistics
from typing import Any

import numpy as np

import tollero_env
from experiments.bench.cases import Case


def tollero_playouts(players: int) -> Case:
    """Compiled random games, deal and scoring included."""

    def run() -> float:
        decisions, _ = tollero_env.playouts("tollero", players=players, games=60_000 // players, seed=1)
        return float(decisions.sum())

    return Case("tollero playouts", players, "steps/s", run, ("openspiel hex playouts",))


def toscana_playouts() -> Case:
    """The same for Toscana."""

    def run() -> float:
        decisions, _ = tollero_env.playouts("toscana", games=15_000, seed=1)
        return float(decisions.sum())

    return Case("toscana playouts", 2, "steps/s", run, ("openspiel hex playouts",))


def openspiel_playouts(name: str, game_text: str) -> Case:
    """OpenSpiel's own random rollouts, in C++; steps are rollouts times the mean length of a random game."""
    import pyspiel

    game, rollouts = pyspiel.load_game(game_text), 2000
    evaluator = pyspiel.RandomRolloutEvaluator(n_rollouts=rollouts, seed=1)
    # a search of one simulation is one evaluation of the opening: so many rollouts
    bot = pyspiel.MCTSBot(
        game, evaluator, uct_c=1, max_simulations=1, max_memory_mb=10, solve=False, seed=1, verbose=False
    )
    length = statistics.fmean(_random_length(game, np.random.default_rng(seed)) for seed in range(250))

    def run() -> float:
        bot.mcts_search(game.new_initial_state())
        return rollouts * length

    return Case(f"openspiel {name} playouts", 2, "steps/s", run)


def _random_length(game: Any, rng: np.random.Generator) -> int:
    state, length = game.new_initial_state(), 0
    while not state.is_terminal():
        state.apply_action(int(rng.choice(state.legal_actions())))
        length += 1
    return length


def cases() -> list[Case]:
    """Rules alone."""
    found = [*(tollero_playouts(players) for players in (2, 3, 4)), toscana_playouts()]
    if importlib.util.find_spec("pyspiel"):
        found += [openspiel_playouts("hex", "hex(board_size=11)"), openspiel_playouts("go", "go(board_size=9)")]
    return found
