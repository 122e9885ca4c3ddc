"""Writes a story as a session file of Claude Code."""

from __future__ import annotations

import json
from typing import Any

from samples.dice import Clock, Dice
from samples.project import Effect, Project, perform
from samples.story import (
    ApiError,
    Atlas,
    Broken,
    Call,
    Compact,
    Delegate,
    Do,
    Edit,
    Find,
    Interrupt,
    Other,
    Plan,
    Read,
    Resume,
    Say,
    Shell,
    Step,
    Story,
    User,
    Write,
)
from samples.truth import Ledger

ROOT = "/home/mira/waypost"
FOLDER = "claude_code/projects/-home-mira-waypost"
_REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, "
    "the new_string was NOT written to the file). "
)
_STOP = "STOP what you are doing and wait for the user to tell you how to proceed."
_PROBLEMS = {
    "unread": "File has not been read yet. Read it first before writing to it.",
    "absent": "String to replace not found in file.\nString: {old}",
    "twice": "Found 2 matches of the string to replace, but replace_all is false. To replace all occurrences, set "
    "replace_all to true. To replace only one occurrence, please provide more context to uniquely identify the "
    "instance.\nString: {old}",
}


class ClaudeWriter:
    """One session, or the side chain of a sub-agent."""

    def __init__(
        self, story: Story, project: Project, *, agent_id: str = "", parent: ClaudeWriter | None = None
    ) -> None:
        self.project = project
        self.dice = Dice(f"claude {story.name} {agent_id}")
        self.clock: Clock = parent.clock if parent else Clock(story.start)
        self.session: str = parent.session if parent else self.dice.uuid()
        self.agent_id = agent_id
        self.version: str = story.options.get("version", "2.1.39")
        self.model: str = story.options.get("model", "claude-sonnet-4-5-20250929")
        self.branch: str = story.options.get("branch", "main")
        self.modern = int(self.version.split(".")[2]) > 100
        folder = f"{FOLDER}/{self.session}"
        self.file = f"{folder}/subagents/agent-{agent_id}.jsonl" if agent_id else f"{folder}.jsonl"
        self.ledger = Ledger("claude-code", self.file, f"{self.session}/agent-{agent_id}" if agent_id else self.session)
        self.side: list[ClaudeWriter] = []
        self.lines: list[str] = []
        self.parent_uuid: str | None = None
        self.context = 0
        self.fresh = 14_200 + self.dice.number(0, 900)
        self.prompt_id = self.dice.uuid()
        self.todos: list[dict[str, str]] = []

    def play(self, steps: tuple[Step, ...]) -> None:
        """Write every step of a story."""
        for step in steps:
            match step:
                case User():
                    self._user(step)
                case Do():
                    self._do(step)
                case Say():
                    self._assistant([{"type": "text", "text": step.text}], "end_turn")
                case Compact():
                    self._compact(step)
                case Interrupt():
                    self._message_of_user([{"type": "text", "text": "[Request interrupted by user for tool use]"}])
                case Resume():
                    self.clock.tick(step.hours * 3600)
                case Broken():
                    self._broken()
                case ApiError():
                    self._api_error()
                case Delegate():
                    self._delegate(step)

    def fork_of(self, other: ClaudeWriter) -> None:
        """Begin with the other session's history: the same message ids under a new session id."""
        for line in other.lines:
            try:
                record = json.loads(line)
            except json.JSONDecodeError:
                continue
            if record.get("type") in ("user", "assistant", "system"):
                record["sessionId"] = self.session
                self.lines.append(_dump(record))
        self.ledger.copy_from(other.ledger)
        self.ledger.belongs_to(other.ledger, "fork")
        self.parent_uuid, self.context, self.fresh = other.parent_uuid, other.context, other.fresh

    # Lines

    def _put(self, kind: str, body: dict[str, Any], *, parent: str | None = "", uuid: str | None = None) -> str:
        uuid = uuid or self.dice.uuid()
        record: dict[str, Any] = {
            "parentUuid": self.parent_uuid if parent == "" else parent,
            "isSidechain": bool(self.agent_id),
            "userType": "external",
            "cwd": ROOT,
            "sessionId": self.session,
            "version": self.version,
            "gitBranch": self.branch,
        }
        if self.agent_id:
            record["agentId"] = self.agent_id
        if self.modern:
            record["entrypoint"] = "cli"
        record |= {"type": kind, **body, "uuid": uuid, "timestamp": self.clock.stamp}
        self.lines.append(_dump(record))
        self.parent_uuid = uuid
        return uuid

    def _user(self, step: User) -> None:
        self.clock.tick(step.after)
        self.prompt_id = self.dice.uuid()
        if self.modern and not self.agent_id:
            for operation in ("enqueue", "dequeue"):
                line = {"type": "queue-operation", "operation": operation, "timestamp": self.clock.stamp}
                line["sessionId"] = self.session
                self.lines.append(_dump(line | ({"content": step.text} if operation == "enqueue" else {})))
        self._message_of_user(step.text)

    def _message_of_user(self, content: Any, **more: Any) -> None:
        self.fresh += len(json.dumps(content)) // 4
        body: dict[str, Any] = {"message": {"role": "user", "content": content}, **more}
        if self.modern:
            body["promptId"] = self.prompt_id
        self._put("user", body)

    def _assistant(self, blocks: list[dict[str, Any]], stop: str) -> list[str]:
        self.clock.tick(2 + self.dice.number(0, 6000) / 1000)
        output = sum(len(json.dumps(block)) for block in blocks) // 3 + self.dice.number(8, 60)
        usage = {
            "input_tokens": self.dice.number(3, 9),
            "cache_creation_input_tokens": self.fresh,
            "cache_read_input_tokens": self.context,
            "cache_creation": {"ephemeral_5m_input_tokens": self.fresh, "ephemeral_1h_input_tokens": 0},
            "output_tokens": output,
            "service_tier": "standard",
        }
        head = {"id": "msg_01" + self.dice.letters(22), "type": "message", "role": "assistant", "model": self.model}
        request = "req_011C" + self.dice.letters(20)
        uuids = []
        for block in blocks:
            tail = {"content": [block], "stop_reason": stop, "stop_sequence": None, "usage": usage}
            uuids.append(self._put("assistant", {"message": {**head, **tail}, "requestId": request}))
            self.clock.tick(0.4)
        self.context, self.fresh = self.context + self.fresh, output
        return uuids

    def _do(self, step: Do) -> None:
        natives = [(call, "toolu_01" + self.dice.letters(22), *_native(call)) for call in step.calls]
        blocks: list[dict[str, Any]] = [{"type": "text", "text": step.text}] if step.text else []
        for _, call_id, name, arguments in natives:
            blocks.append({"type": "tool_use", "id": call_id, "name": name, "input": arguments})
        uuids = self._assistant(blocks, "tool_use")[-len(natives) :]
        order = sorted(range(len(natives)), key=lambda n: natives[n][0].fate == "late")
        for n in order:
            call, call_id, name, _ = natives[n]
            effect = perform(call, self.project)
            self.ledger.plant(call, call_id, name, failed=effect.failed)
            self.clock.tick(call.seconds if isinstance(call, Shell) else 0.2)
            if call.fate == "late":
                self._progress(call_id, uuids[n])
            if call.fate != "lost":
                self._result(call, effect, call_id, uuids[n])

    def _result(self, call: Call, effect: Effect, call_id: str, source: str) -> None:
        text, beside, is_error = self._words(call, effect)
        block: dict[str, Any] = {"tool_use_id": call_id, "type": "tool_result", "content": text}
        hidden = call.verdict == "failed" and not is_error  # what a pipe hid is left unmarked
        if (is_error or isinstance(call, Shell)) and not hidden:
            block["is_error"] = is_error
        body: dict[str, Any] = {"message": {"role": "user", "content": [block]}, "toolUseResult": beside}
        if call.fate == "declined" and self.modern:
            body["toolDenialKind"] = "user-rejected"
            body["permissionDecision"] = {"decision": "reject", "source": "user_reject"}
        if self.modern:
            body["promptId"] = self.prompt_id
        self.fresh += len(json.dumps(text)) // 4
        self._put("user", body | {"sourceToolAssistantUUID": source}, parent=source)

    def _words(self, call: Call, effect: Effect) -> tuple[Any, Any, bool]:
        """The result as the model sees it, what stands beside it, and the flag."""
        if call.fate == "declined":
            text = _REJECTED + (f"To tell you how to proceed, the user said:\n{call.reply}" if call.reply else _STOP)
            return text, f"Error: {text}" if call.reply else "User rejected tool use", True
        if call.fate == "cancelled":
            return "<tool_use_error>Sibling tool call errored</tool_use_error>", "Sibling tool call errored", True
        match call:
            case Shell():
                return _shell_words(call)
            case Read() if not effect.failed:
                return _read_words(call, effect)
            case Find() if not effect.failed:
                return _find_words(call, effect)
            case Edit() if not effect.failed:
                return _edit_words(call, effect)
            case Write():
                beside: dict[str, Any] = {"type": "create", "filePath": _full(call.path), "content": call.content}
                beside |= {"structuredPatch": [], "originalFile": None}
                return f"File created successfully at: {_full(call.path)}", beside, False
            case Plan():
                return self._plan_words(call)
            case Atlas() if not effect.failed:
                return [{"type": "text", "text": effect.text}], [{"type": "text", "text": effect.text}], False
            case Atlas():
                text = f"### Error\npath not in workspace: {call.path}"
                return [{"type": "text", "text": text}], f"Error: {text}", True
            case Other():
                return call.result, call.data, call.failed
        reason = _refusal(call)
        return f"<tool_use_error>{reason}</tool_use_error>", f"Error: {reason}", True

    def _plan_words(self, call: Plan) -> tuple[str, dict[str, Any], bool]:
        old, self.todos = self.todos, _todos(call)
        text = "Todos have been modified successfully. Ensure that you continue to use the todo list to track your "
        text += "progress. Please proceed with the current tasks if applicable"
        return text, {"oldTodos": old, "newTodos": self.todos}, False

    def _progress(self, call_id: str, source: str) -> None:
        """Signs of life of a slow command, so that its result lies far from its call."""
        for second in range(2, 56):
            self.clock.tick(1)
            data = {"type": "bash_progress", "output": "", "elapsedTimeSeconds": second, "totalLines": 0}
            line: dict[str, Any] = {
                "type": "progress",
                "sessionId": self.session,
                "parentUuid": source,
                "parentToolUseID": call_id,
            }
            line |= {"toolUseID": f"bash-progress-{second}", "data": data, "uuid": self.dice.uuid()}
            self.lines.append(_dump(line | {"timestamp": self.clock.stamp}))

    def _compact(self, step: Compact) -> None:
        before, self.context, self.fresh = self.context + self.fresh, 0, 16_000
        meta = {"trigger": "auto", "preTokens": before + 96_000}
        last = self.parent_uuid
        body: dict[str, Any] = {
            "subtype": "compact_boundary",
            "content": "Conversation compacted",
            "isMeta": False,
            "level": "info",
        }
        body |= {"logicalParentUuid": last, "compactMetadata": meta}
        self._put("system", body, parent=None)
        text = "This session is being continued from a previous conversation that ran out of context. "
        text += f"The summary below covers the earlier portion of the conversation.\n\n{step.summary}"
        self._message_of_user(text, isVisibleInTranscriptOnly=True, isCompactSummary=True)

    def _broken(self) -> None:
        """A line that was being written when the machine went down."""
        whole: dict[str, Any] = {
            "parentUuid": self.parent_uuid,
            "isSidechain": False,
            "userType": "external",
            "cwd": ROOT,
        }
        whole |= {"sessionId": self.session, "type": "assistant", "message": {"role": "assistant", "content": []}}
        self.lines.append(_dump(whole)[:-38])

    def _api_error(self) -> None:
        text = "API Error: 529 Overloaded. The server is busy; try again in a moment."
        message: dict[str, Any] = {
            "id": self.dice.uuid(),
            "type": "message",
            "role": "assistant",
            "model": "<synthetic>",
        }
        usage = {"input_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 0}
        message |= {"content": [{"type": "text", "text": text}], "stop_reason": "stop_sequence", "usage": usage}
        self._put("assistant", {"message": message, "isApiErrorMessage": True, "error": "server_error"})

    def _delegate(self, step: Delegate) -> None:
        arguments = {"description": step.title, "prompt": step.prompt, "subagent_type": "Explore"}
        call_id, agent_id = "toolu_01" + self.dice.letters(22), self.dice.hex(7)
        source = self._assistant([{"type": "tool_use", "id": call_id, "name": "Task", "input": arguments}], "tool_use")
        call = Other("Task", arguments, "")
        self.ledger.plant(call, call_id, "Task", failed=False)
        story = Story(step.title, self.clock.stamp[:19], step.steps, {"version": self.version, "model": self.model})
        side = ClaudeWriter(story, self.project, agent_id=agent_id, parent=self)
        side.ledger.belongs_to(self.ledger, "subagent")
        side.play((User(step.prompt, after=0), *step.steps, Say(step.answer)))
        self.side.append(side)
        content = [{"type": "text", "text": step.answer}, {"type": "text", "text": f"agentId: {agent_id}"}]
        beside: dict[str, Any] = {
            "status": "completed",
            "prompt": step.prompt,
            "agentId": agent_id,
            "content": content[:1],
        }
        beside |= {
            "totalDurationMs": 61_000,
            "totalTokens": side.context,
            "totalToolUseCount": len(side.ledger.planted),
        }
        block = {"tool_use_id": call_id, "type": "tool_result", "content": content}
        body = {"message": {"role": "user", "content": [block]}, "toolUseResult": beside}
        self.fresh += len(step.answer) // 4
        self._put("user", body | {"sourceToolAssistantUUID": source[0]}, parent=source[0])


def _dump(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def _full(path: str) -> str:
    return f"{ROOT}/{path}" if path else ROOT


def _native(call: Call) -> tuple[str, dict[str, Any]]:
    match call:
        case Shell():
            return "Bash", {"command": call.command, "description": call.about or "Run a command"}
        case Read():
            part = {} if call.limit is None else {"offset": call.first, "limit": call.limit}
            return "Read", {"file_path": _full(call.path), **part}
        case Find():
            mode = {"output_mode": "files_with_matches"} if call.names_only else {"output_mode": "content", "-n": True}
            return "Grep", {"pattern": call.text, "path": _full(call.path), **mode}
        case Edit():
            return "Edit", {"file_path": _full(call.path), "old_string": call.old, "new_string": call.new}
        case Write():
            return "Write", {"file_path": _full(call.path), "content": call.content}
        case Plan():
            return "TodoWrite", {"todos": _todos(call)}
        case Atlas():
            return "mcp__atlas__search", {"query": call.query, "path": call.path}
        case Other():
            return call.tool, call.arguments
    raise TypeError(call)


def _todos(call: Plan) -> list[dict[str, str]]:
    states = ["completed"] * call.done + ["in_progress"] + ["pending"] * len(call.items)
    return [{"content": item, "status": states[n], "activeForm": item} for n, item in enumerate(call.items)]


def _refusal(call: Call) -> str:
    match call:
        case Read():
            return "File does not exist."
        case Find():
            return f"Path does not exist: {_full(call.path)}"
        case Edit():
            return _PROBLEMS[call.problem].format(old=call.old)
    raise TypeError(call)


def _shell_words(call: Shell) -> tuple[Any, Any, bool]:
    output = call.output.rstrip("\n")
    beside: dict[str, Any] = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
    if call.fate == "aborted":
        text = f"{output}\n<error>Command was aborted before completion</error>".lstrip()
        return text, beside | {"interrupted": True}, True
    if call.ends == "never":
        text = "Command running in background with ID: b41f09c. Output is being written to: /tmp/tasks/b41f09c.output"
        return text, beside | {"stdout": "", "backgroundTaskId": "b41f09c"}, False
    if call.code and not call.benign:
        text = f"Exit code {call.code}\n{output}"
        return text, f"Error: {text}", True
    if call.benign:
        beside["returnCodeInterpretation"] = call.benign
    return output, beside, False


def _read_words(call: Read, effect: Effect) -> tuple[str, dict[str, Any], bool]:
    lines = effect.text.split("\n")
    text = "\n".join(f"{n:>6}→{line}" for n, line in enumerate(lines, call.first))
    file = {"filePath": _full(call.path), "content": effect.text, "numLines": len(lines), "startLine": call.first}
    return text, {"type": "text", "file": file | {"totalLines": effect.total}}, False


def _find_words(call: Find, effect: Effect) -> tuple[str, dict[str, Any], bool]:
    names = sorted({path for path, _, _ in effect.matches})
    if call.names_only:
        text = f"Found {len(names)} files\n" + "\n".join(names) if names else "No files found"
        return text, {"mode": "files_with_matches", "filenames": names, "numFiles": len(names)}, False
    content = "\n".join(f"{path}:{n}:{line}" for path, n, line in effect.matches)
    beside = {"mode": "content", "numFiles": 0, "filenames": [], "content": content, "numLines": len(effect.matches)}
    return content or "No matches found", beside, False


def _edit_words(call: Edit, effect: Effect) -> tuple[str, dict[str, Any], bool]:
    old, new = call.old.splitlines(), call.new.splitlines()
    patch: dict[str, Any] = {"oldStart": effect.total, "oldLines": len(old)}
    patch |= {"newStart": effect.total, "newLines": len(new)}
    patch["lines"] = [f"-{line}" for line in old] + [f"+{line}" for line in new]
    beside: dict[str, Any] = {
        "filePath": _full(call.path),
        "oldString": call.old,
        "newString": call.new,
        "originalFile": None,
    }
    beside |= {"structuredPatch": [patch], "userModified": False, "replaceAll": False}
    return f"The file {_full(call.path)} has been updated successfully.", beside, False
