"""Runs a function over many tasks: in this process, in a pool of processes, or on a Dask cluster.

A task that fails, loses its worker or takes too long is tried again, and reported after the last try. A task may run
twice, so it must have the same effect each time.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, Protocol, TypeVar

from seasoned.errors import CannotDo

TRIES = 3
SLOW_SECONDS = 900.0
_POLL_SECONDS = 0.5
_CONNECT_SECONDS = 30
_BUNDLES_EACH = 8  # for each worker of a cluster
# Our own cluster monitors itself less often. By default the profiler takes a seventh of the workers' time, and checking
# clocks and memory many times a second takes more, even while others wait for the processor.
_QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.worker.memory.monitor-interval": "1s",
    # By default workers return each freed block to the system at once and fetch it again for the next file, with five
    # times the page faults. With one arena and these limits memory is reused, as in a process of the pool.
    "distributed.nanny.pre-spawn-environ.MALLOC_ARENA_MAX": 1,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 32 << 20,
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 64 << 20,
}


class TaskOutcome(NamedTuple):
    """How a task ended: with a value, or with the reason why it has none."""

    task: Any
    value: Any = None
    error: str | None = None
    tries: int = 1


T = TypeVar("T")


class Engine(Protocol):
    """Where tasks run."""

    workers: int

    def run(self, function: Callable[[T], Any], tasks: Sequence[T]) -> Iterator[TaskOutcome]:
        """The outcome of each task, in the order in which they end."""

    def close(self) -> None:
        """End what was started."""


def _attempt(function: Callable[[Any], Any], task: Any) -> tuple[Any, str | None]:
    """The value of a task, or why it failed."""
    try:
        return function(task), None
    except Exception as error:  # noqa: BLE001 - one task: whatever breaks it, the others go on
        return None, f"{type(error).__name__}: {error}"


def _attempt_each(function: Callable[[Any], Any], tasks: Sequence[Any]) -> list[tuple[Any, str | None]]:
    return [_attempt(function, task) for task in tasks]


class InlineEngine:
    """One task after the other, in this process."""

    workers = 1

    def run(self, function: Callable[[T], Any], tasks: Sequence[T]) -> Iterator[TaskOutcome]:
        for task in tasks:
            tries = 1
            value, error = _attempt(function, task)
            while error is not None and tries < TRIES:
                tries += 1
                value, error = _attempt(function, task)
            yield TaskOutcome(task, value, error, tries)

    def close(self) -> None:
        return


class _PoolWorker:
    """A process, the pipe to it, and what it works on."""

    def __init__(self, context: Any) -> None:
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=_work, args=(other,), daemon=True)
        self.process.start()
        other.close()
        self.job: tuple[Any, int] | None = None  # the task, and the number of the try
        self.begun: float | None = None

    def give(self, function: Callable[[Any], Any], task: Any, tries: int) -> None:
        self.job = task, tries
        self.begun = None  # a new process says when it has started: that time is not the task's
        with suppress(OSError):  # if it has died, waiting for its answer shows it
            self.pipe.send((function, task))

    def end(self) -> str:
        """Kill the process; says how it ended."""
        self.process.kill()
        self.process.join()
        self.pipe.close()
        return f"the worker process ended with code {self.process.exitcode}"


def _work(pipe: Any) -> None:
    # The pipe ends with the process that holds its other side.
    with suppress(EOFError, OSError, KeyboardInterrupt):
        while True:
            function, task = pipe.recv()
            pipe.send(None)
            pipe.send(_attempt(function, task))


class PoolEngine:
    """Processes on this machine. Each has one task at a time, so it is known which task a dead one had."""

    def __init__(self, workers: int, *, slow_seconds: float = SLOW_SECONDS) -> None:
        from multiprocessing import get_context

        # A fork of this process would copy the threads of Arrow in an undefined state.
        self._context: Any = get_context("spawn" if sys.platform == "win32" else "forkserver")
        if sys.platform != "win32":
            self._context.set_forkserver_preload(["seasoned.mine.run"])
        self.workers = workers
        self._slow_seconds = slow_seconds
        self._idle: list[_PoolWorker] = []
        self._busy: list[_PoolWorker] = []

    @property
    def processes(self) -> list[int]:
        """The ids of the processes that work now."""
        return [one.process.pid for one in (*self._idle, *self._busy)]

    def run(self, function: Callable[[T], Any], tasks: Sequence[T]) -> Iterator[TaskOutcome]:
        from multiprocessing.connection import wait

        waiting: deque[tuple[Any, int]] = deque((task, 1) for task in tasks)
        while waiting or self._busy:
            while waiting and len(self._busy) < self.workers:
                worker = self._idle.pop() if self._idle else _PoolWorker(self._context)
                worker.give(function, *waiting.popleft())
                self._busy.append(worker)
            ready = wait([one.pipe for one in self._busy], timeout=_POLL_SECONDS)
            for worker in list(self._busy):
                answer = self._answer(worker, has_one=worker.pipe in ready)
                if answer is not None:
                    assert worker.job is not None
                    (task, tries), (value, error) = worker.job, answer
                    if error is not None and tries < TRIES:
                        waiting.append((task, tries + 1))
                    else:
                        yield TaskOutcome(task, value, error, tries)

    def _answer(self, worker: _PoolWorker, *, has_one: bool) -> tuple[Any, str | None] | None:
        """The value of a worker's task, or why it failed; None while it works."""
        answer: tuple[Any, str | None] | None = None
        now = time.monotonic()
        if has_one:
            try:
                answer = worker.pipe.recv()
            except (EOFError, OSError):
                self._busy.remove(worker)
                return None, worker.end()
            if answer is None:
                worker.begun = now
            else:
                self._busy.remove(worker)
                self._idle.append(worker)
        elif worker.begun is not None and now - worker.begun > self._slow_seconds:
            self._busy.remove(worker)
            worker.end()
            answer = None, f"it took longer than {self._slow_seconds:g} s"
        return answer

    def close(self) -> None:
        for worker in (*self._idle, *self._busy):
            worker.end()
        self._idle, self._busy = [], []


