"""Sessions of Pi: JSON Lines that form a tree, so that a user can go back and continue elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seasoned.history.coerce import (
    arguments_of,
    as_list,
    as_object,
    identity,
    integer,
    number,
    string,
    text_of,
)
from seasoned.history.formats import Sample
from seasoned.history.json_file import JsonValue
from seasoned.history.session_reader import EntryReader, SessionFormat, set_parent, usage_from
from seasoned.session import Marks, Session, Usage

NAME = "pi"
_FORMAT = SessionFormat(NAME, "pi")
# `2026-04-23T02-13-15-937Z_019db81c-….jsonl`: the id comes last.
_STAMP = re.compile(r"\A\d{4}-\d\d-\d\dT[\d-]+Z?_")
_EXIT_CODE = re.compile(r"\n\nCommand exited with code (-?\d{1,10})\s*\Z")
_INTERRUPTED = re.compile(r"(?:Command|Operation) aborted\s*\Z")
# Extensions speak to the model with these; before the third version they were called hooks.
_INJECTED = frozenset({"custom", "hookMessage"})


def recognises(sample: Sample) -> bool:
    """Whether it opens with Pi's header, or has messages that point to the entry before them."""
    return sample.may_be_lines and any(_is_header(value) or _is_entry(value) for value in sample.records)


def _is_header(value: dict[str, Any]) -> bool:
    return value.get("type") == "session" and "cwd" in value and "timestamp" in value and "id" in value


def _is_entry(value: dict[str, Any]) -> bool:
    return value.get("type") == "message" and "parentId" in value and "role" in as_object(value.get("message"))


def read(path: Path) -> Iterator[Session]:
    """One session of all entries, including those on abandoned branches: their calls did run."""
    return _FORMAT.read_entries(path, _PiReader, _header_id, _without_stamp(path.stem))


def _header_id(first: dict[str, Any]) -> str | None:
    return identity(first.get("id")) if first["type"] == "session" else None


def _without_stamp(stem: str) -> str:
    return _STAMP.sub("", stem) or stem


class _PiReader(EntryReader):
    """Reads the entries of one session."""

    def add_entry(self, kind: str, entry: dict[str, Any], time: float | None, part: JsonValue[Any]) -> None:
        """Add one entry of this type."""
        if kind == "message":
            self._add_message(as_object(entry.get("message")), time, part)
        elif kind == "session":
            self._add_header(entry)
        elif kind == "model_change":
            self.builder.model = string(entry.get("modelId")) or self.builder.model
        elif kind == "session_info":
            self.builder.title = string(entry.get("name")) or self.builder.title
        elif kind == "compaction":
            self.builder.compaction()
            self.builder.message("user", text_of(entry.get("summary")), time=time, place=part.place, summary=True)
        elif kind == "branch_summary":
            self.builder.message("user", text_of(entry.get("summary")), time=time, place=part.place, summary=True)
        elif kind == "custom_message":
            self.builder.message("system", text_of(entry.get("content")), time=time, place=part.place)

    def _add_header(self, header: dict[str, Any]) -> None:
        self.builder.cwd = string(header.get("cwd")) or self.builder.cwd
        parent = string(header.get("parentSession"))
        if parent is not None:
            # The path of the file that it was forked from, perhaps on Windows.
            set_parent(self.builder, _without_stamp(Path(parent.replace("\\", "/")).stem), "fork")

    def _add_message(self, message: dict[str, Any], time: float | None, part: JsonValue[Any]) -> None:
        role = message.get("role")
        if role == "user":
            self.builder.message("user", text_of(message.get("content")), time=time, place=part.place)
        elif role == "assistant":
            self._add_answer(message, time, part)
        elif role == "toolResult":
            self._add_result(message, time, part.place)
        elif role == "bashExecution":
            # A command that the user ran, not the agent. Its output is not part of the message.
            self.builder.message("user", f"!{text_of(message.get('command'))}", time=time, place=part.place)
        elif string(role) in _INJECTED:
            self.builder.message("system", text_of(message.get("content")), time=time, place=part.place)
        elif role in ("branchSummary", "compactionSummary"):
            self.builder.message("user", text_of(message.get("summary")), time=time, place=part.place, summary=True)
        else:
            self.builder.unreadable(part.where, f"a message whose role is {str(role)[:40]!r}")

    def _add_answer(self, message: dict[str, Any], time: float | None, part: JsonValue[Any]) -> None:
        content = message.get("content")
        blocks = [as_object(block) for block in as_list(content)]
        said = [block for block in blocks if block.get("type") not in ("toolCall", "thinking")]
        for block in blocks:
            self.builder.thinking(block.get("thinking"))
        self.builder.message(
            "assistant",
            text_of(said) if isinstance(content, list) else text_of(content),
            time=time,
            place=part.place,
            model=string(message.get("model")),
            usage=_usage(message),
        )
        cost = number(as_object(as_object(message.get("usage")).get("cost")).get("total"))
        if cost:
            # Zero is what Pi writes for a model whose price it does not know.
            self.builder.cost_usd = (self.builder.cost_usd or 0.0) + cost
        self.calls.turn()
        for block in blocks:
            if block.get("type") == "toolCall":
                arguments = arguments_of(block.get("arguments"))
                self.calls.make_named(
                    part.where, block.get("id"), string(block.get("name")), arguments, time=time, place=part.place
                )
        if message.get("stopReason") == "aborted":
            self.calls.amend_open(Marks(interrupted=True))

    def _add_result(self, message: dict[str, Any], time: float | None, place: int) -> None:
        text = text_of(message.get("content"))
        tool = string(message.get("toolName"))
        self.calls.answer(message.get("toolCallId"), text, _marks(message, text), tool=tool, time=time, place=place)


def _marks(message: dict[str, Any], text: str) -> Marks:
    failed = message.get("isError")
    if not isinstance(failed, bool):
        return Marks()
    said = _EXIT_CODE.search(text) if failed else None
    code = integer(as_object(message.get("details")).get("exitCode")) if said is None else int(said[1])
    stopped = failed and _INTERRUPTED.search(text) is not None
    return Marks(failed=None if stopped else failed, exit_code=code, interrupted=stopped)


def _usage(message: dict[str, Any]) -> Usage | None:
    usage = as_object(message.get("usage"))
    found = usage_from(usage, input="input", output="output", cache_read="cacheRead", cache_write="cacheWrite")
    # An answer that was stopped before it began has only zeros.
    return found if found is not None and found.total else None
