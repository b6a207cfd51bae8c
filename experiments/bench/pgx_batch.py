"""Pgx's games on the CPU, as fast as it can be asked to play them.

Everything runs inside one compiled `lax.scan` over many steps, so that no dispatch is counted; observation, mask and
Pgx's own auto-reset are in every step, as in ours. The process is kept to one core before XLA starts its threads.

"pgx hex" replays actions that were recorded before, from the same position every time: the step alone is counted. In
"pgx hex sampled" actions are drawn in the scan, all legal ones equally likely, by one number and a running sum over the
mask: faster than Pgx's own `act_randomly`. The keys of the steps are made beforehand in both.
"""

import functools
import importlib.util
import os
from typing import Any

from experiments.bench.cases import Case

# Pgx's name, ours, steps in a round, and whether the choice of actions is measured as well
GAMES = (("hex", "hex", 60, True), ("othello", "othello", 60, True), ("connect_four", "connect four", 120, False),
         ("go_9x9", "go 9x9", 2, False))  # fmt: skip
BURN_IN = 50  # steps before the recording: games are then at different points


def use_one_thread() -> None:
    """Before jax is imported: the CPU alone (it then looks for nothing else, nor warns), one thread."""
    os.environ["JAX_PLATFORMS"] = "cpu"
    flags = os.environ.get("XLA_FLAGS", "")
    if "xla_cpu_multi_thread_eigen" not in flags:
        os.environ["XLA_FLAGS"] = f"{flags} --xla_cpu_multi_thread_eigen=false".strip()


class Played:
    """One of Pgx's games, many at once; compiled when first run."""

    def __init__(self, name: str, games: int, steps: int) -> None:
        import jax
        import pgx
        from pgx.experimental import auto_reset

        env = pgx.make(name)
        self._jax, self._games, self._steps = jax, games, steps
        self._step, self._init = jax.vmap(auto_reset(env.step, env.init)), jax.vmap(env.init)
        self._play = jax.jit(self._scan)
        self._recorded: tuple[Any, Any] | None = None

    def run(self) -> float:
        """The recorded steps."""
        return self._run(is_sampled=False)

    def run_sampled(self) -> float:
        """As many steps from the same position, actions drawn anew."""
        return self._run(is_sampled=True)

    def bytes(self) -> int:
        """What one step hands out for one game."""
        state = self._jax.eval_shape(self._init, self._jax.random.split(self._jax.random.PRNGKey(1), self._games))
        handed_out = (state.observation, state.legal_action_mask, state.rewards, state.terminated, state.truncated,
                      state.current_player)  # fmt: skip
        return int(sum(array.size * array.dtype.itemsize for array in handed_out) // self._games)

    def _run(self, is_sampled: bool) -> float:
        if self._recorded is None:
            self._recorded = self._record()
        self._jax.block_until_ready(self._play(*self._recorded, is_sampled))
        return self._steps * self._games

    def _record(self) -> tuple[Any, Any]:
        """A position amid the games, and what the steps from there are given."""
        random = self._jax.random
        keys = random.split(random.PRNGKey(1), (self._steps + 1, self._games))
        state, given = self._init(keys[0]), (self._jax.numpy.zeros((self._steps, self._games), int), keys[1:])
        for _ in range(-(-BURN_IN // self._steps)):
            state, _ = self._play(state, given, True)
        _, actions = self._play(state, given, True)
        self._jax.block_until_ready(actions)
        return state, (actions, keys[1:])

    def _scan(self, state: Any, given: tuple[Any, Any], is_sampled: Any) -> tuple[Any, Any]:
        """The last state, and the actions of all steps: those given, or others."""

        def step(state: Any, given: tuple[Any, Any]) -> tuple[Any, Any]:
            actions, keys = given
            drawn = functools.partial(self._choose, state.legal_action_mask, keys[0])
            actions = self._jax.lax.cond(is_sampled, drawn, lambda: actions)  # only one of them is run
            return self._step(state, actions, keys), actions

        return self._jax.lax.scan(step, state, given)  # type: ignore[no-any-return]

    def _choose(self, mask: Any, key: Any) -> Any:
        numpy = self._jax.numpy
        sums = numpy.cumsum(mask, axis=1, dtype=numpy.int32)
        passed = (self._jax.random.uniform(key, (self._games,)) * sums[:, -1]).astype(numpy.int32)
        return numpy.argmax(sums > passed[:, None], axis=1)


def cases(games: int) -> list[Case]:
    """The games that a batch is compared to, if Pgx is installed."""
    if not (importlib.util.find_spec("pgx") and importlib.util.find_spec("jax")):
        return []
    use_one_thread()
    found = []
    for name, title, steps, has_sampled in GAMES:
        played = Played(name, games, steps)
        facts = {"bytes": played.bytes()}
        found.append(Case(f"pgx {title}", 2, "steps/s", played.run, facts=facts))
        if has_sampled:
            found.append(Case(f"pgx {title} sampled", 2, "steps/s", played.run_sampled, facts=facts))
    return found
