"""Playing a run to its end, with every finished game on disk at once."""

import sys
import time
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from experiments.tournament.plan import Config, all_jobs
from experiments.tournament.play import AgentError
from experiments.tournament.pool import play_jobs
from experiments.tournament.store import ERROR, GAMES, begin, read_results, to_line
from tollero_env.files import write_beside
from tollero_env.game import OptionError


def run(config: Config, out: Path, workers: int, resume: bool) -> None:
    """Play what a run has not played yet; every finished game is on disk at once."""
    if workers < 1:
        raise OptionError("--workers is at least 1")
    begin(out, config, resume)
    jobs = all_jobs(config)
    done = {(result.deal, result.seats) for result in read_results(out)}
    _announce(config, len(jobs), len(done), out)
    left = [job for job in jobs if (job.deal, job.seats) not in done]
    results = play_jobs(config, left, workers)
    number = len(done)
    try:
        with open(out / GAMES, "a", encoding="utf-8", newline="\n") as file, _progress() as progress:
            task = progress.add_task("Playing", total=len(jobs), completed=number)
            for result in results:
                file.write(to_line(result))
                file.flush()
                number += 1
                progress.update(task, completed=number)
    except KeyboardInterrupt:
        print(f"{number} of {len(jobs)} games are kept in {out}; --resume goes on with them", file=sys.stderr)
        raise
    except AgentError as error:
        with write_beside(out / ERROR) as file:
            file.write(error.trace)
        raise OptionError(f"{error} (all of it: {out / ERROR}; {number} finished games are kept)") from error
    finally:
        results.close()


def _announce(config: Config, planned: int, done: int, out: Path) -> None:
    asked = sum(lineup.games for lineup in config.lineups)
    rounded = f" (rounded up from {asked:,} to whole deals)" if planned > asked else ""
    known = f", {done:,} of them played" if done else ""
    lineups = "1 line-up" if len(config.lineups) == 1 else f"{len(config.lineups)} line-ups"
    print(f"{out}: {lineups} of {config.players}, {planned:,} games{rounded}{known}")


def _progress() -> Progress:
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    left = TimeRemainingColumn()
    return Progress(
        *columns,
        left,
        TextColumn("left"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
        speed_estimate_period=600,
    )


def run_folder(out: Path | None, resume: bool, name: str) -> Path:
    """The folder that is named, or a new one in runs."""
    if out is None and resume:
        raise OptionError("--resume needs --out, the folder to go on with")
    return out or Path("runs", f"{name}-{time.strftime('%Y%m%d-%H%M%S')}")
