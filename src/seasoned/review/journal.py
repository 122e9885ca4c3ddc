"""The journal: every change to memory and skills, who made it, and what was there before.

A change is recorded in the store before it is made, and marked afterwards. A process that dies in between leaves a
change in the state `writing`; the next write looks at the files and settles it.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import Literal, ParamSpec

import msgspec

from seasoned.atomic_write import digest, write_atomic
from seasoned.begin.memory import FILES, MemoryName
from seasoned.errors import CannotDo, NotFound, UsageError
from seasoned.file_lock import locked
from seasoned.redact import Redactor
from seasoned.review.overlap import ForeignSource, ForeignTexts
from seasoned.store import Store

Actor = Literal["person", "agent", "review"]
Origin = Literal["chat", "review", "person", "import"]
ChangeKind = Literal["memory", "skill"]
ChangeAction = Literal["add", "replace", "remove", "create", "patch", "write_file"]
ChangeState = Literal["writing", "kept", "staged", "rejected", "undone", "failed"]
WriteState = Literal["kept", "staged", "unchanged", "refused"]
# Why a change waits: all changes do, its words come from a result, or the session read web pages.
StagingReason = Literal["setting", "foreign", "page"]
_ASIDE = "aside"
_TASK_LENGTH = 200
_PREVIEW_LENGTH = 80
_FOREIGN_LENGTH = 300
# What one review may write. Each of its entries and skills is shown to many sessions.
MOST_NOTES = 5
MOST_SKILLS = 2
_MOST_CHANGES = 1_000
Arguments = ParamSpec("Arguments")


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """Who writes, and on whose behalf. Sessions are named `agent:native id`."""

    actor: Actor
    origin: Origin
    session: str | None = None
    parent: str | None = None
    platform: str | None = None
    tool: str | None = None
    call_id: str | None = None
    task: str | None = None


PERSON = Provenance(actor="person", origin="person", platform="cli")


class Edit(msgspec.Struct, frozen=True, kw_only=True):
    """What should be done: which text goes and which one comes. None means no text at all."""

    kind: ChangeKind
    folder: Path
    # `notes`, `user`, or the name of a skill with its category.
    target: str
    file: str
    action: ChangeAction
    before: bytes | None = None
    after: bytes | None = None

    @property
    def path(self) -> Path:
        """The file that is written."""
        return self.folder / self.file if self.kind == "memory" else self.folder / self.target / self.file


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the journal: an edit that was made, waits for a decision, or was undone."""

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
    # Why it had to wait, and the foreign sentence with the call that returned it.
    reason: StagingReason | None = None
    foreign_call: str | None = None
    foreign_tool: str | None = None
    foreign_text: str | None = None

    @property
    def edit(self) -> Edit:
        """The edit with its exact texts; CannotDo if they are no longer known."""
        return Edit(
            kind=self.kind,
            folder=Path(self.folder),
            target=self.target,
            file=self.file,
            action=self.action,
            before=self.exact_before(),
            after=None if self.after is None else self._exact(self.after, self.after_digest),
        )

    def exact_before(self) -> bytes | None:
        """What was there, to the byte; None if nothing was."""
        if self.before_digest is None:
            return None
        if self.aside is None:
            return self._exact(self.before or "", self.before_digest)
        try:
            return Path(self.aside).read_bytes()
        except OSError as error:
            raise CannotDo(f"The copy of what change {self.id} replaced is gone: {error}.") from error

    def _exact(self, text: str, expected: str | None) -> bytes:
        # The store holds redacted text: it can only be used if redaction changed nothing.
        if digest(text) != expected:
            raise CannotDo(
                f"The text of change {self.id} was not kept (a secret, or a forgotten session). Edit the file yourself."
            )
        return text.encode()


class _Staging(msgspec.Struct, frozen=True):
    """Why a change waits for a person."""

    reason: StagingReason
    source: ForeignSource | None = None
    sentence: str | None = None


class WriteReply(msgspec.Struct, frozen=True):
    """What a write answers: its state, and a sentence that a person or a model can act on."""

    state: WriteState
    said: str
    # The id by which the change is undone, accepted or rejected.
    change: int | None = None

    @property
    def ok(self) -> bool:
        return self.state != "refused"


def replies(write: Callable[Arguments, WriteReply]) -> Callable[Arguments, WriteReply]:
    """Turn a usage error into a reply, which a model reads as the result of its call."""

    @wraps(write)
    def answer(*args: Arguments.args, **kwargs: Arguments.kwargs) -> WriteReply:
        try:
            return write(*args, **kwargs)
        except (UsageError, NotFound) as error:
            return WriteReply("refused", str(error))

    return answer


