"""Any game as a Gymnasium env: one seat learns, agents play the others.

    env = gymnasium.make("tollero_env/tollero-v0", num_players=3, opponents="random", seat="rotate")
    observation, info = env.reset(seed=1)
    action = rng.choice(np.flatnonzero(info["action_mask"]))

Observations are the array of the AEC env; masks are in `info["action_mask"]` and `env.unwrapped.action_masks()`. The
reward is the learner's own, collected until its next decision or the end. An action that is not legal ends the episode
with the loss and `info["illegal_action"]`.
"""

import operator
import warnings
from typing import Any

import gymnasium
import numpy as np

from tollero_env.envs.camera import FPS, RENDER_MODES, Camera
from tollero_env.envs.seated import Opponents, SeatedGames
from tollero_env.game import Array, StateError, check_choice
from tollero_env.position import Position, as_word


class SingleEnv(gymnasium.Env[Array, np.int64]):
    """One seat of a game; see the module."""

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": FPS}  # noqa: RUF012

    def __init__(
        self,
        game: str,
        num_players: int = 2,
        *,
        opponents: Opponents = "random",
        seat: int | str = 0,
        encoding: str | None = None,
        view: int | str | None = None,
        reward: str = "win",
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        """`opponents`: an agent or its name for all other seats, or one for each in turn order from the learner on.

        `seat`: the learner's, or "rotate" for the next one in every episode, beginning with seed % num_players.
        Options not named here are those of the rules.
        """
        check_choice("render_mode", render_mode or "ansi", RENDER_MODES)
        self._games = SeatedGames(
            game, 1, num_players, opponents=opponents, seat=seat, encoding=encoding, view=view, reward=reward, **options
        )
        self.render_mode = render_mode
        self.observation_space, self.action_space = self._games.observation_space, self._games.action_space
        self._camera: Camera | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """A new game, up to the learner's first decision; without a seed, the next of a row of games."""
        word = None if seed is None else int(as_word(seed))
        if options:
            warnings.warn(
                f"reset() takes no options here ({', '.join(map(str, options))} ignored); give them to the constructor",
                stacklevel=2,
            )
        super().reset(seed=seed)
        self._games.deal(np.zeros(1, np.int64), [word])
        self._show()
        return self._games.observation[0].copy(), self._info()

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """The learner's decision, and the others' until it must decide again."""
        games = self._games
        games.check_dealt()
        if games.terminated[0] or games.truncated[0]:
            raise StateError("the episode is over: call reset() for another")
        try:
            number = operator.index(action)
        except TypeError:
            raise TypeError(f"action {action!r} is not a whole number") from None
        games.play(np.array([number if number in range(games.mask.shape[1]) else -1]))
        info = self._info()
        if games.terminated[0] or games.truncated[0]:
            info |= games.final_info(0)
        self._show()
        reward = float(games.own_rewards()[0])
        return games.observation[0].copy(), reward, bool(games.terminated[0]), bool(games.truncated[0]), info

    def action_masks(self) -> Array:
        """Which actions are legal, as an array of bool; all of them once the episode is over (none matters then)."""
        mask: Array = self._games.mask[0].astype(np.bool)
        return mask if mask.any() else ~mask

    def position(self) -> Position:
        """The game as a Position of its own, hidden things included."""
        return self._games.position(0)

    def render(self) -> Any:
        """The table as the learner may see it."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() needs a render_mode: give one to gymnasium.make")
            return None
        self._games.check_dealt()
        if self._camera is None:
            self._camera = Camera(self._games.rules, self.render_mode)
        return self._camera.show(self._games.states, int(self._games.seats[0]), None)

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._camera is not None:
            self._camera.close()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_camera": None}  # a window cannot be copied

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self._games.mask[0].copy(), "seat": int(self._games.seats[0])}
