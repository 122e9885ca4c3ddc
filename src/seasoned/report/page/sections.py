"""The page of a report: its texts and figures apart from the plots, and the HTML."""

from __future__ import annotations

from typing import Any

import msgspec

from seasoned.report.compression import sentence
from seasoned.report.page.frame import environment, frame
from seasoned.report.page.plots import plots
from seasoned.report.page.rows import (
    date,
    level,
    number,
    plural,
    rate_between,
    visible,
)
from seasoned.report.report import Recurrence, Report
from seasoned.report.trials import share

# The sections made of plots: name, title, question, plots.
PARTS = (
    (
        "along",
        "Along a session",
        "Does the error rate change during a session?",
        ("position",),
    ),
    (
        "between",
        "Between sessions",
        "Long and short sessions are different sessions: what changes with length, position and ending?",
        ("length", "map", "early", "survivors"),
    ),
    (
        "where",
        "Where and when calls fail",
        "The same calls by tool, by agent and by date.",
        ("tool", "agent", "time"),
    ),
)
_CONTENTS = (
    ("verdict", "Verdict"),
    ("headline", "In figures"),
    *((name, title) for name, title, _, _ in PARTS),
    ("errors", "Recurring mistakes"),
    ("compactions", "Compactions"),
    ("reading", "How to read this"),
)
_LEFT_OUT = ("unclear", "declined", "cancelled", "interrupted", "trivial", "synthetic")
_TEXT_CHARS = 600
_SHOWN_ERRORS = 10  # the others are collapsed
_NAME_CHARS = 120
Line = tuple[str, str, str]


class ErrorText(msgspec.Struct, frozen=True):
    """One recurring error as text."""

    action: str | None  # None if there is nothing to say
    where: str
    signature: str
    often: str
    seen: str


def words(report: Report) -> dict[str, Any]:
    """All texts of the page, by template variable."""
    return {
        "contents": _CONTENTS,
        "period": _period(report.first, report.last),
        "headline": headline(report),
        "shown_errors": _SHOWN_ERRORS,
        "errors": [error_text(found) for found in report.recurrences],
        "compaction": sentence(report.compression),
        "counting": _counting(report.include),
    }


def headline(report: Report) -> tuple[Line, ...]:
    """Name, figure and its basis."""
    counts, overall = report.counts, report.cohort.overall
    left_out = counts.total - counts.counted
    estimate = overall.rate
    between = f"{level(estimate)} interval {rate_between(estimate)}" if estimate.interval else rate_between(estimate)
    rests_on = f"{number(overall.failed)} of {plural(overall.calls, 'call')} in {plural(overall.sessions, 'session')}"
    parts = [f"{number(getattr(counts, name))} {name}" for name in _LEFT_OUT if getattr(counts, name)]
    if report.copies:
        parts.append(f"and {plural(report.copies, 'copy', 'copies')}")
    period = _period(report.first, report.last)
    return (
        ("Error rate", share(estimate.value), f"{between}; {rests_on}"),
        ("Sessions", number(report.sessions), f"{plural(report.messages, 'message')}; {period}"),
        ("Calls that count", number(counts.counted), f"{number(counts.ok)} ok, {number(counts.failed)} failed"),
        ("Calls left out", number(left_out), ", ".join(parts) or "none"),
        (
            "Mistakes that recur",
            number(report.recurring),
            "the same failure of the same tool in more than one session, without tests and checks that report on code",
        ),
    )


def error_text(found: Recurrence) -> ErrorText:
    """The text of one recurring error."""
    where = found.tool if found.program is None else f"{found.tool}: {found.program}"
    often = f"{plural(found.failures, 'failure')} in {plural(found.sessions, 'session')}"
    return ErrorText(
        None if found.action is None else visible(found.action, _TEXT_CHARS),
        visible(where, _NAME_CHARS),
        visible(found.signature, _TEXT_CHARS),
        f"{often}, {plural(found.calls, 'call')} lost",
        "no date in the history" if found.last_seen is None else f"last seen {date(found.last_seen)}",
    )


def _period(first: float | None, last: float | None) -> str:
    if first is None or last is None:
        return "no dates in the histories"
    return date(first) if date(first) == date(last) else f"{date(first)} to {date(last)}"


def _counting(include: tuple[str, ...]) -> str:
    left_out = [name for name in _LEFT_OUT if name not in include]
    said = f"Calls are left out that were {', '.join(left_out[:-1])} or {left_out[-1]}, and copies."
    return f"{said} Counted although left out by default: {', '.join(include)}." if include else said


def render(report: Report) -> str:
    """The whole page. The same report always gives the same page."""
    drawn = {plot.name: plot for plot in plots(report)}
    return (
        environment()
        .get_template("page.html")
        .render(
            report=report,
            plots=drawn,
            parts=[(name, title, lead, [drawn[each] for each in names]) for name, title, lead, names in PARTS],
            **frame(drawn.values()),
            **words(report),
        )
    )
