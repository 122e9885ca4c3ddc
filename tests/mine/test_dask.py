"""Mining on Dask: the same bytes as in one process, also when a worker is killed in mid-run."""

# ruff: noqa: E402 - what comes with an extra is looked for before anything that imports it
from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

for _name in ("pyarrow", "fsspec", "distributed"):
    pytest.importorskip(_name, reason=f"{_name} is not installed: it comes with the extra `mine`")

from seasoned.errors import CannotDo
from seasoned.mine.engine import DaskEngine, InlineEngine
from seasoned.mine.read import list_files
from seasoned.mine.run import mine
from tests.mine.test_mine import SECRECY, every_byte, write_session
from tests.torture import TORTURE


def test_a_cluster_mines_the_same_bytes_and_names_what_it_lacks(tmp_path: Path, samples: Path) -> None:
    from distributed import LocalCluster

    files = list_files([str(samples / "codex")])
    mine(files, str(tmp_path / "inline"), SECRECY, InlineEngine())
    # Workers as threads start in a moment; the test below has processes.
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
        engine = DaskEngine(1, address=cluster.scheduler_address)
        try:
            assert engine.workers == 2
            report = mine(files, str(tmp_path / "dask"), SECRECY, engine, part_bytes=1)
        finally:
            engine.close()
        assert not report.failures
        assert every_byte(tmp_path / "dask") == every_byte(tmp_path / "inline")
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=None) as idle,
        pytest.raises(CannotDo, match="has no workers"),
    ):
        DaskEngine(1, address=idle.scheduler_address)


@pytest.mark.skipif(not TORTURE, reason="starts and kills real workers: `make torture`")
def test_a_killed_worker_loses_nothing(tmp_path: Path) -> None:
    for number in range(60):
        commands = [f"make test T={one}" for one in range(40)]
        write_session(tmp_path / "in" / f"f{number}.jsonl", *commands, cwd=f"/home/u/project{number % 5}")
    files = list_files([str(tmp_path / "in")])
    mine(files, str(tmp_path / "inline"), SECRECY, InlineEngine())
    engine = DaskEngine(2)
    killed: list[int] = []

    def kill_one(done: int, total: int) -> None:
        if not killed and done > total / 4:
            killed.append(next(iter(engine.client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    try:
        report = mine(files, str(tmp_path / "dask"), SECRECY, engine, progress=kill_one, part_bytes=1)
    finally:
        engine.close()
    assert killed
    assert not report.failures
    assert every_byte(tmp_path / "dask") == every_byte(tmp_path / "inline")
