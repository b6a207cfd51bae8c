"""What is timed."""

from collections.abc import Callable
from typing import NamedTuple


class Case(NamedTuple):
    """Something to time: `run` does the work once and returns how many units it did."""

    name: str
    players: int
    unit: str
    run: Callable[[], float]
    peer: str = ""  # the case that its ratio is to
