"""The ladder: the standing field of a game plays for every number of players, and the table in the README is remade.

python -m experiments.ladder [--quick] [--game tollero] [--markdown README.md]

The field is in configs/GAME-ladder.yaml: a quick form for minutes, a full one for an hour or a night.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import tyro
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

import tollero_env
from experiments.options import clear_errors
from experiments.pages import markdown_table, replace_between, split_page
from experiments.tournament.cli import CORES
from experiments.tournament.plan import Config, Lineup, Seats, make_config, merge, pairings
from experiments.tournament.play import load_agents
from experiments.tournament.report import rating_span, rating_text, span, write_report
from experiments.tournament.run import run, run_folder
from tollero_env.files import write_beside
from tollero_env.game import OptionError, get_game, get_rules

CONFIGS = Path(__file__).parents[1] / "configs"
Flag = Annotated[bool, tyro.conf.FlagCreatePairsOff]


class Event(BaseModel):
    """A part of a form: agents of whom all pairings are played, or the line-ups themselves."""

    model_config = ConfigDict(extra="forbid")
    players: int
    games: int = Field(ge=1)  # of each line-up
    agents: tuple[str, ...] = ()
    lineups: tuple[Seats, ...] = ()

    @model_validator(mode="after")
    def _one_of_both(self) -> "Event":
        if bool(self.agents) == bool(self.lineups):
            raise ValueError("agents or lineups, one of both")
        return self


class Standing(BaseModel):
    """A game's standing field."""

    model_config = ConfigDict(extra="forbid")
    yardstick: str  # the agent that all are measured by; its rating is 0
    quick: tuple[Event, ...] = Field(min_length=1)
    full: tuple[Event, ...] = Field(min_length=1)


def read_standing(path: Path) -> Standing:
    """The field in a file; one line says what is wrong with it."""
    try:
        return Standing.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise OptionError(f"{path}: cannot be read: {error.strerror or error}") from error
    except yaml.YAMLError as error:
        raise OptionError(f"{path}: no YAML: {' '.join(str(error).split())}") from error
    except ValidationError as error:
        first = error.errors()[0]
        raise OptionError(f"{path}: {'.'.join(map(str, first['loc'])) or 'file'}: {first['msg']}") from error


def make_runs(game: str, events: Sequence[Event], seed: int) -> list[Config]:
    """A run for each number of players."""
    runs = []
    for players in sorted({event.players for event in events}):
        lineups: list[Lineup] = []
        for event in events:
            if event.players == players:
                tables = event.lineups or pairings(event.agents, players)
                lineups += [Lineup(seats=table, games=event.games) for table in tables]
        runs.append(make_config(get_rules(game, players), {}, merge(lineups), seed))
    return runs


def ladder_cells(reports: Sequence[dict[str, Any]], yardstick: str) -> list[list[str]]:
    """Headings, then the agents for each number of players, strongest first."""
    against = f"wins against `{yardstick}`"
    rows = [["players", "agent", "rating", "95%", against, "95%", "times fair", "95%", "games", "ms a decision"]]
    for report in reports:
        players = report["config"]["players"]
        times = {row["agent"]: row for row in report["times"]}
        for row in report["ratings"]:
            name = row["agent"]
            cells = [str(players), f"`{name}`", rating_text(row), rating_span(row)]
            match = find_match(report, name, yardstick)
            rows.append([*cells, *_match_cells(match), f"{times[name]['mean_ms']:.2g}"])
    return rows


def find_match(report: dict[str, Any], agent: str, other: str) -> dict[str, Any] | None:
    """How one of the agent did against nobody but the other."""
    others = [other] * (report["config"]["players"] - 1)
    rows = (row for row in report["matches"] if row["agent"] == agent and row["against"] == others)
    return next(rows, None) if agent != other else None


def _match_cells(match: dict[str, Any] | None) -> list[str]:
    if match is None:
        return [""] * 5
    share, fair = match["share"], match["times_fair"]
    cells = [f"{share['value']:.1%}", span(share, "{:.1%}"), f"{fair['value']:.2f}", span(fair, "{:.2f}")]
    return [*cells, str(match["games"])]


def ladder(
    *,
    quick: Flag = False,
    game: str = "tollero",
    seed: int = 1,
    workers: int = CORES,
    out: Path | None = None,
    resume: Flag = False,
    markdown: str | None = None,
    config: Path | None = None,
) -> None:
    """Play the standing field and make its table.

    Args:
        quick: The short form, for minutes.
        game: Name of the game.
        seed: Deals and choices follow from it.
        workers: Processes that play at once.
        out: Folder for games and reports; by default a new one in runs/ladder.
        resume: Go on with the ladder in that folder.
        markdown: Page whose table, between two marks with the game's name, is replaced (README.md).
        config: File of the field; by default configs/GAME-ladder.yaml.
    """
    get_game(game)
    field = read_standing(config or CONFIGS / f"{game}-ladder.yaml")
    form = "quick" if quick else "full"
    load_agents(())
    runs = make_runs(game, field.quick if quick else field.full, seed)
    for each in runs:
        if field.yardstick not in each.agents:
            raise OptionError(f"yardstick {field.yardstick!r} does not play with {each.players} players")
    mark = f"ladder {game}"
    if markdown is not None:
        split_page(markdown, mark)  # an hour later would be late to find that the marks are missing
    folder = run_folder(out, resume, f"ladder/{game}-{form}")
    for each in runs:
        run(each, folder / f"{each.players}p", workers, resume)
    reports = [write_report(folder / f"{each.players}p", field.yardstick) for each in runs]
    table = markdown_table(ladder_cells(reports, field.yardstick))
    data = {"game": game, "form": form, "version": tollero_env.__version__, "yardstick": field.yardstick}
    _write(folder / "ladder.json", json.dumps({**data, "reports": reports}, indent=1))
    _write(folder / "ladder.md", table)
    if markdown is not None:
        replace_between(markdown, mark, table)
    print(f"{table}\n{folder / 'ladder.md'}, ladder.json; a report for each number of players in the folders beside")


def _write(path: Path, text: str) -> None:
    with write_beside(path) as file:
        file.write(text + "\n")


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line."""
    with clear_errors(ValueError, OSError):
        tyro.cli(ladder, prog="python -m experiments.ladder", description=__doc__, args=args)


if __name__ == "__main__":
    main()
