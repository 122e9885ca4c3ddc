"""A conversation through the gateway begins warm, with the same bytes in every request, or stays as it came."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from seasoned.config import Config
from seasoned.gateway.settings import FILE
from seasoned.history.reader.seasoned_db import read
from seasoned.marks import BLOCK_OPENS
from seasoned.store import open_store
from tests.gateway.running import Running, config_in, run_gateway, settings_for, taught_in, wait_until
from tests.gateway.upstream_server import Upstream, message, response

ASK: Any = [{"role": "system", "content": "You help."}, {"role": "user", "content": "Find where it starts."}]
SCHEMA = {"type": "object", "properties": {"pattern": {"type": "string"}, "path": {"type": "string"}}}
TOOL: Any = {"type": "function", "function": {"name": "search_files", "parameters": SCHEMA}}


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return taught_in(tmp_path)


def _ask(gateway: Running, session: str = "s1", messages: Any = None, **more: Any) -> None:
    given = {"model": "gpt-4o-mini", "messages": messages or ASK, "tools": [TOOL], **more}
    headers = {"x-session-id": session, **given.pop("headers", {})}
    gateway.openai().chat.completions.create(**given, extra_headers=headers)


def _is_warm(body: bytes) -> bool:
    return BLOCK_OPENS.encode() in body


def test_every_request_of_a_conversation_carries_the_same_bytes(config: Config, upstream: Upstream) -> None:
    with run_gateway(config, settings_for(config, upstream.url)) as gateway:
        _ask(gateway)
        longer = [*ASK, {"role": "assistant", "content": "Hello there."}, {"role": "user", "content": "And then?"}]
        _ask(gateway, messages=longer)
        assert gateway.failed_open() == {}
    with run_gateway(config, settings_for(config, upstream.url)) as again:
        _ask(again, messages=[*longer, {"role": "user", "content": "More."}])
    first, second, third = [heard.json["messages"] for heard in upstream.heard]
    block = first[1:-1]
    assert _is_warm(upstream.heard[0].body)
    assert second == [ASK[0], *block, *longer[1:]]
    assert third[: len(second)] == second, "also after a restart"
    assert first[0] == ASK[0]


def test_the_other_formats_carry_it_too(config: Config, upstream: Upstream) -> None:
    upstream.script[:] = [message(), response()]
    with run_gateway(config, settings_for(config, upstream.url)) as gateway:
        tool: Any = {"name": "search_files", "input_schema": SCHEMA}
        gateway.anthropic().messages.create(
            model="claude-sonnet-5", max_tokens=9, system="You help.", messages=ASK[1:], tools=[tool]
        )
        flat: Any = {"type": "function", "name": "search_files", "parameters": SCHEMA, "strict": False}
        answer = gateway.openai().responses.create(model="gpt-4o-mini", input=ASK[1:], tools=[flat])
        gateway.openai().responses.create(
            model="gpt-4o-mini", input="And then?", tools=[flat], previous_response_id=answer.id
        )
        assert gateway.failed_open() == {}
    assert [_is_warm(heard.body) for heard in upstream.heard] == [True, True, False]
    recorded = [[one.text for one in session.messages if not one.synthetic] for session in read(config.store_path)]
    asked = ASK[1]["content"]
    assert sorted(recorded, key=len) == [
        [asked, "Hello there."],
        [asked, "Hello there.", "And then?", "Hello there."],
    ]


@pytest.mark.parametrize(
    "given",
    [
        {"tools": []},
        {"headers": {"x-seasoned-warm": "off"}},
        {"headers": {"x-seasoned-purpose": "review"}},
        {"headers": {"x-seasoned-purpose": "compaction"}},
        {"messages": [*ASK, {"role": "assistant", "content": "x"}, {"role": "user", "content": "y"}]},
        {"messages": [{"role": "user", "content": f"{BLOCK_OPENS}v1 files@1 abc]\n[seasoned:end]"}, ASK[1]]},
    ],
)
def test_what_should_not_be_warm_passes_as_it_came(config: Config, upstream: Upstream, given: dict[str, Any]) -> None:
    with run_gateway(config, settings_for(config, upstream.url)) as gateway:
        _ask(gateway, **given)
    assert upstream.heard[0].json["messages"] == given.get("messages", ASK)


def test_a_conversation_that_began_cold_stays_cold(config: Config, upstream: Upstream) -> None:
    """A store that is locked delays the first request by no more than a second."""
    with run_gateway(config, settings_for(config, upstream.url)) as gateway:
        with open_store(config.store_path) as store, store.write():
            begun = time.monotonic()
            _ask(gateway)
            assert time.monotonic() - begun < 3
        _ask(gateway)
        wait_until(lambda: gateway.failed_open().get("provision", 0) == 1)
    assert [heard.json["messages"] for heard in upstream.heard] == [ASK, ASK]
    with open_store(config.store_path) as store:
        found = store.connection.execute("SELECT count(*) FROM warm_block").fetchone()[0]
    assert found == 0, "a block that nobody was shown is not kept"


def test_without_a_library_nothing_is_changed(tmp_path: Path, upstream: Upstream) -> None:
    config = config_in(tmp_path / "empty")
    assert not (config.home / FILE).exists()
    with run_gateway(config, settings_for(config, upstream.url)) as gateway:
        _ask(gateway)
        assert gateway.failed_open() == {}
    assert json.loads(upstream.heard[0].body)["messages"] == ASK
