"""Canonical requests: one content, one text, one digest."""

from __future__ import annotations

import math
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
from seasoned.errors import UsageError
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
