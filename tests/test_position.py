"""Position: what a person does with a game, and what every wrong word gets."""

import copy
import json
import pickle
import random
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tollero_env
from tollero_env import Position, new_game
from tollero_env.game import MoveError, OptionError, StateError, get_rules
from tollero_env.games.tollero.constants import BUILD, CELLS, NUM_MOVES
from tollero_env.games.tollero.tiles import FOLDER, load_tileset


def play_some(position, decisions, seed=0):
    """Random moves, at most so many."""
    rng = random.Random(seed)
    for _ in range(decisions):
        if position.over:
            break
        position.play(rng.choice(position.moves()))
    return position


def play_out(position, seed=0):
    return play_some(position, 10_000, seed)


# ---------------------------------------------------------------- new games


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_new_game(players):
    position = new_game("tollero", players=players, seed=1)
    assert isinstance(position, Position)
    assert (position.player, position.over, position.ply, position.history()) == (0, False, 0, [])
    assert position.scores() == {2: [5, 0], 3: [5, 2, 0], 4: [5, 3, 1, 0]}[players]
    assert position.outcome() == [1.0] + [0.0] * (players - 1)
    assert repr(position) == f"<Tollero, {players} players, after 0 decisions, player 0 to act>"


def test_the_seed_is_the_game():
    assert new_game(seed=1) == new_game("tollero", players=2, seed=1)
    assert len({new_game(seed=seed).to_bytes() for seed in range(50)}) == 50


def test_without_a_seed_every_game_is_another():
    assert len({new_game().to_bytes() for _ in range(5)}) == 5


@pytest.mark.parametrize("seed", [0, 2**64 - 1, np.int64(3), np.uint64(2**64 - 1)])
def test_seeds_that_are_taken(seed):
    assert new_game(seed=seed) == new_game(seed=int(seed))


@pytest.mark.parametrize("seed", [-1, 2**64, True, 1.0, "1", np.float64(1), [1]])
def test_seeds_that_are_not(seed):
    with pytest.raises(ValueError, match=r"seed .* is not a whole number from 0 to 2\*\*64 - 1"):
        new_game(seed=seed)


WRONG = [
    ({"game": "chess"}, "game 'chess' is not known; there is tollero"),
    ({"players": 1}, "option players: 1 is not a whole number from 2 to 4"),
    ({"players": 5}, "option players: 5 is not a whole number from 2 to 4"),
    ({"players": True}, "option players: True is not a whole number from 2 to 4"),
    ({"players": 2.0}, "option players: 2.0 is not a whole number from 2 to 4"),
    ({"players": "2"}, "option players: '2' is not a whole number from 2 to 4"),
    ({"floors": 0}, "option floors: 0 is not a whole number from 1 to 20"),
    ({"floors": 21}, "option floors: 21 is not a whole number from 1 to 20"),
    ({"floors": True}, "option floors: True is not a whole number from 1 to 20"),
    ({"downtown_scores": 1}, "option downtown_scores: 1 is not one of False, True"),
    ({"downtown": 7}, "option downtown: 7 is not a string"),
    ({"downtown": "D1:A:0"}, "option downtown: 'D1:A:0' does not name each of the four tiles once"),
    ({"downtown": "D1:A:0 D2:A:0 D3:A:0 D4:A:4"}, "option downtown: 'D4:A:4' is not understood"),
    ({"downtown": "D3:A:1 D1:B:0 D4:A:2 D2:A:3"}, "option downtown: D3 so turned does not match"),
    ({"tileset": 7}, "option tileset: 7 is not the name of a tile set or the path of a file"),
    ({"speed": 1}, "Tollero has no option 'speed'; there is tileset, floors, downtown_scores, downtown"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "message"), WRONG, ids=[str(options) for options, _ in WRONG])
def test_a_wrong_option_raises_and_names_what_is_allowed(options, message):
    with pytest.raises(OptionError, match=re.escape(message)):
        new_game(**options)


