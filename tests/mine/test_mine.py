"""Mining: the same bytes on every engine and in every order, nothing lost, and the rows that a scan would have made."""

# ruff: noqa: E402 - what comes with an extra is looked for before anything that imports it
from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

for _name in ("pyarrow", "fsspec"):
    pytest.importorskip(_name, reason=f"{_name} is not installed: it comes with the extra `mine`")

import pyarrow as pa

from seasoned.app.mine import take_up_into
from seasoned.app.stores import make_learner
from seasoned.errors import NotFound, UsageError
from seasoned.experience.storage import refresh
from seasoned.mine.engine import TRIES, Engine, InlineEngine, PoolEngine, TaskOutcome
from seasoned.mine.folder import MinedFolder, partition
from seasoned.mine.merge import merge_project
from seasoned.mine.read import SourceFile, list_files, mine_files
from seasoned.mine.run import MineReport, merge_parts, mine, read_part
from seasoned.redact import Secrecy
from seasoned.scan.scan import ScanTarget, scan
from seasoned.store import open_store
from tests.scan.every_table import every_table

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


def run(folder: Path | Sequence[SourceFile], out: Path | str, engine: Engine | None = None, **more: Any) -> MineReport:
    files = list_files([str(folder)]) if isinstance(folder, Path) else folder
    return mine(files, str(out), SECRECY, engine or InlineEngine(), **more)


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
    pool = PoolEngine(2)
    try:
        run(list(reversed(files)), tmp_path / "pool", pool, part_bytes=300_000)
    finally:
        pool.close()
    assert every_byte(tmp_path / "pool") == wanted
    # A day's files today, the others tomorrow: only those are read.
    run(files[1::2], tmp_path / "twice")
    again = run(files, tmp_path / "twice", part_bytes=1)
    assert again.unchanged == len(files[1::2])
    assert every_byte(tmp_path / "twice") == wanted
    nothing = run(files, tmp_path / "twice")
    assert (nothing.read, nothing.unchanged, nothing.changed_files) == (0, len(files), 0)


def test_what_is_taken_up_is_what_a_scan_writes(tmp_path: Path, histories: Path) -> None:
    # Longer than a stretch, so that it has several rows.
    write_session(histories / "long.jsonl", *[f"make test T={number}" for number in range(500)], answer="x" * 20_000)
    scan(ScanTarget(tmp_path / "scan.db"), [histories], SECRECY, workers=1, make_learner=make_learner)
    with open_store(tmp_path / "scan.db") as store:
        refresh(store)
    run(histories, tmp_path / "out")
    assert take_up_into(str(tmp_path / "out"), str(tmp_path / "mined.db")).sessions == 42
    assert take_up_into(str(tmp_path / "out"), str(tmp_path / "mined.db")).sessions == 0
    scanned, mined = every_table(tmp_path / "scan.db"), every_table(tmp_path / "mined.db")
    assert {name for name in scanned if scanned[name] != mined[name]} == set()
    assert scanned["knowledge"]
    # What another version of the rules made is left out, and told.
    folder = MinedFolder(str(tmp_path / "out"))
    sources = folder.sources()
    place = sources.schema.get_field_index("rules")
    folder.write_sources(sources.set_column(place, "rules", pa.array(["other"] * len(sources))))
    taken = take_up_into(folder.address, str(tmp_path / "other.db"))
    assert (taken.files, taken.outdated) == (0, len(sources))
    # A scan of the same files finds nothing new.
    report = scan(ScanTarget(tmp_path / "mined.db"), [histories], SECRECY, workers=1)
    assert (report.read, report.unchanged) == (0, report.files)


