"""Files are written beside and renamed: nobody ever sees half of one."""

import contextlib
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import IO


@contextlib.contextmanager
def beside(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path to write to, whose file takes the place of `path` at the end, unless something went wrong."""
    target = Path(path)
    if target.exists() and not target.is_file():
        raise OSError(f"{path}: not a regular file, so it is not written")  # renaming would replace a device
    neighbour = target.with_name(f".{uuid.uuid4().hex[:12]}{target.suffix}")
    try:
        yield neighbour
        os.replace(neighbour, target)
    except OSError as error:
        raise OSError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        with contextlib.suppress(OSError):  # most often it was renamed, or never made
            neighbour.unlink()


@contextlib.contextmanager
def write_beside(path: str | os.PathLike[str]) -> Iterator[IO[str]]:
    """A text file to write, in the same way."""
    with beside(path) as neighbour, open(neighbour, "w", encoding="utf-8", newline="\n") as file:
        yield file
