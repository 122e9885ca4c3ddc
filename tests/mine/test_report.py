"""The report on a mined folder has the figures of the report on a store, to the last digit."""

# ruff: noqa: E402 - what comes with an extra is looked for before anything that imports it
from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest

for _name in ("pyarrow", "fsspec", "duckdb"):
    pytest.importorskip(_name, reason=f"{_name} is not installed: it comes with the extras `mine` and `query`")

from seasoned.errors import NotFound, UsageError
from seasoned.insight.report import report_on
from seasoned.mine.folder import MinedFolder
from seasoned.mine.query import report_on_mined
from seasoned.outcome.error_rate import Include
from seasoned.scan.scan import ScanTarget, scan
from seasoned.store import open_store
from tests.cli.run import answer, seasoned
from tests.mine.test_mine import SECRECY, run


def test_a_mined_folder_and_a_store_give_the_same_report(tmp_path: Path, samples: Path) -> None:
    shutil.copytree(samples, tmp_path / "in" / "a")
    # Files twice: their sessions count once. A session under another name: its calls are copies, and it is a fork.
    shutil.copytree(samples / "claude_code", tmp_path / "in" / "b")
    original = max((samples / "claude_code").rglob("*.jsonl"), key=lambda path: path.stat().st_size)
    forked = tmp_path / "in" / "c" / "0f0f0f0f-0000-4000-8000-000000000001.jsonl"
    forked.parent.mkdir()
    forked.write_text(original.read_text("utf-8").replace(original.stem, forked.stem), "utf-8")
    scan(ScanTarget(tmp_path / "s.db"), [tmp_path / "in"], SECRECY, workers=1)
    run(tmp_path / "in", tmp_path / "out")
    folder = MinedFolder(str(tmp_path / "out"))
    with open_store(tmp_path / "s.db") as store:
        for agent, include in ((None, Include()), (None, Include(trivial=True)), ("codex", Include())):
            stored = report_on(store, made_at=1.0, agent=agent, include=include)
            mined = report_on_mined(folder, made_at=1.0, agent=agent, include=include)
            assert mined.sources == (folder.address,)
            left, right = (msgspec.to_builtins(msgspec.structs.replace(one, sources=())) for one in (mined, stored))
            assert {name for name in right if left[name] != right[name]} == set()
        assert stored.sessions
        whole = report_on(store, made_at=1.0)
    assert whole.copies > 10 and whole.recurring_mistakes > 0 and whole.compression.checks
    assert 0 < report_on_mined(folder, made_at=1.0, project="/home/mira/waypost").sessions < whole.sessions
    with pytest.raises(UsageError, match="several projects"):
        report_on_mined(folder, made_at=1.0, project="waypost")
    with pytest.raises(NotFound, match="Agents with sessions"):
        report_on_mined(folder, made_at=1.0, agent="other")
    with pytest.raises(NotFound, match="no sessions"):
        report_on_mined(folder, made_at=1.0, project="nowhere")
    # And by the command, with what it refuses in one sentence.
    found = answer("report", "--mined", tmp_path / "out", "--lengths", "50,100")
    assert (found["sessions"], found["counts"]["failed"]) == (whole.sessions, whole.counts.failed)
    assert found["sources"] == [str(tmp_path / "out")]
    for code, said, *refused in (
        (2, "either --mined", "report", "--mined", tmp_path / "out", "--store"),
        (1, "has not been mined into", "report", "--mined", tmp_path / "nowhere"),
        (2, "a store on this machine", "mine", "--out", tmp_path / "out", "--into", "https://example.org"),
    ):
        assert said in seasoned(*refused, expect=code).stderr
