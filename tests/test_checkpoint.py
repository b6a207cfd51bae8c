"""Nets on disk and as agents: what is damaged or made for other rules is refused; they play wherever agents do."""

import json

import numpy as np
import pytest
from safetensors.numpy import load, save

import agents
from agents import checkpoint as checkpoints
from agents.checkpoint import (
    FORMAT,
    Checkpoint,
    check_fits,
    find_checkpoint,
    plain_options,
    read_checkpoint,
    to_arrays,
    to_params,
    write_checkpoint,
)
from agents.net import TurnNet
from experiments.tournament.plan import Job
from experiments.tournament.play import play_game
from experiments.train.turns import first_params
from tests.test_train import positions_of
from tollero_env import new_game
from tollero_env.envs.single import SingleEnv
from tollero_env.game import OptionError, get_rules
from tollero_env.nets import parts
from tollero_env.opponents import BatchAgent, make_agent
from tollero_env.position import Position, as_word


def checkpoint_for(players=2, seed=1, **options):
    rules = get_rules("tollero", players, **options)
    learning = rules.game.learning
    arrays = to_arrays(learning, first_params(learning, players, seed))
    return Checkpoint(
        arrays, "turns", "tollero", players, plain_options(rules.options), learning.planner.version, {"a": 1}
    )


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    """The file of a net for two players."""
    path = tmp_path_factory.mktemp("net") / "net.safetensors"
    write_checkpoint(path, checkpoint_for())
    return path


def write(path, arrays, **changes):
    """A file with other facts in its header."""
    facts = {key: value for key, value in checkpoint_for()._asdict().items() if key != "arrays"}
    header = {"format": FORMAT, **{key: json.dumps(value) for key, value in facts.items()}, **changes}
    path.write_bytes(save(arrays, {key: value for key, value in header.items() if value is not None}))


def error_of(call, *args):
    """What it is refused with: one line that names the file."""
    with pytest.raises(OptionError) as caught:
        call(*args)
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 400
    return text


# ---- files


def test_what_is_written_is_read(tmp_path):
    written = checkpoint_for(3, floors=4)
    path = tmp_path / "net.safetensors"
    write_checkpoint(path, written)
    found = read_checkpoint(path)
    assert found[1:] == written[1:]
    assert found.arrays.keys() == written.arrays.keys()
    for name, array in written.arrays.items():
        assert np.array_equal(found.arrays[name], array)
    learning = get_rules("tollero").game.learning
    assert np.array_equal(to_params(path, found, learning), first_params(learning, 3, 1))
    assert [one.name for one in tmp_path.iterdir()] == ["net.safetensors"]
    assert plain_options(get_rules("tollero").options)["tileset"] == "reconstruction"


def test_files_that_are_damaged(net, tmp_path):
    whole, path = net.read_bytes(), tmp_path / "bad.safetensors"
    header = int.from_bytes(whole[:8], "little")
    damages = [b"", b"\x00", whole[:4], whole[:100], whole[: header + 8], whole[:-1], whole + b"\x00"]
    damages += [b"\xff" * 8 + whole[8:], whole[:8] + b"x" * header + whole[8 + header :], b"PK\x03\x04" + b"\x00" * 100]
    for data in damages:
        path.write_bytes(data)
        text = error_of(read_checkpoint, path)
        assert text.startswith(f"{path}: damaged, or no net of this project: ")
    assert "damaged, or no net" in error_of(read_checkpoint, tmp_path)  # a folder
    assert "damaged, or no net" in error_of(read_checkpoint, tmp_path / "nowhere")


def test_headers_that_say_something_else(net, tmp_path):
    arrays, path = load(net.read_bytes()), tmp_path / "bad.safetensors"
    for text in ("tollero-net/2", "", None):
        write(path, arrays, format=text)
        assert error_of(read_checkpoint, path) == f"{path}: format {text!r} is not {FORMAT}"
    path.write_bytes(save(arrays))
    assert "format None" in error_of(read_checkpoint, path)
    for key in ("family", "game", "players", "options", "version", "notes"):
        for text in ("{", None):
            write(path, arrays, **{key: text})
            assert "damaged, or no net" in error_of(read_checkpoint, path)
    for key, text in (("players", '"two"'), ("options", "[]"), ("version", "null"), ("game", "3"), ("family", "{}")):
        write(path, arrays, **{key: text})
        assert f"damaged, or no net of this project: {key} is " in error_of(read_checkpoint, path)


def make_and_move(path, **how):
    """Name the agent and let it move."""
    return make_agent(f"net:{path}").act(new_game(seed=1, **how), 1)


