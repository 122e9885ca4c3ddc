"""A report on the terminal, and the page that is written."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click

from seasoned.cli.output import printable, table
from seasoned.errors import CannotDo, UsageError
from seasoned.insight.rate_text import share, share_between
from seasoned.insight.report import Report
from seasoned.insight.trials import Figure
from seasoned.stats.interval import Estimate
from seasoned.text import plural

_MARK = "<!-- seasoned:report -->"
_RECURRENCES_SHOWN = 5


def write_page(made: Report, path: Path) -> Path:
    """Write the page; only an older report is ever overwritten."""
    from seasoned.insight.page.sections import render

    try:
        if path.exists() and _MARK not in path.read_text("utf-8", "replace")[:1000]:
            raise UsageError(f"{str(path)!r} exists and is not a report of Seasoned: choose another file with -o.")
        html = render(made).replace("<!doctype html>", f"<!doctype html>\n{_MARK}", 1)
        # It quotes sessions: nobody else may read it, not even for a moment.
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            path.chmod(0o600)
            file.write(html)
    except OSError as error:
        raise CannotDo(
            f"The page {str(path)!r} cannot be written ({error.strerror}): choose another file with -o."
        ) from error
    return path


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
    """What the data supports, in words."""
    click.echo("\nDo sessions get better with experience? ", nl=False)
    click.secho(f"{made.verdict.answer[0].upper()}{made.verdict.answer[1:]}.", bold=True)
    click.echo(made.verdict.sentence)
    for reason in made.verdict.reasons:
        click.echo(f"  - {reason}")


def print_recurrences(made: Report) -> None:
    """The errors that come back in most sessions, with the repair that worked."""
    if not made.recurrences:
        click.echo("\nNo error came back in a second session.")
        return
    click.echo(f"\nErrors that come back ({made.recurring} kinds):\n")
    table(
        ["error", "tool", "failures", "sessions", "repaired", "what repaired it"],
        [
            (
                printable(one.signature),
                one.tool if one.program is None else f"{one.tool}: {one.program}",
                one.failures,
                one.sessions,
                one.repaired,
                one.repair,
            )
            for one in made.recurrences[:_RECURRENCES_SHOWN]
        ],
        right=["failures", "sessions", "repaired"],
    )


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
