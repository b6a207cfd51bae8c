"""The single-agent env: Gymnasium's own checks, opponents and seats, misuse, hidden things, copies."""

import copy
import dataclasses
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import tollero_env  # noqa: F401  registers the id
from tollero_env import tollero_v0
from tollero_env.envs import camera
from tollero_env.envs.aec import final_rewards
from tollero_env.envs.single import SingleEnv
from tollero_env.game import OptionError, StateError
from tollero_env.opponents import RandomAgent
from tollero_env.position import Position

KINDS = [(players, encoding) for players in (2, 3, 4) for encoding in ("planes", "slots")]


class Recorder:
    """Plays at random, and keeps what it is handed."""

    def __init__(self):
        self.seen = []

    def act(self, position, seed):
        self.seen.append(position)
        return RandomAgent().act(position, seed)


class Lowest:
    """Plays the first legal move, in the game's notation."""

    def act(self, position, seed):
        return position.legal()[0]


@dataclasses.dataclass  # so it has no hash, and two of them are equal
class Nth:
    n: int = 0

    def act(self, position, seed):
        moves = position.moves()
        return moves[self.n % len(moves)]


class Stuck:
    def act(self, position, seed):
        return 0


def legal_action(env, rng):
    return int(rng.choice(np.flatnonzero(env.unwrapped.action_masks())))


def play_on(env, seed, most=10_000):
    """Random legal actions to the end, at most so many; all that was seen on the way."""
    rng, seen = np.random.default_rng(seed), []
    for _ in range(most):
        action = legal_action(env, rng)
        observation, reward, terminated, truncated, info = env.step(action)
        seen.append((action, observation.tobytes(), reward, terminated, truncated, repr(info)))
        if terminated or truncated:
            break
    return seen


# ---- Gymnasium


@pytest.mark.parametrize(("players", "encoding"), KINDS)
@pytest.mark.parametrize("seat", [0, 1, "rotate"])
def test_gymnasiums_checker_passes(players, encoding, seat):
    env = gymnasium.make("tollero_env/tollero-v0", num_players=players, encoding=encoding, seat=seat)
    check_env(env.unwrapped, skip_render_check=True)


