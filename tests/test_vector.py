"""The vector env: row for row the single env, and Gymnasium's own vector of single envs, infos included."""

import copy
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from tests.test_single import KINDS, Nth, Recorder, Stuck
from tollero_env.envs.single import SingleEnv
from tollero_env.envs.vector import VectorGames
from tollero_env.game import OptionError, StateError
from tollero_env.opponents import RandomAgent

SAME, OFF = AutoresetMode.SAME_STEP, AutoresetMode.DISABLED


def choose(mask, rng):
    """A legal action for each game."""
    return np.array([rng.choice(np.flatnonzero(row)) for row in mask])


def play_on(envs, steps):
    """So many random steps."""
    rng = np.random.default_rng(1)
    for _ in range(steps):
        envs.step(choose(envs.action_masks(), rng))


def same_infos(ours, theirs):
    """The same keys, and the same where they mean something."""
    assert ours.keys() == theirs.keys()
    for name, value in theirs.items():
        if name.startswith("_"):
            assert np.array_equal(ours[name], value), name
            continue
        if isinstance(value, dict):
            same_infos(ours[name], value)
            continue
        rows = theirs[f"_{name}"]
        assert (ours[name].dtype, ours[name].shape) == (value.dtype, value.shape), name
        for one, other in zip(ours[name][rows], value[rows]):
            assert np.array_equal(one, other), name
        if value.dtype == object:
            assert all(one is None for one in ours[name][~rows])


# ---- the same as single envs


@pytest.mark.parametrize(("players", "encoding"), KINDS)
@pytest.mark.parametrize("opponents", ["random", "python"])
def test_rows_are_single_envs_game_for_game(players, encoding, opponents):
    options = {"encoding": encoding, "seat": "rotate", "floors": 4, "reward": "margin"}
    options["opponents"] = Recorder() if opponents == "python" else "random"
    envs = VectorGames("tollero", 3, players, **options)
    singles = [SingleEnv("tollero", players, **options) for _ in range(3)]
    observations, infos = envs.reset(seed=20)
    theirs = [env.reset(seed=20 + g) for g, env in enumerate(singles)]
    rng, ended = np.random.default_rng(1), 0
    for _ in range(40):
        for g, (observation, info) in enumerate(theirs):
            assert np.array_equal(observations[g], observation)
            assert np.array_equal(infos["action_mask"][g], info["action_mask"])
            assert np.array_equal(envs.action_masks()[g], info["action_mask"])
            assert infos["seat"][g] == info["seat"]
        actions = choose(infos["action_mask"], rng)
        if rng.random() < 0.05:
            actions[rng.integers(3)] = 0  # most often illegal
        observations, rewards, terminated, truncated, infos = envs.step(actions)
        for g, env in enumerate(singles):
            last, reward, over, cut, info = env.step(actions[g])
            theirs[g] = last, info
            assert (rewards[g], terminated[g], truncated[g]) == (reward, over, cut)
            if over or cut:
                ended += 1
                assert np.array_equal(infos["final_obs"][g], last)
                for name, value in info.items():
                    assert infos["final_info"][f"_{name}"][g]
                    assert np.array_equal(infos["final_info"][name][g], value)
                theirs[g] = env.reset()
    assert ended >= 6


class Patient(RandomAgent):
    """The random agent, asked in batches like any other that is compiled."""


@pytest.mark.parametrize(("players", "encoding"), KINDS)
def test_random_opponents_in_one_call_are_those_that_are_asked(players, encoding):
    """All at random is a loop of its own; one who is only almost random is asked round by round."""
    options = {"encoding": encoding, "seat": "rotate", "floors": 5}
    fast, slow = (VectorGames("tollero", 6, players, opponents=who, **options) for who in ("random", Patient()))
    (one, infos), (other, theirs) = fast.reset(seed=3), slow.reset(seed=3)
    rng, ended = np.random.default_rng(1), 0
    for _ in range(100):
        assert np.array_equal(one, other)
        same_infos(infos, theirs)
        actions = choose(infos["action_mask"], rng)
        if rng.random() < 0.05:
            actions[rng.integers(6)] = -1
        one, *told, infos = fast.step(actions)
        other, *expected, theirs = slow.step(actions)
        assert all(np.array_equal(*pair) for pair in zip(told, expected))
        assert fast.decisions == slow.decisions
        ended += told[1].sum()
    assert ended >= 10


