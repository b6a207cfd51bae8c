"""The bench: what its rows hold. How fast anything is, no test says."""

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from experiments.bench import END, START, main, measure, one_core, print_table, write_markdown
from experiments.bench.cases import Case

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
        assert set(row) <= {"case", "players", "value", "unit", "low", "high", "rounds", "peer", "ratio"}
        assert (type(row["case"]), type(row["players"]), type(row["value"])) == (str, int, float)
        assert (row["unit"], row["rounds"]) == ("steps/s", 2)
        assert 0 < row["low"] <= row["value"] <= row["high"]
    peers = [row["case"] for row in rows if row["case"].startswith("openspiel")]
    assert peers in ([], ["openspiel hex playouts", "openspiel go playouts"])
    assert all(("ratio" in row) == bool(peers) for row in ours)
    for row in rows:
        assert row["case"] in done.stdout


def counting(calls, name, count, peer=""):
    def run():
        calls.append(name)
        return count

    return Case(name, 2, "steps/s", run, peer)


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
    print_table(rows, Console(width=200))
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
    assert text.startswith(f"before\n{START}\n| case |")
    assert text.endswith(f"|\n{END}\nafter\n")
    assert "old" not in text
    write_markdown(str(page), rows)
    assert page.read_text(encoding="utf-8") == text
    page.write_text("no marks", encoding="utf-8")
    with pytest.raises(ValueError, match="marks"):
        write_markdown(str(page), rows)


def test_the_process_gets_its_cores_back():
    cores = os.sched_getaffinity(0)
    with one_core():
        assert len(os.sched_getaffinity(0)) == 1
    assert os.sched_getaffinity(0) == cores


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
