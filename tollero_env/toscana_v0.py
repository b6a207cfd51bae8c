"""Toscana as a PettingZoo AEC environment, version 0: roofs against paving, two players.

    from tollero_env import toscana_v0

    env = toscana_v0.env()
    env.reset(seed=1)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        legal = np.flatnonzero(observation["action_mask"])
        env.step(None if terminated or truncated else rng.choice(legal))

Agents are "player_0" (roofs) and "player_1" (paving); which of them starts is drawn at random. At the start of a turn
the opponent of the player whose turn it is decides whether to veto the top tile, as long as that veto stone is unspent
and the stack has two tiles; then the player places the top tile. Each is one step. Passes follow of themselves.

Options (of `env`, `raw_env` and `pettingzoo.make("aec", "tollero_env/toscana-v0", ...)`; unknown ones raise)
    num_players      2
    encoding         "planes"
    view             None: planes show the whole board
    reward           "win" (default), "margin" or "score"
    render_mode      None, "human", "ansi", "svg" or "rgb_array"
    viewer           whose view is rendered: "acting" (default), "all" (the order of the stacks too) or a seat
    size             side V of the board, odd, 5 to 31; default 17
    contact          "tile" (default): any square of a new tile may do the touching; "colour": one of the own colour
    veto             "round" (default) or "match": how long a veto stone has to last
    rounds           2 (default) or 1

Actions: Discrete(4 * V * V + 2)
    rotation * V * V + row * V + column    place the top tile, turned clockwise so many quarters, its upper-left square
                                           there; rows from the top, columns from the left, from 0
    4 * V * V                              veto
    4 * V * V + 1                          allow

Observations are {"observation": Box, "action_mask": Box}, fresh arrays at every call. The mask is int8, all zeros for
an agent that is not to act. Own things come first; nothing hidden is in them.

"planes": int8 of shape (75, V, V)
    0               own              1 on squares of the own colour
    1               other            1 on squares of the other's colour
    2 to 5          joined           1 where the square to the N, E, S, W is of the same tile
    6               area             tiles in the area that the square belongs to
    then, as constant planes, the numbers below

Numbers
    0 to 2          stage            1 for what is next: veto or allow, place, nothing (over)
    3 to 4          to_act           1 for the player to act
    5 to 6          scores           points as they stand, the round before included
    7 to 8          areas            tiles in the largest area of each colour
    9               round            rounds that are over
    10              rounds_left      rounds to come after this one
    11              passed           1 if the last turn was a pass
    12 to 13        stones           1 for a veto stone that is unspent
    14 to 15        stacks           tiles in the stack
    16 to 31        top              squares of the top tiles, unturned, row by row: 1 own colour, -1 the other's, 0 no
                                     tile; 8 of each player
    32 to 33        top_tile         number of the top tile, 1 to 16; 0 for none
    34 to 35        sunk             number of the tile that a veto has put to the bottom of the stack; 0 for none
    36 to 67        left             1 for each tile P01 to P16 in the stack, its top included; 16 of each player

Rewards come at the end alone. "win": 1 for the winner, -1 for the loser, 0 each for a draw. "margin": own points less
the other's. "score": own points. `infos` then hold "scores" and "outcome".

An illegal action raises in `raw_env` and changes nothing; in `env` PettingZoo's wrapper ends the game with -1 for who
played it. `get_bytes()` and `set_bytes()`, copy.deepcopy and pickle are right in the middle of a game.

Version: v0. The number goes up when what an agent sees, may do or is paid changes in a way that would make results
incomparable: rules, numbering of tiles and actions, meaning of observations, rewards.
"""

from typing import Any

from tollero_env.envs.aec import GameEnv, GuardedEnv, wrapped


def raw_env(num_players: int = 2, **options: Any) -> GameEnv:
    """The env without PettingZoo's wrappers: faster, and an illegal action raises and changes nothing."""
    return GameEnv("toscana", num_players, **options)


def env(num_players: int = 2, **options: Any) -> GuardedEnv:
    """The env in PettingZoo's usual wrappers: an illegal action ends the game with a loss for who played it."""
    return wrapped(raw_env(num_players, **options))
