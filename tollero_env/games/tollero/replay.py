"""Tollero's part of a replay file: between (start, moves) and JSON."""

from typing import Any

import numpy as np

from tollero_env.game import Array, Rules, get_rules
from tollero_env.games.tollero import protocol
from tollero_env.games.tollero.constants import (
    BUILD,
    CELLS,
    CENTRE,
    CITY_TILES,
    DOWNTOWN_TILES,
    EXPAND,
    FIRST_CITY,
    FIRST_DOWNTOWN,
    MAX_LEGAL,
    MAX_TILES,
    NO_TILE,
    STEPS,
)
from tollero_env.games.tollero.notation import at_cell, tile_id
from tollero_env.games.tollero.state import SETUP, STATE
from tollero_env.games.tollero.tiles import LOTS, TileSet, load_tileset, tileset_names
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

_KEYS = ("format", "game", "players", "tileset", "options", "setup", "moves", "scores")
_DOWNTOWN_AT = [at_cell(CENTRE + step) for step in STEPS]
_REACH = range(-MAX_TILES, MAX_TILES + 1)

# ---- writing


def to_json(rules: Rules, start: Array, moves: list[int], legal: bool = False) -> dict[str, Any]:
    """The replay of a game that was dealt as `start[0]` and played to its end; with whole legal sets on request."""
    states = start[:1].copy()
    buffer = np.zeros(MAX_LEGAL, np.int64)
    entries = []
    for move in moves:
        entry = {"player": int(states[0]["player"]), **_move_entry(rules, states, move)}
        if legal:
            number = protocol.moves(states, 0, rules.tables, buffer)
            entry["legal"] = [_choice(states[0], int(choice)) for choice in buffer[:number]]
        entries.append(entry)
        protocol.apply(states, 0, rules.tables, move)
    options = {name: rules.options[name] for name in ("downtown_scores", "floors")}
    if rules.options["downtown"] is not None:
        options["downtown"] = rules.options["downtown"]
    return {
        "format": "tollero-replay/1",
        "game": "tollero",
        "players": rules.players,
        "tileset": rules.material.name,
        "options": options,
        "setup": _setup_json(rules, start[0]),
        "moves": entries,
        "scores": _final_scores(rules, states),
    }


def _move_entry(rules: Rules, states: Array, move: int) -> dict[str, Any]:
    state = states[0]
    *at, how = _choice(state, move)
    if move < BUILD:
        return {
            "type": "expand",
            "tile": tile_id(rules, int(state["hand"][int(state["player"])])),
            "at": at,
            "rot": how,
        }
    return {"type": "build", "at": at, "lot": how}


