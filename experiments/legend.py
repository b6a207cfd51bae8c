"""What observations and actions mean, as a page made from the code.

python -m experiments.legend [--out docs/observations.md]
"""

import sys
from collections.abc import Sequence

import tyro

from experiments.options import clear_errors
from tollero_env.files import write_beside
from tollero_env.game import NAMES, Game, get_game, get_rules

INTRO = """# Observations

Made by `python -m experiments.legend --out docs/observations.md` from the tables the code itself reads; a test keeps
the two the same. Everything is told from one player's seat: own things first, then the others in turn order. What that
player cannot know is nowhere in it.
"""


def legend() -> str:
    """The page."""
    return INTRO + "".join(game_page(get_game(name)) for name in NAMES)


def game_page(game: Game) -> str:
    """The encodings of one game."""
    return f"\n## {game.title}\n" + "".join(encoding_page(game, name) for name in game.encodings)


def encoding_page(game: Game, name: str) -> str:
    """Sizes, then one table for each kind of number."""
    how = game.encodings[name]
    lines = [f"\n### `{name}`\n", "| players | view | actions | parts of a batch | `observation` of the envs |"]
    lines.append("|---|---|---|---|---|")
    for players in game.players:
        view = how.resolve_view(get_rules(game.name, players), None)
        parts = ", ".join(f"{part.shape} {part.dtype}" for part in how.parts(players, view))
        whole = how.whole(players, view)
        shown = str(view or "-")
        lines.append(
            f"| {players} | {shown} | {how.num_actions(players, view)} | {parts} | {whole.shape} {whole.dtype} |"
        )
    for kind, rows in how.legend.items():
        lines += ["", f"| {kind} | name | what |", "|---|---|---|"]
        first = 0
        for row, count, what in rows:
            last = f"{first + count - 1}" if row != "heights" else f"{first} + 4 * players - 1"
            number = f"{first}" if count == 1 else f"{first} to {last}"
            lines.append(f"| {number} | {row} | {what} |")
            first += count
    return "\n".join(lines) + "\n"


def run(out: str | None = None) -> None:
    """Print the page, or write it.

    Args:
        out: File to write.
    """
    if out is None:
        sys.stdout.write(legend())
        return
    with write_beside(out) as file:
        file.write(legend())


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line."""
    with clear_errors(ValueError, OSError):
        tyro.cli(run, prog="python -m experiments.legend", description=__doc__, args=args)


if __name__ == "__main__":
    main()
