"""Memory files: notes and facts about the user, in small files that people can read and edit.

Entries are separated by a line `§`, as in Hermes, so that both programs can share the files. What is about the user is
kept in one place for all projects; notes of a project lie in a folder of that project.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from seasoned.digest import short_digest
from seasoned.project import name_of
from seasoned.text import plural

MemoryName = Literal["notes", "user"]
FILES: dict[MemoryName, str] = {"notes": "MEMORY.md", "user": "USER.md"}
# Characters; the same limits as in Hermes, which may use the same files.
NOTES_LIMIT = 2_200
USER_LIMIT = 1_375
LIMITS: dict[MemoryName, int] = {"notes": NOTES_LIMIT, "user": USER_LIMIT}
SEPARATOR = "\n§\n"
# A file this many times larger than its limit was not written by us.
_FAR = 2
PROJECTS = "projects"
# The folder of a project's skills, beside its notes.
SKILLS = "skills"
_NAME_CHARS = 40


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


def project_folder(home: Path, project: str) -> Path:
    """Where what belongs to a project is kept: its MEMORY.md, and the folder `SKILLS`."""
    # The name is for people; the digest keeps projects of one name apart.
    name = "".join(c if c.isalnum() and c.isascii() else "-" for c in name_of(project).lower()).strip("-")
    return home / PROJECTS / f"{name[:_NAME_CHARS] or 'project'}-{short_digest(project)[:10]}"


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
    if any(separates(entry) for entry in entries) or text.split() != joined(entries).split():
        return "its entries are not separated correctly (a line `§` between two entries, and nowhere else)"
    return None


def separates(entry: str) -> bool:
    """Whether a text holds the line that separates entries."""
    return any(line.strip() == "§" for line in entry.split("\n"))
