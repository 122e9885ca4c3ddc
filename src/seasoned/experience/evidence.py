"""What one session shows about its project: the commands it ran, and how it repaired its mistakes.

A way is what two repairs have in common when they teach the same: run the command in another form, leave out `cd`, read
the file first. A call that simply worked when repeated, or with another file name, teaches nothing.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from seasoned.command.tool import tool_of
from seasoned.command.translate import argument
from seasoned.command.written import Purpose, WrittenCommand, written
from seasoned.experience.kind import (
    ASIDE,
    blamed_command,
    explains_itself,
    inside,
    is_working,
    kind_of_failure,
    placed_form,
    with_places,
)
from seasoned.experience.lesson import REPLACE_ALL, Way
from seasoned.insight.mistake.repair import CallTargets, Repair, repairs
from seasoned.insight.track import JudgedCall, Track
from seasoned.template.admission.call import admit_written

_TEXT_CHARS = 160


class FormUse(msgspec.Struct, frozen=True):
    """One simple command that a session ran."""

    form: str
    purpose: Purpose
    text: str
    position: int
    worked: bool | None  # None if its outcome is not known
    is_whole: bool = True  # False if the text was cut: it cannot be shown


class SessionEvidence(msgspec.Struct, frozen=True):
    """What one session contributes to the experience of its project."""

    session: str
    root: str  # the lineage: forks and subagents of one session are one source
    agent: str
    folder: str | None
    started: float | None
    ended: float | None
    task: str = ""  # the words of its first prompt
    uses: tuple[FormUse, ...] = ()
    failures: tuple[FailedCall, ...] = ()
    files: tuple[str, ...] = ()  # read or changed with success, relative to its folder
    person: str = ""  # who else it is from, by a name that only tells people apart; empty for the user's own

    @property
    def end(self) -> float:
        return self.ended or self.started or 0.0


def evidence_of(
    track: Track, targets: CallTargets | None = None, repaired_by: Mapping[int, Repair] | None = None
) -> SessionEvidence:
    """What a judged session shows; `targets` and `repaired_by` if they are known already."""
    targets = targets or CallTargets(track.calls)
    if repaired_by is None:
        repaired_by = {one.failed: one for one in repairs(track.calls, targets=targets)}
    folder = track.cwd
    task = next((call.intent for call in track.calls if call.intent), "")
    return SessionEvidence(
        session=str(track.ref),
        root=track.root,
        agent=track.ref.agent,
        folder=folder,
        started=track.started,
        ended=track.ended,
        task=task[:2000],
        uses=tuple(use for call in track.calls for use in form_uses(call, folder)),
        failures=failures_of(track.calls, folder, targets, repaired_by),
        files=_files(track.calls, folder),
    )


def form_uses(call: JudgedCall, folder: str | None) -> Iterator[FormUse]:
    """The working commands of a shell call, each with its outcome if the call's verdict tells it."""
    command = call.command
    if not command or len(command) > 4000:
        return
    workdir = argument(call.arguments, "folder")
    found = with_places(command, folder, workdir if isinstance(workdir, str) else None)
    working = [(one, place) for one, place in found if is_working(one)]
    for at, (one, place) in enumerate(working):
        # What runs elsewhere shows nothing about this project.
        if place is not None:
            # Quoted where it must be: a folder can be named like a sentence.
            text = f"cd {shlex.quote(place)} && {one.text}" if place else one.text
            worked = _worked(call, [part for part, _ in working], at)
            yield FormUse(
                placed_form(one, place),
                one.purpose,
                text[:_TEXT_CHARS],
                call.position,
                worked,
                len(text) <= _TEXT_CHARS,
            )


def _worked(call: JudgedCall, working: Sequence[WrittenCommand], at: int) -> bool | None:
    if call.verdict == "ok" and not call.is_corrected:
        # In `a; b` only b is known to have worked; in `a && b` both.
        return True if all(one.join in ("&&", "") for one in working[at + 1 :]) else None
    if call.verdict == "failed" and call.fault not in ("user_declined", "sibling_cancelled", "interrupted"):
        return False if len(working) == 1 else None
    return None


def _files(calls: Sequence[JudgedCall], folder: str | None) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for call in calls:
        if call.verdict != "ok" or call.kind != "file":
            continue
        path = argument(call.arguments, "path")
        if isinstance(path, str) and (relative := inside(path, folder)) and "." in relative:
            found[relative] = None
    return tuple(found)[:200]


_REPAIR_CHARS = 200
# Changes that give a command another form: what works is the whole command as written.
_REWRITTEN = frozenset({"without wrapper", "with wrapper", "program", "command"})
# Steps between a failure and its repair that change the environment.
_PREPARING = frozenset({"mise trust", "git fetch", "direnv allow", "go mod tidy", "go mod download"})


class FailedCall(msgspec.Struct, frozen=True):
    """One failed call of a session, with its repair if there was one."""

    tool: str  # the same name for all agents: `shell`, `edit`, `file_read` …
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
    """Every failed call of a session in order, each with how it was repaired."""
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
    return msgspec.structs.replace(failed, way=way, text=text if len(text) <= _REPAIR_CHARS else "")


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
    # Checked under the tool's own name, which says more about what it does than the one for all agents.
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
    # A permission that a person must grant, or nothing that another session could repeat.
    return Way("other"), ""


def _counterpart(wrong: WrittenCommand | None, parts: Sequence[WrittenCommand]) -> WrittenCommand | None:
    """The later command that did what the failed one was meant to do."""
    working = [one for one in parts if one.program not in ASIDE]
    same = [one for one in working if wrong is not None and one.program == wrong.program]
    found = same or working
    return found[-1] if found else None


def _prepared(calls: Sequence[JudgedCall], repair: Repair) -> tuple[Way, str]:
    """What changed the environment before the same command worked, unless the user's code was changed."""
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
    """The one option whose value changed while everything else stayed; empty if there is none."""
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
        return REPLACE_ALL, ""
    if any(step.kind == "same file" for step in repair.steps):
        return Way("read"), ""
    return (Way("again"), "") if failed.arguments == later.arguments else (Way("exact"), "")


def _path(call: JudgedCall, folder: str | None) -> str:
    path = argument(call.arguments, "path")
    return inside(path, folder) or "" if isinstance(path, str) else ""
