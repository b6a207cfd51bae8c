"""The arena: agents play each other, and a report says who is stronger.

python -m experiments.tournament --agents random greedy "ismcts:ms=50" --players 2 --games 1000 [--out FOLDER]

python -m experiments.tournament report FOLDER

python -m experiments.tournament replays FOLDER OUT.jsonl

python -m experiments.tournament curve --agent "ismcts:ms={}" --values 12 25 50 100 200 --against greedy-turn

Two players: every pair meets. Three and four: one of A against all others B for every ordered pair, and every choice
of as many different agents as there are seats. Every deal is played in all seatings, and all line-ups see the same
deals. Agents are told only what their seats may know. With --ms (or ms= in the names) all have the same time a move.
"""

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console
from rich.markdown import Markdown

from experiments.options import clear_errors, parse_options, rules_from_text
from experiments.pages import markdown_table
from experiments.tournament.pictures import draw_curve
from experiments.tournament.plan import Lineup, make_config, merge, pairings, with_time
from experiments.tournament.play import load_agents, make_rules, to_replay
from experiments.tournament.report import check_anchor, match_cells, rating_cells, write_report
from experiments.tournament.run import run, run_folder
from experiments.tournament.store import read_config, read_results
from tollero_env.files import write_beside
from tollero_env.game import OptionError
from tollero_env.replay import write

Options = Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="KEY=VALUE")]
Lineups = Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="'A B ...'")]
Modules = Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="MODULE")]
TileSet = Annotated[str | None, tyro.conf.arg(metavar="NAME|PATH")]
Folder = Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="FOLDER")]
Flag = Annotated[bool, tyro.conf.FlagCreatePairsOff]
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def play(
    *,
    agents: tuple[str, ...] = (),
    game: str = "tollero",
    players: int = 2,
    games: int = 1000,
    ms: int | None = None,
    lineup: Lineups = (),
    seed: int = 1,
    workers: int = CORES,
    out: Path | None = None,
    resume: Flag = False,
    anchor: str | None = None,
    module: Modules = (),
    tileset: TileSet = None,
    option: Options = (),
) -> None:
    """Play a tournament and report on it.

    Args:
        agents: Who plays, such as random or ismcts:sims=2000.
        game: Name of the game.
        players: Number of players.
        games: Games of each line-up (for two players: of each pair); rounded up to whole deals.
        ms: Milliseconds a move for every agent that takes `ms` and is named without `ms` and `sims`.
        lineup: Instead of all line-ups of the agents this one, names with spaces between; may be repeated.
        seed: Deals and choices follow from it.
        workers: Processes that play at once.
        out: Folder for games and report; by default a new one in runs/arena.
        resume: Go on with the run in that folder.
        anchor: Agent whose rating is 0; by default the first.
        module: Python module that registers agents; may be repeated.
        tileset: Name or path of a tile set.
        option: A rule option, key=value; may be repeated.
    """
    rules = rules_from_text(game, players, tileset, option)
    load_agents(module)
    if bool(lineup) == bool(agents):
        raise OptionError("--agents or --lineup says who plays; give one of both")
    timed = (lambda name: name) if ms is None else (lambda name: with_time(name, ms))
    tables = [tuple(map(timed, text.split())) for text in lineup]
    tables = tables or pairings(list(map(timed, agents)), players)
    options = parse_options(game, option) | ({} if tileset is None else {"tileset": tileset})
    config = make_config(rules, options, merge(Lineup(seats=t, games=games) for t in tables), seed, module)
    zero = config.agents[0] if anchor is None else timed(anchor)
    check_anchor(config, zero)
    folder = run_folder(out, resume, f"arena/{game}-{players}p")
    run(config, folder, workers, resume)
    _show(write_report(folder, zero), folder)


def report(folder: Folder, *, anchor: str | None = None) -> None:
    """Report on the games that a run has so far, without playing.

    Args:
        folder: The run's folder.
        anchor: Agent whose rating is 0; by default the first.
    """
    _show(write_report(folder, anchor), folder)


