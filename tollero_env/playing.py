"""Random games at full speed, in public."""

from typing import Any

import numpy as np

from tollero_env.game import Array, check_choice, get_rules
from tollero_env.position import as_word


def playouts(
    game: str = "tollero", players: int = 2, games: int = 1000, seed: int = 1, **options: Any
) -> tuple[Array, Array]:
    """Deal and play so many games with uniformly random moves, in one compiled loop.

    Returns the number of decisions, shape (games,), and the final scores, shape (games, players). Game g is the one
    dealt by the seed `rng.stream(seed, g)`.
    """
    rules = get_rules(game, players, **options)
    check_choice("games", games, range(1_000_000_001))
    decisions, scores = np.zeros(games, np.int64), np.zeros((games, players), np.int64)
    rules.game.playouts(np.zeros(1, rules.game.state), rules.tables, as_word(seed), decisions, scores)
    return decisions, scores
