"""Writes a story as an exported session of Hermes: OpenAI messages whose tool results are JSON in a string."""

from __future__ import annotations

import json
from typing import Any

from samples.dice import Clock, Dice
from samples.project import Effect, Project, perform
from samples.story import Call, Do, Edit, Find, Other, Plan, Read, Resume, Say, Shell, Step, Story, User, Write
from samples.truth import Ledger

ROOT = "/home/mira/waypost"
_PROMPT = "You are Hermes, the helper of the Waypost team. Use the tools, be brief, and keep what is worth keeping."
_PARAMETERS = {
    "terminal": ("Run a command in the shell.", ("command", "timeout", "background")),
    "read_file": ("Read a text file with line numbers.", ("path", "offset", "limit")),
    "write_file": ("Write a whole file.", ("path", "content")),
    "search_files": ("Search in files.", ("pattern", "target", "path")),
    "patch": ("Replace text in a file.", ("mode", "path", "old_string", "new_string")),
    "execute_code": ("Run Python code.", ("code",)),
    "memory": ("Keep notes across sessions.", ("action", "target", "content", "old_text")),
    "todo": ("Keep a list of things to do.", ("todos",)),
}


class HermesWriter:
    """One exported session."""

    def __init__(self, story: Story, project: Project) -> None:
        self.project = project
        self.dice = Dice(f"hermes {story.name}")
        self.clock = Clock(story.start)
        self.options = story.options
        stamp = story.start.replace("-", "").replace(":", "").replace("T", "_")
        self.session = f"{stamp}_{self.dice.hex(6)}"
        self.start = story.start
        self.file = f"hermes/session_{self.session}.json"
        self.ledger = Ledger("hermes", self.file, self.session)
        self.messages: list[dict[str, Any]] = []

    def goes_on_from(self, other: HermesWriter) -> None:
        """Carry the other session's history, as a session does that was continued under a new id."""
        self.messages += other.messages
        self.ledger.copy_from(other.ledger)
        self.ledger.belongs_to(other.ledger, "resume")

    def play(self, steps: tuple[Step, ...]) -> None:
        """Write every step of a story."""
        for step in steps:
            match step:
                case User():
                    self.clock.tick(step.after)
                    self.messages.append({"role": "user", "content": step.text})
                case Do():
                    self._do(step)
                case Say():
                    self.clock.tick(4)
                    self.messages.append({"role": "assistant", "content": step.text, "finish_reason": "stop"})
                case Resume():
                    self.clock.tick(step.hours * 3600)
                case _:
                    raise TypeError(step)

    def _do(self, step: Do) -> None:
        self.clock.tick(3 + self.dice.number(0, 5))
        natives = [(call, "call_" + self.dice.letters(24), *_native(call)) for call in step.calls]
        calls = []
        for _, call_id, name, arguments in natives:
            function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
            ids = {"id": call_id, "call_id": call_id, "response_item_id": "fc_" + call_id[5:]}
            calls.append(ids | {"type": "function", "function": function})
        message = {"role": "assistant", "content": step.text, "finish_reason": "tool_calls", "tool_calls": calls}
        self.messages.append(message)
        for call, call_id, name, _ in natives:
            self.clock.tick(call.seconds if isinstance(call, Shell) else 0.3)
            effect = perform(call, self.project)
            self.ledger.plant(call, call_id, name, failed=effect.failed)
            if call.fate != "lost":
                self.messages.append({"role": "tool", "content": _words(call, effect), "tool_call_id": call_id})

    def render(self) -> str:
        """The file as Hermes writes it."""
        whole = {
            "session_id": self.session,
            "model": self.options.get("model", "hermes-4-70b"),
            "base_url": "https://models.waypost.example/v1",
            "platform": self.options.get("platform", "cli"),
            "session_start": self.start,
            "last_updated": self.clock.now.strftime("%Y-%m-%dT%H:%M:%S"),
            "system_prompt": _PROMPT,
            "tools": [_schema(name) for name in _PARAMETERS],
            "message_count": len(self.messages),
            "messages": self.messages,
        }
        return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _schema(name: str) -> dict[str, Any]:
    description, parameters = _PARAMETERS[name]
    properties = {parameter: {"type": "string"} for parameter in parameters}
    schema = {"type": "object", "properties": properties, "required": [parameters[0]]}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