def test_decisions_of_all_seats_are_counted():
    envs = VectorGames("tollero", 3, 3, encoding="slots", autoreset_mode=OFF, seat=1)
    envs.reset(seed=1)
    begun = [envs._games.position(g).ply for g in range(3)]
    for _ in range(20):
        before = envs.decisions
        envs.step(choose(envs.action_masks(), np.random.default_rng(1)))
        assert envs.decisions >= before + 3
    assert envs.decisions == sum(envs._games.position(g).ply - begun[g] for g in range(3))
    assert copy.deepcopy(envs).decisions == envs.decisions


@pytest.mark.parametrize("mode", [SAME, OFF])
@pytest.mark.parametrize(
    "options", [{"encoding": "slots"}, {"view": 5, "floors": 20}, {"encoding": "slots", "reward": "score"}]
)
def test_it_is_gymnasiums_vector_of_single_envs(mode, options):
    options = {"num_players": 3, "floors": 3, "seat": "rotate", **options}
    ours = VectorGames("tollero", 4, autoreset_mode=mode, **options)
    theirs = SyncVectorEnv([lambda: SingleEnv("tollero", **options)] * 4, autoreset_mode=mode)
    assert ours.metadata["autoreset_mode"] is theirs.metadata["autoreset_mode"] is mode
    assert ours.single_observation_space == theirs.single_observation_space
    assert ours.observation_space == theirs.observation_space
    assert ours.single_action_space == theirs.single_action_space
    assert ours.action_space == theirs.action_space
    (one, info), (other, expected) = ours.reset(seed=3), theirs.reset(seed=3)
    rng, ends = np.random.default_rng(1), {"scores": 0, "illegal_action": 0, "view_overflow": 0}
    for step in range(80):
        assert np.array_equal(one, other)
        assert one in ours.observation_space
        same_infos(info, expected)
        actions = choose(ours.action_masks(), rng)
        if step % 20 == 7:
            actions[step % 4] = -1
        one, *ours_told, info = ours.step(actions)
        other, *theirs_told, expected = theirs.step(actions)
        for mine, yours in zip(ours_told, theirs_told):
            assert mine.dtype == yours.dtype
            assert np.array_equal(mine, yours)
        told = expected.get("final_info", expected)
        for name in ends:
            ends[name] += int(told.get(f"_{name}", np.zeros(1)).sum())
        done = ours_told[1] | ours_told[2]
        if mode is OFF and done.any():
            assert np.array_equal(one, other)
            same_infos(info, expected)
            assert ours.action_masks().any(axis=1).all()
            one, info = ours.reset(options={"reset_mask": done})
            other, _ = theirs.reset(options={"reset_mask": done})
            assert not any(key.startswith("final") for key in info)
            expected = info
    assert ends["illegal_action"] >= 3
    assert ends["view_overflow" if "view" in options else "scores"] >= 3


@pytest.mark.parametrize("players", [2, 3])
def test_rotating_seats_are_balanced(players):
    envs = VectorGames("tollero", 6, players, seat="rotate", encoding="slots", floors=1)
    _, infos = envs.reset(seed=9)
    rng, seats = np.random.default_rng(1), []
    assert infos["seat"].tolist() == [(9 + g) % players for g in range(6)]
    for _ in range(60):
        *_, infos = envs.step(choose(infos["action_mask"], rng))
        if "final_info" in infos:
            rows = infos["_final_info"]
            assert (infos["seat"][rows] == (infos["final_info"]["seat"][rows] + 1) % players).all()
            seats += infos["final_info"]["seat"][rows].tolist()
    counts = np.bincount(seats, minlength=players)
    assert counts.max() - counts.min() <= 6


@pytest.mark.thorough
@pytest.mark.parametrize("encoding", ["planes", "slots"])
def test_size_changes_nothing(encoding):
    """64 rows are 8 times 8 rows: what is compiled steps them in batches, whoever is to act where."""
    options = {"num_players": 4, "encoding": encoding, "seat": "rotate", "opponents": ["random", Nth(2), "random"]}
    large = VectorGames("tollero", 64, **options)
    small = [VectorGames("tollero", 8, **options) for _ in range(8)]
    observations, infos = large.reset(seed=64)
    parts = [envs.reset(seed=64 + 8 * k) for k, envs in enumerate(small)]
    rng = np.random.default_rng(1)
    for _ in range(60):
        assert np.array_equal(observations, np.concatenate([part[0] for part in parts]))
        actions = choose(infos["action_mask"], rng)
        observations, rewards, *_, infos = large.step(actions)
        parts = [envs.step(actions[8 * k : 8 * k + 8]) for k, envs in enumerate(small)]
        assert np.array_equal(rewards, np.concatenate([part[1] for part in parts]))


