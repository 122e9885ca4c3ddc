"""Tools in any shape, and which examples suit them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.example.choose.offered import fits, matches, offered
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
    assert (found.name, found.schema) == ("search", SCHEMA)


def test_names_alone_and_names_with_schemas_are_tools_too() -> None:
    assert offered(["search"])["search"].schema is None
    assert offered({"search": SCHEMA})["search"].schema == SCHEMA
    assert list(offered([{"type": "web_search_20250305", "name": "web_search"}, {"type": "local_shell"}])) == [
        "web_search",
        "local_shell",
    ]


def test_a_tool_must_be_offered_unless_tools_are_unknown() -> None:
    tools = offered({"search_files": SCHEMA})
    shown = {"arguments": {"path": "src"}}
    assert matches(example(**shown), tools) and matches(example("read_file", **shown), None)
    assert not matches(example("read_file", **shown), tools)


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


@given(st.lists(JSON))
def test_what_is_no_tool_is_passed_over(tools: list[Any]) -> None:
    assert all(isinstance(name, str) and name for name in offered(tools))
