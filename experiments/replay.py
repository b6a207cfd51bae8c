"""Write, check and show replays.

python -m experiments.replay make --game tollero --players 3 --games 100 --agent random --seed 1 --legal OUT.jsonl
python -m experiments.replay verify IN.jsonl
python -m experiments.replay show IN.jsonl
"""

import textwrap
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import tyro
from rich.console import Console
from rich.progress import track

from experiments.options import clear_errors, rules_from_text
from tollero_env.game import Rules
from tollero_env.opponents import Agent, make_agent
from tollero_env.position import Position
from tollero_env.replay import Replay, ReplayError, load, read, write
from tollero_env.rng import derive

app = tyro.extras.SubcommandApp()
WRAP: dict[str, Any] = {"break_on_hyphens": False, "break_long_words": False}
Options = tyro.conf.UseAppendAction[tuple[str, ...]]
Out = tyro.conf.Positional[str]


@app.command
def make(
    out: Out,
    *,
    game: str = "tollero",
    players: int = 2,
    games: int = 1,
    agent: str = "random",
    seed: int = 1,
    legal: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False,
    tileset: str | None = None,
    option: Options = (),
) -> None:
    """Play games and write them as JSON Lines.

    Args:
        out: File to write.
        game: Name of the game.
        players: Number of players.
        games: How many games.
        agent: Who plays every seat.
        seed: Games and choices follow from it.
        legal: Write the whole legal set at every decision.
        tileset: Name or path of a tile set.
        option: A rule option, key=value; may be repeated.
    """
    rules = rules_from_text(game, players, tileset, option)
    if games < 1 or not 0 <= seed < 1 << 64:
        raise ReplayError("--games is at least 1, --seed from 0 to 2**64 - 1")
    console = Console(stderr=True)
    numbers = track(range(games), "Playing", console=console, transient=True, disable=not console.is_terminal)
    player = make_agent(agent)
    count = write(out, (play_game(rules, player, derive(seed, g), legal) for g in numbers))
    print(f"{out}: {count} games of {rules.game.title}")


def play_game(rules: Rules, agent: Agent, seed: int, legal: bool = False) -> dict[str, Any]:
    """The replay of one game in which the agent plays every seat, told only what that seat may know."""
    position = Position.new(rules, seed)
    while not position.over:
        draw = derive(seed, 1 + position.ply)
        position.play(agent.act(position.hidden_from(position.player, draw), draw))
    return position.to_replay(legal)


@app.command
def verify(path: Out, *, tileset: str | None = None) -> None:
    """Replay every game of a file and check all that it says.

    Args:
        path: File of replays.
        tileset: Path of the tile set that the games name, if it is not a shipped one.
    """
    count = sum(1 for _ in load_all(path, tileset))
    print(f"{path}: {count} games verified")


@app.command
def show(path: Out, *, tileset: str | None = None, only: int | None = None) -> None:
    """Print the games of a file, decision by decision.

    Args:
        path: File of replays.
        tileset: Path of the tile set that the games name, if it is not a shipped one.
        only: Number of the one game to show.
    """
    shown = False
    for number, replay in load_all(path, tileset):
        if only in (None, number):
            print(f"Game {number}\n{playthrough(replay)}\n")
            shown = True
    if not shown:
        raise ReplayError(f"{path}: there is no game {only}")


def load_all(path: str, tileset: str | None) -> Iterator[tuple[int, Replay]]:
    """The replays of a file, with their numbers; an error names the game."""
    for number, data in read(path):
        try:
            yield number, load(data, tileset=tileset)
        except ReplayError as error:
            raise ReplayError(f"{path}: game {number}: {error}") from error


def playthrough(replay: Replay) -> str:
    """A game as a person reads it: the table at every turn, every choice, what was played."""
    rules, position = replay.rules, Position(replay.rules, replay.start)
    options = ", ".join(
        f"{key} {value}" for key, value in rules.options.items() if key != "tileset" and value is not None
    )
    lines = [f"{rules.game.title}, {rules.players} players, {options}"]
    last_player = None
    for number, move in enumerate(replay.moves, 1):
        if position.player != last_player:
            lines += ["", position.show()]
            last_player = position.player
        legal = position.legal()
        lines += ["", f"{number}. player {position.player} has {len(legal)} choices:"]
        lines += textwrap.wrap(", ".join(legal), 116, initial_indent="   ", subsequent_indent="   ", **WRAP)
        lines.append(f"   plays: {position.text(move)}")
        position.play(move)
    return "\n".join([*lines, "", position.show(), f"scores: {position.scores()}"])


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line."""
    with clear_errors(ValueError, OSError):
        app.cli(prog="python -m experiments.replay", description=__doc__, args=args)


if __name__ == "__main__":
    main()
