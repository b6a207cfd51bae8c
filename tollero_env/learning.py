"""Self-play and choices of learned players, in compiled loops that know no game.

A game offers a `Planner`; `make_learning` makes of it what trainer and agents call. Self-play writes positions into a
*book*, a tuple of arrays:

    rows    (room for rows, indices) int16    what the positions look like, one after the other
    first   (positions,) int64                where a position's rows begin
    counts  (positions,) int64                how many it has
    tags    (positions, tags) int64
    numbers (positions, numbers) float32
    targets (positions, 2) float32            share of the win (a return of TD(lambda)), final margin to the best other
"""

import numpy as np

from tollero_env.bits import copy
from tollero_env.fitting import make_fit
from tollero_env.game import Array, Insight, Learning, Planner, Search, Verbs
from tollero_env.jit import jit, loop_for
from tollero_env.rng import below, draw_number, stream

Book = tuple[Array, Array, Array, Array, Array, Array]
MAX_SEATS = 4
_MILLION = 1_000_000
_MEETS, _WHICH, _HERO, _TURN = 1 << 20, 1 << 21, 1 << 22, 1 << 23  # streams of a game's seed


def make_book(planner: Planner, positions: int, rows: int) -> Book:
    """An empty book with room for so many positions and rows."""
    return (
        np.zeros((rows, planner.row), np.int16),
        np.zeros(positions, np.int64),
        np.zeros(positions, np.int64),
        np.zeros((positions, planner.tags), np.int64),
        np.zeros((positions, planner.sizes.numbers), np.float32),
        np.zeros((positions, 2), np.float32),
    )


