"""Reading the bytes of a database file leaves the locks of open connections alone."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from seasoned import database_file
from seasoned.database_file import read_head
from seasoned.history.formats import recognise
from seasoned.history.readonly import open_readonly, tables_of
from seasoned.store import open_store

_OPEN_AND_CLOSE = (
    "import sys; from pathlib import Path; from seasoned.store import open_store; open_store(Path(sys.argv[1])).close()"
)


_LOCKS = "import sys, sqlite3; sqlite3.connect(sys.argv[1], timeout=0).execute('BEGIN IMMEDIATE')"


@pytest.mark.parametrize("look", [lambda path: read_head(path, 16), recognise], ids=["head", "recognise"])
def test_another_process_sees_that_the_store_is_open_after_its_file_was_looked_at(
    tmp_path: Path, look: Callable[[Path], object]
) -> None:
    path = tmp_path / "seasoned.db"
    with open_store(path) as store:
        store.connection.execute("CREATE TABLE written (value)")
        for _ in range(3):
            look(path)
        # Who closes a database last deletes its log: that process is not the last.
        subprocess.run([sys.executable, "-c", _OPEN_AND_CLOSE, str(path)], check=True, timeout=60)
        assert Path(f"{path}-wal").exists()
        assert len(database_file._kept[_id(path)]) == 1, "one descriptor, however often it was looked at"
        store.connection.execute("INSERT INTO written VALUES (1)")
        assert store.connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    assert not Path(f"{path}-wal").exists()


def test_the_locks_of_a_program_that_we_run_inside_of_stay(tmp_path: Path) -> None:
    """Hermes opens its database without us, in the same process."""
    path = tmp_path / "state.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as theirs:
        theirs.execute("CREATE TABLE a (b)")
        theirs.execute("BEGIN IMMEDIATE")
        with open_readonly(path) as ours:
            assert tables_of(ours) == {"a": frozenset({"b"})}
        found = subprocess.run([sys.executable, "-c", _LOCKS, str(path)], capture_output=True, timeout=60, check=False)
        assert b"database is locked" in found.stderr


def test_other_files_are_not_kept_open_and_databases_not_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"x" * 100)
    assert read_head(path, 10) == b"x" * 10 and read_head(path, 1000) == b"x" * 100
    assert _id(path) not in database_file._kept
    monkeypatch.setattr(database_file, "_MOST_KEPT", 3)
    paths = [tmp_path / f"{number}.db" for number in range(6)]
    with open_store(paths[0]) as _:
        for path in paths[1:]:
            open_store(path).close()
        for path in paths:
            read_head(path, 16)
        assert [_id(path) in database_file._kept for path in paths] == [True, False, False, False, True, True]


def _id(path: Path) -> database_file.FileId:
    return path.stat().st_dev, path.stat().st_ino
