"""Golden playthroughs, replayed line by line: a rule or a text that changes shows itself here, with its line."""

import itertools

import pytest

from experiments.replay import playthrough_lines
from tests.make_playthroughs import FOLDER, GAMES, first_line, make
from tollero_env import new_game
from tollero_env.game import NAMES, MoveError, get_game

PLAYS = "   plays: "


def read(name):
    text = (FOLDER / name).read_text(encoding="utf-8")
    assert text.endswith("\n")
    return text.removesuffix("\n").split("\n")


def replayed(name, golden):
    """The lines that come of dealing that game and playing what the golden lines say."""
    moves = [line.removeprefix(PLAYS) for line in golden if line.startswith(PLAYS)]
    position = new_game(**GAMES[name])
    yield first_line(GAMES[name])
    yield from playthrough_lines(position, moves)
    if not position.over:
        yield "(the moves end here, but the game is not over)"


def first_difference(name, golden):
    """None, or the number of the first line that differs and both readings of it."""
    lines = replayed(name, golden)
    for number in itertools.count(1):
        wanted = golden[number - 1] if number <= len(golden) else None
        try:
            line = next(lines, None)
        except MoveError as error:
            return number, wanted, str(error)
        if line != wanted:
            return number, wanted, line
        if line is None:
            return None
    return None


@pytest.mark.uncompiled
@pytest.mark.parametrize("name", GAMES)
def test_every_line_comes_out_as_it_is_written(name):
    difference = first_difference(name, read(name))
    if difference:
        number, wanted, line = difference
        hint = "if that is meant: python -m tests.make_playthroughs"
        pytest.fail(f"{FOLDER / name}, line {number} ({hint}):\n  file: {wanted}\n  now:  {line}")


@pytest.mark.parametrize("name", GAMES)
def test_the_command_writes_games_that_replay(name):
    golden = make(GAMES[name]).removesuffix("\n").split("\n")
    assert golden[:2] == read(name)[:2]
    assert first_difference(name, golden) is None


def test_there_is_one_for_each_game_and_number_of_players_and_nothing_else():
    assert sorted(path.name for path in FOLDER.iterdir()) == sorted(GAMES)
    played = {(game["game"], game["players"]) for game in GAMES.values()}
    assert played == {(name, players) for name in NAMES for players in get_game(name).players}


NAME = "tollero_2p.txt"
GOLDEN = read(NAME)
PLAYED = [number for number, line in enumerate(GOLDEN) if line.startswith(PLAYS)]  # from 0


def test_a_changed_line_is_found_by_its_number():
    for number in range(len(GOLDEN)):
        changed = list(GOLDEN)
        changed[number] += " "
        found = first_difference(NAME, changed)
        assert found is not None
        assert found[0] == number + 1


def test_a_move_that_is_not_legal_is_found_by_its_number():
    changed = list(GOLDEN)
    changed[PLAYED[3]] = PLAYS + "lay (9,9) r0"
    number, _, problem = first_difference(NAME, changed)
    assert number == PLAYED[3] + 2  # the line itself reads well; playing it fails
    assert "lay (9,9) r0 is not legal" in problem


@pytest.mark.parametrize("cut", [1, len(GOLDEN) // 2, len(GOLDEN) - 1])
def test_a_file_cut_short_is_found(cut):
    assert first_difference(NAME, GOLDEN[:cut]) is not None


def test_a_move_left_out_is_found():
    last = GOLDEN[: PLAYED[-1]] + GOLDEN[PLAYED[-1] + 1 :]
    number, wanted, _ = first_difference(NAME, last)
    assert wanted.startswith(f"{len(PLAYED)}. player ")
    assert GOLDEN[number - 1] == wanted
