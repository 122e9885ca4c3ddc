"""Who asks, for measuring proxies: conversations of a real shape, over connections that are read by hand."""

from __future__ import annotations

import asyncio
import json
import re
import time
from typing import Any, NamedTuple

_TOOLS = 14
_SYSTEM_CHARS = 6_000
_CALL_ID = re.compile(rb'"id":\s*"(call_\d+)"')
_RESULTS = (
    "src/app.py:12:def load(path):\n",
    "    value = json.loads(text)  # the settings of the user\n",
    "tests/test_app.py::test_load PASSED [ 12%]\n",
    "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\nKeyError: 'name'\n",
    "drwxr-xr-x 2 anna anna 4096 Oct  1 12:00 docs\n",
)


class Taken(NamedTuple):
    """How long an answer took, until its first piece and until its end."""

    first: float
    whole: float
    body: bytes


class Line(asyncio.Protocol):
    """One connection that is kept; it reads no more of an answer than where it ends."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._length = -1
        self._first = 0.0
        self._begun = 0.0
        self.is_closed = False
        self._done: asyncio.Future[Taken] | None = None

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_closed = True
        if self._done is not None and not self._done.done():
            self._done.set_exception(ConnectionError("the connection was closed in the middle of an answer"))

    @property
    def has_heard(self) -> bool:
        return bool(self._parts)

    def ask(self, request: bytes, *, begun: float | None = None) -> asyncio.Future[Taken]:
        """Send a request; times count from when it should have gone out."""
        self._parts, self._length, self._first = [], -1, 0.0
        self._begun = time.perf_counter() if begun is None else begun
        self._done = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return self._done

    def data_received(self, data: bytes) -> None:
        self._parts.append(data)
        if self._length < 0:
            self._read_head()
        if not self._first and b"data:" in data:
            self._first = time.perf_counter()
        if self._length < 0:
            return
        if self._length:
            is_whole = sum(map(len, self._parts)) >= self._length
        else:
            is_whole = data.endswith(b"0\r\n\r\n")
        if is_whole and self._done is not None and not self._done.done():
            now = time.perf_counter()
            body = b"".join(self._parts)
            if not body.startswith(b"HTTP/1.1 200"):
                self._done.set_exception(ValueError(f"refused: {body[:300]!r}"))
                return
            self._done.set_result(Taken((self._first or now) - self._begun, now - self._begun, body))

    def _read_head(self) -> None:
        whole = b"".join(self._parts)
        head, found, _ = whole.partition(b"\r\n\r\n")
        if found:
            said = head.lower().partition(b"content-length:")[2]
            self._length = len(head) + 4 + int(said.split(b"\r", 1)[0]) if said else 0


class Lines:
    """The connections to one proxy; a request takes a free one or opens another."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._free: list[Line] = []

    async def ask(self, request: bytes, *, begun: float | None = None) -> Taken:
        """One request, answered."""
        while self._free:
            line = self._free.pop()
            if line.is_closed:
                continue
            try:
                taken = await line.ask(request, begun=begun)
            except ConnectionError:
                # Servers close connections that were idle for some seconds.
                if line.has_heard:
                    raise
                continue
            break
        else:
            _, line = await asyncio.get_running_loop().create_connection(Line, "127.0.0.1", self._port)
            taken = await line.ask(request, begun=begun)
        self._free.append(line)
        return taken


class Shape(NamedTuple):
    """How long conversations are: messages when they begin and when they end, and characters of each result."""

    fewest: int
    most: int
    result_chars: int


class Conversation:
    """One agent at work: every request repeats what was said, and adds a call and its result."""

    def __init__(self, name: str, *, token: str, shape: Shape, start: int = 1, model: str = "gpt-4o-mini") -> None:
        self._model = model
        self._name = name
        self._token = token
        self._shape = shape
        self._count = 0
        self._begin(start)

    def _begin(self, start: int) -> None:
        self._count += 1
        first = {"role": "user", "content": f"Mend the failing test of part {self._name}, {self._count}."}
        self._said = [json.dumps(first).encode()]
        while len(self._said) < start:
            self.heard(b'"id":"call_%d"' % (10**9 + len(self._said)))

    def request(self, *, is_stream: bool) -> bytes:
        """What goes over the line."""
        tail = b',"stream":true}' if is_stream else b"}"
        body = b'{"model":"%s","messages":[%s,%s],"tools":%s%s' % (
            self._model.encode(),
            _SYSTEM,
            b",".join(self._said),
            _TOOL_LIST,
            tail,
        )
        head = (
            f"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {self._token}\r\nX-Session-Id: {self._name}-{self._count}\r\n"
            f"User-Agent: OpenAI/Python 2.0\r\nAccept: application/json\r\nAccept-Encoding: gzip, deflate\r\n"
            f"X-Stainless-Lang: python\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body

    def heard(self, answer: bytes) -> None:
        """Go on from an answer; a conversation that is long enough is followed by another."""
        found = _CALL_ID.search(answer)
        if len(self._said) >= self._shape.most:
            self._begin(self._shape.fewest)
        if found is None:
            return
        call = found[1].decode()
        function = {"name": "read_file", "arguments": '{"path": "a.py"}'}
        made = {"id": call, "type": "function", "function": function}
        said = {"role": "assistant", "content": "Let me look at the file.", "tool_calls": [made]}
        result = {"role": "tool", "tool_call_id": call, "content": _result(len(self._said), self._shape.result_chars)}
        self._said += [json.dumps(said).encode(), json.dumps(result).encode()]


def _result(number: int, chars: int) -> str:
    """What a tool gave; every seventh is an error."""
    line = _RESULTS[number % 4 if number % 7 else 3]
    return (f"{number}: " + line * (chars // len(line) + 1))[:chars]


def _tool(number: int) -> dict[str, Any]:
    name = "read_file" if number == 0 else f"tool_{number}"
    field = {"type": "string", "description": "Where to look, from the folder of the project on."}
    schema = {"type": "object", "properties": {"path": field, "pattern": field, "glob": field}, "required": ["path"]}
    words = "Reads a part of the project and gives it back, line by line, as it stands on the disk now. " * 4
    return {"type": "function", "function": {"name": name, "description": words, "parameters": schema}}


_SYSTEM = json.dumps(
    {"role": "system", "content": ("You help with the code of a project. " * 200)[:_SYSTEM_CHARS]}
).encode()
_TOOL_LIST = json.dumps([_tool(number) for number in range(_TOOLS)]).encode()


async def ask_at_rate(
    lines: Lines, conversations: list[Conversation], *, rate: float, seconds: float, is_stream: bool
) -> list[Taken]:
    """Requests at their times, whatever became of those before: who is late is measured as late."""
    start = time.perf_counter() + 0.05
    asking = []
    for number in range(int(rate * seconds)):
        due = start + number / rate
        if (wait := due - time.perf_counter()) > 0:
            await asyncio.sleep(wait)
        one = conversations[number % len(conversations)]
        asking.append(asyncio.ensure_future(_turn(lines, one, is_stream=is_stream, begun=due)))
    return list(await asyncio.gather(*asking))


async def _turn(lines: Lines, one: Conversation, *, is_stream: bool, begun: float | None = None) -> Taken:
    taken = await lines.ask(one.request(is_stream=is_stream), begun=begun)
    one.heard(taken.body)
    return taken


async def ask_one_by_one(lines: Lines, one: Conversation, *, count: int, is_stream: bool) -> list[Taken]:
    """One request after the other."""
    return [await _turn(lines, one, is_stream=is_stream) for _ in range(count)]
