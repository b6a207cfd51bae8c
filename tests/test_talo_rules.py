"""Talō's turns and ends by hand-made positions; masks that lead nowhere; damaged positions."""

import numpy as np
import pytest

from tests.talo_tools import POND, positions, put_all
from tollero_env import new_game
from tollero_env.game import MoveError, OptionError, StateError, get_rules
from tollero_env.games.talo import protocol
from tollero_env.games.talo.boards import load_board
from tollero_env.games.talo.constants import BLOCKED, BUILDING, CELLS, DONE, LAYING, PICK, TAKE
from tollero_env.games.talo.notation import pawn_at
from tollero_env.games.talo.state import STATE
from tollero_env.position import Position

FANTASY = {"variant": "fantasy"}
X, Y, Z = range(3)


def set_up(blocks, pawns=((0, 0, 0), (9, 9, 0)), **options):
    """A position at the end of the last player's turn: `end` begins the turn of player 0."""
    rules = get_rules("talo", len(pawns), **options)
    states = put_all(blocks)
    state = states[0]
    state["version"], state["num_players"], state["digest"] = 1, len(pawns), rules.tables[0]["digest"]
    state["stock"] = [0, *range(10, 0, -1)]
    for length, *_ in blocks:
        state["stock"][length] -= 1
    state["pawn_level"] = 255
    for seat, (x, y, level) in enumerate(pawns):
        state["pawn_x"][seat], state["pawn_y"][seat], state["pawn_level"][seat] = x + 7, y + 7, level
    state["stage"], state["player"], state["die"], state["rolls"] = DONE, len(pawns) - 1, 1, 1
    state["ply"] = 1000
    return Position(rules, states)


def play(position, *words):
    """Texts, with the rolls that follow in brackets: "end [7]"."""
    for word in words:
        text, _, rolls = word.partition("[")
        position.play(text.strip(), [int(roll) for roll in rolls.strip("] ").split()] if rolls else [])
    return position


def test_s1_pawns_start_on_free_green_fields():
    position = new_game("talo", seed=1, board="islands")
    assert len(position.legal()) == 36  # not on the middle island
    assert "start (4,4)" not in position.legal()
    play(position, "start (1,1)")
    assert len(position.legal()) == 35
    assert position.player == 1


def test_s1_symmetric_starts_are_decisions_with_one_choice():
    position = new_game("talo", players=4, seed=1, starts="symmetric")
    for field in ("(2,2)", "(7,7)", "(7,2)", "(2,7)"):
        assert position.legal() == [f"start {field}"]
        position.play(f"start {field}", [3] if field == "(2,7)" else [])
    assert position.player == 0


def test_d1_one_block_or_two_of_the_value_rolled():
    position = play(set_up([]), "end [5]")
    assert position.legal() == ["take 5", "take 4+1", "take 3+2"]
    few = set_up([])
    few.states["stock"] = [0, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0]
    assert play(few, "end [4]").legal() == ["take 4", "take 3+1"]  # 2+2 are gone
    assert play(few, "take 4").player == 0


def test_d1_after_a_third_roll_without_a_choice_the_next_player_rolls():
    position = set_up([])
    position.states["stock"] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    with pytest.raises(MoveError, match="chance must settle more than 3 values"):
        position.play("end", [1, 2, 3])
    with pytest.raises(MoveError, match="value 5 of chance is 4; allowed: nothing"):
        position.play("end", [1, 2, 3, 10, 4])
    position.play("end", [1, 2, 3, 10])
    assert (position.player, position.legal()) == (1, ["take 10"])


def test_b1_a_placement_is_two_moves_and_one_text():
    position = play(set_up([]), "end [5]", "take 4+1")
    assert position.legal() == ["place 4 x", "place 4 y", "place 4 z", "place 1 z"]
    assert position.parse("place 4 x (2,3,0)") == PICK + 9
    play(position, "place 4 x (2,3,0)")
    assert {text[:9] for text in position.legal()} == {"place 4 x"}  # no move of the pawn between
    play(position, "place 4 x (2,3,0)")
    assert position.legal() == ["place 1 z"]
    with pytest.raises(MoveError, match="the block picked is 1 z"):
        play(position, "place 1 z", "place 4 x (2,3,0)")


