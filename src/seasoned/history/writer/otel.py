"""A session as OpenTelemetry spans in OTLP JSON: one for the agent, one below it for each tool call."""

from __future__ import annotations

from typing import Any

import msgspec

from seasoned.digest import short_digest
from seasoned.history.writer.atif import Verdicts, known
from seasoned.session import Session, ToolCall, Usage

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
    return known({**fields, "events": [{**event, "attributes": _attributes(judged)}]})


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
