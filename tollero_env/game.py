"""What a game is to the rest of the project: a NamedTuple of facts and functions over an array of records.

Everything else (positions, envs, batches, search, replays) is written once, over this page. What Python calls takes
`(states, i, tables, ...)`: `states` is an array of `game.state` records, `i` the game in it, `tables` an array of one.
"""

import importlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]

# Every game's state begins with these fields.
HEADER: tuple[tuple[Any, ...], ...] = (
    ("version", np.uint16),  # of the state's layout
    ("ply", np.uint16),  # decisions made so far
    ("num_players", np.uint8),
    ("player", np.uint8),  # seat to act; 0 once the game is over
    ("over", np.uint8),  # 0 or 1
    ("chance", np.uint8),  # values 1..n that chance must choose from next; 0 when a player decides
    ("digest", np.uint64),  # of the tables
    ("rng", np.uint64),  # splitmix64
)

NAMES = ("tollero", "talo")


class OptionError(ValueError):
    """An option that does not exist, or a value it does not take; the message is one line."""


class MoveError(ValueError):
    """A move that is not legal, or a text that is no move; the position is as it was."""


class StateError(ValueError):
    """Bytes that are not a position of this game."""


# What an encoding's `step` returns beside a seat.
STEP_OVER, STEP_HIDDEN, STEP_ILLEGAL = -1, -2, -3
STEP_ASK = -1  # the action that plays nothing and asks for the status
NEW_GAME = -2  # in a batch, in place of a move: deal

PAID = ("win", "margin", "score")  # at the end
MEMORY = 4  # how many numbers an encoding may keep of the observation before


