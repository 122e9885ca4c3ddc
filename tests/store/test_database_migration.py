"""Migrations of the store: from every older version, whole or not at all, triggers included."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from seasoned.store import migration, open_store, postgres
from seasoned.store.migration import MIGRATIONS, VERSION, migrate, statements
from tests.each_case import check_each

TABLES = Path(migration.__file__).parent / "table"
GUARD = """
-- A guard; it stays.
CREATE TABLE kept (id TEXT PRIMARY KEY, note TEXT DEFAULT 'a; b');
CREATE TRIGGER kept_stays BEFORE DELETE ON kept
BEGIN
    SELECT RAISE(ABORT, 'rows stay; always');
    SELECT CASE WHEN 1 THEN 2 END;
END;
CREATE INDEX kept_note ON kept (note) -- the last; without its sign
"""


def _schema(path: Path) -> list[tuple[str, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT type, name, tbl_name FROM sqlite_master ORDER BY 1, 2").fetchall()


def test_a_store_of_each_older_version_opens_and_keeps_what_it_had(tmp_path: Path) -> None:
    new = tmp_path / "new.db"
    open_store(new).close()
    expected = _schema(new)
    # Made in memory one version after the other: on a disk each statement would be waited for.
    olds = {version: tmp_path / f"{version}.db" for version in range(1, VERSION)}
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as growing:
        for version, path in olds.items():
            MIGRATIONS[version - 1](growing)
            growing.execute(f"PRAGMA user_version = {version}")
            with closing(sqlite3.connect(path, isolation_level=None)) as old:
                growing.backup(old)
                old.execute("INSERT INTO session (agent, native_id) VALUES ('hermes', '1')")

    def check(version: int) -> None:
        with open_store(olds[version]) as store:
            assert store.connection.execute("SELECT agent, native_id FROM session").fetchone()[:] == ("hermes", "1")
            assert store.connection.execute("PRAGMA user_version").fetchone()[0] == VERSION
        assert _schema(olds[version]) == expected

    check_each(olds, check)


def test_a_new_store_is_what_all_migrations_make_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def content(connection: sqlite3.Connection) -> dict[str, object]:
        schema = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY 1, 2").fetchall()
        # What a full-text index writes about itself differs, and is its own.
        tables = [name for kind, name, _, sql in schema if kind == "table" and "_data" not in name and "fts" not in sql]
        return {"schema": schema, **{name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in tables}}

    monkeypatch.setattr(migration, "_CACHED", str(tmp_path / "kept"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    kept = tmp_path / "kept.schema"
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as step_by_step:
        for step in MIGRATIONS:
            step(step_by_step)
        expected = content(step_by_step)
    for damage in (None, b"[1,[]]", b"not JSON"):
        if damage is not None:
            kept.write_bytes(damage)
        migration._new_schema.cache_clear()
        for _ in range(2):  # made, and read from the file
            with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
                migrate(connection, "new")
                assert content(connection) == expected
                assert connection.execute("PRAGMA user_version").fetchone()[0] == VERSION
            assert kept.is_file()
            migration._new_schema.cache_clear()


def test_a_script_is_divided_into_statements_and_triggers_stay_whole() -> None:
    found = [one.strip() for one in statements(GUARD)]
    assert len(found) == 3
    assert found[1].startswith("CREATE TRIGGER") and found[1].endswith("END;")
    with closing(sqlite3.connect(":memory:")) as connection:
        for one in found:
            connection.execute(one)
        connection.execute("INSERT INTO kept (id) VALUES ('1')")
        with pytest.raises(sqlite3.IntegrityError, match="rows stay; always"):
            connection.execute("DELETE FROM kept")


@pytest.mark.parametrize("script", ["", "  \n", "-- only; words\n"])
def test_a_script_without_statements_does_nothing(script: str) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        for one in statements(script):
            connection.execute(one)
        assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0


def test_a_migration_that_fails_leaves_the_store_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.db"
    open_store(path).close()
    before = _schema(path)

    def m999_wrong(db: sqlite3.Connection) -> None:
        for one in statements(GUARD + "; CREATE TABLE source (id TEXT);"):
            db.execute(one)

    monkeypatch.setattr(migration, "MIGRATIONS", (*MIGRATIONS, m999_wrong))
    monkeypatch.setattr(migration, "VERSION", VERSION + 1)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        with pytest.raises(sqlite3.OperationalError, match="already exists"):
            migrate(connection, str(path))
        assert not connection.in_transaction
        assert connection.execute("PRAGMA user_version").fetchone()[0] == VERSION
    assert _schema(path) == before


def test_every_file_of_tables_belongs_to_a_migration() -> None:
    used = {file for one in (*MIGRATIONS, *postgres.MIGRATIONS) for file in one.files}
    assert {one.stem for one in TABLES.glob("*.sql")} == used