def test_gymnasiums_checker_passes_with_pictures(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr(camera, "FPS", 1000)
    check_env(gymnasium.make("tollero_env/tollero-v0", render_mode="rgb_array").unwrapped)


@pytest.mark.parametrize(("players", "encoding"), KINDS)
def test_the_registry_makes_it(players, encoding):
    env = gymnasium.make("tollero_env/tollero-v0", num_players=players, encoding=encoding, floors=3)
    observation, info = env.reset(seed=1)
    assert isinstance(env.unwrapped, SingleEnv)
    assert observation in env.observation_space
    assert info["action_mask"].dtype == np.int8
    rng = np.random.default_rng(1)
    ended = False
    while not ended:
        assert np.array_equal(info["action_mask"], env.get_wrapper_attr("action_masks")())
        observation, reward, terminated, truncated, info = env.step(rng.choice(np.flatnonzero(info["action_mask"])))
        assert observation in env.observation_space
        assert isinstance(reward, float)
        ended = terminated or truncated
    assert env.get_wrapper_attr("action_masks")().all()  # none matters any more


# ---- the game that is played


@pytest.mark.parametrize(("players", "encoding"), KINDS)
@pytest.mark.parametrize("reward", ["win", "margin", "score"])
def test_it_is_the_game_of_raw_env_as_the_learner_sees_it(players, encoding, reward):
    """Every seat's moves are replayed in raw_env; observation, mask, reward and infos are the learner's there."""
    seat, options = players - 1, {"encoding": encoding, "reward": reward, "floors": 6}
    agents = [Recorder() for _ in range(players - 1)]
    env = SingleEnv("tollero", players, seat=seat, opponents=agents, **options)
    raw = tollero_v0.raw_env(players, **options)
    rng = np.random.default_rng(1)
    for seed in range(2):
        observation, info = env.reset(seed=seed)
        raw.reset(seed=seed)
        ended, got = False, 0.0
        while not ended:
            assert not any(raw.terminations.values())
            replay_to(raw, env.position())
            assert raw.agent_selection == f"player_{seat}"
            expected = raw.observe(raw.agent_selection)
            assert np.array_equal(observation, expected["observation"])
            assert np.array_equal(info["action_mask"], expected["action_mask"])
            assert info["seat"] == seat
            action = legal_action(env, rng)
            raw.step(action)
            observation, got, ended, truncated, info = env.step(action)
            assert not truncated
            assert ended or got == 0
        final = env.position()
        assert final.over
        assert got == pytest.approx(final_rewards(reward, final.scores(), final.outcome())[seat])
        assert info["scores"].tolist() == final.scores()
        assert info["outcome"].tolist() == final.outcome()
        assert not info["action_mask"].any()
        replay_to(raw, final)
        assert np.array_equal(observation, raw.observe(f"player_{seat}")["observation"])
    for k, agent in enumerate(agents):  # in turn order from the learner on
        assert {position.player for position in agent.seen} == {(seat + 1 + k) % players}


def replay_to(raw, position):
    """Put raw_env where the single env is."""
    raw._words[:] = position.states.view(np.uint64)
    if not position.over:
        raw.agent_selection = f"player_{position.player}"


@pytest.mark.parametrize("encoding", ["planes", "slots"])
def test_the_observation_is_kept_up_to_date_over_long_games(encoding):
    for players in (2, 3, 4):
        env = SingleEnv("tollero", players, seat="rotate", encoding=encoding)
        raw, rng = tollero_v0.raw_env(players, encoding=encoding), np.random.default_rng(players)
        raw.reset(seed=0)
        observation, info = env.reset(seed=3)
        for _ in range(150):
            raw._words[:] = env.position().states.view(np.uint64)
            assert np.array_equal(observation, raw.observe(f"player_{info['seat']}")["observation"])
            observation, _, terminated, truncated, info = env.step(legal_action(env, rng))
            if terminated or truncated:
                observation, info = env.reset()


def test_the_learner_wins_and_loses_by_its_own_reward():
    env, found = SingleEnv("tollero", 3, seat="rotate", encoding="slots", floors=2), set()
    env.reset(seed=1)
    for episode in range(40):
        last = play_on(env, episode)[-1]
        outcome, seat = env.position().outcome(), env.reset()[1]["seat"]
        mine = outcome[(seat - 1) % 3]
        assert last[2] == pytest.approx((3 * mine - 1) / 2)
        found.add(np.sign(last[2]))
    assert found >= {-1, 1}


@pytest.mark.uncompiled
@pytest.mark.parametrize("opponents", [Nth(), "random"])
def test_a_short_game_in_either_layer(opponents):
    env = SingleEnv("tollero", 2, encoding="slots", floors=1, opponents=opponents, seat=1)
    env.reset(seed=1)
    first = play_on(env, 1)
    env.reset(seed=1)
    assert play_on(env, 1) == first
    assert first[-1][3]


# ---- opponents


@pytest.mark.parametrize(
    "opponents",
    ["random", RandomAgent(), Recorder(), ["random", "random"], ("random", Lowest()), [Nth(), Nth()], [Nth(0), Nth(3)]],
)
def test_opponents_by_name_and_object(opponents):
    env = SingleEnv("tollero", 3, opponents=opponents, floors=2, encoding="slots", seat=1)
    env.reset(seed=1)
    assert play_on(env, 1)[-1][3]


def test_one_object_for_all_or_one_for_each_is_the_same_where_they_play_the_same():
    games = []
    for opponents in ("random", RandomAgent(), ["random", "random"], Recorder(), [Recorder(), RandomAgent()]):
        env = SingleEnv("tollero", 3, opponents=opponents, floors=3, encoding="slots")
        env.reset(seed=5)
        games.append(play_on(env, 1))
    assert all(game == games[0] for game in games)  # compiled or not: the same seeds, the same moves


@pytest.mark.parametrize(
    ("opponents", "message"),
    [
        ("nobody", "agent 'nobody' is not known; there is .*random.*import agents"),
        ("random:level=3", "level"),
        (["random"], "1 opponents for 3 players: give one, or 2"),
        ([], "0 opponents"),
        (["random", 5], "opponent 5 is neither a name nor an agent"),
        (None, "opponent None is neither"),
        (RandomAgent, "neither a name nor an agent"),
        (5, "opponent 5 is neither"),
    ],
)
def test_wrong_opponents_are_named(opponents, message):
    with pytest.raises(OptionError, match=message):
        SingleEnv("tollero", 3, opponents=opponents)


def test_an_opponent_that_plays_something_illegal_is_named_and_the_game_goes_no_further():
    env = SingleEnv("tollero", 2, opponents=Stuck(), encoding="slots")
    env.reset(seed=1)
    with pytest.raises(OptionError, match=r"agent .*Stuck.* chose 0, which is not legal"):
        play_on(env, 1, 3)
    with pytest.raises(StateError, match="reset"):
        env.step(0)


def test_opponents_never_see_what_is_hidden_from_them():
    """What an agent is handed follows from what its seat may know: the true hands and pile do not show in it."""
    agent = Recorder()
    env = SingleEnv("tollero", 2, opponents=agent, encoding="slots")
    rng, told, same_hand, true_pile = np.random.default_rng(1), 0, 0, 0
    env.reset(seed=1)
    for _ in range(60):
        agent.seen.clear()
        _, _, terminated, _, _ = env.step(legal_action(env, rng))
        if terminated:
            env.reset()
        elif agent.seen:
            truth, state = env.position().states[0], agent.seen[-1].states[0]  # the learner's hand has stayed
            told += 1
            same_hand += state["hand"][0] == truth["hand"][0]
            left = truth["num_pile"]  # the agent's draw came off the top
            true_pile += state["pile"][:left].tolist() == truth["pile"][:left].tolist()
            assert agent.seen[0].history() == []
    assert told > 15
    assert same_hand < told / 3
    assert true_pile == 0


@pytest.mark.parametrize(("players", "encoding"), KINDS)
def test_the_observation_hides_what_the_learner_cannot_know(players, encoding):
    env = SingleEnv("tollero", players, encoding=encoding, seat=1)
    observation, info = env.reset(seed=1)
    rng = np.random.default_rng(2)
    for step in range(30):
        games = env._games
        for seed in range(3):
            hidden = env.position().hidden_from(1, seed)
            assert hidden != env.position()
            other = SingleEnv("tollero", players, encoding=encoding, seat=1)
            other.reset(seed=seed)
            other._games.states.view(np.uint64)[:] = hidden.states.view(np.uint64)
            other._games._present(np.zeros(1, np.int64), fresh=True)
            assert np.array_equal(other._games.observation[0], observation), step
            assert np.array_equal(other._games.mask[0], info["action_mask"])
        observation, _, terminated, _, info = env.step(legal_action(env, rng))
        assert np.array_equal(games.observation[0], observation)
        if terminated:
            break


# ---- seats and seeds


@pytest.mark.parametrize("players", [2, 3, 4])
def test_seats_rotate(players):
    env = SingleEnv("tollero", players, seat="rotate", floors=1, encoding="slots")
    assert [env.reset(seed=players)[1]["seat"], *(env.reset()[1]["seat"] for _ in range(7))] == [
        k % players for k in range(8)
    ]
    assert [env.reset(seed=s)[1]["seat"] for s in range(8)] == [s % players for s in range(8)]
    assert {env.reset()[1]["seat"] for _ in range(players)} == set(range(players))
    fixed = SingleEnv("tollero", players, seat=players - 1, floors=1, encoding="slots")
    assert {fixed.reset()[1]["seat"] for _ in range(5)} == {players - 1}


@pytest.mark.parametrize("seat", [0, 2, "rotate"])
def test_the_same_seed_gives_the_same_episodes_in_a_row(seat):
    env, games = SingleEnv("tollero", 3, seat=seat, floors=5, encoding="slots"), []
    for seed in (7, None, 7, None, 8):
        env.reset(seed=seed)
        games.append(play_on(env, 1))
    assert games[0] == games[2]
    assert games[1] == games[3]
    assert len({repr(game) for game in games}) == 3


def test_the_seed_deals_the_game_of_new_game():
    env = SingleEnv("tollero", 3, seat=0)
    env.reset(seed=7)
    assert env.position() == Position.new(env._games.rules, 7)


@pytest.mark.parametrize("seed", [-1, 1 << 64, 1.5, "x", True])
def test_wrong_seeds_change_nothing(seed):
    env = SingleEnv("tollero", 2, encoding="slots")
    env.reset(seed=1)
    before = env.position()
    with pytest.raises(ValueError, match="seed"):
        env.reset(seed=seed)
    assert env.position() == before


# ---- misuse


@pytest.mark.parametrize(("reward", "loss"), [("win", -0.5), ("margin", None), ("score", None)])
def test_an_illegal_action_ends_the_episode_with_the_loss(reward, loss):
    for action in (-1, 10**30, 1180, "first"):
        env = SingleEnv("tollero", 3, encoding="slots", reward=reward, seat="rotate")
        first, info = env.reset(seed=4)
        if action == "first":
            action = np.int64(np.flatnonzero(info["action_mask"] == 0)[0])
        before = env.position()
        observation, paid, terminated, truncated, info = env.step(action)
        assert (terminated, truncated) == (True, False)
        assert info["illegal_action"] is True
        assert "outcome" not in info
        low, high = env._games.rules.game.score_bounds(env._games.rules.tables)
        assert paid == {"win": -0.5, "margin": low - high, "score": low}[reward]
        assert loss is None or paid == loss
        assert np.array_equal(observation, first)
        assert env.position() == before
        with pytest.raises(StateError, match="over"):
            env.step(0)
        assert "illegal_action" not in env.reset()[1]
        assert "illegal_action" not in env.step(legal_action(env, np.random.default_rng(1)))[4]


@pytest.mark.parametrize("action", [1.5, None, "x", [1], np.array([1, 2]), np.array([0.0])])
def test_an_action_that_is_no_number_raises_and_changes_nothing(action):
    env = SingleEnv("tollero", 2, encoding="slots")
    env.reset(seed=1)
    before = env.position()
    with pytest.raises(TypeError, match="is not a whole number"):
        env.step(action)
    assert env.position() == before
    env.step(legal_action(env, np.random.default_rng(1)))


def test_steps_outside_an_episode():
    env = SingleEnv("tollero", 2, encoding="slots", floors=1)
    for call in (lambda: env.step(0), env.position):
        with pytest.raises(StateError, match="reset"):
            call()
    env.reset(seed=1)
    play_on(env, 1)
    with pytest.raises(StateError, match="the episode is over"):
        env.step(0)
    env.reset()
    play_on(env, 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_players": 5}, "players: 5"),
        ({"seat": 2}, "seat: 2 is not one of 0, 1, 'rotate'"),
        ({"seat": True}, "seat: True"),
        ({"encoding": "pixels"}, "'planes', 'slots'"),
        ({"view": 8}, "view: 8"),
        ({"reward": "fame"}, "'win', 'margin', 'score'"),
        ({"render_mode": "smell"}, "'human', 'ansi'"),
        ({"colour": "red"}, "no option 'colour'"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(OptionError, match=message):
        SingleEnv("tollero", **options)


def test_reset_warns_of_options():
    env = SingleEnv("tollero", 2, encoding="slots")
    with pytest.warns(UserWarning, match="floors ignored"):
        env.reset(seed=1, options={"floors": 3})


def test_a_view_too_small_truncates_the_episode():
    env, found = SingleEnv("tollero", 2, view=5), 0
    rng = np.random.default_rng(1)
    env.reset(seed=1)
    for _ in range(300):
        _, reward, terminated, truncated, info = env.step(legal_action(env, rng))
        if truncated:
            found += 1
            assert not terminated
            assert reward == 0
            assert info["view_overflow"] is True
            assert env.action_masks().all()
        if terminated or truncated:
            assert env.reset()[1]["action_mask"].any()
    assert found


# ---- copies and pictures


@pytest.mark.parametrize("encoding", ["planes", "slots"])
@pytest.mark.parametrize("steps", [0, 5, 10_000])
@pytest.mark.parametrize("clone", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("opponents", ["random", [Nth(1), Lowest()]])
def test_a_copys_future_is_the_originals(clone, steps, encoding, opponents):
    env = SingleEnv("tollero", 3, encoding=encoding, seat="rotate", opponents=opponents, floors=6, render_mode="ansi")
    env.reset(seed=5)
    play_on(env, 1, steps)
    env.render()
    other = clone(env)
    assert other.position() == env.position()
    assert not np.shares_memory(other._games.states, env._games.states)
    for _ in range(3):
        if steps < 10_000:
            assert play_on(other, 9) == play_on(env, 9)
        assert other.render() == env.render()
        ours, theirs = env.reset(), other.reset()
        assert np.array_equal(ours[0], theirs[0])
        assert repr(ours[1]) == repr(theirs[1])


def test_a_copy_before_the_first_game():
    env = copy.deepcopy(SingleEnv("tollero", 2, encoding="slots"))
    with pytest.raises(StateError, match="reset"):
        env.step(0)
    env.reset(seed=1)


def test_observations_are_fresh_arrays():
    env = SingleEnv("tollero", 2, encoding="slots")
    first, info = env.reset(seed=1)
    kept, mask = first.copy(), info["action_mask"].copy()
    second, *_, later = env.step(legal_action(env, np.random.default_rng(1)))
    assert not np.shares_memory(first, second)
    assert not np.shares_memory(info["action_mask"], later["action_mask"])
    assert np.array_equal(first, kept)
    assert np.array_equal(info["action_mask"], mask)


def test_pictures_show_what_the_learner_may_see(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr(camera, "FPS", 1000)
    for mode, check in (
        ("ansi", lambda picture: "\x1b[" in picture),
        ("svg", lambda picture: picture.startswith("<svg")),
        ("rgb_array", lambda picture: picture.dtype == np.uint8 and picture.shape[2] == 3),
        ("human", lambda picture: picture is None),
    ):
        env = SingleEnv("tollero", 2, seat=1, render_mode=mode)
        with pytest.raises(StateError, match="reset"):
            env.render()
        env.reset(seed=1)
        play_on(env, 1, 4)
        assert check(env.render())
        if mode == "svg":
            pictures = set()
            for seed in range(4):
                other = copy.deepcopy(env)
                other._games.states.view(np.uint64)[:] = env.position().hidden_from(1, seed).states.view(np.uint64)
                pictures.add(other.render())
            assert len(pictures) == 1
        env.close()
    with pytest.warns(UserWarning, match="render_mode"):
        assert SingleEnv("tollero", 2).render() is None
