"""Where things go instead of being lost: damaged files as copies, removed ones as they were."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from seasoned.agent.whole import digest, write_whole

FOLDER = "aside"
UNFINISHED = "unfinished"


def copy_aside(home: Path, path: Path, data: bytes, *, now: float) -> Path:
    """A copy with the time in its name. The same content is copied once, however often it is met."""
    mark = digest(data)[:12]
    folder = home / FOLDER
    with suppress(FileNotFoundError):
        for kept in sorted(folder.iterdir()):
            if kept.name.startswith(f"{path.name}.") and kept.name.endswith(mark) and kept.read_bytes() == data:
                return kept
    to = folder / f"{path.name}.{_stamp(now)}.{mark}"
    write_whole(to, data, unfinished=home / UNFINISHED)
    return to


def free_place(home: Path, path: Path, *, now: float) -> Path:
    """A name under which a file or folder can be put aside."""
    return home / FOLDER / f"{path.name}.{_stamp(now)}.{os.urandom(4).hex()}"


def drop(path: Path) -> None:
    """Remove for good what was put aside."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _stamp(now: float) -> str:
    return datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")
