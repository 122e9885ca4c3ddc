"""The measures of a run: each a share of trials or a number, the same for every arm."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

import msgspec

from seasoned.outcome.error_rate import count_name
from seasoned.outcome.judge import judge_session
from seasoned.report.profile import measures_of
from seasoned.report.trials import EARLY_TURNS
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


def counted(record: TaskRun) -> list[RunCall]:
    """The calls that count: those that worked and those that failed."""
    return [call for call in record.calls if call.counts_as in ("ok", "failed")]


def never_after(records: Iterable[TaskRun]) -> int:
    """The value for a success that never came: one call more than any run made, for every arm."""
    return 1 + max((len(counted(one)) for one in records), default=0)


def tallies(record: TaskRun, *, never: int) -> dict[Measure, TrialTally]:
    """All measures of one run; what was not recorded does not count. `never`: calls up to a success that never came."""
    calls = counted(record)
    measures = measures_of(record.calls, [call.turn for call in record.calls])
    worked = [number for number, call in enumerate(calls, start=1) if call.counts_as == "ok"]
    known = [call.is_valid for call in record.calls if call.is_valid is not None]
    tokens = (record.usage.prompt, record.usage.output)
    return {
        "executed": TrialTally(len(worked), len(calls)),
        # A run without a call has none that executed.
        "first_call": TrialTally(worked[:1] == [1], 1),
        "success": TrialTally(record.check == "passed", 1),
        "early_errors": TrialTally(measures.early_errors, measures.early_calls),
        "errors": TrialTally(measures.errors, 1),
        "calls_to_success": TrialTally(measures.calls_to_success or never, 1),
        "diversity": TrialTally(measures.diversity, 1),
        "valid": TrialTally(sum(known), len(known)),
        "tokens": _number(None if None in tokens else sum(filter(None, tokens))),
        "cost_usd": _number(record.cost_usd),
        "latency_seconds": _number(record.latency_seconds),
    }


def _number(value: float | None) -> TrialTally:
    return NOTHING if value is None else TrialTally(value, 1)
