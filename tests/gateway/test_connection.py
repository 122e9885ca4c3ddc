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

from seasoned.gateway.proxy.connection import (
    ConnectionBroken,
    ConnectionPool,
    UpstreamAddress,
    UpstreamConnection,
    head_of,
)
from seasoned.gateway.proxy.upstream import Upstreams, UpstreamUnreachable
from seasoned.gateway.settings import GatewaySettings, Upstream
from tests.gateway.certificate import certify

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\nX-Late: no\r\n\r\n"


class Server:
    """Says prepared bytes on each request, and counts connections."""

    def __init__(self, *answers: bytes, closes: bool = False) -> None:
        self.answers = list(answers)
        self.closes = closes
        self.connections = 0
        self.left = asyncio.Event()

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.file = writer.get_extra_info("socket").fileno()
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
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


def _run(
    server: Callable[[], Server],
    work: Callable[[Server, ConnectionPool, UpstreamAddress], Coroutine[Any, Any, None]],
    **limits: float,
) -> None:
    async def main() -> None:
        made = server()
        listening = await asyncio.start_server(made.talk, "127.0.0.1", 0)
        place = UpstreamAddress("127.0.0.1", listening.sockets[0].getsockname()[1], False)
        pool = ConnectionPool(most=2, **{"connect_seconds": 2.0, "silence_seconds": 5.0, **limits})
        try:
            await work(made, pool, place)
        finally:
            pool.close()
            listening.close()
            await listening.wait_closed()

    asyncio.run(main())


async def _ask(
    pool: ConnectionPool, place: UpstreamAddress, method: str = "POST", body: bytes = b"{}"
) -> tuple[int, bytes]:
    connection = await pool.take(place)
    try:
        await connection.ask(head_of(method, b"/v1/x", b"host", [], body), body, has_body=method != "HEAD")
        return connection.status, await _whole(connection)
    finally:
        pool.give_back(place, connection)


async def _whole(connection: UpstreamConnection) -> bytes:
    parts = []
    while (part := await connection.next_chunk()) is not None:
        parts.append(part)
    return b"".join(parts)


@pytest.mark.parametrize(
    ("answer", "status", "body", "is_kept"),
    [
        (OK, 200, b"hello", True),
        (CHUNKED, 200, b"hello", True),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK, 200, b"hello", True),
        (b"HTTP/1.1 204 No Content\r\n\r\n", 204, b"", True),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\n\r\n", 304, b"", True),
        (b"HTTP/1.1 204 No Content\r\n\r\nsurplus", 204, b"", False),
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi", 200, b"hi", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", 200, b"hi", False),
        (OK + b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged", 200, b"hello", False),
    ],
)
def test_answers_are_read_to_their_end_and_connections_used_again(
    answer: bytes, status: int, body: bytes, is_kept: bool
) -> None:
    async def work(server: Server, pool: ConnectionPool, place: UpstreamAddress) -> None:
        assert await _ask(pool, place) == (status, body)
        assert await _ask(pool, place) == (200, b"hello")
        assert server.connections == (1 if is_kept else 2)

    _run(lambda: Server(answer, OK), work)


def test_an_answer_without_a_length_ends_with_its_connection() -> None:
    async def work(server: Server, pool: ConnectionPool, place: UpstreamAddress) -> None:
        assert await _ask(pool, place) == (200, b"all of it")

    _run(lambda: Server(b"HTTP/1.1 200 OK\r\n\r\nall of it", closes=True), work)


