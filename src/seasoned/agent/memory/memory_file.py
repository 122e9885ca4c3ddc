"""Memory: notes and facts about the user, in two small files that people can read and edit.

Entries are separated by a line `§`, as in Hermes, so that both programs can share the files.
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
    ChangeJournal,
    Edit,
    MemoryName,
    Provenance,
    WriteReply,
    preview,
    replies,
)
from seasoned.agent.memory.screen import objection
from seasoned.atomic_write import digest, make_private_folder
from seasoned.errors import CannotDo, NotFound, UsageError
from seasoned.redact import Redactor
from seasoned.text import plural

SEPARATOR = "\n§\n"
# A file this many times larger than its limit was not written by us.
_FAR = 2
_HEADINGS: dict[MemoryName, str] = {"notes": "Notes from earlier sessions", "user": "What is known of the user"}
_NAMES: dict[MemoryName, str] = {"notes": "The notes file", "user": "The user file"}


class MemoryFile(msgspec.Struct, frozen=True):
    """One memory file as it is now. A damaged one has a problem and is not written to."""

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
        entries = plural(len(self.entries), "entry", "entries")
        return f"{entries}, {self.size:,} of {self.limit:,} characters"


def joined(entries: Sequence[str]) -> str:
    """Entries as the text of a file."""
    return SEPARATOR.join(entries)


def read(folder: Path, which: MemoryName, *, limit: int) -> MemoryFile:
    """A memory file; one that does not exist has no entries."""
    path = folder / FILES[which]
    # An atomic write would replace the link, and the file that it points to would stay as it is.
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
        return f"it has {len(text):,} characters, and {limit:,} are allowed"
    # Writing the entries back must lose nothing but blanks; otherwise the file was not read as it was meant.
    if any(_separates(entry) for entry in entries) or text.split() != joined(entries).split():
        return "its entries are not separated correctly (a line `§` between two entries, and nowhere else)"
    return None


def _separates(entry: str) -> bool:
    return any(line.strip() == "§" for line in entry.split("\n"))


@replies
def add(journal: ChangeJournal, which: MemoryName, text: str, *, by: Provenance) -> WriteReply:
    """Add an entry."""
    return _write(journal, which, "add", None, _entry(text), by)


@replies
def replace(journal: ChangeJournal, which: MemoryName, piece: str, text: str, *, by: Provenance) -> WriteReply:
    """Replace the one entry that contains `piece`."""
    return _write(journal, which, "replace", piece, _entry(text), by)


@replies
def remove(journal: ChangeJournal, which: MemoryName, piece: str, *, by: Provenance) -> WriteReply:
    """Remove the one entry that contains `piece`."""
    return _write(journal, which, "remove", piece, None, by)


def import_entries(journal: ChangeJournal, folder: Path, *, by: Provenance) -> list[tuple[str, WriteReply]]:
    """Add the entries of another folder's memory, such as that of Hermes; each entry with its reply."""
    found = [read(folder, which, limit=journal.limit(which)) for which in FILES]
    for memory in found:
        if memory.problem:
            raise CannotDo(f"{str(memory.path)!r} is damaged: {memory.problem}. Fix it and try again.")
    if not any(memory.entries for memory in found):
        raise NotFound(f"There are no memories in {str(folder)!r}: name the folder that holds MEMORY.md or USER.md.")
    return [(entry, add(journal, memory.which, entry, by=by)) for memory in found for entry in memory.entries]


def frozen(
    folder: Path, *, redactor: Redactor | None = None, notes_limit: int = NOTES_LIMIT, user_limit: int = USER_LIMIT
) -> str:
    """Memory as text for a prompt, the same for the same files; a redactor leaves out entries that may not be kept."""
    limits: dict[MemoryName, int] = {"notes": notes_limit, "user": user_limit}
    parts = []
    for which in FILES:
        memory = read(folder, which, limit=limits[which])
        entries = [entry for entry in memory.entries if redactor is None or _is_fit(redactor, which, entry)]
        left_out = len(memory.entries) - len(entries)
        # Further lines are indented, so that a part of an entry cannot pass for another entry.
        lines = [f"- {entry.replace(chr(10), chr(10) + '  ')}" for entry in entries]
        if memory.problem:
            lines = ["(This file is damaged and was left out. Tell the user; do not write to it.)"]
        elif left_out:
            lines.append(f"({plural(left_out, 'entry', 'entries')} left out: a person should look at {FILES[which]}.)")
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
        raise UsageError("A line `§` separates entries: add each entry by itself.")
    return entry


