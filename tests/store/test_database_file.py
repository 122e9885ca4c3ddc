"""Reading the bytes of a database file leaves the locks of open connections alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from seasoned import database_file
from seasoned.database_file import read_head
from seasoned.history.formats import recognise
from seasoned.store import open_store

_OPEN_AND_CLOSE = (
    "import sys; from pathlib import Path; from seasoned.store import open_store; open_store(Path(sys.argv[1])).close()"
)


@pytest.mark.parametrize("look", [lambda path: read_head(path, 16), recognise])
def test_another_process_sees_that_the_store_is_open_after_its_file_was_looked_at(tmp_path: Path, look: object) -> None:
    path = tmp_path / "seasoned.db"
    with open_store(path) as store:
        store.connection.execute("CREATE TABLE written (value)")
        assert callable(look)
        for _ in range(3):
            look(path)
        # Who closes a database last deletes its log: that process is not the last.
        subprocess.run([sys.executable, "-c", _OPEN_AND_CLOSE, str(path)], check=True, timeout=60)
        assert Path(f"{path}-wal").exists()
        assert sum(map(len, database_file._kept.values())) == 1, "one descriptor, however often it was looked at"
        store.connection.execute("INSERT INTO written VALUES (1)")
        assert store.connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    assert not Path(f"{path}-wal").exists() and not database_file._kept


def test_files_without_a_connection_are_not_kept_open(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"x" * 100)
    assert read_head(path, 10) == b"x" * 10 and read_head(path, 1000) == b"x" * 100
    assert not database_file._kept
