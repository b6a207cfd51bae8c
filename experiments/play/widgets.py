"""The parts of the screen that are not textual's own."""

from typing import ClassVar

from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.containers import ScrollableContainer
from textual.geometry import Region, Spacing
from textual.message import Message
from textual.widgets import Input, Static

from experiments.play.choices import STEPS, Box, Cell

RECENT = "bold color(231) on color(97)"  # what the others played; the game's own mark of the last move is another
MARGIN = Spacing(2, 4, 2, 4)  # what is seen around the selected place


class Board(ScrollableContainer, inherit_bindings=False):
    """The table, scrolled so that the selected place is seen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(way, f"app.go('{way}')", show=False) for way in STEPS),
        *(Binding(f"shift+{way}", f"scroll_{way}", show=False) for way in STEPS),
        Binding("pageup", "page_up", show=False),
        Binding("pagedown", "page_down", show=False),
    ]

    def show(self, picture: str, recent: list[Cell], place: Box | None) -> None:
        """Another picture: what was played of late is marked, and the place is seen."""
        text = Text.from_ansi(picture)
        starts = [0, *(end + 1 for end, letter in enumerate(text.plain) if letter == "\n")]
        for column, row in recent:
            text.stylize(RECENT, starts[row] + column, starts[row] + column + 1)
        self.query_one(Picture).update(text)
        if place is not None:
            self.call_after_refresh(self._follow, place)

    def _follow(self, place: Box) -> None:
        region = Region(*place).translate(self.query_one(Picture).virtual_region.offset)
        self.scroll_to_region(region, spacing=MARGIN, animate=False, immediate=True)


class Picture(Static):
    """The table itself."""

    class Clicked(Message):
        """The mouse was pressed on a letter of it."""

        def __init__(self, cell: Cell) -> None:
            """Counted from the upper left."""
            super().__init__()
            self.cell = cell

    def on_click(self, event: events.Click) -> None:
        """Say where."""
        self.post_message(self.Clicked((event.x, event.y)))


class MoveInput(Input):
    """Where moves are typed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "Play"),
        Binding("tab", "app.complete(0)", "Complete"),
        Binding("up", "app.complete(-1)", show=False),
        Binding("down", "app.complete(1)", "Next", key_display="↓"),
        Binding("escape", "app.table", "Back"),
    ]
