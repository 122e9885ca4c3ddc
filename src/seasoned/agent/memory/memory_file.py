"""Memory: notes and what is known of the user, two small files that a person can read and mend.

Entries are kept apart by a line `§`, as Hermes does, so that its files can be read and shared.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from seasoned.agent.memory.journal import (
    FILES,
    NOTES_LIMIT,
    USER_LIMIT,
    Change,
    ChangeAction,
    ChangeState,
    Edit,
    Journal,
    MemoryName,
    Provenance,
    WriteReply,
    copy_aside,
    mark,
    number,
    preview,
    record,
    replies,
    stage,
    unsettled,
)
from seasoned.agent.memory.screen import objection
from seasoned.atomic_write import digest, make_private_folder, write_atomic
from seasoned.errors import CannotDo, NotFound, UsageError
from seasoned.redact import Redactor

SEPARATOR = "\n§\n"
# A file so many times as large as its limit was not written by any of us.
_FAR = 2
_HEADINGS: dict[MemoryName, str] = {"notes": "Notes from earlier sessions", "user": "What is known of the user"}
_NAMES: dict[MemoryName, str] = {"notes": "The notes", "user": "The memory of the user"}


class MemoryFile(msgspec.Struct, frozen=True):
    """One file of memory as it is now. A damaged one has a problem and is not written to."""

    which: MemoryName
    path: Path
    entries: tuple[str, ...]
    limit: int
    raw: bytes = b""
    problem: str | None = None

    @property
    def size(self) -> int:
        return len(joined(self.entries))

    @property
    def fill(self) -> str:
        entries = number(len(self.entries), "entry", "entries")
        return f"{entries}, {self.size:,} of {self.limit:,} characters"


def joined(entries: Sequence[str]) -> str:
    """Entries as they stand in a file."""
    return SEPARATOR.join(entries)


def read(folder: Path, which: MemoryName, *, limit: int) -> MemoryFile:
    """A file of memory; one that does not exist has no entries."""
    path = folder / FILES[which]
    if path.is_symlink():
        return MemoryFile(which, path, (), limit, problem="it is a link: put the file itself there, or set the folder")
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return MemoryFile(which, path, (), limit)
    except OSError as error:
        return MemoryFile(which, path, (), limit, problem=f"it cannot be read ({error.strerror or error})")
    try:
        text = raw.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        return MemoryFile(which, path, (), limit, raw, f"it is not UTF-8 (byte {error.start:,})")
    entries = tuple(entry for part in text.split(SEPARATOR) if (entry := part.strip()))
    return MemoryFile(which, path, entries, limit, raw, _problem(text, entries, limit))


def _problem(text: str, entries: tuple[str, ...], limit: int) -> str | None:
    if "\0" in text:
        return "it holds NUL characters"
    if len(text) > _FAR * limit:
        return f"it has {len(text):,} characters where {limit:,} are allowed"
    if any(_separates(entry) for entry in entries) or text.split() != joined(entries).split():
        return "its entries are not kept apart as they should be (a line `§` between two entries, and none elsewhere)"
    return None


def _separates(entry: str) -> bool:
    return any(line.strip() == "§" for line in entry.split("\n"))


@replies
def add(journal: Journal, which: MemoryName, text: str, *, by: Provenance) -> WriteReply:
    """Keep one more entry."""
    return _write(journal, which, "add", None, _entry(text), by)


@replies
def replace(journal: Journal, which: MemoryName, piece: str, text: str, *, by: Provenance) -> WriteReply:
    """Put a new text in the place of the one entry that holds the piece."""
    return _write(journal, which, "replace", piece, _entry(text), by)


@replies
def remove(journal: Journal, which: MemoryName, piece: str, *, by: Provenance) -> WriteReply:
    """Drop the one entry that holds the piece."""
    return _write(journal, which, "remove", piece, None, by)


def import_entries(journal: Journal, folder: Path, *, by: Provenance) -> list[tuple[str, WriteReply]]:
    """Take over the entries of another folder's memory, Hermes' for one; each with what became of it."""
    found = [read(folder, which, limit=journal.limit(which)) for which in FILES]
    for memory in found:
        if memory.problem:
            raise CannotDo(f"{str(memory.path)!r} is damaged: {memory.problem}. Mend it, then try again.")
    if not any(memory.entries for memory in found):
        raise NotFound(f"There are no memories in {str(folder)!r}: name the folder that holds MEMORY.md or USER.md.")
    return [(entry, add(journal, memory.which, entry, by=by)) for memory in found for entry in memory.entries]


def frozen(
    folder: Path, *, redactor: Redactor | None = None, notes_limit: int = NOTES_LIMIT, user_limit: int = USER_LIMIT
) -> str:
    """Memory as text for a prompt, the same for the same files; given a redactor, what may not be kept is left out."""
    limits: dict[MemoryName, int] = {"notes": notes_limit, "user": user_limit}
    parts = []
    for which in FILES:
        memory = read(folder, which, limit=limits[which])
        entries = [entry for entry in memory.entries if redactor is None or _is_fit(redactor, which, entry)]
        left_out = len(memory.entries) - len(entries)
        lines = [f"- {entry.replace(chr(10), chr(10) + '  ')}" for entry in entries]
        if memory.problem:
            lines = ["(This file is damaged and was left out. Tell the user; do not write to it.)"]
        elif left_out:
            lines.append(f"({number(left_out, 'entry', 'entries')} left out: a person should look at {FILES[which]}.)")
        if lines:
            parts.append("\n".join([f"## {_HEADINGS[which]} ({memory.fill})", *lines]))
    return "\n\n".join(parts)


def _is_fit(redactor: Redactor, which: MemoryName, entry: str) -> bool:
    return objection(redactor, entry, personal=which == "user") is None


def _entry(text: str) -> str:
    entry = text.replace("\r\n", "\n").strip()
    if not entry:
        raise UsageError("There is no text to keep: say what to remember, in a sentence or two.")
    if _separates(entry):
        raise UsageError("A line `§` keeps entries apart: keep each entry by itself.")
    return entry


def _write(
    journal: Journal, which: MemoryName, action: ChangeAction, piece: str | None, entry: str | None, by: Provenance
) -> WriteReply:
    if which not in FILES:
        raise UsageError(f"There is no memory {which!r}: it is 'notes' or 'user'.")
    if entry is not None and (why := objection(journal.redactor, entry, personal=which == "user")):
        return WriteReply("refused", f"Not kept. {why}")
    folder = journal.memory_folder
    with journal.memory_lock(folder, which):
        memory = _writable(journal, folder, which)
        _settle(journal, folder, which, memory)
        if entry is not None and entry in memory.entries:
            return WriteReply("unchanged", f"{_NAMES[which]} hold{_s(which)} this already ({memory.fill}).")
        edit = Edit(
            kind="memory",
            folder=folder,
            target=which,
            file=FILES[which],
            action=action,
            before=None if piece is None else _only(memory, piece).encode(),
            after=None if entry is None else entry.encode(),
        )
        entries = edited(memory, edit)
        if journal.staging and by.actor != "person":
            return stage(journal, edit, by)
        change = record(journal, edit, by, "writing")
        return _make(journal, memory, entries, change)


def carry_out(journal: Journal, change: Change, edit: Edit) -> WriteReply:
    """Make an edit that was written down before: one that waited, or the reverse of one that is undone."""
    which: MemoryName = "user" if edit.target == "user" else "notes"
    with journal.memory_lock(edit.folder, which):
        memory = _writable(journal, edit.folder, which)
        entries = edited(memory, edit)
        mark(journal.store, change.id, "writing")
        return _make(journal, memory, entries, change.id, otherwise=change.state)


def reverse(edit: Edit) -> Edit:
    """The edit that takes another one back."""
    action = {"add": "remove", "remove": "add"}.get(edit.action, edit.action)
    return msgspec.structs.replace(edit, action=action, before=edit.after, after=edit.before)


def edited(memory: MemoryFile, edit: Edit) -> list[str]:
    """The entries after an edit; too many characters, or an entry that is gone, is refused."""
    entries = list(memory.entries)
    old = None if edit.before is None else edit.before.decode()
    new = None if edit.after is None else edit.after.decode()
    if old is not None and old not in entries:
        raise UsageError(f"The entry {preview(old)!r} is no longer there: look at the memory again.")
    if new is not None and new in entries:
        raise UsageError(f"{_NAMES[memory.which]} hold{_s(memory.which)} {preview(new)!r} already.")
    if old is None and new is not None:
        entries.append(new)
    elif old is not None:
        at = entries.index(old)
        entries[at : at + 1] = [] if new is None else [new]
    size = len(joined(entries))
    if size > memory.limit and size >= memory.size:
        raise UsageError(
            f"Memory is full: {memory.size:,} of {memory.limit:,} characters, and this would make it {size:,}; "
            f"replace or remove an entry first, or say it shorter. It holds: {_listed(memory.entries)}"
        )
    return entries


def _make(
    journal: Journal, memory: MemoryFile, entries: list[str], change: int, *, otherwise: ChangeState = "failed"
) -> WriteReply:
    data = joined(entries).encode()
    try:
        write_atomic(memory.path, data, unfinished=journal.unfinished)
    except OSError as error:
        mark(journal.store, change, otherwise)
        raise CannotDo(f"{str(memory.path)!r} cannot be written: {error.strerror or error}.") from error
    mark(journal.store, change, "kept")
    now = msgspec.structs.replace(memory, entries=tuple(entries))
    return WriteReply("kept", f"Kept. {_NAMES[memory.which]} now hold{_s(memory.which)} {now.fill}.", change)


def _writable(journal: Journal, folder: Path, which: MemoryName) -> MemoryFile:
    make_private_folder(folder)
    memory = read(folder, which, limit=journal.limit(which))
    if memory.problem is None:
        return memory
    copy = copy_aside(journal.home, memory.path, memory.raw, now=journal.clock()) if memory.raw else None
    kept = f" A copy is {str(copy)!r}." if copy else ""
    raise UsageError(
        f"Nothing was written: {str(memory.path)!r} is damaged ({memory.problem}).{kept} A person must mend it first."
    )


def _settle(journal: Journal, folder: Path, which: MemoryName, memory: MemoryFile) -> None:
    """Say of changes whose process died whether they were made: the file knows."""
    there = {digest(entry) for entry in memory.entries}
    for change in unsettled(journal.store, "memory", folder):
        if change.target != which:
            continue
        came = change.after_digest is None or change.after_digest in there
        went = change.before_digest is None or change.before_digest not in there
        mark(journal.store, change.id, "kept" if came and went else "failed")


def _only(memory: MemoryFile, piece: str) -> str:
    """The one entry that holds the piece."""
    if not piece.strip():
        raise UsageError("Say which entry is meant by a piece of its text.")
    holding = [entry for entry in memory.entries if piece in entry] or [
        entry for entry in memory.entries if piece.strip() in entry
    ]
    if piece in holding:
        return piece
    if len(holding) == 1:
        return holding[0]
    if holding:
        raise UsageError(f"{piece!r} is in {len(holding)} entries, give more of the one: {_listed(holding)}")
    if not memory.entries:
        raise NotFound(f"{_NAMES[memory.which]} hold{_s(memory.which)} nothing yet.")
    raise NotFound(f"No entry holds {preview(piece)!r}. There are: {_listed(memory.entries)}")


def _listed(entries: Sequence[str]) -> str:
    return "; ".join(repr(preview(entry)) for entry in entries)


def _s(which: MemoryName) -> str:
    return "" if which == "notes" else "s"
