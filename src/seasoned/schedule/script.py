"""The gate script: runs before any token is used, only from one folder, within limits, leaving nothing behind."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

import msgspec

from seasoned.errors import NotFound, Refused
from seasoned.schedule.outcome import SILENT, has_marker

# The folder of scripts in the home folder; nothing else is run.
FOLDER = "scripts"
OUTPUT_CHARACTERS = 20_000
_ERROR_CHARACTERS = 4_000
_SHELLS = (".sh", ".bash")
_SECRET_NAME = re.compile(
    r"(?i)pass(?:word|wd|phrase)?(?:$|_)|(?:^|_)pwd$|secret|token|credential|cookie|(?:^|_)(?:api)?(?:auth|dsn|keys?)(?:$|_)"
)
_URL_WITH_PASSWORD = re.compile(r"://[^/\s:@]*:[^/\s@]+@")
# No one is at this terminal: no colours, no pager, no prompts.
_QUIET = {"TERM": "dumb", "NO_COLOR": "1", "PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0"}


class EndedScript(Protocol):
    """How a program ended, and what it printed."""

    @property
    def output(self) -> str: ...
    @property
    def errors(self) -> str: ...
    @property
    def code(self) -> int: ...
    @property
    def limit(self) -> str:
        """`start`, `time`, `output` or `stopped` if that ended it."""


# Runs a program within limits, and leaves nothing of it behind.
RunProgram = Callable[..., EndedScript]


class ScriptRun(msgspec.Struct, frozen=True, kw_only=True):
    """How a script ended, and what it printed."""

    output: str = ""
    # The end of what it wrote to its second stream.
    error_output: str = ""
    # Why it failed, in a sentence; None where it did not.
    problem: str | None = None
    # What ended it: it could not start, ran too long, printed too much, or its run was called off meanwhile.
    limit: str = ""

    @property
    def is_nothing_to_do(self) -> bool:
        """Whether it ended well and printed nothing, or `[SILENT]` as its first or last line."""
        return self.problem is None and (not self.output.strip() or has_marker(self.output, SILENT))

    @property
    def whole(self) -> str:
        """Both streams, for the history."""
        parts = (self.output.rstrip(), self.error_output.rstrip())
        return "\n".join(part for part in parts if part)


def find_script(folder: Path, name: str) -> Path:
    """The script of this name, if it is inside the folder of scripts after links are resolved."""
    try:
        allowed = folder.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise NotFound(f"folder {str(folder)!r} not found. Create it and put {name!r} there.") from error
    try:
        path = (allowed / name).resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise NotFound(f"script {name!r} not found in {str(folder)!r}. Put it there.") from error
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
    environment: Mapping[str, str],
    stop: Callable[[], bool],
    run_program: RunProgram,
) -> ScriptRun:
    """Run a script to its end, without the credentials of this process. Problems are part of the result."""
    try:
        command = command_of(find_script(scripts, name))
    except (NotFound, Refused) as error:
        return ScriptRun(problem=f"The script was not run: {error}", limit="start")
    ran = run_program(
        command,
        folder=folder or scripts,
        # No credentials: a script needs none of this process.
        environment={**_QUIET, **{name: value for name, value in environment.items() if not _is_secret(name, value)}},
        seconds=time_seconds,
        most=(OUTPUT_CHARACTERS, _ERROR_CHARACTERS),
        stop=stop,
    )
    if ran.limit == "start":
        return ScriptRun(problem=f"The script {name!r} could not be started: {ran.errors}", limit="start")
    endings = {
        "time": f"did not end within {time_seconds:g} s and was ended",
        "output": "printed too much and was ended",
        "stopped": "was stopped",
        "": f"ended with exit code {ran.code}" if ran.code else "",
    }
    return ScriptRun(
        output=ran.output,
        error_output=ran.errors,
        problem=f"The script {name!r} {endings[ran.limit]}." if endings[ran.limit] else None,
        limit=ran.limit,
    )


def _is_secret(name: str, value: str) -> bool:
    return bool(_SECRET_NAME.search(name) or _URL_WITH_PASSWORD.search(value))
