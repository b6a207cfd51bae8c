"""Tree search from the 2-player opening, one thread: a simulation is one descent and one whole playout.

Each round searches the same position anew. OpenSpiel's MCTS, in C++, is timed the same way: one rollout a simulation.
"""

import importlib.util
import time

from agents.ismcts import find_style
from agents.search import Budget, Forest
from experiments.bench.cases import Case, Done
from tollero_env import new_game

SIMS = 20_000
PEER_SIMS = 4_000


def tollero_search(name: str, playout: str | None, prior: str | None) -> Case:
    """The search that `ismcts` does with these."""
    position = new_game("tollero", players=2, seed=1)
    forest = Forest(position.rules, find_style(position.rules, playout, prior), 1, SIMS)

    def run() -> Done:
        forest.start(position)
        start = time.perf_counter()
        forest.think(Budget(SIMS), 1, start)
        return Done(SIMS, time.perf_counter() - start)

    return Case(name, 2, "sims/s", run, ("openspiel mcts hex",))


def openspiel_search() -> Case:
    """OpenSpiel's MCTS on hex 11, in C++."""
    import pyspiel

    game = pyspiel.load_game("hex(board_size=11)")
    evaluator = pyspiel.RandomRolloutEvaluator(n_rollouts=1, seed=1)
    bot = pyspiel.MCTSBot(
        game, evaluator, uct_c=1, max_simulations=PEER_SIMS, max_memory_mb=100, solve=False, seed=1, verbose=False
    )

    def run() -> float:
        bot.mcts_search(game.new_initial_state())
        return PEER_SIMS

    return Case("openspiel mcts hex", 2, "sims/s", run)


def cases() -> list[Case]:
    """The plain form, the default one, and the peer if it is installed."""
    found = [tollero_search("tollero ismcts", "random", "none"), tollero_search("tollero ismcts strong", None, None)]
    return found + ([openspiel_search()] if importlib.util.find_spec("pyspiel") else [])