def _write(
    journal: ChangeJournal,
    which: MemoryName,
    action: ChangeAction,
    piece: str | None,
    entry: str | None,
    by: Provenance,
) -> WriteReply:
    if which not in FILES:
        raise UsageError(f"There is no memory {which!r}: use 'notes' or 'user'.")
    if entry is not None and (why := objection(journal.redactor, entry, personal=which == "user")):
        return WriteReply("refused", f"Not kept. {why}")
    folder = journal.memory_folder
    with journal.memory_lock(folder, which):
        # Read under the lock: another agent may be writing the same file.
        memory = _writable(journal, folder, which)
        _settle(journal, folder, which, memory)
        if entry is not None and entry in memory.entries:
            return WriteReply("unchanged", f"{_NAMES[which]} has this entry already ({memory.fill}).")
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
        return journal.commit(edit, by, lambda _: _save(journal, memory, entries))


def apply_edit(journal: ChangeJournal, change: Change, edit: Edit) -> WriteReply:
    """Make an edit that was recorded before: one that waited, or the reverse of one that is undone."""
    which: MemoryName = "user" if edit.target == "user" else "notes"
    with journal.memory_lock(edit.folder, which):
        memory = _writable(journal, edit.folder, which)
        entries = edited(memory, edit)
        return journal.accept(change, edit, lambda _: _save(journal, memory, entries))


def reverse(edit: Edit) -> Edit:
    """The edit that undoes another one."""
    action = {"add": "remove", "remove": "add"}.get(edit.action, edit.action)
    return msgspec.structs.replace(edit, action=action, before=edit.after, after=edit.before)


def edited(memory: MemoryFile, edit: Edit) -> list[str]:
    """The entries after an edit; UsageError if they are too long or an entry is gone."""
    entries = list(memory.entries)
    old = None if edit.before is None else edit.before.decode()
    new = None if edit.after is None else edit.after.decode()
    if old is not None and old not in entries:
        raise UsageError(f"The entry {preview(old)!r} is no longer there: read the memory again.")
    if new is not None and new in entries:
        raise UsageError(f"{_NAMES[memory.which]} has {preview(new)!r} already.")
    if old is None and new is not None:
        entries.append(new)
    elif old is not None:
        at = entries.index(old)
        entries[at : at + 1] = [] if new is None else [new]
    size = len(joined(entries))
    # A file that is too long already may always become shorter.
    if size > memory.limit and size >= memory.size:
        raise UsageError(
            f"Memory is full: {memory.size:,} of {memory.limit:,} characters, and this would make it {size:,}. "
            f"Replace or remove an entry first, or say it shorter. It holds: {_listed(memory.entries)}"
        )
    return entries


def _save(journal: ChangeJournal, memory: MemoryFile, entries: list[str]) -> str:
    journal.write_file(memory.path, joined(entries).encode())
    now = msgspec.structs.replace(memory, entries=tuple(entries))
    return f"Kept. {_NAMES[memory.which]} now has {now.fill}."


def _writable(journal: ChangeJournal, folder: Path, which: MemoryName) -> MemoryFile:
    make_private_folder(folder)
    memory = read(folder, which, limit=journal.limit(which))
    if memory.problem is None:
        return memory
    copy = journal.copy_aside(memory.path, memory.raw) if memory.raw else None
    kept = f" A copy is {str(copy)!r}." if copy else ""
    raise UsageError(
        f"Nothing was written: {str(memory.path)!r} is damaged ({memory.problem}).{kept} A person must fix it first."
    )


def _settle(journal: ChangeJournal, folder: Path, which: MemoryName, memory: MemoryFile) -> None:
    there = {digest(entry) for entry in memory.entries}

    def is_made(change: Change) -> bool:
        came = change.after_digest is None or change.after_digest in there
        went = change.before_digest is None or change.before_digest not in there
        return came and went

    journal.settle("memory", folder, is_made, target=which)


def _only(memory: MemoryFile, piece: str) -> str:
    """The one entry that contains the piece."""
    if not piece.strip():
        raise UsageError("Say which entry you mean by a piece of its text.")
    # First exactly, then without blanks around the piece, which models often add.
    holding = [entry for entry in memory.entries if piece in entry] or [
        entry for entry in memory.entries if piece.strip() in entry
    ]
    # A piece that is an entire entry is unambiguous, even if longer entries contain it.
    if piece in holding:
        return piece
    if len(holding) == 1:
        return holding[0]
    if holding:
        raise UsageError(f"{piece!r} is in {len(holding)} entries, give more of the one: {_listed(holding)}")
    if not memory.entries:
        raise NotFound(f"{_NAMES[memory.which]} is empty.")
    raise NotFound(f"No entry contains {preview(piece)!r}. There are: {_listed(memory.entries)}")


def _listed(entries: Sequence[str]) -> str:
    return "; ".join(repr(preview(entry)) for entry in entries)
