"""Search trees in flat arrays, compiled, for any game and number of players.

A *group* is a decision: the moves that led to it and the situation of the seat to act (for Tollero the tile in hand,
for Talō the die, which the moves do not name). Its *edges* are the legal moves of that situation, in the order in
which they are tried. An edge leads to one group for each situation that was met behind it. Group 0 is the root.
"""

import math

import numpy as np

from tollero_env.bits import copy
from tollero_env.jit import jit
from tollero_env.rng import below

TREE = np.dtype(
    [
        ("num_groups", np.int64),
        ("num_edges", np.int64),
        ("by_prior", np.int64),  # 1: PUCT, moves of great prior first; 0: UCB1, each move once in random order
        ("grow", np.int64),  # an edge gets a group behind it once it was taken so often; at least 1
        ("is_full", np.int64),  # 1: go on without new groups
        ("explore", np.float64),  # weight of what was tried little against what was good
        ("first_play", np.float64),  # PUCT: an edge not tried yet is worth the group's mean less this
    ]
)
GROUP = np.dtype(
    [
        ("situation", np.int64),
        ("next", np.int32),  # another group behind the same edge, 0 if none: the root is behind no edge
        ("first", np.int32),  # its edges are first .. first + size - 1
        ("size", np.int32),
        ("tried", np.int32),  # edges that were taken at least once; they come first
        ("player", np.int32),  # who decides
        ("visits", np.int32),
        ("total", np.float64),  # of the values for that player
    ]
)
EDGE = np.dtype(
    [
        ("move", np.int64),
        ("child", np.int32),  # the first group behind it, 0 if none
        ("visits", np.int32),
        ("total", np.float32),  # of the values for the player who decides
        ("mean", np.float32),
        ("bonus", np.float32),  # UCB1: 1 / sqrt(visits); PUCT: prior / (1 + visits)
        ("prior", np.float32),
    ]
)
MAX_DEPTH = 1024


@jit
def open_group(tree, groups, edges, situation, player, moves, priors, n):
    """A new group with these moves, behind no edge yet; returns its index. There is room."""
    head = tree[0]
    index, first = head["num_groups"], head["num_edges"]
    head["num_groups"] = index + 1
    head["num_edges"] = first + n
    group = groups[index]
    group["situation"], group["next"], group["player"] = situation, 0, player
    group["first"], group["size"], group["tried"], group["visits"], group["total"] = first, n, 0, 0, 0
    for k in range(n):
        edge = edges[first + k]
        edge["move"], edge["child"], edge["visits"] = moves[k], 0, 0
        edge["total"], edge["mean"], edge["bonus"], edge["prior"] = 0, 0, priors[k], priors[k]
    return index


@jit(inline=True)
def find_group(groups, edges, e, situation):
    """The group behind an edge in that situation, 0 if there is none."""
    g = np.int64(edges[e]["child"])
    while g != 0 and groups[g]["situation"] != situation:
        g = np.int64(groups[g]["next"])
    return g


@jit(inline=True)
def hang_group(groups, edges, e, g):
    """Hang a new group behind an edge."""
    groups[g]["next"] = edges[e]["child"]
    edges[e]["child"] = g


@jit(inline=True)
def _swap_edges(edges, a, b):
    """Two edges that were never taken change places."""
    edges[a]["move"], edges[b]["move"] = edges[b]["move"], edges[a]["move"]
    edges[a]["prior"], edges[b]["prior"] = edges[b]["prior"], edges[a]["prior"]
    edges[a]["bonus"], edges[b]["bonus"] = edges[a]["prior"], edges[b]["prior"]


@jit(inline=True)
def _best_tried(group, edges, factor):
    """(index, score) of the best edge that was tried."""
    first = np.int64(group["first"])
    best, highest = first, np.float32(-1e30)
    for e in range(first, first + np.int64(group["tried"])):
        score = edges[e]["mean"] + factor * edges[e]["bonus"]
        if score > highest:
            best, highest = e, score
    return best, highest


