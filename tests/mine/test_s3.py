"""Histories in a bucket, mined into a bucket: a real client of S3 against a server on this machine."""

# ruff: noqa: E402 - what comes with an extra is looked for before anything that imports it
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

for _name in ("pyarrow", "fsspec", "duckdb", "s3fs", "moto.server"):
    pytest.importorskip(_name, reason=f"{_name} is not installed: `pip install 'seasoned[mine]' s3fs moto[server]`")

from seasoned.mine.read import list_files
from seasoned.mine.run import MinedFolder, query
from tests.mine.test_mine import run


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of an empty bucket. Address and key come from the environment, as for any user."""
    import s3fs
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "key")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    s3fs.S3FileSystem.clear_instance_cache()
    try:
        s3fs.S3FileSystem().mkdir("logs")
        yield "s3://logs"
    finally:
        s3fs.S3FileSystem.clear_instance_cache()
        server.stop()


def test_a_bucket_is_mined_and_queried_like_a_folder(tmp_path: Path, samples: Path, bucket: str) -> None:
    import s3fs

    s3fs.S3FileSystem().put(str(samples / "codex"), f"{bucket}/in/", recursive=True)
    files = list_files([f"{bucket}/in"])
    assert files and all(file.address.startswith("s3://") and file.version for file in files)
    report = run(files, f"{bucket}/mined")
    assert not report.failures
    again = run(list_files([f"{bucket}/in"]), f"{bucket}/mined")
    assert (again.read, again.unchanged) == (0, len(files))
    run(samples / "codex", tmp_path / "local")
    here, there = MinedFolder(str(tmp_path / "local")), MinedFolder(f"{bucket}/mined")
    counted = "SELECT project, day, tool, verdict, count(*) FROM calls GROUP BY ALL ORDER BY ALL"
    assert query(there, counted).rows == query(here, counted).rows != []
