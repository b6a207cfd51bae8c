"""Speed on one core, beside the peers that are installed, in one run.

python -m experiments.bench [--only kernel] [--json OUT.json]

Cases take turns, round after round, so that a slow moment of the machine hits all alike; a figure is the median of its
rounds, and the spread beside it holds the middle half of them. What counts is a ratio within one run.
"""

import importlib.util
import json
import os
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import tyro
from rich.console import Console
from rich.progress import track
from rich.table import Table

import tollero_env
from experiments.options import clear_errors
from tollero_env.files import write_beside

Group = Literal["kernel"]


class Case(NamedTuple):
    """Something to time: `run` does the work once and returns how many units it did."""

    name: str
    players: int
    unit: str
    run: Callable[[], float]
    peer: str = ""  # the case that its ratio is to


def tollero_playouts(players: int) -> Case:
    """Compiled random games, deal and scoring included."""

    def run() -> float:
        decisions, _ = tollero_env.playouts("tollero", players=players, games=60_000 // players, seed=1)
        return float(decisions.sum())

    return Case("tollero playouts", players, "steps/s", run, "openspiel hex playouts")


def openspiel_playouts(name: str, game_text: str) -> Case:
    """OpenSpiel's own random rollouts, in C++; steps are rollouts times the mean length of a random game."""
    import pyspiel

    game, rollouts = pyspiel.load_game(game_text), 2000
    evaluator = pyspiel.RandomRolloutEvaluator(n_rollouts=rollouts, seed=1)
    # a search of one simulation is one evaluation of the opening: so many rollouts
    bot = pyspiel.MCTSBot(
        game, evaluator, uct_c=1, max_simulations=1, max_memory_mb=10, solve=False, seed=1, verbose=False
    )
    length = statistics.fmean(_random_length(game, np.random.default_rng(seed)) for seed in range(500))

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


def kernel_cases() -> list[Case]:
    """Rules alone."""
    cases = [tollero_playouts(players) for players in (2, 3, 4)]
    if importlib.util.find_spec("pyspiel"):
        cases += [openspiel_playouts("hex", "hex(board_size=11)"), openspiel_playouts("go", "go(board_size=9)")]
    return cases


GROUPS: dict[Group, Callable[[], list[Case]]] = {"kernel": kernel_cases}


def measure(cases: Sequence[Case], rounds: int, console: Console) -> list[dict[str, Any]]:
    """Time every case once a round; the first call of each, which may compile, does not count."""
    for case in track(cases, "Warming up", console=console, transient=True):
        case.run()
    speeds: list[list[float]] = [[] for _ in cases]
    for _ in track(range(rounds), "Measuring", console=console, transient=True):
        for case, seen in zip(cases, speeds):
            start = time.perf_counter()
            count = case.run()
            seen.append(count / (time.perf_counter() - start))
    medians = {case.name: statistics.median(seen) for case, seen in zip(cases, speeds)}
    return [_row(case, seen, medians) for case, seen in zip(cases, speeds)]


def _row(case: Case, speeds: list[float], medians: dict[str, float]) -> dict[str, Any]:
    low, median, high = statistics.quantiles(speeds, n=4)
    row = {"case": case.name, "players": case.players, "value": median, "unit": case.unit}
    row |= {"low": low, "high": high, "rounds": len(speeds)}
    if case.peer in medians:
        row |= {"peer": case.peer, "ratio": median / medians[case.peer]}
    return row


def print_table(rows: Sequence[dict[str, Any]], console: Console) -> None:
    """One row a case."""
    table = Table(title="Speed on one core, random play")
    for heading in ("case", "players", "median", "middle half", "unit", "ratio"):
        table.add_column(heading, justify="left" if heading in ("case", "unit") else "right")
    for row in rows:
        ratio = f"{row['ratio']:.1f} x {row['peer']}" if "ratio" in row else ""
        spread = f"{_short(row['low'])} to {_short(row['high'])}"
        table.add_row(row["case"], str(row["players"]), _short(row["value"]), spread, row["unit"], ratio)
    console.print(table)


def _short(value: float) -> str:
    for limit, letter in ((1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:.3g} {letter}"
    return f"{value:.3g}"


def bench(
    only: Group | None = None, json_path: Annotated[str | None, tyro.conf.arg(name="json")] = None, rounds: int = 15
) -> None:
    """Measure and print one table.

    Args:
        only: One group of cases alone.
        json_path: File for the rows as a JSON list.
        rounds: How often each case is timed; at least 2.
    """
    if rounds < 2:
        raise ValueError("--rounds is at least 2")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    console = Console()
    groups = [only] if only else list(GROUPS)
    rows = measure([case for group in groups for case in GROUPS[group]()], rounds, console)
    print_table(rows, console)
    if json_path is not None:
        with write_beside(json_path) as file:
            file.write(json.dumps(rows, indent=1) + "\n")


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line."""
    with clear_errors(ValueError, OSError):
        tyro.cli(bench, prog="python -m experiments.bench", description=__doc__, args=args)


if __name__ == "__main__":
    main()
