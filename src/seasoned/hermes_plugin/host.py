"""What is known of the Hermes around us, from modules that it has loaded itself; nothing of it is imported here."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

# How Hermes begins what it asks of a review, where nothing else says that it is one.
_REVIEWS = "Review the conversation above"


def is_review() -> bool:
    """Whether this thread works for a background review."""
    return bool(_called("tools.skill_provenance", "is_background_review"))


def asks_for_review(said: str) -> bool:
    """Whether words are those with which Hermes starts a review."""
    return said.startswith(_REVIEWS)


def is_interrupted() -> bool:
    """Whether the user has interrupted what this thread does."""
    return bool(_called("tools.interrupt", "is_interrupted"))


def database_path(otherwise: Path) -> Path:
    """Where this Hermes keeps its sessions; it knows best, for it has profiles."""
    home = _called("hermes_constants", "get_hermes_home")
    return Path(home if isinstance(home, str | Path) else otherwise) / "state.db"


def _called(module: str, name: str) -> Any:
    function = getattr(sys.modules.get(module), name, None)
    return function() if callable(function) else None
