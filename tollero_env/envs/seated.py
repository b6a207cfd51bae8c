"""Games in which one seat each learns and agents play the others: what the single-agent and vector envs stand on."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from tollero_env.game import MEMORY, PAID, Array, OptionError, Rules, StateError, check_choice, get_rules
from tollero_env.opponents import Agent, BatchAgent, RandomAgent, make_agent
from tollero_env.position import Position, as_word, is_whole, new_seed
from tollero_env.rng import derive

Opponents = str | Agent | Sequence[str | Agent]
MAX_DEALS = 64  # in a row, in search of a game in which the learner is offered an action


class SeatedGames:
    """N games; `observation` and `mask` are what their learners see, kept up to date whoever moves.

    A game that has ended stays as it is until `deal` starts another.
    """

    def __init__(
        self,
        game: str,
        num_games: int,
        num_players: int = 2,
        *,
        opponents: Opponents = "random",
        seat: int | str = 0,
        encoding: str | None = None,
        view: int | str | None = None,
        reward: str = "win",
        **options: Any,
    ) -> None:
        """`opponents`: one for all other seats, or one for each in turn order from the learner on.

        `seat`: the learner's, or "rotate" for the next one with every game; the seed says with which a row begins.
        Other options are those of the rules.
        """
        self._how = {
            "game": game, "num_games": num_games, "num_players": num_players, "opponents": opponents, "seat": seat,
            "encoding": encoding, "view": view, "reward": reward, **options,
        }  # fmt: skip
        check_choice("num_games", num_games, range(1, 1 << 24))
        check_choice("reward", reward, PAID)
        self.rules: Rules = get_rules(game, num_players, **options)
        check_choice("seat", seat, (*range(num_players), "rotate"))
        self.agents = _seat_agents(opponents, num_players)
        self._groups = _groups_of(self.agents)
        self._are_random = all(type(agent) is RandomAgent for agent in self.agents)
        self.decisions = 0  # of all seats, so far; not those before a learner's first
        encodings = self.rules.game.encodings
        name = next(iter(encodings)) if encoding is None else encoding
        check_choice("encoding", name, tuple(encodings))
        self._encoding = encodings[name]
        self._view = self._encoding.resolve_view(self.rules, view)
        self._kind, self._seat, self.num_games, self.num_players = PAID.index(reward), seat, num_games, num_players
        self._make_arrays()
        low, high = self.rules.game.score_bounds(self.rules.tables)
        self._worst = {"win": -1 / (num_players - 1), "margin": low - high, "score": low}[reward]
        bounds = np.iinfo(self.observation.dtype)
        self.observation_space = spaces.Box(
            bounds.min, bounds.max, self.observation.shape[1:], self.observation.dtype.type
        )
        self.action_space = spaces.Discrete(self.mask.shape[1])

    def _make_arrays(self) -> None:
        n, players = self.num_games, self.num_players
        part, how = self._encoding.whole(players, self._view), self._encoding
        self.parts = array, numbers = how.parts(players, self._view)  # what the observation is made of
        self.groups = how.groups
        self.observation = np.zeros((n, *part.shape), part.dtype)
        self._rows, self._cells = self.observation.reshape(n, -1), int(np.prod(array.shape))
        self._numbers, self._memory = np.zeros((n, *numbers.shape), numbers.dtype), np.zeros((n, MEMORY), np.int64)
        self.mask = np.zeros((n, how.num_actions(players, self._view)), np.int8)
        self.states = np.zeros(n, self.rules.game.state)
        self.seats, self._acting = np.zeros(n, np.int64), np.full(n, -1, np.int64)
        self._offered, self._turns = np.zeros(n, np.int64), np.arange(n)  # whose turn it is to learn, if seats rotate
        self._actions, self._is_dealt = np.zeros(n, np.int64), np.zeros(n, np.bool)
        self._seeds = np.array([new_seed() for _ in range(n)], np.uint64)  # of each row's next game
        self._agent_seeds = np.zeros(n, np.uint64)
        self.rewards, self.outcome = np.zeros((n, players)), np.zeros((n, players))
        self.scores = np.zeros((n, players), np.int64)
        self.terminated, self.truncated, self.illegal = (np.zeros(n, np.bool) for _ in range(3))
        self._all, self._legal = np.arange(n), np.empty(self.rules.game.max_legal, np.int64)

    # ---- what the envs do

    def deal(self, games: Array, seeds: Sequence[int | None] | None = None) -> None:
        """Start new games in these rows, up to the learner's first decision; without seeds, each row's next one."""
        for game, seed in zip(games, seeds or ()):
            if seed is not None:
                self._seeds[game], self._turns[game] = as_word(seed), seed % self.num_players
        self._is_dealt[games] = False
        rest = games
        for _ in range(MAX_DEALS):
            self._deal_once(rest)
            rest = rest[self._offered[rest] == 0]
            if rest.size == 0:
                break
        else:
            raise OptionError("no new game offers the learner an action: choose a larger view, or other tiles")
        self._is_dealt[games] = True
        self.terminated[games] = self.truncated[games] = self.illegal[games] = False
        self.rewards[games] = 0

    def play(self, actions: Array) -> None:
        """One action of every learner, then what the others do; tells in `rewards` and the flags how games ended."""
        self.check_dealt()
        self._note(actions)
        rules, how, games = self.rules, self._encoding, self._all
        moves = np.empty(self.num_games, np.int64)
        how.to_moves(self.states, rules.tables, self._view, games, self._actions, moves)
        self._is_dealt[:] = False  # should an agent raise, no game goes on with half a turn played
        self.rewards[:] = 0
        self.illegal[:] = moves < 0
        going = games[moves >= 0] if self.illegal.any() else games
        if self._are_random:
            self._advance_randomly(going, moves[going])
        else:
            self._advance(going, moves[going])
            self._others_play(going, self._advance)
        self.terminated[:] = (self._acting < 0) | self.illegal
        going = games[~self.terminated]
        self._present(going, fresh=False)
        self.truncated[going] = self._offered[going] == 0
        over = games[(self._acting < 0) & ~self.illegal]
        if over.size:
            rules.game.loops.settle_many(
                self.states, rules.tables, over, self._kind, self.rewards, self.scores, self.outcome
            )
            self._present(over, fresh=True)
        self.rewards[self.illegal] = self._worst
        self._is_dealt[:] = True

    def check_dealt(self) -> None:
        """Refuse to go on where no game is."""
        if not self._is_dealt.all():
            where = f" in row {int(np.argmin(self._is_dealt))}" if self.num_games > 1 else ""
            raise StateError(f"there is no game{where}: call reset() first")

    def own_rewards(self) -> Array:
        """Of the learners, shape (N,)."""
        return self.rewards[self._all, self.seats]

    def final_infos(self) -> dict[str, tuple[Array, Array]]:
        """How games ended, by name: a row for every game, and whether it has any meaning."""
        ended, illegal = self.terminated | self.truncated, self.illegal.copy()
        over = self.terminated & ~illegal
        return {
            "seat": (self.seats.copy(), ended),
            "scores": (self.scores.copy(), over),
            "outcome": (self.outcome.copy(), over),
            "illegal_action": (illegal, illegal),
            "view_overflow": (self.truncated.copy(), self.truncated.copy()),
        }

    def final_info(self, game: int) -> dict[str, Any]:
        """How one game ended."""
        told = {name: rows[game] for name, (rows, has) in self.final_infos().items() if has[game]}
        return {name: row if row.shape else row.item() for name, row in told.items()}

    def position(self, game: int) -> Position:
        """One of the games as a Position of its own, hidden things included."""
        self.check_dealt()
        check_choice("game", int(game) if is_whole(game) else game, range(self.num_games))
        return Position(self.rules, self.states[game : game + 1])

    # ---- inside

    def _note(self, actions: Array) -> None:
        """Take actions over: of one kind for the compiled code, whatever the caller's is."""
        found = np.asarray(actions)
        if found.shape != (self.num_games,) or found.dtype.kind not in "iu":
            raise ValueError(f"actions are {found.dtype} of shape {found.shape}, not whole numbers ({self.num_games},)")
        self._actions[:] = found

    def _deal_once(self, games: Array) -> None:
        loops = self.rules.game.loops
        loops.deal_many(self.states, self.rules.tables, games, self._seeds, self._agent_seeds, self._acting)
        if self._seat == "rotate":
            self.seats[games] = self._turns[games] % self.num_players
        else:
            self.seats[games] = self._seat
        self._turns[games] += 1
        self._others_play(games, self._play)
        self._offered[games] = 0
        self._present(games[self._acting[games] >= 0], fresh=True)

    def _others_play(self, games: Array, play: Any) -> None:
        """The agents decide until the learner must, or the game is over."""
        while True:
            acting = self._acting[games]
            games = games[(acting >= 0) & (acting != self.seats[games])]
            if games.size == 0:
                return
            seeds, moves = np.empty(games.size, np.uint64), np.empty(games.size, np.int64)
            self.rules.game.loops.seed_many(self.states, games, self._agent_seeds, seeds)
            places = (self._acting[games] - self.seats[games] - 1) % self.num_players
            for agent, seated in self._groups:
                theirs = np.flatnonzero(np.isin(places, seated))
                if theirs.size == games.size:
                    self._ask(agent, games, seeds, moves)
                elif theirs.size:
                    chosen = np.empty(theirs.size, np.int64)
                    self._ask(agent, games[theirs], seeds[theirs], chosen)
                    moves[theirs] = chosen
            play(games, moves)

    def _ask(self, agent: Agent, games: Array, seeds: Array, out: Array) -> None:
        """One agent's moves; one that is not compiled is told only what its seat may know."""
        if isinstance(agent, BatchAgent):
            agent.act_batch(self.rules, self.states, games, seeds, out)
            return
        for k, game in enumerate(games):
            seed = int(seeds[k])
            truth = Position(self.rules, self.states[game : game + 1])
            hidden = truth.hidden_from(int(self._acting[game]), derive(seed, 1))
            out[k] = hidden.parse(agent.act(hidden, seed))
            if out[k] not in hidden.moves():
                raise OptionError(f"agent {agent!r} chose {out[k]}, which is not legal")

    def _play(self, games: Array, moves: Array) -> None:
        self.rules.game.loops.play_many(self.states, self.rules.tables, games, moves, self._acting)

    def _advance(self, games: Array, moves: Array) -> None:
        self._encoding.advance(
            self.states, self.rules.tables, self._view, games, moves, self.seats,
            self._memory, self._rows, self._numbers, self.mask, self._acting,
        )  # fmt: skip
        self.decisions += games.size

    def _advance_randomly(self, games: Array, moves: Array) -> None:
        """In one call what `_advance` and `_others_play` do if all others are random."""
        self.decisions += self._encoding.advance_randomly(
            self.states, self.rules.tables, self._view, games, moves, self.seats, self._agent_seeds,
            self._memory, self._rows, self._numbers, self.mask, self._acting, self._legal,
        )  # fmt: skip

    def _present(self, games: Array, fresh: bool) -> None:
        self._encoding.present(
            self.states, self.rules.tables, self._view, games, self.seats, fresh, self._cells,
            self._memory, self._rows, self._numbers, self.mask, self._offered,
        )  # fmt: skip

    # ---- copies: compiled functions are not copied but looked up again

    def __getstate__(self) -> dict[str, Any]:
        arrays = {name: value for name, value in self.__dict__.items() if isinstance(value, np.ndarray)}
        how = {**self._how, "opponents": self.agents}
        return {"how": how, "arrays": arrays, "decisions": self.decisions}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state["how"])  # type: ignore[misc]
        for name, array in state["arrays"].items():
            getattr(self, name)[...] = array
        self.decisions = state["decisions"]


def _seat_agents(opponents: Opponents, players: int) -> list[Agent]:
    """One agent for each other seat; a name alone makes one agent for all of them."""
    if isinstance(opponents, str) or not isinstance(opponents, Sequence):
        return [_agent(opponents)] * (players - 1)
    if len(opponents) != players - 1:
        raise OptionError(f"{len(opponents)} opponents for {players} players: give one, or {players - 1}")
    return [_agent(who) for who in opponents]


def _agent(who: Any) -> Agent:
    if isinstance(who, str):
        return make_agent(who)
    if isinstance(who, type) or not callable(getattr(who, "act", None)):
        raise OptionError(f"opponent {who!r} is neither a name nor an agent: it has no act(position, seed)")
    return who  # type: ignore[no-any-return]


def _groups_of(agents: list[Agent]) -> list[tuple[Agent, list[int]]]:
    """Each agent with its places; agents that are equal are still two."""
    groups: dict[int, tuple[Agent, list[int]]] = {}
    for place, agent in enumerate(agents):
        groups.setdefault(id(agent), (agent, []))[1].append(place)
    return list(groups.values())
