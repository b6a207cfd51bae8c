"""Any game as a native stable-baselines3 VecEnv, for sb3-contrib's MaskablePPO, with networks that fit.

    games = MaskedVecEnv("tollero", num_envs=64, opponents="random", seat="rotate", encoding="slots")
    model = MaskablePPO(PlacesPolicy, games, policy_kwargs=policy_kwargs(games))

Observations are the Box of the AEC env (in a Dict, the mask would become an input of the network); masks come through
`env_method("action_masks")`, and no row of them is ever all False, where MaskablePPO would sample anything.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import VecEnv
from torch import nn

from tollero_env.envs.camera import Camera
from tollero_env.envs.seated import Opponents, SeatedGames
from tollero_env.game import Array, check_choice
from tollero_env.position import as_word


class MaskedVecEnv(VecEnv):  # type: ignore[misc]
    """N games in which one seat each learns; a game that ends is followed by a new one in the same step."""

    def __init__(
        self,
        game: str,
        num_envs: int = 64,
        num_players: int = 2,
        *,
        opponents: Opponents = "random",
        seat: int | str = 0,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        """As the Gymnasium env: `encoding`, `view`, `reward` and the options of the game's rules too."""
        check_choice("render_mode", render_mode, (None, "rgb_array"))
        self.games = SeatedGames(game, num_envs, num_players, opponents=opponents, seat=seat, **options)
        self._render_mode = render_mode
        self._camera: Camera | None = None
        self._actions = np.zeros(num_envs, np.int64)
        super().__init__(num_envs, self.games.observation_space, self.games.action_space)

    def reset(self) -> Array:
        """New games in all rows, from the seeds given by `seed()` if any."""
        seeds = [None if seed is None else int(as_word(seed)) for seed in self._seeds]
        self.games.deal(np.arange(self.num_envs), seeds)
        self._reset_seeds()
        self._reset_options()
        return self.games.observation.copy()

    def step_async(self, actions: Array) -> None:
        """Note the actions."""
        self._actions = actions

    def step_wait(self) -> tuple[Array, Array, Array, list[dict[str, Any]]]:
        """Play them, and what the others do."""
        games = self.games
        games.play(self._actions)
        rewards, dones = games.own_rewards().astype(np.float32), games.terminated | games.truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        ended = np.flatnonzero(dones)
        if ended.size:
            told = games.final_infos()
            for game, last in zip(ended.tolist(), games.observation[ended]):
                infos[game] = {name: rows[game].tolist() for name, (rows, has) in told.items() if has[game]}
                infos[game]["terminal_observation"] = last
                infos[game]["TimeLimit.truncated"] = bool(games.truncated[game])
            games.deal(ended)
        return games.observation.copy(), rewards, dones, infos

    def action_masks(self) -> Array:
        """Which actions are legal, one row of bool a game."""
        self.games.check_dealt()
        return self.games.mask.astype(np.bool)

    def close(self) -> None:
        """Nothing to let go."""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_camera": None}

    def get_images(self) -> Sequence[Array | None]:
        """A picture of every game, as its learner may see it."""
        self.games.check_dealt()
        if self._camera is None:
            self._camera = Camera(self.games.rules, "rgb_array")
        states, seats = self.games.states, self.games.seats
        return [self._camera.show(states[g : g + 1], int(seats[g]), None) for g in range(self.num_envs)]

    # ---- what stable-baselines3 asks of the single envs, of which there are none

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """The same for every game."""
        if attr_name == "render_mode":
            value: Any = self._render_mode
        elif hasattr(type(self), attr_name) or attr_name in self.__dict__:
            value = getattr(self, attr_name)
        else:
            raise AttributeError(f"{type(self).__name__} has no attribute {attr_name!r}")
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None) -> None:
        """For all games at once."""
        if indices is not None:
            raise ValueError("the games share their attributes: set them for all, without indices")
        setattr(self, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: int | Iterable[int] | None = None, **method_kwargs: Any
    ) -> list[Any]:
        """`action_masks`, a row for each game; `position(game)` belongs to the games themselves."""
        if method_name != "action_masks":
            raise AttributeError(f"the games have no method {method_name!r}; there is action_masks")
        masks = self.action_masks()
        return [masks[game] for game in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: int | Iterable[int] | None = None) -> list[bool]:
        """There is nothing to wrap."""
        return [False for _ in self._get_indices(indices)]


# ---- networks. Actions belong to places: cells of the view, or tiles. Features are `kept` numbers for each place, then
# as many for the whole table.


def _squash(x: torch.Tensor) -> torch.Tensor:
    """Counts to numbers of a size networks like; 0 and 1 stay apart, large ones come closer."""
    return torch.sign(x) * torch.log1p(torch.abs(x))


class _Block(nn.Module):  # type: ignore[misc]
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = torch.relu(x + self.second(torch.relu(self.first(x))))
        return out


