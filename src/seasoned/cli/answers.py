"""The JSON shapes of sessions and calls that several commands answer with."""

from __future__ import annotations

import sqlite3
from typing import Any

import msgspec


def session_answer(row: sqlite3.Row) -> dict[str, Any]:
    """One session as programs see it."""
    counted = row["ok"] + row["failed"]
    return {
        "agent": row["agent"],
        "session_id": row["native_id"],
        "title": row["title"],
        "cwd": row["cwd"],
        "model": row["model"],
        "started": row["started"],
        "ended": row["ended"],
        "message_count": row["messages"],
        "tool_call_count": row["calls"],
        "successful_calls": row["ok"],
        "failed_calls": row["failed"],
        "unclear_calls": row["unclear"],
        "left_out": {name: row[name] for name in ("declined", "cancelled", "interrupted", "trivial", "copies")},
        "error_rate": row["failed"] / counted if counted else None,
        "task_type": row["task_type"],
        "compactions": msgspec.json.decode(row["compactions"]),
        "parent": f"{row['parent_agent']}:{row['parent_native_id']}" if row["parent_agent"] else None,
        "relation": row["relation"],
        "end_reason": row["end_reason"],
        "succeeded": None if row["succeeded"] is None else bool(row["succeeded"]),
        "usage": {
            name: row[f"{name}_tokens"] for name in ("input", "output", "cache_read", "cache_write", "reasoning")
        },
        "cost_usd": row["cost_usd"],
        "path": row["path"],
        "source_gone": row["gone_at"] is not None,
    }


def call_answer(row: sqlite3.Row) -> dict[str, Any]:
    """One call as programs see it, with its redacted arguments and short result."""
    return {
        "call": row["call_id"],
        "position": row["position"],
        "message": row["message"],
        "tool": row["tool"],
        "kind": row["kind"],
        "arguments": msgspec.json.decode(row["arguments"]),
        "result": row["result"],
        "time": row["time"],
        "verdict": row["verdict"],
        "evidence": row["evidence"],
        "fault": row["fault"],
        "reason": row["reason"],
        "judge": row["judge"],
        "counts_as": row["counts_as"],
        "is_copy": row["copy_of"] is not None,
    }
