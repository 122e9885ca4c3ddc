"""A second core for work whose result is bytes: done in a child process while this one goes on."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Callable


def begin(work: Callable[[], bytes]) -> Callable[[], bytes | None]:
    """Start the work; call what comes back for its result. None where it could not be done beside: do it yourself.

    A process with other threads is never forked: a lock that one of them holds would stay locked for ever.
    """
    if not hasattr(os, "fork") or (os.cpu_count() or 1) < 2 or threading.active_count() > 1:
        return lambda: None
    # What is not written yet would be written twice.
    sys.stdout.flush()
    sys.stderr.flush()
    # What is there by now stays while both work: a collector that looks at it makes them copy its pages.
    gc.freeze()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        # The process is short and what it makes is handed over: collecting cycles would only cost time.
        gc.disable()
        code = 1
        try:
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(work())
            code = 0
        finally:
            os._exit(code)
    os.close(writing)

    def wait() -> bytes | None:
        with os.fdopen(reading, "rb") as pipe:
            done = pipe.read()
        _, status = os.waitpid(child, 0)
        gc.unfreeze()
        return done if status == 0 else None

    return wait
