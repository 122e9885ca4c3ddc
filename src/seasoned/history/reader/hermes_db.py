"""Hermes Agent: `$HERMES_HOME/state.db`, the 0.19 schema and older ones that lack columns."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import msgspec

from seasoned.errors import SourceError
from seasoned.history.builder import SessionBuilder
from seasoned.history.coerce import arguments_of, string, text_of, time_of
from seasoned.history.formats import Sample
from seasoned.history.readonly import columns_of, open_readonly
from seasoned.session import Marks, Relation, Role, Session, SessionRef, Usage

NAME = "hermes"
AGENT = "hermes"

# The prefix of content that is a list of parts.
_STRUCTURED = "\x00json:"
# The start of the message that replaces a compacted context.
_SUMMARY = "[CONTEXT COMPACTION"
# Older versions lack other columns, but never these.
_NEEDED = {"sessions": {"id"}, "messages": {"id", "session_id", "role", "content"}}
_SESSION_COLUMNS = """
    id source parent_session_id model model_config cwd title started_at ended_at end_reason
    input_tokens output_tokens cache_read_tokens cache_write_tokens reasoning_tokens
    estimated_cost_usd actual_cost_usd cost_status
"""
_MESSAGE_COLUMNS = "id role content tool_call_id tool_calls effect_disposition timestamp active compacted reasoning"
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}
# Tolerance between the end that Hermes writes and the last message.
_END_SECONDS = 5.0
_Row = dict[str, Any]


def recognises(sample: Sample) -> bool:
    """A database that has Hermes' two tables."""
    return sample.has_tables(_NEEDED)


def stamps(path: Path) -> dict[str, str]:
    """A stamp for each session that changes with it, so that a rescan reads only what is new."""
    with open_readonly(path) as connection:
        has_active = "active" in columns_of(connection, "messages")
        active = "coalesce(sum(m.active), 0)" if has_active else "0"
        # A session that ends changes too, although no message is added.
        end = "coalesce(s.end_reason, '')" if "end_reason" in columns_of(connection, "sessions") else "''"
        rows = connection.execute(
            f"SELECT s.id, count(m.id), coalesce(max(m.id), 0), {active}, {end} "
            "FROM sessions s LEFT JOIN messages m ON m.session_id = s.id GROUP BY s.id"
        )
        return {str(row[0]): ".".join(map(str, row[1:])) for row in rows}


def read(path: Path, only: Collection[str] | None = None) -> Iterator[Session]:
    """Every session of the database, oldest first; `only` selects sessions by id."""
    with open_readonly(path) as connection:
        session_columns = columns_of(connection, "sessions")
        message_columns = columns_of(connection, "messages")
        if not _NEEDED["sessions"] <= session_columns or not _NEEDED["messages"] <= message_columns:
            raise SourceError(f"{str(path)!r} is not a Hermes database: its tables are missing.")
        wanted = [column for column in _SESSION_COLUMNS.split() if column in session_columns]
        order = "started_at, id" if "started_at" in session_columns else "id"
        rows = [dict(row) for row in connection.execute(f"SELECT {', '.join(wanted)} FROM sessions ORDER BY {order}")]
        ends = {str(row["id"]): row.get("end_reason") for row in rows}
        select = ", ".join(column for column in _MESSAGE_COLUMNS.split() if column in message_columns)
        for row in rows:
            if only is not None and str(row["id"]) not in only:
                continue
            builder = _begin(row, path, ends)
            cursor = connection.execute(f"SELECT {select} FROM messages WHERE session_id = ? ORDER BY id", (row["id"],))
            _read_messages(builder, cursor)
            if _went_on(row, builder):
                builder.end_reason = None
            yield builder.take()


def lineage(path: Path, native_id: str) -> tuple[str, Relation | None]:
    """The first session of the chain that a session continues, and its relation to the one before it.

    A sub-agent begins a new chain. An unknown session is its own chain.
    """
    with open_readonly(path) as connection:
        if not {"id", "parent_session_id"} <= columns_of(connection, "sessions"):
            return native_id, None
        columns = [column for column in _SESSION_COLUMNS.split() if column in columns_of(connection, "sessions")]
        select = f"SELECT {', '.join(columns)} FROM sessions WHERE id = ?"
        top, first, seen = native_id, None, {native_id}
        row = connection.execute(select, (top,)).fetchone()
        while row is not None and (parent := string(row["parent_session_id"])) and parent not in seen:
            above = connection.execute(select, (parent,)).fetchone()
            found = _relation(dict(row), None if above is None else dict(above).get("end_reason"))
            first = first or found
            if found == "subagent":
                break
            top, row = parent, above
            seen.add(parent)
        return top, first


def folder_of(path: Path, native_id: str) -> str | None:
    """The folder that a session was begun in; None where Hermes recorded none, SourceError without a session."""
    with open_readonly(path) as connection:
        if not {"id", "cwd"} <= columns_of(connection, "sessions"):
            return None
        row = connection.execute("SELECT cwd FROM sessions WHERE id = ?", (native_id,)).fetchone()
        if row is None:
            raise SourceError(f"Hermes has not recorded the session {native_id!r} yet.")
        return string(row["cwd"])


