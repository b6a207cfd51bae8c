"""Tollero as a PettingZoo AEC environment, version 0: a city of canals for 2 to 4 players.

    from tollero_env import tollero_v0

    env = tollero_v0.env(num_players=3)
    env.reset(seed=1)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        legal = np.flatnonzero(observation["action_mask"])
        env.step(None if terminated or truncated else rng.choice(legal))

Agents are "player_0" to "player_3" in seat order; player_0 begins. A turn is up to three steps of one agent: lay the
tile in hand, place a first Floor, place a second. Draws, and tiles that fit nowhere, follow of themselves.

Options (of `env`, `raw_env` and `pettingzoo.make("aec", "tollero_env/tollero-v0", ...)`; unknown ones raise)
    num_players      2 (default), 3 or 4
    encoding         "planes" (default) or "slots"
    view             planes: odd side V of the view; default 19, 23, 25 for 2, 3, 4 players; "all" for the whole table
    reward           "win" (default), "margin" or "score"
    render_mode      None, "human", "ansi", "svg" or "rgb_array"
    viewer           whose view is rendered: "acting" (default), "all" (hidden tiles too) or a seat
    tileset          name of a tile set or path of a TOML file
    floors           Floors a player begins with, 1 to 20 (default)
    downtown_scores  do Downtown tiles score? True (default) or False
    downtown         a fixed Downtown, "D3:B:1 D4:B:0 D2:A:3 D1:B:1": tile, side, rotation for N E S W

Actions, encoding "planes": Discrete(8 * V * V), number = plane * V * V + row * V + column, with the contract tile in
the middle of the view, rows from north to south and columns from west to east
    planes 0 to 3    lay the tile in hand, turned clockwise so many quarters
    planes 4 to 7    place a Floor on lot NW, NE, SE, SW
Moves outside the view are not offered. If it hides every legal move, the game is truncated, pays 0 to all and infos
say {"view_overflow": True}: the mask of the agent to act is never all zeros. In view "all" V is 64 and the table is
wrapped round, which no city is wide enough to notice: it offers every legal move.

Actions, encoding "slots": Discrete(1180), exact at every player count; a number means the same place all game long.
Tiles are numbered as they were laid: 0 the contract, 1 to 4 Downtown N E S W, then the City tiles
    4 * slot + lot                            place a Floor on lot 0 to 3 (NW NE SE SW)
    236 + 16 * slot + 4 * side + rotation     lay the tile on the cell at that side (N E S W) of that tile; a cell has
                                              one name, by the lowest slot beside it

Observations are {"observation": Box, "action_mask": Box}, fresh arrays at every call. The mask is int8, all zeros for
an agent that is not to act. Own things come first, then the others' in turn order; nothing hidden is in them.

"planes": int8 of shape (66 + 4 * num_players, V, V)
    0               tile             1 where a tile lies
    1 to 4          canals           1 for a canal on side N, E, S, W
    5               value            value of the tile
    6 to 9          open             1 where lot NW, NE, SE, SW is an empty foundation
    10 to 13        fountains        fountains that point at lot NW, NE, SE, SW
    14 to 17        jets             fountains that point over side N, E, S, W (1: from its first lot clockwise, 2: from
                                     its second, 3: both)
    18              origin           the tile from which the pending Floor is counted
    19 onwards      heights          of buildings on lot NW, NE, SE, SW; four planes a player
    then, as constant planes, clipped to int8, the numbers below in short: all from stage to hand_jets, and instead of
    the unseen tiles one by one their counts by value (up to 1, 2, 3, 4 and more) and by canals (up to 1, 2, 3, 4):
    unseen_values, unseen_canals. So the short form leaves out which tiles are unseen, and scores above 127.

"slots": int16, flat: 59 rows of 21 + 4 * num_players, then the numbers; `split_slots` takes it apart
    0               tile             1 for a tile on the table
    1 to 2          at               x (east) and y (south), counted from the contract
    3 to 6          canals           as above
    7               value
    8 to 11         open
    12 to 15        fountains
    16 to 19        jets
    20              origin
    21 onwards      heights          four a player

Numbers
    0 to 3          stage            1 for what is next: lay, first Floor, second Floor, nothing (over)
    4 to 7          to_act           1 for the player to act, counted from the observer
    8 to 11         floors           Floors left
    12 to 15        scores           stars as the table stands
    16 to 19        holds            1 for a player with a tile in hand
    20              pile             tiles in the pile
    21              hand             own tile: 1 + its number in the tile set, 0 for none
    22              hand_value       its value
    23 to 26        hand_canals      its canals N, E, S, W, unturned
    27 to 30        hand_open        its foundations NW, NE, SE, SW
    31 to 34        hand_fountains   its own fountains that point at lot NW, NE, SE, SW
    35 to 38        hand_jets        its fountains that point over side N, E, S, W
    39 to 92        unseen           copies this player has not seen, for each City tile of the set

Rewards come at the end alone. "win": (n * share - 1) / (n - 1), where tied winners share: zero-sum, +1 for a lone
winner. "margin": own stars less the mean of the others'. "score": own stars. `infos` then hold "scores" and "outcome".

An illegal action raises in `raw_env` and changes nothing; in `env` PettingZoo's wrapper ends the game with -1 for who
played it. `get_bytes()` and `set_bytes()`, copy.deepcopy and pickle are right in the middle of a game.

Version: v0. The number goes up when what an agent sees, may do or is paid changes in a way that would make results
incomparable: rules, the default tile set, numbering of actions, meaning of observations, rewards.
"""

from typing import Any

from tollero_env.envs.aec import GameEnv, GuardedEnv, wrapped
from tollero_env.game import Array
from tollero_env.games.tollero.constants import MAX_TILES
from tollero_env.games.tollero.features import NUM_NUMBERS


def raw_env(num_players: int = 2, **options: Any) -> GameEnv:
    """The env without PettingZoo's wrappers: faster, and an illegal action raises and changes nothing."""
    return GameEnv("tollero", num_players, **options)


def env(num_players: int = 2, **options: Any) -> GuardedEnv:
    """The env in PettingZoo's usual wrappers: an illegal action ends the game with a loss for who played it."""
    return wrapped(raw_env(num_players, **options))


def split_slots(observation: Array) -> tuple[Array, Array]:
    """Rows of tiles (..., 59, features) and numbers (..., 93) of `slots` observations (..., size), as views."""
    rows, numbers = observation[..., :-NUM_NUMBERS], observation[..., -NUM_NUMBERS:]
    return rows.reshape(*rows.shape[:-1], MAX_TILES, -1), numbers
