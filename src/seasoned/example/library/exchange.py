"""Templates as files: our format and those of Hermes. Everything in a file is checked before it is used."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, get_args

import msgspec

from seasoned.admission import is_harmless
from seasoned.command.parse import names
from seasoned.command.tool import TaskType, is_trivial, kind_of, task_type, task_type_of
from seasoned.errors import CannotDo
from seasoned.example.call_form import form_of
from seasoned.example.example import Example, ExampleKind, Source, Template, TemplateMetrics, check_name
from seasoned.example.neutral import ARGUMENTS_CHARS, approves, neutral_result, neutral_text, unclean
from seasoned.outcome.judge import judge
from seasoned.outcome.track import JudgedCall
from seasoned.redact.redactor import Redactor
from seasoned.session import Result, ToolCall

Shape = Literal["seasoned", "warm-v2", "session-template"]
SCHEMA = "seasoned/template/1"
# Limits for files from elsewhere: templates built here stay far below them.
MOST_BYTES = 8_000_000
MOST_EXAMPLES = 200
_MOST_TEXT_CHARS = 500
_MOST_ITEMS = 50
_MOST_SESSIONS = 500
# A file can claim any support, and any use.
_MOST_SUPPORT = 1_000
_MOST_USES = 1_000_000
_NAME = re.compile(r"[!-~]{1,200}\Z")
_encode = msgspec.json.Encoder(order="sorted").encode
_NO_TEMPLATE = (
    "it is neither a template of Seasoned nor one of Hermes (`warm_sessions`, `session-templates`). "
    "`seasoned template export` writes one"
)


class ImportedTemplate(msgspec.Struct, frozen=True):
    """A template from a file, and how much was left out, by reason."""

    template: Template
    left_out: dict[str, int]
    usage_count: int = 0  # how often the file says that it was used


def read_template(
    data: bytes, *, redactor: Redactor, now: float, name: str | None = None, place: str = ""
) -> ImportedTemplate:
    """The template in a file, with only what is safe to show. Its examples always have the tier `imported`."""
    shown = repr(place or "the file")
    if len(data) > MOST_BYTES:
        raise CannotDo(f"{shown} cannot be imported: it has more than {MOST_BYTES // 1_000_000} MB.")
    try:
        content = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError):
        raise CannotDo(f"{shown} cannot be imported: it is not valid JSON.") from None
    schema = content.get("schema") if isinstance(content, dict) else None
    check = _ImportCheck(redactor, now)
    if schema == SCHEMA:
        try:
            template = msgspec.convert(content, Template)
        except (msgspec.ValidationError, RecursionError) as error:
            raise CannotDo(f"{shown} cannot be imported: it is not a complete template ({error}).") from None
        outline = TemplateOutline(
            template.name,
            template.description,
            template.addendum,
            template.tags,
            template.task_type,
            template.sources,
            template.created_at,
        )
        made = map(check.own_example, template.examples)
        return check.imported(_named(name or template.name, redactor), outline, made, template.metrics)
    if isinstance(schema, str) and schema.startswith("seasoned/template/"):
        raise CannotDo(f"{shown} cannot be imported: it was written by a newer Seasoned ({schema!r}). Upgrade it.")
    found = outline_of(content) if isinstance(content, dict) and schema is None else None
    if found is None:
        raise CannotDo(f"{shown} cannot be imported: {_NO_TEMPLATE}.")
    made = map(check.hermes_example, drafts_of(content, found.sessions))
    return check.imported(_named(name or found.name, redactor), found, made, TemplateMetrics())


def write_template(template: Template, shape: Shape = "seasoned", *, usage_count: int = 0) -> bytes:
    """The template as a file; our format is complete, the others keep what they can."""
    if shape == "seasoned":
        content = {"schema": SCHEMA, **msgspec.to_builtins(template)}
    else:
        content = to_hermes(template, shape, usage_count=usage_count)
    return msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n"


def file_name(template: Template) -> str:
    """The name of its file, which cannot leave its folder."""
    return f"{check_name(template.name)}.json"


class _ImportCheck:
    """Checks everything in an import, and counts what is left out."""

    def __init__(self, redactor: Redactor, now: float) -> None:
        self._redactor = redactor
        self._now = now
        self._left_out: Counter[str] = Counter()

    def imported(
        self, name: str, outline: TemplateOutline, made: Iterable[Example | str], metrics: TemplateMetrics
    ) -> ImportedTemplate:
        examples: dict[str, Example] = {}
        for one in made:
            reason = one if isinstance(one, str) else "unclean" if unclean(one, self._redactor) is not None else ""
            if not reason and len(examples) >= MOST_EXAMPLES:
                reason = "too many"
            if isinstance(one, Example) and not reason and one.id not in examples:
                examples[one.id] = one
            else:
                self._left_out[reason or "repeated"] += 1
        created = self._time(outline.created_at)
        template = Template(
            name=name,
            description=self._redactor.text(outline.description)[:_MOST_TEXT_CHARS],
            task_type=_task_type(outline.task_type),
            tags=tuple(dict.fromkeys(self._redactor.text(tag)[:64] for tag in outline.tags[:_MOST_ITEMS] if tag)),
            examples=tuple(examples.values()),
            addendum=self._addendum(outline.addendum),
            sources=tuple([one for one in outline.sessions[:_MOST_SESSIONS] if self._is_name(one)]),
            created_at=self._now if created is None else created,
            metrics=metrics,
        )
        left_out = {reason: number for reason, number in sorted(self._left_out.items()) if number}
        return ImportedTemplate(template, left_out, min(outline.usage_count, _MOST_USES))

    def own_example(self, example: Example) -> Example | str:
        """An example of our own format, without what a file cannot vouch for; or why it is left out, in one word."""
        try:
            arguments = msgspec.json.decode(example.arguments, type=dict[str, Any])
        except (msgspec.DecodeError, RecursionError):
            return "unreadable"
        if _has_failed(example.tool, arguments, example.result, agent=""):
            return "failed"
        sources = [
            one
            for one in example.sources[:_MOST_ITEMS]
            if all(map(self._is_name, (one.session, one.root, one.call or "none")))
        ]
        repaired, rate = example.repaired, example.error_rate
        # The repair is only evidence: without it the example is still useful.
        if repaired is not None and self._redactor.find("\n".join(map(str, msgspec.structs.astuple(repaired)))):
            repaired = None
        return msgspec.structs.replace(
            example,
            # Written with sorted keys, so that equal examples have equal ids.
            arguments=_encode(arguments).decode(),
            pattern=self._redactor.text(example.pattern)[:_MOST_TEXT_CHARS],
            support=_bounded(example.support),
            sources=tuple(sources),
            first_seen=self._time(example.first_seen),
            last_seen=self._time(example.last_seen),
            # A file can claim a higher tier; it does not get one.
            tier="imported",
            error_rate=rate if rate is not None and 0 <= rate <= 1 else None,
            repaired=repaired,
        )

    def hermes_example(self, draft: HermesExample | str) -> Example | str:
        """An example of Hermes, redacted like a mined call; or why it is left out, in one word."""
        if isinstance(draft, str):
            return draft
        if is_trivial(draft.tool):
            return "trivial"
        if _has_failed(draft.tool, draft.arguments, draft.result, agent="hermes"):
            return "failed"
        arguments = self._redactor.value(draft.arguments)
        text = _encode(arguments).decode()
        if len(text) > ARGUMENTS_CHARS:
            return "too long"
        kind = kind_of(ToolCall("", draft.tool, arguments))
        said = self._redactor.text(draft.result)
        call = JudgedCall(0, 0, draft.tool, kind, "ok", "ok", "none", raw_arguments=text, result=said)
        session = draft.session if draft.session and self._is_name(draft.session) else None
        return Example(
            tool=draft.tool,
            arguments=text,
            result=neutral_result(call),
            intent=neutral_text(self._redactor.text(draft.intent)),
            kind=draft.kind,
            pattern=self._redactor.text(form_of(draft.tool, arguments).pattern),
            support=_bounded(draft.support),
            sources=() if session is None else (Source(session, draft.call, session),),
            tier="imported",
        )

    def _addendum(self, text: str) -> str:
        """The addendum if it is harmless, else nothing: it opens the block, addressed to the model."""
        is_fit = len(text) <= _MOST_TEXT_CHARS and not self._redactor.find(text)
        if is_fit and is_harmless(text) and not approves(text):
            return text.strip() and text
        self._left_out["addendum"] += 1
        return ""

    def _is_name(self, text: str) -> bool:
        """Whether it can be the id of a session or a call."""
        return _NAME.match(text) is not None and not self._redactor.find(text)

    def _time(self, time: float | None) -> float | None:
        """A time in the past; what comes from the future would never become too old."""
        return time if time is not None and 0 <= time <= self._now else None


def _has_failed(tool: str, arguments: dict[str, Any], result: str, *, agent: str) -> bool:
    """Whether the result in the file shows a failure. That the file calls it a success counts for nothing."""
    return (
        bool(result.strip()) and judge(ToolCall("", tool, arguments, Result(result)), agent=agent).verdict == "failed"
    )


def _named(name: str, redactor: Redactor) -> str:
    if redactor.find(name):
        raise CannotDo("The template cannot be imported: its name looks like a secret. Give another one with --name.")
    return check_name(name)


def _bounded(support: int) -> int:
    return min(max(1, support), _MOST_SUPPORT)


def _task_type(text: str | None) -> TaskType | None:
    return next((found for found in get_args(TaskType) if found == text), None)


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
