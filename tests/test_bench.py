"""The bench: what its rows hold. How fast anything is, no test says."""

import json
import os
import statistics
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from experiments.bench import batch, find_cases, main, measure, pgx_batch
from experiments.bench.cases import UNITS, Case, Done
from experiments.bench.cores import keep_to
from experiments.bench.picture import draw
from experiments.bench.sampling import Sampler
from experiments.bench.tables import print_tables, scaling_cells, table_cells, tables, write_markdown
from experiments.pages import marks

START, END = marks("bench")
ROOT = Path(__file__).parents[1]
QUIET = Console(file=open(os.devnull, "w"))  # noqa: SIM115


@pytest.mark.thorough
def test_the_kernel_rows_are_as_stated(tmp_path):
    """In a process of its own, for the bench keeps to one core."""
    out = tmp_path / "rows.json"
    words = [sys.executable, "-m", "experiments.bench", "--only", "kernel", "--rounds", "2", "--json", str(out)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    rows = json.loads(out.read_text(encoding="utf-8"))
    assert [path.name for path in tmp_path.iterdir()] == ["rows.json"]
    ours = [row for row in rows if row["case"] == "tollero playouts"]
    assert [row["players"] for row in ours] == [2, 3, 4]
    for row in rows:
        assert list(row)[:4] == ["case", "players", "value", "unit"]
        spread, ratios = {"low", "high", "rounds"}, {"peer", "ratio", "ratios"}
        facts = {"talo playouts": {"board"}, "talo moves": {"board", "hand"}}.get(row["case"], set())
        assert set(row) - ratios == {"case", "players", "value", "unit", "group"} | spread | facts
        assert (type(row["case"]), type(row["players"]), type(row["value"])) == (str, int, float)
        assert (row["unit"], row["rounds"]) == ("ms/set" if row["case"] == "talo moves" else "steps/s", 2)
        assert 0 < row["low"] <= row["value"] <= row["high"]
    peers = [row["case"] for row in rows if row["case"].startswith("openspiel")]
    assert peers in ([], ["openspiel hex playouts", "openspiel go playouts"])
    assert all(("ratio" in row) == bool(peers) for row in ours)
    for row in rows:
        assert row["case"] in done.stdout
    talo = [(row["players"], row["board"]) for row in rows if row["case"] == "talo playouts"]
    assert talo == [(players, board) for board in ("green", "islands") for players in (2, 3, 4)]


def counting(calls, name, count, *peers):
    def run():
        calls.append(name)
        return count

    return Case(name, 2, "steps/s", run, peers)


def test_cases_take_turns_and_the_first_call_does_not_count():
    calls = []
    rows = measure([counting(calls, "a", 10.0, "b"), counting(calls, "b", 5.0)], 3, QUIET)
    assert calls == ["a", "b"] * 4
    assert [row["rounds"] for row in rows] == [3, 3]
    assert [row.get("peer") for row in rows] == ["b", None]


def test_a_peer_that_was_not_measured_gives_no_ratio():
    (row,) = measure([counting([], "a", 10.0, "absent")], 2, QUIET)
    assert "ratio" not in row
    assert "peer" not in row


def test_a_figure_is_the_median_and_the_spread_lies_within_what_was_seen(monkeypatch):
    seconds = iter([0, 1, 0, 2, 0, 4, 0, 8, 0, 10])  # start and end of each round
    monkeypatch.setattr("time.perf_counter", lambda: float(next(seconds)))
    (row,) = measure([counting([], "a", 40.0)], 5, Console(file=QUIET.file, force_terminal=False, quiet=True))
    speeds = [40, 20, 10, 5, 4]
    assert row["value"] == statistics.median(speeds) == 10
    assert (row["low"], row["high"]) == (5, 20)


def test_the_table_names_every_case(capsys):
    rows = measure([counting([], "a case", 10.0, "b case"), counting([], "b case", 5.0)], 2, QUIET)
    print_tables(rows, Console(width=200))
    out = capsys.readouterr().out
    assert "a case" in out
    assert out.count("b case") == 2  # as a case, and as a peer


def test_a_ratio_is_the_median_of_those_within_each_round(monkeypatch):
    seconds = iter([0, 1, 0, 2, 0, 2, 0, 8, 0, 4, 0, 4])  # a and b in turns
    monkeypatch.setattr("time.perf_counter", lambda: float(next(seconds)))
    quiet = Console(file=QUIET.file, quiet=True)
    a, _ = measure([counting([], "a", 8.0, "b"), counting([], "b", 8.0)], 3, quiet)
    assert a["ratio"] == 2  # of 2, 4 and 1


def test_microseconds_a_step_are_better_when_fewer(monkeypatch):
    seconds = iter([0, 1, 0, 2] * 2)
    monkeypatch.setattr("time.perf_counter", lambda: float(next(seconds)))
    cases = [case._replace(unit="us/step") for case in (counting([], "a", 4.0, "b"), counting([], "b", 4.0))]
    a, b = measure(cases, 2, Console(file=QUIET.file, quiet=True))
    assert (a["value"], b["value"], a["ratio"]) == (250_000, 500_000, 2)


def test_a_page_gets_the_table_between_its_marks(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{START}\nold\n{END}\nafter\n", encoding="utf-8")
    rows = measure([counting([], "a case", 10.0)], 2, QUIET)
    write_markdown(str(page), rows)
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"before\n{START}\n\n**")
    assert text.endswith(f"|\n\n{END}\nafter\n")
    assert "old" not in text
    write_markdown(str(page), rows)
    assert page.read_text(encoding="utf-8") == text
    page.write_text("no marks", encoding="utf-8")
    with pytest.raises(ValueError, match="marks"):
        write_markdown(str(page), rows)


def test_the_process_gets_its_cores_back():
    cores = os.sched_getaffinity(0)
    with keep_to(1):
        assert len(os.sched_getaffinity(0)) == 1
    assert os.sched_getaffinity(0) == cores
    with pytest.raises(RuntimeError), keep_to(1):
        raise RuntimeError
    assert os.sched_getaffinity(0) == cores


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")
def test_a_case_has_the_cores_it_asks_for():
    seen = []
    case = Case("a", 2, "steps/s", lambda: seen.append(len(os.sched_getaffinity(0))) or 1.0)
    measure([case, case._replace(cores=2)], 2, QUIET)
    assert seen == [1, 2] * 3


@pytest.mark.parametrize("rounds", ["1", "0", "-3"])
def test_too_few_rounds(rounds, capsys):
    with pytest.raises(SystemExit) as caught:
        main(["--rounds", rounds])
    assert caught.value.code == "error: --rounds is at least 2"


def test_an_unknown_group_is_refused(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["--only", "nonsense"])
    assert caught.value.code == 2
    assert "kernel" in capsys.readouterr().err


def test_a_run_may_hold_the_clock_itself():
    cases = [Case("a", 2, unit, lambda: Done(4.0, 2.0)) for unit in UNITS]
    assert [row["value"] for row in measure(cases, 2, QUIET)] == [2, 500_000, 500, 50]


def timed(name, players, seconds, peers=(), **facts):
    return Case(name, players, "steps/s", lambda: Done(12.0, seconds), tuple(peers), facts)


def test_several_peers_and_one_with_as_many_players():
    cases = [timed("a", 3, 1.0, ["b", "absent", "c"]), timed("c", 2, 6.0), timed("b", 2, 2.0), timed("b", 3, 4.0)]
    cases.append(timed("d", 4, 1.0, ["b"]))
    a, *_, d = measure(cases, 2, QUIET)
    assert (a["peer"], a["ratio"], a["ratios"]) == ("b", 4, {"b": 4, "c": 6})
    assert d["ratio"] == 2  # the first of that name


def test_slow_cases_have_fewer_rounds():
    rows = measure([counting([], "a", 1.0, "b"), counting([], "b", 1.0)._replace(max_rounds=2)], 5, QUIET)
    assert [row["rounds"] for row in rows] == [5, 2]
    assert rows[0]["ratio"] > 0


# ---- the group of batches


@pytest.fixture(scope="module")
def batch_cases():
    """Few games, few steps, and no peers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("importlib.util.find_spec", lambda name: None)
        return batch.cases(games=4, sizes=(1, 4), length=lambda players: 24)


def test_every_promised_case_is_there(batch_cases):
    found = {(case.name, case.players) for case in batch_cases}
    for name in ("batch planes", "batch slots", "batch planes out arrays", "batch slots out arrays", "vector"):
        assert {(f"tollero {name}", players) for players in (2, 3, 4)} <= found
    assert {("tollero batch planes sampled", 2), ("tollero batch slots sampled", 2)} <= found
    scaling = [case for case in batch_cases if case.name == "tollero batch slots scaling"]
    assert [(case.facts["games"], case.facts["threads"], case.cores) for case in scaling] == [
        (games, threads, threads) for games in (1, 4) for threads in (1, 2)
    ]
    assert len(found) == len(batch_cases) - len(scaling) + 1  # no name means two things


def test_batch_cases_count_every_decision(batch_cases):
    """Steps of all games; with opponents, more than the learners' own."""
    for case in batch_cases:
        if case.cores == 1:
            done = case.run()
            if case.name.startswith("tollero vector"):
                assert done.number > 24 // case.players * 4
            elif "scaling" in case.name:
                assert done.number == max(24, batch.LEAST // case.facts["games"]) * case.facts["games"]
            else:
                assert (done.number if isinstance(done, Done) else done) == 96


def test_bytes_are_those_of_what_is_handed_out(batch_cases):
    sizes = {(case.name, case.players): case.facts.get("bytes") for case in batch_cases}
    seen = batch.Batch("tollero", 1, 3, encoding="planes").reset(seed=1)
    assert sizes["tollero batch planes", 3] == sum(array.nbytes for array in seen)
    assert sizes["tollero batch planes", 3] == sizes["tollero batch planes out arrays", 3]
    assert all(size > 1180 for (name, _), size in sizes.items() if "scaling" not in name)


def test_without_peers_there_are_none(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert pgx_batch.cases(4) == []


def test_actions_are_drawn_among_the_legal_ones_evenly():
    mask = np.zeros((4000, 1180), np.int8)
    legal = [0, 3, 255, 256, 700, 1179]
    mask[:, legal] = 1
    drawn, counts = np.unique(Sampler(4000)(mask), return_counts=True)
    assert drawn.tolist() == legal
    assert counts.min() > 560  # of 667 on average: four standard deviations
    mask[:] = 1
    assert len(np.unique(Sampler(4000)(mask))) > 1100


@pytest.mark.thorough
def test_pgx_plays_the_same_steps_again():
    """In a process of its own, for jax starts threads and looks at the environment once."""
    pytest.importorskip("pgx")
    code = """
from experiments.bench.cores import keep_to
from experiments.bench import pgx_batch
pgx_batch.GAMES = (("connect_four", "connect four", 60, True),)
with keep_to(1):
    played, sampled = pgx_batch.cases(8)
    assert [case.name for case in (played, sampled)] == ["pgx connect four", "pgx connect four sampled"]
    assert played.run() == sampled.run() == 480
    games = played.run.__self__
    (state, given) = games._recorded
    again, actions = games._play(state, given, False)
    other, drawn = games._play(state, given, True)
    assert (actions == given[0]).all() and (drawn == given[0]).all()  # equal keys draw equal actions
    assert (again.observation == other.observation).all() and len(set(given[0].ravel().tolist())) == 7
    assert played.facts["bytes"] > 42 * 2 + 7
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.thorough
def test_the_share_of_a_learner():
    pytest.importorskip("sb3_contrib")
    from experiments.bench import learner

    case = learner.case(games=4, steps=4)
    assert (case.name, case.unit) == ("maskable ppo env share", "%")
    for _ in range(2):
        done = case.run()
        assert 0 < done.seconds < done.number


# ---- tables and picture


def some_rows():
    def row(case, value, unit="steps/s", players=2, **facts):
        return {"case": case, "players": players, "value": value, "unit": unit, "low": value, "high": value, **facts}

    return [
        row("tollero playouts", 2e7, group="kernel"),
        row("tollero playouts", 3e7, players=3, group="kernel"),
        row("tollero raw aec", 6.0, "us/step", group="aec"),
        row("tollero batch slots", 1.5e6, group="batch", bytes=4807, ratios={"pgx hex": 2.51, "pgx othello": 2.0}),
        row("pgx hex", 6e5, group="batch", bytes=620),
        row("maskable ppo env share", 0.5, "%", group="batch", games=64),
        *(
            row("tollero batch slots scaling", 1e5 * games * threads, group="batch", games=games, threads=threads)
            for games in (1, 4)
            for threads in (1, 2)
        ),
    ]


def test_one_table_a_group_and_no_empty_columns():
    found = list(tables(some_rows()).values())
    assert [len(cells) - 1 for cells in found] == [2, 1, 3, 2]
    assert found[0][0] == ["case", "players", "median", "middle half", "unit"]
    assert found[2][0] == ["case", "players", "median", "middle half", "unit", "bytes/step", "times as fast as"]
    assert found[2][1][-2:] == ["4,807", "2.5 × pgx hex, 2 × pgx othello"]
    assert found[2][3] == ["maskable ppo env share", "2", "0.5", "0.5 to 0.5", "%", "", ""]
    assert found[3] == [
        ["games", "1 thread", "2 threads"],
        ["1", "100 k steps/s", "200 k steps/s"],
        ["4", "400 k steps/s", "800 k steps/s"],
    ]
    assert table_cells(some_rows()[:1])[1][0] == "tollero playouts"
    assert scaling_cells(some_rows()[-1:])[0] == ["games", "2 threads"]


def test_the_picture_names_what_it_shows_and_is_the_same_again(tmp_path):
    path = tmp_path / "bench.svg"
    draw(some_rows(), str(path))
    first = path.read_bytes()
    texts = {"".join(node.itertext()) for node in ET.fromstring(first).iter("{http://www.w3.org/2000/svg}text")}
    assert {"tollero playouts", "tollero raw aec", "tollero batch slots", "pgx hex", "2 threads", "1.5 M"} <= texts
    assert "maskable ppo env share" not in texts
    draw(some_rows(), str(path))
    assert path.read_bytes() == first
    for rows in (some_rows()[:2], some_rows()[3:5], some_rows()[-4:]):
        draw(rows, str(path))
    with pytest.raises(ValueError, match="nothing to draw"):
        draw([], str(path))
    assert [file.name for file in tmp_path.iterdir()] == ["bench.svg"]


def test_every_group_is_a_module(monkeypatch):
    two = [timed("a", 2, 1.0, bytes=3), timed("b", 2, 1.0)._replace(cores=4096)]
    monkeypatch.setattr("experiments.bench.kernel.cases", lambda: two)
    (case,) = find_cases(["kernel"])
    assert case.facts == {"group": "kernel", "bytes": 3}  # nobody has the cores for the other