def test_the_answer_to_head_has_no_body_whatever_it_says() -> None:
    async def work(server: Server, pool: ConnectionPool, place: UpstreamAddress) -> None:
        assert await _ask(pool, place, "HEAD", b"") == (200, b"")

    _run(lambda: Server(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n"), work)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"", "RemoteProtocolError"),
        (b"HTTP/1.1 200 OK\r\nContent-Le", "RemoteProtocolError"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf", "ReadError"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf", "ReadError"),
        (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", "RemoteProtocolError"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nhello", "RemoteProtocolError"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nhello", "RemoteProtocolError"),
        (CHUNKED.replace(b"\r\n\r\n3", b"\r\nContent-Length: 3\r\n\r\n3", 1), "RemoteProtocolError"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello", "RemoteProtocolError"),
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", "RemoteProtocolError"),
        (b"HTTP/1.1 799 What\r\nContent-Length: 0\r\n\r\n", "RemoteProtocolError"),
        (b"HTTP/1.1 200 OK\r\nX: a\rb\r\nContent-Length: 0\r\n\r\n", "RemoteProtocolError"),
        (b"HTTP/1.1 103 Early Hints\r\nLink: y\r\n\r\n" * 12_000, "RemoteProtocolError"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 300_000 + b"\r\n\r\n", "RemoteProtocolError"),
    ],
)
def test_what_breaks_off_or_is_no_http_is_never_taken_for_whole(answer: bytes, why: str) -> None:
    async def work(server: Server, pool: ConnectionPool, place: UpstreamAddress) -> None:
        with pytest.raises(ConnectionBroken, match=why):
            await _ask(pool, place)

    _run(lambda: Server(answer, closes=True), work)


def test_silence_has_an_end_and_says_so() -> None:
    async def work(server: Server, pool: ConnectionPool, place: UpstreamAddress) -> None:
        with pytest.raises(ConnectionBroken, match="ReadTimeout") as caught:
            await _ask(pool, place)
        assert caught.value.is_late

    _run(lambda: Server(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf"), work, silence_seconds=0.2)


def test_a_connection_that_was_closed_meanwhile_is_not_used() -> None:
    async def work(server: Server, pool: ConnectionPool, place: UpstreamAddress) -> None:
        assert (await _ask(pool, place))[0] == 200
        await asyncio.sleep(0.05)
        assert (await _ask(pool, place))[0] == 200
        assert server.connections == 2

    _run(lambda: Server(OK, OK, closes=True), work)


def test_an_end_that_nobody_told_us_yet_is_seen_before_a_connection_is_used_again() -> None:
    """A model that is asked twice is paid twice: so nothing is sent over a connection that has ended."""

    async def work(server: Server, pool: ConnectionPool, place: UpstreamAddress) -> None:
        assert (await _ask(pool, place))[0] == 200
        ((_, resting),) = pool._resting[place]
        # The event loop stands still, so that it cannot tell us.
        made = socket.socket(fileno=os.dup(server.file))
        made.shutdown(socket.SHUT_RDWR)
        made.close()
        time.sleep(0.02)
        assert not resting.is_closed
        assert not resting.is_quiet
        assert (await _ask(pool, place))[0] == 200
        assert server.connections == 2

    _run(lambda: Server(OK, OK), work)


@pytest.mark.parametrize(
    ("method", "headers", "is_repeated"),
    [
        ("GET", [], True),
        ("POST", [(b"idempotency-key", b"a")], True),
        ("POST", [], False),
    ],
)
def test_a_request_is_sent_again_only_where_that_does_no_harm(
    tmp_path: Path, method: str, headers: list[tuple[bytes, bytes]], is_repeated: bool
) -> None:
    async def work(server: Server, pool: ConnectionPool, place: UpstreamAddress) -> None:
        settings = GatewaySettings(upstream=(Upstream(name="one", base_url=f"http://127.0.0.1:{place.port}"),))
        upstreams = Upstreams(settings, home=tmp_path, environment={})
        upstreams.open()

        async def ask() -> bytes | None:
            reply = await upstreams.send(settings.upstream[0], method, b"/v1/models", headers, b"")
            try:
                said = await reply.next_chunk()
                assert await reply.next_chunk() is None
                return said
            finally:
                reply.close()

        assert await ask() == b"hello"
        if is_repeated:
            assert await ask() == b"hello"
        else:
            with pytest.raises(UpstreamUnreachable):
                await ask()
        # A connection that is new and ends without a word is not tried again.
        server.answers[:] = [b""]
        upstreams.close()
        with pytest.raises(UpstreamUnreachable):
            await ask()
        assert server.connections == (3 if is_repeated else 2)
        upstreams.close()

    # The second request is taken, and the connection closed without a word.
    _run(lambda: Server(OK, b"", OK), work)


def test_who_cannot_prove_a_name_is_told_nothing(tmp_path: Path) -> None:
    context = certify(tmp_path, "localhost")

    async def main() -> None:
        server = Server(OK)
        listening = await asyncio.start_server(server.talk, "127.0.0.1", 0, ssl=context)
        pool = ConnectionPool(most=2, connect_seconds=2.0, silence_seconds=2.0)
        port = listening.sockets[0].getsockname()[1]
        try:
            with pytest.raises(ConnectionBroken, match="ConnectError"):
                await pool.take(UpstreamAddress("127.0.0.1", port, True))
            pool._tls().load_verify_locations(tmp_path / "cert.pem")
            assert (await _ask(pool, UpstreamAddress("localhost", port, True)))[0] == 200
            with pytest.raises(ConnectionBroken, match="ConnectError"):
                await pool.take(UpstreamAddress("127.0.0.1", port, True))
            assert len(server.answers) == 0
        finally:
            pool.close()
            listening.close()
            await listening.wait_closed()

    asyncio.run(main())


def test_who_stops_listening_cuts_the_connection() -> None:
    async def work(server: Server, pool: ConnectionPool, place: UpstreamAddress) -> None:
        connection = await pool.take(place)
        await connection.ask(head_of("POST", b"/", b"h", [], b"{}"), b"{}", has_body=True)
        pool.give_back(place, connection)
        assert await asyncio.wait_for(server.left.wait(), 2)

    _run(lambda: Server(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf"), work)


def test_a_reader_that_is_slow_holds_the_upstream_back() -> None:
    size = 16 * 1024 * 1024

    async def work(server: Server, pool: ConnectionPool, place: UpstreamAddress) -> None:
        connection = await pool.take(place)
        await connection.ask(head_of("POST", b"/", b"h", [], b"{}"), b"{}", has_body=True)
        await asyncio.sleep(0.1)
        assert connection._buffered < 4 * 1024 * 1024, "what nobody takes is not read"
        assert len(await _whole(connection)) == size
        pool.give_back(place, connection)

    _run(lambda: Server(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size + bytes(size)), work)


def test_there_are_no_more_connections_than_allowed() -> None:
    async def work(server: Server, pool: ConnectionPool, place: UpstreamAddress) -> None:
        held = [await pool.take(place) for _ in range(2)]
        with pytest.raises(ConnectionBroken, match="PoolTimeout"):
            await pool.take(place)
        for one in held:
            pool.give_back(place, one)
        assert (await _ask(pool, place))[0] == 200

    _run(lambda: Server(OK), work, connect_seconds=0.2)


@pytest.mark.parametrize("value", [b"a\r\nx-forged: 1", b"a\nb", b"a\0b"])
def test_no_header_can_begin_another(value: bytes) -> None:
    with pytest.raises(ConnectionBroken):
        head_of("GET", b"/", b"host", [(b"x-mine", value)], b"")
