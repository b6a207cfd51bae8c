"""Speed on one core, beside the peers that are installed, in one run.

python -m experiments.bench [--only kernel|aec] [--json OUT.json]

Cases take turns, round after round, so that a slow moment of the machine hits all alike; a figure is the median of its
rounds, and the spread beside it holds the middle half of them. What counts is a ratio within one run:
how many times as fast as the peer.
"""

import importlib
import json
import os
import statistics
import time
from collections.abc import Sequence
from typing import Annotated, Any, Literal, get_args

import tyro
from rich.console import Console
from rich.progress import track
from rich.table import Table

from experiments.bench.cases import Case
from experiments.options import clear_errors
from tollero_env.files import write_beside

Group = Literal["kernel", "aec"]


GROUPS: tuple[Group, ...] = get_args(Group)  # each a module of this package with a function cases()


def measure(cases: Sequence[Case], rounds: int, console: Console) -> list[dict[str, Any]]:
    """Time every case once a round; the first call of each, which may compile, does not count."""
    for case in track(cases, "Warming up", console=console, transient=True):
        case.run()
    speeds: list[list[float]] = [[] for _ in cases]
    for _ in track(range(rounds), "Measuring", console=console, transient=True):
        for case, seen in zip(cases, speeds):
            start = time.perf_counter()
            count = case.run()
            seconds = time.perf_counter() - start
            seen.append(count / seconds if case.unit == "steps/s" else seconds / count * 1e6)
    medians = {case.name: statistics.median(seen) for case, seen in zip(cases, speeds)}
    return [_row(case, seen, medians) for case, seen in zip(cases, speeds)]


def _row(case: Case, speeds: list[float], medians: dict[str, float]) -> dict[str, Any]:
    low, median, high = statistics.quantiles(speeds, n=4, method="inclusive")
    row = {"case": case.name, "players": case.players, "value": median, "unit": case.unit}
    row |= {"low": low, "high": high, "rounds": len(speeds)}
    if case.peer in medians:
        peer = medians[case.peer]
        row |= {"peer": case.peer, "ratio": median / peer if case.unit == "steps/s" else peer / median}
    return row


def print_table(rows: Sequence[dict[str, Any]], console: Console) -> None:
    """One row a case."""
    table = Table(title="Speed on one core, random play")
    for heading in ("case", "players", "median", "middle half", "unit", "ratio"):
        is_text = heading in ("case", "unit")
        table.add_column(heading, justify="left" if is_text else "right", no_wrap=is_text)
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
    rows = measure(
        [case for group in groups for case in importlib.import_module(f"experiments.bench.{group}").cases()],
        rounds,
        console,
    )
    print_table(rows, console)
    if json_path is not None:
        with write_beside(json_path) as file:
            file.write(json.dumps(rows, indent=1) + "\n")


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line."""
    with clear_errors(ValueError, OSError):
        tyro.cli(bench, prog="python -m experiments.bench", description=__doc__, args=args)
