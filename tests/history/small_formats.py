"""Small histories of our own making, one or more for each of the smaller formats."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

from seasoned.history.formats import Format, named
from seasoned.session import Session
from tests.history.claude_lines import story
from tests.history.codex_lines import codex_story
from tests.history.more_agents import CLINE_NEW, CLINE_OLD, QWEN, VSCODE, VSCODE_LINES
from tests.history.terminal_agents import OPENCODE, PI


def document(value: Any) -> bytes:
    return json.dumps(value, indent=1).encode()


def lines(*values: Any) -> bytes:
    return b"".join([json.dumps(value).encode() + b"\n" for value in values])


def call(call_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


OPENAI = [
    {"role": "system", "content": "You keep a garden."},
    {"role": "user", "content": [{"type": "text", "text": "Water the roses."}]},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [call("call_a", "water", plant="rose"), call("call_b", "look", plant="rose")],
    },
    {"role": "tool", "tool_call_id": "call_b", "name": "look", "content": "dry"},
    {"role": "tool", "tool_call_id": "call_a", "name": "water", "content": ""},
    {"role": "assistant", "content": "Done."},
]

TAU = [
    {"task_id": 3, "reward": 1.0, "info": {"task": {}}, "traj": OPENAI, "trial": 0},
    {
        "task_id": 3,
        "reward": 0.0,
        "info": {},
        "trial": 1,
        "traj": [
            {"role": "system", "content": "Use actions."},
            {"role": "user", "content": "Find Ada."},
            {
                "role": "assistant",
                "content": 'Let me look.\nAction:\n{"name": "find_user", "arguments": {"n": "Ada"}}\n',
            },
            {"role": "user", "content": "API output: Error: user not found"},
            {
                "role": "assistant",
                "content": 'I ask.\nAction: {"name": "respond", "arguments": {"content": "?"}}',
            },
            {"role": "user", "content": "Try Eve."},
            {"role": "assistant", "content": 'Action:\n{"name": "think", "arguments": {"thought": "Eve"}}'},
            {"role": "user", "content": "API output: "},
        ],
    },
    {"task_id": 4, "reward": 0.0, "info": {"error": "rate limit", "traceback": "…"}, "traj": [], "trial": 0},
]

SWE = {
    "environment": "swe_main",
    "trajectory": [
        {
            "action": "open setup.py\n",
            "observation": "[File: setup.py (9 lines total)]",
            "response": "…",
            "thought": "Look at the setup first.",
            "state": '{"open_file": "n/a", "working_dir": "/repo"}',
        },
        {"action": "python -m pytest", "observation": "1 failed", "response": "…", "thought": "Run.", "state": "{}"},
        {"action": "submit", "observation": "", "response": "…", "thought": "Hand in.", "state": "{}"},
    ],
    "history": [
        {"role": "system", "content": "SETTING: a shell.", "agent": "main"},
        {"role": "user", "content": "A demonstration.", "agent": "main", "is_demo": True},
        {"role": "user", "content": "Fix the test.", "agent": "main"},
        {"role": "assistant", "content": "…", "action": "open setup.py", "agent": "main"},
    ],
    "info": {
        "exit_status": "submitted",
        "submission": "diff --git a/x b/x",
        "model_stats": {"instance_cost": 0.5, "tokens_sent": 1000, "tokens_received": 50},
    },
}

SWE_HISTORY = {
    "history": [
        {"role": "system", "content": "SETTING", "agent": "main", "message_type": "system_prompt"},
        {"role": "user", "content": "Fix it.", "agent": "main", "message_type": "observation"},
        {
            "role": "assistant",
            "content": "Look.",
            "thought": "Look.",
            "action": "find_file a.py",
            "agent": "main",
            "tool_calls": [call("call_f", "find_file", file_name="a.py")],
            "message_type": "action",
        },
        {
            "role": "tool",
            "content": "Found 1 match",
            "agent": "main",
            "message_type": "observation",
            "tool_call_ids": ["call_f"],
        },
    ]
}

MINI_TEXT = [
    {"role": "system", "content": "One bash block."},
    {"role": "user", "content": "Please solve this."},
    {"role": "assistant", "content": "I look around.\n\n```mswea_bash_command\nls -la\n```"},
    {"role": "user", "content": "<returncode>0</returncode>\n<output>\na.py\n</output>"},
    {"role": "assistant", "content": "Now two.\n```bash\nls\n```\n```bash\npwd\n```"},
    {"role": "user", "content": "Please always provide EXACTLY ONE action."},
    {"role": "assistant", "content": "Test.\n```bash\npytest -q\n```"},
    {"role": "user", "content": "<returncode>1</returncode>\n<output>\n1 failed\n</output>"},
    {"role": "assistant", "content": "```bash\nrm -rf build\n```"},
    {"role": "user", "content": "Command not executed. The user rejected your command with the following message:\nno"},
]

MINI_TOOLS = {
    "info": {
        "exit_status": "Submitted",
        "submission": "diff",
        "mini_version": "2.0.0",
        "model_stats": {"instance_cost": 0.05, "api_calls": 2},
        "config": {"model": {"model_name": "m-1"}, "environment": {"cwd": "/testbed"}},
    },
    "messages": [
        {"role": "system", "content": "Use the tool."},
        {"role": "user", "content": "Solve."},
        {
            "role": "assistant",
            "content": "Look.",
            "tool_calls": [call("call_1", "bash", command="ls")],
            "extra": {
                "actions": [{"command": "ls", "tool_call_id": "call_1"}],
                "response": {"usage": {"prompt_tokens": 90, "completion_tokens": 9}},
            },
        },
        {
            "role": "tool",
            "tool_call_id": "call_1",
            "content": "<returncode>2</returncode>\n<output>\nno\n</output>",
            "extra": {"returncode": 2},
        },
        {"role": "exit", "content": "diff", "extra": {"exit_status": "Submitted"}},
    ],
    "trajectory_format": "mini-swe-agent-1.1",
}


def gemini_call(call_id: str, name: str, status: str, response: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": call_id,
        "name": name,
        "args": {"file_path": "a.txt"},
        "status": status,
        "timestamp": "2026-01-10T20:00:27.500Z",
        "result": [{"functionResponse": {"id": call_id, "name": name, "response": response}}],
    }


GEMINI = {
    "sessionId": "gem-1",
    "projectHash": "abc",
    "startTime": "2026-01-10T20:00:00.000Z",
    "lastUpdated": "2026-01-10T20:01:00.000Z",
    "messages": [
        {"id": "m1", "timestamp": "2026-01-10T20:00:21Z", "type": "user", "content": [{"text": "write a.txt"}]},
        {
            "id": "m2",
            "timestamp": "2026-01-10T20:00:27Z",
            "type": "gemini",
            "content": "",
            "model": "gemini-2.5-flash",
            "tokens": {"input": 100, "output": 10, "cached": 40, "thoughts": 5, "tool": 0, "total": 115},
            "toolCalls": [
                gemini_call("w1", "write_file", "success", {"output": "written"}),
                gemini_call("r1", "read_file", "error", {"error": "File not found"}),
                gemini_call("x1", "run", "cancelled", {"error": "[Operation Cancelled] User did not allow tool call"}),
                gemini_call("x2", "run", "cancelled", {"error": "[Operation Cancelled] User cancelled the operation."}),
                {"id": "x3", "name": "run", "args": {}, "status": "executing"},
            ],
        },
        {"id": "m3", "timestamp": "2026-01-10T20:00:50Z", "type": "info", "content": "Request cancelled."},
    ],
}

GEMINI_LINES = [
    {"sessionId": "gem-2", "projectHash": "abc", "startTime": "2026-01-10T20:00:00.000Z", "kind": "main"},
    {"id": "m1", "timestamp": "2026-01-10T20:00:21Z", "type": "user", "content": "write a.txt"},
    {"id": "m2", "timestamp": "2026-01-10T20:00:27Z", "type": "gemini", "content": "I write."},
    {"$set": {"lastUpdated": "2026-01-10T20:00:28.000Z"}},
    {**GEMINI["messages"][1], "content": "I write.", "toolCalls": GEMINI["messages"][1]["toolCalls"][:1]},
]

INSPECT_SAMPLE = {
    "id": "s1",
    "epoch": 1,
    "input": "Guess",
    "target": "42",
    "messages": [
        {"id": "a", "role": "user", "source": "input", "content": "attachment://long"},
        {
            "id": "b",
            "role": "assistant",
            "content": [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "I run it."}],
            "model": "m-2",
            "tool_calls": [
                {"id": "c1", "function": "bash", "arguments": {"cmd": "ls"}, "type": "function"},
                {"id": "c2", "function": "bash", "arguments": {"cmd": "rm"}, "type": "function"},
                {"id": "c3", "function": "bash", "arguments": {"cmd": "cat"}, "type": "function"},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "function": "bash", "content": "bin\n"},
        {
            "role": "tool",
            "tool_call_id": "c2",
            "content": "",
            "error": {"type": "approval", "message": "Tool call rejected"},
        },
        {"role": "tool", "tool_call_id": "c3", "content": "", "error": {"type": "timeout", "message": "timed out"}},
    ],
    "scores": {"match": {"value": "C"}},
    "model_usage": {
        "m-2": {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110, "input_tokens_cache_read": 60}
    },
    "attachments": {"long": "A long question."},
    "uuid": "uuid-1",
}
INSPECT = {
    "version": 2,
    "status": "success",
    "eval": {"eval_id": "ev1", "run_id": "run1", "task": "guess", "model": "provider/m-2"},
    "plan": {"name": "plan", "steps": []},
    "samples": [INSPECT_SAMPLE, {"id": 2, "epoch": 1, "messages": [], "scores": {"match": {"value": "I"}}}],
}


def inspect_archive(**members: bytes) -> bytes:
    """An `.eval` of our own making; names are given with a dot for the slash."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", document({key: INSPECT[key] for key in ("version", "status", "eval")}))
        archive.writestr("samples/s1_epoch_1.json", document(INSPECT_SAMPLE))
        for name, data in members.items():
            archive.writestr(f"samples/{name}.json", data)
    return packed.getvalue()


