"""The failed calls of a session, and the way in which each was repaired: what a later session can be told of it.

A way is what two repairs have in common when they are the same lesson: run the command in another form, leave out
`cd`, read the file first. A call that simply worked when repeated, or with another file name, teaches nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from seasoned.command.tool import tool_of
from seasoned.command.translate import argument
from seasoned.command.written import WrittenCommand, written
from seasoned.experience.kind import ASIDE, blamed_command, explains_itself, inside, kind_of_failure
from seasoned.experience.lesson import EVERYWHERE, Way
from seasoned.insight.mistake.repair import CallTargets, Repair
from seasoned.insight.track import JudgedCall
from seasoned.template.admission.call import admit_written

_TEXT_CHARS = 200
# Changes of a command after which it has another form: what works is the whole command as it was written.
_REWRITTEN = frozenset({"without wrapper", "with wrapper", "program", "command"})
# Steps between a failure and its repair that change the surroundings, whatever they are about.
_PREPARING = frozenset({"mise trust", "git fetch", "direnv allow", "go mod tidy", "go mod download"})


class FailedCall(msgspec.Struct, frozen=True):
    """One failed call of a session, with its repair if there was one."""

    tool: str  # one name for what agents name differently: `shell`, `edit`, `file_read` …
    form: str  # of the simple command that failed; empty for other tools
    signature: str
    position: int
    is_signal: bool  # it reports on the user's code rather than on the call
    way: Way | None = None
    text: str = ""  # the call that worked, as written
    path: str = ""  # the file that it was about, relative to the session's folder
    explains_itself: bool = False  # the error says what to do, so that nothing need be added

    @property
    def kind(self) -> tuple[str, str, str]:
        return self.tool, self.form, self.signature


def failures_of(
    calls: Sequence[JudgedCall], folder: str | None, targets: CallTargets, found: Mapping[int, Repair]
) -> tuple[FailedCall, ...]:
    """Every failed call of a session in order, each with the way in which it was repaired."""
    return tuple(
        _failed_call(calls, at, found.get(at), folder, is_signal=targets.is_signal(at))
        for at, call in enumerate(calls)
        if call.has_failed
    )


def _failed_call(
    calls: Sequence[JudgedCall], at: int, repair: Repair | None, folder: str | None, *, is_signal: bool
) -> FailedCall:
    call = calls[at]
    kind = kind_of_failure(call.tool, call.command, call.result or "")
    clear = explains_itself(call.result or "")
    failed = FailedCall(*kind, call.position, is_signal, path=_path(call, folder), explains_itself=clear)
    if repair is None:
        return failed
    way, text = _way(calls, repair, folder)
    # A text that is cut would not work.
    return msgspec.structs.replace(failed, way=way, text=text if len(text) <= _TEXT_CHARS else "")


def _way(calls: Sequence[JudgedCall], repair: Repair, folder: str | None) -> tuple[Way, str]:
    """The way of a repair, and the call that worked as it was written."""
    failed, later = calls[repair.failed], calls[repair.repaired]
    if failed.command is not None and later.command is not None:
        return _shell_way(calls, repair, failed.command, later.command)
    form = tool_of(failed.tool).form
    if failed.tool != later.tool:
        return Way("other"), ""
    if form == "file_write":
        return _edit_way(failed, later, repair)
    if form in ("file_read", "search"):
        path = _path(later, folder)
        return (Way("path", path), path) if path and path != _path(failed, folder) else (Way("other"), "")
    names = repair.change.names
    if not names:
        return Way("again"), ""
    # Judged under the name that the tool has here: the one for all agents says less about what it does.
    text = later.raw_arguments if admit_written(later.tool, later.raw_arguments) else ""
    return Way("argument", ",".join(names)), text


def _shell_way(calls: Sequence[JudgedCall], repair: Repair, failed: str, later: str) -> tuple[Way, str]:
    change = repair.change
    wrong = blamed_command(failed, calls[repair.failed].result or "")
    parts = [one for one in written(later) if one.join != "|"]
    right = _counterpart(wrong, parts)
    if right is None or wrong is None:
        return Way("other"), ""
    match change.kind:
        case "again":
            return _prepared(calls, repair)
        case "folder":
            went = next((one.text for one in parts if one.program == "cd"), "")
            return Way("folder", "cd" if went else ""), f"{went} && {right.text}" if went else right.text
        case "variable":
            return Way("variable", " ".join(change.names)), right.text
        case "option added" | "option dropped":
            sign = "+" if change.kind == "option added" else "-"
            return Way("option", " ".join(sign + name for name in change.names)), right.text
        case "before":
            return Way("before", change.names[0]), later
        case kind if kind in _REWRITTEN and right.form != wrong.form:
            return Way("form", right.form), right.text
        case "operands":
            name = _changed_option(wrong, right)
            return (Way("value", name), right.text) if name else (Way("other"), "")
    # What was given is a right that a person must agree to, or nothing that another session could repeat.
    return Way("other"), ""


def _counterpart(wrong: WrittenCommand | None, parts: Sequence[WrittenCommand]) -> WrittenCommand | None:
    """The simple command that did later what the failed one was meant to do."""
    working = [one for one in parts if one.program not in ASIDE]
    same = [one for one in working if wrong is not None and one.program == wrong.program]
    found = same or working
    return found[-1] if found else None


def _prepared(calls: Sequence[JudgedCall], repair: Repair) -> tuple[Way, str]:
    """The same command worked later: what in between changed the surroundings, if it was not the user's code."""
    if not repair.steps:
        return Way("again"), ""
    for step in reversed(repair.steps):
        if step.kind == "edit":
            return Way("other"), ""
        for one in reversed(written(calls[step.at].command or "")):
            if one.purpose == "install" or one.form in _PREPARING:
                return Way("before", one.form), one.text
    return Way("other"), ""


def _changed_option(wrong: WrittenCommand, right: WrittenCommand) -> str:
    """The one option whose value was changed while everything else stayed; empty if that is not what happened."""
    old, new = _values(wrong), _values(right)
    changed = [name for name, value in new.items() if old.get(name) != value]
    if len(changed) != 1 or len(wrong.words) != len(right.words) or wrong.form != right.form:
        return ""
    rest = [
        [word for word in one.words if word not in set(values.values())] for one, values in ((wrong, old), (right, new))
    ]
    return changed[0] if rest[0] == rest[1] else ""


def _values(one: WrittenCommand) -> dict[str, str]:
    """The options of a command with their values, written `--name=value` or `--name value`."""
    found: dict[str, str] = {}
    for word, following in zip(one.words, (*one.words[1:], ""), strict=True):
        if word.startswith("-"):
            name, joined, value = word.partition("=")
            found[name] = value if joined else "" if following.startswith("-") else following
    return found


def _edit_way(failed: JudgedCall, later: JudgedCall, repair: Repair) -> tuple[Way, str]:
    if not argument(failed.arguments, "all") and argument(later.arguments, "all"):
        return EVERYWHERE, ""
    if any(step.kind == "same file" for step in repair.steps):
        return Way("read"), ""
    return (Way("again"), "") if failed.arguments == later.arguments else (Way("exact"), "")


def _path(call: JudgedCall, folder: str | None) -> str:
    path = argument(call.arguments, "path")
    return inside(path, folder) or "" if isinstance(path, str) else ""
