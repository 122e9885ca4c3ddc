"""A session as an ATIF trajectory: steps of the system, the user and the agent, each call with its result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from seasoned.session import Message, Session, ToolCall, Usage

SCHEMA = "ATIF-v1.8"
_SOURCES = {"system": "system", "user": "user", "assistant": "agent"}
# By the id of a call: its verdict and the reason.
Verdicts = Mapping[str, tuple[str, str]]


def trajectory(session: Session, verdicts: Verdicts) -> dict[str, Any]:
    """The session as an ATIF document, without what a warm start inserted."""
    steps = list(_steps(session, verdicts))
    return {
        "schema_version": SCHEMA,
        "session_id": session.ref.native_id,
        "trajectory_id": str(session.ref),
        # The schema wants a version, and histories do not name one for the whole session.
        "agent": known({"name": session.ref.agent, "version": "unknown", "model_name": session.model}),
        "steps": steps,
        "final_metrics": known({**_metrics(session), "total_steps": len(steps)}),
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
        yield known(step)


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
    return {"source_call_id": call.id, "content": call.result.text, "extra": known(extra)}


def _metrics(session: Session) -> dict[str, Any]:
    used = session.usage or Usage()
    return {
        "total_prompt_tokens": used.prompt,
        "total_completion_tokens": used.output,
        "total_cached_tokens": used.cache_read,
        "total_cost_usd": session.cost_usd,
        "extra": known({"cache_write_tokens": used.cache_write, "reasoning_tokens": used.reasoning}),
    }


def _about(session: Session) -> dict[str, Any]:
    names = ("title", "cwd", "remote", "branch", "application", "platform", "relation", "end_reason", "succeeded")
    about = {name: getattr(session, name) for name in names}
    times = {"started": _iso(session.started), "ended": _iso(session.ended)}
    return known({**about, **times, "parent": str(session.parent) if session.parent else None})


def _iso(time: float | None) -> str | None:
    return None if time is None else datetime.fromtimestamp(time, UTC).isoformat()


def known(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields that say something: the schema has no nulls, and empty lists would claim that there was nothing."""
    return {name: value for name, value in fields.items() if value is not None and value != {} and value != []}
