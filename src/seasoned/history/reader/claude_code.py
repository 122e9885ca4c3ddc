"""Claude Code: `~/.claude/projects/**/*.jsonl`, side chains and compact boundaries included."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from seasoned.history.builder import ReadState, SessionBuilder
from seasoned.history.coerce import arguments_of, as_object, placeholder, text_of, time_of
from seasoned.history.formats import Sample
from seasoned.history.incremental import Resume, Stretch, read_stretches, read_whole
from seasoned.session import Marks, Role, Session, SessionRef, Usage

NAME = "claude-code"
AGENT = "claude-code"

# Types by which a file is recognised; not all of them are read.
_LINE_TYPES = {"user", "assistant", "system", "summary", "progress", "file-history-snapshot", "queue-operation"}
# Blocks that are read elsewhere or are not part of the text.
_WITHOUT_WORDS = {"", "text", "tool_use", "tool_result", "thinking", "redacted_thinking"}
_OK = Marks(failed=False)
# Claude Code writes `is_error` only for failures, so a result without it succeeded.
_UNMARKED = Marks(failed=False, implied=True)
_FAILED = Marks(failed=True)


class _ClaudeCacheWrite(msgspec.Struct):
    ephemeral_1h_input_tokens: int | None = None


class _ClaudeUsage(msgspec.Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_creation: _ClaudeCacheWrite | None = None


class _ClaudeBlock(msgspec.Struct):
    type: str = ""
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: Any = None
    tool_use_id: str | None = None
    content: Any = None
    is_error: bool | None = None
    source: Any = None
    thinking: Any = None


class _ClaudeMessage(msgspec.Struct):
    role: str | None = None
    id: str | None = None
    model: str | None = None
    usage: _ClaudeUsage | None = None
    content: str | list[_ClaudeBlock] | None = None


class _ClaudePassed(msgspec.Struct):
    """A line of a sub-agent, as copied into its parent's file."""

    type: str | None = None
    uuid: str | None = None
    timestamp: str | None = None
    message: _ClaudeMessage | None = None


class _ClaudeProgress(msgspec.Struct):
    type: str | None = None
    agentId: str | None = None
    message: _ClaudePassed | None = None


class _ClaudeLine(msgspec.Struct):
    type: str | None = None
    subtype: str | None = None
    uuid: str | None = None
    parentUuid: str | None = None
    sessionId: str | None = None
    agentId: str | None = None
    isSidechain: bool | None = None
    isMeta: bool | None = None
    isCompactSummary: bool | None = None
    isApiErrorMessage: bool | None = None
    cwd: str | None = None
    gitBranch: str | None = None
    timestamp: str | None = None
    toolDenialKind: str | None = None
    message: _ClaudeMessage | None = None
    data: _ClaudeProgress | None = None
    aiTitle: str | None = None
    customTitle: str | None = None


class _ClaudeLineKind(msgspec.Struct):
    type: str | None = None


_decode = msgspec.json.Decoder(_ClaudeLine).decode
_decode_kind = msgspec.json.Decoder(_ClaudeLineKind).decode
# Lines of other types are skipped, even if they do not fit the structure above.
_READ_TYPES = {"user", "assistant", "system", "progress", "ai-title", "custom-title", None}


def recognises(sample: Sample) -> bool:
    """Lines with Claude Code's own types and its session id or uuid."""
    return sample.may_be_lines and any(
        str(record.get("type")) in _LINE_TYPES
        and ("sessionId" in record or "uuid" in record or "leafUuid" in record)
        and "payload" not in record
        # Qwen Code writes the same lines, with messages in Gemini's form.
        and "systemPayload" not in record
        and "parts" not in as_object(record.get("message"))
        for record in sample.records
    )


def read(path: Path) -> Iterator[Session]:
    """Every session of the file: the conversation itself and each side chain."""
    return read_whole(path, _ClaudeCodeReader, agent=AGENT, format=NAME)


def read_on(path: Path, resume: Resume | None = None) -> Iterator[Stretch]:
    """The file in stretches, from the resume point."""
    return read_stretches(path, _ClaudeCodeReader, resume)


