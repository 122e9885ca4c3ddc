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

# Rebuilding templates may take this share of the time if it takes long: a large store is rebuilt less often.
_SHARE_OF_TIME = 0.05
_LONG_SECONDS = 1.0
_FILE = "templates.json"
_log = logging.getLogger("seasoned.learn")


class EndedSession(msgspec.Struct, frozen=True):
    """A session whose agent said that it has ended."""

    agent: str
    session: str
    at: float


class _LastRebuild(msgspec.Struct, frozen=True):
    """When templates were last brought up to date, and how long that took."""

    at: float = 0.0
    seconds: float = 0.0
    is_owed: bool = False  # it was left out since


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
        _rebuild(config, store, wanted=rebuilds)
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


def _rebuild(config: Config, store: Store, *, wanted: bool) -> None:
    """Bring templates up to date, unless that was done a moment ago and takes long."""
    file = config.home / "learn" / _FILE
    last = _last_rebuild(file)
    now = time.time()
    if not wanted and not last.is_owed:
        return
    file.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
    if last.seconds > _LONG_SECONDS and 0 <= now - last.at < last.seconds / _SHARE_OF_TIME:
        file.write_bytes(msgspec.json.encode(msgspec.structs.replace(last, is_owed=True)))
        return
    refresh_templates(store, now=now, redactor=kept_secrecy(config).redactor())
    file.write_bytes(msgspec.json.encode(_LastRebuild(now, time.time() - now)))


def _last_rebuild(file: Path) -> _LastRebuild:
    try:
        return msgspec.json.decode(file.read_bytes(), type=_LastRebuild)
    except (OSError, msgspec.DecodeError):
        return _LastRebuild()
