"""The page of rules: its example is a game, its picture is the set, its numbers are those that code and tests cite."""

import json
import re
from pathlib import Path

import pytest

from experiments.replay import main as replay_main
from experiments.tileset import set_svg
from tollero_env import new_game
from tollero_env.game import get_game
from tollero_env.games.tollero.tiles import load_tileset, parse_tileset
from tollero_env.position import Position
from tollero_env.replay import load

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "rules" / "tollero.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", PAGE, re.DOTALL)
RULES = {f"{letter}{n}" for letter, last in (("M", 5), ("S", 5), ("E", 4), ("B", 4), ("D", 1), ("F", 5)) for n in range(1, last + 1)}  # fmt: skip # noqa: E501
EXAMPLE = next(text for kind, text in BLOCKS if kind == "json")


def test_every_rule_is_stated_once_and_in_order():
    stated = re.findall(r"^\*\*([A-Z]\d)\*\* ", PAGE, re.MULTILINE)
    assert len(stated) == len(set(stated))
    assert set(stated) == RULES
    assert [rule for rule in stated if rule[0] == "F"] == ["F1", "F2", "F3", "F4", "F5"]


def test_code_and_tests_cite_only_rules_that_are_there():
    files = [*(ROOT / "tollero_env" / "games" / "tollero").rglob("*.py"), ROOT / "tests" / "reference" / "tollero.py"]
    cited = {rule for path in files for rule in re.findall(r"\b([MSEBDF]\d)\b", path.read_text(encoding="utf-8"))}
    tiles = {"D1", "D2", "D3", "D4"}
    assert len(cited) > 15
    assert cited - tiles <= RULES


def test_rulings_are_marked_and_listed():
    text, table = PAGE.split("## All rulings")
    marked = set()
    for part in re.split(r"\n\n(?=\*\*[A-Z]\d\*\* )|\n## ", text):
        if "**Ruling:**" in part and (rule := re.match(r"\*\*([A-Z]\d)\*\* ", part)):
            marked.add(rule[1])
    listed = re.findall(r"^\| ([A-Z]\d|Tile sets) \| ", table, re.MULTILINE)
    assert marked == set(listed) - {"Tile sets"} == {"M2", "M3", "M4", "M5", "S1", "S2", "S5", "E4", "B4", "F1", "F3"}
    assert PAGE.count("**Ruling:** ") == len(listed)


def test_the_example_is_a_game(tmp_path, capsys):
    path = tmp_path / "example.json"
    path.write_text(EXAMPLE, encoding="utf-8")
    replay_main(["verify", str(path)])
    assert capsys.readouterr().out == f"{path}: 1 game verified\n"
    assert json.loads(EXAMPLE)["scores"] == [9, 5]


def test_the_picture_of_its_end_is_its_end():
    replay = load(json.loads(EXAMPLE))
    city = Position(replay.rules, replay.end).show().split("\n\n")[0]
    assert f"```\n{city}\n```" in PAGE


def test_the_tile_set_of_the_page_can_be_read():
    """It has one Downtown and two City tiles where a set has four and 54; the others are filled in."""
    (text,) = (text for kind, text in BLOCKS if kind == "toml")
    downtown = text[text.index("[[downtown]]") : text.index("[[city]]")]
    text += "".join(downtown.replace("D1", f"D{number}") for number in (2, 3, 4))
    text += '[[city]]\nid = "C02"\ncopies = 52\nvalue = 2\ncanals = "NS"\n'
    tiles = parse_tileset(text, "page")
    assert (tiles.name, tiles.contract.value, tiles.city[0].copies) == ("my-tiles", 0, 2)


def test_the_picture_of_the_set_is_up_to_date():
    """python -m experiments.tileset draw reconstruction docs/pictures/reconstruction.svg"""
    path = ROOT / "docs" / "pictures" / "reconstruction.svg"
    assert path.read_text(encoding="utf-8") == set_svg(load_tileset("reconstruction"))
    assert f"(../{path.relative_to(ROOT / 'docs').as_posix()})" in PAGE


def test_every_option_is_there_and_the_arrangement_that_it_shows_can_be_laid():
    table = PAGE[PAGE.index("## Options") : PAGE.index("## Tile sets")]
    options = re.findall(r"^\| `(\w+)` \| ", table, re.MULTILINE)
    assert set(options) == set(get_game("tollero").defaults)
    (shown,) = re.findall(r'`"(D[^"]+)"`', table)
    new_game(downtown=shown)


@pytest.mark.parametrize("text", re.findall(r"^\| `((?:lay|build) [^`]+)` \| ", PAGE, re.MULTILINE))
def test_the_moves_of_the_page_are_moves(text):
    position = new_game(seed=1)
    if text.startswith("build"):
        position.play("lay (0,-2) r" + next(move[-1] for move in position.legal() if move.startswith("lay (0,-2)")))
    assert position.text(position.parse(text)) == text


def test_another_way_to_write_a_move():
    position = new_game(seed=1)
    assert "`LAY 0 -2 R1`" in PAGE
    assert position.parse("LAY 0 -2 R1") == position.parse("lay (0,-2) r1")


@pytest.mark.parametrize("anchor", re.findall(r"\]\(#([\w-]+)\)", PAGE))
def test_links_within_the_page_lead_somewhere(anchor):
    headings = [line.lstrip("# ").lower().replace(" ", "-") for line in PAGE.splitlines() if line.startswith("#")]
    assert anchor in headings
