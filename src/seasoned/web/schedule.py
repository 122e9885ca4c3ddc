"""The page of the schedule: whether it is kept, what runs next, and what came of the last runs."""

from __future__ import annotations

import msgspec
from fastapi import APIRouter
from prometheus_client import Gauge
from starlette.requests import Request as HTTPRequest
from starlette.responses import Response

from seasoned.confirm.service.desk import Place
from seasoned.confirm.service.state import Service, service_of
from seasoned.schedule import board
from seasoned.schedule.heartbeat import Health, health
from seasoned.schedule.job import RunRecord
from seasoned.schedule.when import in_words
from seasoned.store import open_database
from seasoned.web.frame import Page, PageRoute, render
from seasoned.web.login import Here

PAGE = Page("Schedule", "schedule")
router = APIRouter(prefix="/visit/{number}", include_in_schema=False, route_class=PageRoute)
_MOST_JOBS = 200
_MOST_RUNS = 50


class Line(msgspec.Struct, frozen=True):
    """One job in the table."""

    name: str
    when: str
    zone: str
    next_at: float | None
    is_paused: bool


class Shown(msgspec.Struct, frozen=True):
    """What the page shows."""

    health: Health
    jobs: list[Line]
    more: int
    """Jobs that are not shown."""
    runs: list[tuple[str, RunRecord]]


@router.get("/schedule")
async def show(request: HTTPRequest, here: Here) -> Response:
    """Jobs, their next times, and what came of the last runs."""
    service = service_of(request)
    now = service.clock()
    shown = await service.desk.read(lambda place: _shown(place, now))
    return render("schedule.html", visit=here.visit, pages=request.app.state.pages, shown=shown, now=now)


def _shown(place: Place, now: float) -> Shown:
    posted = sorted(board.jobs(place.database), key=lambda one: (one.next_at is None, one.next_at, one.job.name))
    names = {one.job.id: one.job.name for one in posted}
    lines = [
        Line(one.job.name, in_words(one.job.schedule, one.job.zone), one.job.zone, one.next_at, one.job.is_paused)
        for one in posted[:_MOST_JOBS]
    ]
    runs = board.history(place.database, limit=_MOST_RUNS)
    named = [(names.get(one.job_id, "removed"), one) for one in runs]
    return Shown(health(place.database, now), lines, max(0, len(posted) - _MOST_JOBS), named)


def measure(service: Service) -> None:
    """Let `/metrics` say whether the schedule is kept: a dead scheduler says nothing by itself."""
    alive = Gauge("seasoned_schedule_alive", "Schedulers that are alive.", registry=service.metrics.registry)
    overdue = Gauge(
        "seasoned_schedule_overdue_seconds", "How long the most overdue slot waits.", registry=service.metrics.registry
    )

    def now() -> Health:
        # Whoever collects comes from any thread, and a connection belongs to one.
        database = open_database(service.config)
        try:
            return health(database, service.clock())
        finally:
            database.close()

    alive.set_function(lambda: float(now().alive))
    overdue.set_function(lambda: now().overdue_seconds)
