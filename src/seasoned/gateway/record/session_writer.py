"""Writes exchanges as sessions into the store: what is new in each request, redacted, once, judged as it grows."""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, NamedTuple

import msgspec

from seasoned.gateway.proxy.exchange import FinishedExchange
from seasoned.gateway.record.conversations import ref_apart
from seasoned.gateway.record.example_watch import ExampleWatch
from seasoned.gateway.wire.request import ApiRequest, ApiResponse
from seasoned.redact.key import Secrecy
from seasoned.runner.record import ConversationInfo, Recorder
from seasoned.scan.store_writer import update_aggregates
from seasoned.session import Message, Result, SessionRef, ToolCall
from seasoned.store import Database, Store

_CALL = "c"
_RESULT = "r"
_ASSISTANT = "a"
_KINDS = {"user": "u", "system": "s", "assistant": _ASSISTANT}
_SUMMARY_OPENINGS = (
    "This session is being continued from a previous conversation",
    "Another language model started to solve this problem",
    "[CONTEXT COMPACTION",
    "[CONTEXT SUMMARY",
)


class KnownConversation(msgspec.Struct, frozen=True):
    """What is known of a conversation: only digests, so it can be stored although texts are redacted."""

    # How often each piece was in one request, or said in answers.
    seen: dict[str, int] = {}
    # How the last answer ended; empty if it broke off, so that it is unknown how much of it the client kept.
    last: str = ""
    answers: int = 0
    # Whether the last request asked for a summary, with which the next turn may begin.
    is_compacting: bool = False


class NewMessages(msgspec.Struct, frozen=True, kw_only=True):
    """What a request and its answer added to a conversation."""

    asked: tuple[Message, ...] = ()
    answered: tuple[Message, ...] = ()
    # The results of the `tool` messages among them.
    results: dict[str, Result] = {}


class _ConversationPiece(NamedTuple):
    """One text, call or result, each of which can be new by itself."""

    key: str
    # The index of its message, and for a call its position there.
    place: tuple[int, int | None]


def find_new_messages(
    known: KnownConversation, asked: ApiRequest, answer: ApiResponse | None = None, *, key: bytes = b""
) -> tuple[KnownConversation, NewMessages]:
    """The conversation after one exchange, and what the exchange added. `key` makes the digests useless elsewhere.

    New is what is in the request more often than ever before, and what follows the last answer.
    """
    # The provider keeps what was said: the same words in another turn are new, those of a repeated request are not.
    turn = asked.previous_response_id or ("" if asked.conversation is None else f"turn {known.answers}")
    pieces = _pieces(asked.messages, key, turn)
    counts: Counter[str] = Counter()
    begin = _after_answer(known, [piece.key for piece in pieces])
    new = []
    for at, piece in enumerate(pieces):
        counts[piece.key] += 1
        follows = at >= begin and not piece.key.startswith((_CALL, _RESULT))
        # The model's words were recorded when it said them; other words in their place are the client's rendering.
        is_rendering = bool(known.last) and piece.key.startswith(_ASSISTANT)
        if (follows or counts[piece.key] > known.seen.get(piece.key, 0)) and not is_rendering:
            new.append(piece)
    said = _keep_new(asked.messages, new)
    is_gone = any(count > counts[piece] for piece, count in known.seen.items())
    is_compacted = is_gone and not turn and _is_summarised(known, said)
    # What a summary replaced does not come back: the same id again is a new call.
    seen = counts if is_compacted else Counter(known.seen) | counts
    reply = () if answer is None else _with_own_ids(answer, asked)
    replied = [piece.key for piece in _pieces(reply, key, "")]
    seen.update(replied)
    last = replied[-1] if replied else ""
    after = KnownConversation(dict(seen), last, known.answers + bool(replied))
    news = NewMessages(
        asked=_mark_summary(said) if is_compacted else said,
        answered=reply,
        results={one.answers: asked.results[one.answers] for one in said if one.answers in asked.results},
    )
    return after, news


def _after_answer(known: KnownConversation, keys: list[str]) -> int:
    """The position behind the last answer; the end where the request does not hold it, as when it is sent again."""
    if not known.last or keys.count(known.last) < known.seen[known.last]:
        return len(keys)
    return len(keys) - keys[::-1].index(known.last)


def expect_summary(known: KnownConversation) -> KnownConversation:
    """Note a request for a summary. It is not a turn itself, but the next turn may begin with its answer."""
    return msgspec.structs.replace(known, is_compacting=True)


def _pieces(messages: tuple[Message, ...], key: bytes, turn: str) -> list[_ConversationPiece]:
    """The texts, calls and results of messages, without those of a warm start; texts belong to their turn."""
    found: list[tuple[str, str, tuple[int, int | None]]] = []
    for at, message in enumerate(messages):
        if message.synthetic:
            continue
        if message.role == "tool":
            found.append((_RESULT, message.answers or "", (at, None)))
            continue
        # Clients trim what they repeat.
        if text := " ".join(message.text.split()):
            found.append((_KINDS[message.role], f"{turn}\0{text}" if turn else text, (at, None)))
        found += [(_CALL, call.id, (at, position)) for position, call in enumerate(message.calls)]
    return [_ConversationPiece(kind + _digest(key, kind, text), place) for kind, text, place in found]


