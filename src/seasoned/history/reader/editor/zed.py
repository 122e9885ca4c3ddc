"""Zed's agent panel: `threads.db`, which holds each thread as JSON, mostly compressed."""

from __future__ import annotations

import re
import sqlite3
from importlib import import_module
from pathlib import Path
from typing import Any

from seasoned.history.builder import SessionBuilder
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
from seasoned.history.json_file import noting_unreadable, stored
from seasoned.history.readonly import SessionDatabase
from seasoned.history.session_reader import SessionFormat, SessionReader, note_times, set_parent, usage_from
from seasoned.session import Marks, Usage

NAME = "zed"
_FORMAT = SessionFormat(NAME, "zed")
_EXIT_CODE = re.compile(r"\bexit(?:ed)? (?:with )?(?:code|status) (-?\d{1,10})\b", re.IGNORECASE)
_DECLINED = re.compile(
    r"\b(?:permission|tool use)\b.{0,30}\b(?:denied|rejected)|denied by (?:the )?user", re.IGNORECASE
)
_INTERRUPTED = re.compile(r"\b(?:canceled|cancelled) by (?:the )?user|\btool canceled\b", re.IGNORECASE)
_Fields = dict[str, Any]


def _thread(_connection: sqlite3.Connection, path: Path, row: _Fields) -> SessionBuilder:
    builder = _FORMAT.builder(path, str(row["id"]))
    builder.title = string(row.get("summary"))
    set_parent(builder, identity(row.get("parent_id")))
    folders = string(row.get("folder_paths"))
    builder.cwd = folders.splitlines()[0] if folders else None
    data = row["data"] if isinstance(row["data"], bytes) else str(row["data"]).encode()
    if row["data_type"] == "zstd":
        unpacked = _unpacked(builder, data)
        if unpacked is None:
            return builder
        data = unpacked
    thread = as_object(stored(builder, "the thread", data))
    reader = _ZedReader(builder, thread)
    for position, message in enumerate(as_list(thread.get("messages"))):
        where = f"message {position}"
        with noting_unreadable(builder, where):
            reader.add(message, where, position)
    note_times(builder, "the thread", thread.get("updated_at"), row.get("created_at"))
    return builder


_DATABASE = SessionDatabase(
    "Zed",
    {"threads": {"id", "summary", "updated_at", "data_type", "data"}},
    "SELECT id, updated_at, length(data) FROM threads",
    "SELECT * FROM threads ORDER BY updated_at, id",
    _thread,
)
recognises, stamps, read = _DATABASE.recognises, _DATABASE.stamps, _DATABASE.read


def _unpacked(builder: SessionBuilder, data: bytes) -> bytes | None:
    """The decompressed data: with Python since 3.14, before that with an optional package."""
    for name in ("compression.zstd", "zstandard"):
        try:
            module = import_module(name)
        except ImportError:
            continue
        is_own = name == "compression.zstd"
        unpack = module.decompress if is_own else module.ZstdDecompressor().decompressobj().decompress
        try:
            return bytes(unpack(data))
        except module.ZstdError:
            builder.unreadable("the thread", "its compression is damaged")
            return None
    builder.unreadable("the thread", "it is compressed: install the package zstandard to read it")
    return None


