"""Trajectories of mini-swe-agent: commands in a code block of the text, or as tool calls in newer versions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seasoned.history.builder import SessionBuilder
from seasoned.history.chat import ChatReader, spoken_text
from seasoned.history.coerce import (
    as_list,
    as_object,
    first_of,
    integer,
    kind_of,
    number,
    openai_usage,
    string,
    text_of,
    time_of,
)
from seasoned.history.formats import Sample
from seasoned.history.json_file import JsonValue, noting_unreadable, values
from seasoned.history.session_reader import SessionFormat
from seasoned.session import NO_MARKS, Marks, Session, Unreadable

NAME = "mini-swe-agent"
_FORMAT = SessionFormat(NAME, "mini-swe-agent")
# A command in the text of an answer, as the prompts of all versions ask for it.
_COMMAND = re.compile(r"```(?:mswea_bash_command|bash|sh)[ \t]*\n(.*?)\n?```", re.DOTALL)
_RETURNCODE = re.compile(r"\s*<returncode>\s*(-?\d{1,9})\s*</returncode>")
_REJECTED = "Command not executed. The user rejected your command"
_SUBMITTED = "Submitted"


def recognises(sample: Sample) -> bool:
    """Whether a record is such a trajectory, or messages show its commands and return codes."""
    return sample.kind in ("document", "lines") and any(map(_is_ours, sample.records))


def _is_ours(value: dict[str, Any]) -> bool:
    version = string(value.get("trajectory_format")) or ""
    info = as_object(value.get("info"))
    if version.startswith("mini-swe-agent") or ("mini_version" in info and "messages" in value):
        return True
    messages = as_list(value.get("messages")) if "messages" in value else [value]
    texts = [
        text_of(as_object(message).get("content"))[:20_000] for message in messages if "role" in as_object(message)
    ]
    return any("```mswea_bash_command" in text or _RETURNCODE.match(text) for text in texts)


def read(path: Path) -> Iterator[Session]:
    """One session: a trajectory, or a bare list of messages."""
    return _FORMAT.sessions(path, _parts(path), path.stem.removesuffix(".traj"))


def _parts(path: Path) -> Iterator[SessionBuilder | Unreadable]:
    stem = path.stem.removesuffix(".traj")
    bare: _MiniSweAgentReader | None = None
    for index, part in enumerate(values(path)):
        if isinstance(part, Unreadable):
            yield part
        elif isinstance(part.value, dict) and "messages" in part.value:
            native = stem if index == 0 else f"{stem}#{index}"
            yield _trajectory(_FORMAT.builder(path, native), part)
        else:
            if bare is None:
                bare = _MiniSweAgentReader(_FORMAT.builder(path, stem))
                yield bare.builder
            bare.add(part.value, part.where, part.place)


def _trajectory(builder: SessionBuilder, part: JsonValue[Any]) -> SessionBuilder:
    info = as_object(part.value.get("info"))
    builder.end_reason = string(info.get("exit_status"))
    if builder.end_reason is not None:
        builder.succeeded = builder.end_reason == _SUBMITTED and string(info.get("submission")) is not None
    builder.cost_usd = number(as_object(info.get("model_stats")).get("instance_cost"))
    config = as_object(info.get("config"))
    builder.model = string(as_object(config.get("model")).get("model_name"))
    builder.cwd = string(as_object(config.get("environment")).get("cwd"))
    messages = part.value.get("messages")
    if not isinstance(messages, list):
        builder.unreadable(part.where, f"{kind_of(messages)} where the messages should be")
    reader = _MiniSweAgentReader(builder)
    for position, message in enumerate(as_list(messages)):
        reader.add(message, f"{part.where}, message {position}", position)
    return builder


class _MiniSweAgentReader:
    """Reads messages with a command in the text and its output in the next user message."""

    def __init__(self, builder: SessionBuilder) -> None:
        self.builder = builder
        self._chat = ChatReader(builder, marks=_marks)

    def add(self, message: object, where: str, place: int) -> None:
        """Add one message."""
        with noting_unreadable(self.builder, where):
            fields = as_object(message)
            role = fields.get("role")
            if role == "exit":
                return
            text = spoken_text(fields.get("content"))
            if role == "user" and self._chat.calls.open:
                time = time_of(first_of(as_object(fields.get("extra")), "timestamp"))
                self._chat.calls.answer(None, text, _marks(fields), time=time, place=place)
                return
            response = as_object(as_object(fields.get("extra")).get("response"))
            self._chat.add(message, where=where, place=place, usage=openai_usage(response.get("usage")))
            if role == "assistant" and not fields.get("tool_calls"):
                self._add_command(text, place)

    def _add_command(self, text: str, place: int) -> None:
        # With no block or several the agent rejects the answer and runs nothing.
        commands = _COMMAND.findall(text)
        if len(commands) == 1:
            self._chat.calls.make(f"step_{place}", "bash", {"command": commands[0].strip()}, place=place)


def _marks(message: dict[str, Any]) -> Marks:
    text = text_of(message.get("content"))
    if text.startswith(_REJECTED):
        return Marks(declined=True)
    written = _RETURNCODE.match(text)
    code = integer(as_object(message.get("extra")).get("returncode"))
    if code is None and written is not None:
        code = int(written[1])
    return NO_MARKS if code is None else Marks(exit_code=code)
