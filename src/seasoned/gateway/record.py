"""Recording: exchanges become sessions in the store, redacted, each message once, judged as they grow."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec

from seasoned.agent.record import About, Recorded, Recorder
from seasoned.gateway.exchange import Exchange
from seasoned.gateway.fold import Known, News, expect_summary, fold
from seasoned.history.builder import Builder
from seasoned.history.seasoned_db import NAME, read_message
from seasoned.redact.key import Secrecy
from seasoned.session import Message, Result, ToolCall
from seasoned.store import Store
from seasoned.template.library import current
from seasoned.template.upkeep import watch

PLATFORM = "gateway"
_MOST_OPEN = 200
_encode = msgspec.json.Encoder().encode
_decode_known = msgspec.json.Decoder(Known).decode


class _Open:
    """A conversation that is being written: its recorder, its length, and what is known of it."""

    def __init__(self, recorder: Recorder, position: int, known: Known) -> None:
        self.recorder = recorder
        self.position = position
        self.known = known


class Archive:
    """Writes conversations into one store. It belongs to one thread, as the store does."""

    def __init__(self, store: Store, secrecy: Secrecy, *, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._secrecy = secrecy
        self._clock = clock
        self._open: OrderedDict[str, _Open] = OrderedDict()

    def write(self, exchange: Exchange) -> None:
        """Add what an exchange brought to its conversation."""
        talk, asked = exchange.talk, exchange.asked
        if talk is None or asked is None:
            return
        session = str(talk.ref)
        one = self._find(exchange)
        if talk.purpose == "compaction":
            one.known = expect_summary(one.known)
            self._keep(session, exchange, one)
            return
        is_whole = exchange.entry is not None and exchange.entry.ended == "complete"
        # Of an answer that broke off nobody knows how much the client took up; the next request says it.
        answer = exchange.answer if is_whole else None
        known, news = fold(one.known, asked, answer, key=self._secrecy.key)
        self._write_news(one, exchange, news)
        one.known = known
        self._keep(session, exchange, one)
        if answer is not None and answer.id is not None and exchange.api.name == "responses":
            chain = {"response_id": answer.id, "session": session, "at": self._clock()}
            with self._store.write():
                self._store.run("gateway.keep_chain", chain)

    def guard(self, *, now: float) -> list[str]:
        """Look what the examples that were shown came to; what was decided, in words."""
        library = current(self._store, now=now)
        if not library.templates:
            return []
        rulings = watch(self._store, library, now=now)
        return [f"example {one.example_id}: {one.decision}, {one.reason}" for one in rulings]

    def close(self) -> None:
        self._open.clear()
        self._store.close()

    def _write_news(self, one: _Open, exchange: Exchange, news: News) -> None:
        seconds = 0.0 if exchange.entry is None else exchange.entry.seconds
        tools = {call.id: call.tool for message in exchange.asked.messages for call in message.calls}  # type: ignore[union-attr]
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

    def _find(self, exchange: Exchange) -> _Open:
        talk, asked = exchange.talk, exchange.asked
        assert talk is not None
        assert asked is not None
        session = str(talk.ref)
        found = self._open.get(session)
        if found is None:
            about = About(
                ref=talk.ref,
                model=asked.model,
                instructions=asked.system,
                platform=PLATFORM,
                toolsets=asked.tool_names,
                parent=talk.parent,
                relation=talk.relation,
            )
            found = self._take_up(about)
            self._open[session] = found
            if len(self._open) > _MOST_OPEN:
                self._open.popitem(last=False)
        self._open.move_to_end(session)
        return found

    def _take_up(self, about: About) -> _Open:
        recorder = Recorder(self._store, self._secrecy, about, clock=self._clock)
        recorded = load(self._store, about)
        if recorded is None:
            return _Open(recorder, 0, Known())
        recorder.take_up(recorded)
        row = self._store.row("gateway.view", {"session": str(about.ref)})
        known = Known() if row is None else _decode_known(row["known"])
        return _Open(recorder, len(recorded.bodies), known)

    def _keep(self, session: str, exchange: Exchange, one: _Open) -> None:
        known = _encode(one.known).decode()
        with self._store.write():
            self._store.run(
                "gateway.keep_view",
                {"session": session, "owner": exchange.key_name, "known": known, "at": self._clock()},
            )


def load(store: Store, about: About) -> Recorded | None:
    """A conversation as far as it was recorded; None where it is new."""
    row = store.row("session.find_ref", {"agent": about.ref.agent, "native_id": about.ref.native_id})
    if row is None:
        return None
    builder = Builder(about.ref, format=NAME, path=store.path)
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
    return Recorded(about=about, bodies=tuple(bodies), carry=builder.carry(), title=title)


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


def _answered(message: Message, exchange: Exchange, at: float) -> dict[str, Any]:
    body = _said(message, {}, {}, at) | {"model_name": message.model}
    usage = None if exchange.entry is None else exchange.entry.usage
    if usage is not None:
        figures = {
            "input_tokens": usage.input,
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
