"""A time after which a hook gives up: the agent waits for it, perhaps because the disk hangs."""

from __future__ import annotations

import _thread  # not threading, which takes a millisecond to import
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def end_after(seconds: float) -> Callable[[], None]:
    """End this process without a word after some time; returns how to call that off."""
    called_off = _thread.allocate_lock()
    called_off.acquire()

    def end() -> None:
        if not called_off.acquire(timeout=seconds):
            os._exit(0)

    _thread.start_new_thread(end, ())
    return called_off.release
