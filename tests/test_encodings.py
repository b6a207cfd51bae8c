"""Actions and observations of Tollero against slow ones made from the tile set; nothing hidden is in them."""

from typing import Any

import numpy as np
import pytest

from tollero_env.game import Rules, get_rules
from tollero_env.games.tollero import features
from tollero_env.games.tollero.actions import NUM_SLOT_ACTIONS
from tollero_env.games.tollero.constants import BUILD, CELLS, FIRST_CITY, MAX_TILES, NO_TILE, SLOTS
from tollero_env.games.tollero.notation import at_cell
from tollero_env.games.tollero.tables import faces_of
from tollero_env.games.tollero.tiles import turned
from tollero_env.position import Position

pytestmark = pytest.mark.uncompiled

CASES = [(2, "planes"), (3, "planes"), (4, "planes"), (2, "slots"), (3, "slots"), (4, "slots")]


def positions(rules: Rules, seed: int, every: int = 7) -> list[Position]:
    """Some positions of a random game, the last one over."""
    rng, position, found = np.random.default_rng(seed), Position.new(rules, seed), []
    while not position.over:
        if position.ply % every == 0:
            found.append(position.copy())
        position.play(int(rng.choice(position.moves())))
    return [*found, position]


def observation(position: Position, encoding: str, player: int, view: int) -> tuple[Any, Any, Any]:
    """Both parts and the mask, in fresh arrays."""
    rules = position.rules
    how = rules.game.encodings[encoding]
    parts = [np.zeros(part.shape, part.dtype) for part in how.parts(rules.players, view)]
    how.observe(position.states, 0, rules.tables, player, view, parts[0].reshape(-1), parts[1])
    mask = np.zeros(how.num_actions(rules.players, view), np.int8)
    if not position.over and position.player == player:
        how.mask(position.states, 0, rules.tables, view, mask)
    return parts[0], parts[1], mask


