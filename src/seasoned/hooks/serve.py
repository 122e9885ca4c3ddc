"""The resident process that keeps the hooks in memory. It answers events that only guide, and decides nothing.

Every request is answered by a fork, which is like a hook that has imported everything: it has the environment and the
folder of the agent, its own view of the store, and nothing left over from other requests. The process exits after some
minutes without a request, when its files or its socket were replaced, and when the settings switch it off.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from seasoned.command.rows import table
from seasoned.config import load
from seasoned.environment import replace as replace_environment
from seasoned.errors import SeasonedError
from seasoned.file_lock import locked
from seasoned.hooks import exchange
from seasoned.hooks.event import hold_back, settle
from seasoned.hooks.main import EVENTS, GUIDES
from seasoned.lazy_regex import LazyRegex
from seasoned.outcome.judge import judge
from seasoned.resident import (
    ANSWERED,
    DECLINED,
    MAY_SAY,
    RECEIVED,
    address,
    folder,
    is_private,
    peer,
    program,
    receive,
    send,
    started,
)
from seasoned.session import Marks, Result, ToolCall

IDLE_SECONDS = 300.0
# How often it checks whether it should exit.
_LOOK_SECONDS = 5.0
# A fork that takes longer is of no use: the hook has long answered by itself.
_MOST_SECONDS = 10
_MOST_FORKS = 16
_WAITING = 32
_SWITCHED_OFF = 3
# Of a call that may need a person, only the hint is answered here.
_SOURCES = {**{event: EVENTS[event] for event in GUIDES}, "pre-tool-use": EVENTS["hint"]}
# Modules that those import only when needed.
_MORE = (
    "begin.start_text",
    "experience.notice",
    "experience.tree",
    "template.library.storage",
)


def main() -> None:
    """Serve the home folder in the first argument, detached from the agent that started it."""
    os.chdir("/")
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with suppress(OSError, SeasonedError):
        serve(sys.argv[1])


def serve(home: str, *, idle_seconds: float = IDLE_SECONDS) -> None:
    """Answer requests until it is time to exit. If another process serves this folder already, do nothing."""
    if not is_private(folder(home)):
        return
    path = Path(address(home))
    with locked(path.with_name("hooks.lock"), wait_seconds=0):
        import_all()
        files = _imported_files()
        path.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            os.umask(0o077)
            listener.bind(str(path))
            listener.listen(_WAITING)
            listener.settimeout(_LOOK_SECONDS)
            origin = _Origin({**files, str(path): _stamp(path)})
            try:
                _answer_all(listener, origin, idle_seconds)
            finally:
                # After a clean exit, the next hook may start another process at once.
                Path(started(home)).unlink(missing_ok=True)
                if origin.has(str(path)):
                    path.unlink(missing_ok=True)


def import_all() -> None:
    """Import what the events need, and compile the patterns in it, so that no fork has to."""
    for name in {place.partition(":")[0] for place in _SOURCES.values()}:
        import_module(f"seasoned.hooks.{name}")
    for name in _MORE:
        import_module(f"seasoned.{name}")
    table()
    # Such an output tries nearly every pattern that recognises a failure.
    judge(ToolCall("", "exec_command", {"cmd": "x"}, Result("error: x\n", Marks())), agent="codex")
    for one in gc.get_objects():
        if isinstance(one, LazyRegex):
            one.compiled  # noqa: B018
    # Collecting would touch, and so copy, every page that forks share.
    gc.freeze()


class _Origin:
    """The files that this program was imported from, and its socket: it ends when one of them is replaced."""

    def __init__(self, stamps: dict[str, tuple[int, ...]]) -> None:
        self._stamps = stamps

    def is_current(self) -> bool:
        return all(map(self.has, self._stamps))

    def has(self, path: str) -> bool:
        return _stamp(path) == self._stamps[path]


def _imported_files() -> dict[str, tuple[int, ...]]:
    paths = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    return {path: _stamp(path) for path in paths if path}


def _stamp(path: str | Path) -> tuple[int, ...]:
    """What changes when a file is replaced; empty if it is gone."""
    try:
        found = os.stat(path)  # noqa: PTH116  (hundreds of files at every request)
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_mtime_ns


def _answer_all(listener: socket.socket, origin: _Origin, idle_seconds: float) -> None:
    forks: set[int] = set()
    asked = time.monotonic()
    while time.monotonic() - asked < idle_seconds:
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            connection = None
        if not origin.is_current() or _reap(forks):
            return
        if connection is None:
            continue
        with connection:
            # Whoever is turned away finds the answer by itself.
            if len(forks) < _MOST_FORKS and peer(connection) == os.geteuid():
                asked = time.monotonic()
                id = os.fork()
                if not id:
                    _answer_and_exit(connection)
                forks.add(id)


def _reap(forks: set[int]) -> bool:
    """Take leave of the forks that have ended; returns whether one of them found this switched off."""
    for id in list(forks):
        ended, status = os.waitpid(id, os.WNOHANG)
        if ended:
            forks.discard(id)
            if os.waitstatus_to_exitcode(status) == _SWITCHED_OFF:
                return True
    return False


def _answer_and_exit(connection: socket.socket) -> None:
    code = 1
    try:
        signal.alarm(_MOST_SECONDS)
        gc.disable()
        connection.settimeout(_MOST_SECONDS)
        code = _answer(connection)
    finally:
        # A fork must never return into the loop of its origin. The hook notices that no answer comes.
        os._exit(code)


def _answer(connection: socket.socket) -> int:
    theirs, agent, event, data, place, *environment = receive(connection)
    if theirs != program():
        send(connection, [DECLINED])
        return 0
    if event == b"ping":
        send(connection, [ANSWERED, b"additionalContext", str(os.getppid()).encode()])
        connection.recv(1)
        return 0
    os.chdir(place)
    replace_environment(environment)
    if not load().hook_resident:
        send(connection, [DECLINED])
        return _SWITCHED_OFF
    said: list[dict[str, str]] = []
    exchange.replace(data, lambda _, fields: said.append(fields))
    hold_back()
    module, _, name = _SOURCES[event.decode()].partition(":")
    getattr(import_module(f"seasoned.hooks.{module}"), name)(agent.decode(), [])
    if len(said) > 1 or any(key not in MAY_SAY for fields in said for key in fields):
        send(connection, [DECLINED])
        return 0
    texts = [text.encode() for fields in said for pair in fields.items() for text in pair]
    send(connection, [ANSWERED, *texts])
    # What the hook did not receive was not shown. It then answers by itself, and records that.
    settle(keep=connection.recv(1) == RECEIVED)
    return 0


if __name__ == "__main__":
    main()
