"""A game as a film: a picture of the table as dealt, and one after every move."""

from collections.abc import Iterable, Iterator, Sequence

from tollero_env.game import Array, Rules
from tollero_env.position import Position
from tollero_env.scene import Frame


def film(
    rules: Rules,
    start: Array,
    moves: Iterable[int],
    *,
    viewer: int | None = None,
    legal: bool = False,
    chances: Sequence[Sequence[int]] = (),
) -> Iterator[Frame]:
    """The frames of a game, as that seat may see it (None sees all), with what was legal marked on request.

    `chances`: what chance settled after each move, if it was not drawn by the game itself.
    """
    moves = list(moves)
    settled = dict(enumerate(chances))
    end, position = Position(rules, start), Position(rules, start)
    for number, move in enumerate(moves):
        end.play(move, settled.get(number))
    last, caption = None, "0. the table as dealt"
    for number in range(len(moves) + 1):
        places = position.moves() if legal else ()
        scene = rules.game.draw(rules, position.states, 0, viewer=viewer, last=last, legal=places, room=end.states)
        yield Frame(scene, caption)
        if number < len(moves):
            last = moves[number]
            caption = f"{number + 1}. player {position.player}: {position.text(last)}"
            position.play(last, settled.get(number))
