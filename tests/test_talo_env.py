"""Talō through every kind of env: PettingZoo's tests, observations, batches, rewards, copies, random games."""

import copy
import pickle
import warnings
import xml.etree.ElementTree as ET

import gymnasium
import numpy as np
import pettingzoo
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, seed_test

import tollero_env
from tests.talo_tools import positions
from tollero_env import playouts, talo_v0
from tollero_env.ansi import strip
from tollero_env.envs.batch import Batch
from tollero_env.envs.vector import VectorGames
from tollero_env.game import OptionError, get_rules
from tollero_env.games.talo import protocol
from tollero_env.games.talo.constants import BUILDING, CELLS, PICK, TAKE
from tollero_env.games.talo.features import NUM_NUMBERS, NUM_PLANES
from tollero_env.position import Position
from tollero_env.render.svg import to_svg

FANTASY = {"variant": "fantasy"}


def choose(mask, rng):
    return int(rng.choice(np.flatnonzero(mask)))


@pytest.mark.parametrize(
    ("players", "options"), [(2, {}), (3, {"board": "islands"}), (4, {"collapse": "lose"})], ids=str
)
def test_pettingzoos_own_tests_pass(players, options, capsys):
    with warnings.catch_warnings():
        for message in (
            "reset\\(\\) takes no options",  # the test passes junk
            "Observation space for each agent probably should be",  # they advise against Dict, which masks need
            "Observation is not a NumPy array",
        ):
            warnings.filterwarnings("ignore", message)
        api_test(talo_v0.env(players, **options), num_cycles=60)
        api_test(talo_v0.raw_env(players, **options), num_cycles=60)
    seed_test(lambda: talo_v0.env(players, **options), num_cycles=30)
    assert capsys.readouterr().out.count("Passed API test") == 2


def test_the_registries_make_it():
    env = pettingzoo.make("aec", "tollero_env/talo-v0", num_players=3, board="islands")
    env.reset(seed=1)
    assert (env.num_agents, env.action_space("player_0").n) == (3, 6336)
    assert env.observe("player_0")["observation"].shape == (NUM_PLANES + NUM_NUMBERS, 24, 24)
    single = gymnasium.make("tollero_env/talo-v0", num_players=2)
    check_env(single.unwrapped, skip_render_check=True)


def test_actions_and_moves_are_one_to_one():
    rules = get_rules("talo", 2, board="islands")
    how, view = rules.game.encodings["voxels"], 24
    for states in list(positions(rules, 3))[::5]:
        moves = Position(rules, states).moves()
        mask = np.zeros(how.num_actions(2, view), np.int8)
        actions = [how.to_action(states, 0, rules.tables, view, move) for move in moves]
        assert how.mask(states, 0, rules.tables, view, mask) == len(moves)
        assert sorted(actions) == np.flatnonzero(mask).tolist()
        assert [how.to_move(states, 0, rules.tables, view, action) for action in actions] == moves
        for action in (-1, len(mask), len(mask) - 1, *range(0, len(mask), 997)):
            assert (how.to_move(states, 0, rules.tables, view, action) >= 0) == (action in actions)


def test_observations_show_what_the_manual_says():
    rules = get_rules("talo", 3)
    how = rules.game.encodings["voxels"]
    for states in list(positions(rules, 4))[::9]:
        state, player = states[0], 2
        planes, numbers = np.zeros((NUM_PLANES, 24, 24), np.int8), np.zeros(NUM_NUMBERS, np.int16)
        how.observe(states, 0, rules.tables, player, 24, planes.reshape(-1), numbers)
        taken = (planes[:30] > 0).reshape(3, 10, 24, 24)
        assert np.array_equal(taken.sum(axis=0), state["block_at"] > 0)  # a cell is of one block, along one axis
        for block in range(1, int(state["num_blocks"]) + 1):
            own = planes[:30].reshape(3, 10, 24, 24)[int(state["axis"][block])][state["block_at"] == block]
            assert sorted(own) == list(range(1, int(state["length"][block]) + 1))
        for k in range(3):
            seat = (player + k) % 3
            level = int(state["pawn_level"][seat])
            found = np.argwhere(planes[30 + k])
            assert len(found) == (level < 255)
            if level < 255:
                assert found[0].tolist() == [state["pawn_y"][seat], state["pawn_x"][seat]]
                assert numbers[12 + k] == planes[30 + k].max() == level + 1
        assert planes[34].sum() == planes[35].sum() == 100
        assert numbers[:8].argmax() == state["stage"]
        assert numbers[24:34].tolist() == state["stock"][1:].tolist()
        assert numbers[36:38].tolist() == state["hand"].tolist()


