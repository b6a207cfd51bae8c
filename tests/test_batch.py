"""The batch: the same games as raw_env, whatever its size and threads; misuse leaves everything as it was."""

import copy
import pickle
from itertools import pairwise

import numpy as np
import pytest

from tests.tollero_tools import BLANK, CROSS, RICH, face, make_set, to_toml
from tollero_env import tollero_v0
from tollero_env.envs import batch as batch_module
from tollero_env.envs.aec import final_rewards
from tollero_env.envs.batch import Arrays, Batch
from tollero_env.game import MoveError, OptionError, StateError
from tollero_env.games.tollero.tiles import parse_tileset
from tollero_env.position import Position
from tollero_env.rng import derive

KINDS = [(players, encoding) for players in (2, 3, 4) for encoding in ("planes", "slots")]


def choose(mask, rng):
    """A legal action for each game."""
    return np.array([rng.choice(np.flatnonzero(row)) for row in mask])


def take(arrays):
    """A copy that the next step does not change."""
    return Arrays(*(array.copy() for array in arrays))


def same(ours, theirs):
    return all(np.array_equal(one, other) for one, other in zip(ours, theirs, strict=True))


def filled(batch, value=77):
    """Arrays of the caller's, full of something."""
    arrays = batch.arrays()
    for array in arrays:
        array[...] = value
    return arrays


def tiles(data):
    return parse_tileset(to_toml(data), "test")


# A turn in three lays a tile that joins nothing: it is set aside (E4).
WITH_DISCARDS = make_set((BLANK, 18), (face("N", 1, NW="foundation"), 12), filler=RICH)


# ---- the same games as raw_env


def follow_raw_env(batch, envs, steps, seed):
    """Step both; at every step all that the batch tells is what the envs tell. Returns how many games ended."""
    rng, encoding, view, ended = np.random.default_rng(seed), batch._encoding, batch._view, 0
    seen = batch.reset(seed=[100 + g for g in range(len(envs))])
    for g, env in enumerate(envs):
        env.reset(seed=100 + g)
    for _ in range(steps):
        actions = choose(seen.mask, rng)
        for g, env in enumerate(envs):
            agent = env.agent_selection
            assert seen.player[g] == int(agent[-1])
            whole = env.observe(agent)
            assert np.array_equal(whole["action_mask"], seen.mask[g])
            flat = whole["observation"].reshape(-1)
            cells = seen.array[g].size
            assert np.array_equal(flat[:cells], seen.array[g].reshape(-1))
            if view == 0:
                assert np.array_equal(flat[cells:], seen.numbers[g])
            array, numbers = np.empty(cells, seen.array.dtype), np.empty_like(seen.numbers[g])
            encoding.observe(env.position().states, 0, env.rules.tables, int(agent[-1]), view, array, numbers)
            assert np.array_equal(array, seen.array[g].reshape(-1))
            assert np.array_equal(numbers, seen.numbers[g])
            assert batch.position(g) == env.position()
        seen = batch.step(actions)
        for g, env in enumerate(envs):
            env.step(int(actions[g]))
            over, cut = any(env.terminations.values()), any(env.truncations.values())
            assert (seen.terminated[g], seen.truncated[g]) == (over, cut)
            rewards = [env.rewards[agent] for agent in env.possible_agents]
            assert seen.rewards[g].tolist() == pytest.approx(rewards)
            assert seen.scores[g].tolist() == (env.position().scores() if over else [0] * len(rewards))
            while any(env.terminations.values()) or any(env.truncations.values()):  # an opening may be hidden
                ended += over or cut
                over = cut = False
                env.reset()
    return ended


@pytest.mark.parametrize(("players", "encoding"), KINDS)
@pytest.mark.parametrize("reward", ["win", "margin", "score"])
def test_games_are_those_of_raw_env(players, encoding, reward):
    options = {"encoding": encoding, "reward": reward, "floors": 5}
    envs = [tollero_v0.raw_env(players, **options) for _ in range(3)]
    batch = Batch("tollero", 3, players, **options)
    assert follow_raw_env(batch, envs, 80, seed=players) >= 3


@pytest.mark.thorough
@pytest.mark.parametrize(("players", "encoding"), KINDS)
def test_whole_games_are_those_of_raw_env(players, encoding):
    envs = [tollero_v0.raw_env(players, encoding=encoding) for _ in range(2)]
    batch = Batch("tollero", 2, players, encoding=encoding)
    assert follow_raw_env(batch, envs, 330, seed=players) >= 4


