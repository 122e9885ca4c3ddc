"""The experiments page: the experiments on live sessions, and what their results support."""

from __future__ import annotations

import asyncio
import math
import time
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Query
from starlette.requests import Request as HTTPRequest
from starlette.responses import Response

from seasoned.app.experiment import live_experiment
from seasoned.confirm.service.service import service_of
from seasoned.errors import NotFound, UsageError
from seasoned.experiment.live.live_report import LiveArm, LiveExample, LiveListing, LiveReport, list_live
from seasoned.experiment.live.online_analysis import SampleRatio
from seasoned.experiment.page.live_plots import live_plots
from seasoned.insight.page.rows import change, change_between, rate, rate_between
from seasoned.insight.report import revision
from seasoned.store import Database, DatabaseRow, Store
from seasoned.web.cache import CacheLookup, look_up
from seasoned.web.display import experiment_link
from seasoned.web.history_store import histories_of
from seasoned.web.login import Here, read_change
from seasoned.web.response import Page, page_router, redirect
from seasoned.web.table import (
    FILE_ROWS,
    Column,
    Table,
    TableCell,
    answer,
    numbers,
    plain,
    plot_table,
    row_limit,
    session_cell,
    time_cell,
)

# Sessions count once they are old enough, so a report is made again even if no session was added.
_AFRESH_SECONDS = 60.0


