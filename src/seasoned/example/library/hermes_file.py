"""The JSON formats of Hermes for templates: `warm_sessions` in two versions, and `session-templates`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from seasoned.command.parse import names
from seasoned.command.tool import task_type, task_type_of
from seasoned.example.example import ExampleKind, Template
from seasoned.session import ToolCall

_KINDS: dict[str, ExampleKind] = {"init": "init", "sequence": "sequence", "retry": "recovery", "final": "final"}
# Written back under their own names, so that Hermes can read them.
_TYPES = {kind: theirs for theirs, kind in _KINDS.items()}
_AGENT = "hermes"
# Fields that only these files have: the version is missing in some and wrong in others.
_OWN_FIELDS = names(
    "result_summary result_success context_hint source_session_ids system_prompt_addendum turn_number success"
    " source_session_id task_type"
)


class HermesExample(msgspec.Struct, frozen=True):
    """An example as the file has it, before any check."""

    tool: str
    arguments: dict[str, Any]
    result: str
    intent: str
    kind: ExampleKind
    support: int = 1
    session: str | None = None
    call: str = ""


class TemplateOutline(msgspec.Struct, frozen=True):
    """A template as the file has it, without its examples."""

    name: str
    description: str
    addendum: str
    tags: tuple[str, ...]
    task_type: str | None
    sessions: tuple[str, ...]
    created_at: float | None
    usage_count: int = 0


def outline_of(content: Mapping[str, Any]) -> TemplateOutline | None:
    """What the file says about the template, if it is one of Hermes; fields of the wrong type count as missing."""
    items = _items(content)
    fields = {field for one in items for field in one} | set(content)
    is_named = isinstance(content.get("name"), str) and isinstance(content.get("examples"), list)
    if not isinstance(content.get("patterns"), list) and not (is_named and fields & _OWN_FIELDS):
        return None
    named = content.get("source_session_ids")
    sessions = named if isinstance(named, list) else [content.get("source_session_id")]
    # Patterns name the types of their sessions. A template has one type, so the others become tags.
    said = [name for one in items for name in dict.fromkeys(_texts(one.get("session_types")))]
    types = {name: said.count(name) for name in said}
    calls = (
        ToolCall("", str(one.get("tool_name")), arguments)
        for one in items
        if (arguments := _arguments(one.get("arguments"))) is not None
    )
    return TemplateOutline(
        name=_text(content.get("name")),
        description=_text(content.get("description")),
        addendum=_text(content.get("system_prompt_addendum")),
        tags=tuple(dict.fromkeys([*_texts(content.get("tags")), *(types if len(types) > 1 else ())])),
        task_type=_text(content.get("task_type")) or task_type_of(types) or task_type(calls),
        sessions=tuple(dict.fromkeys(_session(one) for one in sessions if isinstance(one, str) and one)),
        created_at=_time(content.get("created_at")),
        usage_count=_count(content.get("usage_count"), fewest=0),
    )


def drafts_of(content: Mapping[str, Any], sessions: Sequence[str]) -> Iterator[HermesExample | str]:
    """Every example, or one word that says why it is left out."""
    # The session of an example is known only if the file names a single one.
    session = sessions[0] if len(sessions) == 1 else None
    for number, item in enumerate(_items(content), start=1):
        arguments, tool = _arguments(item.get("arguments")), item.get("tool_name")
        if arguments is None or not isinstance(tool, str):
            yield "unreadable"
        elif item.get("success") is False or item.get("result_success") is False:
            yield "failed"
        else:
            yield HermesExample(
                tool,
                arguments,
                _text(item.get("result_summary" if "result_summary" in item else "result")),
                _text(item.get("preceding_context") or item.get("context_hint")),
                _KINDS.get(_text(item.get("pattern_type")), "sequence"),
                _count(item.get("success_count")),
                session,
                str(item["turn_number"]) if isinstance(item.get("turn_number"), int) else str(number),
            )


def to_hermes(template: Template, shape: str, *, usage_count: int = 0) -> dict[str, Any]:
    """The template in one of their formats, without what these cannot hold."""
    sessions = [session.removeprefix(f"{_AGENT}:") for session in template.sources]
    shared = {
        "name": template.name,
        "description": template.description,
        "tags": list(template.tags),
        "created_at": template.created_at,
    }
    calls = [{"tool_name": one.tool, "arguments": msgspec.json.decode(one.arguments)} for one in template.examples]
    if shape == "session-template":
        examples = [
            {**call, "result": one.result, "success": True, "turn_number": number}
            for number, (call, one) in enumerate(zip(calls, template.examples, strict=True), start=1)
        ]
        return {
            **shared,
            "task_type": template.task_type or "mixed",
            "examples": examples,
            "usage_count": usage_count,
            "source_session_id": sessions[0] if sessions else "",
        }
    patterns = [
        {
            **call,
            "result_summary": one.result,
            "preceding_context": one.intent,
            "pattern_type": _TYPES[one.kind],
            "success_count": one.support,
            "session_types": [template.task_type] if template.task_type else [],
        }
        for call, one in zip(calls, template.examples, strict=True)
    ]
    return {
        **shared,
        "patterns": patterns,
        "system_prompt_addendum": template.addendum,
        "source_session_ids": sessions,
        "version": 2,
        "metrics": msgspec.structs.asdict(template.metrics),
    }


def _items(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = content.get("patterns") if isinstance(content.get("patterns"), list) else content.get("examples")
    return [one if isinstance(one, dict) else {} for one in found] if isinstance(found, list) else []


def _session(native_id: str) -> str:
    return native_id if ":" in native_id else f"{_AGENT}:{native_id}"


def _arguments(value: object) -> dict[str, Any] | None:
    # JSON in a string, as providers send arguments, is accepted too.
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError):
            return None
    return value if isinstance(value, dict) else None


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return msgspec.json.encode(value).decode() if isinstance(value, dict | list) and value else ""


def _texts(value: object) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def _count(value: object, fewest: int = 1) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > fewest else fewest


def _time(value: object) -> float | None:
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value).timestamp()
        except (ValueError, OverflowError):
            return None
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None
