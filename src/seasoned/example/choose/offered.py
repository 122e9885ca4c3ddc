"""The tools of a new session, in the format of any provider, and which examples fit them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from seasoned.example.example import Example

_SCHEMA_NAMES = ("parameters", "input_schema", "inputSchema", "parameters_json_schema")
_DEPTH = 12
_DESCRIPTION_CHARS = 300
_SIMPLE: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "object": dict,
    "array": list,
    "null": type(None),
}
_decode = msgspec.json.Decoder(dict[str, Any]).decode


class OfferedTool(msgspec.Struct, frozen=True):
    """A tool by its name and, if known, its schema."""

    name: str
    schema: dict[str, Any] | None = None
    description: str = ""


Offered = dict[str, OfferedTool]
Tools = Iterable[Mapping[str, Any] | str] | Mapping[str, Any]


def offered(tools: Tools) -> Offered:
    """Tools by name, from the format of OpenAI, Anthropic, Gemini, MCP or pydantic-ai, or from plain names.

    A tool without a name is skipped: nothing can be shown for it. Of two tools with one name, the first counts.
    """
    if isinstance(tools, Mapping):
        found: Iterable[tuple[str, Any, Any]] = ((name, schema, "") for name, schema in tools.items())
    else:
        found = (named for tool in tools for named in _named(tool))
    made: Offered = {}
    for name, schema, description in found:
        if name and name not in made:
            known = schema if isinstance(schema, dict) else None
            said = description[:_DESCRIPTION_CHARS] if isinstance(description, str) else ""
            made[name] = OfferedTool(name, known, said)
    return made


def _named(tool: Mapping[str, Any] | str) -> Iterator[tuple[str, Any, Any]]:
    """Name, schema and description."""
    if isinstance(tool, str):
        yield tool, None, ""
        return
    if not isinstance(tool, Mapping):
        return
    several = tool.get("functionDeclarations") or tool.get("function_declarations")
    if isinstance(several, list):
        for one in several:
            yield from _named(one)
        return
    inner = tool.get("function")
    body = inner if isinstance(inner, Mapping) else tool
    # A tool that the provider runs itself has no name but its type: `{"type": "web_search"}`.
    name = body.get("name") or tool.get("type")
    if isinstance(name, str):
        schema = next((body[key] for key in _SCHEMA_NAMES if isinstance(body.get(key), dict)), None)
        yield name, schema, body.get("description")


def matches(example: Example, tools: Offered | None) -> bool:
    """Whether a session with these tools could make the example's call unchanged. Unknown tools exclude nothing."""
    if tools is None:
        return True
    tool = tools.get(example.tool)
    if tool is None:
        return False
    if tool.schema is None:
        return True
    try:
        arguments = _decode(example.arguments)
    except msgspec.DecodeError:
        return False
    return fits(arguments, tool.schema)


def fits(value: Any, schema: Any, depth: int = _DEPTH) -> bool:
    """Whether a value fits a schema by its types, names and enums.

    Everything else (references, patterns, formats) is ignored, so that no example is dropped by mistake.
    """
    if not isinstance(schema, Mapping):
        return schema is not False
    if depth == 0:
        return True
    for key in ("anyOf", "oneOf"):
        several = schema.get(key)
        if isinstance(several, list) and several and not any(fits(value, one, depth - 1) for one in several):
            return False
    allowed = schema.get("enum")
    if isinstance(allowed, list) and value not in allowed:
        return False
    if "const" in schema and value != schema["const"]:
        return False
    if not _has_type(value, schema.get("type")):
        return False
    if isinstance(value, dict):
        return _fits_object(value, schema, depth)
    items = schema.get("items")
    return not isinstance(value, list) or items is None or all(fits(item, items, depth - 1) for item in value)


def _has_type(value: Any, wanted: Any) -> bool:
    names = [wanted] if isinstance(wanted, str) else wanted
    if not isinstance(names, list) or not names:
        return True
    return any(_is_of(value, name) for name in names)


def _is_of(value: Any, name: Any) -> bool:
    # Gemini writes its types in capitals.
    kind = _SIMPLE.get(name.lower()) if isinstance(name, str) else None
    if kind is None:
        return True
    if isinstance(value, bool):
        return kind is bool
    if kind is int and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, kind)


def _fits_object(value: dict[str, Any], schema: Mapping[str, Any], depth: int) -> bool:
    required, properties = schema.get("required"), schema.get("properties")
    if isinstance(required, list) and any(str(name) not in value for name in required):
        return False
    known = properties if isinstance(properties, Mapping) else {}
    others = schema.get("additionalProperties")
    for name, inner in value.items():
        if name in known:
            if not fits(inner, known[name], depth - 1):
                return False
        elif others is False or (others is None and known and not schema.get("patternProperties")):
            # The tool most likely no longer accepts an argument that its schema does not have.
            return False
        elif isinstance(others, Mapping) and not fits(inner, others, depth - 1):
            return False
    return True
