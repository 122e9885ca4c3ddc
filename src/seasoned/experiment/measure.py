"""The measures of a run: each a share of trials or a number, the same for every arm."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, get_args

import msgspec

from seasoned.errors import UsageError
from seasoned.experiment.run_record import RunCall, RunRecord
from seasoned.insight.trials import EARLY_TURNS
from seasoned.outcome.error_rate import Counts

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


class Kind(msgspec.Struct, frozen=True):
    """What a measure is called, what it counts and which direction is better."""

    label: str
    unit: Unit
    is_better_high: bool


KINDS: dict[Measure, Kind] = {
    "executed": Kind("calls that execute", "share", True),
    "first_call": Kind("first calls that execute", "share", True),
    "success": Kind("tasks done", "share", True),
    "early_errors": Kind(f"calls that fail in the first {EARLY_TURNS} turns", "share", False),
    "errors": Kind("errors in a run", "number", False),
    "calls_to_success": Kind("calls up to the first that executes", "number", False),
    "diversity": Kind("different tools in a run", "number", True),
    "valid": Kind("calls that fit their schema", "share", True),
    "tokens": Kind("tokens of a run", "number", False),
    "cost_usd": Kind("dollars for a run", "number", False),
    "latency_seconds": Kind("seconds for a run", "number", False),
}


class Tally(msgspec.Struct, frozen=True):
    """One measure of some runs: `total` over `trials`. A share's total is how many trials were so."""

    total: float
    trials: int

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.total + other.total, self.trials + other.trials)

    @property
    def value(self) -> float | None:
        return self.total / self.trials if self.trials else None


NOTHING = Tally(0, 0)


class Measures(msgspec.Struct, frozen=True):
    """Everything that is measured of one run; None where it was not recorded or never happened."""

    success: bool | None
    """None where the check is broken."""
    counts: Counts
    early: Counts
    """The same in the first turns."""
    first_call: bool
    """Whether the first call executed; a run without a call has none that did."""
    calls_to_success: int | None
    """Counted calls up to the first that executed, itself included; None where none did."""
    diversity: int
    """Different tools among the calls, trivial ones left out."""
    valid: int
    valid_of: int
    """Calls of which it is known whether they fit their schema."""
    tokens: int | None
    cost_usd: float | None
    latency_seconds: float | None


def measure(record: RunRecord) -> Measures:
    """All measures of one run."""
    counted = [call for call in record.calls if call.counts_as in ("ok", "failed")]
    worked = [number for number, call in enumerate(counted, start=1) if call.counts_as == "ok"]
    known = [call.is_valid for call in record.calls if call.is_valid is not None]
    tokens = [part for part in (record.usage.prompt, record.usage.output) if part is not None]
    return Measures(
        success=None if record.check == "broken" else record.check == "passed",
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
    """Calls by what they count as."""
    counts = dict.fromkeys(Counts.__struct_fields__, 0)
    for call in calls:
        counts[call.counts_as] += 1
    return Counts(**counts)


def tally(found: Measures, name: Measure, *, never: int) -> Tally:
    """One measure of one run as a tally; `never` stands for the calls to a success that did not come."""
    if name not in _TALLIES:
        raise UsageError(f"there is no measure {name!r}: use one of {', '.join(MEASURES)}")
    return _TALLIES[name](found, never)


def _number(value: float | None) -> Tally:
    return NOTHING if value is None else Tally(value, 1)


_TALLIES: dict[str, Callable[[Measures, int], Tally]] = {
    "executed": lambda found, _: Tally(found.counts.ok, found.counts.counted),
    "first_call": lambda found, _: Tally(found.first_call, 1),
    "success": lambda found, _: _number(found.success),
    "early_errors": lambda found, _: Tally(found.early.failed, found.early.counted),
    "errors": lambda found, _: Tally(found.counts.failed, 1),
    "calls_to_success": lambda found, never: Tally(found.calls_to_success or never, 1),
    "diversity": lambda found, _: Tally(found.diversity, 1),
    "valid": lambda found, _: Tally(found.valid, found.valid_of),
    "tokens": lambda found, _: _number(found.tokens),
    "cost_usd": lambda found, _: _number(found.cost_usd),
    "latency_seconds": lambda found, _: _number(found.latency_seconds),
}


def never_after(found: Iterable[Measures]) -> int:
    """What stands for a success that did not come: one call more than any run made, the same for every arm."""
    return 1 + max((one.counts.counted for one in found), default=0)
