"""Play a game against agents in the terminal.

python -m experiments.play [--players 3] [--seat random] [--opponents ismcts:ms=500 greedy-turn] [--save FILE.json]
python -m experiments.play --resume FILE.json
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import tyro

import agents  # noqa: F401  makes their names known
from experiments.options import clear_errors, rules_from_text
from experiments.play.app import PlayApp
from experiments.play.match import Match, Plan, deal, load
from tollero_env.game import OptionError, Rules
from tollero_env.opponents import make_agent
from tollero_env.position import new_seed

OPPONENT, PACE = "ismcts:ms=500", 0.6
Options = Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="KEY=VALUE")]
Names = Annotated[
    tuple[str, ...],
    tyro.conf.arg(metavar="AGENT [AGENT ...]", help_behavior_hint=f"(default: {OPPONENT} if it knows the game)"),
]
File = Annotated[str | None, tyro.conf.arg(metavar="FILE.json")]


def play(
    *,
    game: Annotated[str | None, tyro.conf.arg(metavar="NAME", help_behavior_hint="(default: tollero)")] = None,
    players: Annotated[int | None, tyro.conf.arg(metavar="N", help_behavior_hint="(default: 2)")] = None,
    seat: Annotated[str | None, tyro.conf.arg(metavar="N|random", help_behavior_hint="(default: 0)")] = None,
    opponents: Names = (),
    hint: Annotated[str | None, tyro.conf.arg(metavar="AGENT", help_behavior_hint="(default: a greedy one)")] = None,
    seed: Annotated[int | None, tyro.conf.arg(metavar="N", help_behavior_hint="(default: drawn)")] = None,
    option: Options = (),
    tileset: Annotated[str | None, tyro.conf.arg(metavar="NAME|PATH")] = None,
    save: File = None,
    resume: File = None,
    pace: float = PACE,
) -> PlayApp:
    """Play a game against agents in the terminal.

    Args:
        game: Name of the game.
        players: Number of players.
        seat: Your seat, from 0, or random.
        opponents: One agent for all other seats, or one for each.
        hint: The agent that is asked for hints.
        seed: The deal and the agents' draws follow from it.
        option: A rule option, key=value; may be repeated.
        tileset: Name or path of a tile set.
        save: Save here when leaving a game, without asking.
        resume: Go on with the game in this file, and save there.
        pace: Seconds that an opponent takes at least for a move, so that you can follow.
    """
    if not 0 <= pace <= 60:
        raise OptionError(f"--pace {pace} is not a number of seconds from 0 to 60")
    if hint is not None:
        make_agent(hint)
    if resume is not None:
        given = {"game": game, "players": players, "seat": seat, "seed": seed, "option": option or None}
        if refused := [f"--{name}" for name, value in given.items() if value is not None]:
            raise OptionError(f"{refused[0]} does not go with --resume: the game is the one in the file")
        match = load(resume, tileset, opponents)
        return PlayApp(_plan_of(match, hint or _adviser(match.rules), Path(save or resume), pace), match)
    if save is not None and Path(save).exists():
        raise OptionError(f"--save {save}: this file exists; --resume {save} goes on with an unfinished game")
    rules = rules_from_text("tollero" if game is None else game, 2 if players is None else players, tileset, option)
    if seed is not None and not 0 <= seed < 1 << 64:
        raise OptionError(f"--seed {seed} is not from 0 to 2**64 - 1")
    path = None if save is None else Path(save)
    others = opponents or (_opponent(rules),)
    plan = Plan(rules, _read_seat(seat or "0", rules.players), others, hint or _adviser(rules), path, pace)
    return PlayApp(plan, deal(plan, new_seed() if seed is None else seed))


def _adviser(rules: Rules) -> str:
    """The best agent for a hint that answers at once."""
    return "greedy-turn" if rules.game.turns else "greedy"


def _opponent(rules: Rules) -> str:
    """The strongest agent that there is for the game."""
    return OPPONENT if rules.game.styles else _adviser(rules)


def _read_seat(text: str, players: int) -> int | None:
    if text == "random":
        return None
    if text not in [str(seat) for seat in range(players)]:
        raise OptionError(f"--seat {text} is not a seat: they are 0 to {players - 1}, or random")
    return int(text)


def _plan_of(match: Match, hint: str, save: Path, pace: float) -> Plan:
    """The plan that would have begun a match."""
    opponents = tuple(name for name in match.agents if name is not None)
    return Plan(match.rules, match.seat, opponents, hint, save, pace)


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line."""
    with clear_errors(ValueError, OSError):
        app = tyro.cli(play, prog="python -m experiments.play", args=args)
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise OptionError("a game is played in a terminal, and this is none")
        for path in app.run() or []:
            print(f"saved: {path}")
        if app.return_code:
            sys.exit(app.return_code)