def test_a_merged_project_counts_calls_once_as_the_store_does(tmp_path: Path, histories: Path) -> None:
    folder = histories / "a" / "claude_code"
    scan(ScanTarget(tmp_path / "s.db"), [folder, histories / "b"], SECRECY, workers=1, make_learner=make_learner)
    table = mine_files(list_files([str(folder), str(histories / "b")]), SECRECY)
    merged = merge_project(table)
    with open_store(tmp_path / "s.db") as store:
        refresh(store)
        ask = store.connection.execute
        joined = "call JOIN session ON session.id = session_id WHERE copy_of IS NULL"
        kept = ask(f"SELECT agent, native_id, call_id FROM {joined}").fetchall()
        grouped = "failure JOIN mistake AS m ON m.id = mistake_id GROUP BY 1, 2, 3"
        mistakes = ask(f"SELECT m.signature, m.tool, m.program, count(*) FROM {grouped}").fetchall()
    calls = [row for row in merged.calls.to_pylist() if not row["is_copy"]]
    assert sorted((row["agent"], row["native_id"], row["call_id"]) for row in calls) == sorted(map(tuple, kept))
    assert len(calls) < len(merged.calls)
    found = [(row["signature"], row["tool"], row["program"], row["failures"]) for row in merged.mistakes.to_pylist()]
    assert found == sorted(map(tuple, mistakes))
    assert len(found) > 5
    # In whatever order the rows come.
    assert merge_project(table.take(pa.array(range(len(table) - 1, -1, -1)))) == merged


