"""A scripted upstream on loopback: exact bytes in exact pieces, for every shape that an answer can have."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.scripted_model import ReceivedRequest

STREAM = "text/event-stream"


@dataclass(frozen=True)
class Said:
    """One scripted answer: its pieces go over the line one by one."""

    chunks: tuple[bytes, ...]
    status: int = 200
    kind: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    pause_seconds: float = 0.0
    """Between two pieces."""
    breaks_off: bool = False
    """The connection is cut instead of ended."""

    @property
    def body(self) -> bytes:
        return b"".join(self.chunks)


def whole(answer: dict[str, Any], *, status: int = 200, packed: bool = False, **more: Any) -> Said:
    """An answer that comes at once, as JSON."""
    body = json.dumps(answer).encode()
    if packed:
        return Said((gzip.compress(body),), status, headers=(("content-encoding", "gzip"),), **more)
    return Said((body,), status, **more)


def stream(*events: dict[str, Any] | bytes, **more: Any) -> Said:
    """A stream with one piece for each event; those with a `type` are named by it, as Responses and Anthropic do."""
    return Said(tuple(one if isinstance(one, bytes) else _event(one) for one in events), kind=STREAM, **more)


def _event(data: dict[str, Any]) -> bytes:
    name = f"event: {data['type']}\n".encode() if "type" in data else b""
    return name + b"data: " + json.dumps(data).encode() + b"\n\n"


def chat(text: str = "Hello there.", *, calls: Sequence[tuple[str, str, str]] = (), **more: Any) -> Said:
    """A chat completion; calls are (id, tool, arguments)."""
    made = [{"id": id, "type": "function", "function": {"name": tool, "arguments": given}} for id, tool, given in calls]
    message = {"role": "assistant", "content": text, **({"tool_calls": made} if made else {})}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if made else "stop"}
    answer = {**_chat_head("chat.completion"), "choices": [choice], "usage": CHAT_USAGE}
    return whole(answer, **more)


CHAT_USAGE = {
    "prompt_tokens": 120,
    "completion_tokens": 8,
    "total_tokens": 128,
    "prompt_tokens_details": {"cached_tokens": 100},
    "completion_tokens_details": {"reasoning_tokens": 3},
}
ANTHROPIC_USAGE = {
    "input_tokens": 20,
    "output_tokens": 9,
    "cache_read_input_tokens": 90,
    "cache_creation_input_tokens": 10,
}
RESPONSES_USAGE = {
    "input_tokens": 120,
    "output_tokens": 8,
    "total_tokens": 128,
    "input_tokens_details": {"cached_tokens": 100},
    "output_tokens_details": {"reasoning_tokens": 3},
}


def _chat_head(kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": 1, "model": "gpt-4o-mini"}


def chat_stream(*words: str, has_usage: bool = True, call: tuple[str, str, str] | None = None, **more: Any) -> Said:
    """A stream of chat chunks; the usage comes in an event of its own."""
    head = _chat_head("chat.completion.chunk")
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}, *({"content": word} for word in words)]
    if call is not None:
        id, tool, given = call
        function = {"name": tool, "arguments": ""}
        deltas.append({"tool_calls": [{"index": 0, "id": id, "type": "function", "function": function}]})
        deltas += [{"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} for piece in (given[:3], given[3:])]
    events: list[dict[str, Any] | bytes] = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
    ]
    reason = "stop" if call is None else "tool_calls"
    events.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    if has_usage:
        events.append({**head, "choices": [], "usage": CHAT_USAGE})
    return stream(*events, b"data: [DONE]\n\n", **more)


def message(text: str = "Hello there.", *, call: tuple[str, str, dict[str, Any]] | None = None, **more: Any) -> Said:
    """An answer of Anthropic's API."""
    content: list[dict[str, Any]] = [{"type": "text", "text": text}]
    if call is not None:
        content.append({"type": "tool_use", "id": call[0], "name": call[1], "input": call[2]})
    reason = "end_turn" if call is None else "tool_use"
    return whole({**_message_head(), "content": content, "stop_reason": reason, "usage": ANTHROPIC_USAGE}, **more)