def _full(path: str) -> str:
    return f"{ROOT}/{path}" if path else ROOT


def _native(call: Call) -> tuple[str, dict[str, Any]]:
    match call:
        case Shell():
            return "terminal", {"command": call.command}
        case Read():
            part = {} if call.limit is None else {"offset": call.first, "limit": call.limit}
            return "read_file", {"path": _full(call.path), **part}
        case Find():
            return "search_files", {"pattern": call.text, "path": _full(call.path)}
        case Edit():
            places = {"path": _full(call.path), "old_string": call.old, "new_string": call.new}
            return "patch", {"mode": "replace", **places}
        case Write():
            return "write_file", {"path": _full(call.path), "content": call.content}
        case Plan():
            return "todo", {"todos": _todos(call)}
        case Other():
            return call.tool, call.arguments
    raise TypeError(call)


def _todos(call: Plan) -> list[dict[str, str]]:
    states = ["completed"] * call.done + ["in_progress"] + ["pending"] * len(call.items)
    return [{"id": str(n + 1), "content": item, "status": states[n]} for n, item in enumerate(call.items)]


def _words(call: Call, effect: Effect) -> str:
    if isinstance(call, Other) and isinstance(call.result, str):
        return call.result
    return json.dumps(_answer(call, effect), ensure_ascii=False)


def _answer(call: Call, effect: Effect) -> dict[str, Any]:
    if call.fate == "declined":
        return {"output": "", "exit_code": -1, "error": "BLOCKED: the user denied this command.", "status": "blocked"}
    match call:
        case Shell():
            answer = {"output": call.output, "exit_code": call.code, "error": None}
            return answer | ({"exit_code_meaning": f"{call.benign} (not an error)"} if call.benign else {})
        case Read():
            return _read_answer(call, effect)
        case Find():
            return _find_answer(call, effect)
        case Edit():
            return _patch_answer(call, effect)
        case Write():
            lint = {"status": "ok", "output": ""}
            written = {"bytes_written": len(call.content.encode()), "dirs_created": True, "lint": lint}
            return written | {"resolved_path": _full(call.path), "files_modified": [_full(call.path)]}
        case Plan():
            left = len(call.items) - call.done
            summary = {"total": len(call.items), "pending": max(left - 1, 0), "in_progress": min(left, 1)}
            return {"todos": _todos(call), "summary": summary | {"completed": call.done, "cancelled": 0}}
        case Other():
            return dict(call.result)
    raise TypeError(call)


def _read_answer(call: Read, effect: Effect) -> dict[str, Any]:
    if effect.failed:
        nothing = {"content": "", "total_lines": 0, "file_size": 0, "truncated": False}
        return nothing | {"is_binary": False, "is_image": False, "error": f"File not found: {_full(call.path)}"}
    lines = effect.text.split("\n")
    content = "\n".join(f"{n}|{line}" for n, line in enumerate(lines, call.first))
    sizes = {"total_lines": effect.total, "file_size": len(effect.text.encode()), "truncated": False}
    return {"content": content, **sizes, "is_binary": False, "is_image": False}


def _find_answer(call: Find, effect: Effect) -> dict[str, Any]:
    if effect.failed:
        return {"total_count": 0, "error": f"Path not found: {_full(call.path)}"}
    matches = [{"path": _full(path), "line": n, "content": line} for path, n, line in effect.matches]
    return {"total_count": len(matches), **({"matches": matches} if matches else {})}


def _patch_answer(call: Edit, effect: Effect) -> dict[str, Any]:
    if effect.failed:
        hint = "old_string not found. Use read_file to verify the current content, or search_files to locate the text."
        error = "Could not find a match for old_string in the file"
        if call.problem == "twice":
            error, hint = "Found 2 matches for old_string", "Give more lines around it, or set replace_all."
        return {"success": False, "error": error, "_hint": hint}
    diff = "\n".join([f"-{line}" for line in call.old.splitlines()] + [f"+{line}" for line in call.new.splitlines()])
    head = f"--- a/{call.path}\n+++ b/{call.path}\n@@ -{effect.total} +{effect.total} @@\n"
    return {"success": True, "diff": head + diff + "\n", "files_modified": [_full(call.path)]}
