"""What each example of a running experiment does to the calls of its tool.

Examples are chosen by task, so sessions that were shown one differ from others from the start. Therefore the log also
holds what each session of the control would have been shown: between these two groups only chance decided. They are
compared in order of arrival, with an interval that stays valid no matter how often one looks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from seasoned.experiment.live.assignment import Split
from seasoned.experiment.live.live_session import LiveSession
from seasoned.experiment.live.sample_ratio import sample_ratio
from seasoned.report.trials import points_between
from seasoned.stats.anytime import difference_sequence
from seasoned.stats.interval import Estimate

# For one example: of those without effect, 1 in 200 is called harmful, no matter how often one looks.
LEVEL = 0.99


class ExampleEffect(msgspec.Struct, frozen=True, kw_only=True):
    """One example of one arm: the share of its tool's calls that worked, with it minus without it."""

    example_id: str
    tool: str
    arm: str
    shown: int  # settled sessions of the arm that were shown it
    foregone: int  # settled sessions of the control that would have been
    measured: int  # of the shown ones those that called its tool
    measured_without: int
    estimate: Estimate  # below zero it hurts. One value for each session, valid at every look.
    answer: Literal["helps", "hurts", "cannot tell"]
    reason: str


def example_effects(
    split: Split,
    settled: Sequence[LiveSession],
    tools: Mapping[str, str],
    *,
    since: Mapping[str, float] = {},
    waiting: Sequence[LiveSession] = (),
) -> tuple[ExampleEffect, ...]:
    """Every example that was shown, by arm and id, also to sessions that are not settled.

    `tools` says which tool an example is for; `since` from when on it is judged again, after it was restored.
    """
    arms = [one.arm for one in split.arms[1:]]
    with_it: dict[tuple[str, str], list[LiveSession]] = {}
    without: dict[tuple[str, str], list[LiveSession]] = {}
    for one in settled:
        if one.arm == split.control:
            for arm, ids in one.foregone.items():
                _add(without, arm, ids, one, since)
        elif one.exposed_arm == one.arm:
            _add(with_it, one.arm, one.shown, one, since)
    named = {(one.arm, example_id) for one in waiting for example_id in one.shown}
    keys = sorted(key for key in {*with_it, *without, *named} if key[0] in arms and key[1] in tools)
    return tuple(_effect(split, key, with_it.get(key, []), without.get(key, []), tools[key[1]]) for key in keys)


def _add(
    into: dict[tuple[str, str], list[LiveSession]],
    arm: str,
    ids: Iterable[str],
    one: LiveSession,
    since: Mapping[str, float],
) -> None:
    for example_id in ids:
        if one.at >= since.get(example_id, 0.0):
            into.setdefault((arm, example_id), []).append(one)


def _effect(
    split: Split, key: tuple[str, str], shown: Sequence[LiveSession], foregone: Sequence[LiveSession], tool: str
) -> ExampleEffect:
    arm, example_id = key
    a, b = _values_of(shown, tool), _values_of(foregone, tool)
    estimate = difference_sequence(a, b, level=LEVEL)
    shares = {name: part for name, part in split.shares.items() if name in (arm, split.control)}
    whole = sum(shares.values())
    counts = {arm: len(a), split.control: len(b)}
    ratio = sample_ratio(counts, {name: shares[name] / whole for name in counts})
    answer: Literal["helps", "hurts", "cannot tell"] = "cannot tell"
    if ratio.is_alarm:
        reason = f"sessions with it call {tool} more or less often than those without: they are not comparable"
    elif estimate.interval is None:
        reason = estimate.reason or "nothing was compared"
    elif estimate.interval.low <= 0 <= estimate.interval.high:
        reason = "the difference could be chance"
    else:
        answer = "hurts" if estimate.interval.high < 0 else "helps"
        seen = f"{len(a)} sessions with it and {len(b)} without"
        reason = f"calls of {tool} that work, {seen}: {points_between(estimate)}"
    return ExampleEffect(
        example_id=example_id,
        tool=tool,
        arm=arm,
        shown=len(shown),
        foregone=len(foregone),
        measured=len(a),
        measured_without=len(b),
        estimate=estimate,
        answer=answer,
        reason=reason,
    )


def _values_of(sessions: Iterable[LiveSession], tool: str) -> list[float]:
    counts = [one.tools[tool] for one in sessions if tool in one.tools]
    return [ok / (ok + failed) for ok, failed in counts]
