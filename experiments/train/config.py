"""What a training run does: pydantic models, read from YAML and from KEY=VALUE on the command line."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from tollero_env.game import OptionError, Rules, get_rules

Share = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]


class Common(BaseModel):
    """What every family has."""

    model_config = ConfigDict(extra="forbid", strict=True)
    game: str = "tollero"
    players: int = 2
    options: dict[str, bool | int | str] = {}  # of the rules
    seed: Annotated[int, Field(ge=0, lt=1 << 63)] = 1
    baselines: tuple[str, ...] = ("random", "greedy", "greedy-turn")
    measure_seconds: Positive = 30.0  # between two looks at how strong it is
    measure_games: Count = 200  # of each of them, against each baseline
    final_games: Count = 1000  # at the end, against each baseline
    save_seconds: Positive = 30.0  # a killed run loses no more than that

    def rules(self) -> Rules:
        """The rules it is trained for."""
        return get_rules(self.game, self.players, **self.options)


class TurnsConfig(Common):
    """A small net that judges the ends of whole turns, learned from self-play by TD(lambda), all in compiled code."""

    family: Literal["turns"] = "turns"
    games: Count = 600_000
    games_a_round: Count = 500
    rounds_kept: Count = 40  # positions are drawn from so many of the last rounds
    passes: Positive = 5.0  # how often a position is looked at, on average
    batch: Count = 256
    rate: Positive = 0.002  # of learning; falls to nothing in a straight line
    noise: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.1  # turns are drawn by the softmax of value / noise
    decay: Share = 0.9  # lambda
    rivals: Share = 0.5  # games in which one seat learns and a rival plays the others
    pool_every: Count = 100  # rounds after which the net joins the rivals


class PpoConfig(Common):
    """MaskablePPO of sb3-contrib on many games at once, against a growing pool of past selves and the baselines."""

    family: Literal["ppo"] = "ppo"
    steps: Count = 1_000_000  # decisions of the seats that learn
    encoding: str | None = None  # slots, for games that have it
    view: int | str | None = None  # of the encoding
    net: dict[
        str, Count
    ] = {}  # sizes that the extractor takes: kept, width for rows; kept, channels, blocks for planes
    num_envs: Count = 64  # games at once
    steps_a_round: Annotated[int, Field(ge=2)] = 32  # of each of them, before it learns
    batch: Annotated[int, Field(ge=2)] = 512
    epochs: Count = 4  # how often a step is looked at
    rate: Positive = 0.001  # of learning; falls to nothing in a straight line
    decay: Share = 0.95  # lambda of the advantages
    clip: Positive = 0.2
    entropy: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.01  # how much doubt is worth
    baselines_share: Share = 0.25  # of games against baselines; of the others half are against past selves
    pool_every: Count = 20  # rounds after which the policy joins the past selves


Config = TurnsConfig | PpoConfig
_ADAPTER: TypeAdapter[Config] = TypeAdapter(Annotated[Config, Field(discriminator="family")])


def make_config(data: dict[str, Any], where: str = "config") -> Config:
    """A config of plain data; one line says what is wrong with it."""
    try:
        # as JSON, so that types are taken strictly (true is no number) and yet a list will do for a tuple
        return _ADAPTER.validate_json(json.dumps({"family": "turns", **data}, default=str))
    except ValidationError as error:
        raise OptionError(f"{where}: {_first(error)}") from error


def _first(error: ValidationError) -> str:
    found = error.errors()[0]
    name = ".".join(str(part) for part in found["loc"] if part not in ("turns", "ppo")) or "family"
    if found["type"] == "extra_forbidden":
        known = PpoConfig if found["loc"][0] == "ppo" else TurnsConfig
        return f"key {name!r} is not known; there is {', '.join(known.model_fields)}"
    shown = found["input"] if not isinstance(found["input"], dict) else ""
    return f"{name}: {found['msg'][0].lower()}{found['msg'][1:]}, not {shown!r}"


def read_config(path: Path | None, changes: Sequence[str] = ()) -> Config:
    """The config of a file (or the embedded one), with KEY=VALUE changes, values as in YAML."""
    data: dict[str, Any] = {}
    if path is not None:
        try:
            data = yaml.safe_load(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise OptionError(f"{path}: cannot be read: {error.strerror or error}") from error
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise OptionError(f"{path}: no YAML: {' '.join(str(error).split())}") from error
        if not isinstance(data, dict):
            raise OptionError(f"{path}: not keys with values")
        make_config(data, str(path))
    for change in changes:
        key, equals, text = change.partition("=")
        if not equals or not key:
            raise OptionError(f"{change!r} is not KEY=VALUE")
        try:
            value = yaml.safe_load(text)
        except yaml.YAMLError:
            value = text
        outer, dot, inner = key.partition(".")
        if dot:
            before = data.get(outer, {})
            data = {**data, outer: {**(before if isinstance(before, dict) else {}), inner: value}}
        else:
            data = {**data, key: value}
    config = make_config(data, "command line" if changes else str(path or "config"))
    config.rules()
    return config
