"""What an agent sends to a hook and what the hook answers, each in the agent's own form; with next to no imports.

All other modules use one form, that of Claude Code. Codex and our plugin for OpenCode use it themselves, Qwen Code in
all but results.
"""

from __future__ import annotations

import _thread  # not threading, which takes a millisecond to import
import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    _Event: TypeAlias = dict[str, Any]

MOST_BYTES = 20_000_000
_NOTE_SECONDS = 0.3
# A field that agents read next to those of the event.
_FOR_THE_USER = "systemMessage"
# What Gemini CLI calls events whose name must be in the answer.
_GEMINI_NAMES = {
    "UserPromptSubmit": "BeforeAgent",
    "PreToolUse": "BeforeTool",
    "PostToolUse": "AfterTool",
    "PostToolUseFailure": "AfterTool",
}
_GEMINI_CONTEXT = ("<hook_context>", "</hook_context>")
_COPILOT_NAMES = {
    "sessionId": "session_id",
    "transcriptPath": "transcript_path",
    "toolName": "tool_name",
    "toolArgs": "tool_input",
}
_agent = ""
_received: bytes | None = None


def speak_as(agent: str) -> None:
    """Read and answer the event of this process in the form of this agent."""
    global _agent
    _agent = agent


def received() -> bytes:
    """The event that the agent sent, in Claude Code's form; read once."""
    global _received
    if _received is None:
        _received = translated(_agent, sys.stdin.buffer.read(MOST_BYTES))
    return _received


def say(name: str, **fields: str) -> None:
    """Answer an event of this name; what this agent cannot be told is left out."""
    if said := answer(_agent, name, fields):
        # The bytes of a lone surrogate cannot be written as UTF-8, and would end the hook with an error.
        sys.stdout.buffer.write(f"{json.dumps(said, ensure_ascii=False)}\n".encode("utf-8", "replace"))
        sys.stdout.buffer.flush()


def end_after(seconds: float, note: Callable[[], None]) -> Callable[[], None]:
    """End this process after some time, since the agent waits for it, and note that; returns how to cancel it."""
    called_off = _thread.allocate_lock()
    called_off.acquire()

    def end() -> None:
        if not called_off.acquire(timeout=seconds):
            # In another thread: noting that may hang as well.
            _thread.start_new_thread(note, ())
            called_off.acquire(timeout=_NOTE_SECONDS)
            os._exit(0)

    _thread.start_new_thread(end, ())
    return called_off.release


def translated(agent: str, data: bytes) -> bytes:
    """An event in Claude Code's form; unchanged if it cannot be read, which the hook then reports."""
    if agent not in _FROM or len(data) >= MOST_BYTES:
        return data
    try:
        event = json.loads(data)
        return json.dumps(_FROM[agent](event)).encode() if isinstance(event, dict) else data
    except (ValueError, RecursionError):
        return data


def answer(agent: str, name: str, fields: dict[str, str]) -> _Event:
    """An answer in the form of this agent."""
    return _TO.get(agent, _to_claude_code)(name, fields)


def _to_claude_code(name: str, fields: dict[str, str]) -> _Event:
    own = {key: text for key, text in fields.items() if key != _FOR_THE_USER}
    # Agents may refuse an answer to an event that says nothing.
    said: _Event = {"hookSpecificOutput": {"hookEventName": name, **own}} if own else {}
    return said | {key: text for key, text in fields.items() if key == _FOR_THE_USER}


def _from_gemini(event: _Event) -> _Event:
    response = event.get("tool_response")
    if isinstance(response, dict):
        # The model sees nothing besides an error of the tool itself, so nothing is looked up.
        event["tool_response"] = "" if response.get("error") else _text(response.get("llmContent"))
    prompt = event.get("prompt")
    opens, ends = _GEMINI_CONTEXT
    if isinstance(prompt, str) and prompt.startswith(opens) and ends in prompt:
        # What hooks said at the start precedes the first prompt, and is not from the user.
        event["prompt"] = prompt.partition(ends)[2].lstrip()
    return event


def _to_gemini(name: str, fields: dict[str, str]) -> _Event:
    said: _Event = {}
    if "permissionDecision" in fields:
        said = {"decision": fields["permissionDecision"], "reason": fields["permissionDecisionReason"]}
    if "additionalContext" in fields:
        told = fields["additionalContext"]
        if name == "SessionStart":
            # It precedes the first prompt, where `@name` makes Gemini CLI add a file of a similar name.
            told = told.replace("@", "\\@")
        said["hookSpecificOutput"] = {"hookEventName": _GEMINI_NAMES.get(name, name), "additionalContext": told}
    if "systemMessage" in fields:
        said["systemMessage"] = fields["systemMessage"]
    return said


def _from_qwen(event: _Event) -> _Event:
    response = event.get("tool_response")
    if isinstance(response, dict) and "llmContent" in response:
        event["tool_response"] = _text(response["llmContent"])
    return event


def _from_copilot(event: _Event) -> _Event:
    known = {_COPILOT_NAMES.get(key, key): value for key, value in event.items()}
    known["tool_input"] = _object(known.get("tool_input"))
    result = event.get("toolResult")
    if isinstance(result, dict):
        known["tool_response"] = _text(result.get("textResultForLlm"))
    if known.get("source") == "new":
        known["source"] = "startup"
    return known


def _to_copilot(name: str, fields: dict[str, str]) -> _Event:
    # It cannot show a line to the user.
    return {key: text for key, text in fields.items() if key != "systemMessage"}


def _from_cursor(event: _Event) -> _Event:
    roots = event.get("workspace_roots")
    root = roots[0] if isinstance(roots, list) and roots else ""
    known = {
        **event,
        "session_id": event.get("conversation_id") or event.get("session_id") or "",
        "cwd": event.get("cwd") or root,
        "tool_input": _object(event.get("tool_input")),
        "error": event.get("error_message"),
        # A text for people. Sessions are read from its database.
        "transcript_path": None,
    }
    if event.get("hook_event_name") == "sessionStart":
        known["source"] = "startup"
    output = event.get("tool_output")
    if output is not None:
        found = _object(output)
        parts = [found.get(key) for key in ("output", "stdout", "stderr")]
        known["tool_response"] = "\n".join(part for part in parts if isinstance(part, str)) or _text(output)
        code = found.get("exitCode", found.get("exit_code"))
        known["exit_code"] = code if isinstance(code, int) else None
    return known


def _to_cursor(name: str, fields: dict[str, str]) -> _Event:
    if "permissionDecision" in fields:
        reason = fields["permissionDecisionReason"]
        return {"permission": fields["permissionDecision"], "user_message": reason, "agent_message": reason}
    return {"additional_context": fields["additionalContext"]} if "additionalContext" in fields else {}


def _text(value: object) -> str:
    """The text of a result, which may come in parts."""
    if isinstance(value, list):
        return "\n".join(_text(part) for part in value)
    if isinstance(value, dict):
        return str(value.get("text", ""))
    return value if isinstance(value, str) else ""


def _object(value: object) -> _Event:
    """Arguments or a result, which some versions send as JSON in a string."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {}
    return value if isinstance(value, dict) else {}


_FROM: dict[str, Callable[[_Event], _Event]] = {
    "gemini": _from_gemini,
    "qwen": _from_qwen,
    "copilot": _from_copilot,
    "cursor": _from_cursor,
}
_TO: dict[str, Callable[[str, dict[str, str]], _Event]] = {
    "gemini": _to_gemini,
    "copilot": _to_copilot,
    "cursor": _to_cursor,
}
