"""Compression checks for programs and for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from seasoned.cli.output import plural, print_json, table
from seasoned.cli.profile import profile_answer
from seasoned.insight.compression import CompressionCheck, PooledCheck, check, segments, sentence
from seasoned.insight.known import Knowledge, Lost, Topic, lost_knowledge
from seasoned.insight.profile import profile_calls
from seasoned.insight.tolerance import Judgement
from seasoned.insight.track import Track
from seasoned.insight.words import share
from seasoned.outcome.rate import Counts
from seasoned.session import SessionRef

MOST_SHOWN = 20
"""Of each list of lost things."""
_CAUSE = "What comes later in a session is also other work: this shows a change and not its cause."
_MOVED_ON = "“Not used” may only mean that the work moved on."


def print_check(asked: SessionRef, chain: Sequence[Track], *, include: tuple[str, ...], as_json: bool) -> None:
    """One lineage of compressions."""
    found = check(chain)
    parts = segments(chain)
    before = parts[0].calls if parts else ()
    after = tuple([call for part in parts[1:] for call in part.calls])
    lost = lost_knowledge(before, after) if found.has_compression else None
    if as_json:
        pre, post = [
            profile_answer(profile_calls(calls)) if found.has_compression else None for calls in (before, after)
        ]
        print_json(
            "compress-check",
            {
                "session_id": asked.native_id,
                "agent": asked.agent,
                "sessions": [ref.native_id for ref in found.sessions],
                "has_compression": found.has_compression,
                "pre_compression_profile": pre,
                "post_compression_profile": post,
                **_judgement_answer(found.judgement),
                "boundaries": _boundaries_answer(found),
                "lost": None if lost is None else _lost_answer(lost),
                "sentence": sentence(found),
                "include": list(include),
            },
        )
        return
    click.secho(str(asked), bold=True)
    if len(chain) > 1:
        click.echo(f"Continued over {len(chain)} sessions: {', '.join(track.ref.native_id for track in chain)}")
    click.echo(sentence(found))
    if not found.has_compression:
        return
    if found.judgement.more_calls:
        click.echo("One session hardly ever has so many; a folder of sessions is judged together.")
    click.echo(_CAUSE + (f" Counted too: {', '.join(include)}." if include else ""))
    _print_boundaries(found)
    if lost is not None:
        _print_lost(lost)


def print_pooled(found: PooledCheck, *, include: tuple[str, ...], as_json: bool) -> None:
    """Many lineages together, and each in a line."""
    if as_json:
        print_json("compress-check", _pooled_answer(found, include))
        return
    click.echo(sentence(found))
    if not found.checks:
        return
    click.echo(_CAUSE + (f" Counted too: {', '.join(include)}." if include else ""))
    click.echo(
        f"{plural(len(found.checks), 'lineage')} with a compression, {found.without} without; "
        f"{found.pairs} with calls that count on both sides.\n"
    )
    table(
        ["agent", "session", "before", "failed", "rate", "after", "failed after", "rate after", "preserved"],
        [
            (
                one.sessions[0].agent,
                one.sessions[0].native_id,
                *_cells(one.before),
                *_cells(one.after),
                _word(one.judgement),
            )
            for one in found.checks
        ],
        right=["before", "failed", "rate", "after", "failed after", "rate after"],
        whole=["agent", "session"],
    )
    click.echo(
        "\nEach line is judged by itself: of many, some say yes or no by chance. "
        "`seasoned compress-check SESSION` shows what one of them lost."
    )


def _cells(counts: Counts | None) -> tuple[object, ...]:
    return (None, None, None) if counts is None else (counts.counted, counts.failed, share(counts.error_rate))


def _word(judgement: Judgement) -> str:
    return {True: "yes", False: "no", None: "cannot tell"}[judgement.preserved]


def _print_boundaries(found: CompressionCheck) -> None:
    click.echo()
    table(
        ["compression", "session", "at message", "before", "failed", "rate", "after", "failed after", "rate after"],
        [
            (one.kind, one.session.native_id, one.message, *_cells(one.before), *_cells(one.after))
            for one in found.boundaries
        ],
        right=["at message", "before", "failed", "rate", "after", "failed after", "rate after"],
        whole=["session"],
    )


def _print_lost(lost: Knowledge) -> None:
    click.echo()
    for name, topic, known in _topics(lost):
        said = [f"{topic.count(one)} {one}" for one in ("made again", "failed after", "not used") if topic.count(one)]
        if topic.known:
            rest = f", of these {' and '.join(said)}" if said else "; none is lost"
            click.echo(f"{name}: {topic.known} {known}{rest}")
    shown = [(name, one) for name, topic, _ in _topics(lost) for one in topic.lost[:MOST_SHOWN]]
    if not shown:
        return
    click.echo(f"{_MOVED_ON}\n")
    table(
        ["what", "known before", "state", "before", "after", "failed after"],
        [(name, one.what, one.state, one.before, one.after, one.failed_after) for name, one in shown],
        right=["before", "after", "failed after"],
    )


def _topics(lost: Knowledge) -> list[tuple[str, Topic, str]]:
    worked = "that worked at least twice"
    return [
        ("mistakes", lost.mistakes, "that were repaired"),
        ("commands", lost.commands, worked),
        ("paths", lost.paths, worked),
        ("shapes", lost.shapes, f"of arguments {worked}"),
    ]


def _judgement_answer(judgement: Judgement) -> dict[str, Any]:
    ends = judgement.interval
    return {
        "proficiency_preserved": judgement.preserved,
        "reason": judgement.reason,
        "ratio": judgement.ratio,
        "interval": None if ends is None else [ends.low, ends.high],
        "method": judgement.method,
        "more_calls_needed": judgement.more_calls,
    }


def _counts_answer(counts: Counts | None) -> dict[str, Any] | None:
    """The keys of a profile, as far as many sessions have them together."""
    if counts is None:
        return None
    return {
        "tool_call_count": counts.total,
        "successful_calls": counts.ok,
        "failed_calls": counts.failed,
        "unclear_calls": counts.unclear,
        "error_rate": counts.error_rate,
    }


def _boundaries_answer(found: CompressionCheck) -> list[dict[str, Any]]:
    return [
        {
            "session_id": one.session.native_id,
            "kind": one.kind,
            "message": one.message,
            "before": _counts_answer(one.before),
            "after": _counts_answer(one.after),
        }
        for one in found.boundaries
    ]


def _lost_answer(lost: Knowledge) -> dict[str, Any]:
    return {
        name: {
            "known": topic.known,
            "lost": len(topic.lost),
            "items": [_item(one) for one in topic.lost[:MOST_SHOWN]],
        }
        for name, topic, _ in _topics(lost)
    }


def _item(one: Lost) -> dict[str, Any]:
    return {
        "what": one.what,
        "state": one.state,
        "before": one.before,
        "after": one.after,
        "failed_after": one.failed_after,
    }


def _pooled_answer(found: PooledCheck, include: tuple[str, ...]) -> dict[str, Any]:
    some = bool(found.checks)
    return {
        "session_id": None,
        "has_compression": some,
        "pre_compression_profile": _counts_answer(found.before) if some else None,
        "post_compression_profile": _counts_answer(found.after) if some else None,
        **_judgement_answer(found.judgement),
        "lost": None,
        "lineages": len(found.checks),
        "lineages_without_compression": found.without,
        "pairs": found.pairs,
        "checks": [
            {
                "session_id": one.sessions[0].native_id,
                "agent": one.sessions[0].agent,
                "sessions": [ref.native_id for ref in one.sessions],
                "before": _counts_answer(one.before),
                "after": _counts_answer(one.after),
                **_judgement_answer(one.judgement),
                "boundaries": _boundaries_answer(one),
            }
            for one in found.checks
        ],
        "sentence": sentence(found),
        "include": list(include),
    }
