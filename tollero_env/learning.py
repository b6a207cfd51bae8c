"""Self-play of learned players, in compiled loops that know no game.

A game offers a `Planner`; `make_learning` makes of it what the trainer and the agents call. Games run in states[0];
states[1] is scratch. The positions that are kept are those between two turns, from every seat.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tollero_env.game import Verbs
from tollero_env.jit import jit, loop_for
from tollero_env.nets import Sizes
from tollero_env.rng import below, draw_number, stream


class Planner(NamedTuple):
    """How a game is seen and planned by a net; functions over records, for compiled code."""

    version: int  # of the description: nets of another one are refused
    sizes: Sizes
    rows: int  # at most so many
    row: int  # indices in a row
    tags: int
    work: np.dtype[Any]  # scratch; its field `plan` takes moves, `value` what they are worth
    describe: Callable[..., int]  # (state, tables, seat, rows, tags, numbers): between two turns; how many rows
    evaluate: Callable[..., float]  # (state, tables, params, work, seat): the value between two turns
    plan: Callable[..., int]  # (states, i, tables, params, scratch, work, noise, seed): the rest of a turn


class Learning(NamedTuple):
    """What is called from Python. Made by `make_learning`."""

    planner: Planner
    # (states, tables, params, scratch, work, games, seeds, out): the first move of a plan for each of the games
    act: Callable[..., None]
    # (states, tables, params, noises, scratch, work, seed, first, shares, margins): games by one net and noise a seat
    duels: Callable[..., None]
    # (states, tables, params, scratch, work, seed, first, games, noise, decay, rows, counts, tags, numbers, targets)
    # plays while there is room; returns how many positions were kept and how many games were played
    self_play: Callable[..., tuple[int, int]]


def make_learning(owner: str, verbs: Verbs, planner: Planner) -> Learning:
    """The loops of a game; `owner` is its module."""
    reset, allows, play, score, share = verbs.reset, verbs.allows, verbs.play, verbs.score, verbs.share
    describe, evaluate, plan = planner.describe, planner.evaluate, planner.plan

    def draw_share(seed, number):
        return np.float64(draw_number(seed, number) >> np.uint64(11)) / 9007199254740992.0

    def act(states, tables, params, scratch, work, games, seeds, out):
        for k in range(games.shape[0]):
            plan(states, games[k], tables, params, scratch, work[0], 0.0, seeds[k])
            out[k] = work[0]["plan"][0]

    def play_plan(states, tables, work, number):
        """Play the moves of a plan, as far as they are legal for the seat that made it."""
        state = states[0]
        seat = np.int64(state["player"])
        for k in range(number):
            if state["over"] or np.int64(state["player"]) != seat or not allows(state, tables[0], work["plan"][k]):
                return
            play(state, tables[0], work["plan"][k])

    def duels(states, tables, params, noises, scratch, work, seed, first, shares, margins):
        points = np.zeros(shares.shape[1], np.int64)
        for game in range(shares.shape[0]):
            reset(states, 0, tables, stream(seed, first + game))
            while not states[0]["over"]:
                seat = np.int64(states[0]["player"])
                turn_seed = stream(stream(seed, first + game), 1 + np.int64(states[0]["ply"]))
                number = plan(states, 0, tables, params[seat], scratch, work[0], noises[seat], turn_seed)
                play_plan(states, tables, work[0], number)
            share(states[0], tables[0], shares[game])
            score(states[0], tables[0], points)
            for seat in range(shares.shape[1]):
                margins[game, seat] = points[seat]

    def keep(states, tables, params, work, seats, values, at, rows, counts, tags, numbers):
        """Note a position from some seats."""
        for k in range(at, at + seats[1] - seats[0]):
            seat = seats[0] + k - at
            counts[k] = describe(states[0], tables[0], seat, rows[k], tags[k], numbers[k])
            values[k] = 1.0 / (1.0 + np.exp(-np.float64(evaluate(states[0], tables[0], params, work, seat))))

    def look_back(shares, points, seats, decay, values, begin, end, targets):
        """Returns of TD(lambda), in shares of the win; beside them the final margin to the best other."""
        players, views = points.shape[0], seats[1] - seats[0]
        for seat in range(seats[0], seats[1]):
            ahead = shares[seat]
            best = -1e9
            for other in range(players):
                if other != seat:
                    best = max(best, np.float64(points[other]))
            for k in range(end - views + seat - seats[0], begin - 1, -views):
                targets[k, 0] = ahead
                targets[k, 1] = points[seat] - best
                ahead = (1.0 - decay) * values[k] + decay * ahead

    def self_play(
        states, tables, params, rivals, share_of_rivals, scratch, work, seed, first, games, noise, decay,
        rows, counts, tags, numbers, targets,
    ):  # fmt: skip
        players = np.int64(tables[0]["num_players"])
        values, shares, points = np.zeros(rows.shape[0]), np.zeros(players), np.zeros(players, np.int64)
        end = 0
        for game in range(games):
            begin = end
            game_seed = stream(seed, first + game)
            reset(states, 0, tables, game_seed)
            has_rival = draw_share(game_seed, 1 << 20) < share_of_rivals
            rival = below(draw_number(game_seed, 1 << 21), rivals.shape[0])
            hero = below(draw_number(game_seed, 1 << 22), players)
            seats = (hero, hero + 1) if has_rival else (0, players)
            while True:
                turn_seed = stream(game_seed, 1 + np.int64(states[0]["ply"]))
                if has_rival and np.int64(states[0]["player"]) != hero:
                    number = plan(states, 0, tables, rivals[rival], scratch, work[0], noise, turn_seed)
                else:
                    number = plan(states, 0, tables, params, scratch, work[0], noise, turn_seed)
                play_plan(states, tables, work[0], number)
                if states[0]["over"]:
                    break
                if end + players > rows.shape[0]:
                    return begin, game
                keep(states, tables, params, work[0], seats, values, end, rows, counts, tags, numbers)
                end += seats[1] - seats[0]
            share(states[0], tables[0], shares)
            score(states[0], tables[0], points)
            look_back(shares, points, seats, decay, values, begin, end, targets)
        return end, games

    play_plan, keep, look_back, draw_share = jit(play_plan), jit(keep), jit(look_back), jit(draw_share)
    loops = (loop_for(owner, loop) for loop in (act, duels, self_play))
    return Learning(planner, *loops)