def test_b1_pawns_are_in_the_way_with_feet_and_head():
    position = play(set_up([], ((4, 4, 0), (9, 9, 0))), "end [1]", "take 1", "place 1 z")
    assert "place 1 z (4,4,0)" not in position.legal()
    bridge = [(2, 3, 4, 0, Z), (2, 5, 4, 0, Z), (1, 4, 0, 0, Z)]
    position = play(set_up(bridge, ((4, 4, 0), (9, 9, 0))), "end [3]", "take 3", "place 3 x")
    assert "place 3 x (3,4,2)" in position.legal()  # over its head


def test_b2_blocks_stick_out_from_the_second_layer_on():
    position = play(set_up([(2, 8, 4, 0, X)]), "end [3]", "take 3", "place 3 x")
    legal = position.legal()
    assert "place 3 x (8,4,1)" in legal  # its middle is on the board's last field
    assert "place 3 x (8,5,0)" not in legal
    assert "place 3 x (9,4,1)" not in legal  # it would tip


def test_p1_to_p3_a_pawn_climbs_by_steps_and_never_comes_back_to_the_board():
    steps = [(3, 1, 0, 0, X), (1, 3, 1, 0, Z), (2, 2, 1, 0, Z), (3, 4, 0, 0, Z)]
    position = play(set_up(steps), "end [1]", "take 1")
    tops = {text for text in position.legal() if text.startswith("move")}
    assert tops == {"move (1,0,1)", "move (2,0,1)", "move (3,0,1)", "move (3,1,1)", "move (2,1,2)"}
    play(position, "move (2,1,2)")
    assert not any(text.startswith("move") for text in position.legal())  # one move before building
    play(position, "place 1 z", "place 1 z (9,0,0)")
    assert "move (1,0,1)" in position.legal()
    assert not any(text.endswith(",0)") for text in position.legal() if text.startswith("move"))
    assert "end" in position.legal()
    play(position, "move (1,0,1)")
    assert position.legal() == ["end"]


def test_p4_pawns_need_headroom_and_do_not_pass_others():
    low = [(6, 1, 0, 0, X), (2, 3, 1, 0, Z), (3, 3, 0, 2, Y)]
    position = play(set_up(low), "end [1]", "take 1")
    tops = {text for text in position.legal() if text.startswith("move")}
    assert tops == {"move (1,0,1)", "move (2,0,1)"}  # under the beam there is one cell
    other = play(set_up([(6, 1, 0, 0, X)], ((0, 0, 0), (3, 0, 1))), "end [1]", "take 1")
    assert {text for text in other.legal() if text.startswith("move")} == tops


def test_p5_a_pawn_that_can_never_reach_the_top_may_restart():
    post = [(3, 4, 3, 0, Z), (3, 4, 5, 0, Z), (3, 3, 4, 0, Z), (3, 5, 4, 0, Z)]
    position = play(set_up(post, ((4, 4, 0), (9, 9, 0))), "end")
    assert position.states["stage"][0] == BLOCKED
    legal = position.legal()
    assert len(legal) == 100 - 4 - 2 + 1  # not where it stands itself
    assert "stay" in legal
    assert play(position.copy(), "stay [2]").legal() == ["take 2", "take 1+1"]
    play(position, "restart (0,0) [2]")
    assert pawn_at(position.states[0], 0) == (0, 0, 0)
    free = set_up(post[:3], ((4, 4, 0), (9, 9, 0)))
    assert play(free, "end [1]").legal() == ["take 1"]


def test_f1_the_first_pawn_on_level_10_wins_at_once():
    tower = [(9, 4, 4, 0, Z), (10, 5, 4, 0, Z)]
    position = play(set_up(tower, ((4, 4, 9), (9, 9, 0))), "end [5]", "take 4+1", "move (5,4,10)")
    assert position.over
    assert (position.scores(), position.outcome()) == ([10, 0], [1, 0])
    assert position.states["hand"][0].tolist() == [4, 1]


