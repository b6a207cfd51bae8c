"""Speed on one core, beside the peers that are installed, in one run.

python -m experiments.bench [--only kernel|aec] [--json OUT.json]

Cases take turns, round after round, so that a slow moment of the machine hits all alike; a figure is the median of its
rounds, and the spread beside it holds the middle half of them. What counts is a ratio within one run:
how many times as fast as the peer.
"""

import contextlib
import importlib
import json
import os
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
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
START, END = "<!-- bench -->", "<!-- /bench -->"
WIDTH = 130  # a table without broken lines


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
    by_name = {case.name: seen for case, seen in zip(cases, speeds)}
    return [_row(case, seen, by_name.get(case.peer)) for case, seen in zip(cases, speeds)]


def _row(case: Case, speeds: list[float], peer_speeds: list[float] | None) -> dict[str, Any]:
    low, median, high = statistics.quantiles(speeds, n=4, method="inclusive")
    row = {"case": case.name, "players": case.players, "value": median, "unit": case.unit}
    row |= {"low": low, "high": high, "rounds": len(speeds)}
    if peer_speeds is not None:  # the median of the ratios within each round
        pairs = zip(speeds, peer_speeds) if case.unit == "steps/s" else zip(peer_speeds, speeds)
        row |= {"peer": case.peer, "ratio": statistics.median(own / peer for own, peer in pairs)}
    return row


def table_cells(rows: Sequence[dict[str, Any]]) -> list[list[str]]:
    """Headings, then one row a case."""
    cells = [["case", "players", "median", "middle half", "unit", "times as fast as", ""]]
    for row in rows:
        ratio = [f"{row['ratio']:.2g}", row["peer"]] if "ratio" in row else ["", ""]
        spread = f"{_short(row['low'])} to {_short(row['high'])}"
        cells.append([row["case"], str(row["players"]), _short(row["value"]), spread, row["unit"], *ratio])
    return cells


def print_table(rows: Sequence[dict[str, Any]], console: Console) -> None:
    """One row a case."""
    headings, *body = table_cells(rows)
    table = Table(title="Speed on one core, random play")
    for heading in headings:
        is_text = heading in ("case", "unit", "")
        table.add_column(heading, justify="left" if is_text else "right", no_wrap=True)
    for cells in body:
        table.add_row(*cells)
    console.print(table)


def write_markdown(path: str, rows: Sequence[dict[str, Any]]) -> None:
    """Put the table between the two marks in a page."""
    text = Path(path).read_text(encoding="utf-8")
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise ValueError(f"{path}: the marks {START} and {END} are not there")
    headings, *body = table_cells(rows)
    lines = [headings, ["---"] * len(headings), *body]
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    with write_beside(path) as file:
        file.write(f"{before}{start}\n{table}\n{end}{after}")


def _short(value: float) -> str:
    for limit, letter in ((1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:.3g} {letter}"
    return f"{value:.3g}"


@contextlib.contextmanager
def one_core() -> Iterator[None]:
    """Keep to one core meanwhile, where the system can."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def bench(
    only: Group | None = None,
    json_path: Annotated[str | None, tyro.conf.arg(name="json")] = None,
    markdown: str | None = None,
    rounds: int = 15,
) -> None:
    """Measure and print one table.

    Args:
        only: One group of cases alone.
        json_path: File for the rows as a JSON list.
        markdown: Page whose table, between two marks, is replaced (README.md).
        rounds: How often each case is timed; at least 2.
    """
    if rounds < 2:
        raise ValueError("--rounds is at least 2")
    console = Console()
    if console.width < WIDTH:
        console = Console(width=WIDTH)
    modules = [importlib.import_module(f"experiments.bench.{group}") for group in ([only] if only else GROUPS)]
    with one_core():
        rows = measure([case for module in modules for case in module.cases()], rounds, console)
    print_table(rows, console)
    if json_path is not None:
        with write_beside(json_path) as file:
            file.write(json.dumps(rows, indent=1) + "\n")
    if markdown is not None:
        write_markdown(markdown, rows)


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line."""
    with clear_errors(ValueError, OSError):
        tyro.cli(bench, prog="python -m experiments.bench", description=__doc__, args=args)
