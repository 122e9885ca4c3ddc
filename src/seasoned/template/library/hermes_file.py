"""The three JSON formats of Hermes for templates: reading, judging by the recorded result, and writing them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from json import JSONDecoder
from typing import Any, Literal

import msgspec

from seasoned.command.tool import task_type, task_type_of
from seasoned.lazy_regex import LazyRegex
from seasoned.outcome.evidence.structure import fields_say, read_json
from seasoned.outcome.judge import judge
from seasoned.session import Result, ToolCall
from seasoned.template.example import Example, ExampleKind, Template

HermesShape = Literal["warm-v1", "warm-v2", "session-template"]
_KINDS: dict[str, ExampleKind] = {"init": "init", "sequence": "sequence", "retry": "recovery", "final": "final"}
# Written back under their own names, so that Hermes can read them.
_TYPES = {kind: theirs for theirs, kind in _KINDS.items()}
_AGENT = "hermes"


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
    metrics: Mapping[str, Any]
    usage_count: int = 0


def shape_of(content: Mapping[str, Any]) -> HermesShape | None:
    """Which of the three formats it is in; None if none."""
    # Recognised by its fields: the version is missing in some files and wrong in others.
    if isinstance(content.get("patterns"), list):
        return "warm-v2"
    examples = content.get("examples")
    if not isinstance(examples, list) or not isinstance(content.get("name"), str):
        return None
    fields = {field for one in examples if isinstance(one, dict) for field in one} | set(content)
    if fields & {"result_summary", "result_success", "context_hint", "source_session_ids", "system_prompt_addendum"}:
        return "warm-v1"
    return "session-template" if fields & {"turn_number", "success", "source_session_id", "task_type"} else None


def outline_of(content: Mapping[str, Any]) -> TemplateOutline:
    """What the file says about the template; fields of the wrong type count as missing."""
    named = content.get("source_session_ids")
    sessions = named if isinstance(named, list) else [content.get("source_session_id")]
    metrics = content.get("metrics")
    types = _session_types(content)
    return TemplateOutline(
        name=_text(content.get("name")),
        description=_text(content.get("description")),
        addendum=_text(content.get("system_prompt_addendum")),
        # Patterns name the types of their sessions. A template has one type, so the others become tags.
        tags=tuple(dict.fromkeys([*_texts(content.get("tags")), *(types if len(types) > 1 else ())])),
        task_type=_text(content.get("task_type")) or task_type_of(types) or _type_of_calls(content),
        sessions=tuple(dict.fromkeys(_session(one) for one in sessions if isinstance(one, str) and one)),
        created_at=_time(content.get("created_at")),
        metrics=metrics if isinstance(metrics, dict) else {},
        usage_count=_count(content.get("usage_count"), fewest=0),
    )


def drafts_of(content: Mapping[str, Any], shape: HermesShape) -> Iterator[HermesExample | str]:
    """Every example, or one word that says why it is left out."""
    sessions = outline_of(content).sessions
    # The session of an example is known only if the file names a single one.
    session = sessions[0] if len(sessions) == 1 else None
    for number, item in enumerate(content["patterns" if shape == "warm-v2" else "examples"], start=1):
        if not isinstance(item, dict):
            yield "unreadable"
            continue
        arguments = _arguments(item.get("arguments"))
        tool = item.get("tool_name")
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


def to_hermes(template: Template, shape: HermesShape, *, usage_count: int = 0) -> dict[str, Any]:
    """The template in one of their formats, without what these cannot hold: notes, workflows, provenance."""
    head = {"name": template.name, "description": template.description}
    tail = {"tags": list(template.tags), "created_at": template.created_at}
    sessions = [_native(session) for session in template.sources]
    examples = template.examples
    if shape == "session-template":
        return {
            **head,
            "task_type": template.task_type or "mixed",
            "examples": [_session_example(one, number) for number, one in enumerate(examples, start=1)],
            "usage_count": usage_count,
            "source_session_id": sessions[0] if sessions else "",
            **tail,
        }
    warm = {"system_prompt_addendum": template.addendum, "source_session_ids": sessions, **tail}
    if shape == "warm-v1":
        return {**head, "examples": [_warm_example(one) for one in examples], **warm, "version": 1}
    types = [template.task_type] if template.task_type else []
    return {
        **head,
        "patterns": [_warm_pattern(one, types) for one in examples],
        **warm,
        "version": 2,
        "metrics": msgspec.structs.asdict(template.metrics),
    }


def _session_example(example: Example, number: int) -> dict[str, Any]:
    arguments = msgspec.json.decode(example.arguments)
    return {
        "tool_name": example.tool,
        "arguments": arguments,
        "result": example.result,
        "success": True,
        "turn_number": number,
    }


def _warm_example(example: Example) -> dict[str, Any]:
    return {
        "tool_name": example.tool,
        "arguments": msgspec.json.decode(example.arguments),
        "result_summary": example.result,
        "result_success": True,
        "context_hint": example.intent,
    }


def _warm_pattern(example: Example, types: Sequence[str]) -> dict[str, Any]:
    return {
        "tool_name": example.tool,
        "arguments": msgspec.json.decode(example.arguments),
        "result_summary": example.result,
        "preceding_context": example.intent,
        "pattern_type": _TYPES[example.kind],
        "success_count": example.support,
        "session_types": list(types),
    }


def _items(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = content.get("patterns") if isinstance(content.get("patterns"), list) else content.get("examples")
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _session_types(content: Mapping[str, Any]) -> dict[str, int]:
    """The types of sessions that patterns name, each with how many patterns name it."""
    named = [name for one in _items(content) for name in dict.fromkeys(_texts(one.get("session_types")))]
    return {name: named.count(name) for name in named}


def _type_of_calls(content: Mapping[str, Any]) -> str | None:
    """What the calls are about, where the file does not say it."""
    return task_type(
        ToolCall("", str(one.get("tool_name")), arguments)
        for one in _items(content)
        if (arguments := _arguments(one.get("arguments"))) is not None
    )


def _session(native_id: str) -> str:
    return native_id if ":" in native_id else f"{_AGENT}:{native_id}"


def _native(session: str) -> str:
    return session.removeprefix(f"{_AGENT}:")


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


# `unproven`: the result does not show whether the call worked.
Shown = Literal["worked", "failed", "unproven"]
# Hermes cuts results here, and errors are often at the end.
_CUT_CHARS = 500
_CUT = LazyRegex(r"(?:…|\.\.\.)\s*(?:\[?\(?truncated.{0,40})?\Z|\[?\(?truncated[^\n]{0,40}\Z")
# A remark instead of a result: `[result from successful session]`, `<output omitted>`, `...`.
_PLACEHOLDER = LazyRegex(
    r"[\[<(](?=[^\])>]*\b(?:result|output|response|content|session|placeholder|omitted|elided)s?\b)"
    r"[\w ,.:'-]{1,120}[\])>]"
    r"|\.{3}|…|N/A|n/a|None|null"
)
# Words of failing programs. If the judge found nothing, they do not make a failure, but the call needs proof.
_DOUBTFUL = LazyRegex(
    r"No such file or directory|command not found|[Pp]ermission denied|Traceback \(most recent call last\)"
    r"|\b[A-Z]\w*(?:Error|Exception)\b|\b(?:failed|FAILED|fatal:|not found)\b"
)
_DECODER = JSONDecoder(strict=False)
_KEY = LazyRegex(r'\s*[{,]\s*"((?:[^"\\]|\\.)*)"\s*:\s*')


def judge_result(tool: str, arguments: dict[str, Any], text: str, *, agent: str = "hermes") -> Shown:
    """Judge a call by its result in the file. That the file calls it a success counts for nothing."""
    stripped = text.strip()
    if not stripped or _PLACEHOLDER.compiled.fullmatch(stripped):
        return "unproven"
    if stripped.startswith("{") and read_json(stripped) is None:
        return _judge_beginning(stripped)
    verdict = judge(ToolCall("", tool, arguments, Result(text)), agent=agent)
    if verdict.verdict != "ok":
        return "failed" if verdict.verdict == "failed" else "unproven"
    if verdict.evidence != "none":
        return "worked"
    is_cut = len(stripped) >= _CUT_CHARS or _CUT.compiled.search(stripped) is not None
    return "unproven" if is_cut or _DOUBTFUL.compiled.search(stripped) else "worked"


def _judge_beginning(text: str) -> Shown:
    """A JSON answer that was cut off: its complete fields can only prove a failure."""
    said = fields_say(_complete_fields(text), own=True)
    return "failed" if said is not None and said.verdict == "failed" else "unproven"


def _complete_fields(text: str) -> dict[str, Any]:
    """The fields before the place where an object was cut off."""
    found: dict[str, Any] = {}
    at = 0
    while (key := _KEY.compiled.match(text, at)) is not None:
        try:
            found[key[1]], at = _DECODER.raw_decode(text, key.end())
        except (ValueError, RecursionError):
            break
    return found
