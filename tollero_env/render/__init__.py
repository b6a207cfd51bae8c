"""Scenes shown: SVG, pixels, a window, a page that steps through a game, GIF and MP4. None of it knows a game.

What needs Pillow, pygame-ce or imageio-ffmpeg imports it when first called.
"""

from tollero_env.render.animation import save_gif, save_mp4
from tollero_env.render.html import to_html
from tollero_env.render.rgb import to_image, to_rgb
from tollero_env.render.svg import to_svg
from tollero_env.render.window import Window

__all__ = ["Window", "save_gif", "save_mp4", "to_html", "to_image", "to_rgb", "to_svg"]
