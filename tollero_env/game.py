"""What a game is to the rest of the project: a NamedTuple of facts and functions over an array of records.

Everything else (positions, envs, batches, search, replays) is written once, over this page. What Python calls takes
`(states, i, tables, ...)`: `states` is an array of `game.state` records, `i` the game in it, `tables` an array of one.
"""

import importlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from tollero_env.nets import Sizes

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

NAMES = ("tollero", "toscana")
PREVIEW = ("talo",)  # rules that can be played, but not everything that every game must offer


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
    """Sizes and meaning of an encoding; `view` is a number it may need (planes: the side of what they show).

    Actions are numbered by `groups`: those of the first group for every place (a cell of planes, a row of slots), then
    those of the next; numbers behind them belong to no place.
    """

    resolve_view: Callable[["Rules", Any], int]  # (rules, option): the view; raises OptionError
    num_actions: Callable[[int, int], int]  # (players, view)
    parts: Callable[[int, int], tuple[Part, Part]]  # (players, view): array and numbers, complete
    whole: Callable[[int, int], Part]  # (players, view): the one array of the envs: the array, then a tail
    groups: tuple[int, ...]  # how many actions each place has
    legend: Mapping[str, tuple[tuple[str, int, str], ...]]  # what the arrays hold: name, how many, what


class Encoding(NamedTuple):
    """What an agent is offered: positions as arrays, moves as actions of a Discrete space. Made by kernels.py.

    Arrays are flat, or have one flat row a game. The mask of a player who is not to act is all zeros.
    """

    resolve_view: Callable[["Rules", Any], int]
    num_actions: Callable[[int, int], int]
    parts: Callable[[int, int], tuple[Part, Part]]
    whole: Callable[[int, int], Part]
    groups: tuple[int, ...]
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
    # many games, each looked at by one seat, its learner; the mask of a learner that has moved is cleared
    advance: Callable[..., None]  # (states, tables, view, games, moves, seats, memory, out, numbers, mask, acting)
    # the learners' moves, then random ones until they must decide again; returns how many moves there were
    advance_randomly: Callable[
        ..., int
    ]  # (states, tables, view, games, moves, seats, seeds, memory, out, numbers, mask, acting, legal)
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
    # (states, scratch, tables, games, seeds, out): the move after which own points less the best other's are most;
    # scratch[0] is free to play in. Points never hang on what is hidden
    greedy_many: Callable[..., None]


class Insight(NamedTuple):
    """What a search asks of the rules beside `Verbs`, over records."""

    gather: Callable[..., None]  # (state, tables, player): what that seat cannot know into one order, rng included
    scatter: Callable[..., None]  # (state, tables, player, seed): redraws it, after `gather`; reseeds the rng
    # (state): a number for what the moves so far do not tell of the decision that is due (drawn tiles, dice): after
    # the same moves in the same situations equal numbers mean the same seat and the same list of legal moves
    situation: Callable[..., int]


class Guide(NamedTuple):
    """What leads a search, over records: states[i] is looked at, states[i + 1 :] (so many as `spare`) free to use."""

    spare: int
    # (states, i, tables, params, moves, n, out): how likely each of these legal moves is the right one, 0 to 1
    prior: Callable[..., None]
    # (states, i, tables, params, seed, out): each seat's value, 0 to 1; may play states[i] on; it may be over already
    evaluate: Callable[..., None]


class Search(NamedTuple):
    """A tree search of a game with a guide; made by searching.py, which says more."""

    num_states: int  # that `run` works in; the first is the root
    max_edges: int  # that one group may take
    settle: Callable[..., None]  # (states, i, tables, player): makes a root of a position (`gather`)
    redraw: Callable[..., None]  # (states, i, tables, player, seed): what a simulation does to it first (`scatter`)
    situation: Callable[..., int]  # (states, i)
    prior: Callable[..., None]  # (states, i, tables, params, moves, n, out)
    value: Callable[..., None]  # (states, i, tables, params, seed, out)
    run: Callable[..., int]  # (states, tables, tree, groups, edges, params, seed, start, count): simulations done


