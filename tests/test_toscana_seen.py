"""What players of Toscana see: observations worked out slowly beside the twin, the manual, texts and pictures."""

from __future__ import annotations

import random
import re
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest

from tests.reference.toscana import Toscana, neighbours
from tests.toscana_tools import IDS, TILES, Pair, deal_pair, number_of
from tollero_env import new_game, toscana_v0
from tollero_env.game import OptionError, get_game
from tollero_env.games.toscana import features
from tollero_env.games.toscana.constants import ALLOW, CELLS, NUM_MOVES, VETO, WIDTH
from tollero_env.games.toscana.notation import at_cell, cell_at
from tollero_env.games.toscana.pieces import LAST, colours_of, counter, outline, place_mark, square_shapes, stone
from tollero_env.games.toscana.tiles import turned
from tollero_env.position import Position
from tollero_env.scene import Sprite, Text

HOW = get_game("toscana").encodings["planes"]


def observed(pair: Pair, player: int) -> tuple[np.ndarray, np.ndarray]:
    view = pair.rules.options["size"]
    array, numbers = (np.zeros(part.shape, part.dtype) for part in HOW.parts(2, view))
    HOW.observe(pair.states, 0, pair.rules.tables, player, view, array.reshape(-1), numbers)
    return array, numbers


def area_sizes(twin: Toscana) -> dict[tuple[int, int], int]:
    """For every square, how many tiles its area has: spread from each anew."""
    found = {}
    for start, square in twin.board.items():
        seen, rest = {start}, [start]
        while rest:
            for cell in neighbours(rest.pop()):
                if cell not in seen and cell in twin.board and twin.board[cell].colour == square.colour:
                    seen.add(cell)
                    rest.append(cell)
        found[start] = len({twin.board[cell].tile for cell in seen})
    return found


def slow_planes(twin: Toscana, player: int) -> dict[str, np.ndarray]:
    size = twin.size
    planes = {name: np.zeros((count, size, size), np.int64) for name, count, _ in features.PLANES}
    for cell, square in twin.board.items():
        planes["own" if square.colour == player else "other"][(0, *cell)] = 1
        for side, (down, right) in enumerate(((-1, 0), (0, 1), (1, 0), (0, -1))):
            beside = twin.board.get((cell[0] + down, cell[1] + right))
            planes["joined"][(side, *cell)] = beside is not None and beside.tile == square.tile
    for cell, tiles in area_sizes(twin).items():
        planes["area"][(0, *cell)] = tiles
    return planes


def slow_numbers(twin: Toscana, player: int) -> dict[str, list[int]]:
    seats = (player, 1 - player)
    tops = [twin.stacks[seat][0] if twin.stacks[seat] else None for seat in seats]
    squares: list[int] = []
    for place, top in enumerate(tops):
        own = (1, -1) if place == 0 else (-1, 1)
        marks = "".join(TILES[top]) if top else ""
        squares += [own[mark == "x"] for mark in marks] or [0] * 8
    sunk = [twin.bottom[seat] if twin.stacks[seat] else None for seat in seats]
    areas, scores = twin.round_score(), twin.scores()
    return {
        "stage": [int(twin.stage == stage) for stage in ("veto", "place", "over")],
        "to_act": [int(not twin.over and twin.player == seat) for seat in seats],
        "scores": [scores[seat] for seat in seats],
        "areas": [areas[seat] for seat in seats],
        "round": [len(twin.round_scores)],
        "rounds_left": [twin.rounds - 1 - twin.round],
        "passed": [int(twin.passes > 0)],
        "stones": [int(twin.stones[seat]) for seat in seats],
        "stacks": [len(twin.stacks[seat]) for seat in seats],
        "top": squares,
        "top_tile": [1 + IDS.index(top) if top else 0 for top in tops],
        "sunk": [1 + IDS.index(tile) if tile else 0 for tile in sunk],
        "left": [int(name in twin.stacks[seat]) for seat in seats for name in IDS],
    }


@pytest.mark.uncompiled
@pytest.mark.parametrize("options", [{"size": 7}, {"size": 9, "contact": "colour", "veto": "match"}], ids=str)
def test_observations_say_what_lies_on_the_board(options: dict[str, Any]) -> None:
    for seed in range(2):
        rng = random.Random(seed)
        pair = deal_pair(rng, **options)
        while True:
            for player in range(2):
                array, numbers = observed(pair, player)
                planes = slow_planes(pair.twin, player)
                assert np.array_equal(array, np.concatenate([planes[name] for name, *_ in features.PLANES]))
                wanted = slow_numbers(pair.twin, player)
                assert [len(wanted[name]) for name, *_ in features.NUMBERS] == [n for _, n, _ in features.NUMBERS]
                assert numbers.tolist() == [number for name, *_ in features.NUMBERS for number in wanted[name]]
            if pair.twin.over:
                break
            pair.play(rng.choice(sorted(pair.kernel_moves())))


