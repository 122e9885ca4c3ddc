"""For tests of agents: a model that plays a script, and a server that does the same over HTTP.

Both play the same script, a list of steps: a text is an answer, `call("terminal", command="ls")` a call of a tool, a
list of them several calls at once, `Answer(...)` all that together with the tokens it took, an exception a failure, and
a function is given the messages and returns one of these.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel


@dataclass(frozen=True)
class Call:
    """One call of a tool in a script."""

    tool: str
    arguments: dict[str, Any]
    id: str | None = None


def call(tool: str, /, **arguments: Any) -> Call:
    """A call with these arguments."""
    return Call(tool, arguments)


@dataclass(frozen=True)
class Answer:
    """One answer of the model: words, calls, and what the provider counts for it."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    input_tokens: int | None = None
    output_tokens: int | None = None
    # How long the model waits before its first word.
    wait_seconds: float = 0.0


Step = str | Call | Sequence[Call] | Answer | Exception | Callable[[list[Any]], Any]


class _Script:
    """Steps that are played one after the other; safe to use from several threads."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = list(steps)
        self._lock = threading.Lock()
        self._calls = 0
        # Part of every call id, so that the calls of two scripts in one store do not collide.
        self._id = secrets.token_hex(4)

    def next(self, messages: list[Any]) -> Answer | Exception:
        """The next answer, or the exception to raise; past the end of the script, an AssertionError."""
        with self._lock:
            step = self._steps.pop(0) if self._steps else AssertionError("the script has no more steps")
        if callable(step):
            # Outside the lock: a step may take long, or play further steps itself.
            step = step(messages)
        if isinstance(step, Exception):
            return step
        answer = _answer(step)
        return Answer(
            answer.text,
            tuple(self._named(one) for one in answer.calls),
            answer.input_tokens,
            answer.output_tokens,
            answer.wait_seconds,
        )

    def play(self, *steps: Step) -> None:
        """Replace the remaining steps with these."""
        with self._lock:
            self._steps = list(steps)

    def _named(self, one: Call) -> Call:
        with self._lock:
            self._calls += 1
            return Call(one.tool, one.arguments, one.id or f"call_{self._id}_{self._calls}")


def _answer(step: Any) -> Answer:
    if isinstance(step, Answer):
        return step
    if isinstance(step, str):
        return Answer(step)
    if isinstance(step, Call):
        return Answer(calls=(step,))
    return Answer(calls=tuple(step))


class ScriptedModel(FunctionModel):
    """A pydantic-ai model that plays a script and keeps every request in `requests`."""

    def __init__(self, *steps: Step, model_name: str = "scripted") -> None:
        self.requests: list[list[ModelMessage]] = []
        self.script = _Script(steps)
        super().__init__(self._answer_whole, stream_function=self._answer_in_pieces, model_name=model_name)

    async def _answer_whole(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        answer = await self._take(messages, info)
        calls = [ToolCallPart(one.tool, json.dumps(one.arguments), one.id or "") for one in answer.calls]
        return ModelResponse(parts=[*([TextPart(answer.text)] if answer.text else []), *calls])

    async def _answer_in_pieces(
        self, messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[str | DeltaToolCalls]:
        answer = await self._take(messages, info)
        for piece in _pieces(answer.text):
            yield piece
        for at, one in enumerate(answer.calls, start=1):
            yield {at: DeltaToolCall(one.tool, json.dumps(one.arguments), tool_call_id=one.id)}

    async def _take(self, messages: list[ModelMessage], info: AgentInfo) -> Answer:
        import asyncio

        self.requests.append(list(messages))
        answer = self.script.next(messages)
        if isinstance(answer, Exception):
            raise answer
        await asyncio.sleep(answer.wait_seconds)
        return answer


@dataclass
class ReceivedRequest:
    """One request that the server received."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found


