"""Work off Hermes' own threads, and failures that never reach Hermes."""

from __future__ import annotations

import logging
import os
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Full, Queue
from typing import TypeVar

from seasoned.errors import SeasonedError

log = logging.getLogger("seasoned.hermes_plugin")
_T = TypeVar("_T")
# A part that fails does so on every call, and would flood the log of Hermes.
_QUIET_SECONDS = 60.0
# Beyond this the store does not keep up, and dropping work is better than filling the memory of Hermes.
_MOST = 2000


class ErrorBoundary:
    """Logs whatever fails inside, at most once a minute for each part, so that Hermes goes on undisturbed."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._logged: dict[str, float] = {}

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Log what fails inside instead of raising it."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - one call of Hermes, which the plugin must not stop
            self._log(name, error)

    def _log(self, name: str, error: Exception) -> None:
        now = self._clock()
        if now - self._logged.get(name, float("-inf")) < _QUIET_SECONDS:
            return
        self._logged[name] = now
        log.warning("%s was skipped: %s", name, describe_error(error))


def describe_error(error: Exception) -> str:
    """The text of our own errors. Of any other only kind and place: its text may quote a conversation."""
    if isinstance(error, SeasonedError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "an unknown place"
    return f"{type(error).__name__} at {place}"


class _BackgroundTask:
    """One thing to do; `result` is set when it was done."""

    def __init__(self, part: str, work: Callable[[], object]) -> None:
        self.part = part
        self.work = work
        self.result: object = None
        self.done = threading.Event()


class BackgroundThread:
    """One thread that does one thing after the other. It never keeps Hermes from ending."""

    def __init__(self, name: str, boundary: ErrorBoundary) -> None:
        self._name = name
        self._boundary = boundary
        self._lock = threading.Lock()
        self._queue: Queue[_BackgroundTask] = Queue(_MOST)
        self._process: int | None = None

    def submit(self, part: str, work: Callable[[], object]) -> bool:
        """Have something done later; False if too much waits already, and it is not done."""
        return self._put(_BackgroundTask(part, work))

    def ask(self, part: str, work: Callable[[], _T], *, seconds: float) -> _T | None:
        """The result of the work; None if it failed or took longer."""
        task = _BackgroundTask(part, work)
        if self._put(task) and task.done.wait(seconds):
            return task.result  # type: ignore[return-value]  # what `work` returned
        return None

    def flush(self, seconds: float) -> bool:
        """Wait until everything submitted so far is done; whether it is."""
        if self._process != os.getpid():
            return True
        last = _BackgroundTask("flush", lambda: None)
        return self._put(last) and last.done.wait(seconds)

    def _put(self, task: _BackgroundTask) -> bool:
        with self._lock:
            # A forked process has the queue, but no thread that works on it.
            if self._process != os.getpid():
                self._queue = Queue(_MOST)
                self._process = os.getpid()
                # A daemon, so that Hermes can exit while a task hangs.
                threading.Thread(target=self._run, args=(self._queue,), name=self._name, daemon=True).start()
            try:
                self._queue.put_nowait(task)
            except Full:
                return False
        return True

    def _run(self, queue: Queue[_BackgroundTask]) -> None:
        while True:
            task = queue.get()
            try:
                with self._boundary.part(task.part):
                    task.result = task.work()
            finally:
                # Also after a failure: a caller must not wait for the full time.
                task.done.set()
