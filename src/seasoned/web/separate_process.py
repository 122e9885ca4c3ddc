"""What takes minutes over a whole store: computed by another process, and kept until the store changes."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, TypeVar

from starlette.requests import Request

from seasoned.errors import CannotDo
from seasoned.insight.store_report import Revision
from seasoned.web.cache import CacheLookup, TellProgress, cache_of, look_up
from seasoned.web.history_store import histories_of

_T = TypeVar("_T")
# The server and the agents come first.
_NICENESS = 5
_SAID_CHARS = 300


def run_apart(module: str, path: Path, tell: TellProgress, project: str | None, *, what: str) -> bytes:
    """The answer of a module's `main` on the store at this path, by another process with a low priority."""
    given = f"{str(path)!r}, {project!r}"
    code = f"import os; os.nice({_NICENESS}); from {module} import main; main({given})"
    with (
        # A file, since a full pipe would stop the process while its other pipe is being read.
        tempfile.TemporaryFile() as said,
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=said) as process,
    ):
        assert process.stdout is not None
        try:
            data = _answer_bytes(process.stdout, tell)
        except BaseException:
            # Leaving the block waits for the process, which may take minutes.
            process.kill()
            raise
        if process.wait() != 0 or data is None:
            raise CannotDo(f"{what} could not be computed: {_last_line(said)}")
    return data


def _answer_bytes(lines: IO[bytes], tell: TellProgress) -> bytes | None:
    for line in lines:
        first, _, second = line.decode("ascii", "replace").strip().partition(" ")
        # Progress comes in lines of two numbers; then `answer` and the length of what follows.
        if first == "answer":
            return lines.read(int(second))
        done, every = int(first), int(second)
        said = f"{done:,} of {every:,} sessions read" if done < every else "all sessions read; computing the figures"
        tell(said, done=done, total=every)
    return None


def _last_line(said: IO[bytes]) -> str:
    said.seek(0)
    lines = said.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:_SAID_CHARS] if lines else "its process ended without a message."


async def look_up_project(
    request: Request,
    name: str,
    title: str,
    now: Revision,
    project: str | None,
    make: Callable[[Path, TellProgress, str | None], _T],
    *,
    is_asked: bool = False,
) -> CacheLookup[_T]:
    """The cached value for one project or for all; dropped as soon as something it may quote is forgotten."""
    named = name if project is None else f"{name} of {project}"
    cached_pages = cache_of(request)
    earlier = cached_pages.revision(named)
    if isinstance(earlier, Revision) and now.takes_back(earlier):
        cached_pages.drop(named)
    path = histories_of(request).path
    return await look_up(request, named, title, now, lambda tell: make(path, tell, project), is_asked=is_asked)
