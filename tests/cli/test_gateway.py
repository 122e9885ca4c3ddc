"""`seasoned gateway`, its keys, and `seasoned usage`, as a user runs them."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import openai

from seasoned.config import load
from seasoned.gateway.accounting import EntryCost, UsageEntry, add_entries
from seasoned.session import Usage
from seasoned.store import open_database, open_store
from tests.cli.run import SEASONED, answer, seasoned
from tests.gateway.upstream_server import chat, serve_upstream


def test_keys_are_made_listed_and_revoked() -> None:
    made = answer("gateway", "key", "make", "laptop", "--usd-per-day", "5", "--stop")
    assert made["schema"] == "seasoned/gateway-key/1"
    assert made["token"].startswith("ssn_gateway_")
    assert (made["usd_per_day"], made["stops"]) == (5.0, True)
    shown = seasoned("gateway", "key", "list").stdout
    assert "laptop" in shown
    assert made["token"] not in shown
    assert answer("gateway", "key", "revoke", "laptop")["revoked_at"] is not None
    (listed,) = answer("gateway", "key", "list")["keys"]
    assert listed["revoked_at"] is not None
    assert "gateway key list" in seasoned("gateway", "key", "revoke", "phone", expect=1).stderr
    assert "taken" in seasoned("gateway", "key", "make", "laptop", expect=1).stderr


def test_settings_that_are_wrong_are_told_before_anything_listens(home: Path) -> None:
    folder = Path(os.environ["SEASONED_HOME"])
    folder.mkdir(parents=True)
    (folder / "gateway.toml").write_text("mode = 'open'\n")
    assert "gateway.toml" in seasoned("gateway", expect=2).stderr
    assert "127.0.0.1" in seasoned("gateway", "--host", "0.0.0.0", "--settings", home / "none.toml", expect=2).stderr


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
    assert "gpt-4o-mini" in seasoned("usage", "--by", "model", "--days", "1").stdout


def test_usage_tells_apart_what_histories_say_and_counts_no_session_twice() -> None:
    config = load()
    with open_store(config.store_path) as store, store.write():
        for number, cost in enumerate((0.25, None), start=1):
            store.connection.execute(
                "INSERT INTO session (agent, native_id, model, ended, input_tokens, output_tokens, cache_read_tokens,"
                " cost_usd) VALUES ('codex', ?, 'gpt-5', ?, 10, 5, 90, ?)",
                (f"s{number}", number * 86_400.0, cost),
            )
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


def test_a_recorded_cost_wins_over_an_estimate_and_what_has_no_price_is_said() -> None:
    with open_store(load().store_path) as store, store.write():
        for number, (agent, model, cost) in enumerate((("codex", "gpt-5", 0.25), ("codex", "mystery", None))):
            store.connection.execute(
                "INSERT INTO session (agent, native_id, model, ended, input_tokens, output_tokens, cost_usd)"
                " VALUES (?, ?, ?, 86400.0, 10, 5, ?)",
                (agent, f"s{number}", model, cost),
            )
    (row,) = answer("usage", "--by", "day")["histories"]
    assert (row["cost_usd"], row["estimated"], row["estimated_usd"], row["unpriced"]) == (0.25, 0, None, 1)
    said = seasoned("usage").stdout
    assert "No price is known for 1 session" in said and "estimate" not in said
