"""Scores the rules of wording: verdicts of blind calls against the labels that were taken from them."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from seasoned.outcome.judge import judge, judge_session
from seasoned.outcome.recorded_label import CIRCULAR, blind, is_foreign, label
from seasoned.outcome.verdict import Outcome
from seasoned.session import Session

# Enough for the second digit of a 95 % interval.
_RESAMPLES = 1000
_LEVEL = 0.95
# One session says nothing about others.
_FEWEST_SESSIONS = 2
# What the judge may see: all but the label, or also nothing that the harness writes into results.
Sight = Literal["blind", "strict"]


class LabeledCall(msgspec.Struct, frozen=True):
    """A call that its source labelled, with what is said about it with and without that label."""

    agent: str
    session: str
    tool: str
    failed: bool
    """What the label says."""
    full: Outcome
    blind: Outcome
    strict: Outcome
    foreign: bool = False
    """The label is the status of another program (`pytest | tail`), and so no truth about the call."""
    call: str = ""
    reason: str = ""


def labeled_calls(sessions: Iterable[Session]) -> Iterator[LabeledCall]:
    """The calls of sessions that have a label."""
    for session in sessions:
        agent = session.ref.agent
        for call, seen in judge_session(session):
            failed = label(call, agent=agent, verdict=seen)
            if failed is not None:
                hidden = [judge(blind(call, agent=agent, strict=strict), agent=agent) for strict in (False, True)]
                yield LabeledCall(
                    agent=agent,
                    session=session.ref.native_id,
                    tool=call.tool,
                    failed=failed,
                    full=seen.verdict,
                    blind=hidden[0].verdict,
                    strict=hidden[1].verdict,
                    # Only a judge that sees the label says whose status it is.
                    foreign=agent not in CIRCULAR and is_foreign(failed, seen.evidence),
                    call=call.id,
                    reason=seen.reason,
                )


class F1Interval(msgspec.Struct, frozen=True):
    """An interval of an estimate, and how many sessions it rests on."""

    low: float
    high: float
    level: float
    n: int


class AgreementScore(msgspec.Struct, frozen=True):
    """How well blind verdicts agree with labels. None where there is too little to say."""

    name: str
    n: int
    failed: int
    """Calls that failed by their label."""
    said_failed: int
    unclear: int
    precision: float | None
    recall: float | None
    f1: float | None
    kappa: float | None
    f1_interval: F1Interval | None
    poison: float | None
    """Share of the verdicts `ok` that the label calls failed: what would poison a template."""
    circular: bool = False


class Agreement(msgspec.Struct, frozen=True):
    """Scores by source, by tool and over all sources whose label is not itself wording.

    Calls whose label is the status of another program are left out."""

    sources: tuple[AgreementScore, ...]
    tools: tuple[AgreementScore, ...]
    pooled: AgreementScore
    others: AgreementScore
    """The pool without Claude Code, whose texts keep an exit code even when the flag is taken away."""


class ForeignStatus(msgspec.Struct, frozen=True):
    """Calls recorded as a success that is another program's, by the verdict on their output."""

    n: int
    ok: int
    failed: int
    unclear: int
    disagreeing: tuple[LabeledCall, ...]
    """Those whose output says that they failed."""


class FlagAgreement(msgspec.Struct, frozen=True):
    """How many verdicts agree with the flag when the judge may see it: all of them, or something is wrong."""

    n: int
    agreeing: int


def agreement(calls: Iterable[LabeledCall], sight: Sight) -> Agreement:
    """Scores by source, tool and pooled."""
    own = [one for one in calls if not one.foreign]
    by_source: dict[str, list[LabeledCall]] = defaultdict(list)
    by_tool: dict[str, list[LabeledCall]] = defaultdict(list)
    for one in own:
        by_source[one.agent].append(one)
        by_tool[f"{one.agent} {one.tool}"].append(one)

    pool = [one for one in own if one.agent not in CIRCULAR]
    return Agreement(
        tuple(score(name, by_source[name], sight) for name in sorted(by_source)),
        tuple(score(name, by_tool[name], sight) for name in sorted(by_tool)),
        score("pooled", pool, sight),
        score("pooled without claude-code", [one for one in pool if one.agent != "claude-code"], sight),
    )


