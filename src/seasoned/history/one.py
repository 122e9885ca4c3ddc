"""One session out of its source, without reading the others where the source allows that."""

from __future__ import annotations

from pathlib import Path

from seasoned.errors import NotFound
from seasoned.history.formats import named, recognise
from seasoned.session import Session, SessionRef

_CHOOSING = ("hermes_db", "seasoned_db")
"""Formats that hold many sessions and can be asked for one of them."""


def read_one(path: Path, ref: SessionRef) -> Session:
    """The session as its source has it; NotFound says why it cannot be had."""
    if not path.exists():
        raise NotFound("The file it came from is gone.")
    module = recognise(path)
    if module is None:
        raise NotFound("The file it came from no longer holds a history.")
    reader = named(module)
    if module in _CHOOSING:
        found = reader.read(path, only=[ref.native_id])  # type: ignore[call-arg]
    else:
        found = reader.read(path)
    for session in found:
        if session.ref == ref:
            return session
    raise NotFound("The file it came from no longer holds it.")