def test_options_are_played_by():
    assert new_game(floors=7).states["floors_left"][0].tolist() == [7, 7, 0, 0]
    fixed = "D3:B:1 D4:B:0 D2:A:3 D1:B:1"
    assert len({new_game(seed=seed, downtown=fixed).show().split("\n\n")[0] for seed in range(9)}) == 1
    assert len({new_game(seed=seed).show().split("\n\n")[0] for seed in range(9)}) == 9
    on, off = (play_out(new_game(seed=3, downtown_scores=on, floors=4)) for on in (True, False))
    assert on.history() == off.history()
    assert sum(on.scores()) > sum(off.scores())


def test_a_tile_set_by_name_by_path_and_as_read():
    path = FOLDER / "reconstruction.toml"
    sets = ["reconstruction", str(path), path, load_tileset("reconstruction")]
    assert len({new_game(seed=1, tileset=tiles).to_bytes() for tiles in sets}) == 1


def test_the_package_names_what_it_has():
    assert {"Position", "new_game", "playouts"} <= set(dir(tollero_env))
    assert tollero_env.__version__ == "0.1.0"
    with pytest.raises(AttributeError, match="has no attribute 'new_gam'"):
        _ = tollero_env.new_gam


# ---------------------------------------------------------------- moves and texts


def test_every_legal_move_has_a_text_of_its_own_that_is_read_back():
    position = new_game(players=3, seed=5, floors=6)
    while not position.over:
        moves, texts = position.moves(), position.legal()
        assert [position.text(move) for move in moves] == texts
        assert [position.parse(text) for text in texts] == moves
        assert len(set(texts)) == len(texts) > 0
        for text in texts:
            assert re.fullmatch(r"lay \(-?\d+,-?\d+\) r[0-3]|build \(-?\d+,-?\d+\) (NW|NE|SE|SW)", text)
        position.play(random.Random(position.ply).choice(texts))
    assert position.moves() == position.legal() == []


def test_playing_a_text_is_playing_its_number():
    first, second = new_game(seed=2), new_game(seed=2)
    for _ in range(20):
        text = random.Random(first.ply).choice(first.legal())
        second.play(second.parse(text))
        first.play(text)
        assert first == second


SAME = ["lay (0,-2) r1", "LAY (0,-2) R1", "lay 0 -2 r1", "lay(0,-2)r1", "  lay ( 0 , -2 )  r 1  ", "Lay 0,-2 r1"]


@pytest.mark.parametrize("text", SAME)
def test_blanks_brackets_and_capitals_are_free(text):
    position = new_game(seed=1)
    assert position.text(position.parse(text)) == "lay (0,-2) r1"


@pytest.mark.parametrize("text", ["build (0,-1) NE", "build 0 -1 ne", "BUILD(0,-1)NE"])
def test_builds_too(text):
    position = new_game(seed=1)
    assert position.text(position.parse(text)) == "build (0,-1) NE"


NO_MOVES = [
    ("", '\'\' is no move; write "lay (x,y) r0" to r3, or "build (x,y) NW" (NE SE SW)'),
    ("pass", "'pass' is no move"),
    ("lay", "'lay' is no move"),
    ("lay (0,-2)", "is no move"),
    ("lay (0,-2) r4", "is no move"),
    ("lay (0,-2) r-1", "is no move"),
    ("lay (0,-2) NE", "is no move"),
    ("lay (0.5,1) r1", "is no move"),
    ("lay (100,0) r1", "is no move"),
    ("lay (0,-2) r1 r1", "is no move"),
    ("lay (64,0) r1", "no city reaches as far as (64,0)"),
    ("lay (0,-64) r1", "no city reaches as far as (0,-64)"),
    ("build (0,-1) r1", "is no move"),
    ("build (0,-1) N", "is no move"),
    ("build (5,5) NE", "there is no tile at (5,5)"),
    ("build (99,99) NE", "there is no tile at (99,99)"),
    (-1, "-1 is no move: a text, or a number from 0 to "),
    (NUM_MOVES, f"{NUM_MOVES} is no move: a text, or a number from 0 to {NUM_MOVES - 1}"),
    (2**70, "is no move"),
    (True, "True is no move"),
    (1.0, "1.0 is no move"),
    (None, "None is no move"),
    (np.float64(1), "is no move"),
    (["lay (0,-2) r1"], "is no move"),
]


