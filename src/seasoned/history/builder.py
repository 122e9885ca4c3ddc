"""Builds a Session from what a reader finds, in file order.

Every reader uses it, so that pairing results with calls, counting copies once and recognising
synthetic history is decided in one place.
"""

from __future__ import annotations

from typing import Any

import msgspec

from seasoned.digest import short_digest
from seasoned.marks import BLOCK_ENDS, BLOCK_OPENS, is_synthetic_id, opens_block, without_hint, without_told
from seasoned.project import application_of
from seasoned.session import (
    NO_MARKS,
    Marks,
    Message,
    Relation,
    Result,
    Role,
    Session,
    SessionRef,
    ToolCall,
    Unreadable,
    Usage,
    UsageEvent,
    sum_usage,
)

# The result of a call whose turn was interrupted, until a real one comes.
CUT_SHORT = Result("", Marks(interrupted=True))


class CallDraft(msgspec.Struct):
    """A call under construction, with the places in the file that mention it."""

    id: str
    tool: str
    arguments: dict[str, Any]
    index: int
    message: int
    time: float | None
    places: list[int]
    result: Result | None = None
    synthetic: bool = False
    taken: bool = False

    @property
    def is_open(self) -> bool:
        return self.result is None or self.result.marks.running or self.result == CUT_SHORT

    def freeze(self) -> ToolCall:
        """The call as it is known now."""
        return ToolCall(
            self.id,
            self.tool,
            self.arguments,
            self.result,
            self.index,
            self.message,
            self.time,
            self.places[0],
            self.synthetic,
        )


class MessageDraft(msgspec.Struct):
    """A message under construction: more parts of its text may follow further on."""

    role: Role
    index: int
    time: float | None
    place: int
    key: str | None = None
    model: str | None = None
    summary: bool = False
    synthetic: bool = False
    usage: Usage | None = None
    cache_write_1h: int = 0
    answers: str | None = None
    texts: list[str] = []
    calls: list[CallDraft] = []
    thoughts: list[str] = []

    def freeze(self) -> Message:
        """The message as it is known now."""
        texts = self.texts
        return Message(
            self.role,
            texts[0] if len(texts) == 1 else "\n".join(texts),
            tuple([call.freeze() for call in self.calls]) if self.calls else (),
            self.time,
            self.place,
            self.synthetic,
            self.summary,
            self.model,
            self.answers,
            "\n\n".join(self.thoughts),
        )


class OpenCall(msgspec.Struct, frozen=True):
    """A call that has no final result yet at the end of a stretch."""

    index: int
    message: int
    # Where to read it again: the call, and every later mention of it.
    places: tuple[int, ...]


class ReadState(msgspec.Struct, frozen=True, omit_defaults=True):
    """The state needed to continue reading a session later. It is stored, and holds no text of the session."""

    messages: int = 0
    calls: int = 0
    in_block: bool = False
    open: dict[str, OpenCall] = {}
    # The newest message keys with their index, usage and what they wrote for an hour: messages may go on after the cut.
    keys: dict[str, tuple[int, Usage | None, int]] = {}
    usage: Usage | None = None
    total_usage: Usage | None = None
    compactions: tuple[int, ...] = ()
    totals: int = 0
    last_prompt: int | None = None


# Shorter ids of messages are counters, and name one only within its session.
_UNIQUE_KEY = 20
# A message is continued within a few lines, so older keys need not be stored.
_KEYS_CARRIED = 8


def _event(key: str, time: float | None, model: str | None, usage: Usage, cache_write_1h: int = 0) -> UsageEvent:
    return UsageEvent(int(short_digest(key, size=7), 16), time, model, usage, cache_write_1h)


