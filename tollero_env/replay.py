"""Replay files, for any game: one JSON object a game, a file of many as JSON Lines.

Each game's own part (setup, moves) is read and written by its folder; here are the frame and the checks they share.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tollero_env.files import write_beside
from tollero_env.game import NAMES, PREVIEW, Array, OptionError, Rules, get_game


class ReplayError(ValueError):
    """A replay that is damaged or breaks the rules; one line that says what, where, and what is allowed."""


class Replay(NamedTuple):
    """A game that was played: replaying `moves` from `start` gives it back."""

    rules: Rules
    start: Array  # one state, just dealt
    moves: list[int]
    end: Array  # one state
    chances: Sequence[Sequence[int]] = ()  # what chance settled after each move; without it, nothing is left to chance


def load(data: object, **material: Any) -> Replay:
    """Replay a game and check every statement in it: moves, legal sets, scores."""
    if not isinstance(data, dict):
        raise ReplayError(f"a game is a JSON object, not {shown(data)}")
    for key in ("game", "format"):
        if key not in data:
            raise ReplayError(f'"{key}" is missing')
    name = data["game"]
    if name not in NAMES + PREVIEW:
        raise ReplayError(f'"game" is {shown(name)}; allowed: {", ".join(NAMES)}')
    game = get_game(name)
    wanted = f"{name}-replay/1"
    if data["format"] != wanted:
        raise ReplayError(f'"format" is {shown(data["format"])}; allowed: {wanted}')
    given = {key: value for key, value in material.items() if value is not None}
    if unknown := [key for key in given if key not in game.defaults]:
        raise ReplayError(f"{game.title} has no {unknown[0]} to give")
    try:
        replay: Replay = game.from_json(data, **given)
    except OptionError as error:
        raise ReplayError(str(error)) from error
    return replay


def read(path: str | os.PathLike[str]) -> Iterator[tuple[int, object]]:
    """The games of a file with their numbers, from 1. One object over many lines is a file of one game."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ReplayError(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ReplayError(f"{path}: not UTF-8 text (byte {error.start})") from error
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        raise ReplayError(f"{path}: no game in this file")
    if not any(_is_json(line) for _, line in lines[:2]):
        lines = [(1, text)]
    for game, (number, line) in enumerate(lines, 1):
        try:
            data = _parse(line)
        except json.JSONDecodeError as error:
            at = f"line {number + error.lineno - 1}, column {error.colno}"
            raise ReplayError(f"{path}: game {game}: not JSON: {error.msg} ({at})") from error
        except ValueError as error:
            raise ReplayError(f"{path}: game {game}: not JSON: {error}") from error
        yield game, data


def write(path: str | os.PathLike[str], games: Iterable[dict[str, Any]]) -> int:
    """Write games as JSON Lines, beside the path and then renamed; returns how many."""
    count = 0
    with write_beside(path) as file:
        for game in games:
            file.write(json.dumps(game, ensure_ascii=False) + "\n")
            count += 1
    return count


def _is_json(line: str) -> bool:
    try:
        _parse(line)
    except ValueError:
        return False
    return True


def _parse(text: str) -> Any:
    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        data = dict(items)
        if len(data) < len(items):
            keys = [key for key, _ in items]
            raise ValueError(f"key {next(shown(key) for key in keys if keys.count(key) > 1)} comes twice")
        return data

    def constant(name: str) -> None:
        raise ValueError(f"{name} is no number")

    try:
        return json.loads(text, object_pairs_hook=pairs, parse_constant=constant)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


# ---- what the games' readers share: each raises ReplayError, `where` begins the message


def check_keys(data: dict[str, Any], required: Iterable[str], optional: Iterable[str] = (), where: str = "") -> None:
    """Refuse unknown and missing keys."""
    required, allowed = list(required), [*required, *optional]
    for key in data:
        if key not in allowed:
            raise ReplayError(f"{where}unknown key {shown(key)}; allowed: {', '.join(allowed)}")
    for key in required:
        if key not in data:
            raise ReplayError(f'{where}"{key}" is missing')


def check_list(value: object, name: str, length: int | None = None, where: str = "") -> list[Any]:
    """A list, of that length."""
    if not isinstance(value, list):
        raise ReplayError(f'{where}"{name}" is {shown(value)}, not a list')
    if length is not None and len(value) != length:
        raise ReplayError(f'{where}"{name}" has {len(value)} entries, not {length}')
    return value


def check_object(value: object, name: str, where: str = "") -> dict[str, Any]:
    """A JSON object."""
    if not isinstance(value, dict):
        raise ReplayError(f'{where}"{name}" is {shown(value)}, not an object')
    return value


def check_whole(value: object, name: str, allowed: range, where: str = "") -> int:
    """A whole number in the range; true is none."""
    if type(value) is not int or value not in allowed:
        raise ReplayError(f'{where}"{name}" is {shown(value)}, not a whole number from {allowed[0]} to {allowed[-1]}')
    return value


def check_legal(given: object, legal: set[Any], read_entry: Callable[[object], Any], where: str) -> None:
    """Is the list of legal choices in a replay the one the rules give? Any order, no duplicates."""
    entries = [read_entry(entry) for entry in check_list(given, "legal", where=where)]
    if len(set(entries)) < len(entries):
        twice = next(entry for entry in entries if entries.count(entry) > 1)
        raise ReplayError(f'{where}"legal" has {_plain(twice)} twice')
    if extra := set(entries) - legal:
        raise ReplayError(f'{where}"legal" has {_plain(min(extra))}, which is not legal')
    if missing := legal - set(entries):
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise ReplayError(f'{where}"legal" lacks {_plain(min(missing))}{more}')


def check_scores(given: object, scores: list[int]) -> None:
    """Are the final scores the ones the rules give?"""
    if check_list(given, "scores") != scores or any(type(score) is not int for score in check_list(given, "scores")):
        raise ReplayError(f'"scores" is {shown(given)}; the rules give {scores}')


def _plain(entry: Any) -> str:
    return json.dumps(entry)


def shown(value: object) -> str:
    """A value out of a file, short enough for a line."""
    try:
        text = json.dumps(value, ensure_ascii=True)
    except RecursionError:
        text = "something nested deeply"
    return text if len(text) <= 60 else text[:57] + "..."
