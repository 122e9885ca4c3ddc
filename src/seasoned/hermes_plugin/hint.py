"""Hints after failed calls of a running conversation, the same in every later request.

A conversation repeats its results in every request, and providers cache what was sent. So the hint after a result is
decided once, when the result is first sent, and stored: every later request and process sends the same bytes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any

from seasoned.lesson.ask import LessonLookup
from seasoned.marks import HINT_OPENS
from seasoned.session import ToolCall
from seasoned.store import Store

_MOST = 2000


class CallHints:
    """The hints of running conversations, by the id of the call whose result they follow."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._lines: OrderedDict[str, dict[str, str]] = OrderedDict()

    def known(self, conversation: str) -> Mapping[str, str] | None:
        """The hints of a conversation that are in memory; None if it was not looked up yet."""
        with self._lock:
            return self._lines.get(conversation)

    def lines(self, store: Store, conversation: str) -> dict[str, str]:
        """The hints of a conversation, also from before this process; an empty text means that there is none."""
        with self._lock:
            found = self._lines.get(conversation)
        if found is not None:
            return found
        rows = store.rows("lesson.told_at_calls", {"conversation": conversation})
        read = {row["call_id"]: HINT_OPENS + row["text"] for row in rows}
        with self._lock:
            found = self._lines.setdefault(conversation, read)
            if len(self._lines) > _MOST:
                self._lines.popitem(last=False)
        return found

    def decide(self, lookup: LessonLookup, call: ToolCall, *, agent: str, is_late: Callable[[], bool]) -> str:
        """The hint after the result of a call: what repaired such a failure in its project, once a conversation.

        `is_late` tells whether the result was sent without one, because the decision took too long: it stays so.
        """
        lines = self.lines(lookup.store, lookup.conversation)
        if call.id not in lines:
            text = _hint(lookup, call, agent)
            with self._lock:
                told = bool(text) and not is_late() and lookup.tell_once("after", text, call_id=call.id)
                lines[call.id] = HINT_OPENS + text if told else ""
        return lines[call.id]


def with_lines(messages: Sequence[dict[str, Any]], lines: Mapping[str, str]) -> list[dict[str, Any]]:
    """Messages of OpenAI or Anthropic with each hint after the result it belongs to, once."""
    left = {call_id: line for call_id, line in lines.items() if line}
    return [_with_line(message, left) for message in messages] if left else list(messages)


def _with_line(message: dict[str, Any], left: dict[str, str]) -> dict[str, Any]:
    content = message.get("content")
    if message.get("role") == "tool":
        line = left.pop(str(message.get("tool_call_id")), "")
        return {**message, "content": followed(content, line)} if line else message
    if isinstance(content, list) and any(_result_id(part) in left for part in content):
        parts = [
            {**part, "content": followed(part.get("content"), left.pop(key))}
            if (key := _result_id(part)) in left
            else part
            for part in content
        ]
        return {**message, "content": parts}
    return message


def _result_id(part: object) -> str:
    """The call that a part of an Anthropic message answers; empty for another part."""
    is_result = isinstance(part, dict) and part.get("type") == "tool_result"
    return str(part.get("tool_use_id")) if is_result and isinstance(part, dict) else ""


def followed(content: object, line: str) -> object:
    """What a message or system prompt says, with a line behind it."""
    if isinstance(content, list):
        return [*content, {"type": "text", "text": line}]
    return f"{content}\n\n{line}" if content else line


def _hint(lookup: LessonLookup, call: ToolCall, agent: str) -> str:
    if call.result is None or not call.result.text.strip():
        return ""
    # Most results are no known failure. Judging takes longer than the lookup, so it comes second.
    text = lookup.after(call.tool, call.arguments, call.result.text)
    if not text:
        return ""
    from seasoned.outcome.judge import judge

    return text if judge(call, agent=agent).verdict == "failed" else ""
