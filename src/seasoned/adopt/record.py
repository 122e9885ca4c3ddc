"""What was found of the first version, where it goes, and the record that undoing needs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from seasoned.atomic_write import digest, make_private_folder, write_atomic
from seasoned.errors import CannotDo, NotFound
from seasoned.redact.redactor import Redactor
from seasoned.review.journal import ChangeJournal
from seasoned.store import Database, Store

ItemKind = Literal["template", "script", "skill", "job", "memory", "audit"]
# `changed`: its file has changed since it was taken over. `taken`: nothing to do.
ItemState = Literal["new", "changed", "taken", "left out"]


class AdoptItem(msgspec.Struct, frozen=True):
    """One thing of the first version, and what happens to it."""

    kind: ItemKind
    name: str  # what it is called here
    source: str
    state: ItemState
    notes: tuple[str, ...] = ()  # sentences for people


class TakenItem(msgspec.Struct, frozen=True):
    """One thing that was taken over, with what is needed to undo that."""

    kind: ItemKind
    name: str
    source: str
    digest: str  # of the source when it was taken over
    detail: dict[str, Any] = {}


class AdoptFinding(msgspec.Struct, frozen=True):
    """An item, and how to take it over. `take` returns what is recorded, and notes about what it left out."""

    item: AdoptItem
    take: Callable[[], tuple[TakenItem, tuple[str, ...]]] | None = None


def settled(kind: ItemKind, name: str, source: str, state: ItemState, *notes: str) -> AdoptFinding:
    """An item with nothing to do: it was taken over before, or the notes say why it is left out."""
    return AdoptFinding(AdoptItem(kind, name, source, state, notes))


class AdoptRecord(msgspec.Struct, frozen=True):
    """Everything that was taken over and not undone."""

    folder: str = ""
    items: tuple[TakenItem, ...] = ()
    made_folders: tuple[str, ...] = ()

    def find(self, kind: ItemKind, source: str) -> TakenItem | None:
        """The item that was taken over from this place."""
        return next((one for one in self.items if (one.kind, one.source) == (kind, source)), None)

    def with_item(self, item: TakenItem) -> AdoptRecord:
        """The record with one more item, which replaces an older one from the same source."""
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
    """Save the content of a file before it is changed; returns the name to restore it by."""
    if data is None:
        return None
    folder, name = record_folder(home), digest(data)
    make_private_folder(folder)
    if not (folder / name).is_file():
        write_atomic(folder / name, data, unfinished=folder / ".unfinished")
    return name


def kept_contents(home: Path, name: str | None) -> bytes | None:
    """The content of a file before it was changed; None if it did not exist."""
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


TEMPLATE_FOLDERS = ("warm_sessions", "session-templates", "session_templates")
# Where the confirmation daemon kept its audit; `--db-path` could name another file of the folder.
_AUDITS = ("confirmation*.db", "confirm_audit*.db")
_DEPTH = 4


class FirstVersion(msgspec.Struct, frozen=True):
    """The files of the first version in one folder."""

    folder: Path
    templates: tuple[Path, ...] = ()
    jobs: Path | None = None
    scripts: tuple[Path, ...] = ()  # relative to `folder/scripts`
    memory: Path | None = None
    skills: Path | None = None
    audits: tuple[Path, ...] = ()

    @property
    def script_folder(self) -> Path:
        return self.folder / "scripts"


def find(folder: Path) -> FirstVersion:
    """Everything of the first version in a folder such as `~/.hermes`; NotFound if there is nothing."""
    found = FirstVersion(
        folder,
        tuple(path for name in TEMPLATE_FOLDERS for path in sorted((folder / name).glob("*.json")) if path.is_file()),
        path if (path := folder / "cron" / "jobs.json").is_file() else None,
        tuple(sorted(_files(folder / "scripts"))),
        path if any((path := folder / "memories").glob("*.md")) else None,
        path if (path := folder / "skills").is_dir() else None,
        tuple(dict.fromkeys(path for name in _AUDITS for path in sorted(folder.glob(name)) if path.is_file())),
    )
    if not any((found.templates, found.jobs, found.scripts, found.memory, found.skills, found.audits)):
        places = ", ".join((*TEMPLATE_FOLDERS[:2], "cron/jobs.json", "memories", "skills", "confirmation_audit.db"))
        raise NotFound(f"Nothing to take over in {str(folder)!r}. Give the folder that holds {places}.")
    return found


def _files(folder: Path) -> Iterator[Path]:
    """The ordinary files below a folder; links and hidden files are left out."""
    for place, folders, names in os.walk(folder):
        here = Path(place)
        deep = len(here.relative_to(folder).parts) >= _DEPTH
        folders[:] = [] if deep else sorted(one for one in folders if not one.startswith((".", "__")))
        for name in names:
            path = here / name
            if not name.startswith(".") and path.is_file() and not path.is_symlink():
                yield path.relative_to(folder)


@dataclass(frozen=True, kw_only=True)
class AdoptContext:
    """The files of the first version, and where they go."""

    found: FirstVersion
    record: AdoptRecord
    home: Path
    store: Store
    database: Database  # of the jobs
    journal: ChangeJournal
    redactor: Redactor
    zone: str  # what the cron expressions of Hermes mean
    now: float
