"""Toscana's kernel and its plain-Python twin side by side; ways to deal and to steer a match."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise, product
from typing import Any

import numpy as np

from tests.reference.toscana import PASS, Laid, Move, Square, Toscana, neighbours, turn_form
from tollero_env.game import Rules, get_rules
from tollero_env.games.toscana.constants import ALLOW, CELLS, MAX_LEGAL, SET_TILES, VETO, WIDTH
from tollero_env.games.toscana.notation import areas_of, mover_of, stack_of
from tollero_env.games.toscana.state import SETUP, STATE
from tollero_env.games.toscana.tiles import all_tiles

Data = dict[str, Any]
Choose = Callable[[Toscana, list[Move], random.Random], Move]

TILES = {tile.id: list(tile.rows) for tile in all_tiles()}
IDS = list(TILES)
STAGES = {"veto": 0, "place": 1, "over": 2}

# Every combination of the options that are words or small, on boards that fill up, and on one that does not.
OPTIONS: dict[str, Data] = {
    f"{size}, {contact}, {veto}, {rounds}": {"size": size, "contact": contact, "veto": veto, "rounds": rounds}
    for size, contact, veto, rounds in product((5, 9, 17), ("tile", "colour"), ("round", "match"), (1, 2))
}


def rules_for(**options: Any) -> Rules:
    return get_rules("toscana", 2, **options)


def draw_setup(rng: random.Random, rounds: int = 2) -> Data:
    """As the twin takes it."""
    return {
        "starts": rng.randrange(2),
        "stacks": [[rng.sample(IDS, SET_TILES) for _ in range(2)] for _ in range(rounds)],
    }


def setup_record(setup: Data) -> np.ndarray:
    """The same for the kernel."""
    record = np.zeros(1, SETUP)
    record[0]["starter"] = setup["starts"]
    for number, stacks in enumerate(setup["stacks"]):
        record[0]["stacks"][number] = [[IDS.index(tile) for tile in stack] for stack in stacks]
    return record


class Pair:
    """One match, in the kernel (states[0]) and in the twin."""

    def __init__(self, rules: Rules, states: np.ndarray, setup: Data) -> None:
        self.rules, self.states, self.start = rules, states, states.copy()
        self.twin = Toscana(TILES, setup, dict(rules.options))
        self.buffer = np.zeros(MAX_LEGAL, np.int64)
        self.moves: list[int] = []

    def kernel_moves(self) -> dict[Move, int]:
        """The kernel's legal moves, by the twin's name."""
        n = self.rules.game.moves(self.states, 0, self.rules.tables, self.buffer)
        moves = {name_move(int(move)): int(move) for move in self.buffer[:n]}
        assert len(moves) == n, "a move is listed twice"
        return moves

    def play(self, move: Move) -> None:
        number = number_of(move)
        self.rules.game.apply(self.states, 0, self.rules.tables, number)
        self.twin.play(move)
        self.moves.append(number)


def deal_setup(setup: Data, **options: Any) -> Pair:
    rules, states = rules_for(**options), np.zeros(1, STATE)
    rules.game.deal(states, 0, rules.tables, setup_record(setup))
    return Pair(rules, states, setup)


def deal_pair(rng: random.Random, **options: Any) -> Pair:
    """A setup drawn here and dealt to both."""
    return deal_setup(draw_setup(rng, options.get("rounds", 2)), **options)


def reset_pair(seed: int, **options: Any) -> Pair:
    """A setup drawn by the kernel; the twin is told."""
    rules, states = rules_for(**options), np.zeros(1, STATE)
    rules.game.reset(states, 0, rules.tables, seed)
    return Pair(rules, states, setup_of(rules, states))


def setup_of(rules: Rules, states: np.ndarray) -> Data:
    """The setup of a state just dealt."""
    stacks = [[name_tiles(states["stack"][0, seat][::-1]) for seat in range(2)]]
    if rules.options["rounds"] == 2:
        stacks.append([name_tiles(states["later"][0, seat][::-1]) for seat in range(2)])
    return {"starts": int(states["starter"][0]), "stacks": stacks}


def name_tiles(numbers: Any) -> list[str]:
    return [IDS[int(number)] for number in numbers]


def name_move(move: int) -> Move:
    if move >= VETO:
        return ("veto",) if move == VETO else ("allow",)
    return ("place", move % CELLS // WIDTH, move % WIDTH, move // CELLS)


def number_of(move: Move) -> int:
    if len(move) == 1:
        return VETO if move == ("veto",) else ALLOW
    _, row, col, rot = move
    return rot * CELLS + row * WIDTH + col


def kernel_table(rules: Rules, states: np.ndarray) -> Data:
    """The kernel's state in the twin's terms (see Toscana.table)."""
    state = states[0]
    slots = range(int(state["num_tiles"]))
    laid = [
        Laid(
            int(state["tile"][slot]) // SET_TILES,
            IDS[int(state["tile"][slot]) % SET_TILES],
            int(state["cell"][slot]) // WIDTH,
            int(state["cell"][slot]) % WIDTH,
            int(state["rotation"][slot]),
        )
        for slot in slots
    ]
    board = {}
    for cell in np.flatnonzero(state["square"]).tolist():
        value = int(state["square"][cell])
        board[divmod(cell, WIDTH)] = Square(value >> 6 & 1, (value & 63) >> 1)
    stacks = [name_tiles(stack_of(state, seat)) for seat in range(2)]
    number = int(state["round"]) + int(state["over"])
    return {
        "round": int(state["round"]),
        "board": board,
        "laid": laid,
        "stacks": stacks,
        "stones": [bool(stone) for stone in state["stone"]],
        "passes": int(state["passes"]),
        "sunk": [bool(sunk) for sunk in state["sunk"]],
        "turn": None if state["over"] else mover_of(state),
        "player": None if state["over"] else int(state["player"]),
        "stage": int(state["stage"]),
        "over": bool(state["over"]),
        "round_scores": state["points"][:number].tolist(),
    }


def twin_table(twin: Toscana) -> Data:
    """The twin's, without whose turn it is once the match is over."""
    table = twin.table()
    table["sunk"] = [tile is not None for tile in table.pop("bottom")]
    table["stage"] = STAGES[table["stage"]]
    return {**table, "turn": None, "player": None} if twin.over else table


