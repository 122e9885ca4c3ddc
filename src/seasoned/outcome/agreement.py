"""Scores the rules of wording: verdicts of blind calls against the labels that were taken from them."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable

import msgspec

from seasoned.outcome.recorded_label import CIRCULAR
from seasoned.outcome.verdict import Outcome

# Enough for the second digit of a 95 % interval.
_RESAMPLES = 1000
_LEVEL = 0.95
# One session says nothing about others.
_FEWEST_SESSIONS = 2


class LabeledVerdict(msgspec.Struct, frozen=True):
    """One blind verdict and the label of the same call."""

    agent: str
    session: str
    tool: str
    verdict: Outcome
    failed: bool
    """What the label says."""
    foreign: bool = False
    """The label is the status of another program (`pytest | tail`), and so no truth about the call."""
    call: str = ""
    reason: str = ""


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

    Calls whose label is the status of another program are scored apart."""

    sources: tuple[AgreementScore, ...]
    tools: tuple[AgreementScore, ...]
    pooled: AgreementScore
    others: AgreementScore
    """The pool without Claude Code, whose texts keep an exit code even when the flag is taken away."""
    pooled_with_foreign: AgreementScore
    others_with_foreign: AgreementScore


class ForeignStatus(msgspec.Struct, frozen=True):
    """Calls recorded as a success that is another program's, by the verdict on their output."""

    n: int
    ok: int
    failed: int
    unclear: int
    disagreeing: tuple[LabeledVerdict, ...]
    """Those whose output says that they failed."""


class FlagAgreement(msgspec.Struct, frozen=True):
    """How many verdicts agree with the flag when the judge may see it: all of them, or something is wrong."""

    n: int
    agreeing: int


def agreement(pairs: Iterable[LabeledVerdict], *, seed: int = 0) -> Agreement:
    """Scores by source, tool and pooled. `seed` fixes the resampling of the intervals."""
    everything = list(pairs)
    own = [pair for pair in everything if not pair.foreign]
    by_source: dict[str, list[LabeledVerdict]] = defaultdict(list)
    by_tool: dict[str, list[LabeledVerdict]] = defaultdict(list)
    for pair in own:
        by_source[pair.agent].append(pair)
        by_tool[f"{pair.agent} {pair.tool}"].append(pair)

    def pooled(name: str, chosen: list[LabeledVerdict], *left_out: str) -> AgreementScore:
        return score(name, [pair for pair in chosen if pair.agent not in (*CIRCULAR, *left_out)], seed=seed)

    return Agreement(
        tuple(score(name, by_source[name], seed=seed) for name in sorted(by_source)),
        tuple(score(name, by_tool[name], seed=seed) for name in sorted(by_tool)),
        pooled("pooled", own),
        pooled("pooled without claude-code", own, "claude-code"),
        pooled("pooled, foreign statuses too", everything),
        pooled("without claude-code, foreign statuses too", everything, "claude-code"),
    )


def complete(pairs: Iterable[LabeledVerdict]) -> FlagAgreement:
    """How far verdicts that saw the flags agree with them, circular sources and foreign statuses aside."""
    pairs_with_label = [pair for pair in pairs if pair.agent not in CIRCULAR and not pair.foreign]
    return FlagAgreement(len(pairs_with_label), sum((p.verdict == "failed") == p.failed for p in pairs_with_label))


def foreign_status(pairs: Iterable[LabeledVerdict]) -> ForeignStatus:
    """How the calls were judged whose recorded success is another program's."""
    found = [pair for pair in pairs if pair.foreign]
    ok, failed, unclear = (sum(pair.verdict == verdict for pair in found) for verdict in ("ok", "failed", "unclear"))
    return ForeignStatus(len(found), ok, failed, unclear, tuple(pair for pair in found if pair.verdict == "failed"))


def score(name: str, pairs: list[LabeledVerdict], *, seed: int = 0) -> AgreementScore:
    """The score of one group of pairs; `unclear` counts as not said to have failed."""
    hit, false_alarm, miss = _mistakes(pairs)
    failed, said = hit + miss, hit + false_alarm
    ok = [pair for pair in pairs if pair.verdict == "ok"]
    return AgreementScore(
        name=name,
        n=len(pairs),
        failed=failed,
        said_failed=said,
        unclear=sum(pair.verdict == "unclear" for pair in pairs),
        precision=_share(hit, said),
        recall=_share(hit, failed),
        f1=_f1(hit, false_alarm, miss),
        kappa=_kappa(len(pairs), false_alarm + miss, failed, said),
        f1_interval=_interval(pairs, seed=seed),
        poison=_share(sum(pair.failed for pair in ok), len(ok)),
        circular=bool(pairs) and all(pair.agent in CIRCULAR for pair in pairs),
    )


def _mistakes(pairs: Iterable[LabeledVerdict]) -> tuple[int, int, int]:
    """Failures that were seen, false alarms, and failures that were missed."""
    found = Counter((pair.verdict == "failed", pair.failed) for pair in pairs)
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


def _interval(pairs: list[LabeledVerdict], *, seed: int) -> F1Interval | None:
    """A percentile bootstrap of F1 over whole sessions: calls of one session resemble each other."""
    sessions: dict[tuple[str, str], list[LabeledVerdict]] = defaultdict(list)
    for pair in pairs:
        sessions[pair.agent, pair.session].append(pair)
    # In a fixed order: sessions arrive as parallel readers finish, and the seed must draw the same ones.
    counts = [_mistakes(sessions[key]) for key in sorted(sessions)]
    # Sessions without any failure, said or labelled, do not move F1; with fewer than two others it has no spread.
    if sum(any(count) for count in counts) < _FEWEST_SESSIONS:
        return None
    chosen = random.Random(seed)
    draws = [chosen.choices(counts, k=len(counts)) for _ in range(_RESAMPLES)]
    found = [_f1(*[sum(column) for column in zip(*drawn, strict=True)]) for drawn in draws]
    values = sorted(value for value in found if value is not None)
    # So few failures that most resamples drew none: an interval of the rest would look too narrow.
    if len(values) < _RESAMPLES // 2:
        return None
    tail, last = (1 - _LEVEL) / 2, len(values) - 1
    return F1Interval(values[round(tail * last)], values[round((1 - tail) * last)], _LEVEL, len(counts))
