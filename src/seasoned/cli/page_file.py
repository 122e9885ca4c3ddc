"""Pages that commands write to a file."""

from __future__ import annotations

import os
from pathlib import Path

from seasoned.errors import CannotDo, UsageError


def write_page(html: str, path: Path, *, kind: str) -> Path:
    """Write the page; only an older page of the same kind is ever overwritten."""
    mark = f"<!-- seasoned:{kind} -->"
    try:
        # The head is enough, and the file may be large.
        if path.exists() and mark not in path.read_text("utf-8", "replace")[:1000]:
            raise UsageError(f"{str(path)!r} exists and is not a {kind} of Seasoned. Choose another file with -o.")
        marked = html.replace("<!doctype html>", f"<!doctype html>\n{mark}", 1)
        # It quotes sessions, so no other user may read it, not even for a moment.
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            path.chmod(0o600)
            file.write(marked)
    except OSError as error:
        raise CannotDo(
            f"The page {str(path)!r} cannot be written ({error.strerror}). Choose another file with -o."
        ) from error
    return path
