"""Sessions exported by Hermes: a document, the same with one message per line, an archive."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seasoned.history.builder import SessionBuilder
from seasoned.history.call_pairing import CallPairing
from seasoned.history.chat import ROLES, ChatReader, is_message
from seasoned.history.coerce import (
    arguments_of,
    as_list,
    as_object,
    first_of,
    identity,
    integer,
    kind_of,
    number,
    string,
    text_of,
    time_of,
)
from seasoned.history.formats import Sample
from seasoned.history.json_file import JsonValue, noting_unreadable, values
from seasoned.history.reader.hermes_db import profile_at
from seasoned.history.session_reader import SessionFormat, usage_from
from seasoned.session import Marks, Relation, Session, SessionRef, Unreadable

NAME = "hermes-export"
_FORMAT = SessionFormat(NAME, "hermes")
# The role of the first line of an export in JSON Lines, which describes the session.
_META = "session_meta"
# How Hermes names sessions: date, time, and a random part.
_SESSION_ID = re.compile(r"(?:cron_\w+_)?\d{8}_\d{6}(?:_[0-9a-f]{6,8})?\Z")
_RELATIONS: dict[str, Relation] = {
    "resume": "resume",
    "fork": "fork",
    "branch": "fork",
    "compression": "compression",
    "subagent": "subagent",
    "delegate": "subagent",
    "review": "review",
}
# Keys that distinguish an export from other documents with messages.
_HERMES_KEYS = frozenset({"session_start", "base_url", "platform", "last_updated", "system_prompt"})


def recognises(sample: Sample) -> bool:
    """Whether it is one of the three forms."""
    if sample.kind not in ("document", "lines"):
        return False
    if any(map(_is_document, sample.records)):
        return True
    if any(value.get("role") == _META for value in sample.records):
        return True
    messages = bool(sample.records) and all(map(is_message, sample.records))
    return messages and _SESSION_ID.match(_native_id(sample.path)) is not None


def _is_document(value: dict[str, Any]) -> bool:
    if "session_id" in value and isinstance(value.get("messages"), list):
        return bool(_HERMES_KEYS & value.keys()) or _is_archive(value)
    return False


def _is_archive(value: dict[str, Any]) -> bool:
    return (string(value.get("producer")) or "").startswith("hermes")


def read(path: Path) -> Iterator[Session]:
    """One session for each document, or one of all lines."""
    return _FORMAT.sessions(path, _parts(path), _native_id(path))


def _native_id(path: Path) -> str:
    """Both forms of an export are named after the session id."""
    return path.stem.removeprefix("session_")


def _profile(path: Path) -> str:
    """The application: exports that Hermes writes itself are in `sessions` of its folder."""
    return profile_at(path.parent.parent if path.parent.name == "sessions" else path.parent)


def _parts(path: Path) -> Iterator[SessionBuilder | Unreadable]:
    twin: tuple[SessionBuilder, ChatReader] | None = None
    for index, part in enumerate(values(path)):
        if isinstance(part, Unreadable):
            yield part
        elif not isinstance(part.value, dict):
            yield Unreadable(part.where, f"{kind_of(part.value)} where a session or a message should be")
        elif "messages" in part.value:
            yield _document(path, part, index)
        else:
            if twin is None:
                builder = _FORMAT.builder(path, _native_id(path))
                builder.application = _profile(path)
                twin = builder, ChatReader(builder)
                yield builder
            with noting_unreadable(twin[0], part.where):
                _add_line(*twin, part)


def _add_line(builder: SessionBuilder, chat: ChatReader, part: JsonValue[Any]) -> None:
    if part.value.get("role") == _META:
        builder.model = string(part.value.get("model"))
        return
    chat.add(part.value, where=part.where, place=part.place)


def _document(path: Path, part: JsonValue[Any], index: int) -> SessionBuilder:
    value = part.value
    native = identity(value.get("session_id")) or (_native_id(path) if index == 0 else f"{_native_id(path)}#{index}")
    builder = _FORMAT.builder(path, native)
    with noting_unreadable(builder, part.where):
        _describe(builder, value)
        builder.application = _profile(path)
        if _is_archive(value) or "schema_version" in value:
            _add_archive(builder, value["messages"], part.where)
        else:
            _add_messages(builder, value["messages"], part.where)
    return builder


def _describe(builder: SessionBuilder, value: dict[str, Any]) -> None:
    builder.model = string(value.get("model"))
    builder.title = string(value.get("title"))
    builder.cwd = string(first_of(value, "cwd", "repository_cwd"))
    builder.end_reason = string(value.get("end_reason"))
    builder.platform = string(first_of(value, "source", "platform"))
    for key in ("session_start", "created_at", "started_at", "last_updated", "ended_at"):
        if (time := time_of(value.get(key))) is not None:
            builder.seen_at(time)
    if (parent := identity(value.get("parent_session_id"))) is not None:
        builder.parent = SessionRef(_FORMAT.agent, parent)
        builder.relation = _RELATIONS.get(string(value.get("parent_relationship")) or "")
    cost = as_object(value.get("cost"))
    builder.cost_usd = number(first_of(cost, "actual_cost_usd", "estimated_cost_usd"))
    usage = as_object(value.get("usage"))
    builder.total_usage = usage_from(
        usage,
        input="input_tokens",
        output="output_tokens",
        cache_read="cache_read_tokens",
        cache_write="cache_write_tokens",
        reasoning="reasoning_tokens",
    )


def _add_messages(builder: SessionBuilder, messages: object, where: str) -> None:
    chat = ChatReader(builder)
    if not isinstance(messages, list):
        builder.unreadable(where, f"{kind_of(messages)} where the messages should be")
    for position, message in enumerate(as_list(messages)):
        place = f"{where}, message {position}"
        with noting_unreadable(builder, place):
            chat.add(message, where=place, place=position)


def _add_archive(builder: SessionBuilder, messages: object, where: str) -> None:
    calls = CallPairing(builder)
    for position, message in enumerate(as_list(messages)):
        place = f"{where}, message {position}"
        with noting_unreadable(builder, place):
            _add_archived(builder, calls, as_object(message), place, position)


def _add_archived(builder: SessionBuilder, calls: CallPairing, message: dict[str, Any], where: str, place: int) -> None:
    role = ROLES.get(string(message.get("role")) or "")
    time = time_of(message.get("timestamp"))
    if role is None:
        builder.unreadable(where, f"a message whose role is {str(message.get('role'))[:40]!r}")
        return
    if role != "tool":
        builder.message(role, text_of(first_of(message, "text", "content")), time=time, place=place)
        calls.turn()
    for call in map(as_object, as_list(message.get("tool_calls"))):
        name, arguments = string(call.get("tool_name")), arguments_of(call.get("arguments_json"))
        calls.make_named(where, call.get("action_id"), name, arguments, time=time, place=place)
    for result in map(as_object, as_list(message.get("tool_results"))):
        failed = result.get("is_error")
        marks = Marks(failed=failed if isinstance(failed, bool) else None, exit_code=integer(result.get("exit_code")))
        text = text_of(first_of(result, "output", "output_preview"))
        calls.answer(result.get("action_id"), text, marks, time=time, place=place)