@pytest.mark.parametrize(("move", "message"), NO_MOVES, ids=[str(move) for move, _ in NO_MOVES])
def test_what_is_no_move_raises_and_changes_nothing(move, message):
    position = play_some(new_game(seed=1), 4)
    before, history = position.to_bytes(), position.history()
    with pytest.raises(MoveError, match=re.escape(message)):
        position.play(move)
    assert (position.to_bytes(), position.history()) == (before, history)


def test_every_number_that_is_not_legal_raises_and_changes_nothing():
    position = play_some(new_game(seed=1, floors=3), 5)
    while not position.over:
        before, history, legal = position.to_bytes(), position.history(), set(position.moves())
        numbers = [*range(0, NUM_MOVES, 997), *range(BUILD, NUM_MOVES), 0, CELLS, NUM_MOVES - 1]
        neighbours = [move + step for move in legal for step in (-CELLS, -128, -1, 1, 128, CELLS)]
        for number in {*numbers, *neighbours} - legal:
            with pytest.raises(MoveError):
                position.play(number)
            assert position.to_bytes() == before
        assert position.history() == history
        position.play(min(legal))


def test_an_illegal_move_is_told_what_is_legal():
    position = new_game(seed=1)
    legal = position.legal()
    with pytest.raises(MoveError) as caught:
        position.play("lay (5,5) r0")
    listed = ", ".join(legal[:6])
    more = f"and {len(legal) - 6} more (legal() lists them)"
    assert str(caught.value) == f"lay (5,5) r0 is not legal here; player 0 may: {listed} {more}"
    with pytest.raises(MoveError, match=r"build \(0,-1\) NW is not legal here; player 0 may: lay"):
        position.play("build (0,-1) NW")
    with pytest.raises(MoveError, match=rf"move {NUM_MOVES - 1} is not legal here; player 0 may: lay"):
        position.play(NUM_MOVES - 1)  # a tile that is not on the table has no name


def test_few_choices_are_all_listed():
    position = new_game(seed=1)
    while len(position.moves()) > 6:
        position.play(random.Random(position.ply).choice(position.moves()))
    with pytest.raises(MoveError) as caught:
        position.play("lay (63,63) r0")
    assert str(caught.value).endswith("may: " + ", ".join(position.legal()))


def test_a_move_after_the_end_says_so():
    position = play_out(new_game(seed=1, floors=1))
    before = position.to_bytes()
    with pytest.raises(MoveError, match=r"^lay \(0,-3\) r0 is not legal: the game is over$"):
        position.play("lay (0,-3) r0")
    assert position.to_bytes() == before
    assert repr(position).endswith("over>")


def test_numbers_of_numpy_are_moves():
    position = new_game(seed=1)
    position.play(np.int64(position.moves()[0]))
    assert position.history() == new_game(seed=1).moves()[:1]
    assert type(position.history()[0]) is int


def test_a_text_is_made_only_of_a_move():
    position = new_game(seed=1)
    with pytest.raises(MoveError, match="is no move"):
        position.text(-1)
    with pytest.raises(MoveError, match="no tile number 5 on the table"):
        position.text(BUILD + 4 * 5)


# ---------------------------------------------------------------- undo


def test_undo_goes_all_the_way_back():
    position = new_game(players=4, seed=9, floors=5)
    seen = []
    while not position.over:
        seen.append(position.to_bytes())
        text = random.Random(position.ply).choice(position.legal())
        position.play(text)
        assert position.undo() == text
        assert position.to_bytes() == seen[-1]
        position.play(text)
    while seen:
        position.undo()
        assert position.to_bytes() == seen.pop()
        assert len(position.history()) == len(seen)
    assert position == new_game(players=4, seed=9, floors=5)
    with pytest.raises(MoveError, match="no move to take back"):
        position.undo()


