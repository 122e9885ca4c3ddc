"""Provenance: who changed memory or a skill, in which session, by which call, and what was there before."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import Literal, ParamSpec

import msgspec

from seasoned.atomic_write import digest, write_atomic
from seasoned.errors import CannotDo, NotFound, UsageError
from seasoned.file_lock import locked
from seasoned.redact import Redactor
from seasoned.store import Store

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
    write_atomic(to, data, unfinished=home / UNFINISHED)
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


MemoryName = Literal["notes", "user"]
FILES: dict[MemoryName, str] = {"notes": "MEMORY.md", "user": "USER.md"}
NOTES_LIMIT = 2_200
USER_LIMIT = 1_375


@dataclass(frozen=True, kw_only=True)
class Journal:
    """Where things are kept, and by which rules. The store belongs to one thread, and so does a journal."""

    store: Store
    redactor: Redactor
    # For locks, for files not yet finished and for what is put aside: never the folders that others read.
    home: Path
    memory_folder: Path
    skill_folder: Path
    notes_limit: int = NOTES_LIMIT
    user_limit: int = USER_LIMIT
    # Writes of agents and reviews wait until a person accepts them.
    staging: bool = False
    # Whether the review may change skills that a person wrote.
    allow_person_skills: bool = False
    clock: Callable[[], float] = time.time

    @property
    def unfinished(self) -> Path:
        return self.home / UNFINISHED

    def limit(self, which: MemoryName) -> int:
        return self.notes_limit if which == "notes" else self.user_limit

    def memory_lock(self, folder: Path, which: MemoryName) -> AbstractContextManager[None]:
        # Beside the file and by this name, because Hermes locks it there too.
        return locked(folder / f"{FILES[which]}.lock")

    def skill_lock(self, folder: Path) -> AbstractContextManager[None]:
        return locked(self.home / "locks" / f"skills-{digest(folder_key(folder))[:16]}.lock")


def folder_key(folder: Path) -> str:
    """How a folder is named in the store, whatever way leads to it."""
    return str(folder.expanduser().resolve())


WriteState = Literal["kept", "staged", "unchanged", "refused"]
Arguments = ParamSpec("Arguments")


class WriteReply(msgspec.Struct, frozen=True):
    """`kept` and `staged` are writes; `unchanged` had nothing to do, `refused` did nothing."""

    state: WriteState
    said: str
    # The id of the change, by which it is undone, accepted or rejected.
    change: int | None = None

    @property
    def ok(self) -> bool:
        return self.state != "refused"

    @property
    def is_write(self) -> bool:
        return self.state in ("kept", "staged")


def replies(write: Callable[Arguments, WriteReply]) -> Callable[Arguments, WriteReply]:
    """Wrong use becomes a reply that says what to do: a model reads it as the result of its call."""

    @wraps(write)
    def answer(*args: Arguments.args, **kwargs: Arguments.kwargs) -> WriteReply:
        try:
            return write(*args, **kwargs)
        except (UsageError, NotFound) as error:
            return WriteReply("refused", str(error))

    return answer


Actor = Literal["person", "agent", "review"]
Origin = Literal["chat", "review", "person", "import"]
ChangeKind = Literal["memory", "skill"]
ChangeAction = Literal["add", "replace", "remove", "create", "patch", "write_file", "remove_file", "delete"]
ChangeState = Literal["writing", "kept", "staged", "rejected", "undone", "failed"]
_TASK_LENGTH = 200


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """Who writes, and where it comes from."""

    actor: Actor
    origin: Origin
    # `agent:native id`, as everywhere.
    session: str | None = None
    parent: str | None = None
    platform: str | None = None
    tool: str | None = None
    call_id: str | None = None
    task: str | None = None


PERSON = Provenance(actor="person", origin="person", platform="cli")


class Edit(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done: which text goes and which one comes. None is no text at all."""

    kind: ChangeKind
    folder: Path
    # `notes`, `user`, or the name of a skill with its category.
    target: str
    file: str
    action: ChangeAction
    before: bytes | None = None
    after: bytes | None = None


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """An edit that was made, waits, or was taken back: a row of the store."""

    id: int
    kind: ChangeKind
    folder: str
    target: str
    file: str
    action: ChangeAction
    actor: Actor
    origin: Origin
    session: str | None
    parent: str | None
    platform: str | None
    tool: str | None
    call_id: str | None
    task: str | None
    at: float
    state: ChangeState
    before: str | None
    before_digest: str | None
    after: str | None
    after_digest: str | None
    aside: str | None
    decided_at: float | None
    decided_by: str | None

    @property
    def edit(self) -> Edit:
        """The edit with its exact texts, or an error where they are no longer known."""
        return Edit(
            kind=self.kind,
            folder=Path(self.folder),
            target=self.target,
            file=self.file,
            action=self.action,
            before=None if self.action in ("delete", "remove_file") else self.exact_before(),
            after=None if self.after is None else _exact(self.after, self.after_digest, self.id),
        )

    def exact_before(self) -> bytes | None:
        """What was there, to the byte; None where nothing was."""
        if self.before_digest is None:
            return None
        if self.aside is None:
            return _exact(self.before or "", self.before_digest, self.id)
        try:
            return Path(self.aside).read_bytes()
        except OSError as error:
            raise CannotDo(f"What change {self.id} replaced was put aside and is gone: {error}.") from error


