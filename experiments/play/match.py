"""A game between one person and agents: who sits where, whose turn it is, taking back, saving and resuming.

A save is one JSON object. A finished game is saved as a replay, an unfinished one as `FORMAT`:

{"format": "tollero-play/1", "game": "tollero", "players": 2, "options": {"floors": 20, ...}, "seat": 0,
 "agents": [null, "ismcts:ms=500"], "seed": 7, "start": base64 of the position as dealt, "moves": ["lay (0,-2) r1", ..]}
"""

import base64
import binascii
import itertools
import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tollero_env.files import write_beside
from tollero_env.game import NAMES, MoveError, OptionError, Rules, StateError, get_game, get_rules
from tollero_env.opponents import Agent, make_agent
from tollero_env.position import Position
from tollero_env.replay import ReplayError, check_keys, check_list, check_object, check_whole, read, shown, write
from tollero_env.rng import choose, derive

FORMAT = "tollero-play/1"
_KEYS = ("format", "game", "players", "options", "seat", "agents", "seed", "start", "moves")


class Played(NamedTuple):
    """A move that was made."""

    player: int
    move: int
    text: str


@dataclass
class Match:
    """A game as it stands. Agents are asked with what their seat may know, never with the truth."""

    position: Position
    seat: int  # the person's
    agents: list[str | None]  # names by seat, None for the person
    seed: int  # of the deal and of all draws
    start: bytes  # the position as dealt
    log: list[Played] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Makes the agents; an unknown name raises OptionError."""
        self._players: list[Agent | None] = [None if name is None else make_agent(name) for name in self.agents]

    @property
    def rules(self) -> Rules:
        """Of the game that is played."""
        return self.position.rules

    @property
    def is_mine(self) -> bool:
        """Is the person to decide?"""
        return not self.position.over and self.position.player == self.seat

    @property
    def agent(self) -> Agent:
        """The agent that is to act."""
        agent = self._players[self.position.player]
        assert agent is not None, "the person is to act"
        return agent

    def name(self, player: int) -> str:
        """How a seat is spoken of."""
        return "you" if player == self.seat else f"player {player} ({self.agents[player]})"

    def against(self) -> str:
        """Whom the person plays against, in short: "random", "3 x random" or "1 random, 2 greedy"."""
        others = [(player, name) for player, name in enumerate(self.agents) if name is not None]
        names = {name for _, name in others}
        if len(names) > 1:
            return ", ".join(f"{player} {name}" for player, name in others)
        return f"{len(others)} x {min(names)}" if len(others) > 1 else min(names)

    def question(self) -> tuple[Position, int]:
        """What an agent is asked with for the seat to act: all that this seat may know, and a seed."""
        draw = derive(self.seed, 1 + self.position.ply)
        return self.position.hidden_from(self.position.player, draw), draw

    def play(self, move: str | int) -> None:
        """Play a move for the seat to act; MoveError changes nothing."""
        before = self.position.copy()
        self.position.play(move)
        number = before.parse(move)
        self.log.append(Played(before.player, number, before.text(number)))

    def undo(self) -> None:
        """Back to the person's previous decision; MoveError if there is none."""
        if all(played.player != self.seat for played in self.log):
            raise MoveError("there is no move of yours to take back")
        while self.log:
            self.position.undo()
            if self.log.pop().player == self.seat:
                return

    def since(self) -> list[int]:
        """What the others played since the person's last move."""
        moves = []
        for played in reversed(self.log):
            if played.player == self.seat:
                break
            moves.append(played.move)
        return moves[::-1]


class Plan(NamedTuple):
    """How games are set up, the first and any after it."""

    rules: Rules
    seat: int | None  # the person's; None for a random one
    opponents: tuple[str, ...]  # one for all, or one for each other seat
    hint: str  # the agent that is asked for hints
    save: Path | None = None  # where a game is saved without asking when it is left
    pace: float = 0.0  # seconds that an agent takes at least for a move, so that one can follow


def deal(plan: Plan, seed: int) -> Match:
    """A new game."""
    players = plan.rules.players
    seat = choose(derive(seed, 0), players) if plan.seat is None else plan.seat
    position = Position.new(plan.rules, seed)
    return Match(position, seat, seat_agents(players, seat, plan.opponents), seed, position.to_bytes())


def free_path(plan: Plan) -> Path:
    """A file that does not exist yet, for a game to be saved in."""
    path = plan.save or Path(f"{plan.rules.game.name}-{time.strftime('%Y%m%d-%H%M')}.json")
    names = (path.with_stem(f"{path.stem}-{number}") for number in itertools.count(2))
    return next(free for free in itertools.chain([path], names) if not free.exists())


