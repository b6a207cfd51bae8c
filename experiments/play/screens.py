"""What lies over the table at times: the help, a question, the result."""

from collections.abc import Mapping

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from experiments.play.match import Match

HELP = """\
[b]Choose[/b]  arrows       the next place in that direction
        space        the next move at this place: turns a tile
        Tab          from the table to the list of moves, and back
        mouse        click a place, again for the next move
[b]Play[/b]    Enter        the selected move
[b]Type[/b]    /            a move or its beginning; the list follows
        Tab  ↓  ↑    complete it from the list
        Escape       back to the table
[b]Scroll[/b]  shift+arrows, PageUp, PageDown

 h  hint       u  take back   s  save
 n  new game   t  light/dark  q  quit

Green is where you may play, pink the selected move, purple what
the others played since your last move.
"""


class Offer(ModalScreen[str]):
    """Some text and what one may do; the answer is the key of the choice, "" for none."""

    def __init__(self, title: str, text: Text, choices: Mapping[str, str]) -> None:
        """`choices` are texts by their keys."""
        super().__init__()
        self._title, self._text, self._choices = title, text, choices

    def compose(self) -> ComposeResult:
        """A box in the middle."""
        with VerticalScroll() as box:
            box.border_title = self._title
            box.can_focus = False
            yield Static(self._text)
            yield OptionList(*(Option(f" {key}  {text}", id=key) for key, text in self._choices.items()))

    def on_key(self, event: events.Key) -> None:
        """The letters of the choices; Escape chooses nothing."""
        if event.key in (*self._choices, "escape"):
            event.stop()
            self.dismiss("" if event.key == "escape" else event.key)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter, or a click."""
        self.dismiss(event.option.id)


def help_screen() -> Offer:
    """All keys."""
    return Offer("Help", Text.from_markup(HELP), {"b": "back to the game"})


def result_screen(match: Match) -> Offer:
    """Who won, and what now."""
    choices = {"l": "look at the table", "s": "save the replay", "n": "play again", "u": "take back", "q": "quit"}
    return Offer("The game is over", Text(result_text(match)), choices)


def result_text(match: Match) -> str:
    """ "You win", and the scores."""
    shares, scores = match.position.outcome(), match.position.scores()
    winners = [player for player, share in enumerate(shares) if share > 0]
    if winners == [match.seat]:
        head = "You win!"
    elif match.seat in winners:
        head = "You share the win."
    else:
        names = " and ".join(match.name(player) for player in winners)
        head = f"{names} {'win' if len(winners) > 1 else 'wins'}." if names else "Nobody wins."
    lines = [f"{scores[player]:4d}  {match.name(player)}" for player in range(match.rules.players)]
    return "\n".join([head, "", *lines, ""])
