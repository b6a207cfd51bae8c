"""Talō as a PettingZoo AEC environment, version 0: build in three dimensions and climb, for 2 to 4 players.

    from tollero_env import talo_v0

    env = talo_v0.env(num_players=3)
    env.reset(seed=1)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        legal = np.flatnonzero(observation["action_mask"])
        env.step(None if terminated or truncated else rng.choice(legal))

Agents are "player_0" to "player_3" in seat order; player_0 begins. The die is rolled of itself. A turn is several steps
of one agent: take the blocks, place each of them (two steps: the block with its axis, then its least cell), at most one
move of the pawn before, between and after, and end the turn. Masks are exact: every turn begun can be finished.

Options (of `env`, `raw_env` and `pettingzoo.make("aec", "tollero_env/talo-v0", ...)`; unknown ones raise)
    num_players      2 (default), 3 or 4
    encoding         "voxels", the only one
    reward           "win" (default), "margin" or "score"
    render_mode      None, "human", "ansi", "svg" or "rgb_array"
    viewer           nothing is hidden: any value shows the same
    board            "green" (default), "islands", the path of a TOML file, or "table" (Fantasy)
    starts           "free" (default) or "symmetric"
    collapse         "illegal" (default): what does not stand may not be placed; "lose": it may, and loses
    variant          "talo" (default) or "fantasy": all build together, without pawns
    goal             "free" (default) or "three-feet" (Fantasy)

Actions: Discrete(6336), number = plane * 576 + y * 24 + x, where x and y count from 7 cells beyond the board's edge, so
that field (0, 0) is (7, 7)
    planes 0 to 9    a cell at z = plane; the decision that is due says what for: the least cell of the block picked;
                     the block whose top the pawn goes to; the field it starts or restarts on (plane 0)
    plane 10         0 to 29 pick a block: 3 * (length - 1) + axis (x, y, upright); 30 to 39 take one block of length
                     1 to 10; 40 to 64 take two, by their sum, the larger first: 1+1, 2+1, 3+1, 2+2, 4+1, ... 5+5;
                     65 stay (when blockaded); 66 end the turn; the rest is never legal

Observations are {"observation": Box, "action_mask": Box}, fresh arrays at every call: int8 of shape (85, 24, 24), and a
mask that is all zeros for an agent that is not to act. Own things come first, then the others' in turn order.
    0 to 9           along_x          for each z: cells of blocks that lie along x, numbered 1, 2, ... in each block
    10 to 19         along_y          the same for blocks that lie along y
    20 to 29         upright          the same for standing blocks, from the bottom up
    30 to 33         pawns            1 + level of the pawn that stands there, a plane for each
    34               green            1 where z = 0 may be built on
    35               start            1 where a pawn may start
    36 to 37         action_larger, action_smaller     what the actions of plane 10 mean, place by place: blocks to take
    38 to 39         action_length, action_axis        block to pick, and its axis (1, 2, 3)
    40               action_other     1 to stay, 2 to end the turn
    then, as constant planes, the numbers

Numbers
    0 to 7           stage            1 for what is next: start, restart or stay, roll, take, build, place the block
                                      picked, end the turn, nothing (over)
    8 to 11          to_act           1 for the player to act, counted from the observer
    12 to 15         levels           1 + level of each pawn, own first
    16 to 19         pawns_x          its x
    20 to 23         pawns_y          its y
    24 to 33         stock            blocks left of length 1 to 10
    34               die              what was rolled last
    35               rolls            rolls made in this turn
    36 to 37         hand             lengths of the blocks in hand, the larger first
    38               picked           length of the block whose cell is due
    39               picked_axis      1, 2, 3 for its axis
    40               moved            1 if the pawn has moved since the last block was placed
    41               falling          1 if the first block needs the second to stand
    42               highest          level of the highest top
    43               feet             blocks that touch the board

Rewards come at the end alone. "win": (n * share - 1) / (n - 1), where equal heights share: zero-sum, +1 for a lone
winner. "margin": own level less the mean of the others'. "score": own level. In Fantasy every agent is paid the shared
reward, whatever `reward` says. `infos` then hold "scores" and "outcome".

An illegal action raises in `raw_env` and changes nothing; in `env` PettingZoo's wrapper ends the game with -1 for who
played it. `get_bytes()` and `set_bytes()`, copy.deepcopy and pickle are right in the middle of a game.

Version: v0. The number goes up when what an agent sees, may do or is paid changes in a way that would make results
incomparable: rules, boards, numbering of actions, meaning of observations, rewards.
"""

from typing import Any

from tollero_env.envs.aec import GameEnv, GuardedEnv, wrapped


def raw_env(num_players: int = 2, **options: Any) -> GameEnv:
    """The env without PettingZoo's wrappers: faster, and an illegal action raises and changes nothing."""
    return GameEnv("talo", num_players, **options)


def env(num_players: int = 2, **options: Any) -> GuardedEnv:
    """The env in PettingZoo's usual wrappers: an illegal action ends the game with a loss for who played it."""
    return wrapped(raw_env(num_players, **options))
