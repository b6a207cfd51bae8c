"""Training by self-play: it learns, it goes on as if it had never stopped, nothing is half-written, clear errors."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import yaml

import agents
from agents.checkpoint import read_checkpoint, to_params
from experiments.train import cli
from experiments.train.cli import Run, held_interrupts, main
from experiments.train.config import make_config, read_config
from experiments.train.folder import BOARD, CONFIG, CURVE, NET, STATE, read_curve, read_facts, read_state, write_facts
from experiments.train.measure import batch_agents, play_batch, win_shares
from experiments.train.turns import TurnsTrainer, start_from
from tollero_env import new_game
from tollero_env.game import OptionError
from tollero_env.opponents import make_agent
from tollero_env.position import Position
from tollero_env.rng import choose as pick
from tollero_env.rng import derive

ROOT = Path(__file__).parent.parent
# rounds in which there is everything: chunks that are let go, rivals that join
SMALL = {
    "options": {"floors": 3}, "games": 320, "games_a_round": 40, "rounds_kept": 3, "pool_every": 2, "batch": 32,
    "measure_games": 20, "baselines": ["random", "greedy"],
}  # fmt: skip


def trainer_for(**changes):
    config = make_config({**SMALL, **changes})
    return TurnsTrainer(config, config.rules())


def finish(trainer):
    while trainer.done < trainer.total:
        trainer.advance()
    return trainer


def all_of(trainer):
    """What a run has in memory that its future hangs on."""
    facts = [trainer.params, trainer.moments, *trainer.rivals, np.array([trainer.rounds, trainer.step])]
    return b"".join(array.tobytes() for array in facts)


def run_for(folder, **changes):
    """A run as the command line makes it, in this process."""
    config = make_config({**SMALL, **changes})
    folder.mkdir(exist_ok=True)
    if not (folder / CONFIG).exists():
        write_facts(folder, config, None)
    trainer = TurnsTrainer(config, config.rules())
    return Run(folder, config, trainer, config.rules())


def positions_of(players, seed, **options):
    """Positions of a game of random moves, each a copy."""
    position = new_game(players=players, seed=seed, **options)
    while not position.over:
        yield position.copy()
        moves = position.moves()
        position.play(moves[pick(derive(seed, position.ply), len(moves))])


# ---- it learns


def improvement(seed, games, players=2, floors=8, **settings):
    """(mean, standard error) of the trained net's share of wins against the untrained, less an even share.

    With fewer Floors than 8 the stars of S4 decide most games, and what is learned hardly shows in wins.
    """
    settings |= {"players": players, "options": {"floors": floors}, "games": games, "seed": seed}
    config = make_config({**settings, "games_a_round": 300, "rounds_kept": 10})
    trainer = TurnsTrainer(config, config.rules())
    untrained = trainer.agent()
    finish(trainer)
    shares = win_shares(trainer.rules, trainer.agent(), untrained, 1500, seed) - 1 / players
    return shares.mean(), shares.std() / len(shares) ** 0.5


def test_seconds_of_training_improve_a_net():
    gained, error = improvement(1, 4500, passes=10.0)
    assert gained > 3 * error


@pytest.mark.thorough
@pytest.mark.parametrize(("players", "games", "floors"), [(2, 3600, 10), (3, 4500, 8)])
def test_over_seeds(players, games, floors):
    found = [improvement(seed, games, players, floors) for seed in (2, 3)]
    gained, error = np.mean([one for one, _ in found]), np.hypot(*(one for _, one in found)) / 2
    assert gained > 4 * error
    assert all(one > 0 for one, _ in found)


@pytest.mark.parametrize("players", [2, 4])
def test_equal_configs_give_equal_nets(players):
    first, second, other = (finish(trainer_for(seed=seed, games=160, players=players)) for seed in (5, 5, 6))
    assert all_of(first) == all_of(second)
    assert first.loss == second.loss
    assert all_of(first) != all_of(other)
    assert len(first.rivals) == 3  # the scores, and one every second round


def test_an_agent_stays_as_it_was_made():
    trainer = trainer_for()
    agent = trainer.agent()
    before = agent.checkpoint.arrays["vectors"].copy()
    trainer.advance()
    assert np.array_equal(agent.checkpoint.arrays["vectors"], before)
    assert not np.array_equal(trainer.agent().checkpoint.arrays["vectors"], before)


def test_weights_to_start_from(tmp_path):
    run = run_for(tmp_path / "run", games=80)
    run.go()
    checkpoint = read_checkpoint(tmp_path / "run" / NET)
    rules = run.rules
    trainer = TurnsTrainer(run.config, rules, start_from("net", checkpoint, rules))
    assert np.array_equal(trainer.params, run.trainer.params)
    assert trainer.done == 0
    finish(trainer)
    assert not np.array_equal(trainer.params, run.trainer.params)


# ---- it goes on


def test_what_is_resumed_equals_what_never_stopped(tmp_path):
    whole, after = trainer_for(), []
    while whole.done < whole.total:
        whole.advance()
        after.append(all_of(whole))
    for stop in (0, 1, 2, 5, 7):
        first = trainer_for()
        for _ in range(stop):
            first.advance()
        first.save(tmp_path / STATE, {"seconds": 3.0})
        resumed = trainer_for()
        assert resumed.load(tmp_path / STATE) == {"seconds": 3.0}
        assert resumed.done == stop * 40
        for expected in after[stop : stop + 3]:
            resumed.advance()
            assert all_of(resumed) == expected, stop
        first.advance()  # the first one is none the worse for having been saved
        assert all_of(first) == after[stop]


def test_a_run_in_its_folder(tmp_path):
    run = run_for(tmp_path)
    run.go()
    rows = read_curve(tmp_path)
    assert [row["done"] for row in rows] == [0, 320]
    assert rows[0]["loss"] is None
    assert set(rows[1]["shares"]) == {"random", "greedy"}
    assert all(0 <= share <= 1 for share in rows[1]["shares"].values())
    checkpoint = read_checkpoint(tmp_path / NET)
    assert checkpoint.family == "turns"
    assert checkpoint.notes["done"] == 320
    assert checkpoint.notes["config"] == json.loads(json.dumps(run.config.model_dump()))
    assert np.array_equal(to_params("net", checkpoint, run.trainer.learning), run.trainer.params)
    config, facts = read_facts(tmp_path)
    assert config == run.config
    assert set(facts["packages"]) >= {"numpy", "numba", "torch"}
    assert {path.name for path in tmp_path.glob("*.*")} == {CONFIG, CURVE, NET, STATE}
    # a finished run that is resumed has nothing to do
    again = run_for(tmp_path)
    assert again.trainer.done == 320
    assert again.spent() >= rows[1]["seconds"]
    again.go()
    assert all_of(again.trainer) == all_of(run.trainer)
    assert read_curve(tmp_path) == rows


def test_looks_after_the_last_save_are_forgotten(tmp_path):
    run = run_for(tmp_path, measure_seconds=1e-9, save_seconds=1e9)
    for _ in range(2):
        run.trainer.advance()
    run.save()
    run.look()
    run.trainer.advance()
    run.look()
    with open(tmp_path / CURVE, "a", encoding="utf-8") as file:
        file.write('{"done": 160, "sec')  # cut short
    resumed = run_for(tmp_path, measure_seconds=1e-9)
    assert [row["done"] for row in resumed.rows] == [80]
    resumed.go()
    assert [row["done"] for row in read_curve(tmp_path)] == [80, 120, 160, 200, 240, 280, 320]
    assert all_of(resumed.trainer) == all_of(finish(trainer_for()))


def test_a_longer_run_goes_on_from_a_finished_one(tmp_path, monkeypatch):
    monkeypatch.setattr(cli, "run_train", lambda folder, config, init, first: None)
    run_for(tmp_path, games=80).go()
    main(["--resume", str(tmp_path), "games=160"])
    assert read_facts(tmp_path)[0].games == 160
    run = run_for(tmp_path, games=160)
    assert (run.trainer.done, run.trainer.total) == (80, 160)


def board_of(folder):
    """{tag: {step: value}} as TensorBoard reads a folder; a step that is written twice is an error."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder / BOARD))
    events.Reload()
    found = {tag: [(one.step, one.value) for one in events.Scalars(tag)] for tag in events.Tags()["scalars"]}
    assert all(len(dict(points)) == len(points) for points in found.values())
    return {tag: dict(points) for tag, points in found.items()}


