"""What is learned where sessions are read is what is learned from the store, in one process or in several."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from seasoned.app.stores import make_learner
from seasoned.lesson.storage import refresh
from seasoned.redact import Secrecy
from seasoned.scan.file_reader import FileReader
from seasoned.scan.rows import COUNTS, FileJob
from seasoned.scan.scan import ScanTarget, scan
from seasoned.scan.store_writer import StoreWriter
from seasoned.store import open_store
from tests.scan.every_table import every_table
from tests.scan.test_kill import many_copies

SECRECY = Secrecy(b"k" * 32)
LEARNED = ("evidence", "lesson")


def read(folder: Path, path: Path, *, in_readers: bool, workers: int = 1) -> Path:
    scan(ScanTarget(path), [folder], SECRECY, workers=workers, make_learner=make_learner if in_readers else None)
    with open_store(path) as store:
        refresh(store)
    return path


def waiting(path: Path) -> int:
    with open_store(path) as store:
        return len(store.rows("lesson.waiting", {"limit": 10_000}))


def test_readers_learn_what_the_store_teaches(tmp_path: Path, samples: Path) -> None:
    # Every file twice: half of the sessions are copies, which only the store can tell.
    for name in ("a", "b"):
        shutil.copytree(samples, tmp_path / "in" / name)
    after = every_table(read(tmp_path / "in", tmp_path / "after.db", in_readers=False))
    during = every_table(read(tmp_path / "in", tmp_path / "during.db", in_readers=True))
    assert during == after
    assert all(after[table] for table in LEARNED)


def test_a_session_is_written_with_the_totals_it_keeps(tmp_path: Path, samples: Path) -> None:
    path = tmp_path / "s.db"
    scan(ScanTarget(path), [samples], SECRECY, workers=1)
    reader = FileReader(SECRECY.redactor())
    files = [file for file in samples.rglob("*") if file.is_file()]
    batches = [list(reader.read(FileJob(str(file), 0, 0, named=True))) for file in files]
    read = {
        (row.agent, row.native_id): row
        for batch in batches
        if len(batch) == 1
        for row in batch[0].sessions
        if row.calls
    }
    checked = 0
    with open_store(path) as store:
        for row in store.connection.execute("SELECT * FROM session WHERE copies = 0").fetchall():
            known = read.get((row["agent"], row["native_id"]))
            if known is not None and len(known.calls) == row["calls"]:
                names = (*COUNTS, "task_type")
                assert {name: getattr(known, name) for name in names} == {name: row[name] for name in names}
                checked += 1
    assert checked > 10


def test_most_sessions_are_learned_from_by_the_readers(tmp_path: Path, samples: Path) -> None:
    path = tmp_path / "s.db"
    scan(ScanTarget(path), [samples], SECRECY, workers=1, make_learner=make_learner)
    with open_store(path) as store:
        sessions = len(store.rows("session.all_ids"))
    assert waiting(path) < sessions / 2


@pytest.mark.slow
def test_several_readers_learn_what_one_learns(tmp_path: Path, samples: Path) -> None:
    folder = many_copies(samples, tmp_path / "in", 16)
    one = every_table(read(folder, tmp_path / "one.db", in_readers=True))
    many = every_table(read(folder, tmp_path / "many.db", in_readers=True, workers=3))
    assert many == one


def test_a_session_that_another_process_wrote_to_meanwhile_stays_queued(tmp_path: Path, samples: Path) -> None:
    path = tmp_path / "s.db"
    learner = make_learner()
    reader = FileReader(SECRECY.redactor(), learner)
    with open_store(path) as store:
        writer = StoreWriter(store, time.time)
        for file in (samples / "claude_code").rglob("*.jsonl"):
            writer.write(list(reader.read(FileJob(str(file), file.stat().st_size, 0, named=False))))
        changed = max(writer.touched)
        with store.write():
            # What the other process does when it has written to the session.
            store.run("session.begin_touched")
            store.run_many("session.touch", [(changed,)])
            store.run("lesson.wait")
        writer.settle(learner)
        queued = {row["session_id"] for row in store.rows("lesson.waiting", {"limit": 1000})}
        assert changed in queued
        assert len(queued) < len(writer.settled)