def _keep_new(messages: tuple[Message, ...], new: list[_ConversationPiece]) -> tuple[Message, ...]:
    """The messages reduced to what is new."""
    places = {piece.place for piece in new}
    found = []
    for at in sorted({at for at, _ in places}):
        message = messages[at]
        calls = tuple([call for position, call in enumerate(message.calls) if (at, position) in places])
        text = message.text if (at, None) in places else ""
        found.append(msgspec.structs.replace(message, text=text, calls=calls))
    return tuple(found)


def _with_own_ids(answer: ApiResponse, asked: ApiRequest) -> tuple[Message, ...]:
    """The answer with unique call ids: some providers restart counting in every answer."""
    taken = {call.id for message in asked.messages for call in message.calls}
    calls = []
    for call in answer.calls:
        name, count = call.id, 1
        while name in taken:
            count += 1
            name = f"{call.id}#{count}"
        taken.add(name)
        calls.append(msgspec.structs.replace(call, id=name))
    return msgspec.structs.replace(answer, calls=tuple(calls)).messages


def _is_summarised(known: KnownConversation, said: tuple[Message, ...]) -> bool:
    prompts = [message.text for message in said if message.role in ("user", "system")]
    return bool(prompts) and (known.is_compacting or any(text.startswith(_SUMMARY_OPENINGS) for text in prompts))


def _mark_summary(said: tuple[Message, ...]) -> tuple[Message, ...]:
    """The same with the summary marked: the message that opens as one, else the first prompt."""
    prompts = [at for at, message in enumerate(said) if message.role in ("user", "system")]
    at = next((at for at in prompts if said[at].text.startswith(_SUMMARY_OPENINGS)), prompts[0])
    return (*said[:at], msgspec.structs.replace(said[at], summary=True), *said[at + 1 :])


def _digest(key: bytes, *parts: str) -> str:
    told = "".join([f"{len(part)}:{part}" for part in parts])
    return blake2b(told.encode("utf-8", "surrogatepass"), key=key[:64], digest_size=12).hexdigest()


# A conversation that is dropped from memory is read from the store again when it goes on.
_MOST_OPEN = 200
_encode = msgspec.json.Encoder().encode
_decode_known = msgspec.json.Decoder(KnownConversation).decode


class _OpenConversation:
    """A conversation that is being written: its recorder, its length, what is known of it, and its owner."""

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
                # Their state may not be in the store, so they are read from it again.
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
        self._keep_chain(session, exchange, answer)

    def _keep_chain(self, session: str, exchange: FinishedExchange, answer: ApiResponse | None) -> None:
        """The id of an answer, which a later request may name in place of the conversation, also after a restart."""
        if answer is not None and answer.id is not None and exchange.asked.api == "responses":
            key = {"response_id": answer.id, "session": session, "at": self._clock()}
            self._store.run("gateway.keep_chain", key)

    def guard(self, database: Database, *, now: float) -> Iterator[str]:
        """Check the shown examples; returns a sentence for each decision."""
        return self._watch.look(self._store, database, now=now)

    def close(self) -> None:
        self._open.clear()
        self._store.close()

    def _write_news(self, one: _OpenConversation, exchange: FinishedExchange, news: NewMessages) -> None:
        seconds = 0.0 if exchange.entry is None else exchange.entry.seconds
        tools = {call.id: call.tool for message in exchange.asked.messages for call in message.calls}
        asked = [_message_body(message, news.results, tools, exchange.at) for message in news.asked]
        answered = [_answer_body(message, exchange, exchange.at + seconds) for message in news.answered]
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
        one = self._open_conversation(exchange.conversation.ref, exchange)
        if one.owner == exchange.key_name:
            return one
        return self._open_conversation(ref_apart(exchange.conversation.ref, exchange.key_name), exchange)

    def _open_conversation(self, ref: SessionRef, exchange: FinishedExchange) -> _OpenConversation:
        asked, conversation, session = exchange.asked, exchange.conversation, str(ref)
        found = self._open.get(session)
        if found is None:
            about = ConversationInfo(
                ref=ref,
                model=asked.model,
                application=exchange.key_name or None,
                parent=conversation.parent,
                relation=conversation.relation,
            )
            found = self._take_up(about, exchange.key_name)
            self._open[session] = found
        self._open.move_to_end(session)
        return found

    def _take_up(self, about: ConversationInfo, owner: str) -> _OpenConversation:
        recorder = Recorder(self._store, self._secrecy, about, clock=self._clock, unsettled=self._unsettled)
        position = recorder.take_up()
        row = self._store.row("gateway.view", {"session": str(about.ref)})
        held = owner if row is None else row["owner"]
        known = _decode_known(row["known"]) if row is not None and position else KnownConversation()
        return _OpenConversation(recorder, position, known, held)

    def _keep(self, session: str, one: _OpenConversation) -> None:
        view = {"session": session, "owner": one.owner, "known": _encode(one.known).decode(), "at": self._clock()}
        self._store.run("gateway.keep_view", view)


def _message_body(message: Message, results: dict[str, Result], tools: dict[str, str], at: float) -> dict[str, Any]:
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


def _answer_body(message: Message, exchange: FinishedExchange, at: float) -> dict[str, Any]:
    body = _message_body(message, {}, {}, at) | {"model_name": message.model}
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
