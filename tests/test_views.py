"""How often a view hides what is legal."""

import pytest

from experiments.views import main, watch_game
from tollero_env.game import get_rules


def test_a_view_of_the_whole_table_hides_nothing_and_a_small_one_much():
    rules = get_rules("tollero", 2)
    assert watch_game(rules, 64, 1) == (0, False)
    hidden = [watch_game(rules, 5, seed) for seed in range(5)]
    assert all(one.decisions > 0 for one in hidden)
    assert any(watch_game(rules, 3, seed).is_blind for seed in range(10))


def test_the_report_says_what_was_seen(capsys):
    main(["--players", "3", "--games", "3", "--view", "5"])
    out = capsys.readouterr().out
    assert out.startswith("view 5, 3 players, 3 random games: 3 with a hidden legal move, ")
    with pytest.raises(SystemExit, match="view: 4 is not an odd number"):
        main(["--view", "4"])
