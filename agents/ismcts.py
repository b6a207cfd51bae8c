"""Information-set Monte Carlo tree search, over what the seat to act knows."""

import functools
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from agents.search import Budget, Forest
from tollero_env.game import OptionError, Rules, Style
from tollero_env.position import Position, as_word
from tollero_env.rng import pick_best

PLAYOUTS = ("greedy", "random")
PRIORS = ("turn", "none")
ALLOWED = {  # by searching agents
    "sims": "a whole number from 1 to 1000000000",
    "ms": "a whole number from 1 to 86400000",
    "threads": "a whole number from 1 to 256",
    "playout": f"one of {', '.join(PLAYOUTS)}",
    "prior": f"one of {', '.join(PRIORS)}",
    "reuse": "yes or no",
    "turns": "a whole number from 1 to 1000",
    "by": "turns or tree",
}
MOST = {"turns": 1000, "sims": 10**9, "ms": 86_400_000, "threads": 256}
TAKEN = ("sims", "ms", "threads", "playout", "prior", "reuse")  # by ismcts
DEFAULT_SIMS = 2000


class Searcher:
    """The move tried most often. With sims= equal seeds give equal moves; with ms= it thinks as long as that.

    `reuse` keeps what is known of a position for the next decision of the same turn; by default with ms= alone.
    """

    def __init__(self, name: str, find_style: Callable[[Rules], Style], parameters: Mapping[str, str]) -> None:
        """`find_style` says how a game is searched; parameters are texts, as in the agent's name."""
        check_parameters(name, parameters, ("sims", "ms", "threads", "reuse"))
        if "sims" in parameters and "ms" in parameters:
            raise OptionError(f"agent {name!r}: sims= and ms= exclude each other")
        ms = int(parameters.get("ms", 0))
        self.budget = Budget(0 if ms else int(parameters.get("sims", DEFAULT_SIMS)), ms)
        self.threads = int(parameters.get("threads", 1))
        self.reuses = parameters.get("reuse", "yes" if ms else "no") == "yes"
        self._find_style = find_style
        self._rules: Rules | None = None
        self._played: int | None = None

    def act(self, position: Position, seed: int) -> int:
        """The move tried most often, of those the one of the best mean; the seed settles ties."""
        since = time.perf_counter()
        moves = position.moves()
        if len(moves) == 1:
            return moves[0]
        tried = self.weigh(position, seed, since)
        chances = np.array([tried[move][0] + tried[move][1] / 2 for move in moves])
        move = moves[int(pick_best(chances, len(moves), as_word(seed)))]
        self._played = move if self.reuses else None
        return move

    def weigh(self, position: Position, seed: int, since: float | None = None) -> dict[int, tuple[int, float]]:
        """For every legal move how often it was tried, and its mean; the time runs from `since`."""
        return self._forest_for(position).think(self.budget, seed, time.perf_counter() if since is None else since)

    def _forest_for(self, position: Position) -> Forest:
        if self._rules is not position.rules:
            self._rules, self._played = position.rules, None
            style = self._find_style(position.rules)
            self._forest = Forest(position.rules, style, self.threads, 0 if self.reuses else self.budget.sims)
        self._forest.start(position, self._played)
        return self._forest


class Ismcts(Searcher):
    """Tree search with a game's own guides.

    `playout` is how games are played out and `prior` what is tried first (none: UCB1); a game has a default for both.
    """

    def __init__(self, **parameters: str) -> None:
        """Texts, as in the agent's name."""
        check_parameters("ismcts", parameters, TAKEN)
        playout, prior = parameters.pop("playout", None), parameters.pop("prior", None)
        super().__init__("ismcts", functools.partial(find_style, playout=playout, prior=prior), parameters)


def check_parameters(name: str, parameters: Mapping[str, str], known: Sequence[str]) -> None:
    """Refuse what a searching agent does not take."""
    for key, text in parameters.items():
        if key not in known:
            raise OptionError(f"agent {name!r} has no parameter {key!r}; there is {', '.join(known)}")
        if not _is_allowed(key, text):
            raise OptionError(f"agent {name!r}: {key}={text!r} is not {ALLOWED[key]}")


def _is_allowed(key: str, text: str) -> bool:
    if key in MOST:
        return text.isascii() and text.isdigit() and 1 <= int(text) <= MOST[key]
    return text in {"playout": PLAYOUTS, "prior": PRIORS, "reuse": ("yes", "no")}[key]


def find_style(rules: Rules, playout: str | None = None, prior: str | None = None) -> Style:
    """How a game is searched with these; what is not given is the game's default."""
    styles = rules.game.styles
    if not styles:
        raise OptionError(f"agent 'ismcts': {rules.game.title} has no tree search")
    for (one, other), style in styles.items():
        if playout in (None, one) and prior in (None, other):
            return style
    known = "; ".join(f"playout={one},prior={other}" for one, other in styles)
    wanted = ",".join(f"{key}={text}" for key, text in (("playout", playout), ("prior", prior)) if text)
    raise OptionError(f"agent 'ismcts': {rules.game.title} is not searched with {wanted}; there is {known}")