def test_f2_the_highest_pawn_wins_when_nobody_can_build():
    steps = [(2, 1, 0, 0, X), (2, 1, 1, 0, Z)]
    for pawns, shares in ((((1, 1, 2), (9, 9, 0)), [1, 0]), (((0, 0, 0), (9, 9, 0)), [0.5, 0.5])):
        position = set_up(steps, pawns)
        position.states["stock"] = 0
        play(position, "end")
        assert position.over
        assert position.outcome() == shares


def test_b4_a_collapse_loses():
    position = play(set_up([(1, 4, 4, 0, Z)], collapse="lose"), "end [4]", "take 4", "place 4 x", "place 4 x (3,4,1)")
    assert position.over
    assert position.outcome() == [0, 1]
    three = set_up([(1, 4, 4, 0, Z), (2, 1, 0, 0, X)], ((1, 0, 1), (2, 0, 1), (9, 9, 0)), collapse="lose")
    play(three, "end [4]", "take 4", "place 4 x", "place 4 x (3,4,1)")
    assert three.outcome() == [0, 1, 0]


def test_b4_a_first_block_that_a_second_can_save_goes_on():
    position = play(set_up([(1, 4, 4, 0, Z)], collapse="lose"), "end [5]", "take 4+1", "place 4 x", "place 4 x (3,4,1)")
    assert not position.over
    assert position.legal() == ["place 1 z"]
    lost, saved = position.copy(), position.copy()
    assert play(lost, "place 1 z", "place 1 z (0,9,0)").over
    assert lost.states["num_fallen"][0] == 2
    assert not play(saved, "place 1 z", "place 1 z (3,4,2)").over
    assert "end" in saved.legal()


def test_21_only_what_saves_the_first_may_follow():
    position = play(set_up([(1, 4, 4, 0, Z)]), "end [5]", "take 4+1", "place 4 x", "place 4 x (3,4,1)")
    assert position.legal() == ["place 1 z"]  # and the pawn does not move
    play(position, "place 1 z")
    saving = ["place 1 z (3,4,2)", "place 1 z (4,4,2)", "place 1 z (5,4,0)", "place 1 z (6,4,0)"]
    assert sorted(position.legal()) == saving


def test_fantasy_has_no_pawns_and_pays_what_stands():
    position = new_game("talo", seed=3, players=3, **FANTASY)
    assert position.legal()[0].startswith("take")
    assert position.scores() == [0, 0, 0]
    rules = get_rules("talo", 2, **FANTASY, goal="three-feet", board="table")
    for states in positions(rules, 5):
        assert states[0]["num_feet"] <= 3
        protocol.scores(states, 0, rules.tables, points := np.zeros(2, np.int64))
        protocol.outcome(states, 0, rules.tables, shares := np.zeros(2))
        assert shares.tolist() == [points[0] / 10] * 2


