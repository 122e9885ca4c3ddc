"""The checks of `doctor`: each says what it found, and what to do where something is wrong."""

from __future__ import annotations

import sqlite3
import stat
import sys
import time
from collections.abc import Iterator
from typing import Any

import msgspec

from seasoned.config import Config
from seasoned.errors import SeasonedError
from seasoned.history.discover import homes
from seasoned.store import Store, open_database, open_store

_SHOWN = 20


class Check(msgspec.Struct, frozen=True):
    """One finding."""

    name: str
    ok: bool
    finding: str

    def answer(self) -> dict[str, Any]:
        return {"name": self.name, "ok": self.ok, "finding": self.finding}


def run_checks(config: Config) -> list[Check]:
    """Everything that can be looked at without changing anything."""
    return [*_machine(), *_histories(config), *_store(config), *_schedule(config)]


def _machine() -> Iterator[Check]:
    yield Check("python", sys.version_info >= (3, 11), ".".join(map(str, sys.version_info[:3])))
    yield Check("sqlite", sqlite3.sqlite_version_info >= (3, 35), sqlite3.sqlite_version)


def _histories(config: Config) -> Iterator[Check]:
    for agent, path in homes(config):
        finding = str(path) if path.exists() else f"none at {path}"
        yield Check(f"histories of {agent}", ok=True, finding=finding)


def _store(config: Config) -> Iterator[Check]:
    path = config.store_path
    if not path.exists():
        yield Check("store", ok=True, finding=f"none at {path} yet: `seasoned scan` makes it")
        return
    mode = stat.S_IMODE(path.stat().st_mode)
    yield Check("store rights", mode & 0o077 == 0, f"{mode:o}" + ("" if mode & 0o077 == 0 else f": chmod 600 {path}"))
    try:
        with open_store(path) as store:
            yield from _inside(store)
    except SeasonedError as error:
        yield Check("store", ok=False, finding=str(error))


def _schedule(config: Config) -> Iterator[Check]:
    """Whether somebody keeps the schedule, where there are jobs."""
    if config.database_url is None and not config.store_path.exists():
        return
    # Imported here: most people have no jobs.
    from seasoned.schedule.heartbeat import health

    try:
        database = open_database(config)
    except SeasonedError as error:
        if config.database_url is not None:
            yield Check("schedule", ok=False, finding=str(error))
        return
    try:
        found = health(database, time.time())
    finally:
        database.close()
    if found.jobs:
        yield Check("schedule", ok=found.is_kept, finding=found.sentence)


def _inside(store: Store) -> Iterator[Check]:
    state = store.connection.execute("PRAGMA quick_check").fetchone()[0]
    counts = store.row("source.counts")
    assert counts is not None
    yield Check(
        "store",
        state == "ok",
        f"{counts['sessions']} sessions, {counts['calls']} calls from {counts['sources']} files"
        if state == "ok"
        else f"damaged ({state}): restore a backup with `seasoned restore`",
    )
    if counts["gone"]:
        yield Check("gone", ok=True, finding=f"{counts['gone']} files are gone; what was learned from them stays")
    rows = store.rows("source.unreadable")
    for row in rows[:_SHOWN]:
        yield Check("unreadable", ok=True, finding=f"{row['path']}, {row['place']}: {row['reason']}")
    if len(rows) > _SHOWN:
        yield Check("unreadable", ok=True, finding=f"and {len(rows) - _SHOWN} more records")
