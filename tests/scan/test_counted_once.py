"""Each answer of a provider counts once, whatever files it stands in."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from seasoned.redact import Secrecy
from seasoned.scan.scan import ScanTarget, scan
from seasoned.store import open_store
from tests.scan import counted_by_hand

_SUMS = "SELECT agent, sum(input), sum(output), sum(cache_read), sum(cache_write) FROM usage_part"


def _used(store: Path, *paths: Path) -> dict[str, tuple[int, ...]]:
    scan(ScanTarget(store), paths, Secrecy(b"k" * 32), discovered=True, workers=1)
    with open_store(store) as opened:
        rows = opened.connection.execute(f"{_SUMS} JOIN session ON session.id = session_id GROUP BY agent").fetchall()
        sessions = opened.connection.execute("SELECT sum(input_tokens), sum(output_tokens) FROM session").fetchone()
    assert tuple(sessions) == (sum(row[1] for row in rows), sum(row[2] for row in rows)), "lists and totals agree"
    return {row[0]: tuple(row)[1:] for row in rows}


def _claude(session: str, number: int, output: int, **more: Any) -> dict[str, Any]:
    usage = {"input_tokens": 3, "output_tokens": output, "cache_read_input_tokens": 100 * number}
    message = {"id": f"msg_01ABCDEFGHIJKLMNOP{number:04d}", "role": "assistant", "model": "m", "usage": usage}
    line = {"type": "assistant", "uuid": f"{session}-{number}-{output}", "sessionId": session, "message": message}
    return {"timestamp": f"2026-03-01T10:{number:02d}:00Z", "cwd": "/shop", **line, **more}


def _write(file: Path, *lines: dict[str, Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


def test_forks_copies_progress_and_partial_counts_of_claude_code(tmp_path: Path) -> None:
    projects = tmp_path / "projects"
    agent = {"isSidechain": True, "agentId": "a1"}
    told = {"type": "progress", "sessionId": "s1", "timestamp": "2026-03-01T10:05:00Z"}
    passed = _claude("s1", 5, 2)
    _write(
        projects / "p" / "s1.jsonl",
        *[_claude("s1", 1, 2), _claude("s1", 1, 50), _claude("s1", 2, 7)],
        {**told, "data": {"type": "agent_progress", "agentId": "a1", "message": passed}},
    )
    _write(projects / "p" / "s1" / "agent-a1.jsonl", _claude("s1", 5, 2, **agent), _claude("s1", 5, 30, **agent))
    _write(projects / "p" / "s2.jsonl", _claude("s2", 1, 50), _claude("s2", 2, 7), _claude("s2", 3, 9))
    shutil.copytree(projects / "p", projects / "copy")
    assert _used(tmp_path / "s.db", projects) == {"claude-code": (12, 50 + 7 + 30 + 9, 1100, None)}


def _count(total: int, last: int) -> dict[str, Any]:
    info = {"total_token_usage": {"input_tokens": total, "output_tokens": total // 10}}
    info["last_token_usage"] = {"input_tokens": last, "output_tokens": last // 10}
    return {"timestamp": "2026-03-01T10:00:00Z", "type": "event_msg", "payload": {"type": "token_count", "info": info}}


def _meta(native_id: str, parent: str | None = None) -> dict[str, Any]:
    payload = {"id": native_id, "cwd": "/shop", "forked_from_id": parent}
    return {"timestamp": "2026-03-01T10:00:00Z", "type": "session_meta", "payload": payload}


_SAID = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go on."}]}
_ASKED = {"timestamp": "2026-03-01T10:00:00Z", "type": "response_item", "payload": _SAID}


def test_forks_repeats_and_new_beginnings_of_codex(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    own = [_meta("t1"), _ASKED, _count(100, 100), _count(300, 200), _count(300, 200)]
    _write(folder / "rollout-1-t1.jsonl", *own, _count(400, 100), _count(50, 50))
    # One fork repeats what came before, the other only goes on with the sum.
    _write(folder / "rollout-2-t2.jsonl", _meta("t2", "t1"), *own, _count(1300, 1000))
    _write(folder / "rollout-3-t3.jsonl", _meta("t3", "t1"), _ASKED, _count(1400, 1000))
    assert _used(tmp_path / "s.db", folder) == {"codex": (2450, 245, 0, None)}


def test_a_history_that_grew_says_the_same_as_one_that_is_read_at_once(tmp_path: Path) -> None:
    lines = [_meta("t1"), _ASKED, _count(100, 100), _count(300, 200), _count(450, 150)]
    for upto in range(3, len(lines) + 1):
        _write(tmp_path / "grown" / "rollout-1-t1.jsonl", *lines[:upto])
        grown = _used(tmp_path / "grown.db", tmp_path / "grown")
    assert grown == _used(tmp_path / "whole.db", tmp_path / "grown")
    assert grown["codex"][0] == 450


def test_real_histories_beside_a_count_by_hand(data: Path, tmp_path: Path) -> None:
    found: dict[str, list[Path]] = {"claude-code": [], "codex": []}
    for root in (data, data.parent / "projects"):
        for file in sorted(root.rglob("*.jsonl")):
            for agent in found.keys() & set(file.parts):
                found[agent].append(file)
    used = _used(tmp_path / "s.db", *[file for files in found.values() for file in files])
    assert used["claude-code"] == counted_by_hand.claude_code(found["claude-code"])
    assert used["codex"][:3] == counted_by_hand.codex(found["codex"])
