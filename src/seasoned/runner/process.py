"""Runs a program to its end or to a limit, and leaves nothing of it behind, not even when this process is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Literal

import msgspec

# A program that prints more is ended.
FLOOD_BYTES = 200_000_000
_LOOK_SECONDS = 0.2
# Is told the group of the program, waits until the pipe of its parent closes, then ends the group.
_GUARD = ["/bin/sh", "-c", 'read -r group && { read -r _; kill -9 "-$group"; }']


class EndedProgram(msgspec.Struct, frozen=True, kw_only=True):
    """How a program ended, and what it printed."""

    output: str = ""
    errors: str = ""
    code: int = 0
    # The limit that ended it, if one did; `start`: it could not be started, and `errors` says why.
    limit: Literal["", "start", "time", "output", "stopped"] = ""
    seconds: float = 0.0


def run_limited(
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    seconds: float,
    given: str = "",
    most: tuple[int, int] = (FLOOD_BYTES, 20_000),
    stop: Callable[[], bool] = lambda: False,
) -> EndedProgram:
    """Run a program with `given` on its standard input; `stop` is asked several times a second.

    Of its output and its errors at most so many bytes are kept, without the middle.
    """
    begun = time.monotonic()
    # Into files: a process that stays behind cannot hold them open for us.
    with (
        tempfile.TemporaryFile() as source,
        tempfile.TemporaryFile() as output,
        tempfile.TemporaryFile() as errors,
        _ended_with_us() as (tell, watch),
    ):
        source.write(given.encode("utf-8", "replace"))
        source.seek(0)
        try:
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=dict(environment),
                stdin=source,
                stdout=output,
                stderr=errors,
                start_new_session=True,
                preexec_fn=tell,
            )
        except (OSError, ValueError) as error:
            return EndedProgram(limit="start", errors=str(error))
        watch(process)
        limit: Literal["", "time", "output", "stopped"] = ""
        while process.poll() is None and not limit:
            if time.monotonic() - begun >= seconds:
                limit = "time"
            elif any(os.fstat(one.fileno()).st_size > FLOOD_BYTES for one in (output, errors)):
                limit = "output"
            elif stop():
                limit = "stopped"
            else:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_LOOK_SECONDS)
        _end(process)
        return EndedProgram(
            output=_read(output, most[0]),
            errors=_read(errors, most[1]),
            code=process.returncode,
            limit=limit,
            seconds=time.monotonic() - begun,
        )


@contextmanager
def _ended_with_us() -> Iterator[tuple[Callable[[], None] | None, Callable[[subprocess.Popen[bytes]], None]]]:
    """Have a program that is handed over ended with all that it started: afterwards, or when this process dies.

    Where there are process groups, the program says itself which is its own, before anything else: we may be killed
    as soon as it runs.
    """
    started: list[subprocess.Popen[bytes]] = []
    if not hasattr(os, "killpg"):
        try:
            yield None, started.append
        finally:
            for process in started:
                _end(process)
        return
    watched, held = os.pipe()
    # In a separate session: what ends the program must not end it.
    guard = subprocess.Popen(_GUARD, stdin=watched, start_new_session=True)
    os.close(watched)

    def tell() -> None:
        os.write(held, b"%d\n" % os.getpid())

    try:
        yield tell, started.append
    finally:
        for process in started:
            _end(process)
        guard.kill()
        guard.wait()
        os.close(held)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program and, also after its own end, all that it started."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


def _read(file: IO[bytes], most: int) -> str:
    """What was written to a file, its middle left out if it is long."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if size <= most:
        return file.read().decode("utf-8", "replace")
    first = file.read(most // 2).decode("utf-8", "replace")
    file.seek(size - most // 2)
    return f"{first}\n… {size - most:,} bytes left out …\n{file.read().decode('utf-8', 'replace')}"
