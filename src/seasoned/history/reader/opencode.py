"""OpenCode: `opencode.db`, which holds messages and their parts as JSON, and its exports."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from seasoned.history.builder import SessionBuilder
from seasoned.history.coerce import (
    arguments_of,
    as_list,
    as_object,
    count,
    identity,
    integer,
    known_usage,
    number,
    string,
    text_of,
    time_of,
)
from seasoned.history.formats import Sample, is_database
from seasoned.history.json_file import documents, field, items, noting_unreadable, stored
from seasoned.history.readonly import SessionDatabase
from seasoned.history.session_reader import (
    JsonDocument,
    SessionFormat,
    SessionReader,
    add_messages,
    note_times,
    set_parent,
)
from seasoned.session import Marks, Session, Unreadable, Usage

NAME = "opencode"
_FORMAT = SessionFormat(NAME, "opencode")
# The tool in whose name OpenCode answers a call that it could not parse.
_INVALID = "invalid"
_DECLINED = re.compile(
    r"user (?:has )?(?:rejected|dismissed|denied|declined|specified a rule)|permission (?:denied|rejected)",
    re.IGNORECASE,
)
_INTERRUPTED = re.compile(r"\b(?:aborted|interrupted|cancelled)\b", re.IGNORECASE)
_Fields = dict[str, Any]


def recognises(sample: Sample) -> bool:
    """Whether it is the database or an export."""
    return _DATABASE.recognises(sample) or (sample.kind == "document" and any(map(_is_export, sample.records)))


def _is_export(value: _Fields) -> bool:
    info = as_object(value.get("info"))
    return isinstance(value.get("messages"), list) and "id" in info and ("directory" in info or "projectID" in info)


def stamps(path: Path) -> dict[str, str]:
    """A stamp for each session of the database; an export has none."""
    return _DATABASE.stamps(path) if is_database(path) else {}


def read(path: Path, only: Collection[str] | None = None) -> Iterator[Session]:
    """Every session of the database, or those with the ids in `only`; the one session of an export."""
    return _DATABASE.read(path, only) if is_database(path) else _FORMAT.read_each(path, documents(path), _exported)


def _exported(path: Path, part: JsonDocument, _index: int) -> SessionBuilder | Unreadable:
    if "messages" not in part.value:
        return Unreadable(part.where, "a document that is not a session")
    reader = _OpenCodeReader(path, as_object(field(part.value, "info")))
    add_messages(reader.builder, items(part.value["messages"]), reader.add_exported)
    return reader.builder


def _stored(connection: sqlite3.Connection, path: Path, row: _Fields) -> SessionBuilder:
    time = {"created": row.get("time_created"), "updated": row.get("time_updated")}
    reader = _OpenCodeReader(path, {**row, "parentID": row.get("parent_id"), "time": time})
    parts: dict[str, list[_Fields]] = {}
    for part_id, message_id, data in connection.execute(
        "SELECT p.id, p.message_id, p.data FROM message m JOIN part p ON p.message_id = m.id "
        "WHERE m.session_id = ? ORDER BY p.id",
        (row["id"],),
    ):
        parts.setdefault(str(message_id), []).append(as_object(stored(reader.builder, f"part {part_id}", data)))
    messages = connection.execute("SELECT id, data FROM message WHERE session_id = ? ORDER BY id", (row["id"],))
    for position, (message_id, data) in enumerate(messages):
        where = f"message {message_id}"
        with noting_unreadable(reader.builder, where):
            about = as_object(stored(reader.builder, where, data))
            reader.add(about, parts.get(str(message_id), []), where, position)
    return reader.builder


_DATABASE = SessionDatabase(
    "OpenCode",
    {
        "session": {"id", "directory", "time_updated"},
        "message": {"id", "session_id", "data"},
        "part": {"id", "message_id", "time_updated", "data"},
    },
    "SELECT s.id, s.time_updated, count(p.id), coalesce(max(p.time_updated), 0) FROM session s "
    "LEFT JOIN message m ON m.session_id = s.id LEFT JOIN part p ON p.message_id = m.id GROUP BY s.id",
    "SELECT * FROM session ORDER BY time_updated, id",
    _stored,
)


class _OpenCodeReader(SessionReader):
    """Reads the messages of one session."""

    def __init__(self, path: Path, info: _Fields) -> None:
        builder = _FORMAT.builder(path, identity(info.get("id")))
        super().__init__(builder)
        builder.title = string(info.get("title"))
        builder.cwd = string(info.get("directory"))
        set_parent(builder, identity(info.get("parentID")))
        note_times(builder, "the head of the session", as_object(info.get("time")).get("created"))

    def add_exported(self, message: _Fields, where: str, place: int) -> None:
        """Add one message of an export."""
        self.add(as_object(message.get("info")), as_list(message.get("parts")), where, place)

    def add(self, info: _Fields, parts: list[Any], where: str, place: int) -> None:
        """Add one message with its parts."""
        role = info.get("role")
        time = time_of(as_object(info.get("time")).get("created"))
        known = [part for part in parts if isinstance(part, dict)]
        if len(known) < len(parts):
            self.builder.unreadable(where, "a part that is not an object")
        if role == "user":
            self._add_request(known, time, place)
        elif role == "assistant":
            self._add_answer(info, known, time, where, place)
        elif info:
            self.builder.unreadable(where, f"a message whose role is {str(role)[:40]!r}")

    def _add_request(self, parts: list[_Fields], time: float | None, place: int) -> None:
        if any(part.get("type") == "compaction" for part in parts):
            self.builder.compaction()
        said = [part for part in parts if part.get("type") in ("text", "file") and not part.get("ignored")]
        # OpenCode appends the files that the user named: their text is not the user's.
        own, added = ([part for part in said if bool(part.get("synthetic")) == is_added] for is_added in (False, True))
        if own or not added:
            self.builder.message("user", text_of(own), time=time, place=place)
        if added:
            self.builder.message("system", text_of(added), time=time, place=place)

    def _add_answer(self, info: _Fields, parts: list[_Fields], time: float | None, where: str, place: int) -> None:
        text = text_of([part for part in parts if part.get("type") == "text" and not part.get("ignored")])
        is_summary = info.get("summary") is True
        self.builder.thinking(text_of([part for part in parts if part.get("type") == "reasoning"]))
        self.builder.message(
            "assistant",
            text,
            time=time,
            place=place,
            model=string(info.get("modelID")),
            usage=_usage(info),
            summary=is_summary,
        )
        cost = number(info.get("cost"))
        if cost:
            # Zero is also written for subscriptions and for models whose price is not known.
            self.builder.cost_usd = (self.builder.cost_usd or 0.0) + cost
        if info.get("error") is not None:
            self.builder.end_reason = string(as_object(info["error"]).get("name")) or "error"
        self.calls.turn()
        made = [(self._made(part, time, where, place), part) for part in parts if part.get("type") == "tool"]
        for call_id, part in made:
            if call_id is not None:
                self._answer(call_id, part, place)

    def _made(self, part: _Fields, time: float | None, where: str, place: int) -> str | None:
        state = as_object(part.get("state"))
        arguments = arguments_of(state.get("input"))
        tool = string(part.get("tool"))
        if tool == _INVALID:
            tool = string(arguments.get("tool")) or tool
        began = time_of(as_object(state.get("time")).get("start")) or time
        return self.calls.make_named(where, part.get("callID"), tool, arguments, time=began, place=place)

    def _answer(self, call_id: str, part: _Fields, place: int) -> None:
        state = as_object(part.get("state"))
        status = state.get("status")
        if status not in ("completed", "error"):
            return
        text = text_of(state.get("output") if status == "completed" else state.get("error"))
        marks = _marks(part, state, text)
        ended = time_of(as_object(state.get("time")).get("end"))
        self.calls.answer(call_id, text, marks, time=ended, place=place)


def _marks(part: _Fields, state: _Fields, text: str) -> Marks:
    metadata = as_object(state.get("metadata"))
    if state.get("status") == "error":
        declined = _DECLINED.search(text) is not None
        stopped = not declined and (metadata.get("interrupted") is True or _is_stop(text))
        return Marks(failed=None if declined or stopped else True, declined=declined, interrupted=stopped)
    if part.get("tool") == _INVALID:
        return Marks(failed=True)
    code = integer(metadata.get("exit"))
    # "completed" means that the program ended; only the exit code says whether it worked.
    return Marks(failed=False) if "exit" not in metadata else Marks(exit_code=code)


def _is_stop(text: str) -> bool:
    return len(text) < 80 and _INTERRUPTED.search(text) is not None


def _usage(info: _Fields) -> Usage | None:
    tokens = as_object(info.get("tokens"))
    cache = as_object(tokens.get("cache"))
    output, reasoning = count(tokens.get("output")), count(tokens.get("reasoning"))
    found = Usage(
        input=count(tokens.get("input")),
        # OpenCode counts reasoning separately; all others include it in the output.
        output=None if output is None else output + (reasoning or 0),
        cache_read=count(cache.get("read")),
        cache_write=count(cache.get("write")),
        reasoning=reasoning,
    )
    # An answer that failed before it began has only zeros.
    return known_usage(found) if found.with_cache else None
