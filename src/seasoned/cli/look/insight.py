"""`profile`, `report`, `compare` and `compress-check`: how sessions went, alone, together and against each other."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click
import msgspec

from seasoned.app.stores import Histories, exists
from seasoned.cli.options import (
    PATHS_HELP,
    all_option,
    include_option,
    json_option,
    paths_argument,
    project_option,
    wants_json,
    words_in,
)
from seasoned.cli.output import ReadingBar, answered, money, printable, records, say, shown, table, write_page
from seasoned.cli.project import chosen_project, histories, passed_over_answer, sessions_for
from seasoned.errors import NotFound, UsageError
from seasoned.gateway.history_usage import fill_prices
from seasoned.outcome.error_rate import Counts, Include
from seasoned.outcome.track import Track, tracks
from seasoned.report import compression
from seasoned.report.compare import ComparedSide, compare_sessions, compare_sets
from seasoned.report.compression import Judgement, Knowledge, PooledCheck
from seasoned.report.json_answer import (
    MOST_SHOWN,
    comparison_answer,
    compression_answer,
    pooled_answer,
    topics,
    track_answer,
)
from seasoned.report.page.sections import render
from seasoned.report.profile import LABELS, Profile, SessionMeasures
from seasoned.report.profile import profile as profile_of
from seasoned.report.report import Recurrence, Report, report_on
from seasoned.report.trials import EARLY_TURNS, Figure, points_between, share, share_between
from seasoned.session import SessionRef
from seasoned.stats.interval import Estimate
from seasoned.stats.proportion import wilson
from seasoned.store.search import find_session
from seasoned.text import plural


@click.command(epilog=PATHS_HELP)
@click.argument("session", metavar="SESSION|PATH")
@paths_argument
@json_option
def profile(session: str, paths: tuple[Path, ...]) -> None:
    """Show how a session went.

    Error rate with its interval, by tool, early and late. SESSION is an id or its beginning; for a PATH, every session
    in it is profiled.

    \b
    Example: seasoned profile 53ea19c1
    """
    with sessions_for(session, paths) as read:
        found = [(track, profile_of(track)) for track in tracks(read.store, sessions=read.ids)]
        cost = _cost(read, found[0][0]) if len(found) == 1 and not wants_json() else ""
    if not found:
        raise NotFound(f"{session!r} holds no sessions. `seasoned sessions {session}` shows what was read.")
    answers = [track_answer(track, one) for track, one in found]
    # One session is the usual case, and its answer is not wrapped in a list.
    answer = answers[0] if len(answers) == 1 else {"count": len(answers), "profiles": answers}
    if answered("profile", answer | passed_over_answer(read)):
        return
    if len(found) == 1:
        _print_one(*found[0], cost)
        return
    rows = [
        (track.ref.agent, track.ref.native_id, one.messages, one.calls, one.counts.failed, *_rates(one), one.task_type)
        for track, one in found
    ]
    columns = ["agent", "session", "messages", "calls", "failed", "error rate", "early", "late", "task"]
    table(columns, rows, nowrap=["agent", "session"])


def _rates(found: Profile) -> tuple[str, ...]:
    return tuple(share(one.value) for one in (found.error_rate, found.early, found.late))


def _cost(read: Histories, track: Track) -> str:
    """What a session cost, as every list says it."""
    fill_prices(read.store)
    row = find_session(read.store, str(track.ref))
    return money(row["known_usd"], is_estimate=row["cost_usd"] is None)


@click.command(epilog=PATHS_HELP)
@paths_argument
@click.option("--output", "-o", type=click.Path(path_type=Path, dir_okay=False), help="Write the page to this file.")
@click.option("--source", help="Only sessions of one agent, such as claude-code.")
@include_option
@project_option
@all_option
@json_option
def report(
    paths: tuple[Path, ...],
    output: Path | None,
    source: str | None,
    include: tuple[str, ...],
    project: str | None,
    everything: bool,
) -> None:
    """Report: do sessions improve with experience?

    Also which errors come back, and what they cost. Writes one page that opens offline (report.html, or the file given
    with -o) and prints a summary; with --json, the figures.

    \b
    Example: seasoned report ~/.claude/projects -o claude.html
    """
    with histories(paths, says_store=True) as read:
        key = chosen_project(read.store, project, everything=everything, by_default=not paths)
        switches = Include(**dict.fromkeys(include, True))
        with ReadingBar(of_bytes=False) as bar:
            made = report_on(
                read.store, made_at=time.time(), paths=paths, agent=source, project=key, include=switches, tell=bar
            )
    more = passed_over_answer(read)
    # With --json the page is written only on request; programs do not expect new files.
    if output is not None or not wants_json():
        written = write_page(render(made), output or Path("report.html"))
    if answered("report", msgspec.to_builtins(made) | {"project": key} | more):
        return
    print_report(made)
    say(f"\nThe page with all plots: {written}")


_MISTAKES_SHOWN = 8


def print_report(made: Report) -> None:
    """The summary for people."""
    say(
        f"{plural(made.sessions, 'session')}, {plural(made.counts.total, 'call')}. "
        f"Error rate {share_between(made.cohort.overall.rate)}."
        + (f" Counted too: {', '.join(made.include)}." if made.include else "")
    )
    print_verdict(made)
    say("\nError rate by length of the session and by where in it the call stands:\n")
    _print_figures("messages", made.cohort.by_length)
    say()
    _print_figures("call", made.cohort.by_position)
    print_recurrences(made)


def print_verdict(made: Report) -> None:
    """Print what the data supports, in words."""
    answer = made.verdict.answer
    say(f"\nDo sessions get better with experience? {answer[0].upper()}{answer[1:]}.", bold=True)
    say(made.verdict.sentence)
    for reason in made.verdict.reasons:
        say(f"  - {reason}")


def print_recurrences(made: Report) -> None:
    """Print what to do about the mistakes that recur in most sessions."""
    if not made.recurrences:
        say("\nNo error came back in a second session.")
        return
    say(f"\nMistakes that come back ({plural(made.recurring, 'kind')}):\n")
    for one in made.recurrences[:_MISTAKES_SHOWN]:
        often = f"{plural(one.failures, 'failure')} in {plural(one.sessions, 'session')}"
        lost = f"{plural(one.calls, 'call')} lost" + (f", {one.repaired} repaired it so" if one.repaired else "")
        say(f"  - {printable(one.action or f'{_where(one)}: {one.signature}')} ({often}, {lost})")


def _where(found: Recurrence) -> str:
    return found.tool if found.program is None else f"{found.tool}: {found.program}"


def _print_figures(name: str, figures: Sequence[Figure]) -> None:
    records(
        figures,
        (name, lambda one: one.label),
        "sessions calls failed",
        ("error rate", lambda one: share(one.rate.value)),
        ("95 % interval", lambda one: _interval(one.rate)),
        ("with fixed tool mix", lambda one: _with_interval(one.fixed_mix)),
        nowrap=[name],
    )


def _interval(estimate: Estimate) -> str:
    interval = estimate.interval
    return "–" if interval is None else f"{100 * interval.low:.1f} to {100 * interval.high:.1f}"


def _with_interval(estimate: Estimate | None) -> str:
    if estimate is None or estimate.value is None:
        return "–"
    return f"{share(estimate.value)} ({_interval(estimate)})"


def _print_one(track: Track, found: Profile, cost: str) -> None:
    say(str(track.ref), bold=True)
    if track.title:
        say(shown(track.title))
    counts = found.counts
    # Declined, cancelled, interrupted and trivial calls, and copies.
    left_out = counts.total - counts.counted - counts.unclear
    say(
        f"{plural(found.messages or 0, 'message')} · {plural(found.calls, 'call')}: {counts.ok} ok, "
        f"{counts.failed} failed, {counts.unclear} unclear, {left_out} left out"
    )
    # Without a counted call there is no rate; 0 % would be wrong.
    if not counts.counted:
        say("No call in this session counts, so its error rate is unknown.")
        return
    say(f"Error rate        {share_between(found.error_rate)}")
    say(f"First fifth       {share_between(found.early)}")
    say(f"Last fifth        {share_between(found.late)}")
    say(f"Proficiency gain  {points_between(found.gain)}; negative is improvement")
    if found.measures is not None:
        _print_measures(found.measures)
    say(f"Task {shown(found.task_type)} · mostly {shown(found.dominant_tool_type)} tools")
    tokens = [f"{name.replace('_', ' ')} {shown(getattr(found.usage, name))}" for name in found.usage.__struct_fields__]
    say(f"Tokens: {', '.join(tokens)} · cost {cost}\n")
    table(
        ["tool", "calls", "ok", "failed", "unclear", "left out", "success rate"],
        [
            (tool, use.calls, use.ok, use.failed, use.unclear, use.left_out, share(use.success_rate))
            for tool, use in found.tools.items()
        ],
    )


def _print_measures(found: SessionMeasures) -> None:
    say(f"First {EARLY_TURNS} turns    {share_between(wilson(found.early_errors, found.early_calls))}")
    when = "no call worked" if found.calls_to_success is None else f"with call {found.calls_to_success}"
    after = "" if found.seconds_to_success is None else f", after {found.seconds_to_success:.0f} s"
    counts = f"{plural(found.errors, 'error')}, {plural(found.diversity, 'different tool')}"
    say(f"First success     {when}{after}; {counts}")


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
def compare(warm: str, cold: str, paths: tuple[Path, ...], as_sets: bool, include: tuple[str, ...]) -> None:
    """Compare two sessions, or two sets of them.

    A is called warm and B cold. Both are session ids, or files that hold one session. With --set each is a path,
    or ids joined by commas.

    \b
    Example: seasoned compare 53ea19c1 40904d81
    Example: seasoned compare --set ~/warm-runs ~/cold-runs
    """
    switches = Include(**dict.fromkeys(include, True))
    with ExitStack() as stack:
        # Both stay open: tracks are read from the store as they are asked for.
        sides = [stack.enter_context((_set if as_sets else _one)(text, paths)) for text in (warm, cold)]
        a, b = [tracks(side.store, include=switches, sessions=side.ids) for side in sides]
        found = compare_sets(a, b) if as_sets else compare_sessions(next(a), next(b))
    more = {"include": list(switches.names()), **passed_over_answer(*sides)}
    if answered("compare", {**comparison_answer(found, as_sets=as_sets), **more}):
        return
    table(
        ["", "sessions" if as_sets else "session", "calls", "failed", "error rate"],
        [_side_row("warm", found.warm, as_sets=as_sets), _side_row("cold", found.cold, as_sets=as_sets)],
        nowrap=["session"],
    )
    say(f"\n{found.sentence}")
    if found.measures:
        say("\nMeans over lineages; warm minus cold:\n")
        records(
            found.measures,
            ("measure", lambda one: LABELS[one.measure]),
            ("warm", lambda one: _figure(one.warm)),
            ("cold", lambda one: _figure(one.cold)),
            ("difference", lambda one: _figure(one.difference.value)),
            ("95 % interval", lambda one: _ends(one.difference)),
            nowrap=["measure", "95 % interval"],
        )
    for note in found.notes:
        say(note)
    if include:
        say(f"Counted too: {', '.join(switches.names())}.")


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
    """Paths or ids: one, or several between commas."""
    # Before splitting: a path may hold a comma.
    names = [text] if exists(text) else words_in(text)
    if not names:
        raise UsageError(f"{text!r} names no session. Give a path, or ids joined by commas.")
    return names


@click.command("compress-check", epilog=PATHS_HELP)
@click.argument("session", metavar="SESSION|PATH")
@paths_argument
@json_option
def compress_check(session: str, paths: tuple[Path, ...]) -> None:
    """Check what a context compression cost.

    Compares error rates before and after, and lists what was known before and lost. SESSION is an id or its beginning;
    a PATH with several sessions is judged as a whole.

    \b
    Example: seasoned compress-check 53ea19c1
    """
    with sessions_for(session, paths) as read:
        store, ids = read.store, read.ids
        if not ids:
            raise NotFound(f"{session!r} holds no sessions. `seasoned sessions {session}` shows what was read.")
        # Outlines have no calls, so finding the sessions with a compression is quick; only those are filled.
        chains = compression.outlines(store)
        asked = next(tracks(store, sessions=ids[:1])).ref
        if len(ids) == 1:
            # A session that was continued after a compression is judged together with its continuations.
            chains = [chain for chain in chains if asked in [track.ref for track in chain]]
        if len(chains) == 1:
            print_check(asked, compression.fill(store, chains[0]), more=passed_over_answer(read))
            return
        filled = (compression.fill(store, one) if compression.is_compressed(one) else one for one in chains)
        found = compression.check_many(filled)
    print_pooled(found, more=passed_over_answer(read))


def print_check(asked: SessionRef, chain: Sequence[Track], *, more: dict[str, Any]) -> None:
    """Print the check of one session and its continuations."""
    if answered("compress-check", {**compression_answer(asked, chain), **more}):
        return
    found = compression.check(chain)
    say(str(asked), bold=True)
    if len(chain) > 1:
        say(f"Continued over {len(chain)} sessions: {', '.join(track.ref.native_id for track in chain)}")
    say(compression.sentence(found))
    if not found.has_compression:
        return
    # People would otherwise wait for one session to grow long enough, which it never does.
    if found.judgement.more_calls:
        say("One session rarely has that many calls. Give a folder to judge many sessions together.")
    say(_CAUSE)
    _print_lost(compression.lost_knowledge(*compression.around(chain)))


def print_pooled(found: PooledCheck, *, more: dict[str, Any]) -> None:
    """Print the check of many sessions together, then one line for each."""
    if answered("compress-check", {**pooled_answer(found), **more}):
        return
    say(compression.sentence(found))
    if not found.checks:
        return
    say(_CAUSE)
    say(
        f"{plural(len(found.checks), 'lineage')} with a compression, {found.without} without; "
        f"{found.pairs} with calls that count on both sides.\n"
    )
    rows = [
        (
            one.sessions[0].agent,
            one.sessions[0].native_id,
            *_cells(one.before),
            *_cells(one.after),
            _word(one.judgement),
        )
        for one in found.checks
    ]
    columns = ["agent", "session", "before", "failed", "rate", "after", "failed after", "rate after", "preserved"]
    table(columns, rows, nowrap=["agent", "session"])
    say(
        "\nEach line is judged alone, so among many some say yes or no by chance. "
        "`seasoned compress-check SESSION` shows what one of them lost."
    )


def _cells(counts: Counts | None) -> tuple[object, ...]:
    return (None, None, None) if counts is None else (counts.counted, counts.failed, share(counts.error_rate))


def _word(judgement: Judgement) -> str:
    return {True: "yes", False: "no", None: "cannot tell"}[judgement.preserved]


def _print_lost(lost: Knowledge) -> None:
    say()
    for name, topic, known in topics(lost):
        states = [f"{topic.count(one)} {one}" for one in ("failed after", "not used") if topic.count(one)]
        if topic.known:
            rest = f", of these {' and '.join(states)}" if states else "; none is lost"
            say(f"{name}: {topic.known} {known}{rest}")
    shown = [(name, one) for name, topic, _ in topics(lost) for one in topic.lost[:MOST_SHOWN]]
    if not shown:
        return
    say(f"{_MOVED_ON}\n")
    table(
        ["what", "known before", "state", "before", "after", "failed after"],
        [(name, one.what, one.state, one.before, one.after, one.failed_after) for name, one in shown],
    )


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _ends(estimate: Estimate) -> str:
    ends = estimate.interval
    return estimate.reason or "–" if ends is None else f"{ends.low:.2f} to {ends.high:.2f}"


def _side_row(name: str, side: ComparedSide, *, as_sets: bool) -> tuple[object, ...]:
    who = f"{len(side.sessions)} in {side.lineages} lineages" if as_sets else str(side.sessions[0])
    return name, who, side.total, side.errors, share(side.error_rate)
