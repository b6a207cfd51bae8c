"""Talō's part of the protocol in game.py: what Python calls, over the verbs of rules.py."""

import numpy as np

from tollero_env.bits import clear
from tollero_env.game import Verbs
from tollero_env.games.talo.constants import (
    AREA,
    BLOCKED,
    BUILDING,
    CELLS,
    DONE,
    END,
    FIRST_PAIR,
    HEIGHT,
    LARGER,
    LAYING,
    MOST_SHARED,
    NOWHERE,
    NUM_MOVES,
    NUM_PAIRS,
    OVER,
    PICK,
    SMALLER,
    STARTING,
    STAY,
    TAKE,
    TAKING,
    TOP,
    WALK,
    WIDTH,
)
from tollero_env.games.talo.grid import does_fit, drop_block, find_fits, find_free, put_block
from tollero_env.games.talo.placing import find_all_savers, find_places, forget_sure, is_offered, may_place, nth_place
from tollero_env.games.talo.rules import (
    count_points,
    do,
    leaves_places,
    list_cells,
    list_choices,
    list_fields,
    list_picks,
    list_tops,
    may_do,
    may_walk,
    open_table,
    settle,
)
from tollero_env.games.talo.state import WORK, hold
from tollero_env.games.talo.statics import judge, judge_two
from tollero_env.games.talo.walking import find_tops
from tollero_env.jit import jit
from tollero_env.rng import advance, below, draw_number, mix, stream

_PATIENCE = 200  # rejected draws before all legal placements are listed


# ---- chance


@jit(apart=True)
def _roll_on(state, tables, work):
    """Roll from the state's own generator until a player must decide."""
    while state["chance"]:
        state["rng"] = advance(state["rng"])
        settle(state, tables, work, 1 + below(mix(state["rng"]), np.int64(state["chance"])))


@jit(entry=True)
def next_roll(states, i):
    """The value that the die would show next; the generator moves on."""
    states[i]["rng"] = advance(states[i]["rng"])
    return 1 + below(mix(states[i]["rng"]), np.int64(states[i]["chance"]))


@jit(entry=True)
def deal(states, i, tables, setup):
    """A new game; nothing is hidden. In Fantasy the die is due."""
    clear(states, i)
    open_table(states[i], tables[0])


@jit
def _reset(states, i, tables, seed):
    clear(states, i)
    open_table(states[i], tables[0])
    states[i]["rng"] = stream(seed, 0)
    if states[i]["chance"]:
        scratch = np.empty(1, WORK)
        _roll_on(states[i], tables[0], scratch[0])
        hold(scratch)


@jit(entry=True)
def reset(states, i, tables, seed):
    """A new game whose dice follow from the seed."""
    _reset(states, i, tables, seed)


# ---- moves


@jit(apart=True)
def list_with(state, tables, work, out):
    """The legal moves, with scratch to use."""
    forget_sure(work)
    if state["chance"] or state["stage"] == OVER:
        return 0
    stage = state["stage"]
    if stage == STARTING:
        return list_fields(state, tables, out)
    if stage == BLOCKED:
        n = list_fields(state, tables, out)
        out[n] = STAY
        return n + 1
    if stage == TAKING:
        return list_choices(state, tables, work, out)
    if stage == LAYING:
        axis = np.int64(state["picked_axis"])
        find_places(state, tables, work, np.int64(state["picked_length"]), axis)
        return list_cells(work, axis, out, 0)
    n = list_picks(state, tables, work, out) if stage == BUILDING else 0
    n = list_tops(state, tables, work, out, n)
    if stage == DONE:
        out[n] = END
        n += 1
    return n


@jit
def _list_moves(state, tables, out):
    scratch = np.empty(1, WORK)
    number = list_with(state, tables, scratch[0], out)
    hold(scratch)
    return number


@jit(entry=True)
def moves(states, i, tables, out):
    """Write the legal moves of game i; returns their number."""
    return _list_moves(states[i], tables[0], out)


