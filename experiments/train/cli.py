"""Train an agent by self-play, see how strong it is, and write a report.

python -m experiments.train [--config configs/NAME.yaml] [KEY=VALUE ...] [--out FOLDER] [--init CHECKPOINT]

python -m experiments.train --resume FOLDER [games=2000000]

Without --config it is the quick one: Tollero, 2 players, about ten minutes on two cores. Ctrl-C keeps what was learned.
"""

import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Protocol

import numpy as np
import tyro

import agents  # noqa: F401  makes their names known
from agents.checkpoint import Checkpoint, check_fits, find_checkpoint, read_checkpoint, write_checkpoint
from experiments.options import clear_errors
from experiments.train.board import Board
from experiments.train.config import Common, Config, TurnsConfig, make_config, read_config
from experiments.train.folder import (
    BOARD,
    CURVE,
    NET,
    STATE,
    new_folder,
    read_curve,
    read_facts,
    write_curve,
    write_facts,
)
from experiments.train.measure import batch_agents, win_shares
from experiments.train.progress import Display
from tollero_env.game import OptionError, Rules
from tollero_env.opponents import BatchAgent

Changes = Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="[KEY=VALUE ...]")]
_LOOK_SEED = 1 << 40


class Trainer(Protocol):
    """What a family offers to this command."""

    unit: str
    loss: float
    figures: dict[str, float]  # of the last round: what else makes a curve

    @property
    def total(self) -> int:
        """Units of the whole run."""

    @property
    def done(self) -> int:
        """Units done so far."""

    def advance(self) -> None:
        """Some of the work, a second or so."""

    def agent(self) -> BatchAgent:
        """The net as it stands, as a player."""

    def checkpoint(self, notes: dict[str, Any]) -> Checkpoint:
        """The net as agents play it."""

    def save(self, path: Path, notes: dict[str, Any]) -> None:
        """All it takes to go on."""

    def load(self, path: Path) -> dict[str, Any]:
        """Go on where `save` was called; returns its notes."""


def make_trainer(config: Config, rules: Rules, init: str | None) -> Trainer:
    """The trainer of a config's family, from the weights of a checkpoint if one is named."""
    if isinstance(config, TurnsConfig):
        from experiments.train.turns import TurnsTrainer, start_from

        if init is None:
            return TurnsTrainer(config, rules)
        path = find_checkpoint(init)
        checkpoint = read_checkpoint(path)
        check_fits(path, checkpoint, rules)
        return TurnsTrainer(config, rules, start_from(path, checkpoint, rules))
    from experiments.train.ppo import PpoTrainer  # brings torch

    if init is not None:
        raise OptionError("--init is for the family turns; ppo begins anew or is resumed")
    trainer: Trainer = PpoTrainer(config, rules)
    return trainer


@contextlib.contextmanager
def held_interrupts() -> Iterator[Callable[[], bool]]:
    """Ctrl-C waits until it is asked for, since half a round could not be gone on with; a second one does not wait."""
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield pressed.is_set
        return

    def note(number: int, frame: Any) -> None:
        pressed.set()
        os.write(2, b"\nfinishing the round; press Ctrl-C again to stop at once, without saving\n")
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)


