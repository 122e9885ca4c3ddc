"""The export of ChatGPT: `conversations.json`, a tree of messages for each. Only conversations with calls are read.

A call is a message of the model to a tool (`recipient`), and its result the next message that the tool wrote.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seasoned.history.builder import SessionBuilder
from seasoned.history.call_pairing import CallPairing
from seasoned.history.chat import ROLES
from seasoned.history.coerce import (
    arguments_of,
    as_list,
    as_object,
    first_of,
    identity,
    string,
    text_of,
    time_of,
)
from seasoned.history.formats import Sample
from seasoned.history.json_file import documents, field, noting_unreadable
from seasoned.history.session_reader import JsonDocument, SessionFormat
from seasoned.session import NO_MARKS, Marks, Session, Unreadable

NAME = "chatgpt"
_FORMAT = SessionFormat(NAME, "chatgpt")
# Recipients of messages that are not calls.
_NO_TOOLS = frozenset({"", "all", "user", "assistant"})
_THOUGHTS = frozenset({"thoughts", "reasoning_recap"})
_MAX_STEPS_UP = 20  # from a tool's message up to its call; also ends cycles
_Nodes = dict[str, dict[str, Any]]


def recognises(sample: Sample) -> bool:
    """Whether a conversation of the export is among the records: a tree of nodes, and the one shown last."""
    return sample.kind in ("document", "lines") and any(
        isinstance(one.get("mapping"), dict) and "current_node" in one for one in sample.records
    )


def read(path: Path) -> Iterator[Session]:
    """Every conversation in which the model called a tool, with its abandoned branches."""
    return _FORMAT.read_each(path, documents(path), _conversation)


def _conversation(path: Path, part: JsonDocument, _index: int) -> SessionBuilder | Unreadable | None:
    document = part.value
    nodes: _Nodes = {key: as_object(one) for key, one in as_object(field(document, "mapping")).items()}
    if not nodes:
        return Unreadable(part.where, "a document that is not a conversation")
    if not any(_tool_of(as_object(node.get("message"))) for node in nodes.values()):
        return None
    native_id = identity(field(document, "conversation_id")) or identity(field(document, "id"))
    builder = _FORMAT.builder(path, native_id or f"{path.stem}/{part.where}")
    builder.application = NAME
    builder.title = string(field(document, "title"))
    builder.model = string(field(document, "default_model_slug"))
    calls = CallPairing(builder)
    for position, key in enumerate(_in_order(nodes)):
        message = as_object(nodes[key].get("message"))
        with noting_unreadable(builder, f"message {position}"):
            if message:
                _add(builder, calls, message, _asked_by(nodes, key), position)
    return builder


def _in_order(nodes: _Nodes) -> Iterator[str]:
    """The nodes of the tree, parents first and each branch as a whole; a node that is reached twice comes once."""
    children = [{str(child) for child in as_list(node.get("children"))} for node in nodes.values()]
    below = set().union(*children) if children else set()
    seen: set[str] = set()
    # Nodes without a parent come first; those in cycles come last.
    for start in [*[key for key in nodes if key not in below], *nodes]:
        waiting = [start]
        while waiting:
            key = waiting.pop()
            if key in seen or key not in nodes:
                continue
            seen.add(key)
            yield key
            waiting += [str(child) for child in reversed(as_list(nodes[key].get("children")))]


def _tool_of(message: dict[str, Any]) -> str | None:
    """The tool that a message of the model is for."""
    recipient = string(message.get("recipient")) or ""
    by_model = as_object(message.get("author")).get("role") == "assistant"
    return recipient if by_model and recipient not in _NO_TOOLS else None


def _asked_by(nodes: _Nodes, key: str) -> str:
    """The node of the call that a message of a tool answers: the nearest one above. Else the node itself."""
    above: object = key
    for _ in range(_MAX_STEPS_UP):
        node = nodes.get(str(above), {})
        if _tool_of(as_object(node.get("message"))):
            return str(above)
        above = node.get("parent")
    return key


def _add(builder: SessionBuilder, calls: CallPairing, message: dict[str, Any], key: str, place: int) -> None:
    author, about = as_object(message.get("author")), as_object(message.get("metadata"))
    role = ROLES.get(string(author.get("role")) or "")
    content = as_object(message.get("content"))
    time = time_of(message.get("create_time"))
    text = _text(content)
    model = string(about.get("model_slug"))
    tool = _tool_of(message)
    if role is None:
        builder.unreadable(f"message {place}", f"a message whose role is {str(author.get('role'))[:40]!r}")
    elif role == "tool":
        marks = _marks(content, about)
        # A tool may write several messages; the first one with content is the result.
        if text or marks != NO_MARKS:
            calls.answer(key, text, marks, time=time, place=place)
    elif tool is not None:
        builder.message("assistant", "", time=time, place=place, model=model)
        calls.turn()
        given = {"code": text} if tool == "python" else arguments_of(text)
        calls.make(key, tool, given, time=time, place=place)
    elif string(content.get("content_type")) in _THOUGHTS:
        thoughts = [text_of(first_of(as_object(one), "content", "summary")) for one in as_list(content.get("thoughts"))]
        builder.thinking("\n".join(thoughts))
    elif text:
        builder.message(role, text, time=time, place=place, model=model)


def _text(content: dict[str, Any]) -> str:
    """What a message says: parts, a text, or the result of browsing."""
    parts = content.get("parts")
    if isinstance(parts, list):
        return text_of(parts)
    return text_of(first_of(content, "text", "result", "content"))


def _marks(content: dict[str, Any], about: dict[str, Any]) -> Marks:
    """What the export says about a run of code; a message that was delivered says nothing about what it tells."""
    status = string(as_object(about.get("aggregate_result")).get("status")) or ""
    if status.startswith("failed") or content.get("content_type") == "system_error":
        return Marks(failed=True)
    if status == "cancelled":
        return Marks(interrupted=True)
    return Marks(failed=False) if status == "success" else NO_MARKS
