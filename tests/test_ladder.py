"""The ladder: one command plays the field and remakes the table in a page."""

import json
from pathlib import Path

import pytest

import tests.arena_agents  # noqa: F401
from experiments.ladder import CONFIGS, main, make_runs, read_standing
from experiments.tournament.plan import all_jobs
from tollero_env.game import get_game

FIELD = """
yardstick: random
quick:
  - {players: 2, games: 4, agents: [t-points, random]}
  - {players: 3, games: 3, lineups: [[t-points, random, random], [t-first, t-points, random]]}
full:
  - {players: 2, games: 100, agents: [t-points, random]}
"""


@pytest.fixture
def run(tmp_path, capsys):
    """A ladder with a small field: exit code, stdout and stderr."""
    config = tmp_path / "field.yaml"
    config.write_text(FIELD, encoding="utf-8")

    def call(*args):
        try:
            main(["--config", str(config), "--workers", "1", *map(str, args)])
            code = 0
        except SystemExit as stop:
            code = stop.code
        out, err = capsys.readouterr()
        return (1, out, f"{err}{code}\n") if isinstance(code, str) else (code or 0, out, err)

    return call


def test_the_table_in_a_page_is_remade(tmp_path, run):
    out, page = tmp_path / "out", tmp_path / "page.md"
    page.write_text("before\n<!-- ladder tollero -->\nold\n<!-- /ladder tollero -->\nafter\n", encoding="utf-8")
    code, _, err = run("--quick", "--out", out, "--markdown", page)
    assert (code, err) == (0, "")
    text = page.read_text(encoding="utf-8")
    assert text.startswith(
        "before\n<!-- ladder tollero -->\n| players | agent | rating | 95% | wins against `random` |"
    )
    assert text.endswith("|\n<!-- /ladder tollero -->\nafter\n")
    assert (out / "ladder.md").read_text(encoding="utf-8") in text
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith(("| 2", "| 3"))]
    assert sorted(row[:2] for row in rows) == [
        ["2", "`random`"], ["2", "`t-points`"], ["3", "`random`"], ["3", "`t-first`"], ["3", "`t-points`"]
    ]  # fmt: skip
    best = rows[0]
    assert best[1] == "`t-points`"
    assert best[4:9] == ["100.0%", "15.8% to 100.0%", "2.00", "0.32 to 2.00", "4"]

    data = json.loads((out / "ladder.json").read_text(encoding="utf-8"))
    assert (data["form"], data["yardstick"]) == ("quick", "random")
    assert [report["config"]["players"] for report in data["reports"]] == [2, 3]
    assert {path.name for path in out.iterdir()} == {"2p", "3p", "ladder.json", "ladder.md"}
    assert (out / "3p" / "report.svg").exists()

    assert "holds a run already" in run("--quick", "--out", out)[2]
    (out / "3p" / "config.json").unlink()
    (out / "3p" / "games.jsonl").unlink()  # as if it had been stopped before
    assert run("--quick", "--out", out, "--resume")[0] == 0
    again = json.loads((out / "ladder.json").read_text(encoding="utf-8"))
    for one, other in zip(data["reports"], again["reports"]):
        assert {**one, "times": 0} == {**other, "times": 0}


def test_missing_marks_are_found_before_anybody_plays(tmp_path, run):
    page = tmp_path / "page.md"
    page.write_text("nothing\n", encoding="utf-8")
    code, out, err = run("--quick", "--out", tmp_path / "out", "--markdown", page)
    assert (code, out, err.count("\n"), "<!-- ladder tollero -->" in err) == (1, "", 1, True)
    assert not (tmp_path / "out").exists()
    assert page.read_text(encoding="utf-8") == "nothing\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[", "no YAML"),
        ("", "file"),
        (FIELD.replace("yardstick: random", "yardstick: t-first"), "does not play with 2 players"),
        (FIELD.replace("games: 4", "games: 0"), "quick.0.games"),
        (FIELD.replace("games: 4", "x: 4"), "quick.0"),
        (FIELD.replace("agents: [t-points, random]}", "agents: []}"), "agents or lineups"),
        (FIELD.replace("t-points, random]}", "t-points, nobody]}"), "nobody"),
        (FIELD.replace("players: 2", "players: 9"), "players"),
    ],
)
def test_a_field_that_cannot_be_played_is_one_clear_line(tmp_path, run, text, message):
    config = tmp_path / "bad.yaml"
    config.write_text(text, encoding="utf-8")
    code, _, err = run("--quick", "--out", tmp_path / "out", "--config", config)
    assert (code, err.count("\n")) == (1, 1)
    assert message in err
    assert not (tmp_path / "out").exists()


def test_a_game_without_a_field_is_named(tmp_path, capsys):
    with pytest.raises(SystemExit, match=r"absent.yaml: cannot be read"):
        main(["--config", str(tmp_path / "absent.yaml")])
    with pytest.raises(SystemExit, match="chess"):
        main(["--game", "chess"])


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*-ladder.yaml")), ids=lambda path: path.stem)
def test_shipped_fields_can_be_played(path: Path):
    import agents  # noqa: F401

    standing = read_standing(path)
    for events in (standing.quick, standing.full):
        game = path.stem.removesuffix("-ladder")
        runs = make_runs(game, events, 1)
        assert [run.players for run in runs] == list(get_game(game).players)
        assert all(standing.yardstick in run.agents and all_jobs(run) for run in runs)