@dataclass(frozen=True, kw_only=True)
class ChangeJournal:
    """Records and carries out changes. The store belongs to one thread, and so does a journal."""

    store: Store
    redactor: Redactor
    # Holds locks, unfinished files and what was moved aside: other programs read the memory and skill folders.
    home: Path
    memory_folder: Path
    skill_folder: Path
    # Where the notes of the session's project are; None where a session has no project, and its notes are general.
    notes_folder: Path | None = None
    # The kinds whose writes by agents and reviews wait until a person accepts them.
    staged: Collection[ChangeKind] = ()
    # The session's texts: what repeats its results or pages waits for a person.
    foreign: ForeignTexts | None = None
    # Whether everything waits if the session read web pages.
    stage_pages: bool = True
    clock: Callable[[], float] = time.time

    def memory_lock(self, folder: Path, which: MemoryName) -> AbstractContextManager[None]:
        """The lock of a memory file."""
        # Hermes locks the same file by the same name.
        return locked(folder / f"{FILES[which]}.lock")

    def skill_lock(self, folder: Path) -> AbstractContextManager[None]:
        """The lock of a folder of skills."""
        return locked(self.home / "locks" / f"skills-{digest(folder_key(folder))[:16]}.lock")

    def write_file(self, path: Path, data: bytes, **mode: int) -> None:
        """Write a file atomically."""
        write_atomic(path, data, unfinished=self.home / "unfinished", **mode)

    def commit(self, edit: Edit, by: Provenance, make: Callable[[], str]) -> WriteReply:
        """Record an edit, then let `make` do it; with staging, only record it and wait for a person.

        `make` returns the sentence of the reply.
        """
        if by.actor == "review" and (why := self._too_many(edit, by)) is not None:
            return WriteReply("refused", why)
        staging = self._staging(edit, by)
        if staging is not None:
            return self._stage(edit, by, staging)
        return self._carry_out(self.record(edit, by, "writing"), edit, make)

    def _too_many(self, edit: Edit, by: Provenance) -> str | None:
        """Why a review may not make one more change, in one sentence."""
        written = changes(self.store, kind=edit.kind, session=by.session, limit=_MOST_CHANGES)
        done = [one for one in written if one.state in ("writing", "kept", "staged")]
        if edit.kind == "memory":
            is_removal = edit.action == "remove"
            if sum((one.action == "remove") is is_removal for one in done) >= MOST_NOTES:
                verb = "removed" if is_removal else "written"
                return f"This review has {verb} {MOST_NOTES} entries already, the most that one review may. End here."
            return None
        skills = {(one.folder, one.target) for one in done}
        if (folder_key(edit.folder), edit.target) not in skills and len(skills) >= MOST_SKILLS:
            return f"This review has changed {MOST_SKILLS} skills already, the most that one review may. End here."
        return None

    def _staging(self, edit: Edit, by: Provenance) -> _Staging | None:
        """Why an edit must wait for a person; None if it need not."""
        if by.actor == "person":
            return None
        if self.foreign is not None and edit.after is not None:
            before = "" if edit.before is None else edit.before.decode("utf-8", "replace")
            found = self.foreign.find(edit.after.decode("utf-8", "replace"), before=before)
            if found is not None:
                return _Staging("foreign", found.source, found.sentence)
        if edit.kind in self.staged:
            return _Staging("setting")
        page = None if self.foreign is None or not self.stage_pages else self.foreign.page
        return None if page is None else _Staging("page", page)

    def accept(self, change: Change, edit: Edit, make: Callable[[], str]) -> WriteReply:
        """Make an edit that is in the journal already; if that fails, the change keeps its state."""
        self.mark(change.id, "writing")
        return self._carry_out(change.id, edit, make, otherwise=change.state)

    def _carry_out(
        self,
        change: int,
        edit: Edit,
        make: Callable[[], str],
        *,
        otherwise: ChangeState = "failed",
    ) -> WriteReply:
        state = otherwise
        try:
            said = make()
            state = "kept"
        except OSError as error:
            raise CannotDo(f"{str(edit.path)!r} cannot be written: {error.strerror or error}.") from error
        finally:
            # Also after an error: while this process lives, no change may stay in the state `writing`.
            self.mark(change, state)
        return WriteReply("kept", said, change)

    def _stage(self, edit: Edit, by: Provenance, staging: _Staging) -> WriteReply:
        digests = {
            "before_digest": "" if edit.before is None else digest(edit.before),
            "after_digest": "" if edit.after is None else digest(edit.after),
        }
        # Without this, every review would propose the same change again until a person decides.
        if self.store.row("learned.waiting_like", {**_place(edit), **digests}) is not None:
            return WriteReply("unchanged", "The same change is already waiting for a person.")
        change = self.record(edit, by, "staged", staging=staging)
        return WriteReply("staged", f"Waiting for a person to accept it (change {change}).", change)

    def record(
        self,
        edit: Edit,
        by: Provenance,
        state: ChangeState,
        *,
        staging: _Staging | None = None,
    ) -> int:
        """Write an edit into the journal before it is made; the id of the change."""
        aside = None
        before = None if edit.before is None else self._redacted(edit.before)
        if edit.before is not None and (before or "").encode() != edit.before:
            # Text with a secret goes into a private file: it can be restored without being in the store.
            aside = self.copy_aside(Path(edit.file or edit.target), edit.before)
        after = None
        # The new text of a skill is in its file; only if it waits must the store hold it.
        if edit.after is not None and (edit.kind == "memory" or state == "staged"):
            after = self._redacted(edit.after)
            if state == "staged" and after.encode() != edit.after:
                raise UsageError("The text holds what looks like a secret, which may not wait in the store. Remove it.")
        values = {
            **msgspec.structs.asdict(by),
            **_place(edit),
            "task": None if by.task is None else self.redactor.head(by.task, _TASK_LENGTH),
            "at": self.clock(),
            "state": state,
            "before": before,
            "before_digest": None if edit.before is None else digest(edit.before),
            "after": after,
            "after_digest": None if edit.after is None else digest(edit.after),
            "aside": None if aside is None else str(aside),
            **self._reasons(staging),
        }
        with self.store.write():
            row = self.store.row("learned.add", values)
        assert row is not None, "an insert that returns its id has a row"
        return int(row["id"])

    def _reasons(self, staging: _Staging | None) -> dict[str, str | None]:
        source = None if staging is None else staging.source
        sentence = None if staging is None else staging.sentence
        return {
            "reason": None if staging is None else staging.reason,
            "foreign_call": None if source is None else source.call_id or None,
            "foreign_tool": None if source is None else self.redactor.head(source.tool, _PREVIEW_LENGTH),
            "foreign_text": None if sentence is None else self.redactor.head(sentence, _FOREIGN_LENGTH),
        }

    def mark(self, change: int, state: ChangeState, *, decided_by: str | None = None) -> None:
        """Give a change its new state, and who decided it if a person did."""
        decided_at = self.clock() if decided_by else None
        params = {"id": change, "state": state, "decided_at": decided_at, "decided_by": decided_by}
        with self.store.write():
            self.store.run("learned.mark", params)

    def settle(
        self, kind: ChangeKind, folder: Path, is_made: Callable[[Change], bool], *, target: str | None = None
    ) -> None:
        """Mark changes whose process died before it could; the files show whether they were made."""
        for row in self.store.rows("learned.unsettled", {"kind": kind, "folder": folder_key(folder)}):
            change = _change(row)
            if target in (None, change.target):
                self.mark(change.id, "kept" if is_made(change) else "failed")

    def copy_aside(self, path: Path, data: bytes) -> Path:
        """A copy of a file's content, with the time in its name; the same content is copied once."""
        mark = digest(data)[:12]
        folder = self.home / _ASIDE
        with suppress(FileNotFoundError):
            for kept in sorted(folder.iterdir()):
                if kept.name.startswith(f"{path.name}.") and kept.name.endswith(mark) and kept.read_bytes() == data:
                    return kept
        to = folder / f"{path.name}.{self._stamp()}.{mark}"
        self.write_file(to, data)
        return to

    def free_aside(self, path: Path) -> Path:
        """An unused path to move a file or folder to."""
        return self.home / _ASIDE / f"{path.name}.{self._stamp()}.{os.urandom(4).hex()}"

    def _stamp(self) -> str:
        return datetime.fromtimestamp(self.clock(), UTC).strftime("%Y%m%dT%H%M%SZ")

    def _redacted(self, data: bytes) -> str:
        return self.redactor.text(data.decode("utf-8", "replace"))


