"""A run on disk: config.json says what is played, games.jsonl holds a line for every finished game."""

import json
from pathlib import Path

from pydantic import ValidationError

from experiments.tournament.plan import Config, all_jobs
from experiments.tournament.play import Result
from tollero_env.files import write_beside

CONFIG, GAMES, ERROR = "config.json", "games.jsonl", "error.txt"


class RunError(ValueError):
    """A run that cannot be read or gone on with; one line."""


def begin(out: Path, config: Config, resume: bool) -> None:
    """Make the folder of a run ready for more games; one that is there must be of the same config and resumed."""
    if (out / CONFIG).exists():
        if not resume:
            raise RunError(f"{out} holds a run already: --resume goes on with it, --out names another")
        _check_same(out, read_config(out), config)
        _drop_half_line(out / GAMES)
        (out / ERROR).unlink(missing_ok=True)
        return
    if (out / GAMES).exists():
        raise RunError(f"{out} holds {GAMES} but no {CONFIG}: name another with --out")
    out.mkdir(parents=True, exist_ok=True)
    with write_beside(out / CONFIG) as file:
        file.write(config.model_dump_json(indent=1) + "\n")


def _check_same(out: Path, old: Config, new: Config) -> None:
    was, now = old.model_dump(mode="json"), new.model_dump(mode="json")
    for key in was:
        if was[key] != now[key]:
            raise RunError(f"{out} was begun with {key} {_short(was[key])}, not {_short(now[key])}: it is not resumed")


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else text[:77] + "..."


def read_config(out: Path) -> Config:
    """What a run plays."""
    path = out / CONFIG
    try:
        return Config.model_validate_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RunError(f"{path}: cannot be read: {error.strerror or error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        raise RunError(f"{path}: {'.'.join(map(str, first['loc'])) or 'file'}: {first['msg']}") from error


def read_results(out: Path) -> list[Result]:
    """The finished games, each once, in the order of the plan; half a line at the end does not count."""
    path, found = out / GAMES, {}
    if path.exists():
        *lines, _ = path.read_bytes().split(b"\n")
        for number, line in enumerate(lines, 1):
            result = _parse(path, number, line)
            found[result.deal, result.seats] = result
    jobs = all_jobs(read_config(out))
    return [found[job.deal, job.seats] for job in jobs if (job.deal, job.seats) in found]


def _parse(path: Path, number: int, line: bytes) -> Result:
    try:
        data = json.loads(line)
        return Result(**{**data, "seats": tuple(data["seats"])})
    except (ValueError, TypeError, KeyError) as error:
        raise RunError(f"{path}: line {number} is no game of the arena") from error


def _drop_half_line(path: Path) -> None:
    """What a killed process left at the end of the file goes."""
    if not path.exists():
        return
    data = path.read_bytes()
    if data and not data.endswith(b"\n"):
        with write_beside(path) as file:
            file.write(data[: data.rfind(b"\n") + 1].decode("utf-8"))


def to_line(result: Result) -> str:
    """A finished game as a line of the file; times to the microsecond."""
    data = result._asdict()
    data |= {key: [round(seconds, 6) for seconds in data[key]] for key in ("seconds", "slowest")}
    return json.dumps(data, separators=(",", ":")) + "\n"
