"""Which mistakes a session repaired, and in which way: what a later session can be told of it.

A way is what two repairs have in common when they are the same lesson: run the command in another form, leave out
`cd`, read the file first. A call that simply worked when repeated, or with another file name, teaches nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from seasoned.command.parse import names
from seasoned.command.tool import tool_of
from seasoned.command.written import purpose_of, written
from seasoned.experience.gate import may_be_told
from seasoned.experience.kind import ASIDE, blamed_command, inside, kind_of_failure
from seasoned.experience.lesson import Way
from seasoned.insight.mistake.repair import Repair, repairs
from seasoned.insight.track import JudgedCall
from seasoned.lazy_regex import LazyRegex

_PATHS = ("file_path", "path", "notebook_path", "target_file", "filename", "absolute_path", "dir_path")
_SHELL_LOOKS = names("cat sed nl head tail less bat rg grep awk")
_PREPARING = frozenset({"mise trust", "git fetch", "direnv allow", "go mod tidy", "go mod download"})
_CALLED_WRONGLY = LazyRegex(
    r"(?i)directory not found|no such file or directory|setup failed|unknown (?:flag|option|command|shorthand)"
    r"|unrecogni[sz]ed|no tasks? |usage:|command not found|not a git repository|cannot find module|missing script"
    r"|no rule to make target|no such (?:command|option)|unexpected argument|invalid (?:option|argument)"
)
_TEXT_CHARS = 200


class FailedCall(msgspec.Struct, frozen=True):
    """One failed call of a session, with its repair if there was one."""

    tool: str  # `shell` for every agent's shell
    form: str  # of the simple command that failed; empty for other tools
    signature: str
    position: int
    is_signal: bool  # it reports on the user's code rather than on the call
    way: Way | None = None
    text: str = ""  # the call that worked, as written
    repaired_at: int | None = None
    path: str = ""  # the file that it was about, relative to the session's folder

    @property
    def kind(self) -> tuple[str, str, str]:
        return self.tool, self.form, self.signature


def failures_of(calls: Sequence[JudgedCall], folder: str | None) -> tuple[FailedCall, ...]:
    """Every failed call of a session in order, each with the way in which it was repaired."""
    found = {repair.failed: repair for repair in repairs(calls)}
    return tuple(_failed_call(calls, at, found.get(at), folder) for at, call in enumerate(calls) if call.has_failed)


def _failed_call(calls: Sequence[JudgedCall], at: int, repair: Repair | None, folder: str | None) -> FailedCall:
    call = calls[at]
    command, error = call.command, call.result or ""
    tool, form, said_words = kind_of_failure(call.tool, command, error)
    failed = FailedCall(tool, form, said_words, call.position, _is_signal(call, form, error), path=_path(call, folder))
    if repair is None:
        return failed
    later = calls[repair.repaired]
    way, text = _way(call, later, calls[at + 1 : repair.repaired], folder)
    if text and not may_be_told(later.tool, later.arguments):
        way, text = Way("other"), ""
    return msgspec.structs.replace(failed, way=way, text=text[:_TEXT_CHARS], repaired_at=later.position)


def _is_signal(call: JudgedCall, form: str, error: str) -> bool:
    """Whether a failure reports on the user's code: tests, type checks, linters, builds that ran as they should."""
    return (
        bool(form)
        and purpose_of(form) in ("test", "check", "format", "build")
        and not _CALLED_WRONGLY.compiled.search(error[:2000])
    )


def _way(failed: JudgedCall, later: JudgedCall, between: Sequence[JudgedCall], folder: str | None) -> tuple[Way, str]:
    """The way of a repair, and the call that worked as it was written."""
    if failed.command is not None and later.command is not None:
        return _shell_way(failed, later, between)
    if failed.tool != later.tool or failed.command is not None or later.command is not None:
        return Way("other"), ""
    form = tool_of(failed.tool).form
    if form == "file_write":
        return _edit_way(failed, later, between)
    path = _path(later, folder)
    if form in ("file_read", "search"):
        if path and path != _path(failed, folder):
            return Way("path", path), path
        return Way("other"), ""
    changed = sorted(
        name
        for name in failed.arguments.keys() | later.arguments.keys()
        if failed.arguments.get(name) != later.arguments.get(name)
    )
    return (Way("argument", ",".join(changed)), later.raw_arguments) if changed else (Way("again"), "")


