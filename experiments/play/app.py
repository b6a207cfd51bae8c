"""The table in the terminal: a person plays with arrow keys or typed moves, agents think in a thread of their own."""

import time
from collections.abc import Callable
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Footer, Input, OptionList, Static
from textual.widgets.option_list import Option

from experiments.play.choices import (
    Box,
    Cell,
    Choice,
    at,
    fits,
    in_order,
    make_choices,
    marked_cells,
    nearest,
    show,
    step,
    turn,
)
from experiments.play.match import Match, Plan, deal, free_path, save
from experiments.play.screens import Offer, help_screen, result_screen
from experiments.play.thinking import Answer, Listed, Thinker
from experiments.play.widgets import Board, MoveInput, Picture
from tollero_env.game import MoveError
from tollero_env.opponents import make_agent
from tollero_env.position import new_seed

AT_ONCE = 0.4  # seconds that listing the moves may keep the screen waiting


class PlayApp(App[list[str]]):
    """A match on the screen; returns the files it wrote."""

    CSS_PATH = "app.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "play", "Play"),
        Binding("space", "turn", "Turn"),
        Binding("slash", "type", "Type", key_display="/"),
        Binding("h", "hint", "Hint"),
        Binding("u", "undo", "Undo"),
        Binding("s", "save", "Save"),
        Binding("n", "new", "New"),
        Binding("t", "theme", "Light/dark", show=False),
        Binding("question_mark,f1", "help", "Help", key_display="?"),
        Binding("q", "quit", "Quit"),
        Binding("escape", "table", show=False),
    ]

    def __init__(self, plan: Plan, match: Match) -> None:
        """Begins with this match; new ones go by the plan."""
        super().__init__()
        self.plan, self.match, self.path = plan, match, plan.save or free_path(plan)
        self.choices: list[Choice] = []  # of the person, if it is their turn
        self.selected = 0
        self._adviser = make_agent(plan.hint)
        self._thinker = Thinker(self.post_message)
        self._thinks, self._stopped, self._written = "", False, list[str]()
        self._saved = list(match.log)
        self._recent: list[Cell] = []

    def compose(self) -> ComposeResult:
        """The table and what the players have; beside it the moves and the log."""
        yield Static(id="title", markup=False)
        with Horizontal():
            with Board(id="board"):
                yield Picture(id="picture", markup=False)
            with Vertical(id="side"):
                yield OptionList(id="moves", markup=False)
                with VerticalScroll(id="log", can_focus=False):
                    yield Static(id="played", markup=False)
        yield Static(id="players", markup=False)
        yield Static(id="turn", markup=False)
        yield Static(id="note", markup=False)
        yield MoveInput(id="typed", compact=True, placeholder="/ to type a move, or arrow keys and Enter")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """The table is there: the game goes on."""
        self.query_one("#log").border_title = "Log"
        self.query_one(Board).focus()
        self._advance()

    # ---- the course of the game

    def _advance(self) -> None:
        """Something was played or taken back: on with whoever is to act."""
        self._thinker.forget()
        self._thinks, self._stopped, self.choices, self.selected = "", False, [], 0
        position = self.match.position
        legal = position.moves() if self.match.is_mine else []
        self._recent = [cell for move in self.match.since() for cell in self._marks(move, legal)]
        if self.match.is_mine:
            self._choose(legal)
        elif not position.over:
            self._thinks = f"{self.match.name(position.player)} is thinking ..."
            self._thinker.ask(self.match.agent, self.match.question(), self.plan.pace)
        with self.prevent(Input.Changed):
            self.query_one(MoveInput).value = ""
        self._show_game()
        if position.over:
            self.push_screen(result_screen(self.match), self._after_result)

    def _choose(self, legal: list[int]) -> None:
        """The person is to decide: list the moves, in a thread if that takes long."""
        _, draw = self.match.question()
        found, until = list[Choice](), time.monotonic() + AT_ONCE
        making = make_choices(self.match.position.copy(), draw)
        for choice in making:
            found.append(choice)
            if time.monotonic() > until:
                self._thinks = f"Your turn: {len(legal)} moves are looked at ..."
                self._thinker.finish(found, making)
                return
        self._offer(found)

    def on_listed(self, listed: Listed) -> None:
        """All moves are there to choose from."""
        if listed.job == self._thinker.job:
            self._thinks = ""
            self._offer(listed.choices)
            self._filter(self.query_one(MoveInput).value)
            self._show_selected()

    def _offer(self, choices: list[Choice]) -> None:
        """Let the person choose, beginning near the last move."""
        self.choices = in_order(choices)
        legal = [choice.move for choice in choices]
        cells = [cell for played in self.match.log[-1:] for cell in self._marks(played.move, legal)]
        self.selected = nearest(self.choices, cells)

    def _marks(self, move: int, legal: list[int]) -> list[Cell]:
        return marked_cells(self.match.position, self.match.seat, move, legal)

    def on_answer(self, answer: Answer) -> None:
        """An agent has thought: its move is played, a hint is selected."""
        if answer.job != self._thinker.job:
            return
        self._thinks = ""
        if self.match.is_mine:
            self._take_hint(answer)
            return
        name = self.match.name(self.match.position.player)
        problem = answer.problem
        if not problem:
            try:
                self.match.play(answer.move)
            except ValueError:  # its text is not for the person: it lists what the other hand may do
                problem = f"move {answer.move} is not legal"
        if problem:
            self._stopped = True
            self._show_turn()
            self._say(f"{name} failed: {problem}. Enter asks again, u takes back, s saves.", is_problem=True)
        else:
            self._advance()

    def _take_hint(self, answer: Answer) -> None:
        found = [number for number, choice in enumerate(self.choices) if choice.move == answer.move]
        if found:
            self._filter("")
            self.select(found[0])
            self._say(f"{self.plan.hint} would play {self.choices[found[0]].text}")
        else:
            self._show_turn()
            self._say(f"no hint: {answer.problem or f'{answer.move} is not legal'}", is_problem=True)

    def _play(self, move: str | int) -> None:
        """The person plays; what is not legal is said."""
        if not self.match.is_mine:
            self._say("it is not your turn", is_problem=True)
            return
        try:
            self.match.play(move)
        except MoveError as error:
            self._say(str(error), is_problem=True)
        else:
            self._say("")
            self._advance()

    # ---- what is shown

    def _show_game(self) -> None:
        match = self.match
        title = f"{match.rules.game.title}: you are player {match.seat}, against {match.against()}"
        self.query_one("#title", Static).update(title)
        _, players = show(match.position, match.seat)
        self.query_one("#players", Static).update(Text.from_ansi(players))
        who = ["you" if player == match.seat else f"p{player}" for player in range(match.rules.players)]
        lines = [f"{number:3d} {who[played.player]:3} {played.text}" for number, played in enumerate(match.log, 1)]
        self.query_one("#played", Static).update("\n".join(lines))
        self.query_one("#log", VerticalScroll).scroll_end(animate=False)
        self._filter("")
        self._show_selected()

    def _show_selected(self) -> None:
        """The table as it would be with the selected move, or as it is."""
        if self.choices:
            choice = self.choices[self.selected]
            picture, place = choice.picture, choice.place
        else:
            position, log = self.match.position, self.match.log
            picture, _ = show(position, self.match.seat, log[-1].move if log else None)
            place = None
        if place is None and self._recent:
            place = Box(*self._recent[-1], 1, 1)
        self.query_one(Board).show(picture, self._recent, place)
        self._show_turn()

    def _show_turn(self) -> None:
        line = self._thinks
        if self.match.position.over:
            line = "The game is over: n for a new one, u to take back, s to save, q to quit"
        elif self.choices and not line:
            line = f"Your turn: {self._describe(self.choices[self.selected])}"
        self.query_one("#turn", Static).update(line)

    def _describe(self, choice: Choice) -> str:
        same = [other for other in self.choices if other.place == choice.place]
        text = choice.text
        if choice.place and len(same) > 1:
            text += f", {same.index(choice) + 1} of {len(same)} here"
        gains = [f"{self._short(player)} {gain:+d}" for player, gain in enumerate(choice.gains) if gain]
        return f"{text}   ({', '.join(gains)})" if gains else text

    def _short(self, player: int) -> str:
        return "you" if player == self.match.seat else f"player {player}"

    def _say(self, text: str, is_problem: bool = False) -> None:
        note = self.query_one("#note", Static)
        note.update(text)
        note.set_class(is_problem, "problem")
        note.display = bool(text)

    # ---- selecting

    def select(self, number: int) -> None:
        """Another choice is the selected one."""
        self.selected = number
        self._say("")
        moves = self.query_one("#moves", OptionList)
        move = str(self.choices[number].move)
        if any(option.id == move for option in moves.options):
            with self.prevent(OptionList.OptionHighlighted):
                moves.highlighted = moves.get_option_index(move)
        self._show_selected()

    def on_picture_clicked(self, event: Picture.Clicked) -> None:
        """The choice at that letter of the table, if there is one."""
        number = at(self.choices, self.selected, event.cell)
        if number is not None:
            self._filter("")
            self.select(number)

    def _filter(self, typed: str) -> list[int]:
        """List the choices that fit what is typed; the first is selected if the selected one does not."""
        fitting = [number for number, choice in enumerate(self.choices) if fits(choice.text, typed)]
        moves = self.query_one("#moves", OptionList)
        with self.prevent(OptionList.OptionHighlighted):
            moves.set_options(Option(self.choices[n].text, id=str(self.choices[n].move)) for n in fitting)
            moves.highlighted = fitting.index(self.selected) if self.selected in fitting else None
        total = len(self.choices)
        moves.border_title = f"{len(fitting)} of {total} moves" if len(fitting) < total else f"{total} moves"
        if fitting and self.selected not in fitting:
            self.select(fitting[0])
        return fitting

    @on(Input.Changed, "#typed")
    def _typed(self, event: Input.Changed) -> None:
        self._say("")
        self._filter(event.value)

    @on(Input.Submitted, "#typed")
    def _submitted(self, event: Input.Submitted) -> None:
        if not event.value.strip():
            self.query_one(Board).focus()
            return
        fitting = [choice for choice in self.choices if fits(choice.text, event.value)]
        try:
            self.match.position.parse(event.value)
        except MoveError:
            if len(fitting) > 1:
                self._say(f"{len(fitting)} moves begin like this: type on, or Tab, up and down complete")
                return
            if fitting:
                self._play(fitting[0].move)
                return
        self._play(event.value)

    @on(OptionList.OptionHighlighted, "#moves")
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        for number, choice in enumerate(self.choices):
            if str(choice.move) == event.option.id and number != self.selected:
                self.select(number)

    @on(OptionList.OptionSelected, "#moves")
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        self._play(int(event.option.id or -1))

    # ---- keys

    def action_go(self, direction: str) -> None:
        """To the next place."""
        if self.choices:
            self.select(step(self.choices, self.selected, direction))

    def action_turn(self) -> None:
        """To the next move at this place."""
        if self.choices:
            self.select(turn(self.choices, self.selected))

    def action_play(self) -> None:
        """Play the selected move; or ask an agent again that failed."""
        if self._stopped:
            self._say("")
            self._advance()
        elif self.choices:
            self._play(self.choices[self.selected].move)
        elif not self.match.position.over:
            self._say("wait a moment" if self.match.is_mine else "it is not your turn", is_problem=True)

    def action_type(self) -> None:
        """Type a move."""
        self.query_one(MoveInput).focus()

    def action_table(self) -> None:
        """Back to the table, nothing typed."""
        self.query_one(MoveInput).value = ""
        self.query_one(Board).focus()

    def action_complete(self, by: int) -> None:
        """Put the selected move of the list into what is typed, or one above or below it."""
        moves = self.query_one("#moves", OptionList)
        if not moves.options:
            return
        field = self.query_one(MoveInput)
        number = moves.highlighted or 0
        if any(str(option.prompt) == field.value for option in moves.options):  # else complete what is typed first
            number = (number + by) % len(moves.options)
        moves.highlighted = number
        with self.prevent(Input.Changed):
            field.value = str(moves.get_option_at_index(number).prompt)
        field.action_end()

    def action_hint(self) -> None:
        """What would the hint agent play?"""
        if self.match.is_mine and not self._thinks:
            self._thinks = f"{self.plan.hint} is thinking about a hint ..."
            self._thinker.ask(self._adviser, self.match.question())
            self._show_turn()
        elif not self.match.is_mine:
            self._say("a hint is for your turn", is_problem=True)

    def action_undo(self) -> None:
        """Back to the person's previous decision."""
        try:
            self.match.undo()
        except MoveError as error:
            self._say(str(error), is_problem=True)
        else:
            self._say("")
            self._advance()

    def action_theme(self) -> None:
        """Light or dark."""
        self.theme = "textual-light" if self.current_theme.dark else "textual-dark"

    def action_help(self) -> None:
        """All keys."""
        self.push_screen(help_screen())

    # ---- saving and leaving

    def action_save(self) -> bool:
        """Write the game; was it written?"""
        try:
            save(self.match, self.path)
        except OSError as error:
            self._say(str(error), is_problem=True)
            return False
        self._saved = list(self.match.log)
        if str(self.path) not in self._written:
            self._written.append(str(self.path))
        more = "" if self.match.position.over else f"; --resume {self.path} goes on with it"
        self._say(f"saved: {self.path}{more}")
        return True

    def action_new(self) -> None:
        """Another game."""
        self._leave(self._begin, "n", "a new game")

    async def action_quit(self) -> None:
        """Leave the app."""
        self._leave(self._end, "q", "quit")

    def _leave(self, leave: Callable[[], None], key: str, what: str) -> None:
        """Leave this game, saved if that was asked for at the start; else ask about a game that would be lost."""
        is_lost = self._saved != self.match.log and any(played.player == self.match.seat for played in self.match.log)
        if not is_lost or (self.plan.save and self.action_save()):
            leave()
            return

        def answered(answer: str | None) -> None:
            if answer == key or (answer == "s" and self.action_save()):
                leave()

        choices = {"s": f"save, then {what}", key: f"{what}, without saving", "g": "go on with this game"}
        self.push_screen(Offer("This game is not saved", Text(""), choices), answered)

    def _begin(self) -> None:
        self.match = deal(self.plan, new_seed())
        self.path, self._saved = free_path(self.plan), []
        self._say("")
        self._advance()

    def _end(self) -> None:
        self._thinker.forget()
        self.exit(self._written)

    def _after_result(self, answer: str | None) -> None:
        """What the person wants once the game is over."""
        if answer == "s" and self.action_save():
            self.push_screen(result_screen(self.match), self._after_result)
        elif answer == "n":
            self.action_new()
        elif answer == "u":
            self.action_undo()
        elif answer == "q":
            self._leave(self._end, "q", "quit")
