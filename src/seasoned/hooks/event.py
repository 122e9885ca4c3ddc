"""The event that a hook answers, in the form of Claude Code (`dialect` translates others), and its open store."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import msgspec

from seasoned.hooks.dialect import received
from seasoned.store import Store, open_store

Agent = Literal["claude-code", "codex", "gemini", "qwen", "copilot", "opencode", "cursor"]


class HookEvent(msgspec.Struct, frozen=True):
    """The fields of an event that are read."""

    session_id: str = ""
    transcript_path: str | None = None
    cwd: str = ""
    source: str = ""  # why a session starts: startup, resume, compact, clear, fork
    agent_id: str | None = None  # of a sub-agent
    prompt: str = ""
    tool_name: str = ""
    tool_input: Any = None
    tool_response: Any = None
    error: Any = None
    exit_code: int | None = None  # if the agent reports it
    is_interrupt: bool = False

    @property
    def arguments(self) -> dict[str, Any]:
        return self.tool_input if isinstance(self.tool_input, dict) else {}


def read_event() -> HookEvent:
    """The event that the agent sent."""
    return msgspec.json.decode(received(), type=HookEvent)


# How long a hook waits for another program that is writing, and for how long after one waited in vain none waits.
_BUSY_MILLISECONDS = 1000
_LOCKED_SECONDS = 60.0
# About 0.8 MB. The next program that opens the store reads its log, so hooks keep it short.
_MOST_PAGES = 200
_OPENED: list[Store] = []
# A file beside the store: a hook waited in vain because another program held it.
_LOCKED = ".locked"


def open_until_exit(path: Path) -> Store:
    """Open the store and leave it open.

    Closing the last connection copies the log into the file and waits for the disk; the agent would wait too, 10 to 25
    ms. What is committed is safe in the log, and the next program that closes the store copies it.
    """
    # An answer has several parts, and each of them asks for the store.
    known = next((one for one in _OPENED if one.path == str(path)), None)
    if known is not None:
        return known
    store = open_store(path)
    store.connection.execute(f"PRAGMA busy_timeout = {0 if _was_locked(path) else _BUSY_MILLISECONDS}")
    store.connection.execute(f"PRAGMA wal_autocheckpoint = {_MOST_PAGES}")
    _OPENED.append(store)  # a store without a reference is closed
    return store


def _was_locked(path: Path) -> bool:
    try:
        return time.time() - path.with_suffix(_LOCKED).stat().st_mtime < _LOCKED_SECONDS
    except OSError:
        return False


_MOST_BYTES = 500_000


def note(text: str, error: Exception | None = None) -> None:
    """Add a line to the log of the configured home; nothing happens if the settings cannot be read."""
    from seasoned.config import load
    from seasoned.errors import SeasonedError

    with suppress(SeasonedError, OSError):
        config = load()
        log(config.home, text if error is None else f"{text}: {error!r}")
        if isinstance(error, SeasonedError) and "is locked" in str(error) and not _was_locked(config.store_path):
            config.store_path.with_suffix(_LOCKED).touch(mode=0o600)


def log(home: Path, text: str) -> None:
    """Add a line, redacted. If the log cannot be written, nothing happens."""
    from seasoned.atomic_write import make_private_folder
    from seasoned.redact.key import Secrecy, new_key

    with suppress(OSError):
        folder = home / "logs"
        make_private_folder(home)
        make_private_folder(folder)
        path = folder / "hooks.log"
        if path.exists() and path.stat().st_size > _MOST_BYTES:
            path.replace(folder / "hooks.log.1")
        line = " ".join(Secrecy(new_key()).redactor().text(text).split())
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(handle, "a", encoding="utf-8", errors="replace") as file:
            file.write(f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')} {line}\n")
