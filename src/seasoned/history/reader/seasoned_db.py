"""Conversations recorded by Seasoned itself, from the store or a copy of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from seasoned.history.builder import SessionBuilder
from seasoned.history.coerce import arguments_of, placeholder, remaining, time_of
from seasoned.history.formats import Sample
from seasoned.history.readonly import columns_of, open_readonly
from seasoned.price import find_cost
from seasoned.session import NO_MARKS, Marks, Session, SessionRef, Usage

NAME = "seasoned"
AGENT = "seasoned"

# The tables of a store that records conversations.
_NEEDED = {
    "session": {"id", "agent", "native_id", "parent_native_id", "relation", "remote", "application"},
    "message": {"session_id", "position", "body", "summary"},
}
# Outcomes of a result that the agent library records.
_MARKS = {
    "failed": Marks(failed=True),
    "retried": Marks(failed=True),
    "denied": Marks(declined=True),
    "interrupted": Marks(interrupted=True),
}
# Notes of the agent library that are not part of the conversation.
_BOOKKEEPING = ("instruction", "tool-availability-delta", "capability-load-delta", "model-settings-delta")
_PARTS = ("binary", "image-url", "audio-url", "video-url", "document-url")
_USAGE = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "output_reasoning_tokens")
_SESSIONS = """
    SELECT id, agent, native_id, title, cwd, remote, application, model, parent_agent, parent_native_id, relation,
        end_reason
    FROM session WHERE EXISTS (SELECT 1 FROM message WHERE session_id = session.id) ORDER BY started, id
"""


def recognises(sample: Sample) -> bool:
    """A database that has the store's tables for recorded conversations."""
    if sample.kind != "sqlite":
        return False
    with open_readonly(sample.path) as connection:
        return all(needed <= columns_of(connection, table) for table, needed in _NEEDED.items())


def stamps(path: Path) -> dict[str, str]:
    """A stamp for each session: its number of messages and how it ended."""
    with open_readonly(path) as connection:
        rows = connection.execute(
            "SELECT native_id, end_reason, (SELECT count(*) FROM message WHERE session_id = session.id) "
            "FROM session WHERE EXISTS (SELECT 1 FROM message WHERE session_id = session.id)"
        )
        return {str(row[0]): f"{row[2]}.{row[1] or ''}" for row in rows}


def read(path: Path, only: Collection[str] | None = None) -> Iterator[Session]:
    """Every recorded session, oldest first; `only` selects sessions by id."""
    with open_readonly(path) as connection:
        for row in connection.execute(_SESSIONS).fetchall():
            if only is not None and row["native_id"] not in only:
                continue
            builder = SessionBuilder(SessionRef(row["agent"], row["native_id"]), format=NAME, path=str(path))
            builder.title, builder.cwd, builder.model = row["title"], row["cwd"], row["model"]
            builder.remote, builder.application = row["remote"], row["application"]
            builder.end_reason = row["end_reason"]
            if row["parent_native_id"]:
                builder.parent = SessionRef(row["parent_agent"], row["parent_native_id"])
                builder.relation = row["relation"]
            costs = []
            for message in connection.execute(
                "SELECT position, body, summary FROM message WHERE session_id = ? ORDER BY position", (row["id"],)
            ):
                body = _body(builder, message)
                read_message(builder, body, place=message["position"], summary=bool(message["summary"]))
                costs += [cost_of(body)] if "usage" in body else []
            builder.cost_usd = total_cost(costs)
            yield builder.take()


def read_message(builder: SessionBuilder, body: Mapping[str, Any], *, place: int, summary: bool = False) -> None:
    """Add one recorded message: a request (user text and tool results) or a response of the model."""
    parts = [part for part in body.get("parts") or () if isinstance(part, dict)]
    time = time_of(body.get("timestamp"))
    if body.get("kind") == "response":
        texts = [_text(part.get("content")) for part in parts if part.get("part_kind") in ("text", "file")]
        builder.message(
            "assistant", "\n".join(texts), time=time, place=place, model=body.get("model_name"), usage=usage_of(body)
        )
        for part in parts:
            if part.get("part_kind") == "tool-call":
                call_id, tool = str(part.get("tool_call_id")), str(part.get("tool_name"))
                builder.call(call_id, tool, arguments_of(part.get("args")), time=time, place=place)
        return
    for part in parts:
        kind = part.get("part_kind")
        when = time_of(part.get("timestamp")) or time
        if kind == "user-prompt":
            if summary:
                builder.compaction()
            builder.message("user", _text(part.get("content")), time=when, place=place, summary=summary)
            summary = False
        elif kind == "tool-return":
            marks = marks_of(str(part.get("outcome")))
            builder.result(str(part.get("tool_call_id")), _text(part.get("content")), marks, time=when, place=place)
        elif kind in ("system-prompt", "retry-feedback", "retry-prompt"):
            builder.message("system", _text(part.get("content")), time=when, place=place)
        elif not str(kind).startswith(_BOOKKEEPING):
            builder.unreadable(f"message {place}", f"a part with the unknown kind {str(kind)[:40]!r}")


def marks_of(outcome: str) -> Marks:
    """The marks for an outcome that the agent library recorded."""
    return _MARKS.get(outcome, NO_MARKS)


def usage_of(body: Mapping[str, Any]) -> Usage | None:
    """Tokens as the provider counted them; None if it reported nothing."""
    usage = body.get("usage")
    if not isinstance(usage, dict) or not (usage.get("input_tokens") or usage.get("output_tokens")):
        return None
    figures = [usage.get(name) for name in _USAGE]
    # A zero among the last three figures means unknown.
    known = Usage(*[n if isinstance(n, int) and (n or at < 2) else None for at, n in enumerate(figures)])
    # The library includes cached tokens in the input.
    return msgspec.structs.replace(known, input=remaining(known.input, known.cache_read, known.cache_write))


def cost_of(body: Mapping[str, Any]) -> float | None:
    """The cost of one request in US dollars; None if no price is known."""
    usage = body.get("usage")
    model, address = body.get("model_name"), body.get("provider_url")
    found = find_cost(
        usage_of(body),
        usage if isinstance(usage, dict) else None,
        model=model if isinstance(model, str) else None,
        # Without an address it could be a model on this machine under a known name, which costs nothing.
        base_url=address if isinstance(address, str) else "",
    )
    return None if found is None else float(found.usd)


def total_cost(costs: Collection[float | None]) -> float | None:
    """The sum; None unless every price is known."""
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None


def _body(builder: SessionBuilder, message: sqlite3.Row) -> dict[str, Any]:
    try:
        body = msgspec.json.decode(message["body"])
    except (msgspec.DecodeError, RecursionError, UnicodeError, TypeError) as error:
        builder.unreadable(f"message {message['position']}", f"it is not JSON ({error})")
        return {}
    return body if isinstance(body, dict) else {}


def _text(content: object) -> str:
    """The content as the model read it: text, a placeholder for an image or file, otherwise JSON."""
    if isinstance(content, str):
        return content
    lines = [_line(item) for item in (content if isinstance(content, list) else [content])]
    if lines and all(line is not None for line in lines):
        return "\n".join(line for line in lines if line is not None)
    return "" if content is None else msgspec.json.encode(content).decode("utf-8", "replace")


def _line(item: object) -> str | None:
    if isinstance(item, str):
        return item
    # A tool may return any fields; only parts of the agent library have both a kind and a media type.
    if isinstance(item, dict) and "media_type" in item and item.get("kind") in _PARTS:
        return placeholder(item)
    return None
