"""Writes sessions as other programs read them: chat messages, ATIF trajectories, OpenTelemetry spans.

`conversation` writes a line of chat messages in OpenAI's form, as training and evaluation programs read them.
`trajectory` writes an ATIF document: steps of the system, the user and the agent, each call with its result. `trace`
writes spans in OTLP JSON: one for the agent, one below it for each tool call. `attribution`
writes an Agent Trace record: which lines of a commit a session wrote.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import NAMESPACE_URL, uuid5

import msgspec

from seasoned.command.tool import argument_names, command_of, output_form
from seasoned.digest import short_digest
from seasoned.session import Message, Session, ToolCall, Usage

SCHEMA = "ATIF-v1.8"
_SOURCES = {"system": "system", "user": "user", "assistant": "agent"}
# By the id of a call: its verdict and the reason.
Verdicts = Mapping[str, tuple[str, str]]


def conversation(session: Session, verdicts: Verdicts) -> dict[str, Any]:
    """The session as a record with `messages`, without what a warm start inserted; `outcomes` judges its calls."""
    about = {"session_id": session.ref.native_id, "agent": session.ref.agent, "model": session.model}
    own = [_message(message) for message in session.messages if not message.synthetic]
    outcomes = {call_id: verdict for call_id, (verdict, _) in verdicts.items()}
    return _known({**about, "title": session.title, "cwd": session.cwd, "messages": own, "outcomes": outcomes})


def _message(message: Message) -> dict[str, Any]:
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.tool, "arguments": msgspec.json.encode(call.arguments).decode()},
        }
        for call in message.calls
        if not call.synthetic
    ]
    return _known(
        {
            "role": message.role,
            "content": message.text,
            "tool_calls": calls,
            "tool_call_id": message.answers,
            "timestamp": message.time,
        }
    )


def trajectory(session: Session, verdicts: Verdicts) -> dict[str, Any]:
    """The session as an ATIF document, without what a warm start inserted."""
    steps = list(_steps(session, verdicts))
    return {
        "schema_version": SCHEMA,
        "session_id": session.ref.native_id,
        "trajectory_id": str(session.ref),
        # The schema wants a version, and histories do not name one for the whole session.
        "agent": _known({"name": session.ref.agent, "version": "unknown", "model_name": session.model}),
        "steps": steps,
        "final_metrics": _known({**_metrics(session), "total_steps": len(steps)}),
        "extra": _about(session),
    }


def _steps(session: Session, verdicts: Verdicts) -> Iterator[dict[str, Any]]:
    number, compacted = 0, sorted(session.compactions)
    for index, message in enumerate(session.messages, start=session.first_message):
        # Results stand with their calls.
        if message.synthetic or message.role == "tool":
            continue
        number += 1
        extra = {"summary": True} if message.summary else {}
        if compacted and compacted[0] <= index:
            extra["compaction"] = True
            compacted = [one for one in compacted if one > index]
        step: dict[str, Any] = {"step_id": number, "timestamp": _iso(message.time), "source": _SOURCES[message.role]}
        step |= {"message": message.text, "extra": extra}
        if message.role == "assistant":
            step |= _work(message, verdicts)
        yield _known(step)


def _work(message: Message, verdicts: Verdicts) -> dict[str, Any]:
    calls = [call for call in message.calls if not call.synthetic]
    made = [{"tool_call_id": call.id, "function_name": call.tool, "arguments": call.arguments} for call in calls]
    results = [_result(call, verdicts.get(call.id)) for call in calls if call.result is not None]
    return {
        "model_name": message.model,
        "reasoning_content": message.thinking or None,
        "tool_calls": made,
        "observation": {"results": results} if results else None,
    }


def _result(call: ToolCall, verdict: tuple[str, str] | None) -> dict[str, Any]:
    assert call.result is not None
    marks = msgspec.structs.asdict(call.result.marks)
    # False is what most marks are; of `failed` it means a recorded success.
    extra = {name: mark for name, mark in marks.items() if name == "failed" or mark is not False}
    extra["timestamp"] = _iso(call.result.time)
    if verdict is not None:
        extra["verdict"], extra["verdict_reason"] = verdict
    return {"source_call_id": call.id, "content": call.result.text, "extra": _known(extra)}


def _metrics(session: Session) -> dict[str, Any]:
    used = session.usage or Usage()
    return {
        "total_prompt_tokens": used.prompt,
        "total_completion_tokens": used.output,
        "total_cached_tokens": used.cache_read,
        "total_cost_usd": session.cost_usd,
        "extra": _known({"cache_write_tokens": used.cache_write, "reasoning_tokens": used.reasoning}),
    }


def _about(session: Session) -> dict[str, Any]:
    names = ("title", "cwd", "remote", "branch", "application", "platform", "relation", "end_reason", "succeeded")
    about = {name: getattr(session, name) for name in names}
    times = {"started": _iso(session.started), "ended": _iso(session.ended)}
    return _known({**about, **times, "parent": str(session.parent) if session.parent else None})


def _iso(time: float | None) -> str | None:
    return None if time is None else datetime.fromtimestamp(time, UTC).isoformat()


def _known(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields that say something: the schema has no nulls, and empty lists would claim that there was nothing."""
    return {name: value for name, value in fields.items() if value is not None and value != {} and value != []}


