"""What every game must do, whatever it is: the protocol, positions, replays, pictures, and every kind of env."""

import copy
import json
import pickle
import random
import re
import xml.etree.ElementTree as ET

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import tollero_env
from experiments.replay import play_game, playthrough
from tests.test_aec import MODULES
from tests.test_batch import choose, filled, follow_raw_env, same
from tests.test_playouts import replay
from tests.test_single import Recorder, legal_action, play_on, replay_to
from tollero_env.ansi import strip
from tollero_env.envs.aec import final_rewards
from tollero_env.envs.batch import Batch
from tollero_env.envs.single import SingleEnv
from tollero_env.envs.vector import VectorGames
from tollero_env.game import NAMES, MoveError, StateError, get_game, get_rules
from tollero_env.opponents import make_agent
from tollero_env.position import Position
from tollero_env.render.svg import to_svg
from tollero_env.replay import ReplayError, load

# Options that make games short; each with the others at their defaults.
SHORT = {
    "tollero": [{"floors": 4}],
    "toscana": [
        {"size": 7},
        {"size": 9, "contact": "colour", "veto": "match"},
        {"size": 5, "rounds": 1},
    ],
}
GAMES = [
    pytest.param(name, players, options, id=f"{name}, {players}, {options}")
    for name in NAMES
    for players in get_game(name).players
    for options in SHORT[name]
]
KINDS = [
    pytest.param(name, players, encoding, options, id=f"{name}, {players}, {encoding}, {options}")
    for name in NAMES
    for players in get_game(name).players
    for encoding in get_game(name).encodings
    for options in SHORT[name]
]


def play_out(position, seed):
    """Random moves to the end; the position."""
    draw = random.Random(seed)
    while not position.over:
        position.play(draw.choice(position.moves()))
    return position


# ---- positions


@pytest.mark.uncompiled
@pytest.mark.parametrize(("name", "players", "options"), GAMES)
def test_texts_moves_bytes_and_undo_go_both_ways(name, players, options):
    position = tollero_env.new_game(name, players=players, seed=3, **options)
    draw = random.Random(1)
    while not position.over:
        moves = position.moves()
        texts = position.legal()
        assert [position.parse(text) for text in texts] == moves
        assert len(set(texts)) == len(moves) <= position.rules.game.max_legal
        assert Position.from_bytes(position.rules, position.to_bytes()) == position
        before, text = position.to_bytes(), draw.choice(texts)
        position.play(text.upper())
        assert position.undo() == text
        assert position.to_bytes() == before
        position.play(text)
    assert position.ply == len(position.history()) <= position.rules.game.longest_game(position.rules.tables)
    assert sum(position.outcome()) == pytest.approx(1)


@pytest.mark.parametrize(("name", "players", "options"), GAMES)
def test_copies_have_the_same_future(name, players, options):
    position = tollero_env.new_game(name, players=players, seed=5, **options)
    for move in play_out(position.copy(), 2).history()[:9]:
        position.play(move)
    for other in (position.copy(), copy.deepcopy(position), pickle.loads(pickle.dumps(position))):
        assert other == position
        before = position.to_bytes()
        assert play_out(other, 7) == play_out(position.copy(), 7)
        assert position.to_bytes() == before
        assert other.to_replay() == play_out(position.copy(), 7).to_replay()


@pytest.mark.parametrize(("name", "players", "options"), GAMES)
def test_a_move_that_is_not_legal_says_what_is(name, players, options):
    position = tollero_env.new_game(name, players=players, seed=5, **options)
    legal = position.legal()
    number = next(move for move in range(position.rules.game.num_moves) if move not in position.moves())
    with pytest.raises(MoveError, match=rf"is not legal here; player {position.player} may: {re.escape(legal[0])}"):
        position.play(number)
    with pytest.raises(MoveError, match="is no move"):
        position.play("go to Venice")
    with pytest.raises(MoveError, match="the game is over"):
        play_out(position, 1).play(legal[0])


