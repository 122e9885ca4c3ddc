"""Which Python and which files the service needs, so that root can make a copy that no agent can change."""

from __future__ import annotations

import re
import stat
import sys
from collections.abc import Collection, Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import msgspec

import seasoned
from seasoned.errors import CannotDo

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_EXTRAS = re.compile(r"[^\[;]*\[([^\]]*)\]")
_EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)")
_VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
# Where systems keep a Python that only root can change.
_SYSTEM_PYTHONS = tuple(
    Path(folder) / f"python{_VERSION}" for folder in ("/usr/bin", "/usr/local/bin", "/opt/homebrew/bin")
)


class Program(msgspec.Struct, frozen=True):
    """An interpreter, its version, and the files and folders to copy beside it."""

    python: Path
    version: str
    parts: tuple[Path, ...]


def find_program(uid: int, groups: Collection[int]) -> Program:
    """The program as it runs now, with an interpreter that the user cannot change."""
    base = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    python = next((one for one in (base, *_SYSTEM_PYTHONS) if is_out_of_reach(one, uid, groups)), None)
    if python is None:
        raise CannotDo(
            f"The agents could change every Python {_VERSION} found here, or others cannot run it. Install the one of "
            f"your system (for instance `apt install python{_VERSION}-venv`) and try again."
        )
    return Program(python, _VERSION, tuple(_parts()))


def is_out_of_reach(path: Path, uid: int, groups: Collection[int]) -> bool:
    """Whether everyone can run a file and this user can change neither it nor the folders that lead to it."""
    try:
        real = path.resolve(strict=True)
        states = [one.stat() for one in (real, *real.parents)]
    except OSError:
        return False
    return all(_is_kept(state, uid, groups) for state in states)


def _is_kept(state: object, uid: int, groups: Collection[int]) -> bool:
    mode, owner, group = (getattr(state, name) for name in ("st_mode", "st_uid", "st_gid"))
    changes = owner == uid or (mode & stat.S_IWGRP and group in groups) or mode & stat.S_IWOTH
    return not changes and bool(mode & stat.S_IXOTH)


def _parts() -> Iterator[Path]:
    """The package itself, and the files of every distribution that the server needs."""
    yield Path(seasoned.__file__).parent
    made: set[Path] = set()
    for each in _needed("seasoned", "server"):
        root = Path(str(each.locate_file("")))
        names = {file.parts[0] for file in each.files or () if len(file.parts) > 1 or file.suffix in (".py", ".so")}
        # `..` leads to scripts, and a .pth file into the folder of a checkout.
        names -= {"..", "__pycache__", "seasoned"}
        made |= {root / name for name in names if not name.endswith(".pth")}
    yield from sorted(one for one in made if one.exists())


def _needed(name: str, extra: str) -> Iterable[Distribution]:
    """A distribution and all that it requires, each once; what is not installed is not needed here."""
    found: dict[str, Distribution] = {}
    seen: set[tuple[str, str]] = set()
    waiting = [(name, extra)]
    while waiting:
        wanted, chosen = waiting.pop()
        key = re.sub(r"[-_.]+", "-", wanted).lower()
        if (key, chosen) in seen:
            continue
        seen.add((key, chosen))
        try:
            found[key] = distribution(wanted)
        except PackageNotFoundError:
            continue
        for line in found[key].requires or ():
            condition, named = _EXTRA.search(line), _NAME.match(line)
            if named is None or (condition is not None and condition[1] != chosen):
                continue
            extras = _EXTRAS.match(line)
            waiting += [(named[0], one.strip()) for one in ("", *(extras[1].split(",") if extras else ()))]
    return found.values()
