"""MaskablePPO against past selves and baselines: it learns, goes on exactly, and is saved as what it plays."""

import json
import math
from collections import Counter

import numpy as np
import pytest
import yaml
from safetensors.numpy import load, save

torch = pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

import agents.ppo as policies  # noqa: E402
from agents.checkpoint import read_checkpoint, write_checkpoint  # noqa: E402
from agents.ppo import Eyes, Player, PolicyNet, Reading, choose, make_policy, to_arrays, to_checkpoint  # noqa: E402
from experiments.tournament.plan import Job  # noqa: E402
from experiments.tournament.play import play_game  # noqa: E402
from experiments.train.cli import Run, main  # noqa: E402
from experiments.train.config import PpoConfig, make_config, read_config  # noqa: E402
from experiments.train.folder import NET, STATE, read_curve, write_facts  # noqa: E402
from experiments.train.measure import win_shares  # noqa: E402
from experiments.train.ppo import Pool, PpoTrainer  # noqa: E402
from tests.test_train import ROOT, positions_of  # noqa: E402
from tollero_env import new_game  # noqa: E402
from tollero_env.adapters.sb3 import MaskedVecEnv  # noqa: E402
from tollero_env.envs.single import SingleEnv  # noqa: E402
from tollero_env.game import OptionError, get_rules  # noqa: E402
from tollero_env.opponents import BatchAgent, RandomAgent, make_agent  # noqa: E402
from tollero_env.position import as_word  # noqa: E402
from tollero_env.rng import derive  # noqa: E402

SLOTS, PLANES = Reading("slots", None, {"kept": 8, "width": 16}), Reading("planes", 9, {"channels": 8, "blocks": 1})
SMALL = {
    "family": "ppo", "options": {"floors": 3}, "steps": 512, "num_envs": 8, "steps_a_round": 8, "batch": 32,
    "epochs": 2, "pool_every": 2, "net": {"kept": 8, "width": 16}, "seed": 3, "measure_games": 20,
}  # fmt: skip


def trainer_for(**changes):
    config = make_config({**SMALL, **changes})
    return PpoTrainer(config, config.rules())


def all_of(trainer):
    """What a run has in memory that its future hangs on."""
    model = trainer._model
    moments = model.policy.optimizer.state_dict()["state"]
    found = list(to_arrays(model.policy).values())
    found += [moments[k][name].numpy() for k in sorted(moments) for name in sorted(moments[k])]
    found += [past[name] for past in trainer._past for name in sorted(past)]
    found += [array for name, array in trainer._games_arrays().items() if name != "_legal"]  # room for scribbling
    return b"".join(array.tobytes() for array in [*found, trainer.pool.chosen, trainer.pool.plies])