HERMES = {
    "session_id": "20260101_120000_abcdef",
    "model": "hermes-4",
    "base_url": "http://localhost",
    "platform": "cli",
    "session_start": "2026-01-01T12:00:00",
    "last_updated": "2026-01-01T12:05:00",
    "system_prompt": "You are Hermes.",
    "tools": [],
    "message_count": 4,
    "messages": [
        {"role": "user", "content": "List files."},
        {
            "role": "assistant",
            "content": "",
            "finish_reason": "tool_calls",
            "tool_calls": [{**call("call_t", "terminal", command="ls"), "call_id": "call_t"}],
        },
        {"role": "tool", "tool_call_id": "call_t", "content": '{"output": "a", "exit_code": 0, "error": null}'},
        {"role": "assistant", "content": "There is one.", "finish_reason": "stop"},
    ],
}
HERMES_LINES = [
    {"role": "session_meta", "model": "hermes-4", "platform": "cli", "tools": []},
    *[{**message, "timestamp": "2026-01-01T12:00:01"} for message in HERMES["messages"]],
]
HERMES_ARCHIVE = {
    "schema_version": 1,
    "producer": "hermes/0.9.0",
    "session_id": "arch-1",
    "created_at": "2026-01-01T09:00:00Z",
    "ended_at": "2026-01-01T09:42:00Z",
    "end_reason": "user_stop",
    "parent_session_id": "arch-0",
    "parent_relationship": "resume",
    "repository_cwd": "/repo",
    "messages": [
        {"role": "user", "timestamp": "2026-01-01T09:00:05Z", "text": "Fix.", "tool_calls": [], "tool_results": []},
        {
            "role": "assistant",
            "timestamp": "2026-01-01T09:00:20Z",
            "text": "I look.",
            "tool_calls": [{"action_id": "c-1", "tool_name": "read_file", "arguments_json": '{"path": "a.py"}'}],
            "tool_results": [],
        },
        {
            "role": "tool",
            "timestamp": "2026-01-01T09:00:21Z",
            "text": None,
            "tool_calls": [],
            "tool_results": [{"action_id": "c-1", "is_error": True, "exit_code": 2, "output_preview": "no such file"}],
        },
    ],
    "usage": {"input_tokens": 10, "output_tokens": 5, "cache_read_tokens": 2},
    "cost": {"estimated_cost_usd": 0.25, "actual_cost_usd": None},
}
ATIF = {
    "schema_version": "ATIF-v1.5",
    "session_id": "atif-1",
    "agent": {"name": "hermes-agent", "version": "0.19", "model_name": "hermes-4"},
    "steps": [
        {"step_id": 1, "timestamp": "2026-01-01T10:00:00Z", "source": "user", "message": "Two at once."},
        {
            "step_id": 2,
            "timestamp": "2026-01-01T10:00:02Z",
            "source": "agent",
            "message": "Yes.",
            "model_name": "hermes-4",
            # The ids were taken out: two calls share one, and results come in the order of the calls.
            "tool_calls": [
                {"tool_call_id": "<id>", "function_name": "process", "arguments": {"n": 1}},
                {"tool_call_id": "<id>", "function_name": "process", "arguments": {"n": 1}},
            ],
            "observation": {
                "results": [{"source_call_id": "<id>", "content": "one"}, {"source_call_id": "<id>", "content": "two"}]
            },
            "metrics": {"prompt_tokens": 100, "completion_tokens": 7, "cached_tokens": 80},
        },
    ],
}

