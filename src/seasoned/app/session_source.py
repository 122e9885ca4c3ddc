"""Reads a session again from the file or database it came from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from seasoned.app.stores import Progress, no_progress, store_with
from seasoned.config import Config
from seasoned.errors import NotFound, UsageError
from seasoned.history.formats import read_file
from seasoned.session import Session
from seasoned.store import DatabaseRow
from seasoned.store.search import find_session


def read_source(row: DatabaseRow) -> Session:
    """The session of a store's row with all its messages."""
    ref = f"{row['agent']}:{row['native_id']}"
    if not row["path"] or not Path(row["path"]).exists():
        raise NotFound("The file it came from is gone.")
    for session in read_file(Path(row["path"])):
        if str(session.ref) == ref:
            return session
    raise NotFound("The file it came from no longer holds it.")


def find_source(
    config: Config, text: str | None, paths: Sequence[Path] = (), *, progress: Progress = no_progress
) -> Session:
    """A session by its id, read from its file; without an id the newest in the store."""
    if text is None and paths:
        raise UsageError("Give the id of the session to read from these files.")
    with store_with(config, paths, progress=progress) as store:
        if text is None:
            newest = store.row("review.newest_session")
            if newest is None:
                raise NotFound("There are no sessions yet. Run `seasoned scan` first, or give a path.")
            text = f"{newest['agent']}:{newest['native_id']}"
        row = find_session(store, text)
    try:
        return read_source(row)
    except NotFound as error:
        raise NotFound(f"{row['agent']}:{row['native_id']} cannot be read. {error}") from error
