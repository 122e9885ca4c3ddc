"""Connections to upstreams: every way an answer can be framed, and every way it can fail."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from seasoned.gateway.connection import Broken, Connection, Place, Pool, head_of

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
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length: ")[2].split(b"\r", 1)[0] or 0)
                await reader.readexactly(length)
                writer.write(self.answers.pop(0))
                await writer.drain()
                if self.closes:
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            self.left.set()
        finally:
            writer.close()


def _run(
    server: Callable[[], Server], work: Callable[[Server, Pool, Place], Coroutine[Any, Any, None]], **limits: float
) -> None:
    async def main() -> None:
        made = server()
        listening = await asyncio.start_server(made.talk, "127.0.0.1", 0)
        place = Place("127.0.0.1", listening.sockets[0].getsockname()[1], False)
        pool = Pool(most=2, **{"connect_seconds": 2.0, "silence_seconds": 5.0, **limits})
        try:
            await work(made, pool, place)
        finally:
            pool.close()
            listening.close()
            await listening.wait_closed()

    asyncio.run(main())


async def _ask(pool: Pool, place: Place, method: str = "POST", body: bytes = b"{}") -> tuple[int, bytes]:
    connection = await pool.take(place)
    try:
        await connection.ask(head_of(method, b"/v1/x", b"host", [], body), body, has_body=method != "HEAD")
        return connection.status, await _whole(connection)
    finally:
        pool.give_back(place, connection)


async def _whole(connection: Connection) -> bytes:
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
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi", 200, b"hi", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", 200, b"hi", False),
        (OK + b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged", 200, b"hello", False),
    ],
)
def test_answers_are_read_to_their_end_and_connections_used_again(
    answer: bytes, status: int, body: bytes, is_kept: bool
) -> None:
    async def work(server: Server, pool: Pool, place: Place) -> None:
        assert await _ask(pool, place) == (status, body)
        assert await _ask(pool, place) == (200, b"hello")
        assert server.connections == (1 if is_kept else 2)

    _run(lambda: Server(answer, OK), work)


def test_an_answer_without_a_length_ends_with_its_connection() -> None:
    async def work(server: Server, pool: Pool, place: Place) -> None:
        assert await _ask(pool, place) == (200, b"all of it")

    _run(lambda: Server(b"HTTP/1.1 200 OK\r\n\r\nall of it", closes=True), work)


def test_the_answer_to_head_has_no_body_whatever_it_says() -> None:
    async def work(server: Server, pool: Pool, place: Place) -> None:
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
        (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 300_000 + b"\r\n\r\n", "RemoteProtocolError"),
    ],
)
def test_what_breaks_off_or_is_no_http_is_never_taken_for_whole(answer: bytes, why: str) -> None:
    async def work(server: Server, pool: Pool, place: Place) -> None:
        with pytest.raises(Broken, match=why):
            await _ask(pool, place)

    _run(lambda: Server(answer, closes=True), work)


def test_silence_has_an_end_and_says_so() -> None:
    async def work(server: Server, pool: Pool, place: Place) -> None:
        with pytest.raises(Broken, match="ReadTimeout") as caught:
            await _ask(pool, place)
        assert caught.value.is_late

    _run(lambda: Server(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf"), work, silence_seconds=0.2)


def test_a_connection_that_was_closed_meanwhile_is_not_used() -> None:
    async def work(server: Server, pool: Pool, place: Place) -> None:
        assert (await _ask(pool, place))[0] == 200
        await asyncio.sleep(0.05)
        assert (await _ask(pool, place))[0] == 200
        assert server.connections == 2

    _run(lambda: Server(OK, OK, closes=True), work)


def test_who_stops_listening_cuts_the_connection() -> None:
    async def work(server: Server, pool: Pool, place: Place) -> None:
        connection = await pool.take(place)
        await connection.ask(head_of("POST", b"/", b"h", [], b"{}"), b"{}", has_body=True)
        pool.give_back(place, connection)
        assert await asyncio.wait_for(server.left.wait(), 2)

    _run(lambda: Server(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf"), work)


def test_a_reader_that_is_slow_holds_the_upstream_back() -> None:
    size = 16 * 1024 * 1024

    async def work(server: Server, pool: Pool, place: Place) -> None:
        connection = await pool.take(place)
        await connection.ask(head_of("POST", b"/", b"h", [], b"{}"), b"{}", has_body=True)
        await asyncio.sleep(0.1)
        assert connection._buffered < 4 * 1024 * 1024, "what nobody takes is not read"
        assert len(await _whole(connection)) == size
        pool.give_back(place, connection)

    _run(lambda: Server(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size + bytes(size)), work)


def test_there_are_no_more_connections_than_allowed() -> None:
    async def work(server: Server, pool: Pool, place: Place) -> None:
        held = [await pool.take(place) for _ in range(2)]
        with pytest.raises(Broken, match="PoolTimeout"):
            await pool.take(place)
        for one in held:
            pool.give_back(place, one)
        assert (await _ask(pool, place))[0] == 200

    _run(lambda: Server(OK), work, connect_seconds=0.2)


@pytest.mark.parametrize("value", [b"a\r\nx-forged: 1", b"a\nb", b"a\0b"])
def test_no_header_can_begin_another(value: bytes) -> None:
    with pytest.raises(Broken):
        head_of("GET", b"/", b"host", [(b"x-mine", value)], b"")