ANTHROPIC = [
    {"role": "user", "content": "Read a.txt and b.txt."},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "text", "text": "I read."},
            {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a.txt"}},
            {"type": "tool_use", "id": "toolu_2", "name": "read", "input": {"path": "b.txt"}},
            {"type": "tool_use", "id": "toolu_3", "name": "read", "input": {"path": "c.txt"}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "toolu_2", "content": "ENOENT", "is_error": True},
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "A"}]},
            {"type": "tool_result", "tool_use_id": "toolu_3", "is_error": False},
            {"type": "text", "text": "Go on."},
        ],
    },
]

MANAGED = [
    {"type": "user.message", "id": "e1", "content": [{"type": "text", "text": "Build."}]},
    {"type": "span.model_request_start", "id": "e2"},
    {"type": "agent.message", "id": "e3", "content": [{"type": "text", "text": "I build."}]},
    {
        "type": "agent.tool_use",
        "id": "t1",
        "name": "bash",
        "input": {"command": "make"},
        "evaluated_permission": "allow",
    },
    {"type": "agent.tool_use", "id": "t2", "name": "bash", "input": {"command": "rm"}, "evaluated_permission": "ask"},
    {"type": "span.model_request_end", "id": "e4", "model_usage": {"input_tokens": 9, "output_tokens": 3}},
    {"type": "user.tool_confirmation", "id": "e5", "tool_use_id": "t2", "result": "deny", "deny_message": "No."},
    {"type": "agent.tool_result", "id": "e6", "tool_use_id": "t1", "content": [{"text": "ok"}], "is_error": False},
    {"type": "agent.tool_use", "id": "t3", "name": "bash", "input": {"command": "sleep"}},
    {"type": "user.interrupt", "id": "e7"},
    {"type": "session.status_idle", "id": "e8"},
]
MANAGED_WRAPPED = [
    {"role": event["type"].split(".")[0], "kind": "event", "time": "2026-02-01T00:00:00Z", "raw": event}
    for event in MANAGED
]