def words_of(rules: Rules, board: dict[tuple[int, int], Square]) -> tuple[list[int], list[list[int]]]:
    """What the bitboards must say of a board: the empty squares, and on the board those beside each colour."""
    size = rules.options["size"]
    empty, near = [0] * size, [[0] * size for _ in range(2)]
    for row, column in product(range(size), repeat=2):
        empty[row] |= ((row, column) not in board) << column
        beside = neighbours((row, column))
        for colour in range(2):
            near[colour][row] |= any(cell in board and board[cell].colour == colour for cell in beside) << column
    return empty, near


def kernel_words(rules: Rules, states: np.ndarray) -> tuple[list[int], list[list[int]]]:
    """The same out of the state; of squares beside a colour, those that are empty."""
    size = rules.options["size"]
    empty = states["empty"][0, :size].tolist()
    return empty, [[int(word) & room for word, room in zip(states["near"][0, seat], empty)] for seat in range(2)]


def kernel_scores(pair: Pair) -> list[int]:
    points = np.zeros(2, np.int64)
    pair.rules.game.scores(pair.states, 0, pair.rules.tables, points)
    return points.tolist()


def kernel_outcome(pair: Pair) -> list[float]:
    shares = np.zeros(2)
    pair.rules.game.outcome(pair.states, 0, pair.rules.tables, shares)
    return shares.tolist()


def difference(pair: Pair) -> str:
    """What kernel and twin disagree about, legal moves, words and scores included; "" if nothing."""
    ours, theirs = kernel_table(pair.rules, pair.states), twin_table(pair.twin)
    found = [f"{key}: kernel {ours[key]}, twin {theirs[key]}" for key in theirs if ours[key] != theirs[key]]
    found += [f"the twin has no {key}" for key in ours.keys() - theirs.keys()]
    moves, legal = set(pair.kernel_moves()), pair.twin.legal()
    if moves != legal:
        found.append(f"legal: only in the kernel {sorted(moves - legal)}, only in the twin {sorted(legal - moves)}")
    empty, near = words_of(pair.rules, pair.twin.board)
    if pair.twin.board and kernel_words(pair.rules, pair.states) != (
        empty,
        [[word & room for word, room in zip(words, empty)] for words in near],
    ):
        found.append("the bitboards are not those of the board")
    if kernel_scores(pair) != pair.twin.scores():
        found.append(f"scores: kernel {kernel_scores(pair)}, twin {pair.twin.scores()}")
    if (areas := areas_of(pair.rules, pair.states, 0)) != pair.twin.round_score():
        found.append(f"areas: kernel {areas}, twin {pair.twin.round_score()}")
    if (shares := kernel_outcome(pair)) != [float(share) for share in pair.twin.outcome()]:
        found.append(f"outcome: kernel {shares}, twin {pair.twin.outcome()}")
    return "; ".join(found)


def replay_log(pair: Pair) -> list[list[tuple[int, Move]]]:
    """The log of the twin as a replay of the kernel's game has it, passes included."""
    data = pair.rules.game.to_json(pair.rules, pair.start, pair.moves)
    return [[(entry["player"], entry_move(entry)) for entry in played["moves"]] for played in data["rounds"]]


def entry_move(entry: Data) -> Move:
    if entry["type"] == "pass":
        return PASS
    return ("place", *entry["at"], entry["rot"]) if entry["type"] == "place" else (entry["type"],)


