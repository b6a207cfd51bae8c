"""Tollero for learned players."""

from tollero_env.game import Planner
from tollero_env.games.tollero.describing import MAX_ROWS, ROW, SIZES, TAGS, UNIT, VERSION, describe
from tollero_env.games.tollero.planning import WORK, evaluate, plan
from tollero_env.games.tollero.protocol import VERBS
from tollero_env.learning import make_learning

PLANNER = Planner(VERSION, SIZES, MAX_ROWS, ROW, TAGS, UNIT, WORK, describe, evaluate, plan)
LEARNING = make_learning(__name__, VERBS, PLANNER)