class _ZedReader(SessionReader):
    """Reads the messages of one thread."""

    def __init__(self, builder: SessionBuilder, thread: _Fields) -> None:
        super().__init__(builder)
        self._model = string(as_object(thread.get("model")).get("model"))
        self._used = as_object(thread.get("request_token_usage"))
        builder.model = self._model
        worktrees = as_list(as_object(thread.get("initial_project_snapshot")).get("worktree_snapshots"))
        for tree in map(as_object, worktrees[:1]):
            builder.cwd = builder.cwd or string(tree.get("worktree_path"))
            builder.remote = string(as_object(tree.get("git_state")).get("remote_url"))

    def add(self, message: object, where: str, place: int) -> None:
        """Add one message; its kind is the name of its only field, in older versions its role."""
        fields = as_object(message)
        if "User" in fields:
            user = as_object(fields["User"])
            text = "\n".join(_words(one) for one in as_list(user.get("content")))
            self.builder.message("user", text, place=place)
            self._usage = self._used.get(str(user.get("id")))
        elif "Agent" in fields:
            agent = as_object(fields["Agent"])
            self._add_agent(as_list(agent.get("content")), as_object(agent.get("tool_results")), where, place)
        elif "role" in fields:
            self._add_older(fields, where, place)
        elif message != "Resume":
            self.builder.unreadable(where, f"{kind_of(message)} where a message should be")

    _usage: object = None

    def _add_agent(self, content: list[Any], results: _Fields, where: str, place: int) -> None:
        text = "\n".join(filter(None, map(_words, content)))
        thoughts = (as_object(as_object(one).get("Thinking")).get("text") for one in content)
        self.builder.thinking("\n".join(map(text_of, thoughts)).strip())
        usage, self._usage = _usage(as_object(self._usage)), None
        self.builder.message("assistant", text, place=place, model=self._model, usage=usage)
        self.calls.turn()
        for use in (as_object(as_object(one).get("ToolUse")) for one in content):
            if use:
                asked, name = arguments_of(use.get("input")), string(use.get("name"))
                self.calls.make_named(where, use.get("id"), name, asked, place=place)
        for call_id, result in results.items():
            self._add_result(call_id, as_object(result), place)

    def _add_older(self, fields: _Fields, where: str, place: int) -> None:
        text = text_of([one for one in as_list(fields.get("segments")) if as_object(one).get("type") == "text"])
        role = fields["role"]
        if role not in ("user", "assistant", "system"):
            self.builder.unreadable(where, f"a message whose role is {str(role)[:40]!r}")
            return
        self.builder.message(role, text, place=place, model=self._model if role == "assistant" else None)
        self.calls.turn()
        for use in map(as_object, as_list(fields.get("tool_uses"))):
            asked, name = arguments_of(use.get("input")), string(use.get("name"))
            self.calls.make_named(where, use.get("id"), name, asked, place=place)
        for result in map(as_object, as_list(fields.get("tool_results"))):
            self._add_result(result.get("tool_use_id"), result, place)

    def _add_result(self, call_id: object, result: _Fields, place: int) -> None:
        content = first_of(result, "content", "output")
        text = "\n".join(map(_words, content)) if isinstance(content, list) else _words(content)
        failed = result.get("is_error")
        marks = _marks(text, failed=failed if isinstance(failed, bool) else None)
        self.calls.answer(call_id, text, marks, tool=string(result.get("tool_name")), place=place)


def _words(part: object) -> str:
    """The text of a part, which is named by its only field: `{"Text": "…"}`; without thoughts and calls."""
    fields = as_object(part)
    if not fields:
        return text_of(part)
    if fields.keys() & {"Thinking", "RedactedThinking", "ToolUse"}:
        return ""
    return text_of(first_of(fields, "Text", "text", "Mention") or part)


def _marks(text: str, *, failed: bool | None) -> Marks:
    if failed and _DECLINED.search(text[:200]):
        return Marks(declined=True)
    if failed and _INTERRUPTED.search(text[:200]):
        return Marks(interrupted=True)
    # A failed command is not an error of the tool: its exit code precedes or follows the output.
    code = _EXIT_CODE.search(text[:200]) or _EXIT_CODE.search(text[-200:])
    return Marks(exit_code=int(code[1])) if code and not failed else Marks(failed=failed)


def _usage(used: _Fields) -> Usage | None:
    return usage_from(
        used,
        input="input_tokens",
        output="output_tokens",
        cache_read="cache_read_input_tokens",
        cache_write="cache_creation_input_tokens",
    )