def test_undo_and_another_move_is_as_if_the_first_was_never_played():
    straight, turned = new_game(seed=4), new_game(seed=4)
    first, *_, last = turned.legal()
    turned.play(first)
    turned.undo()
    for position in (straight, turned):
        position.play(last)
    assert straight == turned
    assert straight.history() == turned.history()


def test_undo_in_a_copy_leaves_the_other_alone():
    position = play_some(new_game(seed=4), 10)
    before = position.to_bytes()
    other = position.copy()
    for _ in range(10):
        other.undo()
    assert position.to_bytes() == before
    assert len(position.history()) == 10


# ---------------------------------------------------------------- copies, bytes, pickles

COPIES = {
    "copy": lambda position: position.copy(),
    "copy.copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "deepcopy in a list": lambda position: copy.deepcopy([position, position])[1],
    "pickle": lambda position: pickle.loads(pickle.dumps(position)),
    "pickle, oldest": lambda position: pickle.loads(pickle.dumps(position, protocol=0)),
}


@pytest.mark.parametrize("make", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("decisions", [0, 11, 10_000])
def test_a_copy_has_the_same_past_and_future_and_is_its_own(make, decisions):
    position = play_some(new_game(players=3, seed=6, floors=6, downtown_scores=False), decisions)
    other = make(position)
    assert type(other) is Position
    assert other is not position
    assert (other, hash(other), other.history()) == (position, hash(position), position.history())
    assert other.rules.options == position.rules.options
    assert other.to_replay() == position.to_replay()
    before = position.to_bytes()
    play_out(other, seed=1)
    assert position.to_bytes() == before
    play_out(position, seed=1)
    assert other == position
    assert other.scores() == position.scores()
    if decisions:
        assert other.undo() == position.undo()
        assert other == position


def test_a_pickle_does_not_need_the_tile_set_file(tmp_path):
    path = tmp_path / "mine.toml"
    text = (FOLDER / "reconstruction.toml").read_text(encoding="utf-8")
    path.write_text(text.replace('"reconstruction"', '"mine"').replace("value = 4", "value = 5"), encoding="utf-8")
    position = play_some(new_game(seed=1, tileset=path, floors=4), 7)
    data = pickle.dumps(position)
    path.unlink()
    other = pickle.loads(data)
    assert other == position
    assert other.to_replay()["tileset"] == "mine"
    assert play_out(other, 1) == play_out(position, 1)


def test_bytes_round_trip():
    rules = get_rules("tollero", 4, floors=5)
    position = Position.new(rules, 3)
    while True:
        other = Position.from_bytes(rules, position.to_bytes())
        assert other == position
        assert other.legal() == position.legal()
        assert other.history() == []  # bytes are the position alone
        with pytest.raises(MoveError, match="no move to take back"):
            other.undo()
        with pytest.raises(ValueError, match="does not know how its game began"):
            other.to_replay()
        if position.over:
            break
        position.play(position.moves()[-1])


def test_bytes_are_a_copy():
    position = new_game(seed=1)
    data = position.to_bytes()
    assert type(data) is bytes
    position.play(position.moves()[0])
    assert data == new_game(seed=1).to_bytes() != position.to_bytes()


def test_bytes_of_other_rules_are_refused():
    position = new_game(seed=1)
    others = [
        get_rules("tollero", 3),
        get_rules("tollero", 2, floors=19),
        get_rules("tollero", 2, downtown_scores=False),
        get_rules("tollero", 2, downtown="D3:B:1 D4:B:0 D2:A:3 D1:B:1"),
    ]
    for rules in others:
        with pytest.raises(StateError, match="made with other tiles, options or players"):
            Position.from_bytes(rules, position.to_bytes())


@pytest.mark.parametrize("size", [0, 1, 100])
def test_bytes_of_another_length_are_refused(size):
    rules = get_rules("tollero", 2)
    with pytest.raises(
        StateError, match=f"{size} bytes are no position of Tollero, which has {rules.game.state.itemsize}"
    ):
        Position.from_bytes(rules, bytes(size))
    with pytest.raises(StateError, match="bytes are no position"):
        Position.from_bytes(rules, new_game(seed=1).to_bytes() + b"\0")


def test_zeros_are_refused():
    rules = get_rules("tollero", 2)
    with pytest.raises(StateError, match="another version"):
        Position.from_bytes(rules, bytes(rules.game.state.itemsize))


@given(st.integers(0, 2**32), st.integers(2, 4), st.integers(0, 60), st.data())
def test_bytes_with_one_change_are_refused_or_safe(seed, players, decisions, data):
    """Where they are taken, every legal move can be played and what comes of it is a position again."""
    position = play_some(new_game(players=players, seed=seed), decisions, seed)
    changed = bytearray(position.to_bytes())
    place = data.draw(st.integers(0, len(changed) - 1))
    changed[place] ^= data.draw(st.integers(1, 255))
    try:
        other = Position.from_bytes(position.rules, bytes(changed))
    except StateError:
        return
    for move in other.moves():
        after = other.copy()
        after.play(move)
        assert Position.from_bytes(after.rules, after.to_bytes()) == after


@given(st.integers(0, 2**64 - 1), st.integers(2, 4), st.integers(1, 20), st.integers(0, 2**32))
def test_same_seed_and_moves_give_the_same_bytes(seed, players, floors, choices):
    first, second = (new_game(players=players, seed=seed, floors=floors) for _ in range(2))
    play_out(first, choices)
    for move in first.history():
        second.play(move)
    assert second.over
    assert first.to_bytes() == second.to_bytes()
    assert first.ply == len(first.history()) <= first.rules.game.longest_game(first.rules.tables)
    low, high = first.rules.game.score_bounds(first.rules.tables)
    assert all(low <= score <= high for score in first.scores())
    assert sum(first.outcome()) == pytest.approx(1)


# ---------------------------------------------------------------- equality


def test_equal_is_equal_bytes():
    first, second = new_game(seed=1), new_game(seed=1)
    assert first == second
    assert hash(first) == hash(second)
    second.play(second.moves()[0])
    assert first != second
    second.undo()
    assert first == second
    assert first != new_game(seed=1, floors=19)
    assert first != first.to_bytes()
    assert (first == "a text") is False


# ---------------------------------------------------------------- what a seat may know


@pytest.mark.parametrize("players", [2, 3, 4])
def test_hidden_from_keeps_the_table_and_the_own_hand_and_draws_the_rest(players):
    position = play_some(new_game(players=players, seed=8), 31)
    for seat in range(players):
        hidden = [position.hidden_from(seat, seed) for seed in range(30)]
        for one in hidden:
            assert one.show(seat) == position.show(seat)
            assert one.history() == position.history()
            assert (one.player, one.ply, one.over) == (position.player, position.ply, position.over)
            Position.from_bytes(one.rules, one.to_bytes())
        assert len({one.to_bytes() for one in hidden}) == 30
        assert hidden[3] == position.hidden_from(seat, 3)
        if position.player == seat:
            assert {tuple(one.legal()) for one in hidden} == {tuple(position.legal())}


def test_hidden_from_leaves_the_position_alone():
    position = play_some(new_game(seed=8), 31)
    before = position.to_bytes()
    other = position.hidden_from(0, 1)
    play_out(other)
    assert position.to_bytes() == before
    assert len(position.history()) == 31


@pytest.mark.parametrize("make", COPIES.values(), ids=COPIES)
def test_nobody_can_peek(make):
    """Not by taking moves back, nor through a replay, nor in a copy."""
    position = play_some(new_game(seed=8), 5)
    hidden = make(position.hidden_from(1))
    with pytest.raises(MoveError, match="hidden from this seat"):
        hidden.undo()
    move = hidden.moves()[0]
    text = hidden.text(move)
    hidden.play(move)
    assert hidden.undo() == text  # what was played since can be taken back, and no more
    with pytest.raises(MoveError, match="hidden from this seat"):
        hidden.undo()
    with pytest.raises(ValueError, match="does not know how its game began"):
        hidden.to_replay()
    assert hidden.history() == position.history()


@pytest.mark.parametrize("seat", [-1, 2, True, 0.0, "0", None])
def test_a_seat_that_is_not_there(seat):
    position = new_game(seed=1)
    with pytest.raises(ValueError, match=r"is not a seat: they are 0 to 1"):
        position.hidden_from(seat)
    if seat is not None:  # that one sees all
        with pytest.raises(ValueError, match=r"is not a seat: they are 0 to 1"):
            position.show(seat)
        with pytest.raises(ValueError, match=r"is not a seat: they are 0 to 1"):
            position.svg(seat)


def test_a_seed_of_hidden_from_is_a_seed():
    with pytest.raises(ValueError, match="seed -1 is not"):
        new_game(seed=1).hidden_from(0, -1)


# ---------------------------------------------------------------- the table as text


def test_show_hides_the_other_hands():
    position = new_game(players=3, seed=1)
    hands = re.findall(r"hand (\S+)", str(position))
    assert len(hands) == 3
    assert all(re.fullmatch(r"C\d\d", hand) for hand in hands)
    for seat in range(3):
        wanted = [hand if number == seat else "hidden" for number, hand in enumerate(hands)]
        assert re.findall(r"hand (\S+)", position.show(seat)) == wanted


def test_show_says_what_is_due():
    position = new_game(seed=1, floors=1)
    assert str(position).endswith("\npile 52; player 0 (A) is to lay a tile")
    position.play(position.moves()[0])
    assert str(position).endswith("\npile 52; player 0 (A) is to place a floor")
    play_out(position)
    assert str(position).endswith("\npile 51; the game is over")


def test_show_of_a_table_written_out_by_hand():
    position = new_game(seed=1, floors=12, downtown="D3:B:1 D4:B:0 D2:A:3 D1:B:1")
    assert str(position).split("\n\n")[0] == "\n".join(
        [
            "        x=-1    x=0     x=1",
            "              +--||--+",
            "              |^^  []|",
            "y=-1          =   2  =",
            "              |vv  []|",
            "              +--||--+",
            "      +--||--++--||--++--||--+",
            "      |vv  []||      ||vv  []|",
            "y=0   =   2  ==  **  ==   2  =",
            "      |[]  <<||      ||[]  ^^|",
            "      +--||--++--||--++------+",
            "              +--||--+",
            "              |[]  []|",
            "y=1           =   3  =",
            "              |vv  []|",
            "              +--||--+",
        ]
    )


def test_buildings_show_their_owner_and_height():
    position = new_game(seed=1, downtown="D3:B:1 D4:B:0 D2:A:3 D1:B:1")
    lot = "build (0,-1) SE"  # in the north; player 1 builds there whenever that is legal

    def worth(text):
        x, y = map(int, re.findall(r"-?\d+", text)[:2])
        return text == lot and position.player == 1, text != lot, -abs(x) - abs(y + 1)

    seen = set()
    while not position.over:
        position.play(max(position.legal(), key=worth))
        height = int(position.states["building"][0, 1, 2]) & 31  # slot 1 is in the north, lot 2 is SE
        text = "B" + "0123456789abcdefghijk"[height] if height else "[]"
        row = str(position).split("y=-1", 1)[1].split("\n")[1]
        assert f"|vv  {text}|" in row
        seen.add(text)
    assert {"[]", "B1", "B9", "Ba"} <= seen


# ---------------------------------------------------------------- replays


def test_a_game_becomes_a_replay_at_any_time():
    position = new_game(seed=1, floors=2)
    assert position.to_replay()["moves"] == []
    play_out(position)
    data = position.to_replay(legal=True)
    assert len(data["moves"]) == position.ply == 6
    assert data["scores"] == position.scores()
    assert json.loads(json.dumps(data)) == data
