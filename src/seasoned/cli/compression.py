"""Compression checks for programs and for people."""

from __future__ import annotations

from collections.abc import Sequence

import click

from seasoned.cli.output import print_json, table
from seasoned.insight.compression import CompressionCheck, PooledCheck, around, check, sentence
from seasoned.insight.json_answer import MOST_SHOWN, compression_answer, pooled_answer, topics
from seasoned.insight.prior_knowledge import Knowledge, lost_knowledge
from seasoned.insight.rate_text import share
from seasoned.insight.tolerance import Judgement
from seasoned.insight.track import Track
from seasoned.outcome.error_rate import Counts
from seasoned.session import SessionRef
from seasoned.text import plural

_CAUSE = "What comes later in a session is also other work: this shows a change and not its cause."
_MOVED_ON = "“Not used” may only mean that the work moved on."


def print_check(asked: SessionRef, chain: Sequence[Track], *, include: tuple[str, ...], as_json: bool) -> None:
    """One lineage of compressions."""
    if as_json:
        print_json("compress-check", {**compression_answer(asked, chain), "include": list(include)})
        return
    found = check(chain)
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
    _print_lost(lost_knowledge(*around(chain)))


def print_pooled(found: PooledCheck, *, include: tuple[str, ...], as_json: bool) -> None:
    """Many lineages together, and each in a line."""
    if as_json:
        print_json("compress-check", {**pooled_answer(found), "include": list(include)})
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
    for name, topic, known in topics(lost):
        said = [f"{topic.count(one)} {one}" for one in ("made again", "failed after", "not used") if topic.count(one)]
        if topic.known:
            rest = f", of these {' and '.join(said)}" if said else "; none is lost"
            click.echo(f"{name}: {topic.known} {known}{rest}")
    shown = [(name, one) for name, topic, _ in topics(lost) for one in topic.lost[:MOST_SHOWN]]
    if not shown:
        return
    click.echo(f"{_MOVED_ON}\n")
    table(
        ["what", "known before", "state", "before", "after", "failed after"],
        [(name, one.what, one.state, one.before, one.after, one.failed_after) for name, one in shown],
        right=["before", "after", "failed after"],
    )
