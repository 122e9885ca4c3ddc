"""Named queries: the files in `query/`, each statement under a line `-- name: …`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "query"
_MARK = "-- name: "


@cache
def queries(subject: str) -> dict[str, str]:
    """Every statement of one file, by name."""
    found: dict[str, str] = {}
    for part in (_FOLDER / f"{subject}.sql").read_text("utf-8").split(_MARK)[1:]:
        name, _, statement = part.partition("\n")
        found[name.strip()] = statement.strip().rstrip(";")
    return found


def query(name: str) -> str:
    """The statement called `subject.name`."""
    subject, _, statement = name.partition(".")
    return queries(subject)[statement]
