"""The harm guard: after which shown examples do calls fail? A pure function over judged calls.

For each example, it looks at the lineages that were shown it and then made a call of its form, one after the other. In
one lineage f such calls failed and g worked. Two explanations compete: the example still works, and calls fail at the
tool's usual rate u; or it no longer works, and they fail at the rate FAILS. Calls of one lineage resemble each other,
so within a lineage the rate itself varies (beta-binomial, Skellam 1948, correlation ρ = ALIKE), and the likelihood
ratio of a lineage is

    Λ = B(a₁ + f, b₁ + g) / B(a₁, b₁) · B(a₀, b₀) / B(a₀ + f, b₀ + g),   a = m (1 − ρ) / ρ,  b = (1 − m) (1 − ρ) / ρ

with the mean m = FAILS above and m = u below. A convention changes at an unknown moment, after any number of
lineages in which all was well: R ← (1 + R) · Λ sums the evidence for a change before each of them (Shiryaev 1963,
Roberts 1966). R minus the number of lineages is a martingale while the example works, so the mean number of lineages
until a false alarm is at least the bound ALARM that R must reach (Pollak 1985), and no more than n / ALARM of good
examples are suspended within n lineages (Doob 1953). A prior chance of CHANGES that a lineage is the first after a
change turns R into a probability: R / (R + 1 / CHANGES).

No lineage counts for more than MOST_FAILURES failed calls, so that none decides alone, however often it tried. Only
failures that were the call's own fault count fully. Those of the environment count a little, because the judge can be
wrong; declined, cancelled and unclear calls do not count, nor do tests and linters that report on the code. An example
is restored when lineages that were not shown it make calls of its form that work: the same sum, with the two
explanations swapped, reaches RESTORE.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import exp, lgamma
from typing import Any, Literal

import msgspec

from seasoned.example.call_form import CallForm, call_form_of
from seasoned.example.example import Example
from seasoned.lesson.failure.signal import is_signal
from seasoned.outcome.track import JudgedCall, Track

Decision = Literal["suspend", "keep", "restore"]
# Measured with examples of an outdated convention: four calls in five fail.
FAILS = 0.8
ALIKE = 0.1
ALARM = 1000.0
RESTORE = 200.0
CHANGES = 0.005
MOST_FAILURES = 3.0
# Bounds of the usual rate: one failure in twenty can be chance, and a tool that fails very often would hide everything.
_USUAL = (0.05, 0.3)
_PRIOR_CALLS = 10
_PRIOR_RATE = 0.1
_WEIGHTS = {"call": 1.0, "none": 0.5, "environment": 0.2}
_SHOWN_CALLS = 12
_RESTORING_LINEAGES = 3
_PLAIN_NAME = re.compile(r"[\w.:-]{1,64}\Z", re.ASCII)


class WatchedSession(msgspec.Struct, frozen=True):
    """A session, and the ids of the examples that it was shown; none for a cold one."""

    track: Track
    shown: tuple[str, ...] = ()


class FollowingCall(msgspec.Struct, frozen=True):
    """A call in the form of an example."""

    session: str
    call: str
    has_failed: bool
    fault: str


class GuardRuling(msgspec.Struct, frozen=True):
    """What was decided about an example, and why."""

    example_id: str
    tool: str
    decision: Decision
    reason: str
    lineages: int  # that made calls of its form, up to the decision
    failures: float  # weighted by fault
    successes: int
    usual: float  # the rate at which calls of the tool fail otherwise
    evidence_ratio: float  # R: how much better the other explanation fits; 1,000 or more decides
    probability: float  # that the example no longer works; for a restored one, that it works again
    calls: tuple[FollowingCall, ...] = ()  # the last ones, newest at the end

    @property
    def evidence(self) -> dict[str, Any]:
        """The evidence for the decision, stored with the state."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found


class _LineageCalls:
    """The calls of one lineage that have the form of one example."""

    __slots__ = ("calls", "failures", "successes")

    def __init__(self) -> None:
        self.failures = 0.0
        self.successes = 0
        self.calls: list[FollowingCall] = []

    def add(self, track: Track, call: JudgedCall) -> None:
        if call.counts_as == "failed":
            self.failures += _WEIGHTS.get(call.fault, 0.0)
        else:
            self.successes += 1
        self.calls.append(FollowingCall(str(track.ref), call.call_id, call.has_failed, call.fault))


def guard(
    watched: Iterable[WatchedSession],
    examples: Iterable[Example],
    *,
    suspended: Mapping[str, float] = {},
    since: Mapping[str, float] = {},
    usual: Mapping[str, float] | None = None,
) -> tuple[GuardRuling, ...]:
    """A ruling for every example that sessions followed, in the order of examples.

    `suspended`: when each suspended example was suspended. `since`: from when on an active example is watched again,
    because a person or later evidence restored it. The `usual` rates default to those of cold sessions.
    """
    sessions = sorted(watched, key=lambda one: (one.track.started or 0.0, str(one.track.ref)))
    known = {example.id: example for example in examples}
    forms = {key: call_form_of(example.tool, example.arguments) for key, example in known.items()}
    tools: dict[str, list[str]] = {}
    for key, form in forms.items():
        if form is not None:
            tools.setdefault(form.tool, []).append(key)
    rates = usual_rates(sessions, tools) if usual is None else usual
    units: dict[str, dict[str, _LineageCalls]] = {key: {} for key in known}
    for one in sessions:
        for call, form in _judged(one.track, tools):
            for key in tools[call.tool]:
                wanted = forms[key]
                assert wanted is not None  # only examples with a form are in `tools`
                if _is_evidence(key, one, suspended, since) and form.follows(wanted):
                    units[key].setdefault(one.track.root, _LineageCalls()).add(one.track, call)
    found = []
    for key, example in known.items():
        if units[key]:
            rate = rates.get(example.tool, _PRIOR_RATE if example.error_rate is None else example.error_rate)
            found.append(_rule(example, list(units[key].values()), _clipped(rate), is_suspended=key in suspended))
    return tuple(found)


