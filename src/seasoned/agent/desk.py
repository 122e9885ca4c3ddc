"""The desk: all that a write of memory or skills needs, put together once for each session and thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from seasoned.agent.keep_aside import UNFINISHED
from seasoned.agent.lock import locked
from seasoned.agent.whole import digest
from seasoned.redact import Redactor
from seasoned.store import Store

MemoryName = Literal["notes", "user"]
FILES: dict[MemoryName, str] = {"notes": "MEMORY.md", "user": "USER.md"}
NOTES_LIMIT = 2_200
USER_LIMIT = 1_375


@dataclass(frozen=True, kw_only=True)
class Desk:
    """Where things are kept, and by which rules. The store belongs to one thread, and so does a desk."""

    store: Store
    redactor: Redactor
    home: Path
    """For locks, for files not yet finished and for what is put aside: never the folders that others read."""
    memory_folder: Path
    skill_folder: Path
    notes_limit: int = NOTES_LIMIT
    user_limit: int = USER_LIMIT
    staging: bool = False
    """Writes of agents and reviews wait until a person accepts them."""
    allow_person_skills: bool = False
    """Whether the review may change skills that a person wrote."""
    clock: Callable[[], float] = time.time

    @property
    def unfinished(self) -> Path:
        return self.home / UNFINISHED

    def limit(self, which: MemoryName) -> int:
        return self.notes_limit if which == "notes" else self.user_limit

    def memory_lock(self, folder: Path, which: MemoryName) -> AbstractContextManager[None]:
        # Beside the file and by this name, because Hermes locks it there too.
        return locked(folder / f"{FILES[which]}.lock")

    def skill_lock(self, folder: Path) -> AbstractContextManager[None]:
        return locked(self.home / "locks" / f"skills-{digest(folder_key(folder))[:16]}.lock")


def folder_key(folder: Path) -> str:
    """How a folder is named in the store, whatever way leads to it."""
    return str(folder.expanduser().resolve())
