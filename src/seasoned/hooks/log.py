"""The log file of the hooks: failures go there, because they must not disturb the agent."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

_MOST_BYTES = 500_000


def note(text: str) -> None:
    """Add a line to the log of the configured home; nothing happens if the settings cannot be read."""
    from seasoned.config import load
    from seasoned.errors import SeasonedError

    with suppress(SeasonedError, OSError):
        log(load().home, text)


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
