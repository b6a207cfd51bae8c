"""Tree search: the compiled loop against one in plain Python, hidden things, reuse, threads, and what it finds."""

import math
import random

import numpy as np
import pytest

from agents.ismcts import ALLOWED, TAKEN, find_style
from agents.search import Budget, Forest, Tree, merge
from tollero_env import new_game, tree
from tollero_env.game import OptionError, get_rules
from tollero_env.games.tollero import search
from tollero_env.games.tollero.constants import FIRST
from tollero_env.opponents import make_agent
from tollero_env.position import Position, as_word
from tollero_env.rng import below, choose, derive, draw_number, stream

STYLES = list(search.STYLES)
PLAIN = search.PLAIN
F32 = np.float32


def middle(players=2, seed=3, decisions=20, **options):
    """A position in which somebody is to decide after so many random moves."""
    position = new_game(players=players, seed=seed, **options)
    for ply in range(decisions):
        moves = position.moves()
        position.play(moves[choose(derive(seed, ply), len(moves))])
    return position


def grown(position, style, sims, seed=1):
    """A tree after so many simulations."""
    forest = Forest(position.rules, style, 1, sims)
    forest.start(position)
    forest.think(Budget(sims), seed, 0.0)
    return forest.trees[0]


def tree_of(one):
    """(header, groups, edges) of a tree as far as they are filled."""
    head, groups, edges = one._arrays
    return head[0].item(), groups[: head["num_groups"][0]].tolist(), edges[: head["num_edges"][0]].tolist()


# ---- the same in plain Python


class Group:
    """A decision in the plain search."""

    def __init__(self, position_player, moves, priors):
        self.player, self.left, self.tried = position_player, list(zip(moves, priors)), []
        self.visits, self.total = 0, 0.0


class Taken:
    """A move of a group that was tried."""

    def __init__(self, move, prior):
        self.move, self.prior, self.visits, self.total, self.groups = move, F32(prior), 0, F32(0), {}

    def score(self, factor, by_prior):
        bonus = self.prior / F32(self.visits + 1) if by_prior else F32(1) / F32(math.sqrt(self.visits))
        return self.total / F32(self.visits) + F32(factor) * bonus


def choose_edge(group, style, word):
    """The move to take, by the formulas alone."""
    if not style.by_prior and group.left:
        k = int(below(word, len(group.left)))
        group.left[0], group.left[k] = group.left[k], group.left[0]
        group.tried.append(Taken(*group.left.pop(0)))
        return group.tried[-1]
    weight = math.sqrt(group.visits) if style.by_prior else math.sqrt(math.log(group.visits))
    factor = F32(style.explore * weight)
    best = max(group.tried, key=lambda edge: edge.score(factor, style.by_prior), default=None)
    if group.left:
        k = max(range(len(group.left)), key=lambda k: F32(group.left[k][1]))
        mean = group.total / group.visits if group.visits else 0.0
        fresh = mean - style.first_play + float(factor * F32(group.left[k][1]))
        if best is None or fresh > best.score(factor, True):
            group.left[0], group.left[k] = group.left[k], group.left[0]
            group.tried.append(Taken(*group.left.pop(0)))
            return group.tried[-1]
    return best


def plain_search(position, style, sims, seed):
    """The search loop over `moves`, `apply` and the guide, with objects for a tree."""
    game, tables, kernel = position.rules.game, position.rules.tables, style.search
    root, states = position.copy().states, np.zeros(kernel.num_states, game.state)
    viewer, groups, values = position.player, {}, np.zeros(4)
    kernel.settle(root, 0, tables, viewer)
    for number in range(sims):
        base = as_word(stream(as_word(seed), number))
        states[:1] = root
        kernel.redraw(states, 0, tables, viewer, base)
        behind, path = groups, []
        while True:
            key = int(kernel.situation(states, 0))
            if key not in behind:
                moves, priors = np.zeros(game.max_legal, np.int64), np.zeros(game.max_legal)
                n = game.moves(states, 0, tables, moves)
                kernel.prior(states, 0, tables, style.params, moves, n, priors)
                behind[key] = Group(int(states["player"][0]), moves[:n].tolist(), priors[:n].tolist())
            group = behind[key]
            edge = choose_edge(group, style, as_word(draw_number(base, len(path) + 1)))
            path.append((group, edge))
            game.apply(states, 0, tables, edge.move)
            if states["over"][0] or edge.visits < style.grow:
                break
            behind = edge.groups
        kernel.value(states, 0, tables, style.params, base, values)
        for group, edge in path:
            group.visits += 1
            group.total += values[group.player]
            edge.visits += 1
            edge.total = F32(edge.total + F32(values[group.player]))
    (only,) = groups.values()
    return {edge.move: (edge.visits, float(edge.total)) for edge in only.tried}


