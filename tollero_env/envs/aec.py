"""Any game as a PettingZoo AEC environment."""

import operator
import struct
import warnings
from typing import Any, Literal

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from tollero_env.envs.camera import FPS, RENDER_MODES, Camera
from tollero_env.game import (
    PAID,
    STEP_ASK,
    STEP_ILLEGAL,
    STEP_OVER,
    Array,
    MoveError,
    StateError,
    check_choice,
    get_rules,
)
from tollero_env.position import Position, as_word, new_seed
from tollero_env.rng import derive

Reward = Literal["win", "margin", "score"]

# Behind the state in get_bytes(): which agents are left, terminated, truncated; whose turn; seed of the next game;
# rewards and cumulative rewards.
_TAIL = struct.Struct("<4B Q 4d 4d")


class GameEnv(AECEnv[str, dict[str, Array], int]):  # type: ignore[misc]
    """A game for agents "player_0", "player_1", ... in seat order; one decision is one step.

    Observations are {"observation": array, "action_mask": int8 array}, fresh ones at every call; the mask is all zeros
    for an agent that is not to act. Rewards come at the end alone, and `infos` then hold scores and outcome.
    """

    def __init__(
        self,
        game: str,
        num_players: int = 2,
        *,
        encoding: str | None = None,
        view: int | str | None = None,
        reward: Reward = "win",
        render_mode: str | None = None,
        viewer: int | str = "acting",
        **options: Any,
    ) -> None:
        """Options that are not named here are those of the game's rules."""
        super().__init__()
        self._how = {
            "game": game,
            "num_players": num_players,
            "encoding": encoding,
            "view": view,
            "reward": reward,
            "render_mode": render_mode,
            "viewer": viewer,
            **options,
        }
        self._set_up()
        self.metadata = {
            "name": f"{game}_v0",
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": False,
            "render_fps": FPS,
        }
        self.possible_agents = [f"player_{seat}" for seat in range(num_players)]
        part = self._encoding.whole(num_players, self._view)
        bounds = np.iinfo(part.dtype)
        space = spaces.Dict(
            {
                "observation": spaces.Box(bounds.min, bounds.max, part.shape, part.dtype.type),
                "action_mask": spaces.Box(0, 1, (self._num_actions,), np.int8),
            }
        )
        self._observation_spaces = dict.fromkeys(self.possible_agents, space)
        self._action_spaces = {agent: spaces.Discrete(self._num_actions) for agent in self.possible_agents}
        self.state_space = spaces.Box(0, 255, (self.rules.game.state.itemsize,), np.uint8)
        self._next_seed = new_seed()
        self._last_move: int | None = None
        self._camera: Camera | None = None
        self._is_dealt = False
        self.agents: list[str] = []

    def _set_up(self) -> None:
        """All that follows from the options."""
        how = dict(self._how)
        game, players = how.pop("game"), how.pop("num_players")
        encoding, view = how.pop("encoding"), how.pop("view")
        self._reward, self.render_mode, self._viewer = how.pop("reward"), how.pop("render_mode"), how.pop("viewer")
        self.rules = get_rules(game, players, **how)
        encodings = self.rules.game.encodings
        name = next(iter(encodings)) if encoding is None else encoding
        check_choice("encoding", name, tuple(encodings))
        check_choice("reward", self._reward, PAID)
        check_choice("render_mode", self.render_mode or "ansi", RENDER_MODES)
        check_choice("viewer", self._viewer, ("acting", "all", *range(players)))
        self._encoding = encodings[name]
        self._view = self._encoding.resolve_view(self.rules, view)
        self._num_actions = self._encoding.num_actions(players, self._view)
        part = self._encoding.whole(players, self._view)
        self._shape, self._dtype, self._size = part.shape, part.dtype, int(np.prod(part.shape))
        array, numbers = self._encoding.parts(players, self._view)
        self._cells, self._numbers = int(np.prod(array.shape)), np.zeros(numbers.shape, numbers.dtype)
        self._observe, self._step, self._tables = self._encoding.observe_whole, self._encoding.step, self.rules.tables
        self._seats = {f"player_{seat}": seat for seat in range(players)}
        self._words = np.zeros(self.rules.game.state.itemsize // 8, np.uint64)
        self._states = self._words.view(self.rules.game.state)

    # ---- PettingZoo's interface

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The same space for every agent."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Discrete; its numbering is the encoding's."""
        return self._action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new game: the one `new_game(seed=seed)` deals; without a seed, the next of a row of games."""
        if options:
            warnings.warn(
                f"reset() takes no options here ({', '.join(map(str, options))} ignored); give them to the constructor",
                stacklevel=2,
            )
        game_seed = self._next_seed if seed is None else int(as_word(seed))
        self._next_seed = derive(game_seed, 1)
        self.rules.game.reset(self._states, 0, self._tables, np.uint64(game_seed))
        self._last_move, self._is_dealt = None, True
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None
        self._follow(self._step(self._states, 0, self._tables, self._view, STEP_ASK))
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> dict[str, Array]:
        """What that agent may know, in fresh arrays."""
        observation, mask = np.empty(self._size, self._dtype), np.empty(self._num_actions, np.int8)
        self._observe(
            self._states, 0, self._tables, self._seats[agent], self._view, self._cells, self._numbers, observation, mask
        )
        return {"observation": observation.reshape(self._shape), "action_mask": mask}

    def step(self, action: int | None) -> None:
        """Play an action for the agent to act; an illegal one raises MoveError and changes nothing."""
        if not self.agents:
            raise MoveError("there is no game to step in: call reset() first")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        try:
            number = operator.index(action)  # type: ignore[arg-type]
            move = (
                self._encoding.to_move(self._states, 0, self._tables, self._view, number) if self.render_mode else None
            )
            status = self._step(self._states, 0, self._tables, self._view, number)
        except (TypeError, OverflowError):
            raise MoveError(self._refusal(action)) from None
        if status == STEP_ILLEGAL or number == STEP_ASK:
            raise MoveError(self._refusal(action))
        self._last_move = move
        self._follow(status)
        if self.render_mode == "human":
            self.render()

    def state(self) -> Array:
        """The whole truth, hidden things included, as the bytes of the state."""
        return self._words.view(np.uint8).copy()

    def render(self) -> Any:
        """A picture in the way of `render_mode`; what the viewer may not see is not in it."""
        if self.render_mode is None:
            warnings.warn("render() needs a render_mode: give one to the constructor", stacklevel=2)
            return None
        if not self._is_dealt:
            raise StateError("there is no game yet: call reset() first")
        if self._camera is None:
            self._camera = Camera(self.rules, self.render_mode)
        viewer = {"all": None, "acting": int(self._states["player"][0])}.get(self._viewer, self._viewer)
        return self._camera.show(self._states, viewer, self._last_move)

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._camera is not None:
            self._camera.close()

    # ---- beyond it

    def position(self) -> Position:
        """The game as a Position of its own."""
        return Position(self.rules, self._states)

    def get_bytes(self) -> bytes:
        """The whole env: the game, and who is yet to be told how it ended."""
        if not self._is_dealt:
            raise StateError("there is no game yet: call reset() first")
        left = [agent in self.agents for agent in self.possible_agents]
        values = [self.terminations.get(agent, False) for agent in self.possible_agents]
        cut = [self.truncations.get(agent, False) for agent in self.possible_agents]
        rewards = [self.rewards.get(agent, 0.0) for agent in self.possible_agents]
        sums = [self._cumulative_rewards.get(agent, 0.0) for agent in self.possible_agents]
        numbers = [_to_bits(left), _to_bits(values), _to_bits(cut), self._seats[self.agent_selection]]
        return self._words.tobytes() + _TAIL.pack(*numbers, self._next_seed, *_four(rewards), *_four(sums))

    def set_bytes(self, data: bytes) -> None:
        """Take up what `get_bytes` gave; anything else is refused and nothing changes."""
        size = self.rules.game.state.itemsize
        if len(data) != size + _TAIL.size:
            raise StateError(f"{len(data)} bytes are no {self.metadata['name']}, which has {size + _TAIL.size}")
        position = Position.from_bytes(self.rules, data[:size])
        left, ended, cut, seat, next_seed, *sums = _TAIL.unpack(data[size:])
        everyone = (1 << len(self.possible_agents)) - 1
        if max(left, ended, cut) > everyone or ended & ~left or cut & ~left or seat >= len(self.possible_agents):
            raise StateError("these bytes are no state of this env: their list of agents makes no sense")
        self._words[:] = position.states.view(np.uint64)
        self._next_seed, self._last_move, self._skip_agent_selection = next_seed, None, None
        self._is_dealt = True
        self.agents = [agent for k, agent in enumerate(self.possible_agents) if left >> k & 1]
        places = {agent: self._seats[agent] for agent in self.agents}
        self.rewards = {agent: sums[k] for agent, k in places.items()}
        self._cumulative_rewards = {agent: sums[4 + k] for agent, k in places.items()}
        self.terminations = {agent: bool(ended >> k & 1) for agent, k in places.items()}
        self.truncations = {agent: bool(cut >> k & 1) for agent, k in places.items()}
        self.agent_selection = self.possible_agents[seat]
        self._tell()

    def __getstate__(self) -> dict[str, Any]:
        """Options and bytes: compiled functions and views of arrays are made anew."""
        kept = {"_how", "metadata", "possible_agents", "_observation_spaces", "_action_spaces", "state_space"}
        state = {name: value for name, value in self.__dict__.items() if name in kept}
        return {**state, "bytes": self.get_bytes() if self._is_dealt else None, "next_seed": self._next_seed}

    def __setstate__(self, state: dict[str, Any]) -> None:
        data, next_seed = state.pop("bytes"), state.pop("next_seed")
        self.__dict__.update(state)
        self._set_up()
        self._camera, self._last_move, self._next_seed, self.agents = None, None, next_seed, []
        self._is_dealt = False
        if data is not None:
            self.set_bytes(data)

    # ---- inside

    def _follow(self, status: int) -> None:
        """Take up who is to act, or that the game has ended."""
        if status >= 0:
            self.agent_selection = self.possible_agents[status]
            return
        ended = self.terminations if status == STEP_OVER else self.truncations
        for agent in self.agents:
            ended[agent] = True
        if status == STEP_OVER:
            self.rewards = dict(zip(self.possible_agents, self._final_rewards()))
            self._accumulate_rewards()
        self.agent_selection = self.agents[0]
        self._tell()

    def _tell(self) -> None:
        """Fill `infos`: how the game ended, if it has."""
        self.infos = {agent: {} for agent in self.agents}
        if self._states["over"][0]:
            position = self.position()
            for agent in self.agents:
                self.infos[agent] = {"scores": position.scores(), "outcome": position.outcome()}
        elif any(self.truncations.values()) and not all(self.terminations.values()):
            for agent in self.agents:
                self.infos[agent] = {"view_overflow": True}

    def _final_rewards(self) -> list[float]:
        position = self.position()
        if self.rules.game.is_shared(self._tables):
            return position.outcome()
        return final_rewards(self._reward, position.scores(), position.outcome())

    def _refusal(self, action: object) -> str:
        mask = self.observe(self.agent_selection)["action_mask"]
        legal = np.flatnonzero(mask)
        shown = ", ".join(str(number) for number in legal[:8]) + (", ..." if len(legal) > 8 else "")
        return (
            f"action {action!r} is not legal for {self.agent_selection}: {len(legal)} are, "
            f"{shown} (np.flatnonzero of the action_mask lists them)"
        )


def final_rewards(kind: Reward, scores: list[int], outcome: list[float]) -> list[float]:
    """What each seat is paid at the end."""
    n = len(scores)
    if kind == "win":  # zero-sum, +1 for a lone winner
        return [(n * share - 1) / (n - 1) for share in outcome]
    if kind == "margin":
        return [score - (sum(scores) - score) / (n - 1) for score in scores]
    return [float(score) for score in scores]


def _to_bits(flags: list[bool]) -> int:
    return sum(flag << k for k, flag in enumerate(flags))


def _four(values: list[float]) -> list[float]:
    return values + [0.0] * (4 - len(values))


class GuardedEnv(wrappers.OrderEnforcingWrapper[str, dict[str, Array], int]):  # type: ignore[misc]
    """The outermost wrapper of env(): PettingZoo's order checks, and copies that forget no mask and remember none."""

    def get_bytes(self) -> bytes:
        """As GameEnv.get_bytes."""
        data: bytes = self.unwrapped.get_bytes()
        return data

    def set_bytes(self, data: bytes) -> None:
        """As GameEnv.set_bytes. The wrapper that ends games on illegal moves remembers the last mask: no longer."""
        self.unwrapped.set_bytes(data)
        self._has_reset = self._has_updated = True
        inner = self.env
        while isinstance(inner, wrappers.BaseWrapper):
            if isinstance(inner, wrappers.TerminateIllegalWrapper):
                inner._prev_obs = inner._prev_info = None
                inner._terminated = False
            inner = inner.env

    def __str__(self) -> str:
        return str(self.env)


def wrapped(env: GameEnv) -> GuardedEnv:
    """PettingZoo's usual wrappers: an illegal action ends the game with a loss of 1, out-of-range ones raise."""
    guarded = wrappers.TerminateIllegalWrapper(env, illegal_reward=-1)
    return GuardedEnv(wrappers.AssertOutOfBoundsWrapper(guarded))
