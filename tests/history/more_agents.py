"""Small sessions of agents that keep theirs in folders, databases and editors, as these programs write them."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path
from typing import Any

AT = 1_777_581_130_000
WORK = "/home/mira/shop"


def qwen_line(kind: str, **fields: Any) -> dict[str, Any]:
    """A line of Qwen Code."""
    return {"uuid": "u1", "sessionId": "q1", "timestamp": "2026-05-01T00:00:01Z", "type": kind, "cwd": WORK, **fields}


def qwen_result(call_id: str, tool: str, status: str, **response: str) -> dict[str, Any]:
    """The result of a call of Qwen Code."""
    answer = {"functionResponse": {"id": call_id, "name": tool, "response": response}}
    ended = {"callId": call_id, "status": status}
    return qwen_line("tool_result", message={"role": "user", "parts": [answer]}, toolCallResult=ended)


def qwen_call(call_id: str, name: str, **given: Any) -> dict[str, Any]:
    """A call that Qwen Code's model asks for."""
    return {"functionCall": {"id": call_id, "name": name, "args": given}}


SHELL = "run_shell_command"
QWEN = [
    qwen_line("user", message={"role": "user", "parts": [{"text": "Fix the till."}]}),
    qwen_line("system", subtype="ui_telemetry", systemPayload={"uiEvent": {}}),
    qwen_line(
        "assistant",
        model="qwen3",
        message={
            "role": "model",
            "parts": [
                {"text": "hm", "thought": True},
                {"text": "I look."},
                qwen_call("c1", SHELL, command="ls"),
                qwen_call("c2", SHELL, command="make"),
                qwen_call("c3", "read_file", file_path="a"),
                qwen_call("c4", SHELL, command="x"),
            ],
        },
        usageMetadata={"promptTokenCount": 100, "candidatesTokenCount": 9, "totalTokenCount": 109},
    ),
    qwen_result("c1", SHELL, "success", output="Command: ls\nOutput: a.txt\nError: (none)\nExit Code: 0\nSignal: 0"),
    qwen_result("c2", SHELL, "success", output="Command: make\nOutput: no\nError: (none)\nExit Code: 2\nSignal: 0"),
    qwen_result("c3", "read_file", "error", error="File not found: a"),
    qwen_result("c4", SHELL, "cancelled", error="The user did not allow it. Stop."),
    qwen_line("system", subtype="chat_compression", systemPayload={"summary": "So far. Good."}),
]

ROO_TASK = "<task>\nFix the till.\n</task>"
ROO_WHERE = f"<environment_details>\n# Current Workspace Directory ({WORK}) Files\na.py\n</environment_details>"
CLINE_OLD = [
    {"role": "user", "content": [{"type": "text", "text": ROO_TASK}, {"type": "text", "text": ROO_WHERE}], "ts": AT},
    {
        "role": "assistant",
        "content": "I look.\n\n<execute_command>\n<command>make test</command>\n</execute_command>",
        "ts": AT,
    },
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "[execute_command for 'make test'] Result:"},
            {"type": "text", "text": "Command executed in terminal. Exit code: 2\nOutput:\nno"},
            {"type": "text", "text": "<environment_details>x</environment_details>"},
        ],
    },
    {
        "role": "assistant",
        "content": "<write_to_file>\n<path>a.py</path>\n<content>\n<b>hi</b>\n</content>\n</write_to_file>",
    },
    {
        "role": "user",
        "content": [{"type": "text", "text": "[write_to_file for 'a.py'] Result:\n\nThe user denied this operation."}],
    },
    {"role": "assistant", "content": "<read_file>\n<path>b.py</path>\n</read_file>"},
    {
        "role": "user",
        "content": "[read_file for 'b.py'] Result:\nThe tool execution failed with the following error:\nno",
    },
]


