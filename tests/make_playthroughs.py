"""Write the golden playthroughs anew: python -m tests.make_playthroughs

Do it only after a change of the rules or of the texts that is meant, and read the difference before keeping it.
"""

from pathlib import Path
from typing import Any

from experiments.replay import play_game, playthrough
from tollero_env.files import write_beside
from tollero_env.game import get_rules
from tollero_env.opponents import make_agent
from tollero_env.replay import load

FOLDER = Path(__file__).with_name("playthroughs")

GAMES: dict[str, dict[str, Any]] = {
    "tollero_2p.txt": {"game": "tollero", "players": 2, "seed": 9, "floors": 6},
    "tollero_3p.txt": {"game": "tollero", "players": 3, "seed": 10, "floors": 4},
    "tollero_4p.txt": {"game": "tollero", "players": 4, "seed": 8, "floors": 4},
    "toscana_tile.txt": {"game": "toscana", "players": 2, "seed": 9, "size": 9},
    "toscana_colour.txt": {"game": "toscana", "players": 2, "seed": 3, "size": 7, "contact": "colour", "veto": "match"},
}


def first_line(game: dict[str, Any]) -> str:
    """How to deal the game."""
    return f"new_game({', '.join(f'{key}={value!r}' for key, value in game.items())})"


def make(game: dict[str, Any]) -> str:
    """A game of random moves."""
    options = {key: value for key, value in game.items() if key not in ("game", "players", "seed")}
    rules = get_rules(game["game"], game["players"], **options)
    replay = load(play_game(rules, make_agent("random"), game["seed"]))
    return f"{first_line(game)}\n{playthrough(replay)}\n"


if __name__ == "__main__":
    for name, game in GAMES.items():
        with write_beside(FOLDER / name) as file:
            file.write(make(game))
        print(FOLDER / name)
