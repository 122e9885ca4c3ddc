"""What a worker process sends to the writer: rows, already judged, truncated and redacted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import msgspec

from seasoned.command.tool import task_type_of
from seasoned.scan.spoken_rule import SpokenRule

if TYPE_CHECKING:
    from seasoned.store import Store

NOT_A_HISTORY = ""  # the format of a file that no reader recognises


class CallRow(msgspec.Struct, frozen=True, array_like=True):
    """One call. The fields are the columns of the table `call` that a scan fills, by the same names."""

    call_id: str
    position: int
    message: int
    tool: str
    kind: str
    counts_as: str
    arguments: str
    result: str | None
    time: float | None
    place: int
    verdict: str
    evidence: str
    fault: str
    reason: str
    judge: str
    flag: int | None
    unique_id: int  # 1 if the id is random enough to be unique everywhere
    intent: str | None
    is_foreign: int = 0  # 1 if it repeats a sentence of an earlier result


class UsageRow(NamedTuple):
    """What one answer used. The fields are the columns of the table `usage_event`."""

    key: int
    at: float | None
    model: str | None
    input: int | None
    output: int | None
    cache_read: int | None
    cache_write: int | None
    reasoning: int | None
    cache_write_1h: int


class FileJob(msgspec.Struct, frozen=True):
    """A file to read, and what the last scan knew about it."""

    path: str
    size: int
    mtime_ns: int
    named: bool
    format: str | None = None
    resume: bytes | str | None = None  # as the store has it: packed, if that is worth it
    check_digest: str | None = None
    stamps: str | None = None


class SessionRows(msgspec.Struct, frozen=True, array_like=True):
    """One session, or a stretch of it."""

    agent: str
    native_id: str
    title: str | None
    cwd: str | None
    remote: str | None
    branch: str | None
    application: str | None
    platform: str | None
    model: str | None
    started: float | None
    ended: float | None
    parent_agent: str | None
    parent_native_id: str | None
    relation: str | None
    end_reason: str | None
    succeeded: bool | None
    messages: int
    compactions: str
    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    reasoning_tokens: int | None
    cost_usd: float | None
    last_prompt_tokens: int | None
    calls: list[CallRow]
    usage_events: list[UsageRow] = []
    # Indexes of messages in which the user corrects what was just done.
    corrections: list[int] = []
    # What people and agents said, for search: JSON with the index of each message, 1 for a person, and its beginning.
    first_message: int = 0
    said: str | None = None
    rules: list[SpokenRule] = []  # what a person said that holds beyond the task
    learned: bytes | None = None  # what a learner found in it; only if this is the whole session
    # Totals of these calls. Mostly they are those of the session: what copies or other files change, is updated later.
    ok: int = 0
    failed: int = 0
    unclear: int = 0
    declined: int = 0
    cancelled: int = 0
    interrupted: int = 0
    trivial: int = 0
    task_type: str | None = None


COUNTS = ("ok", "failed", "unclear", "declined", "cancelled", "interrupted", "trivial")


def call_totals(counted: Mapping[tuple[str, str], int]) -> dict[str, Any]:
    """The totals of a session, from the numbers of its calls by what they count as and their kind."""
    totals: dict[str, Any] = dict.fromkeys(COUNTS, 0)
    kinds: dict[str, int] = {}
    for (counts_as, kind), calls in counted.items():
        totals[counts_as] += calls
        if counts_as != "trivial":
            kinds[kind] = kinds.get(kind, 0) + calls
    totals["task_type"] = task_type_of(kinds)
    return totals


class Learner(Protocol):
    """Finds out more about sessions where they are read, since that is done in parallel."""

    def learn(self, session: SessionRows) -> bytes | None:
        """What a whole session shows; None if that can only be said once it is in the store."""

    def keep(self, store: Store, learned: Mapping[int, bytes]) -> None:
        """Write what was found in new sessions, as far as it still holds; their aggregates are up to date.

        It is called in the transaction that updated them, and their ids are in the table `touched`.
        """


class Batch(msgspec.Struct, frozen=True, array_like=True):
    """A part of a file; `done` is set on the last part."""

    path: str
    format: str
    size: int
    mtime_ns: int
    sessions: list[SessionRows]
    unreadable: list[tuple[str, str]]
    resume: str | None = None
    check_digest: str | None = None
    stamps: str | None = None
    # The file was read from its beginning: earlier unreadable records are deleted.
    is_first: bool = True
    # The place of an incomplete last line that was reported last time and has now been read again.
    was_cut_at: str | None = None
    done: bool = True
    named: bool = False
    bytes_read: int = 0
    failure: str | None = None  # why the file could not be read at all
