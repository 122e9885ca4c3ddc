"""The export of Claude.ai: `conversations.json`, with blocks in Anthropic's form. Those without calls are skipped."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from seasoned.history.builder import SessionBuilder
from seasoned.history.call_pairing import CallPairing
from seasoned.history.chat import spoken_text
from seasoned.history.coerce import arguments_of, as_list, as_object, identity, string, text_of, time_of
from seasoned.history.formats import Sample
from seasoned.history.json_file import documents, field, items
from seasoned.history.session_reader import JsonDocument, SessionFormat, add_messages
from seasoned.session import Marks, Session, Unreadable

NAME = "claude-ai"
_FORMAT = SessionFormat(NAME, "claude-ai")


def recognises(sample: Sample) -> bool:
    """Whether a conversation of the export is among the records."""
    return sample.kind in ("document", "lines") and any(
        isinstance(one.get("chat_messages"), list) and "uuid" in one for one in sample.records
    )


def read(path: Path) -> Iterator[Session]:
    """Every conversation in which the model called a tool."""
    return _FORMAT.read_each(path, documents(path), _conversation)


def _conversation(path: Path, part: JsonDocument, _index: int) -> SessionBuilder | Unreadable | None:
    document = part.value
    if "chat_messages" not in document:
        return Unreadable(part.where, "a document that is not a conversation")
    # Most conversations of an export have no calls, so there is nothing to learn from them.
    if b'"tool_use"' not in bytes(document["chat_messages"]):
        return None
    native_id = identity(field(document, "uuid")) or f"{path.stem}/{part.where}"
    builder = _FORMAT.builder(path, native_id)
    builder.application = NAME
    builder.title = string(field(document, "name"))
    builder.model = string(field(document, "model"))
    add_messages(builder, items(document["chat_messages"]), partial(_add, builder, CallPairing(builder)))
    return builder


def _add(builder: SessionBuilder, calls: CallPairing, message: dict[str, Any], where: str, place: int) -> None:
    """Add one message. A turn of the model is one of them, with the results between its other blocks."""
    time = time_of(message.get("created_at"))
    blocks = [as_object(one) for one in as_list(message.get("content"))]
    sender = message.get("sender")
    if sender == "human":
        said = [one for one in blocks if one.get("type") == "text"]
        builder.message("user", spoken_text(said) or string(message.get("text")) or "", time=time, place=place)
        return
    if sender != "assistant":
        builder.unreadable(where, f"a message whose sender is {str(sender)[:40]!r}")
        return
    calls.turn()
    for block in blocks or [{"type": "text", "text": message.get("text")}]:
        at = time_of(block.get("start_timestamp")) or time
        builder.thinking(block.get("thinking"))
        if block.get("type") == "text":
            builder.message("assistant", text_of(block.get("text")), time=at, place=place)
        elif block.get("type") == "tool_use":
            name, given = string(block.get("name")), arguments_of(block.get("input"))
            calls.make_named(where, block.get("id"), name, given, time=at, place=place)
        elif block.get("type") == "tool_result":
            failed = block.get("is_error")
            marks = Marks(failed=failed if isinstance(failed, bool) else None)
            tool = string(block.get("name"))
            calls.answer(
                block.get("tool_use_id"), text_of(block.get("content")), marks, tool=tool, time=at, place=place
            )
