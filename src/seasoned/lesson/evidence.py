"""What one session shows about its project: the commands it ran, and how it repaired its mistakes.

A way is what two repairs have in common when they teach the same: run the command in another form, leave out `cd`, run
something before it. A call that simply worked when repeated, or with another file name, teaches nothing.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

import msgspec

from seasoned.admission import admit_written
from seasoned.command.parse import is_assignment, names
from seasoned.command.rows import only_looks
from seasoned.command.tool import argument, tool_of
from seasoned.command.written import Purpose, WrittenCommand, purpose_of, written
from seasoned.lesson.failure.call_target import EXECUTION_ARGUMENTS, added_options, changed_option
from seasoned.lesson.failure.repair import MAX_CALLS_TO_REPAIR, PERMISSION_ARGUMENTS, CallTargets, Repair, repairs
from seasoned.lesson.kind import (
    blamed_command,
    explains_itself,
    is_working,
    kind_of_failure,
    placed_form,
    with_places,
)
from seasoned.lesson.lesson import FailureKind, Way
from seasoned.lesson.one_off import ELLIPSIS, head_of, names_tests, whole_form
from seasoned.outcome.track import JudgedCall, Track

_TEXT_CHARS = 160
_TASK_CHARS = 2000
# Beyond this the session waited for the user.
_MOST_SECONDS = 300.0


class FormUse(msgspec.Struct, frozen=True):
    """One simple command that a session ran."""

    form: str
    purpose: Purpose
    text: str
    position: int
    worked: bool | None  # None if its outcome is not known
    is_whole: bool = True  # False if the text was cut: it cannot be shown


class FailedCall(msgspec.Struct, frozen=True):
    """One failed call of a session, with its repair if there was one."""

    kind: FailureKind
    position: int
    is_signal: bool  # it reports on the user's code rather than on the call
    way: Way | None = None
    text: str = ""  # the call that worked, as written
    says_enough: bool = False  # the error says what to do, so that nothing need be added
    calls: int = 1  # that the mistake cost: itself, and those until it was repaired
    seconds: float | None = None


class SessionEvidence(msgspec.Struct, frozen=True):
    """What one session contributes to the lessons of its project."""

    session: str
    root: str  # the lineage: forks and subagents of one session are one source
    agent: str
    folder: str | None
    started: float | None
    ended: float | None
    task: str = ""  # the words of its first prompt
    uses: tuple[FormUse, ...] = ()
    failures: tuple[FailedCall, ...] = ()
    tokens_of_call: float | None = None

    @property
    def end(self) -> float:
        return self.ended or self.started or 0.0


def evidence_of(track: Track) -> SessionEvidence:
    """What a judged session shows."""
    targets = CallTargets(track.calls)
    repaired_by = {one.failed: one for one in repairs(track.calls, targets=targets)}
    folder = track.cwd
    used = track.usage.with_cache
    # Read once: the calls behind every failure are searched for what did the same.
    uses = [tuple(form_uses(call, folder)) for call in track.calls]
    return SessionEvidence(
        session=str(track.ref),
        root=track.root,
        agent=track.ref.agent,
        folder=folder,
        started=track.started,
        ended=track.ended,
        task=next((call.intent for call in track.calls if call.intent), "")[:_TASK_CHARS],
        uses=tuple([use for found in uses for use in found]),
        failures=tuple(
            _failed_call(track.calls, uses, at, repaired_by.get(at), folder, is_signal=targets.is_signal(at))
            for at in targets.failed
        ),
        tokens_of_call=used / len(track.calls) if used and track.calls else None,
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
            form, purpose = placed_form(one, place), one.purpose
            if purpose == "test" and names_tests(one.text):
                form, purpose = f"{form} {ELLIPSIS}", "one test"
            yield FormUse(form, purpose, text[:_TEXT_CHARS], call.position, worked, len(text) <= _TEXT_CHARS)


def _worked(call: JudgedCall, working: Sequence[WrittenCommand], at: int) -> bool | None:
    if call.verdict == "ok" and not call.is_corrected:
        # In `a; b` only b is known to have worked; in `a && b` both.
        return True if all(one.join in ("&&", "") for one in working[at + 1 :]) else None
    if call.verdict == "failed" and call.fault not in ("user_declined", "sibling_cancelled", "interrupted"):
        return False if len(working) == 1 else None
    return None


_REPAIR_CHARS = 200
# Steps between a failure and its repair that change the environment.
_PREPARING = frozenset({"mise trust", "git fetch", "direnv allow", "go mod tidy", "go mod download", "nvm use"})
# With one of these a check passes because it looks at less.
_NARROWING = names(
    "--filter -k -run --grep --tests -t -m -p --package -w --workspace --project --only --testNamePattern -x"
    " --test-name-pattern --testPathPattern --bail --passWithNoTests --exclude --ignore --skip --deselect"
)


def _failed_call(
    calls: Sequence[JudgedCall],
    uses: Sequence[Sequence[FormUse]],
    at: int,
    repair: Repair | None,
    folder: str | None,
    *,
    is_signal: bool,
) -> FailedCall:
    call = calls[at]
    error = call.result or ""
    lost = 1 if repair is None else repair.calls
    failed = FailedCall(
        kind_of_failure(call.tool, call.command, error),
        call.position,
        is_signal,
        says_enough=explains_itself(error),
        calls=lost,
        seconds=_seconds(calls, at, at + lost),
    )
    other = _other_program(calls, uses, at, is_signal=is_signal)
    if repair is None and other is None:
        return failed
    if other is not None:
        way, text = other
    else:
        assert repair is not None
        way, text = _way(calls, repair, folder)
        if (is_signal and not _explains_signal(way, repair)) or (way.kind != "form" and _was_edited(repair)):
            way, text = Way("other"), ""
    if len(text) > _REPAIR_CHARS:
        # A text that is cut would not work: its beginning is shown.
        text = f"{head_of(text, way.value)} {ELLIPSIS}" if way.kind == "form" else ""
    # A check that passes when it is called in another way could not run: it found no fault with the code.
    return msgspec.structs.replace(failed, way=way, text=text, is_signal=is_signal and way.is_empty)


def _seconds(calls: Sequence[JudgedCall], first: int, end: int) -> float | None:
    """How long these calls took with what the model thought in between; None if their times are not known."""
    began, ended = calls[first].time, calls[end].time if end < len(calls) else None
    return None if began is None or ended is None or ended < began else min(ended - began, _MOST_SECONDS)


def _explains_signal(way: Way, repair: Repair) -> bool:
    """Whether the way in which it was called made a check pass, and not a change of the code or of what is checked."""
    if _was_edited(repair):
        return False
    if way.kind == "before":
        return _prepares(way.value)
    if way.kind == "form":
        return True
    return way.kind == "variable" or (way.kind == "option" and not _narrows(way.value))


def _was_edited(repair: Repair) -> bool:
    """Whether files were changed in between, which may be what made the call work."""
    return any(step.kind == "edit" for step in repair.steps)


def _narrows(change: str) -> bool:
    """Whether a check with these options added or dropped may have looked at less."""
    return any(name.startswith("-") or name.removeprefix("+") in _NARROWING for name in change.split())


def _prepares(form: str) -> bool:
    """Whether a command changes what others find, or has the machine put the code in order."""
    fixes = form.endswith((":fix", "-fix", "_fix", " fix"))
    return fixes or form in _PREPARING or purpose_of(form) in ("install", "build", "format")


# What starts a program or a script: without these words `npm test` and `pnpm run test` are the same.
_RUNNERS = names(
    "npm pnpm yarn bun bunx npx pnpx run run-script exec x -- corepack uv poetry pdm hatch pipenv rye mise rtk fnm"
    " python python3 -m .venv/bin/python venv/bin/python node tsx ts-node deno bash sh zsh ruby perl php"
)


def _other_program(
    calls: Sequence[JudgedCall], uses: Sequence[Sequence[FormUse]], at: int, *, is_signal: bool
) -> tuple[Way, str] | None:
    """What did the same for a call that could not run: `pnpm test` for `npm test`. None if nothing did.

    A check that may have found fault with the code is only answered by the same one under another program, and so is
    what serves none of the purposes: `node tools/a.ts` by `npx tsx tools/a.ts`.
    """
    failed = calls[at]
    wrong = blamed_command(failed.command or "", failed.result or "")
    script = frozenset[str]() if wrong is None else _script_of(wrong.form)
    is_same_script = is_signal or (wrong is not None and wrong.purpose == "other")
    if wrong is None or (is_same_script and not script):
        return None
    behind = slice(at + 1, at + 1 + MAX_CALLS_TO_REPAIR)
    for later, used in zip(calls[behind], uses[behind], strict=True):
        if later.kind == "file" and tool_of(later.tool).form == "file_write":
            return None
        for use in used:
            form = whole_form(use.form)
            if form == wrong.form:
                return None
            is_other = use.worked and purpose_of(form) == wrong.purpose
            if is_other and (not is_same_script or _script_of(form) == script):
                return Way("form", form), use.text if use.is_whole else f"{head_of(use.text, form)} {ELLIPSIS}"
    return None


def _script_of(form: str) -> frozenset[str]:
    """What a form runs, whatever starts it."""
    return frozenset(form.split()) - _RUNNERS


def _way(calls: Sequence[JudgedCall], repair: Repair, folder: str | None) -> tuple[Way, str]:
    """The way of a repair, and the call that worked as it was written."""
    failed, later = calls[repair.failed], calls[repair.repaired]
    if failed.command is not None and later.command is not None:
        return _shell_way(calls, repair, folder)
    form = tool_of(failed.tool).form
    # A shell that was given code says nothing about a program, and a file or the text of an edit is of one day.
    if failed.tool != later.tool or form in ("shell", "file_read", "file_write", "search"):
        return Way("other"), ""
    changed = [name for name in repair.changed if name not in EXECUTION_ARGUMENTS]
    if not changed:
        return Way("again"), ""
    added = [name for name in changed if name not in failed.arguments]
    # Checked under the tool's own name, which says more about what it does than the one for all agents.
    text = later.raw_arguments if admit_written(later.tool, later.raw_arguments) else ""
    return Way("argument", ",".join(added or changed)), text


def _shell_way(calls: Sequence[JudgedCall], repair: Repair, folder: str | None) -> tuple[Way, str]:
    """What made a command work; nothing that teaches if it was another file, or a permission."""
    failed, later = calls[repair.failed], calls[repair.repaired]
    error = failed.result or ""
    wrong = blamed_command(failed.command or "", error)
    parts = [one for one, _ in _placed(later, folder) if one.join != "|"]
    right = _counterpart(wrong, parts)
    # A permission that a person must grant is nothing that another session could repeat.
    if right is None or wrong is None or not PERMISSION_ARGUMENTS.isdisjoint(repair.changed):
        return Way("other"), ""
    if wrong.program in ("cd", "pushd"):
        return _folder_way(calls, repair, right, folder)
    # A value can look like a subcommand: `cmake --preset debug`.
    if name := changed_option(wrong.words, right.words, error):
        return Way("value", name), right.text
    if added := added_options(wrong.words, right.words):
        # Before the forms: without its value an option can look like a subcommand, as in `flask --app shop run`.
        return Way("option", " ".join(f"+{name}" for name in added)), right.text
    if right.form != wrong.form:
        return Way("form", right.form), right.text
    if variables := _variables(right) - _variables(wrong):
        return Way("variable", " ".join(sorted(variables))), right.text
    if change := _option_change(wrong, right, error):
        return Way("option", change), right.text
    if set(wrong.words) != set(right.words):
        return Way("other"), ""  # another file, or another text
    known = {one.form for one, _ in _placed(failed, folder)}
    first = next((one for one in parts if one is not right and is_working(one) and one.form not in known), None)
    if first is not None and parts.index(first) < parts.index(right):
        return _before(first)
    if _folders(failed) != _folders(later):
        return _folder_way(calls, repair, right, folder)
    return _prepared(calls, repair)


def _variables(one: WrittenCommand) -> set[str]:
    """The variables that are set in front of a command."""
    return {word.partition("=")[0] for word in one.text.split() if is_assignment(word)}


def _option_change(wrong: WrittenCommand, right: WrittenCommand, error: str) -> str:
    """The options that were added or left out; empty if more differs, unless the error names them."""
    had, has = _options(wrong), _options(right)
    added, gone = [one for one in has if one not in had], [one for one in had if one not in has]
    named = [one for one in (*added, *gone) if one in error]
    if not named and _operands(wrong) != _operands(right):
        return ""
    return " ".join([f"+{name}" for name in added] + [f"-{name}" for name in gone])


def _operands(one: WrittenCommand) -> set[str]:
    return {word for word in one.words if not word.startswith("-")}


def _folders(call: JudgedCall) -> list[object]:
    entered = [one.words for one in written(call.command or "") if one.program == "cd"]
    return [argument(call.arguments, "folder"), *entered]


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


def _before(first: WrittenCommand) -> tuple[Way, str]:
    """The command that had to run first, by itself: what follows it is what the session was about to do anyway."""
    # Looking changes nothing: the call was only repeated.
    looks = only_looks(first.program, first.form.split()[-1])
    return (Way("again"), "") if looks else (Way("before", first.form), first.text)


def _counterpart(wrong: WrittenCommand | None, parts: Sequence[WrittenCommand]) -> WrittenCommand | None:
    """The later command that did what the failed one was meant to do."""
    working = [one for one in parts if is_working(one)]
    name = "" if wrong is None else wrong.program.rpartition("/")[2]
    same = [one for one in working if one.program.rpartition("/")[2] == name]
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
