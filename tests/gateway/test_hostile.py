"""Two hundred hostile requests: each gets a clear answer or passes, and none sees what is another's."""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Iterator

import openai
import pytest

from seasoned.gateway.accounting import make_key
from seasoned.history.reader.seasoned_db import read
from seasoned.session import Session
from seasoned.store import open_database
from tests.gateway.hostile import CHAT, VICTIM, everything, good, post
from tests.gateway.running import Running, config_in, run_gateway, settings_for, wait_until
from tests.gateway.upstream_server import Upstream, chat, serve_upstream, whole

HOSTILE = everything()
WORDS = "the victim keeps marmalade in the cellar"
ASKS = b',"stream_options":{"include_usage":true}'
"""What the gateway adds to a stream that would not tell its usage."""
OWN_ERRORS = (400, 401, 408, 411, 413, 414, 417, 421, 426, 431)


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    with serve_upstream(whole({"ok": True})) as served:
        yield served


@pytest.fixture(scope="module")
def gateway(upstream: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """With one conversation of somebody who has a key."""
    config = config_in(tmp_path_factory.mktemp("hostile"))
    database = open_database(config)
    try:
        _, token = make_key(database, "victim", now=time.time())
    finally:
        database.close()
    with run_gateway(config, settings_for(config, upstream.url, body_bytes=200_000, client_seconds=0.3)) as running:
        upstream.script[:] = [chat(WORDS)]
        for header in ("x-session-id", "thread-id", "x-claude-code-session-id"):
            with openai.OpenAI(base_url=f"{running.url}/v1", api_key=token, max_retries=0) as client:
                client.chat.completions.create(
                    model="m", messages=[{"role": "user", "content": WORDS}], extra_headers={header: VICTIM}
                )
        wait_until(lambda: len(_victims(running)) == 2)
        yield running


@pytest.fixture(autouse=True)
def _fresh(upstream: Upstream) -> None:
    upstream.heard.clear()
    upstream.script[:] = [whole({"ok": True})]


def _victims(gateway: Running) -> list[Session]:
    return [one for one in read(gateway.config.store_path) if one.ref.native_id == VICTIM]


def _send(gateway: Running, raw: bytes, *, seconds: float = 5) -> bytes:
    """What comes back until the line is closed."""
    host, port = gateway.url.removeprefix("http://").split(":")
    came = b""
    with socket.create_connection((host, int(port)), timeout=seconds) as line:
        try:
            line.sendall(raw)
            while chunk := line.recv(65536):
                came += chunk
        except (ConnectionError, TimeoutError):
            pass
    return came


def test_there_are_two_hundred() -> None:
    assert len(HOSTILE) >= 200


@pytest.mark.parametrize("part", range(8))
def test_hostile_requests(gateway: Running, upstream: Upstream, part: int) -> None:
    """In eight parts, so that several processes can share them."""
    problems = []
    for name in list(HOSTILE)[part::8]:
        upstream.heard.clear()
        upstream.script[:] = [whole({"ok": True})]
        try:
            _check(gateway, upstream, name)
        except AssertionError as error:
            problems.append(f"{name}: {error}")
    assert problems == []


def _check(gateway: Running, upstream: Upstream, name: str) -> None:
    before = gateway.failed_open()
    came = _send(gateway, HOSTILE[name]).removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")
    found = re.match(rb"HTTP/1\.[01] (\d{3}) ", came)
    if found is None:
        assert came == b"", came[:200]
        assert upstream.heard == [], "a request that got no answer went nowhere"
    elif upstream.heard:
        assert int(found[1]) == 200 and b'{"ok": true}' in came, came[:300]
        assert len(upstream.heard) == 1, "one request is one request"
        sent = HOSTILE[name]
        passed = upstream.heard[0].body.replace(ASKS, b"")
        assert passed in sent or b"chunked" in sent, "what passes is what came"
    else:
        assert int(found[1]) in OWN_ERRORS or b"server: Scripted" in came, came[:300]
    assert WORDS.encode() not in came
    assert gateway.failed_open() == before, "nothing of ours broke"


def test_afterwards_the_gateway_works_and_nobody_wrote_into_another_s_conversation(
    gateway: Running, upstream: Upstream
) -> None:
    for name in ("by x-session-id: victim-ses", "by prompt_cache_key at /v1/messages"):
        _send(gateway, next(raw for key, raw in HOSTILE.items() if key.startswith(name[:16])))
    upstream.script[:] = [chat("Still here.")]
    with openai.OpenAI(base_url=f"{gateway.url}/v1", api_key="sk-x", max_retries=0) as client:
        answer = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hello?"}])
    assert answer.choices[0].message.content == "Still here."
    wait_until(lambda: any(m.text == "Still here." for one in read(gateway.config.store_path) for m in one.messages))
    for victim in _victims(gateway):
        assert {message.text for message in victim.messages} == {WORDS}


def test_a_client_that_drips_its_request_is_let_go(gateway: Running, upstream: Upstream) -> None:
    body = json.dumps(good(CHAT)).encode()
    raw = post(CHAT, body)
    host, port = gateway.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=60) as line:
        line.sendall(raw[:-20])
        assert line.recv(4096).startswith(b"HTTP/1.1 408 ")
    assert upstream.heard == []


def test_a_client_that_reads_slowly_gets_everything(gateway: Running, upstream: Upstream) -> None:
    upstream.script[:] = [whole({"text": "x" * 2_000_000})]
    host, port = gateway.url.removeprefix("http://").split(":")
    with socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.settimeout(10)
        line.connect((host, int(port)))
        line.sendall(post("/v1/files", b"{}"))
        came = b""
        while chunk := line.recv(65536):
            came += chunk
            if len(came) < 20_000:
                time.sleep(0.01)
    assert came.endswith(b'"}') and len(came) > 2_000_000
