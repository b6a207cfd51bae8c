"""Toscana's part of a replay file: between (start, moves) and JSON."""

from typing import Any

import numpy as np

from tollero_env.game import Array, Rules, get_rules
from tollero_env.games.toscana import protocol
from tollero_env.games.toscana.constants import (
    ALLOW,
    ASKED,
    CELLS,
    MAX_LEGAL,
    MAX_TILES,
    SEATS,
    SET_TILES,
    VETO,
)
from tollero_env.games.toscana.notation import areas_of, at_cell, mover_of, points_of, stack_of
from tollero_env.games.toscana.state import SETUP, STATE
from tollero_env.games.toscana.tiles import Tile
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

_KEYS = ("format", "game", "players", "options", "tiles", "rounds", "scores")
_ROUND_KEYS = ("starts", "stacks", "moves", "scores")
_OPTIONS = ("size", "contact", "veto", "rounds")
_ANSWERS = {"veto": VETO, "allow": ALLOW}

Choice = tuple[int, int, int]  # row, column, rotation

# ---- writing


def to_json(rules: Rules, start: Array, moves: list[int], legal: bool = False) -> dict[str, Any]:
    """The replay of a match that was dealt as `start[0]`, as far as it went; with whole legal sets on request."""
    states = start[:1].copy()
    rounds = [_round_json(rules, states)]
    for move in moves:
        entry = _move_entry(rules, states, move)
        if legal and entry["type"] == "place":
            entry["legal"] = [list(choice) for choice in legal_choices(rules, states)]
        before = states.copy()
        protocol.apply(states, 0, rules.tables, move)
        rounds[-1]["moves"] += [entry, *_passes(before[0], states[0], move)]
        if states[0]["round"] != before[0]["round"]:
            rounds.append(_round_json(rules, states))
    for number, one in enumerate(rounds):
        one["scores"] = _round_scores(rules, states, number)
    return {
        "format": "toscana-replay/1",
        "game": "toscana",
        "players": rules.players,
        "options": {name: rules.options[name] for name in _OPTIONS},
        "tiles": _tiles_json(rules),
        "rounds": rounds,
        "scores": points_of(rules, states, 0),
    }


def _tiles_json(rules: Rules) -> dict[str, list[str]]:
    return {tile.id: list(tile.rows) for tile in rules.material}


def _round_json(rules: Rules, states: Array) -> dict[str, Any]:
    """A round that is about to begin."""
    stacks = [[rules.material[tile].id for tile in stack_of(states[0], seat)] for seat in range(SEATS)]
    return {"starts": int(states[0]["starter"]), "stacks": stacks, "moves": []}


def _move_entry(rules: Rules, states: Array, move: int) -> dict[str, Any]:
    player = int(states[0]["player"])
    if move >= VETO:
        return {"player": player, "type": "veto" if move == VETO else "allow"}
    tile = rules.material[stack_of(states[0], player)[0]]
    row, column, rotation = _choice(move)
    return {"player": player, "type": "place", "tile": tile.id, "at": [row, column], "rot": rotation}


