"""Runs commands as a user does: in this process where that makes no difference, else in a process of their own."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from click.testing import CliRunner

from seasoned.cli.main import main

SEASONED = Path(sys.executable).parent / "seasoned"
_ENVIRONMENT = {"COLUMNS": "160", "CI": "1"}


class Done(NamedTuple):
    """A command that has ended."""

    args: tuple[str, ...]
    returncode: int
    stdout: str
    stderr: str


class _Main:
    """What the runner of click calls: `main`, which also prints errors, in the place of the bare group."""

    name = "seasoned"

    @staticmethod
    def main(args: list[str], **_: Any) -> None:
        main(list(args))


def seasoned(*arguments: object, expect: int = 0, stdin: str | bytes | None = None, **environment: str) -> Done:
    """Run a command in this process; fails the test when the exit code is another one."""
    given = tuple(map(str, arguments))
    runner = CliRunner(env={**_ENVIRONMENT, **environment})
    _close_log()
    result = runner.invoke(_Main(), given, input=stdin)  # type: ignore[arg-type]
    _close_log()
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    done = Done(given, result.exit_code, result.stdout, result.stderr)
    assert done.returncode == expect, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def _close_log() -> None:
    """The log of a command belongs to the home folder of its test, whatever ran in this process before."""
    log = logging.getLogger("seasoned")
    for handler in [*log.handlers]:
        log.removeHandler(handler)
        handler.close()


def process(*arguments: object, expect: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the installed command in a process of its own."""
    done = subprocess.run(
        [str(SEASONED), *map(str, arguments)],
        env={**os.environ, **_ENVIRONMENT, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == expect, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def answer(*arguments: object, expect: int = 0) -> dict[str, Any]:
    """What a command answers to a program."""
    decoded: dict[str, Any] = json.loads(seasoned(*arguments, "--json", expect=expect).stdout)
    return decoded
