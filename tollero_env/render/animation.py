"""Films as files: GIF by Pillow (the extra `render`), MP4 by imageio-ffmpeg (the extra `video`)."""

from __future__ import annotations

import os
from collections.abc import Iterable

from tollero_env.files import beside
from tollero_env.render.extras import need
from tollero_env.render.rgb import to_image
from tollero_env.scene import Frame, Scene

SIZE = 960, 720
FINALE = 4  # the last picture stays so many times as long
COLOURS = 128  # of a GIF: with all 256 in use none is left to mean "as before"
FFMPEG = ["-r", "10", "-preset", "veryfast"]  # ten pictures a second, however long each stays: players dislike fewer


def save_gif(
    path: str | os.PathLike[str], frames: Iterable[Frame], seconds: float = 0.8, size: tuple[int, int] = SIZE
) -> None:
    """Each frame for so many seconds, in an endless loop; frames in a row that look the same become one."""
    images = [to_image(scene, *size) for scene in _scenes(frames)]
    palette = images[-1].quantize(COLOURS)  # one for all, so that what stays is not stored again
    images = [image.quantize(palette=palette, dither=need("PIL.Image", "render").Dither.NONE) for image in images]
    times = [round(1000 * seconds)] * (len(images) - 1) + [round(1000 * seconds * FINALE)]
    with beside(path) as neighbour:
        images[0].save(neighbour, "GIF", save_all=True, append_images=images[1:], duration=times, loop=0, optimize=True)


def save_mp4(
    path: str | os.PathLike[str], frames: Iterable[Frame], seconds: float = 0.8, size: tuple[int, int] = SIZE
) -> None:
    """Each frame for so many seconds; lengths are made even, as the format asks."""
    writer, scenes = need("imageio_ffmpeg", "video"), _scenes(frames)
    width, height = size[0] // 2 * 2, size[1] // 2 * 2
    with beside(path) as neighbour:
        options = {"fps": 1 / seconds, "macro_block_size": 2, "ffmpeg_log_level": "error", "output_params": FFMPEG}
        output = writer.write_frames(str(neighbour), (width, height), codec="libx264", **options)
        output.send(None)  # a generator waits at its first yield
        try:
            for scene in scenes + scenes[-1:] * (FINALE - 1):
                output.send(to_image(scene, width, height).tobytes())
        finally:
            output.close()


def _scenes(frames: Iterable[Frame]) -> list[Scene]:
    scenes = [frame.scene for frame in frames]
    if not scenes:
        raise ValueError("a film has at least one frame")
    return scenes
