"""The plugin's settings, and the running Hermes: its state, read from modules it has loaded, and work off its threads.

Nothing of Hermes is imported here, and no failure here reaches Hermes.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Full, Queue
from typing import Annotated, Any, TypeVar

import msgspec

from seasoned.config import read_settings
from seasoned.errors import SeasonedError

FILE = "hermes.toml"


class HermesSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the plugin works. What concerns warm starts is in config.toml."""

    confirm: bool = True  # whether high-risk calls wait for a person
    # How long a person may take. Hermes' scheduler ends a job that is silent for 600 seconds.
    wait_seconds: Annotated[float, msgspec.Meta(ge=1, le=3600)] = 240
    judge: bool = True  # whether calls are judged and stored as they happen
    reviews: bool = True  # whether sessions are reviewed, if a model for reviews is configured


def load_settings(path: Path) -> HermesSettings:
    """The settings in a file, checked; the defaults if it does not exist."""
    return read_settings(path, HermesSettings)


def is_review() -> bool:
    """Whether this thread works for a background review."""
    return bool(_call_if_loaded("tools.skill_provenance", "is_background_review"))


def is_interrupted() -> bool:
    """Whether the user has interrupted what this thread does."""
    return bool(_call_if_loaded("tools.interrupt", "is_interrupted"))


def database_path(otherwise: Path) -> Path:
    """The path of Hermes' database; Hermes itself knows it, because it has profiles."""
    home = _call_if_loaded("hermes_constants", "get_hermes_home")
    return Path(home if isinstance(home, str | Path) else otherwise) / "state.db"


def tell_user(line: str) -> None:
    """Show a line to the person at Hermes' terminal, if there is one."""
    # Set only by Hermes' own terminal program.
    agent = getattr(sys.modules.get("cli"), "_active_agent_ref", None)
    emit = getattr(agent, "_emit_status", None)
    if callable(emit):
        emit(f"🌱 {line}")


def _call_if_loaded(module: str, name: str) -> Any:
    function = getattr(sys.modules.get(module), name, None)
    return function() if callable(function) else None


log = logging.getLogger("seasoned.hermes_plugin")
_T = TypeVar("_T")
# A part that fails does so on every call, and would flood the log of Hermes.
_QUIET_SECONDS = 60.0
# Beyond this the store cannot keep up, and dropping work is better than filling Hermes' memory.
_MOST = 2000


class ErrorBoundary:
    """Logs failures inside it, at most once a minute for each part, so that Hermes goes on undisturbed."""

    def __init__(self) -> None:
        self._logged: dict[str, float] = {}

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Log what fails inside instead of raising it."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - one call of Hermes, which the plugin must not stop
            self._log(name, error)

    def _log(self, name: str, error: Exception) -> None:
        now = time.monotonic()
        if now - self._logged.get(name, float("-inf")) < _QUIET_SECONDS:
            return
        self._logged[name] = now
        log.warning("%s was skipped: %s", name, describe_error(error))


def describe_error(error: Exception) -> str:
    """The text of our own errors; of any other only its type and place, since its text may quote a conversation."""
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
    """One thread that works through a queue. It never keeps Hermes from exiting."""

    def __init__(self, name: str, boundary: ErrorBoundary) -> None:
        self._name = name
        self._boundary = boundary
        self._lock = threading.Lock()
        self._queue: Queue[_BackgroundTask] = Queue(_MOST)
        self._process: int | None = None

    def submit(self, part: str, work: Callable[[], object]) -> bool:
        """Queue some work; False if the queue is full and the work was dropped."""
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
