"""The end of a training run: figures that are right, a page that needs nothing else, commands that work as printed."""

import json
import math
import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest

import agents  # noqa: F401
from agents.checkpoint import ENDING, read_checkpoint
from experiments.options import interpreter
from experiments.play import main as play_main
from experiments.tournament import cli as tournament_cli
from experiments.train import cli
from experiments.train.config import make_config
from experiments.train.curves import draw_curves, speeds, wilson
from experiments.train.folder import NET, REPORT, RESULTS, read_facts, write_facts
from experiments.train.measure import batch_agents, win_shares
from experiments.train.page import clock
from experiments.train.report import FINAL_SEED, final_result, finish, next_commands
from experiments.train.turns import TurnsTrainer
from tollero_env.opponents import make_agent
from tollero_env.replay import load

ROOT = Path(__file__).parents[1]
SHORT = {"options": {"floors": 4}, "games": 100, "games_a_round": 50, "measure_games": 12, "final_games": 60}


def make_run(folder, rounds=2, **changes):
    """A run that has trained so many rounds, with a look after each; its config and trainer."""
    config = make_config({**SHORT, **changes})
    trainer = TurnsTrainer(config, config.rules())
    folder.mkdir(parents=True)
    write_facts(folder, config, None)
    run = cli.Run(folder, config, trainer, config.rules())
    run.look()
    for _ in range(rounds):
        trainer.advance()
        run.look()
    run.save()
    return config, trainer


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder of a run that is finished, in a folder whose name needs quotes."""
    folder = tmp_path_factory.mktemp("runs") / "a <b> & run"
    config, trainer = make_run(folder)
    finish(folder, config, trainer.agent(), batch_agents(config.baselines))
    return folder


def results(folder):
    return json.loads((folder / RESULTS).read_text(encoding="utf-8"))


class Reader(HTMLParser):
    """Collects what a page loads, its frames, its scripts and the words one sees."""

    def __init__(self, text):
        super().__init__()
        self.loaded, self.frames, self.scripts, self.words, self._inside = [], [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self._inside.append(tag)
        self.loaded += [value for key, value in attrs.items() if key in ("src", "data", "action", "poster")]
        self.loaded += [value for key, value in attrs.items() if key.endswith("href") and not value.startswith("#")]
        self.loaded += [tag] if tag in ("link", "img", "object", "embed") else []
        self.frames += [attrs["srcdoc"]] if "srcdoc" in attrs else []

    def handle_endtag(self, tag):
        while tag in self._inside and self._inside.pop() != tag:
            pass

    def handle_data(self, data):
        if "script" in self._inside:
            self.scripts.append(data)
        elif "style" not in self._inside:
            self.words.append(data)


# ---------------------------------------------------------------- figures


def test_each_baseline_has_its_share_with_an_interval(run):
    report = results(run)
    config, _ = read_facts(run)
    net = make_agent(f"net:{run}")
    assert [row["against"] for row in report["results"]] == list(config.baselines)
    for row, (name, other) in zip(report["results"], batch_agents(config.baselines).items()):
        shares = win_shares(config.rules(), net, other, config.final_games, FINAL_SEED)
        assert (row["games"], row["deals"]) == (60, 30), name
        assert row["share"]["value"] == pytest.approx(shares.mean())
        assert row["share"]["low"] <= row["share"]["value"] <= row["share"]["high"]
        assert row["times_fair"]["high"] == pytest.approx(2 * row["share"]["high"])
        spread = shares.std() / math.sqrt(len(shares))
        if spread:
            assert row["share"]["high"] - row["share"]["low"] == pytest.approx(2 * 1.96 * spread, rel=0.25)


def test_the_interval_of_a_perfect_record_is_no_point():
    """Greedy-turn against itself is even on every deal; against an agent that never wins the bound is exact."""
    config = make_config(SHORT)
    agent = make_agent("greedy-turn")
    assert final_result(config.rules(), agent, "itself", agent, 20)["share"]["value"] == 0.5

    class Winner:
        def act_batch(self, rules, states, games, seeds, out):
            agent.act_batch(rules, states, games, seeds, out)

    shares = final_result(make_config({}).rules(), Winner(), "random", make_agent("random"), 20)["share"]
    assert (shares["value"], shares["high"]) == (1, 1)
    assert shares["low"] == pytest.approx(0.025 ** (1 / 10))


def test_what_was_trained_is_told(run):
    report = results(run)
    config, facts = read_facts(run)
    assert report["config"] == json.loads(json.dumps(config.model_dump()))
    assert report["git"] == facts["git"]
    assert report["packages"]["numpy"] == np.__version__
    assert (report["done"], report["unit"], len(report["curve"])) == (100, "games", 3)
    checkpoint = read_checkpoint(run / NET)
    assert report["parameters"] == sum(array.size for array in checkpoint.arrays.values())
    words = " ".join(Reader((run / REPORT).read_text(encoding="utf-8")).words)
    for text in (
        config.rules().game.title,
        "family turns",
        "seed 1",
        "100 games",
        "floors 4",
        f"numpy {np.__version__}",
    ):
        assert text in words


def test_the_game_is_one_of_the_hardest_pairing(run):
    report = results(run)
    hardest = min(report["results"], key=lambda row: row["share"]["value"])["against"]
    game = report["game"]
    assert game["agents"] == ["net", hardest]
    replay = load(game["replay"])
    assert len(game["chances"]) == len(replay.moves) + 1
    known = [chance for chance in game["chances"] if chance is not None]
    assert game["chances"][0] is not None
    assert 2 < len(known) < len(replay.moves)
    assert all(0 <= chance <= 1 for chance in known)
    assert known[-1] in (0, 0.5, 1)


def test_the_same_run_gives_the_same_report(run, tmp_path):
    config, _ = read_facts(run)
    before = (run / RESULTS).read_bytes(), (run / REPORT).read_bytes()
    finish(run, config, make_agent(f"net:{run}"), batch_agents(config.baselines))
    assert ((run / RESULTS).read_bytes(), (run / REPORT).read_bytes()) == before
    assert {path.name for path in run.iterdir()} == {
        "config.json", "curve.jsonl", f"net{ENDING}", f"state{ENDING}", REPORT, RESULTS
    }  # fmt: skip


def test_three_players_and_an_agent_without_opinions(tmp_path, capsys):
    """An agent of any family, as long as it plays in batches; a loss that is no number; too few deals."""
    config, _ = make_run(tmp_path / "run", rounds=0, players=3, baselines=["random"], final_games=6)
    row = {"done": 50, "seconds": 1.0, "loss": float("nan"), "shares": {"random": 0.3}, "games": 12}
    with open(tmp_path / "run" / "curve.jsonl", "a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    finish(tmp_path / "run", config, make_agent("greedy"), batch_agents(config.baselines))
    report = results(tmp_path / "run")
    assert report["results"][0]["games"] == 6
    assert report["curve"][-1]["loss"] is None
    assert report["game"]["agents"] == ["net", "random", "random"]
    assert set(report["game"]["chances"]) == {None}
    page = Reader((tmp_path / "run" / REPORT).read_text(encoding="utf-8"))
    assert "2 × random" in " ".join(page.words)
    assert "rough" in " ".join(page.words)
    assert "rough" in capsys.readouterr().out


# ---------------------------------------------------------------- the page


def test_one_file_is_enough(run):
    text = (run / REPORT).read_text(encoding="utf-8")
    page = Reader(text)
    assert page.loaded == []
    assert len(page.frames) == 1
    inner = Reader(page.frames[0])
    assert inner.loaded == []
    for part in (text, page.frames[0]):
        assert not re.search(r"@import|url\((?!#)|fetch\(|XMLHttp", part)
        addresses = set(re.findall(r"https?://[^\s\"'<>&]+", part))
        assert all(address.startswith(("http://www.w3.org/", "https://www.w3.org/")) for address in addresses)


def test_the_film_in_it_has_all_steps_and_says_what_the_net_thought(run):
    game = results(run)["game"]
    page = Reader((run / REPORT).read_text(encoding="utf-8"))
    film = next(json.loads(text) for text in Reader(page.frames[0]).scripts if text.startswith("{"))
    assert len(film["frames"]) == len(film["captions"]) == len(game["chances"])
    for step, (caption, chance) in enumerate(zip(film["captions"], game["chances"])):
        is_told = chance is not None and step < len(game["chances"]) - 1
        assert caption.endswith(f"· net {chance:.0%}" if is_told else caption)
        assert ("·" in caption) == is_told
        assert step == 0 or re.match(rf"{step}\. (net|{game['agents'][1]}): ", caption)
    assert f'"most": {len(film["frames"]) - 1}' in "".join(page.scripts)


def test_names_are_escaped_and_pictures_are_well_formed(run):
    text = (run / REPORT).read_text(encoding="utf-8")
    assert "<title>Tollero, 2 players: a &lt;b&gt; &amp; run</title>" in text
    assert "a <b>" not in text
    outside = re.sub(r'srcdoc="[^"]*"', "", text)
    pictures = re.findall(r"<svg.*?</svg>", outside, re.DOTALL)
    assert len(pictures) == len(results(run)["results"]) + 2  # whiskers, curves, the game's course
    for picture in pictures:
        ET.fromstring(picture)


def test_curves_name_every_baseline_and_can_be_of_a_short_run():
    row = {"done": 0, "seconds": 0.0, "loss": None, "shares": {"one": 0.5, "other": 0.0}, "games": 10}
    later = {**row, "done": 1000, "seconds": 90.0, "loss": -0.25, "shares": {"one": 1.0, "other": 0.98}}
    for rows in ([row, later], [row]):
        root = ET.fromstring(draw_curves(rows, "steps", 2).svg)
        words = {text for text in map(str.strip, root.itertext()) if text}
        assert {"one", "other", "win share", "loss", "steps", "minutes", "steps a second"} <= words
    assert speeds([row, later]) == [(later, 1000 / 90)]
    assert speeds([row, row]) == []


@pytest.mark.parametrize(("wins", "games"), [(0, 10), (7, 10), (200, 200), (83, 100)])
def test_bands_are_wilson_intervals(wins, games):
    known = binomtest(wins, games).proportion_ci(method="wilson")
    assert wilson(wins / games, games) == pytest.approx((known.low, known.high), abs=1e-4)


def test_times_as_people_read_them():
    assert [clock(seconds) for seconds in (4.4, 60, 599.6)] == ["4 s", "1 min 0 s", "10 min 0 s"]


# ---------------------------------------------------------------- on the terminal


def test_what_is_printed(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    config, trainer = make_run(tmp_path / "run", rounds=0)
    finish(tmp_path / "run", config, trainer.agent(), batch_agents(config.baselines))
    out = capsys.readouterr().out
    for row in results(tmp_path / "run")["results"]:
        assert re.search(rf"{row['against']} .*60 .*{row['share']['value']:.1%}", out)
    assert str(tmp_path / "run" / REPORT) in out
    for each in next_commands(tmp_path / "run", config, config.rules()):
        assert f"{each.purpose}:\n  {each.text}\n" in out


def words_after(text, module):
    """The arguments of a printed command, as a shell splits them."""
    python, flag, name, *words = shlex.split(text)
    assert (flag, name) == ("-m", module)
    return python, words


def test_the_printed_commands_work(run, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    config, _ = read_facts(run)
    texts = {each.purpose: each.text for each in next_commands(run, config, config.rules())}

    python, words = words_after(texts["play against it"], "experiments.play")
    assert subprocess.run([python, "-c", "import tollero_env"]).returncode == 0
    with pytest.raises(SystemExit, match="a game is played in a terminal, and this is none"):
        play_main(words)  # which is found out last

    _, words = words_after(texts["put it in the arena"], "experiments.tournament")
    tournament_cli.main([*words, "--games", "2", "--workers", "1", "--out", str(tmp_path / "arena")])
    assert f"net:{run}" in capsys.readouterr().out.replace("\n", " ")
    report = json.loads((tmp_path / "arena" / "report.json").read_text(encoding="utf-8"))
    assert set(report["config"]["agents"]) == {f"net:{run}", *config.baselines}
    assert report["config"]["options"] == config.options

    _, words = words_after(texts["go on training"], "experiments.train")
    cli.main(words)
    assert results(run)["done"] == 2 * config.games


def test_the_printed_python_is_this_one(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "executable", str(tmp_path / ".venv" / "bin" / "python"))
    monkeypatch.chdir(tmp_path)
    assert interpreter() == ".venv/bin/python"
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.setattr("shutil.which", lambda name: str(tmp_path / ".venv" / "bin" / name))
    assert interpreter() == "python"
    monkeypatch.setattr("shutil.which", lambda name: "/somewhere/else")
    assert interpreter() == str(tmp_path / ".venv" / "bin" / "python")


def test_options_and_players_are_in_the_commands():
    config = make_config({"players": 3, "options": {"floors": 2, "downtown_scores": False}})
    play, more, arena = next_commands(Path("runs/x"), config, config.rules())
    assert play.words[-6:] == ("--players", "3", "--option", "floors=2", "--option", "downtown_scores=false")
    assert more.words == ("experiments.train", "--resume", "runs/x", f"games={2 * config.games}")
    assert arena.words[:3] == ("experiments.tournament", "--agents", "net:runs/x")