def copilot_event(kind: str, number: int, **data: Any) -> dict[str, Any]:
    time = f"2026-02-01T00:00:{number:02d}.000Z"
    return {"type": kind, "data": data, "id": f"e{number}", "timestamp": time, "parentId": f"e{number - 1}"}


COPILOT = [
    copilot_event("session.start", 0, sessionId="cop-1", copilotVersion="1.0", context={"cwd": "/w"}),
    copilot_event("user.message", 1, content="Test it."),
    copilot_event(
        "assistant.message",
        2,
        messageId="m1",
        content="I test.",
        toolRequests=[
            {"toolCallId": "t1", "name": "bash", "arguments": {"command": "pytest"}},
            {"toolCallId": "t2", "name": "bash", "arguments": {"command": "rm"}},
        ],
    ),
    copilot_event("tool.execution_start", 3, toolCallId="t1", toolName="bash", arguments={"command": "pytest"}),
    copilot_event("tool.execution_complete", 4, toolCallId="t1", success=True, result={"content": "2 passed"}),
    copilot_event(
        "tool.execution_complete",
        5,
        toolCallId="t2",
        success=False,
        error={"message": "The user rejected this tool call.", "code": "rejected"},
    ),
    copilot_event("tool.execution_start", 6, toolCallId="t3", toolName="view", arguments={"path": "/x"}),
    copilot_event(
        "tool.execution_complete", 7, toolCallId="t3", success=False, error={"message": "Path does not exist"}
    ),
    copilot_event("assistant.turn_end", 8, turnId="0"),
]

