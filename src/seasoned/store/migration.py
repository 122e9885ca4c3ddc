"""Numbered migrations, append-only: a released one is never changed, a new one is added below it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from seasoned.errors import StoreError

_TABLES = Path(__file__).parent / "table"


def m001_history(db: sqlite3.Connection) -> None:
    """Sources, sessions with their links and aggregates, calls with their verdicts."""
    _run(
        db,
        """
        CREATE TABLE source (
            id INTEGER PRIMARY KEY,
            path TEXT NOT NULL UNIQUE,
            format TEXT NOT NULL,
            size INTEGER NOT NULL,
            mtime_ns INTEGER NOT NULL,
            judge TEXT NOT NULL,
            resume TEXT,
            check_digest TEXT,
            stamps TEXT,
            scanned_at REAL NOT NULL,
            gone_at REAL
        );
        CREATE TABLE unreadable (
            source_id INTEGER NOT NULL REFERENCES source(id) ON DELETE CASCADE,
            place TEXT NOT NULL,
            reason TEXT NOT NULL,
            PRIMARY KEY (source_id, place, reason)
        );
        CREATE TABLE session (
            id INTEGER PRIMARY KEY,
            agent TEXT NOT NULL,
            native_id TEXT NOT NULL,
            source_id INTEGER REFERENCES source(id) ON DELETE SET NULL,
            title TEXT,
            cwd TEXT,
            model TEXT,
            started REAL,
            ended REAL,
            parent_agent TEXT,
            parent_native_id TEXT,
            relation TEXT,
            root_id INTEGER,
            end_reason TEXT,
            succeeded INTEGER,
            messages INTEGER NOT NULL DEFAULT 0,
            compactions TEXT NOT NULL DEFAULT '[]',
            input_tokens INTEGER,
            output_tokens INTEGER,
            cache_read_tokens INTEGER,
            cache_write_tokens INTEGER,
            reasoning_tokens INTEGER,
            cost_usd REAL,
            calls INTEGER NOT NULL DEFAULT 0,
            ok INTEGER NOT NULL DEFAULT 0,
            failed INTEGER NOT NULL DEFAULT 0,
            unclear INTEGER NOT NULL DEFAULT 0,
            declined INTEGER NOT NULL DEFAULT 0,
            cancelled INTEGER NOT NULL DEFAULT 0,
            interrupted INTEGER NOT NULL DEFAULT 0,
            trivial INTEGER NOT NULL DEFAULT 0,
            copies INTEGER NOT NULL DEFAULT 0,
            task_type TEXT,
            UNIQUE (agent, native_id)
        );
        CREATE INDEX session_parent ON session (parent_agent, parent_native_id);
        CREATE INDEX session_root ON session (root_id);
        CREATE INDEX session_started ON session (started);
        CREATE TABLE call (
            id INTEGER PRIMARY KEY,
            session_id INTEGER NOT NULL REFERENCES session(id) ON DELETE CASCADE,
            call_id TEXT NOT NULL,
            position INTEGER NOT NULL,
            message INTEGER NOT NULL,
            tool TEXT NOT NULL,
            kind TEXT NOT NULL,
            counts_as TEXT NOT NULL,
            arguments TEXT NOT NULL,
            result TEXT,
            time REAL,
            place INTEGER NOT NULL,
            verdict TEXT NOT NULL,
            evidence TEXT NOT NULL,
            fault TEXT NOT NULL,
            reason TEXT NOT NULL,
            judge TEXT NOT NULL,
            flag INTEGER,
            unique_id INTEGER NOT NULL,
            copy_of INTEGER REFERENCES call(id) ON DELETE SET NULL,
            UNIQUE (session_id, call_id)
        );
        CREATE INDEX call_by_id ON call (call_id);
        CREATE INDEX call_copy_of ON call (copy_of) WHERE copy_of IS NOT NULL;
        CREATE TABLE forgotten (
            agent TEXT NOT NULL,
            native_id TEXT NOT NULL,
            forgotten_at REAL NOT NULL,
            PRIMARY KEY (agent, native_id)
        );
        CREATE TABLE session_tool (
            session_id INTEGER NOT NULL REFERENCES session(id) ON DELETE CASCADE,
            tool TEXT NOT NULL,
            kind TEXT NOT NULL,
            calls INTEGER NOT NULL,
            ok INTEGER NOT NULL,
            failed INTEGER NOT NULL,
            unclear INTEGER NOT NULL,
            left_out INTEGER NOT NULL,
            PRIMARY KEY (session_id, tool)
        );
        """,
    )


def m002_intent(db: sqlite3.Connection) -> None:
    """What was said before a call, and whether the user took it back. Every source is read once more to fill them."""
    _run(
        db,
        """
        ALTER TABLE call ADD COLUMN intent TEXT;
        ALTER TABLE call ADD COLUMN corrected INTEGER NOT NULL DEFAULT 0;
        UPDATE source SET size = -1, resume = NULL, stamps = NULL;
        """,
    )


def m003_template(db: sqlite3.Connection) -> None:
    """Templates with their versions and sessions, states and use of examples, and the blocks shown to conversations."""
    _run(
        db,
        """
        CREATE TABLE library (
            id INTEGER PRIMARY KEY,
            revision INTEGER NOT NULL
        );
        INSERT INTO library (id, revision) VALUES (1, 0);
        CREATE TABLE template_name (
            key TEXT PRIMARY KEY,
            name TEXT NOT NULL,
            last_version INTEGER NOT NULL
        );
        CREATE TABLE template (
            key TEXT NOT NULL REFERENCES template_name(key) ON DELETE CASCADE,
            version INTEGER NOT NULL,
            revision INTEGER NOT NULL,
            name TEXT NOT NULL,
            task_type TEXT,
            tags TEXT NOT NULL,
            description TEXT NOT NULL,
            examples INTEGER NOT NULL,
            created_at REAL NOT NULL,
            document TEXT NOT NULL,
            PRIMARY KEY (key, version)
        );
        CREATE INDEX template_revision ON template (revision);
        CREATE TABLE template_source (
            key TEXT NOT NULL,
            version INTEGER NOT NULL,
            session TEXT NOT NULL,
            PRIMARY KEY (session, key, version),
            FOREIGN KEY (key, version) REFERENCES template(key, version) ON DELETE CASCADE
        ) WITHOUT ROWID;
        CREATE INDEX template_source_of ON template_source (key, version);
        CREATE TABLE example_source (
            session TEXT NOT NULL,
            example_id TEXT NOT NULL,
            PRIMARY KEY (session, example_id)
        ) WITHOUT ROWID;
        CREATE INDEX example_source_of ON example_source (example_id);
        CREATE TABLE template_usage (
            key TEXT NOT NULL,
            version INTEGER NOT NULL,
            uses INTEGER NOT NULL,
            PRIMARY KEY (key, version)
        );
        CREATE TABLE example_usage (
            example_id TEXT PRIMARY KEY,
            shown INTEGER NOT NULL
        );
        CREATE TABLE example_state (
            id INTEGER PRIMARY KEY,
            example_id TEXT NOT NULL,
            state TEXT NOT NULL,
            reason TEXT NOT NULL,
            evidence TEXT NOT NULL,
            changed_at REAL NOT NULL
        );
        CREATE INDEX example_state_of ON example_state (example_id);
        CREATE TABLE warm_block (
            lineage_root TEXT NOT NULL,
            format TEXT NOT NULL,
            form TEXT NOT NULL,
            template TEXT NOT NULL,
            version INTEGER NOT NULL,
            example_ids TEXT NOT NULL,
            bytes BLOB NOT NULL,
            digest TEXT NOT NULL,
            created_at REAL NOT NULL,
            PRIMARY KEY (lineage_root, format)
        );
        """,
    )


def m004_learned(db: sqlite3.Connection) -> None:
    """Changes of memory and skills with their provenance, and how often skills are viewed and used."""
    _run(
        db,
        """
        CREATE TABLE learned (
            id INTEGER PRIMARY KEY,
            kind TEXT NOT NULL,
            folder TEXT NOT NULL,
            target TEXT NOT NULL,
            file TEXT NOT NULL,
            action TEXT NOT NULL,
            actor TEXT NOT NULL,
            origin TEXT NOT NULL,
            session TEXT,
            parent TEXT,
            platform TEXT,
            tool TEXT,
            call_id TEXT,
            task TEXT,
            at REAL NOT NULL,
            state TEXT NOT NULL,
            before TEXT,
            before_digest TEXT,
            after TEXT,
            after_digest TEXT,
            aside TEXT,
            decided_at REAL,
            decided_by TEXT
        );
        CREATE INDEX learned_target ON learned (folder, target, file);
        CREATE INDEX learned_session ON learned (session);
        CREATE INDEX learned_open ON learned (state) WHERE state IN ('writing', 'staged');
        CREATE TABLE skill_usage (
            folder TEXT NOT NULL,
            target TEXT NOT NULL,
            viewed INTEGER NOT NULL,
            used INTEGER NOT NULL,
            last_viewed_at REAL,
            last_used_at REAL,
            PRIMARY KEY (folder, target)
        );
        """,
    )


def m005_message(db: sqlite3.Connection) -> None:
    """Conversations that Seasoned records itself: their redacted messages, what they ran on, what each request took."""
    _run(
        db,
        """
        CREATE TABLE recording (
            session_id INTEGER PRIMARY KEY REFERENCES session(id) ON DELETE CASCADE,
            platform TEXT NOT NULL,
            model TEXT NOT NULL,
            base_url TEXT,
            toolsets TEXT NOT NULL,
            instructions TEXT NOT NULL,
            warm TEXT
        );
        CREATE TABLE message (
            session_id INTEGER NOT NULL REFERENCES session(id) ON DELETE CASCADE,
            position INTEGER NOT NULL,
            time REAL,
            summary INTEGER NOT NULL,
            body TEXT NOT NULL,
            PRIMARY KEY (session_id, position)
        ) WITHOUT ROWID;
        CREATE TABLE model_request (
            id INTEGER PRIMARY KEY,
            session_id INTEGER REFERENCES session(id) ON DELETE SET NULL,
            time REAL NOT NULL,
            purpose TEXT NOT NULL,
            model TEXT,
            provider TEXT,
            input_tokens INTEGER,
            output_tokens INTEGER,
            cache_read_tokens INTEGER,
            cache_write_tokens INTEGER,
            reasoning_tokens INTEGER,
            cost_usd REAL,
            raw TEXT
        );
        CREATE INDEX model_request_session ON model_request (session_id);
        CREATE INDEX model_request_time ON model_request (purpose, time);
        """,
    )


def m006_review(db: sqlite3.Connection) -> None:
    """Reviews with what they took and kept, and how far each conversation is from its next one."""
    _run(db, (_TABLES / "review.sql").read_text("utf-8"))


def m007_assignment(db: sqlite3.Connection) -> None:
    """Which arm of an experiment each session was assigned to, and apart from it what it was really shown."""
    _run(db, (_TABLES / "assignment.sql").read_text("utf-8"))


def m008_run(db: sqlite3.Connection) -> None:
    """Designs of experiments, what was learned for them, and their runs."""
    _run(db, (_TABLES / "run.sql").read_text("utf-8"))


def m009_mark(db: sqlite3.Connection) -> None:
    """Marks of blocks that sessions carry, and what stands in those blocks. Age is no longer kept as a state."""
    _run(db, (_TABLES / "mark.sql").read_text("utf-8"))


def _run(db: sqlite3.Connection, script: str) -> None:
    """Several statements inside the transaction that is open (executescript would end it)."""
    for statement in script.split(";"):
        if statement.strip():
            db.execute(statement)


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
