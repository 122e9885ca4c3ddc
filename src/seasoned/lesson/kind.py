"""The kinds of calls and failures, the same for what sessions did and for what hooks ask about."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

import msgspec

from seasoned.command.parse import names
from seasoned.command.rows import only_looks
from seasoned.command.tool import same_tool
from seasoned.command.written import WrittenCommand, is_interpreter, written
from seasoned.lazy_regex import LazyRegex
from seasoned.lesson.failure.cause import cause_in, subject_of_error
from seasoned.lesson.failure.signature import line_of_text, signature_of_line
from seasoned.lesson.lesson import EXPECTED, FailureKind
from seasoned.project import is_path, relative_inside

# Commands that prepare or show something, and are not typical of a project.
_SCENERY = names(
    "cd pushd popd echo printf export set unset sleep true false : pwd source . test [ [[ wait mkdir which type command"
    " read return exit local declare trap date cp mv rm rmdir touch ln chmod chown kill pkill ps lsof tee xargs curl"
    " wget open code vim nano clear history env printenv alias hash ulimit id whoami uname hostname sed awk -"
)
_ASIDE = names("cd echo printf export set sleep true : pwd source . mkdir tail head grep rg sed awk wc sort cat ls")
# Commands that nearly never fail, so that behind `&&` what follows them did.
_SAFE = frozenset(f"git {sub}" for sub in ("add", "status", "diff", "log", "branch", "stash"))
_SHELL_SAYS = LazyRegex(r"(?:zsh|bash|sh)(?::\d+)?: (?:line \d+: )?command not found: (?P<program>\S+)")
# Errors that name their remedy, and those of edits: the agent reads the file again by itself. In lower case, as causes.
_SAYS_ENOUGH = LazyRegex(
    r"\bread (?:it|the file|this file) (?:first|again)\b|\bdid you mean\b|to replace all occ|has not been read"
    r"|modified since read|string to replace not found|failed to find expected lines|failed to find context"
    r"|no changes to make: old_string and new_string|file has changed since"
)
# A name that an error may give to a lesson: nothing that could be a sentence.
_PLAIN = LazyRegex(r"-{0,2}[A-Za-z][A-Za-z0-9.+-]{0,24}\Z")
# Errors that any command can make: what they say does not depend on the command.
_ANY_COMMAND = names("quoting equals here-document")
# Causes that say enough by themselves, with what the error names.
_NAMED = names("module dependencies folder") | EXPECTED.keys()


def is_working(one: WrittenCommand) -> bool:
    """Whether a command does work in the project, rather than look, prepare or filter."""
    if not one.form or one.join == "|" or one.program in _SCENERY:
        return False
    if one.form.endswith((" -", " -c", " -e")) or "$" in one.form or "*" in one.form:
        return False
    sub = one.form.split()[-1]
    return not only_looks(one.program, sub) and not is_interpreter(sub) and any(c.isalnum() for c in one.program)


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
        yield _without_top(one, folder), place


def _without_top(one: WrittenCommand, folder: str | None) -> WrittenCommand:
    """A program of the checkout by its path in it: other checkouts are elsewhere."""
    top = f"{folder.rstrip('/')}/" if folder else ""
    if not top or not one.program.startswith(top):
        return one
    program = one.program[len(top) :]
    return msgspec.structs.replace(
        one, text=one.text.replace(top, "", 1), form=one.form.replace(top, "", 1), program=program
    )


def _place(place: str | None, to: str, folder: str | None) -> str | None:
    if to.startswith(("~", "-", "$", "`")) or "$" in to:
        return None
    if folder is None:
        # Where nothing is known about the folder, only what stays below it can be told.
        inside = None if to.startswith("/") or place is None else posixpath.normpath(posixpath.join(place, to))
        return None if inside is None or inside.startswith("..") else "" if inside == "." else inside
    is_whole = is_path(to)
    return (
        None
        if place is None and not is_whole
        else relative_inside(to if is_whole else f"{place}/{to}".lstrip("/"), folder)
    )


def placed_form(one: WrittenCommand, place: str) -> str:
    """The form of a command with the folder it runs in: `cd web && npm test`."""
    return f"cd {place} && {one.form}" if place else one.form


def explains_itself(error: str) -> bool:
    """Whether an error already says what to do: repeating that would be noise."""
    return _SAYS_ENOUGH.compiled.search(error[:600].lower()) is not None


def kind_of_failure(tool: str, command: str | None, error: str) -> FailureKind:
    """The kind of a failure: the same error of the same program is the same mistake."""
    line = line_of_text(error)
    cause = cause_in(line)
    name = "" if cause is None else cause.replace(" ", "-")
    what = subject_of_error(cause, line) or ""
    said = f"{name}:{what if _PLAIN.compiled.match(what) else ''}" if name in _NAMED else signature_of_line(line, error)
    if command is None:
        return FailureKind(same_tool(tool), "", said)
    if name in _ANY_COMMAND:
        return FailureKind("shell", "", name)
    blamed = blamed_command(command, error)
    # A wrapper that is missing fails whatever it should start: `timeout 60 npm test`.
    form = "" if blamed is None else blamed.form
    is_wrapper = blamed is not None and name == "missing-program" and what == blamed.text.split()[0]
    return FailureKind("shell", "" if is_wrapper and what not in form.split() else form, said)


def blamed_command(command: str, error: str) -> WrittenCommand | None:
    """The command that failed: the one that the error names, else the only one that can have; None if several can."""
    parts = [one for one in written(command) if one.join != "|"]
    if len(parts) <= 1:
        return parts[0] if parts else None
    head = error[:400]
    missing = _SHELL_SAYS.compiled.search(head)
    for one in parts:
        name = one.program.rsplit("/", 1)[-1]
        if (missing is not None and missing["program"] == one.program) or f"{name}: " in head or f":{name}:" in head:
            return one
    working = [one for one in parts if one.program not in _ASIDE]
    risky = [one for one in working if one.form not in _SAFE] or working
    # In `a; b` the status is that of b. In `a && b` either may have failed.
    chained = [one for at, one in enumerate(risky) if all(later.join == "&&" for later in risky[at + 1 :])]
    return chained[0] if len({one.form for one in chained}) == 1 else None if working else parts[-1]
