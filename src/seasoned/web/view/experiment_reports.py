"""What running experiments say of examples and arms, looked up beside the pages: it is read from many sessions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

import msgspec
from starlette.requests import Request

from seasoned.config import Config
from seasoned.confirm.service.service import service_of
from seasoned.experiment.live.example_effect import ExampleEffect
from seasoned.experiment.live.live_report import LiveReport, list_live, live_report
from seasoned.insight.store_report import revision
from seasoned.store import Store, open_database, open_store
from seasoned.web.background_work import BackgroundWork
from seasoned.web.cache import CacheLookup, look_up
from seasoned.web.history_store import histories_of

# Sessions settle with time alone, so that a report is looked at anew even where nothing came.
_AFRESH_SECONDS = 60.0


class Effects(msgspec.Struct, frozen=True):
    """By example: in which experiments it was shown, and what it did there."""

    by_example: Mapping[str, tuple[tuple[str, ExampleEffect], ...]] = {}
    experiments: int = 0
    made_at: float | None = None
    work: BackgroundWork | None = None


async def effects_of(request: Request) -> Effects:
    """What all running experiments say of examples."""
    names = [one.name for one in await service_of(request).store.read(lambda book: list_live(book.database))]
    found: dict[str, tuple[tuple[str, ExampleEffect], ...]] = {}
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
    minute = int(time.time() // _AFRESH_SECONDS)
    return await look_up(
        request,
        f"experiment {name}",
        f"Looking at the experiment {name}",
        (now, minute),
        lambda _: _report(config, name),
        is_asked=is_asked,
    )


def _report(config: Config, name: str) -> LiveReport:
    database = open_database(config)
    try:
        if isinstance(database, Store):
            return live_report(database, name, clock=time.time)
        with open_store(config.store_path) as history:
            return live_report(database, name, clock=time.time, history=history)
    finally:
        database.close()
