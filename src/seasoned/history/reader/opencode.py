"""OpenCode: its exports, and the folders of small files that it kept before it had a database."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

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
from seasoned.history.formats import Sample
from seasoned.history.json_file import decode, documents, field, items, noting_unreadable
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
    """Whether it is an export, or the file of one session in the older storage."""
    return sample.kind == "document" and any(_is_export(one) or _is_stored(one) for one in sample.records)


def _is_export(value: _Fields) -> bool:
    info = as_object(value.get("info"))
    return isinstance(value.get("messages"), list) and "id" in info and ("directory" in info or "projectID" in info)


def _is_stored(value: _Fields) -> bool:
    return str(value.get("id")).startswith("ses_") and "directory" in value and isinstance(value.get("time"), dict)


def read(path: Path) -> Iterator[Session]:
    """The session of an export, or the one of a stored file."""
    return _FORMAT.read_each(path, documents(path), _session)


def _session(path: Path, part: JsonDocument, _index: int) -> SessionBuilder | Unreadable:
    document = part.value
    if "messages" in document:
        reader = OpenCodeReader(path, as_object(field(document, "info")))
        add_messages(reader.builder, items(document["messages"]), reader.add_exported)
        return reader.builder
    if "id" in document:
        return _stored(path, {key: field(document, key) for key in document})
    return Unreadable(part.where, "a document that is not a session")


def _stored(path: Path, info: _Fields) -> SessionBuilder:
    """A session whose messages and their parts are in files of their folders."""
    reader = OpenCodeReader(path, info)
    # …/storage/session/PROJECT/ses_….json
    storage = path.parent.parent.parent
    for position, message in enumerate(_stored_files(reader.builder, storage / "message", identity(info.get("id")))):
        parts = list(_stored_files(reader.builder, storage / "part", identity(message.get("id"))))
        where = f"message {position}"
        with noting_unreadable(reader.builder, where):
            reader.add(message, parts, where, position)
    return reader.builder


def _stored_files(builder: SessionBuilder, folder: Path, name: str | None) -> Iterator[_Fields]:
    """The documents in one folder; their names sort by time. Ids that are no plain names lead nowhere."""
    if name is None or not re.fullmatch(r"\w+", name, re.ASCII):
        return
    for path in sorted((folder / name).glob("*.json")):
        try:
            found = decode(path.read_bytes())
        except (OSError, msgspec.DecodeError) as error:
            builder.unreadable(path.name, str(error) if isinstance(error, msgspec.DecodeError) else "cannot be opened")
            continue
        if isinstance(found, dict):
            yield found


class OpenCodeReader(SessionReader):
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
