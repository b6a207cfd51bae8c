"""Loops that know no game: written once, compiled for each game over its own verbs.

`make_loops` and `make_encoding` are called where a game is put together; what they give is called from Python.
`games` is a list of indices into `states`; output arrays have one row for each state.
"""

from typing import Any

import numpy as np

from tollero_env.bits import copy, fetch
from tollero_env.game import (
    NEW_GAME,
    PAID,
    STEP_ASK,
    STEP_ILLEGAL,
    Encoding,
    Facts,
    Loops,
    Sight,
    Verbs,
)
from tollero_env.jit import jit, loop_for
from tollero_env.rng import below, mix, pick_best, stream

MAX_SEATS = 4
NEAR = 8192  # bytes: larger rows are mostly left alone by a move
MAX_DEALS = 64  # in a row, in search of a game that offers an action
_WIN, _MARGIN = PAID.index("win"), PAID.index("margin")


@jit(inline=True)
def _never(tables):
    return False


@jit(inline=True)
def _pay(kind, is_shared, points, shares, out):
    """What each seat is paid at the end, from scores and shares of the win; in a cooperative game, the shares."""
    n = out.shape[0]
    total = 0.0
    for seat in range(n):
        total += points[seat]
    for seat in range(n):
        if is_shared:
            out[seat] = shares[seat]
        elif kind == _WIN:  # zero-sum, +1 for a lone winner
            out[seat] = (n * shares[seat] - 1) / (n - 1)
        elif kind == _MARGIN:
            out[seat] = points[seat] - (total - points[seat]) / (n - 1)
        else:
            out[seat] = points[seat]


@jit(inline=True)
def bring_near(states, array, mask, i):
    """Ask for what the next game of a loop needs: thousands of games do not fit into a core's own cache."""
    fetch(states, i)
    fetch(mask, i)
    if array.shape[1] * array.itemsize <= NEAR:
        fetch(array, i)


@jit(inline=True)
def _lead(points, num_players, player):
    """Own points less the best other's; alone, the own."""
    best = np.int64(0) if num_players == 1 else points[0 if player else 1]
    for seat in range(num_players):
        if seat != player:
            best = max(best, points[seat])
    return points[player] - best


def make_loops(owner: str, verbs: Verbs, max_legal: int) -> Loops:
    """Loops over many games that need no encoding; `owner` is the module of the game."""
    reset, play, list_moves, score, share = verbs.reset, verbs.play, verbs.list_moves, verbs.score, verbs.share
    is_shared = verbs.is_shared or _never

    def deal_many(states, tables, games, seeds, agent_seeds, acting):
        for k in range(games.shape[0]):
            i = games[k]
            reset(states, i, tables, seeds[i])
            agent_seeds[i] = stream(seeds[i], 2)
            seeds[i] = stream(seeds[i], 1)
            acting[i] = -1 if states[i]["over"] else np.int64(states[i]["player"])

    def sample_many(states, tables, games, seeds, out):
        moves = np.empty(max_legal, np.int64)
        for k in range(games.shape[0]):
            number = list_moves(states[games[k]], tables[0], moves)
            out[k] = moves[below(mix(seeds[k]), number)]

    def settle_many(states, tables, games, kind, rewards, scores, shares):
        for k in range(games.shape[0]):
            i = games[k]
            score(states[i], tables[0], scores[i])
            share(states[i], tables[0], shares[i])
            _pay(kind, is_shared(tables[0]), scores[i], shares[i], rewards[i])

    def play_many(states, tables, games, moves, acting):
        for k in range(games.shape[0]):
            i = games[k]
            play(states[i], tables[0], moves[k])
            acting[i] = -1 if states[i]["over"] else np.int64(states[i]["player"])

    def seed_many(states, games, seeds, out):
        for k in range(games.shape[0]):
            out[k] = stream(seeds[games[k]], np.int64(states[games[k]]["ply"]))

    def greedy_many(states, scratch, tables, games, seeds, out):
        moves, worth = np.empty(max_legal, np.int64), np.empty(max_legal, np.int64)
        points = np.zeros(MAX_SEATS, np.int64)
        for k in range(games.shape[0]):
            state = states[games[k]]
            number = list_moves(state, tables[0], moves)
            for j in range(number):
                copy(scratch, 0, states, games[k])
                play(scratch[0], tables[0], moves[j])
                score(scratch[0], tables[0], points)
                worth[j] = _lead(points, np.int64(state["num_players"]), np.int64(state["player"]))
            out[k] = moves[pick_best(worth, number, seeds[k])]

    loops = (deal_many, sample_many, settle_many, play_many, seed_many, greedy_many)
    return Loops(*(loop_for(owner, loop) for loop in loops))