def test_arrays_that_are_not_those_of_a_net(net, tmp_path):
    arrays, path = load(net.read_bytes()), tmp_path / "bad.safetensors"
    learning = get_rules("tollero").game.learning
    for name, shape in parts(learning.planner.sizes):
        write(path, {key: array for key, array in arrays.items() if key != name})
        assert f"{path}: array {name!r} is missing, not float32 {shape}" == error_of(make_and_move, path)
        write(path, {**arrays, name: arrays[name].astype(np.float64)})
        assert f"array {name!r} is float64 {shape}, not float32 {shape}" in error_of(make_and_move, path)
        write(path, {**arrays, name: arrays[name].reshape(-1)[:-1].copy()})
        assert f"not float32 {shape}" in error_of(make_and_move, path)
        for value in (np.nan, np.inf, -np.inf):
            broken = arrays[name].copy()
            broken.flat[-1] = value
            write(path, {**arrays, name: broken})
            assert f"array {name!r} holds numbers that are not finite" in error_of(make_and_move, path)
    write(path, arrays, version="99")
    version = learning.planner.version
    assert f"reads version 99 of the description, this is version {version}" in error_of(make_and_move, path)


def test_rules_it_was_not_made_for(net):
    text = error_of(lambda: make_and_move(net, players=3))
    assert text == f"{net}: a net for tollero with 2 players cannot play tollero with 3 players"
    assert "a net for floors 20 cannot play floors 4" in error_of(lambda: make_and_move(net, floors=4))
    other = checkpoint_for()._replace(game="toscana")
    assert "toscana with 2" in error_of(check_fits, net, other, get_rules("tollero"))
    without = get_rules("tollero")
    without = without._replace(game=without.game._replace(learning=None))
    agent = TurnNet(net, checkpoint_for())
    assert "Tollero offers no description to nets" in error_of(agent.act, Position.new(without, 1), 1)


# ---- names


def test_where_nets_are_found(net, tmp_path, monkeypatch):
    assert find_checkpoint(str(net)) == net
    assert find_checkpoint(str(net.parent)) == net  # the folder of a run
    monkeypatch.setattr(checkpoints, "SHIPPED", tmp_path)
    assert error_of(find_checkpoint, "best").endswith("shipped nets are none")
    (tmp_path / "best.safetensors").write_bytes(net.read_bytes())
    assert find_checkpoint("best") == tmp_path / "best.safetensors"
    assert error_of(find_checkpoint, "worst").endswith("there is no such file; shipped nets are best")
    assert isinstance(make_agent("net:best"), TurnNet)
    (tmp_path / "empty").mkdir()
    assert "there is no such file" in error_of(find_checkpoint, str(tmp_path / "empty"))


def test_names_that_are_refused(net, tmp_path):
    assert "agent 'net' needs a checkpoint" in error_of(make_agent, "net")
    assert "agent 'net' needs a checkpoint" in error_of(make_agent, "net:")
    assert "there is no such file" in error_of(make_agent, "net:nowhere")
    for parameters in ("sims=0", "ms=x", "depth=3", "sims=5,ms=5"):
        assert "net" in error_of(make_agent, f"net:{net},{parameters}")
    path = tmp_path / "bad.safetensors"
    write(path, load(net.read_bytes()), family='"sarsa"')
    assert "nets of the family 'sarsa' are not known" in error_of(make_agent, f"net:{path}")


# ---- play


@pytest.mark.parametrize("players", [2, 3])
def test_one_game_or_many_is_the_same(players, tmp_path):
    path = tmp_path / "net.safetensors"
    write_checkpoint(path, checkpoint_for(players))
    agent = make_agent(f"net:{path}")
    assert isinstance(agent, BatchAgent)
    listed = list(positions_of(players, 4))[::3]
    states = np.concatenate([position.states for position in listed])
    out = np.full(len(listed), -1)
    seeds = np.array([as_word(k) for k in range(len(listed))])
    agent.act_batch(listed[0].rules, states, np.arange(len(listed)), seeds, out)
    for position, move in zip(listed, out.tolist()):
        assert move in position.moves()
        assert agent.act(position, 1) == agent.act(position, 2) == move  # it draws nothing
        assert agent.act(position.hidden_from(position.player, 5), 1) == move  # and does not peek


def test_in_the_arena(net):
    rules = get_rules("tollero")
    result = play_game(rules, Job(0, 3, (f"net:{net}", "random")))
    assert sum(result.outcome) == 1
    assert result.outcome[0] == 1  # even one that goes by the scores alone beats random


def test_as_an_opponent(net):
    env = SingleEnv("tollero", opponents=f"net:{net}", encoding="slots")
    _, info = env.reset(seed=2)
    rng, over = np.random.default_rng(1), False
    while not over:
        _, reward, terminated, truncated, info = env.step(rng.choice(np.flatnonzero(info["action_mask"])))
        over = terminated or truncated
    assert reward == -1
    assert info["outcome"][info["seat"]] == 0


def test_a_search_that_a_net_leads(net):
    position = new_game(seed=3)
    if position.rules.game.learning.search is None:
        assert "Tollero has no search that a net leads" in error_of(make_agent(f"net:{net},sims=8").act, position, 1)
        return
    agent = make_agent(f"net:{net},sims=50")
    assert agent.act(position, 1) == agent.act(position, 1) in position.moves()


def test_agents_are_known():
    assert agents is not None
