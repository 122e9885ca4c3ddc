"""The gate script: runs before any token is used, only from one folder, within limits, leaving nothing behind."""

from __future__ import annotations

import json
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from seasoned.errors import CannotDo, NotFound, Refused
from seasoned.schedule.outcome import SILENT, has_marker

# The folder of scripts in the home folder; nothing else is run.
FOLDER = "scripts"
OUTPUT_CHARACTERS = 20_000
# A script that prints more is ended.
FLOOD_BYTES = 200_000_000
_ERROR_BYTES = 4_000
_SHELLS = (".sh", ".bash")


class CommandEnd(Protocol):
    """How a command ended."""

    @property
    def exit_code(self) -> int: ...
    @property
    def output(self) -> str:
        """What it printed, the middle left out where that is long."""
        ...

    @property
    def ending(self) -> str:
        """`exit` where it came to its own end, `time` where its time was up, `stopped`, or another reason."""
        ...

    @property
    def left(self) -> int:
        """Processes of it that could not be ended."""
        ...


class CommandRunner(Protocol):
    """Runs a command without the credentials of this process, ends all its processes, and cuts what it prints."""

    def __call__(
        self, command: Sequence[str], *, folder: Path, time_seconds: float, stop: Callable[[], bool]
    ) -> CommandEnd: ...


class ScriptRun(msgspec.Struct, frozen=True, kw_only=True):
    """How a script ended, and what it printed."""

    output: str = ""
    # The end of what it wrote to its second stream.
    error_output: str = ""
    # Why it failed, in a sentence; None where it did not.
    problem: str | None = None
    is_overtime: bool = False
    # The run was called off meanwhile.
    was_stopped: bool = False
    could_start: bool = True

    @property
    def is_nothing_to_do(self) -> bool:
        """Whether it ended well and says that there is nothing to do."""
        return self.problem is None and not self.was_stopped and says_nothing(self.output)

    @property
    def whole(self) -> str:
        """Both streams, for the history."""
        parts = (self.output.rstrip(), self.error_output.rstrip())
        return "\n".join(part for part in parts if part)


def says_nothing(output: str) -> bool:
    """No output, `[SILENT]` as first or last line, or `{"wakeAgent": false}` as the last, which Hermes' scripts say."""
    text = output.strip()
    if not text or has_marker(text, SILENT):
        return True
    try:
        last = json.loads(text.splitlines()[-1])
    except ValueError:
        return False
    return isinstance(last, dict) and last.get("wakeAgent") is False


def find_script(folder: Path, name: str) -> Path:
    """The script of this name, if it is inside the folder of scripts after links are resolved."""
    try:
        allowed = folder.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise NotFound(f"folder {str(folder)!r} not found. Create it and put {name!r} there.") from error
    try:
        path = (allowed / name).resolve(strict=True)
    except FileNotFoundError as error:
        raise NotFound(f"script {name!r} not found in {str(folder)!r}. Put it there.") from error
    except (OSError, RuntimeError, ValueError) as error:
        raise NotFound(f"script {name!r} not found ({error}). Put it into {str(folder)!r}.") from error
    # Compared after links are resolved, so a link cannot lead out of the folder.
    if not path.is_relative_to(allowed):
        raise Refused(f"the script {name!r} is outside {str(folder)!r}. Copy it there; a link is not enough.")
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise Refused(f"{name!r} is not a file. Give the path of a script inside {str(folder)!r}.")
    if found.st_mode & stat.S_IWOTH:
        raise Refused(f"the script {name!r} is writable by all users. Run: chmod o-w on it first.")
    return path


def command_of(path: Path) -> list[str]:
    """The command that runs a script: shell and Python by its suffix, others directly."""
    if path.suffix in _SHELLS:
        return ["/bin/bash" if Path("/bin/bash").exists() else "/bin/sh", str(path)]
    if path.suffix == ".py":
        # Unbuffered, so that output before a crash is kept; UTF-8 in every locale.
        return [sys.executable, "-u", "-X", "utf8", str(path)]
    if os.access(path, os.X_OK):
        return [str(path)]
    raise Refused(f"{path.name!r} cannot be run. Name it .sh or .py, or make it executable (chmod +x).")


def run_script(
    name: str,
    *,
    scripts: Path,
    folder: Path | None,
    time_seconds: float,
    run_command: CommandRunner,
    stop: Callable[[], bool],
) -> ScriptRun:
    """Run a script to its end. Problems are part of the result, not exceptions."""
    try:
        path = find_script(scripts, name)
        command = command_of(path)
    except (NotFound, Refused) as error:
        return ScriptRun(problem=f"The script was not run: {error}", could_start=False)
    with tempfile.TemporaryDirectory(prefix="seasoned-script-") as temporary:
        errors = Path(temporary) / "errors"
        errors.touch()

        def is_over() -> bool:
            return stop() or errors.stat().st_size > FLOOD_BYTES

        # Warnings on the second stream must not look like something to do, so the two are kept apart.
        apart = ["/bin/sh", "-c", 'exec "$@" 2>"$0"', str(errors), *command]
        try:
            ended = run_command(apart, folder=folder or scripts, time_seconds=time_seconds, stop=is_over)
        except (CannotDo, OSError) as error:
            return ScriptRun(problem=f"The script {name!r} could not be started: {error}", could_start=False)
        error_output = _end_of(errors)
        is_flood = errors.stat().st_size > FLOOD_BYTES
    if ended.ending == "stopped" and not is_flood:
        return ScriptRun(
            output=ended.output, error_output=error_output, was_stopped=True, problem="The script was stopped."
        )
    return ScriptRun(
        output=ended.output,
        error_output=error_output,
        problem=_problem(name, ended, time_seconds, is_flood=is_flood),
        is_overtime=ended.ending == "time",
    )


def _problem(name: str, ended: CommandEnd, time_seconds: float, *, is_flood: bool) -> str | None:
    if ended.ending == "time":
        return f"The script {name!r} did not end within {time_seconds:g} s and was ended."
    if is_flood or ended.ending == "output":
        return f"The script {name!r} printed more than {FLOOD_BYTES:,} bytes and was ended."
    if ended.ending != "exit":
        return f"The script {name!r} was ended: {ended.ending}."
    if ended.exit_code:
        return f"The script {name!r} ended with exit code {ended.exit_code}."
    if ended.left:
        return f"The script {name!r} left {ended.left} processes behind that could not be ended."
    return None


def _end_of(errors: Path) -> str:
    with errors.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _ERROR_BYTES))
        return file.read(_ERROR_BYTES).decode("utf-8", "replace")
