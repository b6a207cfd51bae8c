"""What the command lines share: rule options as text, and one clear line for what went wrong."""

import contextlib
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tollero_env.game import OptionError, Rules, get_game, get_rules

BOOLS = {"true": True, "false": False}


@contextlib.contextmanager
def clear_errors(*kinds: type[Exception]) -> Iterator[None]:
    """Errors of these kinds become one line on stderr and exit code 1; Ctrl-C and a closed pipe end quietly."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:  # as in `... show FILE | head`; nothing may be written at exit either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except kinds as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        sys.exit(130)


def rules_from_text(game: str, players: int, tileset: str | None, options: Sequence[str]) -> Rules:
    """The rules of a game from "key=value" texts, each read as the option's own type."""
    values = parse_options(game, options)
    if tileset is not None:
        if "tileset" in values:
            raise OptionError("--tileset and --option tileset=... say the same thing; give one")
        values["tileset"] = tileset
    return get_rules(game, players, **values)


def parse_options(game: str, texts: Sequence[str]) -> dict[str, Any]:
    """{"floors": 3} from ["floors=3"]."""
    defaults, values = get_game(game).defaults, {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or key in values:
            raise OptionError(f"--option {text!r} is not key=value, each key once; keys are {', '.join(defaults)}")
        values[key] = _value(key, value, defaults.get(key))
    return values


def _value(key: str, text: str, default: object) -> Any:
    if isinstance(default, bool):
        if text.lower() not in BOOLS:
            raise OptionError(f"option {key}: {text!r} is not true or false")
        return BOOLS[text.lower()]
    if isinstance(default, int):
        try:
            return int(text)
        except ValueError:
            raise OptionError(f"option {key}: {text!r} is not a whole number") from None
    return text


def interpreter() -> str:
    """What to type for this Python, in this folder."""
    own = Path(sys.executable)
    if own.is_relative_to(Path.cwd()):
        return str(own.relative_to(Path.cwd()))
    found = shutil.which("python")
    return "python" if found is not None and Path(found) == own else str(own)
