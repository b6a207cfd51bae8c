"""The arena: fair to every seat, the same whatever the number of processes, and honest in its intervals."""

import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import tests.arena_agents  # noqa: F401
from experiments.tournament import statistics
from experiments.tournament.cli import main
from experiments.tournament.plan import (
    Job,
    Lineup,
    all_jobs,
    make_config,
    merge,
    one_way,
    orders,
    pairings,
    rotations,
    with_time,
)
from experiments.tournament.play import Result, make_rules, play_game, to_replay
from experiments.tournament.report import make_report, shown_matches, whole_deals
from experiments.tournament.store import read_config, read_results
from tollero_env import opponents
from tollero_env.game import MoveError, OptionError, get_rules
from tollero_env.position import Position
from tollero_env.replay import load, read

ROOT = Path(__file__).parents[1]
MODULE = ["--module", "arena_agents"]  # in their processes `tests` may be another package
SHORT = ["--option", "floors=4"]  # games of about a dozen decisions


@pytest.fixture(autouse=True)
def small_agents(monkeypatch):
    """Their module can be imported by name, here and in processes that play."""
    monkeypatch.syspath_prepend(ROOT / "tests")


def run(capsys, *args):
    """Exit code, stdout and stderr of a command; Python prints a text that it exits with."""
    try:
        main([str(arg) for arg in args])
        code = 0
    except SystemExit as stop:
        code = stop.code
    out, err = capsys.readouterr()
    return (1, out, f"{err}{code}\n") if isinstance(code, str) else (code or 0, out, err)


def games_of(out):
    """What a run's games were, without how long they took."""
    return [result._replace(seconds=[], slowest=[]) for result in read_results(out)]


def config_for(players, agents, games=12, seed=1):
    lineups = [Lineup(seats=seats, games=games) for seats in pairings(agents, players)]
    return make_config(get_rules("tollero", players, floors=4), {"floors": 4}, lineups, seed)


def game(seats, outcome, deal=0, scores=None):
    """A game that nobody played."""
    zeros = [0.0] * len(seats)
    return Result(deal, 0, seats, [], [1] * len(seats), zeros, zeros, scores or [0] * len(seats), outcome)


# ---------------------------------------------------------------- the plan


