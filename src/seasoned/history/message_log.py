"""Logs whose records hold messages: a session a record, or the requests of one conversation, history and all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import msgspec

from seasoned.history.builder import SessionBuilder
from seasoned.history.coerce import first_of, identity, integer, kind_of, number, string, time_of
from seasoned.history.json_file import JsonValue, reading, spread, values
from seasoned.session import Session, SessionRef, Unreadable, Usage

_OPEN = 256
_SESSION_KEYS = ("session_id", "sessionId", "conversation_id", "conversationId", "thread_id", "chat_id")
_RECORD_KEYS = ("id", "uuid", "custom_id", "request_id", "instance_id", "task_id")


class MessageTeller(Protocol):
    """Tells a builder what messages say."""

    def tell(self, message: object, *, where: str, place: int = 0, usage: Usage | None = None) -> None:
        """One message."""


class LoggedExchange(msgspec.Struct):
    """What one record holds: messages, what was answered to them, and what is said about them."""

    messages: list[Any] = []
    replies: list[Any] = []
    usage: Usage | None = None
    model: str | None = None


class LogStyle(msgspec.Struct, frozen=True):
    """How the messages of one provider are told."""

    name: str
    agent: str
    teller: Callable[[SessionBuilder], MessageTeller]
    exchange: Callable[[dict[str, Any]], LoggedExchange | None]
    is_message: Callable[[object], bool]
    signature: Callable[[object], int]


class _OpenConversation:
    """A session that may go on in a later record."""

    def __init__(self, builder: SessionBuilder, teller: MessageTeller, number: int) -> None:
        self.number = number
        self.builder = builder
        self.teller = teller
        self.told: Counter[int] = Counter()
        self.end = 0
        self.place = 0


class MessageLog:
    """Reads one file of messages, records, or requests with their responses."""

    def __init__(self, path: Path, way: LogStyle) -> None:
        self._path = path
        self._way = way
        self._open: dict[str, _OpenConversation] = {}
        self._closed: set[str] = set()
        self._ends: dict[int, str] = {}

    def sessions(self) -> Iterator[Session]:
        """Every session of the file."""
        ref = SessionRef(self._way.agent, self._path.stem)
        yield from spread(self._parts(), ref, format=self._way.name, path=self._path)

    def _parts(self) -> Iterator[SessionBuilder | Unreadable]:
        for index, part in enumerate(values(self._path)):
            lost = part if isinstance(part, Unreadable) else self._take(part, index)
            if lost is not None and self._open:
                next(reversed(self._open.values())).builder.unreadable(lost.place, lost.reason)
            elif lost is not None:
                yield lost
            while len(self._open) > _OPEN:
                yield self._close(next(iter(self._open)))
        for native in sorted(self._open, key=lambda name: self._open[name].number):
            yield self._close(native)

    def _take(self, part: JsonValue[Any], index: int) -> Unreadable | None:
        value = part.value
        try:
            if self._way.is_message(value):
                self._message(part, value)
                return None
            exchange = LoggedExchange(value) if isinstance(value, list) else self._exchange(value)
        except (RecursionError, OverflowError):
            return Unreadable(part.where, "nested too deeply")
        if exchange is None:
            return Unreadable(part.where, f"{kind_of(value)} that is neither a message nor holds messages")
        conversation = self._conversation(value if isinstance(value, dict) else {}, exchange, index)
        with reading(conversation.builder, part.where):
            self._tell(conversation, exchange, part)
        return None

    def _exchange(self, value: object) -> LoggedExchange | None:
        return self._way.exchange(value) if isinstance(value, dict) else None

    def _message(self, part: JsonValue[Any], message: dict[str, Any]) -> None:
        native = identity(first_of(message, *_SESSION_KEYS)) or self._path.stem
        conversation = self._again(native) or self._begin(native)
        with reading(conversation.builder, part.where):
            conversation.teller.tell(message, where=part.where, place=part.place)

    def _conversation(self, value: dict[str, Any], exchange: LoggedExchange, index: int) -> _OpenConversation:
        session = identity(first_of(value, *_SESSION_KEYS))
        if session is not None:
            conversation = self._again(session) or self._begin(session)
        else:
            own = _record_id(value)
            known = self._ends.get(self._longest(exchange)) if own is None else None
            native = known or f"{self._path.stem}/{own if own is not None else index}"
            conversation = (self._again(known) if known else None) or self._begin(native)
        _describe(conversation.builder, value, exchange)
        return conversation

    def _again(self, native: str) -> _OpenConversation | None:
        """An open conversation, which is then the last to be closed."""
        conversation = self._open.pop(native, None)
        if conversation is not None:
            self._open[native] = conversation
        return conversation

    def _begin(self, native: str) -> _OpenConversation:
        unique, count = native, 1
        while unique in self._open or unique in self._closed:
            count += 1
            unique = f"{native}#{count}"
        builder = SessionBuilder(SessionRef(self._way.agent, unique), format=self._way.name, path=str(self._path))
        self._open[unique] = _OpenConversation(builder, self._way.teller(builder), len(self._closed) + len(self._open))
        return self._open[unique]

    def _close(self, native: str) -> SessionBuilder:
        conversation = self._open.pop(native)
        self._closed.add(native)
        self._ends.pop(conversation.end, None)
        return conversation.builder

    def _longest(self, exchange: LoggedExchange) -> int:
        """The end of the longest earlier conversation that these messages go on from."""
        found = end = 0
        try:
            for message in exchange.messages:
                mark = self._way.signature(message)
                end = hash((end, mark)) if mark else end
                if end in self._ends:
                    found = end
        except (RecursionError, OverflowError):
            return 0
        return found

    def _tell(self, conversation: _OpenConversation, exchange: LoggedExchange, part: JsonValue[Any]) -> None:
        """What this record adds: requests repeat what was said before, and that is told once."""
        before: Counter[int] = Counter()
        self._ends.pop(conversation.end, None)
        end = 0
        for position, message in enumerate(exchange.messages + exchange.replies):
            where = f"{part.where}, message {position}"
            with reading(conversation.builder, where):
                mark = self._way.signature(message)
                if not mark:
                    continue
                end = hash((end, mark))
                before[mark] += 1
                if before[mark] <= conversation.told[mark]:
                    continue
                is_reply = position >= len(exchange.messages)
                usage = exchange.usage if is_reply and position == len(exchange.messages) else None
                conversation.teller.tell(message, where=where, place=conversation.place, usage=usage)
                conversation.place += 1
        conversation.told |= before
        conversation.end = end
        if len(exchange.messages) + len(exchange.replies) > 1:
            self._ends[end] = conversation.builder.ref.native_id


def read_log(path: Path, way: LogStyle) -> Iterator[Session]:
    """Every session of a log of messages."""
    return MessageLog(path, way).sessions()


def _record_id(value: dict[str, Any]) -> str | None:
    own = identity(first_of(value, *_RECORD_KEYS))
    trial = integer(value.get("trial"))
    return own if own is None or trial is None else f"{own}.{trial}"


def _describe(builder: SessionBuilder, value: dict[str, Any], exchange: LoggedExchange) -> None:
    """What a record says about its session as a whole."""
    builder.model = exchange.model or builder.model
    builder.title = string(value.get("title")) or builder.title
    builder.cwd = string(value.get("cwd")) or builder.cwd
    with reading(builder, "the record"):
        time = time_of(first_of(value, "timestamp", "created_at", "created", "time"))
        if time is not None:
            builder.seen_at(time)
    label = first_of(value, "resolved", "success", "reward")
    if isinstance(label, bool):
        builder.succeeded = label
    elif (reward := number(label)) in (0.0, 1.0):
        builder.succeeded = reward == 1.0
