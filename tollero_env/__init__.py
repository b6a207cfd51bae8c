"""Board games for reinforcement learning: exact rules, compiled; Tollero is the flagship.

Importing this compiles nothing: envs are registered as strings, names are brought in
when first used.
"""

import importlib
from typing import TYPE_CHECKING, Any

import gymnasium
import pettingzoo

if TYPE_CHECKING:
    from tollero_env.playing import playouts
    from tollero_env.position import Position, new_game

__version__ = "0.1.0"
__all__ = ["Position", "__version__", "new_game", "playouts"]

_HOMES = {"Position": "position", "new_game": "position", "playouts": "playing"}


for _game in ("tollero", "toscana"):  # game.NAMES, without importing anything
    pettingzoo.register("aec", f"tollero_env/{_game}-v0", f"tollero_env.{_game}_v0:env")
    gymnasium.register(
        f"tollero_env/{_game}-v0",
        entry_point="tollero_env.envs.single:SingleEnv",
        vector_entry_point="tollero_env.envs.vector:VectorGames",
        kwargs={"game": _game},
    )


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
