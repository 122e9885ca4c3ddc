"""Finds which failed calls were repaired later in their session, and what made the difference."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal

import msgspec

from seasoned.command.parse import names, parse
from seasoned.command.rows import only_looks
from seasoned.command.tool import argument, argument_names
from seasoned.lazy_regex import LazyRegex
from seasoned.lesson.failure.call_target import (
    CACHE_SIZE,
    EXECUTION_ARGUMENTS,
    WRONG_PATH,
    CallTarget,
    ProgramRun,
    differs_by_wrapper,
    is_retry,
    target_of,
)
from seasoned.lesson.failure.signal import is_signal
from seasoned.lesson.failure.signature import mask, signature
from seasoned.lesson.failure.similarity import argument_texts, similarity_ratio
from seasoned.outcome.track import JudgedCall

ChangeKind = Literal[
    "again",  # nothing differs
    "without wrapper",
    "with wrapper",
    "program",
    "command",
    "variable",
    "option added",
    "option dropped",
    "before",
    "folder",
    "operands",
    "given",
    "renamed",
    "left out",
    "changed",
    "patch",
    "tool",
]
_MAX_NAMES = 2
_NAME_CHARS = 40
# Arguments that vary from call to call without effect.
_IRRELEVANT_ARGUMENTS = names(
    "timeout timeout_ms yield_time_ms max_output_tokens justification explanation run_in_background prefix_rule tty"
)
# Arguments of a shell that grant permissions.
PERMISSION_ARGUMENTS = names("sandbox_permissions with_escalated_permissions dangerouslyDisableSandbox")

_ACCESS_ERROR = LazyRegex(
    r"not permitted|permission|denied|EPERM|EACCES|network|resolve host|connect|log in", re.IGNORECASE
)


class CallChange(msgspec.Struct, frozen=True):
    """The difference that made a call work."""

    kind: ChangeKind
    names: tuple[str, ...] = ()  # wrappers, options, variables or arguments, depending on the kind
    program: str = ""  # the program of a shell call that worked; otherwise the tool

    @property
    def words(self) -> str:
        """The difference in words; empty if nothing differs."""
        what = code_list(self.names)
        match self.kind:
            case "again":
                return ""
            case "without wrapper" | "option dropped" | "left out":
                return f"without {what}"
            case "with wrapper" | "option added":
                return f"with {what}"
            case "program" | "command" | "tool":
                return f"with {code(self.names[1])} instead of {code(self.names[0])}"
            case "variable":
                return f"with {what} set"
            case "before":
                return f"with {what} before it"
            case "folder":
                return "from another folder"
            case "operands":
                return f"with other arguments to {code(self.program)}"
            case "given":
                return f"with {what} given"
            case "renamed":
                return f"with {code(self.names[1])} given, without {code(self.names[0])}"
            case "changed":
                return f"with {what} changed"
            case "patch":
                return "with another patch"


@lru_cache(maxsize=CACHE_SIZE)
def change_between(failed: CallTarget, worked: CallTarget) -> CallChange:
    """The difference that explains best why the second call worked and the first did not."""
    if failed.tool != worked.tool:
        return CallChange("tool", (failed.tool, worked.tool), worked.tool)
    if failed.runs and worked.runs:
        return next(_command_changes(failed, worked), CallChange("again", (), worked.label))
    if failed.label == "apply_patch":
        return CallChange("patch" if failed.text != worked.text else "again", (), worked.label)
    return _argument_change(failed, worked)


@lru_cache(maxsize=CACHE_SIZE)
def changed_arguments(failed: CallTarget, worked: CallTarget) -> tuple[str, ...]:
    """Names of arguments that differ, in the order of the call that worked."""
    before, after = failed.arguments, worked.arguments
    given = [*after, *[name for name in before if name not in after]]
    aside = _IRRELEVANT_ARGUMENTS | {"description"} if failed.form == "shell" else _IRRELEVANT_ARGUMENTS
    return tuple(name for name in given if name not in aside and before.get(name) != after.get(name))


def _command_changes(failed: CallTarget, worked: CallTarget) -> Iterator[CallChange]:
    """The differences of two commands, the most telling first."""
    old, new = _pair(failed, worked)
    rights = [
        name
        for name in changed_arguments(failed, worked)
        if name in PERMISSION_ARGUMENTS and worked.arguments.get(name)
    ]
    if rights and _ACCESS_ERROR.compiled.search(failed.error_text):
        yield CallChange("given", tuple(rights), new.wrapped)
    if failed.text != worked.text:
        if (
            WRONG_PATH.compiled.search(failed.error_text)
            and old.label == new.label
            and set(old.operands) != set(new.operands)
        ):
            # The path was wrong; other changes are incidental.
            yield CallChange("operands", (), new.wrapped)
        yield from _wrapper_changes(old, new)
        if old.program != new.program:
            yield CallChange("program", (old.program, new.program), new.wrapped)
        if old.label != new.label:
            yield CallChange("command", (old.wrapped, new.wrapped), new.wrapped)
        variables = [word[:-1] for word in new.prefix if word[-1] == "=" and word not in old.prefix]
        if variables:
            yield CallChange("variable", tuple(sorted(variables)), new.wrapped)
    if rights:
        yield CallChange("given", tuple(rights), new.wrapped)
    if failed.text != worked.text:
        yield from _word_changes(failed, worked, old, new)
    elif argument(failed.arguments, "folder") != argument(worked.arguments, "folder"):
        yield CallChange("folder", (), new.wrapped)


def _pair(failed: CallTarget, worked: CallTarget) -> tuple[ProgramRun, ProgramRun]:
    """The program that failed, and the one that did its work later."""
    for old in reversed(failed.failed_runs):
        for new in reversed(worked.runs):
            if old.label == new.label or differs_by_wrapper(old, new):
                return old, new
    old = failed.failed_runs[-1]
    near = max(worked.runs, key=lambda run: (run.program == old.program, similarity_ratio(run.label, old.label)))
    return old, near


def _wrapper_changes(old: ProgramRun, new: ProgramRun) -> Iterator[CallChange]:
    before, after = ([word for word in run.prefix if word[-1] != "="] for run in (old, new))
    gone = tuple(word for word in before if word not in after)
    more = tuple(word for word in after if word not in before)
    if not gone and not more and old.label != new.label and differs_by_wrapper(old, new):
        mine, theirs = (old.program, *old.words), (new.program, *new.words)
        extra = len(mine) - len(theirs)
        gone = (" ".join(mine[:extra]),) if extra > 0 else ()
        more = (" ".join(theirs[:-extra]),) if extra < 0 else ()
    if more and not _LIMITING_WRAPPERS.issuperset(more):
        yield CallChange("with wrapper", more, new.program)
    elif gone:
        yield CallChange("without wrapper", gone, new.program)


# Wrappers that limit or measure: adding one rarely makes a call work.
_LIMITING_WRAPPERS = names("time timeout gtimeout nohup nice stdbuf")


def _word_changes(failed: CallTarget, worked: CallTarget, old: ProgramRun, new: ProgramRun) -> Iterator[CallChange]:
    # An option that the error names is the relevant change, even if more was changed with it.
    asked = tuple(sorted({one for one in new.options if one not in old.options and one in failed.error_text}))
    refused = tuple(sorted({one for one in old.options if one not in new.options and one in failed.error_text}))
    if asked or refused:
        yield CallChange("option added" if asked else "option dropped", asked or refused, new.wrapped)
    if set(old.operands) != set(new.operands) or old.selects != new.selects:
        if not WRONG_PATH.compiled.search(failed.error_text):
            yield from _option_changes(old, new)
        yield CallChange("operands", (), new.wrapped)
    yield from _option_changes(old, new)
    yield from _surrounding_changes(failed, worked, new)


def _option_changes(old: ProgramRun, new: ProgramRun) -> Iterator[CallChange]:
    had, has = set(old.options), set(new.options)
    added, dropped = sorted(has - had), sorted(had - has)
    # If the operands changed too, an added option says little.
    if added and set(old.operands) == set(new.operands):
        yield CallChange("option added", tuple(added), new.wrapped)
    if dropped and not added:
        yield CallChange("option dropped", tuple(dropped), new.wrapped)


def _surrounding_changes(failed: CallTarget, worked: CallTarget, new: ProgramRun) -> Iterator[CallChange]:
    """What differs in a command besides the program that failed."""
    steps, before = parse(worked.text), parse(failed.text)
    known = {step.program for step in before}
    labels = {run.label for run in failed.runs}
    added = [run.label for run in worked.runs[:-1] if run.label not in labels]
    added += [step.program for step in steps[:-1] if step.program in _PREPARING_PROGRAMS and step.program not in known]
    if added:
        yield CallChange("before", (added[0],), new.wrapped)
    if _folders(failed) != _folders(worked):
        yield CallChange("folder", (), new.wrapped)
    words = {step.words for step in before}
    other = [step.program for step in steps if step.program in known and step.words not in words]
    if other:
        by_program = {run.program: run.wrapped for run in worked.runs}
        yield CallChange("operands", (), by_program.get(other[-1], other[-1]))


_PREPARING_PROGRAMS = names("mkdir sleep source export")


def _folders(target: CallTarget) -> tuple[object, ...]:
    return (argument(target.arguments, "folder"), *[step.words for step in parse(target.text) if step.program == "cd"])


def _argument_change(failed: CallTarget, worked: CallTarget) -> CallChange:
    """The arguments that made the difference; if the path was wrong, the path."""
    changed = changed_arguments(failed, worked)
    placed = [name for name in changed if name in argument_names("path")]
    if placed and WRONG_PATH.compiled.search(failed.error_text):
        return CallChange("changed", tuple(placed), worked.tool)
    changed = tuple(name for name in changed if name not in EXECUTION_ARGUMENTS) or changed
    added = tuple(name for name in changed if name not in failed.arguments)
    gone = tuple(name for name in changed if name not in worked.arguments)
    other = tuple(name for name in changed if name not in added and name not in gone)
    if len(added) == len(gone) == 1:
        return CallChange("renamed", (*gone, *added), worked.tool)
    if added:
        return CallChange("given", added, worked.tool)
    if gone:
        return CallChange("left out", gone, worked.tool)
    if not other:
        return CallChange("again", (), worked.tool)
    return CallChange("changed", other, worked.tool)


def code_list(given: Sequence[str]) -> str:
    """Names from a session as a list of code."""
    shown = " and ".join(code(name) for name in given[:_MAX_NAMES])
    return shown if len(given) <= _MAX_NAMES else f"{shown} and {len(given) - _MAX_NAMES} more"


def code(name: str) -> str:
    """A name from a session as code."""
    return f"`{plain_name(name)}`"


@lru_cache(maxsize=1024)
def plain_name(name: str) -> str:
    """A name from a session, truncated and without backticks."""
    kept = "".join([c for c in name if c.isprintable() and c not in "`<>"])
    return kept[:_NAME_CHARS] or mask(name)[:_NAME_CHARS] or "?"


# How many calls later a repair may come; later successes probably have other causes.
MAX_CALLS_TO_REPAIR = 10
_INSTALL_SUBCOMMANDS = names("install ci sync tidy generate add update restore bootstrap")


class RepairStep(msgspec.Struct, frozen=True):
    """A successful call between a failure and its repair that may have mattered."""

    at: int
    kind: Literal["same file", "edit", "run", "found"]


class Repair(msgspec.Struct, frozen=True):
    """A failed call and the later call that achieved the same."""

    failed: int
    repaired: int
    calls: int  # how many calls it took
    changed: tuple[str, ...] = ()  # names of changed, added or removed arguments
    change: CallChange = CallChange("again")
    steps: tuple[RepairStep, ...] = ()  # what was done in between and may have mattered

    @property
    def how(self) -> str:
        """What made the difference, in words."""
        return self.change.words or "same call again"


def repairs(
    calls: Sequence[JudgedCall], *, within: int = MAX_CALLS_TO_REPAIR, targets: CallTargets | None = None
) -> tuple[Repair, ...]:
    """For each failed call the first later success with the same target; none if the error came back."""
    targets = targets or CallTargets(calls)
    failed = targets.failed
    ends: dict[int, int] = {}
    gone: dict[int, int] = {}
    for at in reversed(failed):
        found = _find_repair(targets, at, within, ends)
        if found is not None:
            gone[at], ends[at] = found
    return tuple(
        _repair(targets, at, gone[at], ends[at])
        for at in failed
        if at in ends and not _error_came_back(targets, at, ends[at])
    )


class CallTargets:
    """The targets of calls and whether failed ones are signals, computed on first use."""

    def __init__(self, calls: Sequence[JudgedCall]) -> None:
        self.calls = calls
        self.failed = [at for at, call in enumerate(calls) if call.has_failed]
        self._signals: dict[int, bool] = {}

    def __getitem__(self, at: int) -> CallTarget:
        return target_of(self.calls[at])

    def is_signal(self, at: int) -> bool:
        if at not in self._signals:
            self._signals[at] = is_signal(self.calls[at])
        return self._signals[at]


def _find_repair(targets: CallTargets, at: int, within: int, ends: dict[int, int]) -> tuple[int, int] | None:
    """Where the error disappeared and where the call worked: directly, or after further attempts."""
    calls = targets.calls
    for later in range(at + 1, min(at + within, len(calls) - 1) + 1):
        call = calls[later]
        # Calls of one message were made together, so none is a reaction to another.
        if not call.is_counted or call.message <= calls[at].message or not _may_match(calls[at], call):
            continue
        # A call that the user corrected is not a repair, even if the tool reported success.
        if later not in ends if call.has_failed else call.is_corrected:
            continue
        if is_retry(targets[at], targets[later]):
            if not call.has_failed:
                return later, later
            if not targets.is_signal(at) and targets.is_signal(later):
                # The call was right from here on and reported on the code: what followed fixed the code.
                return later, ends[later]
            if ends[later] <= at + within:
                return ends[later], ends[later]
    return None


def _error_came_back(targets: CallTargets, at: int, end: int) -> bool:
    """Whether the repaired call later failed with the same error: then it had worked by chance."""
    calls = targets.calls
    if targets.is_signal(at):
        # Tests may fail again after more work; that says nothing about the earlier fix.
        return False
    again = [calls[one] for one in targets.failed if one > end and calls[one].tool == calls[end].tool]
    same = [one for one in again if not changed_arguments(targets[end], target_of(one))]
    return bool(same) and any(signature(one) == signature(calls[at]) for one in same)


def _may_match(failed: JudgedCall, later: JudgedCall) -> bool:
    """A cheap test before comparing targets: the same tool or kind; a shell may work on files too."""
    return failed.tool == later.tool or failed.kind == later.kind or "file" in (failed.kind, later.kind)


def _repair(targets: CallTargets, at: int, gone: int, end: int) -> Repair:
    failed, worked = targets[at], targets[gone]
    change = change_between(failed, worked)
    changed = changed_arguments(failed, worked)
    steps = tuple(_steps(targets, at, gone, changed))
    return Repair(at, end, end - at, tuple(plain_name(name) for name in changed), change, steps)


def _steps(targets: CallTargets, at: int, end: int, changed: tuple[str, ...]) -> Iterator[RepairStep]:
    """Successful calls in between that may have mattered."""
    failed, repaired = targets[at], targets[end]
    new = _new_words(failed, repaired)
    # If the command is unchanged, something in between made the difference.
    needs_cause = bool(failed.runs) and (not changed or any(run.is_check for run in failed.failed_runs))
    for position in range(at + 1, end):
        call = targets.calls[position]
        if call.counts_as != "ok" or call.message <= targets.calls[at].message:
            continue
        between = targets[position]
        if repaired.path is not None and _is_about(between, repaired.path):
            yield RepairStep(position, "same file")
        elif needs_cause and between.form == "file_write":
            yield RepairStep(position, "edit")
        elif needs_cause and _changes(between):
            yield RepairStep(position, "run")
        elif call.result and any(leaf in call.result for leaf in new):
            yield RepairStep(position, "found")


@lru_cache(maxsize=CACHE_SIZE)
def _new_words(failed: CallTarget, repaired: CallTarget) -> tuple[str, ...]:
    """Words that only the call that worked has: they may have been found in between."""
    old = set(argument_texts(failed.arguments))
    new = [leaf for leaf in argument_texts(repaired.arguments) if leaf not in old and 4 <= len(leaf) <= 200]
    new += [word for run in repaired.runs for word in run.operands if len(word) >= 4 and word not in failed.text]
    return tuple(new)


def _is_about(between: CallTarget, path: str) -> bool:
    return between.path == path or any(path in run.operands for run in between.runs)


def _changes(target: CallTarget) -> bool:
    """Whether a command may have changed something."""
    return any(not _only_looks(run) and (not run.is_check or _installs(run)) for run in target.runs)


def _installs(run: ProgramRun) -> bool:
    return not _INSTALL_SUBCOMMANDS.isdisjoint(run.label.split()[1:])


def _only_looks(run: ProgramRun) -> bool:
    if only_looks(run.program, run.label.split()[-1]) or run.is_inline or run.program == "curl":
        return True
    return run.program == "sed" and "-i" not in run.options
