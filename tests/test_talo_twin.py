"""The compiled Talō against the plain-Python one: whole legal sets, tables and scores, decision by decision."""

import numpy as np
import pytest

from tests.reference.talo import Talo
from tests.talo_tools import POND, blocks_of, playing_policy
from tollero_env.game import get_rules
from tollero_env.games.talo import protocol
from tollero_env.games.talo.boards import Board
from tollero_env.games.talo.constants import (
    AXES,
    BLOCKED,
    BUILDING,
    DONE,
    FIELD,
    OVER,
    PICK,
    STARTING,
    STAY,
    TAKE,
    TAKING,
    WALK,
)
from tollero_env.games.talo.notation import at_cell, lengths_of, pawn_at
from tollero_env.games.talo.replay import legal_choice
from tollero_env.games.talo.state import SETUP, STATE

STAGES = {STARTING: "start", BLOCKED: "restart", TAKING: "take", BUILDING: "build", DONE: "build", OVER: "over"}


def twin_move(state, move):
    """The twin's name for a move of the kernel; None for half a placement."""
    if move < WALK:
        return ("place", int(state["picked_length"]), *at_cell(move), AXES[int(state["picked_axis"])])
    if move < FIELD:
        x, y, z = at_cell(move - WALK)
        return ("move", x, y, z + 1)
    if move < PICK:
        return ("start" if state["stage"] == STARTING else "restart", *at_cell(move - FIELD)[:2])
    if move < TAKE:
        return None
    if move < STAY:
        return ("take", tuple(lengths_of(move - TAKE)))
    return ("stay",) if move == STAY else ("end",)


def kernel_legal(rules, states):
    """The kernel's legal set in the twin's words."""
    state = states[0]
    if state["stage"] in (BUILDING, DONE):
        choice = legal_choice(rules, states)
        found = {("place", *place) for place in choice["place"]} | {("move", *top) for top in choice["move"]}
        return found | ({("end",)} if choice["end"] else set())
    buffer = np.zeros(20_000, np.int64)
    number = protocol.moves(states, 0, rules.tables, buffer)
    return {twin_move(state, int(move)) for move in buffer[:number]}


def compare_tables(rules, state, twin):
    stood = len(twin.blocks)
    blocks = [(length, x, y, z, AXES[axis]) for length, x, y, z, axis in blocks_of(state)]
    assert [tuple(block) for block in [*twin.blocks, *twin.fallen]] == blocks
    assert int(state["num_blocks"]) - int(state["num_fallen"]) == stood
    assert {length: int(state["stock"][length]) for length in range(1, 11)} == twin.pile
    assert STAGES[int(state["stage"])] == twin.stage
    if not twin.fantasy:
        assert [pawn_at(state, seat) for seat in range(rules.players)] == twin.pawns
    if twin.over:
        assert int(state["builder"]) - 1 == (-1 if twin.collapsed is None else twin.collapsed)
        return
    assert int(state["player"]) == twin.player
    assert [int(length) for length in state["hand"] if length] == twin.hand
    assert bool(state["falling"]) == twin.falling
    if twin.stage in ("take", "build"):
        assert (int(state["die"]), int(state["rolls"])) == (twin.value, twin.rolls + 1)
    if twin.stage == "build":
        assert bool(state["moved"]) == twin.moved


def compare_scores(rules, states, twin):
    points, shares = np.zeros(rules.players, np.int64), np.zeros(rules.players)
    protocol.scores(states, 0, rules.tables, points)
    protocol.outcome(states, 0, rules.tables, shares)
    assert points.tolist() == twin.scores()
    assert shares == pytest.approx([float(share) for share in twin.outcome()])


def roll_both(rules, states, twin, rng):
    """Settle the die in both until a player decides."""
    while states[0]["chance"]:
        assert twin.stage == "roll"
        value = int(rng.integers(1, 11))
        protocol.chance(states, 0, rules.tables, value)
        twin.roll(value)


def compare_game(players, options, seed, whole=0.2, most=10_000):
    """Play one game in both; at some decisions of building, and all others, compare whole legal sets."""
    rules, twin = get_rules("talo", players, **options), Talo(players, **twin_options(options))
    states, rng = np.zeros(1, STATE), np.random.default_rng(seed)
    protocol.deal(states, 0, rules.tables, np.zeros(1, SETUP))
    choose, decisions, compared = playing_policy(rules, rng), 0, 0
    while True:
        roll_both(rules, states, twin, rng)
        compare_tables(rules, states[0], twin)
        compare_scores(rules, states, twin)
        if states[0]["over"] or decisions >= most:
            return twin, compared
        decisions += 1
        hand = int(np.count_nonzero(states[0]["hand"]))
        if states[0]["stage"] != BUILDING or rng.random() < whole / hand**2:
            before = states.copy()
            assert kernel_legal(rules, states) == twin.legal()
            assert states.tobytes() == before.tobytes()
            compared += 1
        for move in choose(states):
            name = twin_move(states[0], move)
            assert protocol.is_legal(states, 0, rules.tables, move)
            protocol.act(states, 0, rules.tables, move)
            if name is not None:
                twin.play(name)


def twin_options(options):
    """The twin takes the rows of a board instead of a file."""
    return {name: value.rows if isinstance(value, Board) else value for name, value in options.items()}


def name_of(value):
    """Options in a few words, for the names of tests."""
    if not isinstance(value, dict):
        return str(value)
    return " ".join(str(getattr(one, "name", one)) for one in value.values()) or "defaults"


FANTASY = {"variant": "fantasy"}
KINDS = [
    (2, {}),
    (3, {"board": "islands"}),
    (4, {"board": POND}),
    (2, {"starts": "symmetric"}),
    (4, {"collapse": "lose"}),
    (2, {"collapse": "lose", "board": "islands"}),
    (2, FANTASY),
    (3, {**FANTASY, "board": "islands", "goal": "three-feet"}),
    (4, {**FANTASY, "board": "table"}),
    (2, {**FANTASY, "board": "table", "goal": "three-feet"}),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("players", "options"), KINDS, ids=name_of)
def test_both_play_the_same_games(players, options):
    _, compared = compare_game(players, options, 1, whole=0.15, most=60)
    assert compared >= 5


@pytest.mark.slow
@pytest.mark.parametrize(("players", "options"), KINDS, ids=name_of)
@pytest.mark.parametrize("seed", range(10, 20))
def test_both_play_whole_games_to_the_end(players, options, seed):
    twin, compared = compare_game(players, options, seed, whole=0.3)
    assert twin.over
    assert compared >= 3
