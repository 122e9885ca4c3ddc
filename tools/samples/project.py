"""The invented project: a parcel-tracking service with a Python backend, a page in TypeScript and a tool in Go."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from samples.story import Atlas, Call, Edit, Find, Other, Plan, Poll, Read, Shell, Write

FILES_FOLDER = Path(__file__).parent / "files"


class Project:
    """The files as they are at this moment of the stories; edits stay."""

    def __init__(self) -> None:
        self.files = {
            path.relative_to(FILES_FOLDER).as_posix().removesuffix(".txt"): path.read_text(encoding="utf-8")
            for path in sorted(FILES_FOLDER.rglob("*.txt"))
        }

    def matches(self, text: str, under: str) -> list[tuple[str, int, str]]:
        """Path, line number and line of every place where the text stands."""
        found = []
        for path, content in self.files.items():
            if path == under or path.startswith(under.rstrip("/") + "/") or not under:
                found += [(path, n, line) for n, line in enumerate(content.splitlines(), 1) if text in line]
        return found

    def has(self, path: str) -> bool:
        """Whether there is such a file or folder."""
        return not path or path in self.files or any(name.startswith(path.rstrip("/") + "/") for name in self.files)


@dataclass(frozen=True)
class Effect:
    """What came of a call, before an agent's harness puts it into its own words."""

    failed: bool
    text: str = ""
    matches: tuple[tuple[str, int, str], ...] = ()
    total: int = 0
    """Lines of the whole file."""


def perform(call: Call, project: Project) -> Effect:
    """Carry a call out on the project. A call that was declined or cancelled changes nothing."""
    if call.fate in ("declined", "cancelled"):
        return Effect(True)
    match call:
        case Shell():
            return Effect(call.code != 0 and not call.benign, call.output)
        case Poll():
            return Effect(False, call.output)
        case Read():
            return _read(call, project)
        case Find():
            found = tuple(project.matches(call.text, call.path))
            return Effect(not project.has(call.path), matches=found)
        case Edit():
            return _edit(call, project)
        case Write():
            project.files[call.path] = call.content
            return Effect(False, call.content)
        case Atlas():
            return Effect(not call.path.startswith("ws/"), "\n".join(call.hits))
        case Other():
            return Effect(call.failed)
        case Plan():
            return Effect(False)
    raise TypeError(call)


def _read(call: Read, project: Project) -> Effect:
    if call.path not in project.files:
        return Effect(True)
    lines = project.files[call.path].splitlines()
    last = len(lines) if call.limit is None else call.first - 1 + call.limit
    return Effect(False, "\n".join(lines[call.first - 1 : last]), total=len(lines))


def _edit(call: Edit, project: Project) -> Effect:
    content = project.files[call.path]
    count = content.count(call.old)
    expected = {"": 1, "unread": 1, "absent": 0, "twice": 2}[call.problem]
    if count != expected:
        raise ValueError(f"{call.path}: {call.old!r} stands there {count} times, the story says {expected}")
    if call.problem:
        return Effect(True)
    project.files[call.path] = content.replace(call.old, call.new)
    before = content[: content.index(call.old)].count("\n") + 1
    return Effect(False, call.new, total=before)
