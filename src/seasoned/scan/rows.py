"""What a reading process hands to the writing one: rows, already judged, shortened and redacted."""

from __future__ import annotations

from typing import Literal

import msgspec

# How calls are judged: with everything recorded, without the labels, or also without the harness' marks.
Mode = Literal["full", "blind", "strict"]

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
    unique_id: int  # 1 where no other call anywhere can have this id
    intent: str | None


class FileJob(msgspec.Struct, frozen=True):
    """A file to read, and what is known of it from the last time."""

    path: str
    size: int
    mtime_ns: int
    named: bool
    format: str | None = None
    resume: str | None = None
    check_digest: str | None = None
    stamps: str | None = None


class SessionRows(msgspec.Struct, frozen=True, array_like=True):
    """One session, or a stretch of it."""

    agent: str
    native_id: str
    title: str | None
    cwd: str | None
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
    calls: list[CallRow]
    # Indexes of messages in which the user takes back what was just done.
    corrections: list[int] = []
    marks: list[str] = []  # digests of the blocks that it was given


class Batch(msgspec.Struct, frozen=True, array_like=True):
    """A part of a file that was read; the last one of a file has `done` set."""

    path: str
    format: str
    size: int
    mtime_ns: int
    sessions: list[SessionRows]
    unreadable: list[tuple[str, str]]
    resume: str | None = None
    check_digest: str | None = None
    stamps: str | None = None
    # The file was read from its beginning: what was unreadable before is forgotten.
    is_first: bool = True
    # The place of a cut last line that was shown the last time and has now been read again.
    was_cut_at: str | None = None
    done: bool = True
    named: bool = False
    bytes_read: int = 0
    failure: str | None = None  # why the file could not be read at all
