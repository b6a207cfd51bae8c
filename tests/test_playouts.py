"""playouts: the compiled loop against the same games played move by move."""

import re

import numpy as np
import pytest

import tollero_env
from tollero_env import Position, playouts
from tollero_env.game import OptionError, get_rules
from tollero_env.games.tollero.tiles import FOLDER
from tollero_env.rng import GAMMA, derive

WORD = (1 << 64) - 1


def mix(word):
    """splitmix64's, written out anew."""
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & WORD
    word = (word ^ word >> 27) * 0x94D049BB133111EB & WORD
    return word ^ word >> 31


def replay(seed, game, rules):
    """Game number `game` of a run, decision by decision through `moves` and `play`."""
    game_seed = derive(seed, game)
    position = Position.new(rules, game_seed)
    base = derive(game_seed, 1)
    while not position.over:
        moves = position.moves()
        word = mix((base + position.ply * int(GAMMA)) & WORD)
        position.play(moves[(word >> 32) * len(moves) >> 32])
    return position


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("options", [{}, {"floors": 3}, {"downtown_scores": False, "floors": 20}])
def test_a_game_replayed_move_by_move_has_the_same_length_and_scores(players, options):
    decisions, scores = playouts("tollero", players=players, games=6, seed=12, **options)
    rules = get_rules("tollero", players, **options)
    for game in range(6):
        position = replay(12, game, rules)
        assert position.ply == decisions[game]
        assert position.scores() == scores[game].tolist()


@pytest.mark.uncompiled
def test_a_short_game_replayed_compiled_or_not():
    decisions, scores = playouts(players=2, games=2, seed=5, floors=2)
    positions = [replay(5, game, get_rules("tollero", 2, floors=2)) for game in range(2)]
    assert [position.ply for position in positions] == decisions.tolist() == [6, 6]
    assert [position.scores() for position in positions] == scores.tolist()


@pytest.mark.parametrize("players", [2, 3, 4])
def test_shapes_and_dtypes(players):
    decisions, scores = tollero_env.playouts("tollero", players=players, games=7, seed=1)
    assert (decisions.shape, scores.shape) == ((7,), (7, players))
    assert decisions.dtype == scores.dtype == np.int64
    assert scores.flags["C_CONTIGUOUS"]


def test_no_games():
    decisions, scores = playouts(games=0)
    assert (decisions.shape, scores.shape) == ((0,), (0, 2))


def test_a_game_does_not_depend_on_how_many_there_are():
    decisions, scores = playouts(players=3, games=50, seed=4)
    for games in (1, 2, 49):
        fewer_decisions, fewer_scores = playouts(players=3, games=games, seed=4)
        assert np.array_equal(fewer_decisions, decisions[:games])
        assert np.array_equal(fewer_scores, scores[:games])


def test_the_seed_decides():
    first, again, other = (playouts(games=20, seed=seed)[1] for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert len(np.unique(first, axis=0)) > 15


def test_defaults_are_those_of_the_documentation():
    decisions, scores = playouts()
    assert (decisions.shape, scores.shape) == ((1000,), (1000, 2))
    assert np.array_equal(scores, playouts("tollero", players=2, games=1000, seed=1)[1])


def test_options_are_played_by(tmp_path):
    base = playouts(games=200, seed=1)[1]
    assert playouts(games=200, seed=1, floors=1)[0].max() == 4
    assert playouts(games=200, seed=1, downtown_scores=False)[1].sum() < base.sum()
    fixed = playouts(games=200, seed=1, downtown="D3:B:1 D4:B:0 D2:A:3 D1:B:1")[1]
    assert not np.array_equal(fixed, base)
    path = tmp_path / "mine.toml"
    text = (FOLDER / "reconstruction.toml").read_text(encoding="utf-8")
    path.write_text(re.sub(r"(?m)^value = \d", "value = 9", text), encoding="utf-8")
    assert playouts(games=200, seed=1, tileset=path)[1].mean() > 2 * base.mean()
    assert np.array_equal(playouts(games=200, seed=1, tileset="reconstruction")[1], base)


def test_scores_and_lengths_are_within_the_bounds_that_the_game_declares():
    for players in (2, 3, 4):
        rules = get_rules("tollero", players)
        decisions, scores = playouts(players=players, games=2000, seed=9)
        low, high = rules.game.score_bounds(rules.tables)
        assert low <= scores.min()
        assert scores.max() <= high
        assert decisions.max() <= rules.game.longest_game(rules.tables)
        assert decisions.min() >= 20 * players  # every Floor is a decision, and random games hardly ever lack a lot


WRONG = [
    ({"game": "chess"}, "game 'chess' is not known"),
    ({"players": 5}, "option players: 5 is not a whole number from 2 to 4"),
    ({"games": -1}, "option games: -1 is not a whole number from 0 to"),
    ({"games": 1.5}, "option games: 1.5 is not a whole number from 0 to"),
    ({"games": True}, "option games: True is not a whole number from 0 to"),
    ({"games": "9"}, "option games: '9' is not a whole number from 0 to"),
    ({"games": 10**12}, "option games: 1000000000000 is not a whole number from 0 to"),
    ({"floors": 0}, "option floors: 0 is not a whole number from 1 to 20"),
    ({"speed": 9}, "Tollero has no option 'speed'; there is tileset, floors, downtown_scores, downtown"),
]


@pytest.mark.parametrize(("options", "message"), WRONG, ids=[str(options) for options, _ in WRONG])
def test_wrong_options(options, message):
    with pytest.raises(OptionError, match=re.escape(message)):
        playouts(**options)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, None, "1"])
def test_wrong_seeds(seed):
    with pytest.raises(ValueError, match="is not a whole number from 0 to"):
        playouts(games=1, seed=seed)
