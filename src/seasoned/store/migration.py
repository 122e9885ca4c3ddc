"""Numbered migrations, append-only: a released one is never changed, a new one is added below it."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from zlib import crc32

import msgspec

from seasoned.errors import StoreError
from seasoned.store.query import table_script


class Migration(msgspec.Struct, frozen=True):
    """One step from a version of the store to the next: files of `table/`, or a few statements written here."""

    name: str
    files: tuple[str, ...] = ()
    sql: str = ""

    def scripts(self) -> list[str]:
        """What to run, in order."""
        return [*[table_script(file) for file in self.files], *([self.sql] if self.sql else [])]

    def __call__(self, db: sqlite3.Connection) -> None:
        """Run it inside the open transaction (executescript would end it)."""
        for script in self.scripts():
            for statement in statements(script):
                db.execute(statement)


MIGRATIONS = (
    # Sources, sessions with their links and aggregates, calls with their verdicts.
    Migration("m001_history", ("history.sqlite",)),
    # What was said before a call, and whether the user then corrected it. Every source is read again to fill them.
    Migration(
        "m002_intent",
        sql="""
        ALTER TABLE call ADD COLUMN intent TEXT;
        ALTER TABLE call ADD COLUMN corrected INTEGER NOT NULL DEFAULT 0;
        UPDATE source SET size = -1, resume = NULL, stamps = NULL;
        """,
    ),
    # Templates with their versions and sessions, states and use of examples, and the blocks shown to conversations.
    Migration("m003_template", ("template.sqlite",)),
    # Changes of memory and skills with their provenance, and how often skills are viewed and used.
    Migration("m004_learned", ("learned.sqlite",)),
    # Conversations that Seasoned records itself: redacted messages, what they ran on, what each request used.
    Migration("m005_message", ("message.sqlite",)),
    # Reviews with what they read and kept, and how far each conversation is from its next one.
    Migration("m006_review", ("review",)),
    # Which arm of an experiment each session was assigned to, and separately what it was really shown.
    Migration("m007_assignment", ("assignment",)),
    # Designs of experiments, what was learned for them, and their runs.
    Migration("m008_run", ("run",)),
    # Marks of blocks that sessions carry, and what those blocks hold. Age is no longer kept as a state.
    Migration("m009_mark", ("mark",)),
    # Requests for confirmation with their votes, credentials, the audit chain and the messages still to be sent.
    Migration("m010_confirm", ("confirm", "confirm.sqlite")),
    # Jobs, the claims of their slots, and the outcome of each run.
    Migration("m011_schedule", ("schedule",)),
    # Keys of the gateway, and what each request that went through it used.
    Migration("m012_gateway", ("gateway",)),
    # Calls that worked and mistakes with their repairs, by tool and error. Every session is queued for indexing.
    Migration("m013_recall", ("recall.sqlite",)),
    # What sessions of a control would have been shown, so that each example can be compared with its absence.
    Migration("m014_foregone", ("foregone",)),
    # What pages show first, kept by triggers: sessions as lists show them, totals by day, tool and mistake.
    Migration("m015_summary", ("summary.sqlite",)),
    # Which sessions hold which three characters in a row, so that a search need not read all of them.
    Migration("m016_trigram", ("trigram.sqlite",)),
    # The head of the audit moves with every row.
    Migration("m017_audit_head", ("audit_head.sqlite",)),
    # The project of each session, what is known of folders, and what the user decided about projects.
    Migration("m018_project", ("project.sqlite",)),
    # How many calls made as an example shows worked and failed after it was shown.
    Migration(
        "m019_example_effect",
        sql="""
        ALTER TABLE example_usage ADD COLUMN worked INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE example_usage ADD COLUMN failed INTEGER NOT NULL DEFAULT 0;
        """,
    ),
    # What sessions show about their projects, what follows from it, and what conversations saw.
    Migration("m020_experience", ("experience.sqlite",)),
    # What a killed scan left undone, which sessions have ended, and when each was learned from.
    Migration("m021_learned_from", ("learned_from.sqlite",)),
    # Sessions whose agent says that they have ended.
    Migration("m022_finished", ("finished.sqlite",)),
    # Where sessions took place. Hermes records it, so its histories are read again to fill it.
    Migration(
        "m023_platform",
        sql="""
        ALTER TABLE session ADD COLUMN platform TEXT;
        UPDATE source SET size = -1, resume = NULL, stamps = NULL WHERE format IN ('hermes_db', 'hermes_file');
        """,
    ),
    # The sessions of a file and of a tool are found without reading all sessions.
    Migration(
        "m024_lookup",
        sql="""
        CREATE INDEX session_of_source ON session (source_id);
        CREATE INDEX session_tool_by_tool ON session_tool (tool, session_id);
        """,
    ),
    # Behind which call a conversation saw something, so that the result of the call stays the same.
    Migration("m025_told_call", ("told_call.sqlite",)),
    # Usage by day, and the size of the last prompt. Sources that tell usage are read again to fill them.
    Migration(
        "m026_daily_usage",
        sql="""
        ALTER TABLE session ADD COLUMN last_prompt_tokens INTEGER;
        ALTER TABLE session ADD COLUMN daily_usage TEXT;
        UPDATE source SET size = -1, resume = NULL, stamps = NULL WHERE id IN (
            SELECT source_id FROM session WHERE input_tokens IS NOT NULL OR output_tokens IS NOT NULL);
        """,
    ),
    # Why a change of memory or skills waits, and the foreign sentence that it repeats.
    Migration(
        "m027_foreign",
        sql="""
        ALTER TABLE learned ADD COLUMN reason TEXT;
        ALTER TABLE learned ADD COLUMN foreign_call TEXT;
        ALTER TABLE learned ADD COLUMN foreign_tool TEXT;
        ALTER TABLE learned ADD COLUMN foreign_text TEXT;
        """,
    ),
    # Advice that a person applied or dismissed.
    Migration("m028_advice", ("advice.sqlite",)),
    # The keys of people who decide, sealed by their passphrases, and keys of devices that a service remembers.
    Migration("m029_signing_key", ("signing_key",)),
    # Whether a call repeats a sentence of an earlier result: such words are not the agent's.
    Migration("m030_foreign_call", sql="ALTER TABLE call ADD COLUMN is_foreign INTEGER NOT NULL DEFAULT 0"),
    # Templates of arms by digest, and outcomes of sessions, for experiments that several machines share.
    Migration("m031_arm_template", ("arm_template", "known_project.sqlite")),
    # What was said in sessions, redacted and cut, and an index of all words by which people look for a session.
    Migration("m032_search", ("search.sqlite",)),
    # The team of this machine: what was pushed and pulled, and what the sessions of others show.
    Migration("m033_team", ("team.sqlite",)),
    # What sessions used by hour and model, and what a token costs: the cost of every history.
    Migration("m034_usage", ("usage.sqlite",)),
    # Experiments that another machine of the team began.
    Migration("m035_team_experiment", ("team_experiment.sqlite",)),
    # Lists of sessions are searched by LIKE: reading a hundred thousand lines takes less than keeping that index.
    Migration(
        "m036_no_trigram",
        sql="""
        DROP TRIGGER line_added;
        DROP TRIGGER line_changed;
        DROP TRIGGER line_forgotten;
        DROP TABLE trigram_use;
        DROP TABLE session_trigram;
        DROP VIEW session_words;
        """,
    ),
    # Texts that search shows are packed; the index reads them through a view, and stays as it is.
    Migration("m037_packed_search", ("packed_search.sqlite",)),
    # Who makes which form of call, of all sessions: what few make is a small part of what others are shown.
    Migration("m038_session_form", ("session_form.sqlite",)),
)
VERSION = len(MIGRATIONS)


def migrate(db: sqlite3.Connection, path: str) -> None:
    """Bring the store to this version. A store of a newer version is refused."""
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
        if version == 0 and db.execute("SELECT 1 FROM sqlite_master").fetchone() is None:
            for statement in new_schema():
                db.execute(statement)
        else:
            for number in range(version, VERSION):
                MIGRATIONS[number](db)
        if version < VERSION:
            db.execute(f"PRAGMA user_version = {VERSION}")
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


_CACHED: str | None = getattr(__spec__, "cached", None)


def new_schema() -> tuple[str, ...]:
    """The statements that make a new store what all migrations make of it, in a third of their time.

    They are kept beside Python's bytecode: most commands open at most one new store.
    """
    return _new_schema(MIGRATIONS)


@cache
def _new_schema(migrations: tuple[Migration, ...]) -> tuple[str, ...]:
    made_by = crc32("\0".join([script for one in migrations for script in one.scripts()]).encode())
    path = None if _CACHED is None else Path(f"{_CACHED}.schema")
    if path is not None:
        with suppress(OSError, msgspec.DecodeError):
            kept = msgspec.json.decode(path.read_bytes(), type=tuple[int, tuple[str, ...]])
            if kept[0] == made_by:
                return kept[1]
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        for one in migrations:
            one(db)
        found = tuple(_dump(db))
    if path is not None and not sys.dont_write_bytecode:
        with suppress(OSError):
            beside = path.with_name(f"{path.name}.{os.getpid()}")
            beside.write_bytes(msgspec.json.encode((made_by, found)))
            beside.replace(path)
    return found


def _dump(db: sqlite3.Connection) -> Iterator[str]:
    """The statements that make a database: its tables, their rows, then what guards and follows them."""
    listed = db.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid").fetchall()
    virtual = tuple([f"{name}_" for _, name, sql in listed if sql.startswith("CREATE VIRTUAL")])
    tables = [
        (name, sql) for kind, name, sql in listed if kind == "table" and not name.startswith((*virtual, "sqlite_"))
    ]
    yield from [sql for _, sql in tables]
    for name, sql in tables:
        if not sql.startswith("CREATE VIRTUAL"):
            columns = [row[1] for row in db.execute(f"PRAGMA table_info({name})")]
            values = " || ', ' || ".join([f"quote({column})" for column in columns])
            for (row,) in db.execute(f"SELECT {values} FROM {name}"):
                yield f"INSERT INTO {name} ({', '.join(columns)}) VALUES ({row})"
    yield from [sql for kind, _, sql in listed if kind != "table"]


def statements(script: str) -> Iterator[str]:
    """The statements of a script; a semicolon inside a trigger, a text or a comment does not end one."""
    begun = ""
    for part in script.split(";")[:-1]:
        begun += part + ";"
        if sqlite3.complete_statement(begun):
            yield begun
            begun = ""
    rest = begun + script.rpartition(";")[2]
    if rest.strip():
        yield rest