class PlanesExtractor(BaseFeaturesExtractor):  # type: ignore[misc]
    """A small residual network over planes (C, V, V): every cell is a place."""

    def __init__(
        self, space: spaces.Box, groups: Sequence[int], kept: int = 16, channels: int = 32, blocks: int = 2
    ) -> None:
        """`space` is the observation space, `groups` the encoding's."""
        planes, height, width = space.shape
        super().__init__(space, (height * width + 1) * kept)
        self.places, self.kept, self.groups = height * width, kept, groups
        self.trunk = nn.Sequential(
            nn.Conv2d(planes, channels, 3, padding=1), nn.ReLU(), *(_Block(channels) for _ in range(blocks))
        )
        self.narrow = nn.Sequential(nn.Conv2d(channels, kept, 1), nn.ReLU())
        self.table = nn.Sequential(nn.Linear(2 * channels, kept), nn.ReLU())

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Features (N, features_dim)."""
        seen = self.trunk(_squash(observations))
        cells = self.narrow(seen).flatten(2).transpose(1, 2)
        table = self.table(torch.cat((seen.mean(dim=(2, 3)), seen.amax(dim=(2, 3))), dim=1))
        return torch.cat((cells.flatten(1), table), dim=1)


class RowsExtractor(BaseFeaturesExtractor):  # type: ignore[misc]
    """One network for all rows, each read beside the numbers: every row is a place."""

    def __init__(
        self, space: spaces.Box, rows: int, numbers: int, groups: Sequence[int], kept: int = 32, width: int = 64
    ) -> None:
        """`space` is flat: `rows` rows of equal length, then the numbers; `groups` are the encoding's."""
        super().__init__(space, (rows + 1) * kept)
        self.places, self.kept, self.groups, self.numbers = rows, kept, groups, numbers
        self.row = nn.Linear((space.shape[0] - numbers) // rows, width)
        self.beside = nn.Linear(numbers, width)
        self.narrow = nn.Sequential(nn.ReLU(), nn.Linear(width, kept), nn.ReLU())
        self.table = nn.Sequential(nn.Linear(2 * kept + numbers, kept), nn.ReLU())

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Features (N, features_dim)."""
        x = _squash(observations)
        rows, numbers = x[:, : -self.numbers].unflatten(1, (self.places, -1)), x[:, -self.numbers :]
        seen = self.narrow(self.row(rows) + self.beside(numbers).unsqueeze(1))
        table = self.table(torch.cat((seen.mean(dim=1), seen.amax(dim=1), numbers), dim=1))
        return torch.cat((seen.flatten(1), table), dim=1)


class _PlacesHead(nn.Module):  # type: ignore[misc]
    """The same few outputs for every place, put in the order of the actions; then those that belong to no place."""

    def __init__(self, places: int, kept: int, layout: Array, apart: int) -> None:
        super().__init__()
        self.places = places
        self.outputs = nn.Linear(kept, len(layout) // places)
        self.apart = nn.Linear(kept, apart) if apart else None
        self.register_buffer("layout", torch.as_tensor(layout))

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        seen = features.unflatten(1, (self.places + 1, -1))
        out: torch.Tensor = self.outputs(seen[:, :-1]).flatten(1)[:, self.layout]
        return out if self.apart is None else torch.cat((out, self.apart(seen[:, -1])), dim=1)


class PlacesPolicy(MaskableActorCriticPolicy):  # type: ignore[misc]
    """What is learned of one place holds for all: one layer scores the actions of every place."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """As MaskablePPO's own policies; `policy_kwargs` gives the features extractor."""
        super().__init__(*args, **{"net_arch": [], **kwargs})

    def _build(self, lr_schedule: Any) -> None:
        # stable-baselines3 asks the distribution for the last layer
        self.action_dist.proba_distribution_net = self._make_head
        super()._build(lr_schedule)

    def _make_head(self, latent_dim: int) -> nn.Module:
        extractor = self.features_extractor
        if latent_dim != extractor.features_dim:
            raise ValueError("net_arch: layers behind the features would mix the places up; leave it out")
        layout = _layout(extractor.places, extractor.groups)
        return _PlacesHead(extractor.places, extractor.kept, layout, int(self.action_space.n) - len(layout))


def _layout(places: int, groups: Sequence[int]) -> Array:
    """Which output of which place an action is: outputs are numbered place by place."""
    first = np.cumsum([0, *groups])
    table = np.arange(places * sum(groups)).reshape(places, sum(groups))
    return np.concatenate([table[:, begin:end].reshape(-1) for begin, end in pairwise(first.tolist())])


def policy_kwargs(games: MaskedVecEnv, **extractor: Any) -> dict[str, Any]:
    """The `policy_kwargs` of MaskablePPO that fit the games' encoding, for PlacesPolicy or "MlpPolicy"."""
    array, numbers = games.games.parts
    extractor["groups"] = games.games.groups
    if len(array.shape) == 3:
        return {"features_extractor_class": PlanesExtractor, "features_extractor_kwargs": extractor}
    sizes = {"rows": array.shape[0], "numbers": numbers.shape[0]}
    return {"features_extractor_class": RowsExtractor, "features_extractor_kwargs": {**sizes, **extractor}}