@pytest.mark.parametrize(("players", "options"), [(2, {}), (3, {**FANTASY, "board": "table"})], ids=str)
def test_batches_are_the_games_of_raw_env(players, options):
    batch = Batch("talo", 3, players, **options)
    envs = [talo_v0.raw_env(players, **options) for _ in range(3)]
    seen, rng, ended = batch.reset(seed=[1, 2, 3]), np.random.default_rng(1), 0
    for seed, env in enumerate(envs, 1):
        env.reset(seed=seed)
    for _ in range(400):
        for g, env in enumerate(envs):
            expected = env.observe(env.agent_selection)
            assert np.array_equal(seen.mask[g], expected["action_mask"])
            assert np.array_equal(seen.array[g], expected["observation"][:NUM_PLANES])
            assert np.array_equal(seen.numbers[g], expected["observation"][NUM_PLANES:, 0, 0])
        actions = np.array([choose(mask, rng) for mask in seen.mask])
        seen = batch.step(actions)
        for g, env in enumerate(envs):
            env.step(actions[g])
            over = all(env.terminations.values())
            assert bool(seen.terminated[g]) == over
            if over:
                assert seen.rewards[g].tolist() == pytest.approx(list(env.rewards.values()))
                ended += 1
                env.reset()
        if ended > 5:
            break
    assert ended


def test_a_cooperative_game_pays_everybody_the_shared_outcome():
    for reward in ("win", "margin", "score"):
        env, rng = talo_v0.raw_env(3, reward=reward, **FANTASY), np.random.default_rng(3)
        env.reset(seed=1)
        while not any(env.terminations.values()):
            env.step(choose(env.observe(env.agent_selection)["action_mask"], rng))
        info = env.infos["player_0"]
        assert list(env.rewards.values()) == info["outcome"] == [info["scores"][0] / 65] * 3


def test_vector_games_of_seats():
    games = VectorGames("talo", 2, 3, seat="rotate", board="islands")
    observations, infos = games.reset(seed=1)
    rng = np.random.default_rng(1)
    for _ in range(12):
        masks = infos["action_mask"]
        actions = np.array([choose(mask, rng) for mask in masks])
        observations, *_, infos = games.step(actions)
    assert observations.shape == (2, NUM_PLANES + NUM_NUMBERS, 24, 24)


def test_copies_in_the_middle_of_a_game_have_the_same_future():
    env, rng = talo_v0.env(), np.random.default_rng(2)
    env.reset(seed=5)
    for _ in range(30):
        env.step(choose(env.last()[0]["action_mask"], rng))
    other = talo_v0.env()
    other.reset(seed=6)
    other.set_bytes(env.get_bytes())
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env)), other):
        same, rng = copy.deepcopy(env), np.random.default_rng(7)
        for _ in range(20):
            one, two = same.last()[0], twin.last()[0]
            assert np.array_equal(one["observation"], two["observation"])
            action = choose(one["action_mask"], rng)
            same.step(action)
            twin.step(action)


def test_only_the_dice_to_come_are_hidden():
    position = tollero_env.new_game("talo", seed=1)
    position.play("start (4,4)")
    after = set()
    for seed in range(30):
        other = position.hidden_from(1, seed)
        assert other.show() == position.show()
        other.play("start (0,0)")
        after.add(int(other.states["die"][0]))
    assert len(after) > 6


def test_there_is_no_view_to_choose():
    with pytest.raises(OptionError, match="option view: 9 is for other games"):
        talo_v0.raw_env(view=9)


