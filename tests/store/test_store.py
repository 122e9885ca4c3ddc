"""The store: private, refused when from the future, shared by many processes."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from seasoned.errors import NotFound, StoreError, UsageError
from seasoned.scan.rows import call_totals
from seasoned.store import Store, open_store, open_temporary
from seasoned.store.backup import back_up, restore
from seasoned.store.query import queries
from seasoned.store.schema import VERSION, OlderStore
from seasoned.store.search import find_session

COLUMNS = """
    title cwd remote branch application platform model started ended parent_agent parent_native_id relation end_reason
    succeeded input_tokens output_tokens cache_read_tokens cache_write_tokens reasoning_tokens cost_usd source_id
    last_prompt_tokens
"""
SESSION = {**dict.fromkeys(COLUMNS.split()), **call_totals({})}


def save(store: Store, native_id: str, agent: str = "codex", **fields: object) -> int:
    row = store.row(
        "session.save",
        {**SESSION, "agent": agent, "native_id": native_id, "messages": 1, "compactions": "[]", **fields},
    )
    assert row is not None
    return int(row["id"])


def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "home" / "seasoned.db"
    with open_store(path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_store_from_the_future_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "seasoned.db"
    with open_store(path) as store:
        store.connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    with pytest.raises(StoreError, match="newer Seasoned"):
        open_store(path)


def test_a_damaged_store_and_a_folder_without_rights_say_so(tmp_path: Path) -> None:
    path = tmp_path / "seasoned.db"
    path.write_bytes(b"this is no database, but long enough to look like a file" * 20)
    with pytest.raises(StoreError, match="damaged"):
        open_store(path)
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(StoreError, match="SEASONED_HOME"):
        open_store(blocked / "seasoned.db")


def test_every_named_query_is_valid(subtests: pytest.Subtests) -> None:
    store = open_temporary()
    store.run("session.begin_touched")
    for subject in ("source", "session", "call", "export", "template"):
        for name, statement in queries(subject).items():
            with subtests.test(f"{subject}.{name}"):
                names = {word.strip(",();") for word in statement.replace("(", " ").split() if word.startswith(":")}
                params = {name.strip(":,)"): 0 for name in names} if names else [0] * statement.count("?")
                if "INSERT" not in statement:
                    store.connection.execute(f"EXPLAIN {statement}", params)
                assert statement


def test_what_two_sources_say_about_a_session_is_joined() -> None:
    store = open_temporary()
    first = save(store, "s", messages=10, title="Old", input_tokens=100, started=5.0)
    second = save(store, "s", messages=4, model="m", input_tokens=40, started=3.0)
    assert first == second
    row = find_session(store, "codex:s")
    assert (row["messages"], row["title"], row["model"], row["input_tokens"], row["started"]) == (
        10,
        "Old",
        "m",
        100,
        3.0,
    )


def test_a_session_is_found_by_what_people_type() -> None:
    store = open_temporary()
    for native_id in ("abc-1", "abc-2", "xyz_9"):
        save(store, native_id)
    save(store, "abc-1", agent="hermes")
    assert find_session(store, "xyz")["native_id"] == "xyz_9"
    assert find_session(store, "hermes:abc-1")["agent"] == "hermes"
    with pytest.raises(UsageError, match="matches 2 sessions"):
        find_session(store, "codex:abc")
    with pytest.raises(NotFound, match="most similar are"):
        find_session(store, "abd-1")
    with pytest.raises(NotFound):
        find_session(store, "x%")
    with pytest.raises(NotFound, match="no sessions yet"):
        find_session(open_temporary(), "a")


def test_backup_and_restore_keep_what_was_there(tmp_path: Path) -> None:
    path, copy = tmp_path / "seasoned.db", tmp_path / "copy.db"
    with open_store(path) as store:
        save(store, "kept")
        back_up(store, copy)
        save(store, "later")
        with pytest.raises(StoreError, match="already exists"):
            back_up(store, copy)
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    kept = restore(copy, path)
    with open_store(path) as store:
        assert store.row("source.counts")["sessions"] == 1
    assert kept is not None
    with open_store(kept) as store:
        assert store.row("source.counts")["sessions"] == 2


@pytest.mark.parametrize("is_own", [True, False])
def test_restoring_a_store_of_an_earlier_version_carries_over_what_no_history_tells(
    tmp_path: Path, is_own: bool
) -> None:
    path, old = tmp_path / "seasoned.db", tmp_path / ("seasoned.db" if is_own else "old.db")
    with open_store(old) as store:
        save(store, "read again")
        choice = {"project": "p", "form": "f", "choice": "pin", "text": "Run make test.", "decided_at": 1.0}
        store.run("lesson.choose", choice)
        store.connection.execute("INSERT INTO forgotten VALUES ('codex', 'gone', 2.0)")
        row = (1, 1.0, "submitted", None, "anna", "", "{}", "0" * 64, "h" * 64)
        store.connection.execute("INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        # As an earlier version had it: a column and a table that are gone.
        store.connection.execute("ALTER TABLE choice ADD COLUMN once TEXT")
        store.connection.execute("DROP TABLE material")
        store.connection.execute("PRAGMA user_version = 38")
    kept = restore(old, path)
    with open_store(path) as store:
        assert store.row("source.counts")["sessions"] == 0
        assert store.row("lesson.choices", {"project": "p"})["text"] == "Run make test."
        assert [row["native_id"] for row in store.rows("session.forgotten")] == ["gone"]
        assert tuple(store.connection.execute("SELECT seq, hash FROM audit_head").fetchone()) == (1, "h" * 64)
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            store.connection.execute("DELETE FROM audit")
    assert (kept is not None) == is_own
    with pytest.raises(OlderStore):
        open_store(kept or old)


def test_a_bad_backup_replaces_nothing(tmp_path: Path) -> None:
    path, bad = tmp_path / "seasoned.db", tmp_path / "bad.db"
    with open_store(path) as store:
        save(store, "kept")
    bad.write_bytes(b"no database at all, certainly not one of ours" * 30)
    with pytest.raises(StoreError, match="cannot be restored"):
        restore(bad, path)
    with pytest.raises(NotFound):
        restore(tmp_path / "absent.db", path)
    with open_store(path) as store:
        assert store.row("source.counts")["sessions"] == 1
    assert sorted(p.suffix for p in tmp_path.iterdir()) == [".db", ".db"]


def test_a_backup_that_fails_leaves_nothing_under_its_name(tmp_path: Path) -> None:
    store = open_store(tmp_path / "a.db")
    store.connection.close()
    with pytest.raises(StoreError, match="could not be written"):
        back_up(store, tmp_path / "backup.db")
    assert [path.name for path in tmp_path.iterdir() if "backup" in path.name] == []


def test_an_empty_or_foreign_file_is_not_restored_and_nothing_that_runs_by_itself_is_taken_along(
    tmp_path: Path,
) -> None:
    (tmp_path / "empty.db").touch()
    with closing(sqlite3.connect(tmp_path / "foreign.db")) as foreign:
        foreign.execute("CREATE TABLE note (text)")
    for name in ("empty.db", "foreign.db"):
        with pytest.raises(StoreError, match="not a backup of Seasoned"):
            restore(tmp_path / name, tmp_path / "a.db")
    with open_store(tmp_path / "a.db") as store:
        back_up(store, tmp_path / "backup.db")
        ours = "SELECT name FROM sqlite_master WHERE type IN ('trigger', 'view') ORDER BY type, name"
        guards = [row["name"] for row in store.connection.execute(ours)]
    with closing(sqlite3.connect(tmp_path / "backup.db")) as changed:
        changed.execute('CREATE TRIGGER "of others" AFTER INSERT ON audit BEGIN DELETE FROM vote; END')
        changed.execute("CREATE VIEW theirs AS SELECT 1")
        changed.execute(f"DROP TRIGGER {guards[0]}")
        changed.commit()
    restore(tmp_path / "backup.db", tmp_path / "a.db")
    with open_store(tmp_path / "a.db") as store:
        assert [row["name"] for row in store.connection.execute(ours)] == guards