def _message_head() -> dict[str, Any]:
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-5"}
    return {**head, "stop_sequence": None}


def message_stream(*words: str, **more: Any) -> Said:
    """A stream of Anthropic's API: input tokens come first, output tokens as a running total at the end."""
    begun = {**_message_head(), "content": [], "stop_reason": None, "usage": {**ANTHROPIC_USAGE, "output_tokens": 1}}
    deltas = [{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": w}} for w in words]
    ends = {"stop_reason": "end_turn", "stop_sequence": None}
    return stream(
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        *deltas,
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ends, "usage": {"output_tokens": ANTHROPIC_USAGE["output_tokens"]}},
        {"type": "message_stop"},
        **more,
    )


def response(text: str = "Hello there.", *, id: str = "resp_1", **more: Any) -> Said:
    """An answer of the Responses API."""
    return whole(_response(text, id), **more)


def _response(text: str, id: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    head = {"id": id, "object": "response", "created_at": 1, "model": "gpt-4o-mini", "status": "completed"}
    rest = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "error": None, "instructions": None}
    return {**head, **rest, "incomplete_details": None, "metadata": {}, "output": [item], "usage": RESPONSES_USAGE}


def response_stream(*words: str, **more: Any) -> Said:
    """A stream of the Responses API."""
    done = _response("".join(words), "resp_1")
    begun = {**done, "status": "in_progress", "output": [], "usage": None}
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    item = {**done["output"][0], "status": "in_progress", "content": []}
    part = done["output"][0]["content"][0]
    return stream(
        {"type": "response.created", "sequence_number": 0, "response": begun},
        {"type": "response.output_item.added", "sequence_number": 1, "output_index": 0, "item": item},
        {"type": "response.content_part.added", "sequence_number": 1, **place, "part": {**part, "text": ""}},
        *(
            {"type": "response.output_text.delta", "sequence_number": at, **place, "delta": word, "logprobs": []}
            for at, word in enumerate(words, start=2)
        ),
        {"type": "response.output_item.done", "sequence_number": 90, "output_index": 0, "item": done["output"][0]},
        {"type": "response.completed", "sequence_number": 91, "response": done},
        **more,
    )


@dataclass
class Upstream:
    """What it was asked, and what it will say."""

    url: str
    script: list[Said]
    heard: list[ReceivedRequest] = field(default_factory=list)
    sent: list[int] = field(default_factory=list)
    """Pieces of each answer that went out before it ended or the other side left."""
    left: threading.Event = field(default_factory=threading.Event)
    """Set when the other side left in the middle of an answer."""


@contextmanager
def serve_upstream(*script: Said) -> Iterator[Upstream]:
    """Answer with the script, one step a request; its last step is said again and again."""
    server = _Server(("127.0.0.1", 0), _Answering)
    upstream = Upstream(f"http://127.0.0.1:{server.server_address[1]}", list(script))
    server.upstream = upstream  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield upstream
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


class _Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "Scripted"
    wbufsize = 0
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the tests ask what was heard."""

    def _answer(self) -> None:
        upstream: Upstream = self.server.upstream  # type: ignore[attr-defined]
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        upstream.heard.append(ReceivedRequest(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
        said = upstream.script.pop(0) if len(upstream.script) > 1 else upstream.script[0]
        is_stream = said.kind == STREAM or len(said.chunks) > 1
        self.send_response(said.status)
        self.send_header("Content-Type", said.kind)
        self.send_header(*(("Transfer-Encoding", "chunked") if is_stream else ("Content-Length", str(len(said.body)))))
        for name, value in said.headers:
            self.send_header(name, value)
        self.end_headers()
        count = 0
        try:
            for chunk in said.chunks:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk) if is_stream else chunk)
                count += 1
                if said.pause_seconds:
                    threading.Event().wait(said.pause_seconds)
            if said.breaks_off:
                self.close_connection = True
            elif is_stream:
                self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.close_connection = True
            upstream.left.set()
        upstream.sent.append(count)

    do_GET = do_POST = do_DELETE = do_PUT = _answer
