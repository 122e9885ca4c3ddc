"""Through the gateway all is as without it: the real SDKs against a scripted upstream, and bytes against bytes."""

from __future__ import annotations

import asyncio
import json
import random
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from tests.each_case import each_case
from tests.gateway.running import Running, config_in, run_gateway, settings_for, used, wait_until
from tests.gateway.upstream_server import (
    Said,
    Upstream,
    chat,
    chat_stream,
    message,
    message_stream,
    response_stream,
    serve_upstream,
    stream,
    whole,
)

HELLO: Any = [{"role": "user", "content": "Hello"}]
CHAT = {"model": "gpt-4o-mini", "messages": HELLO}


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    with serve_upstream(chat()) as served:
        yield served


@pytest.fixture(scope="module")
def gateway(upstream: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    config = config_in(tmp_path_factory.mktemp("gateway"))
    with run_gateway(config, settings_for(config, upstream.url, body_bytes=200_000)) as running:
        yield running


@pytest.fixture(autouse=True)
def _fresh(upstream: Upstream) -> None:
    upstream.heard.clear()
    upstream.sent.clear()
    upstream.left.clear()


def test_errors_of_the_upstream_reach_the_client_as_they_are(gateway: Running, upstream: Upstream) -> None:
    said = {"error": {"message": "slow down", "type": "rate_limit", "code": "rate"}}
    upstream.script[:] = [whole(said, status=429, headers=(("retry-after", "7"),))]
    with pytest.raises(openai.RateLimitError) as caught:
        gateway.openai().chat.completions.create(model="gpt-4o-mini", messages=HELLO)
    assert caught.value.response.headers["retry-after"] == "7"
    assert caught.value.body == said["error"]
    upstream.script[:] = [whole({"type": "error", "error": {"type": "overloaded_error", "message": "x"}}, status=529)]
    with pytest.raises(anthropic.APIStatusError) as overloaded:
        gateway.anthropic().messages.create(model="claude-sonnet-5", max_tokens=5, messages=HELLO)
    assert overloaded.value.status_code == 529


def _post(gateway: Running, path: str, body: bytes, **headers: str | bytes) -> tuple[int, dict[str, str], bytes]:
    """The raw bytes that a client sees."""
    with (
        httpx2.Client(timeout=10) as client,
        client.stream("POST", gateway.url + path, content=body, headers=headers) as answer,
    ):
        return answer.status_code, dict(answer.headers), b"".join(answer.iter_raw())


def _cut(said: Said, chance: random.Random) -> Said:
    """The same bytes with other borders."""
    borders = sorted(chance.sample(range(1, len(said.body)), min(12, len(said.body) - 1)))
    pieces = [said.body[a:b] for a, b in zip([0, *borders], [*borders, len(said.body)], strict=True)]
    return Said(tuple(pieces), said.status, said.kind, said.headers)


@each_case("seed", range(6))
@pytest.mark.parametrize(
    ("path", "said", "asked"),
    [
        ("/v1/chat/completions", chat_stream("Hé", "llo"), {"stream_options": {"include_usage": True}}),
        ("/v1/messages", message_stream("Hé", "llo"), {"max_tokens": 9}),
        ("/v1/responses", response_stream("Hé", "llo"), {"input": "Hello"}),
        ("/v1/messages", message("Hé"), {"max_tokens": 9}),
        ("/v1/chat/completions", chat("Hé", packed=True), {}),
    ],
)
def test_bytes_pass_as_they_are_wherever_they_are_cut(
    gateway: Running, upstream: Upstream, path: str, said: Said, asked: dict[str, Any], seed: int
) -> None:
    upstream.heard.clear()
    upstream.script[:] = [_cut(said, random.Random(seed))]
    body = json.dumps({**CHAT, **asked, "stream": said.kind != "application/json"}, indent=seed).encode()
    status, headers, came = _post(gateway, path, body, **{"content-type": "application/json"})
    assert (status, came) == (200, said.body)
    assert upstream.heard[0].body == body
    assert headers["content-type"] == said.kind
    assert headers["server"].startswith("Scripted")
    assert gateway.failed_open() == {}


@each_case("method", ["GET", "DELETE", "PUT"])
def test_the_rest_passes_with_its_path_and_query(gateway: Running, upstream: Upstream, method: str) -> None:
    upstream.heard.clear()
    upstream.script[:] = [whole({"object": "list", "data": []})]
    answer = httpx2.request(method, f"{gateway.url}/v1/models/a%2Fb?limit=2&after=%C3%A9")
    assert answer.json() == {"object": "list", "data": []}
    assert upstream.heard[0].path == "/v1/models/a%2Fb?limit=2&after=%C3%A9"


def test_a_stream_is_passed_on_event_by_event(gateway: Running, upstream: Upstream) -> None:
    upstream.script[:] = [chat_stream("one", "two", "three", pause_seconds=0.1)]
    begun = gateway.openai().chat.completions.create(model="gpt-4o-mini", messages=HELLO, stream=True)
    next(iter(begun))
    assert upstream.sent == [], "the first event came while the upstream was still speaking"
    begun.close()


def test_a_client_that_leaves_stops_the_upstream(gateway: Running, upstream: Upstream) -> None:
    upstream.script[:] = [chat_stream(*["word"] * 100, pause_seconds=0.03)]

    async def leave() -> None:
        async with openai.AsyncOpenAI(base_url=f"{gateway.url}/v1", api_key="x", max_retries=0) as client:
            begun = await client.chat.completions.create(model="gpt-left", messages=HELLO, stream=True)
            await anext(aiter(begun))
            await begun.close()

    asyncio.run(leave())
    assert upstream.left.wait(60), "the upstream went on speaking"
    wait_until(lambda: "gpt-4o-mini" in {one.name for one in used(gateway.config, "model")})


def test_an_answer_that_breaks_off_is_not_made_whole(gateway: Running, upstream: Upstream) -> None:
    whole_stream = chat_stream("one", "two")
    upstream.script[:] = [Said(whole_stream.chunks[:2], kind=whole_stream.kind, breaks_off=True)]
    begun = gateway.openai().chat.completions.create(
        model="gpt-4o-mini", messages=HELLO, stream=True, stream_options={"include_usage": True}
    )
    with pytest.raises((openai.APIConnectionError, httpx2.RemoteProtocolError)):
        list(begun)


def test_an_upstream_that_is_not_there_is_named_in_the_client_s_dialect(tmp_path: Path) -> None:
    config = config_in(tmp_path)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with run_gateway(config, settings_for(config, url)) as gateway:
            with pytest.raises(openai.APIStatusError, match="cannot be reached") as caught:
                gateway.openai().chat.completions.create(model="m", messages=HELLO)
            with pytest.raises(anthropic.APIStatusError, match="cannot be reached"):
                gateway.anthropic().messages.create(model="m", max_tokens=5, messages=HELLO)
    assert caught.value.status_code == 502


def test_a_web_socket_is_told_to_use_http(gateway: Running, upstream: Upstream) -> None:
    wanted = {"connection": "Upgrade", "upgrade": "websocket", "sec-websocket-version": "13"}
    answer = httpx2.get(f"{gateway.url}/v1/responses", headers=wanted)
    assert answer.status_code == 426
    assert upstream.heard == []


@each_case(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_page_of_another_address_is_turned_away(
    gateway: Running, upstream: Upstream, headers: dict[str, str]
) -> None:
    asked = httpx2.post(f"{gateway.url}/v1/chat/completions", json=CHAT, headers=headers)
    assert (asked.status_code, "seasoned gateway key --make" in asked.text) == (403, True)
    assert not upstream.heard


def test_too_large_a_request_is_turned_away(gateway: Running, upstream: Upstream) -> None:
    status, _, body = _post(gateway, "/v1/chat/completions", b" " * 200_001)
    assert status == 413
    assert "body_bytes" in json.loads(body)["error"]["message"]
    assert upstream.heard == []


def test_a_client_that_stops_in_the_middle_is_let_go(tmp_path: Path, upstream: Upstream) -> None:
    config = config_in(tmp_path)
    settings = settings_for(config, upstream.url, client_seconds=0.2)
    with run_gateway(config, settings) as gateway, gateway.connect() as line:
        line.sendall(b"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{")
        assert line.recv(4096).startswith(b"HTTP/1.1 408 ")
    assert upstream.heard == []


def test_a_name_that_is_not_its_own_is_refused(tmp_path: Path, upstream: Upstream) -> None:
    own = ("127.0.0.1:8788", "[::1]:8788", "LOCALHOST.", f"{socket.gethostname()}:80", "gateway.lan", "192.168.7.5")
    others = (
        "rebound.evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example:8788",
        "[::1",
        "evil@localhost.x",
    )
    config = config_in(tmp_path)
    with run_gateway(config, settings_for(config, upstream.url, names=("gateway.lan",))) as gateway:
        for host in (*own, *others):
            upstream.heard.clear()
            with gateway.connect() as line:
                head = f"GET /v1/models HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"
                line.sendall(head.encode())
                status = int(line.recv(65536).split(b" ")[1])
            assert (status != 421, bool(upstream.heard)) == (host in own, host in own), host
        told = httpx2.get(f"{gateway.url}/health", headers={"host": "rebound.evil.example"})
        assert told.status_code == 421, "its own figures are told to no other name either"


@each_case("target", [b"@127.0.0.1:1/v1/models", b"*", b"http://127.0.0.1:1/v1/models"])
def test_no_target_leads_elsewhere(gateway: Running, upstream: Upstream, target: bytes) -> None:
    upstream.heard.clear()
    upstream.script[:] = [whole({})]
    with gateway.connect() as line:
        line.sendall(b"GET " + target + b" HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        answer = line.recv(4096)
    assert answer.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 200 "))
    assert [heard.path for heard in upstream.heard] in ([], ["/v1/models"])


HOSTILE = [
    b"",
    b"null",
    b"\xff\xfe\x00",
    b'{"model": "\xed\xa0\x80"}',
    b"[" * 20_000,
    json.dumps({"model": 5, "messages": "x", "stream": "yes"}).encode(),
    json.dumps({"model": "m", "messages": [None, 3, {"role": 7}, {"role": "tool"}], "tools": "x"}).encode(),
    b'{"model":"m","model":"n","messages":[{"role":"user","content":1e999}]}',
]


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages", "/v1/responses", "/v1/embeddings"])
@each_case("body", HOSTILE)
def test_what_is_not_understood_passes_unchanged(gateway: Running, upstream: Upstream, path: str, body: bytes) -> None:
    upstream.heard.clear()
    upstream.script[:] = [whole({"ok": True})]
    status, _, came = _post(gateway, path, body, **{"x-session-id": b"\xe9\xff" * 300})
    assert (status, came) == (200, b'{"ok": true}')
    sent = upstream.heard[0].body
    assert sent == body or json.loads(sent).get("stream_options") == {"include_usage": True}
    assert gateway.failed_open() == {}


@each_case(
    "said",
    [
        stream(b"data: [DONE]\n\n"),
        stream(b": ping\n\n", b"\xff\xff\xff", b"data: {\n\n"),
        Said((b"not json",)),
        Said((b"\x1f\x8b broken",), headers=(("content-encoding", "gzip"),)),
        stream({"type": "message_start", "message": 5}, {"choices": 3, "usage": "x"}),
    ],
)
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages", "/v1/responses"])
def test_an_answer_that_is_not_understood_passes_unchanged(
    gateway: Running, upstream: Upstream, path: str, said: Said
) -> None:
    upstream.script[:] = [said]
    body = json.dumps({**CHAT, "stream": True, "stream_options": {"include_usage": True}}).encode()
    assert _post(gateway, path, body)[2] == said.body