@pytest.mark.parametrize("names", STYLES)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_compiled_loop_is_the_plain_one(names, players):
    style = search.STYLES[names]
    for position, sims in ((middle(players, 5, 31), 300), (middle(players, 6, 9, floors=3), 400)):
        expected = plain_search(position, style, sims, derive(7, 0))
        found = {move: (visits, total) for move, visits, total in grown(position, style, sims, 7).counts()}
        assert {move: one for move, one in found.items() if one[0]} == expected
        assert len(expected) > 1


@pytest.mark.uncompiled
@pytest.mark.parametrize("names", STYLES)
def test_a_small_search_compiled_or_not(names):
    position, style = new_game(seed=4, floors=1), search.STYLES[names]
    expected = plain_search(position, style, 12, derive(1, 0))
    found = {move: (visits, total) for move, visits, total in grown(position, style, 12).counts() if visits}
    assert found == expected


# ---- hidden things


@pytest.mark.parametrize("players", [2, 3, 4])
def test_equal_knowledge_gathers_to_equal_states(players):
    for decisions in (0, 7, 30, 55):
        position = middle(players, 8, decisions)
        for seat in range(players):
            gathered = position.copy()
            PLAIN.settle(gathered.states, 0, position.rules.tables, seat)
            for seed in range(4):
                other = position.hidden_from(seat, seed)
                PLAIN.settle(other.states, 0, position.rules.tables, seat)
                assert other.to_bytes() == gathered.to_bytes()


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_simulation_redraws_as_resample_does(players):
    for decisions in (0, 7, 30, 55):
        position = middle(players, 8, decisions)
        rules = position.rules
        for seat in range(players):
            gathered = position.copy()
            PLAIN.settle(gathered.states, 0, rules.tables, seat)
            for seed in range(5):
                other = gathered.copy()
                PLAIN.redraw(other.states, 0, rules.tables, seat, as_word(seed))
                assert other == position.hidden_from(seat, seed)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_same_moves_in_the_same_situations_leave_the_same_moves(players):
    """What a group rests on: two worlds that the root cannot tell apart are followed until one differs."""
    rng, together, apart = random.Random(players), 0, 0
    for start in range(30):
        position = middle(players, start, 5 * (start % 9))
        worlds = [position.hidden_from(position.player, seed) for seed in (1, 2)]
        while not worlds[0].over:
            codes = {PLAIN.situation(world.states, 0) for world in worlds}
            if len(codes) > 1:
                apart += 1
                break
            assert worlds[0].player == worlds[1].player
            moves = worlds[0].moves()
            assert worlds[1].moves() == moves
            move = rng.choice(moves)
            for world in worlds:
                world.play(move)
            assert worlds[0].over == worlds[1].over
            together += 1
    assert together > 40
    assert apart > 15


@pytest.mark.parametrize("names", STYLES)
@pytest.mark.parametrize("players", [2, 4])
def test_the_search_does_not_peek(names, players):
    agent = make_agent(f"ismcts:sims=150,playout={names[0]},prior={names[1]}")
    for decisions in (0, 10, 33):
        position = middle(players, 2, decisions)
        expected = grown(position, search.STYLES[names], 150).counts()
        for seed in range(3):
            hidden = position.hidden_from(position.player, seed)
            assert hidden.to_bytes() != position.to_bytes()
            assert grown(hidden, search.STYLES[names], 150).counts() == expected
            assert agent.act(hidden, 5) == agent.act(position, 5)


# ---- seeds, threads, room


@pytest.mark.parametrize("names", STYLES)
def test_equal_seeds_give_equal_trees(names):
    position, style = middle(3), search.STYLES[names]
    assert tree_of(grown(position, style, 200)) == tree_of(grown(position, style, 200))
    assert tree_of(grown(position, style, 200)) != tree_of(grown(position, style, 200, 2))


