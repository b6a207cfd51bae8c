"""Rules alone: compiled random games, deal and scoring included."""

import importlib.util
import statistics
from typing import Any

import numpy as np

import tollero_env
from experiments.bench.cases import Case
from tollero_env.game import Array, Rules, get_rules
from tollero_env.games.talo.constants import BUILDING
from tollero_env.games.talo.protocol import pawn_moves, placements
from tollero_env.position import Position
from tollero_env.rng import choose, derive


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


def talo_playouts(players: int, board: str) -> Case:
    """Compiled random games with exact balance; a placement is one decision, rolls are not counted."""

    def run() -> float:
        decisions, _ = tollero_env.playouts("talo", players=players, games=60, seed=1, board=board)
        return float(decisions.sum())

    return Case("talo playouts", players, "steps/s", run, facts={"board": board})


def talo_moves(board: str, hand: int) -> Case:
    """Everything legal at a decision with so many blocks in hand, 14 to 27 being placed."""
    rules = get_rules("talo", 2, board=board)
    states, buffer = _talo_positions(rules, hand), np.zeros(1 << 15, np.int64)

    def run() -> float:
        for i in range(len(states)):
            placements(states, i, rules.tables, buffer)
            pawn_moves(states, i, rules.tables, buffer)
        return float(len(states))

    return Case("talo moves", 2, "ms/set", run, facts={"board": board, "hand": hand})


def _talo_positions(rules: Rules, hand: int, number: int = 100) -> Array:
    """Positions of random games in which a placement is due."""
    found: list[Array] = []
    seed = 0
    while len(found) < number:
        seed += 1
        position = Position.new(rules, seed)
        while not position.over and len(found) < number:
            state = position.states[0]
            is_middle = 14 <= state["num_blocks"] <= 27
            num_blocks = np.count_nonzero(state["hand"])
            if is_middle and state["stage"] == BUILDING and not state["falling"] and num_blocks == hand:
                found.append(position.states.copy())
            moves = position.moves()
            position.play(moves[choose(derive(seed, position.ply), len(moves))])
    return np.concatenate(found)


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
    found += [talo_playouts(players, board) for board in ("green", "islands") for players in (2, 3, 4)]
    found += [talo_moves(board, hand) for board in ("green", "islands") for hand in (1, 2)]
    if importlib.util.find_spec("pyspiel"):
        found += [openspiel_playouts("hex", "hex(board_size=11)"), openspiel_playouts("go", "go(board_size=9)")]
    return found