@pytest.mark.parametrize("view", [3, 5, 7, "all"])
def test_small_views_truncate_the_games_that_raw_env_truncates(view):
    envs = [tollero_v0.raw_env(4, view=view) for _ in range(4)]
    batch = Batch("tollero", 4, 4, view=view)
    assert follow_raw_env(batch, envs, 150, seed=1) >= 3


def test_a_truncated_game_pays_nothing_and_has_no_scores():
    batch = Batch("tollero", 16, 2, view=5, reward="score")
    rng, seen, found = np.random.default_rng(1), batch.reset(seed=1), 0
    for _ in range(150):
        seen = batch.step(choose(seen.mask, rng))
        assert seen.mask.any(axis=1).all()
        assert not (seen.terminated & seen.truncated).any()
        found += seen.truncated.sum()
        assert not seen.rewards[~seen.terminated].any()
        assert not seen.scores[~seen.terminated].any()
    assert found


@pytest.mark.uncompiled
@pytest.mark.parametrize("encoding", ["planes", "slots"])
def test_a_short_batch_in_either_layer(encoding):
    options = {"encoding": encoding, "floors": 1, "view": 9 if encoding == "planes" else None}
    envs = [tollero_v0.raw_env(2, **options) for _ in range(2)]
    assert follow_raw_env(Batch("tollero", 2, 2, **options), envs, 8, seed=1)


# ---- own arrays and the caller's


@pytest.mark.parametrize(("players", "encoding"), KINDS)
def test_own_arrays_hold_what_full_ones_hold(players, encoding):
    """Own arrays are kept up to date, the caller's are written anew, whatever was in them."""
    ours, theirs, mixed = (Batch("tollero", 4, players, encoding=encoding, floors=8) for _ in range(3))
    rng, out, ended = np.random.default_rng(players), filled(theirs), 0
    seen, full = ours.reset(seed=5), theirs.reset(seed=5, out=out)
    assert full is out
    either = mixed.reset(seed=5)
    for k in range(250):
        assert same(seen, full)
        assert same(either, full)
        ended += full.terminated.sum()
        actions = choose(seen.mask, rng)
        seen, full = ours.step(actions), theirs.step(actions, out=filled(theirs, k % 100))
        either = mixed.step(actions, out=filled(mixed) if rng.random() < 0.4 else None)
    assert ended >= 8


@pytest.mark.parametrize("encoding", ["planes", "slots"])
@pytest.mark.parametrize("players", [2, 4])
def test_tiles_set_aside_are_followed(players, encoding):
    options = {"encoding": encoding, "tileset": tiles(WITH_DISCARDS)}
    ours, theirs = (Batch("tollero", 8, players, **options) for _ in range(2))
    rng, out, gone = np.random.default_rng(3), theirs.arrays(), 0
    seen, full = ours.reset(seed=5), theirs.reset(seed=5, out=out)
    for _ in range(200):
        assert same(seen, full)
        gone += ours._states["num_gone"].sum()
        actions = choose(seen.mask, rng)
        seen, full = ours.step(actions), theirs.step(actions, out=out)
    assert gone


@pytest.mark.thorough
@pytest.mark.parametrize("encoding", ["planes", "slots"])
def test_many_long_games_are_followed(encoding):
    for players in (2, 3, 4):
        ours, theirs = (Batch("tollero", 64, players, encoding=encoding) for _ in range(2))
        seen, full = ours.reset(seed=7), theirs.reset(seed=7, out=theirs.arrays())
        rng = np.random.default_rng(players)
        for _ in range(400):
            noise = rng.random(seen.mask.shape, np.float32)
            actions = np.where(seen.mask > 0, noise, -1).argmax(axis=1)
            seen, full = ours.step(actions), theirs.step(actions, out=full)
            assert same(seen, full)


def test_own_arrays_are_read_only_and_stay_the_same():
    batch = Batch("tollero", 2, encoding="slots")
    first = batch.reset(seed=1)
    second = batch.step(choose(first.mask, np.random.default_rng(1)))
    for one, other in zip(first, second):
        assert one is other
        assert not one.flags.writeable


# ---- size, threads, seeds