# ---- Gymnasium


def test_the_registry_makes_it():
    envs = gymnasium.make_vec(
        "tollero_env/tollero-v0", num_envs=3, vectorization_mode="vector_entry_point", num_players=3, encoding="slots"
    )
    assert isinstance(envs.unwrapped, VectorGames)
    assert envs.num_envs == 3
    assert envs.metadata["autoreset_mode"] is SAME
    observations, infos = envs.reset(seed=1)
    assert observations in envs.observation_space
    envs.step(choose(infos["action_mask"], np.random.default_rng(1)))
    envs.close()
    plain = gymnasium.make_vec("tollero_env/tollero-v0", num_envs=2, vectorization_mode="sync", encoding="slots")
    plain.reset(seed=1)
    plain.close()


def test_the_autoreset_mode_is_an_option():
    for mode in (SAME, OFF, SAME.value, OFF.value):
        envs = VectorGames("tollero", 2, encoding="slots", autoreset_mode=mode)
        assert envs.metadata["autoreset_mode"] is AutoresetMode(mode)
    for mode in (AutoresetMode.NEXT_STEP, "sometimes", None):
        with pytest.raises(OptionError, match=r"autoreset_mode: .* is not one of SameStep, Disabled"):
            VectorGames("tollero", 2, autoreset_mode=mode)


def test_statistics_of_episodes_are_recorded():
    """Gymnasium's wrapper supports games that wait for their reset."""
    inner = VectorGames("tollero", 4, encoding="slots", floors=2, autoreset_mode="Disabled", seat="rotate")
    envs = RecordEpisodeStatistics(inner)
    _, infos = envs.reset(seed=1)
    rng, steps, found = np.random.default_rng(1), np.zeros(4, int), 0
    for _ in range(60):
        _, rewards, terminated, truncated, infos = envs.step(choose(inner.action_masks(), rng))
        steps += 1
        done = terminated | truncated
        if done.any():
            found += done.sum()
            assert infos["episode"]["r"][done].tolist() == pytest.approx(rewards[done].tolist())
            assert infos["episode"]["l"][done].tolist() == steps[done].tolist()
            steps[done] = 0
            envs.reset(options={"reset_mask": done})
    assert found > 10


# ---- arrays


@pytest.mark.parametrize("clone", [None, copy.deepcopy, lambda envs: pickle.loads(pickle.dumps(envs))])
def test_without_copies_arrays_are_read_only_and_change(clone):
    envs = VectorGames("tollero", 2, encoding="slots", copy=False, render_mode="ansi")
    fresh = VectorGames("tollero", 2, encoding="slots")
    envs.reset(seed=1)
    fresh.reset(seed=1)
    if clone:
        envs.render()
        envs = clone(envs)
    rng = np.random.default_rng(1)
    for _ in range(60):
        actions = choose(fresh.action_masks(), rng)
        (one, *told, info), (other, *expected, theirs) = envs.step(actions), fresh.step(actions)
        assert np.array_equal(one, other)
        assert all(np.array_equal(*pair) for pair in zip(told, expected))
        same_infos(info, theirs)
        for array in (one, info["action_mask"], info["seat"]):
            assert not array.flags.writeable
    before = one.copy()
    later = envs.step(choose(info["action_mask"], rng))[0]
    assert np.shares_memory(one, later)
    assert not np.array_equal(one, before)


def test_with_copies_arrays_are_the_callers():
    envs, other = (VectorGames("tollero", 2, encoding="slots", seat="rotate") for _ in range(2))
    observations, infos = envs.reset(seed=1)
    _, expected = other.reset(seed=1)
    rng = np.random.default_rng(1)
    for _ in range(60):
        actions = choose(expected["action_mask"], rng)
        observations[...] = 0  # whatever the caller does with them
        for array in infos.values():
            if isinstance(array, np.ndarray) and array.dtype != object:
                array[...] = 0
        observations, rewards, terminated, truncated, infos = envs.step(actions)
        later, *_, expected = other.step(actions)
        assert np.array_equal(observations, later)
        same_infos(infos, expected)
        rewards[...] = terminated[...] = truncated[...] = 1


# ---- misuse


@pytest.mark.parametrize("actions", [[0.5, 1], [1], [[1], [2]], None, ["a", "b"], np.zeros(2), np.zeros(2, bool)])
def test_wrong_actions_change_nothing(actions):
    envs = VectorGames("tollero", 2, encoding="slots")
    _, infos = envs.reset(seed=1)
    before = envs._games.states.tobytes()
    with pytest.raises(ValueError, match="actions are"):
        envs.step(actions)
    assert envs._games.states.tobytes() == before
    good = choose(infos["action_mask"], np.random.default_rng(1))
    assert not envs.step(good.astype(np.uint16))[2].any()