def test_the_whole_array_is_the_planes_and_a_constant_plane_for_each_number() -> None:
    env, rng = toscana_v0.raw_env(size=7), np.random.default_rng(1)
    env.reset(seed=1)
    while not any(env.terminations.values()):
        position = env.position()
        for player in range(2):
            array, numbers = (np.zeros(part.shape, part.dtype) for part in HOW.parts(2, 7))
            HOW.observe(position.states, 0, env.rules.tables, player, 7, array.reshape(-1), numbers)
            whole = env.observe(f"player_{player}")["observation"]
            assert np.array_equal(whole[: len(array)], array)
            assert np.array_equal(whole[len(array) :], np.tile(numbers[:, None, None], (1, 7, 7)))
        env.step(int(rng.choice(np.flatnonzero(env.observe(env.agent_selection)["action_mask"]))))


def test_action_numbers_are_those_of_the_manual() -> None:
    for size in (5, 17, 31):
        rules = new_game("toscana", seed=1, size=size).rules
        states = np.zeros(1, rules.game.state)
        for row, column, rotation in ((0, 0, 0), (3, 4, 1), (size - 2, size - 4, 2)):
            action = rotation * size * size + row * size + column
            assert HOW.to_action(states, 0, rules.tables, size, number_of(("place", row, column, rotation))) == action
        assert HOW.to_action(states, 0, rules.tables, size, VETO) == 4 * size * size
        assert HOW.to_action(states, 0, rules.tables, size, ALLOW) == 4 * size * size + 1
        assert HOW.num_actions(2, size) == 4 * size * size + 2


@pytest.mark.parametrize("view", [17, "all", 0])
def test_there_is_no_other_view(view: int | str) -> None:
    with pytest.raises(OptionError, match=r"option view: .* is not for Toscana"):
        toscana_v0.raw_env(view=view)


# ---- the manual


def test_the_docstring_lists_every_plane_number_and_option() -> None:
    text = toscana_v0.__doc__ or ""
    for rows in (features.PLANES, features.NUMBERS):
        first = 0
        for name, count, _ in rows:
            number = f"{first}" if count == 1 else f"{first} to {first + count - 1}"
            assert f"    {number:<16}{name:<17}" in text
            first += count
    assert f"({features.NUM_PLANES + features.NUM_NUMBERS}, V, V)" in text
    for option in ("num_players", "encoding", "view", "reward", "render_mode", "viewer", *get_game("toscana").defaults):
        assert f"\n    {option:<17}" in text


# ---- texts


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("place (8,7) r1", CELLS + 8 * WIDTH + 7),
        ("PLACE 8 7 R1", CELLS + 8 * WIDTH + 7),
        (" place(0, 0)r0 ", 0),
        ("veto", VETO),
        ("Allow", ALLOW),
    ],
)
def test_moves_are_read_freely(text: str, move: int) -> None:
    assert new_game("toscana", seed=1).parse(text) == move


