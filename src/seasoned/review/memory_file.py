"""Memory: add, replace and remove entries, render memory for a prompt, and list what is kept for each project."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from seasoned.admission import admit
from seasoned.atomic_write import digest, make_private_folder
from seasoned.begin.memory import (
    FILES,
    PROJECTS,
    SKILLS,
    MemoryFile,
    MemoryName,
    joined,
    project_folder,
    read,
    separates,
)
from seasoned.errors import CannotDo, NotFound, UsageError
from seasoned.project import name_of
from seasoned.redact import Redactor
from seasoned.review.journal import (
    Change,
    ChangeAction,
    ChangeJournal,
    Edit,
    Provenance,
    WriteReply,
    folder_key,
    preview,
    replies,
)
from seasoned.review.skill_library import Skill, skills
from seasoned.store import Store
from seasoned.text import plural

_HEADINGS: dict[MemoryName, str] = {"notes": "Notes from earlier sessions", "user": "What is known of the user"}
_OF_PROJECT = "Notes about this project"
_NAMES: dict[MemoryName, str] = {"notes": "The notes file", "user": "The user file"}


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


def render_memory(
    folder: Path,
    *,
    project: Path | None = None,
    redactor: Redactor | None = None,
) -> str:
    """Memory as text for a prompt, the same for the same files; a redactor leaves out entries that may not be kept.

    `project` is the folder with the notes of the session's project.
    """
    found = [(_HEADINGS["notes"], read(folder, "notes"))]
    if project is not None:
        found.append((_OF_PROJECT, read(project, "notes")))
    found.append((_HEADINGS["user"], read(folder, "user")))
    parts = []
    for heading, memory in found:
        which = memory.which
        entries = [entry for entry in memory.entries if redactor is None or _is_fit(redactor, which, entry)]
        left_out = len(memory.entries) - len(entries)
        # Further lines are indented, so that a part of an entry cannot pass for another entry.
        lines = [f"- {entry.replace(chr(10), chr(10) + '  ')}" for entry in entries]
        if memory.problem:
            lines = ["(This file is damaged and was left out. Tell the user; do not write to it.)"]
        elif left_out:
            lines.append(f"({plural(left_out, 'entry', 'entries')} left out: a person should look at {FILES[which]}.)")
        if lines:
            parts.append("\n".join([f"## {heading} ({memory.fill})", *lines]))
    return "\n\n".join(parts)


def _is_fit(redactor: Redactor, which: MemoryName, entry: str) -> bool:
    return bool(admit(redactor, entry, personal=which == "user"))


def _entry(text: str) -> str:
    entry = text.replace("\r\n", "\n").strip()
    if not entry:
        raise UsageError("There is no text to keep: say what to remember, in a sentence or two.")
    if separates(entry):
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
    if entry is not None:
        _check(journal, which, entry)
    folder = _folder(journal, which, piece)
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
            before=None if piece is None else _find_entry(memory, piece).encode(),
            after=None if entry is None else entry.encode(),
        )
        entries = entries_after(memory, edit)
        return journal.commit(edit, by, lambda: _save(journal, memory, entries))


def _check(journal: ChangeJournal, which: MemoryName, entry: str) -> None:
    """Raise UsageError if this entry may not be kept."""
    if not (found := admit(journal.redactor, entry, personal=which == "user")):
        raise UsageError(f"Not kept. {found.why}")


def _folder(journal: ChangeJournal, which: MemoryName, piece: str | None) -> Path:
    """The folder whose file is meant: that of the project for its notes, unless only the general notes hold `piece`."""
    own = journal.notes_folder
    if which == "user" or own is None:
        return journal.memory_folder
    if piece is None or not piece.strip():
        return own
    places = [own, journal.memory_folder]
    held = [one for one in places if piece.strip() in joined(read(one, which).entries)]
    return held[0] if held else own


def apply_edit(journal: ChangeJournal, change: Change, edit: Edit) -> WriteReply:
    """Make an edit that was recorded before: one that waited, or the reverse of one that is undone."""
    which: MemoryName = "user" if edit.target == "user" else "notes"
    if change.state == "staged" and edit.after is not None:
        # What may be kept is decided when it is kept: the rules may have changed while it waited.
        _check(journal, which, edit.after.decode())
    with journal.memory_lock(edit.folder, which):
        memory = _writable(journal, edit.folder, which)
        entries = entries_after(memory, edit)
        return journal.accept(change, edit, lambda: _save(journal, memory, entries))


def reverse(edit: Edit) -> Edit:
    """The edit that undoes another one."""
    action = {"add": "remove", "remove": "add"}.get(edit.action, edit.action)
    return msgspec.structs.replace(edit, action=action, before=edit.after, after=edit.before)


def entries_after(memory: MemoryFile, edit: Edit) -> list[str]:
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
            f"Replace or remove an entry first, or say it shorter. It holds: {_list_entries(memory.entries)}"
        )
    return entries


def _save(journal: ChangeJournal, memory: MemoryFile, entries: list[str]) -> str:
    journal.write_file(memory.path, joined(entries).encode())
    now = msgspec.structs.replace(memory, entries=tuple(entries))
    return f"Kept. {_NAMES[memory.which]} now has {now.fill}."


def _writable(journal: ChangeJournal, folder: Path, which: MemoryName) -> MemoryFile:
    make_private_folder(folder)
    memory = read(folder, which)
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


def _find_entry(memory: MemoryFile, piece: str) -> str:
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
        raise UsageError(f"{piece!r} is in {len(holding)} entries, give more of the one: {_list_entries(holding)}")
    if not memory.entries:
        raise NotFound(f"{_NAMES[memory.which]} is empty.")
    raise NotFound(f"No entry contains {preview(piece)!r}. There are: {_list_entries(memory.entries)}")


def _list_entries(entries: Sequence[str]) -> str:
    return "; ".join(repr(preview(entry)) for entry in entries)


_MOST_PROJECTS = 10_000


class KeptForProject(msgspec.Struct, frozen=True):
    """The notes and skills of one project. Its key is None if no session of it is known any more."""

    key: str | None
    name: str
    folder: Path
    notes: MemoryFile
    skills: tuple[Skill, ...]
    problem: str = ""

    def holds(self, folder: str) -> bool:
        """Whether a folder of the journal is that of this project or of its skills."""
        return folder in (folder_key(self.folder), folder_key(self.folder / SKILLS))


def kept_for_projects(store: Store, home: Path, waiting: Sequence[Change] = ()) -> list[KeptForProject]:
    """Every project for which something is kept, or waits to be."""
    top = home / PROJECTS
    try:
        folders = {one for one in top.iterdir() if one.is_dir()}
    except FileNotFoundError:
        folders = set()
    # The folder of a project is made when something is kept there.
    places = [Path(one.folder) for one in waiting]
    folders |= {top / one.relative_to(top.resolve()).parts[0] for one in places if top.resolve() in one.parents}
    # A folder is named by a digest, so what it belongs to is known from the projects.
    keys = [row["project"] for row in store.rows("project.keys", {"limit": _MOST_PROJECTS})]
    keys += [row["key"] for row in store.rows("project.merges")]
    known = {project_folder(home, key).name: key for key in keys}
    found = [_kept(folder, known.get(folder.name)) for folder in folders]
    return sorted(found, key=lambda one: (one.name.lower(), one.folder.name))


def _kept(folder: Path, key: str | None) -> KeptForProject:
    notes = read(folder, "notes")
    name = folder.name.rpartition("-")[0] if key is None else name_of(key)
    try:
        return KeptForProject(key, name, folder, notes, tuple(skills(folder / SKILLS)))
    except (CannotDo, UsageError) as error:
        return KeptForProject(key, name, folder, notes, (), str(error))
