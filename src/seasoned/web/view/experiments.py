"""The experiments page: the experiments on live sessions, and what their results support."""

from __future__ import annotations

import asyncio
import time

from starlette.requests import Request as HTTPRequest
from starlette.responses import Response

from seasoned.app.experiment import live_experiment
from seasoned.confirm.service.service import service_of
from seasoned.errors import NotFound
from seasoned.experiment.live.live_report import LiveExample, LiveListing, LiveReport, list_live
from seasoned.experiment.page.live_plots import live_plots
from seasoned.report.page.rows import change, change_between
from seasoned.report.report import revision
from seasoned.web.cache import CacheLookup, cache_of
from seasoned.web.display import experiment_link
from seasoned.web.history_store import histories_of
from seasoned.web.login import Here
from seasoned.web.response import Page, page_router
from seasoned.web.table import Column, Table, TableCell, answer, plain, plot_table, time_cell

PAGE = Page("Experiments", "experiments", is_rare=True)
router = page_router()
# Sessions count once they are old enough, so a report is made again even if no session was added.
_AFRESH_SECONDS = 60.0
_LIVE = (
    Column("experiment", "experiment"),
    Column("arms", "arms"),
    Column("sessions", "sessions", is_number=True),
    Column("exposed", "shown something", is_number=True),
    Column("began_at", "divided so since", no_wrap=True),
    Column("last_at", "last session", no_wrap=True),
    Column("verdict", "so far"),
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
    reports = await asyncio.gather(*[_report(request, one.name) for one in live])
    rows = [_live_row(one, report.value) for one, report in zip(live, reports, strict=True)]
    table = Table(name="live", title="Running on live sessions", columns=_LIVE, rows=rows, empty=_NONE_LIVE)
    return answer(request, here, "experiments.html", tables=(table,))


@router.get("/experiments/{name}")
async def show_one(request: HTTPRequest, here: Here, name: str) -> Response:
    """Show one experiment: its verdict, effects, arms and examples."""
    live = await service_of(request).store.read(lambda book: list_live(book.database))
    if all(one.name != name for one in live):
        raise NotFound(f"No experiment {name[:80]!r} is running. See the list of experiments.")
    running = await _report(request, name)
    report = running.value
    plots = [] if report is None else live_plots(report)
    return answer(
        request,
        here,
        "experiment.html",
        tables=(*(() if report is None else [_examples(report)]), *map(plot_table, plots)),
        plots=plots,
        name=name,
        running=running,
        tone="" if report is None else _TONES.get(report.verdict, "quiet"),
    )


async def _report(request: HTTPRequest, name: str) -> CacheLookup[LiveReport]:
    """The report on one running experiment, as it was last made."""
    now = await histories_of(request).read(revision)
    config = service_of(request).config
    # Assignments may be in another database, and the revision of the histories does not show them.
    minute = int(time.time() // _AFRESH_SECONDS)
    title = f"Analysing the experiment {name}"
    return await cache_of(request).look(
        f"experiment {name}", title, (now, minute), lambda _: live_experiment(config, name)
    )


def _live_row(one: LiveListing, report: LiveReport | None) -> tuple[TableCell, ...]:
    verdict = None if report is None else report.verdict
    return (
        TableCell(one.name, href=experiment_link(one.name)),
        TableCell(", ".join(one.arms)),
        TableCell(one.sessions),
        TableCell(one.exposed),
        time_cell(one.began_at),
        time_cell(one.last_at),
        TableCell(verdict, tone="" if verdict is None else _TONES.get(verdict, "quiet")),
    )


def _examples(report: LiveReport) -> Table:
    return Table(
        name="examples",
        title="Examples that were shown",
        columns=_EXAMPLES,
        rows=[_example_row(one) for one in report.examples],
        empty="No session was shown an example yet.",
        note="The effect of an example on calls of its tool, compared with sessions that were not shown it.",
    )


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