OPENHANDS = [
    {"id": 0, "timestamp": "2026-03-01T00:00:00", "source": "user", "action": "message", "args": {"content": "Fix."}},
    {
        "id": 1,
        "timestamp": "2026-03-01T00:00:01",
        "source": "agent",
        "action": "run",
        "args": {"command": "pytest", "thought": "Run the tests."},
        "tool_call_metadata": {
            "function_name": "execute_bash",
            "tool_call_id": "toolu_9",
            "model_response": {
                "id": "resp-1",
                "model": "m-3",
                "choices": [{"message": {"tool_calls": [call("toolu_9", "execute_bash", command="pytest -q")]}}],
                "usage": {"prompt_tokens": 50, "completion_tokens": 5},
            },
        },
    },
    {
        "id": 2,
        "timestamp": "2026-03-01T00:00:03",
        "source": "agent",
        "observation": "run",
        "cause": 1,
        "content": "1 failed",
        "extras": {"command": "pytest -q", "metadata": {"exit_code": 1}},
    },
    {"id": 3, "source": "agent", "action": "edit", "args": {"path": "a.py", "thought": ""}},
    {"id": 4, "source": "agent", "observation": "error", "cause": 3, "content": "No match", "extras": {}},
    {"id": 5, "source": "agent", "action": "run", "args": {"command": "rm -rf /"}},
    {"id": 6, "source": "agent", "observation": "user_rejected", "cause": 5, "content": "Rejected", "extras": {}},
    {"id": 7, "source": "environment", "observation": "agent_state_changed", "content": "", "extras": {}},
]
OPENHANDS_RECORD = {
    "instance_id": "django-1",
    "history": [[OPENHANDS[1], OPENHANDS[2]], [OPENHANDS[3], OPENHANDS[4]]],
    "metrics": {"accumulated_cost": 0.75},
    "test_result": {"report": {"resolved": False}},
}
OPENHANDS_NEW = [
    {
        "kind": "MessageEvent",
        "id": "a",
        "source": "user",
        "llm_message": {"role": "user", "content": [{"text": "Go."}]},
    },
    {
        "kind": "ActionEvent",
        "id": "b",
        "source": "agent",
        "thought": [{"type": "text", "text": "I look."}],
        "tool_name": "terminal",
        "tool_call_id": "n1",
        "action": {"kind": "TerminalAction", "command": "ls"},
    },
    {
        "kind": "ObservationEvent",
        "id": "c",
        "tool_name": "terminal",
        "tool_call_id": "n1",
        "observation": {"kind": "TerminalObservation", "content": [{"text": "none"}], "is_error": True, "exit_code": 2},
    },
]


def attributes(**values: Any) -> list[dict[str, Any]]:
    kinds = {str: "stringValue", int: "intValue"}
    return [
        {
            "key": key.replace("__", "."),
            "value": {kinds[type(value)]: str(value) if isinstance(value, int) else value},
        }
        for key, value in values.items()
    ]


def span(name: str, start: int, status: int = 0, **values: Any) -> dict[str, Any]:
    return {
        "traceId": "trace-1",
        "spanId": f"s{start}",
        "name": name,
        "startTimeUnixNano": str(1_760_000_000_000_000_000 + start * 1_000_000_000),
        "endTimeUnixNano": str(1_760_000_000_500_000_000 + start * 1_000_000_000),
        "attributes": attributes(**values),
        "status": {"code": status} if status else {},
    }


