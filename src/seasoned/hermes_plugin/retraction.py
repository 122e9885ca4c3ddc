"""Retractions: one line in a conversation that was shown an example which turned out to do harm.

The block itself never changes. The line is put behind what was said last when it is first due, and stands there in
every later request, so that what the provider holds of the conversation stays the same.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from seasoned.template.library.guard import retraction
from seasoned.template.library.storage import Library, find_example

_MOST = 2000


class _RetractionLine(msgspec.Struct, frozen=True):
    """What is said, and behind which message: by its place and its words."""

    text: str
    place: int | None = None
    behind: str = ""


class Retractions:
    """The lines of living conversations."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lines: OrderedDict[str, _RetractionLine] = OrderedDict()

    def note(self, session: str, example_ids: Sequence[str], library: Library) -> bool:
        """Take back what a conversation was shown and is suspended now; whether there is something to take back."""
        found = [find_example(library, one) for one in sorted(example_ids) if library.state_of(one) == "suspended"]
        with self._lock:
            if not found or session in self._lines:
                return bool(found)
            self._lines[session] = _RetractionLine(retraction(found))
            if len(self._lines) > _MOST:
                self._lines.popitem(last=False)
        return True

    def put_in(self, session: str, messages: list[dict[str, Any]], *, may_begin: bool) -> list[dict[str, Any]]:
        """The messages with the line of their conversation, where it has one. `may_begin`: it may be said now."""
        with self._lock:
            line = self._lines.get(session)
            if line is None or not messages:
                return messages
            if not _stands(line, messages):
                if not may_begin:
                    return messages
                line = _RetractionLine(line.text, len(messages) - 1, _words(messages[-1]))
                self._lines[session] = line
        assert line.place is not None
        return [_with(one, line.text) if at == line.place else one for at, one in enumerate(messages)]


def _stands(line: _RetractionLine, messages: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the message is still there that the line was put behind; a compression takes it away."""
    return line.place is not None and line.place < len(messages) and _words(messages[line.place]) == line.behind


def _words(message: Mapping[str, Any]) -> str:
    """What a message says, whatever Hermes marks in it for the provider's cache."""
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"text": content}]
    said = [part.get("text") or part.get("tool_use_id") for part in parts if isinstance(part, Mapping)]
    return f"{message.get('role')} {message.get('tool_call_id')} {said}"


def _with(message: dict[str, Any], text: str) -> dict[str, Any]:
    content = message.get("content")
    if isinstance(content, list):
        return {**message, "content": [*content, {"type": "text", "text": text}]}
    return {**message, "content": f"{content}\n\n{text}" if content else text}
