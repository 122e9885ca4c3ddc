"""The checks of `doctor`, and every setting in force without its secrets."""

from __future__ import annotations

import sqlite3
import ssl
import stat
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from seasoned.app.gateway import budgets
from seasoned.app.stores import count_waiting
from seasoned.config import Config
from seasoned.confirm.policy import FILE, Listen, load_policy
from seasoned.errors import SeasonedError
from seasoned.history.discover import homes
from seasoned.learn_queue import waiting
from seasoned.lesson.storage import last_learned
from seasoned.redact import Redactor
from seasoned.store import Store, open_database, open_store
from seasoned.store.database import without_password
from seasoned.text import plural

# Of unreadable records; a damaged folder can have thousands, and the total is shown as well.
_SHOWN = 20
# The background process takes seconds; after this time it did not run, or failed.
_LATE_SECONDS = 600.0


_ANSWER_SECONDS = 1.0


class Check(msgspec.Struct, frozen=True):
    """One finding."""

    name: str
    ok: bool
    finding: str


class Setting(msgspec.Struct, frozen=True):
    """One setting in force, and where it came from."""

    name: str
    value: Any
    origin: str


def run_checks(config: Config) -> list[Check]:
    """All checks; none of them changes anything."""
    found = [*_machine(), *_histories(config), *_services(config), *_pages(config), *_hooks(config)]
    path = config.store_path
    if not path.exists():
        # Before the first scan there is no store, which is not an error.
        return [*found, Check("store", ok=True, finding=f"none at {path} yet: `seasoned scan` makes it")]
    mode = stat.S_IMODE(path.stat().st_mode)
    # The store holds what people and agents wrote to each other, so no other user may read it.
    is_private = mode & 0o077 == 0
    found.append(Check("store rights", is_private, f"{mode:o}" + ("" if is_private else f": chmod 600 {path}")))
    try:
        with open_store(path) as store:
            found += [*_learned(config, store), *_budgets(config, store), *_reviews(store), *_inside(store)]
    except SeasonedError as error:
        found.append(Check("store", ok=False, finding=str(error)))
    return found


def settings(config: Config, redactor: Redactor) -> list[Setting]:
    """Every setting by name; addresses without their secrets."""
    found = []
    for name in sorted(set(Config.__struct_fields__) - {"origins"}):
        value = getattr(config, name)
        if name == "redact":
            # The texts to redact are themselves the secrets.
            value = f"{len(value)} of your own"
        elif name.endswith("_url") and value:
            # Twice: a password in its usual place, and whatever else in an address looks like a secret.
            value = redactor.text(without_password(value))
        shown = list(value) if isinstance(value, tuple) else value
        found.append(Setting(name, shown, config.origins.get(name, "default")))
    return found


def _machine() -> Iterator[Check]:
    # Older ones lack what the code needs; for SQLite that is RETURNING.
    yield Check("python", sys.version_info >= (3, 11), ".".join(map(str, sys.version_info[:3])))
    yield Check("sqlite", sqlite3.sqlite_version_info >= (3, 35), sqlite3.sqlite_version)


def _histories(config: Config) -> Iterator[Check]:
    places = homes(config)
    for agent, path in places:
        if path.exists():
            yield Check(f"histories of {agent}", ok=True, finding=str(path))
    # Never a failure: hardly anyone uses all of these agents.
    absent = [f"{agent} ({path})" for agent, path in places if not path.exists()]
    if absent:
        yield Check("no histories of", ok=True, finding=", ".join(absent))


def _services(config: Config) -> Iterator[Check]:
    """Whether a scheduler is running, if there are jobs; what the gateway lost or cannot enforce."""
    # Opening would create the store, and a check changes nothing.
    if config.database_url is None and not config.store_path.exists():
        return
    # Imported here: most people have no jobs and no gateway.
    from seasoned.gateway.accounting import problems
    from seasoned.schedule.job_table import health

    try:
        database = open_database(config)
    except SeasonedError as error:
        # A damaged store is reported by store_checks already.
        if config.database_url is not None:
            yield Check("schedule", ok=False, finding=str(error))
        return
    try:
        found = health(database, time.time())
        lost = problems(database, now=time.time())
    finally:
        database.close()
    if found.active_jobs:
        yield Check("schedule", ok=found.is_kept, finding=found.sentence)
    for sentence in lost:
        yield Check("gateway", ok=False, finding=sentence)


