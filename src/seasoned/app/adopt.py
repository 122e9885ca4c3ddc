"""Takes over what the first version kept: opens the stores that it goes to, and says what is left to do."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from seasoned.adopt.adopt import survey, take_over
from seasoned.adopt.adopt import undo as undo_items
from seasoned.adopt.record import AdoptContext, AdoptItem, AdoptRecord, FirstVersion, TakenItem, find, load_record
from seasoned.app.extras import require
from seasoned.app.scheduler import own_zone
from seasoned.app.stores import kept_secrecy, make_redactor, memory_and_skills_in, shared_database, store_or_empty
from seasoned.config import Config
from seasoned.errors import NotFound
from seasoned.file_lock import locked
from seasoned.redact.redactor import Redactor
from seasoned.review.journal import ChangeJournal
from seasoned.store import Database, Store, open_store


def preview(config: Config, folder: Path | None = None) -> list[AdoptItem]:
    """What would be taken over from a folder, by default that of Hermes; nothing is written."""
    found = _find(config, folder)
    with store_or_empty(config) as store:
        redactor = make_redactor(config)
        journal = memory_and_skills_in(config, store, redactor=redactor)
        # A database that several machines share exists; otherwise the jobs are in the store.
        if config.database_url:
            with shared_database(config) as database:
                return [one.item for one in survey(_context(config, found, store, database, journal, redactor))]
        return [one.item for one in survey(_context(config, found, store, store, journal, redactor))]


def adopt(config: Config, folder: Path | None = None) -> list[AdoptItem]:
    """Take over what is new in a folder; returns every item with its new state."""
    found = _find(config, folder)
    with _opened(config) as (store, database, journal):
        redactor = kept_secrecy(config).redactor()
        return take_over(_context(config, found, store, database, journal, redactor))


def adopted(config: Config) -> AdoptRecord:
    """What was taken over and not undone."""
    record = load_record(config.home)
    if record is None:
        raise NotFound("Nothing was taken over, so there is nothing to undo.")
    return record


def undo(config: Config) -> list[tuple[TakenItem, str]]:
    """Bring back what was before; returns what had to stay, each with the reason."""
    record = adopted(config)
    with _opened(config) as (_, database, journal):
        return undo_items(record, home=config.home, journal=journal, database=database, now=time.time())


def next_steps(items: list[AdoptItem]) -> list[str]:
    """What only the user can do after an adoption, each a sentence."""
    taken = [one for one in items if one.state in ("new", "changed", "taken")]
    kinds = {one.kind for one in taken}
    steps = []
    if "template" in kinds:
        steps.append("Run `seasoned scan`: calls that worked in your sessions are verified by it.")
    if "job" in kinds:
        steps.append("Remove the jobs from Hermes, then start them here: `seasoned cron resume NAME`.")
    steps.append("Run `seasoned connect hermes`, so that new sessions begin with what was learned.")
    if "audit" in kinds:
        steps.append(
            "Let callers of the old confirmation service reach the new one: docs/how-to/coming-from-warm-sessions.md."
        )
    return steps


def _find(config: Config, folder: Path | None) -> FirstVersion:
    require("`seasoned adopt`", "agent,schedule", "yaml", "cronsim")
    return find((folder or config.hermes_home).expanduser().absolute())


@contextmanager
def _opened(config: Config) -> Iterator[tuple[Store, Database, ChangeJournal]]:
    # One adoption at a time: two would take everything over twice.
    with (
        locked(config.home / "locks" / "adopt.lock"),
        open_store(config.store_path) as store,
        shared_database(config, durable=True) as database,
    ):
        yield store, database, memory_and_skills_in(config, store)


def _context(
    config: Config,
    found: FirstVersion,
    store: Store,
    database: Database,
    journal: ChangeJournal,
    redactor: Redactor,
) -> AdoptContext:
    return AdoptContext(
        found=found,
        record=load_record(config.home) or AdoptRecord(),
        home=config.home,
        store=store,
        database=database,
        journal=journal,
        redactor=redactor,
        zone=own_zone(),
        now=time.time(),
    )
