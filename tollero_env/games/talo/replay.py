"""Talō's part of a replay file: between (start, moves, rolls) and JSON."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tollero_env.game import Array, Rules, get_rules
from tollero_env.games.talo import protocol
from tollero_env.games.talo.boards import TABLE, Board, board_names, check_rows, load_board
from tollero_env.games.talo.constants import (
    AXES,
    BLOCKED,
    BUILDING,
    CELLS,
    DONE,
    END,
    FALLEN,
    FIELD,
    HEIGHT,
    MAX_LEGAL,
    MAX_LENGTH,
    PICK,
    REACH,
    SIDE,
    STARTING,
    STAY,
    TAKE,
    TAKING,
    TOP,
    UPRIGHT,
    WALK,
)
from tollero_env.games.talo.notation import at_cell, cell_at, lengths_of, parse_move
from tollero_env.games.talo.state import SETUP, STATE
from tollero_env.replay import (
    Replay,
    ReplayError,
    check_keys,
    check_legal,
    check_list,
    check_object,
    check_scores,
    check_whole,
    shown,
)

_KEYS = ("format", "game", "players", "options", "setup", "moves", "scores", "winner")
_OPTIONS = ("collapse", "starts", "variant", "goal")
_AT = range(-REACH, SIDE + REACH)
_OWN_KEYS = {
    "start": ("at",),
    "restart": ("at",),
    "stay": (),
    "roll": ("value",),
    "take": ("lengths",),
    "place": ("length", "at", "axis"),
    "move": ("to",),
    "end": (),
}
_KINDS = {
    STARTING: ("start",),
    BLOCKED: ("restart", "stay"),
    TAKING: ("take",),
    BUILDING: ("place", "move"),
    DONE: ("move", "end"),
}

# ---- writing


def to_json(
    rules: Rules, start: Array, moves: list[int], legal: bool = False, chances: Sequence[Sequence[int] | None] = ()
) -> dict[str, Any]:
    """The replay of a game from `start[0]` on; with whole legal sets on request.

    `chances` has the rolls that follow each move, where they were given; others come from the state's generator.
    """
    states, entries, given = start[:1].copy(), _first_roll(start[0]), dict(enumerate(chances))
    choice = None
    for number, move in enumerate(moves):
        state = states[0]
        if legal and not move < WALK:  # the choice of a cell belongs to that of its block
            choice = _legal_json(rules, states)
        if not PICK <= move < TAKE:
            entry = {"player": int(state["player"]), **_move_entry(state, move)}
            entries.append({**entry, "legal": choice} if legal else entry)
        protocol.act(states, 0, rules.tables, move)
        entries += _rolls(rules, states, given.get(number))
    return {
        "format": "talo-replay/1",
        "game": "talo",
        "players": rules.players,
        "options": {name: rules.options[name] for name in _OPTIONS},
        "setup": {"board": board_json(rules.material)},
        "moves": entries,
        "scores": _final_scores(rules, states),
        "winner": _winners(rules, states),
    }


def board_json(board: Board) -> str | list[str]:
    """The name of a board that needs no file, or the rows of one that does."""
    return board.name if board.is_shipped else list(board.rows)


def _first_roll(state: Any) -> list[dict[str, Any]]:
    """In Fantasy the die has been rolled before the first decision; on an empty table no roll fails."""
    return [{"player": 0, "type": "roll", "value": int(state["die"])}] if state["die"] else []


def _rolls(rules: Rules, states: Array, values: Sequence[int] | None) -> list[dict[str, Any]]:
    """Settle what is due, by these values or by the generator."""
    entries, rest = [], None if values is None else list(values)
    while states[0]["chance"] and (rest is None or rest):
        value = int(protocol.next_roll(states, 0)) if rest is None else rest.pop(0)
        entries.append({"player": int(states[0]["player"]), "type": "roll", "value": value})
        protocol.chance(states, 0, rules.tables, value)
    return entries


def _move_entry(state: Any, move: int) -> dict[str, Any]:
    if move < WALK:
        length, axis = int(state["picked_length"]), AXES[int(state["picked_axis"])]
        return {"type": "place", "length": length, "at": list(at_cell(move)), "axis": axis}
    if move < FIELD:
        return {"type": "move", "to": _top(move)}
    if move < PICK:
        return {"type": "start" if state["stage"] == STARTING else "restart", "at": list(at_cell(move - FIELD)[:2])}
    if move < STAY:
        return {"type": "take", "lengths": lengths_of(move - TAKE)}
    return {"type": "stay" if move == STAY else "end"}


def _top(move: int) -> list[int]:
    x, y, z = at_cell(move - WALK)
    return [x, y, z + 1]


def _legal_json(rules: Rules, states: Array) -> Any:
    """What could stand in this move's place."""
    buffer, stage = np.zeros(MAX_LEGAL, np.int64), states[0]["stage"]
    if stage in (BUILDING, DONE):
        return legal_choice(rules, states)
    number = protocol.moves(states, 0, rules.tables, buffer)
    found = [int(move) for move in buffer[:number]]
    if stage == TAKING:
        return [lengths_of(move - TAKE) for move in found]
    return [list(at_cell(move - FIELD)[:2]) for move in found if move < PICK]