def find(store: Store, change: int) -> Change:
    """The change with this id."""
    row = store.row("learned.by_id", {"id": change})
    if row is None:
        raise NotFound(f"There is no change {change}: `seasoned memory --history` lists them.")
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
    """Changes, newest first; `before` continues a list after the change with that id."""
    params = {"kind": kind, "target": target, "state": state, "session": session, "before": before, "limit": limit}
    return [_change(row) for row in store.rows("learned.list", params)]


def taught_by(store: Store, session: str) -> list[Change]:
    """Everything that a session and its reviews changed, newest first."""
    return [_change(row) for row in store.rows("learned.taught_by", {"session": session})]


def last_change(store: Store, folder: Path, target: str, file: str) -> Change | None:
    """The last change of one file of a skill that is still in force."""
    row = store.row("learned.last", {"folder": folder_key(folder), "target": target, "file": file})
    return None if row is None else _change(row)


def created_by(store: Store, folder: Path, target: str) -> Actor:
    """Who created a skill. A skill without a record was written by a person."""
    row = store.row("learned.creation", {"folder": folder_key(folder), "target": target})
    return "person" if row is None else _change(row).actor


def folder_key(folder: Path) -> str:
    """How the store names a folder: absolute, with links resolved."""
    return str(folder.expanduser().resolve())


def drop(path: Path) -> None:
    """Delete what was moved aside."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def preview(text: str, length: int = _PREVIEW_LENGTH) -> str:
    """The beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"


def _place(edit: Edit) -> dict[str, str]:
    return {
        "kind": edit.kind,
        "folder": folder_key(edit.folder),
        "target": edit.target,
        "file": edit.file,
        "action": edit.action,
    }


def _change(row: sqlite3.Row) -> Change:
    return msgspec.convert(dict(row), Change)