def policy_for(rules, reading, seed=1):
    """A policy that is not nearly even, as those are that have learned nothing."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        policy = make_policy(rules, reading)
        for weights in policy.action_net.parameters():
            weights.data.normal_(0, 1)
    return policy


# ---- what it sees and chooses


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("reading", [SLOTS, PLANES])
def test_it_sees_what_the_seat_to_act_may_know(players, reading):
    listed = list(positions_of(players, 5))[::4]
    rules = listed[0].rules
    eyes = Eyes(rules, reading)
    encoding, view = reading.resolve(rules)
    states, games = np.concatenate([position.states for position in listed]), np.arange(len(listed))[::-1].copy()
    seen, masks = eyes.look(states, games)
    whole, (array, numbers) = encoding.whole(players, view), encoding.parts(players, view)
    for row, game in enumerate(games):
        out, mask = np.zeros(whole.shape, whole.dtype), np.zeros(masks.shape[1], np.int8)
        hidden = listed[game].hidden_from(listed[game].player, 7)
        encoding.observe_whole(
            hidden.states, 0, rules.tables, hidden.player, view, math.prod(array.shape),
            np.zeros(numbers.shape, numbers.dtype), out.reshape(-1), mask,
        )  # fmt: skip
        assert np.array_equal(seen[row], out)
        assert np.array_equal(masks[row], mask)
    again, _ = eyes.look(states, games[:3])
    assert np.array_equal(again, seen[:3])


def test_choices_follow_likelihoods_and_masks():
    rules = get_rules("tollero", 2)
    policy, eyes = policy_for(rules, SLOTS), Eyes(rules, SLOTS)
    seen, masks = eyes.look(next(positions_of(2, 3)).states, np.zeros(1, np.int64))
    with torch.no_grad():
        drawn = policy.get_distribution(torch.from_numpy(seen), action_masks=masks).distribution
    chances = drawn.probs.numpy()[0].astype(float)
    assert choose(policy, seen, masks, None)[0] == chances.argmax()
    number = 4000
    rows, many = np.repeat(seen, number, 0), np.repeat(masks, number, 0)
    counts = np.bincount(choose(policy, rows, many, (np.arange(number) + 0.5) / number), minlength=chances.size)
    assert np.abs(counts - number * chances).max() < 1.5  # evenly spread shares give even counts
    assert not counts[masks[0] == 0].any()
    for share in (0.0, 1 - 2.0**-52):
        assert masks[0, choose(policy, seen, masks, np.array([share]))[0]]


@pytest.mark.parametrize("draws", [False, True])
@pytest.mark.parametrize(("players", "reading"), [(2, SLOTS), (3, SLOTS), (4, PLANES._replace(view=None))])
def test_one_game_or_many_is_the_same(players, reading, draws):
    listed = list(positions_of(players, 6))[::2]
    rules = listed[0].rules
    player = Player(rules, reading, policy_for(rules, reading), draws)
    assert isinstance(player, BatchAgent)
    states, games = np.concatenate([position.states for position in listed]), np.arange(0, len(listed), 2)
    before, out = states.tobytes(), np.full(games.size, -1)
    player.act_batch(rules, states, games, np.array([as_word(derive(1, int(g))) for g in games]), out)
    assert states.tobytes() == before
    others = 0
    for game, move in zip(games, out.tolist()):
        position = listed[game]
        assert move in position.moves()
        assert player.act(position, derive(1, int(game))) == move
        assert player.act(position.hidden_from(position.player, 5), derive(1, int(game))) == move
        others += player.act(position, derive(2, int(game))) != move
    assert (others > 0) == draws


def test_where_the_view_shows_nothing():
    """A city that has grown out of the view: any legal move will do."""
    rules, reading = get_rules("tollero", 2), Reading("planes", 3, {"channels": 4, "blocks": 1})
    player = Player(rules, reading, policy_for(rules, reading), False)
    blind = 0
    for position in positions_of(2, 2):
        _, masks = Eyes(rules, reading).look(position.states, np.zeros(1, np.int64))
        blind += not masks.any()
        assert player.act(position, 3) in position.moves()
    assert blind > 3


# ---- opponents


class Marked(RandomAgent):
    """A random agent that remembers which games it was in: what is left of its seed tells a game from others."""

    def __init__(self):
        self.games = Counter()

    def act_batch(self, rules, states, games, seeds, out):
        self.games.update(states["rng"][games].tolist())
        super().act_batch(rules, states, games, seeds, out)


@pytest.mark.parametrize("players", [2, 3])
def test_a_game_has_one_opponent_to_its_end(players):
    members = [Marked() for _ in range(3)]
    pool = Pool(members, 6)
    pool.chances = np.array([0.5, 0.0, 0.5])
    games = MaskedVecEnv("tollero", 6, players, opponents=pool, seat="rotate", encoding="slots", floors=4)
    games.seed(1)
    games.reset()
    rng = np.random.default_rng(1)
    for _ in range(100):
        masks = games.action_masks()
        games.step(np.array([rng.choice(np.flatnonzero(row)) for row in masks]))
    first, nobody, last = (member.games for member in members)
    assert not nobody
    assert not set(first) & set(last)
    assert min(len(first), len(last)) > 25
    assert max(first.values()) == 6 * (players - 1)  # two turns of three decisions, of every other seat


def test_opponents_grow():
    trainer = trainer_for(steps=64 * 7)
    random, *_ = trainer.pool.members
    assert isinstance(random, RandomAgent)
    sizes, chances = [], []
    while trainer.done < trainer.total:
        trainer.advance()
        sizes.append(len(trainer.pool.members))
        chances.append(trainer.pool.chances)
    assert sizes == [4, 5, 5, 6, 6, 7, 7]  # three baselines and itself; then one every second round
    assert chances[0] == pytest.approx([0.25 / 3] * 3 + [0.75])
    assert all(one.sum() == pytest.approx(1) for one in chances)
    assert all(one[3] == pytest.approx(0.375) for one in chances[2:])
    assert len({one.tobytes() for one in trainer._past[0].values()}) > 3
    weights = [past["action_net.outputs.weight"] for past in trainer._past]
    assert not np.array_equal(weights[0], weights[1])
    alone = trainer_for(baselines=[], steps=64)
    alone.advance()
    assert alone.pool.chances.tolist() == [1.0]


def test_it_plays_against_itself_as_it_is():
    trainer = trainer_for(baselines=[])
    position = next(positions_of(2, 3, floors=3))
    itself = trainer.pool.members[0]
    before = [itself.act(position, derive(1, k)) for k in range(200)]
    for weights in trainer._model.policy.action_net.parameters():
        weights.data.normal_(0, 3)
    assert [itself.act(position, derive(1, k)) for k in range(200)] != before


# ---- it learns


@pytest.mark.thorough
def test_seconds_of_training_beat_random():
    config = make_config(
        {"family": "ppo", "options": {"floors": 4}, "steps": 30_000, "batch": 512, "rate": 0.004, "seed": 1}
        | {"net": {"kept": 16, "width": 32}, "baselines": ["random"], "pool_every": 5}
    )
    trainer = PpoTrainer(config, config.rules())
    untrained = trainer.agent()
    while trainer.done < trainer.total:
        trainer.advance()
    for other, gain in ((make_agent("random"), 4), (untrained, 4)):
        shares = win_shares(trainer.rules, trainer.agent(), other, 1000, 1) - 0.5
        assert shares.mean() > gain * shares.std() / len(shares) ** 0.5


@pytest.mark.parametrize(
    "changes",
    [
        {"players": 3},
        {"players": 4, "encoding": "planes", "view": 9, "net": {"channels": 8, "kept": 4, "blocks": 1}},
        {"encoding": "slots", "decay": 1.0, "entropy": 0.0},
    ],
)
def test_rounds_of_every_kind(changes):
    trainer = trainer_for(steps=128, **changes)
    before = to_arrays(trainer._model.policy)
    while trainer.done < trainer.total:
        trainer.advance()
    assert trainer.done == 128
    for name, after in to_arrays(trainer._model.policy).items():
        assert np.isfinite(after).all(), name
        assert not np.array_equal(before[name], after), name  # gradients flow to every part
    assert math.isfinite(trainer.loss)
    assert all(math.isfinite(figure) for figure in trainer.figures.values())
    assert trainer.agent().act(next(positions_of(trainer.rules.players, 1, floors=3)), 1) >= 0


def test_equal_configs_give_equal_nets_and_leave_generators_alone():
    numbers, threads = np.random.mtrand._rand, torch.get_num_threads()  # numpy's generator that all share
    trainers = []
    for seed in (3, 3, 4):
        trainer = trainer_for(seed=seed)
        drawn, state = torch.get_rng_state(), str(numbers.get_state())
        for _ in range(3):
            trainer.advance()
        assert torch.equal(torch.get_rng_state(), drawn)
        assert str(numbers.get_state()) == state
        trainers.append(all_of(trainer))
        torch.rand(3)
        numbers.rand(3)
    assert trainers[0] == trainers[1]
    assert trainers[0] != trainers[2]
    assert torch.get_num_threads() == threads


# ---- it goes on


def test_what_is_resumed_equals_what_never_stopped(tmp_path):
    whole, after = trainer_for(), []
    while whole.done < whole.total:
        whole.advance()
        after.append((all_of(whole), whole.loss))
    for stop in (0, 1, 5):
        first = trainer_for()
        for _ in range(stop):
            first.advance()
        first.save(tmp_path / STATE, {"seconds": 3.0})
        resumed = trainer_for()
        assert resumed.load(tmp_path / STATE) == {"seconds": 3.0}
        assert resumed.done == stop * 64
        for expected in after[stop : stop + 3]:
            resumed.advance()
            assert (all_of(resumed), resumed.loss) == expected
        first.advance()  # the first one is none the worse for having been saved
        assert all_of(first) == after[stop][0]


def test_states_that_are_none_of_this_run(tmp_path):
    trainer = trainer_for()
    trainer.advance()
    path = tmp_path / STATE
    trainer.save(path, {})
    arrays = load(path.read_bytes())
    for name in ("net.value_net.bias", "games.states", "starts", "clock", "pool.chosen"):
        path.write_bytes(save({key: array for key, array in arrays.items() if key != name}, {"notes": "{}"}))
        with pytest.raises(OptionError, match=rf"{STATE}: ") as caught:
            trainer_for().load(path)
        assert "\n" not in str(caught.value)
    trainer.save(path, {})
    for changes in ({"num_envs": 4}, {"net": {"kept": 4}}, {"players": 3}):
        with pytest.raises(OptionError, match=rf"{STATE}: "):
            trainer_for(**changes).load(path)


def test_a_run_in_its_folder(tmp_path):
    config = make_config({**SMALL, "steps": 192, "baselines": ["random"]})
    write_facts(tmp_path, config, None)
    run = Run(tmp_path, config, PpoTrainer(config, config.rules()), config.rules())
    run.go()
    assert [row["done"] for row in read_curve(tmp_path)] == [0, 192]
    checkpoint = read_checkpoint(tmp_path / NET)
    assert (checkpoint.family, checkpoint.notes["done"]) == ("ppo", 192)
    again = Run(tmp_path, config, PpoTrainer(config, config.rules()), config.rules())
    assert all_of(again.trainer) == all_of(run.trainer)


# ---- checkpoints and agents


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    """The file of a policy for two players."""
    path, rules = tmp_path_factory.mktemp("ppo") / "net.safetensors", get_rules("tollero", 2)
    write_checkpoint(path, to_checkpoint(rules, SLOTS, policy_for(rules, SLOTS), {"done": 7}))
    return path


@pytest.mark.parametrize("players", [2, 3])
def test_a_rebuilt_net_is_the_trained_one(players, tmp_path):
    trainer = trainer_for(players=players)
    for _ in range(2):
        trainer.advance()
    path = tmp_path / "net.safetensors"
    write_checkpoint(path, trainer.checkpoint({"done": 128}))
    assert b"pickle" not in path.read_bytes()[:2000]
    agent = make_agent(f"net:{path}")
    assert isinstance(agent, PolicyNet)
    model, rules = trainer._model, trainer.rules
    rebuilt = agent.prepare(rules)._policy
    for position in positions_of(players, 4, floors=3):
        seen, masks = Eyes(rules, agent.reading).look(position.states, np.zeros(1, np.int64))
        told, _ = model.predict(seen, action_masks=masks, deterministic=True)
        tensor = torch.from_numpy(seen)
        with torch.no_grad():
            ours, theirs = (one.get_distribution(tensor, masks).distribution for one in (rebuilt, model.policy))
            assert torch.equal(rebuilt.predict_values(tensor), model.policy.predict_values(tensor))
        assert torch.equal(ours.probs, theirs.probs)
        move = agent.act(position, 1)
        encoding, view = agent.reading.resolve(rules)
        assert encoding.to_action(position.states, 0, rules.tables, view, move) == told[0]
    before = agent.checkpoint.arrays["value_net.bias"].copy()
    kept = trainer.agent()
    trainer.advance()
    assert np.array_equal(kept.checkpoint.arrays["value_net.bias"], before)  # an agent stays as it was made


def test_wherever_agents_play(net):
    result = play_game(get_rules("tollero"), Job(0, 3, (f"net:{net}", "random")))
    assert sum(result.outcome) == 1
    env = SingleEnv("tollero", opponents=f"net:{net}", encoding="planes")
    _, info = env.reset(seed=2)
    rng, over = np.random.default_rng(1), False
    while not over:
        _, _, terminated, truncated, info = env.step(rng.choice(np.flatnonzero(info["action_mask"])))
        over = terminated or truncated
    assert sum(info["outcome"]) == 1


def error_of(call, *args):
    with pytest.raises(OptionError) as caught:
        call(*args)
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 500
    return text


def move_of(path, **how):
    return make_agent(f"net:{path}").act(new_game(seed=1, **how), 1)


def test_files_that_do_not_fit(net, tmp_path):
    path, whole = tmp_path / "bad.safetensors", read_checkpoint(net)

    def written(arrays=whole.arrays, **changes):
        write_checkpoint(path, whole._replace(arrays=arrays, **changes))
        return path

    assert "a net for tollero with 2 players cannot play tollero with 3" in error_of(lambda: move_of(net, players=3))
    assert "a net for floors 20 cannot play floors 4" in error_of(lambda: move_of(net, floors=4))
    assert "reads version 1 of the encoding" in error_of(move_of, written(version=1))
    name, array = "value_net.weight", whole.arrays["value_net.weight"]
    others = {key: one for key, one in whole.arrays.items() if key != name}
    assert f"array {name!r} is missing" in error_of(move_of, written(others))
    assert "is float64" in error_of(move_of, written({**others, name: array.astype(np.float64)}))
    assert "not float32" in error_of(move_of, written({**others, name: array[:, :-1].copy()}))
    for value in (np.nan, np.inf):
        broken = array.copy()
        broken[0, 3] = value
        assert "not finite" in error_of(move_of, written({**others, name: broken}))
    how = whole.notes["policy"]
    for wrong, message in (
        (None, "does not say how its policy reads"),
        ({"encoding": "slots"}, "does not say how"),
        ({**how, "encoding": 3}, "does not say how"),
        ({**how, "encoding": "letters"}, "Tollero has planes, slots"),
        ({**how, "view": 9}, "option view"),
        ({**how, "sizes": {"rows": 3}}, "sizes of a net are kept, width, channels, blocks"),
        ({**how, "sizes": {"kept": 0}}, "whole numbers from 1 to 4096"),
        ({**how, "sizes": [3]}, "sizes of a net"),
        ({**how, "sizes": {"channels": 3}}, "sizes of a net for slots"),
        ({**how, "sizes": {"kept": 9}}, "is float32"),
    ):
        notes = {**whole.notes, "policy": wrong}
        assert message in error_of(move_of, written(notes=json.loads(json.dumps(notes))))
    path.write_bytes(net.read_bytes()[:-9])
    assert "damaged, or no net" in error_of(move_of, path)
    for parameters in ("sims=5", "ms=5", "draws=1"):
        assert "is a policy, which takes no" in error_of(make_agent, f"net:{net},{parameters}")


# ---- settings


def test_the_documented_config():
    path = ROOT / "configs" / "tollero-2p-ppo.yaml"
    config = read_config(path)
    assert isinstance(config, PpoConfig)
    assert (config.game, config.players) == ("tollero", 2)
    assert set(yaml.safe_load(path.read_text())) <= set(PpoConfig.model_fields)
    assert PpoTrainer(config, config.rules()).reading.encoding == "slots"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("net.colour=3", "sizes of a net are kept, width, channels, blocks"),
        ("net.channels=3", "sizes of a net for slots: "),
        ("net.kept=0", "net.kept: "),
        ("encoding=letters", "letters"),
        ("view=9", "option view"),
        ("batch=2047", "leaves a batch of one"),
        ("batch=1", "batch: "),
        ("steps_a_round=1", "steps_a_round: "),
        ("games=3", "key 'games' is not known; there is game"),
        ("baselines=[ismcts]", "baseline 'ismcts' cannot play many games"),
    ],
)
def test_settings_that_are_wrong(change, message, tmp_path):
    with pytest.raises(SystemExit) as caught:
        main(["family=ppo", change, "--out", str(tmp_path)])
    text = str(caught.value.code)
    assert text.startswith("error: ")
    assert message in text
    assert "\n" not in text
    assert not list(tmp_path.iterdir())


def test_few_threads_are_taken():
    before = torch.get_num_threads()
    with policies.one_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before
