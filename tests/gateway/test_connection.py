"""Connections to upstreams: every way an answer can be framed, and every way it can fail."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from seasoned.errors import UsageError
from seasoned.gateway.proxy.upstream import UpstreamReply, Upstreams, UpstreamUnreachable
from seasoned.gateway.settings import GatewaySettings, Upstream
from tests.each_case import each_case
from tests.gateway.certificate import certify

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\nX-Late: no\r\n\r\n"
HALF = b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf"


class Server:
    """Says prepared bytes on each request, and counts connections."""

    def __init__(self, *answers: bytes, closes: bool = False) -> None:
        self.answers = list(answers)
        self.closes = closes
        self.connections = 0
        self.port = 0
        self.heads: list[bytes] = []
        self.left = asyncio.Event()

    async def conversation(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.file = writer.get_extra_info("socket").fileno()
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                self.heads.append(head)
                length = int(head.lower().partition(b"content-length: ")[2].split(b"\r", 1)[0] or 0)
                await reader.readexactly(length)
                answer = self.answers.pop(0)
                writer.write(answer)
                await writer.drain()
                if self.closes or not answer:
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            self.left.set()
        finally:
            writer.close()


class Asking:
    """Upstreams with one upstream, and a way to ask it."""

    def __init__(self, upstreams: Upstreams, upstream: Upstream) -> None:
        self.upstreams = upstreams
        self._upstream = upstream

    async def send(self, method: str = "POST", body: bytes = b"{}", headers: Any = ()) -> UpstreamReply:
        return await self.upstreams.send(self._upstream, method, b"/v1/x", headers, body)

    async def whole(self, method: str = "POST", body: bytes = b"{}", headers: Any = ()) -> tuple[int, bytes]:
        reply = await self.send(method, body, headers)
        parts = []
        try:
            while (part := await reply.next_chunk()) is not None:
                parts.append(part)
        finally:
            await reply.close()
        return reply.status, b"".join(parts)


Work = Callable[[Server, Asking], Coroutine[Any, Any, None]]


def _run(
    folder: Path,
    server: Callable[[], Server],
    work: Work,
    *,
    tls: Any = None,
    host: str = "127.0.0.1",
    **limits: Any,
) -> None:
    async def main() -> None:
        made = server()
        listening = await asyncio.start_server(made.conversation, "127.0.0.1", 0, ssl=tls)
        port = made.port = listening.sockets[0].getsockname()[1]
        upstream = Upstream(name="one", base_url=f"http{'s' if tls else ''}://{host}:{port}")
        settings = GatewaySettings(
            upstream=(upstream,), **{"connect_seconds": 2.0, "silence_seconds": 5.0, "connections": 2, **limits}
        )
        upstreams = Upstreams(settings, home=folder, environment={})
        try:
            await work(made, Asking(upstreams, upstream))
        finally:
            await upstreams.close()
            listening.close()
            await listening.wait_closed()

    asyncio.run(asyncio.wait_for(main(), 30))


def test_headers_go_over_the_wire_as_they_came_and_nothing_is_added(tmp_path: Path) -> None:
    headers = [
        (b"x-b", b"1"),
        (b"X-A", "grüße".encode()),
        (b"x-b", b"2"),
        (b"cookie", b"a=1; b=2"),
        (b"accept", b"x/y"),
    ]

    async def work(server: Server, asking: Asking) -> None:
        await asking.whole("POST", b"{}", headers)
        await asking.whole("GET", b"", [])
        lines = server.heads[0].split(b"\r\n")
        host = lines[1].partition(b": ")[2]
        assert lines[:2] == [b"POST /v1/x HTTP/1.1", b"Host: " + host]
        assert lines[2:-2] == [*[name + b": " + value for name, value in headers], b"Content-Length: 2"]
        assert server.heads[1] == b"GET /v1/x HTTP/1.1\r\nHost: " + host + b"\r\n\r\n"

    _run(tmp_path, lambda: Server(OK, OK), work)


@each_case(
    ("answer", "why"),
    [
        (b"", "RemoteProtocolError"),
        (HALF, "RemoteProtocolError"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf", "RemoteProtocolError"),
        (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", "RemoteProtocolError"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nhello", "RemoteProtocolError"),
        (CHUNKED.replace(b"\r\n\r\n3", b"\r\nContent-Length: 3\r\n\r\n3", 1), "RemoteProtocolError"),
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", "RemoteProtocolError"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 300_000 + b"\r\n\r\n", "RemoteProtocolError"),
    ],
)
def test_what_breaks_off_or_is_not_http_is_never_taken_for_whole(tmp_path: Path, answer: bytes, why: str) -> None:
    async def work(server: Server, asking: Asking) -> None:
        with pytest.raises(UpstreamUnreachable, match=why) as caught:
            await asking.whole()
        assert caught.value.status == 502

    _run(tmp_path, lambda: Server(answer, closes=True), work)


def test_silence_has_an_end_and_says_so(tmp_path: Path) -> None:
    async def work(server: Server, asking: Asking) -> None:
        with pytest.raises(UpstreamUnreachable, match="did not answer in time") as caught:
            await asking.whole()
        assert caught.value.status == 504

    _run(tmp_path, lambda: Server(HALF), work, silence_seconds=0.2)


def test_an_end_that_the_loop_has_not_seen_yet_is_seen_before_a_connection_is_used_again(tmp_path: Path) -> None:
    """A model that is asked twice is paid twice: so nothing is sent over a connection that has ended."""

    async def work(server: Server, asking: Asking) -> None:
        assert (await asking.whole())[0] == 200
        # The event loop stands still, so that it cannot tell us.
        made = socket.socket(fileno=os.dup(server.file))
        made.shutdown(socket.SHUT_RDWR)
        made.close()
        time.sleep(0.02)
        assert (await asking.whole())[0] == 200
        assert server.connections == 2
        assert len(server.heads) == 2

    _run(tmp_path, lambda: Server(OK, OK), work)


def test_a_request_is_never_sent_twice(tmp_path: Path) -> None:
    async def work(server: Server, asking: Asking) -> None:
        assert (await asking.whole())[1] == b"hello"
        with pytest.raises(UpstreamUnreachable):
            await asking.whole()
        assert len(server.heads) == 2

    # The second request is taken, and the connection closed without a word.
    _run(tmp_path, lambda: Server(OK, b"", OK), work)


def test_the_proxy_of_the_environment_is_used_but_never_for_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def direct(server: Server, asking: Asking) -> None:
        assert (await asking.whole())[0] == 200
        assert server.heads[0].startswith(b"POST /v1/x")

    async def through(server: Server, asking: Asking) -> None:
        monkeypatch.setenv("HTTP_PROXY", f"http://me:sesame@127.0.0.1:{server.port}")
        upstream = Upstream(name="far", base_url="http://model.example.test")
        upstreams = Upstreams(GatewaySettings(upstream=(upstream,)), home=tmp_path, environment={})
        assert await Asking(upstreams, upstream).whole() == (200, b"hello")
        assert server.heads[0].startswith(b"POST http://model.example.test/v1/x")
        assert b"Proxy-Authorization: Basic bWU6c2VzYW1l" in server.heads[0]
        await upstreams.close()

    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    for work in (direct, through):
        _run(tmp_path, lambda: Server(OK), work)


@each_case("proxy", ["socks5://me:sesame@proxy.example:1080", "ftp://me:sesame@proxy.example", "http://me:sesame@a:x"])
def test_a_proxy_that_cannot_be_used_is_refused_without_its_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    with pytest.raises(UsageError, match="names a proxy that cannot be used") as caught:
        Upstreams(GatewaySettings(), home=tmp_path, environment={})
    assert "sesame" not in str(caught.value)


def test_an_upstream_that_cannot_prove_its_name_gets_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context = certify(tmp_path, "localhost")

    async def refused(server: Server, asking: Asking) -> None:
        with pytest.raises(UpstreamUnreachable, match="ConnectError"):
            await asking.whole()
        assert server.heads == []

    async def taken(server: Server, asking: Asking) -> None:
        assert (await asking.whole())[0] == 200

    _run(tmp_path, lambda: Server(OK), refused, tls=context, host="localhost")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    _run(tmp_path, lambda: Server(OK), taken, tls=context, host="localhost")
    _run(tmp_path, lambda: Server(OK), refused, tls=context, host="127.0.0.1")
