"""Recording: what was said goes into the store as a session, redacted."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import msgspec

from seasoned.errors import SeasonedError
from seasoned.history.builder import ReadState, SessionBuilder
from seasoned.history.coerce import time_of
from seasoned.history.reader.seasoned_db import AGENT, NAME, cost_of, read_message, total_cost
from seasoned.redact.key import Secrecy
from seasoned.redact.redactor import Redactor
from seasoned.scan.file_reader import FileReader
from seasoned.scan.intent import SpokenCall
from seasoned.scan.rows import Batch, CallRow
from seasoned.scan.store_writer import StoreWriter, update_aggregates
from seasoned.session import Relation, SessionRef
from seasoned.store import Store, open_store

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

Body = dict[str, Any]
_MESSAGE_FIELDS = ("kind", "timestamp", "usage", "model_name", "provider_name", "finish_reason", "state")
# Fields without user text. Provider ids, signatures and instructions are left out.
_PART_FIELDS = ("part_kind", "timestamp", "tool_name", "tool_call_id", "outcome")


def body_of(message: ModelMessage) -> Body:
    """A message of the agent library as JSON values, not yet redacted."""
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    body: Body = ModelMessagesTypeAdapter.dump_python([message], mode="json")[0]
    kept = {name: body[name] for name in _MESSAGE_FIELDS if body.get(name) is not None}
    kept["parts"] = [_part(part) for part in body["parts"]]
    return kept


def redacted(body: Mapping[str, Any], redactor: Redactor) -> Body:
    """The body without secrets. Only texts are redacted: a call whose id changed would lose its result."""
    return {**body, "parts": [_redacted_part(part, redactor) for part in body["parts"]]}


def _part(part: Mapping[str, Any]) -> Body:
    kept = {name: part[name] for name in _PART_FIELDS if part.get(name) is not None}
    return kept | {name: part[name] for name in ("content", "args") if name in part}


def _redacted_part(part: Mapping[str, Any], redactor: Redactor) -> Body:
    done = dict(part)
    if "content" in part:
        done["content"] = redactor.value(part["content"])
    if isinstance(args := part.get("args"), str):
        done["args"] = _redacted_json(args, redactor)
    elif args is not None:
        done["args"] = redactor.value(args)
    return done


def _redacted_json(text: str, redactor: Redactor) -> str:
    """Arguments are JSON in a text: the names of values say which of them are secret."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return redactor.text(text)
    cleaned = redactor.value(value)
    # Without a secret the text stays as it was: encoding it again could change it.
    return text if cleaned == value else msgspec.json.encode(cleaned).decode()


_TITLE_CHARS = 80
_encode = msgspec.json.Encoder().encode


def new_ref(clock: Callable[[], float] = time.time) -> SessionRef:
    """A new session of Seasoned. Its id begins with the time, so that ids sort as sessions began (RFC 9562, v7)."""
    number = int(clock() * 1000) << 80 | secrets.randbits(80)
    number = number & ~(0xF << 76) | 0x7 << 76
    number = number & ~(0x3 << 62) | 0x2 << 62
    return SessionRef(AGENT, str(UUID(int=number)))


class ConversationInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a conversation before its first message."""

    ref: SessionRef
    model: str
    cwd: str | None = None
    # What a conversation without a folder belongs to, such as the name of a gateway key.
    application: str | None = None
    parent: SessionRef | None = None
    relation: Relation | None = None
    # Of the session that it continues; else it is made of the first words.
    title: str | None = None


class _TurnReader(FileReader):
    """Judges each call of a turn once, although the turn is read again with each of its messages."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__(redactor)
        self._judged: dict[int, tuple[SpokenCall, CallRow]] = {}

    def forget(self) -> None:
        """Drop the verdicts of a turn that is over."""
        self._judged.clear()

    def call_rows(self, calls: list[SpokenCall], agent: str) -> list[CallRow]:
        known = self._judged
        new = [one for one in calls if one.call.index not in known or known[one.call.index][0] != one]
        known.update((one.call.index, (one, row)) for one, row in zip(new, super().call_rows(new, agent), strict=True))
        return [known[one.call.index][1] for one in calls]


