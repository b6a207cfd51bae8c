"""Write, check and show replays.

python -m experiments.replay make --game tollero --players 3 --games 100 --agent random --seed 1 --legal OUT.jsonl
python -m experiments.replay verify IN.jsonl
python -m experiments.replay show IN.jsonl [--only 3] [--colour] [--html OUT.html] [--svg OUT.svg] [--gif OUT.gif]
"""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any

import tyro
from rich.console import Console
from rich.progress import track

import agents  # noqa: F401  makes their names known
from experiments.options import clear_errors, rules_from_text
from tollero_env.files import write_beside
from tollero_env.film import film
from tollero_env.game import Rules
from tollero_env.opponents import Agent, make_agent
from tollero_env.position import Position
from tollero_env.render import save_gif, save_mp4, to_html, to_svg
from tollero_env.replay import Replay, ReplayError, load, read, write
from tollero_env.rng import derive

app = tyro.extras.SubcommandApp()
WRAP: dict[str, Any] = {"break_on_hyphens": False, "break_long_words": False}
Options = Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="KEY=VALUE")]
Out = Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="OUT")]
In = Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="IN")]
TileSet = Annotated[str | None, tyro.conf.arg(metavar="NAME|PATH")]


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
    tileset: TileSet = None,
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
    print(f"{out}: {_games(count)} of {rules.game.title}")


def play_game(rules: Rules, agent: Agent, seed: int, legal: bool = False) -> dict[str, Any]:
    """The replay of one game in which the agent plays every seat, told only what that seat may know."""
    position = Position.new(rules, seed)
    while not position.over:
        draw = derive(seed, 1 + position.ply)
        position.play(agent.act(position.hidden_from(position.player, draw), draw))
    return position.to_replay(legal)


@app.command
def verify(path: In, *, tileset: TileSet = None) -> None:
    """Replay every game of a file and check all that it says.

    Args:
        path: File of replays.
        tileset: Path of the tile set that the games name, if it is not a shipped one.
    """
    count = sum(1 for _ in load_all(path, tileset))
    print(f"{path}: {_games(count)} verified")


@app.command
def show(
    path: In,
    *,
    tileset: TileSet = None,
    only: int | None = None,
    viewer: int | None = None,
    colour: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False,
    html: str | None = None,
    svg: str | None = None,
    gif: str | None = None,
    mp4: str | None = None,
) -> None:
    """Show the games of a file decision by decision: in the terminal, or one game as a page, picture or film.

    Args:
        path: File of replays.
        tileset: Path of the tile set that the games name, if it is not a shipped one.
        only: Number of the one game to show.
        viewer: Show only what this seat may see.
        colour: In the terminal, in colour.
        html: Write a page that steps through the game (the first one, or --only).
        svg: Write a picture of the end of the game.
        gif: Write a film of the game (extra render).
        mp4: Write a film of the game (extra video).
    """
    files = {"html": html, "svg": svg, "gif": gif, "mp4": mp4}
    wanted = {kind: out for kind, out in files.items() if out is not None}
    chosen = 1 if wanted and only is None else only
    found = False
    for number, replay in load_all(path, tileset):
        if chosen not in (None, number):
            continue
        found = True
        if viewer is not None and viewer not in range(replay.rules.players):
            raise ReplayError(f"--viewer {viewer} is not a seat: they are 0 to {replay.rules.players - 1}")
        for kind, out in wanted.items():
            draw_game(replay, number, kind, out, viewer)
            print(f"{out}: game {number}")
        if not wanted:
            print(f"Game {number}\n{playthrough(replay, viewer, colour)}\n")
    if not found:
        raise ReplayError(f"{path}: there is no game {chosen}")


def draw_game(replay: Replay, number: int, kind: str, out: str, viewer: int | None = None) -> None:
    """Write one game as a file of that kind."""
    frames = list(film(replay.rules, replay.start, replay.moves, viewer=viewer))
    if kind == "gif":
        save_gif(out, frames)
    elif kind == "mp4":
        save_mp4(out, frames)
    else:
        title = f"{replay.rules.game.title}, game {number}"
        text = to_html(frames, title) if kind == "html" else to_svg(frames[-1].scene)
        with write_beside(out) as file:
            file.write(text)


def _games(count: int) -> str:
    return "1 game" if count == 1 else f"{count} games"


def load_all(path: str, tileset: str | None) -> Iterator[tuple[int, Replay]]:
    """The replays of a file, with their numbers; an error names the game."""
    for number, data in read(path):
        try:
            yield number, load(data, tileset=tileset)
        except ReplayError as error:
            raise ReplayError(f"{path}: game {number}: {error}") from error


def playthrough(replay: Replay, viewer: int | None = None, colour: bool = False) -> str:
    """A game as a person reads it: the table whenever a player begins, every choice, what was played."""
    return "\n".join(playthrough_lines(Position(replay.rules, replay.start), replay.moves, viewer, colour))


def playthrough_lines(
    position: Position, moves: Iterable[str | int], viewer: int | None = None, colour: bool = False
) -> Iterator[str]:
    """The lines of a playthrough; each move is played in `position` when its line has been handed out.

    A viewer is told the table and the moves, but neither other hands nor other players' choices.
    """
    rules = position.rules
    facts = [f"{rules.players} players"]
    facts += [f"{key} {getattr(value, 'name', value)}" for key, value in rules.options.items() if value is not None]
    yield f"{rules.game.title}: {', '.join(facts)}"
    last_player = None
    for number, move in enumerate(moves, 1):
        if position.player != last_player:
            yield from ("", *position.show(viewer, colour).split("\n"))
            last_player = position.player
        if viewer in (None, position.player):
            legal = sorted(position.legal())
            choices = "1 choice" if len(legal) == 1 else f"{len(legal)} choices"
            yield from ("", f"{number}. player {position.player} has {choices}:", *_wrapped(legal))
        else:
            yield from ("", f"{number}. player {position.player}")
        yield f"   plays: {position.text(position.parse(move))}"
        position.play(move)
    yield from ("", *position.show(viewer, colour).split("\n"), f"scores: {position.scores()}")


def _wrapped(texts: Sequence[str]) -> list[str]:
    """Lines of texts with commas between; none is broken."""
    whole = ", ".join(text.replace(" ", "\0") for text in texts)
    lines = textwrap.wrap(whole, 116, initial_indent="   ", subsequent_indent="   ", **WRAP)
    return [line.replace("\0", " ") for line in lines]


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line."""
    with clear_errors(ValueError, OSError):
        app.cli(prog="python -m experiments.replay", description="Write, check and show replays.", args=args)


if __name__ == "__main__":
    main()
