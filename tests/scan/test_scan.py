"""Scanning: only what is new, copies once, nothing lost when files go, secrets never written."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import seasoned.scan.scan as whole_module
import seasoned.scan.store_writer as writing_module
from seasoned.errors import NotFound, SourceError
from seasoned.redact import Secrecy
from seasoned.scan.scan import ScanReport, ScanTarget, scan
from seasoned.store import Store, open_store, packed
from seasoned.store.query import query
from seasoned.store.search import find_session
from tests.history.claude_lines import SESSION, ClaudeFile
from tests.history.codex_lines import CodexFile
from tests.history.hermes_rows import HermesDb

SECRECY = Secrecy(b"k" * 32)
TOKEN = "ghp_" + "Ab3dEf6hIj9lMn2pQr5tUv8xYz1bCd4fGh7j"


def run(folder: Path, store: Path, **options: object) -> ScanReport:
    target = ScanTarget(store)
    report = scan(target, [folder], SECRECY, workers=1, **options)
    if (opened := target.existing()) is not None:
        opened.close()
    return report


def content(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """All that a store says, without row numbers and times of scanning."""
    with open_store(path) as store:
        sessions = store.connection.execute(
            "SELECT agent, native_id, messages, calls, ok, failed, unclear, copies, task_type, relation, input_tokens"
            " FROM session ORDER BY agent, native_id"
        ).fetchall()
        calls = store.connection.execute(
            "SELECT session.native_id, call_id, position, tool, arguments, result, verdict, copy_of IS NULL"
            " FROM call JOIN session ON session.id = session_id ORDER BY session.native_id, position"
        ).fetchall()
        return {"sessions": [tuple(row) for row in sessions], "calls": [tuple(row) for row in calls]}


def row_of(store_path: Path, text: str):
    with open_store(store_path) as store:
        return find_session(store, text)


def small(session: str = SESSION, call_prefix: str = "toolu_01AAAAAAAAAAAAAAAAAAAAA") -> ClaudeFile:
    file = ClaudeFile(session).user("go").calls(f"{call_prefix}1").result(f"{call_prefix}1", "fine")
    return file.calls(f"{call_prefix}2").result(
        f"{call_prefix}2", "Exit code 1\nbash: foo: command not found", is_error=True
    )


def test_a_rescan_reads_nothing_and_a_grown_file_only_its_new_end(tmp_path: Path) -> None:
    folder, store = tmp_path / "in", tmp_path / "s.db"
    folder.mkdir()
    file = small()
    path = file.write(folder / "a.jsonl")
    assert (run(folder, store).read, run(folder, store).read) == (1, 0)
    file.calls("toolu_new_0123456789abcdef").result("toolu_new_0123456789abcdef", "ok then")
    file.write(path)
    with_growth = run(folder, store)
    assert (with_growth.read, with_growth.calls) == (1, 1)
    fresh = tmp_path / "fresh.db"
    run(folder, fresh)
    assert content(store) == content(fresh)


def test_a_rewritten_file_is_read_anew(tmp_path: Path) -> None:
    folder, store = tmp_path / "in", tmp_path / "s.db"
    folder.mkdir()
    small().write(folder / "a.jsonl")
    run(folder, store)
    other = small("99999999-2222-4333-8444-555555555555", "toolu_01BBBBBBBBBBBBBBBBBBBBB")
    for number in range(20):
        other.says(f"more {number}")
    other.write(folder / "a.jsonl")
    assert run(folder, store).calls == 2
    assert row_of(store, "99999999")["calls"] == 2


def test_what_was_learned_stays_when_the_file_is_gone(tmp_path: Path) -> None:
    folder, store = tmp_path / "in", tmp_path / "s.db"
    folder.mkdir()
    small().write(folder / "a.jsonl")
    small("22222222-aaaa-4bbb-8ccc-dddddddddddd", "toolu_01CCCCCCCCCCCCCCCCCCCCC").write(folder / "b.jsonl")
    run(folder, store)
    (folder / "a.jsonl").unlink()
    assert run(folder, store).gone == 1
    assert run(folder, store).gone == 0
    row = row_of(store, SESSION)
    assert (row["calls"], row["failed"]) == (2, 1)
    assert row["gone_at"] is not None


@pytest.mark.parametrize("name", ["in", "in%_'é"])
def test_a_scan_knows_what_is_under_its_paths_and_leaves_what_only_begins_alike(tmp_path: Path, name: str) -> None:
    store = tmp_path / "s.db"
    for number, folder in enumerate((name, f"{name}-2", f"{name}0", f"{name}/deep")):
        (tmp_path / folder).mkdir()
        small(f"{SESSION[:-1]}{number}", f"toolu_0{number}AAAAAAAAAAAAAAAAAAAAA").write(tmp_path / folder / "a.jsonl")
        run(tmp_path / folder, store)
    shutil.rmtree(tmp_path / f"{name}-2")
    (tmp_path / name / "deep" / "a.jsonl").unlink()
    assert (report := run(tmp_path / name, store)).unchanged == 1
    assert (report.gone, report.read) == (1, 0)
    # A file by its name is known too, and no other one is looked at.
    assert (report := run(tmp_path / name / "a.jsonl", store)).unchanged == 1
    assert report.gone == 0
    assert run(tmp_path / f"{name}0", store).unchanged == 1
    assert run(tmp_path, store).gone == 1


def test_a_new_judge_judges_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, store = tmp_path / "in", tmp_path / "s.db"
    folder.mkdir()
    small().write(folder / "a.jsonl")
    run(folder, store)
    with open_store(store) as opened:
        opened.connection.execute("UPDATE call SET verdict = 'unclear', counts_as = 'unclear'")
    assert run(folder, store).read == 0
    for module in (whole_module, writing_module):
        monkeypatch.setattr(module, "JUDGE", "next")
    assert run(folder, store).read == 1
    assert (row_of(store, SESSION)["ok"], row_of(store, SESSION)["failed"]) == (1, 1)
    assert run(folder, store).read == 0


@pytest.mark.parametrize("order", [["a", "b"], ["b", "a"], ["ab"]])
def test_a_fork_counts_its_copied_calls_once_in_any_order(order: list[str], tmp_path: Path) -> None:
    original = small()
    fork = ClaudeFile("ffffffff-2222-4333-8444-555555555555")
    fork.lines = [line.replace(SESSION.encode(), fork.session.encode()) for line in original.lines]
    fork.count = original.count
    fork.says("on another way").calls("toolu_01DDDDDDDDDDDDDDDDDDDDDD3").result("toolu_01DDDDDDDDDDDDDDDDDDDDDD3")
    files = {"a": original, "b": fork}
    folder, store = tmp_path / "in", tmp_path / "s.db"
    folder.mkdir()
    for names in order:
        for name in names:
            files[name].write(folder / f"{name}.jsonl")
        run(folder, store)
    first, second = row_of(store, SESSION), row_of(store, "ffffffff")
    assert (first["calls"], first["copies"], second["calls"], second["copies"]) == (2, 0, 1, 2)
    assert (second["relation"], second["parent_native_id"]) == ("fork", SESSION)
    with open_store(store) as opened:
        assert opened.row("source.counts")["calls"] == 3


def test_copies_in_a_rotated_hermes_lineage_count_once(tmp_path: Path) -> None:
    db = HermesDb(tmp_path / "state.db").session("s1", end_reason="compression").session("s2", parent_session_id="s1")
    db.session("s3").calls("s3", "call_1_0").result("s3", "call_1_0")
    db.calls("s1", "call_1_0").result("s1", "call_1_0").calls("s2", "call_1_0").result("s2", "call_1_0")
    store = tmp_path / "s.db"
    run(db.path, store)
    counts = {name: (row_of(store, name)["calls"], row_of(store, name)["copies"]) for name in ("s1", "s2", "s3")}
    assert counts == {"s1": (1, 0), "s2": (0, 1), "s3": (1, 0)}


def test_only_changed_sessions_of_a_database_are_read_again(tmp_path: Path) -> None:
    db = HermesDb(tmp_path / "state.db").session("s1").session("s2")
    db.calls("s1", "c1").result("s1", "c1").calls("s2", "c2").result("s2", "c2")
    store = tmp_path / "s.db"
    assert run(db.path, store).calls == 2
    assert run(db.path, store).read == 0
    db.calls("s2", "c3").result("s2", "c3")
    assert run(db.path, store).calls == 2
    assert row_of(store, "s2")["calls"] == 2


def test_one_session_in_two_files_is_one_session(tmp_path: Path) -> None:
    folder, store = tmp_path / "in", tmp_path / "s.db"
    folder.mkdir()
    file = small()
    file.write(folder / "short.jsonl")
    file.calls("toolu_new_0123456789abcdef").result("toolu_new_0123456789abcdef").write(folder / "long.jsonl")
    run(folder, store)
    row = row_of(store, SESSION)
    assert (row["calls"], row["messages"]) == (3, 7)
    assert row["path"].endswith("long.jsonl")


def test_a_late_result_reaches_its_call_across_scans(tmp_path: Path) -> None:
    folder, store = tmp_path / "in", tmp_path / "s.db"
    folder.mkdir()
    file = CodexFile().meta().user("go").call("c1", cmd="make").output("c1", "Process running with session ID 7\n")
    path = file.write(folder / "r.jsonl")
    run(folder, store)
    with open_store(store) as opened:
        assert [row["verdict"] for row in opened.rows("call.judged")] == ["unclear"]
    file.call("c2", "write_stdin", session_id=7).output("c2", "Process exited with code 2\nOutput:\nmake: *** Error 2")
    file.write(path)
    run(folder, store)
    with open_store(store) as opened:
        assert [(row["call_id"], row["verdict"]) for row in opened.rows("call.judged")] == [
            ("c1", "failed"),
            ("c2", "failed"),
        ]


def test_a_cut_last_line_is_shown_and_then_read(tmp_path: Path) -> None:
    folder, store = tmp_path / "in", tmp_path / "s.db"
    folder.mkdir()
    whole = b"".join(small().lines)
    (folder / "a.jsonl").write_bytes(whole[:-30])
    assert run(folder, store).unreadable == 1
    (folder / "a.jsonl").write_bytes(whole)
    assert run(folder, store).unreadable == 0
    with open_store(store) as opened:
        assert opened.rows("source.unreadable") == []
    assert row_of(store, SESSION)["failed"] == 1


def test_nothing_secret_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "WORTH_BYTES", 1 << 30)  # so that it would be seen in the file
    folder, store = tmp_path / "in", tmp_path / "s.db"
    folder.mkdir()
    long = "x " * 240
    file = (
        ClaudeFile().user(f"my token is {TOKEN}").calls("toolu_1", command=f"curl -H 'Authorization: Bearer {TOKEN}'")
    )
    file.result("toolu_1", f"{long}{TOKEN} {long}").calls("toolu_2", "Write", content=f"{long * 3}{TOKEN}")
    file.result("toolu_2", f"Exit code 1\n{long}\nerror: bad token {TOKEN}", is_error=True)
    file.other("custom-title", customTitle=f"Rotate {TOKEN}").write(folder / f"a-{TOKEN[:3]}.jsonl")
    run(folder, store)
    with open_store(store) as opened:
        opened.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for cut in range(4, 20):
        assert TOKEN[cut - 4 : cut + 12].encode() not in store.read_bytes()


def test_a_random_order_of_growing_ends_where_one_scan_ends(tmp_path: Path, samples: Path) -> None:
    chance = random.Random(7)
    folder, store, fresh = tmp_path / "in", tmp_path / "s.db", tmp_path / "fresh.db"
    files = sorted((samples / "claude_code").rglob("*.jsonl"))
    for share in (0.3, 0.7, 1.0):
        for file in chance.sample(files, len(files)):
            target = folder / file.relative_to(samples)
            target.parent.mkdir(parents=True, exist_ok=True)
            lines = file.read_bytes().splitlines(keepends=True)
            target.write_bytes(b"".join(lines[: max(1, int(len(lines) * share))]))
        run(folder, store)
    run(folder, fresh)
    assert content(store) == content(fresh)


def test_bad_paths_say_so_and_write_nothing(tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    empty, other = tmp_path / "empty", tmp_path / "notes.json"
    empty.mkdir()
    other.write_text('{"hello": "world"}')
    for path, error in ((tmp_path / "absent", NotFound), (empty, NotFound), (other, SourceError)):
        with pytest.raises(error):
            scan(ScanTarget(store), [path], SECRECY)
    assert not store.exists()


def test_progress_reaches_its_end(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    small().write(folder / "a.jsonl")
    steps: list[tuple[int, int]] = []
    run(folder, tmp_path / "s.db", progress=lambda done, total: steps.append((done, total)))
    assert steps[-1][0] == steps[-1][1] > 0


def test_a_temporary_store_is_gone(tmp_path: Path) -> None:
    small().write(tmp_path / "a.jsonl")
    target = ScanTarget(None)
    scan(target, [tmp_path / "a.jsonl"], SECRECY)
    store = target.open()
    assert isinstance(store, Store)
    assert store.row("source.counts")["calls"] == 2


def test_a_correction_that_comes_after_a_scan_still_marks_the_calls_before_it(tmp_path: Path) -> None:
    ids = [f"toolu_01AAAAAAAAAAAAAAAAAAAAA{n}" for n in range(6)]
    file = ClaudeFile().user("Change the port")
    for one in ids[:5]:
        file.calls(one).result(one)
    (tmp_path / "logs").mkdir()
    file.write(tmp_path / "logs" / "s.jsonl")
    run(tmp_path / "logs", tmp_path / "store.db")
    file.user("No, that's wrong: use the other port").calls(ids[5]).result(ids[5]).write(tmp_path / "logs" / "s.jsonl")
    run(tmp_path / "logs", tmp_path / "store.db")
    with open_store(tmp_path / "store.db") as store:
        found = store.connection.execute("SELECT call_id, corrected, intent FROM call ORDER BY position").fetchall()
    assert [row["call_id"] for row in found if row["corrected"]] == ids[2:5]
    assert found[0]["intent"] == "Change the port"
    assert found[-1]["intent"] == "No, that's wrong: use the other port"


def test_settling_one_session_never_reads_all_calls(tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    with open_store(store) as opened:
        opened.run("session.begin_touched")
        for name in ("call.repeated", "call.save_tools", "call.counts"):
            plan = [row["detail"] for row in opened.connection.execute(f"EXPLAIN QUERY PLAN {query(name)}")]
            assert any(step.startswith("SCAN touched") for step in plan), (name, plan)
            assert not any(step.startswith("SCAN call") for step in plan), (name, plan)


def test_a_scan_with_nothing_new_loads_little(tmp_path: Path, samples: Path) -> None:
    program = (
        "import sys; from seasoned.cli.main import main\n"
        f"sys.argv = ['seasoned', 'scan', {str(samples / 'claude_code')!r}]\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = ('asyncio', 'numpy', 'seasoned.lesson.storage', 'seasoned.scan.file_reader')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    environ = {**os.environ, "SEASONED_HOME": str(tmp_path / "home")}
    ends = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environ).stdout
        for _ in range(2)
    ]
    assert "seasoned.scan.file_reader" in ends[0].splitlines()[-1]
    assert ends[1].splitlines()[-1] == "[]"
