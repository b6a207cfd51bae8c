"""Talō's pages: rules stated once, rulings listed, pictures that show what the kernel says."""

import re
from pathlib import Path

import pytest

from experiments.balance import EXAMPLES, picture
from tests.talo_tools import trial
from tollero_env import talo_v0
from tollero_env.game import get_game
from tollero_env.games.talo.constants import AXES

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "rules" / "talo.md").read_text(encoding="utf-8")
BALANCE = (ROOT / "docs" / "balance.md").read_text(encoding="utf-8")
COUNTS = {"M": 3, "S": 1, "D": 1, "B": 5, "P": 5, "F": 2}
RULES = {f"{letter}{n}" for letter, last in COUNTS.items() for n in range(1, last + 1)}


def test_every_rule_is_stated_once():
    stated = re.findall(r"^\*\*([A-Z]\d)\*\* ", PAGE, re.MULTILINE)
    assert len(stated) == len(set(stated))
    assert set(stated) == RULES


def test_code_and_tests_cite_only_rules_that_are_there():
    files = [*(ROOT / "tollero_env" / "games" / "talo").rglob("*.py"), *(ROOT / "tests").glob("reference/talo*.py")]
    cited = {rule for path in files for rule in re.findall(r"\b([MSDBPF]\d)\b", path.read_text(encoding="utf-8"))}
    assert len(cited) > 12
    assert cited <= RULES


def test_rulings_are_marked_and_listed():
    text, table = PAGE.split("\n## All rulings")
    text = text.split("## Material and space")[1]
    marked = set()
    for part in re.split(r"\n\n(?=\*\*[A-Z]\d\*\* )|\n## ", text):
        if "**Ruling:**" in part:
            rule = re.match(r"\*\*([A-Z]\d)\*\* ", part)
            marked.add(rule[1] if rule else part.split("\n")[0])
    listed = re.findall(r"^\| ([A-Z]\d|Fantasy) \| ", table, re.MULTILINE)
    assert marked == set(listed)
    assert text.count("**Ruling:** ") == len(listed)


@pytest.mark.parametrize("name", EXAMPLES)
def test_pictures_are_up_to_date_and_true(name):
    path = ROOT / "docs" / "pictures" / f"{name}.svg"
    assert path.read_text(encoding="utf-8") == picture(EXAMPLES[name])
    assert f"pictures/{name}.svg" in BALANCE
    for example in EXAMPLES[name]:
        blocks = [(*block[:4], AXES.index(block[4])) for block in example.blocks]
        beam = next(block for block in blocks if block[3] == max(other[3] for other in blocks if other[4] < 2))
        rest = [block for block in blocks if block is not beam and block[3] <= beam[3]]
        weights = [block for block in blocks if block[3] > beam[3]]
        if weights:  # the beam first, then what saves it
            assert trial(rest, beam) < 0
            continue
        assert (trial(rest, beam) > 0) == example.stands


def test_the_docstring_lists_every_plane_and_number():
    how = get_game("talo").encodings["voxels"]
    for kind in ("plane", "number"):
        for row, _, _ in how.legend[kind]:
            assert re.search(rf"\b{row}\b", talo_v0.__doc__), row
    assert f"Discrete({how.num_actions(2, 24)})" in talo_v0.__doc__
    assert str(how.whole(2, 24).shape) in talo_v0.__doc__
    assert all(option in talo_v0.__doc__ for option in get_game("talo").defaults)
