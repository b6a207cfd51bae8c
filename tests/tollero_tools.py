"""Tollero's kernel and its plain-Python twin side by side; custom tile sets; ways to steer a game."""

from __future__ import annotations

import functools
import json
import random
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.reference.tollero import (
    LOTS,
    OPPOSITE,
    SIDES,
    STEP,
    Cell,
    Move,
    Tollero,
    neighbour,
    pointed_at,
    read_face,
    turn_face,
)
from tollero_env.game import Rules, get_rules
from tollero_env.games.tollero.constants import (
    ANYWHERE,
    BUILD,
    CELLS,
    FIRST_CITY,
    FIRST_DOWNTOWN,
    MAX_LEGAL,
    MIDDLE,
    WIDTH,
)
from tollero_env.games.tollero.state import SETUP, STATE
from tollero_env.games.tollero.tiles import FOLDER, TileSetError, parse_tileset

Data = dict[str, Any]  # a tile set as TOML gives it
Choose = Callable[[Tollero, list[Move], random.Random], Move]

CITY = 54
F = "foundation"
STAGES = ("expand", "first", "second", "over")


# ---- tile sets


def face(canals: str, value: int = 2, **lots: str) -> Data:
    return {"canals": canals, "value": value, "lots": lots}


CROSS = face("NESW")
BLANK = face("")  # joins nothing, so it never fits (E2)
RICH = face("NESW", 3, NW=F, NE=F, SE="fountain:N", SW="fountain:S")  # one fountain inside, one outside


def make_set(
    *city: tuple[Data, int], downtown: tuple[Data, ...] = (RICH,), contract: Data = CROSS, filler: Data | None = None
) -> Data:
    """City faces with their copies, the filler up to 54; Downtown faces D1 A, D1 B, ... over and over."""
    tiles = [*city, (filler, CITY - sum(copies for _, copies in city))] if filler else list(city)
    faces = [downtown[k % len(downtown)] for k in range(8)]
    return {
        "name": "custom",
        "contract": contract,
        "downtown": [{"id": f"D{k + 1}", "a": faces[2 * k], "b": faces[2 * k + 1]} for k in range(4)],
        "city": [{"id": f"C{k + 1:02}", "copies": n, **one} for k, (one, n) in enumerate(tiles)],
    }


def to_toml(data: Data) -> str:
    """The tile-set file of such a dict."""

    def inline(value: Any) -> str:
        if isinstance(value, dict):
            return "{ " + ", ".join(f"{key} = {inline(item)}" for key, item in value.items()) + " }"
        return json.dumps(value)

    lines = [f"name = {inline(data['name'])}", f"contract = {inline(data['contract'])}"]
    for kind in ("downtown", "city"):
        for tile in data[kind]:
            lines += [f"[[{kind}]]", *(f"{key} = {inline(value)}" for key, value in tile.items())]
    return "\n".join(lines) + "\n"


DEFAULT: Data = tomllib.loads((FOLDER / "reconstruction.toml").read_text(encoding="utf-8"))


def _random_face(rng: random.Random, shapes: list[str], values: list[int], kinds: list[str]) -> Data:
    lots = {}
    for lot in LOTS:
        kind = rng.choice(kinds)
        if kind != "plain":
            lots[lot] = F if kind == F else f"fountain:{rng.choice(SIDES)}"
    return {"value": rng.choice(values), "canals": rng.choice(shapes), "lots": lots}


def _split_city(rng: random.Random) -> list[int]:
    """Copies that add up to 54."""
    sizes: list[int] = []
    while sum(sizes) < CITY:
        sizes.append(min(rng.choice((1, 1, 1, 2, 5, 20)), CITY - sum(sizes)))
    return sizes


def random_set(seed: int) -> Data:
    """Any valid tile set; rich ones and poor ones, each seed with a bent of its own."""
    rng = random.Random(f"tile set {seed}")
    every = ["".join(side for k, side in enumerate(SIDES) if n >> k & 1) for n in range(16)]
    while True:
        shapes = [rng.choice(every[rng.choice((0, 1)) :]) for _ in range(rng.randint(1, 8))]
        values = rng.choices(range(10), k=rng.randint(1, 5))
        kinds = rng.choices([F, "fountain", "plain"], weights=rng.choice([(1, 1, 1), (4, 2, 1), (1, 6, 3)]), k=6)
        city = [(_random_face(rng, shapes, values, kinds), copies) for copies in _split_city(rng)]
        downtown = tuple(_random_face(rng, shapes, values, kinds) for _ in range(8))
        odd_contract = _random_face(rng, every, list(range(10)), ["plain", F, "fountain"])
        data = make_set(*city, downtown=downtown, contract=rng.choice((CROSS, odd_contract)))
        try:
            parse_tileset(to_toml(data), "random set")
        except TileSetError:  # this Downtown cannot be laid
            continue
        return data