def record(journal: Journal, edit: Edit, by: Provenance, state: ChangeState, *, aside: Path | None = None) -> int:
    """Write down an edit before it is made. Secrets of the text before go into a private file, not into the store."""
    now = journal.clock()
    before = None if edit.before is None or aside is not None else _shown(journal, edit.before)
    if aside is None and edit.before is not None and (before or "").encode() != edit.before:
        aside = copy_aside(journal.home, Path(edit.file or edit.target), edit.before, now=now)
    after = None
    if edit.after is not None and (edit.kind == "memory" or state == "staged"):
        after = _shown(journal, edit.after)
        if state == "staged" and after.encode() != edit.after:
            raise UsageError(
                "The text holds something that looks like a secret, which cannot wait in the store: leave it out."
            )
    with journal.store.write():
        row = journal.store.row(
            "learned.add",
            {
                **msgspec.structs.asdict(by),
                "task": None if by.task is None else journal.redactor.head(by.task, _TASK_LENGTH),
                "kind": edit.kind,
                "folder": folder_key(edit.folder),
                "target": edit.target,
                "file": edit.file,
                "action": edit.action,
                "at": now,
                "state": state,
                "before": before,
                "before_digest": None if edit.before is None else digest(edit.before),
                "after": after,
                "after_digest": None if edit.after is None else digest(edit.after),
                "aside": None if aside is None else str(aside),
            },
        )
    assert row is not None, "an insert that returns its id has a row"
    return int(row["id"])


def waits_already(store: Store, edit: Edit) -> bool:
    """Whether the same edit waits for a person."""
    params = {
        "kind": edit.kind,
        "folder": folder_key(edit.folder),
        "target": edit.target,
        "file": edit.file,
        "action": edit.action,
        "before_digest": "" if edit.before is None else digest(edit.before),
        "after_digest": "" if edit.after is None else digest(edit.after),
    }
    return store.row("learned.waiting_like", params) is not None


def stage(journal: Journal, edit: Edit, by: Provenance) -> WriteReply:
    """Let an edit wait until a person accepts or rejects it."""
    if waits_already(journal.store, edit):
        return WriteReply("unchanged", "The same change waits for a person already.")
    change = record(journal, edit, by, "staged")
    return WriteReply("staged", f"Waits for a person to accept it (change {change}).", change)


def mark(
    store: Store, change: int, state: ChangeState, *, now: float | None = None, decided_by: str | None = None
) -> None:
    """Give a change its new state, and who decided it where somebody did."""
    with store.write():
        store.run(
            "learned.mark",
            {"id": change, "state": state, "decided_at": now if decided_by else None, "decided_by": decided_by},
        )


def put_aside(store: Store, change: int, aside: Path) -> None:
    """Note where the thing that a change removes will lie."""
    with store.write():
        store.run("learned.put_aside", {"id": change, "aside": str(aside)})


def find(store: Store, change: int) -> Change:
    """The change of this id."""
    row = store.row("learned.by_id", {"id": change})
    if row is None:
        raise NotFound(
            f"There is no change {change}: `seasoned memory history` and `seasoned skill history` list them."
        )
    return _change(row)


def changes(
    store: Store,
    *,
    kind: ChangeKind | None = None,
    target: str | None = None,
    state: ChangeState | None = None,
    session: str | None = None,
    before: int | None = None,
    limit: int = 50,
) -> list[Change]:
    """Changes, the newest first; with `before` those that are older than this one."""
    params = {"kind": kind, "target": target, "state": state, "session": session, "before": before, "limit": limit}
    return [_change(row) for row in store.rows("learned.list", params)]


def taught_by(store: Store, session: str) -> list[Change]:
    """All that a session changed, and the reviews of it, the newest first."""
    return [_change(row) for row in store.rows("learned.taught_by", {"session": session})]


def unsettled(store: Store, kind: ChangeKind, folder: Path) -> list[Change]:
    """Changes whose process died before it could say whether they were made."""
    return [_change(row) for row in store.rows("learned.unsettled", {"kind": kind, "folder": folder_key(folder)})]


def last_change(store: Store, folder: Path, target: str, file: str) -> Change | None:
    """The last change of one file of a skill that is still in force."""
    row = store.row("learned.last", {"folder": folder_key(folder), "target": target, "file": file})
    return None if row is None else _change(row)


def created_by(store: Store, folder: Path, target: str) -> Actor:
    """Who made a skill; what nobody wrote down was written by a person."""
    row = store.row("learned.creation", {"folder": folder_key(folder), "target": target})
    return "person" if row is None else _change(row).actor


def _change(row: sqlite3.Row) -> Change:
    return msgspec.convert(dict(row), Change)


def _shown(journal: Journal, data: bytes) -> str:
    return journal.redactor.text(data.decode("utf-8", "replace"))


def _exact(text: str, expected: str | None, change: int) -> bytes:
    if digest(text) != expected:
        raise CannotDo(f"The text of change {change} is not kept (a secret, or a forgotten session): mend it by hand.")
    return text.encode()


GLANCE = 80


def number(count: int, one: str, many: str) -> str:
    """`1 entry`, `3 entries`."""
    return f"{count:,} {one if count == 1 else many}"


def preview(text: str, length: int = GLANCE) -> str:
    """The beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"