def replays(
    folder: Folder, out: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="OUT")], *, deal: int | None = None
) -> None:
    """Write the games of a run as replays, which experiments.replay shows and verifies.

    Args:
        folder: The run's folder.
        out: File to write.
        deal: Only the games of this deal.
    """
    config = read_config(folder)
    rules = make_rules(config)
    results = [result for result in read_results(folder) if deal in (None, result.deal)]
    if not results:
        raise OptionError(f"{folder} has no such games")
    print(f"{out}: {write(out, (to_replay(rules, result) for result in results))} games of {rules.game.title}")


def curve(
    *,
    agent: str,
    values: tuple[str, ...],
    against: str,
    game: str = "tollero",
    players: int = 2,
    games: int = 100,
    seed: int = 1,
    workers: int = CORES,
    out: Path | None = None,
    resume: Flag = False,
    module: Modules = (),
    tileset: TileSet = None,
    option: Options = (),
) -> None:
    """Let an agent play a fixed one with several values of a parameter: curve.json, curve.md and curve.svg.

    Args:
        agent: The agent, with {} in place of the value: ismcts:ms={}.
        values: The values, numbers.
        against: Who holds all other seats.
        game: Name of the game.
        players: Number of players.
        games: Games with each value; rounded up to whole deals.
        seed: Deals and choices follow from it.
        workers: Processes that play at once.
        out: Folder for games and report; by default a new one in runs/arena.
        resume: Go on with the run in that folder.
        module: Python module that registers agents; may be repeated.
        tileset: Name or path of a tile set.
        option: A rule option, key=value; may be repeated.
    """
    rules = rules_from_text(game, players, tileset, option)
    load_agents(module)
    names = _curve_names(agent, values)
    lineups = [Lineup(seats=(name, *[against] * (players - 1)), games=games) for name in names]
    options = parse_options(game, option) | ({} if tileset is None else {"tileset": tileset})
    folder = run_folder(out, resume, f"arena/{game}-{players}p-curve")
    run(make_config(rules, options, lineups, seed, module), folder, workers, resume)
    full = write_report(folder, against)
    rows = {row["agent"]: row for row in full["matches"] if row["agent"] != against}
    points = [{"value": value, **rows[name]} for value, name in zip(values, names)]
    data = {"agent": agent, "against": against, "players": players, "points": points}
    with write_beside(folder / "curve.json") as file:
        file.write(json.dumps(data, indent=1) + "\n")
    headings, *body = match_cells({**full, "matches": points})
    with write_beside(folder / "curve.md") as file:
        file.write(markdown_table([headings, *body]) + "\n\n![Win share](curve.svg)\n")
    draw_curve(data, folder / "curve.svg")
    _show(full, folder)


def _curve_names(agent: str, values: Sequence[str]) -> list[str]:
    if agent.count("{}") != 1:
        raise OptionError(f"--agent {agent!r} has not one {{}} in place of the value")
    for value in values:
        try:
            float(value)
        except ValueError:
            raise OptionError(f"--values {value!r} is not a number") from None
    if not values or len(set(values)) < len(values):
        raise OptionError("--values needs at least one, each once")
    return [agent.replace("{}", value) for value in values]


def _show(report: dict[str, Any], folder: Path) -> None:
    """The two tables that matter most, and where the rest is."""
    console = Console() if sys.stdout.isatty() else Console(width=160)
    for cells in (rating_cells(report), match_cells(report)):
        console.print(Markdown(markdown_table(cells)))
    print(f"{folder / 'report.md'}, report.json, report.svg: {report['games']:,} games")


COMMANDS: dict[str, Callable[..., None]] = {"report": report, "replays": replays, "curve": curve}


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line; without the name of another command it plays."""
    words = list(sys.argv[1:] if args is None else args)
    prog = "python -m experiments.tournament"
    with clear_errors(ValueError, OSError):
        if words and words[0] in COMMANDS:
            tyro.cli(COMMANDS[words[0]], prog=f"{prog} {words[0]}", args=words[1:])
        else:
            tyro.cli(play, prog=prog, description=__doc__, args=words)
