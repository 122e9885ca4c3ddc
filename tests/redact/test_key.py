"""The key file."""

from __future__ import annotations

import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from seasoned.errors import CannotDo
from seasoned.redact import load_key


@pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX's")
def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    key = load_key(tmp_path / "new")
    assert len(key) == 32
    path = tmp_path / "new" / "redact.key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert load_key(tmp_path / "new") == key
    assert [p.name for p in path.parent.iterdir()] == ["redact.key"]


def test_all_who_come_at_once_get_the_same_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        keys = set(pool.map(lambda _: load_key(tmp_path), range(64)))
    assert len(keys) == 1


def test_a_damaged_key_is_refused(tmp_path: Path) -> None:
    (tmp_path / "redact.key").write_bytes(b"short")
    with pytest.raises(CannotDo, match="Remove it"):
        load_key(tmp_path)
