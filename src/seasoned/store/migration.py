"""Numbered migrations, append-only: a released one is never changed, a new one is added below it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator

from seasoned.errors import StoreError
from seasoned.store.query import table_script


def m001_history(db: sqlite3.Connection) -> None:
    """Sources, sessions with their links and aggregates, calls with their verdicts."""
    _run(db, "history.sqlite")


def m002_intent(db: sqlite3.Connection) -> None:
    """What was said before a call, and whether the user took it back. Every source is read once more to fill them."""
    _run(db, "intent.sqlite")


def m003_template(db: sqlite3.Connection) -> None:
    """Templates with their versions and sessions, states and use of examples, and the blocks shown to conversations."""
    _run(db, "template.sqlite")


def m004_learned(db: sqlite3.Connection) -> None:
    """Changes of memory and skills with their provenance, and how often skills are viewed and used."""
    _run(db, "learned.sqlite")


def m005_message(db: sqlite3.Connection) -> None:
    """Conversations that Seasoned records itself: their redacted messages, what they ran on, what each request took."""
    _run(db, "message.sqlite")


def m006_review(db: sqlite3.Connection) -> None:
    """Reviews with what they took and kept, and how far each conversation is from its next one."""
    _run(db, "review")


def m007_assignment(db: sqlite3.Connection) -> None:
    """Which arm of an experiment each session was assigned to, and apart from it what it was really shown."""
    _run(db, "assignment")


def m008_run(db: sqlite3.Connection) -> None:
    """Designs of experiments, what was learned for them, and their runs."""
    _run(db, "run")


def m009_mark(db: sqlite3.Connection) -> None:
    """Marks of blocks that sessions carry, and what stands in those blocks. Age is no longer kept as a state."""
    _run(db, "mark")


def m010_confirm(db: sqlite3.Connection) -> None:
    """Requests for confirmation with their votes, credentials, the audit chain and what is still to be told."""
    _run(db, "confirm", "confirm.sqlite")


def m011_schedule(db: sqlite3.Connection) -> None:
    """Jobs, the claims of their slots, and what each run came to."""
    _run(db, "schedule", "schedule.sqlite")


def m012_gateway(db: sqlite3.Connection) -> None:
    """Keys of the gateway, and what each request that went through it took."""
    _run(db, "gateway")


def m013_recall(db: sqlite3.Connection) -> None:
    """Calls that worked and mistakes with their repairs, by tool and error. Every session waits to be looked at."""
    _run(db, "recall.sqlite")


def m014_foregone(db: sqlite3.Connection) -> None:
    """What sessions of a control would have been shown, so that each example can be compared with its absence."""
    _run(db, "foregone")


def m015_summary(db: sqlite3.Connection) -> None:
    """What pages show first, kept by triggers: sessions as lists show them, totals by day, tool and mistake."""
    _run(db, "summary.sqlite")


def m016_trigram(db: sqlite3.Connection) -> None:
    """Which sessions hold which three characters in a row, so that a search need not look at all of them."""
    _run(db, "trigram.sqlite")


def m017_audit_head(db: sqlite3.Connection) -> None:
    """The head of the audit moves by itself with every row."""
    _run(db, "audit_head.sqlite")


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (
    m001_history,
    m002_intent,
    m003_template,
    m004_learned,
    m005_message,
    m006_review,
    m007_assignment,
    m008_run,
    m009_mark,
    m010_confirm,
    m011_schedule,
    m012_gateway,
    m013_recall,
    m014_foregone,
    m015_summary,
    m016_trigram,
    m017_audit_head,
)
VERSION = len(MIGRATIONS)


def migrate(db: sqlite3.Connection, path: str) -> None:
    """Bring the store to this version. A store from the future is refused, not guessed at."""
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    if version > VERSION:
        raise StoreError(
            f"{path!r} was written by a newer Seasoned (store version {version}, this one knows {VERSION}): "
            "upgrade Seasoned, or point SEASONED_HOME at another folder."
        )
    if version == VERSION:
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have migrated while this one waited for the lock.
        version = int(db.execute("PRAGMA user_version").fetchone()[0])
        for number in range(version, VERSION):
            MIGRATIONS[number](db)
            db.execute(f"PRAGMA user_version = {number + 1}")
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _run(db: sqlite3.Connection, *names: str) -> None:
    """Every statement of these files inside the transaction that is open (executescript would end it)."""
    for name in names:
        for statement in statements(table_script(name)):
            db.execute(statement)


def statements(script: str) -> Iterator[str]:
    """The statements of a script one by one; a semicolon inside a trigger, a text or a comment ends none."""
    begun = ""
    for part in script.split(";")[:-1]:
        begun += part + ";"
        if sqlite3.complete_statement(begun):
            yield begun
            begun = ""
    rest = begun + script.rpartition(";")[2]
    if rest.strip():
        yield rest
