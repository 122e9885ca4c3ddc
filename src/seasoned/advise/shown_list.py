"""The list of advice that was printed last, so that a number means what the user saw."""

from __future__ import annotations

from pathlib import Path

import msgspec

from seasoned.advise.step import AREA
from seasoned.atomic_write import make_private_folder, write_atomic


class ShownList(msgspec.Struct, frozen=True):
    """The ids in the order in which they were printed, and the project that the list was about."""

    ids: tuple[str, ...] = ()
    project: str | None = None

    def id_of(self, text: str) -> str:
        """The id that a number stands for; any other text is an id already."""
        number = int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else 0
        return self.ids[number - 1] if 0 < number <= len(self.ids) else text


def save_shown(home: Path, shown: ShownList) -> None:
    """Remember the list."""
    folder = home / AREA
    make_private_folder(folder)
    write_atomic(folder / "shown.json", msgspec.json.encode(shown), unfinished=folder / ".unfinished")


def read_shown(home: Path) -> ShownList:
    """The list that was printed last; empty if none was."""
    try:
        return msgspec.json.decode((home / AREA / "shown.json").read_bytes(), type=ShownList)
    except (OSError, msgspec.DecodeError):
        return ShownList()
