"""Mining: the same bytes on every engine and in every order, and the calls that a scan would have kept."""

# ruff: noqa: E402 - what comes with an extra is looked for before anything that imports it
from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

for _name in ("pyarrow", "fsspec"):
    pytest.importorskip(_name, reason=f"{_name} is not installed: it comes with the extra `mine`")

import pyarrow as pa

from seasoned.errors import CannotDo, NotFound, UsageError
from seasoned.mine.read import SourceFile, list_files, mined_tables, read_file
from seasoned.mine.run import Engine, MinedFolder, MineReport, mine, partition
from seasoned.redact import Secrecy
from seasoned.scan.scan import ScanTarget, scan
from seasoned.store import open_store

INLINE = Engine("inline")
SECRECY = Secrecy(b"k" * 32)
SECRET = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


def line(session: str, number: int, kind: str, content: Any, cwd: str = "/home/u/shop") -> str:
    at = f"2026-03-{1 + number // 600:02d}T{10 + number // 60 % 10}:{number % 60:02d}:00Z"
    message = {"role": kind, "id": f"{session}-{number}", "model": "m", "content": content}
    record = {"type": kind, "sessionId": session, "cwd": cwd, "uuid": f"{session}-{number}", "timestamp": at}
    return json.dumps({**record, "message": message}) + "\n"


def write_session(path: Path, *commands: str, answer: str = "fine", cwd: str = "/home/u/shop") -> Path:
    """A session of Claude Code that ran these commands with success."""
    session = path.stem
    lines = [line(session, 0, "user", "Build the shop", cwd)]
    for number, command in enumerate(commands):
        call = f"toolu_{session}{number:020d}"
        used = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}
        lines.append(line(session, 2 * number + 1, "assistant", [used], cwd))
        result = {"type": "tool_result", "tool_use_id": call, "content": answer, "is_error": False}
        lines.append(line(session, 2 * number + 2, "user", [result], cwd))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines), "utf-8")
    return path


def run(folder: Path | Sequence[SourceFile], out: Path | str, engine: Engine = INLINE, **more: Any) -> MineReport:
    files = list_files([str(folder)]) if isinstance(folder, Path) else folder
    return mine(files, str(out), SECRECY, engine, **more)


