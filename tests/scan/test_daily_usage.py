"""Usage counts for the day of each message, however the source tells it, and whenever the file is read."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from seasoned.config import load
from seasoned.gateway.history_usage import history_totals
from seasoned.scan.store_writer import update_aggregates
from seasoned.store import open_store
from tests.cli.run import answer
from tests.cli.run import seasoned as run

DAYS = ("2026-03-01", "2026-03-02", "2026-03-03")


def _claude(day: str, number: int, tokens: int) -> list[dict[str, Any]]:
    """A turn of Claude Code, whose answer is told twice: the second time with the final figures."""
    said = {"sessionId": "s1", "timestamp": f"{day}T23:00:00.000Z", "cwd": "/home/ann/shop"}
    asked = {"type": "user", "uuid": f"u{number}", "message": {"role": "user", "content": "Go on."}, **said}
    answers = [
        {
            "type": "assistant",
            "uuid": f"a{number}{part}",
            **said,
            "message": {
                "id": f"m{number}",
                "role": "assistant",
                "model": "claude-sonnet-4-5",
                "content": [{"type": "text", "text": "Done."}],
                "usage": {"input_tokens": tokens, "output_tokens": part, "cache_read_input_tokens": 10 * tokens},
            },
        }
        for part in (1, 5)
    ]
    return [asked, *answers]


def _codex(day: str, number: int, total: int) -> list[dict[str, Any]]:
    """A turn of Codex, which tells the total so far."""
    stamp = f"{day}T23:00:00.000Z"
    counts = {"input_tokens": 11 * total, "cached_input_tokens": 10 * total, "output_tokens": 5 * number}
    info = {"total_token_usage": counts, "last_token_usage": {"input_tokens": 11 * 100 * number}}
    text = [{"type": "input_text", "text": "Go on."}]
    return [
        {"timestamp": stamp, "type": "response_item", "payload": {"type": "message", "role": "user", "content": text}},
        {"timestamp": stamp, "type": "event_msg", "payload": {"type": "token_count", "info": info}},
    ]


def _claude_file(home: Path, turns: int) -> Path:
    file = home / ".claude" / "projects" / "p" / "s1.jsonl"
    return _write(file, [line for at in range(turns) for line in _claude(DAYS[at], at + 1, 100 * (at + 1))])


def _codex_file(home: Path, turns: int) -> Path:
    file = home / ".codex" / "sessions" / "2026" / "03" / "01" / "rollout-2026-03-01T23-00-00-s1.jsonl"
    meta = {
        "timestamp": f"{DAYS[0]}T23:00:00Z",
        "type": "session_meta",
        "payload": {"id": "s1", "cwd": "/home/ann/shop"},
    }
    totals = (100, 300, 600)
    return _write(file, [meta, *[line for at in range(turns) for line in _codex(DAYS[at], at + 1, totals[at])]])


def _write(file: Path, lines: list[dict[str, Any]]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return file


@pytest.mark.parametrize("write", [_claude_file, _codex_file])
def test_each_day_gets_what_its_messages_used(home: Path, write: Callable[[Path, int], Path]) -> None:
    file = write(home, 1)
    run("scan", file)
    write(home, 3)
    run("scan", file)
    rows = answer("usage", "--by", "day", "--all")["histories"]
    assert [(one["name"], one["input_tokens"], one["output_tokens"], one["cache_read_tokens"]) for one in rows] == [
        (DAYS[2], 300, 5, 3000),
        (DAYS[1], 200, 5, 2000),
        (DAYS[0], 100, 5, 1000),
    ]
    (whole,) = answer("usage", "--by", "session", "--all")["histories"]
    assert (whole["input_tokens"], whole["total_tokens"], whole["last_prompt_tokens"]) == (600, 615, 3300)
    totals = answer("usage", "--by", "day", "--all")["totals"]["histories"]
    assert totals["total_tokens"] == 615 and totals["cost_usd"] == pytest.approx(whole["cost_usd"])
    assert whole["cost_source"] == whole["price_source"]
    second = datetime.fromisoformat(DAYS[1]).replace(tzinfo=UTC).timestamp()
    with open_store(load().store_path) as store:
        (since,) = history_totals(store, "session", since=second)
    assert since.usage.input == 500, "what was used before does not count"


def test_a_recorded_cost_is_divided_by_tokens(home: Path) -> None:
    run("scan", _claude_file(home, 3))
    with open_store(load().store_path) as store:
        store.connection.execute("UPDATE session SET cost_usd = 6.0")
        update_aggregates(store, [1])
        days = {one.name: one for one in history_totals(store, "day")}
    assert days[DAYS[2]].cost_usd == pytest.approx(6 * 3305 / 6615)
    assert sum(one.cost_usd or 0 for one in days.values()) == pytest.approx(6.0)
    assert {one.cost_source for one in days.values()} == {"recorded"}