# ---- the two side by side


@functools.lru_cache(maxsize=64)
def _rules(text: str, players: int, options: tuple[tuple[str, Any], ...]) -> Rules:
    return get_rules("tollero", players, tileset=parse_tileset(text, "test"), **dict(options))


def rules_for(data: Data, players: int, **options: Any) -> Rules:
    return _rules(to_toml(data), players, tuple(sorted(options.items())))


def city_ids(data: Data) -> list[str]:
    """The id of every City tile, once for each copy."""
    return [tile["id"] for tile in data["city"] for _ in range(tile.get("copies", 1))]


def downtown_ways(data: Data, tile: Data, side: str) -> list[tuple[str, int]]:
    """S2: (face, rotation) in which a Downtown tile matches that side of the contract."""
    wet = side in data["contract"]["canals"]
    ways = [(letter, rot) for letter in "AB" for rot in range(4)]
    return [
        (letter, rot)
        for letter, rot in ways
        if (OPPOSITE[side] in turn_face(read_face(tile[letter.lower()]), rot).canals) == wet
    ]


def draw_downtown(data: Data, rng: random.Random) -> str:
    """Some arrangement, as the option `downtown` writes it."""
    while True:
        tiles = rng.sample(data["downtown"], 4)
        ways = [downtown_ways(data, tile, side) for tile, side in zip(tiles, SIDES)]
        if all(ways):
            laid = [(tile["id"], *rng.choice(fitting)) for tile, fitting in zip(tiles, ways)]
            return " ".join(f"{name}:{letter}:{rot}" for name, letter, rot in laid)


def make_setup(downtown: str, tiles: list[str], players: int) -> Data:
    """A replay's setup: Downtown for N E S W, then hands and pile off the top."""
    laid = []
    for word, side in zip(downtown.split(), SIDES):
        name, letter, rot = word.split(":")
        laid.append({"at": list(STEP[side]), "tile": name, "side": letter, "rot": int(rot)})
    return {"downtown": laid, "hands": tiles[:players], "pile": tiles[players:]}


def draw_setup(data: Data, players: int, rng: random.Random, downtown: str | None = None) -> Data:
    tiles = city_ids(data)
    rng.shuffle(tiles)
    return make_setup(downtown or draw_downtown(data, rng), tiles, players)


def setup_record(data: Data, setup: Data) -> np.ndarray:
    """The same for the kernel."""
    city = {tile["id"]: FIRST_CITY + k for k, tile in enumerate(data["city"])}
    downtown = {tile["id"]: FIRST_DOWNTOWN + 2 * k for k, tile in enumerate(data["downtown"])}
    record = np.zeros(1, SETUP)
    for k, one in enumerate(setup["downtown"]):
        record[0]["downtown"][k] = (downtown[one["tile"]] + "AB".index(one["side"])) * 4 + one["rot"]
    record[0]["hands"][: len(setup["hands"])] = [city[tile] for tile in setup["hands"]]
    record[0]["pile"][: len(setup["pile"])] = [city[tile] for tile in setup["pile"]]
    return record


class Pair:
    """One game, in the kernel (states[0]) and in the twin."""

    def __init__(self, data: Data, rules: Rules, states: np.ndarray, setup: Data) -> None:
        self.data, self.rules, self.states = data, rules, states
        names = ("floors", "downtown_scores")
        self.twin = Tollero(data, rules.players, setup, {name: rules.options[name] for name in names})
        self.buffer = np.zeros(MAX_LEGAL, np.int64)

    def kernel_moves(self) -> dict[Move, int]:
        """The kernel's legal moves, by the twin's name."""
        n = self.rules.game.moves(self.states, 0, self.rules.tables, self.buffer)
        moves = {name_move(self.states, int(move)): int(move) for move in self.buffer[:n]}
        assert len(moves) == n, "a move is listed twice"
        return moves

    def play(self, move: Move, number: int) -> None:
        self.rules.game.apply(self.states, 0, self.rules.tables, number)
        self.twin.play(move)


