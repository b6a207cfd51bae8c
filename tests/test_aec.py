"""The AEC env: PettingZoo's own tests, rewards, misuse, and copies that are right in the middle of a game."""

import copy
import importlib
import pickle
import warnings
import xml.etree.ElementTree as ET

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, performance_benchmark, render_test, seed_test

import tollero_env
from tests.tollero_tools import BLANK, CROSS, make_set, to_toml
from tollero_env import tollero_v0
from tollero_env.envs import camera
from tollero_env.envs.aec import final_rewards
from tollero_env.game import NAMES, MoveError, OptionError, StateError, get_game
from tollero_env.games.tollero.tiles import parse_tileset

MODULES = {game: importlib.import_module(f"tollero_env.{game}_v0") for game in NAMES}
KINDS = [
    (game, players, name) for game in NAMES for players in get_game(game).players for name in get_game(game).encodings
]
MAKERS = [tollero_v0.raw_env, tollero_v0.env]
ALL_MAKERS = [make for module in MODULES.values() for make in (module.raw_env, module.env)]


def play_on(env, seed, most=10_000):
    """Random legal actions, at most so many; all that was seen on the way, as bytes."""
    rng, seen = np.random.default_rng(seed), []
    for agent in env.agent_iter(most):
        observation, reward, terminated, truncated, info = env.last()
        seen.append((agent, observation["observation"].tobytes(), observation["action_mask"].tobytes()))
        seen.append((reward, terminated, truncated, str(info)))
        env.step(None if terminated or truncated else int(rng.choice(np.flatnonzero(observation["action_mask"]))))
    return seen


def mid_game(make, steps=25, **options):
    env = make(**options)
    env.reset(seed=5)
    play_on(env, 1, steps)
    return env


@pytest.mark.parametrize(("game", "players", "encoding"), KINDS)
def test_pettingzoos_own_tests_pass(game, players, encoding, capsys):
    module = MODULES[game]
    with warnings.catch_warnings():
        for message in (
            "reset\\(\\) takes no options",  # the test passes junk
            "Observation space for each agent probably should be",  # they advise against Dict, which masks need
            "Observation is not a NumPy array",
        ):
            warnings.filterwarnings("ignore", message)
        api_test(module.env(players, encoding=encoding), num_cycles=400)
        api_test(module.raw_env(players, encoding=encoding), num_cycles=400)
    seed_test(lambda: module.env(players, encoding=encoding), num_cycles=200)
    assert capsys.readouterr().out.count("Passed API test") == 2


@pytest.mark.thorough  # it runs for five seconds, whatever the env
@pytest.mark.parametrize(("game", "players", "encoding"), KINDS)
def test_pettingzoos_benchmark_runs(game, players, encoding, capsys):
    performance_benchmark(MODULES[game].env(players, encoding=encoding))
    assert "turns per second" in capsys.readouterr().out


@pytest.mark.parametrize(("game", "players", "encoding"), KINDS)
def test_the_registry_makes_every_game(game, players, encoding):
    env = pettingzoo.make("aec", f"tollero_env/{game}-v0", num_players=players, encoding=encoding)
    env.reset(seed=1)
    assert env.num_agents == players
    assert env.unwrapped.position() == tollero_env.new_game(game, players=players, seed=1)
    assert str(env) == f"{game}_v0"


def test_the_registry_makes_it():
    env = pettingzoo.make("aec", "tollero_env/tollero-v0", num_players=3, encoding="slots")
    env.reset(seed=1)
    assert env.num_agents == 3
    assert env.action_space("player_0").n == 1180
    assert str(env) == "tollero_v0"


@pytest.mark.parametrize("make", ALL_MAKERS)
def test_the_same_seed_gives_the_same_games_in_a_row(make):
    env = make()
    games = []
    for seed in (7, None, 7, None, 7):
        env.reset(seed=seed)
        games.append(play_on(env, 1))
    assert games[0] == games[2] == games[4]
    assert games[1] == games[3] != games[0]
    env.reset(seed=7)
    game = env.unwrapped.rules.game.name
    assert env.unwrapped.position() == tollero_env.new_game(game, seed=7)


