"""Mining on Dask: the same bytes as in one process."""

# ruff: noqa: E402 - what comes with an extra is looked for before anything that imports it
from __future__ import annotations

from pathlib import Path

import pytest

for _name in ("pyarrow", "fsspec", "distributed"):
    pytest.importorskip(_name, reason=f"{_name} is not installed: it comes with the extra `mine`")

from seasoned.errors import CannotDo
from seasoned.mine.run import Engine
from tests.mine.test_mine import every_byte, run


def test_a_cluster_mines_the_same_bytes_and_names_what_it_lacks(tmp_path: Path, samples: Path) -> None:
    from distributed import LocalCluster

    run(samples / "codex", tmp_path / "inline")
    # Workers as threads start in a moment.
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0") as cluster:
        report = run(samples / "codex", tmp_path / "dask", Engine("dask", scheduler=cluster.scheduler_address))
    assert report.read and not report.failures
    assert every_byte(tmp_path / "dask") == every_byte(tmp_path / "inline")
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address="127.0.0.1:0") as idle,
        pytest.raises(CannotDo, match="has no workers"),
    ):
        run(samples / "codex", tmp_path / "idle", Engine("dask", scheduler=idle.scheduler_address))
