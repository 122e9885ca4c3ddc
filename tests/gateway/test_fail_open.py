"""Whatever breaks of ours, the request goes through as it came, and a counter rises."""

from __future__ import annotations

import json
import logging
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from seasoned.config import Config
from seasoned.gateway.accounting import FOLDER
from seasoned.gateway.proxy.exchange import find_api
from seasoned.gateway.wire.chat import ChatStream
from seasoned.scan import file_reader
from tests.cli.run import SEASONED
from tests.gateway.running import Running, run_gateway, settings_for, taught_in, token_of, used, wait_until
from tests.gateway.upstream_server import Upstream, chat, chat_stream

TOOL = {"type": "function", "function": {"name": "search_files", "parameters": {"type": "object"}}}
ASK: list[dict[str, Any]] = [{"role": "user", "content": "Find where it starts."}]
BODY = json.dumps({"model": "gpt-4o-mini", "messages": ASK, "tools": [TOOL]}).encode()
STREAM = json.dumps({"model": "gpt-4o-mini", "messages": ASK, "stream": True}).encode()


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return taught_in(tmp_path)


def _ask(url: str, body: bytes = BODY, *, session: str = "s1", key: str = "sk-x") -> httpx2.Response:
    headers = {"x-session-id": session, "authorization": f"Bearer {key}", "content-type": "application/json"}
    return httpx2.post(f"{url}/v1/chat/completions", content=body, headers=headers, timeout=20)


def _fail(*_: object, **__: object) -> Any:
    raise RuntimeError("a bug of ours, with sk-x in its words")


def test_a_judge_that_crashes_stops_no_request(
    config: Config, gateway: Running, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_reader, "judge", _fail)
    call = {"id": "c1", "type": "function", "function": {"name": "search_files", "arguments": "{}"}}
    said = [*ASK, {"role": "assistant", "content": None, "tool_calls": [call]}]
    said += [{"role": "tool", "tool_call_id": "c1", "content": "2 matches"}]
    body = json.dumps({"model": "gpt-4o-mini", "messages": said}).encode()
    assert _ask(gateway.url, body).content == upstream.script[0].body
    wait_until(lambda: gateway.failed_open().get("record") == 1)
    wait_until(lambda: len(used(config, "session")) == 1)
    assert upstream.heard[0].body == body


@pytest.mark.parametrize(
    ("part", "place"),
    [
        ("read", "app._read_request"),
        ("identity", "app._conversations.recognise"),
        ("provision", "app._warming.warm"),
        ("journal", "app._journal.append"),
        ("record", "app._recording.give"),
        ("identity", "app._conversations.answered"),
    ],
)
def test_a_bug_in_any_part_of_ours_stops_no_request(
    gateway: Running, upstream: Upstream, monkeypatch: pytest.MonkeyPatch, part: str, place: str
) -> None:
    owner: Any = gateway.service
    *steps, last = place.split(".")
    for step in steps:
        owner = getattr(owner, step)
    if last == "_read_request":
        chat_api = find_api("/v1/chat/completions")
        assert chat_api is not None
        broken = chat_api._replace(read_request=_fail)
        monkeypatch.setattr("seasoned.gateway.proxy.app.find_api", lambda _: broken)
    else:
        monkeypatch.setattr(owner, last, _fail)
    upstream.script[:] = [chat("Hello there."), chat_stream("Hello", " there.", has_usage=False)]
    whole = _ask(gateway.url, session="a")
    assert (whole.status_code, whole.json()["choices"][0]["message"]["content"]) == (200, "Hello there.")
    streamed = _ask(gateway.url, STREAM, session="b")
    assert streamed.content == upstream.script[0].body
    wait_until(lambda: gateway.failed_open()[part] == 2)


