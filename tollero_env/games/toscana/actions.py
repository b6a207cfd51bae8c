"""Moves of Toscana as actions, both ways, and which of them are legal. `view` is the side of the board."""

import numpy as np

from tollero_env.bits import drop_lowest, lowest
from tollero_env.game import STEP_OVER
from tollero_env.games.toscana.constants import ASKED, CELLS, OVER, VETO, WIDTH
from tollero_env.games.toscana.rules import place_row, top_tile
from tollero_env.jit import jit

ILLEGAL = -1
NUM_ANSWERS = 2  # numbered behind the places: veto, allow


@jit(inline=True)
def move_of(state, view, action):
    """The move that an action stands for, ILLEGAL if it stands for none; it need not be legal."""
    area = view * view
    if action < 0 or action >= 4 * area + NUM_ANSWERS:
        return ILLEGAL
    if action >= 4 * area:
        return VETO + action - 4 * area
    place = action % area
    return action // area * CELLS + place // view * WIDTH + place % view


@jit(inline=True)
def action_of(state, view, move):
    """The action of a legal move."""
    if move >= VETO:
        return 4 * view * view + move - VETO
    cell = move % CELLS
    return (move // CELLS * view + cell // WIDTH) * view + cell % WIDTH


@jit(inline=True)
def mark(state, tables, view, mask):
    """Set the legal actions of the player to act in an array of zeros; returns how many there are."""
    if state["stage"] == OVER:
        return 0
    if state["stage"] == ASKED:
        mask[4 * view * view] = mask[4 * view * view + 1] = 1
        return NUM_ANSWERS
    n, player = 0, np.int64(state["player"])
    tile = top_tile(state, player)
    for rotation in range(4):
        for y in range(view):
            places = place_row(state, tables, player, tile * 4 + rotation, y)
            while places:
                mask[(rotation * view + y) * view + lowest(places)] = 1
                places = drop_lowest(places)
                n += 1
    return n


@jit(inline=True)
def unmark(state, view, mask):
    """Clear what `mark` set for this position."""
    if state["stage"] == ASKED:
        mask[4 * view * view :] = 0
    else:
        mask[: 4 * view * view] = 0


@jit(inline=True)
def status(state, tables, view):
    """The seat to act; STEP_OVER once the game is over."""
    return STEP_OVER if state["over"] else np.int64(state["player"])