@pytest.mark.parametrize(("name", "players", "options"), GAMES)
def test_a_position_hidden_from_a_seat_looks_the_same_to_it(name, players, options):
    position = tollero_env.new_game(name, players=players, seed=8, **options)
    for move in play_out(position.copy(), 2).history()[:7]:
        position.play(move)
    for seat in range(players):
        hidden = [position.hidden_from(seat, seed) for seed in range(20)]
        assert len({one.to_bytes() for one in hidden}) == 20
        for one in hidden:
            assert (one.show(seat), one.svg(seat), one.player) == (
                position.show(seat),
                position.svg(seat),
                position.player,
            )
        with pytest.raises(MoveError, match="hidden from this seat"):
            hidden[0].undo()


@pytest.mark.parametrize("name", NAMES)
def test_bytes_of_other_options_are_refused(name):
    positions = [tollero_env.new_game(name, seed=1, **options) for options in [{}, *SHORT[name]]]
    for one in positions:
        for other in positions:
            if one is not other:
                with pytest.raises(StateError, match="it was made with other"):
                    Position.from_bytes(other.rules, one.to_bytes())


@pytest.mark.parametrize(("name", "players", "options"), GAMES)
def test_playouts_are_random_moves(name, players, options):
    decisions, scores = tollero_env.playouts(name, players=players, games=8, seed=12, **options)
    rules = get_rules(name, players, **options)
    for game in range(8):
        position = replay(12, game, rules)
        assert position.ply == decisions[game]
        assert position.scores() == scores[game].tolist()
    low, high = rules.game.score_bounds(rules.tables)
    assert low <= scores.min() <= scores.max() <= high


# ---- replays, texts, pictures


@pytest.mark.uncompiled
@pytest.mark.parametrize(("name", "players", "options"), GAMES)
def test_a_replay_gives_the_game_back(name, players, options):
    rules = get_rules(name, players, **options)
    for legal in (False, True):
        data = play_game(rules, make_agent("random"), 11, legal)
        again = load(json.loads(json.dumps(data)))
        position = Position(again.rules, again.start)
        for move in again.moves:
            position.play(move)
        assert position.over
        assert position.states.tobytes() == again.end.tobytes()
        assert again.rules.game.to_json(again.rules, again.start, again.moves, legal) == data
        assert data["format"] == f"{name}-replay/1"
        assert ('"legal"' in json.dumps(data)) == legal
        assert load({**data, "meta": {"agents": ["random"]}}).moves == again.moves


@pytest.mark.parametrize(("name", "players", "options"), GAMES)
def test_wrong_scores_and_keys_are_refused(name, players, options):
    data = play_game(get_rules(name, players, **options), make_agent("random"), 11)
    for spoiled, message in (
        ({**data, "scores": [score + 1 for score in data["scores"]]}, '"scores" is'),
        ({**data, "colour": "red"}, 'unknown key "colour"'),
        ({**data, "options": {**data["options"], "speed": 9}}, 'unknown key "speed"'),
        ({key: value for key, value in data.items() if key != "options"}, '"options" is missing'),
        ({**data, "players": 7}, '"players" is 7'),
    ):
        with pytest.raises(ReplayError, match=message):
            load(spoiled)


@pytest.mark.parametrize(("name", "players", "options"), GAMES)
def test_pictures_and_texts_at_every_decision(name, players, options):
    position = tollero_env.new_game(name, players=players, seed=4, **options)
    end, draw, last = play_out(position.copy(), 3), random.Random(3), None
    sizes = set()
    while True:
        rules = position.rules
        for viewer in (None, 0):
            scene = rules.game.draw(
                rules, position.states, 0, viewer=viewer, last=last, legal=position.moves(), room=end.states
            )
            ET.fromstring(to_svg(scene))
            sizes.add((scene.width, scene.height))
            coloured = rules.game.to_ansi(rules, position.states, 0, viewer, None, ())
            plain = [line.rstrip() for line in strip(coloured).split("\n")]
            assert plain == position.show(viewer).split("\n")
        if position.over:
            break
        last = draw.choice(position.moves())
        position.play(last)
    assert len(sizes) == 1
    assert playthrough(load(position.to_replay())).endswith(f"scores: {position.scores()}")


# ---- encodings and envs


