"""Codex CLI: `~/.codex/sessions/**/rollout-*.jsonl`, old flat files included."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from seasoned.history.builder import ReadState, SessionBuilder
from seasoned.history.coerce import arguments_of, as_object, integer, string, text_of, time_of
from seasoned.history.formats import Sample
from seasoned.history.incremental import Resume, Stretch, read_stretches, read_whole
from seasoned.session import Marks, Role, Session, SessionRef, Usage

NAME = "codex"
AGENT = "codex"

# Items of the first versions, without an envelope.
_ITEM_TYPES = {"message", "reasoning", "function_call", "function_call_output", "local_shell_call"}
# Envelopes of today's lines.
_OUTER_TYPES = {"session_meta", "response_item", "event_msg", "turn_context", "compacted"}
# The session id at the end of the file name.
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\Z")
# Lines that Codex puts before the output of a command.
_EXITED = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d+)\s*$", re.MULTILINE)
_RUNNING = re.compile(r"^Process running with session ID (\d+)\s*$", re.MULTILINE)
# These lines come first; the output itself may contain the same words.
_HEADER_CHARS = 400
# Messages in the user's name that Codex itself adds.
_HARNESS_TEXTS = (
    "<environment_context>",
    "# AGENTS.md instructions",
    "<user_instructions>",
    "<permissions instructions>",
)


class _CodexLine(msgspec.Struct):
    timestamp: str | float | None = None
    type: str | None = None
    payload: dict[str, Any] | None = None
    id: str | None = None


_decode = msgspec.json.Decoder(_CodexLine).decode
_decode_flat = msgspec.json.Decoder(dict[str, Any]).decode


def recognises(sample: Sample) -> bool:
    """Lines with a type and a payload, or the flat items of the first versions after their header."""
    if not sample.may_be_lines:
        return False
    first = sample.records[0]
    for record in sample.records:
        if str(record.get("type")) in _OUTER_TYPES and isinstance(record.get("payload"), dict):
            return True
    header = isinstance(first.get("id"), str) and "timestamp" in first and "type" not in first
    state = any(record.get("record_type") == "state" for record in sample.records)
    return (header or state) and all(
        str(record.get("type")) in _ITEM_TYPES or record.get("record_type") == "state" for record in sample.records[1:]
    )


def read(path: Path) -> Iterator[Session]:
    """The session in the file."""
    return read_whole(path, _CodexReader, agent=AGENT, format=NAME)


def read_on(path: Path, resume: Resume | None = None) -> Iterator[Stretch]:
    """The file in stretches, from the resume point."""
    return read_stretches(path, _CodexReader, resume)


class _CodexReader:
    def __init__(self, path: Path, resume: Resume) -> None:
        self.path = str(path)
        found = _UUID.search(path.stem)
        self.native_id = found[0] if found else path.stem
        self.builders: dict[str, SessionBuilder] = {}
        self._early_marks: dict[str, Marks] = {}
        self._running: dict[str, str] = dict(resume.notes.get("running", {}))
        # The thread that was copied into this file, or its own; and the figures that Codex told last.
        self._thread: str = resume.notes.get("thread", "")
        self._total: list[int] | None = resume.notes.get("total")
        for native_id, carry in resume.sessions.items():
            self._begin(native_id, carry)

    def notes(self) -> dict[str, Any]:
        return {"running": self._running, "thread": self._thread, "total": self._total}

    @property
    def builder(self) -> SessionBuilder:
        return self.builders.get(self.native_id) or self._begin(self.native_id)

    def _begin(self, native_id: str, carry: ReadState | None = None) -> SessionBuilder:
        self.native_id = native_id
        builder = SessionBuilder(SessionRef(AGENT, native_id), format=NAME, path=self.path, carry=carry)
        self.builders[native_id] = builder
        return builder

    def feed(self, line: bytes, place: int) -> None:
        decoded = _decode(line)
        time = time_of(decoded.timestamp)
        payload = decoded.payload
        kind = decoded.type
        if payload is None:
            flat = _decode_flat(line)
            if kind is None:
                if decoded.id is not None and decoded.timestamp is not None:
                    self._meta(flat, time)
            else:
                self._item(flat, time, place)
        elif kind == "response_item":
            self._item(payload, time, place)
        elif kind == "event_msg":
            self._event(payload, time)
        elif kind == "session_meta":
            self._meta(payload, time)
        elif kind == "turn_context":
            self.builder.model = string(payload.get("model")) or self.builder.model
        elif kind == "compacted":
            self.builder.compaction()
            self.builder.message("user", text_of(payload.get("message")), time=time, place=place, summary=True)

    def _meta(self, payload: dict[str, Any], time: float | None) -> None:
        self._thread = string(payload.get("id")) or self._thread
        if self.builders:
            return  # the header of another session whose history was copied into this file
        native_id = string(payload.get("id")) or self.native_id
        builder = self._begin(native_id)
        builder.cwd = string(payload.get("cwd"))
        git = as_object(payload.get("git"))
        builder.remote, builder.branch = string(git.get("repository_url")), string(git.get("branch"))
        if time is not None:
            builder.seen_at(time)
        source = as_object(as_object(as_object(payload.get("source")).get("subagent")).get("thread_spawn"))
        if parent := string(payload.get("parent_thread_id")) or string(source.get("parent_thread_id")):
            builder.parent, builder.relation = SessionRef(AGENT, parent), "subagent"
        elif parent := string(payload.get("forked_from_id")):
            builder.parent, builder.relation = SessionRef(AGENT, parent), "fork"

    def _item(self, item: dict[str, Any], time: float | None, place: int) -> None:
        kind = item.get("type")
        if kind == "message":
            self._message(item, time, place)
        elif kind in ("function_call", "custom_tool_call", "local_shell_call", "tool_search_call", "web_search_call"):
            self._call(str(kind), item, time, place)
        elif kind in ("function_call_output", "custom_tool_call_output", "tool_search_output"):
            self._output(item, time, place)
        elif kind == "reasoning":
            # Only summaries can be read; the thinking itself is encrypted.
            self.builder.thinking(text_of(item.get("summary")))

    def _message(self, item: dict[str, Any], time: float | None, place: int) -> None:
        text = text_of(item.get("content"))
        said_by = item.get("role")
        role: Role = "assistant" if said_by == "assistant" else "user" if said_by == "user" else "system"
        # Otherwise titles and intents would be taken from Codex's own instructions.
        if role == "user" and text.startswith(_HARNESS_TEXTS):
            role = "system"
        model = self.builder.model if role == "assistant" else None
        self.builder.message(role, text, time=time, place=place, model=model)

    def _call(self, kind: str, item: dict[str, Any], time: float | None, place: int) -> None:
        call_id = string(item.get("call_id")) or string(item.get("id")) or f"{kind}_at_{place}"
        tool = string(item.get("name")) or kind.removesuffix("_call")
        if namespace := string(item.get("namespace")):
            tool = f"{namespace}__{tool}"
        given = item.get("arguments", item.get("input", item.get("action")))
        self.builder.call(call_id, tool, arguments_of(given), time=time, place=place)
        if kind == "web_search_call":
            # The provider runs it and records no result, only that it was done.
            done = item.get("status") == "completed"
            self.builder.result(call_id, "", Marks(failed=False if done else None), time=time, place=place)

    def _output(self, item: dict[str, Any], time: float | None, place: int) -> None:
        call_id = string(item.get("call_id")) or ""
        output = item.get("output", item.get("tools"))
        text = text_of(output)
        marks = _marks_of_text(text, parts=output if isinstance(output, list) else None)
        if reported := self._early_marks.pop(call_id, None):
            marks = _joined(marks, reported)
        self.builder.result(call_id, text, marks, time=time, place=place)
        if marks.running and (found := _RUNNING.search(text, 0, _HEADER_CHARS)):
            self._running.setdefault(found[1], call_id)
        elif marks.exit_code is not None:
            self._finish_running(call_id, marks.exit_code)

    def _finish_running(self, call_id: str, exit_code: int) -> None:
        """A `write_stdin` that saw a process end gives the exit code of the call that started it."""
        process = self.builder.argument_of(call_id, "session_id")
        started_by = self._running.pop(str(process), None) if process is not None else None
        if started_by is not None and started_by != call_id:
            self.builder.amend(started_by, Marks(exit_code=exit_code))

    def _event(self, event: dict[str, Any], time: float | None) -> None:
        kind = event.get("type")
        if kind == "token_count":
            self._count(as_object(event.get("info")), time)
        elif kind == "item_completed":
            item = event.get("item")
            if isinstance(item, dict):
                self._mark(string(item.get("id")), _marks_of_item(item))
        elif kind in ("exec_command_end", "patch_apply_end", "mcp_tool_call_end"):
            self._mark(string(event.get("call_id")), _marks_of_end(event))
        elif kind == "turn_aborted":
            self.builder.end_reason = "interrupted"
            self.builder.interrupt()
        elif kind == "task_complete":
            self.builder.end_reason = "error" if event.get("error") else "complete"
        elif kind == "task_started":
            self.builder.end_reason = None

    def _mark(self, call_id: str | None, marks: Marks | None) -> None:
        """Add what an event says about a call, before or after its result."""
        if call_id is None or marks is None:
            return
        known = self.builder.marks_of(call_id)
        if known is None:
            self._early_marks[call_id] = marks
        # An event never overrules what the result itself says.
        elif known.failed is None and known.exit_code is None:
            self.builder.amend(call_id, _joined(known, marks))

    def _count(self, info: dict[str, Any], time: float | None) -> None:
        """Count an answer. Codex tells the sum of its thread, and some sums twice."""
        if not isinstance(info.get("total_token_usage"), dict):
            return
        total = _figures(info["total_token_usage"])
        # The first versions told the sum alone.
        last = _figures(info["last_token_usage"]) if isinstance(info.get("last_token_usage"), dict) else total
        self.builder.last_prompt = last[0] or None
        known, self._total = self._total, total
        grown = [new - old for new, old in zip(total, known or [0] * len(total), strict=True)]
        # A fork goes on with the sum of its thread, and some sessions begin to count again.
        if min(grown) < 0 or (known is None and last[0] != total[0]):
            grown = last
        if any(grown):
            given, cached, written, output, reasoning = grown
            is_told = "cache_write_input_tokens" in info["total_token_usage"]
            usage = Usage(max(given - cached - written, 0), output, cached, written if is_told else None, reasoning)
            self.builder.spend(f"{self._thread} {total} {last}", usage, time=time)


def _figures(usage: dict[str, Any]) -> list[int]:
    """Prompt, from a cache, into a cache, answer, reasoning. What came from the cache is part of the prompt."""
    names = ("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens")
    return [integer(usage.get(name)) or 0 for name in (*names, "reasoning_output_tokens")]


def _marks_of_text(text: str, *, parts: list[Any] | None) -> Marks:
    """The exit code, where the output contains it in one of its four forms."""
    if text.startswith("{"):
        code = _code_in_json(text)
        if code is not None:
            return Marks(exit_code=code)
    if found := _EXITED.search(text, 0, _HEADER_CHARS):
        return Marks(exit_code=int(found[1]))
    if _RUNNING.search(text, 0, _HEADER_CHARS):
        return Marks(running=True)
    if parts and text.startswith("Script "):
        codes = [code for code in map(_code_in_json, map(text_of, parts)) if code is not None]
        if codes:
            # A script runs several commands; it failed if any of them did.
            return Marks(exit_code=next((code for code in codes if code != 0), 0))
    return Marks()


def _code_in_json(text: str) -> int | None:
    # Outputs may be megabytes of JSON; the field is near either end, so most are not decoded.
    if "exit_code" not in text[:2000] and "exit_code" not in text[-500:]:
        return None
    try:
        record = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None
    if not isinstance(record, dict):
        return None
    metadata = record.get("metadata")
    return integer(metadata.get("exit_code") if isinstance(metadata, dict) else record.get("exit_code"))


def _marks_of_item(item: dict[str, Any]) -> Marks | None:
    kind, status = item.get("type"), item.get("status")
    if kind == "CommandExecution":
        code = integer(item.get("exit_code"))
        return None if code is None else Marks(exit_code=code, declined=status == "declined")
    if kind in ("FileChange", "McpToolCall") and status in ("completed", "failed", "declined"):
        result = item.get("result")
        is_error = isinstance(result, dict) and result.get("isError") is True
        return Marks(failed=status != "completed" or is_error, declined=status == "declined")
    return None


def _marks_of_end(event: dict[str, Any]) -> Marks | None:
    code = integer(event.get("exit_code"))
    if code is not None:
        return Marks(exit_code=code)
    if isinstance(event.get("success"), bool):
        return Marks(failed=not event["success"])
    result = event.get("result")
    if isinstance(result, dict):
        answer = result.get("Ok")
        if isinstance(answer, dict):
            return Marks(failed=answer.get("isError") is True or answer.get("is_error") is True)
        if "Err" in result:
            return Marks(failed=True)
    return None


def _joined(known: Marks, reported: Marks) -> Marks:
    return Marks(
        failed=known.failed if known.failed is not None else reported.failed,
        exit_code=known.exit_code if known.exit_code is not None else reported.exit_code,
        declined=known.declined or reported.declined,
        running=known.running and reported.exit_code is None and reported.failed is None,
    )
