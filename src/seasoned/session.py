"""The vocabulary: what a conversation of an agent is, whoever kept it. Frozen values, no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

import msgspec

Role = Literal["system", "user", "assistant", "tool"]
Relation = Literal["compression", "fork", "resume", "subagent", "review"]


class SessionRef(msgspec.Struct, frozen=True, order=True):
    """Who kept the conversation, and the id it has there."""

    agent: str
    native_id: str

    def __str__(self) -> str:
        return f"{self.agent}:{self.native_id}"


class Usage(msgspec.Struct, frozen=True):
    """Tokens as the provider counted them. None means that nobody said, which is not zero."""

    # Without what was read from a cache or written into one, whatever the provider calls its input.
    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None

    @property
    def prompt(self) -> int | None:
        """The whole prompt, with what came from a cache and what went into one."""
        parts = [part for part in (self.input, self.cache_read, self.cache_write) if part is not None]
        return sum(parts) if parts else None

    def negated(self) -> Usage:
        """The same figures with the other sign, to take back what was counted."""
        return Usage(
            *[
                None if n is None else -n
                for n in (self.input, self.output, self.cache_read, self.cache_write, self.reasoning)
            ]
        )

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            _add(self.input, other.input),
            _add(self.output, other.output),
            _add(self.cache_read, other.cache_read),
            _add(self.cache_write, other.cache_write),
            _add(self.reasoning, other.reasoning),
        )


def _add(a: int | None, b: int | None) -> int | None:
    if a is None:
        return b
    return a if b is None else a + b


def sum_usage(parts: Iterable[Usage], start: Usage | None = None) -> Usage:
    """The sum of many; a figure that none of them has stays None."""
    total = Usage() if start is None else start
    known = [(total.input, total.output, total.cache_read, total.cache_write, total.reasoning)]
    known += [(u.input, u.output, u.cache_read, u.cache_write, u.reasoning) for u in parts]
    columns = [[n for n in column if n is not None] for column in zip(*known, strict=True)]
    return Usage(*[sum(column) if column else None for column in columns])


class Marks(msgspec.Struct, frozen=True):
    """What the source itself recorded about a result, beside its text."""

    # The explicit flag (`is_error`, `success`, a status): True says failed, False says it succeeded.
    failed: bool | None = None
    # `failed` is False only because nothing was recorded, which by this agent's custom means success.
    implied: bool = False
    exit_code: int | None = None
    # The source's own reading of a non-zero exit code ("no matches found").
    benign: str | None = None
    declined: bool = False  # a person, a policy or a permission said no
    interrupted: bool = False
    running: bool = False  # still going when this was recorded, and its end was never seen


NO_MARKS = Marks()


class Result(msgspec.Struct, frozen=True):
    """What came back from a tool: the text as the model saw it, and what was recorded beside it."""

    text: str
    marks: Marks = NO_MARKS
    time: float | None = None


class ToolCall(msgspec.Struct, frozen=True):
    """One call of a tool, with its result where one was ever recorded."""

    id: str
    tool: str
    arguments: dict[str, Any]
    result: Result | None = None
    index: int = 0  # position among the calls of its session
    message: int = 0  # index of the message that made the call
    time: float | None = None
    place: int = 0  # where it lies in its source: a byte offset, a row id, a position in a list
    synthetic: bool = False


class Message(msgspec.Struct, frozen=True):
    """One turn as it was said. A `tool` message is the result of the call that `answers` names."""

    role: Role
    text: str
    calls: tuple[ToolCall, ...] = ()
    time: float | None = None
    place: int = 0
    synthetic: bool = False  # put there by a warm start; it never happened
    summary: bool = False  # written by a compaction in place of what was said before
    model: str | None = None
    answers: str | None = None


class Unreadable(msgspec.Struct, frozen=True):
    """A record that could not be read: where it lies and why."""

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
    model: str | None = None
    started: float | None = None
    ended: float | None = None
    parent: SessionRef | None = None
    relation: Relation | None = None
    usage: Usage | None = None
    cost_usd: float | None = None
    # Indexes of the messages before which the context was compacted.
    compactions: tuple[int, ...] = ()
    end_reason: str | None = None  # what the agent itself says about the end; None says nothing
    # The label of the whole task, where the source has one (a reward, a submitted patch).
    succeeded: bool | None = None
    # Messages of this session that were read earlier and are not in `messages`.
    first_message: int = 0
    first_call: int = 0
    late: tuple[ToolCall, ...] = ()  # calls of an earlier stretch whose result came in this one
    unreadable: tuple[Unreadable, ...] = ()
    # Digests of the blocks of Seasoned that it was given, from the lines that open them.
    warm: tuple[str, ...] = ()

    def calls(self) -> Iterator[ToolCall]:
        """Every call of this stretch in order, each once."""
        for message in self.messages:
            yield from message.calls

    @property
    def message_count(self) -> int:
        return self.first_message + len(self.messages)
