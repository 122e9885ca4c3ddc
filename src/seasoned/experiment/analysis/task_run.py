"""The measures of a run: each a share of trials or a number, the same for every arm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Literal, get_args

import msgspec

from seasoned.errors import UsageError
from seasoned.insight.trials import EARLY_TURNS
from seasoned.outcome.error_rate import Counts, count_name
from seasoned.outcome.judge import judge_session
from seasoned.session import Session, Usage

# The result of the task's check.
Check = Literal["passed", "failed"]


class RunCall(msgspec.Struct, frozen=True):
    """One call of a run with its verdict."""

    tool: str
    # The count of the error rate that it falls into: ok, failed, unclear, declined, trivial, …
    counts_as: str
    turn: int  # the answer of the model that made it, from 1
    # Whether it named a tool that was offered, with arguments that the tool's schema takes; None: not checked.
    is_valid: bool | None = None


class TaskRun(msgspec.Struct, frozen=True, kw_only=True):
    """One finished run. Everything that is measured or compared comes from here."""

    experiment: str
    model: str
    arm: str
    task: str
    repeat: int
    seed: int = 0
    check: Check
    reason: str = ""  # why the check failed, for a person
    calls: tuple[RunCall, ...] = ()
    usage: Usage = Usage()
    cost_usd: float | None = None
    latency_seconds: float | None = None
    example_ids: tuple[str, ...] = ()  # examples that were shown
    task_set: str = ""
    part: str = ""
    session: str | None = None  # `agent:native id` of the recording
    ended_at: float | None = None

    @property
    def key(self) -> tuple[str, str, str, str, str, int]:
        """Identifies the run: one that is repeated has the same key and counts once."""
        return self.experiment, self.model, self.arm, self.task_set, self.task, self.repeat


def calls_of(session: Session) -> tuple[RunCall, ...]:
    """The calls of a recorded session with their verdicts, without those that a warm start put there."""
    turns: dict[int, int] = {}
    for number, message in enumerate(session.messages, start=session.first_message):
        if message.role == "assistant" and not message.synthetic:
            turns[number] = len(turns) + 1
    return tuple(
        RunCall(call.tool, count_name(call, verdict), turns.get(call.message, len(turns) + 1))
        for call, verdict in judge_session(session)
    )


Measure = Literal[
    "executed",
    "first_call",
    "success",
    "early_errors",
    "errors",
    "calls_to_success",
    "diversity",
    "valid",
    "tokens",
    "cost_usd",
    "latency_seconds",
]
MEASURES: tuple[Measure, ...] = get_args(Measure)
Unit = Literal["share", "number"]


class MeasureKind(msgspec.Struct, frozen=True):
    """What a measure is called, what it counts and which direction is better."""

    label: str
    unit: Unit
    is_better_high: bool


KINDS: dict[Measure, MeasureKind] = {
    "executed": MeasureKind("calls that execute", "share", True),
    "first_call": MeasureKind("first calls that execute", "share", True),
    "success": MeasureKind("tasks done", "share", True),
    "early_errors": MeasureKind(f"calls that fail in the first {EARLY_TURNS} turns", "share", False),
    "errors": MeasureKind("errors in a run", "number", False),
    "calls_to_success": MeasureKind("calls up to the first that executes", "number", False),
    "diversity": MeasureKind("different tools in a run", "number", True),
    "valid": MeasureKind("calls that fit their schema", "share", True),
    "tokens": MeasureKind("tokens of a run", "number", False),
    "cost_usd": MeasureKind("dollars for a run", "number", False),
    "latency_seconds": MeasureKind("seconds for a run", "number", False),
}


class TrialTally(msgspec.Struct, frozen=True):
    """One measure of some runs: `total` over `trials`. A share's total is how many trials were so."""

    total: float
    trials: int

    def __add__(self, other: TrialTally) -> TrialTally:
        return TrialTally(self.total + other.total, self.trials + other.trials)

    @property
    def value(self) -> float | None:
        return self.total / self.trials if self.trials else None


NOTHING = TrialTally(0, 0)


class Measures(msgspec.Struct, frozen=True):
    """All measures of one run; None if it was not recorded or never happened."""

    success: bool
    counts: Counts
    early: Counts  # the same in the first turns
    first_call: bool  # whether the first call executed; a run without a call has none that did
    # Counted calls up to the first that executed, itself included; None where none did.
    calls_to_success: int | None
    diversity: int  # different tools among the calls, trivial ones left out
    valid: int
    valid_of: int  # calls of which it is known whether they fit their schema
    tokens: int | None
    cost_usd: float | None
    latency_seconds: float | None


def measure(record: TaskRun) -> Measures:
    """All measures of one run."""
    counted = [call for call in record.calls if call.counts_as in ("ok", "failed")]
    worked = [number for number, call in enumerate(counted, start=1) if call.counts_as == "ok"]
    known = [call.is_valid for call in record.calls if call.is_valid is not None]
    tokens = [part for part in (record.usage.prompt, record.usage.output) if part is not None]
    return Measures(
        success=record.check == "passed",
        counts=count(record.calls),
        early=count(call for call in record.calls if call.turn <= EARLY_TURNS),
        first_call=bool(worked) and worked[0] == 1,
        calls_to_success=worked[0] if worked else None,
        diversity=len({call.tool for call in record.calls if call.counts_as != "trivial"}),
        valid=sum(known),
        valid_of=len(known),
        tokens=sum(tokens) if len(tokens) == 2 else None,
        cost_usd=record.cost_usd,
        latency_seconds=record.latency_seconds,
    )


def count(calls: Iterable[RunCall]) -> Counts:
    """Count calls by outcome."""
    return Counts(**Counter(call.counts_as for call in calls))


def tally(found: Measures, name: Measure, *, never: int) -> TrialTally:
    """One measure of one run as a tally; `never` replaces the calls up to a success that never came."""
    if name not in _TALLIES:
        raise UsageError(f"There is no measure {name!r}. Use one of {', '.join(MEASURES)}.")
    return _TALLIES[name](found, never)


def _number(value: float | None) -> TrialTally:
    return NOTHING if value is None else TrialTally(value, 1)


_TALLIES: dict[str, Callable[[Measures, int], TrialTally]] = {
    "executed": lambda found, _: TrialTally(found.counts.ok, found.counts.counted),
    "first_call": lambda found, _: TrialTally(found.first_call, 1),
    "success": lambda found, _: TrialTally(found.success, 1),
    "early_errors": lambda found, _: TrialTally(found.early.failed, found.early.counted),
    "errors": lambda found, _: TrialTally(found.counts.failed, 1),
    "calls_to_success": lambda found, never: TrialTally(found.calls_to_success or never, 1),
    "diversity": lambda found, _: TrialTally(found.diversity, 1),
    "valid": lambda found, _: TrialTally(found.valid, found.valid_of),
    "tokens": lambda found, _: _number(found.tokens),
    "cost_usd": lambda found, _: _number(found.cost_usd),
    "latency_seconds": lambda found, _: _number(found.latency_seconds),
}


def never_after(found: Iterable[Measures]) -> int:
    """The value for a success that never came: one call more than any run made, for every arm."""
    return 1 + max((one.counts.counted for one in found), default=0)