def make_encoding(owner: str, name: str, facts: Facts, verbs: Verbs, sight: Sight) -> Encoding:
    """An encoding of a game: its facts, and what Python calls."""
    allows, play = verbs.allows, verbs.play
    move_of, action_of, mark, status = sight.move_of, sight.action_of, sight.mark, sight.status
    show, show_tail = sight.show, sight.show_tail

    def to_move(states, i, tables, view, action):
        move = move_of(states[i], view, action)
        return move if allows(states[i], tables[0], move) else -1

    def to_action(states, i, tables, view, move):
        return action_of(states[i], view, move)

    def mask(states, i, tables, view, out):
        return mark(states[i], tables[0], view, out)

    def step(states, i, tables, view, action):
        state = states[i]
        if action != STEP_ASK:
            move = move_of(state, view, action)
            if not allows(state, tables[0], move):
                return STEP_ILLEGAL
            play(state, tables[0], move)
        return status(state, tables[0], view)

    def observe(states, i, tables, player, view, array, numbers):
        array[:] = 0
        show(states[i], tables[0], player, view, array, numbers)

    def observe_whole(states, i, tables, player, view, cells, numbers, out, mask):
        state = states[i]
        out[:cells] = 0
        mask[:] = 0
        show(state, tables[0], player, view, out, numbers)
        show_tail(tables[0], view, numbers, out[cells:], True)
        if state["over"] == 0 and np.int64(state["player"]) == player:
            mark(state, tables[0], view, mask)

    single = (to_move, to_action, mask, step, observe, observe_whole)
    many = _batch_loops(verbs, sight) + _learner_loops(verbs, sight)
    return Encoding(*facts, *(_named(owner, name, loop) for loop in (*single, *many)))


def _named(owner: str, encoding: str, loop: Any) -> Any:
    loop.__name__ = f"{encoding}_{loop.__name__}"
    return loop_for(owner, loop)


