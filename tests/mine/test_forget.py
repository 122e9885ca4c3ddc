"""What is forgotten leaves the mined folders of this home too, and does not come back."""

# ruff: noqa: E402 - what comes with an extra is looked for before anything that imports it
from __future__ import annotations

from pathlib import Path

import pytest

for _name in ("pyarrow", "fsspec"):
    pytest.importorskip(_name, reason=f"{_name} is not installed: it comes with the extra `mine`")

from seasoned.app import forget as forgetting
from seasoned.app.mine import make_engine, mine_into_folder
from seasoned.config import Config
from seasoned.errors import NotFound, UsageError
from seasoned.file_lock import locked
from seasoned.mine.run import MinedFolder
from seasoned.scan.scan import ScanTarget, scan
from seasoned.store import open_store
from tests.mine.test_mine import SECRECY, every_byte, write_session


def mine_again(config: Config, folder: Path, out: Path | str) -> None:
    mine_into_folder(config, [str(folder)], out=str(out), engine=make_engine(config, "inline"))


def mined(out: Path) -> list[str]:
    return sorted(native_id for _, native_id in MinedFolder(str(out)).refs())


def forget(config: Config, what: str | None) -> list[str]:
    with open_store(config.store_path) as store:
        return forgetting.forget(config, store, forgetting.find_target(config, store, what))


def test_a_forgotten_session_leaves_mined_folders_and_stays_out(tmp_path: Path) -> None:
    config, out = Config(home=tmp_path / "home"), tmp_path / "out"
    for number in (1, 2, 3):
        write_session(tmp_path / "in" / f"b{number}.jsonl", f"make part{number}")
    mine_again(config, tmp_path / "in", out)
    scan(ScanTarget(config.store_path), [tmp_path / "in"], SECRECY, workers=1)
    assert forget(config, "b1") == []
    # One that was never read into the store is found in the folder.
    with pytest.raises(NotFound):
        forget(config, "b9")
    with pytest.raises(UsageError, match="beginning of 2 mined sessions"):
        write_session(tmp_path / "more" / "c1.jsonl", "ls"), write_session(tmp_path / "more" / "c2.jsonl", "ls")
        mine_again(config, tmp_path / "more", out)
        forget(config, "c")
    assert forget(config, "c1") == []
    assert mined(out) == ["b2", "b3", "c2"]
    assert b"part1" not in b"".join(every_byte(out).values())
    # A grown file does not bring it back.
    write_session(tmp_path / "in" / "b1.jsonl", "make part1", "make more1")
    mine_again(config, tmp_path / "in", out)
    assert b"part1" not in b"".join(every_byte(out).values())
    # A folder that another run holds is not touched, and that is said.
    with locked(out / "_lock"):
        (said,) = forget(config, "b2")
    assert said.startswith("Rows in the mined folder")
    assert forget(config, None) == []
    assert {name for name in every_byte(out) if name != "_lock"} == set()
    mine_again(config, tmp_path / "in", out)
    assert mined(out) == ["b1", "b2", "b3"]
