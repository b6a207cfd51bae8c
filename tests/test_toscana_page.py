"""The page of Toscana's rules: its example is a match, its numbers are those that code and tests cite."""

import json
import random
import re
from pathlib import Path

import pytest

from experiments.replay import draw_game, play_game
from experiments.replay import main as replay_main
from tollero_env import new_game
from tollero_env.game import get_game, get_rules
from tollero_env.opponents import make_agent
from tollero_env.position import Position
from tollero_env.replay import load
from tollero_env.rng import derive

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "rules" / "toscana.md").read_text(encoding="utf-8")
RULES = {f"{letter}{n}" for letter, last in (("M", 3), ("R", 7), ("T", 2)) for n in range(1, last + 1)}
PICTURE_SEED = 4
EXAMPLE = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)[0]


def test_every_rule_is_stated_once_and_in_order():
    stated = re.findall(r"^\*\*([A-Z]\d)\*\* ", PAGE, re.MULTILINE)
    assert stated == [*sorted(rule for rule in RULES if rule[0] == "M"), *sorted(RULES - {"M1", "M2", "M3"})]


def test_code_and_tests_cite_only_rules_that_are_there():
    files = [*(ROOT / "tollero_env" / "games" / "toscana").rglob("*.py"), ROOT / "tests" / "reference" / "toscana.py"]
    files += (ROOT / "tests").glob("test_toscana_*.py")
    cited = {rule for path in files for rule in re.findall(r"\b([MRT]\d)\b", path.read_text(encoding="utf-8"))}
    assert len(cited) > 9
    assert cited <= RULES


def test_rulings_are_marked_and_listed():
    text, table = PAGE.split("## All rulings")
    marked = []
    for part in re.split(r"\n\n(?=\*\*[A-Z]\d\*\* )|\n## ", text):
        if rule := re.match(r"\*\*([A-Z]\d)\*\* ", part):
            marked += [rule[1]] * part.count("**Ruling:**")
    listed = re.findall(r"^\| ([A-Z]\d) \| ", table, re.MULTILINE)
    assert marked == listed


def test_the_example_is_a_match(tmp_path, capsys):
    path = tmp_path / "example.json"
    path.write_text(EXAMPLE, encoding="utf-8")
    replay_main(["verify", str(path)])
    assert capsys.readouterr().out == f"{path}: 1 game verified\n"


def test_the_picture_of_its_end_is_its_end():
    replay = load(json.loads(EXAMPLE))
    board = Position(replay.rules, replay.end).show().split("\n\n")[0].rstrip("\n")
    assert f"```\n{board}\n```" in PAGE


def test_every_option_is_there():
    table = PAGE[PAGE.index("## Options") : PAGE.index("## Moves as text")]
    assert re.findall(r"^\| `(\w+)` \| ", table, re.MULTILINE) == list(get_game("toscana").defaults)


@pytest.mark.parametrize("text", [*re.findall(r"^\| `((?:place|veto|allow)[^`]*)` \| ", PAGE, re.MULTILINE)])
def test_the_moves_of_the_page_are_moves(text):
    position = new_game("toscana", seed=1)
    assert position.text(position.parse(text)) == text
    assert "`PLACE 8 7 R1`" in PAGE
    assert position.parse("PLACE 8 7 R1") == position.parse("place (8,7) r1")


def test_the_picture_is_up_to_date(tmp_path):
    """The end of a match of random moves: `replay make --game toscana`, then `replay show --svg`."""
    path, now = ROOT / "docs" / "pictures" / "toscana.svg", tmp_path / "now.svg"
    replay = load(play_game(get_rules("toscana"), make_agent("random"), derive(PICTURE_SEED, 0)))
    draw_game(replay, 1, "svg", str(now))
    assert path.read_text(encoding="utf-8") == now.read_text(encoding="utf-8")
    assert f"(../{path.relative_to(ROOT / 'docs').as_posix()})" in PAGE


@pytest.mark.parametrize("anchor", re.findall(r"\]\(#([\w-]+)\)", PAGE))
def test_links_within_the_page_lead_somewhere(anchor):
    headings = [line.lstrip("# ").lower().replace(" ", "-") for line in PAGE.splitlines() if line.startswith("#")]
    assert anchor in headings


def test_random_matches_end_within_what_the_page_says():
    position, draw = new_game("toscana", seed=2), random.Random(1)
    while not position.over:
        position.play(draw.choice(position.moves()))
    assert position.outcome()[0] == (position.scores()[0] > position.scores()[1]) or len(set(position.scores())) == 1
