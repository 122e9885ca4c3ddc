"""Behind a proxy all is as without it: who is reached through it, byte for byte, and every way in which it can fail."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import logging
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest
import uvloop

from seasoned.gateway.proxy.upstream import UpstreamReply, Upstreams, UpstreamUnreachable
from tests.each_case import each_case
from tests.gateway.certificate import certify
from tests.gateway.proxy_server import (
    ESTABLISHED,
    NAME,
    Origin,
    ProxyServer,
    World,
    chain_of,
    serve,
    serve_in_thread,
)
from tests.gateway.running import config_in, run_gateway, settings_for

PASSWORD = "ope n/:@#?sesame"
AUTHORIZATION = "Basic " + base64.b64encode(f"me:{PASSWORD}".encode()).decode()
HELLO = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
EVENTS = tuple(b'data: {"at": %d}\n\n' % at for at in range(20))
STREAM = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
    *(b"%x\r\n%s\r\n" % (len(event), event) for event in EVENTS),
    b"0\r\n\r\n",
)
LOOPS: tuple[Callable[[], asyncio.AbstractEventLoop], ...] = (asyncio.new_event_loop, uvloop.new_event_loop)
Run = Callable[[Callable[[], Awaitable[None]]], None]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ssl.SSLContext]:
    folder = tmp_path_factory.mktemp("certificate")
    return folder / "cert.pem", certify(folder, NAME)


@pytest.fixture
def run() -> Run:
    """Runs on each of the event loops that there are."""

    def run_on_each(work: Callable[[], Awaitable[None]]) -> None:
        async def within_time() -> None:
            await asyncio.wait_for(work(), 20)

        for make_loop in LOOPS:
            with asyncio.Runner(loop_factory=make_loop) as runner:
                runner.run(within_time())

    return run_on_each


Make = Callable[..., contextlib.AbstractAsyncContextManager[World]]


@pytest.fixture
def world(certificate: tuple[Path, ssl.SSLContext], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    path, context = certificate
    monkeypatch.setenv("SSL_CERT_FILE", str(path))

    @contextlib.asynccontextmanager
    async def make(*pieces: bytes, tls: bool = True, **manner: object) -> AsyncIterator[World]:
        routes: dict[str, int] = {}
        proxy, origin = ProxyServer(routes, **manner), Origin(pieces or (HELLO,))  # type: ignore[arg-type]
        async with serve(proxy, origin, context=context if tls else None):
            for place in (f"{NAME}:443", f"{NAME}:80", "other.example.test:443", "other.example.test:80"):
                routes[place] = origin.port
            made = World(proxy, origin, tmp_path)
            try:
                yield made
            finally:
                await made.close()

    return make


async def ask(upstreams: Upstreams, at: int = 0, *, target: bytes = b"/v1/chat", body: bytes = b"{}") -> UpstreamReply:
    headers = [(b"authorization", b"Bearer sk-of-the-client")]
    return await upstreams.send(upstreams._settings.upstream[at], "POST", target, headers, body)


async def whole(reply: UpstreamReply) -> bytes:
    parts = []
    try:
        while (part := await reply.next_chunk()) is not None:
            parts.append(part)
    finally:
        reply.close()
    return b"".join(parts)


async def refused(upstreams: Upstreams, at: int = 0) -> UpstreamUnreachable:
    with pytest.raises(UpstreamUnreachable) as caught:
        await ask(upstreams, at)
    for one in chain_of(caught.value):
        assert PASSWORD not in repr(one)
        assert quote(PASSWORD, safe="") not in repr(one)
    return caught.value


@each_case("scheme", ["https", "http"])
def test_a_password_is_sent_to_the_proxy_and_to_nobody_else(run: Run, world: Make, scheme: str) -> None:
    async def work() -> None:
        async with world(tls=scheme == "https", authorization=AUTHORIZATION) as all:
            upstreams = await all.upstreams(f"{scheme}://{NAME}", user=f"me:{quote(PASSWORD, safe='')}@")
            assert await whole(await ask(upstreams)) == b"hello"
            assert b"proxy-" not in all.origin.heard[0].lower()
            assert AUTHORIZATION in all.proxy.heads[0]

    run(work)


@each_case("scheme", ["https", "http"])
@each_case("user", ["", "me:wrong" + quote(PASSWORD, safe="") + "@"])
def test_a_proxy_that_wants_another_password_is_told_of_without_it(
    run: Run, world: Make, scheme: str, user: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    async def work() -> None:
        async with world(tls=scheme == "https", authorization=AUTHORIZATION) as all:
            upstreams = await all.upstreams(f"{scheme}://{NAME}", user=user)
            error = await refused(upstreams)
            assert error.status == 502
            assert "the proxy answered 407: it" in str(error)
            assert ("did not accept" in str(error)) == bool(user)
            assert all.origin.heard == []
            hidden = base64.b64encode(f"me:wrong{PASSWORD}".encode()).decode()
            told = caplog.text + repr(upstreams._routes) + str(error)
            assert "is reached through Proxy('127.0.0.1:" in told
            assert "wrong" not in told
            assert hidden not in told

    run(work)


@each_case(
    ("pieces", "says"),
    [
        ((), "RemoteProtocolError"),
        ((ESTABLISHED + HELLO,), "ConnectError"),
        ((b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno",), "the proxy answered 403"),
        ((b"SSH-2.0-OpenSSH_9.6\r\n",), "RemoteProtocolError"),
    ],
)
def test_a_proxy_that_leads_nowhere_is_a_502_that_says_so(
    run: Run, world: Make, pieces: tuple[bytes, ...], says: str
) -> None:
    async def work() -> None:
        async with world(pieces=pieces) as all:
            error = await refused(await all.upstreams())
            assert error.status == 502
            assert str(error).startswith("The upstream 'one-0' cannot be reached through its proxy (")
            assert says in str(error)
            await asyncio.wait_for(all.proxy.left.wait(), 5)

    run(work)


@each_case("pieces", [(), (b"HTTP/1.1 200 OK\r\n",), (ESTABLISHED,)])
def test_a_proxy_that_says_no_more_is_a_504_in_time(run: Run, world: Make, pieces: tuple[bytes, ...]) -> None:
    async def work() -> None:
        async with world(pieces=pieces, hangs=True) as all:
            upstreams, began = await all.upstreams(), time.monotonic()
            error = await refused(upstreams)
            assert error.status == 504
            assert "did not answer in time through its proxy" in str(error)
            assert 0.4 < time.monotonic() - began < 5
            # Nobody is left on the line.
            await asyncio.wait_for(all.proxy.left.wait(), 5)

    run(work)


def test_who_is_at_the_end_of_the_tunnel_must_prove_its_name(run: Run, world: Make) -> None:
    async def work() -> None:
        async with world() as all:
            assert "(ConnectError)" in str(await refused(await all.upstreams("https://other.example.test")))
            assert all.proxy.targets == ["CONNECT other.example.test:443 HTTP/1.1"]
            assert all.origin.heard == []

    run(work)


def test_the_whole_gateway_answers_through_the_proxy(
    certificate: tuple[Path, ssl.SSLContext], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, context = certificate
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    config = config_in(tmp_path)
    with serve_in_thread(context, *STREAM, authorization=AUTHORIZATION) as proxy:
        address = f"http://me:{quote(PASSWORD, safe='')}@127.0.0.1:{proxy.port}"
        with run_gateway(config, settings_for(config, f"https://{NAME}"), https_proxy=address) as gateway:
            asked = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "Hi"}]}
            for _ in range(3):
                answer = httpx2.post(f"{gateway.url}/v1/chat/completions", json=asked, trust_env=False)
                assert (answer.status_code, answer.content) == (200, b"".join(EVENTS))
            assert gateway.failed_open() == {}
        assert len(proxy.seen) > 500
        assert b"text/event-stream" not in proxy.seen, "the proxy sees what is encrypted"
        assert proxy.targets == [f"CONNECT {NAME}:443 HTTP/1.1"]
        with run_gateway(
            config, settings_for(config, f"https://{NAME}"), https_proxy=address.replace("me", "you")
        ) as it:
            answer = httpx2.post(f"{it.url}/v1/chat/completions", json=asked, trust_env=False)
            assert answer.status_code == 502
            assert "the proxy answered 407: it" in answer.json()["error"]["message"]