def _batch_loops(verbs: Verbs, sight: Sight) -> tuple[Any, ...]:
    """For games in which every seat is stepped from outside."""
    is_shared = verbs.is_shared or _never
    reset, allows, play, score, share = verbs.reset, verbs.allows, verbs.play, verbs.score, verbs.share
    move_of, mark, unmark = sight.move_of, sight.mark, sight.unmark
    show, follow, remember = sight.show, sight.follow, sight.remember

    def to_moves(states, tables, view, games, actions, moves):
        bad = -1
        for k in range(games.shape[0]):
            state = states[games[k]]
            move = move_of(state, view, actions[k])
            moves[k] = move if allows(state, tables[0], move) else -1
            if moves[k] == -1 and bad < 0:
                bad = k
        return bad

    @jit(inline=True)
    def deal(states, i, tables, view, seeds, mask):
        """Deal until an action is offered; False if none ever was."""
        for _ in range(MAX_DEALS):
            reset(states, i, tables, seeds[i])
            seeds[i] = stream(seeds[i], 1)
            mask[:] = 0
            if not states[i]["over"] and mark(states[i], tables[0], view, mask) > 0:
                return True
        return False

    def step_many(
        states, tables, view, first, end, moves, seeds, kind, keep, memory,
        array, numbers, mask, rewards, scores, terminated, truncated, player,
    ):  # fmt: skip
        table = tables[0]
        for i in range(first, end):
            state, is_new = states[i], moves[i] == NEW_GAME
            bring_near(states, array, mask, min(i + 1, end - 1))
            for seat in range(rewards.shape[1]):
                rewards[i, seat] = 0
                scores[i, seat] = 0
            terminated[i] = truncated[i] = False
            if not is_new:
                if keep:
                    unmark(state, view, mask[i])
                else:
                    mask[i, :] = 0
                play(state, table, moves[i])
                if state["over"]:
                    is_new = True
                    terminated[i] = True
                    shares = np.zeros(rewards.shape[1])
                    score(state, table, scores[i])
                    share(state, table, shares)
                    _pay(kind, is_shared(table), scores[i], shares, rewards[i])
                elif mark(state, table, view, mask[i]) == 0:
                    is_new = True
                    truncated[i] = True
            if is_new and not deal(states, i, tables, view, seeds, mask[i]):
                return i
            seat = np.int64(state["player"])
            player[i] = seat
            if keep and not is_new:
                follow(state, table, seat, view, moves[i], memory[i], array[i], numbers[i])
            else:
                array[i, :] = 0
                show(state, table, seat, view, array[i], numbers[i])
                remember(state, seat, memory[i])
        return -1

    return to_moves, step_many


def _learner_loops(verbs: Verbs, sight: Sight) -> tuple[Any, ...]:
    """For games that one seat each looks at: what is shown is kept up to date, whoever moves."""
    play, list_moves, mark, unmark = verbs.play, verbs.list_moves, sight.mark, sight.unmark
    show, show_tail, follow, remember = sight.show, sight.show_tail, sight.follow, sight.remember

    @jit(inline=True)
    def move_on(state, tables, view, move, seat, memory, out, numbers):
        """Play a move; returns the seat to act, -1 once the game is over."""
        play(state, tables[0], move)
        if state["over"]:
            return -1
        follow(state, tables[0], seat, view, move, memory, out, numbers)
        return np.int64(state["player"])

    def advance(states, tables, view, games, moves, seats, memory, out, numbers, mask, acting):
        for k in range(games.shape[0]):
            i = games[k]
            seat = np.int64(seats[i])
            if acting[i] == seat:
                unmark(states[i], view, mask[i])
            acting[i] = move_on(states[i], tables, view, moves[k], seat, memory[i], out[i], numbers[i])

    def advance_randomly(states, tables, view, games, moves, seats, seeds, memory, out, numbers, mask, acting, legal):
        decisions = 0
        for k in range(games.shape[0]):
            i, move = games[k], moves[k]
            state, seat, player = states[i], np.int64(seats[i]), np.int64(seats[i])
            bring_near(states, out, mask, games[min(k + 1, games.shape[0] - 1)])
            unmark(state, view, mask[i])
            while True:
                player = move_on(state, tables, view, move, seat, memory[i], out[i], numbers[i])
                decisions += 1
                if player == seat or player < 0:
                    break
                number = list_moves(state, tables[0], legal)
                move = legal[below(mix(stream(seeds[i], np.int64(state["ply"]))), number)]
            acting[i] = player
        return decisions

    def present(states, tables, view, games, seats, fresh, cells, memory, out, numbers, mask, offered):
        for k in range(games.shape[0]):
            i = games[k]
            state, seat = states[i], np.int64(seats[i])
            bring_near(states, out, mask, games[min(k + 1, games.shape[0] - 1)])
            if fresh:
                out[i, :cells] = 0
                show(state, tables[0], seat, view, out[i], numbers[i])
                remember(state, seat, memory[i])
                mask[i, :] = 0
            show_tail(tables[0], view, numbers[i], out[i, cells:], fresh)
            offered[i] = 0
            if state["over"] == 0 and np.int64(state["player"]) == seat:
                offered[i] = mark(state, tables[0], view, mask[i])

    return advance, advance_randomly, present
