"""What one session shows about its project: the commands it ran, and how it repaired its mistakes.

A way is what two repairs have in common when they teach the same: run the command in another form, leave out `cd`, read
the file first. A call that simply worked when repeated, or with another file name, teaches nothing.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from seasoned.admission import admit_written
from seasoned.command.risk import only_looks
from seasoned.command.tool import argument, tool_of
from seasoned.command.written import Purpose, WrittenCommand, purpose_of, written
from seasoned.lesson.failure.call_target import changed_option
from seasoned.lesson.failure.repair import CallTargets, Repair, repairs
from seasoned.lesson.kind import (
    ASIDE,
    blamed_command,
    explains_itself,
    inside,
    is_about_text,
    is_working,
    kind_of_failure,
    placed_form,
    with_places,
)
from seasoned.lesson.lesson import REPLACE_ALL, Way
from seasoned.outcome.track import JudgedCall, Track

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
    working = [(one, place) for one, place in _placed(call, folder) if is_working(one)]
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
    if is_signal and not _explains_signal(way, repair):
        way, text = Way("other"), ""
    # A text that is cut would not work.
    return msgspec.structs.replace(failed, way=way, text=text if len(text) <= _REPAIR_CHARS else "")


def _explains_signal(way: Way, repair: Repair) -> bool:
    """Whether the way in which it was called made a check pass, and not a change of the code or of what is checked."""
    if any(step.kind == "edit" for step in repair.steps):
        return False
    if way.kind == "before":
        return _prepares(way.value)
    # With an option less, or another value, it may only have looked at less.
    return way.kind in ("form", "variable") or (
        way.kind == "option" and all(name.startswith("+") for name in way.value.split())
    )


def _prepares(form: str) -> bool:
    """Whether a command changes what others find, and not the code."""
    return form in _PREPARING or purpose_of(form) == "install"


def _way(calls: Sequence[JudgedCall], repair: Repair, folder: str | None) -> tuple[Way, str]:
    """The way of a repair, and the call that worked as it was written."""
    failed, later = calls[repair.failed], calls[repair.repaired]
    if failed.command is not None and later.command is not None:
        return _shell_way(calls, repair, folder)
    form = tool_of(failed.tool).form
    # A shell that was given code rather than a command says nothing about a program.
    if failed.tool != later.tool or form == "shell":
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


def _shell_way(calls: Sequence[JudgedCall], repair: Repair, folder: str | None) -> tuple[Way, str]:
    change = repair.change
    error = calls[repair.failed].result or ""
    wrong = blamed_command(calls[repair.failed].command or "", error)
    parts = [one for one in written(calls[repair.repaired].command or "") if one.join != "|"]
    right = _counterpart(wrong, parts)
    if right is None or wrong is None:
        return Way("other"), ""
    match change.kind:
        case "again":
            return _prepared(calls, repair)
        case "folder":
            return _folder_way(calls, repair, right, folder)
        case "variable":
            return Way("variable", " ".join(change.names)), right.text
        case "option added" | "option dropped":
            sign = "+" if change.kind == "option added" else "-"
            gone = [name for name in _options(wrong) if name not in _options(right)] if sign == "+" else []
            changed = [*(sign + name for name in change.names), *(f"-{name}" for name in gone)]
            return Way("option", " ".join(changed)), right.text
        case "before":
            # A part of a command may be shown only if all of it may.
            may_show = all(admit_written("shell", one.text) for one in parts)
            return _before_way(change.names[0], parts) if may_show else (Way("other"), "")
        # A value can look like a subcommand: `cmake --preset debug`.
        case "operands" | "command" if name := changed_option(wrong.words, right.words, error):
            return Way("value", name), right.text
        case kind if kind in _REWRITTEN and right.form != wrong.form:
            return Way("form", right.form), right.text
    # A permission that a person must grant, or nothing that another session could repeat.
    return Way("other"), ""


def _options(one: WrittenCommand) -> list[str]:
    return [word.partition("=")[0] for word in one.words if word.startswith("-")]


def _folder_way(
    calls: Sequence[JudgedCall], repair: Repair, right: WrittenCommand, folder: str | None
) -> tuple[Way, str]:
    """The folder in which a command worked, as a path in the project: others have their checkouts elsewhere."""
    failed, later = calls[repair.failed], calls[repair.repaired]
    place = next((at for one, at in _placed(later, folder) if one == right), None)
    if place is None:
        return Way("other"), ""
    if place:
        return Way("folder", f"cd {place}"), f"cd {shlex.quote(place)} && {right.text}"
    had_cd = any(one.program == "cd" for one in written(failed.command or ""))
    return (Way("folder"), right.text) if had_cd else (Way("folder", "top"), right.text)


def _placed(call: JudgedCall, folder: str | None) -> Iterator[tuple[WrittenCommand, str | None]]:
    workdir = argument(call.arguments, "folder")
    return with_places(call.command or "", folder, workdir if isinstance(workdir, str) else None)


def _before_way(name: str, parts: Sequence[WrittenCommand]) -> tuple[Way, str]:
    """The command that had to run first, by itself: what follows it is what the session was about to do anyway."""
    program = name.split()[0]
    first = next((one for one in parts[:-1] if one.program == program or one.form.startswith(name)), None)
    # Waiting and looking change nothing: the call was only repeated.
    if first is None or program == "sleep" or only_looks(program, first.form.split()[-1]):
        return Way("again"), ""
    return Way("before", first.form), first.text


def _counterpart(wrong: WrittenCommand | None, parts: Sequence[WrittenCommand]) -> WrittenCommand | None:
    """The later command that did what the failed one was meant to do."""
    working = [one for one in parts if one.program not in ASIDE]
    same = [one for one in working if wrong is not None and one.program == wrong.program]
    # What runs behind it, as in `git rebase … && git log`, repaired nothing.
    found = [one for one in same if wrong is not None and one.form == wrong.form] or same or working
    return found[-1] if found else None


def _prepared(calls: Sequence[JudgedCall], repair: Repair) -> tuple[Way, str]:
    """What changed the environment before the same command worked, unless the user's code was changed."""
    if not repair.steps:
        return Way("again"), ""
    for step in reversed(repair.steps):
        if step.kind == "edit":
            return Way("other"), ""
        for one in reversed(written(calls[step.at].command or "")):
            if _prepares(one.form):
                return Way("before", one.form), one.text
    return Way("other"), ""


def _edit_way(failed: JudgedCall, later: JudgedCall, repair: Repair) -> tuple[Way, str]:
    if not argument(failed.arguments, "all") and argument(later.arguments, "all"):
        return REPLACE_ALL, ""
    if not is_about_text(failed.result or failed.reason):
        return Way("other"), ""
    if any(step.kind == "same file" for step in repair.steps):
        return Way("read"), ""
    return (Way("again"), "") if failed.arguments == later.arguments else (Way("exact"), "")


def _path(call: JudgedCall, folder: str | None) -> str:
    path = argument(call.arguments, "path")
    return inside(path, folder) or "" if isinstance(path, str) else ""
