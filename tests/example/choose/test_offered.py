"""Tools in any shape, and which examples suit them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.example.choose.offered import fits, matches, offered, schema_hash
from tests.each_case import each_case
from tests.example.examples import example

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "Where to look."},
        "limit": {"type": "integer"},
        "mode": {"enum": ["files", "lines"]},
    },
    "required": ["path"],
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "function", "function": {"name": "search", "description": "Finds.", "parameters": SCHEMA}},
        {"type": "function", "name": "search", "parameters": SCHEMA, "strict": False},
        {"name": "search", "description": "Finds.", "input_schema": SCHEMA},
        {"name": "search", "parameters": SCHEMA},
        {"name": "search", "inputSchema": SCHEMA},
        {"name": "search", "parameters_json_schema": SCHEMA, "kind": "function"},
        {"functionDeclarations": [{"name": "search", "parameters": SCHEMA}]},
    ],
    ids=["openai", "responses", "anthropic", "plain", "mcp", "pydantic-ai", "gemini"],
)
def test_every_shape_gives_the_same_tool(tool: dict[str, Any]) -> None:
    (found,) = offered([tool]).values()
    assert (found.name, found.schema, found.schema_hash) == ("search", SCHEMA, schema_hash(SCHEMA))


def test_names_alone_and_names_with_schemas_are_tools_too() -> None:
    assert offered(["search"])["search"].schema_hash is None
    assert offered({"search": SCHEMA})["search"].schema_hash == schema_hash(SCHEMA)
    assert list(offered([{"type": "web_search_20250305", "name": "web_search"}, {"type": "local_shell"}])) == [
        "web_search",
        "local_shell",
    ]


def test_a_reworded_description_is_no_change() -> None:
    reworded = json.loads(json.dumps(SCHEMA).replace("Where to look.", "The folder.")) | {"title": "Search"}
    turned = dict(reversed(reworded.items()))
    assert schema_hash(reworded) == schema_hash(turned) == schema_hash(SCHEMA)


@pytest.mark.parametrize(
    "changed",
    [
        SCHEMA | {"required": ["path", "limit"]},
        SCHEMA | {"properties": {**SCHEMA["properties"], "description": {"type": "string"}}},  # type: ignore[dict-item]
        SCHEMA | {"properties": {"folder": {"type": "string"}}},
        SCHEMA | {"additionalProperties": False},
    ],
    ids=["required", "an argument called description", "renamed", "strict"],
)
def test_a_change_of_what_is_taken_is_one(changed: dict[str, Any]) -> None:
    assert schema_hash(changed) != schema_hash(SCHEMA)


def test_a_hash_that_differs_decides_and_an_unknown_one_leaves_it_to_the_arguments() -> None:
    tools = offered({"search_files": SCHEMA})
    shown = {"arguments": {"path": "src"}}
    assert matches(example(schema_hash=schema_hash(SCHEMA), **shown), tools)
    assert not matches(example(schema_hash="0123", **shown), tools)
    assert matches(example(schema_hash="0123", **shown), offered(["search_files"]))
    assert matches(example(**shown), tools)
    assert not matches(example("read_file", **shown), tools)
    assert matches(example("read_file", **shown), None)


@each_case(
    ("arguments", "is_right"),
    [
        ({"path": "src", "limit": 3, "mode": "files"}, True),
        ({"path": "src", "limit": 3.0}, True),
        ({"limit": 3}, False),
        ({"path": 3}, False),
        ({"path": "src", "limit": True}, False),
        ({"path": "src", "mode": "words"}, False),
        ({"path": "src", "folder": "x"}, False),
    ],
)
def test_arguments_are_checked_against_the_schema(arguments: dict[str, Any], is_right: bool) -> None:
    assert matches(example(arguments=arguments), offered({"search_files": SCHEMA})) is is_right


def test_nested_values_and_alternatives_are_checked_and_the_unknown_is_let_through() -> None:
    assert fits(["a"], {"type": "array", "items": {"type": "string"}})
    assert not fits([1], {"type": "array", "items": {"type": "string"}})
    assert fits(None, {"anyOf": [{"type": "string"}, {"type": "null"}]})
    assert not fits(1, {"anyOf": [{"type": "string"}, {"type": "null"}]})
    assert fits({"x": 1}, {"$ref": "#/$defs/Thing"})
    assert fits({"x": 1}, {"type": "object", "additionalProperties": {"type": "integer"}})
    assert not fits({"x": "1"}, {"type": "OBJECT", "additionalProperties": {"type": "INTEGER"}})


@given(JSON, st.dictionaries(st.sampled_from(["type", "properties", "items", "enum", "required", "anyOf"]), JSON))
def test_no_schema_and_no_value_raises(value: Any, schema: dict[str, Any]) -> None:
    assert fits(value, schema) in (True, False)
    assert len(schema_hash(schema)) == 16


@given(st.lists(JSON))
def test_what_is_no_tool_is_passed_over(tools: list[Any]) -> None:
    assert all(isinstance(name, str) and name for name in offered(tools))
