"""The schedule page: whether the scheduler runs, what runs next, and the results of the last runs."""

from __future__ import annotations

import msgspec
from starlette.requests import Request as HTTPRequest
from starlette.responses import Response

from seasoned.confirm.request.book import Book
from seasoned.confirm.service.service import service_of
from seasoned.history.reader.seasoned_db import AGENT
from seasoned.schedule import job_table
from seasoned.schedule.job import JobRun
from seasoned.schedule.job_table import ScheduleHealth, health
from seasoned.schedule.times import in_words
from seasoned.text import dollars
from seasoned.web.display import day_and_time, session_link, short
from seasoned.web.login import Here
from seasoned.web.response import Page, page_router
from seasoned.web.table import Column, Table, TableCell, answer

PAGE = Page("Schedule", "schedule", is_rare=True)
router = page_router()
_MOST_JOBS = 200
_MOST_RUNS = 50


_JOBS = (
    Column("job", "Job"),
    Column("when", "When"),
    Column("zone", "Zone", no_wrap=True),
    Column("next_at", "Next run", no_wrap=True),
)
_RUNS = (
    Column("job", "Job"),
    Column("scheduled_at", "Was due", no_wrap=True),
    Column("outcome", "Outcome"),
    Column("delivery", "Delivery"),
    Column("why", "Why"),
    Column("output", "Output"),
    Column("session", "Session"),
    Column("cost", "Cost", is_number=True),
)
_NO_JOBS = 'No jobs yet. To add one: `seasoned cron add morning "0 8 * * 1-5" "Say what changed since yesterday."`'


class SchedulePage(msgspec.Struct, frozen=True):
    """What the page shows."""

    health: ScheduleHealth
    jobs: Table
    runs: Table


@router.get("/schedule")
async def show(request: HTTPRequest, here: Here) -> Response:
    """Show jobs, their next times, and the results of the last runs."""
    service = service_of(request)
    now = service.clock()
    shown = await service.store.read(lambda book: _shown(book, now))
    return answer(request, here, "schedule.html", tables=(shown.jobs, shown.runs), shown=shown)


def _shown(book: Book, now: float) -> SchedulePage:
    # Jobs without a next time, such as paused ones, come last.
    stored = sorted(job_table.jobs(book.database), key=lambda one: (one.next_at is None, one.next_at, one.job.name))
    names = {one.job.id: one.job.name for one in stored}
    more = len(stored) - _MOST_JOBS
    jobs = Table(
        name="jobs",
        title="Jobs",
        columns=_JOBS,
        rows=[
            (
                TableCell(one.job.name),
                TableCell(in_words(one.job.schedule, one.job.zone)),
                TableCell(one.job.zone),
                TableCell(one.next_at, "paused" if one.job.is_paused else day_and_time(one.next_at)),
            )
            for one in stored[:_MOST_JOBS]
        ],
        empty=_NO_JOBS,
        note=f"And {more} more: `seasoned cron list`." if more > 0 else "",
    )
    runs = job_table.history(book.database, limit=_MOST_RUNS)
    table = Table(
        name="runs",
        title="Last runs",
        columns=_RUNS,
        rows=[_run(names.get(one.job_id, "removed"), one) for one in runs],
        empty="No runs yet. Every run is listed here, whatever its result.",
    )
    return SchedulePage(health(book.database, now), jobs, table)


def _run(name: str, run: JobRun) -> tuple[TableCell, ...]:
    outcome = f"{run.outcome} ({run.fault})" if run.fault else run.outcome
    said = run.output or run.script_output
    return (
        TableCell(name),
        TableCell(run.scheduled_at, day_and_time(run.scheduled_at)),
        TableCell(outcome, tone=run.outcome),
        TableCell(run.delivery),
        TableCell(run.reason or run.note or None, short(run.reason or run.note) or "–"),
        TableCell(said or None, short(said) or "–"),
        TableCell(
            run.session, None if run.session else "–", session_link(f"{AGENT}:{run.session}") if run.session else None
        ),
        TableCell(run.cost_usd, dollars(run.cost_usd)),
    )