@pytest.mark.parametrize("text", ["place (8,7)", "place (8,7) r4", "place (-1,7) r0", "pass", "", "place (99,0) r0"])
def test_what_is_no_move_says_how_moves_are_written(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no move; write|no board reaches"):
        new_game("toscana", seed=1).parse(text)


def test_every_number_has_a_text_that_reads_back() -> None:
    position = new_game("toscana", seed=1)
    for move in range(0, NUM_MOVES, 7):
        cell = move % CELLS
        if move >= VETO or max(at_cell(cell)) < 31:
            assert position.parse(position.text(move)) == move
        assert cell_at(*at_cell(cell)) == cell


def test_a_table_written_out_by_hand() -> None:
    games = (new_game("toscana", seed=seed, size=5, rounds=1) for seed in range(100))
    position = next(game for game in games if game.states["starter"][0] == 0)
    position.play("allow")
    top = position.rules.material[int(position.states["stack"][0, 0, int(position.states["num_stack"][0, 0]) - 1])]
    first = [("/\\" if mark == "o" else "::") for mark in top.rows[0]]
    second = [("/\\" if mark == "o" else "::") for mark in top.rows[1]]
    position.play("place (1,0) r0")
    assert position.show().split("\n")[:8] == [
        "     0  1  2  3  4",
        "",
        " 0   .  .  .  .  .",
        "   +--+--+--+--+",
        " 1 |" + " ".join(first) + "| .",
        "   +           +",
        " 2 |" + " ".join(second) + "| .",
        "   +--+--+--+--+",
    ]


def test_a_viewer_is_told_no_order() -> None:
    position = new_game("toscana", seed=1)
    below = [re.findall(r"P\d\d", line) for line in str(position).split("\n") if "below" in line]
    shown = [re.findall(r"P\d\d", line) for line in position.show(0).split("\n") if "below" in line]
    assert [len(ids) for ids in below] == [15, 15]
    assert [sorted(ids) for ids in below] == shown != below


# ---- pictures


def sprites(position: Position, **how: Any) -> list[Sprite]:
    scene = position.rules.game.draw(position.rules, position.states, 0, **how)
    return [shape for shape in scene.shapes if isinstance(shape, Sprite)]


def some_position(plies: int = 17, **options: Any) -> Position:
    position, draw = new_game("toscana", seed=6, **options), random.Random(2)
    for _ in range(plies):
        position.play(draw.choice(position.moves()))
    return position


def test_every_tile_is_drawn_where_it_lies() -> None:
    position = some_position()
    state = position.states[0]
    drawn = [sprite for sprite in sprites(position) if " at (" in sprite.title]
    patterns = [square_shapes(0), square_shapes(1)]
    squares = {(round(one.x, 6), round(one.y, 6)): one.shapes for one in sprites(position) if one.shapes in patterns}
    squares = {place: shapes for place, shapes in squares.items() if place[0] < 900}
    assert len(drawn) == state["num_tiles"] > 5
    cell = 840 / 17
    for slot, sprite in enumerate(drawn):
        owner, number = divmod(int(state["tile"][slot]), 16)
        row, column = at_cell(state["cell"][slot])
        rows = turned(position.rules.material[number].rows, int(state["rotation"][slot]))
        assert (sprite.x, sprite.y) == pytest.approx((30 + column * cell, 30 + row * cell))
        for y, colours in enumerate(colours_of(rows, owner)):
            for x, colour in enumerate(colours):
                place = round(30 + (column + x) * cell, 6), round(30 + (row + y) * cell, 6)
                assert squares.pop(place) == square_shapes(colour)
    assert not squares


def test_counters_lie_on_the_tiles_that_count() -> None:
    for plies in (6, 12, 25, 200):
        position = new_game("toscana", seed=6, rounds=1)
        draw = random.Random(2)
        while position.ply < plies and not position.over:
            position.play(draw.choice(position.moves()))
        for colour in range(2):
            titles = [sprite.shapes for sprite in sprites(position) if sprite.title.startswith("counts for")]
            assert titles.count(counter(colour)) == position.scores()[colour]


def test_stones_tops_and_the_rest_are_in_the_panel() -> None:
    position = some_position(9)
    state = position.states[0]
    drawn = sprites(position, viewer=0)
    for seat in range(2):
        word = "a" if state["stone"][seat] else "no"
        (found,) = (sprite for sprite in drawn if sprite.title == f"player {seat} has {word} veto stone")
        assert found.shapes == stone(bool(state["stone"][seat]))
    assert sum(sprite.title.endswith("on top of the stack") for sprite in drawn) == 2
    assert sum(sprite.title.endswith("in the stack") for sprite in drawn) == int(state["num_stack"].sum()) - 2


def test_marks_of_the_last_tile_and_of_places() -> None:
    position = some_position()
    while position.states["stage"][0] != 1:
        position.play("allow")
    places = position.moves()
    drawn = sprites(position, legal=places)
    marked = [sprite for sprite in drawn if sprite.title.startswith("can be placed")]
    assert len(marked) == len({move % CELLS for move in places})
    assert not any(sprite.title == "just placed" for sprite in drawn)
    move = places[3]
    position.play(move)
    drawn = sprites(position, last=move)
    (found,) = (sprite for sprite in drawn if sprite.title == "just placed")
    lies = outline(4, 2, LAST) if move // CELLS % 2 == 0 else outline(2, 4, LAST)
    assert found.shapes == lies


def test_places_with_some_rotations_show_their_numbers() -> None:
    texts = [shape.text for shape in place_mark((1, 2)) if isinstance(shape, Text)]
    assert texts == ["1", "2"]
    assert not [shape for shape in place_mark((0, 1, 2, 3)) if isinstance(shape, Text)]


def test_the_status_says_who_decides_what() -> None:
    position = new_game("toscana", seed=1, size=7)
    seen = set()
    while True:
        scene = position.rules.game.draw(position.rules, position.states, 0)
        texts = [shape.text for shape in scene.shapes if isinstance(shape, Text)]
        seen |= {
            re.sub(r"\d+|roofs|paving", "*", text) for text in texts if text.startswith(("player", "Over", "round"))
        }
        if position.over:
            break
        position.play(position.moves()[0])
    assert {"player * (*) is to place P*", "player * (*) may veto P*", "round * of *"} <= seen
    assert any(text.startswith("round * of *, before: * to *") for text in seen)
    assert any(text.startswith("Over: ") for text in seen)


def test_the_picture_is_svg_whatever_the_size() -> None:
    for size in (5, 17, 31):
        root = ET.fromstring(some_position(9, size=size).svg(legal=True))
        assert root.get("viewBox") == "0 0 1200 900"