@pytest.mark.parametrize(("name", "players", "encoding", "options"), KINDS)
def test_actions_and_moves_are_one_to_one(name, players, encoding, options):
    rules = get_rules(name, players, **options)
    how = rules.game.encodings[encoding]
    view = how.resolve_view(rules, None)
    num_actions = how.num_actions(players, view)
    assert sum(how.groups) * (num_actions // sum(how.groups)) <= num_actions
    position, draw = Position.new(rules, 2), random.Random(2)
    while not position.over:
        moves, mask = position.moves(), np.zeros(num_actions, np.int8)
        actions = [how.to_action(position.states, 0, rules.tables, view, move) for move in moves]
        assert how.mask(position.states, 0, rules.tables, view, mask) == len(moves)
        assert sorted(actions) == np.flatnonzero(mask).tolist()
        assert [how.to_move(position.states, 0, rules.tables, view, action) for action in actions] == moves
        for action in (-1, num_actions, draw.randrange(num_actions)):
            legal = action in actions
            assert (how.to_move(position.states, 0, rules.tables, view, action) >= 0) == legal
        position.play(draw.choice(moves))


@pytest.mark.parametrize(("name", "players", "encoding", "options"), KINDS)
def test_nothing_hidden_is_observed(name, players, encoding, options):
    rules = get_rules(name, players, **options)
    how = rules.game.encodings[encoding]
    view = how.resolve_view(rules, None)

    def observation(position, player):
        arrays = [np.zeros(part.shape, part.dtype) for part in how.parts(players, view)]
        how.observe(position.states, 0, rules.tables, player, view, arrays[0].reshape(-1), arrays[1])
        return b"".join(array.tobytes() for array in arrays)

    position, draw, seen = Position.new(rules, 2), random.Random(2), set()
    while not position.over:
        for player in range(players):
            seen.add(observation(position, player))
            for seed in range(3):
                assert observation(position.hidden_from(player, seed), player) == observation(position, player)
        position.play(draw.choice(position.moves()))
    assert len(seen) > position.ply


@pytest.mark.parametrize("reward", ["win", "margin", "score"])
@pytest.mark.parametrize(("name", "players", "encoding", "options"), KINDS)
def test_batches_are_the_games_of_raw_env(name, players, encoding, options, reward):
    how = {"encoding": encoding, "reward": reward, **options}
    envs = [MODULES[name].raw_env(players, **how) for _ in range(3)]
    assert follow_raw_env(Batch(name, 3, players, **how), envs, 80, seed=players) >= 3


@pytest.mark.parametrize(("name", "players", "encoding", "options"), KINDS)
def test_own_arrays_hold_what_full_ones_hold(name, players, encoding, options):
    """Own arrays are kept up to date, the caller's are written anew, whatever was in them."""
    ours, theirs = (Batch(name, 4, players, encoding=encoding, threads=1 + k, **options) for k in range(2))
    rng, ended = np.random.default_rng(players), 0
    seen, full = ours.reset(seed=5), theirs.reset(seed=5, out=filled(theirs))
    for k in range(160):
        assert same(seen, full)
        ended += full.terminated.sum()
        actions = choose(seen.mask, rng)
        seen, full = ours.step(actions), theirs.step(actions, out=filled(theirs, k % 100))
    assert ended >= 8
    theirs.close()


@pytest.mark.uncompiled
@pytest.mark.parametrize("name", NAMES)
def test_a_short_batch_in_either_layer(name):
    options = SHORT[name][-1]
    envs = [MODULES[name].raw_env(2, **options) for _ in range(2)]
    follow_raw_env(Batch(name, 2, 2, **options), envs, 8, seed=1)


@pytest.mark.parametrize(("name", "players", "encoding", "options"), KINDS)
def test_gymnasiums_checker_passes(name, players, encoding, options):
    env = gymnasium.make(f"tollero_env/{name}-v0", num_players=players, encoding=encoding, seat=players - 1, **options)
    check_env(env.unwrapped, skip_render_check=True)


@pytest.mark.parametrize(("name", "players", "encoding", "options"), KINDS)
def test_single_envs_show_what_raw_env_shows(name, players, encoding, options):
    agents = [Recorder() for _ in range(players - 1)]
    env = SingleEnv(name, players, seat="rotate", opponents=agents, encoding=encoding, **options)
    raw, rng = MODULES[name].raw_env(players, encoding=encoding, **options), np.random.default_rng(1)
    raw.reset(seed=0)
    observation, info = env.reset(seed=0)
    ended = 0
    for _ in range(60):
        replay_to(raw, env.position())
        expected = raw.observe(f"player_{info['seat']}")
        assert np.array_equal(observation, expected["observation"])
        assert np.array_equal(info["action_mask"], expected["action_mask"])
        seat = info["seat"]
        observation, reward, terminated, truncated, info = env.step(legal_action(env, rng))
        assert not truncated
        if terminated:
            ended += 1
            final = env.position()
            assert reward == pytest.approx(final_rewards("win", final.scores(), final.outcome())[seat])
            observation, info = env.reset()
    assert ended >= 2
    for agent in agents:
        assert all(position.hidden_from(0) != position for position in agent.seen[:5])


@pytest.mark.parametrize(("name", "players", "encoding", "options"), KINDS)
def test_vector_rows_are_single_envs(name, players, encoding, options):
    how = {"encoding": encoding, "seat": "rotate", "reward": "margin", **options}
    envs, singles = VectorGames(name, 3, players, **how), [SingleEnv(name, players, **how) for _ in range(3)]
    observations, infos = envs.reset(seed=20)
    theirs = [env.reset(seed=20 + g)[0] for g, env in enumerate(singles)]
    rng, ended = np.random.default_rng(1), 0
    for _ in range(40):
        assert all(np.array_equal(one, other) for one, other in zip(observations, theirs))
        actions = choose(infos["action_mask"], rng)
        observations, rewards, terminated, truncated, infos = envs.step(actions)
        for g, env in enumerate(singles):
            theirs[g], reward, over, cut, _ = env.step(actions[g])
            assert (rewards[g], terminated[g], truncated[g]) == (reward, over, cut)
            if over or cut:
                ended += 1
                theirs[g] = env.reset()[0]
    assert ended >= 3


@pytest.mark.parametrize("name", NAMES)
def test_copies_of_a_single_env_have_the_same_future(name):
    env = SingleEnv(name, seat="rotate", **SHORT[name][0])
    env.reset(seed=4)
    play_on(env, 1, 4)
    for other in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert play_on(copy.deepcopy(env), 3) == play_on(other, 3)


@pytest.mark.parametrize(("name", "players", "encoding", "options"), KINDS)
def test_maskable_ppo_learns_from_it(name, players, encoding, options):
    """Spaces, masks and networks fit together, and gradients reach every parameter."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("sb3_contrib")
    from sb3_contrib import MaskablePPO

    from tollero_env.adapters.sb3 import MaskedVecEnv, PlacesPolicy, policy_kwargs

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    games = MaskedVecEnv(name, 4, players, encoding=encoding, **options)
    sizes = {"channels": 8, "blocks": 1} if encoding == "planes" else {}
    how = policy_kwargs(games, kept=8, **sizes)
    model = MaskablePPO(PlacesPolicy, games, n_steps=4, batch_size=16, policy_kwargs=how, seed=1, device="cpu")
    seen = games.reset()
    assert seen[0] in games.observation_space
    masks, rng = games.action_masks(), np.random.default_rng(1)
    total = 0.0
    for _ in range(12):  # some decisions are about places, others about the whole table
        tensor = model.policy.obs_to_tensor(seen)[0]
        actions = choose(masks, rng)
        values, logs, entropy = model.policy.evaluate_actions(tensor, torch.as_tensor(actions), action_masks=masks)
        total = total + values.sum() + logs.sum() + entropy.sum()
        seen = games.step(actions)[0]
        masks = games.action_masks()
    assert torch.isfinite(total)
    total.backward()
    for label, parameter in model.policy.named_parameters():
        assert parameter.grad is not None, label
        assert parameter.grad.abs().sum() > 0, label
    model.learn(16)
    torch.set_num_threads(threads)