@pytest.mark.parametrize(("game", "players", "encoding"), KINDS)
def test_only_the_agent_to_act_has_a_mask(game, players, encoding):
    env = MODULES[game].raw_env(players, encoding=encoding)
    env.reset(seed=3)
    for _ in range(40):
        masks = {agent: env.observe(agent)["action_mask"] for agent in env.agents}
        assert all(mask.any() == (agent == env.agent_selection) for agent, mask in masks.items())
        env.step(np.flatnonzero(masks[env.agent_selection])[-1])


@pytest.mark.parametrize("make", ALL_MAKERS)
def test_every_observation_is_a_fresh_array_in_the_space(make):
    env = mid_game(make)
    first, second = env.observe("player_0"), env.observe("player_0")
    assert all(not np.shares_memory(first[key], second[key]) for key in first)
    assert env.observation_space("player_0").contains(first)


@pytest.mark.parametrize(
    ("kind", "scores", "outcome", "expected"),
    [
        ("win", [30, 20], [1.0, 0.0], [1, -1]),
        ("win", [30, 30], [0.5, 0.5], [0, 0]),
        ("win", [30, 20, 30, 1], [0.5, 0, 0.5, 0], [1 / 3, -1 / 3, 1 / 3, -1 / 3]),
        ("margin", [30, 20, 10], [1, 0, 0], [15, 0, -15]),
        ("score", [30, 20, 10], [1, 0, 0], [30, 20, 10]),
    ],
)
def test_rewards_are_those_of_the_manual(kind, scores, outcome, expected):
    assert final_rewards(kind, scores, outcome) == pytest.approx(expected)


@pytest.mark.parametrize("kind", ["win", "margin", "score"])
def test_rewards_come_at_the_end_with_scores_and_outcome(kind):
    env = tollero_v0.raw_env(3, reward=kind, floors=4)
    env.reset(seed=2)
    rng = np.random.default_rng(1)
    while not any(env.terminations.values()):
        assert set(env.rewards.values()) == {0}
        assert env.infos[env.agent_selection] == {}
        env.step(int(rng.choice(np.flatnonzero(env.observe(env.agent_selection)["action_mask"]))))
    position = env.position()
    expected = final_rewards(kind, position.scores(), position.outcome())
    assert [env.last()[1] for _ in [env.step(None)]] != []  # a dead step takes None
    assert env.num_agents == 2
    assert [env.rewards.get(agent, 0) for agent in env.agents] == [0, 0]
    assert [env._cumulative_rewards[agent] for agent in env.agents] == expected[1:]
    assert env.infos["player_1"] == {"scores": position.scores(), "outcome": position.outcome()}
    assert not env.observe("player_1")["action_mask"].any()


@pytest.mark.parametrize("module", MODULES.values(), ids=MODULES)
@pytest.mark.parametrize("action", [-1, -2, 0, 8 * 361, 10**30, None, "x", 1.5])
def test_raw_env_refuses_an_illegal_action_and_stays_as_it_was(action, module):
    env = mid_game(module.raw_env)
    before = env.get_bytes()
    with pytest.raises(MoveError, match=r"is not legal for player_\d: \d+ are"):
        env.step(action)
    assert env.get_bytes() == before


@pytest.mark.parametrize("module", MODULES.values(), ids=MODULES)
def test_env_ends_the_game_on_an_illegal_action(module):
    env = mid_game(module.env)
    agent = env.agent_selection
    illegal = int(np.flatnonzero(env.last()[0]["action_mask"] == 0)[0])
    env.step(illegal)
    assert all(env.terminations.values())
    assert env.rewards[agent] == -1
    for _ in range(2):
        env.step(None)
    assert not env.agents


