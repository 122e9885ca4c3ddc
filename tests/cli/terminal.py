"""A terminal at which a test sits as a person does."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.cli.run import SEASONED

pty = pytest.importorskip("pty", reason="there are no terminals to play on this system")


@contextmanager
def terminal(*arguments: object) -> Iterator[Terminal]:
    """The command at a terminal of its own."""
    pid, screen = pty.fork()
    if pid == 0:
        os.execve(SEASONED, ["seasoned", *map(str, arguments)], {**os.environ, "TERM": "dumb", "COLUMNS": "100"})
    found = Terminal(pid, screen)
    try:
        yield found
    finally:
        if found.code is None:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        os.close(screen)


class Terminal:
    """What a person sees and types."""

    def __init__(self, pid: int, screen: int) -> None:
        self.pid, self.screen = pid, screen
        self.text = ""
        self.code: int | None = None

    def wait_for(self, words: str, seconds: float = 30.0) -> str:
        """What came until the words did; it is not looked at again."""
        deadline = time.monotonic() + seconds
        while words not in self.text:
            left = deadline - time.monotonic()
            assert left > 0, f"{words!r} did not come, but:\n{self.text}"
            if select.select([self.screen], [], [], left)[0]:
                self.text += os.read(self.screen, 65536).decode("utf-8", "replace")
        seen, _, self.text = self.text.partition(words)
        return seen

    def type(self, text: str) -> None:
        os.write(self.screen, text.encode())
