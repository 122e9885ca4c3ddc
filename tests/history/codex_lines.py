"""Writes small Codex rollouts for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SESSION = "0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee"


class CodexFile:
    """Lines of one rollout in the order they are added."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []

    def line(self, kind: str, payload: dict[str, Any]) -> CodexFile:
        stamp = f"2026-04-02T09:{len(self.lines) // 60:02d}:{len(self.lines) % 60:02d}.000Z"
        record = {"timestamp": stamp, "type": kind, "payload": payload}
        self.lines.append(json.dumps(record, separators=(",", ":")).encode() + b"\n")
        return self

    def item(self, **payload: Any) -> CodexFile:
        return self.line("response_item", payload)

    def event(self, **payload: Any) -> CodexFile:
        return self.line("event_msg", payload)

    def meta(self, **fields: Any) -> CodexFile:
        return self.line("session_meta", {"id": SESSION, "cwd": "/home/mira/waypost", **fields})

    def user(self, text: str) -> CodexFile:
        return self.item(type="message", role="user", content=[{"type": "input_text", "text": text}])

    def says(self, text: str) -> CodexFile:
        return self.item(type="message", role="assistant", content=[{"type": "output_text", "text": text}])

    def call(self, call_id: str, name: str = "exec_command", **given: Any) -> CodexFile:
        return self.item(type="function_call", name=name, arguments=json.dumps(given or {"cmd": "ls"}), call_id=call_id)

    def output(self, call_id: str, output: object) -> CodexFile:
        return self.item(type="function_call_output", call_id=call_id, output=output)

    def tokens(self, number: int) -> CodexFile:
        total = {"input_tokens": number, "cached_input_tokens": 4, "output_tokens": 1, "reasoning_output_tokens": 0}
        return self.event(type="token_count", info={"total_token_usage": total})

    def write(self, path: Path) -> Path:
        path.write_bytes(b"".join(self.lines))
        return path


def codex_story() -> list[bytes]:
    file = CodexFile().meta().user("start").call("c1", cmd="make").output("c1", "Process running with session ID 7\n")
    file.call("c2").output("c2", "Process exited with code 0\n").tokens(10).call("c3", "write_stdin", session_id=7)
    return file.output("c3", "Process exited with code 2\nOutput:\nfailed").tokens(20).says("done").lines
