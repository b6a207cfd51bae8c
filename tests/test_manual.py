"""The manual pages say what the code does."""

from pathlib import Path

import numpy as np

from experiments.legend import legend
from tollero_env import tollero_v0
from tollero_env.game import get_game, get_rules
from tollero_env.position import Position


def test_the_page_of_observations_is_up_to_date():
    page = Path(__file__).parents[1] / "docs" / "observations.md"
    assert page.read_text(encoding="utf-8") == legend()


def test_the_docstring_lists_every_plane_feature_and_number():
    text = tollero_v0.__doc__
    tables = {"planes": "plane", "slots": "feature of a row"}
    for name, kind in tables.items():
        how = get_game("tollero").encodings[name]
        for rows in (how.legend[kind], how.legend["number"]):
            first = 0
            for row, count, _ in rows:
                last = "onwards" if row == "heights" else f"to {first + count - 1}"
                number = f"{first}" if count == 1 else f"{first} {last}"
                assert f"    {number:<16}{row}" in text
                first += count
    assert all(
        row in text
        for row, _, _ in get_game("tollero").encodings["planes"].legend["constant plane"]
        if row != "numbers"
    )


def test_the_docstring_lists_every_option():
    for option in ("num_players", "encoding", "view", "reward", "render_mode", "viewer", *get_game("tollero").defaults):
        assert f"\n    {option:<17}" in tollero_v0.__doc__


def test_split_slots_takes_an_observation_apart():
    rules = get_rules("tollero", 3)
    position = Position.new(rules, 1)
    how = rules.game.encodings["slots"]
    rows, numbers = (np.zeros(part.shape, part.dtype) for part in how.parts(3, 0))
    how.observe(position.states, 0, rules.tables, 1, 0, rows.reshape(-1), numbers)
    env = tollero_v0.raw_env(3, encoding="slots")
    env.reset(seed=1)
    seen = env.observe("player_1")["observation"]
    for got, wanted in zip(tollero_v0.split_slots(np.stack([seen, seen])), (rows, numbers)):
        np.testing.assert_array_equal(got, np.stack([wanted, wanted]))
