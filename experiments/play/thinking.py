"""What takes long is done in threads of its own, so that the screen stays alive: agents think, moves are listed."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

from textual.message import Message

from experiments.play.choices import Choice
from tollero_env.opponents import Agent
from tollero_env.position import Position


class Answer(Message):
    """What an agent says."""

    def __init__(self, job: int, move: int, problem: str = "") -> None:
        """To question number `job`: a move, or -1 and what went wrong."""
        super().__init__()
        self.job, self.move, self.problem = job, move, problem


class Listed(Message):
    """All the moves to choose from."""

    def __init__(self, job: int, choices: list[Choice]) -> None:
        """As asked for by question number `job`."""
        super().__init__()
        self.job, self.choices = job, choices


class Thinker:
    """Asks one question at a time; the answers to earlier ones no longer count."""

    def __init__(self, post: Callable[[Answer | Listed], object]) -> None:
        """Answers are handed to `post`, from the thread."""
        self.job = 0
        self._post = post
        self._lock = threading.Lock()  # an agent may keep a tree: it is never asked twice at once

    def forget(self) -> None:
        """No answer is waited for any more."""
        self.job += 1

    def ask(self, agent: Agent, question: tuple[Position, int], pace: float = 0) -> None:
        """Let the agent think, at least that many seconds."""
        self.forget()
        # a daemon: quitting does not wait for it
        threading.Thread(target=self._think, args=(self.job, agent, question, pace), daemon=True).start()

    def finish(self, found: list[Choice], rest: Iterator[Choice]) -> None:
        """Make the rest of the choices, too, then post them all."""
        self.forget()
        threading.Thread(target=self._finish, args=(self.job, found, rest), daemon=True).start()

    def _finish(self, job: int, found: list[Choice], rest: Iterator[Choice]) -> None:
        for choice in rest:
            found.append(choice)
            if job != self.job:
                return
        with contextlib.suppress(RuntimeError):  # the app was quit meanwhile
            self._post(Listed(job, found))

    def _think(self, job: int, agent: Agent, question: tuple[Position, int], pace: float) -> None:
        until = time.monotonic() + pace
        with self._lock:
            if job != self.job:
                return
            try:
                answer = Answer(job, agent.act(*question))
            except Exception as error:  # an agent may be anybody's
                answer = Answer(job, -1, f"{type(error).__name__}: {error}")
        time.sleep(max(0, until - time.monotonic()))
        with contextlib.suppress(RuntimeError):  # the app was quit meanwhile
            self._post(answer)
