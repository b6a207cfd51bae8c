"""The end of a run: many games against each baseline, a page to look at, and what to type next."""

import contextlib
import json
import math
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from agents.checkpoint import read_checkpoint
from experiments.options import interpreter
from experiments.study.games import Course, watch
from experiments.tournament.report import FEW, span
from experiments.tournament.statistics import estimate_means, estimate_share
from experiments.train.config import Config, TurnsConfig
from experiments.train.folder import NET, REPORT, RESULTS, read_curve, read_facts
from experiments.train.measure import win_shares
from experiments.train.page import to_page
from tollero_env.files import write_beside
from tollero_env.game import OptionError, Rules
from tollero_env.opponents import BatchAgent, make_agent
from tollero_env.position import Position
from tollero_env.rng import derive

FINAL_SEED = (1 << 40) + 1  # deals that no look has seen, the same for all runs


class Next(NamedTuple):
    """A command, and what it is for."""

    purpose: str
    words: tuple[str, ...]

    @property
    def text(self) -> str:
        """As typed in the clone's root."""
        return shlex.join((interpreter(), "-m", *self.words))


def finish(folder: Path, config: Config, agent: BatchAgent, baselines: Mapping[str, BatchAgent]) -> None:
    """Play the final games; write report.json and report.html; say where they are and what to type next."""
    rules, console = config.rules(), Console(highlight=False)
    results = []
    for name, other in baselines.items():
        doing = f"Playing {config.final_games:,} games against {name}"
        with console.status(doing) if console.is_terminal else contextlib.nullcontext():
            results.append(final_result(rules, agent, name, other, config.final_games))
    hardest = min(results, key=lambda row: row["share"]["value"], default=None)
    course = None
    if hardest is not None:
        against = hardest["against"]
        names, seats = ["net", *[against] * (rules.players - 1)], [agent, *[baselines[against]] * (rules.players - 1)]
        course = watch(rules, names, seats, derive(FINAL_SEED, 0), judged=0)
    report = make_report(folder, results, course)
    commands = next_commands(folder, config, rules)
    with write_beside(folder / RESULTS) as file:
        file.write(json.dumps(report, indent=1, allow_nan=False) + "\n")
    with write_beside(folder / REPORT) as file:
        file.write(to_page(report, course, [(each.purpose, each.text) for each in commands]))
    _show(console, report, folder, commands)


def final_result(rules: Rules, agent: BatchAgent, name: str, other: BatchAgent, games: int) -> dict[str, Any]:
    """The share of the win against a baseline, with its 95% interval by bootstrap over deals."""
    shares = win_shares(rules, agent, other, games, FINAL_SEED)
    share = estimate_share(estimate_means(shares[:, np.newaxis])[0], len(shares))
    return {
        "against": name,
        "games": len(shares) * rules.players,
        "deals": len(shares),
        "share": share._asdict(),
        "times_fair": share.scaled(rules.players)._asdict(),
    }


def make_report(folder: Path, results: list[dict[str, Any]], course: Course | None) -> dict[str, Any]:
    """All that the page says, as data."""
    config, facts = read_facts(folder)
    checkpoint = read_checkpoint(folder / NET)
    return {
        "format": "tollero-training/1",
        "name": folder.resolve().name,
        "title": config.rules().game.title,
        **facts,
        **{key: checkpoint.notes[key] for key in ("done", "unit", "seconds")},
        "parameters": sum(array.size for array in checkpoint.arrays.values()),
        "results": results,
        "curve": [{**row, "loss": _finite(row["loss"])} for row in read_curve(folder)],
        "game": None if course is None else _game_data(course),
    }


def _finite(loss: float | None) -> float | None:
    """JSON has no other numbers."""
    return loss if loss is not None and math.isfinite(loss) else None


def _game_data(course: Course) -> dict[str, Any]:
    return {"agents": course.names, "chances": course.chances, "replay": course.replay}


# ---- what to type next


def next_commands(folder: Path, config: Config, rules: Rules) -> list[Next]:
    """What one may want to do with the agent."""
    net = f"net:{folder}"
    table = ["--game", config.game, "--players", str(rules.players)]
    for key, value in config.options.items():
        table += ["--option", f"{key}={str(value).lower() if isinstance(value, bool) else value}"]
    key = "games" if isinstance(config, TurnsConfig) else "steps"
    more = f"{key}={2 * getattr(config, key)}"
    rivals = list(config.baselines)
    thinking = f"{net},ms=200"
    return [
        Next(
            "play against it",
            ("experiments.play", "--opponents", thinking if can_play(thinking, rules) else net, *table),
        ),
        Next("go on training", ("experiments.train", "--resume", str(folder), more)),
        Next("put it in the arena", ("experiments.tournament", "--agents", net, *rivals, *table)),
    ]


def can_play(name: str, rules: Rules) -> bool:
    """Is there such an agent? Not every family can search."""
    position = Position.new(rules, 0)
    try:
        make_agent(name).act(position.hidden_from(position.player), 0)
    except OptionError:
        return False
    return True


# ---- on the terminal


def _show(console: Console, report: dict[str, Any], folder: Path, commands: list[Next]) -> None:
    table = Table(title=f"{report['title']}, {report['config']['players']} players", title_justify="left")
    table.add_column("against")
    for heading in ("games", "win share", "95%", "times fair"):
        table.add_column(heading, justify="right")
    for row in report["results"]:
        share = row["share"]
        table.add_row(
            row["against"], f"{row['games']:,}", f"{share['value']:.1%}", span(share, "{:.1%}"),
            f"{row['times_fair']['value']:.2f}",
        )  # fmt: skip
    console.print()
    console.print(table)
    if any(row["deals"] < FEW for row in report["results"]):
        console.print(f"Intervals of fewer than {FEW} deals are rough.")
    print(f"\nReport: {folder / REPORT} (open it in a browser)")
    print(f"Agent:  {folder / NET}, known everywhere as net:{folder}\n")
    for each in commands:
        print(f"{each.purpose}:\n  {each.text}")