def cline_use(call_id: str, name: str, **given: Any) -> dict[str, Any]:
    """A block that asks for a call."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


CLINE_NEW = {
    "version": 1,
    "agent": "lead",
    "sessionId": "s1",
    "origin": {"source": "cli"},
    "messages": [
        {
            "role": "user",
            "content": [{"type": "text", "text": '<user_input mode="act">Fix it.</user_input>'}],
            "ts": AT,
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "I look."},
                cline_use("c1", "run_commands", commands=["make a", "make b"]),
                cline_use("c2", "use_mcp_tool", server_name="docs", tool_name="find", arguments='{"q": "x"}'),
            ],
            "metrics": {"inputTokens": 7, "outputTokens": 2},
            "modelInfo": {"id": "m1"},
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "c1",
                    "content": [
                        {"query": "make a", "result": "ok. yes", "success": True},
                        {"query": "make b", "result": "", "error": "No rule.", "success": False},
                    ],
                },
                {"type": "tool_result", "tool_use_id": "c2", "content": "found", "is_error": False},
            ],
        },
    ],
}


def goose_request(call_id: str, name: str, **given: Any) -> dict[str, Any]:
    """A call that Goose's model asks for."""
    call = {"status": "success", "value": {"name": name, "arguments": given}}
    return {"type": "toolRequest", "id": call_id, "toolCall": call}


def goose_response(call_id: str, text: str, *, failed: bool = False, **more: Any) -> dict[str, Any]:
    """The result of a call."""
    value = {"content": [{"type": "text", "text": text}], "isError": failed, **more}
    return {"type": "toolResponse", "id": call_id, "toolResult": {"status": "success", "value": value}}


GOOSE_HEAD = {"working_dir": WORK, "description": "The till", "message_count": 4, "accumulated_input_tokens": 50}
GOOSE = [
    {"role": "user", "created": AT // 1000, "content": [{"type": "text", "text": "Fix the till."}]},
    {
        "role": "assistant",
        "created": AT // 1000 + 1,
        "content": [
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": "I look."},
            goose_request("c1", "developer__shell", command="make"),
            goose_request("c2", "developer__shell", command="ls"),
            goose_request("c3", "docs__find", q="x"),
        ],
    },
    {
        "role": "user",
        "created": AT // 1000 + 2,
        "content": [
            goose_response("c1", "no rule. Command failed with exit code 2", failed=True),
            goose_response("c2", "a.txt", structuredContent={"stdout": "a.txt", "exit_code": 0}),
            {"type": "toolResponse", "id": "c3", "toolResult": {"status": "error", "error": "The user declined. So."}},
        ],
    },
    {"role": "assistant", "created": AT // 1000 + 3, "content": [{"type": "conversationCompacted", "msg": "shorter"}]},
]

AMP = {
    "id": "T-1",
    "title": "The till",
    "created": AT,
    "env": {"initial": {"trees": [{"uri": f"file://{WORK}", "repository": {"url": "https://example.org/team/shop"}}]}},
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Fix the till."}], "meta": {"sentAt": AT}},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "I look."},
                *[cline_use(f"c{n}", "Bash", cmd="make", cwd=WORK) for n in range(1, 6)],
            ],
            "usage": {"model": "m1", "inputTokens": 3, "outputTokens": 2, "cacheReadInputTokens": 5},
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "toolUseID": f"c{n}", "run": run}
                for n, run in enumerate(
                    [
                        {"status": "done", "result": {"output": "ok. yes", "exitCode": 0}},
                        {"status": "done", "result": {"output": "no. rule", "exitCode": 2}},
                        {"status": "error", "error": {"message": "It broke. Sorry."}},
                        {"status": "rejected-by-user", "reason": "no. way"},
                        {"status": "cancelled", "reason": "stop. now"},
                    ],
                    start=1,
                )
            ],
        },
    ],
}

AIDER = """
# aider chat started at 2026-05-01 10:00:00

> Main model: m1 with diff edit format
> Git repo: .git with 3 files

#### Fix the till.
#### And the shop.

I change it. So:

till.py
```python
<<<<<<< SEARCH
a = 1
=======
a = 2
>>>>>>> REPLACE
```

> Tokens: 2.1k sent, 80 received. Cost: $0.25 message, $0.25 session.
> Applied edit to till.py

#### Once more.

till.py
```python
<<<<<<< SEARCH
b = 1
=======
b = 2
>>>>>>> REPLACE
```

> The LLM did not conform to the edit format.

# aider chat started at 2026-05-02 10:00:00

#### Hello.
"""