def play_same(pair: Pair, choose: Choose, rng: random.Random, events: Counter[str] | None = None) -> int:
    """Play to the end; at every decision both must agree about everything. Returns the number of decisions."""
    while True:
        if problem := difference(pair):
            raise AssertionError(f"after {pair.moves}: {problem}")
        if events is not None:
            note_events(pair.twin, events)
        if pair.twin.over:
            assert replay_log(pair) == pair.twin.log
            return len(pair.moves)
        pair.play(choose(pair.twin, sorted(pair.kernel_moves()), rng))


def note_events(twin: Toscana, events: Counter[str]) -> None:
    """What hardly ever happens, counted at the end of a match and at decisions."""
    if not twin.over:
        if twin.stage == "veto" and twin.passes:
            events["asked after a pass"] += 1
        if twin.stage == "veto" and not twin._places():
            events["asked about a tile without a place"] += 1
        events["passed"] += twin.passes == 1
        events["match asked with one stone"] += twin.stage == "veto" and twin.stones.count(False) == 1
        return
    for entries in twin.log:
        moves = [move for _, move in entries]
        events["ended by passes"] += moves[-2:] == [PASS, PASS]
        events["all tiles laid"] += sum(move[0] == "place" for move in moves) == 2 * SET_TILES
        events["veto"] += moves.count(("veto",))
        events["veto, then a pass"] += any(a == ("veto",) and b == PASS for a, b in pairwise(moves))
        events["allow, then a pass"] += any(a == ("allow",) and b == PASS for a, b in pairwise(moves))
        players = [player for player, move in entries if move[0] == "place"]
        events["twice in a row"] += any(a == b for a, b in pairwise(players))
    events["no vetoes"] += all(move != ("veto",) for entries in twin.log for _, move in entries)
    if len(twin.round_scores) == 2:
        (a, b), (c, d) = twin.round_scores
        events["one round each"] += (a - b) * (c - d) < 0
        events["a drawn match"] += a + c == b + d
        events["a drawn round"] += a == b or c == d


def kernel_positions(rules: Rules, seed: int, choose_seed: int) -> Iterator[np.ndarray]:
    """Every position of a random match of the kernel alone, the last included; each an array of its own."""
    rng, buffer, states = random.Random(choose_seed), np.zeros(MAX_LEGAL, np.int64), np.zeros(1, STATE)
    rules.game.reset(states, 0, rules.tables, seed)
    while True:
        yield states.copy()
        if states[0]["over"]:
            return
        n = rules.game.moves(states, 0, rules.tables, buffer)
        rules.game.apply(states, 0, rules.tables, int(buffer[rng.randrange(n)]))


# ---- steering


def pick_any(twin: Toscana, moves: list[Move], rng: random.Random) -> Move:
    return rng.choice(moves)


def always(answer: str, place: Choose = pick_any) -> Choose:
    """Every question answered so; tiles are placed as `place` says."""

    def choose(twin: Toscana, moves: list[Move], rng: random.Random) -> Move:
        return (answer,) if twin.stage == "veto" else place(twin, moves, rng)

    return choose


def _best(twin: Toscana, moves: list[Move], rng: random.Random, worth: Callable[[Move], float]) -> Move:
    if twin.stage == "veto":
        return rng.choice(moves)
    some = rng.sample(moves, min(len(moves), 40))
    return max(some, key=worth)


def pack(twin: Toscana, moves: list[Move], rng: random.Random) -> Move:
    """As many sides as possible beside tiles or the edge: boards fill up, areas meet in many places."""

    def sides(move: Move) -> float:
        squares = _squares(twin, move)
        beside = [
            (row + down, col + right) for row, col in squares for down, right in ((1, 0), (-1, 0), (0, 1), (0, -1))
        ]
        return sum(cell in twin.board or min(cell) < 0 or max(cell) >= twin.size for cell in beside)

    return _best(twin, moves, rng, sides)


def scatter(twin: Toscana, moves: list[Move], rng: random.Random) -> Move:
    """Far from the centre: the edges of the board are reached, and holes are left."""
    middle = twin.size // 2

    def far(move: Move) -> float:
        return max(max(abs(row - middle), abs(col - middle)) for row, col in _squares(twin, move))

    return _best(twin, moves, rng, far)


def grow(twin: Toscana, moves: list[Move], rng: random.Random) -> Move:
    """The largest area of both colours together: areas of all tiles."""

    def points(move: Move) -> float:
        after = twin.copy()
        _, row, col, rot = move
        after._lay(row, col, rot)
        return sum(after.round_score())

    return _best(twin, moves, rng, points)


def _squares(twin: Toscana, move: Move) -> list[tuple[int, int]]:
    _, row, col, rot = move
    form = turn_form(twin.tiles[twin.stacks[twin.turn][0]], rot)
    return [(row + down, col + right) for down, marks in enumerate(form) for right, _ in enumerate(marks)]
