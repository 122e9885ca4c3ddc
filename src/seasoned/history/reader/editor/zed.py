"""Zed's agent panel: `threads.db`, which holds each thread as JSON, mostly compressed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from seasoned.history.builder import SessionBuilder
from seasoned.history.call_pairing import CallPairing
from seasoned.history.coerce import (
    arguments_of,
    as_list,
    as_object,
    count,
    first_of,
    identity,
    kind_of,
    known_usage,
    string,
    text_of,
    time_of,
)
from seasoned.history.formats import Sample
from seasoned.history.json_file import noting_unreadable, stored
from seasoned.history.readonly import open_readonly, require_tables
from seasoned.session import Marks, Session, SessionRef, Usage

NAME = "zed"
_AGENT = "zed"
_NEEDED = {"threads": {"id", "summary", "updated_at", "data_type", "data"}}
_EXIT = re.compile(r"\bexit(?:ed)? (?:with )?(?:code|status) (-?\d{1,10})\b", re.IGNORECASE)
_SAID_NO = re.compile(r"\b(?:permission|tool use)\b.{0,30}\b(?:denied|rejected)|denied by (?:the )?user", re.IGNORECASE)
_STOPPED = re.compile(r"\b(?:canceled|cancelled) by (?:the )?user|\btool canceled\b", re.IGNORECASE)
_Fields = dict[str, Any]


def recognises(sample: Sample) -> bool:
    """A database that has Zed's table."""
    return sample.has_tables(_NEEDED)


def stamps(path: Path) -> dict[str, str]:
    """A stamp for each thread that changes with it, so that a rescan reads only what is new."""
    with open_readonly(path) as connection:
        rows = connection.execute("SELECT id, updated_at, length(data) FROM threads")
        return {str(row[0]): f"{row[1]}.{row[2]}" for row in rows}


def read(path: Path, only: Collection[str] | None = None) -> Iterator[Session]:
    """Every thread of the database, oldest first; `only` selects them by id."""
    with open_readonly(path) as connection:
        require_tables(connection, path, "Zed", _NEEDED)
        for row in connection.execute("SELECT * FROM threads ORDER BY updated_at, id"):
            fields = dict(row)
            if only is None or str(fields["id"]) in only:
                yield _thread(path, fields)


def _thread(path: Path, row: _Fields) -> Session:
    builder = SessionBuilder(SessionRef(_AGENT, str(row["id"])), format=NAME, path=str(path))
    builder.title = string(row.get("summary"))
    parent = identity(row.get("parent_id"))
    if parent is not None:
        builder.parent, builder.relation = SessionRef(_AGENT, parent), "subagent"
    folders = string(row.get("folder_paths"))
    builder.cwd = folders.splitlines()[0] if folders else None
    data = row["data"] if isinstance(row["data"], bytes) else str(row["data"]).encode()
    if row["data_type"] == "zstd":
        unpacked = _unpacked(builder, data)
        if unpacked is None:
            return builder.take()
        data = unpacked
    thread = as_object(stored(builder, "the thread", data))
    reader = _ZedReader(builder, thread)
    for position, message in enumerate(as_list(thread.get("messages"))):
        where = f"message {position}"
        with noting_unreadable(builder, where):
            reader.add(message, where, position)
    with noting_unreadable(builder, "the thread"):
        for time in (time_of(thread.get("updated_at")), time_of(row.get("created_at"))):
            if time is not None:
                builder.seen_at(time)
    return builder.take()


def _unpacked(builder: SessionBuilder, data: bytes) -> bytes | None:
    """What was compressed. Python can since 3.14; before, with a package that not every installation has."""
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
    builder.unreadable("the thread", "it is compressed; install the package zstandard to read it")
    return None


class _ZedReader:
    """Reads the messages of one thread."""

    def __init__(self, builder: SessionBuilder, thread: _Fields) -> None:
        self._builder = builder
        self._calls = CallPairing(builder)
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
            self._builder.message("user", text, place=place)
            self._usage = self._used.get(str(user.get("id")))
        elif "Agent" in fields:
            agent = as_object(fields["Agent"])
            self._add_agent(as_list(agent.get("content")), as_object(agent.get("tool_results")), where, place)
        elif "role" in fields:
            self._add_older(fields, where, place)
        elif message != "Resume":
            self._builder.unreadable(where, f"{kind_of(message)} where a message should be")

    _usage: object = None

    def _add_agent(self, content: list[Any], results: _Fields, where: str, place: int) -> None:
        text = "\n".join(filter(None, map(_words, content)))
        thoughts = (as_object(as_object(one).get("Thinking")).get("text") for one in content)
        self._builder.thinking("\n".join(map(text_of, thoughts)).strip())
        usage, self._usage = _usage(as_object(self._usage)), None
        self._builder.message("assistant", text, place=place, model=self._model, usage=usage)
        self._calls.turn()
        for use in (as_object(as_object(one).get("ToolUse")) for one in content):
            if use:
                asked, name = arguments_of(use.get("input")), string(use.get("name"))
                self._calls.make_named(where, use.get("id"), name, asked, place=place)
        for call_id, result in results.items():
            self._add_result(call_id, as_object(result), place)

    def _add_older(self, fields: _Fields, where: str, place: int) -> None:
        text = text_of([one for one in as_list(fields.get("segments")) if as_object(one).get("type") == "text"])
        role = fields["role"]
        if role not in ("user", "assistant", "system"):
            self._builder.unreadable(where, f"a message whose role is {str(role)[:40]!r}")
            return
        self._builder.message(role, text, place=place, model=self._model if role == "assistant" else None)
        self._calls.turn()
        for use in map(as_object, as_list(fields.get("tool_uses"))):
            asked, name = arguments_of(use.get("input")), string(use.get("name"))
            self._calls.make_named(where, use.get("id"), name, asked, place=place)
        for result in map(as_object, as_list(fields.get("tool_results"))):
            self._add_result(result.get("tool_use_id"), result, place)

    def _add_result(self, call_id: object, result: _Fields, place: int) -> None:
        content = first_of(result, "content", "output")
        text = "\n".join(map(_words, content)) if isinstance(content, list) else _words(content)
        failed = result.get("is_error")
        marks = _marks(text, failed=failed if isinstance(failed, bool) else None)
        self._calls.answer(call_id, text, marks, tool=string(result.get("tool_name")), place=place)


def _words(part: object) -> str:
    """The text of a part, which is named by its only field: `{"Text": "…"}`; without thoughts and calls."""
    fields = as_object(part)
    if not fields:
        return text_of(part)
    if fields.keys() & {"Thinking", "RedactedThinking", "ToolUse"}:
        return ""
    return text_of(first_of(fields, "Text", "text", "Mention") or part)


def _marks(text: str, *, failed: bool | None) -> Marks:
    if failed and _SAID_NO.search(text[:200]):
        return Marks(declined=True)
    if failed and _STOPPED.search(text[:200]):
        return Marks(interrupted=True)
    # A failed command is not an error of the tool; its code stands before or behind the output.
    code = _EXIT.search(text[:200]) or _EXIT.search(text[-200:])
    return Marks(exit_code=int(code[1])) if code and not failed else Marks(failed=failed)


def _usage(used: _Fields) -> Usage | None:
    return known_usage(
        Usage(
            input=count(used.get("input_tokens")),
            output=count(used.get("output_tokens")),
            cache_read=count(used.get("cache_read_input_tokens")),
            cache_write=count(used.get("cache_creation_input_tokens")),
        )
    )
