"""Keys are made and revoked, shown once, and known by their hash alone; on every database."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import openai
import pytest

from seasoned.errors import UsageError
from seasoned.gateway.accounting import (
    PREFIX,
    Budgets,
    KeyCache,
    UsageEntry,
    add_entries,
    hash_of,
    list_keys,
    make_key,
    pricing,
    problems,
    revoke_key,
)
from seasoned.gateway.settings import GatewaySettings, Upstream
from seasoned.session import Usage
from seasoned.store import Database, open_database
from tests.each_case import each_case
from tests.gateway.running import config_in, run_gateway, settings_for, used, wait_until
from tests.gateway.upstream_server import chat, serve_upstream

HELLO: Any = [{"role": "user", "content": "Hello"}]


def test_a_key_is_known_until_it_is_revoked(any_database: Database) -> None:
    made, token = make_key(any_database, "laptop", now=5.0, usd_per_day=2.5, stops=True)
    keys = KeyCache()
    keys.load(any_database)
    assert keys.find(token) == made
    assert keys.find(token[:-1]) is None
    ended = revoke_key(any_database, "laptop", now=9.0)
    assert keys.find(token) == made, "what is in memory holds until it is loaded anew"
    keys.load(any_database)
    assert keys.find(token) is None
    assert revoke_key(any_database, "laptop", now=11.0).revoked_at == 9.0
    assert list_keys(any_database) == [ended]


def test_only_the_hash_of_a_key_is_kept(any_database: Database) -> None:
    _, token = make_key(any_database, "laptop", now=5.0)
    (row,) = any_database.rows("gateway.keys")
    assert token.startswith(PREFIX)
    assert row["token_hash"] == hash_of(token)
    assert token not in [row[name] for name in ("id", "name", "token_hash")]


@each_case(
    ("name", "more"),
    [
        ("", {}),
        ("Big", {}),
        ("a b", {}),
        ("ok", {"usd_per_day": 0}),
        ("ok", {"tokens_per_day": -1}),
        ("ok", {"stops": True}),
    ],
)
def test_a_key_that_makes_no_sense_is_refused(any_database: Database, name: str, more: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        make_key(any_database, name, now=5.0, **more)
    assert list_keys(any_database) == []


def test_a_key_that_is_revoked_stops_within_a_moment(tmp_path: Path) -> None:
    config = config_in(tmp_path)
    database = open_database(config)
    with serve_upstream(chat()) as upstream, run_gateway(config, settings_for(config, upstream.url)) as gateway:
        _, token = make_key(database, "late", now=time.time())
        client = openai.OpenAI(base_url=f"{gateway.url}/v1", api_key=token, max_retries=0)

        def works() -> bool:
            try:
                client.chat.completions.create(model="m", messages=HELLO)
            except openai.AuthenticationError:
                return False
            return True

        wait_until(works, seconds=2)
        revoke_key(database, "late", now=time.time())
        wait_until(lambda: not works(), seconds=2)
        assert not works()
    database.close()


def test_a_key_beyond_its_budget_is_stopped(tmp_path: Path) -> None:
    config = config_in(tmp_path)
    database = open_database(config)
    _, token = make_key(database, "small", now=time.time(), tokens_per_day=100, stops=True)
    _, other = make_key(database, "told", now=time.time(), tokens_per_day=100)
    with serve_upstream(chat()) as upstream, run_gateway(config, settings_for(config, upstream.url)) as gateway:

        def is_stopped(key: str) -> bool:
            client = openai.OpenAI(base_url=f"{gateway.url}/v1", api_key=key, max_retries=0)
            try:
                client.chat.completions.create(model="m", messages=HELLO)
            except openai.RateLimitError as error:
                assert "100 tokens for today" in str(error)
                return True
            return False

        assert not is_stopped(token)
        assert not is_stopped(other)
        wait_until(lambda: is_stopped(token), seconds=3)
        assert not is_stopped(other), "a budget without a stop is only told of"
    database.close()


def test_keys_of_the_gateway_are_replaced_by_the_upstream_s(tmp_path: Path) -> None:
    config = config_in(tmp_path)
    (config.home / "secrets").mkdir(parents=True)
    (config.home / "secrets" / "given-openai_key").write_text("sk-real\n")
    database = open_database(config)
    _, token = make_key(database, "laptop", now=1.0)
    database.close()
    with (
        serve_upstream(chat()) as upstream,
        run_gateway(config, settings_for(config, upstream.url, mode="keys")) as gateway,
    ):
        client = openai.OpenAI(base_url=f"{gateway.url}/v1", api_key=token, max_retries=0)
        client.chat.completions.create(model="m", messages=HELLO)
        with pytest.raises(openai.AuthenticationError, match="accepts only gateway keys"):
            client.with_options(api_key="sk-other").chat.completions.create(model="m", messages=HELLO)
        with pytest.raises(openai.AuthenticationError, match="unknown or was revoked"):
            client.with_options(api_key=token + "x").chat.completions.create(model="m", messages=HELLO)
    assert [heard.headers["authorization"] for heard in upstream.heard] == ["Bearer sk-real"]
    (row,) = used(config, "key")
    assert (row.name, row.requests) == ("laptop", 1)
    kept = b"".join(
        path.read_bytes() for path in config.home.rglob("*") if path.is_file() and path.parent.name != "secrets"
    )
    assert token.encode() not in kept
    assert b"sk-real" not in kept


def test_a_key_reaches_what_agents_use_and_nothing_else_of_the_upstream_s_account(tmp_path: Path) -> None:
    config = config_in(tmp_path)
    database = open_database(config)
    _, token = make_key(database, "laptop", now=1.0)
    database.close()
    used = ["POST /v1/chat/completions", "POST /v1/responses", "POST /v1/messages/count_tokens", "GET /v1/models"]
    used += ["GET /v1/models/org/model-1.5:free", "GET /v1/responses/resp_1", "POST /v1/embeddings", "GET /v1/files"]
    others = ["DELETE /v1/files/f", "GET /v1/files/f", "GET /v1/organization/admin_api_keys", "POST /v1/batches"]
    others += ["POST /v1/fine_tuning/jobs", "POST /v1/messages/batches", "GET /v1/chat/completions", "POST /v1/files"]
    others += ["GET /v1/models/../files", "GET /v1/models/%2e%2e/files", "GET //v1/models", "GET /../admin"]
    with serve_upstream(*[chat()] * len(used)) as upstream:
        settings = settings_for(config, upstream.url, mode="keys", key_paths=("/v1/files",))
        with run_gateway(config, settings) as gateway:

            def status_of(line: str, key: str) -> int:
                method, _, path = line.partition(" ")
                request = httpx2.Request(
                    method, gateway.url, headers={"x-api-key": key}, extensions={"target": path.encode()}
                )
                with httpx2.Client() as client:
                    return client.send(request).status_code

            assert {line: status_of(line, token) for line in used} == dict.fromkeys(used, 200)
            refused = [line for line in others if line != "POST /v1/files"]
            assert {line: status_of(line, token) for line in refused} == dict.fromkeys(refused, 403)
    assert len(upstream.heard) == len(used)


def test_a_budget_that_cannot_hold_is_told_and_a_price_can_be_named(any_database: Database) -> None:
    """A proxy's address has no price, so a budget in dollars would stop nothing."""
    key, _ = make_key(any_database, "laptop", now=5.0, usd_per_day=0.001, stops=True)
    now = 1_790_000_000.0

    def spend(name: str, upstream: Upstream) -> None:
        used = Usage(input=31_000, output=9)
        entry = UsageEntry(
            id=name,
            at=now,
            session="s",
            purpose="turn",
            key_name="laptop",
            upstream="proxy",
            api="chat",
            model="gpt-4o-mini",
            status=200,
            ended="complete",
            usage=used,
        )
        add_entries(any_database, [entry], pricing(GatewaySettings(upstream=(upstream,))))

    proxy = Upstream(name="proxy", base_url="http://127.0.0.1:9")
    budgets = Budgets()
    spend("a", proxy)
    (told,) = budgets.load(any_database, [key], now=now)
    assert told.startswith("The budget of the key 'laptop' cannot be enforced: 1 of its requests")
    assert problems(any_database, now=now) == [told]
    assert budgets.load(any_database, [key], now=now) == [], "once"
    assert budgets.refusal(key, now=now) is None
    spend("a", msgspec.structs.replace(proxy, prices_of="openai"))
    (told,) = budgets.load(any_database, [key], now=now)
    assert told.startswith("The key 'laptop' has used $0.00 of its $0.00 for today")
    assert budgets.refusal(key, now=now) == told
    assert problems(any_database, now=now) == []
