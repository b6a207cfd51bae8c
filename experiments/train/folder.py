"""A run on disk.

config.json    what is trained, and with what: config, command, versions of packages, state of git
curve.jsonl    a line for each look at how strong it is
net.safetensors, state.safetensors    the net as agents play it; what it takes to go on
tensorboard/   the same curves for TensorBoard
report.html, report.json    made at the end
"""

import importlib.metadata
import json
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from experiments.train.config import Config, make_config
from tollero_env.files import beside, write_beside
from tollero_env.game import Array, OptionError

CONFIG, CURVE, NET, STATE = "config.json", "curve.jsonl", "net.safetensors", "state.safetensors"
BOARD = "tensorboard"
REPORT, RESULTS = "report.html", "report.json"
PACKAGES = ("numpy", "numba", "llvmlite", "gymnasium", "pettingzoo", "torch", "stable-baselines3", "sb3-contrib")


def new_folder(out: Path | None, config: Config) -> Path:
    """A folder for a new run; one that holds a run already is refused."""
    name = f"{config.game}-{config.players}p-{config.family}-{time.strftime('%Y%m%d-%H%M%S')}"
    folder = out or Path("runs", name)
    if (folder / CONFIG).exists():
        raise OptionError(f"{folder} holds a run already: --resume {folder} goes on with it, --out names another")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write_facts(folder: Path, config: Config, init: str | None) -> None:
    """What is trained, and with what."""
    facts = {
        "config": config.model_dump(),
        "init": init,
        "command": ["python", "-m", "experiments.train", *sys.argv[1:]],
        "begun": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "packages": {name: _version(name) for name in PACKAGES},
        "git": _git(),
    }
    with write_beside(folder / CONFIG) as file:
        file.write(json.dumps(facts, indent=1) + "\n")


def read_facts(folder: Path) -> tuple[Config, dict[str, Any]]:
    """The config of a run, and all that was noted with it."""
    path = folder / CONFIG
    try:
        facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return make_config(facts["config"], str(path)), facts
    except OSError as error:
        raise OptionError(f"{path}: cannot be read, so there is no run: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise OptionError(f"{path}: no config of a run: {error}") from error


def read_curve(folder: Path) -> list[dict[str, Any]]:
    """The looks so far; half a line at the end does not count."""
    path = folder / CURVE
    if not path.exists():
        return []
    *lines, _ = path.read_bytes().split(b"\n")
    return [json.loads(line) for line in lines]


def write_curve(folder: Path, rows: list[dict[str, Any]]) -> None:
    """All looks anew."""
    with write_beside(folder / CURVE) as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def write_state(path: Path, arrays: dict[str, Array], notes: dict[str, Any]) -> None:
    """What a trainer needs to go on."""
    with beside(path) as neighbour:
        data = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        neighbour.write_bytes(save(data, {"notes": json.dumps(notes)}))


def read_state(path: Path, *needed: str) -> tuple[dict[str, Array], dict[str, Any]]:
    """What `write_state` wrote; `needed` are arrays that must be among it."""
    try:
        with safe_open(path, "np") as file:
            notes: dict[str, Any] = json.loads((file.metadata() or {})["notes"])
            found = {name: file.get_tensor(name) for name in (*needed, *file.keys())}
            return found, notes
    except (SafetensorError, OSError, KeyError, ValueError) as error:
        raise OptionError(f"{path}: damaged, or no state of a run: {' '.join(str(error).split())}") from error


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _git() -> dict[str, Any]:
    """Commit, and whether anything was changed since."""
    try:
        commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
        changed = subprocess.run(["git", "status", "--porcelain"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return {}
    return {"commit": commit, "changed": bool(changed.strip())}