def _choice(state: Any, move: int) -> list[Any]:
    """[x, y, rotation] or [x, y, lot]."""
    if move < BUILD:
        return [*at_cell(move % CELLS), move // CELLS]
    slot, lot = divmod(move - BUILD, 4)
    return [*at_cell(state["cell"][slot]), LOTS[lot]]


def _setup_json(rules: Rules, state: Any) -> dict[str, Any]:
    downtown = []
    for side in range(DOWNTOWN_TILES):
        face = int(state["face"][1 + side])
        letter = "AB"[(face - FIRST_DOWNTOWN) % 2]
        tile = {"tile": tile_id(rules, face), "side": letter, "rot": int(state["rotation"][1 + side])}
        downtown.append({"at": list(_DOWNTOWN_AT[side]), **tile})
    hands, pile = _dealt(state, rules.players)
    return {
        "downtown": downtown,
        "hands": [tile_id(rules, face) for face in hands],
        "pile": [tile_id(rules, face) for face in pile],
    }


def _dealt(state: Any, players: int) -> tuple[list[int], list[int]]:
    """Hands and pile, top first, as they were before the first turn put tiles away (E4)."""
    hands = [int(face) for face in state["hand"][:players]]
    pile = [int(face) for face in state["pile"][: int(state["num_pile"])][::-1]]
    gone = [int(face) for face in state["gone"][: int(state["num_gone"])]]
    if not gone:
        return hands, pile
    # seat 0 went through its hand and the pile until a tile fitted; if none did, others put their hands away too
    drawn = gone + ([hands[0]] if hands[0] != NO_TILE else [])
    drawn += pile
    hands[0], pile = drawn[0], drawn[1 : 1 + CITY_TILES - players]
    later = iter(drawn[1 + CITY_TILES - players :])
    return [face if face != NO_TILE else next(later) for face in hands], pile


def _final_scores(rules: Rules, states: Array) -> list[int]:
    points = np.zeros(rules.players, np.int64)
    protocol.scores(states, 0, rules.tables, points)
    return [int(score) for score in points]


# ---- reading


def from_json(data: dict[str, Any], tileset: str | None = None) -> Replay:
    """Replay the game and check all it says; `tileset` is the path or name of the set that the game names."""
    check_keys(data, _KEYS, ("meta",))
    players = check_whole(data["players"], "players", range(2, 5))
    options = check_object(data["options"], "options")
    check_keys(options, (), ("downtown_scores", "floors", "downtown"), 'in "options": ')
    rules = get_rules("tollero", players, tileset=_find_tileset(data["tileset"], tileset), **options)
    states = np.zeros(1, STATE)
    protocol.deal(states, 0, rules.tables, _read_setup(rules, data["setup"]))
    start = states.copy()
    moves = []
    for number, entry in enumerate(check_list(data["moves"], "moves"), 1):
        where = f"move {number}: "
        if not isinstance(entry, dict):
            raise ReplayError(f"{where}a move is an object, not {shown(entry)}")
        move = _read_move(rules, states, entry, where)
        moves.append(move)
        protocol.apply(states, 0, rules.tables, move)
    if not states[0]["over"]:
        raise ReplayError(
            f"after move {len(moves)}, the last, the game is not over: player {states[0]['player']} is to act"
        )
    check_scores(data["scores"], _final_scores(rules, states))
    return Replay(rules, start, moves, states)


def _find_tileset(name: object, given: str | None) -> TileSet:
    if given is None:
        if name not in tileset_names():
            raise ReplayError(f'"tileset" is {shown(name)}, which is not shipped; name its file with --tileset PATH')
        return load_tileset(str(name))
    tiles = load_tileset(given)
    if tiles.name != name:
        raise ReplayError(f'"tileset" is {shown(name)}, but the given set is {shown(tiles.name)}')
    return tiles


def _read_setup(rules: Rules, data: object) -> Array:
    setup = np.zeros(1, SETUP)
    given = check_object(data, "setup")
    check_keys(given, ("downtown", "hands", "pile"), where='in "setup": ')
    setup[0]["downtown"] = _read_downtown(rules, given["downtown"])
    hands = _read_tiles(rules, given["hands"], "hands", rules.players)
    pile = _read_tiles(rules, given["pile"], "pile", CITY_TILES - rules.players)
    dealt, city = sorted(hands + pile), [int(face) for face in rules.tables[0]["city"]]
    for face in dealt:
        if dealt.count(face) > city.count(face):
            allowed = f"{dealt.count(face)} times; the tile set has {city.count(face)}"
            raise ReplayError(f'in "setup": {shown(tile_id(rules, face))} is dealt {allowed}')
    setup[0]["hands"][: len(hands)] = hands
    setup[0]["pile"][: len(pile)] = pile
    return setup


def _read_tiles(rules: Rules, data: object, name: str, length: int) -> list[int]:
    where = 'in "setup": '
    faces = {tile.id: FIRST_CITY + number for number, tile in enumerate(rules.material.city)}
    tiles = check_list(data, name, length, where)
    for tile in tiles:
        if not isinstance(tile, str) or tile not in faces:
            raise ReplayError(f'{where}"{name}" has {shown(tile)}, which is no City tile of the set')
    return [faces[tile] for tile in tiles]


def _read_downtown(rules: Rules, data: object) -> list[int]:
    """face * 4 + rotation for N E S W; the entries may come in any order."""
    ids = [tile.id for tile in rules.material.downtown]
    laid: dict[int, int] = {}
    for entry in check_list(data, "downtown", DOWNTOWN_TILES, 'in "setup": '):
        where = 'in "setup", "downtown": '
        tile = check_object(entry, "downtown", where)
        check_keys(tile, ("at", "tile", "side", "rot"), where=where)
        at = _read_at(tile["at"], where)
        if at not in _DOWNTOWN_AT or _DOWNTOWN_AT.index(at) in laid:
            raise ReplayError(f'{where}"at" is {shown(tile["at"])}; each of {shown(_DOWNTOWN_AT)} has one tile')
        if tile["tile"] not in ids or tile["side"] not in ("A", "B"):
            raise ReplayError(
                f"{where}{shown(tile['tile'])}, side {shown(tile['side'])} is no Downtown tile of the set"
            )
        rotation = check_whole(tile["rot"], "rot", range(4), where)
        face = FIRST_DOWNTOWN + 2 * ids.index(tile["tile"]) + "AB".index(tile["side"])
        side = _DOWNTOWN_AT.index(at)
        table = rules.tables[0]
        number = (face - FIRST_DOWNTOWN) // 2
        if face * 4 + rotation not in table["ways"][number, side, : table["num_ways"][number, side]]:
            raise ReplayError(
                f"{where}{tile['tile']} cannot lie so at {shown(tile['at'])} (rule S2, or option downtown)"
            )
        laid[side] = face * 4 + rotation
    if len({(face_rotation // 4 - FIRST_DOWNTOWN) // 2 for face_rotation in laid.values()}) < DOWNTOWN_TILES:
        raise ReplayError('in "setup", "downtown": a tile comes twice')
    return [laid[side] for side in range(DOWNTOWN_TILES)]


def _read_at(value: object, where: str) -> tuple[int, int]:
    at = check_list(value, "at", 2, where)
    x, y = (check_whole(number, "at", _REACH, where) for number in at)
    return x, y


def _read_move(rules: Rules, states: Array, entry: dict[str, Any], where: str) -> int:
    """The move of an entry, which must be legal here, as must all else it says."""
    state = states[0]
    if state["over"]:
        raise ReplayError(f"{where}the game is already over")
    is_lay = bool(state["stage"] == EXPAND)
    kind, own_keys = ("expand", ("tile", "at", "rot")) if is_lay else ("build", ("at", "lot"))
    if entry.get("type") != kind:
        raise ReplayError(f'{where}"type" is {shown(entry.get("type"))}; the rules ask for {kind}')
    check_keys(entry, ("player", "type", *own_keys), ("legal",), where)
    if type(entry["player"]) is not int or entry["player"] != state["player"]:
        raise ReplayError(f'{where}"player" is {shown(entry["player"])}; it is the turn of {state["player"]}')
    hand = tile_id(rules, int(state["hand"][int(state["player"])]))
    if is_lay and entry["tile"] != hand:
        raise ReplayError(f'{where}"tile" is {shown(entry["tile"])}; the player holds {hand}')
    choice = (*_read_at(entry["at"], where), _read_how(entry["rot" if is_lay else "lot"], is_lay, where))
    buffer = np.zeros(MAX_LEGAL, np.int64)
    number = protocol.moves(states, 0, rules.tables, buffer)
    legal = {tuple(_choice(state, int(move))): int(move) for move in buffer[:number]}
    if choice not in legal:
        some = ", ".join(shown(list(one)) for one in sorted(legal)[:3])
        more = f" and {len(legal) - 3} more" if len(legal) > 3 else ""
        raise ReplayError(f"{where}{kind} {shown(list(choice))} is not legal; allowed: {some}{more}")
    if "legal" in entry:
        check_legal(entry["legal"], set(legal), lambda item: _read_choice(item, is_lay, where), where)
    return legal[choice]


def _read_choice(value: object, is_lay: bool, where: str) -> tuple[int, int, int | str]:
    where += 'in "legal": '
    form = f"[x, y, {'rotation' if is_lay else 'lot'}]"
    if not isinstance(value, list) or len(value) != 3:
        raise ReplayError(f"{where}{shown(value)} is not {form}")
    return *_read_at(value[:2], where), _read_how(value[2], is_lay, where)


def _read_how(value: object, is_lay: bool, where: str) -> int | str:
    if is_lay:
        return check_whole(value, "rot", range(4), where)
    if not isinstance(value, str) or value not in LOTS:
        raise ReplayError(f'{where}"lot" is {shown(value)}; allowed: {", ".join(LOTS)}')
    return value
