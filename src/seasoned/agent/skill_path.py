"""Names and paths of skills: what may be asked for, and what a folder really holds. Links are never followed."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from seasoned.errors import CannotDo, UsageError

MAIN = "SKILL.md"
SUPPORT = ("references", "templates", "scripts", "assets")
NAME_LENGTH = 64
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*\Z")
_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*\Z")
_PART_LENGTH = 100
_DEPTH = 5
_DEVICES = frozenset(
    ("con", "prn", "aux", "nul", "clock$", *[f"{port}{digit}" for port in ("com", "lpt") for digit in range(10)])
)


def check_name(name: str, what: str = "skill") -> str:
    """The name of a skill or category, if it may be one."""
    if len(name) > NAME_LENGTH or not _NAME.match(name) or not _is_portable(name):
        raise UsageError(
            f"{name[:80]!r} cannot name a {what}: use small letters, figures, '.', '_' and '-', a letter or figure "
            f"first, {NAME_LENGTH} at most."
        )
    return name


def check_support(path: str) -> str:
    """The path of a support file inside its skill, if something may be written there."""
    parts = path.split("/")
    if len(parts) < 2 or parts[0] not in SUPPORT:
        raise UsageError(
            f"{path[:80]!r} is no place for a support file: use {', '.join(f'{one}/…' for one in SUPPORT)}."
        )
    if len(parts) > _DEPTH or not all(
        len(part) <= _PART_LENGTH and _PART.match(part) and _is_portable(part) for part in parts
    ):
        raise UsageError(
            f"{path[:80]!r} cannot name a support file: use letters, figures, '.', '_' and '-' between the slashes, "
            f"{_DEPTH} parts at most."
        )
    return path


def _is_portable(part: str) -> bool:
    """Whether Windows would take it for a file of that name too."""
    return not part.endswith(".") and part.split(".")[0].lower() not in _DEVICES


def inside(folder: Path, path: str) -> Path:
    """The place of a file below a folder, none of whose parts is a link."""
    place = folder
    parts = path.split("/")
    for number, part in enumerate(parts, start=1):
        place = place / part
        try:
            mode = place.lstat().st_mode
        except FileNotFoundError:
            continue
        except OSError as error:
            raise CannotDo(f"{str(place)!r} cannot be looked at: {error.strerror or error}.") from error
        expected = stat.S_ISREG(mode) if number == len(parts) else stat.S_ISDIR(mode)
        if not expected:
            raise UsageError(f"{path!r} leads over {part!r}, which is a link or of another kind: it is not followed.")
    return place


def check_spelling(folder: Path, path: str) -> None:
    """Refuse a path that some systems would take for another one that is there: `A.md` and `a.md`."""
    place = folder
    for part in path.split("/"):
        if not place.is_dir():
            return
        other = next((n for one in place.iterdir() if (n := one.name) != part and n.lower() == part.lower()), None)
        if other is not None:
            raise UsageError(f"{path!r} is there in another spelling, {other!r}: use that one.")
        place = place / part


def files(skill: Path) -> Iterator[str]:
    """The support files of a skill in order, by their paths inside it; links and hidden files are left out."""
    for name in SUPPORT:
        yield from _below(skill / name, name, _DEPTH)


def _below(folder: Path, path: str, depth: int) -> Iterator[str]:
    try:
        found = sorted(os.scandir(folder), key=lambda entry: entry.name) if not folder.is_symlink() else []
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise CannotDo(f"{str(folder)!r} cannot be read: {error.strerror or error}.") from error
    for entry in found:
        if entry.name.startswith("."):
            continue
        if entry.is_file(follow_symlinks=False):
            yield f"{path}/{entry.name}"
        elif entry.is_dir(follow_symlinks=False) and depth > 1:
            yield from _below(folder / entry.name, f"{path}/{entry.name}", depth - 1)
