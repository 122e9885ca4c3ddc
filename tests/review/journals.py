"""Journals for tests: a real store and real folders, in a temporary home."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from seasoned.redact import Redactor
from seasoned.review.journal import ChangeJournal, Provenance
from seasoned.store import open_store

NOW = 1_790_000_000.0
PERSON = Provenance(actor="person", origin="person", platform="cli")
AGENT = Provenance(actor="agent", origin="chat", session="seasoned:s1", platform="cli", tool="memory", call_id="call_1")
REVIEW = Provenance(
    actor="review",
    origin="review",
    session="seasoned:s1-review",
    parent="seasoned:s1",
    platform="cli",
    tool="skill",
    call_id="call_9",
    task="fix the build",
)


def journal_at(home: Path, **more: Any) -> ChangeJournal:
    """A journal whose folders lie side by side below a home."""
    values: dict[str, Any] = {
        "store": open_store(home / "seasoned.db"),
        "redactor": Redactor(b"k" * 32),
        "home": home,
        "memory_folder": home / "memory",
        "skill_folder": home / "skills",
        "clock": lambda: NOW,
    }
    return ChangeJournal(**{**values, **more})


def everything_below(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its content."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }
