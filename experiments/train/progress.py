"""What a training run shows while it works: a line that lives, and one for each look at how strong it is."""

import time
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


class Display:
    """A progress bar on a terminal; plain lines elsewhere."""

    def __init__(self, unit: str, total: int, done: int, baselines: tuple[str, ...]) -> None:
        """`unit` is what is counted."""
        self.console = Console(highlight=False)
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[text]}"),
            TimeElapsedColumn(),
        )
        self._progress = Progress(
            *columns, TimeRemainingColumn(), TextColumn("left"), console=self.console, transient=True,
            disable=not self.console.is_terminal, speed_estimate_period=120,
        )  # fmt: skip
        self._task = self._progress.add_task("Training", total=total, completed=done, text="")
        self._unit, self._total, self._done, self._baselines = unit, total, done, baselines
        self._since, self._begun = time.monotonic(), done

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._progress.stop()

    @property
    def speed(self) -> float:
        """Units a second in this sitting."""
        return (self._done - self._begun) / max(time.monotonic() - self._since, 1e-9)

    def update(self, done: int, loss: float) -> None:
        """So many units are done."""
        self._done = done
        text = f"{done:,} of {self._total:,} {self._unit}, {self.speed:,.0f}/s, loss {loss:.3f}"
        self._progress.update(self._task, completed=done, text=text)

    def look(self, row: dict[str, Any]) -> None:
        """A line for a look at how strong it is."""
        wins = ", ".join(f"{name} {row['shares'][name]:.1%}" for name in self._baselines)
        left = (self._total - row["done"]) / max(self.speed, 1e-9)
        when = "done" if row["done"] >= self._total else f"{_clock(left)} left" if self.speed > 0 else "begun"
        done = f"{row['done']:>9,} {self._unit}  {self.speed:>6,.0f}/s"
        loss = "  -  " if row["loss"] is None else f"{row['loss']:.3f}"
        self.console.print(f"{_clock(row['seconds']):>7}  {done}  loss {loss}  wins: {wins}  {when}", soft_wrap=True)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"
