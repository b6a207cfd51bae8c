"""To look at agents closely: games with what was thought of them, a search's opinions, observations, as pictures."""

from experiments.study.games import Course, course_frames, draw_course, show_film, watch
from experiments.study.layers import draw_layers, layer_names
from experiments.study.opinions import Change, Opinion, changes_of_mind, draw_opinions, opinions
from experiments.study.pictures import Page, Picture, Table
from experiments.study.shares import calibration, draw_calibration, draw_running, running_estimates

__all__ = [
    "Change",
    "Course",
    "Opinion",
    "Page",
    "Picture",
    "Table",
    "calibration",
    "changes_of_mind",
    "course_frames",
    "draw_calibration",
    "draw_course",
    "draw_layers",
    "draw_opinions",
    "draw_running",
    "layer_names",
    "opinions",
    "running_estimates",
    "show_film",
    "watch",
]
