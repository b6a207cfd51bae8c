"""Tollero for learned players."""

from tollero_env.games.tollero.describing import MAX_ROWS, ROW, SIZES, TAGS, describe
from tollero_env.games.tollero.planning import WORK, evaluate, plan
from tollero_env.games.tollero.protocol import VERBS
from tollero_env.learning import Planner, make_learning

VERSION = 1
LEARNING = make_learning(__name__, VERBS, Planner(VERSION, SIZES, MAX_ROWS, ROW, TAGS, WORK, describe, evaluate, plan))
