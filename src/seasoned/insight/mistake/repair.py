"""Finds which failed calls were repaired later in their session, and what made the difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal

import msgspec

from seasoned.command.parse import names
from seasoned.command.risk import only_looks
from seasoned.insight.mistake.call_target import REMEMBERED, CallTarget, ProgramRun, reaches, target_of
from seasoned.insight.mistake.difference import CallChange, change_between, changed_arguments, code, plain_name
from seasoned.insight.mistake.failure import is_signal
from seasoned.insight.mistake.signature import signature
from seasoned.insight.mistake.similarity import leaves
from seasoned.insight.track import JudgedCall

# How many calls later a repair may come; later successes may have other causes.
WITHIN = 10
_VIA = 3
# Changes of the call itself that explain a repair without any step before it.
_EXPLAINS = ("without wrapper", "with wrapper", "program", "command", "variable", "option dropped", "before", "given")


_INSTALLS = names("install ci sync tidy generate add update restore bootstrap")


class RepairStep(msgspec.Struct, frozen=True):
    """A successful call between a failure and its repair that may have mattered."""

    at: int
    kind: Literal["same file", "edit", "run", "found"]
    name: str  # the tool or program; of an edit the file

    @property
    def words(self) -> str:
        """Where the step stands, in words."""
        if self.kind == "edit":
            return f"after editing {code(self.name)}"
        return f"after {code(self.name)} of the same file" if self.kind == "same file" else f"after {code(self.name)}"


class Repair(msgspec.Struct, frozen=True):
    """A failed call and the later call that achieved the same."""

    failed: int
    repaired: int
    calls: int  # how many calls it took
    how: str  # what made the difference, in words
    changed: tuple[str, ...] = ()  # names of changed, added or removed arguments
    # Steps in between that mattered: tools, or programs of a shell.
    via: tuple[str, ...] = ()
    change: CallChange = CallChange("again")
    step: int | None = None  # the position of the step in between that mattered; None if the call itself was changed
    steps: tuple[RepairStep, ...] = ()  # all that may have mattered, to be weighed over many sessions


def repairs(
    calls: Sequence[JudgedCall], *, within: int = WITHIN, aims: CallTargets | None = None
) -> tuple[Repair, ...]:
    """For each failed call the first later success with the same target; none if the error came back."""
    aims = aims or CallTargets(calls)
    failed = aims.failed
    ends: dict[int, int] = {}
    gone: dict[int, int] = {}
    for at in reversed(failed):
        found = _end(aims, at, within, ends)
        if found is not None:
            gone[at], ends[at] = found
    return tuple(
        _repair(aims, at, gone[at], ends[at]) for at in failed if at in ends and not _is_back(aims, at, ends[at])
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


def _end(aims: CallTargets, at: int, within: int, ends: dict[int, int]) -> tuple[int, int] | None:
    """Where the error was gone and where the call worked: directly, or after further attempts."""
    calls = aims.calls
    for later in range(at + 1, min(at + within, len(calls) - 1) + 1):
        call = calls[later]
        # Calls of one message were made together, so none is a reaction to another.
        if not call.is_counted or call.message <= calls[at].message or not _may(calls[at], call):
            continue
        # A call that the user corrected is not a repair, whatever the tool said.
        if later not in ends if call.has_failed else call.is_corrected:
            continue
        if reaches(aims[at], aims[later]):
            if not call.has_failed:
                return later, later
            if not aims.is_signal(at) and aims.is_signal(later):
                # Called rightly at last, it reported on the code: what followed repaired that, not the call.
                return later, ends[later]
            if ends[later] <= at + within:
                return ends[later], ends[later]
    return None


def _is_back(aims: CallTargets, at: int, end: int) -> bool:
    """Whether the call that repaired a mistake later failed with the same error: then it had worked by chance."""
    calls = aims.calls
    if aims.is_signal(at):
        # Tests that fail again after more work say nothing about what fixed them before.
        return False
    again = [calls[one] for one in aims.failed if one > end and calls[one].tool == calls[end].tool]
    same = [one for one in again if not changed_arguments(aims[end], target_of(one))]
    return bool(same) and any(signature(one) == signature(calls[at]) for one in same)


def _may(failed: JudgedCall, later: JudgedCall) -> bool:
    """A cheap test before comparing targets: the same tool or kind; a shell may work on files too."""
    return failed.tool == later.tool or failed.kind == later.kind or "file" in (failed.kind, later.kind)


def _repair(aims: CallTargets, at: int, gone: int, end: int) -> Repair:
    failed, worked = aims[at], aims[gone]
    change = change_between(failed, worked)
    changed = changed_arguments(failed, worked)
    steps = tuple(_steps(aims, at, gone, changed))
    step = _chosen(aims, at, change, steps)
    how = ", ".join(part for part in (_difference(aims, at, change, step), step.words if step else "") if part)
    via = tuple(dict.fromkeys(_label(aims, one) for one in steps))[-_VIA:]
    names = tuple(plain_name(name) for name in changed)
    return Repair(at, end, end - at, how or "same call again", names, via, change, step.at if step else None, steps)


def _chosen(aims: CallTargets, at: int, change: CallChange, steps: Sequence[RepairStep]) -> RepairStep | None:
    """The step that mattered: reading the same file first, otherwise the last one; none if the change explains it."""
    if not steps or (change.kind in _EXPLAINS and not aims.is_signal(at)):
        return None
    return next((step for step in steps if step.kind == "same file"), steps[-1])


def _difference(aims: CallTargets, at: int, change: CallChange, step: RepairStep | None) -> str:
    # A check that passes after an edit passes because of the edit, however it was called.
    return "" if step is not None and step.kind in ("edit", "run") and aims.is_signal(at) else change.words


def _steps(aims: CallTargets, at: int, end: int, changed: tuple[str, ...]) -> Iterator[RepairStep]:
    """Successful calls in between that may have mattered."""
    failed, repaired = aims[at], aims[end]
    new = _new_words(failed, repaired)
    # The command is unchanged: then something that changed in between made the difference.
    needs_cause = bool(failed.runs) and (not changed or any(run.is_check for run in failed.blamed))
    for position in range(at + 1, end):
        call = aims.calls[position]
        if call.counts_as != "ok" or call.message <= aims.calls[at].message:
            continue
        between = aims[position]
        if repaired.path is not None and _is_about(between, repaired.path):
            yield RepairStep(position, "same file", between.label)
        elif needs_cause and between.speech == "file_write":
            yield RepairStep(position, "edit", (between.path or between.label).rstrip("/").rsplit("/", 1)[-1])
        elif needs_cause and _changes(between):
            yield RepairStep(position, "run", _changer(between))
        elif call.result and any(leaf in call.result for leaf in new):
            yield RepairStep(position, "found", between.label)


@lru_cache(maxsize=REMEMBERED)
def _new_words(failed: CallTarget, repaired: CallTarget) -> tuple[str, ...]:
    """What the call that worked says and the one that failed does not: it may have been found in between."""
    old = set(leaves(failed.arguments))
    new = [leaf for leaf in leaves(repaired.arguments) if leaf not in old and 4 <= len(leaf) <= 200]
    new += [word for run in repaired.runs for word in run.operands if len(word) >= 4 and word not in failed.text]
    return tuple(new)


def _label(aims: CallTargets, step: RepairStep) -> str:
    return aims[step.at].label if step.kind == "edit" else step.name


def _is_about(between: CallTarget, path: str) -> bool:
    return between.path == path or any(path in run.operands for run in between.runs)


def _changes(aim: CallTarget) -> bool:
    """Whether a command may have changed something."""
    return any(not _looks(run) and (not run.is_check or _installs(run)) for run in aim.runs)


def _installs(run: ProgramRun) -> bool:
    return not _INSTALLS.isdisjoint(run.label.split()[1:])


def _changer(aim: CallTarget) -> str:
    acting = [run for run in aim.runs if not _looks(run) and (not run.is_check or _installs(run))]
    return acting[-1].wrapped if acting else aim.label


def _looks(run: ProgramRun) -> bool:
    if only_looks(run.program, run.label.split()[-1]) or run.is_inline or run.program == "curl":
        return True
    return run.program == "sed" and "-i" not in run.options
