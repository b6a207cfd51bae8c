"""Files are written beside and renamed: nobody ever sees half of one."""

import contextlib
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import IO


@contextlib.contextmanager
def write_beside(path: str | os.PathLike[str]) -> Iterator[IO[str]]:
    """A text file to write that takes the place of `path` at the end, unless something went wrong."""
    target = Path(path)
    if target.exists() and not target.is_file():
        raise OSError(f"{path}: not a regular file, so it is not written")  # renaming would replace a device
    beside = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}")
    try:
        with open(beside, "w", encoding="utf-8", newline="\n") as file:
            yield file
        os.replace(beside, target)
    except OSError as error:
        raise OSError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        with contextlib.suppress(OSError):  # most often it was renamed, or never made
            beside.unlink()
