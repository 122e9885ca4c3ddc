"""The kinds of calls and failures, the same for what sessions did and for what hooks ask about."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from seasoned.command.parse import names
from seasoned.command.risk import only_looks
from seasoned.command.tool import same_tool
from seasoned.command.written import WrittenCommand, written
from seasoned.lazy_regex import LazyRegex
from seasoned.lesson.failure.signature import signature_of_text
from seasoned.project import normal_path, without_worktree

# Commands that prepare or show something, and are not typical of a project.
_SCENERY = names(
    "cd pushd popd echo printf export set unset sleep true false : pwd source . test [ [[ wait mkdir which type command"
    " read return exit local declare trap date cp mv rm rmdir touch ln chmod chown kill pkill ps lsof tee xargs curl"
    " wget open code vim nano clear history env printenv alias hash ulimit id whoami uname hostname sed awk python -"
)
ASIDE = names("cd echo printf export set sleep true : pwd source . mkdir tail head grep rg sed awk wc sort cat ls")

# Errors of editing tools that name their remedy.
_ADVISES = LazyRegex(r"(?i)\bread (?:it|the file|this file) (?:first|again)\b|\bdid you mean\b|to replace all occ")
# The two mistakes that editing tools of all agents report, each in its own words.
_EDIT_ERRORS = {
    "several places": LazyRegex(
        r"(?i)\b(?:[2-9]|[1-9]\d+|multiple|several) (?:matches|occurrences)\b|not unique|more than once"
        r"|occurs \d+ times|must be unique"
    ),
    "not in the file": LazyRegex(
        r"(?i)\b(?:0|no) (?:matches|match|occurrences)\b|(?:string|text|old_?str\w*|search block|content)\b.{0,60}"
        r"\b(?:not found|not in|does not match|did not appear|is not in)|could ?n[o']t find|did not find|no replacement"
    ),
}
# Whatever the agent, such an error says that the text of the edit is not that of the file.
_TEXT_DIFFERS = LazyRegex(r"(?i)\b(?:read|found|find|match\w*|modified|occur\w*|unique|appear\w*)\b|\bnot in\b")


def is_about_text(error: str) -> bool:
    """Whether an edit failed because of what the file holds, so that reading it helps."""
    return _TEXT_DIFFERS.compiled.search(error[:600]) is not None


def is_working(one: WrittenCommand) -> bool:
    """Whether a command does work in the project, rather than look, prepare or filter."""
    if not one.form or one.join == "|" or one.program in _SCENERY:
        return False
    if one.form.endswith((" -", " -c", " -e")) or "$" in one.form or "*" in one.form:
        return False
    sub = one.form.split()[-1]
    return not only_looks(one.program, sub) and any(c.isalnum() for c in one.program)


def with_places(
    command: str, folder: str | None, workdir: str | None = None
) -> Iterator[tuple[WrittenCommand, str | None]]:
    """The commands of a command line, each with the folder it runs in: a path in the project, empty for its top.

    None means another place, or an unknown one.
    """
    place: str | None = "" if not workdir else _place("", workdir, folder)
    for one in written(command):
        if one.program in ("cd", "pushd") and len(one.words) > 1:
            place = _place(place, one.words[1], folder)
        yield one, place


def _place(place: str | None, to: str, folder: str | None) -> str | None:
    if to.startswith("/"):
        # A worktree inside the checkout is the same project at its top.
        top = None if folder is None else without_worktree(normal_path(folder))[0]
        path = without_worktree(normal_path(to))[0]
        return "" if path == top else inside(path, top)
    if place is None or to.startswith(("~", "-", "$", "`")) or "$" in to:
        return None
    found = posixpath.normpath(posixpath.join(place, to))
    return None if found.startswith("..") else "" if found == "." else found


def placed_form(one: WrittenCommand, place: str) -> str:
    """The form of a command with the folder it runs in: `cd web && npm test`."""
    return f"cd {place} && {one.form}" if place else one.form


def explains_itself(error: str) -> bool:
    """Whether an error already says what to do: repeating that would be noise."""
    return _ADVISES.compiled.search(error[:600]) is not None


def kind_of_failure(tool: str, command: str | None, error: str) -> tuple[str, str, str]:
    """The kind of a failure: the same error of the same program is the same mistake."""
    if command is None:
        name = same_tool(tool)
        return name, "", (_edit_error(error) if name == "edit" else "") or signature_of_text(error)
    blamed = blamed_command(command, error)
    return "shell", "" if blamed is None else blamed.form, signature_of_text(error)


def _edit_error(error: str) -> str:
    """What was wrong with an edit, in the same words for all agents; empty if unknown."""
    head = error[:600]
    return next((name for name, pattern in _EDIT_ERRORS.items() if pattern.compiled.search(head)), "")


def blamed_command(command: str, error: str) -> WrittenCommand | None:
    """The command that failed: the one that the error names, else the last that does work."""
    parts = [one for one in written(command) if one.join != "|"]
    if len(parts) <= 1:
        return parts[0] if parts else None
    head = error[:400]
    for one in parts:
        name = one.program.rsplit("/", 1)[-1]
        if f"{name}: " in head or f":{name}:" in head:
            return one
    working = [one for one in parts if one.program not in ASIDE]
    return working[-1] if working else parts[-1]


def inside(path: str, folder: str | None) -> str | None:
    """A path relative to the session's folder; None where it lies outside."""
    if not path.startswith("/"):
        return path.removeprefix("./")
    if folder is None or not path.startswith(folder.rstrip("/") + "/"):
        return None
    return path[len(folder.rstrip("/")) + 1 :]