@jit(entry=True)
def placements(states, i, tables, out):
    """Write every placement that is legal while blocks are in hand, as pick * CELLS + cell; returns how many."""
    state, table, n = states[i], tables[0], 0
    if state["stage"] != BUILDING:
        return 0
    scratch = np.empty(1, WORK)
    work = scratch[0]
    forget_sure(work)
    for k in range(2):
        length = np.int64(state["hand"][k])
        if length == 0 or (k == 1 and state["hand"][0] == length):
            continue
        for axis in range(3):
            find_places(state, table, work, length, axis)
            first = n
            n = list_cells(work, axis, out, n)
            for at in range(first, n):
                out[at] += (3 * (length - 1) + axis) * CELLS
    hold(scratch)
    return n


@jit(entry=True)
def pawn_moves(states, i, tables, out):
    """Write the legal moves of the pawn to act; returns how many."""
    scratch = np.empty(1, WORK)
    forget_sure(scratch[0])
    number = list_tops(states[i], tables[0], scratch[0], out, 0)
    hold(scratch)
    return number


@jit(entry=True)
def walks(states, i, seat, out):
    """Write the tops that a seat's pawn could walk to if it were its time, as moves; returns how many."""
    state = states[i]
    if state["pawn_level"][seat] == NOWHERE:
        return 0
    scratch = np.empty(1, WORK)
    number = find_tops(state, scratch[0], seat)
    for k in range(number):
        out[k] = WALK + np.int64(scratch[0]["queue"][k])
    hold(scratch)
    return number


@jit(entry=True)
def find_problem(states, i, tables, length, axis, cell):
    """Why a block of the hand may not be placed there: 1 it does not fit, 2 it does not stand (B3, B4); else 0."""
    state, table = states[i], tables[0]
    scratch = np.empty(1, WORK)
    work = scratch[0]
    forget_sure(work)
    x, y, z = cell % WIDTH, cell % AREA // WIDTH, cell // AREA
    find_free(state, table, work["free"][0])
    problem = 1
    if does_fit(state, work["free"][0], length, axis, (x, y, z)):
        problem = 0 if may_place(state, table, work, length, (axis, x, y, z)) else 2
    hold(scratch)
    return problem