@pytest.mark.parametrize("names", STYLES)
def test_counts_add_up(names):
    position = middle(2)
    one = grown(position, search.STYLES[names], 500)
    (_, groups, _), moves = tree_of(one), position.moves()
    assert sum(visits for _, visits, _ in one.counts()) == 500 == groups[0][6]
    assert sorted(move for move, _, _ in one.counts()) == sorted(moves)
    _, arrays, edges = one._arrays
    for group in arrays[: len(groups)]:
        own = edges[group["first"] : group["first"] + group["size"]]
        assert own["visits"].sum() == group["visits"]
        assert (own["visits"] > 0).sum() == group["tried"]
        assert (own["visits"][: group["tried"]] > 0).all()
        assert own["total"].sum() == pytest.approx(group["total"], rel=1e-5)


def test_threads_have_a_tree_each_and_are_merged():
    position, style = middle(2), search.STYLES["greedy", "turn"]
    forest = Forest(position.rules, style, 3, 301)
    forest.start(position)
    found = forest.think(Budget(301), 9, 0.0)
    singles = []
    for k, sims in enumerate((101, 100, 100)):
        alone = Tree(position.rules, style, sims)
        alone.start(forest._root)
        alone.run(derive(9, k), 0, sims)
        singles.append(alone.counts())
    assert found == merge(singles)
    assert sum(visits for visits, _ in found.values()) == 301
    move = max(found, key=lambda move: found[move][0])
    assert found[move][0] == sum(visits for counts in singles for one, visits, _ in counts if one == move)


def test_a_full_tree_is_searched_without_growing():
    position, style = middle(2), search.STYLES["random", "none"]
    one = Tree(position.rules, style, 3)
    root = Forest(position.rules, style, 1, 3)._settled(position.states, position.player)
    one.start(root)
    one.run(1, 0, 2000)
    head, groups, edges = one._arrays
    assert head["num_groups"][0] <= len(groups)
    assert head["num_edges"][0] <= len(edges)
    assert sum(visits for _, visits, _ in one.counts()) == 2000
    assert head["is_full"][0]


# ---- from move to move


def shape(one, g=0):
    """A group and all behind it, whatever their numbers."""
    _, groups, edges = one._arrays
    group = groups[g]
    below_it = []
    for edge in edges[group["first"] : group["first"] + group["size"]]:
        child, behind = int(edge["child"]), []
        while child:
            behind.append(shape(one, child))
            child = int(groups[child]["next"])
        below_it.append((*(edge[name].item() for name in ("move", "visits", "total", "mean", "prior")), behind))
    return tuple(group[name].item() for name in ("situation", "player", "visits", "total", "tried")), below_it


@pytest.mark.parametrize("names", STYLES)
def test_what_is_known_of_a_move_is_kept(names):
    position, style = middle(2, 3, 21), search.STYLES[names]
    assert position.states["stage"][0] == 0
    forest = Forest(position.rules, style)
    forest.start(position)
    found = forest.think(Budget(3000), 1, 0.0)
    move = max(found, key=lambda move: found[move][0])
    one = forest.trees[0]
    _, groups, edges = one._arrays
    edge = next(edge for edge in edges[: groups[0]["size"]] if edge["move"] == move)
    expected = shape(one, int(edge["child"]))
    position.play(move)
    assert position.states["stage"][0] == FIRST
    forest.start(position.hidden_from(position.player, 8), move)
    assert shape(one) == expected
    assert one._arrays[1]["visits"][0] > 100
    before = one._arrays[1]["visits"][0]
    found = forest.think(Budget(500), 2, 0.0)
    assert sum(visits for visits, _ in found.values()) == before + 500
    assert sorted(found) == sorted(position.moves())


def test_what_is_known_is_dropped_where_it_does_not_hold():
    position, style = middle(2, 3, 21), search.STYLES["greedy", "turn"]
    moves = position.moves()

    def visits_after(played, real, **new):
        forest = Forest(position.rules, style)
        forest.start(position)
        forest.think(Budget(2000), 1, 0.0)
        after = position.copy()
        for move in real:
            after.play(move)
        forest.start(after, played)
        return int(forest.trees[0]._arrays[0]["num_groups"][0])

    best = max(moves, key=lambda move: visits_after(move, [move]))
    assert visits_after(best, [best]) > 0
    other = next(move for move in moves if move != best)
    assert visits_after(best, [other]) == 0  # something else was played
    assert visits_after(best, []) == 0  # nothing was
    assert visits_after(None, [best]) == 0
    turn = position.copy()
    played = []
    while turn.player == position.player:
        played.append(turn.moves()[0])
        turn.play(played[-1])
    assert visits_after(played[0], played) == 0  # it is another one's turn


