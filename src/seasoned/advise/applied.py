"""What became of advice: applied or dismissed, and how often the same thing happened before and since."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from seasoned.advise.advice import Advice, AdviceKind, AdviceStep
from seasoned.stats.interval import Estimate
from seasoned.stats.proportion import proportion_difference
from seasoned.store import Store

AdviceState = Literal["applied", "dismissed"]


class AppliedAdvice(msgspec.Struct, frozen=True):
    """Advice that a person decided about."""

    id: str
    kind: AdviceKind
    project: str | None
    sentence: str
    subject: str
    step: AdviceStep
    state: AdviceState
    at: float


def applied_advice(store: Store) -> list[AppliedAdvice]:
    """All advice that a person decided about, the newest first."""
    return [
        AppliedAdvice(
            row["id"],
            row["kind"],
            row["project"],
            row["sentence"],
            row["subject"],
            msgspec.json.decode(row["step"], type=AdviceStep),
            row["state"],
            row["at"],
        )
        for row in store.rows("advise.decided")
    ]


def keep_decision(store: Store, advice: Advice, state: AdviceState, at: float) -> None:
    """Write down what was decided about advice."""
    with store.write():
        store.run(
            "advise.decide",
            {
                "id": advice.id,
                "kind": advice.kind,
                "project": advice.project,
                "sentence": advice.sentence,
                "subject": advice.subject,
                "step": msgspec.json.encode(advice.step).decode(),
                "state": state,
                "at": at,
            },
        )


def drop_decision(store: Store, name: str) -> None:
    """Forget what was decided, so that the advice is given again while it holds."""
    with store.write():
        store.run("advise.undecide", {"id": name})


Outcome = Literal["less often", "more often", "no clear change", "too early to tell"]
# Sessions since it was applied. Fewer say nothing, whatever happened in them.
FEWEST_AFTER = 5


class FollowUp(msgspec.Struct, frozen=True):
    """In how many sessions something happened, before advice about it was applied and since."""

    id: str
    before: int
    before_sessions: int
    after: int
    after_sessions: int
    difference: Estimate  # of the shares, since minus before; with its interval
    outcome: Outcome
    sentence: str


def follow_up(advice: AppliedAdvice, among: Mapping[str, float], happened: Mapping[str, float]) -> FollowUp:
    """Compare the sessions that ended before advice was applied with those since."""
    later = {root for root, end in among.items() if end > advice.at}
    # A session that lasted from before to after counts where the mistake was made.
    after = {root for root, at in happened.items() if at > advice.at and root in among}
    later |= after
    earlier = set(among) - later
    before = len(set(happened) & earlier)
    if not earlier or not later:
        change = Estimate(None, None, len(later), len(later), "there are no sessions on one side")
    else:
        change = proportion_difference(len(after), len(later), before, len(earlier))
    outcome = _outcome(change, len(later))
    return FollowUp(
        advice.id,
        before,
        len(earlier),
        len(after),
        len(later),
        change,
        outcome,
        _said(before, len(earlier), len(after), len(later), change, outcome),
    )


def _outcome(change: Estimate, later: int) -> Outcome:
    if change.interval is None or later < FEWEST_AFTER:
        return "too early to tell"
    if change.interval.high < 0:
        return "less often"
    if change.interval.low > 0:
        return "more often"
    # An interval that is wider than the share itself leaves room for any answer.
    return "no clear change" if change.interval.high - change.interval.low < _NARROW else "too early to tell"


_NARROW = 0.25


def _said(before: int, earlier: int, after: int, later: int, change: Estimate, outcome: Outcome) -> str:
    rates = f"before in {before} of {earlier} sessions, since then in {after} of {later}"
    if change.value is None or change.interval is None:
        return f"{outcome[0].upper()}{outcome[1:]}: {rates}."
    low, high = 100 * change.interval.low, 100 * change.interval.high
    points = f"{100 * change.value:+.0f} points, between {low:+.0f} and {high:+.0f}"
    return f"{outcome[0].upper()}{outcome[1:]}: {rates} ({points})."