def deal_pair(data: Data, players: int, rng: random.Random, **options: Any) -> Pair:
    """A setup drawn here and dealt to both."""
    setup = draw_setup(data, players, rng, options.get("downtown"))
    return deal_setup(data, players, setup, **options)


def deal_setup(data: Data, players: int, setup: Data, **options: Any) -> Pair:
    rules = rules_for(data, players, **options)
    states = np.zeros(1, STATE)
    rules.game.deal(states, 0, rules.tables, setup_record(data, setup))
    return Pair(data, rules, states, setup)


def reset_pair(data: Data, players: int, seed: int, **options: Any) -> Pair:
    """A setup drawn by the kernel; the twin gets it from the replay."""
    rules = rules_for(data, players, **options)
    states = np.zeros(1, STATE)
    rules.game.reset(states, 0, rules.tables, seed)
    return Pair(data, rules, states, rules.game.to_json(rules, states, [])["setup"])


def name_cell(cell: int) -> Cell:
    return cell % WIDTH - MIDDLE, cell // WIDTH - MIDDLE


def name_move(states: np.ndarray, move: int) -> Move:
    if move < BUILD:
        return ("expand", *name_cell(move % CELLS), move // CELLS)
    slot, lot = divmod(move - BUILD, 4)
    return ("build", *name_cell(int(states["cell"][0, slot])), LOTS[lot])


def _tile_name(data: Data, number: int) -> tuple[str, str]:
    """Id and side of a face by its number."""
    if number == 0:
        return "contract", ""
    if number < FIRST_CITY:
        return data["downtown"][(number - FIRST_DOWNTOWN) // 2]["id"], "AB"[(number - FIRST_DOWNTOWN) % 2]
    return data["city"][number - FIRST_CITY]["id"], ""


def _city_names(data: Data, numbers: list[int]) -> list[str]:
    return [_tile_name(data, number)[0] for number in numbers]


def kernel_table(data: Data, states: np.ndarray) -> Data:
    """The kernel's state in the twin's terms (see Tollero.table)."""
    state = {name: states[name][0].tolist() for name in STATE.names or ()}
    slots = range(state["num_tiles"])
    order = [name_cell(state["cell"][slot]) for slot in slots]
    tiles = {order[slot]: (*_tile_name(data, state["face"][slot]), state["rotation"][slot]) for slot in slots}
    buildings = {
        (*order[slot], LOTS[lot]): (one >> 5, one & 31)
        for slot in slots
        for lot, one in enumerate(state["building"][slot])
        if one
    }
    players = state["num_players"]
    return {
        "tiles": tiles,
        "order": order,
        "buildings": buildings,
        "floors_left": state["floors_left"][:players],
        "hands": [_tile_name(data, hand)[0] if hand else None for hand in state["hand"][:players]],
        "pile": _city_names(data, state["pile"][: state["num_pile"]][::-1]),
        "gone": _city_names(data, state["gone"][: state["num_gone"]]),
        "player": state["player"],
        "stage": STAGES[state["stage"]],
        "over": bool(state["over"]),
        "last": None if state["origin"] == ANYWHERE else order[state["origin"]],
    }


def twin_table(twin: Tollero) -> Data:
    """The twin's, with seat 0 to act once the game is over, as the kernel has it."""
    table = twin.table()
    return {**table, "player": 0} if twin.over else table


def as_twin(pair: Pair, states: np.ndarray) -> Tollero:
    """A twin that shows a state of the kernel whose tiles lie as in the pair's game."""
    twin, table = pair.twin.copy(), kernel_table(pair.data, states)
    assert (table.pop("order"), table.pop("over")) == (list(twin.tiles), table["stage"] == "over")
    for name, value in table.items():
        setattr(twin, name, value)
    return twin


def kernel_scores(pair: Pair) -> list[int]:
    points = np.zeros(pair.rules.players, np.int64)
    pair.rules.game.scores(pair.states, 0, pair.rules.tables, points)
    return points.tolist()


def kernel_outcome(pair: Pair) -> list[float]:
    shares = np.zeros(pair.rules.players)
    pair.rules.game.outcome(pair.states, 0, pair.rules.tables, shares)
    return shares.tolist()


def difference(pair: Pair) -> str:
    """What kernel and twin disagree about, the legal moves and the scores included; "" if nothing."""
    ours, theirs = kernel_table(pair.data, pair.states), twin_table(pair.twin)
    found = [f"{key}: kernel {ours[key]}, twin {theirs[key]}" for key in theirs if ours[key] != theirs[key]]
    moves, legal = set(pair.kernel_moves()), pair.twin.legal()
    if moves != legal:
        found.append(f"legal: only in the kernel {sorted(moves - legal)}, only in the twin {sorted(legal - moves)}")
    points, wanted = kernel_scores(pair), pair.twin.scores()
    if points != wanted:
        found.append(f"scores: kernel {points}, twin {wanted}")
    if pair.twin.over and (shares := kernel_outcome(pair)) != [float(share) for share in pair.twin.outcome()]:
        found.append(f"outcome: kernel {shares}, twin {pair.twin.outcome()}")
    return "; ".join(found)


def play_same(pair: Pair, choose: Choose, rng: random.Random, events: Counter[str] | None = None) -> int:
    """Play to the end; at every decision both must agree about everything. Returns the number of decisions."""
    played: list[Move] = []
    while True:
        if problem := difference(pair):
            raise AssertionError(f"after {len(played)} moves {played}: {problem}")
        if events is not None:
            note_position(events, pair.twin)
        if pair.twin.over:
            return len(played)
        numbers = pair.kernel_moves()
        move = choose(pair.twin, sorted(numbers), rng)  # sorted: the game does not hang on the kernel's order
        before = pair.twin.copy() if events is not None else None
        pair.play(move, numbers[move])
        played.append(move)
        if events is not None and before is not None:
            note_move(events, before, move, pair.twin)


def kernel_positions(rules: Rules, seed: int, choose_seed: int) -> Iterator[np.ndarray]:
    """Every position of a random game of the kernel alone, the last included; each an array of its own."""
    rng, buffer, states = random.Random(choose_seed), np.zeros(MAX_LEGAL, np.int64), np.zeros(1, STATE)
    rules.game.reset(states, 0, rules.tables, seed)
    while True:
        yield states.copy()
        if states[0]["over"]:
            return
        n = rules.game.moves(states, 0, rules.tables, buffer)
        rules.game.apply(states, 0, rules.tables, int(buffer[rng.randrange(n)]))


# ---- steering


def pick_any(twin: Tollero, moves: list[Move], rng: random.Random) -> Move:
    return rng.choice(moves)


def _best(moves: list[Move], rng: random.Random, worth: Callable[[Move], float]) -> Move:
    most = max(map(worth, moves))
    return rng.choice([move for move in moves if worth(move) == most])


def _empty_beside(twin: Tollero, cell: Cell) -> list[Cell]:
    return [there for side in SIDES if (there := neighbour(cell, side)) not in twin.tiles]


def edge_of(twin: Tollero) -> set[Cell]:
    """Empty cells beside the city."""
    return {there for cell in twin.tiles for there in _empty_beside(twin, cell)}


def push(side: str) -> Choose:
    """Lay as far as possible to one side."""
    x_step, y_step = STEP[side]

    def choose(twin: Tollero, moves: list[Move], rng: random.Random) -> Move:
        return _best(moves, rng, lambda m: m[1] * x_step + m[2] * y_step if m[0] == "expand" else 0)

    return choose


def spread(twin: Tollero, moves: list[Move], rng: random.Random) -> Move:
    """Lay where most cells come to the edge."""
    if moves[0][0] != "expand":
        return rng.choice(moves)
    edge = edge_of(twin)
    return _best(moves, rng, lambda m: sum(cell not in edge for cell in _empty_beside(twin, (m[1], m[2]))))


def fill(twin: Tollero, moves: list[Move], rng: random.Random) -> Move:
    """Lay where most tiles are around."""
    return _best(moves, rng, lambda m: -len(_empty_beside(twin, (m[1], m[2]))) if m[0] == "expand" else 0)


def spread_then_fill(twin: Tollero, moves: list[Move], rng: random.Random) -> Move:
    return (spread if len(twin.tiles) < 40 else fill)(twin, moves, rng)


def heap_up(twin: Tollero, moves: list[Move], rng: random.Random) -> Move:
    """Build as high as possible."""
    return _best(moves, rng, lambda m: twin.buildings.get((m[1], m[2], str(m[3])), (0, 0))[1] if m[0] == "build" else 0)


def crowd(twin: Tollero, moves: list[Move], rng: random.Random) -> Move:
    """Build where others build: tiles with many buildings, so that majorities are disputed."""
    return _best(
        moves, rng, lambda m: sum((m[1], m[2], lot) in twin.buildings for lot in LOTS) if m[0] == "build" else 0
    )


# ---- what happened


def open_canals(twin: Tollero) -> int:
    """Canals that face an empty cell."""
    return sum(neighbour(cell, side) not in twin.faces for cell, one in twin.faces.items() for side in one.canals)


def note_position(events: Counter[str], twin: Tollero) -> None:
    """Count what this position shows."""
    edge, reach = edge_of(twin), max(max(map(abs, cell)) for cell in twin.tiles)
    events["wide edge"] += len(edge) > 64
    events["far"] += reach > 32
    events["all the way"] += reach >= CITY  # 55 if every tile lies in one row
    events["closed city"] += open_canals(twin) == 0
    if twin.over:
        _note_end(events, twin)
        return
    events["empty pile"] += not twin.pile
    events["one Floor left"] += twin.stage == "first" and twin.floors_left[twin.player] == 1
    if twin.stage == "expand":
        places = {(x, y) for _, x, y, _ in twin.legal()}
        events["full edge"] += places == edge
        events["touching only"] += any(_has_no_canal(twin, cell) for cell in edge)  # E2
    elif twin.last is None:
        events["Expand skipped"] += 1
    elif len(twin._in_reach()) < len(twin.tiles) - 1:  # the limit matters
        events[f"reach {twin.faces[twin.last].value}"] += 1


def _has_no_canal(twin: Tollero, cell: Cell) -> bool:
    """Does no tile beside this empty cell show it a canal?"""
    beside = {side: twin.faces.get(neighbour(cell, side)) for side in SIDES}
    return all(other is None or OPPOSITE[side] not in other.canals for side, other in beside.items())


def _note_end(events: Counter[str], twin: Tollero) -> None:
    events["stuck"] += any(twin.floors_left)
    events["shared win"] += max(twin.outcome()) < 1
    events["all laid"] += len(twin.tiles) == CITY + 5
    for cell in twin.tiles:
        here = [twin.buildings[(*cell, lot)] for lot in LOTS if (*cell, lot) in twin.buildings]
        tallest = max((height for _, height in here), default=0)
        tied = {owner for owner, height in here if height == tallest}
        if len(tied) > 1:  # F2
            events["tie kept" if twin._majority(cell) is None else "tie broken"] += 1
    fountains = Counter(
        pointed_at(cell, lot, to) for cell, one in twin.faces.items() for lot, to in one.fountains.items()
    )
    for (cell, lot), number in fountains.items():
        events[f"fountains {number}"] += (*cell, lot) in twin.buildings
        events["fountain outside"] += cell not in twin.tiles
        events["fountain at fountain"] += cell in twin.faces and lot in twin.faces[cell].fountains


def note_move(events: Counter[str], before: Tollero, move: Move, after: Tollero) -> None:
    """Count what this move brought about."""
    seat = before.player
    events["discard"] += len(after.gone) > len(before.gone)
    events["no first"] += move[0] == "expand" and (after.stage, after.player) != ("first", seat)
    if move[0] == "build":
        cell = (move[1], move[2])
        no_second = before.stage == "first" and after.floors_left[seat] > 0 and after.stage != "second"
        events["no second"] += no_second
        events["value 0"] += no_second and before.faces[cell].value == 0
        events["contract built"] += cell == (0, 0)
        events["tall"] += after.buildings[(*cell, str(move[3]))][1] > 15
    if not after.over and after.last is None:  # the turn is over
        events["last draw"] += after.floors_left[seat] == 0 and after.hands[seat] is not None  # D1
        skipped = [(seat + k) % after.players for k in range(1, (after.player - seat - 1) % after.players + 1)]
        events["idle turn"] += any(after.floors_left[one] > 0 for one in skipped)
        events["seat done"] += any(after.floors_left[one] == 0 for one in skipped)