def profile_at(home: Path) -> str:
    """The application that sessions without a project folder belong to: `hermes`, or `hermes/NAME` for a profile."""
    return f"{AGENT}/{home.name}" if home.parent.name == "profiles" else AGENT


def _begin(row: _Row, path: Path, ends: dict[str, Any]) -> SessionBuilder:
    builder = SessionBuilder(SessionRef(AGENT, str(row["id"])), format=NAME, path=str(path))
    builder.title = string(row.get("title"))
    builder.cwd = string(row.get("cwd"))
    builder.application = profile_at(path.parent)
    builder.model = string(row.get("model"))
    builder.end_reason = string(row.get("end_reason"))
    builder.platform = string(row.get("source"))
    for column in ("started_at", "ended_at"):
        if (time := time_of(row.get(column))) is not None:
            builder.seen_at(time)
    if parent := string(row.get("parent_session_id")):
        builder.parent = SessionRef(AGENT, parent)
        builder.relation = _relation(row, ends.get(parent))
    builder.total_usage = _usage(row)
    builder.cost_usd = _cost(row)
    return builder


def _went_on(row: _Row, builder: SessionBuilder) -> bool:
    """Whether a session was resumed after its end. Hermes keeps the first end that was written."""
    ended = time_of(row.get("ended_at"))
    return ended is not None and builder.ended is not None and builder.ended > ended + _END_SECONDS


def _relation(row: _Row, parent_end: object) -> Relation:
    config = row.get("model_config") or ""
    if row.get("source") == "subagent" or "_delegate_from" in str(config):
        return "subagent"
    if "_branched_from" in str(config) or parent_end == "branched":
        return "fork"
    return "compression" if parent_end in ("compression", "orphaned_compression") else "resume"


def _usage(row: _Row) -> Usage | None:
    """The totals of a row. Columns default to 0, so a row of zeros means unknown."""
    columns = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")
    figures = [row.get(column) for column in columns]
    known = [figure if isinstance(figure, int) else None for figure in figures]
    return Usage(*known) if any(known) else None


def _cost(row: _Row) -> float | None:
    """The recorded cost; None where Hermes marks it as unknown, since its 0.0 then means nothing."""
    actual, estimated = row.get("actual_cost_usd"), row.get("estimated_cost_usd")
    if actual:
        return float(actual)
    return float(estimated) if estimated and row.get("cost_status") != "unknown" else None


def _read_messages(builder: SessionBuilder, rows: sqlite3.Cursor) -> None:
    summarised: Counter[tuple[object, ...]] = Counter()
    for record in rows:
        row = dict(record)
        place = int(row["id"])
        content = _content(row.get("content"))
        key = (row.get("role"), content, row.get("tool_call_id"), row.get("tool_calls"))
        is_old = row.get("active") == 0 and row.get("compacted") == 1
        if is_old:
            summarised[key] += 1
        elif summarised[key] > 0:
            # Compaction in place inserts the messages that it keeps again.
            summarised[key] -= 1
            continue
        _read_row(builder, row, content, place)


def _read_row(builder: SessionBuilder, row: _Row, content: str, place: int) -> None:
    time = time_of(row.get("timestamp"))
    role = str(row.get("role"))
    if role == "tool":
        call_id = string(row.get("tool_call_id")) or ""
        # Set when a turn ended before the tool did: nothing was done, or that is unknown.
        interrupted = row.get("effect_disposition") in ("none", "unknown")
        builder.result(call_id, content, Marks(interrupted=interrupted), time=time, place=place)
        return
    known = _ROLES.get(role)
    if known is None:
        builder.unreadable(f"message {place}", f"a message with the unknown role {role[:40]!r}")
        return
    summary = known == "user" and content.startswith(_SUMMARY)
    if summary:
        builder.compaction()
    builder.thinking(row.get("reasoning"))
    builder.message(known, content, time=time, place=place, summary=summary)
    for number, call in enumerate(_calls(builder, row, place)):
        function = call.get("function")
        function = function if isinstance(function, dict) else {}
        call_id = string(call.get("id")) or string(call.get("call_id")) or f"{place}.{number}"
        tool = string(function.get("name")) or string(call.get("name")) or "unnamed"
        arguments = arguments_of(function.get("arguments", call.get("arguments")))
        builder.call(call_id, tool, arguments, time=time, place=place)


def _calls(builder: SessionBuilder, row: _Row, place: int) -> list[dict[str, Any]]:
    text = row.get("tool_calls")
    if not isinstance(text, str) or not text:
        return []
    try:
        calls = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        builder.unreadable(f"message {place}", f"its calls are not JSON ({error})")
        return []
    if not isinstance(calls, list):
        builder.unreadable(f"message {place}", "its calls are not a list")
        return []
    return [call for call in calls if isinstance(call, dict)]


def _content(content: object) -> str:
    if isinstance(content, str) and content.startswith(_STRUCTURED):
        try:
            return text_of(msgspec.json.decode(content[len(_STRUCTURED) :]))
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            return content
    if isinstance(content, bytes):
        return content.decode("utf-8", "replace")
    return "" if content is None else str(content)
