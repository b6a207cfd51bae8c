"""A board and the rule options, resolved into the one record that the kernels read."""

import functools
import hashlib
import os
from typing import Any

import numpy as np

from tollero_env.game import Array, OptionError, check_choice
from tollero_env.games.talo.boards import GREEN, NO_START, TABLE, Board, fields_of, load_board
from tollero_env.games.talo.constants import (
    MOST_SHARED,
    NUM_BLOCKS,
    REACH,
    ROW,
    SYMMETRIC,
    THREE_FEET,
    TOP,
    VERSION,
    WIDTH,
)
from tollero_env.games.talo.state import TABLES

DEFAULTS = {"board": "green", "starts": "free", "collapse": "illegal", "variant": "talo", "goal": "free"}
# Turns in which nothing can be built are few: each fails with a chance of at most 0.9 ** 3. A game with more decisions
# than this has a chance below 10 ** -100.
_LONGEST = 4000


def make_tables(
    players: int = 2,
    board: str | os.PathLike[str] | Board = "green",
    starts: str = "free",
    collapse: str = "illegal",
    variant: str = "talo",
    goal: str = "free",
) -> tuple[Array, Board]:
    """The tables of a game and its board; a wrong option gets one clear error."""
    check_choice("starts", starts, ("free", "symmetric"))
    check_choice("collapse", collapse, ("illegal", "lose"))
    check_choice("variant", variant, ("talo", "fantasy"))
    check_choice("goal", goal, ("free", "three-feet"))
    if not isinstance(board, str | os.PathLike | Board):
        raise OptionError(f"option board: {board!r} is not the name of a board or the path of a TOML file")
    fields = board if isinstance(board, Board) else load_board(board)
    if variant != "fantasy":
        if fields.name == TABLE and not fields.rows:
            raise OptionError('option board: "table" needs variant "fantasy"')
        if goal != "free":
            raise OptionError(f'option goal: "{goal}" needs variant "fantasy"')
        _check_starts(players, fields, starts)
    return _make_tables(players, fields, starts, collapse, variant, goal), fields


def _check_starts(players: int, board: Board, starts: str) -> None:
    """S1: there is room for every pawn."""
    fields = fields_of(board, GREEN)
    if len(fields) < players:
        raise OptionError(f"option board: {board.name} has {len(fields)} fields to start on (#), for {players} players")
    if starts == "symmetric":
        for place in SYMMETRIC[:players]:
            if place not in fields:
                raise OptionError(
                    f"option starts: on board {board.name} nobody may start at {place}, as symmetric asks"
                )


@functools.lru_cache(maxsize=64)
def _make_tables(players: int, board: Board, starts: str, collapse: str, variant: str, goal: str) -> Array:
    tables = np.zeros(1, TABLES)
    record = tables[0]
    record["num_players"], record["fantasy"] = players, variant == "fantasy"
    record["may_fall"] = variant == "fantasy" or collapse == "lose"
    record["three_feet"] = goal == "three-feet"
    record["max_feet"] = THREE_FEET if goal == "three-feet" else NUM_BLOCKS
    if board.rows:
        record["ground"] = _rows_of(board, GREEN + NO_START)
        record["start"] = _rows_of(board, GREEN)
    else:
        record["ground"] = np.full(WIDTH, ROW, np.uint32)
    record["has_symmetric"] = starts == "symmetric" and variant != "fantasy"
    if record["has_symmetric"]:
        for seat, (x, y) in enumerate(SYMMETRIC[:players]):
            record["symmetric"][seat] = (y + REACH) * WIDTH + x + REACH
    digest = hashlib.sha256(bytes([VERSION]) + tables.tobytes()).digest()
    record["digest"] = np.frombuffer(digest[:8], np.uint64)[0]
    return tables


def _rows_of(board: Board, letters: str) -> Any:
    rows = np.zeros(WIDTH, np.uint32)
    for x, y in fields_of(board, letters):
        rows[y + REACH] |= np.uint32(1 << (x + REACH))
    return rows


def longest_game(tables: Array) -> int:
    """No game has more decisions, but for a chance that is as good as none: turns without a block have no limit."""
    return _LONGEST


def score_bounds(tables: Array) -> tuple[int, int]:
    """Levels, or what Fantasy counts."""
    record = tables[0]
    return 0, MOST_SHARED if record["fantasy"] and not record["three_feet"] else TOP