class Part(NamedTuple):
    """Shape and dtype of an array of an observation."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


class Verbs(NamedTuple):
    """The rules over records, for compiled loops: `state` is an element of `states`, `tables` the one of its array."""

    reset: Callable[..., None]  # (states, i, tables, seed)
    list_moves: Callable[..., int]  # (state, tables, out): how many
    allows: Callable[..., bool]  # (state, tables, move)
    play: Callable[..., None]  # (state, tables, move): chance included
    score: Callable[..., None]  # (state, tables, out): scores
    share: Callable[..., None]  # (state, tables, out): shares of the win
    is_shared: Callable[..., bool] | None = None  # (tables): see Game; None stands for never


class Sight(NamedTuple):
    """An encoding over records. An observation has two parts: an array, and numbers beside it."""

    move_of: Callable[..., int]  # (state, view, action): -1 if there is none; it need not be legal
    action_of: Callable[..., int]  # (state, view, move): of a legal move; negative if the view does not show it
    status: Callable[..., int]  # (state, tables, view): the seat to act, or a STEP_ code
    mark: Callable[..., int]  # (state, tables, view, mask): into zeros; returns how many actions
    unmark: Callable[..., None]  # (state, view, mask): clears at least what `mark` set in this position
    show: Callable[..., None]  # (state, tables, player, view, array, numbers): array into zeros, all numbers
    follow: Callable[..., None]  # (state, tables, player, view, move, memory, array, numbers): what a move changed
    remember: Callable[..., None]  # (state, player, memory): what `follow` will need of this observation
    show_tail: Callable[..., None]  # (tables, view, numbers, out, fresh): what `whole` has behind the array


class Facts(NamedTuple):
    """Sizes and meaning of an encoding; `view` is a number it may need (Tollero's planes: the side of the view)."""

    resolve_view: Callable[[int, Any], int]  # (players, option): the view; raises OptionError
    num_actions: Callable[[int, int], int]  # (players, view)
    parts: Callable[[int, int], tuple[Part, Part]]  # (players, view): array and numbers, complete
    whole: Callable[[int, int], Part]  # (players, view): the one array of the envs: the array, then a tail
    legend: Mapping[str, tuple[tuple[str, int, str], ...]]  # what the arrays hold: name, how many, what


class Encoding(NamedTuple):
    """What an agent is offered: positions as arrays, moves as actions of a Discrete space. Made by kernels.py.

    Arrays are flat, or have one flat row a game. The mask of a player who is not to act is all zeros.
    """

    resolve_view: Callable[[int, Any], int]
    num_actions: Callable[[int, int], int]
    parts: Callable[[int, int], tuple[Part, Part]]
    whole: Callable[[int, int], Part]
    legend: Mapping[str, tuple[tuple[str, int, str], ...]]

    to_move: Callable[..., int]  # (states, i, tables, view, action): negative if it is not legal
    to_action: Callable[..., int]  # (states, i, tables, view, move): negative if the view does not show it
    mask: Callable[..., int]  # (states, i, tables, view, out): into zeros, of the player to act; how many actions
    step: Callable[..., int]  # (states, i, tables, view, action): the seat to act next, or a STEP_ code
    observe: Callable[..., None]  # (states, i, tables, player, view, array, numbers)
    observe_whole: Callable[..., None]  # (states, i, tables, player, view, cells, numbers, out, mask)

    # many games, every seat stepped from outside; a move may be NEW_GAME
    to_moves: Callable[..., int]  # (states, tables, view, games, actions, moves): -1 for illegal; the first such, or -1
    step_many: Callable[..., int]  # see kernels.py; returns the game that never offers an action, or -1
    # many games, each looked at by one seat
    advance: Callable[..., None]  # (states, tables, view, games, moves, seats, memory, out, numbers, acting)
    present: Callable[
        ..., None
    ]  # (states, tables, view, games, seats, fresh, cells, memory, out, numbers, mask, offered)


class Loops(NamedTuple):
    """Many games in one call, without an encoding. Made by kernels.py; `games` are indices into `states`."""

    # `acting` takes the seat to act, -1 once the game is over; `seeds` go on to each row's next game
    deal_many: Callable[..., None]  # (states, tables, games, seeds, agent_seeds, acting)
    sample_many: Callable[..., None]  # (states, tables, games, seeds, out): a uniformly random legal move for each
    settle_many: Callable[..., None]  # (states, tables, games, kind, rewards, scores, shares): games that are over
    play_many: Callable[..., None]  # (states, tables, games, moves, acting)
    seed_many: Callable[..., None]  # (states, games, seeds, out): a seed of its own for each game's next decision


class Game(NamedTuple):
    """One game. The functions of the first block are compiled; outputs are arrays that the caller owns."""

    name: str
    title: str  # as people write it
    players: range
    state: np.dtype[Any]
    num_moves: int  # moves are 0 .. num_moves - 1
    max_legal: int  # no position has more legal moves
    problems: Mapping[int, str]  # by code of `check`
    defaults: Mapping[str, Any]  # options and their defaults

    encodings: Mapping[str, Encoding]  # the first is the default
    loops: Loops

    deal: Callable[..., None]  # (states, i, tables, setup): a new game with these hidden things
    reset: Callable[..., None]  # (states, i, tables, seed): draws a setup and deals it
    moves: Callable[..., int]  # (states, i, tables, out): the legal moves, in a fixed order; returns how many
    is_legal: Callable[..., bool]  # (states, i, tables, move): any number may be asked
    act: Callable[..., None]  # (states, i, tables, move): plays a legal move, stops before chance
    chance: Callable[..., None]  # (states, i, tables, value): settles what chance must settle next
    apply: Callable[..., None]  # (states, i, tables, move): act, then chance from the state's rng
    scores: Callable[..., None]  # (states, i, tables, out): points as they stand
    outcome: Callable[..., None]  # (states, i, tables, out): shares of the win, as if it ended now
    resample: Callable[..., None]  # (states, i, tables, player, seed): redraws what that player cannot know
    check: Callable[..., int]  # (states, i, tables): 0, or a key of `problems`
    playout: Callable[..., None]  # (states, i, tables, seed): random moves to the end
    playouts: Callable[..., None]  # (states, tables, seed, decisions, points): many resets and playouts

    make_tables: Callable[..., tuple[Array, Any]]  # (players, **options) -> tables, material (what notation needs)
    longest_game: Callable[[Array], int]  # (tables): no game has more decisions
    score_bounds: Callable[[Array], tuple[int, int]]  # (tables): no score is outside
    move_text: Callable[..., str]  # (rules, states, i, move)
    parse_move: Callable[..., int]  # (rules, states, i, text): raises MoveError
    to_text: Callable[..., str]  # (rules, states, i, viewer): the table as plain text; viewer None sees all
    to_ansi: Callable[..., str]  # (rules, states, i, viewer, last, legal): the same in colour, with marks
    draw: Callable[..., Any]  # (rules, states, i, *, viewer, last, legal, room): the table as a Scene
    to_json: Callable[
        ..., dict[str, Any]
    ]  # (rules, start, moves, legal): the replay of a game from its start to its end
    from_json: Callable[..., Any]  # (data, **material): the Replay of such an object, every statement in it checked
    # (tables): is it cooperative, its outcome one reward that every seat is paid?
    is_shared: Callable[[Array], bool] = lambda tables: False


class Rules(NamedTuple):
    """A game with its options resolved: what a position needs beside its state."""

    game: Game
    tables: Array  # one record
    players: int
    options: Mapping[str, Any]  # every option, defaults included
    material: Any  # the game's own: for Tollero the TileSet


def get_game(name: str) -> Game:
    """A game by its name."""
    if name not in NAMES:
        raise OptionError(f"game {name!r} is not known; there is {', '.join(NAMES)}")
    game: Game = importlib.import_module(f"tollero_env.games.{name}").GAME
    return game


def get_rules(name: str, players: int = 2, **options: Any) -> Rules:
    """The rules of a game for so many players; an unknown option or a wrong value gets one clear error."""
    game = get_game(name)
    check_choice("players", players, game.players)
    for option in options:
        if option not in game.defaults:
            raise OptionError(f"{game.title} has no option {option!r}; there is {', '.join(game.defaults)}")
    resolved = {**game.defaults, **options}
    tables, material = game.make_tables(players, **resolved)
    return Rules(game, tables, players, resolved, material)


def check_choice(name: str, value: object, allowed: range | tuple[Any, ...]) -> None:
    """Refuse a value that is not one of those allowed, or only equal to one (True is not 1)."""
    if isinstance(allowed, range):
        if type(value) is int and value in allowed:
            return
        raise OptionError(f"option {name}: {value!r} is not a whole number from {allowed[0]} to {allowed[-1]}")
    if (type(value), value) not in [(type(choice), choice) for choice in allowed]:
        raise OptionError(f"option {name}: {value!r} is not one of {', '.join(repr(choice) for choice in allowed)}")


def record_dtype(fields: Iterable[tuple[Any, ...]]) -> np.dtype[Any]:
    """A dtype without holes; zero bytes at the end fill it up to a multiple of 8."""
    fields = list(fields)
    dtype = np.dtype(fields)
    missing = -dtype.itemsize % 8
    return np.dtype([*fields, ("padding", np.uint8, (missing,))]) if missing else dtype
