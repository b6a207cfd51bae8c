"""Pictures of a game for the envs, in each render mode."""

from typing import Any

from tollero_env.game import Array, Rules
from tollero_env.render.rgb import to_rgb
from tollero_env.render.svg import to_svg
from tollero_env.render.window import Window

RENDER_MODES = ("human", "ansi", "svg", "rgb_array")
FPS = 4  # of the window


class Camera:
    """Renders in one mode; "human" opens a window that stays until `close`."""

    def __init__(self, rules: Rules, mode: str) -> None:
        """`mode` is one of RENDER_MODES."""
        self._rules, self._mode = rules, mode
        self._window: Window | None = None

    def show(self, states: Array, viewer: int | None, last: int | None) -> Any:
        """The picture of states[0]; what the viewer may not see is not in it. None for "human"."""
        game = self._rules.game
        if self._mode == "ansi":
            return game.to_ansi(self._rules, states, 0, viewer=viewer, last=last)
        scene = game.draw(self._rules, states, 0, viewer=viewer, last=last)
        if self._mode == "svg":
            return to_svg(scene)
        if self._mode == "rgb_array":
            return to_rgb(scene)
        if self._window is None:
            self._window = Window(game.title)
        self._window.show(scene, FPS)
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None