def _pages(config: Config) -> Iterator[Check]:
    """Whether a server answers where this user's would."""
    address = own_address(load_policy(config.home / FILE).listen)
    finding = f"served at {address}" if is_answering(address) else "not served now: `seasoned serve --background`"
    yield Check("pages", ok=True, finding=finding)


def own_address(listen: Listen) -> str:
    """Where a server of this machine is found."""
    host = "127.0.0.1" if listen.host in ("0.0.0.0", "::") else listen.host
    return f"{'http' if listen.tls_certificate is None else 'https'}://{host}:{listen.port}"


def is_answering(address: str) -> bool:
    """Whether a server of ours answers there."""
    place = urlsplit(address)
    connection = HTTPConnection(place.netloc, timeout=_ANSWER_SECONDS)
    if place.scheme == "https":
        context = ssl.create_default_context()
        # Only whether it answers counts, not whose certificate it has.
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = HTTPSConnection(place.netloc, timeout=_ANSWER_SECONDS, context=context)
    try:
        connection.request("GET", "/health")
        return b"pending_count" in connection.getresponse().read()
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def _hooks(config: Config) -> Iterator[Check]:
    """Whether ends of sessions wait for too long to be learned from."""
    now = time.time()
    late = [path for path in waiting(str(config.home)) if now - Path(path).stat().st_mtime > _LATE_SECONDS]
    if late:
        finding = f"{plural(len(late), 'session')} waiting for more than {_LATE_SECONDS // 60:.0f} minutes. "
        log = config.log_folder / "hooks.log"
        yield Check("learning", ok=False, finding=f"{finding}Run `seasoned scan`, and look into {log}.")


def _learned(config: Config, store: Store) -> Iterator[Check]:
    """When each agent's last session was learned from."""
    known = last_learned(store)
    for one in known:
        ended = "" if one.ended is None else f" ended {_local(one.ended)},"
        finding = (
            f"{plural(one.sessions, 'session')}, the last one{ended} learned from {_local(one.at)} ({one.session})"
        )
        yield Check(f"learned from {one.agent}", ok=True, finding=finding)
    connected = {path.parent.name for path in (config.home / "connect").glob("*/record.json")}
    for agent in sorted(connected - {one.agent for one in known}):
        finding = "connected; no session yet. The first one is learned from when it ends"
        yield Check(f"learned from {agent}", ok=True, finding=finding)
    if left := count_waiting(store):
        finding = f"{plural(left, 'session')} not learned from yet. Run `seasoned scan` to continue"
        yield Check("learned", ok=True, finding=finding)


def _budgets(config: Config, store: Store) -> Iterator[Check]:
    for one in budgets(config, store):
        yield Check(f"budget of a {one.period}", ok=not one.is_over and not one.unpriced, finding=one.sentence)


def _local(at: float) -> str:
    try:
        return f"{datetime.fromtimestamp(at).astimezone():%Y-%m-%d %H:%M}"
    except (OverflowError, ValueError, OSError):
        return "at an unknown time"  # files of other programs hold impossible ones


def _reviews(store: Store) -> Iterator[Check]:
    from seasoned.review.ledger import last_failure

    if (said := last_failure(store, now=time.time())) is not None:
        yield Check("reviews", ok=False, finding=said)


def _inside(store: Store) -> Iterator[Check]:
    # quick_check skips the comparison of indexes with tables, which takes minutes in a large store.
    state = store.connection.execute("PRAGMA quick_check").fetchone()[0]
    if state != "ok":
        # Some versions of SQLite take whole tables without row ids for damaged; the slower check does not.
        state = store.connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
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
        # Agents delete old histories by themselves, so this is normal.
        yield Check("gone", ok=True, finding=f"{counts['gone']} files are gone; what was learned from them stays")
    rows = store.rows("source.unreadable")
    # Not a failure of the machine: a history with a damaged record is read without it.
    for row in rows[:_SHOWN]:
        yield Check("unreadable", ok=True, finding=f"{row['path']}, {row['place']}: {row['reason']}")
    if len(rows) > _SHOWN:
        yield Check("unreadable", ok=True, finding=f"and {len(rows) - _SHOWN} more records")
