"""One request, the API it speaks, and what is read of its answer while it passes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Literal, NamedTuple
from uuid import uuid4

import msgspec

from seasoned.example.block import Format
from seasoned.gateway.accounting import Ended, UsageEntry
from seasoned.gateway.record.conversations import GatewayConversation
from seasoned.gateway.settings import Failures
from seasoned.gateway.wire import anthropic, chat, responses
from seasoned.gateway.wire.event_stream import EventStream
from seasoned.gateway.wire.request import ApiName, ApiRequest, ApiResponse


class WireApi(NamedTuple):
    """One API on the wire."""

    name: ApiName
    # The format of blocks in its requests.
    format: Format
    read_request: Callable[[bytes], ApiRequest | None]
    insert_block: Callable[[bytes, bytes], bytes]
    read_response: Callable[[bytes], ApiResponse]
    open_stream: Callable[[], EventStream]


def _api(name: ApiName, format: Format, module: ModuleType) -> WireApi:
    return WireApi(name, format, *[getattr(module, field) for field in WireApi._fields[2:]])


# Keyed by how the path ends.
APIS: dict[str, WireApi] = {
    "/v1/chat/completions": _api("chat", "openai", chat),
    "/v1/responses": _api("responses", "responses", responses),
    "/v1/messages": _api("anthropic", "anthropic", anthropic),
}


def find_api(path: str) -> WireApi | None:
    """The API that a path belongs to, by its end; None for any other path, which is passed on unread."""
    return next((api for end, api in APIS.items() if path.endswith(end)), None)


class FinishedExchange(msgspec.Struct, kw_only=True):
    """What to record of an exchange, without the bytes that passed."""

    id: str
    at: float
    key_name: str
    conversation: GatewayConversation
    asked: ApiRequest
    # Bytes of the request, for the limit on what waits.
    size: int
    answer: ApiResponse | None = None
    entry: UsageEntry | None = None


_MOST_WHOLE = 32 * 1024 * 1024
_LONGEST_SIGN = 32
# Found in the last event of a stream. A model's text may contain it too, which only costs a second entry.
_ENDS = (b"[DONE]", b"message_stop", b"response.completed", b"response.incomplete", b"response.failed")


AnswerForm = Literal["stream", "whole", "unread"]


class Exchange:
    """A request and its answer. What cannot be read is still passed on."""

    def __init__(
        self, *, api: WireApi, at: float, upstream: str, key_name: str, failures: Failures, purpose: str = "unread"
    ) -> None:
        self.id = uuid4().hex
        self.api = api
        self.at = at
        self.upstream = upstream
        self.key_name = key_name
        # Bytes of the request as the client sent it.
        self.size = 0
        self.asked: ApiRequest | None = None
        self.conversation: GatewayConversation | None = None
        self.takes_usage_out = False
        self.status = 0
        self.answer: ApiResponse | None = None
        self.entry: UsageEntry | None = None
        self.way: AnswerForm = "unread"
        self._purpose = purpose
        self._failures = failures
        self._stream: EventStream | None = None
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._tail = b""

    @property
    def is_accounted(self) -> bool:
        """Whether tokens were used. A request that the provider refused used none."""
        return 0 < self.status < 400

    def begin(self, status: int, headers: Sequence[tuple[bytes, bytes]]) -> None:
        """Decide from the headers how to read the answer."""
        self.status = status
        named = dict(headers)
        kind = named.get(b"content-type", b"").partition(b";")[0].strip().lower()
        # One that is compressed, although that was not asked for, passes unread.
        if status >= 400 or named.get(b"content-encoding", b"identity").strip().lower() != b"identity":
            return
        if kind == b"text/event-stream":
            with self._failures.shield("read"):
                self._stream = self.api.open_stream()
                self._stream.takes_usage_out = self.takes_usage_out
                self.way = "stream"
        elif kind == b"application/json":
            self.way = "whole"

    def feed(self, chunk: bytes) -> bytes:
        """Read a chunk; returns what to pass on now."""
        if self.way == "stream":
            assert self._stream is not None
            held = self._stream.held
            with self._failures.shield("read"):
                return self._stream.feed(chunk)
            # From here on it is passed on unread. Held bytes go first, so that nothing is lost or repeated.
            self.way = "unread"
            return held + chunk
        if self.way == "whole":
            # An answer in one piece is held until it is accounted for, because its last byte ends it.
            self._held.append(chunk)
            self._held_bytes += len(chunk)
            if self._held_bytes > _MOST_WHOLE:
                self.way = "unread"
                return self._release()
            return b""
        return chunk

    def is_ending(self, chunk: bytes) -> bool:
        """Whether the client may treat this chunk as the end of the stream."""
        if self.way != "stream":
            return False
        seen = self._tail + chunk
        self._tail = seen[-_LONGEST_SIGN:]
        return any(sign in seen for sign in _ENDS)

    def end(self) -> bytes:
        """Finish reading; returns what was held back."""
        if self.way == "stream":
            assert self._stream is not None
            held = self._stream.held
            with self._failures.shield("read"):
                return self._stream.end()
            return held
        if self.way == "whole":
            rest = self._release()
            with self._failures.shield("read"):
                self.answer = self.api.read_response(rest)
            return rest
        return b""

    def finished(self) -> FinishedExchange | None:
        """What to record; None if the conversation is unknown."""
        if self.asked is None or self.conversation is None:
            return None
        return FinishedExchange(
            id=self.id,
            at=self.at,
            key_name=self.key_name,
            conversation=self.conversation,
            asked=self.asked,
            size=self.size,
            answer=self.answer,
            entry=self.entry,
        )

    def settle(self, ended: Ended, seconds: float) -> bool:
        """Make the journal entry from what the provider reported so far; False if nothing changed."""
        with self._failures.shield("read"):
            if self._stream is not None:
                self.answer = self._stream.answer()
        answer = self.answer or ApiResponse()
        if answer.error is not None and ended == "complete":
            ended = "broken"
        elif ended == "cancelled" and answer.finish is not None and answer.usage is not None:
            # Many clients disconnect as soon as they have the last event.
            ended = "complete"
        before = self.entry
        if before is not None and (before.ended, before.raw) == (ended, answer.raw_usage):
            return False
        self.entry = UsageEntry(
            id=self.id,
            at=self.at,
            session="" if self.conversation is None else str(self.conversation.ref),
            purpose=self._purpose if self.conversation is None else self.conversation.purpose,
            key_name=self.key_name,
            upstream=self.upstream,
            api=self.api.name,
            model=answer.model or self._model,
            status=self.status,
            ended=ended,
            usage=answer.usage,
            raw=answer.raw_usage,
            seconds=round(seconds, 6),
        )
        return True

    @property
    def _model(self) -> str:
        return "" if self.asked is None else self.asked.model

    def _release(self) -> bytes:
        held, self._held = b"".join(self._held), []
        return held
