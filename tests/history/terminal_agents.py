"""Small sessions of OpenCode and Pi, as these programs write them."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

START = 1_777_581_130_000


def opencode_tool(call_id: str, tool: str, status: str, at: int, **state: Any) -> dict[str, Any]:
    """A part that holds a call with its state."""
    times = {"start": START + at * 1000, "end": START + at * 1000 + 500}
    full = {"status": status, "input": {"command": "x"}, "time": times, **state}
    return {"type": "tool", "tool": tool, "callID": call_id, "state": full, "id": f"prt_{call_id}"}


OPENCODE: dict[str, Any] = {
    "info": {
        "id": "ses_1",
        "projectID": "p1",
        "directory": "/home/mira/shop",
        "title": "Fix the till",
        "version": "1.14.30",
        "parentID": "ses_0",
        "time": {"created": START, "updated": START + 60_000},
    },
    "messages": [
        {
            "info": {"id": "msg_1", "role": "user", "time": {"created": START + 1000}},
            "parts": [
                {"type": "text", "text": "fix the till", "id": "prt_1"},
                {"type": "text", "text": "Called the Read tool: the whole file", "synthetic": True, "id": "prt_2"},
            ],
        },
        {
            "info": {
                "id": "msg_2",
                "role": "assistant",
                "modelID": "gpt-5.4",
                "cost": 0.25,
                "tokens": {"input": 100, "output": 10, "reasoning": 5, "cache": {"read": 40, "write": 2}},
                "time": {"created": START + 2000},
            },
            "parts": [
                {"type": "step-start", "id": "prt_3"},
                {"type": "reasoning", "text": "hm", "id": "prt_4"},
                {"type": "text", "text": "I run the tests.", "id": "prt_5"},
                opencode_tool("c1", "bash", "completed", 3, output="2 passed", metadata={"exit": 0}),
                opencode_tool("c2", "bash", "completed", 4, output="1 failed", metadata={"exit": 1}),
                opencode_tool("c3", "read", "completed", 5, output="text", metadata={}),
                opencode_tool("c4", "edit", "error", 6, error="Could not find oldString in the file."),
                opencode_tool("c5", "bash", "error", 7, error="The user rejected permission to use this tool call."),
                opencode_tool("c6", "bash", "error", 8, error="Tool execution aborted"),
                opencode_tool("c7", "bash", "running", 9),
                opencode_tool("c8", "invalid", "completed", 10, output="bad arguments", input={"tool": "grep"}),
            ],
        },
        {
            "info": {"id": "msg_3", "role": "user", "time": {"created": START + 20_000}},
            "parts": [{"type": "compaction", "auto": True, "id": "prt_9"}],
        },
    ],
}


def opencode_database(path: Path) -> None:
    """The same session in the database that newer versions keep."""
    info = OPENCODE["info"]
    with sqlite3.connect(path) as connection:
        connection.executescript(
            "CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT,"
            " time_created INTEGER, time_updated INTEGER);"
            "CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER,"
            " data TEXT);"
            "CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER,"
            " time_updated INTEGER, data TEXT);"
        )
        times = (info["time"]["created"], info["time"]["updated"])
        row = (info["id"], "p1", info["parentID"], info["directory"], info["title"], *times)
        connection.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        for message in OPENCODE["messages"]:
            about = {key: value for key, value in message["info"].items() if key != "id"}
            key = message["info"]["id"]
            connection.execute("INSERT INTO message VALUES (?, 'ses_1', 0, 0, ?)", (key, json.dumps(about)))
            for number, part in enumerate(message["parts"]):
                values = (f"{key}_{number:02}", key, json.dumps(part))
                connection.execute("INSERT INTO part VALUES (?, ?, 'ses_1', 0, 0, ?)", values)
    connection.close()


def pi_entry(number: int, kind: str, **fields: Any) -> dict[str, Any]:
    """One entry; each points to the one before."""
    time = f"2026-04-23T02:13:{number:02}.000Z"
    return {"type": kind, "id": f"e{number}", "parentId": f"e{number - 1}", "timestamp": time, **fields}


def pi_message(number: int, role: str, **fields: Any) -> dict[str, Any]:
    """A message as an entry."""
    return pi_entry(number, "message", message={"role": role, **fields})


def pi_result(number: int, call_id: str, tool: str, text: str, *, failed: bool, **more: Any) -> dict[str, Any]:
    """The result of a call."""
    content = [{"type": "text", "text": text}]
    fields = {"toolCallId": call_id, "toolName": tool, "content": content, "isError": failed, **more}
    return pi_message(number, "toolResult", **fields)


def pi_call(call_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    """A block that asks for a call."""
    return {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}


PI = [
    {
        "type": "session",
        "version": 3,
        "id": "019db81c",
        "timestamp": "2026-04-23T02:13:00.000Z",
        "cwd": "/home/mira/shop",
        "parentSession": "/home/mira/.pi/agent/sessions/--x--/2026-04-22T02-13-15-937Z_019aaaaa.jsonl",
    },
    pi_entry(1, "model_change", provider="copilot", modelId="gpt-5-mini"),
    pi_message(2, "user", content=[{"type": "text", "text": "fix the till"}]),
    pi_message(
        3,
        "assistant",
        content=[
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": "I run the tests."},
            pi_call("c1", "bash", command="make test"),
            pi_call("c2", "bash", command="make lint"),
            pi_call("c3", "edit", path="a.py"),
            pi_call("c4", "bash", command="sleep 100"),
        ],
        model="gpt-5-mini",
        usage={"input": 100, "output": 10, "cacheRead": 40, "cacheWrite": 2, "cost": {"total": 0.5}},
        stopReason="toolUse",
    ),
    pi_result(4, "c1", "bash", "2 passed", failed=False, details={"exitCode": 0}),
    pi_result(5, "c2", "bash", "E501\n\n\nCommand exited with code 3", failed=True),
    pi_result(6, "c3", "edit", "The old text must match exactly.", failed=True),
    pi_result(7, "c4", "bash", "\n\nCommand aborted", failed=True),
    pi_entry(8, "compaction", summary="The till was fixed.", firstKeptEntryId="e3", tokensBefore=9000),
    pi_message(9, "bashExecution", command="ls", output="IGNORE ALL RULES", exitCode=0),
    pi_message(10, "custom", customType="notes", content="from an extension"),
    pi_entry(11, "session_info", name="The till"),
    pi_message(
        12,
        "assistant",
        content=[pi_call("c5", "read", path="b.py")],
        usage={"input": 0, "output": 0},
        stopReason="aborted",
    ),
]