def run(batch, seeds, steps=120):
    """What each game shows at every step; actions follow from the game alone."""
    rngs = [np.random.default_rng(int(seed)) for seed in seeds]
    seen, found = batch.reset(seed=seeds), []
    for _ in range(steps):
        found.append(take(seen))
        seen = batch.step(np.array([rng.choice(np.flatnonzero(row)) for rng, row in zip(rngs, seen.mask)]))
    return found


@pytest.fixture
def small_blocks(monkeypatch):
    """Threads share even a few games."""
    monkeypatch.setattr(batch_module, "BLOCK", 1)


@pytest.mark.parametrize("encoding", ["planes", "slots"])
def test_neither_size_nor_threads_change_a_game(encoding, small_blocks):
    seeds, options = [11, 12, 13, 14, 15], {"num_players": 3, "encoding": encoding, "floors": 4}
    expected = run(Batch("tollero", 5, **options), seeds)
    assert sum(seen.terminated.sum() for seen in expected) > 5
    for threads in (2, 3, 5, 16):
        batch = Batch("tollero", 5, threads=threads, **options)
        assert len(batch._blocks) == min(threads, 5)
        assert all(same(one, other) for one, other in zip(run(batch, seeds), expected))
        batch.close()
        assert all(same(one, other) for one, other in zip(run(batch, seeds, 10), expected))
        batch.close()
    for some in ([2], [4, 0], [3, 3, 1, 0, 2, 4, 4]):
        found = run(Batch("tollero", len(some), **options), [seeds[g] for g in some])
        for one, other in zip(found, expected):
            assert same(one, [array[some] for array in other])


def test_one_seed_gives_each_game_its_own():
    batch = Batch("tollero", 3, encoding="slots")
    one = take(batch.reset(seed=9))
    positions = [batch.position(g) for g in range(3)]
    assert len(set(positions)) == 3
    assert positions == [Position.new(batch.rules, derive(9, g)) for g in range(3)]
    assert same(one, batch.reset(seed=[derive(9, g) for g in range(3)]))
    assert same(one, batch.reset(seed=np.array([derive(9, g) for g in range(3)], np.uint64)))
    assert same(one, batch.reset(seed=np.int64(9)))
    batch.reset()
    free = [batch.position(g) for g in range(3)]
    batch.reset()
    assert free != [batch.position(g) for g in range(3)]


@pytest.mark.parametrize(
    "seed", [-1, 1 << 64, 1.5, True, "ab", [1], [1, 2, 3], [1, -1], [1, 1.5], np.array([1.0, 2.0])]
)
def test_wrong_seeds_change_nothing(seed):
    batch = Batch("tollero", 2, encoding="slots")
    seen = batch.reset(seed=1)
    before, states = take(seen), batch._states.tobytes()
    with pytest.raises(ValueError, match="seed"):
        batch.reset(seed=seed)
    assert batch._states.tobytes() == states
    actions = choose(before.mask, np.random.default_rng(1))
    assert same(batch.step(actions), fresh_step(before, actions))


def fresh_step(before, actions):
    batch = Batch("tollero", 2, encoding="slots")
    assert same(batch.reset(seed=1), before)
    return batch.step(actions)


# ---- misuse


def wrong(arrays, name, change):
    return arrays._replace(**{name: change(getattr(arrays, name))})


def apart(array):
    """The same shape, not contiguous."""
    return np.zeros((*array.shape, 2), array.dtype)[..., 0]


def crooked(array):
    """The same shape and contiguous, but one byte off."""
    return np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)


def locked(array):
    array.flags.writeable = False
    return array


MISTAKES = [
    (lambda a: a.astype(np.float64), "dtype float64, not"),
    (lambda a: a.astype(a.dtype.newbyteorder(">")) if a.itemsize > 1 else a.astype(">i8"), "dtype >"),
    (lambda a: a[:-1], "shape"),
    (lambda a: a[None], "shape"),
    (apart, "is not C-contiguous"),
    (locked, "read-only"),
    (lambda a: None, "is NoneType, not a numpy array"),
    (lambda a: a.tolist(), "is list, not a numpy array"),
]


