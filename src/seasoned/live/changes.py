"""Which histories change, as they do: by the file system's own notices where it has them, else by looking again."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from threading import Event

from seasoned.errors import SeasonedError
from seasoned.history.discover import DATABASES, SUFFIXES, candidates

# Notices within this time come together: an agent writes several lines for one step.
_GATHER_MS = 200
_LOOK_MS = 400
# Looking at every file takes at most this share of the time.
_SHARE_OF_TIME = 0.05
_LOGS = tuple(f"{suffix}-wal" for suffix in DATABASES)
_Seen = dict[str, tuple[int, int]]


def changed_files(paths: Sequence[Path], stop: Event, *, since: float, polls: bool = False) -> Iterator[list[str]]:
    """First the files that changed since a time, the latest first; then those that changed since the last answer.

    There is an answer at least every half second, often with no file, until `stop` is set.
    """
    folders = [path for path in paths if path.is_dir()]
    # A database is one file with its log beside it; its folder may hold much else.
    files = [path for path in paths if not path.is_dir()]
    if polls or not folders or find_spec("watchfiles") is None:
        yield from _polled(paths, stop, since)
        return
    from watchfiles import watch

    seen: _Seen | None = None
    try:
        for found in watch(
            *folders,
            stop_event=stop,
            debounce=_GATHER_MS,
            step=50,
            rust_timeout=_GATHER_MS,
            yield_on_timeout=True,
            watch_filter=lambda _, path: path.endswith((*SUFFIXES, *_LOGS)),
            ignore_permission_denied=True,
            raise_interrupt=False,
        ):
            changed = [_without_log(path) for _, path in found]
            # Every file is looked at once, after the notices have begun: so nothing that is written now is missed.
            everything = _state(paths) if seen is None else {}
            now = _state(files)
            changed = _recent(everything, since) + changed + _differing(now if seen is None else seen, now)
            yield list(dict.fromkeys(changed))
            seen = now
    except OSError:
        # There are more folders than the system gives notices for.
        yield from _polled(paths, stop, since)


def _polled(paths: Sequence[Path], stop: Event, since: float) -> Iterator[list[str]]:
    seen = _state(paths)
    yield _recent(seen, since)
    wait = _LOOK_MS / 1000
    while not stop.wait(wait):
        begun = time.monotonic()
        now = _state(paths)
        wait = max(_LOOK_MS / 1000, (time.monotonic() - begun) / _SHARE_OF_TIME)
        yield _differing(seen, now)
        seen = now


def _recent(found: _Seen, since: float) -> list[str]:
    """The files that changed since a time, the latest first."""
    return sorted((path for path, (_, at) in found.items() if at >= since * 1e9), key=lambda path: -found[path][1])


def _state(paths: Sequence[Path]) -> _Seen:
    """The size and the time of every file that could be a history."""

    def pass_over(path: str, error: SeasonedError) -> None:
        """What cannot be opened cannot be followed."""

    present = [path for path in paths if path.exists()]
    return {one.path: (one.size, one.mtime_ns) for one in candidates(present, named=False, pass_over=pass_over)}


def _differing(before: _Seen, now: _Seen) -> list[str]:
    return [path for path, state in now.items() if before.get(path) != state]


def _without_log(path: str) -> str:
    return os.fspath(path).removesuffix("-wal")