@dataclass
class ScriptedServer:
    """An OpenAI-compatible server on loopback that plays a script."""

    base_url: str
    script: _Script
    heard: list[ReceivedRequest] = field(default_factory=list)

    @property
    def bodies(self) -> list[bytes]:
        """The exact bytes of every request, in the order in which they came."""
        return [one.body for one in self.heard]


@contextmanager
def serve_script(*steps: Step) -> Iterator[ScriptedServer]:
    """A server that answers chat completions, streamed or whole, with the steps of a script."""
    # Port 0: the system chooses a free one, so that tests can run in parallel.
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    # A client that keeps its connection open must not keep the test from ending.
    server.daemon_threads = True
    played = ScriptedServer(f"http://127.0.0.1:{server.server_address[1]}/v1", _Script(steps))
    server.played = played  # type: ignore[attr-defined]
    # A short poll, because shutdown waits for it; the default would add half a second to every test.
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield played
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    # Clients keep connections only with 1.1, as they do with real providers.
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: tests read `heard` instead."""

    def do_GET(self) -> None:
        self._send(200, {"object": "list", "data": [{"id": "scripted", "object": "model"}]})

    def do_POST(self) -> None:
        played: ScriptedServer = self.server.played  # type: ignore[attr-defined]
        heard = ReceivedRequest(
            self.path, dict(self.headers), self.rfile.read(int(self.headers.get("Content-Length", 0)))
        )
        played.heard.append(heard)
        asked = heard.json
        answer = played.script.next(asked.get("messages", []))
        if isinstance(answer, Exception):
            # Not 500, after which clients try again.
            self._send(400, {"error": {"message": str(answer), "type": "scripted"}})
            return
        threading.Event().wait(answer.wait_seconds)
        usage = _usage(answer, heard.body)
        if asked.get("stream"):
            self._stream(asked, answer, usage)
        else:
            message = {"role": "assistant", "content": answer.text or None, "tool_calls": _calls(answer) or None}
            choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if answer.calls else "stop"}
            self._send(200, {**_envelope(asked, "chat.completion"), "choices": [choice], "usage": usage})

    def _stream(self, asked: dict[str, Any], answer: Answer, usage: dict[str, int]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        # A stream has no length in advance, so its end is the end of the connection.
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        envelope = _envelope(asked, "chat.completion.chunk")
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        deltas += [{"content": piece} for piece in _pieces(answer.text)]
        deltas += [{"tool_calls": [{"index": at, **one}]} for at, one in enumerate(_calls(answer))]
        for delta in deltas:
            self._event({**envelope, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        ends = {"index": 0, "delta": {}, "finish_reason": "tool_calls" if answer.calls else "stop"}
        self._event({**envelope, "choices": [ends]})
        # As OpenAI does it: the usage comes last, in a chunk without choices.
        self._event({**envelope, "choices": [], "usage": usage})
        self.wfile.write(b"data: [DONE]\n\n")

    def _event(self, data: dict[str, Any]) -> None:
        self.wfile.write(b"data: " + json.dumps(data).encode() + b"\n\n")
        self.wfile.flush()

    def _send(self, status: int, data: dict[str, Any]) -> None:
        body = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _envelope(asked: dict[str, Any], kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-scripted", "object": kind, "created": 0, "model": asked.get("model", "scripted")}


def _calls(answer: Answer) -> list[dict[str, Any]]:
    return [
        {"id": one.id, "type": "function", "function": {"name": one.tool, "arguments": json.dumps(one.arguments)}}
        for one in answer.calls
    ]


def _usage(answer: Answer, body: bytes) -> dict[str, int]:
    # About four characters a token, where the script does not say.
    sent = answer.input_tokens if answer.input_tokens is not None else max(1, len(body) // 4)
    got = answer.output_tokens if answer.output_tokens is not None else max(1, len(answer.text) // 4)
    return {"prompt_tokens": sent, "completion_tokens": got, "total_tokens": sent + got}


def _pieces(text: str) -> Iterator[str]:
    """Words with the space before them, as models stream them."""
    for at, word in enumerate(text.split(" ") if text else ()):
        yield word if at == 0 else f" {word}"