def _judged(track: Track, tools: Mapping[str, object]) -> Iterator[tuple[JudgedCall, CallForm]]:
    for call in track.calls:
        # A test that fails was still called correctly: that says nothing about the form of the call.
        if call.tool in tools and call.is_counted and not (call.has_failed and is_signal(call)):
            form = call_form_of(call.tool, call.raw_arguments)
            if form is not None:
                yield call, form


def _is_evidence(key: str, one: WatchedSession, suspended: Mapping[str, float], since: Mapping[str, float]) -> bool:
    started = one.track.started or 0.0
    if key in suspended:
        return key not in one.shown and started > suspended[key]
    return key in one.shown and started >= since.get(key, 0.0)


def usual_rates(sessions: Iterable[WatchedSession], tools: Iterable[str]) -> dict[str, float]:
    """How often calls of each tool fail in sessions that were shown nothing."""
    wanted = set(tools)
    failed: dict[str, float] = {}
    total: dict[str, int] = {}
    for one in sessions:
        for call in () if one.shown else one.track.counted():
            if call.tool in wanted:
                total[call.tool] = total.get(call.tool, 0) + 1
                failed[call.tool] = failed.get(call.tool, 0.0) + call.has_failed * _WEIGHTS.get(call.fault, 0.0)
    return {tool: drawn_rate(failed[tool], number) for tool, number in total.items()}


def drawn_rate(failed: float, total: int) -> float:
    """A failure rate, shrunk towards one in ten so that a few calls do not move it far."""
    return (failed + _PRIOR_RATE * _PRIOR_CALLS) / (total + _PRIOR_CALLS)


def _clipped(rate: float) -> float:
    low, high = _USUAL
    return min(max(rate, low), high)


def _rule(example: Example, units: Sequence[_LineageCalls], usual: float, *, is_suspended: bool) -> GuardRuling:
    ratio, bound = 0.0, RESTORE if is_suspended else ALARM
    worked = 0
    for count, unit in enumerate(units, start=1):
        change = _log_ratio(unit.failures, unit.successes, usual)
        ratio = (1 + ratio) * exp(-change if is_suspended else change)
        worked += unit.successes > 0
        if ratio >= bound and (not is_suspended or worked >= _RESTORING_LINEAGES):
            return _ruling(example, units[:count], usual, ratio, "restore" if is_suspended else "suspend")
    return _ruling(example, units, usual, ratio, "keep")


def _log_ratio(failures: float, successes: float, usual: float) -> float:
    """ln Λ of one lineage; many failures are scaled down together with its successes."""
    scale = (1 - ALIKE) / ALIKE
    share = min(1.0, MOST_FAILURES / failures) if failures else 1.0
    failures, successes = share * failures, share * successes

    def log_likelihood(mean: float) -> float:
        a, b = mean * scale, (1 - mean) * scale
        return _log_beta(a + failures, b + successes) - _log_beta(a, b)

    return log_likelihood(FAILS) - log_likelihood(usual)


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def _ruling(
    example: Example, units: Sequence[_LineageCalls], usual: float, ratio: float, decision: Decision
) -> GuardRuling:
    failures, successes = sum(unit.failures for unit in units), sum(unit.successes for unit in units)
    calls = [call for unit in units for call in unit.calls]
    bad = sum(call.has_failed for call in calls)
    said = {
        "suspend": f"{bad} of {len(calls)} calls made as it shows failed in {len(units)} sessions",
        "restore": f"{successes} of {len(calls)} calls made as it shows worked again in {len(units)} sessions",
        "keep": f"{bad} of {len(calls)} calls made as it shows failed: not more than chance explains",
    }
    return GuardRuling(
        example.id,
        example.tool,
        decision,
        f"{said[decision]} (usually {100 * usual:.0f} % fail).",
        len(units),
        round(failures, 2),
        successes,
        round(usual, 4),
        round(ratio, 3),
        round(ratio / (ratio + 1 / CHANGES), 4),
        tuple(calls[-_SHOWN_CALLS:]),
    )


def retraction(examples: Iterable[Example]) -> str:
    """One line that retracts examples in a conversation that was shown them."""
    tools = sorted({example.tool for example in examples})
    named = [f"`{tool}`" for tool in tools if _PLAIN_NAME.match(tool)]
    # Tool names come from sessions: only plain ones are repeated.
    what = ", ".join(named) if named and len(named) == len(tools) else "these tools"
    return (
        f"[seasoned:retract] The demonstration calls of {what} at the start of this conversation are out of date: "
        "set them aside and go by the tool's own description and by what its results say."
    )
