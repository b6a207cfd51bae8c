"""Tollero: lay a tile, then build two Floors along the canals; majorities and fountains score."""

from tollero_env.game import Game
from tollero_env.games.tollero import ansi, check, draw, encodings, notation, protocol, replay, search, tables, turns
from tollero_env.games.tollero.constants import MAX_FLOORS, MAX_LEGAL, NUM_MOVES, PROBLEMS
from tollero_env.games.tollero.state import STATE
from tollero_env.kernels import make_loops

GAME = Game(
    name="tollero",
    title="Tollero",
    players=range(2, 5),
    state=STATE,
    num_moves=NUM_MOVES,
    max_legal=MAX_LEGAL,
    problems=PROBLEMS,
    defaults={
        "tileset": tables.DEFAULT_TILESET,
        "floors": MAX_FLOORS,
        "downtown_scores": True,
        "downtown": None,
    },
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
    turns=turns.TURNS,
    styles=search.STYLES,
)
