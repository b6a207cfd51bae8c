"""The games for stable-baselines3: masks, last observations, networks, and MaskablePPO that learns to beat random."""

import copy
import math
import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

from sb3_contrib import MaskablePPO  # noqa: E402
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported  # noqa: E402
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize  # noqa: E402

from tests.test_single import KINDS, Recorder  # noqa: E402
from tollero_env import tollero_v0  # noqa: E402
from tollero_env.adapters.sb3 import (  # noqa: E402
    MaskedVecEnv,
    PlacesPolicy,
    PlanesExtractor,
    RowsExtractor,
    _layout,
    policy_kwargs,
)
from tollero_env.envs.vector import VectorGames  # noqa: E402
from tollero_env.game import OptionError, StateError  # noqa: E402


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def choose(masks, rng):
    """A legal action for each game."""
    return np.array([rng.choice(np.flatnonzero(row)) for row in masks])


# ---- the env


@pytest.mark.parametrize(("players", "encoding"), KINDS)
@pytest.mark.parametrize("opponents", ["random", "python"])
def test_it_is_the_vector_env(players, encoding, opponents):
    options = {"encoding": encoding, "seat": "rotate", "floors": 3}
    options["opponents"] = Recorder() if opponents == "python" else "random"
    games, envs = MaskedVecEnv("tollero", 3, players, **options), VectorGames("tollero", 3, players, **options)
    games.seed(4)
    seen, (observations, _) = games.reset(), envs.reset(seed=4)
    rng, ended = np.random.default_rng(1), 0
    for _ in range(40):
        assert np.array_equal(seen, observations)
        assert seen[0] in games.observation_space
        masks = games.action_masks()
        assert masks.any(axis=1).all()
        assert np.array_equal(masks, envs.action_masks())
        actions = choose(masks, rng)
        seen, rewards, dones, told = games.step(actions)
        observations, expected, terminated, truncated, infos = envs.step(actions)
        assert rewards.dtype == np.float32
        assert rewards.tolist() == pytest.approx(expected.tolist())
        assert np.array_equal(dones, terminated | truncated)
        for g, info in enumerate(told):
            assert bool(info) == dones[g]
            if dones[g]:
                ended += 1
                assert np.array_equal(info["terminal_observation"], infos["final_obs"][g])
                assert info["TimeLimit.truncated"] == truncated[g]
                for name in ("seat", "scores", "outcome"):
                    assert np.array_equal(info[name], infos["final_info"][name][g])
    assert ended >= 6


def test_masks_come_the_way_maskable_ppo_asks_for_them():
    games = MaskedVecEnv("tollero", 5, encoding="slots")
    games.reset()
    for env in (games, VecMonitor(games), VecNormalize(games, norm_obs=False)):
        assert env.has_attr("action_masks")
        assert is_masking_supported(env)
        rows = env.env_method("action_masks")
        assert len(rows) == 5
        assert np.array_equal(get_action_masks(env), games.action_masks())
        assert np.array_equal(rows, games.action_masks())
    assert np.array_equal(games.env_method("action_masks", indices=[3, 1]), games.action_masks()[[3, 1]])
    assert len(games.env_method("action_masks", indices=2)) == 1
    assert games.action_masks().dtype == bool
    assert not games.has_attr("colour")
    with pytest.raises(AttributeError, match="there is action_masks"):
        games.env_method("dance")
    with pytest.raises(ValueError, match="for all"):
        games.set_attr("colour", 1, indices=[0])
    games.set_attr("colour", 1)
    assert games.get_attr("colour", indices=[0, 1]) == [1, 1]
    assert games.env_is_wrapped(VecMonitor) == [False] * 5


def test_a_monitor_around_it_counts_episodes():
    games = MaskedVecEnv("tollero", 4, encoding="slots", floors=1, seat="rotate")
    monitored = VecMonitor(games)
    monitored.reset()
    rng, lengths, found = np.random.default_rng(1), np.zeros(4, int), 0
    for _ in range(30):
        _, rewards, dones, infos = monitored.step(choose(games.action_masks(), rng))
        lengths += 1
        for g in np.flatnonzero(dones):
            found += 1
            assert infos[g]["episode"]["r"] == pytest.approx(rewards[g])
            assert infos[g]["episode"]["l"] == lengths[g]
            lengths[g] = 0
    assert found > 10


def test_seeds_are_for_the_next_reset():
    games, other = (MaskedVecEnv("tollero", 3, encoding="slots", seat="rotate") for _ in range(2))
    games.seed(7)
    other.seed(7)
    first = games.reset()
    assert np.array_equal(first, other.reset())
    second = games.reset()
    assert not np.array_equal(first, second)
    assert np.array_equal(second, other.reset())
    games.seed(7)
    assert np.array_equal(first, games.reset())