def _shell_way(failed: JudgedCall, later: JudgedCall, between: Sequence[JudgedCall]) -> tuple[Way, str]:
    assert failed.command is not None and later.command is not None
    wrong = blamed_command(failed.command, failed.result or "")
    if wrong is None:
        return Way("other"), ""
    parts = [one for one in written(later.command) if one.join != "|"]
    same = [one for one in parts if one.text == wrong.text]
    if wrong.program == "cd":
        rest = {one.form for one in written(failed.command) if one.program not in ASIDE and one.join != "|"}
        kept = [one for one in parts if one.form in rest]
        if kept and not any(one.text == wrong.text for one in parts):
            went = next((one.text for one in parts if one.program == "cd"), "")
            return Way("folder", "cd" if went else ""), went or kept[-1].text
        return Way("other"), ""
    if same:
        return _changed_before(failed, later, between)
    right = [one for one in parts if one.program == wrong.program] or [one for one in parts if one.program not in ASIDE]
    if not right:
        return Way("other"), ""
    one = right[-1]
    if one.form != wrong.form:
        return Way("form", one.form), one.text
    if one.assignments != wrong.assignments:
        return Way("variable", " ".join(sorted(set(one.assignments) - set(wrong.assignments)))), one.text
    had, has = ({w.partition("=")[0] for w in c.words if w.startswith("-")} for c in (wrong, one))
    if had != has:
        return Way(
            "option", " ".join([*(f"+{w}" for w in sorted(has - had)), *(f"-{w}" for w in sorted(had - has))])
        ), one.text
    changed = [name for name, value in _values(one).items() if _values(wrong).get(name) != value]
    if len(changed) == 1 and len(one.words) == len(wrong.words) and _operands(one) == _operands(wrong):
        return Way("value", changed[0]), one.text
    return Way("other"), ""


def _values(one: WrittenCommand) -> dict[str, str]:
    """The options of a command with their values, written `--name=value` or `--name value`."""
    found: dict[str, str] = {}
    for word, following in zip(one.words, (*one.words[1:], ""), strict=True):
        if word.startswith("-"):
            name, joined, value = word.partition("=")
            found[name] = value if joined else "" if following.startswith("-") else following
    return found


def _operands(one: WrittenCommand) -> list[str]:
    taken = set(_values(one).values())
    return [word for word in one.words if not word.startswith("-") and word not in taken]


def _changed_before(failed: JudgedCall, later: JudgedCall, between: Sequence[JudgedCall]) -> tuple[Way, str]:
    """The same command worked later: the last command in between that changes the surroundings."""
    went = [{c.text for c in written(call.command or "") if c.program == "cd"} for call in (failed, later)]
    if went[0] != went[1]:
        return Way("folder", "cd" if went[1] else ""), (later.command or "")
    did = False
    for call in reversed(between):
        if call.verdict != "ok":
            continue
        if tool_of(call.tool).form == "file_write":
            return Way("other"), ""
        for one in reversed(written(call.command or "")):
            if one.purpose == "install" or one.form in _PREPARING:
                return Way("before", one.form), one.text
            did = did or one.program not in ASIDE
    return (Way("other"), "") if did else (Way("again"), "")


def _edit_way(failed: JudgedCall, later: JudgedCall, between: Sequence[JudgedCall]) -> tuple[Way, str]:
    if failed.arguments == later.arguments:
        return (Way("read"), "") if any(_looks_at(call, later) for call in between) else (Way("again"), "")
    if not failed.arguments.get("replace_all") and later.arguments.get("replace_all"):
        return Way("argument", "replace_all"), ""
    if any(_looks_at(call, later) for call in between):
        return Way("read"), ""
    return Way("exact"), ""


def _looks_at(call: JudgedCall, later: JudgedCall) -> bool:
    path = next((later.arguments[name] for name in _PATHS if isinstance(later.arguments.get(name), str)), None)
    if path is None or call.verdict != "ok":
        return False
    if call.command is not None:
        return any(one.program in _SHELL_LOOKS and path.rsplit("/", 1)[-1] in one.text for one in written(call.command))
    return any(call.arguments.get(name) == path for name in _PATHS) and tool_of(call.tool).form in (
        "file_read",
        "search",
    )


def _path(call: JudgedCall, folder: str | None) -> str:
    for name in _PATHS:
        path = call.arguments.get(name)
        if isinstance(path, str):
            return inside(path, folder) or ""
    return ""
