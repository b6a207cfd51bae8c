"""To look at agents closely: games with what was thought of them, a search's opinions, observations, as pictures."""

from experiments.study.games import Course, course_frames, draw_course, show_film, watch
from experiments.study.opinions import Change, Opinion, changes_of_mind, draw_opinions, opinions
from experiments.study.pictures import Page, Picture, draw_layers

__all__ = [
    "Change",
    "Course",
    "Opinion",
    "Page",
    "Picture",
    "changes_of_mind",
    "course_frames",
    "draw_course",
    "draw_layers",
    "draw_opinions",
    "opinions",
    "show_film",
    "watch",
]
