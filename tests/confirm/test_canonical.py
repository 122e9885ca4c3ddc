"""Canonical requests: one content, one text, one digest."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from seasoned.confirm.request.request import (
    MOST_DEPTH,
    NewRequest,
    canonical,
    check_text,
    request_bytes,
    request_digest,
)
from seasoned.confirm.request.row import LENGTH, NAME, Seal, load_seal
from seasoned.errors import CannotDo, UsageError
from tests.each_case import check_each

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(-(2.0**53) + 1, 2.0**53 - 1) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=8,
)
QUICK = settings(deadline=None)
ASKED: dict[str, Any] = {
    "action": "delete_data",
    "description": "Remove it",
    "details": {"b": 1, "a": [True, None, "ä"]},
    "session_key": "s",
}


def digest(requester: str = "hermes", **other: Any) -> str:
    return request_digest(NewRequest(**ASKED | other), requester)


def test_the_bytes_are_those_of_rfc_8785() -> None:
    assert (
        request_bytes(NewRequest(**ASKED), "hermes")
        == (
            '{"action":"delete_data","description":"Remove it","details":{"a":[true,null,"ä"],"b":1},'
            '"requester":"hermes","session_key":"s"}'
        ).encode()
    )


@QUICK
@given(VALUE)
def test_it_writes_what_the_library_rfc8785_writes(value: Any) -> None:
    assert canonical(value, field="x") == rfc8785.dumps(value)


def test_every_field_is_bound() -> None:
    def check(field: str) -> None:
        other = {"details": {"b": 2}, "action": "wipe_database"}.get(field, "other")
        assert digest(**{field: other}) != digest()

    check_each([*sorted(ASKED), "requester"], check)


def test_what_has_no_one_spelling_is_refused_with_its_place() -> None:
    def check(value: Any, place: str) -> None:
        with pytest.raises(UsageError, match=place):
            canonical(value, field="x")

    check_each(
        [
            ({"a": {"b": [0, math.inf]}}, r"x\.a\.b\[1\]"),
            ({"a": -(2**53)}, r"x\.a "),
            ({"a": 1e20}, r"x\.a "),
            ({"a": 10**400}, r"x\.a "),
            ({"a": "\udfff"}, r"x\.a"),
            ({"\udfff": 1}, "x"),
            ({None: 1}, "x has the key None"),
            ({"a": {1, 2}}, r"x\.a is a set"),
            ({"a": b"bytes"}, r"x\.a is a bytes"),
        ],
        check,
    )


def test_what_is_nested_too_deep_is_refused() -> None:
    value: Any = 1
    for _ in range(MOST_DEPTH):
        value = [value]
    assert canonical(value, field="x")
    with pytest.raises(UsageError, match="nested"):
        canonical([value], field="x")


def test_a_text_that_not_every_database_can_hold_is_refused() -> None:
    def check(text: object) -> None:
        with pytest.raises(UsageError, match="field"):
            check_text(text, "field", most=10, least=1)

    check_each([None, 1, b"x", "a\0", "\ud800", "x" * 11, " "], check)


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