def seat_agents(players: int, seat: int, opponents: tuple[str, ...]) -> list[str | None]:
    """Agents by seat: one for all, or one for each other seat in their order."""
    if len(opponents) not in (1, players - 1):
        allowed = "1" if players == 2 else f"1 (for all) or {players - 1}"
        raise OptionError(f"{players} players: there are {len(opponents)} opponents, but it takes {allowed}")
    others = list(opponents) * (players - 1) if len(opponents) == 1 else list(opponents)
    return [*others[:seat], None, *others[seat:]]


# ---- saving


def save(match: Match, path: str | os.PathLike[str]) -> None:
    """Write a finished game as a replay, another so that `load` goes on with it exactly; OSError if it fails."""
    write(path, [to_replay(match)]) if match.position.over else _write_json(path, to_json(match))


def to_replay(match: Match) -> dict[str, Any]:
    """The replay of a finished game, with who played it."""
    agents = ["person" if name is None else name for name in match.agents]
    return {**match.position.to_replay(), "meta": {"agents": agents, "seed": match.seed}}


def to_json(match: Match) -> dict[str, Any]:
    """All it takes to go on."""
    return {
        "format": FORMAT,
        "game": match.rules.game.name,
        "players": match.rules.players,
        "options": dict(match.rules.options),
        "seat": match.seat,
        "agents": match.agents,
        "seed": match.seed,
        "start": base64.b64encode(match.start).decode("ascii"),
        "moves": [played.text for played in match.log],
    }


def _write_json(path: str | os.PathLike[str], data: dict[str, Any]) -> None:
    with write_beside(path) as file:
        file.write(json.dumps(data, ensure_ascii=False) + "\n")


# ---- resuming


def load(path: str, tileset: str | None = None, opponents: tuple[str, ...] = ()) -> Match:
    """The match of a file, every statement in it checked; a tile set and opponents given here replace its own."""
    games = [data for _, data in read(path)]
    try:
        if len(games) > 1:
            raise ReplayError(f"{len(games)} games; a save holds one")
        return from_json(check_object(games[0], "the save"), tileset, opponents)
    except ValueError as error:
        raise ReplayError(f"{path}: {error}") from error


def from_json(data: dict[str, Any], tileset: str | None = None, opponents: tuple[str, ...] = ()) -> Match:
    """The match of such an object."""
    _check_frame(data)
    players = data["players"]
    options = check_object(data["options"], "options")
    check_keys(options, (), get_game(data["game"]).defaults, 'in "options": ')
    rules = get_rules(data["game"], players, **{**options, **({} if tileset is None else {"tileset": tileset})})
    seat = check_whole(data["seat"], "seat", range(players))
    agents = seat_agents(players, seat, opponents) if opponents else _read_agents(data["agents"], players, seat)
    seed = data["seed"]
    if type(seed) is not int or not 0 <= seed < 1 << 64:
        raise ReplayError(f'"seed" is {shown(seed)}, not a whole number from 0 to 2**64 - 1')
    position = _read_start(rules, data["start"])
    match = Match(position, seat, agents, seed, position.to_bytes())
    for number, move in enumerate(check_list(data["moves"], "moves"), 1):
        _replay_move(match, move, f"move {number}: ")
    return match


def _check_frame(data: dict[str, Any]) -> None:
    if str(data.get("format")).endswith("-replay/1"):
        raise ReplayError("this game is over; `python -m experiments.replay show` shows it")
    if data.get("format") != FORMAT:
        raise ReplayError(f'"format" is {shown(data.get("format"))}; allowed: {FORMAT}')
    check_keys(data, _KEYS)
    if data["game"] not in NAMES:
        raise ReplayError(f'"game" is {shown(data["game"])}; allowed: {", ".join(NAMES)}')


def _read_agents(data: object, players: int, seat: int) -> list[str | None]:
    agents = check_list(data, "agents", players)
    for player, name in enumerate(agents):
        if (name is None) != (player == seat) or not isinstance(name, str | None):
            raise ReplayError(f'"agents" has {shown(name)} for seat {player}; null is the person, at seat {seat}')
    return agents


def _read_start(rules: Rules, text: object) -> Position:
    if not isinstance(text, str):
        raise ReplayError(f'"start" is {shown(text)}, not a text')
    try:
        position = Position.from_bytes(rules, base64.b64decode(text, validate=True))
    except (StateError, binascii.Error) as error:
        raise ReplayError(f'"start": {error}') from error
    if position.ply:
        raise ReplayError(f'"start": not a new game, but one after {position.ply} decisions')
    return Position(rules, position.states, start=position.to_bytes())


def _replay_move(match: Match, move: object, where: str) -> None:
    if not isinstance(move, str):
        raise ReplayError(f"{where}{shown(move)} is not a text")
    try:
        match.play(move)
    except MoveError as error:
        raise ReplayError(f"{where}{error}") from error