def test_a_file_that_changed_replaces_its_rows(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    write_session(folder / "a1.jsonl", "make old", cwd="/home/u/shop")
    write_session(folder / "a2.jsonl", "make lint", cwd="/home/u/shop")
    run(folder, tmp_path / "out")
    write_session(folder / "a1.jsonl", "make new", "make test", cwd="/home/u/store")
    report = run(folder, tmp_path / "out")
    assert (report.read, report.unchanged, report.projects) == (1, 1, 2)
    run(folder, tmp_path / "fresh")
    assert every_byte(tmp_path / "out") == every_byte(tmp_path / "fresh")
    assert b"make old" not in b"".join(every_byte(tmp_path / "out").values())


class Disturbed(InlineEngine):
    """An engine on which some tasks fail."""

    def __init__(self, fails: Callable[[Any, Any], bool]) -> None:
        self.fails = fails

    def run(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[TaskOutcome]:
        for task in tasks:
            if self.fails(function, task):
                yield TaskOutcome(task, error="its machine is gone", tries=TRIES)
            else:
                yield from super().run(function, [task])


def test_what_could_not_be_done_is_reported_and_done_by_the_next_run(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    for number in range(4):
        write_session(folder / f"b{number}.jsonl", "make test", cwd=f"/home/u/project{number % 2}")
    run(folder, tmp_path / "fresh")
    wanted = every_byte(tmp_path / "fresh")

    def is_project0(function: Any, task: Any) -> bool:
        return function is merge_parts and task.project == "/home/u/project0"

    report = run(folder, tmp_path / "merge", Disturbed(is_project0))
    assert report.unfinished == (("/home/u/project0", "its machine is gone"),)
    report = run(folder, tmp_path / "merge")
    # What was read is not read again.
    assert (report.bytes, report.unfinished) == (0, ())
    assert every_byte(tmp_path / "merge") == wanted
    # A part that fails is read file by file, so that only the bad file is missing.
    report = run(
        folder,
        tmp_path / "read",
        Disturbed(lambda function, task: function is read_part and any("b2" in one.address for one in task.files)),
    )
    assert [Path(path).name for path, _ in report.failures] == ["b2.jsonl"]
    assert (report.read, run(folder, tmp_path / "read").read) == (3, 1)
    assert every_byte(tmp_path / "read") == wanted


def test_a_part_of_an_older_version_of_a_file_is_not_merged(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    write_session(folder / "c1.jsonl", "make old")
    run(folder, tmp_path / "out", Disturbed(lambda function, task: function is merge_parts))
    assert not MinedFolder(str(tmp_path / "out")).names("calls")
    write_session(folder / "c1.jsonl", "make new")
    run(folder, tmp_path / "out")
    run(folder, tmp_path / "fresh")
    assert every_byte(tmp_path / "out") == every_byte(tmp_path / "fresh")


def break_down(task: tuple[str, str]) -> str:
    """What the worker of a task does: work, die once, die always, or never end."""
    kind, mark = task
    if kind == "stop" or (kind == "die once" and not Path(mark).exists()) or kind == "die":
        Path(mark).touch()
        if kind == "stop":
            signal.pause()
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "raise":
        raise ValueError("no")
    return kind


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL on Windows")
def test_the_pool_tries_again_and_blames_only_the_task_that_broke(tmp_path: Path) -> None:
    pool = PoolEngine(2, slow_seconds=0.3)
    kinds = ["work", "die", "work", "die once", "stop", "raise", "work"]
    try:
        tasks = [(kind, str(tmp_path / f"{number}")) for number, kind in enumerate(kinds)]
        found = {outcome.task: outcome for outcome in pool.run(break_down, tasks)}
        processes = pool.processes
    finally:
        pool.close()
    ended = [(found[task].value, found[task].error, found[task].tries) for task in tasks]
    assert [one for one in ended if one[0] == "work"] == [("work", None, 1)] * 3
    assert ended[1] == (None, "the worker process ended with code -9", TRIES)
    assert ended[3] == ("die once", None, 2)
    assert ended[4] == (None, "it took longer than 0.3 s", TRIES)
    assert ended[5] == (None, "ValueError: no", TRIES)
    for process in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_objects_behind_an_address_are_mined_like_files(tmp_path: Path, samples: Path) -> None:
    import fsspec

    memory = fsspec.filesystem("memory")
    memory.put(str(samples / "claude_code"), "/mine-test/in", recursive=True)
    memory.pipe_file("/mine-test/in/node_modules/x.jsonl", b"{}")
    files = list_files(["memory://mine-test/in"])
    assert all(file.address.startswith("memory://") and file.version for file in files)
    assert not any("node_modules" in file.address for file in files)
    run(files, "memory://mine-test/out")
    folder = MinedFolder("memory://mine-test/out")
    local = mine_files(list_files([str(samples / "claude_code")]), SECRECY)
    projects = {row["project"] for row in local.to_pylist() if row["native_id"]}
    mined = pa.concat_tables([folder.project(project) for project in projects])
    assert sorted(mined["native_id"].to_pylist()) == sorted(one for one in local["native_id"].to_pylist() if one)
    assert sorted(map(str, mined["calls"].to_pylist())) == sorted(str(one) for one in local["calls"].to_pylist() if one)
    gone = SourceFile("memory://mine-test/in/gone.jsonl", 1)
    report = run([*files, gone], "memory://mine-test/out")
    assert [path for path, _ in report.failures] == [gone.address]
    with pytest.raises(NotFound):
        list_files(["memory://mine-test/nowhere"])
    memory.rm("/mine-test", recursive=True)


def test_no_secret_is_written_and_no_dangerous_call_is_an_example(tmp_path: Path) -> None:
    write_session(
        tmp_path / "in" / "d1.jsonl", f"curl -H 'Authorization: {SECRET}' localhost", "git push --force", "make test"
    )
    run(tmp_path / "in", tmp_path / "out")
    folder = MinedFolder(str(tmp_path / "out"))
    table = folder.project("/home/u/shop")
    assert SECRET not in str(table.to_pylist())
    assert "git push --force" in str(table.to_pylist())
    merged = merge_project(table)
    assert [json.loads(row["arguments"])["command"] for row in merged.examples.to_pylist()] == ["make test"]


def test_a_partition_is_a_name_that_every_file_system_takes() -> None:
    assert partition("project", "github.com/o/n") == "project=github.com%2Fo%2Fn"
    assert partition("project", None) == "project=__HIVE_DEFAULT_PARTITION__"
    long = [partition("project", "/ü" * 400 + end) for end in "ab"]
    assert long[0] != long[1]
    assert all(len(one) < 250 for one in long)
    assert partition("project", "..") == "project=.."


def test_a_query_reads_the_tables_and_nothing_else(tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="DuckDB is not installed: it comes with the extra `query`")
    from seasoned.mine.query import query

    write_session(tmp_path / "in" / "e1.jsonl", "make test", "make lint")
    run(tmp_path / "in", tmp_path / "out")
    folder = MinedFolder(str(tmp_path / "out"))
    answer = query(folder, "SELECT project, CAST(day AS VARCHAR), count(*) FROM calls GROUP BY ALL")
    assert answer.rows == [("/home/u/shop", "2026-03-01", 2)]
    cut = query(folder, "SELECT call_id FROM calls", limit=1)
    assert (len(cut.rows), cut.is_cut) == (1, True)
    assert query(folder, "SELECT count(*) FROM mistakes").rows == [(0,)]
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