def slow_tile(rules: Rules, state: Any, slot: int, player: int) -> dict[str, list[int]]:
    """What is to be said of one tile, from its printed face."""
    table = {at_cell(state["cell"][k]): k for k in range(state["num_tiles"])}
    faces = {
        k: turned(faces_of(rules.material)[state["face"][k]], int(state["rotation"][k]))
        for k in range(state["num_tiles"])
    }
    face, (x, y) = faces[slot], at_cell(state["cell"][slot])
    pointed = [0, 0, 0, 0]
    corner = [(0, 0), (1, 0), (1, 1), (0, 1)]  # of lots on the half-tile grid
    way = [(0, -1), (1, 0), (0, 1), (-1, 0)]
    for (tx, ty), k in table.items():
        for lot, direction in enumerate(faces[k].fountains):
            if direction >= 0:
                at = 2 * tx + corner[lot][0] + way[direction][0], 2 * ty + corner[lot][1] + way[direction][1]
                if (at[0] // 2, at[1] // 2) == (x, y):
                    pointed[corner.index((at[0] % 2, at[1] % 2))] += 1
    jets = [0, 0, 0, 0]
    for side in range(4):
        jets[side] = (face.fountains[side] == side) + 2 * (face.fountains[(side + 1) % 4] == side)
    buildings = [int(building) for building in state["building"][slot]]
    heights = [0] * (4 * rules.players)
    for lot, building in enumerate(buildings):
        if building:
            heights[4 * ((building // 32 - player) % rules.players) + lot] = building % 32
    return {
        "tile": [1],
        "at": [x, y],
        "canals": [face.canals >> side & 1 for side in range(4)],
        "value": [face.value],
        "open": [face.foundations >> lot & 1 if not buildings[lot] else 0 for lot in range(4)],
        "fountains": pointed,
        "jets": jets,
        "origin": [int(state["stage"] in (1, 2) and state["origin"] == slot)],
        "heights": heights,
    }


def slow_numbers(rules: Rules, position: Position, player: int) -> dict[str, list[int]]:
    """The numbers beside the table."""
    state, players = position.states[0], rules.players
    seats = [(player + k) % players for k in range(players)]
    fill = [0] * (4 - players)
    unseen = [tile.copies for tile in rules.material.city]
    seen = [*state["face"][5 : state["num_tiles"]], *state["gone"][: state["num_gone"]], state["hand"][player]]
    for face in seen:
        if face != NO_TILE:
            unseen[face - FIRST_CITY] -= 1
    hand = int(state["hand"][player])
    face = rules.material.city[hand - FIRST_CITY].face if hand else None
    inner = [0, 0, 0, 0]
    for lot in range(4):
        if face and face.fountains[lot] == (lot + 1) % 4:
            inner[(lot + 1) % 4] += 1
        if face and face.fountains[lot] == (lot + 2) % 4:
            inner[(lot + 3) % 4] += 1
    scores = position.scores()
    return {
        "stage": [int(state["stage"] == k) for k in range(4)],
        "to_act": [int(not position.over and seat == position.player) for seat in seats] + fill,
        "floors": [int(state["floors_left"][seat]) for seat in seats] + fill,
        "scores": [scores[seat] for seat in seats] + fill,
        "holds": [int(state["hand"][seat] != NO_TILE) for seat in seats] + fill,
        "pile": [int(state["num_pile"])],
        "hand": [hand - FIRST_CITY + 1 if hand else 0],
        "hand_value": [face.value if face else 0],
        "hand_canals": [face.canals >> side & 1 if face else 0 for side in range(4)],
        "hand_open": [face.foundations >> lot & 1 if face else 0 for lot in range(4)],
        "hand_fountains": inner,
        "hand_jets": [
            (face.fountains[side] == side) + 2 * (face.fountains[(side + 1) % 4] == side) if face else 0
            for side in range(4)
        ],
        "unseen": unseen + [0] * (54 - len(unseen)),
    }


@pytest.mark.parametrize(("players", "encoding"), CASES)
def test_observations_say_what_lies_on_the_table(players, encoding):
    rules = get_rules("tollero", players)
    view = rules.game.encodings[encoding].resolve_view(rules, None)
    table = features.PLANES if encoding == "planes" else features.ROWS
    for position in positions(rules, players, every=11):
        state = position.states[0]
        for player in range(players):
            array, numbers, _ = observation(position, encoding, player, view)
            expected = np.zeros_like(array)
            for slot in range(state["num_tiles"]):
                told = slow_tile(rules, state, slot, player)
                column = [number for name, _, _ in (*table, features.BUILDINGS) for number in told[name]]
                x, y = told["at"]
                if encoding == "slots":
                    expected[slot] = column
                elif max(abs(x), abs(y)) <= view // 2:
                    expected[:, y + view // 2, x + view // 2] = column
            np.testing.assert_array_equal(array, expected)
            slow = slow_numbers(rules, position, player)
            assert numbers.tolist() == [number for name, _, _ in features.NUMBERS for number in slow[name]]


@pytest.mark.parametrize(("players", "encoding"), CASES)
def test_the_whole_array_is_the_parts_in_short(players, encoding):
    rules = get_rules("tollero", players)
    how = rules.game.encodings[encoding]
    view = how.resolve_view(rules, None)
    for position in positions(rules, 20 + players, every=13):
        for player in range(players):
            array, numbers, mask = observation(position, encoding, player, view)
            part = how.whole(players, view)
            out, out_mask = np.full(part.shape, 7, part.dtype), np.full_like(mask, 7)
            scratch = np.empty_like(numbers)
            how.observe_whole(
                position.states, 0, rules.tables, player, view, array.size, scratch, out.reshape(-1), out_mask
            )
            np.testing.assert_array_equal(out_mask, mask)
            if encoding == "slots":
                np.testing.assert_array_equal(out, np.concatenate([array.reshape(-1), numbers]))
                continue
            np.testing.assert_array_equal(out[: len(array)], array)
            unseen = numbers[-54:]
            faces = [tile.face for tile in rules.material.city]
            values = [sum(n for n, f in zip(unseen, faces) if min(max(f.value, 1), 4) == v) for v in (1, 2, 3, 4)]
            canals = [sum(n for n, f in zip(unseen, faces) if max(f.canals.bit_count(), 1) == c) for c in (1, 2, 3, 4)]
            constants = np.clip([*numbers[:-54], *values, *canals], -128, 127)
            np.testing.assert_array_equal(
                out[len(array) :], np.broadcast_to(constants[:, None, None], out[len(array) :].shape)
            )


@pytest.mark.parametrize(
    ("players", "encoding", "view"), [(2, "planes", None), (3, "planes", "all"), (4, "slots", None)]
)
def test_actions_and_moves_are_one_to_one(players, encoding, view):
    rules = get_rules("tollero", players)
    how = rules.game.encodings[encoding]
    view = how.resolve_view(rules, view)
    for position in positions(rules, 40 + players):
        moves = position.moves()
        actions = [how.to_action(position.states, 0, rules.tables, view, move) for move in moves]
        assert len(set(actions)) == len(moves)
        assert [how.to_move(position.states, 0, rules.tables, view, action) for action in actions] == moves
        mask = observation(position, encoding, position.player, view)[2]
        assert set(np.flatnonzero(mask)) == set(actions)
        rng = np.random.default_rng(position.ply)
        others = [int(action) for action in rng.integers(-5, len(mask) + 5, 40) if action not in actions]
        assert all(how.to_move(position.states, 0, rules.tables, view, action) < 0 for action in others)


def test_action_numbers_are_those_of_the_manual():
    rules = get_rules("tollero", 2)
    position = Position.new(rules, 1)
    planes, slots = rules.game.encodings["planes"], rules.game.encodings["slots"]
    lay = position.parse("lay (2,0) r0")
    assert planes.to_action(position.states, 0, rules.tables, 19, lay) == 0 * 361 + 9 * 19 + 11
    assert slots.to_action(position.states, 0, rules.tables, 0, lay) == 236 + 16 * 2 + 4 * 1 + 0  # east of slot 2
    corner = position.parse("lay (1,-1) r3")  # beside slot 1 (north) on its east, and slot 2 (east) on its north
    assert slots.to_action(position.states, 0, rules.tables, 0, corner) == 236 + 16 * 1 + 4 * 1 + 3
    position.play(position.moves()[0])
    build = BUILD + 4 * 3 + 2  # slot 3 lies south of the contract; its lot SE
    assert planes.to_action(position.states, 0, rules.tables, 19, build) == (4 + 2) * 361 + 10 * 19 + 9
    assert slots.to_action(position.states, 0, rules.tables, 0, build) == 14


def leaks(observe, position: Position, player: int) -> bool:
    """Does what is observed change with what that player cannot know?"""
    seen = {observe(position.hidden_from(player, seed), player) for seed in range(6)}
    return len(seen) > 1


@pytest.mark.parametrize(("players", "encoding"), CASES)
def test_nothing_hidden_leaks(players, encoding):
    rules = get_rules("tollero", players)
    view = rules.game.encodings[encoding].resolve_view(rules, None)

    def honest(position, player):
        return b"".join(array.tobytes() for array in observation(position, encoding, player, view))

    def leaking(position, player):
        return honest(position, player) + position.states[0]["pile"][:5].tobytes()

    for position in positions(rules, 60 + players, every=10)[:-1]:
        for player in range(players):
            # while another is about to lay, that hand decides nobody's mask but its owner's
            assert not leaks(honest, position, player)
            assert leaks(leaking, position, player)


@pytest.mark.parametrize("encoding", ["planes", "slots"])
def test_an_array_may_hold_an_earlier_observation_of_the_game(encoding):
    rules = get_rules("tollero", 3)
    how = rules.game.encodings[encoding]
    view = how.resolve_view(rules, None)
    kept = [np.zeros(part.shape, part.dtype) for part in how.parts(3, view)]
    for position in positions(rules, 80):
        for player in (0, 2, 1):
            how.observe(position.states, 0, rules.tables, player, view, kept[0].reshape(-1), kept[1])
            array, numbers, _ = observation(position, encoding, player, view)
            np.testing.assert_array_equal(kept[0], array)
            np.testing.assert_array_equal(kept[1], numbers)


def test_a_small_view_offers_only_what_it_shows():
    rules = get_rules("tollero", 2)
    how = rules.game.encodings["planes"]
    hidden = 0
    for position in positions(rules, 90):
        mask = observation(position, "planes", position.player, 5)[2]
        shown = set()
        for move in position.moves():
            cell = move % CELLS if move < BUILD else int(position.states[0]["cell"][(move - BUILD) // 4])
            x, y = at_cell(cell)
            if max(abs(x), abs(y)) <= 2:
                shown.add(how.to_action(position.states, 0, rules.tables, 5, move))
            else:
                hidden += 1
                assert how.to_action(position.states, 0, rules.tables, 5, move) < 0
        assert set(np.flatnonzero(mask)) == shown
    assert hidden > 0


def test_legends_count_what_the_arrays_hold():
    for players in (2, 3, 4):
        for name, how in get_rules("tollero", players).game.encodings.items():
            array, numbers = how.parts(players, 19 if name == "planes" else 0)
            kinds = list(how.legend)
            counted = sum(n * (players if row == "heights" else 1) for row, n, _ in how.legend[kinds[0]])
            assert counted == (array.shape[0] if name == "planes" else array.shape[1])
            assert sum(n for _, n, _ in how.legend["number"]) == numbers.shape[0]
    assert NUM_SLOT_ACTIONS == 1180
    assert SLOTS > MAX_TILES
