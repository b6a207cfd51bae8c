"""The notebooks run from their first cell to their last, define nothing, and show pictures."""

import ast
import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
PICTURES = {"01_play_and_look": 6, "02_benchmark_strategies": 3, "03_train_and_study": 5}
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def cells_of(path):
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def test_they_are_all_here():
    assert [path.stem for path in NOTEBOOKS] == list(PICTURES)


@each_notebook
def test_they_define_nothing_and_hold_no_outputs(path):
    cells = cells_of(path)
    assert cells[0]["cell_type"] == "markdown"
    for cell in cells:
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)
            tree = ast.parse("".join(cell["source"]))
            defined = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
            assert not [node for node in ast.walk(tree) if isinstance(node, defined)]


@each_notebook
def test_their_first_cell_finds_the_clone(path, tmp_path):
    first = next(cell for cell in cells_of(path) if cell["cell_type"] == "code")
    code = "".join(first["source"]) + "\nimport experiments; print(experiments.__file__)"
    run = subprocess.run([sys.executable, "-c", code], cwd=path.parent, capture_output=True, text=True, check=True)
    assert Path(run.stdout.strip()).parents[1] == ROOT


@pytest.mark.thorough
@each_notebook
def test_they_run_and_show_pictures(path, tmp_path):
    runner = str(ROOT / "tests" / "notebook_runner.py")
    environment = {**os.environ, "NOTEBOOK_QUICK": "1", "MPLBACKEND": "Agg", "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-W", "error", runner, str(path)]
    run = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr
    shown = [json.loads(line) for line in run.stdout.split("\n") if line.startswith('{"kind"')]
    pictures = [each["text"] for each in shown if each["kind"] == "svg"]
    assert len(pictures) >= PICTURES[path.stem]
    for picture in pictures:
        assert ET.fromstring(picture).tag == "{http://www.w3.org/2000/svg}svg"
    if path.stem != "02_benchmark_strategies":
        assert any(each["kind"] == "html" and "srcdoc" in each["text"] for each in shown)
    else:
        assert sum(each["kind"] == "markdown" and each["text"].startswith("| agent |") for each in shown) == 2