async def live_of(request: HTTPRequest, name: str, *, is_asked: bool = False) -> CacheLookup[LiveReport]:
    """The report on one running experiment, as it was last made."""
    now = await histories_of(request).read(revision)
    config = service_of(request).config
    # Assignments may be in another database, and the revision of the histories does not show them.
    minute = int(time.time() // _AFRESH_SECONDS)
    return await look_up(
        request,
        f"experiment {name}",
        f"Analysing the experiment {name}",
        (now, minute),
        lambda _: live_experiment(config, name),
        is_asked=is_asked,
    )


router = page_router()
Arm = Annotated[str | None, Query(max_length=200)]
_SESSION_COLUMNS = (
    Column("session", "session"),
    Column("arm", "arm"),
    Column("at", "assigned", no_wrap=True),
    Column("exposed_arm", "was shown the block of"),
    Column("exposed_at", "shown", no_wrap=True),
)


def arm_link(name: str, arm: str | None = None) -> str:
    """The sessions of an experiment, or of one of its arms."""
    return f"{experiment_link(name)}/sessions" + ("" if arm is None else f"?{urlencode({'arm': arm})}")


@router.get("/experiments/{name}/sessions")
async def show_sessions(
    request: HTTPRequest, here: Here, name: str, arm: Arm = None, after: str | None = None
) -> Response:
    """List the sessions that were assigned, the newest first."""
    at, session = _after(after)
    limit = row_limit(request)
    wanted = {"experiment": name, "arm": arm, "at": at, "session": session, "limit": limit + 1}
    rows = await service_of(request).store.read(lambda book: _session_rows(book.database, wanted))
    more = rows[limit - 1] if len(rows) > limit else None
    names = await histories_of(request).read(lambda store: [_session_name(row, store, limit) for row in rows[:limit]])
    table = Table(
        name="assigned",
        title="Sessions",
        columns=_SESSION_COLUMNS,
        rows=[_session_row(row, name) for row, name in zip(rows, names, strict=False)],
        empty="No sessions yet. The gateway, the hooks and the plugin assign new sessions when they begin.",
        after=None if more is None else f"{more['at']!r},{more['session']}",
        has_previous=after is not None,
    )
    return answer(request, here, "experiment_sessions.html", tables=(table,), name=name, arm=arm)


def _session_rows(database: Database, wanted: dict[str, str | float | None]) -> list[DatabaseRow]:
    if not database.rows("experiment.splits", {"experiment": wanted["experiment"]}):
        raise NotFound(f"No experiment {str(wanted['experiment'])[:80]!r} is running. See the list of experiments.")
    return list(database.rows("experiment.arm_sessions", wanted))


def _session_name(row: DatabaseRow, store: Store, limit: int) -> TableCell:
    # A file has thousands of rows, and each name would take a query.
    if limit < FILE_ROWS:
        return session_cell(row["session"], store)
    return TableCell(row["session"])


def _session_row(row: DatabaseRow, name: TableCell) -> tuple[TableCell, ...]:
    return (
        name,
        TableCell(row["arm"]),
        time_cell(row["at"]),
        TableCell(row["exposed_arm"], shown=row["exposed_arm"] or "nothing was shown"),
        time_cell(row["exposed_at"]),
    )


def _after(after: str | None) -> tuple[float, str]:
    if after is None:
        # Later than any session.
        return 1e300, ""
    at, _, session = after.partition(",")
    try:
        found = float(at)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise UsageError("This page of the list does not exist. Go to its first page.")
    return found, session


PAGE = Page("Experiments", "experiments", is_rare=True)
_LIVE = (
    Column("experiment", "experiment"),
    Column("arms", "arms"),
    Column("sessions", "sessions", is_number=True),
    Column("exposed", "shown something", is_number=True),
    Column("began_at", "divided so since", no_wrap=True),
    Column("last_at", "last session", no_wrap=True),
    Column("verdict", "so far"),
)
_ARMS = (
    Column("arm", "arm"),
    Column("share", "should get"),
    *numbers(
        assigned="assigned",
        exposed="shown its block",
        contaminated="shown another",
        settled="settled",
        measured="measured",
        calls="calls",
        failed="failed",
    ),
    Column("error", "failed calls of a session"),
    Column("interval", "interval", no_wrap=True),
)
_RATIO = (
    Column("over", "over"),
    Column("arm", "arm"),
    *numbers(sessions="sessions", expected="expected", p_value="p"),
    Column("state", "state"),
)
_EXAMPLES = (
    Column("example", "example"),
    Column("tool", "tool"),
    Column("arm", "arm"),
    Column("shown", "sessions with it", is_number=True),
    Column("foregone", "without it", is_number=True),
    Column("effect", "calls that work"),
    Column("interval", "interval", no_wrap=True),
    Column("answer", "answer"),
    Column("state", "state"),
    Column("reason", "why"),
)
_TONES = {"fewer errors": "ok", "more errors": "failed", "not comparable": "failed", "hurts": "failed", "helps": "ok"}
_NONE_LIVE = "No experiment is running. `seasoned experiment begin NAME` assigns new sessions to arms at random."


@router.get("/experiments")
async def show_list(request: HTTPRequest, here: Here) -> Response:
    """List running experiments."""
    live = await service_of(request).store.read(lambda book: list_live(book.database))
    reports = await asyncio.gather(*[live_of(request, one.name) for one in live])
    rows = [_live_row(one, report.value) for one, report in zip(live, reports, strict=True)]
    table = Table(name="live", title="Running on live sessions", columns=_LIVE, rows=rows, empty=_NONE_LIVE)
    return answer(request, here, "experiments.html", tables=(table,))


@router.get("/experiments/{name}")
async def show_one(request: HTTPRequest, here: Here, name: str) -> Response:
    """Show one experiment: its verdict, arms, effects, sample ratio and examples."""
    live = await service_of(request).store.read(lambda book: list_live(book.database))
    if all(one.name != name for one in live):
        raise NotFound(f"No experiment {name[:80]!r} is running. See the list of experiments.")
    running = await live_of(request, name)
    report = running.value
    plots = [] if report is None else live_plots(report)
    return answer(
        request,
        here,
        "experiment.html",
        tables=(*(() if report is None else _live_tables(report)), *map(plot_table, plots)),
        plots=plots,
        name=name,
        running=running,
        tone="" if report is None else _TONES.get(report.verdict, "quiet"),
    )


@router.post("/experiments/{name}/look")
async def look_again(request: HTTPRequest, here: Here, name: str) -> Response:
    """Analyse a running experiment again, now."""
    await read_change(request, here)
    await live_of(request, name, is_asked=True)
    return redirect(f"{here.visit.path}/{experiment_link(name)}")


def _live_row(one: LiveListing, report: LiveReport | None) -> tuple[TableCell, ...]:
    verdict = None if report is None else report.verdict
    return (
        TableCell(one.name, href=experiment_link(one.name)),
        TableCell(", ".join(one.arms)),
        TableCell(one.sessions, href=arm_link(one.name)),
        TableCell(one.exposed, href=arm_link(one.name)),
        time_cell(one.began_at),
        time_cell(one.last_at),
        TableCell(verdict, tone="" if verdict is None else _TONES.get(verdict, "quiet")),
    )


def _live_tables(report: LiveReport) -> tuple[Table, ...]:
    ratios = [
        row
        for over, ratio in (("assigned", report.assigned_ratio), ("measured", report.measured_ratio))
        for row in _ratio_rows(over, ratio)
    ]
    arms = [_arm_row(one, arm_link(report.name, one.arm)) for one in report.arms]
    examples = [_example_row(one) for one in report.examples]
    return (
        Table(name="arms", title="Arms", columns=_ARMS, rows=arms, empty="It has no arms."),
        Table(
            name="ratio",
            title="Sample ratio",
            columns=_RATIO,
            rows=ratios,
            empty="No session was assigned yet.",
            note="Whether each arm got its share of sessions. A probability below 0.001 is not chance.",
        ),
        Table(
            name="examples",
            title="Examples that were shown",
            columns=_EXAMPLES,
            rows=examples,
            empty="No session was shown an example yet.",
            note="The effect of an example on calls of its tool, compared with sessions that were not shown it.",
        ),
    )


def _arm_row(one: LiveArm, link: str) -> tuple[TableCell, ...]:
    return (
        TableCell(one.arm, shown=f"{one.arm} (control)" if one.is_control else one.arm),
        TableCell(one.share, shown=f"{100 * one.share:.0f} %"),
        TableCell(one.assigned, href=link),
        TableCell(one.exposed, href=link),
        TableCell(one.contaminated, href=link),
        TableCell(one.settled, href=link),
        TableCell(one.measured, href=link),
        TableCell(one.calls, href=link),
        TableCell(one.failed, href=link),
        TableCell(one.error.value, shown=plain(rate(one.error))),
        TableCell(plain(rate_between(one.error))),
    )


def _ratio_rows(over: str, ratio: SampleRatio) -> list[tuple[TableCell, ...]]:
    return [
        (
            TableCell(over),
            TableCell(arm),
            TableCell(count),
            TableCell(ratio.expected.get(arm), shown=f"{ratio.expected.get(arm, 0):.1f}"),
            TableCell(ratio.p_value, shown=None if ratio.p_value is None else f"{ratio.p_value:.3f}"),
            TableCell("broken" if ratio.is_alarm else "as expected", tone="failed" if ratio.is_alarm else "ok"),
        )
        for arm, count in ratio.counts.items()
    ]


def _example_row(one: LiveExample) -> tuple[TableCell, ...]:
    effect = one.effect
    tone = {"active": "ok", "suspended": "failed", "retired": "failed"}[one.state]
    return (
        TableCell(effect.example_id),
        TableCell(effect.tool),
        TableCell(effect.arm),
        TableCell(effect.shown),
        TableCell(effect.foregone),
        TableCell(effect.estimate.value, shown=plain(change(effect.estimate))),
        TableCell(plain(change_between(effect.estimate))),
        TableCell(effect.answer, tone=_TONES.get(effect.answer, "quiet")),
        TableCell(one.state, tone=tone),
        TableCell(one.state_reason or effect.reason),
    )
