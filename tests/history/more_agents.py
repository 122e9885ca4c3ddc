"""Small sessions of agents that keep theirs in folders, databases and editors, as these programs write them."""

from __future__ import annotations

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