@pytest.mark.parametrize("at", [0, 2, 5])
def test_a_stream_whose_reading_breaks_is_passed_on_whole(
    gateway: Running, upstream: Upstream, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    """Also the bytes that were held back while it was unknown whether they are the event that we asked for."""
    count = iter(range(100))
    reads = ChatStream._read

    def read(self: ChatStream, fields: dict[str, Any]) -> None:
        if next(count) == at:
            raise RuntimeError("a bug of ours")
        reads(self, fields)

    monkeypatch.setattr(ChatStream, "_read", read)
    said = chat_stream("one", " two", " three", " four", has_usage=False, pause_seconds=0.01)
    # Cut in the middle of events, so that there is always something held back.
    whole = said.body
    pieces = tuple(whole[start : start + 150] for start in range(0, len(whole), 150))
    upstream.script[:] = [type(said)(pieces, kind=said.kind, pause_seconds=0.01)]
    assert _ask(gateway.url, STREAM).content == whole
    assert gateway.failed_open()["read"] == 1


def test_neither_keys_nor_words_of_failures_are_kept(
    config: Config, upstream: Upstream, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = token_of(config, "laptop")
    own, brought = "sk-proj-" + "Own9" * 12, "sk-ant-api03-" + "Bro7" * 12
    settings = settings_for(config, upstream.url)
    named = tuple([type(one)(name=one.name, base_url=one.base_url, key_variable="KEY") for one in settings.upstream])
    settings = type(settings)(upstream=named)
    caplog.set_level(logging.DEBUG)
    with run_gateway(config, settings, KEY=own) as gateway:
        assert _ask(gateway.url, session="a", key=token).status_code == 200
        assert _ask(gateway.url, session="b", key=brought).status_code == 200
        assert _ask(gateway.url, session="c", key="ssn_gateway_unknown").status_code == 401
        monkeypatch.setattr(gateway.service.app._conversations, "recognise", _fail)
        assert _ask(gateway.url, session="d", key=brought).status_code == 200
    assert upstream.heard[0].headers["authorization"] == f"Bearer {own}"
    assert upstream.heard[1].headers["authorization"] == f"Bearer {brought}"
    assert "identity failed (RuntimeError at" in caplog.text
    kept = b"".join([path.read_bytes() for path in config.home.rglob("*") if path.is_file()]) + caplog.text.encode()
    for private in (token, own, brought, "a bug of ours"):
        assert private.encode() not in kept


@contextmanager
def _command(config: Config, url: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    process = subprocess.Popen(
        [str(SEASONED), "gateway", "--port", "0", "--upstream", url],
        env={**os.environ, "SEASONED_HOME": str(config.home)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline().split()[-1]
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
        process.stdout.close()


def _failed(url: str) -> dict[str, int]:
    return dict(httpx2.get(f"{url}/health").json()["failed_open"])


@pytest.mark.skipif(sys.platform != "linux", reason="limits of another process are set as on Linux")
def test_a_disk_that_is_full_stops_no_request(config: Config, upstream: Upstream) -> None:
    """No file of the gateway can grow; when there is room again, everything is accounted for."""
    with _command(config, upstream.url) as (process, url):
        assert _ask(url, session="before").status_code == 200
        wait_until(lambda: len(used(config, "session")) == 1)
        before = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (0, before[1]))
        answers = [_ask(url, session=f"full{number}") for number in range(3)]
        assert [one.content for one in answers] == [upstream.script[0].body] * 3
        assert [heard.body for heard in upstream.heard[1:]] == [BODY] * 3
        assert _failed(url)["journal"] == 3
        assert _failed(url)["provision"] == 3
        wait_until(lambda: _failed(url).get("store", 0) > 0)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, before)
        wait_until(lambda: len(used(config, "session")) == 4)


def test_a_gateway_that_is_killed_loses_no_tokens(config: Config, upstream: Upstream) -> None:
    """Answers that were passed on right before the end are accounted for by the gateway that is started next."""
    with _command(config, upstream.url) as (process, url):
        for number in range(5):
            assert _ask(url, session=f"s{number}").status_code == 200
        process.send_signal(signal.SIGKILL)
        process.wait(10)
    left = list((config.home / FOLDER).iterdir())
    with _command(config, upstream.url) as (_, url):
        wait_until(lambda: len(used(config, "session")) == 5)
        assert _ask(url, session="s5").status_code == 200
        wait_until(lambda: len(used(config, "session")) == 6)
    assert left
    assert not any(path.exists() for path in left)