# The semantic conventions that the names of the attributes follow; those for GenAI are still in development.
CONVENTIONS = "https://opentelemetry.io/schemas/1.41.0"
_INTERNAL = 1
_OK, _ERROR = 1, 2


def trace(session: Session, verdicts: Verdicts) -> dict[str, Any]:
    """The session as a request to an OTLP collector, without what a warm start inserted."""
    calls = [call for call in session.calls() if not call.synthetic]
    agent, used = session.ref.agent, session.usage or Usage()
    common = {"gen_ai.conversation.id": session.ref.native_id, "gen_ai.agent.name": agent}
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        **common,
        "gen_ai.request.model": session.model,
        "gen_ai.usage.input_tokens": used.prompt,
        "gen_ai.usage.output_tokens": used.output,
        "gen_ai.usage.cache_read.input_tokens": used.cache_read,
        "gen_ai.usage.cache_creation.input_tokens": used.cache_write,
        "seasoned.cost_usd": session.cost_usd,
        "seasoned.title": session.title,
        "seasoned.folder": session.cwd,
        "seasoned.parent": str(session.parent) if session.parent else None,
    }
    # Ids that are the same on every export.
    trace_id, root = short_digest(str(session.ref), size=16), short_digest(str(session.ref), "agent")
    span = {"traceId": trace_id, "spanId": root, "name": f"invoke_agent {agent}", "kind": _INTERNAL}
    span |= {**_times(session.started, session.ended), "attributes": _attributes(attributes)}
    spans = [span]
    for call in calls:
        own = {"traceId": trace_id, "spanId": short_digest(str(session.ref), "call", call.id), "parentSpanId": root}
        spans.append({**own, **_execution(session, call, common, verdicts.get(call.id))})
    scope = {"scope": {"name": "seasoned"}, "schemaUrl": CONVENTIONS, "spans": spans}
    resource = {"attributes": _attributes({"service.name": session.application or agent})}
    return {"resourceSpans": [{"resource": resource, "schemaUrl": CONVENTIONS, "scopeSpans": [scope]}]}


def _execution(
    session: Session, call: ToolCall, common: dict[str, str], verdict: tuple[str, str] | None
) -> dict[str, Any]:
    began = call.time if call.time is not None else session.started
    ended = began if call.result is None or call.result.time is None else call.result.time
    outcome, reason = verdict or ("unclear", "")
    failed = outcome == "failed"
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        **common,
        "gen_ai.tool.name": call.tool,
        "gen_ai.tool.call.id": call.id,
        "gen_ai.tool.call.arguments": msgspec.json.encode(call.arguments).decode(),
        "gen_ai.tool.call.result": call.result.text if call.result is not None else None,
        "error.type": _error(call) if failed else None,
    }
    judged = {
        "gen_ai.evaluation.name": "outcome",
        "gen_ai.evaluation.score.label": outcome,
        "gen_ai.evaluation.explanation": reason,
    }
    times = _times(began, ended)
    event = {"timeUnixNano": times["endTimeUnixNano"], "name": "gen_ai.evaluation.result"}
    status = {"failed": {"code": _ERROR, "message": reason}, "ok": {"code": _OK}}.get(outcome)
    fields = {"name": f"execute_tool {call.tool}", "kind": _INTERNAL, **times}
    fields |= {"attributes": _attributes(attributes), "status": status}
    return _known({**fields, "events": [{**event, "attributes": _attributes(judged)}]})


