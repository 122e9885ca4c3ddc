"""Results of tau-bench: one record a run, with its reward; calls as tool calls, or as ReAct text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from seasoned.history.builder import SessionBuilder
from seasoned.history.call_pairing import CallPairing
from seasoned.history.chat import ChatTeller, said
from seasoned.history.coerce import arguments_of, identity, kind_of, number, record, string
from seasoned.history.formats import Sample
from seasoned.history.json_file import decode, reading, spread, values
from seasoned.session import Session, SessionRef, Unreadable

NAME = "tau-bench"
_AGENT = "tau-bench"
_ACTION = "Action:"
_OUTPUT = "API output:"
_RESPOND = "respond"


def recognises(sample: Sample) -> bool:
    """Whether the records are runs with a reward and a trajectory."""
    return any("traj" in value and "reward" in value and "task_id" in value for value in sample.records)


def read(path: Path) -> Iterator[Session]:
    """A session a run."""
    return spread(_parts(path), SessionRef(_AGENT, path.stem), format=NAME, path=path)


def _parts(path: Path) -> Iterator[SessionBuilder | Unreadable]:
    seen: set[str] = set()
    for index, part in enumerate(values(path)):
        if isinstance(part, Unreadable):
            yield part
        elif not isinstance(part.value, dict):
            yield Unreadable(part.where, f"{kind_of(part.value)} where a run should be")
        else:
            builder = SessionBuilder(
                SessionRef(_AGENT, _native_id(path, part.value, index, seen)), format=NAME, path=str(path)
            )
            with reading(builder, part.where):
                _tell_run(builder, part.value, part.where)
            yield builder


def _native_id(path: Path, run: dict[str, Any], index: int, seen: set[str]) -> str:
    task = identity(run.get("task_id"))
    trial = identity(run.get("trial"))
    native = f"{path.stem}/{f'item{index}' if task is None else task}" + ("" if trial is None else f".{trial}")
    if native in seen:
        native = f"{native}#{index}"
    seen.add(native)
    return native


def _tell_run(builder: SessionBuilder, run: dict[str, Any], where: str) -> None:
    info = record(run.get("info"))
    reward = number(run.get("reward"))
    builder.succeeded = None if reward is None else reward == 1.0
    if string(info.get("error")) is not None:
        builder.end_reason = "error"
    messages = run.get("traj")
    if not isinstance(messages, list):
        builder.unreadable(where, f"{kind_of(messages)} where the messages of a run should be")
        return
    if any("tool_calls" in record(m) and record(m)["tool_calls"] for m in messages) or not _is_react(messages):
        chat = ChatTeller(builder)
        for position, message in enumerate(messages):
            with reading(builder, f"{where}, message {position}"):
                chat.tell(message, where=f"{where}, message {position}", place=position)
    else:
        _tell_react(builder, messages, where)


def _is_react(messages: list[Any]) -> bool:
    return any(_action(said(record(m).get("content"))) for m in messages if record(m).get("role") == "assistant")


def _tell_react(builder: SessionBuilder, messages: list[Any], where: str) -> None:
    chat = ChatTeller(builder)
    calls = CallPairing(builder, prefix="react")
    asked: str | None = None
    for position, message in enumerate(messages):
        place = f"{where}, message {position}"
        role = record(message).get("role")
        text = said(record(message).get("content"))
        with reading(builder, place):
            if role == "user" and text.startswith(_OUTPUT) and asked is not None:
                calls.answer(asked, text.removeprefix(_OUTPUT).removeprefix(" "), place=position)
                asked = None
                continue
            chat.tell(message, where=place, place=position)
            # An output answers the action right before it; anything else between them says it was never run.
            asked = None
            action = _action(text) if role == "assistant" else None
            if action is not None and action[0] != _RESPOND:
                calls.turn()
                asked = calls.make(None, action[0], action[1], place=position)


def _action(text: str) -> tuple[str, dict[str, Any]] | None:
    """The call that a ReAct answer makes: the JSON after its last `Action:`, with which the answer must end."""
    _, found, tail = text.rpartition(_ACTION)
    if not found:
        return None
    try:
        # With more text behind it, tau-bench takes the whole for words to the user and runs nothing.
        value = decode(tail.encode("utf-8", "replace"))
    except msgspec.DecodeError:
        return None
    name = string(record(value).get("name"))
    return None if name is None else (name, arguments_of(record(value).get("arguments")))
