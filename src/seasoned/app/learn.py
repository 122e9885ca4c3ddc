"""Learns from sessions as they end: reads what is new, and updates everything that depends on it."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from seasoned.app.gateway import budgets
from seasoned.app.stores import kept_secrecy, scan_into_store
from seasoned.config import Config
from seasoned.errors import NotFound, StoreError
from seasoned.example.library.upkeep import refresh as refresh_templates
from seasoned.gateway.history_usage import fill_prices
from seasoned.lesson.storage import refresh
from seasoned.store import Store, open_store
from seasoned.store.search import fill

# Rebuilding templates takes seconds in a large store: sessions that end soon after each other share one.
_REBUILD_SECONDS = 120.0
_log = logging.getLogger("seasoned.learn")


class EndedSession(msgspec.Struct, frozen=True):
    """A session whose agent said that it has ended."""

    agent: str
    session: str
    at: float


def learn(
    config: Config,
    paths: Sequence[Path] | None = None,
    *,
    ended: Sequence[EndedSession] = (),
    reads: bool = True,
    rebuilds: bool = True,
) -> int:
    """Learn from what is new in these paths, or in all histories of this user; returns the number of sessions.

    Sheets, hints and what `recall` finds are up to date afterwards, and with `rebuilds` also templates, and which of
    their examples are shown. No model is asked. With `reads` false, only from what the store itself recorded.
    """
    sessions = _read(config, paths) if reads else 0
    if not config.store_path.exists():
        return sessions
    with open_store(config.store_path) as store:
        with store.write():
            for one in ended:
                row = {"agent": one.agent, "native_id": one.session, "at": one.at}
                store.run("session.set_end", row)
        refresh(store)
        fill(store)
        fill_prices(store)
        for budget in budgets(config, store):
            if budget.is_over or budget.unpriced:
                _log.warning("%s", budget.sentence)
        if rebuilds:
            _rebuild(config, store)
        if config.database_url:
            _share_outcomes(config, store)
    return sessions


def _share_outcomes(config: Config, store: Store) -> None:
    """Tell the machines that share a running experiment how the sessions of this one ended."""
    # Imported here: few people share a database.
    from seasoned.app.stores import shared_database
    from seasoned.experiment.live.live_session import share_outcomes

    try:
        with shared_database(config) as database:
            share_outcomes(database, store, now=time.time())
    except StoreError as error:
        # What was learned here stays; the next end of a session shares these too.
        _log.warning("outcomes were not shared: %s", error)


def _read(config: Config, paths: Sequence[Path] | None) -> int:
    try:
        report, store = scan_into_store(config, paths or (), by_person=False)
    except NotFound:
        # Nowhere is a history yet, or the file is gone since.
        return 0
    if store is not None:
        store.close()
    return report.sessions


def _rebuild(config: Config, store: Store) -> None:
    """Bring templates up to date, unless that was done a moment ago."""
    done = config.home / "learn" / "templates"
    if done.exists() and 0 <= time.time() - done.stat().st_mtime < _REBUILD_SECONDS:
        return
    refresh_templates(store, now=time.time(), redactor=kept_secrecy(config).redactor())
    done.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
    done.touch()
