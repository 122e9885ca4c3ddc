"""What a session is shown of memory and skills when it begins: the same text for as long as it lives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from seasoned.begin.settings import BeginSettings
from seasoned.config import Config
from seasoned.digest import short_digest
from seasoned.experience.memory_text import MemoryPlaces, Remembered, remembered
from seasoned.marks import BLOCK_ENDS
from seasoned.store import Store
from seasoned.store.project import project_key

if TYPE_CHECKING:
    from seasoned.redact import Redactor

PLACE = "memory"
MEMORY_OPENS = "[seasoned:memory]"


class BegunMemory(msgspec.Struct, frozen=True):
    """The text that a session begins with, and what it holds if it was made just now."""

    text: str
    made: Remembered | None = None


def find_memory(store: Store, session_id: str) -> BegunMemory | None:
    """What a conversation was shown when it began; None for nothing."""
    row = store.row("receipt.shown", {"conversation": session_id, "place": PLACE})
    return None if row is None else BegunMemory(_marked(row["text"]))


def begin_with_memory(
    store: Store,
    config: Config,
    session_id: str,
    settings: BeginSettings,
    *,
    folder: str | None = None,
    project: str | None = None,
    now: float,
) -> BegunMemory | None:
    """What a session begins with, made and kept at its start; None for nothing.

    A session in a folder belongs to the project of that folder; `project` is for those that know only its key. One
    without a project is shown what is about the user.
    """
    known = find_memory(store, session_id)
    if known is not None or not settings.tells("memory"):
        return known
    key = project_key(store, folder) if folder else project
    places = MemoryPlaces(config.home, config.memory_folder, key)
    made = remembered(store, places, lambda: _redactor(config), budget=settings.memory_budget)
    if made is None:
        return None
    row = {"conversation": session_id, "project": key or "", "place": PLACE, "text": made.text, "told_at": now}
    with store.write():
        store.run("receipt.tell", {**row, "digest": short_digest(made.text)})
    return BegunMemory(_marked(made.text), made)


def _marked(text: str) -> str:
    return f"{MEMORY_OPENS}\n{text}\n{BLOCK_ENDS}"


def _redactor(config: Config) -> Redactor:
    # Imported here: only needed when memory has changed since the last session.
    from seasoned.redact.key import Secrecy, load_key

    return Secrecy(load_key(config.home), config.redact).redactor()
