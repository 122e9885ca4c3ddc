"""Provenance: who changed memory or a skill, in which session, by which call, and what was there before."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Literal

import msgspec

from seasoned.agent.desk import Desk, folder_key
from seasoned.agent.keep_aside import copy_aside
from seasoned.agent.reply import Reply
from seasoned.agent.whole import digest
from seasoned.errors import CannotDo, NotFound, UsageError
from seasoned.store import Store

Actor = Literal["person", "agent", "review"]
Origin = Literal["chat", "review", "person", "import"]
Kind = Literal["memory", "skill"]
Action = Literal["add", "replace", "remove", "create", "patch", "write_file", "remove_file", "delete"]
State = Literal["writing", "kept", "staged", "rejected", "undone", "failed"]
_TASK_LENGTH = 200


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """Who writes, and where it comes from."""

    actor: Actor
    origin: Origin
    session: str | None = None
    """`agent:native id`, as everywhere."""
    parent: str | None = None
    platform: str | None = None
    tool: str | None = None
    call_id: str | None = None
    task: str | None = None


PERSON = Provenance(actor="person", origin="person", platform="cli")


class Edit(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done: which text goes and which one comes. None is no text at all."""

    kind: Kind
    folder: Path
    target: str
    """`notes`, `user`, or the name of a skill with its category."""
    file: str
    action: Action
    before: bytes | None = None
    after: bytes | None = None


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """An edit that was made, waits, or was taken back: a row of the store."""

    id: int
    kind: Kind
    folder: str
    target: str
    file: str
    action: Action
    actor: Actor
    origin: Origin
    session: str | None
    parent: str | None
    platform: str | None
    tool: str | None
    call_id: str | None
    task: str | None
    at: float
    state: State
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


def record(desk: Desk, edit: Edit, by: Provenance, state: State, *, aside: Path | None = None) -> int:
    """Write down an edit before it is made. Secrets of the text before go into a private file, not into the store."""
    now = desk.clock()
    before = None if edit.before is None or aside is not None else _shown(desk, edit.before)
    if aside is None and edit.before is not None and (before or "").encode() != edit.before:
        aside = copy_aside(desk.home, Path(edit.file or edit.target), edit.before, now=now)
    after = None
    if edit.after is not None and (edit.kind == "memory" or state == "staged"):
        after = _shown(desk, edit.after)
        if state == "staged" and after.encode() != edit.after:
            raise UsageError(
                "The text holds something that looks like a secret, which cannot wait in the store: leave it out."
            )
    with desk.store.write():
        row = desk.store.row(
            "learned.add",
            {
                **msgspec.structs.asdict(by),
                "task": None if by.task is None else desk.redactor.head(by.task, _TASK_LENGTH),
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


def stage(desk: Desk, edit: Edit, by: Provenance) -> Reply:
    """Let an edit wait until a person accepts or rejects it."""
    if waits_already(desk.store, edit):
        return Reply("unchanged", "The same change waits for a person already.")
    change = record(desk, edit, by, "staged")
    return Reply("staged", f"Waits for a person to accept it (change {change}).", change)


def mark(store: Store, change: int, state: State, *, now: float | None = None, decided_by: str | None = None) -> None:
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
    kind: Kind | None = None,
    target: str | None = None,
    state: State | None = None,
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


def unsettled(store: Store, kind: Kind, folder: Path) -> list[Change]:
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


def _shown(desk: Desk, data: bytes) -> str:
    return desk.redactor.text(data.decode("utf-8", "replace"))


def _exact(text: str, expected: str | None, change: int) -> bytes:
    if digest(text) != expected:
        raise CannotDo(f"The text of change {change} is not kept (a secret, or a forgotten session): mend it by hand.")
    return text.encode()
