"""A cheap upstream for measuring proxies: answers of a real shape, written by hand, in a separate process."""

from __future__ import annotations

import asyncio
import sys
from itertools import count
from typing import Any

import uvloop

WORDS = 24
SLOW_SECONDS = 1.0
SLOW_EVENTS = 12
_STREAMS = (b'"stream":true', b'"stream": true')
_SLOW = b"slow-model"
_USAGE = (
    b'{"prompt_tokens":12000,"completion_tokens":60,"total_tokens":12060,'
    b'"prompt_tokens_details":{"cached_tokens":11000},"completion_tokens_details":{"reasoning_tokens":0}}'
)
_CALL = b'{"id":"call_%d","type":"function","function":{"name":"read_file","arguments":"{\\"path\\": \\"a.py\\"}"}}'
_WHOLE = (
    b'{"id":"chatcmpl-%d","object":"chat.completion","created":1,"model":"gpt-4o-mini","choices":[{"index":0,'
    b'"message":{"role":"assistant","content":"Let me look at the file.","tool_calls":['
    + _CALL
    + b']},"finish_reason":"tool_calls"}],"usage":'
    + _USAGE
    + b"}"
)
_PIECE = (
    b'data: {"id":"chatcmpl-%d","object":"chat.completion.chunk","created":1,"model":"gpt-4o-mini",'
    b'"choices":[{"index":0,"delta":%s,"finish_reason":%s}]}\n\n'
)
_LAST = (
    b'data: {"id":"chatcmpl-%d","object":"chat.completion.chunk","created":1,"model":"gpt-4o-mini",'
    b'"choices":[],"usage":' + _USAGE + b"}\n\n"
)
_numbers = count(1)


class Answering(asyncio.Protocol):
    """One connection; requests come one after the other."""

    def __init__(self) -> None:
        self._kept: list[bytes] = []
        self._missing = 0
        self._is_open = False

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_open = False

    def data_received(self, data: bytes) -> None:
        self._kept.append(data)
        if self._missing > len(data):
            self._missing -= len(data)
            return
        whole = b"".join(self._kept)
        head, found, body = whole.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r", 1)[0] or 0)
        self._missing = 0 if not found else length - len(body)
        if self._missing > 0 or not found:
            self._kept = [whole]
            return
        self._kept = []
        self._answer(body)

    def _answer(self, body: bytes) -> None:
        number = next(_numbers)
        if not any(sign in body for sign in _STREAMS):
            said = _WHOLE % (number, number)
            self._transport.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(said), said)
            )
            return
        self._transport.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
            + _chunk(_PIECE % (number, b'{"role":"assistant","content":"The"}', b"null"))
        )
        if _SLOW in body:
            self._is_open = True
            self._go_on(number, 1)
            return
        for _ in range(WORDS):
            self._transport.write(_chunk(_PIECE % (number, b'{"content":" word"}', b"null")))
        self._end(number)

    def _go_on(self, number: int, step: int) -> None:
        if not self._is_open:
            return
        if step == SLOW_EVENTS:
            self._end(number)
            return
        self._transport.write(_chunk(_PIECE % (number, b'{"content":" word"}', b"null")))
        asyncio.get_running_loop().call_later(SLOW_SECONDS, self._go_on, number, step + 1)

    def _end(self, number: int) -> None:
        last = _PIECE % (number, b"{}", b'"stop"') + _LAST % number + b"data: [DONE]\n\n"
        self._transport.write(_chunk(last) + b"0\r\n\r\n")


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(Answering, "127.0.0.1", 0, backlog=2048)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(_serve())
