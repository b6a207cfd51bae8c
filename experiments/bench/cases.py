"""What is timed."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Done(NamedTuple):
    """What a run did, when it held the clock itself: so many units in so many seconds."""

    number: float
    seconds: float


# by unit, the figure for so many units in so many seconds; of a share, both are seconds
UNITS: dict[str, Callable[[float, float], float]] = {
    "steps/s": lambda number, seconds: number / seconds,
    "sims/s": lambda number, seconds: number / seconds,
    "us/step": lambda number, seconds: seconds / number * 1e6,
    "%": lambda number, seconds: 100 * seconds / number,
}


class Case(NamedTuple):
    """Something to time: `run` does the work once and returns how many units it did."""

    name: str
    players: int
    unit: str  # of UNITS
    run: Callable[[], float | Done]
    peers: tuple[str, ...] = ()  # the cases that its ratios are to, the first one first
    facts: Mapping[str, Any] = {}  # further keys of its row
    cores: int = 1
    max_rounds: int = 1000
