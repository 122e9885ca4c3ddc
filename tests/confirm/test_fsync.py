"""A kill does not test the disk: what is asked of it is asserted here, and its calls are counted."""

from __future__ import annotations

import asyncio
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from seasoned.config import Config
from seasoned.confirm.request.book import Book
from seasoned.confirm.service import ConfirmService
from seasoned.store import Store
from seasoned.store.postgres import PostgresStore
from tests.confirm.serving import Serving, serving

FULL = 2
_CALL = re.compile(r"\bf(?:data)?sync\(\d+<([^>]*)>|\bf(?:data)?sync\((\d+)")


def _settings(book: Book) -> dict[str, object]:
    """What is in force on the very connection that the service writes with."""
    database = book.database
    if isinstance(database, Store):
        names = ("journal_mode", "synchronous", "fullfsync")
        return {name: database.connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names}
    assert isinstance(database, PostgresStore)
    found = database._connection.execute("SHOW synchronous_commit").fetchone()
    assert found is not None
    return dict(found)


def _in_force(config: Config) -> dict[str, object]:
    async def ask() -> dict[str, object]:
        service = ConfirmService(config)
        await service.store.start()
        try:
            return await service.store.write(_settings)
        finally:
            await service.store.stop()

    return asyncio.run(ask())


def test_the_service_writes_through_a_log_and_waits_for_the_disk(tmp_path: Path) -> None:
    assert _in_force(Config(home=tmp_path)) == {"journal_mode": "wal", "synchronous": FULL, "fullfsync": 1}


def test_postgresql_answers_after_its_log_is_written_even_where_it_is_told_not_to(
    tmp_path: Path, postgres_url: str
) -> None:
    careless = f"{postgres_url}%20-csynchronous_commit%3Doff"
    assert _in_force(Config(home=tmp_path, database_url=careless)) == {"synchronous_commit": "on"}


@pytest.mark.parametrize("verb", ["approve", "deny"])
def test_a_decision_is_on_the_disk_before_it_is_answered(tmp_path: Path, verb: str) -> None:
    """At least one fsync of the log for the decision, and none for a look, which changes nothing."""
    if shutil.which("strace") is None:
        pytest.skip("needs strace to count the calls: install Debian's package strace")
    with serving(tmp_path / "home", in_process=True) as found:
        made = found.ask()
        found.look(made["id"])
        looked = _synced(found, tmp_path / "look", lambda: found.look(made["id"]))
        decided = _synced(found, tmp_path / "decision", lambda: found.decide(made["id"], verb).raise_for_status())
    print(f"fsync and fdatasync calls: {len(looked)} for a look, {len(decided)} for one decision")  # noqa: T201
    assert looked == []
    assert [name for name in decided if name.endswith("-wal")], decided
    assert len(decided) <= 2, "one commit for all that a decision writes"


def _synced(found: Serving, trace: Path, do: object) -> list[str]:
    """The files that the service had written to the disk while something was done."""
    assert found.process is not None
    assert callable(do)
    watcher = subprocess.Popen(
        ["strace", "-f", "-y", "-e", "trace=fsync,fdatasync", "-o", str(trace), "-p", str(found.process.pid)],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert watcher.stderr is not None
    try:
        said = watcher.stderr.readline()
        if "attached" not in said:
            pytest.skip(f"strace may not look at another process here: {said.strip()}")
        do()
        time.sleep(0.1)
    finally:
        watcher.send_signal(signal.SIGINT)
        watcher.wait(20)
        watcher.stderr.close()
    lines = trace.read_text("utf-8").splitlines() if trace.exists() else []
    return [match[1] or match[2] for line in lines if (match := _CALL.search(line)) and "resumed" not in line]