@pytest.mark.parametrize("options", [{}, {"board": "islands"}, FANTASY, {**FANTASY, "board": "table"}], ids=str)
def test_pictures_and_texts_at_many_decisions(options):
    rules = get_rules("talo", 2, **options)
    sizes, seen = set(), list(positions(rules, 2))
    for number, states in enumerate(seen[::7]):
        position = Position(rules, states)
        scene = rules.game.draw(rules, states, 0, last=None, legal=position.moves(), room=seen[-1])
        ET.fromstring(to_svg(scene))
        sizes.add((scene.width, scene.height))
        plain = strip(rules.game.to_ansi(rules, states, 0, None, None, ()))
        assert [line.rstrip() for line in plain.split("\n")] == position.show().split("\n")
        if number < 4:
            assert all(position.parse(text) == move for text, move in zip(position.legal(), position.moves()))
    assert len(sizes) == 1


# ---- random games


@pytest.mark.parametrize("options", [{}, {"board": "islands"}, {"collapse": "lose"}, FANTASY], ids=str)
def test_playouts_count_decisions_as_replays_do(options):
    rules = get_rules("talo", 2, **options)
    decisions, scores = playouts("talo", games=20, seed=3, **options)
    low, high = rules.game.score_bounds(rules.tables)
    assert low <= scores.min() <= scores.max() <= high
    assert decisions.max() < rules.game.longest_game(rules.tables)
    again = playouts("talo", games=20, seed=3, **options)
    assert np.array_equal(decisions, again[0])
    assert np.array_equal(scores, again[1])


def all_choices(rules, states):
    """Every decision of a position: placements behind the other moves."""
    buffer = np.zeros(40_000, np.int64)
    number = protocol.placements(states, 0, rules.tables, buffer)
    found = [int(code) + rules.game.num_moves for code in buffer[:number]]
    number = protocol.moves(states, 0, rules.tables, buffer)
    return found + [int(move) for move in buffer[:number] if not PICK <= move < TAKE]


def decision_made(rules, before, after):
    """Which of `all_choices` leads from one position to the other."""
    num_blocks = int(after[0]["num_blocks"])
    if num_blocks > before[0]["num_blocks"]:
        block = {name: int(after[0][name][num_blocks]) for name in ("length", "axis", "x", "y", "z")}
        cell = (block["z"] * 24 + block["y"]) * 24 + block["x"]
        return (3 * (block["length"] - 1) + block["axis"]) * CELLS + cell + rules.game.num_moves
    buffer = np.zeros(20_000, np.int64)
    for move in buffer[: protocol.moves(before, 0, rules.tables, buffer)]:
        if PICK <= move < TAKE:
            continue
        other = before.copy()
        protocol.act(other, 0, rules.tables, move)
        if all(np.array_equal(other[0][name], after[0][name]) for name in ("pawn_x", "pawn_y", "pawn_level", "hand")):
            return int(move)
    raise AssertionError("no decision leads there")


@pytest.mark.thorough
@pytest.mark.parametrize("board", ["green", "islands"])
def test_playouts_draw_evenly_from_all_that_is_legal(board):
    """Draws that are not legal are drawn again: what is left must be even."""
    rules, checked = get_rules("talo", 2, board=board), 0
    kinds = set()
    for states in positions(rules, 11, climbing=0.2):
        state = states[0]
        kind = (int(state["stage"]), int(state["hand"][1] > 0), int(state["falling"]))
        if kind in kinds or state["num_blocks"] < 12:
            continue
        choices = all_choices(rules, states)
        if len(choices) > 300:
            continue
        kinds.add(kind)
        draws, tally = 30 * len(choices), dict.fromkeys(choices, 0)
        for seed in range(draws):
            after = states.copy()
            protocol.random_decision(after, 0, rules.tables, np.uint64(seed))
            tally[decision_made(rules, states, after)] += 1  # a KeyError is a move that is not legal
        chi = sum((number - 30) ** 2 / 30 for number in tally.values())
        freedom = len(choices) - 1
        assert chi < freedom + 5 * (2 * freedom) ** 0.5 + 10, (kind, chi, freedom)
        checked += state["stage"] == BUILDING
    assert checked >= 2
