"""A scan that is killed at any moment loses nothing: the next one ends where an undisturbed one ends."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from seasoned.history.discover import candidates
from seasoned.redact import Secrecy
from seasoned.scan.file_reader import FileReader
from seasoned.scan.rows import FileJob
from seasoned.scan.scan import ScanTarget, scan
from seasoned.scan.store_writer import StoreWriter
from seasoned.store import open_store
from tests.cli.run import SEASONED
from tests.scan.test_scan import content
from tests.torture import TORTURE

KILLS = 25 if TORTURE else 4


def many_copies(samples: Path, folder: Path, times: int) -> Path:
    """Sessions enough to be killed in: each copy with ids of its own."""
    for number in range(times):
        for path in (samples / "claude_code").rglob("*.jsonl"):
            target = folder / str(number) / path.name
            target.parent.mkdir(parents=True, exist_ok=True)
            mark = f"{number:02d}".encode()
            data = path.read_bytes().replace(b'"toolu_01', b'"toolu_' + mark)
            target.write_bytes(data.replace(b'"sessionId":"', b'"sessionId":"' + mark))
    return folder


@pytest.mark.slow
def test_killed_scans_end_where_an_undisturbed_one_ends(tmp_path: Path, home: Path, samples: Path) -> None:
    folder = many_copies(samples, tmp_path / "in", 12)
    store = home / ".seasoned" / "seasoned.db"
    chance = random.Random(3)
    killed = 0
    for _ in range(KILLS):
        process = subprocess.Popen(
            [str(SEASONED), "scan", str(folder)], stdout=subprocess.DEVNULL, start_new_session=True
        )
        time.sleep(chance.uniform(0.1, 0.6))
        killed += process.poll() is None
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if chance.random() < 0.3 and store.exists():
            shutil.rmtree(store.parent)
    assert killed, "the machine was so quick that no scan was still running"
    subprocess.run([str(SEASONED), "scan", str(folder)], check=True, stdout=subprocess.DEVNULL)
    fresh = tmp_path / "fresh.db"
    scan(ScanTarget(fresh), [folder], Secrecy(b"k" * 32), workers=1)
    with open_store(store) as opened:
        assert opened.connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    assert without_tags(content(store)) == without_tags(content(fresh))


# What the background brings up to date after a scan: recall and experience, search, costs.
FILLERS = """
import sys
from pathlib import Path
from seasoned.lesson.storage import refresh
from seasoned.gateway.history_usage import fill_prices
from seasoned.store import open_store
from seasoned.store.search import fill
with open_store(Path(sys.argv[1])) as store:
    print("begun", flush=True)
    refresh(store)
    fill(store)
    fill_prices(store)
"""
# All that they write, without the numbers of rows that a rolled-back transaction leaves out, and without times.
FILLED = {
    "evidence": "SELECT session_id, project, ended, content FROM evidence ORDER BY 1",
    "lessons": "SELECT project, topic, key, content FROM lesson ORDER BY 1, 2, 3",
    "learned": "SELECT id, learned_ended FROM session WHERE learned_at IS NOT NULL ORDER BY 1",
    "search": "SELECT * FROM search_document ORDER BY 1",
    "costs": "SELECT id, known_usd FROM session ORDER BY 1",
    "waiting": "SELECT count(*) FROM waiting",
}


@pytest.mark.skipif(not TORTURE, reason="kills processes 25 times: `make torture`")
def test_killed_background_work_loses_nothing_and_counts_nothing_twice(tmp_path: Path, samples: Path) -> None:
    store, fresh = tmp_path / "killed.db", tmp_path / "fresh.db"
    folder = many_copies(samples, tmp_path / "in", 30)
    scan(ScanTarget(store), [folder, samples / "codex", samples / "hermes"], Secrecy(b"k" * 32), workers=1)
    shutil.copy(store, fresh)
    fill = [sys.executable, "-c", FILLERS]
    chance, killed, done = random.Random(5), 0, set[tuple[int, ...]]()
    for _ in range(KILLS):
        # Its own process group is killed at once, as by the system or a closed terminal.
        with subprocess.Popen([*fill, str(store)], stdout=subprocess.PIPE, start_new_session=True) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(chance.uniform(0.0, 0.4))
            killed += process.poll() is None
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        with open_store(store) as opened:
            done.add(tuple(opened.connection.execute(FILLED["waiting"]).fetchone()))
    assert killed and len(done) > 2, f"{killed} were killed in the middle, at {done}"
    for path in (store, fresh):
        subprocess.run([*fill, str(path)], check=True, stdout=subprocess.DEVNULL)
    with open_store(store) as one, open_store(fresh) as other:
        assert one.connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        one.connection.execute("INSERT INTO search_index (search_index) VALUES ('integrity-check')")
        for name, statement in FILLED.items():
            found, expected = ([tuple(row) for row in db.connection.execute(statement)] for db in (one, other))
            assert found == expected, name
            assert expected, name


@pytest.mark.slow
def test_scans_at_the_same_time_find_what_one_finds(tmp_path: Path, home: Path, samples: Path) -> None:
    folder = many_copies(samples, tmp_path / "in", 6)
    subprocess.run([str(SEASONED), "scan", str(samples / "hermes")], check=True, stdout=subprocess.DEVNULL)
    scans = [subprocess.Popen([str(SEASONED), "scan", str(folder)], stdout=subprocess.DEVNULL) for _ in range(3)]
    assert [process.wait() for process in scans] == [0, 0, 0]
    fresh = tmp_path / "fresh.db"
    for path in (samples / "hermes", folder):
        scan(ScanTarget(fresh), [path], Secrecy(b"k" * 32), workers=1)
    assert without_tags(content(home / ".seasoned" / "seasoned.db")) == without_tags(content(fresh))


def without_tags(found: dict[str, list[tuple[object, ...]]]) -> dict[str, list[tuple[object, ...]]]:
    """The tags of two keys differ, and nothing else may."""
    tag = re.compile(r"(\[redacted:[a-z0-9-]+:)[0-9a-f]{8}\]")
    return {
        name: [tuple(tag.sub(r"\1]", cell) if isinstance(cell, str) else cell for cell in row) for row in rows]
        for name, rows in found.items()
    }


def test_what_a_killed_scan_wrote_without_its_totals_is_settled_by_the_next(tmp_path: Path, samples: Path) -> None:
    folder = many_copies(samples, tmp_path / "in", 1)
    whole, cut = tmp_path / "whole.db", tmp_path / "cut.db"
    scan(ScanTarget(whole), [folder], Secrecy(b"k" * 32), workers=1)
    reader = FileReader(Secrecy(b"k" * 32).redactor())
    with open_store(cut) as store:
        for one in candidates([folder]):
            job = FileJob(one.path, one.size, one.mtime_ns, named=False)
            # The process dies after this transaction, before the one that updates the totals.
            StoreWriter(store, time.time).write(list(reader.read(job)))
    assert content(cut) != content(whole)
    report = scan(ScanTarget(cut), [folder], Secrecy(b"k" * 32), workers=1)
    assert report.unchanged == report.files and report.sessions, "no file is read again"
    assert content(cut) == content(whole)
    with open_store(cut) as store:
        assert store.row("lesson.count_waiting")["sessions"] == report.sessions, "what was not learned from waits"
    assert scan(ScanTarget(cut), [folder], Secrecy(b"k" * 32), workers=1).sessions == 0
