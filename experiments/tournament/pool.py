"""Games in several processes at once; whoever stops early leaves no process behind."""

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Generator, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

from experiments.tournament.plan import Config, Job
from experiments.tournament.play import AgentError, Result, load_agents, make_rules, play_game, warm_up

# Libraries that would otherwise start a thread for every core in every process.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def play_jobs(config: Config, jobs: Sequence[Job], workers: int) -> Generator[Result]:
    """Play the games, in any order with more than one worker; raises AgentError."""
    if workers == 1 or len(jobs) < 2:
        rules = make_rules(config)
        warm_up(rules, config.agents)
        for job in jobs:
            yield play_game(rules, job)
        return
    processes = _start(config, min(workers, len(jobs)))
    try:
        yield from _hand_out(processes, jobs)
    finally:
        for connection, process in processes.items():
            connection.close()
            process.terminate()
        for process in processes.values():
            process.join()


def _start(config: Config, workers: int) -> dict[Connection, SpawnProcess]:
    context = multiprocessing.get_context("spawn")
    processes: dict[Connection, SpawnProcess] = {}
    with _ctrl_c_ignored(), _few_threads(workers):
        for _ in range(workers):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs, config), daemon=True)
            process.start()
            theirs.close()
            processes[ours] = process
    return processes


def _hand_out(processes: dict[Connection, SpawnProcess], jobs: Sequence[Job]) -> Iterator[Result]:
    left = iter(jobs)
    busy = list(processes)
    for connection, job in zip(busy, left):
        connection.send(job)
    while busy:
        ready = wait(busy)
        for connection in [each for each in busy if each in ready]:
            yield _receive(connection, processes[connection])
            if (following := next(left, None)) is None:
                busy.remove(connection)
            else:
                connection.send(following)


def _receive(connection: Connection, process: SpawnProcess) -> Result:
    try:
        answer: Result | AgentError = connection.recv()
    except (EOFError, ConnectionError):
        process.join()
        raise OSError(f"a process that played games ended by itself (exit code {process.exitcode})") from None
    if isinstance(answer, AgentError):
        raise answer
    return answer


def _serve(connection: Connection, config: Config) -> None:
    """A process's life: play what is asked for until nobody asks any more."""
    load_agents(config.modules)
    rules = make_rules(config)
    warm_up(rules, config.agents)
    with contextlib.suppress(EOFError, ConnectionError):
        while True:
            try:
                connection.send(play_game(rules, connection.recv()))
            except AgentError as error:
                connection.send(error)


@contextlib.contextmanager
def _ctrl_c_ignored() -> Iterator[None]:
    """Processes started meanwhile leave Ctrl-C to this one, from their first moment on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def _few_threads(workers: int) -> Iterator[None]:
    """Processes started meanwhile share the cores, unless the user has said how."""
    share = str(max(1, (os.cpu_count() or 1) // workers))
    added = [name for name in THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(added, share))
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]
