"""How often does a view hide what is legal? Random games, by the exact rules.

python -m experiments.views --players 2 --games 1000 [--view 19]
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import tyro
from rich.console import Console
from rich.progress import track

from experiments.options import clear_errors
from tollero_env.game import Rules, get_rules
from tollero_env.rng import choose, derive


class Hidden(NamedTuple):
    """What a view hid in one game."""

    decisions: int  # where some legal move was not shown
    is_blind: bool  # was there one where none was shown?


def watch_game(rules: Rules, view: int, seed: int) -> Hidden:
    """Play one random game and look at every decision through the view."""
    game, how = rules.game, rules.game.encodings["planes"]
    states, buffer = np.zeros(1, game.state), np.zeros(game.max_legal, np.int64)
    game.reset(states, 0, rules.tables, np.uint64(seed))
    decisions, is_blind = 0, False
    while not states[0]["over"]:
        moves = [int(move) for move in buffer[: game.moves(states, 0, rules.tables, buffer)]]
        shown = sum(how.to_action(states, 0, rules.tables, view, move) >= 0 for move in moves)
        decisions += shown < len(moves)
        is_blind |= shown == 0
        game.apply(states, 0, rules.tables, moves[choose(derive(seed, 1 + int(states[0]["ply"])), len(moves))])
    return Hidden(decisions, is_blind)


def run(game: str = "tollero", players: int = 2, games: int = 1000, view: int | None = None, seed: int = 1) -> None:
    """Report how often the view of `planes` hides a legal move.

    Args:
        game: Name of the game.
        players: Number of players.
        games: How many random games.
        view: Side of the view; the default one if not given.
        seed: The games follow from it.
    """
    if games < 1 or not 0 <= seed < 1 << 64:
        raise ValueError("--games is at least 1, --seed from 0 to 2**64 - 1")
    rules = get_rules(game, players)
    side = rules.game.encodings["planes"].resolve_view(rules, view)
    console = Console(stderr=True)
    numbers = track(range(games), "Playing", console=console, transient=True, disable=not console.is_terminal)
    seen = [watch_game(rules, side, derive(seed, number)) for number in numbers]
    hiding = sum(one.decisions > 0 for one in seen)
    blind = sum(one.is_blind for one in seen)
    print(f"view {side}, {players} players, {games} random games: {hiding} with a hidden legal move, ", end="")
    print(f"{blind} with a decision that shows none (truncated in the env)")


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line."""
    with clear_errors(ValueError, OSError):
        tyro.cli(run, prog="python -m experiments.views", description=__doc__, args=args)


if __name__ == "__main__":
    main()
