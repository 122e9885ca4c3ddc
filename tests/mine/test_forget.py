"""What is forgotten stays in folders that were mined before, which is said, and is not mined again."""

# ruff: noqa: E402 - what comes with an extra is looked for before anything that imports it
from __future__ import annotations

import shutil
from pathlib import Path

import pytest

for _name in ("pyarrow", "fsspec"):
    pytest.importorskip(_name, reason=f"{_name} is not installed: it comes with the extra `mine`")

from seasoned.app import forget as forgetting
from seasoned.app.mine import make_engine, mine_into_folder
from seasoned.config import Config
from seasoned.scan.scan import ScanTarget, scan
from seasoned.store import open_store
from tests.mine.test_mine import SECRECY, every_byte, write_session


def mine_again(config: Config, folder: Path, out: Path | str) -> None:
    mine_into_folder(config, [str(folder)], out=str(out), engine=make_engine(config, "inline"))


def forget(config: Config, what: str | None) -> list[str]:
    with open_store(config.store_path) as store:
        return forgetting.forget(config, store, forgetting.find_target(store, what))


def test_a_forgotten_session_is_left_out_when_its_folder_is_mined_again(tmp_path: Path) -> None:
    config, out = Config(home=tmp_path / "home"), tmp_path / "out"
    for number in (1, 2, 3):
        write_session(tmp_path / "in" / f"b{number}.jsonl", f"make part{number}")
    mine_again(config, tmp_path / "in", out)
    scan(ScanTarget(config.store_path), [tmp_path / "in"], SECRECY, workers=1)
    # The folder keeps it, and that is said.
    (said,) = forget(config, "b1")
    assert said == f"What was mined into {out}. Delete it, then mine again if you need it."
    shutil.rmtree(out)
    mine_again(config, tmp_path / "in", out)
    written = b"".join(every_byte(out).values())
    assert b"part2" in written and b"part1" not in written
    # A grown file does not bring it back.
    write_session(tmp_path / "in" / "b1.jsonl", "make part1", "make more1")
    mine_again(config, tmp_path / "in", out)
    assert b"part1" not in b"".join(every_byte(out).values())
    shutil.rmtree(out)
    assert forget(config, None) == []
