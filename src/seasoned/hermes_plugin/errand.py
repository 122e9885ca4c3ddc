"""Errands: what is done beside Hermes' own threads, so that none of them waits longer than it must."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from queue import Full, Queue
from typing import TypeVar

from seasoned.hermes_plugin.shield import Shield

_T = TypeVar("_T")
_MOST = 2000


class _Errand:
    """One thing to do; `result` is set when it was done."""

    def __init__(self, part: str, work: Callable[[], object]) -> None:
        self.part = part
        self.work = work
        self.result: object = None
        self.done = threading.Event()


class Errands:
    """One thread that does one thing after the other. It never keeps Hermes from ending."""

    def __init__(self, name: str, shield: Shield) -> None:
        self._name = name
        self._shield = shield
        self._lock = threading.Lock()
        self._queue: Queue[_Errand] = Queue(_MOST)
        self._process: int | None = None

    def tell(self, part: str, work: Callable[[], object]) -> bool:
        """Have something done some time; False where so much waits already that it is left undone."""
        return self._put(_Errand(part, work))

    def ask(self, part: str, work: Callable[[], _T], *, seconds: float) -> _T | None:
        """What it came to; None where it failed or took longer."""
        errand = _Errand(part, work)
        if self._put(errand) and errand.done.wait(seconds):
            return errand.result  # type: ignore[return-value]  # what `work` returned
        return None

    def flush(self, seconds: float) -> bool:
        """Wait until all is done that was told so far; whether it was."""
        if self._process != os.getpid():
            return True
        last = _Errand("flush", lambda: None)
        return self._put(last) and last.done.wait(seconds)

    def _put(self, errand: _Errand) -> bool:
        with self._lock:
            # After a fork the thread is not there any more.
            if self._process != os.getpid():
                self._queue = Queue(_MOST)
                self._process = os.getpid()
                threading.Thread(target=self._run, args=(self._queue,), name=self._name, daemon=True).start()
            try:
                self._queue.put_nowait(errand)
            except Full:
                return False
        return True

    def _run(self, queue: Queue[_Errand]) -> None:
        while True:
            errand = queue.get()
            try:
                with self._shield.part(errand.part):
                    errand.result = errand.work()
            finally:
                errand.done.set()
