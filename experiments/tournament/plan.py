"""Who meets whom, in which seats, on which deals."""

import hashlib
import itertools
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

import tollero_env
from tollero_env.game import OptionError, Rules
from tollero_env.opponents import make_agent
from tollero_env.position import Position
from tollero_env.rng import derive

Seats = tuple[str, ...]  # names of the agents by seat


class Lineup(BaseModel):
    """Agents at a table, in any order, and how many games they play at least."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    seats: Seats
    games: int


class Config(BaseModel):
    """All that the games of a run follow from."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    format: Literal["arena/1"] = "arena/1"
    version: str  # of the library
    game: str
    players: int
    options: dict[str, Any]  # of the rules, as given
    digest: str  # of the rules' tables, since a tile set may be a file
    agents: tuple[str, ...]
    lineups: tuple[Lineup, ...]
    seed: int
    modules: tuple[str, ...] = ()  # imported for the agents that they register


class Job(NamedTuple):
    """A game to be played."""

    deal: int
    seed: int
    seats: Seats


def make_config(
    rules: Rules, options: dict[str, Any], lineups: Sequence[Lineup], seed: int, modules: Sequence[str] = ()
) -> Config:
    """A run of these line-ups; refuses what cannot be played."""
    if not lineups:
        raise OptionError("there is nothing to play: no line-up is given")
    if rules.players < 2:
        raise OptionError(f"{rules.players} player: nobody is stronger or weaker where nobody else plays")
    if not 0 <= seed < 1 << 64:
        raise OptionError("--seed is from 0 to 2**64 - 1")
    for lineup in lineups:
        if len(lineup.seats) != rules.players:
            raise OptionError(f"line-up {' '.join(lineup.seats)}: {len(lineup.seats)} agents for {rules.players} seats")
        if lineup.games < 1:
            raise OptionError("--games is at least 1")
    agents = tuple(dict.fromkeys(name for lineup in lineups for name in lineup.seats))
    for name in agents:
        make_agent(name)
    digest = f"{int(Position.new(rules, 0).states['digest'][0]):016x}"
    return Config(
        version=tollero_env.__version__,
        game=rules.game.name,
        players=rules.players,
        options=options,
        digest=digest,
        agents=agents,
        lineups=tuple(lineups),
        seed=seed,
        modules=tuple(modules),
    )


def pairings(agents: Sequence[str], players: int) -> list[Seats]:
    """The line-ups in which agents meet, as many seats each as `players`.

    Two players: every pair. More: one of A against all others B, for every ordered pair, and every choice of as many
    different agents as there are seats.
    """
    if twice := next((name for name in agents if agents.count(name) > 1), None):
        raise OptionError(f"agent {twice!r} is named twice")
    if len(agents) < 2:
        raise OptionError("--agents needs at least two")
    mixed = list(itertools.combinations(agents, players))
    if players == 2:
        return mixed
    return [(one, *[other] * (players - 1)) for one, other in itertools.permutations(agents, 2)] + mixed


def rotations(seats: Seats) -> list[Seats]:
    """The different seatings that turning the table gives: each agent comes to each seat equally often."""
    return list(dict.fromkeys(seats[i:] + seats[:i] for i in range(len(seats))))


def orders(seats: Seats) -> list[Seats]:
    """The different orders round the table, which deals take in turn, so that nobody always follows the same one."""
    return sorted({min(rotations(order)) for order in itertools.permutations(seats)})


def lineup_jobs(lineup: Lineup, seed: int) -> list[list[Job]]:
    """Its games, deal by deal: whole deals, until there are enough games."""
    rounds: list[list[Job]] = []
    cycle = itertools.cycle(orders(lineup.seats))
    played = 0
    while played < lineup.games:
        deal = len(rounds)
        rounds.append([Job(deal, derive(seed, deal), seats) for seats in rotations(next(cycle))])
        played += len(rounds[-1])
    return rounds


def all_jobs(config: Config) -> list[Job]:
    """Every game of a run; line-ups go on side by side, so that what is left takes its time in proportion."""
    keyed = []
    for number, lineup in enumerate(config.lineups):
        rounds = lineup_jobs(lineup, config.seed)
        keyed += [((deal / len(rounds), number), jobs) for deal, jobs in enumerate(rounds)]
    keyed.sort(key=lambda entry: entry[0])
    return [job for _, jobs in keyed for job in jobs]


def merge(lineups: Iterable[Lineup]) -> list[Lineup]:
    """The same line-up once, with the most games that were asked for."""
    merged: dict[Seats, Lineup] = {}
    for lineup in lineups:
        key = tuple(sorted(lineup.seats))
        if key not in merged or merged[key].games < lineup.games:
            merged[key] = lineup
    return list(merged.values())


def with_time(name: str, ms: int) -> str:
    """The agent with so many milliseconds a move, if it takes `ms` and its name sets neither that nor `sims`."""
    _, colon, rest = name.partition(":")
    if {"ms", "sims"} & {part.partition("=")[0] for part in rest.split(",")}:
        return name
    timed = f"{name}{',' if rest else '' if colon else ':'}ms={ms}"
    try:
        make_agent(timed)
    except OptionError:
        return name
    return timed


def one_way(seed: int, ply: int, use: str) -> int:
    """A seed out of a game's seed from which nobody can tell the game's: agents are handed it."""
    return int.from_bytes(hashlib.blake2b(f"{seed} {ply} {use}".encode(), digest_size=8).digest(), "big")