class _ClaudeCodeReader:
    def __init__(self, path: Path, resume: Resume) -> None:
        self.path = str(path)
        self.stem = path.stem
        self.builders: dict[str, SessionBuilder] = {}
        self._chains: dict[str, str] = dict(resume.notes.get("chains", {}))
        self._current: str | None = None
        self._current_builder: SessionBuilder | None = None
        for native_id, carry in resume.sessions.items():
            self._builder(native_id, carry)

    def notes(self) -> dict[str, Any]:
        # A chain goes on within a few lines, and the notes are stored with every source.
        return {"chains": dict(list(self._chains.items())[-200:])} if self._chains else {}

    def feed(self, line: bytes, place: int) -> None:
        try:
            decoded = _decode(line)
        except msgspec.ValidationError:
            if _decode_kind(line).type in _READ_TYPES:
                raise
            return  # a line type that is not part of the conversation may use these field names differently
        kind = decoded.type
        if kind == "assistant":
            self._assistant(decoded, place)
        elif kind == "user":
            self._user(decoded, place)
        elif kind == "progress":
            if decoded.data is not None and decoded.data.type == "agent_progress":
                self._progress(decoded, decoded.data, place)
        elif kind == "system":
            if decoded.subtype == "compact_boundary":
                self._builder_of(decoded).compaction()
        elif kind in ("ai-title", "custom-title") and decoded.sessionId:
            self._builder_of(decoded).title = decoded.customTitle or decoded.aiTitle

    def _progress(self, line: _ClaudeLine, progress: _ClaudeProgress, place: int) -> None:
        """Read a sub-agent's line: often the only trace of it, and the same session as in its own file."""
        passed = progress.message
        if passed is None or progress.agentId is None or passed.type not in ("user", "assistant"):
            return
        line.isSidechain, line.agentId = True, progress.agentId
        line.type, line.uuid, line.message = passed.type, passed.uuid, passed.message
        line.timestamp = passed.timestamp or line.timestamp
        if passed.type == "assistant":
            self._assistant(line, place)
        else:
            self._user(line, place)

    def _user(self, line: _ClaudeLine, place: int) -> None:
        builder = self._builder_of(line)
        message = line.message
        if message is None:
            builder.unreadable(f"at byte {place}", "a user line without a message")
            return
        if builder.cwd is None:
            builder.cwd = line.cwd
        # Without a branch it says HEAD.
        if line.gitBranch and line.gitBranch != "HEAD":
            builder.branch = line.gitBranch
        time = time_of(line.timestamp)
        content = message.content
        if isinstance(content, str):
            self._user_text(builder, line, content, time, place)
        elif content:
            for block in content:
                if block.type == "tool_result":
                    self._result(builder, line, block, time, place)
            if text := text_of_blocks(content):
                self._user_text(builder, line, text, time, place)

    def _user_text(self, builder: SessionBuilder, line: _ClaudeLine, text: str, time: float | None, place: int) -> None:
        role: Role = "system" if line.isMeta else "user"
        builder.message(role, text, time=time, place=place, summary=bool(line.isCompactSummary))

    def _result(
        self, builder: SessionBuilder, line: _ClaudeLine, block: _ClaudeBlock, time: float | None, place: int
    ) -> None:
        text = block.content if isinstance(block.content, str) else text_of(block.content)
        marks = _FAILED if block.is_error else _UNMARKED if block.is_error is None else _OK
        # Set when a person or a permission rule said no.
        if line.toolDenialKind:
            marks = Marks(failed=True, declined=True)
        builder.result(block.tool_use_id or "", text, marks, time=time, place=place)

    def _assistant(self, line: _ClaudeLine, place: int) -> None:
        builder = self._builder_of(line)
        message = line.message
        if message is None:
            builder.unreadable(f"at byte {place}", "an assistant line without a message")
            return
        if builder.cwd is None:
            builder.cwd = line.cwd
        time = time_of(line.timestamp)
        content = message.content
        # Claude Code writes these itself; counted as the model's words they would distort its figures.
        if line.isApiErrorMessage or message.model == "<synthetic>":
            builder.message("system", text_of_blocks(content), time=time, place=place)
            builder.end_reason = "api_error" if line.isApiErrorMessage else builder.end_reason
            return
        builder.end_reason = None
        if not isinstance(content, str):
            for block in content or ():
                builder.thinking(block.thinking)
        used = message.usage
        builder.message(
            "assistant",
            text_of_blocks(content),
            time=time,
            place=place,
            key=message.id,
            model=message.model,
        )
        if used is not None:
            cached = (used.cache_read_input_tokens, used.cache_creation_input_tokens)
            for_an_hour = used.cache_creation.ephemeral_1h_input_tokens if used.cache_creation else None
            builder.count(Usage(used.input_tokens, used.output_tokens, *cached), message.model, time, for_an_hour or 0)
        if not isinstance(content, str) and content:
            for block in content:
                if block.type == "tool_use" and block.name:
                    call_id = block.id or f"{line.uuid or place}"
                    builder.call(call_id, block.name, arguments_of(block.input), time=time, place=place)

    def _builder_of(self, line: _ClaudeLine) -> SessionBuilder:
        if not line.isSidechain:
            # Nearly every line belongs to the same session as the one before.
            if line.sessionId == self._current and self._current_builder is not None:
                return self._current_builder
            self._current = line.sessionId
            self._current_builder = self._builder(line.sessionId or self.stem)
            return self._current_builder
        session_id = line.sessionId or self.stem
        chain = line.agentId or self._chain_of(line)
        builder = self._builder(f"{session_id}/agent-{chain}")
        builder.parent, builder.relation = SessionRef(AGENT, session_id), "subagent"
        return builder

    def _chain_of(self, line: _ClaudeLine) -> str:
        """Old side chains have no id: follow the parents up to the line that began the chain."""
        uuid = line.uuid or "unnamed"
        chain = self._chains.get(line.parentUuid or "", uuid[:8])
        self._chains[uuid] = chain
        return chain

    def _builder(self, native_id: str, carry: ReadState | None = None) -> SessionBuilder:
        builder = self.builders.get(native_id)
        if builder is None:
            builder = SessionBuilder(SessionRef(AGENT, native_id), format=NAME, path=self.path, carry=carry)
            self.builders[native_id] = builder
        return builder


def text_of_blocks(content: str | list[_ClaudeBlock] | None) -> str:
    """The text of the blocks, with a placeholder line for each image or file."""
    if content is None or isinstance(content, str):
        return content or ""
    if len(content) == 1 and content[0].type in _WITHOUT_WORDS:
        return content[0].text or ""
    texts = [block.text for block in content if block.text]
    # Placeholders come last: titles and intents are taken from the beginning of a text.
    texts += [_placeholder(block) for block in content if not block.text and block.type not in _WITHOUT_WORDS]
    return "\n".join(texts)


def _placeholder(block: _ClaudeBlock) -> str:
    return placeholder({"type": block.type, "source": block.source}) or ""
