"""How a call is written: what makes two calls alike, and the traits that later failures speak against."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from seasoned.example.call_form import call_form_of, form_of
from tests.each_case import each_case


@each_case(
    ("tool", "one", "other", "is_alike"),
    [
        ("get_order", {"order_id": "#W0052025"}, {"order_id": "#W7731846"}, True),
        ("get_order", {"order_id": "#W0052025"}, {"order_id": "0052025"}, False),
        ("get_order", {"order_id": "#W0052025"}, {"order_id": "#w0052025"}, False),
        ("get_order", {"order_id": "7"}, {"order_id": 7}, False),
        ("get_order", {"order_id": "#W1", "timeout": 3}, {"order_id": "#W2", "note": ""}, True),
        ("pay", {"dry_run": False, "id": "a-1"}, {"id": "b-2"}, True),
        ("pay", {"dry_run": True, "id": "a-1"}, {"id": "b-2"}, False),
        ("pay", {"items": [{"id": 1}]}, {"items": [{"id": 2}, {"id": 3}]}, True),
        ("pay", {"items": [{"id": 1}]}, {"items": [1]}, False),
        ("find", {"email": "a@b.example"}, {"name": "Ann", "zip": "12345"}, False),
        ("find", {"parcel": "401/GX"}, {"parcel": "GX-401"}, False),
        ("find", {"query": "x"}, {"query": "a thing of mine"}, True),
        ("read", {"path": "ws/notes.txt"}, {"path": "ws/a/b.md"}, True),
        ("read", {"path": "ws/notes.txt"}, {"path": "/ws/notes.txt"}, False),
        ("set_state", {"state": "ACTIVE"}, {"state": "closed"}, False),
        ("plan", {"day": "2026-01-31"}, {"day": "31.01.2026"}, False),
        ("editor", {"command": "view", "path": "/a"}, {"command": "create", "path": "/a"}, False),
        ("Bash", {"command": "cd /a && pytest tests/test_a.py -q"}, {"command": "pytest tests/test_b.py"}, True),
        ("Bash", {"command": "make lint && make test"}, {"command": "make test && make lint"}, True),
        ("Bash", {"command": "mise run test 2>&1 | tail -5"}, {"command": "mise run test", "timeout": 9}, True),
        ("Bash", {"command": "wp deploy x --env staging"}, {"command": "wp deploy x --stage staging"}, False),
        ("Bash", {"command": "wp parcel show 417"}, {"command": "wp parcel show '#P-00417'"}, False),
    ],
)
def test_calls_written_alike_have_one_pattern(
    tool: str, one: dict[str, Any], other: dict[str, Any], is_alike: bool
) -> None:
    assert (form_of(tool, one).pattern == form_of(tool, other).pattern) is is_alike


def test_a_call_with_more_arguments_follows_one_with_fewer() -> None:
    short, long = form_of("find", {"id": "#W1"}), form_of("find", {"id": "#W2", "day": "2026-01-31"})
    assert long.follows(short) and not short.follows(long)
    assert not long.follows(form_of("get", {"id": "#W1"}))


@each_case(
    ("old", "new"),
    [
        ({"path": "/srv/old/a.csv"}, {"path": "/srv/new/a.csv"}),
        ({"table": "crm.orders"}, {"table": "sales.orders"}),
        ({"weight": "5 kg"}, {"weight": "5000 g"}),
        ({"weight": 5, "unit": "kg"}, {"weight": 5, "unit": "g"}),
        ({"notify": False}, {"notify": True}),
        ({"amount": 19.99}, {"amount": 1999}),
        ({"wait": 30}, {"wait": 30000}),
        ({"day": "31.01.2026"}, {"day": "2026.01.31"}),
        ({"order": "ORD-1001"}, {"order": "PO-1001"}),
        ({"order": "ORD-1001"}, {"order": "ORD-1001", "reason": "late"}),
        ({"item": {"sku": "A-1"}}, {"item": {"code": "A-1"}}),
    ],
)
def test_whatever_a_convention_is_about_is_a_trait_that_the_new_one_lacks(
    old: dict[str, Any], new: dict[str, Any]
) -> None:
    assert form_of("t", old).traits - form_of("t", new).traits


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=12), _JSON, max_size=5), st.sampled_from(["Bash", "Read", "lookup"]))
def test_every_call_has_a_short_pattern_whatever_the_order_of_its_arguments(
    arguments: dict[str, Any], tool: str
) -> None:
    found = form_of(tool, arguments)
    assert found.pattern.startswith(tool)
    assert len(found.pattern) <= 200
    assert found == form_of(tool, dict(reversed(arguments.items())))


def test_arguments_that_are_no_object_have_no_form() -> None:
    assert call_form_of("t", "[1]") is None
    assert call_form_of("t", "{") is None
