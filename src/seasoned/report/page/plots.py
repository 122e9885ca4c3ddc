"""The plots of the report, each with its chart, its caption and its table."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from seasoned.report.cohort import BLOCK, ENDING, LONG_ENDING, CohortCell, EarlyTrend, Survivors
from seasoned.report.compression import TOLERANCE, PooledCheck
from seasoned.report.page import charts
from seasoned.report.page.rows import (
    DASH,
    LABEL_CHARS,
    NO_CALLS,
    change,
    change_between,
    change_cells,
    change_row,
    counted,
    figure_cells,
    figure_row,
    judgement_cells,
    level,
    lineage,
    map_rows,
    mix_cells,
    number,
    p_value,
    ratio_row,
    side,
    start,
    unique,
    visible,
)
from seasoned.report.report import Report
from seasoned.report.trials import EARLY_TURNS, Figure, points_between
from seasoned.stats.interval import Estimate

_MOST_LINEAGES = 15
_BLOCKS = f"number of the call in its session, in blocks of {BLOCK}"
_ALL = ("line", "all calls")
_MIX = ("dash", "at the tool mix of all calls")
_DOT = ("dot", "all calls, with its interval")
_DIAMOND = ("diamond", "at the tool mix of all calls")
_FIGURE_HEAD = ("error rate", "interval", "level", "failed", "calls", "sessions")
_MIX_HEAD = ("at equal tools", "interval at equal tools")
Rows = tuple[tuple[str, ...], ...]


class Plot(msgspec.Struct, frozen=True):
    """One plot. If there is nothing to draw, `spec` is None and `reason` says why."""

    name: str
    title: str
    shows: str
    hides: str  # what it does not show
    spec: charts.Spec | None
    head: tuple[str, ...]
    rows: Rows
    key: tuple[tuple[str, str], ...] = ()  # the legend: kind of mark, meaning
    reason: str | None = None


def plots(report: Report) -> tuple[Plot, ...]:
    """Every plot of a report, in reading order."""
    found = report.cohort
    return (
        _trend(report),
        _position(found.by_position),
        _length(found.by_length, found.length_difference),
        _map(found.by_both),
        _early(found.by_early_type),
        _survivors(found.survivors),
        _tool(report),
        _dots(
            "agent",
            "Error by agent",
            "The error rate in the histories of each agent.",
            "Which agent is better: they were given different tasks and record failures in different ways.",
            report.by_agent,
            what="agent",
        ),
        _time(report.over_time),
        _compression(report.compression),
    )


def _trend(report: Report) -> Plot:
    trend = report.cohort.trend
    named = (
        ("Tools held fixed, last call left out", trend.within),
        (f"Tools held fixed, last {LONG_ENDING} left out", trend.short),
        ("Any tools, last call left out" if ENDING == 1 else f"Any tools, last {ENDING} left out", trend.any_tool),
    )
    return Plot(
        "trend",
        "Change within sessions",
        "How far the error rate moves from the first call of a session to its last, each session compared with itself; "
        "left of the line is improvement, and the verdict uses the first row.",
        "Why it moves, or what another agent, model or task would have done.",
        charts.changes([change_row(name, estimate) for name, estimate in named], title="points, first call to last")
        if any(estimate.value is not None for _, estimate in named)
        else None,
        ("comparison", "change", "interval", "level", "calls", "sessions compared"),
        tuple((name, *change_cells(estimate)) for name, estimate in named),
        reason=trend.within.reason,
    )


def _position(figures: Sequence[Figure]) -> Plot:
    rows = [{**figure_row(figure), "from": start(figure.label)} for figure in figures]
    return _figures_plot(
        "position",
        "Error by position",
        f"The error rate in each block of {BLOCK} calls, over all sessions that got this far.",
        "Learning: the sessions on the right are those that were still running; they may have been different "
        "from the start.",
        figures,
        lambda: charts.band(rows, title=_BLOCKS),
        key=(_ALL, ("band", "its interval"), _MIX),
        what="calls",
    )


def _length(figures: Sequence[Figure], gap: Estimate) -> Plot:
    gap_text = "" if gap.value is None else f" Shortest minus longest: {points_between(gap)}."
    return _dots(
        "length",
        "Error by length of the session",
        f"The error rate of sessions by their total number of messages.{gap_text}",
        "Cause: a session may be long because it went well, or go well because it is long.",
        figures,
        what="messages",
    )


def _map(cells: Sequence[CohortCell]) -> Plot:
    return Plot(
        "map",
        "Position and length together",
        "The error rate in percent, and below it the calls, at each position among sessions of equal length: along "
        "a row, every block comes from sessions of the same kind.",
        "Uncertainty: fields with few calls vary by chance; their intervals are in the table.",
        charts.grid(map_rows(cells), across="number of the call", down="messages") if cells else None,
        ("messages", "calls", *_FIGURE_HEAD),
        tuple((cell.length, cell.position, *figure_cells(cell.figure)) for cell in cells),
        reason=None if cells else NO_CALLS,
    )


def _early(trends: Sequence[EarlyTrend]) -> Plot:
    has_any = any(trend.within.value is not None for trend in trends)
    return Plot(
        "early",
        "By what a session began with",
        f"The change within sessions, by what the first {EARLY_TURNS} messages were mostly about.",
        "The rest of the session, which may have been about something else.",
        charts.changes([change_row(trend.early, trend.within) for trend in trends], title="points, first call to last")
        if has_any
        else None,
        ("began with", "change", "interval", "level", "calls", "sessions compared", "p, adjusted", *_FIGURE_HEAD),
        tuple(
            (trend.early, *change_cells(trend.within), p_value(trend.adjusted_p), *figure_cells(trend.figure))
            for trend in trends
        ),
        reason=None if has_any else (trends[0].within.reason if trends else NO_CALLS),
    )


def _survivors(found: Survivors) -> Plot:
    groups = ("ended here", "went on")
    rows = [
        {**figure_row(figure), "from": start(block.position), "group": group}
        for block in found.blocks
        for group, figure in zip(groups, (block.ended, block.survivors), strict=True)
    ]
    has_any = any(row["value"] is not None for row in rows)
    totals = (("all blocks, at equal tools", found.ended), ("the last call alone, at equal tools", found.last_call))
    return Plot(
        "survivors",
        "Sessions that ended and sessions that went on",
        "In each block of calls, sessions that ended there next to sessions that went on. Ended minus went on, at "
        f"equal positions and tools: {points_between(found.ended)}; for the last call alone: "
        f"{points_between(found.last_call)}.",
        "Which came first: failures may end a session, and a session that is ending may fail.",
        charts.pairs(rows, title="number of the call in its session, in blocks of ten", groups=groups)
        if has_any
        else None,
        ("calls", "group", *_FIGURE_HEAD),
        tuple(
            (block.position, group, *figure_cells(figure))
            for block in found.blocks
            for group, figure in zip(groups, (block.ended, block.survivors), strict=True)
        )
        + tuple(
            (name, "ended minus went on", change(one), change_between(one), level(one), DASH, number(one.n), DASH)
            for name, one in totals
        ),
        key=(("diamond-full", "ended here"), ("dot", "went on")),
        reason=None if has_any else NO_CALLS,
    )


def _tool(report: Report) -> Plot:
    figures = report.by_tool
    some = (
        f"the {len(figures)} of {report.tools} tools with the most failures"
        if report.tools > len(figures)
        else "each tool"
    )
    return _dots(
        "tool",
        "Error by tool",
        f"The error rate of {some}, most failures first. A tool that does several kinds of work has a row for each.",
        "Which tool is better: hard and easy work go to different tools.",
        figures,
        what="tool",
    )


def _time(figures: Sequence[Figure]) -> Plot:
    made = _figures_plot(
        "time",
        "Error over time",
        "The error rate by the date on which sessions began.",
        "What changed on a date: model, agent, tasks and tools all change with time.",
        figures,
        lambda: charts.band([figure_row(figure) for figure in figures], title="session began", is_time=True),
        key=(_ALL, ("rule", "its interval")),
        what="from",
    )
    return msgspec.structs.replace(made, reason=made.reason and "no session with counted calls has a date")


def _compression(found: PooledCheck) -> Plot:
    largest = sorted(found.checks, key=lambda check: (-counted(check), check.root, check.sessions))[:_MOST_LINEAGES]
    rows = [ratio_row("all together", found.judgement, found.before, found.after)] if len(found.checks) > 1 else []
    rows += [ratio_row(lineage(check), check.judgement, check.before, check.after) for check in largest]
    has_any = any(row["value"] is not None for row in rows)
    return Plot(
        "compression",
        "Before and after compactions",
        f"The error rate after the context was compressed, as a multiple of the rate before; up to {TOLERANCE:g} "
        "times (the dotted line) counts as preserved.",
        "What a summary lost: only whether calls fail more often after it.",
        charts.ratios(unique(rows), title="error rate after, as a multiple of before", limit=TOLERANCE)
        if has_any
        else None,
        ("lineage", "preserved", "after / before", "interval", "level", "before", "after", "compactions"),
        tuple(
            (
                lineage(check),
                *judgement_cells(check.judgement),
                side(check.before),
                side(check.after),
                number(check.compressions),
            )
            for check in largest
        ),
        reason=found.judgement.reason,
    )


def _dots(name: str, title: str, shows: str, hides: str, figures: Sequence[Figure], *, what: str) -> Plot:
    """A row for each figure."""
    has_mix = any(figure.fixed_mix is not None for figure in figures)
    return _figures_plot(
        name,
        title,
        shows,
        hides,
        figures,
        lambda: charts.dots(unique([figure_row(figure) for figure in figures]), title="failed calls"),
        key=(_DOT, _DIAMOND) if has_mix else (_DOT,),
        what=what,
    )


def _figures_plot(
    name: str,
    title: str,
    shows: str,
    hides: str,
    figures: Sequence[Figure],
    spec: Callable[[], charts.Spec],
    *,
    key: tuple[tuple[str, str], ...],
    what: str,
) -> Plot:
    """A plot of figures, with the rates at equal tools if they were computed."""
    has_mix = any(figure.fixed_mix is not None for figure in figures)
    has_any = any(figure.rate.value is not None for figure in figures)
    return Plot(
        name,
        title,
        shows,
        hides,
        spec() if has_any else None,
        (what, *_FIGURE_HEAD, *(_MIX_HEAD if has_mix else ())),
        tuple(
            (visible(figure.label, LABEL_CHARS), *figure_cells(figure), *(mix_cells(figure) if has_mix else ()))
            for figure in figures
        ),
        key=key,
        reason=None if has_any else NO_CALLS,
    )