class Style(NamedTuple):
    """A way of searching: a search and its numbers."""

    search: Search
    params: Array  # of the guide
    by_prior: bool  # PUCT, else UCB1
    explore: float
    first_play: float = 0.0
    grow: int = 1


class Planner(NamedTuple):
    """How a game is seen and its turns are planned by a net (nets.py): functions over records, for compiled loops."""

    version: int  # of the description: nets made for another one are refused
    sizes: Sizes
    rows: int  # at most so many
    row: int  # indices in a row
    tags: int
    unit: float  # the margin that counts as 1
    # scratch; `plan` takes the moves of a plan, -1 behind the last, `value` what they are worth; `top` the `num_tops`
    # best plans in the same form, best first, and `top_value` what those are worth
    work: np.dtype[Any]
    describe: Callable[..., int]  # (state, tables, seat, rows, tags, numbers): between two turns; how many rows
    evaluate: Callable[..., float]  # (state, tables, params, work, seat): the value between two turns, a logit
    # (states, i, tables, params, scratch, j, work, noise, seed): the best rest of the turn; how many moves it has
    plan: Callable[..., int]


class Fit(NamedTuple):
    """How a net is fitted to positions; made by fitting.py, which says more."""

    scratch: Callable[[], Array]  # what the others work in
    # (params, gradient, work, book, chosen, unit): the sum of losses over the chosen positions; adds its gradient
    add_gradient: Callable[..., float]
    # (params, gradient, moments, work, book, live, seed, settings, unit): steps on positions drawn from `live`; the
    # mean loss. settings: (steps, positions in each, learning rate, number of the first step)
    run: Callable[..., float]


class Learning(NamedTuple):
    """What a game offers to learned players; made by learning.py, which says more. `params` are a net's."""

    planner: Planner
    fit: Fit
    # (states, tables, params, scratch, work, games, out): the next move of the best turn in each of the games
    act_many: Callable[..., None]
    # (states, i, tables, params, work, out): each seat's value as a chance; between two turns
    judge: Callable[..., None]
    settle: Callable[..., None]  # (states, i, tables, player): makes a root of a position, for `look_ahead`
    # (states, tables, params, scratch, work, root): the best plans at a root, into work[0]
    list_plans: Callable[..., None]
    # (states, tables, params, work, plans, active, sums, seed, first, count, turns): what plans lead to, on samples
    # number first, first + 1, ...
    look_ahead: Callable[..., None]
    # (states, tables, params, rivals, share, scratch, work, seed, first, games, noise, decay, start, book)
    self_play: Callable[..., tuple[int, int]]
    search: Search | None = None  # led by a net: its params, then `search_params`
    search_params: tuple[float, ...] = ()


class Turns(NamedTuple):
    """Whole turns of a game, searched exactly. A turn is worth the own points less the best other's after it."""

    weigh: Callable[..., None]  # (states, i, tables, moves, n, out): for each legal move the best turn it can end in
    choose_many: Callable[..., None]  # (states, tables, games, seeds, out): a move of a best turn; seeds settle ties


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
    # (rules, states, i, viewer, last, legal): the table in colour, with marks; then, after an empty line, the players
    to_ansi: Callable[..., str]
    draw: Callable[..., Any]  # (rules, states, i, *, viewer, last, legal, room): the table as a Scene
    to_json: Callable[
        ..., dict[str, Any]
    ]  # (rules, start, moves, legal): the replay of a game from its start to its end
    from_json: Callable[..., Any]  # (data, **material): the Replay of such an object, every statement in it checked
    # (tables): is it cooperative, its outcome one reward that every seat is paid?
    is_shared: Callable[[Array], bool] = lambda tables: False

    # what not every game has: agents that need it say so
    turns: Turns | None = None
    styles: Mapping[tuple[str, str], Style] = {}  # by playout and prior; the first is the default
    learning: Learning | None = None


class Rules(NamedTuple):
    """A game with its options resolved: what a position needs beside its state."""

    game: Game
    tables: Array  # one record
    players: int
    options: Mapping[str, Any]  # every option, defaults included
    material: Any  # the game's own: for Tollero the TileSet


def get_game(name: str) -> Game:
    """A game by its name."""
    if name not in NAMES + PREVIEW:
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