@jit(entry=True)
def try_block(states, i, length, axis, cell):
    """Would everything stand with this block, which fits? The stage that knew, negative if not; see statics.py."""
    state = states[i]
    scratch = np.empty(1, WORK)
    highest, first = np.int64(state["highest"]), np.int64(state["num_blocks"])
    block = put_block(state, length, axis, cell % WIDTH, cell % AREA // WIDTH, cell // AREA)
    if state["falling"]:
        code = judge_two(state, scratch[0], block, first)
    else:
        code = judge(state, scratch[0], block, False)
    drop_block(state, highest)
    hold(scratch)
    return code


@jit(entry=True)
def try_all(states, i, tables, out, codes):
    """Every placement that fits, as pick * CELLS + cell, and what `try_block` says of it; returns how many."""
    state, n = states[i], 0
    scratch = np.empty(1, WORK)
    work = scratch[0]
    find_free(state, tables[0], work["free"][0])
    for k in range(2):
        length = np.int64(state["hand"][k])
        if length == 0 or (k == 1 and state["hand"][0] == length):
            continue
        for axis in range(3):
            find_fits(state, work["free"][0], length, axis, work["fits"][axis])
            first = n
            n = list_cells(work, axis, out, n)
            for at in range(first, n):
                codes[at] = try_block(states, i, length, axis, out[at])
                out[at] += (3 * (length - 1) + axis) * CELLS
    hold(scratch)
    return n


@jit
def _allows(state, tables, move):
    scratch = np.empty(1, WORK)
    is_legal = may_do(state, tables, scratch[0], move)
    hold(scratch)
    return is_legal


@jit(entry=True)
def is_legal(states, i, tables, move):
    """Is the move among `moves`? Any number may be asked."""
    return _allows(states[i], tables[0], move)


@jit(entry=True)
def act(states, i, tables, move):
    """Play a legal move, up to where the die is due."""
    scratch = np.empty(1, WORK)
    do(states[i], tables[0], scratch[0], move)
    hold(scratch)


@jit(entry=True)
def chance(states, i, tables, value):
    """The die shows that value; it may be due again."""
    scratch = np.empty(1, WORK)
    settle(states[i], tables[0], scratch[0], value)
    hold(scratch)


@jit(apart=True)
def play_with(state, tables, work, move):
    """`act`, then the die, with scratch to use."""
    do(state, tables, work, move)
    _roll_on(state, tables, work)


@jit
def _play(state, tables, move):
    scratch = np.empty(1, WORK)
    play_with(state, tables, scratch[0], move)
    hold(scratch)


@jit(entry=True)
def apply(states, i, tables, move):
    """Play a legal move, and roll until somebody must decide."""
    _play(states[i], tables[0], move)


# ---- points


@jit(entry=True)
def scores(states, i, tables, out):
    """The level of each pawn; in Fantasy what the group has built."""
    count_points(states[i], tables[0], out)


@jit
def _share(state, tables, out):
    """F1, F2, B4: the highest pawn wins, equal ones share; a builder whose placement fell does not count."""
    players = np.int64(tables["num_players"])
    points = np.zeros(4, np.int64)
    count_points(state, tables, points)
    if tables["fantasy"]:
        for seat in range(players):
            out[seat] = points[seat] / (TOP if tables["three_feet"] else MOST_SHARED)
        return
    loser = np.int64(state["builder"]) - 1
    best, num_winners = -1, 0
    for seat in range(players):
        if seat != loser:
            best = max(best, points[seat])
    for seat in range(players):
        num_winners += seat != loser and points[seat] == best
    for seat in range(players):
        out[seat] = 1.0 / num_winners if seat != loser and points[seat] == best else 0.0


@jit(entry=True)
def outcome(states, i, tables, out):
    """Each seat's share of the win, as if the game ended now; in Fantasy the shared reward."""
    _share(states[i], tables[0], out)


@jit
def _is_shared(tables):
    return tables["fantasy"] != 0


def is_shared(tables):
    """Is the outcome one reward for all? (Fantasy)"""
    return bool(tables["fantasy"][0])


@jit(entry=True)
def resample(states, i, tables, player, seed):
    """Only the dice to come are unknown."""
    states[i]["rng"] = stream(seed, 2)


# ---- random games


@jit(apart=True)
def _random_take(state, tables, work, base, draws):
    """Take one of the choices that the roll offers, drawn uniformly; returns the number of draws made."""
    die = np.int64(state["die"])
    while True:
        k = below(draw_number(base, draws), 1 + NUM_PAIRS[die])
        draws += 1
        choice = die - 1 if k == 0 else FIRST_PAIR[die] + k - 1
        if is_offered(state, tables, work, LARGER[choice], SMALLER[choice]):
            play_with(state, tables, work, TAKE + choice)
            return draws


@jit
def _place(state, tables, work, length, axis, place):
    x, y, z = place
    play_with(state, tables, work, PICK + 3 * (length - 1) + axis)
    play_with(state, tables, work, z * AREA + y * WIDTH + x)


@jit
def _count_fits(state, tables, work, counts):
    """Where each block in hand fits, by block and axis: one board of `many` each; returns how many places in all."""
    find_free(state, tables, work["free"][0])
    total = 0
    for k in range(2):
        length = np.int64(state["hand"][k])
        is_new = length > 0 and not (k == 1 and state["hand"][0] == length)
        for axis in range(3):
            counts[3 * k + axis] = 0
            if is_new:
                counts[3 * k + axis] = find_fits(state, work["free"][0], length, axis, work["many"][3 * k + axis])
                total += counts[3 * k + axis]
    return total


@jit(apart=True)
def _random_saver(state, tables, work, word):
    """Place the second block so that it saves the first, drawn uniformly."""
    length = np.int64(state["hand"][0])
    rank = below(word, find_all_savers(state, tables, work, length))
    for axis in range(3):
        x, y, z, rank = nth_place(work["fits"][axis], rank)
        if rank < 0:
            _place(state, tables, work, length, axis, (x, y, z))
            return


@jit
def _copy_board(board, out):
    for z in range(HEIGHT):
        for y in range(WIDTH):
            out[z, y] = board[z, y]


@jit(apart=True)
def _random_of_all(state, tables, work, word):
    """Drawn from a list of all that is legal: where draws at random hardly ever are."""
    for k in range(2):
        length = np.int64(state["hand"][k])
        for axis in range(3):
            if work["counts"][3 * k + axis]:
                find_places(state, tables, work, length, axis)
                _copy_board(work["fits"][axis], work["many"][3 * k + axis])
    out = np.empty(6 * CELLS + CELLS, np.int64)
    n = 0
    for board in range(6):
        if work["counts"][board]:
            _copy_board(work["many"][board], work["fits"][0])
            first = n
            n = list_cells(work, 0, out, n)
            for k in range(first, n):
                out[k] += NUM_MOVES + board * CELLS
    n = list_tops(state, tables, work, out, n)
    move = out[below(word, n)]
    if move < NUM_MOVES:
        play_with(state, tables, work, move)
        return
    board, cell = (move - NUM_MOVES) // CELLS, (move - NUM_MOVES) % CELLS
    place = (cell % WIDTH, cell % AREA // WIDTH, cell // AREA)
    _place(state, tables, work, np.int64(state["hand"][board // 3]), board % 3, place)


@jit(apart=True)
def _random_build(state, tables, work, base, draws):
    """Place a block or move the pawn, drawn uniformly from all that is legal; returns the number of draws made."""
    forget_sure(work)
    if state["falling"] and not tables["may_fall"]:
        _random_saver(state, tables, work, draw_number(base, draws))
        return draws + 1
    counts = work["counts"]
    num_fits = _count_fits(state, tables, work, counts)
    num_tops = find_tops(state, work, np.int64(state["player"])) if may_walk(state) else 0
    for _ in range(_PATIENCE):
        rank = below(draw_number(base, draws), num_fits + num_tops)
        draws += 1
        if rank >= num_fits:
            place = np.int64(work["queue"][rank - num_fits])
            if leaves_places(state, tables, work, place):
                play_with(state, tables, work, WALK + place)
                return draws
            continue
        board = 0
        while rank >= counts[board]:
            rank -= counts[board]
            board += 1
        length, axis = np.int64(state["hand"][board // 3]), board % 3
        x, y, z, _ = nth_place(work["many"][board], rank)
        if may_place(state, tables, work, length, (axis, x, y, z)):
            _place(state, tables, work, length, axis, (x, y, z))
            return draws
    _random_of_all(state, tables, work, draw_number(base, draws))
    return draws + 1


@jit
def _random_move(state, tables, work, base, draws):
    """Play a decision drawn uniformly; a placement is one. Returns the number of draws made."""
    stage = state["stage"]
    if stage == TAKING:
        return _random_take(state, tables, work, base, draws)
    if stage == BUILDING:
        return _random_build(state, tables, work, base, draws)
    out = np.empty(CELLS + 1, np.int64)
    number = list_with(state, tables, work, out)
    play_with(state, tables, work, out[below(draw_number(base, draws), number)])
    return draws + 1


@jit
def random_game(state, tables, work, seed):
    """Uniformly random decisions to the end."""
    base, draws = stream(seed, 1), 0
    if state["stage"] == LAYING:  # half of a placement is made: finish it
        out = np.empty(CELLS, np.int64)
        number = list_with(state, tables, work, out)
        play_with(state, tables, work, out[below(draw_number(base, draws), number)])
        draws += 1
    while not state["over"]:
        draws = _random_move(state, tables, work, base, draws)


@jit(entry=True)
def random_decision(states, i, tables, seed):
    """Play one decision as `playout` does: drawn uniformly, a placement being one."""
    scratch = np.empty(1, WORK)
    _random_move(states[i], tables[0], scratch[0], stream(seed, 1), 0)
    hold(scratch)


@jit(entry=True)
def playout(states, i, tables, seed):
    """Play random moves to the end of the game."""
    scratch = np.empty(1, WORK)
    random_game(states[i], tables[0], scratch[0], seed)
    hold(scratch)


@jit(entry=True)
def playouts(states, tables, seed, decisions, points):
    """Reset and play out as many games as `decisions` has room for, in states[0]."""
    scratch = np.empty(1, WORK)
    for game in range(decisions.shape[0]):
        game_seed = stream(seed, game)
        _reset(states, 0, tables, game_seed)
        random_game(states[0], tables[0], scratch[0], game_seed)
        decisions[game] = np.int64(states[0]["ply"]) - np.int64(states[0]["num_blocks"])  # a placement is two moves
        count_points(states[0], tables[0], points[game])
    hold(scratch)


VERBS = Verbs(
    reset=_reset,
    list_moves=_list_moves,
    allows=_allows,
    play=_play,
    score=count_points,
    share=_share,
    is_shared=_is_shared,
)
