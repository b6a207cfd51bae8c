"""Nets on disk: safetensors, whose header says what the net is for. Nothing is ever unpickled."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from tollero_env.files import beside
from tollero_env.game import Array, Learning, OptionError, Rules
from tollero_env.nets import parts

FORMAT = "tollero-net/1"
SHIPPED = Path(__file__).parent / "checkpoints"
ENDING = ".safetensors"


class Checkpoint(NamedTuple):
    """Arrays by name, and what they are for."""

    arrays: dict[str, Array]
    family: str  # how it was trained and is played: "turns" or "ppo"
    game: str
    players: int
    options: dict[str, Any]  # of the rules
    version: int  # of the description that the net reads
    notes: dict[str, Any]  # how it came about


_KINDS = {"family": str, "game": str, "players": int, "options": dict, "version": int, "notes": dict}


def write_checkpoint(path: str | os.PathLike[str], checkpoint: Checkpoint) -> None:
    """Write beside and rename."""
    facts = {key: value for key, value in checkpoint._asdict().items() if key != "arrays"}
    header = {"format": FORMAT, **{key: json.dumps(value) for key, value in facts.items()}}
    with beside(path) as neighbour:
        neighbour.write_bytes(save({name: np.ascontiguousarray(a) for name, a in checkpoint.arrays.items()}, header))


def find_checkpoint(name: str) -> Path:
    """The file of a net: a path, a run's folder, or the name of one that is shipped."""
    path = Path(name)
    if path.is_dir():
        path = path / f"net{ENDING}"
    if path.is_file():
        return path
    shipped = SHIPPED / f"{name}{ENDING}"
    if shipped.is_file():
        return shipped
    known = ", ".join(sorted(file.stem for file in SHIPPED.glob(f"*{ENDING}"))) or "none"
    raise OptionError(f"net {name!r}: there is no such file; shipped nets are {known}")


def read_checkpoint(path: str | os.PathLike[str]) -> Checkpoint:
    """What a file holds; one line says what is wrong with another."""
    try:
        with safe_open(path, "np") as file:
            header = file.metadata() or {}
            if header.get("format") != FORMAT:
                raise OptionError(f"{path}: format {header.get('format')!r} is not {FORMAT}")
            facts = {key: json.loads(header[key]) for key in _KINDS}
            for key, kind in _KINDS.items():
                if type(facts[key]) is not kind:
                    raise ValueError(f"{key} is {facts[key]!r}")
            return Checkpoint({name: file.get_tensor(name) for name in file.keys()}, **facts)  # noqa: SIM118
    except OptionError:
        raise
    except (SafetensorError, OSError, KeyError, ValueError, TypeError) as error:
        raise OptionError(f"{path}: damaged, or no net of this project: {' '.join(str(error).split())}") from error


def check_fits(path: object, checkpoint: Checkpoint, rules: Rules) -> None:
    """Refuse a net that was made for other rules."""
    if (checkpoint.game, checkpoint.players) != (rules.game.name, rules.players):
        made, wanted = f"{checkpoint.game} with {checkpoint.players}", f"{rules.game.name} with {rules.players} players"
        raise OptionError(f"{path}: a net for {made} players cannot play {wanted}")
    for key, value in rules.options.items():
        told = plain_option(value)
        if checkpoint.options.get(key) != told:
            raise OptionError(f"{path}: a net for {key} {checkpoint.options.get(key)!r} cannot play {key} {told!r}")


def plain_option(value: Any) -> Any:
    """An option as JSON holds it: a tile set by its name."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return getattr(value, "name", str(value))


def plain_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """All of them."""
    return {key: plain_option(value) for key, value in options.items()}


# ---- nets of nets.py


def to_arrays(learning: Learning, params: Array) -> dict[str, Array]:
    """The parts of flat parameters by name."""
    found, start = {}, 0
    for name, shape in parts(learning.planner.sizes):
        size = int(np.prod(shape))
        found[name] = params[start : start + size].reshape(shape)
        start += size
    return found


def to_params(path: object, checkpoint: Checkpoint, learning: Learning) -> Array:
    """Flat parameters of a net that fits the game's description; anything else is refused."""
    if checkpoint.version != learning.planner.version:
        version = learning.planner.version
        raise OptionError(f"{path}: reads version {checkpoint.version} of the description, this is version {version}")
    flat = []
    for name, shape in parts(learning.planner.sizes):
        array = checkpoint.arrays.get(name)
        if array is None or array.shape != shape or array.dtype != np.float32:
            found = "missing" if array is None else f"{array.dtype} {array.shape}"
            raise OptionError(f"{path}: array {name!r} is {found}, not float32 {shape}")
        if not np.isfinite(array).all():
            raise OptionError(f"{path}: array {name!r} holds numbers that are not finite")
        flat.append(array.ravel())
    return np.concatenate(flat)


def load_params(path: object, checkpoint: Checkpoint, rules: Rules) -> tuple[Learning, Array]:
    """The net of a checkpoint, checked to fit the rules."""
    check_fits(path, checkpoint, rules)
    if rules.game.learning is None:
        raise OptionError(f"{path}: {rules.game.title} offers no description to nets")
    return rules.game.learning, to_params(path, checkpoint, rules.game.learning)