@pytest.mark.thorough
@pytest.mark.parametrize(
    "options",
    [{}, {"board": "islands"}, {"board": POND}, {"collapse": "lose"}, FANTASY, {**FANTASY, "goal": "three-feet"}],
    ids=str,
)
def test_masks_are_exact_and_lead_nowhere_dead(options):
    """A pick is offered if and only if a legal cell follows; something is legal at every decision."""
    rules, buffer, places = get_rules("talo", 2, **options), np.zeros(20_000, np.int64), np.zeros(40_000, np.int64)
    for seed in range(3):
        for states in positions(rules, seed):
            before = states.tobytes()
            number = protocol.moves(states, 0, rules.tables, buffer)
            assert number > 0
            assert states.tobytes() == before
            assert len(set(buffer[:number].tolist())) == number
            if states[0]["stage"] == BUILDING:
                picks = {int(move) - PICK for move in buffer[:number] if PICK <= move < TAKE}
                many = protocol.placements(states, 0, rules.tables, places)
                assert picks == set((places[:many] // CELLS).tolist())
            for move in buffer[: min(number, 5)]:
                assert protocol.is_legal(states, 0, rules.tables, move)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "options", [{}, {"board": "islands", "collapse": "lose"}, {**FANTASY, "board": "table"}], ids=str
)
def test_every_position_is_its_bytes_and_damaged_ones_are_refused(options):
    rules, rng = get_rules("talo", 3, **options), np.random.default_rng(1)
    refused = total = 0
    for states in positions(rules, 7):
        position = Position(rules, states)
        assert Position.from_bytes(rules, position.to_bytes()) == position
        for name in rng.choice([name for name in STATE.names if name not in ("rng", "ply")], 4):
            spoiled = states.copy()
            field = spoiled[name].reshape(-1)
            field[rng.integers(field.size)] ^= np.array(1 << rng.integers(0, 3)).astype(field.dtype)
            try:
                other = Position.from_bytes(rules, spoiled.tobytes())
            except StateError:
                refused += 1
            else:
                assert other.over or other.moves()
            total += 1
    assert refused > 0.9 * total


def test_half_a_placement_is_a_position():
    position = play(set_up([]), "end [5]", "take 5", "place 5 x")
    assert position.states["stage"][0] == LAYING
    position.states["ply"] = 3
    assert Position.from_bytes(position.rules, position.to_bytes()).legal() == position.legal()


WRONG = [
    ({"board": "moon"}, "option board: 'moon' is not one of green, islands, table, nor a TOML file"),
    ({"board": "table"}, 'option board: "table" needs variant "fantasy"'),
    ({"goal": "three-feet"}, 'option goal: "three-feet" needs variant "fantasy"'),
    ({"goal": "house"}, "option goal: 'house' is not one of 'free', 'three-feet'"),
    ({"starts": "symmetric", "board": "islands", "players": 2, "gravity": 1}, "Talō has no option 'gravity'"),
    ({"collapse": True}, "option collapse: True is not one of 'illegal', 'lose'"),
    ({"board": 7}, "option board: 7 is not the name of a board"),
    ({"players": 5}, "option players: 5"),
]


@pytest.mark.parametrize(("options", "message"), WRONG, ids=str)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        new_game("talo", **options)


def test_islands_have_forty_fields():
    rows = "".join(load_board("islands").rows)
    assert (rows.count("#"), rows.count("o"), rows.count("~")) == (36, 4, 60)


BOARDS = {
    "rows = 3": "rows: 3 is not a list of ten strings of ten",
    "rows = ['##########']": "rows: 1 rows; there must be ten",
    "rows = ["
    + "'#########',".rstrip(",")
    + ",'##########'" * 9
    + "]": "number 0, '#########', is not a string of ten",
    "rows = [" + "'##########'," * 9 + "'#########x']": "number 9, '#########x', is not a string of ten letters # o ~",
    "rows = [" + "'~~~~~~~~~~'," * 10 + "]": "no field is green",
    "colour = 1": "'colour': unknown key; allowed: name, rows",
    "rows = [": "not TOML",
    "name = ''\nrows = []": "name: '' is not a string",
    "": "rows: missing",
}


@pytest.mark.parametrize("text", BOARDS)
def test_wrong_boards_get_one_clear_error(text, tmp_path):
    path = tmp_path / "board.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(OptionError, match=BOARDS[text]) as caught:
        new_game("talo", board=path)
    assert "\n" not in str(caught.value)


def test_a_board_of_ones_own(tmp_path):
    path = tmp_path / "two.toml"
    path.write_text("rows = [" + "'#o~~~~~~~~'," + "'#~~~~~~~~~'," + "'~~~~~~~~~~'," * 8 + "]", encoding="utf-8")
    position = new_game("talo", seed=1, board=path)
    assert position.legal() == ["start (0,0)", "start (0,1)"]
    with pytest.raises(OptionError, match="two has 2 fields to start on"):
        new_game("talo", players=3, board=path)
    with pytest.raises(OptionError, match=r"nobody may start at \(2, 2\), as symmetric asks"):
        new_game("talo", board=path, starts="symmetric")
