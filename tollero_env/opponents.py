"""What an agent is, and a registry of agents by name. `import agents` brings more than the random one."""

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from tollero_env.game import Array, OptionError, Rules
from tollero_env.position import Position
from tollero_env.rng import choose


class Agent(Protocol):
    """Chooses a legal move for the seat to act, from what that seat may know."""

    def act(self, position: Position, seed: int) -> int:
        """A legal move. What the seat cannot know is drawn at random in `position`; equal seeds give equal moves."""


@runtime_checkable
class BatchAgent(Protocol):
    """An agent that can also choose for many games in one compiled call."""

    def act(self, position: Position, seed: int) -> int:
        """As Agent."""

    def act_batch(self, rules: Rules, states: Array, games: Array, seeds: Array, out: Array) -> None:
        """Write a legal move for each of the games (indices into `states`) to `out`.

        The states are the true ones: it must choose by what the seat to act may know alone.
        """


Factory = Callable[..., Agent]
_FACTORIES: dict[str, Factory] = {}
_WITH_PLACE: set[str] = set()


def register(name: str, factory: Factory, has_place: bool = False) -> None:
    """Make an agent known by name; `factory` takes the parameters of the name as keywords.

    With `has_place`, what comes first and has no "=" is its first argument (the PATH of net:PATH).
    """
    _FACTORIES[name] = factory
    (_WITH_PLACE.add if has_place else _WITH_PLACE.discard)(name)


def agent_names() -> list[str]:
    """The names that `make_agent` takes."""
    return sorted(_FACTORIES)


def make_agent(text: str) -> Agent:
    """An agent from its name and parameters, such as "random", "ismcts:sims=2000" or "net:PATH,ms=50"."""
    name, _, rest = text.partition(":")
    if name not in _FACTORIES:
        known = ", ".join(agent_names())
        raise OptionError(f"agent {name!r} is not known; there is {known}, and `import agents` brings more")
    parameters: dict[str, Any] = {}
    first, *others = rest.split(",")
    places = [first] if name in _WITH_PLACE and first and "=" not in first else []
    for part in filter(None, others if places else [first, *others]):
        key, equals, value = part.partition("=")
        if not equals or not key or key in parameters:
            raise OptionError(f"agent {text!r}: {part!r} is not key=value, each key once")
        parameters[key] = value
    try:
        return _FACTORIES[name](*places, **parameters)
    except TypeError as error:
        raise OptionError(f"agent {text!r}: {error}") from error


class RandomAgent:
    """Every legal move is equally likely."""

    def act(self, position: Position, seed: int) -> int:
        """One of the legal moves."""
        moves = position.moves()
        return moves[choose(seed, len(moves))]

    def act_batch(self, rules: Rules, states: Array, games: Array, seeds: Array, out: Array) -> None:
        """The same for many games in one call."""
        rules.game.loops.sample_many(states, rules.tables, games, seeds, out)


register("random", RandomAgent)