@jit(inline=True)
def _select_by_count(head, group, edges, word):
    """UCB1: every edge once, in an order drawn at random; then by mean and count."""
    left = np.int64(group["size"]) - np.int64(group["tried"])
    if left > 0:
        e = np.int64(group["first"]) + np.int64(group["tried"])
        _swap_edges(edges, e, e + below(word, left))
        group["tried"] += 1
        return e
    factor = np.float32(head["explore"] * math.sqrt(math.log(group["visits"])))
    return _best_tried(group, edges, factor)[0]


@jit(inline=True)
def _select_by_prior(head, group, edges):
    """PUCT. Of the edges not tried yet only the one of the greatest prior can be the best."""
    factor = np.float32(head["explore"] * math.sqrt(group["visits"]))
    best, highest = _best_tried(group, edges, factor)
    fresh = np.int64(group["first"]) + np.int64(group["tried"])
    end = np.int64(group["first"]) + np.int64(group["size"])
    if fresh == end:
        return best
    mean = group["total"] / group["visits"] if group["visits"] > 0 else 0.0
    if group["tried"] > 0 and mean - head["first_play"] + factor * edges[fresh]["prior"] <= highest:
        return best
    group["tried"] += 1
    if fresh + 1 < end:
        _bring_next(edges, fresh + 1, end)
    return fresh


@jit(inline=True)
def _bring_next(edges, fresh, end):
    """Bring the edge of the greatest prior, of those not tried yet, to their front."""
    best = fresh
    for e in range(fresh + 1, end):
        if edges[e]["prior"] > edges[best]["prior"]:
            best = e
    if best != fresh:
        _swap_edges(edges, fresh, best)


@jit(inline=True)
def select(tree, groups, edges, g, word):
    """The edge to take from a group; `word` is random."""
    head, group = tree[0], groups[g]
    if head["by_prior"]:
        if group["visits"] == 0:
            _bring_next(edges, np.int64(group["first"]), np.int64(group["first"]) + np.int64(group["size"]))
        return _select_by_prior(head, group, edges)
    return _select_by_count(head, group, edges, word)


@jit(inline=True)
def update(tree, groups, edges, path, depth, values):
    """Enter the values of all seats on the way: path[k] are the k-th group and the edge that was taken there."""
    by_prior = tree[0]["by_prior"]
    for k in range(depth):
        group, edge = groups[path[k, 0]], edges[path[k, 1]]
        value = values[np.int64(group["player"])]
        group["visits"] += 1
        group["total"] += value
        visits = np.int64(edge["visits"]) + 1
        total = np.float32(edge["total"] + np.float32(value))
        edge["visits"], edge["total"] = visits, total
        edge["mean"] = total / np.float32(visits)
        if by_prior:
            edge["bonus"] = edge["prior"] / np.float32(visits + 1)
        else:
            edge["bonus"] = np.float32(1.0) / np.float32(math.sqrt(visits))


@jit(entry=True)
def find_child(groups, edges, move, situation):
    """The group behind a move of the root in that situation, 0 if there is none."""
    first = np.int64(groups[0]["first"])
    for e in range(first, first + np.int64(groups[0]["size"])):
        if edges[e]["move"] == move:
            return find_group(groups, edges, e, situation)
    return 0


@jit(entry=True)
def move_root(tree, groups, edges, g, new_tree, new_groups, new_edges):
    """Copy group g and all behind it into other arrays, where it is the root. There is room."""
    new_tree[0]["num_groups"], new_tree[0]["num_edges"] = 1, 0
    copy(new_groups, 0, groups, g)
    new_groups[0]["next"] = 0
    k = 0
    while k < new_tree[0]["num_groups"]:  # those behind the edges of group k are added at the end
        first, old = new_tree[0]["num_edges"], np.int64(new_groups[k]["first"])
        new_groups[k]["first"] = first
        new_tree[0]["num_edges"] = first + np.int64(new_groups[k]["size"])
        for e in range(np.int64(new_groups[k]["size"])):
            copy(new_edges, first + e, edges, old + e)
            child = np.int64(edges[old + e]["child"])
            if child != 0:
                new_edges[first + e]["child"] = new_tree[0]["num_groups"]
            while child != 0:
                index = new_tree[0]["num_groups"]
                new_tree[0]["num_groups"] = index + 1
                copy(new_groups, index, groups, child)
                child = np.int64(groups[child]["next"])
                new_groups[index]["next"] = index + 1 if child != 0 else 0
        k += 1
