"""Which cores the process may use."""

import contextlib
import os
from collections.abc import Iterator


def num_cores() -> int:
    """How many there are to use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def keep_to(number: int) -> Iterator[None]:
    """Keep to so many cores meanwhile, where the system can; threads started meanwhile stay there for good."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(cores)[-number:])
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)
