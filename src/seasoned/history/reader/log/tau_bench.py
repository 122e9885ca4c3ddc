"""Results of tau-bench: one record per run with its reward; calls as tool calls or as ReAct text."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from seasoned.history.builder import SessionBuilder
from seasoned.history.call_pairing import CallPairing
from seasoned.history.chat import ChatReader, spoken_text
from seasoned.history.coerce import arguments_of, as_object, identity, kind_of, number, string
from seasoned.history.formats import Sample
from seasoned.history.json_file import JsonValue, decode, noting_unreadable, values
from seasoned.history.session_reader import SessionFormat, unique_id
from seasoned.session import Session, Unreadable

NAME = "tau-bench"
_FORMAT = SessionFormat(NAME, "tau-bench")
# The words of the ReAct prompts of tau-bench.
_ACTION = "Action:"
_OUTPUT = "API output:"
# The action that talks to the user instead of calling a tool.
_RESPOND = "respond"


def recognises(sample: Sample) -> bool:
    """Whether the records are runs with a reward and a trajectory."""
    return any("traj" in value and "reward" in value and "task_id" in value for value in sample.records)


def read(path: Path) -> Iterator[Session]:
    """One session for each run."""
    return _FORMAT.read_each(path, values(path), partial(_run, set()))


def _run(seen: set[str], path: Path, part: JsonValue[Any], index: int) -> SessionBuilder | Unreadable:
    run = part.value
    if not isinstance(run, dict):
        return Unreadable(part.where, f"{kind_of(run)} where a run should be")
    task = identity(run.get("task_id"))
    trial = identity(run.get("trial"))
    native = f"{path.stem}/{f'item{index}' if task is None else task}" + ("" if trial is None else f".{trial}")
    builder = _FORMAT.builder(path, unique_id(native, index, seen))
    with noting_unreadable(builder, part.where):
        _add_run(builder, run, part.where)
    return builder


def _add_run(builder: SessionBuilder, run: dict[str, Any], where: str) -> None:
    info = as_object(run.get("info"))
    reward = number(run.get("reward"))
    builder.succeeded = None if reward is None else reward == 1.0
    if string(info.get("error")) is not None:
        builder.end_reason = "error"
    messages = run.get("traj")
    if not isinstance(messages, list):
        builder.unreadable(where, f"{kind_of(messages)} where the messages of a run should be")
        return
    if any("tool_calls" in as_object(m) and as_object(m)["tool_calls"] for m in messages) or not _is_react(messages):
        chat = ChatReader(builder)
        for position, message in enumerate(messages):
            with noting_unreadable(builder, f"{where}, message {position}"):
                chat.add(message, where=f"{where}, message {position}", place=position)
    else:
        _add_react(builder, messages, where)


def _is_react(messages: list[Any]) -> bool:
    return any(
        _action(spoken_text(as_object(m).get("content"))) for m in messages if as_object(m).get("role") == "assistant"
    )


def _add_react(builder: SessionBuilder, messages: list[Any], where: str) -> None:
    chat = ChatReader(builder)
    calls = CallPairing(builder, prefix="react")
    asked: str | None = None
    for position, message in enumerate(messages):
        place = f"{where}, message {position}"
        role = as_object(message).get("role")
        text = spoken_text(as_object(message).get("content"))
        with noting_unreadable(builder, place):
            if role == "user" and text.startswith(_OUTPUT) and asked is not None:
                calls.answer(asked, text.removeprefix(_OUTPUT).removeprefix(" "), place=position)
                asked = None
                continue
            chat.add(message, where=place, place=position)
            # An output belongs to the action right before it; an action followed by anything else was never run.
            asked = None
            action = _action(text) if role == "assistant" else None
            if action is not None and action[0] != _RESPOND:
                calls.turn()
                asked = calls.make(None, action[0], action[1], place=position)


def _action(text: str) -> tuple[str, dict[str, Any]] | None:
    """The call of a ReAct answer: the JSON after its last `Action:`, which must end the answer."""
    _, found, tail = text.rpartition(_ACTION)
    if not found:
        return None
    try:
        # If text follows, tau-bench treats the answer as a message to the user and runs nothing.
        value = decode(tail.encode("utf-8", "replace"))
    except msgspec.DecodeError:
        return None
    name = string(as_object(value).get("name"))
    return None if name is None else (name, arguments_of(as_object(value).get("arguments")))
