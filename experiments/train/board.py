"""The curves of a run for TensorBoard: tensorboard --logdir runs."""

from pathlib import Path
from typing import Any


class Board:
    """Writes what each look at a run has found."""

    def __init__(self, folder: Path, first: int) -> None:
        """In a run's folder; what was written there for units from `first` on is no longer shown."""
        from torch.utils.tensorboard import SummaryWriter  # brings torch

        self._writer = SummaryWriter(str(folder), purge_step=first)

    def note(self, row: dict[str, Any], figures: dict[str, float]) -> None:
        """A line of the curve, and what else its trainer tells."""
        found = {f"wins/{name}": share for name, share in row["shares"].items()}
        found |= {f"training/{name}": figure for name, figure in figures.items()}
        found["time/seconds"] = row["seconds"]
        if row["loss"] is not None:
            found["training/loss"] = row["loss"]
        for name, value in found.items():
            self._writer.add_scalar(name, value, row["done"])
        self._writer.flush()

    def close(self) -> None:
        """Let the file go; a further note opens another."""
        self._writer.close()
