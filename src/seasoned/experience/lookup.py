"""Looks up what the store knows about a project. Only reads, by key: a hook waits for it."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from seasoned.digest import short_digest
from seasoned.experience.lesson import Hint, Line, kind_mark
from seasoned.store import Store

_T = TypeVar("_T")


class StoredSheet(msgspec.Struct, frozen=True):
    """The lines for a project, or for one of its folders, and how many conversations they rest on."""

    lines: tuple[Line, ...]
    conversations: int


class StoredPath(msgspec.Struct, frozen=True):
    """Where the only file of a name is."""

    path: str


def kind_key(kind: tuple[str, str, str]) -> str:
    """A kind of failure as a key: the words of an error are long, and only equality matters."""
    return short_digest(*kind_mark(kind), size=12)


def find(store: Store, project: str, topic: str, key: str, as_type: type[_T]) -> _T | None:
    """What is known about a topic of a project; None if nothing is."""
    row = store.row("experience.find", {"project": project, "topic": topic, "key": key})
    return None if row is None else msgspec.json.decode(row["content"], type=as_type)


def all_of(store: Store, project: str, topic: str, as_type: type[_T]) -> list[tuple[str, _T]]:
    """Everything that is known about a topic of a project, each with its key."""
    rows = store.rows("experience.topic", {"project": project, "topic": topic})
    return [(row["key"], msgspec.json.decode(row["content"], type=as_type)) for row in rows]


def find_sheet(store: Store, project: str, folder: str | None) -> StoredSheet | None:
    """The sheet for a folder of a project; that of the project where the folder is new."""
    found = find(store, project, "sheet", folder, StoredSheet) if folder else None
    return found or find(store, project, "sheet", "", StoredSheet)


def find_hint(store: Store, project: str, topic: str, key: str) -> Hint | None:
    """A hint before or after a call."""
    return find(store, project, topic, key, Hint)
