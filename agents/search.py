"""Tree search from Python: trees in memory, a budget of simulations or of time, threads, and the root's counts."""

import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from tollero_env import tree
from tollero_env.game import Array, Rules, Style
from tollero_env.position import Position, as_word
from tollero_env.rng import derive

# One tree takes no more; from then on it is searched without growing. Memory is only taken as it fills.
MAX_EDGES, MAX_GROUPS = 1 << 23, 1 << 21
BLOCK = 0.0007  # seconds between looks at the clock


class Budget(NamedTuple):
    """How much is searched: simulations, or milliseconds."""

    sims: int = 0
    ms: float = 0


class Tree:
    """One tree, used again from move to move."""

    def __init__(self, rules: Rules, style: Style, sims: int = 0) -> None:
        """Of `sims` simulations, if that is known."""
        self.rules, self.style, self.sims = rules, style, sims
        self.states = np.zeros(style.search.num_states, rules.game.state)
        self._arrays = self._allocate()
        self._spare: tuple[Array, Array, Array] | None = None

    def _allocate(self) -> tuple[Array, Array, Array]:
        edges = max(MAX_EDGES, 2 * self.style.search.max_edges)
        groups = MAX_GROUPS
        if self.sims:
            edges, groups = min(edges, (self.sims + 1) * self.style.search.max_edges), min(groups, self.sims + 2)
        return np.zeros(1, tree.TREE), np.empty(groups, tree.GROUP), np.empty(edges, tree.EDGE)

    def start(self, root: Array) -> None:
        """Begin at this root, a settled state."""
        self.states[:1] = root
        self._arrays[0][0] = np.zeros((), tree.TREE)
        self._set_head()

    def follow(self, root: Array, move: int) -> None:
        """Go on behind a move of the root, where this is the root; begin anew if nothing is known there."""
        _, groups, edges = self._arrays
        g = tree.find_child(groups, edges, move, self.style.search.situation(root, 0))
        if g == 0:
            self.start(root)
            return
        self._spare = self._spare or self._allocate()
        tree.move_root(*self._arrays, g, *self._spare)
        self._arrays, self._spare = self._spare, self._arrays
        self.states[:1] = root
        self._set_head()

    def _set_head(self) -> None:
        head, style = self._arrays[0], self.style
        head["by_prior"], head["explore"], head["first_play"] = style.by_prior, style.explore, style.first_play
        head["grow"], head["is_full"] = style.grow, 0

    def run(self, seed: int, start: int, sims: int) -> None:
        """So many simulations, from that number on."""
        done, word = 0, as_word(seed)
        while done < sims:
            left = (start + done, sims - done)
            done += self.style.search.run(self.states, self.rules.tables, *self._arrays, self.style.params, word, *left)
            if done < sims:
                self._arrays[0]["is_full"] = 1

    def run_until(self, seed: int, deadline: float) -> None:
        """Simulate until time.perf_counter() is that, and at least once."""
        start, block = 0, 1
        while block:
            before = time.perf_counter()
            self.run(seed, start, block)
            start += block
            now = time.perf_counter()
            most = block * min(BLOCK, deadline - now) / max(now - before, 1e-9)
            block = max(int(most > 0), min(4 * block, int(most)))

    def counts(self) -> list[tuple[int, int, float]]:
        """(move, visits, sum of the values for the seat at the root) of every move at the root."""
        _, groups, edges = self._arrays
        first, size = int(groups[0]["first"]), int(groups[0]["size"])
        found = edges[first : first + size]
        return list(zip(*(found[name].tolist() for name in ("move", "visits", "total"))))


class Forest:
    """Trees of one position, one for each thread, that follow a game from move to move."""

    def __init__(self, rules: Rules, style: Style, threads: int = 1, sims: int = 0) -> None:
        """Of `sims` simulations in all, if that is known."""
        self.rules = rules
        self.trees = [Tree(rules, style, sims) for _ in range(threads)]
        self._search = style.search
        self._root: Array | None = None

    def start(self, position: Position, played: int | None = None) -> None:
        """Begin at a position; if only the move `played` lies between it and the last one, with what is known of it."""
        root = self._settled(position.states, position.player)
        is_next = played is not None and self._root is not None and self._leads_to(root, played)
        for one in self.trees:
            if is_next and played is not None:
                one.follow(root, played)
            else:
                one.start(root)
        self._root = root

    def _settled(self, states: Array, player: int) -> Array:
        root = states[:1].view(np.uint64).copy().view(states.dtype)
        self._search.settle(root, 0, self.rules.tables, player)
        return root

    def _leads_to(self, root: Array, played: int) -> bool:
        """Does that move lead from the last root to this one, as far as its seat knows?"""
        assert self._root is not None
        after, player, tables = self._root.copy(), int(root["player"][0]), self.rules.tables
        if int(after["player"][0]) != player or not self.rules.game.is_legal(after, 0, tables, played):
            return False
        self.rules.game.apply(after, 0, tables, played)
        return self._settled(after, player).tobytes() == root.tobytes()

    def think(self, budget: Budget, seed: int, since: float) -> dict[int, tuple[int, float]]:
        """Search; for every move of the root how often it was tried and its mean. `since` is when the time began."""
        deadline, number = since + budget.ms / 1000, len(self.trees)
        share = [budget.sims // number + (k < budget.sims % number) for k in range(number)]

        def search(k: int) -> None:
            if budget.ms:
                self.trees[k].run_until(derive(seed, k), deadline)
            else:
                self.trees[k].run(derive(seed, k), 0, share[k])

        if number == 1:
            search(0)
        else:
            with ThreadPoolExecutor(number) as pool:
                list(pool.map(search, range(number)))
        return merge(one.counts() for one in self.trees)


def merge(roots: Iterable[list[tuple[int, int, float]]]) -> dict[int, tuple[int, float]]:
    """The counts of several trees of one position as one: visits and mean of every move."""
    sums: dict[int, tuple[int, float]] = {}
    for counts in roots:
        for move, visits, total in counts:
            before = sums.get(move, (0, 0.0))
            sums[move] = (before[0] + visits, before[1] + total)
    return {move: (visits, total / max(visits, 1)) for move, (visits, total) in sums.items()}
