"""Exact arguments at rest, and the key that they are sealed with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seasoned.confirm.request.row import LENGTH, NAME, Seal, load_seal
from seasoned.errors import CannotDo

SEAL = Seal(b"k" * LENGTH)


@settings(max_examples=40, deadline=None)
@given(st.binary(min_size=1, max_size=60), st.data())
def test_a_single_changed_bit_is_noticed(written: bytes, data: st.DataObject) -> None:
    sealed = bytearray(SEAL.close("r", written))
    bit = data.draw(st.integers(0, 8 * len(sealed) - 1))
    sealed[bit // 8] ^= 1 << bit % 8
    with pytest.raises(CannotDo, match="cannot be decrypted"):
        SEAL.open("r", bytes(sealed))


def test_it_opens_only_as_the_request_that_it_was_sealed_for() -> None:
    with pytest.raises(CannotDo):
        SEAL.open("b", SEAL.close("a", b"x"))


def test_the_key_is_made_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    sealed = load_seal(home).close("a", b"x")
    assert load_seal(home).open("a", sealed) == b"x"
    assert (home / NAME).stat().st_mode & 0o777 == 0o600
    assert [file.name for file in home.iterdir()] == [NAME]


def test_processes_that_ask_at_once_get_the_same_key(tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path; from seasoned.confirm.request.row import load_seal; "
    code += "print(load_seal(Path(sys.argv[1])).derive('x').hex())"
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "home")], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    assert len({process.communicate()[0] for process in running}) == 1


def test_a_key_that_others_can_read_is_not_used(tmp_path: Path) -> None:
    load_seal(tmp_path)
    (tmp_path / NAME).chmod(0o640)
    with pytest.raises(CannotDo, match="chmod 600"):
        load_seal(tmp_path)
