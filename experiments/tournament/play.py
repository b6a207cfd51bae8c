"""One game between agents that are told only what their seats may know."""

import contextlib
import importlib
import time
import traceback
from collections.abc import Sequence
from typing import Any, NamedTuple

from experiments.tournament.plan import Config, Job, Seats, one_way
from tollero_env.game import OptionError, Rules, get_rules
from tollero_env.opponents import make_agent
from tollero_env.position import Position


class Result(NamedTuple):
    """A game that was played; `seed` and `moves` give it back."""

    deal: int
    seed: int
    seats: Seats
    moves: list[int]
    decisions: list[int]  # by seat, as all that follow
    seconds: list[float]  # in the agent alone
    slowest: list[float]  # seconds of the longest decision
    scores: list[int]
    outcome: list[float]  # shares of the win


class AgentError(Exception):
    """An agent failed; the message names agent, game and ply, `trace` is where."""

    def __init__(self, message: str, trace: str) -> None:
        super().__init__(message, trace)
        self.trace = trace

    def __str__(self) -> str:
        return str(self.args[0])


def load_agents(modules: Sequence[str]) -> None:
    """Make all agents known by name: those of this project and those that the modules register."""
    for module in ("agents", *modules):
        try:
            importlib.import_module(module)
        except ImportError as error:
            raise OptionError(f"module {module!r} cannot be imported: {error}") from error


def make_rules(config: Config) -> Rules:
    """The rules that a run is played by."""
    return get_rules(config.game, config.players, **config.options)


def play_game(rules: Rules, job: Job) -> Result:
    """Play a game. Agents are made for it; each sees the table with what it cannot know drawn anew for every move."""
    position = Position.new(rules, job.seed)
    players = [make_agent(name) for name in job.seats]
    decisions, seconds, slowest = [0] * rules.players, [0.0] * rules.players, [0.0] * rules.players
    while not position.over:
        seat, ply = position.player, position.ply
        view = position.hidden_from(seat, one_way(job.seed, ply, "draw"))
        seed = one_way(job.seed, ply, "agent")
        start = time.perf_counter()
        try:
            move = players[seat].act(view, seed)
            spent = time.perf_counter() - start
            position.play(move)
        except Exception as error:
            raise AgentError(_complaint(job, seat, ply, error), traceback.format_exc()) from error
        decisions[seat] += 1
        seconds[seat] += spent
        slowest[seat] = max(slowest[seat], spent)
    return Result(*job, position.history(), decisions, seconds, slowest, position.scores(), position.outcome())


def _complaint(job: Job, seat: int, ply: int, error: Exception) -> str:
    what = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return f"agent {job.seats[seat]!r} in seat {seat} of deal {job.deal} ({' '.join(job.seats)}), ply {ply}: {what}"


def warm_up(rules: Rules, agents: Sequence[str]) -> None:
    """Let every agent play a first turn that does not count, since first calls may compile and load."""
    for name in agents:
        position = Position.new(rules, 0)
        with contextlib.suppress(Exception):  # a game will say it better
            agent = make_agent(name)
            while not position.over and position.player == 0:
                position.play(agent.act(position.hidden_from(0, position.ply), position.ply))


def to_replay(rules: Rules, result: Result) -> dict[str, Any]:
    """The whole game in the replay format; what else is known of it goes into `meta`."""
    position = Position.new(rules, result.seed)
    for move in result.moves:
        position.play(move)
    meta = {key: value for key, value in result._asdict().items() if key not in ("moves", "scores")}
    return {**position.to_replay(), "meta": meta}