class SessionBuilder:
    """Collects one session. Readers add what they find; `take` returns what was collected."""

    def __init__(self, ref: SessionRef, *, format: str, path: str, carry: ReadState | None = None) -> None:
        carry = carry or ReadState()
        self.ref = ref
        self.format = format
        self.path = path
        self.title: str | None = None
        self.cwd: str | None = None
        self.remote: str | None = None
        self.branch: str | None = None
        self.application: str | None = None
        self.platform: str | None = None
        self.model: str | None = None
        self.parent: SessionRef | None = None
        self.relation: Relation | None = None
        self.cost_usd: float | None = None
        self.end_reason: str | None = None
        self.succeeded: bool | None = None
        # The source's own total, where it keeps one; it outranks the sum over messages.
        self._total_usage = carry.total_usage
        self._usage = carry.usage
        self._totals = carry.totals
        self._events: dict[int, UsageEvent] = {}
        self._total_events: dict[int, UsageEvent] = {}
        self.last_prompt = carry.last_prompt
        self._started: float | None = None
        self._ended: float | None = None
        self._messages: list[MessageDraft] = []
        self._first_message = carry.messages
        self._first_call = carry.calls
        self._call_count = carry.calls
        self._compactions = list(carry.compactions)
        self._unreadable: list[Unreadable] = []
        self._in_block = carry.in_block
        self._calls: dict[str, CallDraft] = {}
        self._late: dict[str, CallDraft] = {}
        self._waiting = dict(carry.open)
        self._keys: dict[str, MessageDraft] = {}
        for key, (index, usage, for_an_hour) in carry.keys.items():
            self._keys[key] = MessageDraft("assistant", index, None, 0, key, usage=usage, cache_write_1h=for_an_hour)
        self._last: MessageDraft | None = None
        self._thoughts: list[str] = []
        self._seen = self._facts()
        # While lines of an earlier stretch are read again: open calls come back, nothing is counted.
        self.replaying = False

    @property
    def total_usage(self) -> Usage | None:
        """The source's own total so far. Set it whenever the source tells it: what it grew by counts for that hour."""
        return self._total_usage

    @total_usage.setter
    def total_usage(self, usage: Usage | None) -> None:
        if usage is not None:
            grown = usage if self._total_usage is None else usage + self._total_usage.negated()
            event = _event(f"{self.ref} total {self._totals}", self._ended, self.model, grown)
            self._total_events[event.key] = event
            self._totals += 1
        self._total_usage = usage

    def spend(self, key: str, usage: Usage, *, time: float | None) -> None:
        """Count an answer that the source tells beside the messages; `key` is the same in every copy of it."""
        event = _event(key, time, self.model, usage)
        if not self.replaying and event.key not in self._events:
            self._events[event.key] = event
            self._usage = usage if self._usage is None else self._usage + usage

    # Called by readers, in file order.

    def thinking(self, text: object) -> None:
        """Keep what the model thinks for the message or call that follows."""
        if isinstance(text, str) and text and not self.replaying:
            self._thoughts.append(text)

    def message(
        self,
        role: Role,
        text: str = "",
        *,
        time: float | None = None,
        place: int = 0,
        key: str | None = None,
        model: str | None = None,
        usage: Usage | None = None,
        summary: bool = False,
    ) -> None:
        """Add a message, or another part of the message with the same `key`."""
        if self.replaying:
            return
        if time is not None:
            self.seen_at(time)
        # Claude Code writes each block of a message on its own line; the key joins them again.
        draft = self._keys.get(key) if key is not None else None
        if draft is None:
            draft = MessageDraft(role, self._first_message + len(self._messages), time, place, key, model, summary)
            if self._in_block or opens_block(text):
                draft.synthetic = True
                self._follow_block(text)
            self._messages.append(draft)
            if key is not None:
                self._keys[key] = draft
            if model is not None and not draft.synthetic:
                self.model = model
        # Some agents write what a hook said into the words of the user, or behind a result.
        text = text if draft.synthetic else without_told(text)
        if text:
            draft.texts.append(text)
        if self._thoughts and role == "assistant":
            self._give_thoughts(draft)
        self._last = draft
        if usage is not None:
            self.count(usage, model, time)

    def count(self, usage: Usage, model: str | None, time: float | None, cache_write_1h: int = 0) -> None:
        """Count what the last message used, as far as it was not counted before."""
        draft = self._last
        if self.replaying or draft is None or draft.synthetic:
            return
        self.last_prompt = usage.prompt
        is_same = usage == draft.usage and cache_write_1h == draft.cache_write_1h
        if is_same and draft.time and model and model == draft.model:
            return  # every line of a message repeats what the message used
        key = draft.key or ""
        key = key if len(key) >= _UNIQUE_KEY else f"{self.ref} {draft.index} {key}"
        event = _event(
            key, draft.time or time or self._ended, model or draft.model or self.model, usage, cache_write_1h
        )
        self._events[event.key] = event
        draft.cache_write_1h = cache_write_1h
        # The message began in an earlier stretch, whose sum already holds its old usage: replace it.
        if draft.index < self._first_message and draft.usage is not None:
            self._usage = (self._usage or Usage()) + draft.usage.negated()
        draft.usage = usage
        if draft.index < self._first_message:
            self._usage = (self._usage or Usage()) + usage

    def call(
        self, call_id: str, tool: str, arguments: dict[str, Any], *, time: float | None = None, place: int = 0
    ) -> bool:
        """Add a call made by the last message. Returns False for a copy of one that is already there."""
        if call_id in self._calls:
            return False
        # A call of an earlier stretch, read again for its late result. It was already counted.
        if waiting := self._waiting.pop(call_id, None):
            draft = CallDraft(call_id, tool, arguments, waiting.index, waiting.message, time, [place])
            draft.taken = True
            self._calls[call_id] = draft
            return False
        if self.replaying:
            return False
        # Some sources record calls without the message that made them.
        if self._last is None or self._last.role != "assistant":
            self.message("assistant", time=time, place=place)
        owner = self._last
        assert owner is not None
        if self._thoughts:
            self._give_thoughts(owner)
        draft = CallDraft(call_id, tool, arguments, self._call_count, owner.index, time, [place])
        draft.synthetic = owner.synthetic or is_synthetic_id(call_id)
        owner.synthetic = draft.synthetic
        self._call_count += 1
        self._calls[call_id] = draft
        # The message was already returned by `take`, so its new call goes out separately.
        if owner.index < self._first_message:
            self._late[call_id] = draft
        else:
            owner.calls.append(draft)
        return True

    def _give_thoughts(self, draft: MessageDraft) -> None:
        draft.thoughts = draft.thoughts + self._thoughts
        self._thoughts = []

    def result(
        self, call_id: str, text: str, marks: Marks = NO_MARKS, *, time: float | None = None, place: int = 0
    ) -> bool:
        """Add the result of a call, however far back. Returns False for a copy or an unknown call."""
        call = self._calls.get(call_id)
        if call is None:
            if self.replaying:
                return False
            self.unreadable(f"at {place}", f"a result for call {call_id[:80]!r}, which this session does not have")
            return False
        # Resumed sessions repeat their results; the first one stands.
        if call.result is not None and call.result != CUT_SHORT:
            return False
        text = without_hint(text)
        call.result = Result(text, marks, time)
        call.places.append(place)
        if self.replaying:
            return True
        if call.taken:
            self._late[call_id] = call
        draft = MessageDraft("tool", self._first_message + len(self._messages), time, place, texts=[text])
        draft.answers = call_id
        draft.synthetic = call.synthetic
        self._messages.append(draft)
        self._last = draft
        if time is not None:
            self.seen_at(time)
        return True

    def amend(self, call_id: str, marks: Marks) -> None:
        """Add marks that became known after the result: the exit code of a process, a flag."""
        call = self._calls.get(call_id)
        if call is None or call.result is None:
            return
        call.result = Result(call.result.text, marks, call.result.time)
        # A call that was already handed out is handed out again, or the store would keep the old marks.
        if call.taken:
            self._late[call_id] = call

    def interrupt(self) -> None:
        """The turn was interrupted: mark the calls that have no result yet."""
        for call in self._calls.values():
            if call.result is None:
                call.result = CUT_SHORT
                if call.taken:
                    self._late[call.id] = call

    def marks_of(self, call_id: str) -> Marks | None:
        """The marks of a call's result so far; None while there is no result."""
        call = self._calls.get(call_id)
        return call.result.marks if call is not None and call.result is not None else None

    def argument_of(self, call_id: str, name: str) -> object:
        """One argument of a call of this stretch; None where there is none."""
        call = self._calls.get(call_id)
        return call.arguments.get(name) if call is not None else None

    def waits_at(self) -> list[int]:
        """Places to read again before continuing, so that open calls are complete."""
        return sorted({place for waiting in self._waiting.values() for place in waiting.places})

    def compaction(self) -> None:
        """Note that the context was compacted before the next message."""
        index = self._first_message + len(self._messages)
        if index not in self._compactions:
            self._compactions.append(index)

    def unreadable(self, place: str, reason: str) -> None:
        """Note a record of this session that could not be read."""
        self._unreadable.append(Unreadable(place, reason))

    @property
    def ended(self) -> float | None:
        """The latest time seen so far."""
        return self._ended

    def seen_at(self, time: float) -> None:
        """Extend the time span of the session."""
        if self._started is None or time < self._started:
            self._started = time
        if self._ended is None or time > self._ended:
            self._ended = time

    # Called by those who want the session.

    @property
    def has_news(self) -> bool:
        return bool(self._messages or self._late or self._events or self._unreadable) or self._facts() != self._seen

    def _facts(self) -> tuple[object, ...]:
        """Facts that can change without a new message."""
        return (self.title, self.total_usage, self.end_reason, len(self._compactions))

    def so_far(self) -> Session:
        """What was collected since the last `take`, without ending the stretch."""
        return self._session(self._sum_usage())

    def _session(self, used: Usage | None) -> Session:
        return Session(
            ref=self.ref,
            format=self.format,
            path=self.path,
            messages=tuple([draft.freeze() for draft in self._messages]),
            title=self.title,
            cwd=self.cwd,
            remote=self.remote,
            branch=self.branch,
            application=application_of(self.ref.agent, self.cwd, self.application),
            platform=self.platform,
            model=self.model,
            started=self._started,
            ended=self._ended,
            parent=self.parent,
            relation=self.relation,
            usage=self.total_usage or used,
            usage_events=tuple((self._total_events if self.total_usage else self._events).values()),
            last_prompt=self.last_prompt,
            cost_usd=self.cost_usd,
            compactions=tuple(self._compactions),
            end_reason=self.end_reason,
            succeeded=self.succeeded,
            first_message=self._first_message,
            first_call=self._first_call,
            late=tuple([draft.freeze() for draft in self._late.values()]),
            unreadable=tuple(self._unreadable),
        )

    def _sum_usage(self) -> Usage | None:
        used = [draft.usage for draft in self._messages if draft.usage is not None]
        return sum_usage(used, self._usage) if used else self._usage

    def take(self) -> Session:
        """What was collected since the last `take`. The next stretch begins after it."""
        used = self._sum_usage()
        session = self._session(used)
        self._usage = used
        for call in self._calls.values():
            call.taken = True
        self._seen = self._facts()
        self._first_message += len(session.messages)
        self._first_call = self._call_count
        self._messages.clear()
        self._late.clear()
        self._events.clear()
        self._total_events.clear()
        self._unreadable.clear()
        # Only open calls can still change; keeping the others would hold the whole file in memory.
        self._calls = {call_id: call for call_id, call in self._calls.items() if call.is_open}
        self._keys = dict(list(self._keys.items())[-_KEYS_CARRIED:])
        return session

    def carry(self) -> ReadState:
        """The state from which another process can read on. Call it after `take`."""
        waiting = dict(self._waiting)
        for call_id, call in self._calls.items():
            if call.is_open:
                waiting[call_id] = OpenCall(call.index, call.message, tuple(call.places))
        return ReadState(
            messages=self._first_message,
            calls=self._call_count,
            in_block=self._in_block,
            open=waiting,
            keys={
                key: (draft.index, draft.usage, draft.cache_write_1h)
                for key, draft in list(self._keys.items())[-_KEYS_CARRIED:]
            },
            usage=self._usage,
            total_usage=self.total_usage,
            compactions=tuple(self._compactions),
            totals=self._totals,
            last_prompt=self.last_prompt,
        )

    def _follow_block(self, text: str) -> None:
        """Track the begin and end of a block of synthetic messages; blocks of older versions are one message long."""
        if self._in_block or text.startswith(BLOCK_OPENS):
            self._in_block = BLOCK_ENDS not in text