def legal_choice(rules: Rules, states: Array) -> dict[str, Any]:
    """Every placement, every place the pawn can go to, and whether the turn may end."""
    buffer = np.zeros(6 * CELLS, np.int64)
    number = protocol.placements(states, 0, rules.tables, buffer)
    places = [_place(int(code)) for code in buffer[:number]]
    number = protocol.pawn_moves(states, 0, rules.tables, buffer)
    tops = [_top(int(move)) for move in buffer[:number]]
    return {"place": places, "move": tops, "end": bool(states[0]["stage"] == DONE)}


def _place(code: int) -> list[Any]:
    pick, cell = divmod(code, CELLS)
    return [pick // 3 + 1, *at_cell(cell), AXES[pick % 3]]


def _final_scores(rules: Rules, states: Array) -> list[int]:
    points = np.zeros(rules.players, np.int64)
    protocol.scores(states, 0, rules.tables, points)
    return [int(score) for score in points]


def _winners(rules: Rules, states: Array) -> list[int]:
    """The winning seats; in Fantasy all, if nothing fell; none before the end."""
    if not states[0]["over"]:
        return []
    if rules.tables["fantasy"][0]:
        return [] if states[0]["ending"] == FALLEN else list(range(rules.players))
    shares = np.zeros(rules.players)
    protocol.outcome(states, 0, rules.tables, shares)
    return [seat for seat in range(rules.players) if shares[seat] > 0]


# ---- reading


def from_json(data: dict[str, Any], board: str | None = None) -> Replay:
    """Replay the game and check all it says; `board` is the path of the board that the game names by its rows."""
    check_keys(data, _KEYS, ("meta",))
    players = check_whole(data["players"], "players", range(2, 5))
    options = check_object(data["options"], "options")
    check_keys(options, (), _OPTIONS, 'in "options": ')
    rules = get_rules("talo", players, board=_read_board(data["setup"], board), **options)
    states = np.zeros(1, STATE)
    protocol.deal(states, 0, rules.tables, np.zeros(1, SETUP))
    start = None if states[0]["chance"] else states.copy()
    moves: list[int] = []
    chances: list[list[int]] = []
    for number, entry in enumerate(check_list(data["moves"], "moves"), 1):
        where = f"move {number}: "
        if not isinstance(entry, dict):
            raise ReplayError(f"{where}a move is an object, not {shown(entry)}")
        if states[0]["chance"]:
            value = _read_roll(states[0], entry, where)
            protocol.chance(states, 0, rules.tables, value)
            if start is None:
                start = states.copy()
            else:
                chances[-1].append(value)
            continue
        for move in _read_move(rules, states, entry, where):
            moves.append(move)
            chances.append([])
            protocol.act(states, 0, rules.tables, move)
    if not states[0]["over"]:
        due = "a roll" if states[0]["chance"] else "another decision"
        raise ReplayError(f"the game is not over after move {len(data['moves'])}: {due} is due")
    check_scores(data["scores"], _final_scores(rules, states))
    winners = _winners(rules, states)
    if sorted(check_list(data["winner"], "winner"), key=repr) != winners:
        raise ReplayError(f'"winner" is {shown(data["winner"])}; the rules give {winners}')
    return Replay(rules, states.copy() if start is None else start, moves, states, chances)


def _read_board(data: object, path: str | None) -> str | Board:
    given = check_object(data, "setup")
    check_keys(given, ("board",), where='in "setup": ')
    named = given["board"]
    if isinstance(named, str):
        if named not in board_names():
            raise ReplayError(
                f'in "setup": "board" is {shown(named)}; allowed: {", ".join(board_names())}, or ten rows'
            )
        return named
    board = Board("rows of the replay", check_rows(named, 'in "setup"'))
    if path is not None:
        given_board = load_board(path)
        if given_board.name == TABLE or given_board.rows != board.rows:
            raise ReplayError('in "setup": "board" has other rows than the given board')
        return given_board
    return board


def _read_roll(state: Any, entry: dict[str, Any], where: str) -> int:
    if entry.get("type") != "roll":
        raise ReplayError(f'{where}"type" is {shown(entry.get("type"))}; the rules ask for roll')
    check_keys(entry, ("player", "type", "value"), where=where)
    _check_player(state, entry, where)
    return check_whole(entry["value"], "value", range(1, MAX_LENGTH + 1), where)


def _check_player(state: Any, entry: dict[str, Any], where: str) -> None:
    if type(entry["player"]) is not int or entry["player"] != state["player"]:
        raise ReplayError(f'{where}"player" is {shown(entry["player"])}; it is the turn of {int(state["player"])}')


def _read_move(rules: Rules, states: Array, entry: dict[str, Any], where: str) -> list[int]:
    """The moves of an entry (a placement is two), which must be legal here, as must all else it says."""
    state = states[0]
    if state["over"]:
        raise ReplayError(f"{where}the game is already over")
    kinds, kind = _KINDS[int(state["stage"])], entry.get("type")
    if kind not in kinds:
        raise ReplayError(f'{where}"type" is {shown(kind)}; the rules ask for {" or ".join(kinds)}')
    has_legal = () if kind == "stay" and "legal" not in entry else ("legal",)
    check_keys(entry, ("player", "type", *_OWN_KEYS[str(kind)]), has_legal, where)
    _check_player(state, entry, where)
    moves = _find_moves(rules, states, str(kind), entry, where)
    if "legal" in entry:
        _check_legal_sets(rules, states, entry["legal"], where)
    return moves


def _find_moves(rules: Rules, states: Array, kind: str, entry: dict[str, Any], where: str) -> list[int]:
    if kind in ("start", "restart"):
        x, y = (check_whole(number, "at", range(SIDE), where) for number in check_list(entry["at"], "at", 2, where))
        move, words = FIELD + cell_at(x, y, 0), f"{kind} {shown(entry['at'])}"
    elif kind == "take":
        lengths = _read_lengths(entry["lengths"], where)
        move, words = parse_move(rules, states, 0, "take " + "+".join(map(str, lengths))), f"take {lengths}"
    elif kind == "move":
        x, y, level = _read_place(entry["to"], "to", where)
        if level == 0:
            raise ReplayError(f"{where}a pawn never moves to level 0")
        move, words = WALK + cell_at(x, y, level - 1), f"move {shown(entry['to'])}"
    elif kind == "place":
        return _find_placement(rules, states, entry, where)
    else:
        move, words = STAY if kind == "stay" else END, kind
    if not protocol.is_legal(states, 0, rules.tables, move):
        raise ReplayError(f"{where}{words} is not legal; allowed: {_some(rules, states)}")
    return [move]


def _some(rules: Rules, states: Array) -> str:
    legal = _legal_json(rules, states)
    if isinstance(legal, dict):
        legal = legal["move"]
    more = f" and {len(legal) - 3} more" if len(legal) > 3 else ""
    return ", ".join(shown(one) for one in legal[:3]) + more if legal else "nothing"


def _find_placement(rules: Rules, states: Array, entry: dict[str, Any], where: str) -> list[int]:
    length, at, axis = _read_block([entry["length"], *_read_place(entry["at"], "at", where), entry["axis"]], where)
    words = f"place {shown([length, *at, axis])} is not legal: "
    if length not in states[0]["hand"]:
        hand = [int(one) for one in states[0]["hand"] if one]
        raise ReplayError(f"{where}{words}the blocks in hand are {hand}")
    number, cell = AXES.index(axis), cell_at(*at)
    problem = protocol.find_problem(states, 0, rules.tables, length, number, cell)
    if problem:
        first = "it would not stand, or leave no legal place for the other block"
        second = "it would not stand"
        reasons = {1: "there is no room, or nothing to rest on", 2: first if states[0]["hand"][1] else second}
        raise ReplayError(f"{where}{words}{reasons[int(problem)]}")
    return [PICK + 3 * (length - 1) + number, cell]


def _read_lengths(value: object, where: str) -> list[int]:
    lengths = check_list(value, "lengths", where=where)
    for length in lengths:
        check_whole(length, "lengths", range(1, MAX_LENGTH + 1), where)
    if len(lengths) not in (1, 2) or sum(lengths) > MAX_LENGTH or sorted(lengths, reverse=True) != lengths:
        raise ReplayError(f'{where}"lengths" is {shown(value)}: one or two blocks, the larger first, at most 10 in all')
    return lengths


def _read_place(value: object, name: str, where: str) -> tuple[int, int, int]:
    x, y, z = check_list(value, name, 3, where)
    top = TOP if name == "to" else HEIGHT - 1
    check_whole(x, name, _AT, where), check_whole(y, name, _AT, where), check_whole(z, name, range(top + 1), where)
    return x, y, z


def _read_block(value: list[Any], where: str) -> tuple[int, tuple[int, int, int], str]:
    """(length, cell, axis) of [length, x, y, z, axis]."""
    length, *at, axis = value
    check_whole(length, "length", range(1, MAX_LENGTH + 1), where)
    if not isinstance(axis, str) or len(axis) != 1 or axis not in AXES:
        raise ReplayError(f'{where}"axis" is {shown(axis)}; allowed: {", ".join(AXES)}')
    if length == 1 and axis != AXES[UPRIGHT]:
        raise ReplayError(f'{where}"axis" is {shown(axis)}; a block of length 1 is written with "z"')
    return length, _read_place(at, "at", where), axis


def _check_legal_sets(rules: Rules, states: Array, given: object, where: str) -> None:
    """Is `legal` the whole set?"""
    legal = _legal_json(rules, states)
    if not isinstance(legal, dict):
        check_legal(given, {tuple(one) for one in legal}, lambda one: _read_numbers(one, where), where)
        return
    parts = check_object(given, "legal", where)
    check_keys(parts, ("place", "move", "end"), where=f'{where}in "legal": ')
    within = f'{where}in "legal", "place": '
    check_legal(parts["place"], {tuple(one) for one in legal["place"]}, lambda one: _read_entry(one, within), within)
    within = f'{where}in "legal", "move": '
    check_legal(parts["move"], {tuple(one) for one in legal["move"]}, lambda one: _read_numbers(one, within), within)
    if parts["end"] is not legal["end"]:
        raise ReplayError(f'{where}in "legal": "end" is {shown(parts["end"])}; the rules give {shown(legal["end"])}')


def _read_numbers(value: object, where: str) -> tuple[int, ...]:
    if not isinstance(value, list) or not value or any(type(number) is not int for number in value):
        raise ReplayError(f'{where}in "legal": {shown(value)} is not a list of whole numbers')
    return tuple(value)


def _read_entry(value: object, where: str) -> tuple[Any, ...]:
    if not isinstance(value, list) or len(value) != 5:
        raise ReplayError(f"{where}{shown(value)} is not [length, x, y, z, axis]")
    length, at, axis = _read_block(value, where)
    return (length, *at, axis)
