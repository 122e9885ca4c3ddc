"""Searches a folder for lines or names, in a separate process: a pattern can run forever, a process can be stopped.

Run as a script without the package around it, in the folder to search: a request as JSON in its argument, each find as
a line of JSON, and a last line that says that it came to the end.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from collections.abc import Iterator
from typing import Any

_SKIPPED = frozenset(
    {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".nox"}
    | {".mypy_cache", ".pytest_cache", ".ruff_cache"}
)
_SHOWN = 300
# O_NONBLOCK: a pipe among the files must not stop the search.
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def main() -> int:
    """Run the search that the first argument describes as JSON."""
    request = json.loads(sys.argv[1])
    try:
        finder = re.compile(request["pattern"]) if request["target"] == "content" else glob(request["pattern"])
    except (re.error, OverflowError, RecursionError) as error:
        _say({"problem": f"{request['pattern']!r} is not a valid regular expression: {error}"})
        return 0
    wanted = glob(request["glob"]) if request["glob"] else None
    total = 0
    for path, name, folder in _files(request["only"]):
        if wanted is not None and not wanted.match(path):
            continue
        if request["target"] == "files":
            finds: Iterator[dict[str, Any]] = iter([{}] if finder.match(path) else [])
        else:
            finds = _lines(finder, name, folder, request["file_bytes"])
        for find in finds:
            total += 1
            if total <= request["most"]:
                _say({"path": os.fsencode(path).decode("utf-8", "backslashreplace"), **find})
    _say({"total": total})
    return 0


def _say(value: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    # At once, so that what was found counts even if the search is stopped.
    sys.stdout.flush()


def _files(only: str | None) -> Iterator[tuple[str, str, int]]:
    """Path, name and open folder of every file, in order; links are not followed."""
    if only is not None:
        here = os.open(".", os.O_RDONLY)
        yield only, only, here
        return
    for above, folders, names, opened in os.fwalk(".", follow_symlinks=False):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        for name in sorted(names):
            yield f"{above}/{name}"[2:], name, opened


def _lines(finder: re.Pattern[str], name: str, folder: int, most: int) -> Iterator[dict[str, Any]]:
    try:
        opened = os.open(name, _OPEN, dir_fd=folder)
    except OSError:
        return
    with os.fdopen(opened, "rb") as file:
        found = os.fstat(opened)
        if not stat.S_ISREG(found.st_mode) or found.st_size > most:
            return
        data = file.read(most)
    if b"\0" in data[:8192]:
        return
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), start=1):
        hit = finder.search(line)
        if hit:
            # Minified files have lines of megabytes: only the part around the match is shown.
            start = max(0, hit.start() - _SHOWN // 2) if len(line) > _SHOWN else 0
            yield {"line": number, "content": line[start : start + _SHOWN].rstrip("\r")}


def glob(text: str) -> re.Pattern[str]:
    """`*.py` fits a name in any folder, `src/**/*.py` a path from the folder that is searched."""
    text = text.removeprefix("./")
    if "/" not in text:
        text = f"**/{text}"
    parts: list[str] = []
    at = 0
    while at < len(text):
        if text.startswith("**/", at):
            parts.append("(?:.*/)?")
            at += 3
            continue
        end = text.find("]", at + 2) if text[at] == "[" else -1
        if end > 0:
            inner = text[at + 1 : end].replace("\\", "\\\\").replace("[", "\\[")
            parts.append(f"[{'^' + inner[1:] if inner[0] == '!' else inner}]")
            at = end + 1
            continue
        if text.startswith("**", at):
            parts.append(".*")
            at += 2
            continue
        parts.append({"*": "[^/]*", "?": "[^/]"}.get(text[at]) or re.escape(text[at]))
        at += 1
    return re.compile("".join(parts) + r"\Z", re.DOTALL)


if __name__ == "__main__":
    sys.exit(main())
