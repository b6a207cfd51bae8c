"""Many single-agent games at once as a Gymnasium VectorEnv, compiled opponents stepped in batches too.

    envs = gymnasium.make_vec("tollero_env/tollero-v0", num_envs=64, vectorization_mode="vector_entry_point")

Row g is the env of single.py, game for game; a seed s here is s + g there. Masks are in `infos["action_mask"]` and
`action_masks()`, a row for each.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from tollero_env.envs.camera import FPS, RENDER_MODES, Camera
from tollero_env.envs.seated import Opponents, SeatedGames
from tollero_env.game import Array, OptionError, StateError, check_choice
from tollero_env.position import as_word, is_whole

AUTORESET = (AutoresetMode.SAME_STEP, AutoresetMode.DISABLED)


class VectorGames(gymnasium.vector.VectorEnv[Array, Array, Array]):
    """N games in which one seat each learns; see the module.

    SAME_STEP: a game that ends is followed by a new one at once; `infos["final_obs"]` and `infos["final_info"]` tell of
    the one that ended. DISABLED: it waits for `reset(options={"reset_mask": ...})`.
    """

    def __init__(
        self,
        game: str,
        num_envs: int = 1,
        num_players: int = 2,
        *,
        opponents: Opponents = "random",
        seat: int | str = 0,
        encoding: str | None = None,
        view: int | str | None = None,
        reward: str = "win",
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        copy: bool = True,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        """`copy`: give fresh observations; without it they are read-only and the next step changes them."""
        try:
            self._mode = AutoresetMode(autoreset_mode)
        except ValueError:
            self._mode = AutoresetMode.NEXT_STEP
        if self._mode not in AUTORESET:
            allowed = ", ".join(mode.value for mode in AUTORESET)
            raise OptionError(f"option autoreset_mode: {autoreset_mode!r} is not one of {allowed}")
        check_choice("render_mode", render_mode or "ansi", RENDER_MODES[1:])
        self._games = SeatedGames(
            game,
            num_envs,
            num_players,
            opponents=opponents,
            seat=seat,
            encoding=encoding,
            view=view,
            reward=reward,
            **options,
        )
        self.num_envs, self.render_mode, self._copy = num_envs, render_mode, copy
        self.metadata = {"render_modes": list(RENDER_MODES[1:]), "render_fps": FPS, "autoreset_mode": self._mode}
        self.single_observation_space, self.single_action_space = (
            self._games.observation_space,
            self._games.action_space,
        )
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._camera: Camera | None = None

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """New games in all rows, or in those of `options["reset_mask"]`; one seed s gives row g the seed s + g."""
        options = dict(options or {})
        every = np.ones(self.num_envs, np.bool)
        games = np.flatnonzero(_check_mask(options.pop("reset_mask", every), self.num_envs))
        seeds = self._seeds_from(seed)
        if options:
            warnings.warn(
                f"reset() takes no option but reset_mask ({', '.join(map(str, options))} ignored)", stacklevel=2
            )
        self._games.deal(games, [seeds[game] for game in games])
        return self._observation(), self._infos()

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """One decision of every learner, and the others' until it must decide again."""
        games = self._games
        games.check_dealt()
        if self._mode is AutoresetMode.DISABLED and (games.terminated | games.truncated).any():
            row = int(np.flatnonzero(games.terminated | games.truncated)[0])
            raise StateError(f'game {row} is over: call reset(options={{"reset_mask": ...}}) first')
        games.play(actions)
        rewards, terminated, truncated = games.own_rewards(), games.terminated.copy(), games.truncated.copy()
        ended = np.flatnonzero(terminated | truncated)
        told: dict[str, Any] = {}
        if ended.size:
            told = self._tell(ended)
            if self._mode is AutoresetMode.SAME_STEP:
                games.deal(ended)
        return self._observation(), rewards, terminated, truncated, told | self._infos()

    def action_masks(self) -> Array:
        """Which actions are legal, as bool; all of them in a game that is over (none matters then)."""
        self._games.check_dealt()
        masks = self._games.mask.astype(np.bool)
        if self._mode is AutoresetMode.DISABLED:
            masks[~masks.any(axis=1)] = True
        return masks

    @property
    def decisions(self) -> int:
        """How many decisions all seats have made in the steps so far."""
        return self._games.decisions

    def render(self) -> Any:
        """A picture of every game, as its learner may see it."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() needs a render_mode: give one to gymnasium.make_vec")
            return None
        self._games.check_dealt()
        if self._camera is None:
            self._camera = Camera(self._games.rules, self.render_mode)
        states, seats = self._games.states, self._games.seats
        return tuple(self._camera.show(states[g : g + 1], int(seats[g]), None) for g in range(self.num_envs))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_camera": None}

    # ---- inside

    def _give(self, array: Array) -> Array:
        """An array of the games, for the caller."""
        if self._copy:
            return array.copy()
        seen = array.view()
        seen.flags.writeable = False
        return seen

    def _observation(self) -> Array:
        return self._give(self._games.observation)

    def _infos(self) -> dict[str, Any]:
        every = np.ones(self.num_envs, np.bool)
        mask, seat = self._give(self._games.mask), self._give(self._games.seats)
        return {"action_mask": mask, "_action_mask": every, "seat": seat, "_seat": every.copy()}

    def _tell(self, ended: Array) -> dict[str, Any]:
        """How these games ended, the way Gymnasium puts it: each array with a mask of the rows that mean something."""
        told: dict[str, Any] = {}
        for name, (rows, has) in self._games.final_infos().items():
            if has.any():
                told |= {name: rows, f"_{name}": has}
        if self._mode is AutoresetMode.DISABLED:
            return told
        is_ended = np.zeros(self.num_envs, np.bool)
        is_ended[ended] = True
        masks = np.zeros_like(self._games.mask)
        masks[ended] = self._games.mask[ended]
        told |= {"action_mask": masks, "_action_mask": is_ended.copy()}
        last = np.full(self.num_envs, None, object)
        for game, row in zip(ended.tolist(), self._games.observation[ended]):
            last[game] = row
        return {"final_obs": last, "_final_obs": is_ended, "final_info": told, "_final_info": is_ended.copy()}

    def _seeds_from(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if is_whole(seed):
            return [int(as_word(int(seed) + row)) for row in range(self.num_envs)]  # type: ignore[arg-type]
        if not isinstance(seed, Sequence | np.ndarray):
            raise ValueError(f"seed {seed!r} is neither a whole number nor one for each game")
        if len(seed) != self.num_envs:
            raise ValueError(f"{len(seed)} seeds for {self.num_envs} games: give one for each, or one for all")
        return [None if number is None else int(as_word(number)) for number in seed]


def _check_mask(mask: Any, num_envs: int) -> Array:
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool or mask.shape != (num_envs,) or not mask.any():
        raise ValueError(f'options["reset_mask"] is an array of {num_envs} bool, at least one of them True')
    return mask