def make_learning(
    owner: str,
    verbs: Verbs,
    insight: Insight,
    planner: Planner,
    search: Search | None = None,
    search_params: tuple[float, ...] = (),
) -> Learning:
    """The loops of a game; `owner` is its module."""
    reset, allows, play, score, share = verbs.reset, verbs.allows, verbs.play, verbs.score, verbs.share
    insight_gather, insight_scatter = insight.gather, insight.scatter
    describe, evaluate, plan, max_rows = planner.describe, planner.evaluate, planner.plan, planner.rows

    def act_many(states, tables, params, scratch, work, games, out):
        for k in range(games.shape[0]):
            plan(states, games[k], tables[0], params, scratch, 0, work[0], 0.0, np.uint64(0))
            out[k] = work[0]["plan"][0]

    @jit(inline=True)
    def chance(logit):
        return 1.0 / (1.0 + np.exp(-np.float64(logit)))

    def judge(states, i, tables, params, work, out):
        for seat in range(out.shape[0]):
            out[seat] = chance(evaluate(states[i], tables[0], params, work[0], seat))

    @jit
    def play_plan(state, table, work, number):
        """Play the moves of a plan, as far as they are legal for the seat that made it."""
        seat = np.int64(state["player"])
        for k in range(number):
            if state["over"] or np.int64(state["player"]) != seat or not allows(state, table, work["plan"][k]):
                return
            play(state, table, work["plan"][k])

    def settle(states, i, tables, player):
        insight_gather(states[i], tables[0], player)

    def list_plans(states, tables, params, scratch, work, root):
        plan(states, root, tables[0], params, scratch, 0, work[0], 0.0, np.uint64(0))

    @jit(inline=True)
    def value_of(state, table, params, work, viewer, shares):
        if state["over"]:
            share(state, table, shares)
            return shares[viewer]
        return chance(evaluate(state, table, params, work, viewer))

    def look_ahead(states, tables, params, work, plans, active, sums, seed, first, count, turns):
        """Play plans at the root, states[0] (settled), and then so many turns of whoever comes; add up the values.

        Every plan meets the same hidden things. states[1] and states[2] are free to use.
        """
        table, viewer, shares = tables[0], np.int64(states[0]["player"]), np.zeros(MAX_SEATS)
        state = states[1]
        for number in range(first, first + count):
            for k in active:
                copy(states, 1, states, 0)
                insight_scatter(state, table, viewer, stream(seed, number))
                for m in range(plans.shape[1]):
                    if plans[k, m] < 0 or not allows(state, table, plans[k, m]):
                        break
                    play(state, table, plans[k, m])
                for _ in range(turns):
                    if state["over"]:
                        break
                    length = plan(states, 1, table, params, states, 2, work[0], 0.0, np.uint64(0))
                    play_plan(state, table, work[0], length)
                sums[k] += value_of(state, table, params, work[0], viewer, shares)

    @jit
    def note(state, table, params, work, seats, values, begin, at, row, book):
        """Write down how some seats see a position; returns where the next row goes."""
        rows, first, counts, tags, numbers, _ = book
        for k in range(at, at + seats[1] - seats[0]):
            seat = seats[0] + k - at
            first[k] = row
            counts[k] = describe(state, table, seat, rows[row : row + max_rows], tags[k], numbers[k])
            row += counts[k]
            values[k - begin] = chance(evaluate(state, table, params, work, seat))
        return row

    @jit
    def look_back(shares, points, seats, decay, values, begin, end, targets):
        """The returns of a game that is over, from its last position to its first."""
        players, views = points.shape[0], seats[1] - seats[0]
        for seat in range(seats[0], seats[1]):
            best = -1e9
            for other in range(players):
                if other != seat:
                    best = max(best, np.float64(points[other]))
            ahead = shares[seat]
            for k in range(end - views + seat - seats[0], begin - 1, -views):
                targets[k, 0] = ahead
                targets[k, 1] = points[seat] - best
                ahead = (1.0 - decay) * values[k - begin] + decay * ahead

    def self_play(
        states, tables, params, rivals, share_of_rivals, scratch, work, seed, first, games, noise, decay, start, book
    ):
        """Play games number first, first + 1, ... in states[0] and write them into the book from (position, row) on.

        In that share of the games one seat alone plays by `params` and is written down, the others by one of the
        rivals. Returns (position, row) behind the last one written; what no longer fits is not written.
        """
        state, table = states[0], tables[0]
        players = np.int64(table["num_players"])
        targets = book[5]
        at, row = start
        shares, points = np.zeros(players), np.zeros(players, np.int64)
        values = np.zeros(targets.shape[0] - at)  # of a game's positions
        for game in range(first, first + games):
            begin, begin_row = at, row
            game_seed = stream(seed, game)
            reset(states, 0, tables, game_seed)
            is_mixed = (
                np.float64(draw_number(game_seed, _MEETS) >> np.uint64(11)) / 9007199254740992.0 < share_of_rivals
            )
            rival = below(draw_number(game_seed, _WHICH), rivals.shape[0])
            hero = below(draw_number(game_seed, _HERO), players)
            seats = (hero, hero + 1) if is_mixed else (np.int64(0), players)
            while True:
                turn_seed = stream(game_seed, _TURN + np.int64(state["ply"]))
                net = rivals[rival] if is_mixed and np.int64(state["player"]) != hero else params
                number = plan(states, 0, table, net, scratch, 0, work[0], noise, turn_seed)
                play_plan(state, table, work[0], number)
                if state["over"]:
                    break
                if at + players > targets.shape[0] or row + players * max_rows > book[0].shape[0]:
                    return begin, begin_row
                row = note(state, table, params, work[0], seats, values, begin, at, row, book)
                at += seats[1] - seats[0]
            share(state, table, shares)
            score(state, table, points)
            look_back(shares, points, seats, decay, values, begin, at, targets)
        return at, row

    fit = make_fit(owner, planner)
    loops = (act_many, judge, settle, list_plans, look_ahead, self_play)
    act, judge_one, settle_one, list_best, look, play_many = (loop_for(owner, loop) for loop in loops)
    return Learning(planner, fit, act, judge_one, settle_one, list_best, look, play_many, search, search_params)
