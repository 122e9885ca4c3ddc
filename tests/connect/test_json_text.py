"""JSON that somebody wrote by hand is changed by splicing: every byte of theirs stays."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.connect.json_text import JsonNode, add_element, add_member, read_json, remove_child, replace_value
from seasoned.errors import CannotDo
from tests.each_case import each_case

SPACES = st.sampled_from(["", " ", "\n", "\n  ", "\r\n\t", "  \n\n    "])
PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 5), st.floats(-9, 9), st.text(max_size=5), st.just('"\\/é😀')
)
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@st.composite
def written(draw: st.DrawFn, value: Any) -> str:
    """A value as some person might have written it."""

    def space() -> str:
        return draw(SPACES)

    if isinstance(value, dict):
        parts = [
            f"{space()}{json.dumps(k)}{space()}:{space()}{draw(written(one))}{space()}" for k, one in value.items()
        ]
    elif isinstance(value, list):
        parts = [f"{space()}{draw(written(one))}{space()}" for one in value]
    else:
        return json.dumps(value, ensure_ascii=draw(st.booleans()))
    opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
    return opening + (",".join(parts) or space()) + closing


@st.composite
def documents(draw: st.DrawFn) -> tuple[Any, str]:
    value = draw(VALUES)
    return value, draw(SPACES) + draw(written(value)) + draw(st.sampled_from(["", "\n", " \r\n"]))


def containers(node: JsonNode) -> list[JsonNode]:
    own = [node] if node.kind != "plain" else []
    return [*own, *(found for child in node.children for found in containers(child))]


def is_kept(old: str, new: str) -> bool:
    """Whether every character of the old text stands in the new one, in order."""
    rest = iter(new)
    return all(letter in rest for letter in old)


@given(documents())
def test_what_is_read_is_what_was_written(pair: tuple[Any, str]) -> None:
    value, text = pair
    assert read_json(text).value == value


@given(documents(), st.data())
def test_adding_keeps_every_byte_and_taking_out_again_the_rest(pair: tuple[Any, str], data: st.DataObject) -> None:
    _, text = pair
    places = containers(read_json(text))
    if not places:
        return
    parent = data.draw(st.sampled_from(places))
    new = {"a": [1, {"b": "c"}]}
    added = add_member(text, parent, "new key", new) if parent.kind == "object" else add_element(text, parent, new)
    found = next(one for one in containers(read_json(added)) if one.start == parent.start)
    assert found.children[-1].value == new
    assert [one.value for one in found.children[:-1]] == [one.value for one in parent.children]
    assert is_kept(text, added)
    removed = remove_child(added, found, len(found.children) - 1)
    assert read_json(removed).value == read_json(text).value


@given(documents(), st.data())
def test_removing_and_replacing_leave_all_other_values_as_they_are(pair: tuple[Any, str], data: st.DataObject) -> None:
    _, text = pair
    places = [one for one in containers(read_json(text)) if one.children]
    if not places:
        return
    parent = data.draw(st.sampled_from(places))
    at = data.draw(st.integers(0, len(parent.children) - 1))
    without = next(one for one in containers(read_json(remove_child(text, parent, at))) if one.start == parent.start)
    assert [one.value for one in without.children] == [
        one.value for number, one in enumerate(parent.children) if number != at
    ]
    assert is_kept(remove_child(text, parent, at), text)
    other = replace_value(text, parent.children[at], {"other": None})
    found = next(one for one in containers(read_json(other)) if one.start == parent.start)
    assert found.children[at].value == {"other": None}


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("{}", '{\n  "k": [\n    1\n  ]\n}'),
        ('{\n    "a": 1\n}\n', '{\n    "a": 1,\n    "k": [\n        1\n    ]\n}\n'),
        ('{"a": 1}', '{"a": 1, "k": [1]}'),
        ('{\r\n\t"a" : [ ]\r\n}', '{\r\n\t"a" : [ ],\r\n\t"k": [\r\n\t\t1\r\n\t]\r\n}'),
        ("\ufeff{ }", '\ufeff{\n  "k": [\n    1\n  ]\n }'),
    ],
)
def test_what_is_added_is_written_in_the_manner_of_the_file(text: str, after: str) -> None:
    assert add_member(text, read_json(text), "k", [1]) == after


@each_case(
    ("text", "why"),
    [
        ("", "line 1: a value is expected"),
        ('{"a": 1,\n "a": 2}', "line 2: 'a' occurs twice"),
        ("{'a': 1}", "a name in double quotes"),
        ('{"a" 1}', "a colon"),
        ('{"a": 1 "b": 2}', "a comma or }"),
        ('{"a": 01}', "a comma or }"),
        ('{"a": NaN}', "a value is expected"),
        ('{"a": 1} x', "unexpected text after the end"),
        ('{"a": "x', "a value is expected"),
        ("[" * 200, "nested too deeply"),
        ('{"a": "\\x"}', "escape"),
        ('{, "a": 1}', "a name in double quotes"),
        ('{\n  // mine\n  "a": 1}', "line 2: a comment, with which the agent ignores"),
        ('{"a": /* mine */ 1}', "a comment"),
        ('{"a": [1,]}', "a comma before ]"),
        ('{"a": 1,}', "a comma before }"),
    ],
)
def test_what_is_not_json_is_refused_with_its_line(text: str, why: str) -> None:
    with pytest.raises(CannotDo, match=why):
        read_json(text)