@pytest.mark.parametrize("name", Arrays._fields)
@pytest.mark.parametrize(("change", "message"), MISTAKES)
def test_wrong_arrays_get_one_error_and_nothing_is_written(name, change, message):
    batch = Batch("tollero", 3, encoding="slots")
    seen = take(batch.reset(seed=1))
    actions = choose(seen.mask, np.random.default_rng(1))
    states, good = batch._states.tobytes(), filled(batch)
    before = take(good)
    bad = wrong(good, name, change)
    for call in (lambda: batch.step(actions, out=bad), lambda: batch.reset(seed=2, out=bad)):
        with pytest.raises((TypeError, ValueError), match=rf"out\.{name}.*{message}"):
            call()
        assert same(good, before)
        assert batch._states.tobytes() == states
        assert same(batch._own, seen)
    other = Batch("tollero", 3, encoding="slots")
    other.reset(seed=1)
    assert same(batch.step(actions), other.step(actions))


def test_arrays_that_are_not_aligned_are_refused():
    batch = Batch("tollero", 3, encoding="slots")
    with pytest.raises(ValueError, match=r"out\.numbers is not C-contiguous and aligned"):
        batch.reset(out=wrong(batch.arrays(), "numbers", crooked))


@pytest.mark.parametrize("out", [(), [1], {"mask": 1}, np.zeros(3)])
def test_out_must_be_a_set_of_arrays(out):
    with pytest.raises(TypeError, match="not Arrays"):
        Batch("tollero", 3).reset(out=out)
    with pytest.raises(TypeError, match="missing"):
        Arrays(np.zeros(3))


@pytest.mark.parametrize(
    ("actions", "error", "message"),
    [
        ([1, 2, 3], TypeError, "actions are list"),
        (None, TypeError, "actions are NoneType"),
        (np.zeros(3), TypeError, "actions are float64"),
        (np.zeros(3, np.bool), TypeError, "actions are bool"),
        (np.zeros(2, int), ValueError, r"shape \(2,\), not \(3,\)"),
        (np.zeros((3, 1), int), ValueError, r"shape \(3, 1\)"),
    ],
)
def test_wrong_actions_change_nothing(actions, error, message):
    batch = Batch("tollero", 3, encoding="slots")
    seen = batch.reset(seed=1)
    before, states = take(seen), batch._states.tobytes()
    with pytest.raises(error, match=message):
        batch.step(actions)
    assert batch._states.tobytes() == states
    assert same(seen, before)


def test_many_games_are_shared_by_threads_and_few_are_not():
    for games, threads, blocks in ((300, 2, 1), (511, 4, 1), (512, 4, 2), (1100, 3, 3), (4, 1, 1)):
        batch = Batch("tollero", games, encoding="slots", threads=threads, floors=1)
        assert len(batch._blocks) == blocks
        assert batch._blocks[0][0] == 0
        assert batch._blocks[-1][1] == games
        assert all(one[1] == two[0] for one, two in pairwise(batch._blocks))
        batch.close()
    one, two = (Batch("tollero", 600, encoding="slots", threads=threads, floors=1) for threads in (1, 2))
    seen, other, rng = one.reset(seed=1), two.reset(seed=1, out=two.arrays()), np.random.default_rng(1)
    for _ in range(12):
        assert same(seen, other)
        actions = choose(seen.mask, rng)
        seen, other = one.step(actions), two.step(actions, out=other)
    two.close()


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize("encoding", ["planes", "slots"])
def test_an_illegal_action_names_its_game_and_changes_none(encoding, threads, small_blocks):
    batch = Batch("tollero", 7, encoding=encoding, threads=threads)
    seen = batch.reset(seed=1)
    before, states, out = take(seen), batch._states.tobytes(), filled(batch)
    written = take(out)
    for game in range(7):
        for wrong_one in (-1, -2, -(10**9), batch.num_actions, int(np.flatnonzero(seen.mask[game] == 0)[0])):
            actions = choose(before.mask, np.random.default_rng(1))
            actions[game] = wrong_one
            legal = int(before.mask[game].sum())
            with pytest.raises(MoveError, match=f"action {wrong_one} is not legal in game {game}: {legal} are, "):
                batch.step(actions, out=out if game % 2 else None)
            assert batch._states.tobytes() == states
    assert same(seen, before)
    assert same(out, written)
    first = choose(before.mask, np.random.default_rng(1))
    first[2:] = -1
    with pytest.raises(MoveError, match="in game 2"):
        batch.step(first)
    batch.close()


