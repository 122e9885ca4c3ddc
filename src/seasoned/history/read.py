"""Reads every session under a path, each call once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from seasoned.history.copies import without_copies
from seasoned.history.discover import candidates
from seasoned.history.formats import named, read_file, recognise
from seasoned.session import Session


def read(path: str | Path) -> Iterator[Session]:
    """Every session of a file, a database or a folder. Files in a folder that are no history are passed over."""
    return without_copies(_sessions(Path(path)))


def _sessions(path: Path) -> Iterator[Session]:
    for candidate in candidates([path]):
        file = Path(candidate.path)
        if candidate.named:
            yield from read_file(file)
        elif (module := recognise(file)) is not None:
            yield from named(module).read(file)
