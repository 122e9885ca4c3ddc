"""Tokens, prices, keys and budgets: counted as providers count them, once, and known by their hash alone."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import openai
import pytest

from seasoned.config import Config
from seasoned.errors import UsageError
from seasoned.gateway.accounting import (
    GROUPINGS,
    PREFIX,
    Budgets,
    EntryCost,
    GatewayKey,
    KeyCache,
    UsageEntry,
    UsageJournal,
    add_entries,
    hash_of,
    list_keys,
    make_key,
    over_budget,
    pricing,
    problems,
    revoke_key,
    spent,
    totals,
)
from seasoned.gateway.settings import GatewaySettings, Upstream, load_settings
from seasoned.session import Usage
from seasoned.store import Database, open_database
from tests.each_case import each_case
from tests.gateway.running import Running, rows, run_gateway, settings_for, token_of, used, wait_until
from tests.gateway.upstream_server import Upstream as Served
from tests.gateway.upstream_server import message_stream, stream, whole

HELLO: Any = [{"role": "user", "content": "Hello"}]
ENTRY = UsageEntry(
    id="1",
    at=86_400.0,
    session="gateway:a",
    purpose="turn",
    key_name="laptop",
    upstream="openai",
    api="chat",
    model="gpt-4o-mini",
    status=200,
    ended="complete",
    usage=Usage(100, 10, 80, None, 4),
    raw={"prompt_tokens": 100},
)


def _priced(entry: UsageEntry) -> EntryCost:
    return EntryCost(0.5, "test") if entry.model == "gpt-4o-mini" else EntryCost()


def test_an_entry_is_set_and_never_added_twice(any_database: Database) -> None:
    later = msgspec.structs.replace(ENTRY, usage=Usage(100, 30, 80, None, 4), ended="complete")
    for _ in range(3):
        add_entries(any_database, [ENTRY, later], _priced)
    for by in GROUPINGS:
        (total,) = totals(any_database, by)
        assert (total.requests, total.usage) == (1, Usage(100, 30, 80, None, 4))
        assert (total.cost_usd, total.unpriced) == (0.5, 0)


def test_usage_of_some_sessions_is_summed_like_that_of_all(any_database: Database) -> None:
    entries = [
        msgspec.structs.replace(ENTRY, id=str(number), session=session, at=86_400.0 * day, model=model)
        for number, (session, day, model) in enumerate(
            [("a", 1, "gpt-4o-mini"), ("a", 2, "mine"), ("b", 2, "mine"), ("b", 3, "gpt-4o-mini"), ("c", 3, "mine")]
        )
    ]
    add_entries(any_database, entries, _priced)
    for by in GROUPINGS:
        assert totals(any_database, by, only={"a", "b", "c"}) == totals(any_database, by)
    (of_a, *_) = totals(any_database, "key", only={"a"})
    assert (of_a.name, of_a.requests, of_a.cost_usd, of_a.unpriced) == ("laptop", 2, 0.5, 1)
    assert totals(any_database, "day", only=set()) == []


def test_figures_and_names_that_cannot_be_keep_no_other_entry_out(any_database: Database) -> None:
    odd = msgspec.structs.replace(ENTRY, id="2", model="a\0b" + "\ud800" * 900, usage=Usage(10**30, -5, None, None, 2))
    add_entries(any_database, [odd, ENTRY], lambda _: EntryCost(float("inf"), "x"))
    usages = {total.name: total for total in totals(any_database, "model")}
    assert usages["ab"].usage == Usage(None, None, None, None, 2)
    assert usages["ab"].cost_usd is None
    assert usages["gpt-4o-mini"].usage == ENTRY.usage


def test_a_budget_counts_the_day_of_its_key(any_database: Database) -> None:
    other = msgspec.structs.replace(ENTRY, id="2", key_name="other")
    next_day = msgspec.structs.replace(ENTRY, id="3", at=2 * 86_400.0)
    add_entries(any_database, [ENTRY, other, next_day], _priced)
    found = spent(any_database, "laptop", "1970-01-02")
    assert (found.tokens, found.usd) == (190, 0.5)
    key = GatewayKey(id="k", name="laptop", created_at=0.0, tokens_per_day=110)
    assert "190 of its 110 tokens" in str(over_budget(key, found))
    assert over_budget(msgspec.structs.replace(key, tokens_per_day=191), found) is None
    assert "$0.50" in str(over_budget(msgspec.structs.replace(key, tokens_per_day=None, usd_per_day=0.5), found))


def test_prices_are_the_provider_s_own_word_or_published_ones(tmp_path: Path) -> None:
    price = pricing(load_settings(tmp_path / "none.toml"))
    known = price(msgspec.structs.replace(ENTRY, at=time.time()))
    assert known.usd is not None
    assert known.usd > 0
    assert str(known.source).startswith("genai-prices 0")
    named = price(msgspec.structs.replace(ENTRY, raw={"prompt_tokens": 100, "cost": 0.125}))
    assert named == EntryCost(0.125, "provider")
    assert price(msgspec.structs.replace(ENTRY, model="no-such-model")) == EntryCost()
    assert pricing(GatewaySettings())(msgspec.structs.replace(ENTRY, usage=None, raw=None)) == EntryCost()


def test_the_journal_gives_back_what_was_written(tmp_path: Path) -> None:
    journal = UsageJournal(tmp_path / "journal")
    journal.open()
    journal.append(ENTRY)
    ((path, entries),) = journal.take()
    assert entries == [ENTRY]
    assert path is not None
    assert path.stat().st_mode & 0o777 == 0o600
    ((again, _),) = journal.take()
    assert again == path, "until it is said to be done it is given again"
    journal.done(path)
    assert list(journal.take()) == []
    assert list((tmp_path / "journal").iterdir()) == []


def test_a_line_that_was_cut_off_costs_no_other_line(tmp_path: Path) -> None:
    (tmp_path / "journal").mkdir()
    whole_line = msgspec.json.encode(ENTRY)
    (tmp_path / "journal/1-a.jsonl").write_bytes(whole_line + b"\n" + whole_line[:40])
    journal = UsageJournal(tmp_path / "journal")
    journal.open()
    ((_, entries),) = journal.take()
    assert entries == [ENTRY]


def test_a_journal_in_use_is_left_to_its_owner(tmp_path: Path) -> None:
    first, second = UsageJournal(tmp_path / "journal"), UsageJournal(tmp_path / "journal")
    first.open()
    first.append(ENTRY)
    second.open()
    assert list(second.take()) == []
    first.close()
    second.open()
    assert [entries for _, entries in second.take()] == [[ENTRY]]


def test_an_entry_that_no_disk_takes_is_kept_in_memory(tmp_path: Path) -> None:
    journal = UsageJournal(tmp_path / "journal")
    with pytest.raises(FileNotFoundError):
        journal.append(ENTRY)
    ((path, entries),) = journal.take()
    assert (path, entries) == (None, [ENTRY])


def _usage(config: Any) -> list[tuple[Any, ...]]:
    return [
        (row.usage.input, row.usage.output, row.usage.cache_read, row.usage.reasoning) for row in used(config, "model")
    ]


def test_the_entry_is_written_before_the_client_sees_the_end(config: Config, upstream: Served) -> None:
    upstream.script[:] = [stream(*message_stream("Hi").chunks, b": nothing more\n\n", pause_seconds=0.15)]
    with run_gateway(config, settings_for(config, upstream.url)) as gateway:
        body = {"model": "claude-sonnet-5", "max_tokens": 5, "messages": HELLO, "stream": True}
        with httpx2.Client() as client, client.stream("POST", f"{gateway.url}/v1/messages", json=body) as answer:
            for piece in answer.iter_raw():
                if b"message_stop" in piece:
                    break
            found = list((config.home / "gateway-journal").iterdir())
            stored = [] if found else _usage(config)
            assert found or stored == [(20, 9, 90, None)]
    assert _usage(config) == [(20, 9, 90, None)]
    (session,) = used(config, "session")
    assert rows(config, "gateway.requests_of", session=session.name)[0]["ended"] == "complete"


def test_a_request_that_the_provider_refused_took_nothing(config: Config, upstream: Served) -> None:
    upstream.script[:] = [whole({"error": {"message": "no"}}, status=400)]
    with run_gateway(config, settings_for(config, upstream.url)) as gateway, pytest.raises(openai.BadRequestError):
        gateway.openai().chat.completions.create(model="gpt-4o-mini", messages=HELLO)
    assert _usage(config) == []


def test_a_key_is_known_until_it_is_revoked(any_database: Database) -> None:
    made, token = make_key(any_database, "laptop", now=5.0, usd_per_day=2.5, stops=True)
    (row,) = any_database.rows("gateway.keys")
    assert token.startswith(PREFIX) and row["token_hash"] == hash_of(token)
    assert token not in [row[name] for name in ("id", "name", "token_hash")], "only its hash is kept"
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


def test_a_key_that_is_revoked_or_beyond_its_budget_stops_within_a_moment(config: Config, gateway: Running) -> None:
    tokens = {
        "late": token_of(config, "late"),
        "small": token_of(config, "small", tokens_per_day=100, stops=True),
        "told": token_of(config, "told", tokens_per_day=100),
    }

    def answer(name: str) -> str:
        try:
            gateway.openai(tokens[name]).chat.completions.create(model="m", messages=HELLO)
        except openai.APIStatusError as error:
            return str(error)
        return "passes"

    for name in tokens:
        wait_until(lambda name=name: answer(name) == "passes")  # type: ignore[misc]
    database = open_database(config)
    revoke_key(database, "late", now=time.time())
    database.close()
    wait_until(lambda: "unknown or was revoked" in answer("late"))
    wait_until(lambda: "100 tokens for today" in answer("small"))
    assert answer("told") == "passes", "a budget without a stop is only told of"


def test_keys_of_the_gateway_are_replaced_by_the_upstream_s(config: Config, upstream: Served) -> None:
    (config.home / "secrets").mkdir(parents=True)
    (config.home / "secrets" / "given-openai_key").write_text("sk-real\n")
    token = token_of(config, "laptop")
    with run_gateway(config, settings_for(config, upstream.url, mode="keys")) as gateway:
        client = gateway.openai(token)
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


def test_a_key_reaches_what_agents_use_and_nothing_else_of_the_upstream_s_account(
    config: Config, upstream: Served
) -> None:
    token = token_of(config, "laptop")
    used = ["POST /v1/chat/completions", "POST /v1/responses", "POST /v1/messages/count_tokens", "GET /v1/models"]
    used += ["GET /v1/models/org/model-1.5:free", "GET /v1/responses/resp_1", "POST /v1/embeddings", "GET /v1/files"]
    others = ["DELETE /v1/files/f", "GET /v1/files/f", "GET /v1/organization/admin_api_keys", "POST /v1/batches"]
    others += ["POST /v1/fine_tuning/jobs", "POST /v1/messages/batches", "GET /v1/chat/completions", "POST /v1/files"]
    others += ["GET /v1/models/../files", "GET /v1/models/%2e%2e/files", "GET //v1/models", "GET /../admin"]
    settings = settings_for(config, upstream.url, mode="keys", key_paths=("/v1/files",))
    with run_gateway(config, settings) as gateway, httpx2.Client(headers={"x-api-key": token}) as client:

        def status_of(line: str) -> int:
            method, _, path = line.partition(" ")
            request = client.build_request(method, gateway.url, extensions={"target": path.encode()})
            return client.send(request).status_code

        assert {line: status_of(line) for line in used} == dict.fromkeys(used, 200)
        refused = [line for line in others if line != "POST /v1/files"]
        assert {line: status_of(line) for line in refused} == dict.fromkeys(refused, 403)
    assert len(upstream.heard) == len(used)


def test_a_budget_that_cannot_hold_is_told_and_a_price_can_be_named(any_database: Database) -> None:
    """A proxy's address has no price, so a budget in dollars would stop nothing."""
    key, _ = make_key(any_database, "laptop", now=5.0, usd_per_day=0.001, stops=True)
    now = 1_790_000_000.0

    def spend(name: str, upstream: Upstream) -> None:
        entry = msgspec.structs.replace(
            ENTRY, id=name, at=now, upstream="proxy", usage=Usage(input=31_000, output=9), raw=None
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
