"""Runs a function over many tasks: in this process, in a pool of processes, or on a Dask cluster."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Literal, NamedTuple, TypeVar

from seasoned.errors import CannotDo

EngineName = Literal["inline", "pool", "dask"]
_CONNECT_SECONDS = 30
_RETRIES = 2  # of a task whose worker was lost
_CHUNKS_EACH = 16  # for each worker, so that none finishes much later than the others
_CONTINUE = "What was mined is kept: run the same command again to continue."

T = TypeVar("T")
R = TypeVar("R")


class Engine(NamedTuple):
    """Where tasks run."""

    name: EngineName = "pool"
    workers: int = 1
    scheduler: str | None = None  # of Dask; None: a cluster on this machine

    def run(self, function: Callable[[T], R], tasks: Sequence[T]) -> Iterator[R]:
        """The value of each task, in the order in which they end. A task may run twice, with the same effect."""
        if self.name == "inline" or not tasks:
            return map(function, tasks)
        return self._on_dask(function, tasks) if self.name == "dask" else self._in_pool(function, tasks)

    def _in_pool(self, function: Callable[[T], R], tasks: Sequence[T]) -> Iterator[R]:
        # A fork of this process would copy the threads of Arrow in an undefined state.
        context = get_context("spawn" if sys.platform == "win32" else "forkserver")
        with ProcessPoolExecutor(self.workers, mp_context=context) as pool:
            size = max(1, len(tasks) // (self.workers * _CHUNKS_EACH))
            try:
                yield from pool.map(function, tasks, chunksize=size)
            except BrokenProcessPool as error:
                raise CannotDo(f"A worker process died. {_CONTINUE}") from error

    def _on_dask(self, function: Callable[[T], R], tasks: Sequence[T]) -> Iterator[R]:
        from distributed import Client, KilledWorker, LocalCluster, as_completed

        cluster = None
        if self.scheduler is None:
            cluster = LocalCluster(n_workers=self.workers, threads_per_worker=1, dashboard_address=None)
        try:
            client = Client(cluster or self.scheduler, set_as_default=False, timeout=_CONNECT_SECONDS)
        except (OSError, TimeoutError, ValueError) as error:
            raise CannotDo(f"The Dask scheduler at {self.scheduler!r} does not answer: {error}.") from error
        try:
            if not client.nthreads():
                address = self.scheduler
                raise CannotDo(f"The Dask scheduler at {address!r} has no workers. Start one: `dask worker {address}`.")
            futures = client.map(function, tasks, pure=False, retries=_RETRIES)
            for _, value in as_completed(futures, with_results=True, loop=client.loop):
                yield value
        except KilledWorker as error:
            raise CannotDo(f"Dask lost the workers of a task again and again: {error}. {_CONTINUE}") from error
        finally:
            client.close()
            if cluster is not None:
                cluster.close()