VSCODE: dict[str, Any] = {
    "version": 3,
    "sessionId": "v1",
    "requesterUsername": "mira",
    "creationDate": AT,
    "customTitle": "The till",
    "requests": [
        {
            "requestId": "r1",
            "timestamp": AT,
            "modelId": "copilot/m1",
            "message": {"text": "Fix the till."},
            "response": [
                {"value": "I look. Now."},
                {
                    "kind": "toolInvocationSerialized",
                    "toolId": "run_in_terminal",
                    "toolSpecificData": {
                        "kind": "terminal",
                        "commandLine": {"original": "make"},
                        "terminalCommandState": {"exitCode": 2},
                    },
                },
            ],
            "result": {
                "metadata": {
                    "promptTokens": 40,
                    "outputTokens": 4,
                    "toolCallRounds": [
                        {
                            "response": "I look. Now.",
                            "toolCalls": [
                                {"id": "c1", "name": "run_in_terminal", "arguments": '{"command": "make"}'},
                                {"id": "c2", "name": "read_file", "arguments": '{"filePath": "a"}'},
                            ],
                        }
                    ],
                    "toolCallResults": {
                        "c1": {"content": [{"value": "no rule. So."}]},
                        "c2": {"content": [{"value": {"node": {"children": [{"text": "ERROR: no such file. So."}]}}}]},
                    },
                }
            },
        }
    ],
}
VSCODE_LINES = [
    {"kind": 0, "v": {**VSCODE, "requests": []}},
    {"kind": 2, "k": ["requests"], "v": [{**VSCODE["requests"][0], "result": {}}]},
    {"kind": 1, "k": ["requests", 0, "result"], "v": VSCODE["requests"][0]["result"]},
    {"kind": 1, "k": ["customTitle"], "v": "The till. Again."},
]


def _database(path: Path, script: str, rows: dict[str, list[tuple[Any, ...]]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(path) as connection:
        connection.executescript(script)
        for table, values in rows.items():
            for one in values:
                connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(one))})", one)
    connection.close()
    return path


def goose_database(folder: Path) -> Path:
    """The same session in the database that Goose keeps now."""
    messages = [
        (n, "g1", one["role"], json.dumps(one["content"]), one["created"]) for n, one in enumerate(GOOSE, start=1)
    ]
    head = ("g1", "The till", WORK, "2026-05-01 00:00:00", "2026-05-01 00:01:00", 50, 5, '{"model_name": "m1"}')
    return _database(
        folder / "sessions.db",
        "CREATE TABLE sessions (id TEXT, name TEXT, working_dir TEXT, created_at TEXT, updated_at TEXT,"
        " accumulated_input_tokens INTEGER, accumulated_output_tokens INTEGER, model_config_json TEXT);"
        "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content_json TEXT,"
        " created_timestamp INTEGER);",
        {"sessions": [head], "messages": messages},
    )


def crush_database(folder: Path) -> Path:
    """A session of Crush in the folder of its project, and one of a sub-agent."""

    def part(kind: str, **data: Any) -> dict[str, Any]:
        return {"type": kind, "data": data}

    def asked(call_id: str) -> dict[str, Any]:
        return part("tool_call", id=call_id, name="bash", input='{"command": "make"}', finished=True)

    def answered(call_id: str, text: str, *, failed: bool = False) -> dict[str, Any]:
        return part("tool_result", tool_call_id=call_id, name="bash", content=text, is_error=failed)

    said = [part("reasoning", thinking="hm"), part("text", text="I look."), *map(asked, ("c1", "c2", "c3", "c4"))]
    results = [
        answered("c1", "ok"),
        answered("c2", "no rule\nExit code 2"),
        answered("c3", "User denied permission", failed=True),
        answered("c4", "It broke", failed=True),
    ]
    rows = [
        ("m1", "s1", "user", json.dumps([part("text", text="Fix the till.")]), None, 1, 1, 0),
        ("m2", "s1", "assistant", json.dumps(said), "m-1", 2, 2, 0),
        ("m3", "s1", "tool", json.dumps(results), None, 3, 3, 0),
        ("m4", "s1", "assistant", json.dumps([part("text", text="So far.")]), "m-1", 4, 4, 1),
        ("m5", "s2", "user", json.dumps([part("text", text="Look there.")]), None, 5, 5, 0),
    ]
    return _database(
        folder / "shop" / ".crush" / "crush.db",
        "CREATE TABLE sessions (id TEXT, parent_session_id TEXT, title TEXT, prompt_tokens INTEGER,"
        " completion_tokens INTEGER, cost REAL, created_at INTEGER, updated_at INTEGER);"
        "CREATE TABLE messages (id TEXT, session_id TEXT, role TEXT, parts TEXT, model TEXT, created_at INTEGER,"
        " updated_at INTEGER, is_summary_message INTEGER);",
        {
            "sessions": [("s1", None, "The till", 30, 3, 0.5, 1, 9), ("s2", "s1", "Look", 0, 0, 0, 5, 9)],
            "messages": rows,
        },
    )