class DaskEngine:
    """A Dask cluster: the one at an address, or one on this machine with `workers` processes."""

    def __init__(self, workers: int, *, address: str | None = None, slow_seconds: float = SLOW_SECONDS) -> None:
        import dask
        from distributed import Client, LocalCluster

        self._slow_seconds = slow_seconds
        self._cluster = None
        if address is None:
            with dask.config.set(_QUIET):
                self._cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
        try:
            self.client = Client(self._cluster or address, set_as_default=False, timeout=_CONNECT_SECONDS)
        except (OSError, TimeoutError, ValueError) as error:
            raise CannotDo(f"The Dask scheduler at {address!r} does not answer: {error}.") from error
        self.workers = sum(self.client.nthreads().values())
        if not self.workers:
            self.close()
            raise CannotDo(f"The Dask scheduler at {address!r} has no workers. Start one: `dask worker {address}`.")

    def run(self, function: Callable[[T], Any], tasks: Sequence[T]) -> Iterator[TaskOutcome]:
        from distributed import wait

        # Small tasks are bundled: each future costs the scheduler, the client and a worker some milliseconds.
        size = max(1, len(tasks) // (self.workers * _BUNDLES_EACH))
        bundles = [(tuple(tasks[at : at + size]), 1) for at in range(0, len(tasks), size)]
        waiting: deque[tuple[tuple[Any, ...], int]] = deque(bundles)
        running: dict[Any, tuple[tuple[Any, ...], int, float]] = {}
        while waiting or running:
            # Only few are submitted ahead, so that the time since then tells how long a task takes.
            while waiting and len(running) < 2 * self.workers:
                bundle, tries = waiting.popleft()
                future = self.client.submit(_attempt_each, function, bundle, pure=False)
                running[future] = bundle, tries, time.monotonic()
            with suppress(TimeoutError), self.client.as_current():
                wait(list(running), timeout=_POLL_SECONDS, return_when="FIRST_COMPLETED")
            for future, (bundle, tries, begun) in list(running.items()):
                if not future.done() and time.monotonic() - begun <= self._slow_seconds * len(bundle):
                    continue
                del running[future]
                for task, (value, error) in zip(bundle, self._answers(future, len(bundle)), strict=True):
                    if error is not None and tries < TRIES:
                        # Alone, so that it is not blamed for others.
                        waiting.append(((task,), tries + 1))
                    else:
                        yield TaskOutcome(task, value, error, tries)

    def _answers(self, future: Any, size: int) -> list[tuple[Any, str | None]]:
        if not future.done():
            future.cancel()
            return [(None, f"it took longer than {self._slow_seconds:g} s")] * size
        if future.status != "finished":
            # Dask has already retried workers that died.
            return [(None, str(future.exception() or future.status))] * size
        answers: list[tuple[Any, str | None]] = future.result()
        return answers

    def close(self) -> None:
        self.client.close()
        if self._cluster is not None:
            self._cluster.close()


def make_engine(name: str, workers: int, *, address: str | None = None, slow_seconds: float = SLOW_SECONDS) -> Engine:
    """The engine of a name: `inline`, `pool` or `dask`."""
    if name == "dask":
        return DaskEngine(workers, address=address, slow_seconds=slow_seconds)
    return PoolEngine(workers, slow_seconds=slow_seconds) if name == "pool" else InlineEngine()
