"""State of the running Hermes, read from modules that it has loaded; nothing of Hermes is imported here."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any


def is_review() -> bool:
    """Whether this thread works for a background review."""
    return bool(_called("tools.skill_provenance", "is_background_review"))


def is_interrupted() -> bool:
    """Whether the user has interrupted what this thread does."""
    return bool(_called("tools.interrupt", "is_interrupted"))


def database_path(otherwise: Path) -> Path:
    """The path of Hermes' database; Hermes itself knows it, because it has profiles."""
    home = _called("hermes_constants", "get_hermes_home")
    return Path(home if isinstance(home, str | Path) else otherwise) / "state.db"


def tell_user(line: str) -> None:
    """Show a line to the person at Hermes' terminal; nothing happens where no one sits there."""
    # Set by Hermes' own terminal program, and by no other way to run it.
    agent = getattr(sys.modules.get("cli"), "_active_agent_ref", None)
    emit = getattr(agent, "_emit_status", None)
    if callable(emit):
        emit(f"🌱 {line}")


def _called(module: str, name: str) -> Any:
    function = getattr(sys.modules.get(module), name, None)
    return function() if callable(function) else None
