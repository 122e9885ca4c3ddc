"""Writes exchanges as sessions into the store: redacted, each message once, judged as they grow."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from seasoned.agent.loop.record import ConversationInfo, RecordedConversation, Recorder
from seasoned.gateway.proxy.exchange import FinishedExchange
from seasoned.gateway.record.conversations import ref_apart
from seasoned.gateway.record.example_watch import ExampleWatch
from seasoned.gateway.record.new_messages import KnownConversation, NewMessages, expect_summary, find_new_messages
from seasoned.history.builder import SessionBuilder
from seasoned.history.reader.seasoned_db import NAME, read_message
from seasoned.redact.key import Secrecy
from seasoned.scan.aggregates import update_aggregates
from seasoned.session import Message, Result, SessionRef, ToolCall
from seasoned.store import Database, Store

PLATFORM = "gateway"
# What is dropped is read from the store again when its conversation goes on.
_MOST_OPEN = 200
_encode = msgspec.json.Encoder().encode
_decode_known = msgspec.json.Decoder(KnownConversation).decode


class _OpenConversation:
    """A conversation that is being written: its recorder, its length, what is known of it, and whose it is."""

    def __init__(self, recorder: Recorder, position: int, known: KnownConversation, owner: str) -> None:
        self.recorder = recorder
        self.position = position
        self.known = known
        self.owner = owner


class SessionWriter:
    """Writes conversations into one store. Used by one thread only, like the store."""

    def __init__(
        self,
        store: Store,
        secrecy: Secrecy,
        *,
        watch: ExampleWatch | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._secrecy = secrecy
        self._watch = watch or ExampleWatch()
        self._clock = clock
        self._open: OrderedDict[str, _OpenConversation] = OrderedDict()
        self._unsettled: set[int] = set()

    def write(self, exchanges: Sequence[FinishedExchange]) -> None:
        """Add exchanges to their conversations, all of them or none."""
        grown: dict[str, _OpenConversation] = {}
        is_written = False
        try:
            # Messages and what is known of them are stored together: otherwise the next request would add them again.
            with self._store.together():
                for exchange in exchanges:
                    one = self._find(exchange)
                    session = str(one.recorder.about.ref)
                    grown[session] = one
                    self._add(session, one, exchange)
                for session, one in grown.items():
                    self._keep(session, one)
                update_aggregates(self._store, self._unsettled)
            is_written = True
        finally:
            self._unsettled.clear()
            if not is_written:
                # What they know may not be in the store; they are read from it again.
                self._open.clear()
            while len(self._open) > _MOST_OPEN:
                self._open.popitem(last=False)

    def _add(self, session: str, one: _OpenConversation, exchange: FinishedExchange) -> None:
        # The request that asks for a summary is not a turn; the summary itself comes with the next request.
        if exchange.conversation.purpose == "compaction":
            one.known = expect_summary(one.known)
            return
        is_whole = exchange.entry is not None and exchange.entry.ended == "complete"
        # How much of a broken-off answer the client kept is unknown until its next request.
        answer = exchange.answer if is_whole else None
        known, news = find_new_messages(one.known, exchange.asked, answer, key=self._secrecy.key)
        self._write_news(one, exchange, news)
        one.known = known
        if any(message.role == "tool" for message in news.asked):
            self._watch.add(session)
        if answer is not None and answer.id is not None and exchange.asked.api == "responses":
            chain = {"response_id": answer.id, "session": session, "at": self._clock()}
            self._store.run("gateway.keep_chain", chain)

    def guard(self, database: Database, *, now: float) -> list[str]:
        """Check the shown examples; returns a sentence for each decision."""
        return self._watch.look(self._store, database, now=now)

    def close(self) -> None:
        self._open.clear()
        self._store.close()

    def _write_news(self, one: _OpenConversation, exchange: FinishedExchange, news: NewMessages) -> None:
        seconds = 0.0 if exchange.entry is None else exchange.entry.seconds
        tools = {call.id: call.tool for message in exchange.asked.messages for call in message.calls}
        asked = [_said(message, news.results, tools, exchange.at) for message in news.asked]
        answered = [_answered(message, exchange, exchange.at + seconds) for message in news.answered]
        bodies = [*asked, *answered]
        if not bodies:
            return
        first = next((at for at, message in enumerate(news.asked) if message.summary), None)
        turn_ends = bool(answered) and not any(message.calls for message in news.answered)
        if first is None:
            one.recorder.write(one.position, bodies, turn_ends=turn_ends)
        else:
            if first:
                one.recorder.write(one.position, bodies[:first])
            one.recorder.write(one.position + first, bodies[first:], summary=True, turn_ends=turn_ends)
        one.position += len(bodies)

    def _find(self, exchange: FinishedExchange) -> _OpenConversation:
        """The conversation of an exchange; the store knows the owner even if the event loop has forgotten it."""
        one = self._opened(exchange.conversation.ref, exchange)
        if one.owner == exchange.key_name:
            return one
        return self._opened(ref_apart(exchange.conversation.ref, exchange.key_name), exchange)

    def _opened(self, ref: SessionRef, exchange: FinishedExchange) -> _OpenConversation:
        asked, conversation, session = exchange.asked, exchange.conversation, str(ref)
        found = self._open.get(session)
        if found is None:
            about = ConversationInfo(
                ref=ref,
                model=asked.model,
                instructions=asked.system,
                platform=PLATFORM,
                application=exchange.key_name or None,
                toolsets=asked.tool_names,
                parent=conversation.parent,
                relation=conversation.relation,
            )
            found = self._take_up(about, exchange.key_name)
            self._open[session] = found
        self._open.move_to_end(session)
        return found

    def _take_up(self, about: ConversationInfo, owner: str) -> _OpenConversation:
        recorder = Recorder(self._store, self._secrecy, about, clock=self._clock, unsettled=self._unsettled)
        recorded = load(self._store, about)
        row = self._store.row("gateway.view", {"session": str(about.ref)})
        held = owner if row is None else row["owner"]
        if recorded is None:
            return _OpenConversation(recorder, 0, KnownConversation(), held)
        recorder.take_up(recorded)
        known = KnownConversation() if row is None else _decode_known(row["known"])
        return _OpenConversation(recorder, len(recorded.bodies), known, held)

    def _keep(self, session: str, one: _OpenConversation) -> None:
        view = {"session": session, "owner": one.owner, "known": _encode(one.known).decode(), "at": self._clock()}
        self._store.run("gateway.keep_view", view)


def load(store: Store, about: ConversationInfo) -> RecordedConversation | None:
    """A conversation as recorded so far; None if it is new."""
    row = store.row("session.find_ref", {"agent": about.ref.agent, "native_id": about.ref.native_id})
    if row is None:
        return None
    builder = SessionBuilder(about.ref, format=NAME, path=store.path)
    bodies = []
    for message in store.rows("message.of_session", {"session_id": row["id"]}):
        body = msgspec.json.decode(message["body"])
        bodies.append(body)
        read_message(builder, body, place=message["position"], summary=bool(message["summary"]))
    if not bodies:
        return None
    builder.take()
    track = store.row("session.track", {"id": row["id"]})
    title = None if track is None else track["title"]
    return RecordedConversation(about=about, bodies=tuple(bodies), carry=builder.carry(), title=title)


def _said(message: Message, results: dict[str, Result], tools: dict[str, str], at: float) -> dict[str, Any]:
    if message.role == "assistant":
        return {"kind": "response", "timestamp": _time(at), "parts": _parts(message)}
    part: dict[str, Any] = {"part_kind": "user-prompt", "content": message.text}
    if message.role == "system":
        part = {"part_kind": "system-prompt", "content": message.text}
    elif message.role == "tool":
        call_id = message.answers or ""
        result = results.get(call_id)
        has_failed = result is not None and result.marks.failed
        part = {"part_kind": "tool-return", "tool_call_id": call_id, "tool_name": tools.get(call_id, "")}
        part |= {"content": message.text, "outcome": "failed" if has_failed else "success"}
    return {"kind": "request", "timestamp": _time(at), "parts": [part]}


def _answered(message: Message, exchange: FinishedExchange, at: float) -> dict[str, Any]:
    body = _said(message, {}, {}, at) | {"model_name": message.model}
    usage = None if exchange.entry is None else exchange.entry.usage
    if usage is not None:
        figures = {
            # The bodies of our own agent have the whole prompt here.
            "input_tokens": usage.prompt,
            "output_tokens": usage.output,
            "cache_read_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
            "output_reasoning_tokens": usage.reasoning,
        }
        body["usage"] = {name: figure for name, figure in figures.items() if figure is not None}
    return body


def _parts(message: Message) -> list[dict[str, Any]]:
    words = [{"part_kind": "text", "content": message.text}] if message.text else []
    return [*words, *map(_call, message.calls)]


def _call(call: ToolCall) -> dict[str, Any]:
    return {"part_kind": "tool-call", "tool_name": call.tool, "tool_call_id": call.id, "args": call.arguments}


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat()
