"""Runs a notebook in a process of its own and prints what it showed, one JSON line an output: python FILE NOTEBOOK.

As Jupyter does: cells in one namespace, in the notebook's folder, the last expression of a cell is shown.
"""

import ast
import json
import os
import sys
from pathlib import Path

REPRS = ("_repr_svg_", "_repr_html_", "_repr_markdown_")


def show(value, out):
    """Write down the richest form of what a cell ends with."""
    if value is None:
        return
    kind = next((name for name in REPRS if hasattr(value, name)), None)
    text = repr(value) if kind is None else getattr(value, kind)()
    out.append({"kind": (kind or "_repr_text_").split("_")[2], "text": text})


def run(path):
    """What it showed."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    os.chdir(path.parent)
    space, out = {"__name__": "__main__"}, []
    for number, cell in enumerate(cells):
        if cell["cell_type"] == "code":
            tree = ast.parse("".join(cell["source"]), f"{path.name}, cell {number}")
            last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, f"{path.name}, cell {number}", "exec"), space)
            if last is not None:
                show(eval(compile(ast.Expression(last.value), f"{path.name}, cell {number}", "eval"), space), out)
    return out


if __name__ == "__main__":
    sys.path.pop(0)  # the folder of this file, which a notebook would not have
    shown = run(Path(sys.argv[1]))
    print()
    for each in shown:
        print(json.dumps(each))