def test_steps_outside_a_game():
    env = tollero_v0.raw_env()
    with pytest.raises(MoveError, match="reset"):
        env.step(0)
    with pytest.raises(StateError, match="reset"):
        env.get_bytes()
    env.reset(seed=1)
    play_on(env, 1)
    with pytest.raises(MoveError, match="reset"):
        env.step(0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_players": 5}, "players: 5 is not a whole number from 2 to 4"),
        ({"encoding": "pixels"}, "encoding: 'pixels' is not one of 'planes', 'slots'"),
        ({"view": 8}, "view: 8 is not an odd number"),
        ({"view": "most"}, "view: 'most'"),
        ({"view": 19, "encoding": "slots"}, "slots has none"),
        ({"reward": "fame"}, "'win', 'margin', 'score'"),
        ({"render_mode": "smell"}, "'human', 'ansi'"),
        ({"viewer": 2}, "viewer: 2 is not one of 'acting', 'all', 0, 1"),
        ({"floors": 21}, "floors: 21"),
        ({"tileset": "none such"}, "not one of reconstruction"),
        ({"colour": "red"}, "no option 'colour'; there is"),
    ],
)
@pytest.mark.parametrize("make", MAKERS)
def test_wrong_options_are_named(make, options, message):
    with pytest.raises(ValueError, match=r"option|tile set") as error:
        make(**options)
    assert message in str(error.value)
    assert isinstance(error.value, OptionError) or "tileset" in options


def test_a_viewer_is_a_seat_or_a_word():
    for viewer in (0, 1, "all", "acting"):
        tollero_v0.raw_env(2, viewer=viewer)


def test_reset_warns_of_options():
    env = tollero_v0.raw_env()
    with pytest.warns(UserWarning, match="floors ignored"):
        env.reset(seed=1, options={"floors": 3})


def test_a_view_that_hides_every_move_truncates_the_game():
    env = tollero_v0.raw_env(2, view=3)
    found = 0
    for seed in range(20):
        env.reset(seed=seed)
        rng = np.random.default_rng(seed)
        while not any(env.terminations.values()) and not any(env.truncations.values()):
            mask = env.observe(env.agent_selection)["action_mask"]
            assert mask.any()
            env.step(int(rng.choice(np.flatnonzero(mask))))
        if all(env.truncations.values()):
            found += 1
            assert not any(env.terminations.values())
            assert set(env.rewards.values()) == {0}
            assert env.infos["player_0"] == {"view_overflow": True}
            copied = copy.deepcopy(env)
            assert copied.infos == env.infos
    assert found


def test_a_game_may_be_over_when_it_is_dealt():
    env = tollero_v0.env(3, tileset=parse_tileset(to_toml(make_set((BLANK, 54), downtown=(CROSS,))), "barren"))
    env.reset(seed=1)
    assert all(env.terminations.values())
    assert len(play_on(env, 1)) == 6
    assert not env.agents


# ---- pictures


