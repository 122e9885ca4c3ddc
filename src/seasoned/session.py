"""The vocabulary: sessions, messages, tool calls and results, whichever agent recorded them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

import msgspec

Role = Literal["system", "user", "assistant", "tool"]
Relation = Literal["compression", "fork", "resume", "subagent", "review"]


class SessionRef(msgspec.Struct, frozen=True, order=True):
    """The agent that recorded the conversation, and the id it has there."""

    agent: str
    native_id: str

    def __str__(self) -> str:
        return f"{self.agent}:{self.native_id}"


class Usage(msgspec.Struct, frozen=True):
    """Tokens as the provider counted them. None means unknown, not zero."""

    # Without tokens read from or written to a cache, however the provider counts them.
    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None

    @property
    def prompt(self) -> int | None:
        """The whole prompt, including tokens read from and written to a cache."""
        if self.input is None and self.cache_read is None and self.cache_write is None:
            return None
        return (self.input or 0) + (self.cache_read or 0) + (self.cache_write or 0)

    @property
    def total(self) -> int | None:
        """Input and output, without what was read from or written to a cache."""
        return _add(self.input, self.output)

    @property
    def with_cache(self) -> int | None:
        """All tokens: whole prompts and answers."""
        return _add(self.prompt, self.output)

    def negated(self) -> Usage:
        """The negated figures, to subtract what was counted."""
        parts = (self.input, self.output, self.cache_read, self.cache_write, self.reasoning)
        return Usage(*[None if n is None else -n for n in parts])

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            _add(self.input, other.input),
            _add(self.output, other.output),
            _add(self.cache_read, other.cache_read),
            _add(self.cache_write, other.cache_write),
            _add(self.reasoning, other.reasoning),
        )


class UsageEvent(msgspec.Struct, frozen=True, array_like=True):
    """What one answer of a provider used. A copy of it in another file has the same key, and counts once."""

    key: int
    time: float | None
    model: str | None
    usage: Usage
    # Of the tokens written to a cache, those kept for an hour, which cost more than those kept for minutes.
    cache_write_1h: int = 0


LONG_PROMPT = 200_000


def _add(a: int | None, b: int | None) -> int | None:
    if a is None:
        return b
    return a if b is None else a + b


def sum_usage(parts: Iterable[Usage], start: Usage | None = None) -> Usage:
    """The sum; a figure that none of them has stays None."""
    total = Usage() if start is None else start
    known = [(total.input, total.output, total.cache_read, total.cache_write, total.reasoning)]
    known += [(u.input, u.output, u.cache_read, u.cache_write, u.reasoning) for u in parts]
    columns = [[n for n in column if n is not None] for column in zip(*known, strict=True)]
    return Usage(*[sum(column) if column else None for column in columns])


class Marks(msgspec.Struct, frozen=True):
    """What the source recorded about a result besides its text."""

    # The explicit flag (`is_error`, `success`, a status): True means failed, False succeeded.
    failed: bool | None = None
    # `failed` is False only because nothing was recorded, which for this agent means success.
    implied: bool = False
    exit_code: int | None = None
    # The source's own explanation of a harmless non-zero exit code ("no matches found").
    benign: str | None = None
    declined: bool = False  # by a person, a policy or a permission
    interrupted: bool = False
    running: bool = False  # still running when this was recorded, and its end was never seen


NO_MARKS = Marks()


class Result(msgspec.Struct, frozen=True):
    """The result of a call: the text as the model saw it, and the marks."""

    text: str
    marks: Marks = NO_MARKS
    time: float | None = None


class ToolCall(msgspec.Struct, frozen=True):
    """One tool call, with its result if one was recorded."""

    id: str
    tool: str
    arguments: dict[str, Any]
    result: Result | None = None
    index: int = 0  # position among the calls of its session
    message: int = 0  # index of the message that made the call
    time: float | None = None
    place: int = 0  # its place in the source: a byte offset, a row id, a position in a list
    synthetic: bool = False


class Message(msgspec.Struct, frozen=True):
    """One message. A `tool` message is the result of the call with the id `answers`."""

    role: Role
    text: str
    calls: tuple[ToolCall, ...] = ()
    time: float | None = None
    place: int = 0
    synthetic: bool = False  # inserted by a warm start: it never happened
    summary: bool = False  # written by a compaction to replace earlier messages
    model: str | None = None
    answers: str | None = None
    thinking: str = ""  # what the model thought before it spoke, where the source keeps it


class Unreadable(msgspec.Struct, frozen=True):
    """A record that could not be read: its place and the reason."""

    place: str
    reason: str


class Session(msgspec.Struct, frozen=True):
    """One conversation, or the stretch of it that was read now (see `first_message`)."""

    ref: SessionRef
    format: str
    path: str
    messages: tuple[Message, ...] = ()
    title: str | None = None
    cwd: str | None = None
    # The address of the repository it worked in, the branch that was checked out last, and the application it was part
    # of, as the source recorded them.
    remote: str | None = None
    branch: str | None = None
    application: str | None = None
    model: str | None = None
    started: float | None = None
    ended: float | None = None
    parent: SessionRef | None = None
    relation: Relation | None = None
    usage: Usage | None = None
    cost_usd: float | None = None
    # Indexes of the messages before which the context was compacted.
    compactions: tuple[int, ...] = ()
    end_reason: str | None = None  # as the agent recorded it; None means unknown
    # The label of the task, if the source has one (a reward, a submitted patch).
    succeeded: bool | None = None
    # Messages of this session that were read earlier and are not in `messages`.
    first_message: int = 0
    first_call: int = 0
    late: tuple[ToolCall, ...] = ()  # calls of an earlier stretch whose result came in this one
    unreadable: tuple[Unreadable, ...] = ()
    # The same usage answer by answer, and the size of the last prompt.
    usage_events: tuple[UsageEvent, ...] = ()
    last_prompt: int | None = None
    platform: str | None = None  # where the agent was talked to, as it recorded it: cli, telegram, cron …

    def calls(self) -> Iterator[ToolCall]:
        """Every call of this stretch in order, each once."""
        for message in self.messages:
            yield from message.calls

    @property
    def message_count(self) -> int:
        return self.first_message + len(self.messages)
