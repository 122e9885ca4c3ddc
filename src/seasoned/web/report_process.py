"""The report made by a process of its own: it takes minutes over millions of calls, and pages must not wait for it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO

import msgspec

from seasoned.errors import CannotDo
from seasoned.insight.report import Report
from seasoned.web.work import Tell

_NICENESS = 5
_SAID_CHARS = 300


def make_report(path: Path, tell: Tell) -> Report:
    """The report on the store at this path, from another process that gives way to everybody else."""
    code = f"import os; os.nice({_NICENESS}); from seasoned.insight.store_report import main; main({str(path)!r})"
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=said) as process,
    ):
        assert process.stdout is not None
        try:
            data = _answer(process.stdout, tell)
        except BaseException:
            process.kill()
            raise
        if process.wait() != 0 or data is None:
            raise CannotDo(f"The report was not made: {_last_line(said)}")
    return msgspec.msgpack.decode(data, type=Report)


def _answer(lines: IO[bytes], tell: Tell) -> bytes | None:
    for line in lines:
        first, _, second = line.decode("ascii", "replace").strip().partition(" ")
        if first == "answer":
            return lines.read(int(second))
        done, every = int(first), int(second)
        said = f"{done:,} of {every:,} sessions read" if done < every else "all sessions read; working out the figures"
        tell(said, done=done, total=every)
    return None


def _last_line(said: IO[bytes]) -> str:
    said.seek(0)
    lines = said.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:_SAID_CHARS] if lines else "its process ended without a word."