@pytest.mark.parametrize(("game", "players", "encoding"), KINDS)
def test_pettingzoos_render_test_passes(game, players, encoding, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr(camera, "FPS", 1000)
    kinds = {"svg": lambda text: ET.fromstring(text) is not None, "ansi": lambda text: "\x1b[" in text}
    render_test(lambda render_mode: MODULES[game].env(players, encoding=encoding, render_mode=render_mode), kinds)


@pytest.mark.parametrize("module", MODULES.values(), ids=MODULES)
@pytest.mark.parametrize("mode", ["ansi", "svg"])
def test_a_viewers_picture_has_nothing_hidden(mode, module):
    for viewer, is_told in ((0, False), ("acting", False), ("all", True)):
        env = mid_game(module.raw_env, steps=12, render_mode=mode, viewer=viewer)
        if env.agent_selection != "player_0":
            play_on(env, 1, 1)
        assert env.agent_selection == "player_0"
        pictures = set()
        for seed in range(5):
            other = copy.deepcopy(env)
            other._words[:] = env.position().hidden_from(0, seed).states.view(np.uint64)
            pictures.add(other.render())
        assert (len(pictures) > 1) == is_told


def test_render_shows_the_last_move_and_needs_a_mode_and_a_game():
    env = mid_game(tollero_v0.raw_env, steps=13, render_mode="svg")
    position = env.position()
    assert env.render() != position.svg(viewer=0)  # the same table, but without the mark of the last move
    with pytest.warns(UserWarning, match="render_mode"):
        assert mid_game(tollero_v0.raw_env).render() is None
    with pytest.raises(StateError, match="reset"):
        tollero_v0.raw_env(render_mode="ansi").render()


# ---- copies


def by_deepcopy(env):
    return copy.deepcopy(env)


def by_pickle(env):
    return pickle.loads(pickle.dumps(env))


def by_bytes(env):
    unwrapped = env.unwrapped
    module = MODULES[unwrapped.rules.game.name]
    make = module.raw_env if env is unwrapped else module.env
    other = make(**{key: value for key, value in unwrapped._how.items() if key != "game"})
    other.set_bytes(env.get_bytes())
    return other


@pytest.mark.parametrize("is_wrapped", [False, True])
@pytest.mark.parametrize("clone", [by_deepcopy, by_pickle, by_bytes])
@pytest.mark.parametrize("steps", [0, 25, 10_000])
@pytest.mark.parametrize(("game", "players", "encoding"), [kind for kind in KINDS if kind[:2] != ("tollero", 4)])
def test_a_copys_future_is_the_originals(is_wrapped, clone, steps, game, players, encoding):
    make = MODULES[game].env if is_wrapped else MODULES[game].raw_env
    env = mid_game(make, steps=steps, num_players=players, encoding=encoding)
    other = clone(env)
    assert other.get_bytes() == env.get_bytes()
    untouched = env.get_bytes()
    theirs = play_on(other, 9)
    assert env.get_bytes() == untouched
    assert play_on(env, 9) == theirs
    env.reset()
    other.reset()
    assert play_on(env, 4) == play_on(other, 4)


@pytest.mark.parametrize("make", MAKERS)
def test_a_copy_in_the_middle_of_goodbyes(make):
    env = mid_game(make, steps=10_000, floors=2)
    env.reset(seed=5)
    rng = np.random.default_rng(1)
    while not any(env.terminations.values()):
        env.step(int(rng.choice(np.flatnonzero(env.last()[0]["action_mask"]))))
    env.step(None)
    for clone in (by_deepcopy, by_pickle, by_bytes):
        assert play_on(clone(env), 1) == play_on(by_deepcopy(env), 1)


def test_set_bytes_makes_the_wrapper_forget_its_mask():
    """last(), set_bytes(), step(): the wrapper would judge the action by the mask of the game before."""
    env = mid_game(tollero_v0.env, steps=24)  # at the start of a turn: a tile is to be laid
    laying = env.get_bytes()
    env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    env.last()  # the mask of a Floor is remembered now
    env.set_bytes(laying)
    legal = int(np.flatnonzero(env.unwrapped.observe(env.agent_selection)["action_mask"])[-1])
    env.step(legal)
    assert not any(env.terminations.values())


@pytest.mark.parametrize("make", MAKERS)
def test_foreign_bytes_are_refused_and_change_nothing(make):
    env = mid_game(make)
    before = env.get_bytes()
    version = bytearray(before)
    version[0] ^= 1
    agents = bytearray(before)
    agents[len(env.unwrapped.state())] = 255
    noise = np.random.default_rng(1).bytes(len(before))
    for data, message in (
        (b"", "0 bytes are no tollero_v0"),
        (before + b"x", "bytes are no tollero_v0"),
        (mid_game(make, floors=7).get_bytes(), "other tiles, options or players"),
        (mid_game(make, num_players=3).get_bytes(), "other tiles, options or players"),
        (bytes(version), "another version"),
        (bytes(agents), "list of agents"),
        (noise, "no position of this game"),
    ):
        with pytest.raises(StateError, match=message):
            env.set_bytes(data)
        assert env.get_bytes() == before


@pytest.mark.parametrize("module", MODULES.values(), ids=MODULES)
def test_state_is_the_whole_truth(module):
    env = mid_game(module.env)
    assert env.unwrapped.state_space.contains(env.state())
    assert env.state().tobytes() == env.unwrapped.position().to_bytes()