@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_agent_of_a_line_up_holds_every_seat_equally_often_on_the_same_deals(players):
    config = config_for(players, ["random", "t-first", "t-points", "t-points:sign=-1"])
    jobs = all_jobs(config)
    assert len(set(jobs)) == len(jobs) == 12 * len(config.lineups)
    for lineup in config.lineups:
        own = [job for job in jobs if sorted(job.seats) == sorted(lineup.seats)]
        held = Counter((seat, name) for job in own for seat, name in enumerate(job.seats))
        for name in set(lineup.seats):
            assert {held[seat, name] for seat in range(players)} == {12 * lineup.seats.count(name) // players}
        for deal in range(12 // players):
            seatings = [job.seats for job in own if job.deal == deal]
            assert sorted(seatings) == sorted(rotations(seatings[0]))
    assert len({job.seed for job in jobs}) == len({job.deal for job in jobs}) == 12 // players


def test_who_meets_whom():
    assert pairings(["a", "b", "c"], 2) == [("a", "b"), ("a", "c"), ("b", "c")]
    three = pairings(["a", "b", "c"], 3)
    assert three == [(x, y, y) for x, y in itertools.permutations("abc", 2)] + [("a", "b", "c")]
    assert pairings(["a", "b"], 4) == [("a", "b", "b", "b"), ("b", "a", "a", "a")]


def test_deals_take_the_orders_round_the_table_in_turn():
    assert orders(("a", "b", "b")) == [("a", "b", "b")]
    assert orders(("c", "b", "a")) == [("a", "b", "c"), ("a", "c", "b")]
    assert len(orders(("a", "b", "c", "d"))) == 6
    lineup = Lineup(seats=("random", "t-first", "t-points"), games=12)
    jobs = all_jobs(make_config(get_rules("tollero", 3), {}, [lineup], 1))
    follows = Counter((job.seats[seat - 1], job.seats[seat]) for job in jobs for seat in range(3))
    assert set(follows.values()) == {6}


def test_line_ups_go_on_side_by_side_and_count_once():
    lineups = [Lineup(seats=("random", "t-first"), games=8), Lineup(seats=("t-first", "t-points"), games=4)]
    jobs = all_jobs(make_config(get_rules("tollero", 2), {}, lineups, 1))
    assert [(job.deal, "random" in job.seats) for job in jobs[::2]] == [
        (0, True), (0, False), (1, True), (2, True), (1, False), (3, True)
    ]  # fmt: skip
    assert merge([*lineups, Lineup(seats=("t-first", "random"), games=20)])[0].games == 20


def test_time_goes_to_those_who_take_it():
    assert with_time("t-first", 50) == "t-first:ms=50"
    assert with_time("t-first:ms=7", 50) == "t-first:ms=7"
    assert with_time("random", 50) == "random"
    assert with_time("t-points:sign=-1", 50) == "t-points:sign=-1"


# ---------------------------------------------------------------- playing


def test_agents_see_what_their_seats_may_know_and_no_more(monkeypatch):
    seen = []

    class Spy:
        def __init__(self):
            self.seats = set()

        def act(self, position, seed):
            self.seats.add(position.player)
            assert len(self.seats) == 1  # an agent of its own for each seat
            with pytest.raises(MoveError):
                position.undo()
            with pytest.raises(ValueError, match="does not know"):
                position.to_replay()
            seen.append((position.copy(), seed))
            return position.moves()[seed % len(position.moves())]

    monkeypatch.setitem(opponents._FACTORIES, "spy", Spy)
    rules = get_rules("tollero", 3)
    result = play_game(rules, Job(0, 99, ("spy", "spy", "spy")))
    again, seen = seen, []
    assert play_game(rules, Job(0, 99, ("spy", "spy", "spy"))).moves == result.moves
    truth, different = Position.new(rules, 99), 0
    for (view, seed), (same, _), move in zip(again, seen, result.moves):
        assert view == same
        assert view.hidden_from(truth.player, 5) == truth.hidden_from(truth.player, 5)  # all that it may know is right
        assert view.states["rng"] != truth.states["rng"]
        assert view.history() == truth.history()
        assert seed not in (99, one_way(99, truth.ply, "draw"))
        own, shown = truth.states["hand"][0], view.states["hand"][0]
        assert shown[truth.player] == own[truth.player]
        different += shown.tolist() != own.tolist()
        truth.play(move)
    assert different > len(result.moves) / 2
    assert (truth.over, truth.scores(), truth.outcome()) == (True, result.scores, result.outcome)
    assert sum(result.decisions) == len(result.moves) == len(again)


def test_results_do_not_depend_on_processes_or_interruptions(tmp_path, capsys):
    words = ["--agents", "random", "t-first", "t-points", "--players", 3, "--games", 5, *MODULE, *SHORT]
    one, two, three = (tmp_path / name for name in ("one", "two", "three"))
    code, out, err = run(capsys, *words, "--workers", 1, "--out", one)
    assert (code, err) == (0, "")
    assert "7 line-ups of 3, 42 games (rounded up from 35 to whole deals)" in out
    assert run(capsys, *words, "--workers", 2, "--out", two)[0] == 0
    assert len(games_of(one)) == 42
    assert games_of(one) == games_of(two)

    three.mkdir()  # as a killed process leaves it
    shutil.copy(one / "config.json", three)
    lines = (one / "games.jsonl").read_bytes().splitlines(keepends=True)
    (three / "games.jsonl").write_bytes(b"".join(lines[5:17]) + lines[20][:50])
    assert "holds a run already" in run(capsys, *words, "--out", three)[2]
    code, out, _ = run(capsys, *words, "--workers", 1, "--out", three, "--resume")
    assert (code, "42 games (rounded up from 35 to whole deals), 12 of them played" in out) == (0, True)
    assert len((three / "games.jsonl").read_bytes().splitlines()) == 42
    assert games_of(three) == games_of(one)
    same = [json.loads((out / "report.json").read_text()) for out in (one, three)]
    assert all(report.pop("times") for report in same)
    assert same[0] == same[1]

    for other in (["--seed", 2], ["--option", "downtown_scores=false"], ["--games", 9]):
        code, _, err = run(capsys, *words, "--out", three, "--resume", *other)
        assert (code, err.count("\n"), "was begun with" in err) == (1, 1, True)
    (three / "games.jsonl").write_text("{}\n")
    assert "games.jsonl: line 1 is no game" in run(capsys, "report", three)[2]


@pytest.mark.parametrize(
    ("how", "message", "workers"),
    [
        ("raise", "RuntimeError: out of ideas", 1),
        ("raise", "RuntimeError: out of ideas", 2),
        ("far", "is no move", 1),
        ("text", "MoveError", 1),
    ],
)
def test_a_failing_agent_is_named_and_finished_games_are_kept(tmp_path, capsys, how, message, workers):
    lineups = ["--lineup", "t-first t-first", "--lineup", f"t-first t-faulty:how={how}"]
    words = [*lineups, "--games", 4, *MODULE, "--workers", workers]
    code, _, err = run(capsys, *words, "--out", tmp_path)
    assert (code, err.count("\n")) == (1, 1)
    assert re.search(rf"agent 't-faulty:how={how}' in seat [01] of deal [01] \(t-f\S+ t-f\S+\), ply \d+: ", err)
    assert message in err
    assert "Traceback" in (tmp_path / "error.txt").read_text()
    if workers == 1:
        assert [result.seats for result in read_results(tmp_path)] == [("t-first", "t-first")]


def in_foreground(module):
    """A command that Ctrl-C stops: shells let their background jobs ignore it, and children inherit that."""
    code = "import runpy, signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    return [sys.executable, "-c", f"{code}runpy.run_module(sys.argv.pop(1), run_name='__main__')", module]


def children_of(pid):
    """The processes that one has started, where the system tells."""
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return path.read_text().split() if path.exists() else []


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes() != b""  # it is empty for what has ended
    except OSError:
        return False


def test_ctrl_c_keeps_finished_games(tmp_path):
    out = tmp_path / "run"
    words = ["--lineup", "t-first:ms=3 random", "--games", "100000", "--workers", "2", "--out", str(out), *MODULE]
    how = {"cwd": ROOT, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    how["env"] = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    with subprocess.Popen([*in_foreground("experiments.tournament"), *words], **how) as process:
        try:
            deadline = time.monotonic() + 60
            games = out / "games.jsonl"
            while not (games.exists() and games.stat().st_size) and time.monotonic() < deadline:
                time.sleep(0.05)
            children = children_of(process.pid)
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does: every process of the group
            _, stderr = process.communicate(timeout=30)
        finally:
            process.kill()
    kept = len(read_results(out))
    assert process.returncode == 130
    assert stderr == f"{kept} of 100000 games are kept in {out}; --resume goes on with them\nstopped\n"
    assert kept > 0
    while any(map(is_running, children)):
        assert time.monotonic() < deadline + 30
        time.sleep(0.05)


def test_a_line_gives_the_whole_game_back(tmp_path, capsys):
    out, replays = tmp_path / "run", tmp_path / "replays.jsonl"
    words = ["--lineup", "random t-first", "--games", 4, "--workers", 1, *MODULE, *SHORT]
    assert run(capsys, *words, "--out", out)[0] == 0
    assert run(capsys, "replays", out, replays)[:2] == (0, f"{replays}: 4 games of Tollero\n")
    for (_, data), result in zip(read(replays), read_results(out), strict=True):
        replay = load(data)
        assert (replay.moves, data["scores"]) == (result.moves, result.scores)
        assert data["meta"]["seats"] == list(result.seats)
        assert data == json.loads(json.dumps(to_replay(make_rules(read_config(out)), result)))
    assert run(capsys, "replays", out, replays, "--deal", 1)[1] == f"{replays}: 2 games of Tollero\n"
    assert run(capsys, "replays", out, replays, "--deal", 7)[0] == 1


# ---------------------------------------------------------------- statistics


def test_an_interval_covers_and_is_by_deals():
    """Both games of a deal end alike, so that games are twice as many as what was learnt."""
    rng = np.random.default_rng(5)
    covered, by_deals, by_games = 0, [], []
    for _ in range(150):
        deals = (rng.random((60, 1)) < 0.6).astype(float)
        (estimate,) = statistics.estimate_means(deals)
        covered += estimate.low <= 0.6 <= estimate.high
        (narrow,) = statistics.estimate_means(np.repeat(deals, 2, axis=0))
        by_deals.append(estimate.high - estimate.low)
        by_games.append(narrow.high - narrow.low)
    assert 0.89 <= covered / 150 <= 0.99
    assert np.mean(by_deals) / np.mean(by_games) == pytest.approx(2**0.5, rel=0.05)


def test_the_report_resamples_deals():
    results = []
    for deal in range(100):  # one deal in two is won by a, from both seats
        share = float(deal % 2)
        results += [game(("random", "t-first"), [share, 1 - share], deal)]
        results += [game(("t-first", "random"), [1 - share, share], deal)]
    report = make_report(config_for(2, ["random", "t-first"], 200), results)
    share = report["matches"][0]["share"]
    assert share["high"] - share["low"] == pytest.approx(2 * 1.96 * 0.5 / 100**0.5, rel=0.15)
    assert make_report(config_for(2, ["random", "t-first"], 200), results) == report


def test_resampling_keeps_the_size_of_each_stratum_and_runs_in_parts(monkeypatch):
    values = np.array([[1.0, 1.0]] * 30 + [[0.0, 1.0]] * 10)
    strata = np.array([0] * 30 + [1] * 10)
    assert np.array_equal(statistics.resampled_sums(values, strata, 50), [[30, 40]] * 50)
    free = statistics.resampled_sums(values, None, 500)
    assert set(free[:, 1]) == {40}
    assert free[:, 0].std() > 2
    monkeypatch.setattr(statistics, "CHUNK", 100)
    assert np.array_equal(statistics.resampled_sums(values, None, 500), free)


def test_a_perfect_record_has_an_honest_interval():
    sure = statistics.estimate_share(statistics.Estimate(1, 1, 1), 10)
    assert (sure.value, sure.high) == (1, 1)
    assert sure.low**10 == pytest.approx(0.025)
    none = statistics.estimate_share(statistics.Estimate(0, 0, 0), 10)
    assert (none.value, none.low, none.high) == (0, 0, pytest.approx(1 - sure.low))
    half = statistics.Estimate(0.5, 0.5, 0.5)
    assert statistics.estimate_share(half, 10) == half


def test_ties_are_fractions():
    results = [game(("random", "t-first"), [0.5, 0.5]), game(("t-first", "random"), [0.0, 1.0])]
    report = make_report(config_for(2, ["random", "t-first"]), results)
    shares = {row["agent"]: row["share"]["value"] for row in report["matches"]}
    assert shares == {"random": 0.75, "t-first": 0.25}
    assert report["head_to_head"] == [[None, 0.75], [0.25, None]]
    wins = statistics.comparisons([game(("a", "b", "b"), [0.5, 0.5, 0.0])], ["a", "b"])
    assert wins.tolist() == [[0, 1], [0.5, 0]]


def test_margin_seats_and_times_are_as_played():
    results = [
        game(("random", "t-first", "t-first"), [1.0, 0.0, 0.0], scores=[10, 4, 2])._replace(
            decisions=[2, 1, 1], seconds=[0.5, 0.1, 0.1], slowest=[0.4, 0.1, 0.1]
        ),
        game(("t-first", "random", "t-first"), [1.0, 0.0, 0.0], scores=[9, 3, 3]),
        game(("t-first", "t-first", "random"), [0.0, 0.0, 1.0], scores=[0, 0, 6]),
    ]
    unfinished = game(("random", "t-first", "t-first"), [1.0, 0.0, 0.0], deal=1)
    config = config_for(3, ["random", "t-first"])
    report = make_report(config, [*results, unfinished])
    assert (report["games"], report["unused"], report["deals"]) == (3, 1, 1)
    (row,) = shown_matches(report)
    assert (row["agent"], row["against"], row["games"]) == ("random", ["t-first", "t-first"], 3)
    assert row["times_fair"]["value"] == pytest.approx(2)
    assert row["margin"]["value"] == pytest.approx((7 - 3 + 6) / 3)
    everyone, *by_agent = report["seats"]
    assert [share["value"] for share in everyone["shares"]] == pytest.approx([2 / 3, 0, 1 / 3])
    assert [share["value"] for share in by_agent[0]["shares"]] == [1, 0, 1]
    times = report["times"][0]
    assert (times["decisions"], times["mean_ms"], times["max_ms"]) == (4, 125, 400)
    assert whole_deals([unfinished]) == {}


@pytest.mark.parametrize("players", [2, 3, 4])
def test_ratings_find_the_weights_that_made_the_games(players):
    weights = {"random": 1.0, "t-first": 3.0, "t-points": 10.0, "t-points:sign=-1": 0.5}
    rng, results = np.random.default_rng(players), []
    config = config_for(players, list(weights), 120 * players)
    for job in all_jobs(config):
        chances = np.array([weights[name] for name in job.seats])
        winner = rng.choice(players, p=chances / chances.sum())
        results.append(game(job.seats, [float(seat == winner) for seat in range(players)], job.deal))
    report = make_report(config, results, "random")
    ratings = {row["agent"]: row["rating"] for row in report["ratings"]}
    assert list(ratings) == ["t-points", "t-first", "random", "t-points:sign=-1"]
    for name, weight in weights.items():
        true = 400 * np.log10(weight)
        assert ratings[name]["value"] == pytest.approx(true, abs=60)
        assert ratings[name]["low"] - 15 <= true <= ratings[name]["high"] + 15
        assert ratings[name]["high"] - ratings[name]["low"] < 160
    skills = {row["agent"]: row["openskill"]["mu"] for row in report["ratings"]}
    assert skills["t-points"] > skills["t-first"] > skills["t-points:sign=-1"]


def test_a_perfect_record_has_a_rating_that_is_called_a_bound():
    results = [game(seats, [float(name == "t-first") for name in seats], deal)
               for deal in range(50) for seats in rotations(("random", "t-first"))]  # fmt: skip
    report = make_report(config_for(2, ["random", "t-first"], 100), results)
    best, worst = report["ratings"]
    assert (best["agent"], best["bound"], worst["bound"]) == ("t-first", "lower", "none")
    assert best["rating"]["value"] == pytest.approx(400 * np.log10(100.5 / 0.5), abs=1)


# ---------------------------------------------------------------- the command line


def test_all_files_of_a_report_are_there_and_parse(tmp_path, capsys):
    out = tmp_path / "run"
    words = ["--agents", "t-points", "random", "t-points:sign=-1", "--games", 6, "--workers", 1, *MODULE, *SHORT]
    code, shown, _ = run(capsys, *words, "--out", out, "--anchor", "random")
    assert code == 0
    assert {path.name for path in out.iterdir()} == {
        "config.json", "games.jsonl", "report.json", "report.md", "report.svg"
    }  # fmt: skip
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert [row["agent"] for row in report["ratings"]] == ["t-points", "random", "t-points:sign=-1"]
    assert ET.parse(out / "report.svg").getroot().tag.endswith("svg")
    page = (out / "report.md").read_text(encoding="utf-8")
    for heading in ("Ratings", "Matches", "Head to head", "Seats", "Time"):
        assert f"## {heading}\n\n|" in page
    assert "t-points:sign=-1" in shown
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert run(capsys, "report", out, "--anchor", "random")[0] == 0
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    line = json.loads((out / "games.jsonl").read_text().splitlines()[0])
    assert list(line) == [
        "deal", "seed", "seats", "moves", "decisions", "seconds", "slowest", "scores", "outcome"
    ]  # fmt: skip


def test_a_curve_is_drawn(tmp_path, capsys):
    words = ["--agent", "t-first:ms={}", "--values", "0", "1", "2", "--against", "random", "--games", 2]
    assert run(capsys, "curve", *words, "--workers", 1, "--out", tmp_path, *MODULE, *SHORT)[0] == 0
    curve = json.loads((tmp_path / "curve.json").read_text(encoding="utf-8"))
    assert [(point["value"], point["agent"]) for point in curve["points"]] == [
        (value, f"t-first:ms={value}") for value in "012"
    ]
    assert ET.parse(tmp_path / "curve.svg").getroot().tag.endswith("svg")
    assert (tmp_path / "curve.md").read_text(encoding="utf-8").count("\n| `t-first:ms=") == 3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--agents", "random"], "at least two"),
        ([], "--agents or --lineup"),
        (["--agents", "random", "t-first", "--lineup", "random random"], "--agents or --lineup"),
        (["--agents", "random", "random"], "named twice"),
        (["--agents", "t-first", "t-first:ms=5", "--ms", "5"], "named twice"),
        (["--agents", "random", "nobody"], "agent 'nobody' is not known"),
        (["--agents", "random", "t-first:x=1"], "t-first:x=1"),
        (["--agents", "random", "t-first", "--games", "0"], "--games is at least 1"),
        (["--agents", "random", "t-first", "--workers", "0"], "--workers is at least 1"),
        (["--agents", "random", "t-first", "--seed", "-1"], "--seed"),
        (["--agents", "random", "t-first", "--players", "7"], "players"),
        (["--agents", "random", "t-first", "--game", "chess"], "chess"),
        (["--agents", "random", "t-first", "--anchor", "nobody"], "--anchor"),
        (["--agents", "random", "t-first", "--module", "no.such"], "no.such"),
        (["--agents", "random", "t-first", "--option", "x=1"], "x"),
        (["--lineup", "random random random"], "3 agents for 2 seats"),
        (["report"], "config.json: cannot be read"),
        (["curve", "--agent", "t-first", "--values", "1", "--against", "random"], "{}"),
        (["curve", "--agent", "t-first:ms={}", "--values", "x", "--against", "random"], "'x' is not a number"),
    ],
)
def test_what_cannot_be_done_is_one_clear_line(tmp_path, capsys, words, message):
    where = [tmp_path / "run"] if words == ["report"] else ["--out", tmp_path / "run"]
    code, _, err = run(capsys, *words, *where)
    assert (code, err.count("\n")) == (1, 1)
    assert message in err
    assert not (tmp_path / "run" / "games.jsonl").exists()


def test_nobody_is_compared_with_nobody():
    rules = get_rules("tollero", 2)._replace(players=1)
    with pytest.raises(OptionError, match="nobody else plays"):
        make_config(rules, {}, [Lineup(seats=("random",), games=1)], 1)


def test_resume_needs_to_be_told_what(capsys):
    assert "--resume needs --out" in run(capsys, "--agents", "random", "t-first", "--resume")[2]
