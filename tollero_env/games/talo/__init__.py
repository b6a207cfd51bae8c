"""Talō: build with blocks in three dimensions, where everything must stand, and climb to level 10."""

from tollero_env.game import Game
from tollero_env.games.talo import ansi, check, draw, encodings, notation, protocol, replay, tables
from tollero_env.games.talo.constants import MAX_LEGAL, NUM_MOVES, PROBLEMS
from tollero_env.games.talo.state import STATE
from tollero_env.kernels import make_loops

GAME = Game(
    name="talo",
    title="Talō",
    players=range(2, 5),
    state=STATE,
    num_moves=NUM_MOVES,
    max_legal=MAX_LEGAL,
    problems=PROBLEMS,
    defaults=tables.DEFAULTS,
    encodings=encodings.ENCODINGS,
    loops=make_loops(__name__, protocol.VERBS, MAX_LEGAL),
    deal=protocol.deal,
    reset=protocol.reset,
    moves=protocol.moves,
    is_legal=protocol.is_legal,
    act=protocol.act,
    chance=protocol.chance,
    apply=protocol.apply,
    scores=protocol.scores,
    outcome=protocol.outcome,
    resample=protocol.resample,
    check=check.check,
    playout=protocol.playout,
    playouts=protocol.playouts,
    make_tables=tables.make_tables,
    longest_game=tables.longest_game,
    score_bounds=tables.score_bounds,
    move_text=notation.move_text,
    parse_move=notation.parse_move,
    to_text=notation.to_text,
    to_ansi=ansi.to_ansi,
    draw=draw.draw,
    to_json=replay.to_json,
    from_json=replay.from_json,
    is_shared=protocol.is_shared,
)