class Recorder:
    """Writes one conversation. It belongs to one thread, like its store."""

    def __init__(
        self,
        store: Store,
        secrecy: Secrecy,
        about: ConversationInfo,
        *,
        clock: Callable[[], float] = time.time,
        unsettled: set[int],
    ) -> None:
        """`unsettled` collects sessions whose turns ended, for a caller that settles many conversations at once."""
        self.about = about
        self._unsettled = unsettled
        self._store = store
        self._clock = clock
        self._reader = _TurnReader(secrecy.redactor())
        self._saved: dict[int, CallRow] = {}
        self._writer = StoreWriter(store, clock)
        self._carry = ReadState()
        # What each request cost: a price is looked up once.
        self._costs: list[float | None] = []
        self._turn: list[tuple[int, Body]] = []
        self._summaries: set[int] = set()
        self.title = about.title

    def take_up(self) -> int:
        """Continue where the store has this conversation end; how many messages it has there."""
        row = self._store.row(
            "session.find_ref", {"agent": self.about.ref.agent, "native_id": self.about.ref.native_id}
        )
        if row is None:
            return 0
        builder = SessionBuilder(self.about.ref, format=NAME, path=self._store.path)
        stored = self._store.rows("message.of_session", {"session_id": row["id"]})
        for message in stored:
            body = msgspec.json.decode(message["body"])
            self._costs += [cost_of(body)] if "usage" in body else []
            read_message(builder, body, place=message["position"], summary=bool(message["summary"]))
        builder.take()
        self._carry = builder.carry()
        track = self._store.row("session.track", {"id": row["id"]}) if stored else None
        self.title = self.title if track is None else track["title"]
        return len(stored)

    def write(self, position: int, bodies: Sequence[Body], *, summary: bool = False, turn_ends: bool = False) -> None:
        """Write the messages that follow, the first of them at a position."""
        new = [(position + at, redacted(body, self._reader.redactor)) for at, body in enumerate(bodies)]
        if summary and new:
            self._summaries.add(position)
        self._turn += new
        self._costs += [cost_of(body) for _, body in new if "usage" in body]
        if new:
            self._save(new)
        if turn_ends:
            self._end_turn()

    def _save(self, new: Sequence[tuple[int, Body]]) -> None:
        rows = self._reader.rows(self._read_turn().so_far())
        # Calls that the store already has would only be written again.
        news = [call for call in rows.calls if self._saved.get(call.position) != call]
        with self._store.write():
            session_id = self._writer.write_session(msgspec.structs.replace(rows, calls=news), self._source())
            if session_id is None:
                return
            self._store.run_many(
                "message.save",
                [
                    (session_id, position, _time(body), int(position in self._summaries), _encode(body).decode())
                    for position, body in new
                ],
            )
        self._saved |= {call.position: call for call in news}

    def _read_turn(self) -> SessionBuilder:
        """The turn so far, read as the history reader would: the intent of a call comes from the start of its turn."""
        about = self.about
        builder = SessionBuilder(about.ref, format=NAME, path=self._store.path, carry=self._carry)
        builder.application, builder.cwd, builder.model = about.application, about.cwd, about.model
        builder.parent, builder.relation = about.parent, about.relation
        for position, body in self._turn:
            self.title = self.title or _title(body)
            read_message(builder, body, place=position, summary=position in self._summaries)
        builder.title, builder.cost_usd = self.title, total_cost(self._costs)
        return builder

    def _end_turn(self) -> None:
        builder = self._read_turn()
        builder.take()
        self._carry = builder.carry()
        self._turn = []
        self._saved.clear()
        self._reader.forget()
        self._unsettled |= self._writer.touched

    def _source(self) -> int:
        # For its own conversations the store is the source; it never counts as completely read.
        batch = Batch(self._store.path, "seasoned_db", -1, 0, [], [], done=False)
        return self._writer.write_source(batch)


def record_conversation(
    path: Path, secrecy: Secrecy, about: ConversationInfo, messages: Sequence[ModelMessage], *, ended: str | None = None
) -> str | None:
    """Write a conversation that is over, and why it was stopped; a sentence if that was not possible."""
    unsettled: set[int] = set()
    try:
        with open_store(path) as store:
            Recorder(store, secrecy, about, unsettled=unsettled).write(0, [*map(body_of, messages)], turn_ends=True)
            update_aggregates(store, unsettled)
            with store.write():
                row = store.row("session.find_ref", {"agent": AGENT, "native_id": about.ref.native_id})
                if row is not None and ended is not None:
                    store.run("message.end", {"id": row["id"], "end_reason": ended})
    except (SeasonedError, OSError) as error:
        return f"This conversation was not recorded: {error}"
    return None


def _time(body: Mapping[str, Any]) -> float | None:
    return time_of(body.get("timestamp"))


def _title(body: Mapping[str, Any]) -> str | None:
    for part in body.get("parts", ()):
        content = part.get("content")
        if part.get("part_kind") == "user-prompt" and isinstance(content, str) and content.strip():
            return " ".join(content.split())[:_TITLE_CHARS]
    return None