def every_byte(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def histories(tmp_path: Path, samples: Path) -> Path:
    """Samples of every agent, and some of them twice, so that their sessions are copies."""
    shutil.copytree(samples, tmp_path / "in" / "a")
    shutil.copytree(samples / "claude_code", tmp_path / "in" / "b")
    return tmp_path / "in"


def test_every_engine_order_and_number_of_runs_writes_the_same_bytes(tmp_path: Path, histories: Path) -> None:
    files = list_files([str(histories)])
    report = run(files, tmp_path / "once")
    assert (report.files, report.unchanged, report.failures) == (len(files), 0, ())
    wanted = every_byte(tmp_path / "once")
    assert len([name for name in wanted if name.startswith("calls/project=%2Fhome%2Fmira%2Fwaypost/day=2026-")]) > 5
    run(list(reversed(files)), tmp_path / "pool", Engine("pool", 2))
    assert every_byte(tmp_path / "pool") == wanted
    # Some files today, the others tomorrow: only those are read.
    run(files[1::2], tmp_path / "twice")
    assert run(files, tmp_path / "twice").unchanged == len(files[1::2])
    assert every_byte(tmp_path / "twice") == wanted
    nothing = run(files, tmp_path / "twice")
    assert (nothing.read, nothing.unchanged) == (0, len(files))


def test_the_calls_are_those_that_a_scan_keeps(tmp_path: Path, histories: Path) -> None:
    pytest.importorskip("duckdb", reason="DuckDB is not installed: it comes with the extra `query`")
    from seasoned.mine.run import query

    folders = [histories / "a" / "claude_code", histories / "b"]
    # Longer than a stretch, so that it has several rows.
    write_session(folders[1] / "long.jsonl", *[f"make T={number}" for number in range(500)], answer="x" * 20_000)
    scan(ScanTarget(tmp_path / "s.db"), folders, SECRECY, workers=1)
    run(list_files(map(str, folders)), tmp_path / "out")
    with open_store(tmp_path / "s.db") as store:
        kept = store.connection.execute(
            "SELECT agent, native_id, call_id, verdict FROM call JOIN session ON session.id = session_id"
            " WHERE copy_of IS NULL"
        ).fetchall()
        sessions = store.connection.execute("SELECT count(*) FROM session").fetchone()[0]
    folder = MinedFolder(str(tmp_path / "out"))
    found = query(folder, "SELECT agent, native_id, call_id, verdict FROM calls").rows
    assert sorted(found) == sorted(map(tuple, kept))
    assert query(folder, "SELECT count(*) FROM sessions").rows == [(sessions,)]


def test_a_changed_file_replaces_its_rows_and_a_gone_one_keeps_them(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    write_session(folder / "c1.jsonl", "make old", cwd="/home/u/other")
    write_session(folder / "c2.jsonl", "make two")
    run(folder, tmp_path / "out")
    write_session(folder / "c1.jsonl", "make new")
    assert run(folder, tmp_path / "out").read == 1
    run(folder, tmp_path / "fresh")
    assert every_byte(tmp_path / "out") == every_byte(tmp_path / "fresh")
    (folder / "c2.jsonl").unlink()
    run(folder, tmp_path / "out")
    assert every_byte(tmp_path / "out") == every_byte(tmp_path / "fresh")


def test_a_file_that_cannot_be_read_is_told_and_the_others_are_mined(tmp_path: Path) -> None:
    write_session(tmp_path / "in" / "c1.jsonl", "make one")
    files = [*list_files([str(tmp_path / "in")]), SourceFile(str(tmp_path / "in" / "gone.jsonl"), 1)]
    report = run(files, tmp_path / "out")
    assert ([path for path, _ in report.failures], report.read) == ([files[1].address], 1)
    # Not listed as mined, so the next run tries it again.
    write_session(tmp_path / "in" / "gone.jsonl", "make gone")
    assert run(tmp_path / "in", tmp_path / "out").read == 1


def die(task: str) -> str:
    """What a worker does: one task kills it."""
    if task == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    return task


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL on Windows")
def test_a_worker_that_dies_ends_the_run_with_a_sentence() -> None:
    with pytest.raises(CannotDo, match="run the same command again"):
        list(Engine("pool", 2).run(die, ["work", "die", "work"]))


def test_objects_behind_an_address_are_mined_like_files(samples: Path, tmp_path: Path) -> None:
    import fsspec

    memory = fsspec.filesystem("memory")
    memory.put(str(samples / "claude_code"), "/mine-test/in", recursive=True)
    memory.pipe_file("/mine-test/in/node_modules/x.jsonl", b"{}")
    files = list_files(["memory://mine-test/in"])
    assert all(file.address.startswith("memory://") and file.version for file in files)
    assert not any("node_modules" in file.address for file in files)
    run(files, "memory://mine-test/out")
    run(samples / "claude_code", tmp_path)
    local = MinedFolder(str(tmp_path)).names("sessions")
    there = MinedFolder("memory://mine-test/out").names("sessions")
    # The name of a file is a digest of the address that it was mined from.
    assert local and [name.rpartition("/")[0] for name in there] == [name.rpartition("/")[0] for name in local]
    with pytest.raises(NotFound):
        list_files(["memory://mine-test/nowhere"])
    memory.rm("/mine-test", recursive=True)


def test_no_secret_is_written(tmp_path: Path) -> None:
    write_session(tmp_path / "in" / "d1.jsonl", f"curl -H 'Authorization: {SECRET}' localhost", "make test")
    (file,) = list_files([str(tmp_path / "in")])
    tables = mined_tables(file, read_file(file, SECRECY).rows)
    assert SECRET not in str(tables.calls.to_pylist())
    assert "make test" in str(tables.calls.to_pylist())


def test_a_partition_is_a_name_that_every_file_system_takes() -> None:
    assert partition("project", "github.com/o/n") == "project=github.com%2Fo%2Fn"
    assert partition("project", None) == "project=__HIVE_DEFAULT_PARTITION__"
    long = [partition("project", "/ü" * 400 + end) for end in "ab"]
    assert long[0] != long[1]
    assert all(len(one) < 250 for one in long)
    assert partition("project", "..") == "project=.."


def test_a_query_reads_the_tables_and_nothing_else(tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="DuckDB is not installed: it comes with the extra `query`")
    from seasoned.mine.run import query

    write_session(tmp_path / "in" / "e1.jsonl", "make test", "make lint")
    run(tmp_path / "in", tmp_path / "out")
    folder = MinedFolder(str(tmp_path / "out"))
    answer = query(folder, "SELECT project, CAST(day AS VARCHAR), count(*) FROM calls GROUP BY ALL")
    assert answer.rows == [("/home/u/shop", "2026-03-01", 2)]
    cut = query(folder, "SELECT call_id FROM calls", limit=1)
    assert (len(cut.rows), cut.is_cut) == (1, True)
    assert "learned" not in query(folder, "SELECT * FROM sessions").columns
    own = tmp_path / "own.txt"
    own.write_text("mine alone", "utf-8")
    out = tmp_path / "written"
    table = pa.table({"a": [1]})
    for refused in (
        f"SELECT * FROM read_text('{own}')",
        f"SELECT * FROM '{next((tmp_path / 'out').rglob('*.parquet'))}'",
        "SELECT * FROM 'https://example.com/x.parquet'",
        f"COPY calls TO '{out}'",
        f"ATTACH '{out}' AS other",
        f"EXPORT DATABASE '{out}'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "CREATE TABLE t AS SELECT 1",
        "DROP VIEW calls",
        "SELECT 1; DROP VIEW calls",
        "PRAGMA database_list",
        "SELECT * FROM table",
        "SELECT * FROM query('SELECT * FROM read_text(''/etc/hosts'')')",
        "SELECT getenv('HOME')",
        "",
    ):
        with pytest.raises(UsageError):
            query(folder, refused)
    assert not out.exists()
    assert len(table) == 1
    with pytest.raises(NotFound):
        query(MinedFolder(str(tmp_path / "nowhere")), "SELECT 1")
