"""Writes small Claude Code files for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SESSION = "11111111-2222-4333-8444-555555555555"


class ClaudeFile:
    """Lines of one session in the order they are added."""

    def __init__(self, session: str = SESSION) -> None:
        self.session = session
        self.lines: list[bytes] = []
        self.count = 0

    def _line(self, kind: str, **fields: Any) -> ClaudeFile:
        self.count += 1
        record = {
            "parentUuid": f"u{self.count - 1}",
            "isSidechain": False,
            "cwd": "/home/mira/waypost",
            "sessionId": self.session,
            "type": kind,
            "uuid": f"u{self.count}",
            "timestamp": f"2026-03-01T10:{self.count // 60:02d}:{self.count % 60:02d}.000Z",
            **fields,
        }
        self.lines.append(json.dumps(record, separators=(",", ":")).encode() + b"\n")
        return self

    def user(self, text: str, **fields: Any) -> ClaudeFile:
        return self._line("user", message={"role": "user", "content": text}, **fields)

    def says(self, text: str, message_id: str = "", tokens: int = 10, **fields: Any) -> ClaudeFile:
        return self._assistant({"type": "text", "text": text}, message_id, tokens, **fields)

    def calls(
        self, call_id: str, tool: str = "Bash", message_id: str = "", tokens: int = 10, **given: Any
    ) -> ClaudeFile:
        block = {"type": "tool_use", "id": call_id, "name": tool, "input": given or {"command": "ls"}}
        return self._assistant(block, message_id, tokens)

    def _assistant(self, block: dict[str, Any], message_id: str, tokens: int, **fields: Any) -> ClaudeFile:
        message = {
            "id": message_id or f"msg_{self.count}",
            "role": "assistant",
            "model": "claude-test",
            "content": [block],
            "usage": {"input_tokens": 3, "output_tokens": tokens, "cache_read_input_tokens": 100},
        }
        return self._line("assistant", message=message, **fields)

    def result(self, call_id: str, text: object = "done", is_error: bool | None = None, **fields: Any) -> ClaudeFile:
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call_id, "content": text}
        if is_error is not None:
            block["is_error"] = is_error
        copy = {"toolUseResult": {"stdout": str(text), "nested": {"type": "progress", "}{": '"}{"'}}}
        return self._line("user", message={"role": "user", "content": [block]}, **{**copy, **fields})

    def other(self, kind: str, **fields: Any) -> ClaudeFile:
        return self._line(kind, **fields)

    def raw(self, line: bytes) -> ClaudeFile:
        self.lines.append(line)
        return self

    def write(self, path: Path) -> Path:
        path.write_bytes(b"".join(self.lines))
        return path


def story() -> list[bytes]:
    """A conversation in which calls, results and parts of messages lie far apart."""
    file = ClaudeFile().user("start").says("a", "m1").calls("t1", message_id="m1").calls("t2", message_id="m1")
    file.result("t2").says("b", "m2").calls("t3", message_id="m2").result("t1", "Exit code 2", is_error=True)
    file.user("[seasoned:warm v1 x@1 y]").says("shown").user("[seasoned:end]").calls("t4", message_id="m3")
    file.other("system", subtype="compact_boundary").user("summary", isCompactSummary=True)
    file.user("sub", isSidechain=True, agentId="s1").says("sub answer", isSidechain=True, agentId="s1")
    return file.result("t3").says("c", "m3", tokens=99).result("t4").says("end").lines