class Run:
    """A run in its folder: saves, looks and goes on."""

    def __init__(self, folder: Path, config: Common, trainer: Trainer, rules: Rules) -> None:
        """As it stands on disk, if anything does."""
        self.folder, self.config, self.trainer, self.rules = folder, config, trainer, rules
        self.seconds = 0.0  # in earlier sittings
        self.saved: int | None = None  # units done when it was last saved
        self.rows: list[dict[str, Any]] = []
        if (folder / STATE).exists():
            notes = trainer.load(folder / STATE)
            self.seconds, self.saved = notes["seconds"], trainer.done
            self.rows = [row for row in read_curve(folder) if row["done"] <= trainer.done]
        write_curve(folder, self.rows)
        self.baselines = batch_agents(config.baselines)
        self._board: Board | None = None
        self._since = time.monotonic()

    def spent(self) -> float:
        """Seconds of training, all sittings together."""
        return self.seconds + time.monotonic() - self._since

    def save(self) -> None:
        """The net, and all it takes to go on."""
        notes = {"seconds": round(self.spent(), 1), "done": self.trainer.done, "unit": self.trainer.unit}
        write_checkpoint(self.folder / NET, self.trainer.checkpoint({**notes, "config": self.config.model_dump()}))
        self.trainer.save(self.folder / STATE, notes)
        self.saved = self.trainer.done

    def look(self) -> dict[str, Any]:
        """How strong it is: a line of the curve."""
        agent, games = self.trainer.agent(), self.config.measure_games
        shares = {
            name: float(np.mean(win_shares(self.rules, agent, other, games, _LOOK_SEED)))
            for name, other in self.baselines.items()
        }
        row = {"done": self.trainer.done, "seconds": round(self.spent(), 1), "shares": shares, "games": games}
        row["loss"] = self.trainer.loss if self.trainer.done else None
        if self._board is None:
            self._board = Board(self.folder / BOARD, self.rows[-1]["done"] + 1 if self.rows else 0)
        self._board.note(row, self.trainer.figures)
        self.rows.append(row)
        with open(self.folder / CURVE, "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        return row

    def go(self) -> None:
        """Train to the end; Ctrl-C saves and goes through."""
        trainer, config = self.trainer, self.config
        saved = looked = time.monotonic()
        display = Display(trainer.unit, trainer.total, trainer.done, config.baselines)
        with display, held_interrupts() as is_stopped:
            if not self.rows:
                display.look(self.look())
            while trainer.done < trainer.total and not is_stopped():
                trainer.advance()
                display.update(trainer.done, trainer.loss)
                now = time.monotonic()
                if trainer.done >= trainer.total or (now - looked >= config.measure_seconds and not is_stopped()):
                    display.look(self.look())
                    looked = time.monotonic()
                if now - saved >= config.save_seconds:
                    self.save()
                    saved = time.monotonic()
            self.save()
        if self._board is not None:
            self._board.close()
        if is_stopped():
            raise KeyboardInterrupt


def run_train(folder: Path, config: Config, init: str | None, first: bool) -> None:
    """Train in a folder, and report."""
    rules = config.rules()
    trainer = make_trainer(config, rules, init)
    if first:
        write_facts(folder, config, init)
    run = Run(folder, config, trainer, rules)
    begun = f"goes on after {trainer.done:,} {trainer.unit}" if trainer.done else "begins"
    print(f"{folder}: {rules.game.title}, {rules.players} players, family {config.family}, {begun}")
    try:
        run.go()
    except KeyboardInterrupt:
        kept = "nothing was saved yet"
        if run.saved is not None:
            kept = f"what was learned in {run.saved:,} {trainer.unit} is in {folder / NET}"
        print(f"{kept}; go on: python -m experiments.train --resume {folder}", file=sys.stderr)
        raise
    from experiments.train.report import finish  # brings matplotlib

    finish(folder, config, trainer.agent(), run.baselines)


def train(
    changes: Changes = (),
    *,
    config: Path | None = None,
    out: Path | None = None,
    init: str | None = None,
    resume: Path | None = None,
) -> None:
    """Train an agent.

    Args:
        changes: Settings other than those of the config, such as players=3 or seed=2; rule options as options.floors=4.
        config: A YAML file; without it, the quick run.
        out: Folder of the run; by default a new one in runs.
        init: Checkpoint whose weights are gone on from; everything else begins anew.
        resume: Folder of a run to go on with, exactly as if it had never stopped; only its length may be changed.
    """
    if resume is None:
        found = read_config(config, changes)
        run_train(new_folder(out, found), found, init, True)
        return
    if config is not None or out is not None or init is not None:
        raise OptionError("--resume goes on with a run as it was begun: it takes no --config, --out or --init")
    found, facts = read_facts(resume)
    if changes:
        found = _lengthen(found, changes)
        write_facts(resume, found, facts["init"])
    run_train(resume, found, facts["init"], False)


def _lengthen(config: Config, changes: Sequence[str]) -> Config:
    """A run's config with another length."""
    length = "games" if isinstance(config, TurnsConfig) else "steps"
    longer = read_config(None, [f"family={config.family}", *changes])
    for change in changes:
        if change.partition("=")[0] != length:
            raise OptionError(f"{change!r}: of a run that is resumed only {length} may be changed")
    return make_config({**config.model_dump(), length: getattr(longer, length)})


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line."""
    with clear_errors(ValueError, OSError):
        tyro.cli(train, prog="python -m experiments.train", description=__doc__, args=args)