def test_actions_of_every_whole_kind_are_taken():
    """Compiled code sees one kind: nothing is compiled anew for a read-only or a strided array."""
    batch, expected = Batch("tollero", 3, encoding="slots"), Batch("tollero", 3, encoding="slots")
    seen = batch.reset(seed=1)
    expected.reset(seed=1)
    rng, compiled = np.random.default_rng(1), []
    for kind in (np.int64, np.int32, np.int16, np.uint16, np.uint64):
        actions = choose(seen.mask, rng)
        seen = batch.step(locked(actions.astype(kind)))
        assert same(seen, expected.step(actions))
        actions = choose(seen.mask, rng)
        strided = np.repeat(actions, 2)[::2]
        seen = batch.step(strided)
        assert same(seen, expected.step(actions))
        compiled.append(len(getattr(batch._encoding.to_moves, "signatures", ())))
    assert max(compiled) <= 1
    huge = choose(seen.mask, rng).astype(np.uint64)
    huge[1] = (1 << 64) - 1
    with pytest.raises(MoveError, match="action 18446744073709551615 is not legal in game 1"):
        batch.step(huge)


def test_step_before_reset():
    with pytest.raises(MoveError, match="reset"):
        Batch("tollero", 2).step(np.zeros(2, int))
    with pytest.raises(StateError, match="reset"):
        Batch("tollero", 2).position(0)


@pytest.mark.parametrize("game", [-1, 3, 1.0, "1", None])
def test_there_is_no_such_game(game):
    batch = Batch("tollero", 3, encoding="slots")
    batch.reset(seed=1)
    with pytest.raises(OptionError, match=r"game: .* is not a whole number from 0 to 2"):
        batch.position(game)
    assert batch.position(np.int64(2)) == batch.position(2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_games": 0}, "num_games: 0"),
        ({"num_games": 2.0}, "num_games: 2.0"),
        ({"threads": 0}, "threads: 0"),
        ({"num_players": 5}, "players: 5"),
        ({"encoding": "pixels"}, "'planes', 'slots'"),
        ({"view": 8}, "view: 8"),
        ({"encoding": "slots", "view": 9}, "slots has none"),
        ({"reward": "fame"}, "'win', 'margin', 'score'"),
        ({"colour": "red"}, "no option 'colour'"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(OptionError, match=message):
        Batch("tollero", **{"num_games": 2, **options})


def test_games_that_offer_nothing_get_a_clear_error(small_blocks):
    barren = tiles(make_set((BLANK, 54), downtown=(CROSS,)))
    narrow = tiles(make_set((CROSS, 54), downtown=(face("NS"),)))  # every place for a tile is outside a view of 3
    for options in ({"encoding": "slots", "tileset": barren}, {"tileset": barren}, {"tileset": narrow, "view": 3}):
        for threads in (1, 2):
            batch = Batch("tollero", 64, threads=threads, **options)
            with pytest.raises(OptionError, match="no new game offers an action: choose a larger view"):
                batch.reset(seed=1)
            with pytest.raises(MoveError, match="reset"):
                batch.step(np.zeros(64, int))
            batch.close()


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda batch: pickle.loads(pickle.dumps(batch))])
def test_a_copys_future_is_the_originals(clone, small_blocks):
    batch = Batch("tollero", 3, encoding="slots", threads=2)
    rng, seen = np.random.default_rng(1), batch.reset(seed=1)
    for _ in range(20):
        seen = batch.step(choose(seen.mask, rng))
    other = clone(batch)
    for _ in range(200):
        actions = choose(seen.mask, rng)
        seen, theirs = batch.step(actions), other.step(actions)
        assert same(seen, theirs)
        assert not np.shares_memory(seen.array, theirs.array)


@pytest.mark.parametrize("kind", ["win", "margin", "score"])
def test_rewards_are_those_of_the_manual(kind):
    """The formula in Python, for every game that ends; win and margin sum to nothing."""
    batch = Batch("tollero", 32, 4, encoding="slots", reward=kind, floors=2)
    rng, seen, ties = np.random.default_rng(1), batch.reset(seed=3), 0
    for _ in range(60):
        seen = batch.step(choose(seen.mask, rng))
        for g in np.flatnonzero(seen.terminated):
            scores = seen.scores[g].tolist()
            winners = np.equal(scores, max(scores))
            ties += winners.sum() > 1
            expected = final_rewards(kind, scores, (winners / winners.sum()).tolist())
            assert seen.rewards[g].tolist() == pytest.approx(expected, abs=1e-4)
            if kind != "score":
                assert seen.rewards[g].sum() == pytest.approx(0, abs=1e-4)
    assert ties