def test_tensorboard_shows_the_curve(tmp_path):
    pytest.importorskip("torch")
    run = run_for(tmp_path, measure_seconds=1e-9, save_seconds=1e9)
    run.look()
    for _ in range(4):
        run.trainer.advance()
        run.look()
        if run.trainer.done == 80:
            run.save()
    assert sorted(board_of(tmp_path)["wins/greedy"]) == [0, 40, 80, 120, 160]
    resumed = run_for(tmp_path, measure_seconds=1e-9)  # as if it had been killed: looks after 80 games are forgotten
    resumed.go()
    board, rows = board_of(tmp_path), read_curve(tmp_path)
    assert [row["done"] for row in rows] == list(range(0, 321, 40))
    for tag, take in (
        ("wins/random", lambda row: row["shares"]["random"]),
        ("wins/greedy", lambda row: row["shares"]["greedy"]),
        ("training/loss", lambda row: row["loss"]),
        ("time/seconds", lambda row: row["seconds"]),
    ):
        expected = {row["done"]: take(row) for row in rows if take(row) is not None}
        assert board[tag] == pytest.approx(expected, rel=1e-6)
    assert board["training/rate"][320] < board["training/rate"][40]


# ---- it is stopped


def test_ctrl_c_waits_for_the_end_of_the_round(tmp_path, monkeypatch, capfd):
    fit, pressed = TurnsTrainer._fit, []

    def press(trainer, k):
        if k == 3 and not pressed:
            pressed.append(k)
            os.kill(os.getpid(), signal.SIGINT)
        fit(trainer, k)

    monkeypatch.setattr(TurnsTrainer, "_fit", press)
    run = run_for(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run.go()
    assert "finishing the round" in capfd.readouterr().err
    assert run.trainer.done == run.saved == 160
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    resumed = run_for(tmp_path)
    assert resumed.trainer.done == 160
    resumed.go()
    assert all_of(resumed.trainer) == all_of(finish(trainer_for()))


def press_twice():
    with held_interrupts() as is_stopped:
        os.kill(os.getpid(), signal.SIGINT)
        assert is_stopped()
        os.kill(os.getpid(), signal.SIGINT)


def test_a_second_ctrl_c_does_not_wait():
    with pytest.raises(KeyboardInterrupt):
        press_twice()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    found = []
    thread = threading.Thread(target=lambda: found.append(held_interrupts().__enter__()()))  # where no signals come
    thread.start()
    thread.join()
    assert found == [False]


LONG = {**SMALL, "games": 10_000, "games_a_round": 100, "save_seconds": 0.05, "baselines": ["random"]}


class Started:
    """A run of the command line in a process of its own."""

    def __init__(self, folder, *words):
        code = "import runpy, signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        code += "runpy.run_module('experiments.train', run_name='__main__', alter_sys=True)"
        ends = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
        self.process = subprocess.Popen([sys.executable, "-c", code, *map(str, words)], cwd=ROOT, **ends)
        self.folder = folder

    def wait_for(self, done):
        """Until so many games are saved."""
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and self.process.poll() is None:
            if (self.folder / STATE).exists() and read_state(self.folder / STATE)[1]["done"] >= done:
                return
            time.sleep(0.02)
        self.process.kill()
        pytest.fail(f"not so far in time: {self.process.communicate()}")

    def end(self, number):
        """Send a signal; (exit code, stdout, stderr)."""
        os.killpg(self.process.pid, number)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


def check_files(folder):
    """Everything in the folder can be read; returns the games done."""
    assert read_checkpoint(folder / NET).family == "turns"
    read_facts(folder)
    read_curve(folder)
    return read_state(folder / STATE)[1]["done"]


@pytest.mark.thorough
def test_killed_and_stopped_and_still_the_same(tmp_path):
    """kill -9, then Ctrl-C, then to the end: as if nothing had been."""
    folder = tmp_path / "run"
    (tmp_path / "config.yaml").write_text(yaml.safe_dump({**LONG, "family": "turns"}))
    begun = Started(folder, "--config", tmp_path / "config.yaml", "--out", folder)
    begun.wait_for(500)
    assert begun.end(signal.SIGKILL)[0] == -signal.SIGKILL
    killed = check_files(folder)
    assert 500 <= killed < LONG["games"]

    gone_on = Started(folder, "--resume", folder)
    gone_on.wait_for(killed + 500)
    code, out, err = gone_on.end(signal.SIGINT)
    stopped = check_files(folder)
    assert killed < stopped < LONG["games"]
    assert code == 130
    assert f"goes on after {killed:,} games" in out
    kept, last = err.splitlines()[-2:]
    assert kept == (
        f"what was learned in {stopped:,} games is in {folder / NET}; "
        f"go on: python -m experiments.train --resume {folder}"
    )
    assert last == "stopped"
    config, _ = read_facts(folder)
    run = Run(folder, config, TurnsTrainer(config, config.rules()), config.rules())
    assert run.trainer.done == stopped
    run.go()
    assert all_of(run.trainer) == all_of(finish(TurnsTrainer(config, config.rules())))


# ---- how strong


@pytest.mark.parametrize("players", [2, 4])
def test_games_between_batches_are_those_of_the_rules(players):
    """Seat by seat: `play_batch` gives what playing one decision after the other gives."""
    rules = make_config({"players": players, "options": {"floors": 3}}).rules()
    greedy, other = make_agent("greedy"), make_agent("random")
    seats = [greedy, *[other] * (players - 1)]
    seeds = np.array([derive(3, k) for k in range(6)], np.uint64)
    shares = play_batch(rules, seats, seeds)
    for seed, found in zip(seeds, shares):
        position = Position.new(rules, int(seed))
        while not position.over:
            drawn = derive(derive(int(seed), 2), position.ply)
            position.play(seats[position.player].act(position, drawn))
        assert found.tolist() == position.outcome()


def test_shares_are_of_all_seats():
    rules = make_config({"players": 3, "options": {"floors": 3}}).rules()
    greedy, other = make_agent("greedy"), make_agent("random")
    assert win_shares(rules, other, other, 30, 1).tolist() == pytest.approx([1 / 3] * 10)  # on every deal
    better = win_shares(rules, greedy, other, 300, 1)
    assert better.shape == (100,)
    assert better.mean() > 0.45
    assert win_shares(rules, other, greedy, 300, 1).mean() < 0.25


def test_baselines_that_are_none():
    assert set(batch_agents(("random", "greedy-turn"))) == {"random", "greedy-turn"}
    with pytest.raises(OptionError, match="baseline 'ismcts:ms=5' cannot play many games at once"):
        batch_agents(("ismcts:ms=5",))
    with pytest.raises(OptionError, match="agent 'nobody' is not known"):
        batch_agents(("nobody",))


# ---- clear errors


def error_of(*words):
    """The one line that a command ends with."""
    with pytest.raises(SystemExit) as caught:
        main([str(word) for word in words])
    text = str(caught.value.code)
    assert text.startswith("error: ")
    assert "\n" not in text
    assert len(text) < 700
    return text


@pytest.mark.parametrize(
    ("change", "messages"),
    [
        ("colour=1", ["key 'colour' is not known; there is game, players", "games_a_round"]),
        ("steps=5", ["key 'steps' is not known", "pool_every"]),
        ("games=many", ["games: ", "not 'many'"]),
        ("games=0", ["games: ", "not 0"]),
        ("games=2.5", ["games: ", "not 2.5"]),
        ("players=two", ["players: ", "not 'two'"]),
        ("players=9", ["players: 9"]),
        ("seed=-1", ["seed: ", "not -1"]),
        ("decay=1.5", ["decay: ", "not 1.5"]),
        ("rate=fast", ["rate: ", "not 'fast'"]),
        ("family=dqn", ["family: ", "'turns'"]),
        ("game=chess", ["game 'chess' is not known"]),
        ("options.size=3", ["Tollero has no option 'size'"]),
        ("options.floors=99", ["floors: 99"]),
        ("options=3", ["options: ", "not 3"]),
        ("seed.low=3", ["seed: "]),
        ("rate=.inf", ["rate: "]),
        ("games=2020-01-01", ["games: ", "not '2020-01-01'"]),
        ("games", ["'games' is not KEY=VALUE"]),
        ("=3", ["'=3' is not KEY=VALUE"]),
    ],
)
def test_settings_that_are_wrong(change, messages, tmp_path):
    text = error_of("seed=2", change, "--out", tmp_path)
    for message in messages:
        assert message in text
    assert not list(tmp_path.iterdir())


def test_true_is_not_a_number():
    for change in ("games=true", "seed=false", "players=true", "rate=true"):
        with pytest.raises(OptionError, match=f"{change.partition('=')[0]}: .*not (True|False)"):
            read_config(None, [change])
    with pytest.raises(OptionError, match=r"games: .*not '7'"):
        read_config(None, ['games="7"'])


def test_settings_that_are_right():
    config = read_config(None, ["players=3", "options.floors=4", "options.downtown_scores=false", "rate=1", "seed=7"])
    assert (config.family, config.players, config.seed, config.rate) == ("turns", 3, 7, 1.0)
    assert config.options == {"floors": 4, "downtown_scores": False}
    assert config.rules().options["floors"] == 4
    config = read_config(None, ["family=ppo", "steps=100", "baselines=[random]"])
    assert (config.family, config.steps, config.baselines) == ("ppo", 100, ("random",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("games: [1", "no YAML: "),
        ("- games", "not keys with values"),
        ("", "not keys with values"),
        ("!!python/object/apply:os.getcwd []", "no YAML: "),
        ("colour: 1", "key 'colour' is not known"),
        ("games: {}", "games: "),
        ("1: 2", "key '1' is not known"),
        ("family: ppo\ngames: 3", "key 'games' is not known; there is game, players"),
        ("\x00", "no YAML: "),
    ],
)
def test_config_files_that_are_wrong(text, message, tmp_path):
    path = tmp_path / "my.yaml"
    path.write_text(text)
    found = error_of("--config", path)
    assert str(path) in found
    assert message in found


def test_config_files_that_cannot_be_read(tmp_path):
    assert "my.yaml: cannot be read: No such file" in error_of("--config", tmp_path / "my.yaml")
    assert "cannot be read: Is a directory" in error_of("--config", tmp_path)
    (tmp_path / "my.yaml").write_bytes(b"\xff\xfe\x00games")
    assert "my.yaml: no YAML" in error_of("--config", tmp_path / "my.yaml")


def test_what_cannot_be_resumed(tmp_path):
    assert "there is no run: No such file" in error_of("--resume", tmp_path)
    run = run_for(tmp_path, games=40)
    run.go()
    for words in (["--config", "configs/some.yaml"], ["--out", tmp_path / "other"], ["--init", tmp_path]):
        assert "takes no --config, --out or --init" in error_of("--resume", tmp_path, *words)
    assert "'seed=3': of a run that is resumed only games may be changed" in error_of("--resume", tmp_path, "seed=3")
    assert "games: " in error_of("--resume", tmp_path, "games=none")
    assert "holds a run already" in error_of("--out", tmp_path)
    whole = (tmp_path / STATE).read_bytes()
    for damaged in (b"", whole[:100], whole[:-1], b"\x00" * 500):
        (tmp_path / STATE).write_bytes(damaged)
        assert f"{STATE}: damaged, or no state of a run" in error_of("--resume", tmp_path)
    (tmp_path / STATE).write_bytes((tmp_path / NET).read_bytes())
    assert f"{STATE}: damaged, or no state of a run" in error_of("--resume", tmp_path)
    (tmp_path / CONFIG).write_text('{"config": ')
    assert f"{CONFIG}: no config of a run" in error_of("--resume", tmp_path)
    (tmp_path / CONFIG).write_text('{"config": {"colour": 1}}')
    assert f"{CONFIG}: key 'colour' is not known" in error_of("--resume", tmp_path)


def test_weights_that_do_not_fit(tmp_path):
    run_for(tmp_path / "one", games=40).go()
    words = ["--init", tmp_path / "one", "--out", tmp_path / "two"]
    assert "a net for tollero with 2 players cannot play tollero with 3 players" in error_of("players=3", *words)
    assert "a net for floors 3 cannot play floors 20" in error_of(*words)
    assert "there is no such file" in error_of("--init", "nowhere", "--out", tmp_path / "two")
    assert "--init is for the family turns" in error_of("family=ppo", *words)


def test_agents_are_known():
    assert agents is not None