def test_a_game_cut_short_is_told_as_such():
    games = MaskedVecEnv("tollero", 8, view=5)
    games.reset()
    rng, found = np.random.default_rng(1), 0
    for _ in range(60):
        _, rewards, dones, infos = games.step(choose(games.action_masks(), rng))
        assert games.action_masks().any(axis=1).all()
        for g in np.flatnonzero(dones):
            if infos[g]["TimeLimit.truncated"]:
                found += 1
                assert infos[g]["view_overflow"] is True
                assert rewards[g] == 0
    assert found


def test_an_illegal_action_is_the_loss():
    games = MaskedVecEnv("tollero", 3, encoding="slots", num_players=3)
    games.reset()
    actions = choose(games.action_masks(), np.random.default_rng(1))
    actions[1] = -1
    _, rewards, dones, infos = games.step(actions)
    assert dones.tolist() == [False, True, False]
    assert rewards.tolist() == [0, -0.5, 0]
    assert infos[1]["illegal_action"] is True
    assert infos[1]["TimeLimit.truncated"] is False


def test_misuse_gets_a_clear_error():
    games = MaskedVecEnv("tollero", 2, encoding="slots")
    for call in (lambda: games.step(np.zeros(2, int)), games.action_masks, games.get_images):
        with pytest.raises(StateError, match="reset"):
            call()
    games.reset()
    for actions in (np.zeros(2), np.zeros(3, int), [0.5, 1]):
        with pytest.raises(ValueError, match="actions are"):
            games.step(actions)
    for options, message in (
        ({"render_mode": "smell"}, "render_mode: 'smell'"),
        ({"colour": 1}, "no option 'colour'"),
        ({"num_envs": 0}, "num_games: 0"),
    ):
        with pytest.raises(OptionError, match=message):
            MaskedVecEnv("tollero", **options)
    games.seed(-5)
    with pytest.raises(ValueError, match="seed -5"):
        games.reset()


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda games: pickle.loads(pickle.dumps(games))])
def test_a_copys_future_is_the_originals(clone):
    games = MaskedVecEnv("tollero", 3, encoding="slots", render_mode="rgb_array", floors=3)
    games.reset()
    images = games.get_images()
    assert len(images) == 3
    assert images[0].dtype == np.uint8
    other, rng = clone(games), np.random.default_rng(1)
    for _ in range(40):
        actions = choose(games.action_masks(), rng)
        for one, two in zip(games.step(actions)[:3], other.step(actions)[:3]):
            assert np.array_equal(one, two)
    games.close()


# ---- networks


@pytest.mark.parametrize(("players", "encoding"), KINDS)
@pytest.mark.parametrize("policy", [PlacesPolicy, "MlpPolicy"])
def test_gradients_reach_every_parameter(players, encoding, policy):
    games = MaskedVecEnv("tollero", 4, players, encoding=encoding, view=9 if encoding == "planes" else None)
    sizes = {"channels": 16, "blocks": 1} if encoding == "planes" else {}
    how = policy_kwargs(games, **sizes)
    assert how["features_extractor_class"] is (PlanesExtractor if encoding == "planes" else RowsExtractor)
    model = MaskablePPO(policy, games, n_steps=8, batch_size=16, policy_kwargs=how, seed=1, device="cpu")
    seen = games.reset()
    masks = games.action_masks()
    for _ in range(12):
        seen = games.step(choose(masks, np.random.default_rng(1)))[0]
        masks = games.action_masks()
    tensor = model.policy.obs_to_tensor(seen)[0]
    features = model.policy.extract_features(tensor)
    assert features.shape == (4, model.policy.features_extractor.features_dim)
    actions = torch.as_tensor(choose(masks, np.random.default_rng(1)))
    values, logs, entropy = model.policy.evaluate_actions(tensor, actions, action_masks=masks)
    assert torch.isfinite(logs).all()
    (values.sum() + logs.sum() + entropy.sum()).backward()
    for name, parameter in model.policy.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().sum() > 0, name
    model.learn(64)


