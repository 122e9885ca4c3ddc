"""Reads logs of messages: one session in each record, or requests that repeat the conversation so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import msgspec

from seasoned.history.builder import SessionBuilder
from seasoned.history.coerce import first_of, identity, integer, kind_of, number, string, time_of
from seasoned.history.json_file import JsonValue, noting_unreadable, values
from seasoned.history.session_reader import SessionFormat
from seasoned.session import Session, SessionRef, Unreadable, Usage

_OPEN = 256  # conversations that are kept open, so that memory does not grow with the log
# Keys that name the conversation of a record, as different loggers write them.
_SESSION_KEYS = ("session_id", "sessionId", "conversation_id", "conversationId", "thread_id", "chat_id")
# Keys that name the record itself; used if no conversation is named.
_RECORD_KEYS = ("id", "uuid", "custom_id", "request_id", "instance_id", "task_id")


class MessageReader(Protocol):
    """Adds messages to a builder."""

    def add(self, message: object, *, where: str, place: int = 0, usage: Usage | None = None) -> None:
        """Add one message."""


class LoggedExchange(msgspec.Struct):
    """One record: the messages sent, the replies, and facts about them."""

    messages: list[Any] = []
    replies: list[Any] = []
    usage: Usage | None = None
    model: str | None = None


class LogStyle(msgspec.Struct, frozen=True):
    """How the messages of one provider are read."""

    name: str
    agent: str
    reader: Callable[[SessionBuilder], MessageReader]
    exchange: Callable[[dict[str, Any]], LoggedExchange | None]
    is_message: Callable[[object], bool]
    signature: Callable[[object], int]


class _LoggedConversation:
    """A session that may continue in a later record."""

    def __init__(self, builder: SessionBuilder, reader: MessageReader, number: int) -> None:
        self.number = number
        self.builder = builder
        self.reader = reader
        self.seen: Counter[int] = Counter()
        self.end = 0
        self.place = 0


class MessageLog:
    """Reads one file of messages, records, or requests with their responses."""

    def __init__(self, path: Path, style: LogStyle) -> None:
        self._path = path
        self._style = style
        self._open: dict[str, _LoggedConversation] = {}
        self._closed: set[str] = set()
        self._ends: dict[int, str] = {}

    def sessions(self) -> Iterator[Session]:
        """Every session of the file."""
        return SessionFormat(self._style.name, self._style.agent).sessions(self._path, self._parts())

    def _parts(self) -> Iterator[SessionBuilder | Unreadable]:
        for index, part in enumerate(values(self._path)):
            lost = part if isinstance(part, Unreadable) else self._take(part, index)
            if lost is not None and self._open:
                next(reversed(self._open.values())).builder.unreadable(lost.place, lost.reason)
            elif lost is not None:
                yield lost
            while len(self._open) > _OPEN:
                yield self._close(next(iter(self._open)))
        # In the order in which they began: every use of a conversation moves it to the end of the queue.
        for native in sorted(self._open, key=lambda name: self._open[name].number):
            yield self._close(native)

    def _take(self, part: JsonValue[Any], index: int) -> Unreadable | None:
        value = part.value
        try:
            if self._style.is_message(value):
                self._message(part, value)
                return None
            exchange = LoggedExchange(value) if isinstance(value, list) else self._exchange(value)
        except (RecursionError, OverflowError):
            return Unreadable(part.where, "nested too deeply")
        if exchange is None:
            return Unreadable(part.where, f"{kind_of(value)} that is neither a message nor holds messages")
        conversation = self._conversation(value if isinstance(value, dict) else {}, exchange, index)
        with noting_unreadable(conversation.builder, part.where):
            self._add(conversation, exchange, part)
        return None

    def _exchange(self, value: object) -> LoggedExchange | None:
        return self._style.exchange(value) if isinstance(value, dict) else None

    def _message(self, part: JsonValue[Any], message: dict[str, Any]) -> None:
        native = identity(first_of(message, *_SESSION_KEYS)) or self._path.stem
        conversation = self._again(native) or self._begin(native)
        with noting_unreadable(conversation.builder, part.where):
            conversation.reader.add(message, where=part.where, place=part.place)

    def _conversation(self, value: dict[str, Any], exchange: LoggedExchange, index: int) -> _LoggedConversation:
        session = identity(first_of(value, *_SESSION_KEYS))
        if session is not None:
            conversation = self._again(session) or self._begin(session)
        else:
            own = _record_id(value)
            # Without any id, a request belongs to the conversation whose messages it begins with.
            known = self._ends.get(self._longest(exchange)) if own is None else None
            native = known or f"{self._path.stem}/{own if own is not None else index}"
            conversation = (self._again(known) if known else None) or self._begin(native)
        _describe(conversation.builder, value, exchange)
        return conversation

    def _again(self, native: str) -> _LoggedConversation | None:
        """An open conversation, moved to the end of the queue for closing."""
        conversation = self._open.pop(native, None)
        if conversation is not None:
            self._open[native] = conversation
        return conversation

    def _begin(self, native: str) -> _LoggedConversation:
        unique, count = native, 1
        while unique in self._open or unique in self._closed:
            count += 1
            unique = f"{native}#{count}"
        builder = SessionBuilder(SessionRef(self._style.agent, unique), format=self._style.name, path=str(self._path))
        self._open[unique] = _LoggedConversation(
            builder, self._style.reader(builder), len(self._closed) + len(self._open)
        )
        return self._open[unique]

    def _close(self, native: str) -> SessionBuilder:
        conversation = self._open.pop(native)
        self._closed.add(native)
        self._ends.pop(conversation.end, None)
        return conversation.builder

    def _longest(self, exchange: LoggedExchange) -> int:
        """The hash of the longest earlier conversation that these messages continue."""
        found = end = 0
        try:
            for message in exchange.messages:
                mark = self._style.signature(message)
                end = hash((end, mark)) if mark else end
                if end in self._ends:
                    found = end
        except (RecursionError, OverflowError):
            return 0
        return found

    def _add(self, conversation: _LoggedConversation, exchange: LoggedExchange, part: JsonValue[Any]) -> None:
        """Add what is new in this record: requests repeat the earlier messages."""
        before: Counter[int] = Counter()
        self._ends.pop(conversation.end, None)
        end = 0
        for position, message in enumerate(exchange.messages + exchange.replies):
            where = f"{part.where}, message {position}"
            with noting_unreadable(conversation.builder, where):
                mark = self._style.signature(message)
                if not mark:
                    continue
                end = hash((end, mark))
                before[mark] += 1
                # Counted, not just seen: a user may say "yes" twice, and the second one is new.
                if before[mark] <= conversation.seen[mark]:
                    continue
                is_reply = position >= len(exchange.messages)
                usage = exchange.usage if is_reply and position == len(exchange.messages) else None
                conversation.reader.add(message, where=where, place=conversation.place, usage=usage)
                conversation.place += 1
        conversation.seen |= before
        conversation.end = end
        if len(exchange.messages) + len(exchange.replies) > 1:
            self._ends[end] = conversation.builder.ref.native_id


def read_log(path: Path, style: LogStyle) -> Iterator[Session]:
    """Every session of a log of messages."""
    return MessageLog(path, style).sessions()


def _record_id(value: dict[str, Any]) -> str | None:
    own = identity(first_of(value, *_RECORD_KEYS))
    trial = integer(value.get("trial"))
    return own if own is None or trial is None else f"{own}.{trial}"


def _describe(builder: SessionBuilder, value: dict[str, Any], exchange: LoggedExchange) -> None:
    """Copy what a record says about its session."""
    builder.model = exchange.model or builder.model
    builder.title = string(value.get("title")) or builder.title
    builder.cwd = string(value.get("cwd")) or builder.cwd
    builder.application = string(first_of(value, "application", "app", "service")) or builder.application
    with noting_unreadable(builder, "the record"):
        time = time_of(first_of(value, "timestamp", "created_at", "created", "time"))
        if time is not None:
            builder.seen_at(time)
    label = first_of(value, "resolved", "success", "reward")
    if isinstance(label, bool):
        builder.succeeded = label
    # A reward in between says how good it was, not whether it succeeded.
    elif (reward := number(label)) in (0.0, 1.0):
        builder.succeeded = reward == 1.0