_ASKED = [{"role": "user", "parts": [{"type": "text", "content": "Weather?"}]}]
_ANSWER = [
    {
        "role": "assistant",
        "parts": [
            {"type": "text", "content": "I ask."},
            {"type": "tool_call", "id": "w1", "name": "weather", "arguments": {"city": "Oslo"}},
            {"type": "tool_call", "id": "w2", "name": "weather", "arguments": {"city": "Rome"}},
        ],
        "finish_reason": "tool_call",
    }
]
_RESULTS = [{"role": "tool", "parts": [{"type": "tool_call_response", "id": "w1", "response": "rain"}]}]
OTEL_SPANS = [
    span(
        "execute_tool weather",
        3,
        2,
        gen_ai__operation__name="execute_tool",
        gen_ai__tool__name="weather",
        gen_ai__tool__call__id="w2",
        error__type="timeout",
    ),
    span(
        "chat m-4",
        1,
        gen_ai__operation__name="chat",
        gen_ai__conversation__id="conv-1",
        gen_ai__request__model="m-4",
        gen_ai__usage__input_tokens=30,
        gen_ai__usage__output_tokens=4,
        gen_ai__usage__cache_read__input_tokens=10,
        gen_ai__input__messages=json.dumps(_ASKED),
        gen_ai__output__messages=json.dumps(_ANSWER),
    ),
    span(
        "execute_tool weather",
        2,
        gen_ai__operation__name="execute_tool",
        gen_ai__tool__name="weather",
        gen_ai__tool__call__id="w1",
        gen_ai__tool__call__arguments='{"city": "Oslo"}',
    ),
    span(
        "chat m-4",
        4,
        gen_ai__operation__name="chat",
        gen_ai__conversation__id="conv-1",
        gen_ai__request__model="m-4",
        gen_ai__input__messages=json.dumps(_ASKED + _ANSWER + _RESULTS),
        gen_ai__output__messages=json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "Rain."}]}]),
    ),
    {"traceId": "trace-1", "spanId": "http", "name": "GET /", "attributes": []},
]
OTEL = {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": OTEL_SPANS}]}]}
OTEL_FLAT = {
    "name": "execute_tool look",
    "context": {"trace_id": "0xaa", "span_id": "0xbb"},
    "start_time": "2026-02-01T00:00:00Z",
    "end_time": "2026-02-01T00:00:01Z",
    "status": {"status_code": "ERROR", "description": "boom"},
    "attributes": {"gen_ai.tool.name": "look", "gen_ai.tool.call.arguments": '{"a": 1}'},
    "events": [],
}

SHAREGPT = {
    "conversations": [
        {"from": "system", "value": "Call functions."},
        {"from": "human", "value": "Time?"},
        {
            "from": "gpt",
            "value": '<think>hm</think>\nI ask.\n<tool_call>{"name": "clock", "arguments": {"tz": "UTC"}}</tool_call>',
        },
        {
            "from": "tool",
            "value": '<tool_response>\n{"tool_call_id": "call_c", "name": "clock", "content": "noon"}</tool_response>',
        },
        {"from": "gpt", "value": 'Again.\n<tool_call>\n{"name": "clock", "arguments": {}}\n</tool_call>'},
        {"from": "tool", "value": "<tool_response>\nplain text\n</tool_response>"},
        {"from": "gpt", "value": "Noon."},
    ],
    "timestamp": "2026-01-01T00:00:00",
    "model": "hermes-4",
    "completed": True,
}

FIXTURES: dict[str, tuple[str, str, bytes]] = {
    "claude-code": ("claude_code", "s.jsonl", b"".join(story())),
    "codex": ("codex", "rollout.jsonl", b"".join(codex_story())),
    "openai messages": ("openai_log", "log.json", document(OPENAI)),
    "openai lines": ("openai_log", "log.jsonl", lines(*OPENAI)),
    "openai records": ("openai_log", "log.jsonl", lines({"id": "r1", "messages": OPENAI}, {"messages": OPENAI[:2]})),
    "openai requests": (
        "openai_log",
        "log.jsonl",
        lines({"request": {"messages": OPENAI[:2]}, "response": {"choices": [{"message": OPENAI[2]}]}}),
    ),
    "tau-bench": ("tau_bench", "run.json", document(TAU)),
    "tau-bench lines": ("tau_bench", "run.jsonl", lines(*TAU)),
    "swe-agent": ("swe_agent", "task.traj", document(SWE)),
    "swe-agent history": ("swe_agent", "demo.traj", document(SWE_HISTORY)),
    "mini-swe-agent text": ("mini_swe_agent", "a.traj.json", document(MINI_TEXT)),
    "mini-swe-agent tools": ("mini_swe_agent", "b.traj.json", document(MINI_TOOLS)),
    "gemini": ("gemini", "session.json", document(GEMINI)),
    "gemini lines": ("gemini", "session.jsonl", lines(*GEMINI_LINES)),
    "inspect": ("inspect_log", "log.json", document(INSPECT)),
    "inspect archive": ("inspect_log", "log.eval", inspect_archive()),
    "hermes": ("hermes_file", "session_20260101_120000_abcdef.json", document(HERMES)),
    "hermes lines": ("hermes_file", "20260101_120000_abcdef.jsonl", lines(*HERMES_LINES)),
    "hermes archive": ("hermes_file", "export.json", document(HERMES_ARCHIVE)),
    "atif": ("atif", "atif.json", document(ATIF)),
    "anthropic messages": ("anthropic_log", "log.json", document(ANTHROPIC)),
    "anthropic lines": ("anthropic_log", "log.jsonl", lines(*ANTHROPIC)),
    "anthropic records": ("anthropic_log", "log.jsonl", lines({"model": "c-1", "system": "S", "messages": ANTHROPIC})),
    "managed": ("managed_agent", "events.jsonl", lines(*MANAGED)),
    "managed wrapped": ("managed_agent", "events.json", document(MANAGED_WRAPPED)),
    "copilot": ("copilot", "events.jsonl", lines(*COPILOT)),
    "opencode": ("opencode", "ses_1.json", document(OPENCODE)),
    "pi": ("pi", "2026-04-23T02-13-15-937Z_019db81c.jsonl", lines(*PI)),
    "qwen": ("qwen", "q1.jsonl", lines(*QWEN)),
    "cline text": ("cline", "api_conversation_history.json", document(CLINE_OLD)),
    "cline": ("cline", "s1.messages.json", document(CLINE_NEW)),
    "vscode": ("vscode", "v1.json", document(VSCODE)),
    "vscode lines": ("vscode", "v1.jsonl", lines(*VSCODE_LINES)),
    "openhands": ("openhands", "trajectory.json", document(OPENHANDS)),
    "openhands lines": ("openhands", "events.jsonl", lines(*OPENHANDS)),
    "openhands record": ("openhands", "output.jsonl", lines(OPENHANDS_RECORD)),
    "openhands new": ("openhands", "new.jsonl", lines(*OPENHANDS_NEW)),
    "otel": ("otel", "traces.json", document(OTEL)),
    "otel lines": ("otel", "traces.jsonl", lines(OTEL, OTEL)),
    "otel flat": ("otel", "spans.jsonl", lines(OTEL_FLAT)),
    "sharegpt": ("sharegpt", "trajectories.jsonl", lines(SHAREGPT, {"conversations": SHAREGPT["conversations"][:2]})),
    "sharegpt document": ("sharegpt", "one.json", document(SHAREGPT)),
}


def write(folder: Path, name: str, data: bytes | None = None) -> tuple[Format, Path]:
    """Puts a fixture into a folder, or other bytes in its stead; returns its reader and its path."""
    module, file_name, own = FIXTURES[name]
    path = folder / file_name
    path.write_bytes(own if data is None else data)
    return named(module), path


def read(folder: Path, name: str, data: bytes | None = None) -> list[Session]:
    """The sessions of a fixture."""
    reader, path = write(folder, name, data)
    return list(reader.read(path))
