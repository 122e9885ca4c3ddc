"""Writes a story as a rollout file of Codex, in each of the shapes that its versions have had."""

from __future__ import annotations

import json
from typing import Any

from samples.dice import Clock, Dice
from samples.project import Effect, Project, perform
from samples.story import (
    Atlas,
    Call,
    Compact,
    Do,
    Edit,
    Find,
    Interrupt,
    Other,
    Plan,
    Poll,
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

ROOT = "/home/jonas/src/waypost"
_INSTRUCTIONS = "You are a coding agent. Work in the given folder, keep changes small, and say what you did."
_ENVIRONMENT = "<environment_context>\n  <cwd>{root}</cwd>\n  <shell>bash</shell>\n</environment_context>"
_HANDED_ON = "Another language model started to solve this problem and produced a summary of its thinking process.\n"


class CodexWriter:
    """One rollout. The dialect is flat, json (exit codes in JSON), text (exec sessions) or items (ordinals)."""

    def __init__(self, story: Story, project: Project) -> None:
        self.project = project
        self.dice = Dice(f"codex {story.name}")
        self.clock = Clock(story.start)
        self.dialect: str = story.options["dialect"]
        self.session = self.dice.uuid7(self.clock.now) if self.dialect in ("text", "items") else self.dice.uuid()
        day, time = story.start.split("T")
        folder = "codex/sessions/" + day.replace("-", "/")
        self.file = f"{folder}/rollout-{day}T{time.replace(':', '-')}-{self.session}.jsonl"
        self.ledger = Ledger("codex", self.file, self.session)
        self.lines: list[str] = []
        self.ordinal = 0
        self.turn = ""
        self.total = [0, 0, 0, 0]
        self.context = 6_400
        self.cached = 0
        self.running: list[tuple[Shell, int]] = []

    # What a story says

    def begin(self, fork_of: CodexWriter | None = None) -> None:
        """The head of the file; a fork names the history that it goes on from."""
        if self.dialect == "flat":
            head = {"id": self.session, "timestamp": self.clock.stamp, "instructions": None}
            self._line(head | {"git": {"commit_hash": self.dice.hex(40), "branch": "main"}})
            self._line({"record_type": "state"})
            return
        meta: dict[str, Any] = {"id": self.session, "timestamp": self.clock.stamp, "cwd": ROOT}
        git = {"commit_hash": self.dice.hex(40), "branch": "main"}
        if self.dialect == "json":
            meta |= {"originator": "codex_cli_rs", "cli_version": "0.34.0", "instructions": None, "git": git}
        else:
            version = "0.140.0" if self.dialect == "text" else "0.166.0"
            meta |= {"originator": "codex-tui", "cli_version": version, "source": "cli", "model_provider": "openai"}
            meta |= {"base_instructions": {"text": _INSTRUCTIONS}, "git": git}
        if self.dialect == "items":
            meta |= {"session_id": self.session, "history_mode": "paginated"}
        if fork_of is not None:
            size = sum(len(line.encode()) + 1 for line in fork_of.lines)
            base = {"thread_id": fork_of.session, "end_ordinal_exclusive": fork_of.ordinal, "end_byte_offset": size}
            meta |= {"forked_from_id": fork_of.session, "forked_from_ordinal_exclusive": fork_of.ordinal}
            meta |= {"history_base": base}
            self.ledger.belongs_to(fork_of.ledger, "fork")
            self.ordinal, self.total, self.context = fork_of.ordinal, list(fork_of.total), fork_of.context
        self._put("session_meta", meta)
        if fork_of is None:
            self._message("user", _ENVIRONMENT.format(root=ROOT))

    def play(self, steps: tuple[Step, ...]) -> None:
        """Write every step of a story."""
        for step in steps:
            match step:
                case User():
                    self._user(step)
                case Do():
                    self._do(step)
                case Say():
                    self._say(step.text, last=True)
                case Compact():
                    self._compact(step)
                case Interrupt():
                    self._event("turn_aborted", turn_id=self.turn, reason="interrupted")
                case Resume():
                    self.clock.tick(step.hours * 3600)
                case _:
                    raise TypeError(step)

    def _user(self, step: User) -> None:
        self.clock.tick(step.after)
        self.turn = self.dice.uuid7(self.clock.now)
        if self.dialect in ("text", "items"):
            self._event("task_started", turn_id=self.turn, model_context_window=258_400)
            context = {"turn_id": self.turn, "cwd": ROOT, "approval_policy": "on-request", "model": "gpt-5.5"}
            self._put("turn_context", context | {"sandbox_policy": {"type": "workspace-write"}, "effort": "medium"})
        self._message("user", step.text)
        if self.dialect == "items":
            self._item("UserMessage", self.dice.uuid7(self.clock.now), content=[{"type": "text", "text": step.text}])
        else:
            self._event("user_message", message=step.text, kind="plain")

    def _say(self, text: str, *, last: bool = False) -> None:
        self.clock.tick(2 + self.dice.number(0, 4000) / 1000)
        if self.dialect == "items":
            self._item("AgentMessage", "msg_" + self.dice.hex(20), content=[{"type": "Text", "text": text}])
        else:
            self._event("agent_message", message=text)
        self._message("assistant", text)
        if last:
            self._count(len(text) // 3)
            if self.dialect in ("text", "items"):
                self._event("task_complete", turn_id=self.turn, last_agent_message=text)

    def _do(self, step: Do) -> None:
        self.clock.tick(1 + self.dice.number(0, 5000) / 1000)
        if self.dialect in ("text", "json") and self.dice.number(0, 3) == 0:
            self._respond({"type": "reasoning", "summary": [], "encrypted_content": "gAAAAAB" + self.dice.letters(40)})
        if step.text:
            self._say(step.text)
        calls = [(call, "call_" + self.dice.letters(24)) for call in step.calls]
        for call, call_id in calls:
            self._respond(self._native(call, call_id))
        for call, call_id in calls:
            effect = perform(call, self.project)
            failed = effect.failed
            if isinstance(call, Shell) and call.ends == "never":
                failed = False
            self.ledger.plant(call, call_id, self._tool(call), failed=failed)
            if call.fate != "lost":
                self._answer(call, effect, call_id)
        self._count(60 + self.dice.number(0, 240))

    def _compact(self, step: Compact) -> None:
        self.clock.tick(20)
        history = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": step.summary}]}]
        self._put("compacted", {"message": _HANDED_ON + step.summary, "replacement_history": history})
        self._event("context_compacted")
        self.context, self.cached = 9_000, 0

    # Calls and their answers

    def _tool(self, call: Call) -> str:
        match call:
            case Edit() | Write() if self.dialect in ("text", "items"):
                return "apply_patch"
            case Poll():
                return "write_stdin"
            case Plan():
                return "update_plan"
            case Atlas():
                return "search"
            case Other():
                return call.tool
        return "exec_command" if self.dialect in ("text", "items") else "shell"

    def _native(self, call: Call, call_id: str) -> dict[str, Any]:
        tool = self._tool(call)
        if tool == "apply_patch":
            return {
                "type": "custom_tool_call",
                "status": "completed",
                "call_id": call_id,
                "name": tool,
                "input": _patch(call),
            }
        item = {
            "type": "function_call",
            "name": tool,
            "arguments": json.dumps(self._arguments(call)),
            "call_id": call_id,
        }
        if isinstance(call, Atlas):
            item["namespace"] = "mcp__atlas"
        if self.dialect == "flat":
            item["id"] = "fc_" + self.dice.hex(24)
        return item

    def _arguments(self, call: Call) -> dict[str, Any]:
        match call:
            case Poll():
                return {"session_id": self.running[-1][1], "chars": "", "yield_time_ms": 30_000}
            case Plan():
                states = ["completed"] * call.done + ["in_progress"] + ["pending"] * len(call.items)
                return {"plan": [{"step": item, "status": states[n]} for n, item in enumerate(call.items)]}
            case Atlas():
                return {"query": call.query, "path": call.path}
            case Other():
                return call.arguments
        if self.dialect in ("flat", "json"):
            if isinstance(call, Edit | Write):
                return {"command": ["apply_patch", _patch(call)]}
            return {"command": ["bash", "-lc", _command(call)], "workdir": ROOT}
        return {"cmd": _command(call), "workdir": ROOT, "yield_time_ms": 10_000}

    def _answer(self, call: Call, effect: Effect, call_id: str) -> None:
        seconds = call.seconds if isinstance(call, Shell | Poll) else 0.2
        if isinstance(call, Shell) and call.ends != "at once":
            seconds = 10
        elif isinstance(call, Poll) and call.running:
            seconds = 30
        self.clock.tick(seconds)
        kind = "custom_tool_call_output" if self._tool(call) == "apply_patch" else "function_call_output"
        output, code = self._output(call, effect, seconds)
        self.context += len(output) // 4
        if self.dialect == "items" and code is not None:
            self._item_of(call, call_id, output, code)
        elif self.dialect == "text" and isinstance(call, Edit | Write) and code is not None:
            self._event("patch_apply_end", call_id=call_id, turn_id=self.turn, success=True, stdout=_patched(call))
        self._respond({"type": kind, "call_id": call_id, "output": output})

    def _output(self, call: Call, effect: Effect, seconds: float) -> tuple[str, int | None]:
        """The text of a result, and the exit code where one is known."""
        if call.fate == "declined":
            return self._rejection(call), None
        match call:
            case Plan():
                return "Plan updated", None
            case Atlas() if effect.failed:
                return f"Wall time: 0.2113 seconds\nOutput:\n### Error\npath not in workspace: {call.path}", None
            case Atlas():
                return f"Wall time: 0.3120 seconds\nOutput:\n{effect.text}", None
            case Other():
                return call.result, None
            case Edit() | Write():
                return self._patch_output(call, effect)
            case Poll():
                return self._poll_output(call)
        text, code = _printed(call, effect)
        if isinstance(call, Shell) and call.ends != "at once":
            number = self.dice.number(10_000, 99_999)
            self.running.append((call, number))
            head = f"Chunk ID: {self.dice.hex(6)}\nWall time: 10.0012 seconds\nProcess running with session ID {number}"
            return f"{head}\nOriginal token count: 0\nOutput:\n", None
        return self._command_output(text, code, seconds), code

    def _rejection(self, call: Call) -> str:
        if self.dialect in ("flat", "json"):
            return "exec command rejected by user"
        command = f"`/bin/bash -lc '{_command(call)}'`"
        return f'exec_command failed for {command}: CreateProcess {{ message: "Rejected(\\"rejected by user\\")" }}'

    def _command_output(self, text: str, code: int, seconds: float) -> str:
        if self.dialect in ("flat", "json"):
            meta = {"exit_code": code, "duration_seconds": round(float(seconds), 1)}
            return json.dumps({"output": text + "\n", "metadata": meta}, separators=(",", ":"))
        head = f"Chunk ID: {self.dice.hex(6)}\nWall time: {seconds + self.dice.number(1, 900) / 1000:.4f} seconds\n"
        return f"{head}Process exited with code {code}\nOriginal token count: {len(text) // 4}\nOutput:\n{text}\n"

    def _poll_output(self, call: Poll) -> tuple[str, int | None]:
        shell, number = self.running[-1]
        if call.running:
            head = f"Chunk ID: {self.dice.hex(6)}\nWall time: 30.0021 seconds\nProcess running with session ID {number}"
            return f"{head}\nOriginal token count: 0\nOutput:\n{call.output}", None
        self.running.pop()
        return self._command_output(shell.output, shell.code, call.seconds), None

    def _patch_output(self, call: Edit | Write, effect: Effect) -> tuple[str, int | None]:
        if effect.failed and isinstance(call, Edit):
            lines = f"Failed to find expected lines in {ROOT}/{call.path}:\n{call.old}"
            return (
                "error: " if self.dialect in ("flat", "json") else "apply_patch verification failed: "
            ) + lines, None
        if self.dialect in ("flat", "json"):
            return self._command_output(_patched(call).rstrip("\n"), 0, 0.1), 0
        return f"Exit code: 0\nWall time: 0 seconds\nOutput:\n{_patched(call)}", 0

    # Lines

    def _line(self, record: dict[str, Any]) -> None:
        self.lines.append(json.dumps(record, ensure_ascii=False, separators=(",", ":")))

    def _put(self, kind: str, payload: dict[str, Any]) -> None:
        record: dict[str, Any] = {"timestamp": self.clock.stamp}
        if self.dialect == "items":
            record["ordinal"] = self.ordinal
            self.ordinal += 1
        self._line(record | {"type": kind, "payload": payload})

    def _respond(self, item: dict[str, Any]) -> None:
        if self.dialect == "flat":
            self._line(item)
        else:
            self._put("response_item", item)

    def _message(self, role: str, text: str) -> None:
        kind = "output_text" if role == "assistant" else "input_text"
        self.context += len(text) // 4
        self._respond({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})

    def _event(self, name: str, **fields: Any) -> None:
        if self.dialect != "flat":
            self._put("event_msg", {"type": name, **fields})

    def _item(self, kind: str, item_id: str, **fields: Any) -> None:
        item = {"type": kind, "id": item_id, **fields}
        times = {"started_at_ms": self.clock.millis, "completed_at_ms": self.clock.millis}
        self._event("item_completed", thread_id=self.session, turn_id=self.turn, item=item, **times)

    def _item_of(self, call: Call, call_id: str, output: str, code: int) -> None:
        if isinstance(call, Edit | Write):
            self._item("FileChange", call_id, changes={f"{ROOT}/{call.path}": {"type": "update"}}, status="completed")
            return
        command = ["/bin/bash", "-lc", _command(call)]
        text = output.split("Output:\n", 1)[-1]
        done = {"status": "failed" if code else "completed", "aggregated_output": text, "exit_code": code}
        self._item("CommandExecution", call_id, command=command, cwd=f"file://{ROOT}", **done)

    def _count(self, output: int) -> None:
        """One answer of the model is paid for."""
        if self.dialect == "flat":
            return
        last = [self.context, self.cached, output, output // 3]
        self.total = [a + b for a, b in zip(self.total, last, strict=True)]
        self.cached = self.context // 128 * 128
        info = {"total_token_usage": _usage(self.total), "last_token_usage": _usage(last)}
        if self.dialect == "items":
            ids = {"thread_id": self.session, "turn_id": self.turn, "response_id": "resp_" + self.dice.hex(24)}
            self._put("token_usage_record", ids | {"usage": _usage(last), "thread_token_usage": _usage(self.total)})
        self._event("token_count", info=info | {"model_context_window": 258_400}, rate_limits=None)


def _usage(numbers: list[int]) -> dict[str, int]:
    spent, cached, output, reasoning = numbers
    usage = {"input_tokens": spent, "cached_input_tokens": cached, "output_tokens": output}
    return usage | {"reasoning_output_tokens": reasoning, "total_tokens": spent + output}


def _patch(call: Call) -> str:
    match call:
        case Edit():
            body = [f"*** Update File: {call.path}", "@@"]
            body += [f"-{line}" for line in call.old.splitlines()] + [f"+{line}" for line in call.new.splitlines()]
        case Write():
            body = [f"*** Add File: {call.path}", *[f"+{line}" for line in call.content.splitlines()]]
        case _:
            raise TypeError(call)
    return "\n".join(["*** Begin Patch", *body, "*** End Patch"]) + "\n"


def _patched(call: Edit | Write) -> str:
    return f"Success. Updated the following files:\n{'A' if isinstance(call, Write) else 'M'} {call.path}\n"


def _command(call: Call) -> str:
    match call:
        case Shell():
            return call.command
        case Read():
            last = "$" if call.limit is None else str(call.first - 1 + call.limit)
            return f"cat {call.path}" if call.limit is None else f"sed -n '{call.first},{last}p' {call.path}"
        case Find():
            return f"rg -n{'l' if call.names_only else ''} '{call.text}' {call.path or '.'}"
    raise TypeError(call)


def _printed(call: Call, effect: Effect) -> tuple[str, int]:
    match call:
        case Shell():
            return call.output.replace("/home/mira/waypost", ROOT), call.code
        case Read() if effect.failed:
            program = "cat" if call.limit is None else "sed"
            words = "can't read " if program == "sed" else ""
            return f"{program}: {words}{call.path}: No such file or directory", 1 if program == "cat" else 2
        case Read():
            return effect.text, 0
        case Find() if effect.failed:
            return f"rg: {call.path}: No such file or directory (os error 2)", 2
        case Find():
            return _listing(call, effect), 0 if effect.matches else 1
    raise TypeError(call)


def _listing(call: Find, effect: Effect) -> str:
    if call.names_only:
        return "\n".join(sorted({path for path, _, _ in effect.matches}))
    return "\n".join(f"{path}:{n}:{line}" for path, n, line in effect.matches)
