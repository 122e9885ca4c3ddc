"""Sessions that ended and wait to be learned from: a small file for each, which a background process takes.

A hook that notices the end of a session writes such a file and starts the process. The file is removed when the session
was learned from, so a killed process loses nothing: the next one starts over. Hooks write these files while an agent
waits, so this module imports next to nothing.
"""

from __future__ import annotations

import os
import time

from seasoned.background import start

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    # A turn or a whole session ended; files that changed; everything on this machine; what the store itself recorded.
    Kind: TypeAlias = Literal["turn", "session", "files", "everything", "store"]

PROCESS = "seasoned.hooks.learner"
# With more files the process does not keep up, or cannot start: one note to read everything replaces the rest.
_MOST = 500
_LOOK_SECONDS = 0.01
_SUFFIX = ".end"


def folder(home: str) -> str:
    """Where the files wait."""
    return os.path.join(home, "learn")


def lock_path(home: str) -> str:
    """The lock that the process holds while it works."""
    return os.path.join(folder(home), ".lock")


def note(home: str, kind: Kind, **fields: str) -> None:
    """Queue something to be learned from by the process that `begin` starts."""
    import json  # not at the top: looking whether something waits does not need it

    place = folder(home)
    os.makedirs(place, mode=0o700, exist_ok=True)
    name = f"{time.time_ns()}-{os.getpid()}{_SUFFIX}"
    if kind in ("everything", "store") or len(os.listdir(place)) >= _MOST:
        # One file is enough, however often it is asked for.
        kind = "store" if kind == "store" else "everything"
        name = f"{kind}{_SUFFIX}"
    told = {"kind": kind, "at": time.time(), **fields}
    unfinished = os.path.join(place, f".{os.getpid()}.{name}")
    handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(handle, json.dumps(told).encode())
    finally:
        os.close(handle)
    os.replace(unfinished, os.path.join(place, name))


def begin(home: str) -> None:
    """Start the process, unless one is running: that one looks again before it ends."""
    if not is_running(home):
        start(PROCESS, home)


def waiting(home: str) -> list[str]:
    """The waiting files, oldest first."""
    try:
        names = sorted(name for name in os.listdir(folder(home)) if name.endswith(_SUFFIX) and name[0] != ".")
    except FileNotFoundError:
        return []
    return [os.path.join(folder(home), name) for name in names]


def is_running(home: str) -> bool:
    """Whether a process is running."""
    try:
        import fcntl

        handle = os.open(lock_path(home), os.O_RDWR)
    except (ImportError, OSError):
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def wait_until_learned(home: str, seconds: float) -> bool:
    """Wait up to `seconds` until nothing is left to learn from; returns whether that happened."""
    until = time.monotonic() + seconds
    while is_running(home) or waiting(home):
        if time.monotonic() >= until:
            return False
        time.sleep(_LOOK_SECONDS)
    return True


def catch_up(home: str, seconds: float) -> bool:
    """Start learning from what waits, and wait up to `seconds` for it; returns whether nothing is left."""
    if not is_running(home):
        if not waiting(home):
            return True
        begin(home)
    return wait_until_learned(home, seconds)


def take(path: str) -> str:
    """Rename a file that a later note could replace during the work on it; returns its path."""
    if os.path.basename(path)[0].isdigit():
        return path
    taken = os.path.join(os.path.dirname(path), f"{time.time_ns()}-{os.getpid()}{_SUFFIX}")
    os.replace(path, taken)
    return taken