def cursor_database(folder: Path) -> Path:
    """A conversation of Cursor, and one that was opened and never used."""

    def tool(name: str, status: str, result: str, **more: Any) -> dict[str, Any]:
        call = {"toolCallId": more.pop("id"), "name": name, "rawArgs": '{"command": "make"}', "status": status}
        return {"type": 2, "text": "", "toolFormerData": {**call, "result": result, **more}}

    shell = "run_terminal_command_v2"
    bubbles = [
        {"type": 1, "text": "Fix the till.", "createdAt": "2026-05-01T00:00:00Z"},
        {"type": 2, "text": "I look.", "thinking": {"text": "hm"}, "tokenCount": {"inputTokens": 9, "outputTokens": 2}},
        tool(shell, "completed", '{"output": "ok", "exitCodeV2": 0}', id="c1"),
        tool(shell, "completed", '{"output": "no", "exitCodeV2": 2}', id="c2"),
        tool("read_file", "error", '{"error": "It broke"}', id="c3"),
        tool(shell, "completed", '{"output": "", "rejected": true}', id="c4", userDecision="rejected"),
        tool(shell, "loading", "", id="c5"),
    ]
    about = {
        "composerId": "k1",
        "name": "The till",
        "workspaceIdentifier": {"uri": {"fsPath": WORK}},
        "fullConversationHeadersOnly": [{"bubbleId": f"b{n}"} for n in range(len(bubbles))],
    }
    rows = [("composerData:k1", json.dumps(about)), ("composerData:k2", json.dumps({"composerId": "k2"}))]
    rows += [(f"bubbleId:k1:b{n}", json.dumps(one)) for n, one in enumerate(bubbles)]
    script = "CREATE TABLE ItemTable (key TEXT, value BLOB); CREATE TABLE cursorDiskKV (key TEXT UNIQUE, value BLOB);"
    return _database(folder / "state.vscdb", script, {"cursorDiskKV": rows})


def cursor_cli_database(folder: Path) -> Path:
    """A session of Cursor's command line."""
    messages = [
        {
            "role": "user",
            "content": f"<user_info>\nWorkspace Path: {WORK}\n</user_info>\n<user_query>Fix it.</user_query>",
        },
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I look."},
                *[
                    {"type": "tool-call", "toolCallId": f"c{n}", "toolName": tool, "args": {"command": "make"}}
                    for n, tool in enumerate(("Shell", "Read"), start=1)
                ],
            ],
        },
        {
            "role": "tool",
            "content": [
                {"type": "tool-result", "toolCallId": "c1", "toolName": "Shell", "result": "Exit code: 2\n\nno rule"},
                {"type": "tool-result", "toolCallId": "c2", "toolName": "Read", "result": "text"},
            ],
        },
    ]
    blobs = [json.dumps(one).encode() for one in messages]
    root = b"".join(b"\x0a\x20" + hashlib.sha256(blob).digest() for blob in blobs)
    about = {"agentId": "a1", "latestRootBlobId": "root", "name": "The till", "createdAt": AT, "lastUsedModel": "m1"}
    return _database(
        folder / "a1" / "store.db",
        "CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB); CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);",
        {
            "blobs": [("root", root), *[(hashlib.sha256(blob).hexdigest(), blob) for blob in blobs]],
            "meta": [("0", json.dumps(about).encode().hex())],
        },
    )