def complete(calls: Iterable[LabeledCall]) -> FlagAgreement:
    """How far verdicts that saw the flags agree with them, circular sources and foreign statuses aside."""
    found = [one for one in calls if one.agent not in CIRCULAR and not one.foreign]
    return FlagAgreement(len(found), sum((one.full == "failed") == one.failed for one in found))


def foreign_status(calls: Iterable[LabeledCall]) -> ForeignStatus:
    """How the calls were judged whose recorded success is another program's."""
    found = [one for one in calls if one.foreign]
    ok, failed, unclear = (sum(one.full == verdict for one in found) for verdict in ("ok", "failed", "unclear"))
    return ForeignStatus(len(found), ok, failed, unclear, tuple(one for one in found if one.full == "failed"))


def score(name: str, calls: list[LabeledCall], sight: Sight) -> AgreementScore:
    """The score of one group of calls; `unclear` counts as not said to have failed."""
    hit, false_alarm, miss = _mistakes(calls, sight)
    failed, said = hit + miss, hit + false_alarm
    ok = [one for one in calls if getattr(one, sight) == "ok"]
    return AgreementScore(
        name=name,
        n=len(calls),
        failed=failed,
        said_failed=said,
        unclear=sum(getattr(one, sight) == "unclear" for one in calls),
        precision=_share(hit, said),
        recall=_share(hit, failed),
        f1=_f1(hit, false_alarm, miss),
        kappa=_kappa(len(calls), false_alarm + miss, failed, said),
        f1_interval=_interval(calls, sight),
        poison=_share(sum(one.failed for one in ok), len(ok)),
        circular=bool(calls) and all(one.agent in CIRCULAR for one in calls),
    )


def _mistakes(calls: Iterable[LabeledCall], sight: Sight) -> tuple[int, int, int]:
    """Failures that were seen, false alarms, and failures that were missed."""
    found = Counter((getattr(one, sight) == "failed", one.failed) for one in calls)
    return found[True, True], found[True, False], found[False, True]


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _f1(hit: int, false_alarm: int, miss: int) -> float | None:
    return _share(2 * hit, 2 * hit + false_alarm + miss)


def _kappa(n: int, mistaken: int, failed: int, said: int) -> float | None:
    """Cohen's kappa (1960); None when chance alone would agree on everything."""
    if not n:
        return None
    chance = (said * failed + (n - said) * (n - failed)) / (n * n)
    return ((n - mistaken) / n - chance) / (1 - chance) if chance < 1 else None


def _interval(calls: list[LabeledCall], sight: Sight) -> F1Interval | None:
    """A percentile bootstrap of F1 over whole sessions: calls of one session resemble each other."""
    sessions: dict[tuple[str, str], list[LabeledCall]] = defaultdict(list)
    for one in calls:
        sessions[one.agent, one.session].append(one)
    # In a fixed order: the same sessions are drawn wherever their files are.
    counts = [_mistakes(sessions[key], sight) for key in sorted(sessions)]
    # Sessions without any failure, said or labelled, do not move F1; with fewer than two others it has no spread.
    if sum(any(count) for count in counts) < _FEWEST_SESSIONS:
        return None
    chosen = random.Random(0)
    draws = [chosen.choices(counts, k=len(counts)) for _ in range(_RESAMPLES)]
    found = [_f1(*[sum(column) for column in zip(*drawn, strict=True)]) for drawn in draws]
    values = sorted(value for value in found if value is not None)
    # So few failures that most resamples drew none: an interval of the rest would look too narrow.
    if len(values) < _RESAMPLES // 2:
        return None
    tail, last = (1 - _LEVEL) / 2, len(values) - 1
    return F1Interval(values[round(tail * last)], values[round((1 - tail) * last)], _LEVEL, len(counts))
