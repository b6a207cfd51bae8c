"""Observations and masks as pictures."""

import re
from collections.abc import Iterable, Sequence

import matplotlib as mpl
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from experiments.study.pictures import INK, STYLE, Picture, to_picture
from tollero_env.game import Array

_SEVERAL = re.compile(r"[A-Z]+(?:, [A-Z]+)+")
_COLOURS = LinearSegmentedColormap.from_list("paper to ink", ["#f3efe4", "#6fa9cf", INK])


def layer_names(legend: Iterable[tuple[str, int, str]], number: int) -> list[str]:
    """A name for each of so many layers, by an encoding's legend; its last line names all that are left."""
    rows = list(legend)
    names: list[str] = []
    for name, count, what in rows:
        count = number - len(names) if name == rows[-1][0] else count
        names += [name] if count == 1 else [f"{name} {part}" for part in _parts(what, count)]
    return names


def _parts(what: str, count: int) -> list[str]:
    """N, E, S, W where the legend lists them, again for each player if need be; else numbers."""
    found = _SEVERAL.search(what)
    places = found[0].split(", ") if found else []
    if not places or count % len(places):
        return [str(k) for k in range(count)]
    if count == len(places):
        return places
    return [f"{k // len(places)} {places[k % len(places)]}" for k in range(count)]


def draw_layers(array: Array, names: Sequence[str], columns: int = 7) -> Picture:
    """Square layers of an observation or a mask, light where nothing is."""
    rows = -(-len(names) // columns)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(1.55 * columns, 1.75 * rows), layout="constrained")
        for place, axes in enumerate(figure.subplots(rows, columns, squeeze=False).flat):
            axes.set_axis_off()
            if place < len(names):
                most = max(1.0, float(array[place].max()))
                axes.imshow(array[place], cmap=_COLOURS, vmin=0, vmax=most, interpolation="nearest")
                axes.set_title(names[place], fontsize=9, color=INK)
    return to_picture(figure)
