"""`compare` and `compress-check`: which sessions fail less, and what a context compression cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click
import msgspec

from seasoned.app.extras import require_numbers
from seasoned.app.stores import Histories, exists
from seasoned.cli.histories import passed_over_answer, sessions_for
from seasoned.cli.options import PATHS_HELP, include_option, json_option, paths_argument
from seasoned.cli.output import print_json, table
from seasoned.errors import NotFound, UsageError
from seasoned.insight.compare import ComparedSide, Comparison, compare_sessions, compare_sets
from seasoned.insight.compression import (
    CompressionCheck,
    Judgement,
    PooledCheck,
    around,
    check,
    check_many,
    fill,
    is_compressed,
    outlines,
    sentence,
)
from seasoned.insight.json_answer import MOST_SHOWN, comparison_answer, compression_answer, pooled_answer, topics
from seasoned.insight.prior_knowledge import Knowledge, lost_knowledge
from seasoned.insight.rate_text import share
from seasoned.insight.track import Track, tracks
from seasoned.outcome.error_rate import Counts, Include
from seasoned.session import SessionRef
from seasoned.store.search import find_session
from seasoned.text import plural

# Said with every result: a before-after comparison within a session cannot separate compression from later work.
_CAUSE = "Later work in a session is also different work, so this shows a change and not its cause."
_MOVED_ON = "“Not used” may only mean that the work moved on."


@click.command(epilog=PATHS_HELP)
@click.argument("warm", metavar="A")
@click.argument("cold", metavar="B")
@paths_argument
@click.option("--set", "as_sets", is_flag=True, help="Compare sets of sessions instead of two.")
@include_option
@json_option
def compare(
    warm: str, cold: str, paths: tuple[Path, ...], as_sets: bool, include: tuple[str, ...], as_json: bool
) -> None:
    """Compare two sessions, or two sets of them.

    A is called warm and B cold. Both are session ids, or files that hold one session. With --set each is a path, ids
    joined by commas, or @FILE with an id on each line.

    \b
    Example: seasoned compare 53ea19c1 40904d81
    Example: seasoned compare --set ~/warm-runs ~/cold-runs
    """
    switches = Include(**dict.fromkeys(include, True))
    if as_sets:
        # Two single sessions are compared without numpy and scipy.
        require_numbers("compare --set")
    with ExitStack() as stack:
        # Both stay open: tracks are read from the store as they are asked for.
        sides = [stack.enter_context((_set if as_sets else _one)(text, paths)) for text in (warm, cold)]
        a, b = [tracks(side.store, include=switches, sessions=side.ids) for side in sides]
        found = compare_sets(a, b) if as_sets else compare_sessions(next(a), next(b))
    print_comparison(found, as_sets=as_sets, more=_more(switches, *sides), as_json=as_json)


def _more(include: Include, *read: Histories) -> dict[str, Any]:
    """What every JSON answer here has beside the result."""
    return {"include": list(include.names()), **passed_over_answer(*read)}


@contextmanager
def _one(text: str, paths: tuple[Path, ...]) -> Iterator[Histories]:
    """The single session that a text names."""
    with sessions_for(text, () if exists(text) else paths) as found:
        if not found.ids:
            raise NotFound(f"{text!r} holds no sessions. `seasoned sessions {text}` shows what was read.")
        if len(found.ids) > 1:
            raise UsageError(
                f"{text!r} holds {len(found.ids)} sessions. Give the id of one (`seasoned sessions {text}` lists them),"
                " or compare sets with --set."
            )
        yield found


@contextmanager
def _set(text: str, paths: tuple[Path, ...]) -> Iterator[Histories]:
    """The sessions of a set: all of its paths, or those with these ids, from one store."""
    first, *others = _names(text)
    if all(map(exists, (first, *others))):
        with sessions_for(first, [Path(name) for name in others]) as found:
            yield found
        return
    with sessions_for(first, paths) as found:
        # All from one store, which knows the copies of a call, so that each call is counted once.
        ids = {*found.ids, *[find_session(found.store, name)["id"] for name in others]}
        yield msgspec.structs.replace(found, ids=tuple(ids))


def _names(text: str) -> list[str]:
    """Paths or ids: one, several between commas, or those in a file."""
    # Before splitting: a path may hold a comma.
    if exists(text):
        return [text]
    if not text.startswith("@"):
        names = [name.strip() for name in text.split(",") if name.strip()]
    else:
        try:
            lines = Path(text[1:]).expanduser().read_text("utf-8", "replace").splitlines()
        except OSError as error:
            raise NotFound(
                f"{text[1:]!r} cannot be read ({error.strerror}). Give a file with an id on each line."
            ) from error
        names = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not names:
        raise UsageError(
            f"{text!r} names no session. Give a path, ids joined by commas, or @FILE with an id on each line."
        )
    return names


@click.command("compress-check", epilog=PATHS_HELP)
@click.argument("session", metavar="SESSION|PATH")
@paths_argument
@include_option
@json_option
def compress_check(session: str, paths: tuple[Path, ...], include: tuple[str, ...], as_json: bool) -> None:
    """Check what a context compression cost.

    Compares error rates before and after, and lists what was known before and lost. SESSION is an id or its beginning;
    a PATH with several sessions is judged as a whole.

    \b
    Example: seasoned compress-check 53ea19c1
    """
    switches = Include(**dict.fromkeys(include, True))
    with sessions_for(session, paths) as read:
        store, ids = read.store, read.ids
        if not ids:
            raise NotFound(f"{session!r} holds no sessions. `seasoned sessions {session}` shows what was read.")
        # Outlines have no calls, so finding the sessions with a compression is quick; only those are filled.
        chains = outlines(store)
        asked = next(tracks(store, sessions=ids[:1])).ref
        if len(ids) == 1:
            # A session that was continued after a compression is judged together with its continuations.
            chains = [chain for chain in chains if asked in [track.ref for track in chain]]
        if len(chains) == 1:
            chain = fill(store, chains[0], include=switches)
            print_check(asked, chain, more=_more(switches, read), as_json=as_json)
            return
        require_numbers("compress-check")
        found = check_many(fill(store, one, include=switches) if is_compressed(one) else one for one in chains)
    print_pooled(found, more=_more(switches, read), as_json=as_json)


def print_check(asked: SessionRef, chain: Sequence[Track], *, more: dict[str, Any], as_json: bool) -> None:
    """Print the check of one session and its continuations."""
    if as_json:
        print_json("compress-check", {**compression_answer(asked, chain), **more})
        return
    found = check(chain)
    click.secho(str(asked), bold=True)
    if len(chain) > 1:
        click.echo(f"Continued over {len(chain)} sessions: {', '.join(track.ref.native_id for track in chain)}")
    click.echo(sentence(found))
    if not found.has_compression:
        return
    # People would otherwise wait for one session to grow long enough, which it never does.
    if found.judgement.more_calls:
        click.echo("One session rarely has that many calls. Give a folder to judge many sessions together.")
    click.echo(_CAUSE + _counted_too(more))
    _print_boundaries(found)
    _print_lost(lost_knowledge(*around(chain)))


def print_pooled(found: PooledCheck, *, more: dict[str, Any], as_json: bool) -> None:
    """Print the check of many sessions together, then one line for each."""
    if as_json:
        print_json("compress-check", {**pooled_answer(found), **more})
        return
    click.echo(sentence(found))
    if not found.checks:
        return
    click.echo(_CAUSE + _counted_too(more))
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
        "\nEach line is judged alone, so among many some say yes or no by chance. "
        "`seasoned compress-check SESSION` shows what one of them lost."
    )


def _counted_too(more: dict[str, Any]) -> str:
    return f" Counted too: {', '.join(more['include'])}." if more["include"] else ""


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
        states = [f"{topic.count(one)} {one}" for one in ("made again", "failed after", "not used") if topic.count(one)]
        if topic.known:
            rest = f", of these {' and '.join(states)}" if states else "; none is lost"
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


def print_comparison(found: Comparison, *, as_sets: bool, more: dict[str, Any], as_json: bool) -> None:
    """Print a comparison."""
    if as_json:
        print_json("compare", {**comparison_answer(found, as_sets=as_sets), **more})
        return
    table(
        ["", "sessions" if as_sets else "session", "calls", "failed", "error rate"],
        [_row("warm", found.warm, as_sets=as_sets), _row("cold", found.cold, as_sets=as_sets)],
        right=["calls", "failed", "error rate"],
        whole=["session"],
    )
    click.echo(f"\n{found.sentence}")
    if (tools := _tools_sentence(found)) is not None:
        click.echo(tools)
    for note in found.notes:
        click.echo(note)
    if said := _counted_too(more):
        click.echo(said.strip())


def _row(name: str, side: ComparedSide, *, as_sets: bool) -> tuple[object, ...]:
    who = f"{len(side.sessions)} in {side.lineages} lineages" if as_sets else str(side.sessions[0])
    return name, who, side.total, side.errors, share(side.error_rate)


def _tools_sentence(found: Comparison) -> str | None:
    """The improvement at one mix of tools, where there are sets."""
    if found.standardised is None:
        return None
    estimate, covered = found.standardised.estimate, found.standardised.covered
    if estimate.value is None:
        return f"With the same mix of tools on both sides nothing can be said: {estimate.reason}."
    way = "less" if estimate.value >= 0 else "more"
    sign = 1 if estimate.value >= 0 else -1
    ends = ""
    if estimate.interval is not None:
        # With the sign turned for "more", low and high change places.
        low, high = sorted((100 * sign * estimate.interval.low, 100 * sign * estimate.interval.high))
        ends = f" (95 % interval {low:.1f} to {high:.1f})".replace("-", "−")
    # So little that it is not worth a remark.
    part = "" if covered > 0.995 else f"; tools that both sides use make up {share(covered)} of the calls"
    return f"With the same mix of tools on both sides: {100 * abs(estimate.value):.1f} points {way}{ends}{part}."
