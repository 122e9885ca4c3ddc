"""ShareGPT conversations: `from` and `value`, with calls and results as XML in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from seasoned.history.builder import SessionBuilder
from seasoned.history.call_pairing import CallPairing
from seasoned.history.chat import ROLES
from seasoned.history.coerce import (
    arguments_of,
    as_list,
    as_object,
    first_of,
    identity,
    kind_of,
    string,
    text_of,
)
from seasoned.history.formats import Sample
from seasoned.history.json_file import JsonValue, decode, noting_unreadable, values
from seasoned.history.session_reader import SessionFormat, note_times, unique_id
from seasoned.session import Session, Unreadable

NAME = "sharegpt"
# Calls and results may lack their closing tag where a text was cut.
_CALL = re.compile(r"<tool_call>\s*(.*?)\s*(?:</tool_call>|\Z)", re.DOTALL)
_RESPONSE = re.compile(r"<tool_response>\s*(.*?)\s*(?:</tool_response>|\Z)", re.DOTALL)
_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
# Keys that only trajectories saved by Hermes have.
_HERMES_KEYS = frozenset({"completed", "api_calls", "toolsets_used", "tool_stats", "prompt_index"})


def recognises(sample: Sample) -> bool:
    """Whether a record holds turns with `from` and `value`."""
    if sample.kind not in ("document", "lines"):
        return False
    return any("from" in as_object(t) for value in sample.records for t in as_list(value.get("conversations")))


def read(path: Path) -> Iterator[Session]:
    """One session for each record."""
    return SessionFormat(NAME, "sharegpt").read_each(path, values(path), partial(_conversation, set()))


def _conversation(seen: set[str], path: Path, part: JsonValue[Any], index: int) -> SessionBuilder | Unreadable:
    value = as_object(part.value)
    turns = value.get("conversations")
    if not isinstance(turns, list):
        return Unreadable(part.where, f"{kind_of(turns)} where a conversation should be")
    own = identity(first_of(value, "id", "prompt_index"))
    native = identity(value.get("session_id")) or f"{path.stem}/{index if own is None else own}"
    # Hermes also saves its trajectories in this format, with the outcome of the run.
    agent = "hermes" if _HERMES_KEYS & value.keys() else "sharegpt"
    builder = SessionFormat(NAME, agent).builder(path, unique_id(native, index, seen))
    builder.model = string(first_of(value, "model", "model_name"))
    if isinstance(done := value.get("completed"), bool):
        builder.end_reason = "completed" if done else "not completed"
    note_times(builder, part.where, first_of(value, "timestamp", "created_at"))
    with noting_unreadable(builder, part.where):
        _add(builder, turns, part.where)
    return builder


def _add(builder: SessionBuilder, turns: list[Any], where: str) -> None:
    calls = CallPairing(builder)
    for position, turn in enumerate(turns):
        place = f"{where}, turn {position}"
        following = as_object(turns[position + 1]) if position + 1 < len(turns) else {}
        with noting_unreadable(builder, place):
            _add_turn(builder, calls, turn, following, place, position)


def _add_turn(
    builder: SessionBuilder, calls: CallPairing, turn: object, following: dict[str, Any], where: str, place: int
) -> None:
    speaker = string(as_object(turn).get("from")) or ""
    role = ROLES.get("tool" if speaker == "observation" else speaker)
    text = text_of(as_object(turn).get("value"))
    if role is None:
        builder.unreadable(where, f"a turn from {speaker[:40]!r}" if speaker else "a turn without a speaker")
    elif role == "tool":
        for response in _RESPONSE.findall(text) or [text]:
            given, name, result = _result(response)
            known = calls.knows(given)
            calls.answer(given if known else None, result, tool=None if known else name, place=place)
    else:
        spoken = _THOUGHT.sub("", text) if role == "assistant" else text
        builder.message(role, _CALL.sub("", spoken).strip() if role == "assistant" else text, place=place)
        if role == "assistant":
            calls.turn()
            _add_calls(builder, calls, _CALL.findall(spoken), _ids(following), where, place)


def _ids(following: dict[str, Any]) -> list[str | None]:
    """The call ids in the results of the next turn; the calls themselves have none."""
    if following.get("from") not in ("tool", "observation"):
        return []
    return [_result(response)[0] for response in _RESPONSE.findall(text_of(following.get("value")))]


def _add_calls(
    builder: SessionBuilder, calls: CallPairing, written: list[str], ids: list[str | None], where: str, place: int
) -> None:
    for index, text in enumerate(written):
        try:
            call = as_object(decode(text.encode("utf-8", "replace")))
        except msgspec.DecodeError as error:
            builder.unreadable(where, f"a tool call that is not JSON: {error}")
            continue
        given = ids[index] if len(ids) == len(written) else None
        arguments = arguments_of(first_of(call, "arguments", "parameters"))
        calls.make_named(where, given, string(call.get("name")), arguments, place=place)


def _result(text: str) -> tuple[str | None, str | None, str]:
    """The id, tool and content of a result; just the text if it has no such fields."""
    try:
        value = decode(text.encode("utf-8", "replace"))
    except msgspec.DecodeError:
        return None, None, text
    fields = as_object(value)
    if "content" not in fields or not {"name", "tool_call_id"} & fields.keys():
        return None, None, text
    content = fields["content"]
    inner = content if isinstance(content, str) else msgspec.json.encode(content).decode()
    return identity(fields.get("tool_call_id")), string(fields.get("name")), inner
