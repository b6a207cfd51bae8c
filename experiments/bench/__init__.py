"""Speed on one core, beside the peers that are installed, in one run.

python -m experiments.bench [--only kernel|aec|batch|search] [--json OUT.json]

Cases take turns, round after round, so that a slow moment of the machine hits all alike; a figure is the median of its
rounds, and the spread beside it holds the middle half of them. What counts is a ratio within one run:
how many times as fast as the peer.
"""

import importlib
import json
import statistics
import time
from collections.abc import Sequence
from typing import Annotated, Any, Literal, get_args

import tyro
from rich.console import Console
from rich.progress import track

from experiments.bench.cases import UNITS, Case, Done
from experiments.bench.cores import keep_to, num_cores
from experiments.bench.tables import print_tables, write_markdown
from experiments.options import clear_errors
from tollero_env.files import write_beside

Group = Literal["kernel", "aec", "batch", "search"]
GROUPS: tuple[Group, ...] = get_args(Group)  # each a module of this package with a function cases()
WIDTH = 160  # a table without broken lines


def find_cases(groups: Sequence[Group]) -> list[Case]:
    """All cases of these groups that the machine has cores for; each row then names its group."""
    found: list[Case] = []
    with keep_to(1):  # what is loaded here may start threads
        for group in groups:
            module = importlib.import_module(f"experiments.bench.{group}")
            found += [case._replace(facts={"group": group, **case.facts}) for case in module.cases()]
    return [case for case in found if case.cores <= num_cores()]


def measure(cases: Sequence[Case], rounds: int, console: Console) -> list[dict[str, Any]]:
    """Time every case once a round; the first call of each, which may compile, does not count."""
    for case in track(cases, "Warming up", console=console, transient=True):
        with keep_to(case.cores):
            case.run()
    figures: list[list[float]] = [[] for _ in cases]
    for number in track(range(rounds), "Measuring", console=console, transient=True):
        for case, seen in zip(cases, figures):
            if number < case.max_rounds:
                seen.append(_time(case))
    by_players = {(case.name, case.players): seen for case, seen in zip(cases, figures)}
    by_name = {name: seen for (name, _), seen in reversed(by_players.items())}  # the first one of that name
    found = []
    for case, seen in zip(cases, figures):
        peers = {name: by_players.get((name, case.players), by_name.get(name)) for name in case.peers}
        found.append(_row(case, seen, {name: theirs for name, theirs in peers.items() if theirs is not None}))
    return found


def _time(case: Case) -> float:
    """Run it once, on as many cores as it may use."""
    with keep_to(case.cores):
        start = time.perf_counter()
        number = case.run()
        seconds = time.perf_counter() - start
    if isinstance(number, Done):
        number, seconds = number
    return UNITS[case.unit](number, seconds)


def _row(case: Case, seen: list[float], peers: dict[str, list[float]]) -> dict[str, Any]:
    low, median, high = statistics.quantiles(seen, n=4, method="inclusive")
    row = {"case": case.name, "players": case.players, "value": median, "unit": case.unit}
    row |= {"low": low, "high": high, "rounds": len(seen)}
    ratios = {name: _ratio(case.unit, seen, theirs) for name, theirs in peers.items()}
    if ratios:
        first = next(iter(ratios))
        row |= {"peer": first, "ratio": ratios[first], "ratios": ratios}
    return row | dict(case.facts)


def _ratio(unit: str, own: list[float], theirs: list[float]) -> float:
    """How many times as fast: the median of the ratios within each round."""
    pairs = zip(own, theirs) if unit.endswith("/s") else zip(theirs, own)
    return statistics.median(larger / smaller for larger, smaller in pairs)


def bench(
    only: Group | None = None,
    json_path: Annotated[str | None, tyro.conf.arg(name="json")] = None,
    markdown: str | None = None,
    picture: str | None = None,
    rounds: int = 15,
) -> None:
    """Measure and print the tables.

    Args:
        only: One group of cases alone.
        json_path: File for the rows as a JSON list.
        markdown: Page whose tables, between two marks, are replaced (README.md).
        picture: SVG file for the rows as a picture.
        rounds: How often each case is timed, the slow ones less often; at least 2.
    """
    if rounds < 2:
        raise ValueError("--rounds is at least 2")
    console = Console()
    if console.width < WIDTH:
        console = Console(width=WIDTH)
    rows = measure(find_cases([only] if only else GROUPS), rounds, console)
    print_tables(rows, console)
    if json_path is not None:
        with write_beside(json_path) as file:
            file.write(json.dumps(rows, indent=1) + "\n")
    if markdown is not None:
        write_markdown(markdown, rows)
    if picture is not None:
        from experiments.bench.picture import draw  # brings matplotlib

        draw(rows, picture)


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line."""
    with clear_errors(ValueError, OSError):
        tyro.cli(bench, prog="python -m experiments.bench", description=__doc__, args=args)
