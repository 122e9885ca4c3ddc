"""Takes a mined folder up into a store: the same rows, written in the same way, as if a scan had read the files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from seasoned.experience.learner import SessionLearner
from seasoned.mine.folder import MinedFolder
from seasoned.mine.read import read_rules
from seasoned.mine.table import session_rows
from seasoned.scan.rows import Batch, SessionRows
from seasoned.scan.scan import write_batches
from seasoned.store import Store


class TakenUp(msgspec.Struct, frozen=True):
    """What was taken up."""

    files: int
    unchanged: int
    outdated: int  # files that another version of Seasoned mined
    sessions: int


def take_up(folder: MinedFolder, store: Store, *, only: str | None = None) -> TakenUp:
    """Write the sessions of files that the store does not have in this version yet; `only`: those of one project."""
    known = {row["path"]: (row["size"], row["mtime_ns"], row["judge"]) for row in store.each("source.all")}
    sources = [row for row in folder.sources().to_pylist() if only is None or only in row["projects"]]
    new = {
        row["address"]: row
        for row in sources
        # What another version judged and learned would be mixed with what this one does.
        if row["rules"] == read_rules() and known.get(row["address"]) != (row["size"], row["mtime_ns"], row["judge"])
    }
    projects = {project for row in new.values() for project in row["projects"] if only in (None, project)}
    writer = write_batches(lambda: store, _batches(folder, new, projects), SessionLearner()) if new else None
    outdated = sum(row["rules"] != read_rules() for row in sources)
    sessions = 0 if writer is None else len(writer.settled)
    return TakenUp(len(new), len(sources) - len(new) - outdated, outdated, sessions)


def _batches(folder: MinedFolder, sources: dict[str, dict[str, Any]], projects: set[str | None]) -> Iterator[Batch]:
    """The rows of the sources, project by project; each source is complete only with its last batch."""
    for project in sorted(projects, key=lambda key: (key is not None, key or "")):
        for source, session in session_rows(folder.project(project)):
            if source in sources:
                yield _batch(sources[source], sessions=[session], done=False, is_first=False)
    for row in sources.values():
        yield _batch(
            row,
            unreadable=[tuple(one.values()) for one in row["unreadable"]],
            resume=row["resume"],
            check_digest=row["check_digest"],
            stamps=row["stamps"],
        )


def _batch(row: dict[str, Any], *, sessions: list[SessionRows] | None = None, **fields: Any) -> Batch:
    filled = {"unreadable": [], **fields}
    return Batch(row["address"], row["format"], row["size"], row["mtime_ns"], sessions=sessions or [], **filled)
