"""What was found and what was taken over: values, and the record that undoing needs."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import msgspec

from seasoned.atomic_write import digest, make_private_folder, write_atomic
from seasoned.errors import CannotDo

ItemKind = Literal["template", "script", "skill", "job", "memory", "audit"]
# `changed`: its file is another one than when it was taken over; `taken`: nothing to do.
ItemState = Literal["new", "changed", "taken", "left out"]


class AdoptItem(msgspec.Struct, frozen=True):
    """One thing of the first version, and what becomes of it."""

    kind: ItemKind
    name: str  # what it is called here
    source: str
    state: ItemState
    notes: tuple[str, ...] = ()  # sentences for people


class TakenItem(msgspec.Struct, frozen=True):
    """One thing that was taken over, with what undoing it needs."""

    kind: ItemKind
    name: str
    source: str
    digest: str  # of the source when it was taken over
    detail: dict[str, Any] = {}


class AdoptFinding(msgspec.Struct, frozen=True):
    """An item, and how to take it over. `take` returns what is recorded, and notes about what it left out."""

    item: AdoptItem
    take: Callable[[], tuple[TakenItem, tuple[str, ...]]] | None = None


class AdoptRecord(msgspec.Struct, frozen=True):
    """Everything that was taken over and not undone."""

    folder: str = ""
    items: tuple[TakenItem, ...] = ()
    made_folders: tuple[str, ...] = ()

    def find(self, kind: ItemKind, source: str) -> TakenItem | None:
        """The item that was taken over from this place."""
        return next((one for one in self.items if (one.kind, one.source) == (kind, source)), None)

    def with_item(self, item: TakenItem) -> AdoptRecord:
        """The record with one more item, in the place of an older one from the same source."""
        others = tuple(one for one in self.items if (one.kind, one.source) != (item.kind, item.source))
        return msgspec.structs.replace(self, items=(*others, item))


def record_folder(home: Path) -> Path:
    """Where the record and the former contents of files are kept."""
    return home / "adopt"


def load_record(home: Path) -> AdoptRecord | None:
    """The record; None if nothing was taken over."""
    file = record_folder(home) / "record.json"
    try:
        return msgspec.json.decode(file.read_bytes(), type=AdoptRecord)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as error:
        raise CannotDo(f"{str(file)!r} cannot be read ({error}). Restore it from a backup.") from error


def save_record(home: Path, record: AdoptRecord) -> None:
    """Write the record, complete or not at all."""
    folder = record_folder(home)
    make_private_folder(folder)
    data = msgspec.json.format(msgspec.json.encode(record), indent=1)
    write_atomic(folder / "record.json", data, unfinished=folder / ".unfinished")


def drop_record(home: Path) -> None:
    """Forget that anything was taken over."""
    shutil.rmtree(record_folder(home), ignore_errors=True)


def keep_contents(home: Path, data: bytes | None) -> str | None:
    """Keep what a file holds before it is changed; returns the name to get it back by."""
    if data is None:
        return None
    folder, name = record_folder(home), digest(data)
    make_private_folder(folder)
    if not (folder / name).is_file():
        write_atomic(folder / name, data, unfinished=folder / ".unfinished")
    return name


def kept_contents(home: Path, name: str | None) -> bytes | None:
    """What a file held before it was changed; None if there was none."""
    if name is None:
        return None
    data = (record_folder(home) / name).read_bytes()
    if digest(data) != name:
        raise CannotDo(f"{str(record_folder(home) / name)!r} was changed. Restore the file by hand.")
    return data


def read_bytes(path: Path) -> bytes | None:
    """The contents of a file; None if it does not exist."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CannotDo(f"{str(path)!r} cannot be read ({error.strerror or error}). Check its permissions.") from error
