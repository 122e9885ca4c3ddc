"""Starts processes that outlive the one that starts them. Hooks do that while an agent waits, so little is imported."""

from __future__ import annotations

import os
import sys

from seasoned.environment import whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NICE = 15
_started: list[int] = []


def start(module: str, *arguments: str) -> int:
    """Run a module of ours in the background, in a separate session, with nothing of this process open; its number."""
    # -P: the current folder may be a project, and nothing in it may be imported. -I would also leave out packages that
    # the user installed for themselves.
    command = [sys.executable, "-P", "-m", module, *arguments]
    variables = whole()
    _bury()
    if not hasattr(os, "posix_spawn"):
        return _start_elsewhere(command, variables)
    files: list[tuple[Any, ...]] = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDWR, 0)]
    files += [(os.POSIX_SPAWN_DUP2, 0, number) for number in (1, 2)]
    # An agent waits until every copy of its pipes is closed.
    files += [(os.POSIX_SPAWN_CLOSE, number) for number in _inherited()]
    try:
        _started.append(os.posix_spawn(command[0], command, variables, file_actions=files, setsid=True))
    except NotImplementedError:  # an older system cannot start a separate session in this way
        return _start_elsewhere(command, variables)
    return _started[-1]


def lower_priority() -> None:
    """Give every other process precedence; on Linux, for the disk too."""
    if hasattr(os, "nice"):
        os.nice(_NICE)


def _inherited() -> list[int]:
    """Open files beyond the standard three that a started program would get."""
    try:
        numbers = [int(name) for name in os.listdir("/dev/fd") if name.isdigit()]
    except OSError:
        return []
    return [number for number in numbers if number > 2 and _is_inheritable(number)]


def _is_inheritable(number: int) -> bool:
    try:
        return os.get_inheritable(number)
    except OSError:
        return False  # the one that listed them is closed by now


def _bury() -> None:
    """Reap processes that have ended: otherwise a server that starts many would keep them as zombies."""
    for process in list(_started):
        try:
            is_running = os.waitpid(process, os.WNOHANG)[0] == 0
        except ChildProcessError:
            is_running = False
        if not is_running:
            _started.remove(process)


def _start_elsewhere(command: list[str], variables: dict[str, str]) -> int:
    import subprocess

    none = subprocess.DEVNULL
    open_files: dict[str, Any] = {"close_fds": True, "stdin": none, "stdout": none, "stderr": none}
    if sys.platform == "win32":
        flags = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.DETACHED_PROCESS
        return subprocess.Popen(command, creationflags=flags, env=variables, **open_files).pid
    return subprocess.Popen(command, start_new_session=True, env=variables, **open_files).pid