@pytest.mark.parametrize("encoding", ["planes", "slots"])
def test_places_are_scored_alike(encoding):
    """Every action's score is read from the place it is played on."""
    games = MaskedVecEnv("tollero", 1, encoding=encoding)
    policy = MaskablePPO(PlacesPolicy, games, policy_kwargs=policy_kwargs(games, kept=2), device="cpu").policy
    extractor, head = policy.features_extractor, policy.action_net
    raw = tollero_v0.raw_env(2, encoding=encoding)
    for action in range(0, int(games.action_space.n), 37):
        features = torch.zeros(1, extractor.places + 1, 2)
        place = place_of(action, encoding, raw._view)
        features[0, place] = 1
        changed = (head(features.flatten(1)) - head(torch.zeros(1, extractor.features_dim)))[0]
        touched = torch.nonzero(changed).flatten().tolist()
        assert action in touched
        assert {place_of(number, encoding, raw._view) for number in touched} == {place}
        assert len(touched) == int(games.action_space.n) // extractor.places


def place_of(action, encoding, view):
    """As the manual numbers actions."""
    if encoding == "planes":
        return action % (view * view)
    return action // 4 if action < 236 else (action - 236) // 16


def test_layouts_number_every_output_once():
    for layout in (_layout(59, (4, 16)), _layout(361, (1,) * 8), _layout(289, (1,) * 4)):
        assert sorted(layout.tolist()) == list(range(len(layout)))


def test_layers_between_places_and_actions_are_refused():
    games = MaskedVecEnv("tollero", 2, encoding="slots")
    with pytest.raises(ValueError, match="net_arch"):
        MaskablePPO(PlacesPolicy, games, policy_kwargs={**policy_kwargs(games), "net_arch": [64]})


def test_a_model_is_saved_and_loaded(tmp_path):
    games = MaskedVecEnv("tollero", 2, encoding="slots", floors=2)
    games.seed(1)
    model = MaskablePPO(PlacesPolicy, games, n_steps=8, batch_size=16, policy_kwargs=policy_kwargs(games), seed=1)
    model.learn(16)
    model.save(tmp_path / "model")
    other = MaskablePPO.load(tmp_path / "model", env=games, device="cpu")
    seen, masks = games.reset(), games.action_masks()
    for deterministic in (True, False):
        torch.manual_seed(1)
        ours, _ = model.predict(seen, action_masks=masks, deterministic=deterministic)
        torch.manual_seed(1)
        assert np.array_equal(ours, other.predict(seen, action_masks=masks, deterministic=deterministic)[0])


# ---- learning


class Watched(MaskedVecEnv):
    """Checks every action against the mask, and every reward against the outcome."""

    steps = wins = losses = 0

    def step_async(self, actions):
        assert self.action_masks()[np.arange(self.num_envs), actions].all()
        self.steps += self.num_envs
        super().step_async(actions)

    def step_wait(self):
        seen, rewards, dones, infos = super().step_wait()
        assert not rewards[~dones].any()
        for g in np.flatnonzero(dones):
            info = infos[g]
            assert "illegal_action" not in info
            assert not info["TimeLimit.truncated"]
            share, best = info["outcome"][info["seat"]], max(info["outcome"])
            assert rewards[g] == pytest.approx(2 * share - 1)
            assert (rewards[g] < 0) == (share < best)  # the loser gets the loss
            self.wins += rewards[g] > 0
            self.losses += rewards[g] < 0
        return seen, rewards, dones, infos


def share_of_wins(model, games):
    """Of so many games against random, half of them in each seat; no game is left out for being long."""
    envs = MaskedVecEnv("tollero", games, encoding="slots", seat="rotate", floors=6)
    envs.seed(10_000)
    seen, won, seats = envs.reset(), np.full(games, np.nan), envs.games.seats.copy()
    assert np.bincount(seats).tolist() == [games // 2, games // 2]
    while np.isnan(won).any():
        actions, _ = model.predict(seen, action_masks=envs.action_masks(), deterministic=True)
        seen, _, dones, infos = envs.step(actions)
        for g in np.flatnonzero(dones & np.isnan(won)):
            assert infos[g]["seat"] == seats[g]
            won[g] = infos[g]["outcome"][seats[g]]
    return won.mean()


@pytest.mark.thorough
def test_maskable_ppo_learns_to_beat_random():
    games = Watched("tollero", 64, encoding="slots", seat="rotate", floors=6)
    games.seed(1)
    model = MaskablePPO(
        PlacesPolicy,
        games,
        n_steps=32,
        batch_size=512,
        n_epochs=4,
        learning_rate=4e-3,
        gamma=1.0,
        policy_kwargs=policy_kwargs(games, kept=16, width=32),
        seed=1,
        device="cpu",
    )
    model.learn(40_960)
    assert games.steps == 40_960
    assert min(games.wins, games.losses) > 500
    share = share_of_wins(model, 1000)
    error = math.sqrt(0.25 / 1000)
    assert share - 4 * error > 0.5, share  # an agent no better than random passes once in 30,000 times
