"""Threads of Amp: one JSON document for each, with blocks in Anthropic's form."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from seasoned.history.builder import SessionBuilder
from seasoned.history.coerce import (
    arguments_of,
    as_list,
    as_object,
    first_of,
    identity,
    integer,
    string,
    text_of,
    time_of,
)
from seasoned.history.formats import Sample
from seasoned.history.json_file import documents, field, items
from seasoned.history.session_reader import (
    JsonDocument,
    SessionFormat,
    SessionReader,
    add_messages,
    note_times,
    set_parent,
    usage_from,
)
from seasoned.session import Marks, Session, Unreadable, Usage

NAME = "amp"
_FORMAT = SessionFormat(NAME, "amp")
_Fields = dict[str, Any]


def recognises(sample: Sample) -> bool:
    """Whether it is a document with the id and messages of a thread."""
    return sample.kind == "document" and any(
        str(one.get("id")).startswith("T-") and isinstance(one.get("messages"), list) and "created" in one
        for one in sample.records
    )


def read(path: Path) -> Iterator[Session]:
    """The session of a thread."""
    return _FORMAT.read_each(path, documents(path), _thread)


def _thread(path: Path, part: JsonDocument, _index: int) -> SessionBuilder | Unreadable:
    document = part.value
    if "messages" not in document:
        return Unreadable(part.where, "a document that is not a thread")
    builder = _FORMAT.builder(path, identity(field(document, "id")))
    builder.title = string(field(document, "title"))
    _set_place(builder, as_object(as_object(field(document, "env")).get("initial")))
    main_thread = as_object(field(document, "mainThread"))
    set_parent(builder, identity(main_thread.get("id")) or identity(field(document, "mainThreadID")))
    note_times(builder, "the head of the thread", field(document, "created"))
    add_messages(builder, items(document["messages"]), _AmpReader(builder).add)
    return builder


def _set_place(builder: SessionBuilder, about: _Fields) -> None:
    """The folder and the repository; of several trees the first."""
    tree = next((as_object(one) for one in as_list(about.get("trees"))), {})
    builder.cwd = file_path(tree.get("uri"))
    builder.remote = string(as_object(tree.get("repository")).get("url"))


def file_path(uri: object) -> str | None:
    """The path that a `file:` address names."""
    text = string(uri)
    if text is None or not text.startswith("file:"):
        return None
    try:
        path = unquote(urlsplit(text).path)
    except ValueError:
        return None
    # `file:///C:/work` has a slash before the drive.
    return (path[1:] if path[2:3] == ":" else path) or None


class _AmpReader(SessionReader):
    """Reads the messages of one thread."""

    def add(self, message: _Fields, where: str, place: int) -> None:
        """Add one message: its text, and its calls or results."""
        role = message.get("role")
        content = message.get("content")
        blocks = [as_object(one) for one in as_list(content)]
        usage = as_object(message.get("usage"))
        time = time_of(first_of(as_object(message.get("meta")), "sentAt")) or time_of(usage.get("timestamp"))
        said = [one for one in blocks if one.get("type") not in ("tool_use", "tool_result", "thinking", "summary")]
        text = text_of(said) if blocks else text_of(content)
        if role == "assistant":
            for block in blocks:
                self.builder.thinking(block.get("thinking"))
            model = string(usage.get("model"))
            self.builder.message("assistant", text, time=time, place=place, model=model, usage=_usage(usage))
            self.calls.turn()
        elif role in ("user", "info"):
            if text or not any(one.get("type") == "tool_result" for one in blocks):
                self.builder.message("user" if role == "user" else "system", text, time=time, place=place)
        else:
            self.builder.unreadable(where, f"a message whose role is {str(role)[:40]!r}")
        for block in blocks:
            if block.get("type") == "tool_use":
                asked, name = arguments_of(block.get("input")), string(block.get("name"))
                self.calls.make_named(where, block.get("id"), name, asked, time=time, place=place)
            elif block.get("type") == "tool_result":
                self._add_result(block, time, place)
            elif block.get("type") == "summary":
                self.builder.compaction()
                summary = text_of(first_of(as_object(block.get("summary")), "summary", "text"))
                self.builder.message("user", summary, time=time, place=place, summary=True)

    def _add_result(self, block: _Fields, time: float | None, place: int) -> None:
        run = as_object(block.get("run"))
        status = run.get("status")
        if status in ("in-progress", "queued", "blocked-on-user"):
            return
        result = first_of(run, "result", "error", "reason")
        shown = as_object(result)
        text = text_of(first_of(shown, "output", "content", "message") if shown else result)
        self.calls.answer(
            first_of(block, "toolUseID", "tool_use_id"), text, _marks(status, shown), time=time, place=place
        )


def _marks(status: object, result: _Fields) -> Marks:
    if status == "done":
        code = integer(result.get("exitCode"))
        # "done" means that the program ended; only the exit code says whether it worked.
        return Marks(failed=False) if code is None else Marks(exit_code=code)
    if status == "error":
        return Marks(failed=True)
    return Marks(declined=status == "rejected-by-user", interrupted=status == "cancelled")


def _usage(usage: _Fields) -> Usage | None:
    return usage_from(
        usage,
        input="inputTokens",
        output="outputTokens",
        cache_read="cacheReadInputTokens",
        cache_write="cacheCreationInputTokens",
    )