@pytest.mark.parametrize("seed", [-1, 1 << 64, 1.5, True, "ab", [1], [1, 2, 3], [1, -1], [1, "x"], {1, 2}])
def test_wrong_seeds_change_nothing(seed):
    envs = VectorGames("tollero", 2, encoding="slots")
    envs.reset(seed=1)
    before = envs._games.states.tobytes()
    with pytest.raises(ValueError, match="seed"):
        envs.reset(seed=seed)
    assert envs._games.states.tobytes() == before


def test_seeds_of_every_kind():
    envs = VectorGames("tollero", 3, encoding="slots")
    first = envs.reset(seed=5)[0]
    for seed in (np.int64(5), [5, 6, 7], (5, 6, 7), np.array([5, 6, 7])):
        assert np.array_equal(envs.reset(seed=seed)[0], first)
    assert not np.array_equal(envs.reset()[0], first)
    envs.reset(seed=5)
    row = envs.reset()[0]
    envs.reset(seed=[5, None, None])
    envs.reset(seed=5)
    assert np.array_equal(envs.reset(seed=[None, None, 7])[0][:2], row[:2])


@pytest.mark.parametrize("mask", [[True, False], np.zeros(2, bool), np.ones(3, bool), np.ones(2, int), None])
def test_wrong_masks_change_nothing(mask):
    envs = VectorGames("tollero", 2, encoding="slots", autoreset_mode=OFF)
    envs.reset(seed=1)
    before = envs._games.states.tobytes()
    with pytest.raises(ValueError, match="reset_mask"):
        envs.reset(options={"reset_mask": mask})
    assert envs._games.states.tobytes() == before


def test_a_mask_resets_its_rows_alone():
    envs = VectorGames("tollero", 3, encoding="slots", autoreset_mode=OFF)
    before, _ = envs.reset(seed=1)
    options = {"reset_mask": np.array([False, True, False])}
    after, infos = envs.reset(seed=50, options=options)
    assert np.array_equal(before[[0, 2]], after[[0, 2]])
    assert np.array_equal(after[1], VectorGames("tollero", 1, encoding="slots").reset(seed=51)[0][0])
    assert infos["action_mask"].any(axis=1).all()
    assert "reset_mask" in options  # the caller's, untouched


def test_other_options_of_reset_are_warned_of():
    with pytest.warns(UserWarning, match="floors ignored"):
        VectorGames("tollero", 2, encoding="slots").reset(seed=1, options={"floors": 3})


def test_steps_where_no_game_is():
    envs = VectorGames("tollero", 2, encoding="slots", autoreset_mode=OFF, floors=1, render_mode="ansi")
    for call in (lambda: envs.step(np.zeros(2, int)), envs.action_masks, envs.render):
        with pytest.raises(StateError, match="reset"):
            call()
    envs.reset(seed=1, options={"reset_mask": np.array([True, False])})
    with pytest.raises(StateError, match="no game in row 1: call reset"):
        envs.step(np.zeros(2, int))
    _, infos = envs.reset(seed=1)
    actions = choose(infos["action_mask"], np.random.default_rng(1))
    actions[1] = -1
    assert envs.step(actions)[2].tolist() == [False, True]
    with pytest.raises(StateError, match="game 1 is over: call reset"):
        envs.step(actions)


def test_an_opponent_that_fails_stops_the_games():
    envs = VectorGames("tollero", 2, encoding="slots", opponents=Stuck())
    envs.reset(seed=1)
    with pytest.raises(OptionError, match="not legal"):
        play_on(envs, 3)
    with pytest.raises(StateError, match="reset"):
        envs.step(np.zeros(2, int))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_envs": 0}, "num_games: 0"),
        ({"seat": 5}, "seat: 5"),
        ({"render_mode": "human"}, "'ansi', 'svg', 'rgb_array'"),
        ({"colour": "red"}, "no option 'colour'"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(OptionError, match=message):
        VectorGames("tollero", **options)


def test_pictures_of_every_game():
    envs = VectorGames("tollero", 2, encoding="slots", render_mode="svg")
    envs.reset(seed=1)
    pictures = envs.render()
    assert len(set(pictures)) == 2
    with pytest.warns(UserWarning, match="render_mode"):
        assert VectorGames("tollero", 2).render() is None
