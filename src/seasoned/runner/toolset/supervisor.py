"""A separate process that runs one command, counts what it starts, and leaves none of its processes behind.

Run as a script without the package around it: a request as one line of JSON on standard input, which then stays open
as a sign of life; the answer as one line of JSON on standard output. What the command prints goes to standard error.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

_PDEATHSIG, _SUBREAPER = 1, 36
# How often processes are counted: a fork bomb grows quickly.
_TICK_SECONDS = 0.03
_GIVE_UP_SECONDS = 3.0
_PROC = "/proc"


def main() -> int:
    """Run the command of the request and report how it ended."""
    request = json.loads(_line(0))
    adopts = _control(_SUBREAPER, 1)
    wake, alarm = os.pipe()
    for end in (wake, alarm):
        os.set_blocking(end, False)
    # A signal makes this pipe readable, so that select returns at once when a child ends.
    signal.set_wakeup_fd(alarm, warn_on_full_buffer=False)
    asked: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda got, _: asked.append(got))
    signal.signal(signal.SIGCHLD, lambda *_: None)
    _take_precedence()
    first = _start(request)
    deadline = time.monotonic() + request["time_seconds"]
    status: int | None = None
    why = ""
    while not why:
        ready, _, _ = select.select([0, wake], [], [], max(0.0, min(_TICK_SECONDS, deadline - time.monotonic())))
        if wake in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(wake, 4096)
        status, _ = _reap(first, status)
        if status is not None:
            why = "exit"
        elif asked or (0 in ready and not os.read(0, 1)):
            why = "stopped"
        elif time.monotonic() >= deadline:
            why = "time"
        elif next(islice(_below(), request["processes"], None), None) is not None:
            why = "processes"
    # A fork bomb would use every moment it gets.
    gentle = 0.0 if why == "processes" else request["grace_seconds"]
    ended, status, left = _end(first, status, gentle, request["processes"], adopts=adopts)
    answer = {"why": why, "status": status, "ended": ended, "left": left, "adopts": adopts}
    os.write(1, json.dumps(answer).encode() + b"\n")
    return 0


def _line(source: int) -> bytes:
    """The request: one line, after which the caller sends nothing."""
    found = b""
    while not found.endswith(b"\n"):
        block = os.read(source, 65536)
        if not block:
            raise SystemExit("the request was cut off")
        found += block
    return found


def _control(option: int, value: int) -> bool:
    """Call prctl, if the system has it."""
    if not sys.platform.startswith("linux"):
        return False
    return bool(ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) == 0)


def _take_precedence() -> None:
    """A thousand runnable processes must not keep this one from ending them; only root may ask for it."""
    if hasattr(os, "sched_setscheduler"):
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))


def _start(request: dict[str, Any]) -> int:
    """Fork the command into a new session and return its process id."""
    parent = os.getpid()
    child = os.fork()
    if child:
        return child
    try:
        os.setsid()
        _control(_PDEATHSIG, signal.SIGKILL)
        # The supervisor died before the kernel was asked to end this process with it.
        if os.getppid() != parent:
            os._exit(137)
        # Python ignores these, and programs would inherit that: `yes | head` would not end as usual.
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.fchdir(request["folder"])
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        # One pipe for both streams, so that their order is kept.
        os.dup2(2, 1)
        _limit(request)
        os.execvp(request["command"][0], request["command"])
    except OSError as error:
        missing = error.errno in (errno.ENOENT, errno.ENOTDIR)
        os.write(2, f"{request['command'][0]}: {error.strerror}\n".encode(errors="replace"))
        os._exit(127 if missing else 126)
    finally:
        # The child must never return into the code of the supervisor.
        os._exit(126)


def _limit(request: dict[str, Any]) -> None:
    """Set the limits that the kernel enforces."""
    _lower(resource.RLIMIT_CORE, 0)
    if request["memory_bytes"] is not None:
        _lower(resource.RLIMIT_AS, request["memory_bytes"])
    if request["file_bytes"] is not None:
        _lower(resource.RLIMIT_FSIZE, request["file_bytes"])
    # This one counts all tasks of the user and spares root: it only slows a flood until the next count here.
    _lower(resource.RLIMIT_NPROC, _tasks_of(os.getuid()) + 4 * request["processes"])


def _lower(kind: int, wanted: int) -> None:
    _, most = resource.getrlimit(kind)
    limit = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    resource.setrlimit(kind, (limit, limit))


def _tasks_of(user: int) -> int:
    total = 0
    for pid in _all():
        with contextlib.suppress(OSError):
            if os.stat(f"{_PROC}/{pid}").st_uid == user:  # noqa: PTH116  pathlib is not worth its start-up time here
                total += len(os.listdir(f"{_PROC}/{pid}/task"))  # noqa: PTH208
    return total or 4096


def _all() -> Iterator[int]:
    """Every process of the system; none if /proc is missing."""
    with contextlib.suppress(OSError):
        yield from [int(name) for name in os.listdir(_PROC) if name.isdigit()]  # noqa: PTH208


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            return file.read()
    except OSError:
        return ""


def _below() -> Iterator[int]:
    """Every process below this one, yielded as soon as it is found, so that a fork bomb is noticed early."""
    children = _children if os.path.exists(f"{_PROC}/self/task/{os.getpid()}/children") else _looked_up()  # noqa: PTH110
    open_ends = [os.getpid()]
    while open_ends:
        found = children(open_ends.pop())
        yield from found
        open_ends += found


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"{_PROC}/{pid}/task"):  # noqa: PTH208
            found += map(int, _read(f"{_PROC}/{pid}/task/{thread}/children").split())
    return found


def _looked_up() -> Callable[[int], list[int]]:
    """The same for kernels that keep no list of children: asks every process for its parent."""
    parents: dict[int, list[int]] = {}
    for pid in _all():
        # The name in parentheses may itself hold blanks and parentheses.
        fields = _read(f"{_PROC}/{pid}/stat").rpartition(")")[2].split()
        if len(fields) > 1:
            parents.setdefault(int(fields[1]), []).append(pid)
    return lambda pid: parents.get(pid, [])


def _reap(first: int, status: int | None) -> tuple[int | None, bool]:
    """Collect processes that have ended: the status of the command itself, and whether no process is left.

    All orphans below come to a subreaper, so that one without children has no descendants either.
    """
    try:
        while True:
            pid, ended = os.waitpid(-1, os.WNOHANG)
            if pid == first:
                status = os.waitstatus_to_exitcode(ended)
            if pid == 0:
                return status, False
    except ChildProcessError:
        return status, True


def _end(first: int, status: int | None, gentle: float, most: int, *, adopts: bool) -> tuple[int, int | None, int]:
    """End every process that is left, politely if there is time: how many, the status, how many remain."""
    asked: set[int] = set()
    until = time.monotonic() + gentle
    while True:
        status, is_empty = _reap(first, status)
        if is_empty and (adopts or not _has_group(first)):
            return len(asked), status, 0
        is_time = time.monotonic() >= until
        if is_time and (status is None or not adopts):
            # A signal to a group reaches also what it forks at this moment; so it comes before any list is made.
            _signal_group(first)
        left = 0
        for pid in _below():
            left += 1
            if is_time:
                _kill_with_group(pid)
            elif left > most:  # it keeps forking while it is asked to exit
                until = time.monotonic()
                break
            elif pid not in asked:
                _signal(pid, signal.SIGTERM)
            asked.add(pid)
        if not adopts and not is_time:
            _signal_group(first, signal.SIGTERM)
        if time.monotonic() > until + _GIVE_UP_SECONDS:
            return len(asked), status, max(1, left)
        select.select([], [], [], 0.002 if is_time else 0.01)


def _has_group(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except OSError:
        return False
    return True


def _signal_group(group: int, number: int = signal.SIGKILL) -> None:
    with contextlib.suppress(OSError):
        os.killpg(group, number)


def _kill_with_group(pid: int) -> None:
    """No process below this one can be in another program's group: the command began its own session."""
    with contextlib.suppress(OSError):
        group = os.getpgid(pid)
        if group != os.getpgid(0):
            _signal_group(group)
    _signal(pid, signal.SIGKILL)


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, number)


if __name__ == "__main__":
    sys.exit(main())
