"""What the tests of Talō share: balance by a linear program of its own, positions out of real games."""

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_matrix, hstack, identity

from tollero_env.games.talo import climbing as climber
from tollero_env.games.talo import grid, protocol
from tollero_env.games.talo.boards import Board
from tollero_env.games.talo.constants import AREA, CELLS, LAYING, PICK, REACH, TAKE, WIDTH
from tollero_env.games.talo.state import STATE

DELTA = 1 / 461
STEPS = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


def cells_of(block):
    """The cells of (length, x, y, z, axis), axis 0, 1, 2."""
    length, x, y, z, axis = block
    i, j, k = STEPS[axis]
    return [(x + n * i, y + n * j, z + n * k) for n in range(length)]


def blocks_of(state):
    """(length, x, y, z, axis) of every block, as people count."""
    names = ("length", "x", "y", "z", "axis")
    found = [tuple(int(state[name][block]) for name in names) for block in range(1, int(state["num_blocks"]) + 1)]
    return [(length, x - REACH, y - REACH, z, axis) for length, x, y, z, axis in found]


def stands_by_lp(blocks):
    """B3 word for word, with scipy: forces >= 0 that balance every block's weight and moments."""
    owner = {cell: number for number, block in enumerate(blocks) for cell in cells_of(block)}
    rows, columns, values = [], [], []
    limits = ([], [], [])  # rows, columns, values of what leaning must not exceed
    num_unknowns = num_limits = 0

    def push(block, x, y, sign):
        """A unit force on a block at (x, y), in the unknown's column."""
        for row, value in enumerate((1, x, y)):
            rows.append(3 * block + row)
            columns.append(num_unknowns)
            values.append(sign * value)

    for number, block in enumerate(blocks):
        cells, lifts = cells_of(block), []
        for x, y, z in cells:
            below = owner.get((x, y, z - 1))
            if below == number or (below is None and z > 0):
                continue
            for i in (x + DELTA, x + 1 - DELTA):
                for j in (y + DELTA, y + 1 - DELTA):
                    push(number, i, j, 1)
                    if below is not None:
                        push(below, i, j, -1)
                    lifts.append(num_unknowns)
                    num_unknowns += 1
        axis = block[4]
        if axis == 2:
            continue
        for end, sign in ((-1, -1), (len(cells), 1)):
            beside = tuple(start + end * step for start, step in zip(cells[0], STEPS[axis]))
            post = owner.get(beside)
            if post is not None and blocks[post][4] == 2 and blocks[post][0] >= 2:
                # as if what pushes up acted nearer to this end
                rows.append(3 * number + 1 + axis)
                columns.append(num_unknowns)
                values.append(sign)
                for column, value in ((num_unknowns, 1), *((lift, -2 * DELTA) for lift in lifts)):
                    limits[0].append(num_limits)
                    limits[1].append(column)
                    limits[2].append(value)
                num_unknowns += 1
                num_limits += 1
    loads = []
    for block in blocks:
        cells = cells_of(block)
        middle = [sum(cell[k] for cell in cells) / len(cells) + 0.5 for k in range(2)]
        loads += [len(cells), len(cells) * middle[0], len(cells) * middle[1]]
    equal = coo_matrix((values, (rows, columns)), (3 * len(blocks), num_unknowns)).tocsr()
    more = {}
    if num_limits:
        more = {
            "A_ub": coo_matrix((limits[2], limits[:2]), (num_limits, num_unknowns)).tocsr(),
            "b_ub": np.zeros(num_limits),
        }
    found = linprog(np.zeros(num_unknowns), A_eq=equal, b_eq=loads, method="highs", **more)
    if found.status in (0, 2):
        return found.status == 0
    # where the solver is not sure: the least imbalance, which always exists
    slack = identity(len(loads), format="csr")
    if num_limits:
        more["A_ub"] = hstack([more["A_ub"], coo_matrix((num_limits, 2 * len(loads)))], format="csr")
    costs = np.concatenate([np.zeros(num_unknowns), np.ones(2 * len(loads))])
    found = linprog(costs, A_eq=hstack([equal, slack, -slack], format="csr"), b_eq=loads, method="highs", **more)
    assert found.status == 0, found.message
    return found.fun < 1e-6


def decode(code):
    """(length, x, y, z, axis) of pick * CELLS + cell."""
    pick, cell = divmod(int(code), CELLS)
    return pick // 3 + 1, cell % WIDTH - REACH, cell % AREA // WIDTH - REACH, cell // AREA, pick % 3


POND = Board("pond", tuple("~~o~~####~" if y % 3 else "###~~o####" for y in range(10)))


def playing_policy(rules, rng, climbing=0.5):
    """A function from states to the moves of one decision (a placement is two): at times the climber's, else random."""
    games, out, buffer = np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(20_000, np.int64)

    def one(states, is_climber):
        if is_climber and not rules.tables["fantasy"][0]:
            seeds = rng.integers(1 << 60, size=1).astype(np.uint64)
            climber.choose_many(states, rules.tables, games, seeds, out)
            return int(out[0])
        number = protocol.moves(states, 0, rules.tables, buffer)
        moves = rng.permutation(buffer[:number])
        state = states[0]
        if state["stage"] == LAYING and rules.tables["may_fall"][0] and rng.random() < 0.97:
            block = int(state["picked_length"]), int(state["picked_axis"])  # most games should not end at once
            moves = [move for move in moves[:30] if protocol.try_block(states, 0, *block, move) > 0] or moves
        return int(moves[0])

    def choose(states):
        is_climber = rng.random() < climbing
        move = one(states, is_climber)
        if not PICK <= move < TAKE:
            return [move]
        after = states.copy()
        protocol.act(after, 0, rules.tables, move)
        return [move, one(after, is_climber)]

    return choose


def positions(rules, seed, climbing=0.5):
    """The states of one game, one before each decision, as arrays of one."""
    rng = np.random.default_rng(seed)
    choose, states = playing_policy(rules, rng, climbing), np.zeros(1, STATE)
    protocol.reset(states, 0, rules.tables, np.uint64(seed))
    while not states[0]["over"]:
        yield states.copy()
        for move in choose(states):
            protocol.apply(states, 0, rules.tables, move)


def cell_of(block):
    """The kernel's number of a block's least cell."""
    _, x, y, z, _ = block
    return z * AREA + (y + REACH) * WIDTH + x + REACH


def put_all(blocks, falling=False):
    """A state that holds these blocks and nothing else."""
    states = np.zeros(1, STATE)
    for length, x, y, z, axis in blocks:
        grid.put_block(states[0], length, axis, x + REACH, y + REACH, z)
    states[0]["falling"] = falling
    return states


def trial(blocks, block):
    """What the kernel says of one more block."""
    return int(protocol.try_block(put_all(blocks), 0, block[0], block[4], cell_of(block)))
