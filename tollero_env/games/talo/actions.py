"""Moves of Talō as actions, both ways, and which of them are legal, compiled.

Planes 0 to 9 of 24 x 24 actions are cells, plane z: what they stand for follows from what is decided: the least cell of
the block picked, the block whose top the pawn goes to, the field it starts on. Plane 10 has all the rest in its first
places: blocks to take, a block and its axis to pick, to stay, to end the turn.
"""

import numpy as np

from tollero_env.game import STEP_OVER
from tollero_env.games.talo.constants import AREA, BLOCKED, CELLS, FIELD, LAYING, NUM_MOVES, PICK, STARTING, WALK
from tollero_env.games.talo.protocol import list_with
from tollero_env.games.talo.state import WORK, hold
from tollero_env.jit import jit

ILLEGAL = -1
NUM_ACTIONS = CELLS + AREA


@jit(inline=True)
def move_of(state, view, action):
    """The move that an action stands for, ILLEGAL if it stands for none; it need not be legal."""
    if action < 0 or action >= NUM_ACTIONS:
        return ILLEGAL
    if action >= CELLS:
        move = PICK + action - CELLS
        return move if move < NUM_MOVES else ILLEGAL
    stage = state["stage"]
    if stage == LAYING:
        return action
    if stage in (STARTING, BLOCKED):
        return FIELD + action if action < AREA else ILLEGAL
    return WALK + action


@jit(inline=True)
def action_of(state, view, move):
    """The action of a legal move."""
    if move >= PICK:
        return CELLS + move - PICK
    if move >= FIELD:
        return move - FIELD
    return move - WALK if move >= WALK else move


@jit
def mark(state, tables, view, mask):
    """Set the legal actions of the player to act in an array of zeros; returns how many there are."""
    scratch = np.empty(1, WORK)
    out = np.empty(CELLS + AREA, np.int64)
    number = list_with(state, tables, scratch[0], out)
    hold(scratch)
    for k in range(number):
        mask[action_of(state, view, out[k])] = 1
    return number


@jit(inline=True)
def unmark(state, view, mask):
    """Clear what `mark` set for this position."""
    mask[:] = 0


@jit(inline=True)
def status(state, tables, view):
    """The seat to act; STEP_OVER once the game is over."""
    return STEP_OVER if state["over"] else np.int64(state["player"])
