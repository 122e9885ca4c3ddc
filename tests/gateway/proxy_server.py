"""A proxy as companies have them, and behind it an upstream with TLS whose name only that proxy knows."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path

from seasoned.gateway.proxy.upstream import Upstreams
from seasoned.gateway.settings import GatewaySettings, Upstream

NAME = "api.example.test"
"""Nobody's (RFC 6761): without the proxy it leads nowhere."""
ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"


@dataclass
class ProxyServer:
    """Leads to the places that it knows, on loopback; notes what it was asked and what went through it."""

    routes: Mapping[str, int]
    """Ports by host:port."""
    authorization: str | None = None
    """What it wants to hear in `Proxy-Authorization`."""
    pieces: tuple[bytes, ...] | None = None
    """What it says to everybody instead of leading anywhere."""
    hangs: bool = False
    """Whether it then stays on the line, and says no more."""
    heads: list[str] = field(default_factory=list)
    seen: bytearray = field(default_factory=bytearray)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when one who asked has gone."""
    port: int = 0
    conversations: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def targets(self) -> list[str]:
        """The first lines of what it was asked."""
        return [head.partition("\r\n")[0] for head in self.heads]

    async def conversation(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with _talking(self.conversations, writer):
            while await self._once(reader, writer):
                pass
        self.left.set()

    async def _once(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        self.heads.append(head)
        method, target, _ = head.partition("\r\n")[0].split(" ")
        if self.pieces is not None:
            await _say(writer, self.pieces)
            if self.hangs:
                while await reader.read(4096):
                    pass
            return False
        if self.authorization is not None and f"Proxy-Authorization: {self.authorization}".lower() not in head.lower():
            said = b"Proxy-Authenticate: Basic realm=x\r\nContent-Length: 4\r\n\r\nGone"
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\n" + said)
            return False
        place = target if method == "CONNECT" else target.removeprefix("http://").partition("/")[0]
        port = self.routes.get(place if ":" in place else f"{place}:80")
        if port is None:
            writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
            return False
        if method != "CONNECT":
            return await self._forward(head, port, reader, writer)
        behind_reader, behind = await asyncio.open_connection("127.0.0.1", port)
        writer.write(ESTABLISHED)
        await asyncio.gather(self._relay(reader, behind), self._relay(behind_reader, writer))
        return False

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(ConnectionError):
                while piece := await reader.read(65_536):
                    self.seen += piece
                    writer.write(piece)
                    await writer.drain()
        finally:
            writer.close()

    async def _forward(self, head: str, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Pass one request on, as the upstream wants it, and its answer back; the line stays open."""
        length = int(head.lower().partition("content-length: ")[2].split("\r", 1)[0] or 0)
        body = await reader.readexactly(length)
        method, target, version = head.partition("\r\n")[0].split(" ")
        lines = head.split("\r\n")[1:-2]
        kept = [line for line in lines if not line.lower().startswith("proxy-")]
        path = "/" + target.removeprefix("http://").partition("/")[2]
        behind_reader, behind = await asyncio.open_connection("127.0.0.1", port)
        behind.write("\r\n".join([f"{method} {path} {version}", *kept, "", ""]).encode("latin-1") + body)
        answer = await behind_reader.readuntil(b"\r\n\r\n")
        size = int(answer.lower().partition(b"content-length: ")[2].split(b"\r", 1)[0])
        writer.write(answer + await behind_reader.readexactly(size))
        behind.close()
        return True


@dataclass
class Origin:
    """An upstream that says prepared pieces."""

    pieces: tuple[bytes, ...]
    heard: list[bytes] = field(default_factory=list)
    port: int = 0
    conversations: set[asyncio.Task[None]] = field(default_factory=set)

    async def conversation(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with _talking(self.conversations, writer):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length: ")[2].split(b"\r", 1)[0] or 0)
                self.heard.append(head + await reader.readexactly(length))
                await _say(writer, self.pieces)


async def _say(writer: asyncio.StreamWriter, pieces: tuple[bytes, ...]) -> None:
    for piece in pieces:
        writer.write(piece)
        await writer.drain()
        # Each of them goes over the line by itself.
        await asyncio.sleep(0)


@contextlib.contextmanager
def _talking(conversations: set[asyncio.Task[None]], writer: asyncio.StreamWriter) -> Iterator[None]:
    """As long as the other side is there; the line is closed afterwards."""
    task = asyncio.current_task()
    assert task is not None
    conversations.add(task)
    try:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            yield
    finally:
        conversations.discard(task)
        writer.close()


@contextlib.asynccontextmanager
async def serve(*served: ProxyServer | Origin, context: ssl.SSLContext | None = None) -> AsyncIterator[None]:
    """Let them listen on loopback; origins with TLS where there is a context."""
    async with contextlib.AsyncExitStack() as stack:
        for one in served:
            is_tls = isinstance(one, Origin) and context is not None
            listening = await asyncio.start_server(one.conversation, "127.0.0.1", 0, ssl=context if is_tls else None)
            one.port = listening.sockets[0].getsockname()[1]
            stack.callback(listening.close)
        yield
        conversations = [conversation for one in served for conversation in one.conversations]
        for conversation in conversations:
            conversation.cancel()
        await asyncio.gather(*conversations, return_exceptions=True)


class World:
    """A gateway's upstreams, a proxy, and behind it somebody with TLS."""

    def __init__(self, proxy: ProxyServer, origin: Origin, folder: Path) -> None:
        self.proxy = proxy
        self.origin = origin
        self.connect_seconds = 0.5 if proxy.hangs else 10.0
        self._folder = folder
        self._opened: list[Upstreams] = []

    async def upstreams(
        self, url: str = f"https://{NAME}", *more: str, user: str = "", **environment: str
    ) -> Upstreams:
        address = f"http://{user}127.0.0.1:{self.proxy.port}"
        urls = [url, *more]
        settings = GatewaySettings(
            upstream=tuple(Upstream(name=f"one-{at}", base_url=one) for at, one in enumerate(urls)),
            connect_seconds=self.connect_seconds,
        )
        made = Upstreams(settings, home=self._folder, environment={"ALL_PROXY": address, **environment})
        await made.open()
        self._opened.append(made)
        return made

    async def close(self) -> None:
        for one in self._opened:
            await one.close()


@contextlib.contextmanager
def serve_in_thread(context: ssl.SSLContext, *pieces: bytes, authorization: str) -> Iterator[ProxyServer]:
    """A proxy and its upstream, on an event loop of their own."""
    ready: Future[tuple[ProxyServer, asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def main() -> None:
        routes: dict[str, int] = {}
        proxy, origin, stopping = ProxyServer(routes, authorization=authorization), Origin(pieces), asyncio.Event()
        async with serve(proxy, origin, context=context):
            routes[f"{NAME}:443"] = origin.port
            ready.set_result((proxy, asyncio.get_running_loop(), stopping))
            await stopping.wait()

    thread = threading.Thread(target=asyncio.run, args=(main(),), daemon=True)
    thread.start()
    proxy, loop, stopping = ready.result(10)
    try:
        yield proxy
    finally:
        loop.call_soon_threadsafe(stopping.set)
        thread.join(10)


def chain_of(error: BaseException | None) -> Iterator[BaseException]:
    """An error, and all that it came from."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