@pytest.mark.parametrize("name", ["ismcts:sims=60,reuse=yes", "ismcts:ms=2", "ismcts:ms=2,threads=2,playout=random"])
@pytest.mark.parametrize("players", [2, 3])
def test_whole_games(name, players):
    agents, position = [make_agent(name) for _ in range(players)], new_game(players=players, seed=5, floors=6)
    while not position.over:
        seat = position.player
        move = agents[seat].act(position.hidden_from(seat, position.ply), position.ply)
        assert move in position.moves()
        position.play(move)


# ---- what it finds


@pytest.mark.parametrize("names", STYLES)
@pytest.mark.parametrize("players", [2, 3])
def test_the_last_move_is_a_winning_one(names, players):
    """Before the last Floor of a game the outcome of every move is known."""
    agent, decided = make_agent(f"ismcts:sims=400,playout={names[0]},prior={names[1]}"), 0
    for seed in range(60):
        position = new_game(players=players, seed=seed, floors=3)
        before = position
        while not position.over:
            before = position.copy()
            moves = position.moves()
            position.play(moves[choose(derive(seed, position.ply), len(moves))])
        shares = {}
        for move in before.moves():
            after = before.copy()
            after.play(move)
            assert after.over
            shares[move] = after.outcome()[before.player]
        if len(set(shares.values())) > 1:
            decided += 1
            assert shares[agent.act(before, seed)] == max(shares.values())
    assert decided > 5


# ---- parameters


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "ismcts:depth=3",
            "agent 'ismcts' has no parameter 'depth'; there is sims, ms, threads, playout, prior, reuse",
        ),
        ("ismcts:sims=0", "agent 'ismcts': sims='0' is not a whole number from 1 to 1000000000"),
        ("ismcts:sims=many", "agent 'ismcts': sims='many' is not a whole number from 1 to 1000000000"),
        ("ismcts:ms=-5", "agent 'ismcts': ms='-5' is not a whole number from 1 to 86400000"),
        ("ismcts:ms=5.5", "agent 'ismcts': ms='5.5' is not a whole number from 1 to 86400000"),
        ("ismcts:threads=257", "agent 'ismcts': threads='257' is not a whole number from 1 to 256"),
        ("ismcts:playout=wild", "agent 'ismcts': playout='wild' is not one of greedy, random"),
        ("ismcts:prior=", "agent 'ismcts': prior='' is not one of turn, none"),
        ("ismcts:reuse=1", "agent 'ismcts': reuse='1' is not yes or no"),
        ("ismcts:sims=5,ms=5", "agent 'ismcts': sims= and ms= exclude each other"),
    ],
)
def test_wrong_parameters_get_one_clear_line(text, message):
    with pytest.raises(OptionError) as caught:
        make_agent(text)
    assert str(caught.value) == message


def test_every_parameter_is_taken():
    assert set(TAKEN) == {"sims", "ms", "threads", "playout", "prior", "reuse"} <= set(ALLOWED)
    agent = make_agent("ismcts:sims=20,threads=2,playout=random,prior=none,reuse=no")
    assert agent.act(new_game(seed=1), 1) in new_game(seed=1).moves()


def test_a_game_that_is_not_searched_so_is_named():
    rules = get_rules("tollero")
    bare = rules._replace(game=rules.game._replace(styles={}))
    with pytest.raises(OptionError, match="agent 'ismcts': Tollero has no tree search"):
        make_agent("ismcts").act(Position.new(bare, 1), 1)
    less = rules._replace(game=rules.game._replace(styles={("random", "none"): search.STYLES["random", "none"]}))
    assert find_style(less) == search.STYLES["random", "none"]
    with pytest.raises(OptionError, match="is not searched with prior=turn; there is playout=random,prior=none"):
        make_agent("ismcts:prior=turn").act(Position.new(less, 1), 1)


def test_the_tree_s_records_have_no_holes():
    for dtype in (tree.TREE, tree.GROUP, tree.EDGE):
        assert dtype.itemsize % 8 == 0
        assert dtype.itemsize == sum(dtype[name].itemsize for name in dtype.names)