def _error(call: ToolCall) -> str:
    """A short name for the kind of failure; the reason stands in the status."""
    marks = call.result.marks if call.result is not None else None
    if marks is None:
        return "_OTHER"
    if marks.declined or marks.interrupted:
        return "declined" if marks.declined else "interrupted"
    return f"exit_code_{marks.exit_code}" if marks.exit_code else "_OTHER"


def _times(began: float | None, ended: float | None) -> dict[str, str]:
    """A time that is unknown is 0, as the protocol has it."""
    first = round((began or 0.0) * 1e9)
    return {"startTimeUnixNano": str(first), "endTimeUnixNano": str(max(first, round((ended or 0.0) * 1e9)))}


def _attributes(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in values.items() if value is not None]


def _value(value: str | float) -> dict[str, Any]:
    if isinstance(value, str):
        return {"stringValue": value}
    # Whole numbers are texts in OTLP's JSON, since they have 64 bits.
    return {"intValue": str(value)} if isinstance(value, int) else {"doubleValue": value}


# Version 0.1.0 of the specification: its schema has two numbers.
AGENT_TRACE = "0.1"
_TELLING_CHARS = 4  # letters and digits of a line that hardly anyone else writes by chance: not `}`


class AddedLines(NamedTuple):
    """What a commit adds: for each file its lines by their number."""

    id: str
    time: float
    files: dict[str, dict[int, str]]


def written_lines(call: ToolCall) -> set[str]:
    """The lines that a call wrote into files, without their indentation, as far as the call itself holds them."""
    command = command_of(call) or ""
    texts = [command] if "<<" in command else []
    if output_form(call) == "file_write" or "*** Begin Patch" in str(call.arguments):
        texts += _texts(call.arguments)
    lines = [line for text in texts for line in text.splitlines()]
    # A patch marks what it adds.
    return {line.strip() for line in lines} | {line[1:].strip() for line in lines if line.startswith("+")}


def _texts(value: Any) -> list[str]:
    """Every text of an argument but those that an edit replaces."""
    if isinstance(value, dict):
        value = [one for name, one in value.items() if name not in argument_names("old")]
    if isinstance(value, list):
        return [text for one in value for text in _texts(one)]
    return [value] if isinstance(value, str) else []


def attribution(
    session: Session, commit: AddedLines, written: Collection[str], *, provider: str | None
) -> dict[str, Any] | None:
    """The lines of a commit that the session wrote, as an Agent Trace record; None without any."""
    model = session.model or ""
    model_id = model if "/" in model else f"{provider}/{model}" if provider and model else None
    made = _known({"type": "ai", "model_id": model_id})
    files = [
        {"path": path, "conversations": [{"contributor": made, "ranges": ranges}]}
        for path, lines in commit.files.items()
        if (ranges := list(_ranges(lines, written)))
    ]
    if not files:
        return None
    return {
        "version": AGENT_TRACE,
        "id": str(uuid5(NAMESPACE_URL, f"{session.ref} {commit.id}")),
        "timestamp": f"{datetime.fromtimestamp(commit.time, UTC):%Y-%m-%dT%H:%M:%SZ}",
        "vcs": {"type": "git", "revision": commit.id},
        # The schema wants a version, and histories do not name one for the whole session.
        "tool": {"name": session.ref.agent, "version": "unknown"},
        "files": files,
        # A conversation is named by an address there, and a history has none.
        "metadata": {"seasoned": {"session": str(session.ref)}},
    }


def _ranges(lines: Mapping[int, str], written: Collection[str]) -> Iterator[dict[str, int]]:
    """Neighbouring lines that the session wrote, where at least one of them says something."""
    first = last = 0
    tells = False
    for number in [*sorted(lines), 0]:
        text = lines.get(number, "").strip()
        is_written = number > 0 and text in written
        if first and not (is_written and number == last + 1):
            if tells:
                yield {"start_line": first, "end_line": last}
            first, tells = 0, False
        if is_written:
            first, last = first or number, number
            tells = tells or sum(map(str.isalnum, text)) >= _TELLING_CHARS
