"""The JSON answers of insight, the same for every interface. Unknown values are null, with a reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from seasoned.outcome.error_rate import Counts
from seasoned.outcome.track import Track
from seasoned.report.compare import Comparison
from seasoned.report.compression import (
    Judgement,
    Knowledge,
    PooledCheck,
    Topic,
    around,
    check,
    lost_knowledge,
    sentence,
)
from seasoned.report.profile import Profile, SessionMeasures, profile_calls
from seasoned.session import SessionRef
from seasoned.stats.interval import Interval
from seasoned.stats.proportion import wilson

# Answers also go to models, so long lists are truncated; the counts stay complete.
MOST_SHOWN = 20  # of each list of lost things
_LEFT_OUT = ("declined", "cancelled", "interrupted", "trivial", "synthetic")


def profile_answer(found: Profile) -> dict[str, Any]:
    """A profile as JSON."""
    counts = found.counts
    return {
        "message_count": found.messages,
        "tool_call_count": found.calls,
        "successful_calls": counts.ok,
        "failed_calls": counts.failed,
        "unclear_calls": counts.unclear,
        "left_out": {**{name: getattr(counts, name) for name in _LEFT_OUT}, "copies": found.copies},
        "error_rate": found.error_rate.value,
        "error_rate_interval": _ends(found.error_rate.interval),
        "error_rate_reason": found.error_rate.reason,
        "tool_distribution": {tool: use.calls for tool, use in found.tools.items()},
        "tool_success_rates": {tool: use.success_rate for tool, use in found.tools.items()},
        "early_error_rate": found.early.value,
        "late_error_rate": found.late.value,
        "early_calls": found.early.n or None,
        "proficiency_gain": found.gain.value,
        "proficiency_gain_interval": _ends(found.gain.interval),
        "proficiency_gain_reason": found.gain.reason,
        "measures": None if found.measures is None else _measures(found.measures),
        "dominant_tool_type": found.dominant_tool_type,
        "task_type": found.task_type,
        "compaction_count": found.compactions,
        "usage": msgspec.structs.asdict(found.usage),
        "cost_usd": found.cost_usd,
    }


def _measures(found: SessionMeasures) -> dict[str, Any]:
    early = wilson(found.early_errors, found.early_calls)
    return {
        **msgspec.structs.asdict(found),
        "early_error_rate": early.value,
        "early_error_rate_interval": _ends(early.interval),
    }


def track_answer(track: Track, found: Profile) -> dict[str, Any]:
    """The profile of a session, with its name."""
    return {"session_id": track.ref.native_id, "agent": track.ref.agent, **profile_answer(found)}


def compression_answer(asked: SessionRef, chain: Sequence[Track]) -> dict[str, Any]:
    """The check of one lineage as JSON."""
    found = check(chain)
    before, after = around(chain)
    lost = lost_knowledge(before, after) if found.has_compression else None
    pre, post = [profile_answer(profile_calls(calls)) if found.has_compression else None for calls in (before, after)]
    return {
        "session_id": asked.native_id,
        "agent": asked.agent,
        "sessions": [ref.native_id for ref in found.sessions],
        "has_compression": found.has_compression,
        "pre_compression_profile": pre,
        "post_compression_profile": post,
        **_judgement(found.judgement),
        "compressions": found.compressions,
        "lost": None if lost is None else _lost(lost),
        "sentence": sentence(found),
    }


def pooled_answer(found: PooledCheck) -> dict[str, Any]:
    """The check over many lineages as JSON."""
    some = bool(found.checks)
    return {
        "session_id": None,
        "has_compression": some,
        "pre_compression_profile": _counts(found.before) if some else None,
        "post_compression_profile": _counts(found.after) if some else None,
        **_judgement(found.judgement),
        "lost": None,
        "lineages": len(found.checks),
        "lineages_without_compression": found.without,
        "pairs": found.pairs,
        "checks": [
            {
                "session_id": one.sessions[0].native_id,
                "agent": one.sessions[0].agent,
                "sessions": [ref.native_id for ref in one.sessions],
                "before": _counts(one.before),
                "after": _counts(one.after),
                **_judgement(one.judgement),
                "compressions": one.compressions,
            }
            for one in found.checks
        ],
        "sentence": sentence(found),
    }


def comparison_answer(found: Comparison, *, as_sets: bool) -> dict[str, Any]:
    """A comparison as JSON."""
    answer: dict[str, Any] = {"test_name": found.test_name, "is_set": as_sets}
    for name, side in (("warm", found.warm), ("cold", found.cold)):
        ids = [ref.native_id for ref in side.sessions]
        answer |= {
            f"{name}_id": ids if as_sets else ids[0],
            f"{name}_agents": sorted({ref.agent for ref in side.sessions}),
            f"{name}_sessions": len(ids),
            f"{name}_lineages": side.lineages,
            f"{name}_without_calls": side.without_calls,
            f"{name}_errors": side.errors,
            f"{name}_total": side.total,
            f"{name}_error_rate": side.error_rate,
        }
    return answer | {
        "improvement": found.improvement,
        "interval": _ends(found.interval),
        "p_value": found.p_value,
        "warm_better": found.warm_better,
        "sentence": found.sentence,
        "notes": list(found.notes),
        "in_both": [ref.native_id for ref in found.in_both],
        "smallest_detectable": _smallest(found),
        "measures": msgspec.to_builtins(found.measures),
    }


def _smallest(found: Comparison) -> dict[str, Any] | None:
    smallest = found.smallest_detectable
    return None if smallest is None else {"fall": smallest.fall, "rise": smallest.rise, "reason": smallest.reason}


def topics(lost: Knowledge) -> list[tuple[str, Topic, str]]:
    """The kinds of knowledge: name, topic, and when something counts as known."""
    worked = "that worked at least twice"
    return [
        ("commands", lost.commands, worked),
        ("paths", lost.paths, worked),
        ("shapes", lost.shapes, f"of arguments {worked}"),
    ]


def _judgement(judgement: Judgement) -> dict[str, Any]:
    ends = judgement.interval
    return {
        "proficiency_preserved": judgement.preserved,
        "reason": judgement.reason,
        "ratio": judgement.ratio,
        "interval": None if ends is None else [ends.low, ends.high],
        "more_calls_needed": judgement.more_calls,
    }


def _counts(counts: Counts | None) -> dict[str, Any] | None:
    """The keys of a profile that make sense for many sessions together."""
    if counts is None:
        return None
    return {
        "tool_call_count": counts.total,
        "successful_calls": counts.ok,
        "failed_calls": counts.failed,
        "unclear_calls": counts.unclear,
        "error_rate": counts.error_rate,
    }


def _lost(lost: Knowledge) -> dict[str, Any]:
    return {
        name: {
            "known": topic.known,
            "lost": len(topic.lost),
            "items": [msgspec.structs.asdict(one) for one in topic.lost[:MOST_SHOWN]],
        }
        for name, topic, _ in topics(lost)
    }


def _ends(interval: Interval | None) -> list[float] | None:
    """The two ends of a 95 % interval."""
    return None if interval is None else [interval.low, interval.high]
