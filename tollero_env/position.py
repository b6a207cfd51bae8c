"""Position: a game as a person handles it, without a buffer or an index in sight."""

import secrets
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from tollero_env.game import Array, MoveError, Rules, StateError, get_game, get_rules
from tollero_env.render.svg import to_svg

# the one before, the move, the state it was played in, what chance settled then if that was given
_History = tuple[Any, int, bytes | None, Sequence[int] | None] | None


class Position:
    """What a board is to chess: ask for the legal moves, play them, take them back, copy, compare, show.

    Made by `tollero_env.new_game`. Texts are in the game's notation; wherever one is taken, a move's number is too.
    """

    __slots__ = ("_history", "_start", "_states", "_words", "rules")

    def __init__(self, rules: Rules, states: Array, history: _History = None, start: bytes | None = None) -> None:
        """Copies states[0]; `start` are the bytes of the game as dealt, where known."""
        self.rules = rules
        self._words = states[:1].view(np.uint64).copy()  # numpy copies words twenty times as fast as records
        self._states = self._words.view(rules.game.state)
        self._history = history
        self._start = start

    @classmethod
    def new(cls, rules: Rules, seed: int | None = None) -> Self:
        """A new game; without a seed, a random one."""
        states = np.zeros(1, rules.game.state)
        rules.game.reset(states, 0, rules.tables, as_word(new_seed() if seed is None else seed))
        return cls(rules, states, start=states.tobytes())

    @classmethod
    def from_bytes(cls, rules: Rules, data: bytes) -> Self:
        """The position that `to_bytes` gave; anything else is refused with a reason."""
        game = rules.game
        if len(data) != game.state.itemsize:
            raise StateError(f"{len(data)} bytes are no position of {game.title}, which has {game.state.itemsize}")
        states = np.frombuffer(data, game.state).copy()
        if code := game.check(states, 0, rules.tables):
            raise StateError(f"these bytes are no position of this game: {game.problems[code]}")
        return cls(rules, states)

    # ---- what it is

    @property
    def player(self) -> int:
        """The seat to act; 0 once the game is over."""
        return int(self._states["player"][0])

    @property
    def over(self) -> bool:
        """Has the game ended?"""
        return bool(self._states["over"][0])

    @property
    def ply(self) -> int:
        """How many decisions were made."""
        return int(self._states["ply"][0])

    @property
    def states(self) -> Array:
        """The state, as an array of one; changing it changes the position."""
        return self._states

    def moves(self) -> list[int]:
        """The legal moves as numbers, in the game's fixed order."""
        buffer = np.empty(self.rules.game.max_legal, np.int64)
        number = self.rules.game.moves(self._states, 0, self.rules.tables, buffer)
        return [int(move) for move in buffer[:number]]

    def legal(self) -> list[str]:
        """The legal moves as texts."""
        return [self.text(move) for move in self.moves()]

    def scores(self) -> list[int]:
        """Points as they stand."""
        points = np.zeros(self.rules.players, np.int64)
        self.rules.game.scores(self._states, 0, self.rules.tables, points)
        return points.tolist()

    def outcome(self) -> list[float]:
        """Each seat's share of the win, as if the game ended now."""
        shares = np.zeros(self.rules.players)
        self.rules.game.outcome(self._states, 0, self.rules.tables, shares)
        return shares.tolist()

    def history(self) -> list[int]:
        """The moves played so far, first to last, as far as they are known."""
        moves, node = [], self._history
        while node:
            moves.append(node[1])
            node = node[0]
        return moves[::-1]

    # ---- what one does with it

    def play(self, move: str | int, chance: Sequence[int] | None = None) -> None:
        """Play a legal move, and what follows of itself; anything else raises MoveError and changes nothing.

        `chance`: the values that chance takes next, such as rolls of a die; drawn, if they are not given.
        """
        game, number = self.rules.game, self.parse(move)
        if not game.is_legal(self._states, 0, self.rules.tables, number):
            raise MoveError(self._refusal(move))
        before = self._words.tobytes()
        if chance is None:
            game.apply(self._states, 0, self.rules.tables, number)
        else:
            self._settle(number, chance)
        self._history = (self._history, number, before, chance)

    def undo(self) -> str:
        """Take the last move back; returns its text."""
        if self._history is None:
            raise MoveError("there is no move to take back")
        before, move, data, _ = self._history
        if data is None:
            raise MoveError("earlier positions are hidden from this seat: no move can be taken back")
        self._words[:] = np.frombuffer(data, np.uint64)
        self._history = before
        return self.text(move)

    def copy(self) -> Self:
        """A position of its own with the same future."""
        other = object.__new__(type(self))
        other.rules, other._history, other._start = self.rules, self._history, self._start
        other._words = self._words.copy()
        other._states = other._words.view(self.rules.game.state)
        return other

    def hidden_from(self, player: int, seed: int = 0) -> Self:
        """A copy in which all that this seat cannot know is drawn anew; its moves cannot be taken back."""
        self._check_seat(player)
        history: _History = None
        for move in self.history():
            history = (history, move, None, None)
        other = type(self)(self.rules, self._states, history)
        self.rules.game.resample(other._states, 0, self.rules.tables, player, as_word(seed))
        return other

    def to_bytes(self) -> bytes:
        """The whole truth, hidden things included."""
        return self._words.tobytes()

    # ---- texts

    def text(self, move: int) -> str:
        """A move in the game's notation; it need not be legal."""
        return self.rules.game.move_text(self.rules, self._states, 0, self.parse(move))

    def parse(self, move: str | int) -> int:
        """The number of a move; it need not be legal."""
        if isinstance(move, str):
            return self.rules.game.parse_move(self.rules, self._states, 0, move)
        if not is_whole(move) or not 0 <= move < self.rules.game.num_moves:
            raise MoveError(f"{move!r} is no move: a text, or a number from 0 to {self.rules.game.num_moves - 1}")
        return int(move)

    def show(self, viewer: int | None = None, colour: bool = False) -> str:
        """The table as text, as that seat may see it; None sees all."""
        self._check_viewer(viewer)
        game = self.rules.game
        if colour:
            return game.to_ansi(self.rules, self._states, 0, viewer, self._history[1] if self._history else None)
        return game.to_text(self.rules, self._states, 0, viewer)

    def svg(self, viewer: int | None = None, legal: bool = False) -> str:
        """The table as a picture, as that seat may see it (None sees all), with the legal places on request."""
        self._check_viewer(viewer)
        last = self._history[1] if self._history else None
        places = self.moves() if legal else ()
        return to_svg(self.rules.game.draw(self.rules, self._states, 0, viewer=viewer, last=last, legal=places))

    def _repr_svg_(self) -> str:
        return self.svg()

    def to_replay(self, legal: bool = False) -> dict[str, Any]:
        """The game so far as a replay object, with whole legal sets on request."""
        if self._start is None:
            raise ValueError("this position does not know how its game began")
        start = np.frombuffer(self._start, self.rules.game.state)
        chances: list[Sequence[int] | None] = []
        node = self._history
        while node:
            chances.append(node[3])
            node = node[0]
        given = {"chances": chances[::-1]} if any(chances) else {}
        return self.rules.game.to_json(self.rules, start, self.history(), legal, **given)

    def _settle(self, move: int, values: Sequence[int]) -> None:
        """Play a move, after which chance takes these values; if it cannot, nothing has changed."""
        game, before = self.rules.game, self._words.copy()
        game.act(self._states, 0, self.rules.tables, move)
        for number, value in enumerate(values, 1):
            most = int(self._states["chance"][0])
            if not is_whole(value) or not 1 <= value <= most:
                self._words[:] = before
                allowed = f"1 to {most}" if most else "nothing, for a player decides"
                raise MoveError(f"value {number} of chance is {value!r}; allowed: {allowed}")
            game.chance(self._states, 0, self.rules.tables, value)
        if self._states["chance"][0]:
            self._words[:] = before
            raise MoveError(f"chance must settle more than {len(values)} values after this move")

    def _check_seat(self, player: int) -> None:
        if type(player) is not int or player not in range(self.rules.players):
            raise ValueError(f"player {player!r} is not a seat: they are 0 to {self.rules.players - 1}")

    def _check_viewer(self, viewer: int | None) -> None:
        if viewer is not None:
            self._check_seat(viewer)

    def _refusal(self, move: str | int) -> str:
        name = move if isinstance(move, str) else self._name(move)
        if self.over:
            return f"{name} is not legal: the game is over"
        legal = self.legal()
        more = f" and {len(legal) - 6} more (legal() lists them)" if len(legal) > 6 else ""
        return f"{name} is not legal here; player {self.player} may: {', '.join(legal[:6])}{more}"

    def _name(self, move: int) -> str:
        try:
            return self.text(move)
        except MoveError:
            return f"move {move}"

    def __str__(self) -> str:
        return self.show()

    def __repr__(self) -> str:
        state = "over" if self.over else f"player {self.player} to act"
        return f"<{self.rules.game.title}, {self.rules.players} players, after {self.ply} decisions, {state}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Position) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def __reduce__(self) -> tuple[Any, ...]:
        rules, node, nodes = self.rules, self._history, []
        while node:
            nodes.append(node[1:])
            node = node[0]
        # the tables go along: a tile-set file may have changed, or be out of reach, where this is read
        known = (rules.tables, rules.players, dict(rules.options), rules.material)
        return _restore, (type(self), rules.game.name, known, self.to_bytes(), nodes[::-1], self._start)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()

    def __copy__(self) -> Self:
        return self.copy()


def new_game(game: str = "tollero", players: int = 2, seed: int | None = None, **options: Any) -> Position:
    """Deal a new game, such as new_game("tollero", players=3, seed=1, floors=10)."""
    return Position.new(get_rules(game, players, **options), seed)


def _restore(
    kind: type[Position],
    game: str,
    known: tuple[Array, int, dict[str, Any], Any],
    data: bytes,
    nodes: list[tuple[int, bytes | None, Sequence[int] | None]],
    start: bytes | None,
) -> Position:
    position = kind.from_bytes(Rules(get_game(game), *known), data)
    for move, before, chance in nodes:
        position._history = (position._history, move, before, chance)
    position._start = start
    return position


def new_seed() -> int:
    """A seed nobody can foresee."""
    return secrets.randbits(64)


def is_whole(value: object) -> bool:
    """A whole number, of Python or numpy; True is none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def as_word(seed: int) -> np.uint64:
    """A seed as the kernels take it."""
    if not is_whole(seed) or not 0 <= seed < 1 << 64:
        raise ValueError(f"seed {seed!r} is not a whole number from 0 to 2**64 - 1")
    return np.uint64(seed)
