"""Reports on running experiments, computed in the background from many sessions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

import msgspec
from starlette.requests import Request

from seasoned.app.experiment import live_experiment
from seasoned.confirm.service.service import service_of
from seasoned.experiment.live.example_effect import ExampleEffect
from seasoned.experiment.live.live_report import LiveReport, list_live
from seasoned.insight.store_report import revision
from seasoned.web.background_work import BackgroundWork
from seasoned.web.cache import CacheLookup, look_up
from seasoned.web.history_store import histories_of

# Sessions count once they are old enough, so a report is made again even if no session was added.
_AFRESH_SECONDS = 60.0


class Effects(msgspec.Struct, frozen=True):
    """For each example: the experiments in which it was shown, and its effect there."""

    by_example: Mapping[str, tuple[tuple[str, ExampleEffect], ...]] = {}
    experiments: int = 0
    made_at: float | None = None
    work: BackgroundWork | None = None


async def effects_of(request: Request) -> Effects:
    """The effects of examples in all running experiments."""
    names = [one.name for one in await service_of(request).store.read(lambda book: list_live(book.database))]
    found: dict[str, tuple[tuple[str, ExampleEffect], ...]] = {}
    # Together, since each may wait a moment for its first result.
    reports = await asyncio.gather(*[live_of(request, name) for name in names])
    for name, one in zip(names, reports, strict=True):
        for example in () if one.value is None else one.value.examples:
            key = example.effect.example_id
            found[key] = (*found.get(key, ()), (name, example.effect))
    times = [one.made_at for one in reports if one.made_at is not None]
    work = next((one.work for one in reports if one.work is not None), None)
    return Effects(found, len(names), min(times, default=None), work)


async def live_of(request: Request, name: str, *, is_asked: bool = False) -> CacheLookup[LiveReport]:
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