def _choice(move: int) -> Choice:
    return (*at_cell(move % CELLS), move // CELLS)


def legal_choices(rules: Rules, states: Array) -> dict[Choice, int]:
    """The places of the tile that is due, with their moves."""
    buffer = np.zeros(MAX_LEGAL, np.int64)
    number = protocol.moves(states, 0, rules.tables, buffer)
    return {_choice(int(move)): int(move) for move in buffer[:number]}


def _passes(before: Any, after: Any, move: int) -> list[dict[str, Any]]:
    """R6: the passes that followed a move of themselves."""
    is_answer = move >= VETO
    first = mover_of(before) if is_answer else 1 - int(before["player"])
    passed = int(before["passes"]) if is_answer else 0
    total = int(after["passes"])
    if after["over"] or after["round"] != before["round"]:
        is_empty = not is_answer and int(before["num_tiles"]) + 1 == MAX_TILES
        total = 0 if is_empty else 2
    return [{"player": (first + k) % SEATS, "type": "pass"} for k in range(total - passed)]


def _round_scores(rules: Rules, states: Array, number: int) -> list[int]:
    state = states[0]
    if number < state["round"] or state["over"]:
        return [int(points) for points in state["points"][number]]
    return areas_of(rules, states, 0)


# ---- reading


def from_json(data: dict[str, Any]) -> Replay:
    """Replay the match and check all it says."""
    check_keys(data, _KEYS, ("meta",))
    players = check_whole(data["players"], "players", range(SEATS, SEATS + 1))
    options = check_object(data["options"], "options")
    check_keys(options, (), _OPTIONS, 'in "options": ')
    rules = get_rules("toscana", players, **options)
    _check_tiles(rules, data["tiles"])
    rounds = check_list(data["rounds"], "rounds", int(rules.options["rounds"]))
    states = np.zeros(1, STATE)
    protocol.deal(states, 0, rules.tables, _read_setup(rules, rounds))
    start = states.copy()
    moves: list[int] = []
    for number, one in enumerate(rounds, 1):
        moves += _read_round(rules, states, one, number)
    for number, one in enumerate(rounds):
        try:
            check_scores(one["scores"], _round_scores(rules, states, number))
        except ReplayError as error:
            raise ReplayError(f"round {number + 1}: {error}") from error
    check_scores(data["scores"], points_of(rules, states, 0))
    return Replay(rules, start, moves, states)


def _check_tiles(rules: Rules, data: object) -> None:
    given, tiles = check_object(data, "tiles"), _tiles_json(rules)
    check_keys(given, tiles, where='in "tiles": ')
    for name, rows in tiles.items():
        if given[name] != rows:
            raise ReplayError(f'in "tiles": {shown(name)} is {shown(given[name])}, not {shown(rows)}')


def _read_setup(rules: Rules, rounds: list[Any]) -> Array:
    setup = np.zeros(1, SETUP)
    for number, one in enumerate(rounds):
        where = f"round {number + 1}: "
        check_keys(check_object(one, "rounds", where), _ROUND_KEYS, where=where)
        starts = check_whole(one["starts"], "starts", range(SEATS), where)
        if number == 0:
            setup[0]["starter"] = starts
        elif starts == rounds[number - 1]["starts"]:
            raise ReplayError(f'{where}"starts" is {starts}; the other player starts (rule T1)')
        for seat, stack in enumerate(check_list(one["stacks"], "stacks", SEATS, where)):
            setup[0]["stacks"][number, seat] = _read_stack(rules.material, stack, where)
    return setup


def _read_stack(tiles: tuple[Tile, ...], data: object, where: str) -> list[int]:
    ids = [tile.id for tile in tiles]
    stack = check_list(data, "stacks", SET_TILES, where)
    for name in stack:
        if name not in ids:
            raise ReplayError(f'{where}"stacks" has {shown(name)}; tiles are {ids[0]} to {ids[-1]}')
        if stack.count(name) > 1:
            raise ReplayError(f'{where}"stacks" has {shown(name)} twice in one stack')
    return [ids.index(name) for name in stack]


def _read_round(rules: Rules, states: Array, data: dict[str, Any], number: int) -> list[int]:
    """The decisions of a round; it must be the one that is due, and be played to its end."""
    entries = check_list(data["moves"], "moves", where=f"round {number}: ")
    moves: list[int] = []
    passes: list[dict[str, Any]] = []
    for place, entry in enumerate(entries, 1):
        where = f"round {number}, move {place}: "
        if not isinstance(entry, dict):
            raise ReplayError(f"{where}a move is an object, not {shown(entry)}")
        if passes:
            _check_pass(entry, passes.pop(0), where)
            continue
        if _is_past(states, number):
            raise ReplayError(f"{where}the round is already over")
        move = _read_move(rules, states, entry, where)
        before = states.copy()
        protocol.apply(states, 0, rules.tables, move)
        moves.append(move)
        passes = _passes(before[0], states[0], move)
    where = f"round {number}: after move {len(entries)}, the last, "
    if passes:
        raise ReplayError(f"{where}player {passes[0]['player']} passes (rule R6)")
    if not _is_past(states, number):
        raise ReplayError(f"{where}the round is not over: player {states[0]['player']} is to act")
    return moves


def _is_past(states: Array, number: int) -> bool:
    return bool(states[0]["over"]) or int(states[0]["round"]) >= number


def _check_pass(entry: dict[str, Any], wanted: dict[str, Any], where: str) -> None:
    _check_type(entry, ("pass",), where)
    check_keys(entry, ("player", "type"), where=where)
    _check_player(entry, wanted["player"], where)


def _check_type(entry: dict[str, Any], allowed: tuple[str, ...], where: str) -> None:
    if entry.get("type") not in allowed:
        raise ReplayError(f'{where}"type" is {shown(entry.get("type"))}; the rules ask for {" or ".join(allowed)}')


def _check_player(entry: dict[str, Any], player: int, where: str) -> None:
    if type(entry["player"]) is not int or entry["player"] != player:
        raise ReplayError(f'{where}"player" is {shown(entry["player"])}; it is the turn of {player}')


def _read_move(rules: Rules, states: Array, entry: dict[str, Any], where: str) -> int:
    """The move of an entry, which must be legal here, as must all else it says."""
    state = states[0]
    player = int(state["player"])
    if state["stage"] == ASKED:
        _check_type(entry, tuple(_ANSWERS), where)
        check_keys(entry, ("player", "type"), where=where)
        _check_player(entry, player, where)
        return _ANSWERS[entry["type"]]
    _check_type(entry, ("place",), where)
    check_keys(entry, ("player", "type", "tile", "at", "rot"), ("legal",), where)
    _check_player(entry, player, where)
    tile = rules.material[stack_of(state, player)[0]].id
    if entry["tile"] != tile:
        raise ReplayError(f'{where}"tile" is {shown(entry["tile"])}; the top of the stack is {tile}')
    size = int(rules.tables["size"][0])
    choice = _read_choice([*check_list(entry["at"], "at", 2, where), entry["rot"]], size, where)
    legal = legal_choices(rules, states)
    if choice not in legal:
        some = ", ".join(shown(list(one)) for one in sorted(legal)[:3])
        more = f" and {len(legal) - 3} more" if len(legal) > 3 else ""
        raise ReplayError(f"{where}place {shown(list(choice))} is not legal; allowed: {some}{more}")
    if "legal" in entry:
        check_legal(entry["legal"], set(legal), lambda item: _read_legal(item, size, where), where)
    return legal[choice]


def _read_legal(value: object, size: int, where: str) -> Choice:
    where += 'in "legal": '
    if not isinstance(value, list) or len(value) != 3:
        raise ReplayError(f"{where}{shown(value)} is not [row, column, rotation]")
    return _read_choice(value, size, where)


def _read_choice(value: list[Any], size: int, where: str) -> Choice:
    row, column = (check_whole(number, "at", range(size), where) for number in value[:2])
    return row, column, check_whole(value[2], "rot", range(4), where)
