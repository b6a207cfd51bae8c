"""A window on the screen, by pygame-ce (the extra `render`), which is imported when one is opened."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from tollero_env.render.extras import need
from tollero_env.render.rgb import to_rgb
from tollero_env.scene import Scene

SIZE = 960, 720


class Window:
    """Shows scenes until it is closed, by the person or by `close`. There is one at a time (pygame's way)."""

    def __init__(self, title: str, size: tuple[int, int] = SIZE) -> None:
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
        self._pygame = need("pygame", "render")
        self._pygame.display.init()
        self._pygame.display.set_caption(title)
        self._screen: Any = self._pygame.display.set_mode(size, self._pygame.RESIZABLE)
        self._clock = self._pygame.time.Clock()

    @property
    def is_open(self) -> bool:
        """Until it is closed."""
        return self._screen is not None

    def show(self, scene: Scene, fps: float = 0) -> bool:
        """Draw the scene, at most so many a second (0: no limit); once the window is closed, False and nothing else."""
        if not self.handle_events():
            return False
        self._screen = self._pygame.display.get_surface()  # another one after a change of size
        pixels = to_rgb(scene, *self._screen.get_size())
        self._pygame.surfarray.blit_array(self._screen, np.swapaxes(pixels, 0, 1))
        self._pygame.display.flip()
        if fps:
            self._clock.tick(fps)
        return True

    def handle_events(self) -> bool:
        """Let the window live: call it now and then while nothing is shown. Returns whether it is open."""
        if self.is_open:
            if any(event.type == self._pygame.QUIT for event in self._pygame.event.get()):
                self.close()
        return self.is_open

    def close(self) -> None:
        """Close it; twice is no harm."""
        if self.is_open:
            self._screen = None
            self._pygame.display.quit()
