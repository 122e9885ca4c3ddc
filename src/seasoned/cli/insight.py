"""`profile` and `report`: how one session went, and a report on many."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from seasoned.app.extras import require_numbers
from seasoned.app.mine.run import report_on_folder
from seasoned.cli.histories import histories, passed_over_answer, sessions_for
from seasoned.cli.options import (
    PATHS_HELP,
    all_option,
    include_option,
    json_option,
    paths_argument,
    project_option,
    store_option,
)
from seasoned.cli.output import ReadingBar, print_json, printable, shown, table, write_page
from seasoned.cli.project import chosen_project
from seasoned.config import load
from seasoned.errors import NotFound, UsageError
from seasoned.insight.json_answer import track_answer
from seasoned.insight.mistake.recurrence import Recurrence
from seasoned.insight.page.sections import render
from seasoned.insight.profile import Profile
from seasoned.insight.profile import profile as profile_of
from seasoned.insight.rate_text import points_between, share, share_between
from seasoned.insight.report import Report
from seasoned.insight.report import report_on as report_on_all
from seasoned.insight.track import Track, tracks
from seasoned.insight.trials import Figure
from seasoned.outcome.error_rate import Include
from seasoned.stats.interval import Estimate
from seasoned.store import Store
from seasoned.text import plural


@click.command(epilog=PATHS_HELP)
@click.argument("session", metavar="SESSION|PATH")
@paths_argument
@include_option
@json_option
def profile(session: str, paths: tuple[Path, ...], include: tuple[str, ...], as_json: bool) -> None:
    """Show how a session went.

    Error rate with its interval, by tool, early and late. SESSION is an id or its beginning; for a PATH, every session
    in it is profiled.

    \b
    Example: seasoned profile 53ea19c1
    """
    with sessions_for(session, paths) as read:
        switches = Include(**dict.fromkeys(include, True))
        found = [(track, profile_of(track)) for track in tracks(read.store, include=switches, sessions=read.ids)]
    if not found:
        raise NotFound(f"{session!r} holds no sessions. `seasoned sessions {session}` shows what was read.")
    print_profiles(found, as_json=as_json, include=switches.names(), more=passed_over_answer(read))


@click.command(epilog=PATHS_HELP)
@paths_argument
@click.option("--output", "-o", type=click.Path(path_type=Path, dir_okay=False), help="Write the page to this file.")
@click.option("--source", help="Only sessions of one agent, such as claude-code.")
@click.option("--lengths", default="50,100", show_default=True, help="Session lengths to group by, in messages.")
@include_option
@project_option
@all_option
@store_option
@click.option("--mined", metavar="FOLDER|URL", help="Report on what `seasoned mine` wrote there; read nothing else.")
@json_option
def report(
    paths: tuple[Path, ...],
    output: Path | None,
    source: str | None,
    lengths: str,
    include: tuple[str, ...],
    project: str | None,
    everything: bool,
    use_store: bool,
    mined: str | None,
    as_json: bool,
) -> None:
    """Report: do sessions improve with experience?

    Also which errors come back, and what they cost. Writes one page that opens offline (report.html, or the file given
    with -o) and prints a summary; with --json, the figures.

    \b
    Example: seasoned report ~/.claude/projects -o claude.html
    """
    require_numbers("report")
    if mined is not None:
        if paths or use_store:
            raise UsageError("Give either --mined, or paths or --store.")
        switches = Include(**dict.fromkeys(include, True))
        key, more = project, passed_over_answer()
        made = report_on_folder(load(), mined, agent=source, project=key, lengths=_ends(lengths), include=switches)
    else:
        with histories(paths, use_store=use_store, says_store=not as_json) as read:
            key = chosen_project(read.store, project, everything=everything, by_default=not paths and not use_store)
            made = report_on(read.store, paths=paths, agent=source, project=key, lengths=lengths, include=include)
        more = passed_over_answer(read)
    # With --json the page is written only on request; programs do not expect new files.
    if output is not None or not as_json:
        written = write_page(render(made), output or Path("report.html"), kind="report")
    if as_json:
        answer: dict[str, Any] = msgspec.to_builtins(made)
        print_json("report", answer | {"project": key} | more)
        return
    print_report(made)
    click.echo(f"\nThe page with all plots: {written}")


def report_on(
    store: Store,
    *,
    paths: Sequence[Path] = (),
    agent: str | None = None,
    project: str | None = None,
    lengths: str = "50,100",
    include: Sequence[str] = (),
) -> Report:
    """The report on what a store holds."""
    with ReadingBar(of_bytes=False) as bar:
        return report_on_all(
            store,
            made_at=time.time(),
            paths=paths,
            agent=agent,
            project=project,
            lengths=_ends(lengths),
            include=Include(**dict.fromkeys(include, True)),
            tell=bar,
        )


def _ends(lengths: str) -> list[int]:
    try:
        return [int(part) for part in lengths.split(",")]
    except ValueError:
        raise UsageError(f"--lengths must be numbers of messages such as 50,100, not {lengths!r}.") from None


_MISTAKES_SHOWN = 8
_SIGNALS_SHOWN = 3


def print_report(made: Report) -> None:
    """The summary for people."""
    click.echo(
        f"{plural(made.sessions, 'session')}, {plural(made.counts.total, 'call')}. "
        f"Error rate {share_between(made.cohort.overall.rate)}."
        + (f" Counted too: {', '.join(made.include)}." if made.include else "")
    )
    print_verdict(made)
    click.echo("\nError rate by length of the session and by where in it the call stands:\n")
    _print_figures("messages", made.cohort.by_length)
    click.echo()
    _print_figures("part of session", made.cohort.by_fifth)
    print_recurrences(made)


def print_verdict(made: Report) -> None:
    """Print what the data supports, in words."""
    click.echo("\nDo sessions get better with experience? ", nl=False)
    click.secho(f"{made.verdict.answer[0].upper()}{made.verdict.answer[1:]}.", bold=True)
    click.echo(made.verdict.sentence)
    for reason in made.verdict.reasons:
        click.echo(f"  - {reason}")


def print_recurrences(made: Report) -> None:
    """Print what to do about the mistakes that recur in most sessions, and what tests and checks report most often."""
    mistakes = [one for one in made.recurrences if one.kind == "mistake"]
    signals = [one for one in made.recurrences if one.kind == "signal"]
    if not made.recurrences:
        click.echo("\nNo error came back in a second session.")
    if mistakes:
        click.echo(f"\nMistakes that come back ({plural(made.recurring_mistakes, 'kind')}):\n")
        for one in mistakes[:_MISTAKES_SHOWN]:
            click.echo(f"  - {printable(one.action or f'{_where(one)}: {one.signature}')}")
    if signals:
        count = plural(made.recurring - made.recurring_mistakes, "kind")
        click.echo(f"\nWhat tests, checks and builds report most often ({count}):\n")
        table(
            ["report", "tool", "failures", "sessions", "fixed"],
            [
                (printable(one.signature), _where(one), one.failures, one.sessions, one.repaired)
                for one in signals[:_SIGNALS_SHOWN]
            ],
            right=["failures", "sessions", "fixed"],
        )


def _where(found: Recurrence) -> str:
    return found.tool if found.program is None else f"{found.tool}: {found.program}"


def _print_figures(name: str, figures: Sequence[Figure]) -> None:
    table(
        [name, "sessions", "calls", "failed", "error rate", "95 % interval", "with fixed tool mix"],
        [
            (
                figure.label,
                figure.sessions,
                figure.calls,
                figure.failed,
                share(figure.rate.value),
                _interval(figure.rate),
                _with_interval(figure.fixed_mix),
            )
            for figure in figures
        ],
        right=["sessions", "calls", "failed", "error rate", "95 % interval", "with fixed tool mix"],
        whole=[name],
    )


def _interval(estimate: Estimate) -> str:
    interval = estimate.interval
    return "–" if interval is None else f"{100 * interval.low:.1f} to {100 * interval.high:.1f}"


def _with_interval(estimate: Estimate | None) -> str:
    if estimate is None or estimate.value is None:
        return "–"
    return f"{share(estimate.value)} ({_interval(estimate)})"


def print_profiles(
    profiles: list[tuple[Track, Profile]], *, as_json: bool, include: tuple[str, ...], more: dict[str, Any]
) -> None:
    """One session in full, several as a list; `more` is added to the JSON."""
    if as_json:
        answers = [{**track_answer(track, found), "include": list(include)} for track, found in profiles]
        # One session is the usual case, and its answer is not wrapped in a list.
        answer = answers[0] if len(answers) == 1 else {"count": len(answers), "profiles": answers}
        print_json("profile", answer | more)
    elif len(profiles) == 1:
        _print_one(*profiles[0], include)
    else:
        _print_many(profiles)


def _print_one(track: Track, found: Profile, include: tuple[str, ...]) -> None:
    click.secho(str(track.ref), bold=True)
    if track.title:
        click.echo(shown(track.title))
    counts = found.counts
    # Declined, cancelled, interrupted and trivial calls, and copies.
    left_out = counts.total - counts.counted - counts.unclear
    click.echo(
        f"{plural(found.messages or 0, 'message')} · {plural(found.calls, 'call')}: {counts.ok} ok, "
        f"{counts.failed} failed, {counts.unclear} unclear, {left_out} left out"
        + (f" · counted too: {', '.join(include)}" if include else "")
    )
    # Without a counted call there is no rate; 0 % would be wrong.
    if not counts.counted:
        click.echo("No call in this session counts, so its error rate is unknown.")
        return
    click.echo(f"Error rate        {share_between(found.error_rate)}")
    click.echo(f"First fifth       {share_between(found.early)}")
    click.echo(f"Last fifth        {share_between(found.late)}")
    click.echo(f"Proficiency gain  {points_between(found.gain)}; negative is improvement")
    click.echo(f"Task {shown(found.task_type)} · mostly {shown(found.dominant_tool_type)} tools")
    tokens = [f"{name.replace('_', ' ')} {shown(getattr(found.usage, name))}" for name in found.usage.__struct_fields__]
    cost = "cost unknown" if found.cost_usd is None else f"{found.cost_usd:.4f} USD"
    click.echo(f"Tokens: {', '.join(tokens)} · {cost}\n")
    table(
        ["tool", "calls", "ok", "failed", "unclear", "left out", "success rate"],
        [
            (tool, use.calls, use.ok, use.failed, use.unclear, use.left_out, share(use.success_rate))
            for tool, use in found.tools.items()
        ],
        right=["calls", "ok", "failed", "unclear", "left out", "success rate"],
    )


def _print_many(profiles: list[tuple[Track, Profile]]) -> None:
    table(
        ["agent", "session", "messages", "calls", "failed", "error rate", "early", "late", "task"],
        [
            (
                track.ref.agent,
                track.ref.native_id,
                found.messages,
                found.calls,
                found.counts.failed,
                share(found.error_rate.value),
                share(found.early.value),
                share(found.late.value),
                found.task_type,
            )
            for track, found in profiles
        ],
        right=["messages", "calls", "failed", "error rate", "early", "late"],
        whole=["agent", "session"],
    )
