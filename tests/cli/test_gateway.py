"""`seasoned gateway`, its keys, and `seasoned usage`, as a user runs them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import openai
import pytest

from seasoned.config import load
from seasoned.gateway.accounting import EntryCost, UsageEntry, add_entries
from seasoned.scan.store_writer import update_aggregates
from seasoned.session import Usage
from seasoned.store import open_database, open_store
from tests.cli.run import SEASONED, answer, seasoned
from tests.gateway.upstream_server import chat, serve_upstream


def test_keys_are_made_listed_and_revoked() -> None:
    made = answer("gateway", "key", "--make", "laptop", "--usd-per-day", "5", "--stop")
    assert made["schema"] == "seasoned/gateway-key/1"
    assert made["token"].startswith("ssn_gateway_")
    assert (made["usd_per_day"], made["stops"]) == (5.0, True)
    shown = seasoned("gateway", "key").stdout
    assert "laptop" in shown
    assert made["token"] not in shown
    assert answer("gateway", "key", "--revoke", "laptop")["revoked_at"] is not None
    (listed,) = answer("gateway", "key")["keys"]
    assert listed["revoked_at"] is not None
    assert "`seasoned gateway key`" in seasoned("gateway", "key", "--revoke", "phone", expect=1).stderr
    assert "taken" in seasoned("gateway", "key", "--make", "laptop", expect=1).stderr


def test_settings_that_are_wrong_are_told_before_anything_listens() -> None:
    folder = Path(os.environ["SEASONED_HOME"])
    folder.mkdir(parents=True)
    (folder / "gateway.toml").write_text("mode = 'open'\n")
    assert "gateway.toml" in seasoned("gateway", expect=2).stderr
    (folder / "gateway.toml").unlink()
    assert "127.0.0.1" in seasoned("gateway", "--host", "0.0.0.0", expect=2).stderr


def test_a_gateway_runs_until_it_is_told_to_stop_and_usage_shows_what_it_took() -> None:
    assert answer("usage")["rows"] == []
    assert "seasoned gateway" in seasoned("usage").stdout
    with serve_upstream(chat()) as upstream:
        process = subprocess.Popen(
            [str(SEASONED), "gateway", "--port", "0", "--upstream", upstream.url],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        address = process.stdout.readline().split()[-1]
        client = openai.OpenAI(base_url=f"{address}/v1", api_key="sk-x", max_retries=0)
        client.chat.completions.create(model="gpt-4o-mini", messages=[{"role": "user", "content": "Hi"}])
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (0, "")
    for by in ("session", "model", "day", "key"):
        found = answer("usage", "--by", by)
        (row,) = found["rows"]
        assert (row["requests"], row["input_tokens"], row["output_tokens"]) == (1, 20, 8)
        assert (row["cost_usd"], row["unpriced"]) == (None, 1), "a model on this machine has no price"
    assert "gpt-4o-mini" in seasoned("usage", "--by", "model", "--since", "yesterday").stdout


def test_usage_tells_apart_what_histories_say_and_counts_no_session_twice() -> None:
    config = load()
    with open_store(config.store_path) as store:
        for number, cost in enumerate((0.25, None), start=1):
            store.connection.execute(
                "INSERT INTO session (agent, native_id, model, ended, input_tokens, output_tokens, cache_read_tokens,"
                " cost_usd) VALUES ('codex', ?, 'gpt-5', ?, 10, 5, 90, ?)",
                (f"s{number}", number * 86_400.0, cost),
            )
            store.connection.execute(
                "INSERT INTO usage_event VALUES (?, ?, ?, 'gpt-5', 10, 5, 90, NULL, NULL, 0)",
                (number, number, number * 86_400.0),
            )
        update_aggregates(store, [1, 2])
    database = open_database(config)
    try:
        entry = UsageEntry(
            id="1",
            at=86_400.0,
            session="codex:s1",
            purpose="turn",
            key_name="",
            upstream="u",
            api="responses",
            model="gpt-5",
            status=200,
            ended="complete",
            usage=Usage(input=10, output=5),
        )
        add_entries(database, [entry], lambda _: EntryCost())
    finally:
        database.close()
    for by, name in (("session", "codex:s2"), ("model", "gpt-5"), ("day", "1970-01-03")):
        found = answer("usage", "--by", by)
        assert len(found["rows"]) == 1
        (row,) = found["histories"]
        assert (row["name"], row["sessions"], row["input_tokens"], row["cache_read_tokens"]) == (name, 1, 10, 90)
        # 10 fresh tokens, 90 from the cache, 5 of output: no cost was recorded, so it is estimated.
        assert (row["unpriced"], row["estimated"], row["estimated_usd"]) == (0, 1, row["cost_usd"])
        assert abs(row["cost_usd"] - (10 * 1.25 + 90 * 0.125 + 5 * 10) / 1e6) < 1e-12
        assert row["price_source"].startswith("genai-prices ")
    assert answer("usage", "--by", "key")["histories"] == []
    said = seasoned("usage").stdout
    assert "Through the gateway:" in said and "Read from histories" in said
    assert "is an estimate by genai-prices" in said


def test_a_recorded_cost_wins_over_an_estimate_and_what_has_no_price_is_named() -> None:
    with open_store(load().store_path) as store:
        for number, (agent, model, cost) in enumerate((("codex", "gpt-5", 0.25), ("codex", "mystery", None))):
            store.connection.execute(
                "INSERT INTO session (agent, native_id, model, ended, input_tokens, output_tokens, cost_usd)"
                " VALUES (?, ?, ?, 86400.0, 10, 5, ?)",
                (agent, f"s{number}", model, cost),
            )
            store.connection.execute(
                "INSERT INTO usage_event VALUES (?, ?, 86400.0, ?, 10, 5, NULL, NULL, NULL, 0)",
                (number + 1, number + 1, model),
            )
        update_aggregates(store, [1, 2])
    found = answer("usage", "--by", "day")
    (row,) = found["histories"]
    assert (row["cost_usd"], row["estimated"], row["estimated_usd"], row["unpriced"]) == (0.25, 0, None, 1)
    assert found["unpriced_models"] == ["mystery (codex)"]
    said = seasoned("usage").stdout
    assert "No price is known for mystery (codex)" in said and "estimate" not in said


def _used(hours_ago: float, *, session: str = "s1", long_write: int = 0) -> dict[str, Any]:
    """A line of Claude Code with an answer that used something."""
    usage = {"input_tokens": 1000, "output_tokens": 100, "cache_creation_input_tokens": 1000}
    usage |= {"cache_creation": {"ephemeral_1h_input_tokens": long_write}}
    at = datetime.fromtimestamp(time.time() - 3600 * hours_ago, UTC).isoformat()
    message = {"id": f"m{hours_ago}", "role": "assistant", "model": "claude-sonnet-4-5", "content": "Done."}
    line = {
        "type": "assistant",
        "sessionId": session,
        "uuid": f"u{hours_ago}",
        "cwd": "/home/ann/shop",
        "timestamp": at,
    }
    return {**line, "message": {**message, "usage": usage}}


def test_blocks_budgets_and_the_status_line_say_what_was_spent(home: Path) -> None:
    config = load()
    config.home.mkdir(parents=True, exist_ok=True)
    (config.home / "config.toml").write_text("budget_usd_per_month = 0.01\nbudget_usd_per_day = 100.0\n")
    file = home / "s1.jsonl"
    # The last two are within five hours of each other, the first is long before. What is kept for an hour costs more.
    lines = [_used(30), _used(0.2), _used(0.1, long_write=1000)]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    seasoned("scan", file)
    found = answer("usage", "--by", "block", "--all")
    short, long = (1000 * 3 + 100 * 15 + 1000 * 3.75) / 1e6, (1000 * 3 + 100 * 15 + 1000 * 6) / 1e6
    assert [row["cost_usd"] for row in found["histories"]] == pytest.approx([short + long, short])
    assert found["totals"]["histories"]["total_tokens"] == 3 * 1100
    for by, name in (("agent", "claude-code"), ("project", "/home/ann/shop"), ("model", "claude-sonnet-4-5")):
        (row,) = answer("usage", "--by", by, "--all")["histories"]
        assert (row["name"], row["sessions"]) == (name, 1) and row["cost_usd"] == pytest.approx(2 * short + long)
    day, month = found["budgets"]
    assert (day["is_over"], month["is_over"]) == (False, True) and month["spent_usd"] >= day["spent_usd"] > 0
    asked = {"session_id": "s1", "workspace": {"current_dir": "/home/ann/shop"}, "cost": {"total_cost_usd": 2.5}}
    line = seasoned("statusline", stdin=json.dumps(asked)).stdout
    # What the agent itself says of the session that runs is newer than the store.
    assert line.startswith("shop · $2.5") and "of $100.00" in line and "over the budget of this month" in line
    for broken in ("", "[]", "{", '{"cost": 1, "workspace": []}'):
        assert " today" in seasoned("statusline", stdin=broken).stdout
