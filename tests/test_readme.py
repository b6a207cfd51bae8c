"""What the README shows is what happens."""

import re
from pathlib import Path

import pytest

import tollero_env

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_every_python_block_runs():
    """One after the other, as a reader would type them in."""
    pytest.importorskip("sb3_contrib")
    assert len(BLOCKS) >= 5
    names = {"tollero_env": tollero_env}
    for block in BLOCKS:
        exec(compile(block, "README.md", "exec"), names)
    assert names["seen"].mask.any(axis=1).all()
    assert names["model"].num_timesteps == 2048


def test_what_is_said_of_the_position_is_true():
    position = tollero_env.new_game("tollero", players=2, seed=1)
    assert f"# {position.legal()[:3]}" in README
    assert f"# {len(position.to_bytes()):,} bytes" in README
