"""Finds which failed calls were repaired later in their session, and what made the difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal

import msgspec

from seasoned.command.parse import names
from seasoned.command.rows import only_looks
from seasoned.lesson.failure.call_target import (
    CACHE_SIZE,
    CallTarget,
    ProgramRun,
    is_retry,
    target_of,
)
from seasoned.lesson.failure.signal import is_signal
from seasoned.outcome.track import JudgedCall

# Arguments that vary from call to call without effect.
_IRRELEVANT_ARGUMENTS = names(
    "timeout timeout_ms yield_time_ms max_output_tokens justification explanation run_in_background prefix_rule tty"
)
# Arguments of a shell that grant permissions.
PERMISSION_ARGUMENTS = names("sandbox_permissions with_escalated_permissions dangerouslyDisableSandbox")


@lru_cache(maxsize=CACHE_SIZE)
def changed_arguments(failed: CallTarget, worked: CallTarget) -> tuple[str, ...]:
    """Names of arguments that differ, in the order of the call that worked."""
    before, after = failed.arguments, worked.arguments
    given = [*after, *[name for name in before if name not in after]]
    aside = _IRRELEVANT_ARGUMENTS | {"description"} if failed.form == "shell" else _IRRELEVANT_ARGUMENTS
    return tuple(name for name in given if name not in aside and before.get(name) != after.get(name))


# How many calls later a repair may come; later successes probably have other causes.
MAX_CALLS_TO_REPAIR = 10
_INSTALL_SUBCOMMANDS = names("install ci sync tidy generate add update restore bootstrap")


class RepairStep(msgspec.Struct, frozen=True):
    """A successful call between a failure and its repair that may have mattered."""

    at: int
    kind: Literal["edit", "run"]


class Repair(msgspec.Struct, frozen=True):
    """A failed call and the later call that achieved the same."""

    failed: int
    repaired: int
    calls: int  # how many calls it took
    changed: tuple[str, ...] = ()  # names of changed, added or removed arguments
    steps: tuple[RepairStep, ...] = ()  # what was done in between and may have mattered


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
    return tuple(_repair(targets, at, gone[at], ends[at]) for at in failed if at in ends)


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


def _may_match(failed: JudgedCall, later: JudgedCall) -> bool:
    """A cheap test before comparing targets: the same tool or kind; a shell may work on files too."""
    return failed.tool == later.tool or failed.kind == later.kind or "file" in (failed.kind, later.kind)


def _repair(targets: CallTargets, at: int, gone: int, end: int) -> Repair:
    changed = changed_arguments(targets[at], targets[gone])
    return Repair(at, end, end - at, changed, tuple(_steps(targets, at, gone, changed)))


def _steps(targets: CallTargets, at: int, end: int, changed: tuple[str, ...]) -> Iterator[RepairStep]:
    """Successful calls in between that may have mattered: the command did not change, or it checks code."""
    failed = targets[at]
    if not failed.runs or (changed and not any(run.is_check for run in failed.failed_runs)):
        return
    for position in range(at + 1, end):
        call, between = targets.calls[position], targets[position]
        if call.counts_as != "ok" or call.message <= targets.calls[at].message:
            continue
        if between.form == "file_write":
            yield RepairStep(position, "edit")
        elif _changes(between):
            yield RepairStep(position, "run")


def _changes(target: CallTarget) -> bool:
    """Whether a command may have changed something."""
    return any(not _only_looks(run) and (not run.is_check or _installs(run)) for run in target.runs)


def _installs(run: ProgramRun) -> bool:
    return not _INSTALL_SUBCOMMANDS.isdisjoint(run.label.split()[1:])


def _only_looks(run: ProgramRun) -> bool:
    if only_looks(run.program, run.label.split()[-1]) or run.is_inline or run.program == "curl":
        return True
    return run.program == "sed" and "-i" not in run.options
