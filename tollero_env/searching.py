"""The search loop, written once, compiled for each game and guide: information-set MCTS for any number of seats.

Each simulation redraws what the seat at the root cannot know (`Insight`), goes down the tree by the values for
whoever decides there (max^n), adds at most one group, and lets the guide evaluate the position it came to.
"""

import numpy as np

from tollero_env.bits import copy
from tollero_env.game import Guide, Insight, Search, Verbs
from tollero_env.jit import jit, loop_for
from tollero_env.rng import draw_number, stream
from tollero_env.tree import MAX_DEPTH, find_group, hang_group, open_group, select, update

MAX_SEATS = 4


def make_search(owner: str, name: str, verbs: Verbs, insight: Insight, guide: Guide, max_legal: int) -> Search:
    """A search of a game; `owner` is its module, `name` tells the searches of one owner apart."""
    list_moves, play = verbs.list_moves, verbs.play
    gather, scatter, find_situation = insight.gather, insight.scatter, insight.situation
    find_priors, evaluate = guide.prior, guide.evaluate

    @jit
    def grow_tree(states, tables, tree, groups, edges, params, situation, moves, priors):
        n = list_moves(states[1], tables[0], moves)
        find_priors(states, 1, tables[0], params, moves, n, priors)
        return open_group(tree, groups, edges, situation, np.int64(states[1]["player"]), moves, priors, n)

    def run(states, tables, tree, groups, edges, params, seed, start, count):
        """Simulations number start, start + 1, ...; fewer than `count` if there is no room and tree is not full.

        states[0] is the root, settled; equal seeds and trees give equal results.
        """
        moves, priors = np.empty(max_legal, np.int64), np.zeros(max_legal, np.float64)
        path, values = np.empty((MAX_DEPTH, 2), np.int64), np.zeros(MAX_SEATS, np.float64)
        table, viewer, head = tables[0], np.int64(states[0]["player"]), tree[0]
        for k in range(count):
            has_room = head["num_groups"] < groups.shape[0] and head["num_edges"] + max_legal <= edges.shape[0]
            if not (has_room or head["is_full"]):
                return k
            base = stream(seed, start + k)
            copy(states, 1, states, 0)
            state = states[1]
            scatter(state, table, viewer, base)
            if head["num_groups"] == 0:
                grow_tree(states, tables, tree, groups, edges, params, find_situation(state), moves, priors)
            g, depth = np.int64(0), 0
            while True:
                e = select(tree, groups, edges, g, draw_number(base, depth + 1))
                path[depth, 0], path[depth, 1] = g, e
                depth += 1
                play(state, table, edges[e]["move"])
                if state["over"] or edges[e]["visits"] < head["grow"] or depth == MAX_DEPTH:
                    break
                situation = find_situation(state)
                g = find_group(groups, edges, e, situation)
                if g == 0:
                    if not has_room:
                        break
                    g = grow_tree(states, tables, tree, groups, edges, params, situation, moves, priors)
                    hang_group(groups, edges, e, g)
            evaluate(states, 1, table, params, base, values)
            update(tree, groups, edges, path, depth, values)
        return count

    def settle(states, i, tables, player):
        gather(states[i], tables[0], player)

    def redraw(states, i, tables, player, seed):
        scatter(states[i], tables[0], player, seed)

    def situation(states, i):
        return find_situation(states[i])

    def prior(states, i, tables, params, moves, n, out):
        find_priors(states, i, tables[0], params, moves, n, out)

    def value(states, i, tables, params, seed, out):
        evaluate(states, i, tables[0], params, seed, out)

    loops = (settle, redraw, situation, prior, value, run)
    for loop in loops:
        loop.__name__ = f"{name}_{loop.__name__}"
    return Search(2 + guide.spare, max_legal, *(loop_for(owner, loop) for loop in loops))
