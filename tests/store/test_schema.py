"""The schema of the store: written whole or not at all, triggers included."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from seasoned.errors import StoreError
from seasoned.store import open_store, schema
from seasoned.store.schema import VERSION, OlderStore, statements

TABLES = Path(schema.__file__).parent / "table"
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


@pytest.mark.parametrize("version", [1, 38, VERSION - 1])
def test_a_store_of_an_earlier_version_is_refused_with_what_to_do_and_left_as_it_is(
    tmp_path: Path, version: int
) -> None:
    path = tmp_path / "s.db"
    with closing(sqlite3.connect(path)) as old:
        old.execute("CREATE TABLE session (agent TEXT)")
        old.execute(f"PRAGMA user_version = {version}")
    before = _schema(path)
    with pytest.raises(OlderStore, match=f"seasoned restore {path}"):
        open_store(path)
    assert _schema(path) == before


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


def test_a_schema_that_fails_leaves_the_store_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.db"
    with monkeypatch.context() as patch:
        patch.setattr(schema, "SQLITE", (*schema.SQLITE, "shared"))
        with pytest.raises(StoreError, match="already exists"):
            open_store(path)
    assert _schema(path) == []
    with open_store(path) as store:
        assert store.connection.execute("PRAGMA user_version").fetchone()[0] == VERSION


def test_a_new_store_has_few_tables(tmp_path: Path) -> None:
    open_store(tmp_path / "s.db").close()
    # With those that the full-text index makes for itself.
    assert len([one for one in _schema(tmp_path / "s.db") if one[0] == "table"]) <= 55


def test_every_file_of_tables_belongs_to_a_schema() -> None:
    assert {one.stem for one in TABLES.glob("*.sql")} == {*schema.SQLITE, *schema.POSTGRES}
