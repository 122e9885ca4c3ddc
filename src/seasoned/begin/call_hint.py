"""Hints at calls for agents that are reached by messages: a line behind the result of a call that failed.

A conversation repeats its results in every request, and providers cache what was sent. So what stands behind a result
is decided once, when the result is first sent, and kept: the same bytes follow in every later request and process.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

from seasoned.experience.ask import Asking
from seasoned.marks import HINT_OPENS
from seasoned.session import ToolCall
from seasoned.store import Store

_MOST = 2000


class CallHints:
    """The lines of living conversations, each by the id of the call behind whose result it stands."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._lines: OrderedDict[str, dict[str, str]] = OrderedDict()

    def known(self, conversation: str) -> Mapping[str, str] | None:
        """The lines of a conversation as far as they are in memory; None if it was not looked up yet."""
        with self._lock:
            return self._lines.get(conversation)

    def lines(self, store: Store, conversation: str) -> dict[str, str]:
        """The lines of a conversation, also those from before this process; an empty one says that there is none."""
        with self._lock:
            found = self._lines.get(conversation)
        if found is not None:
            return found
        rows = store.rows("experience.told_at_calls", {"conversation": conversation})
        read = {row["call_id"]: HINT_OPENS + row["text"] for row in rows}
        with self._lock:
            found = self._lines.setdefault(conversation, read)
            if len(self._lines) > _MOST:
                self._lines.popitem(last=False)
        return found

    def decide(self, asking: Asking, call: ToolCall, *, agent: str) -> str:
        """The line behind the result of a call: what repaired such a failure in its project, once a conversation."""
        lines = self.lines(asking.store, asking.conversation)
        if call.id not in lines:
            text = _hint(asking, call, agent)
            told = bool(text) and asking.once("after", text, call_id=call.id)
            lines[call.id] = HINT_OPENS + text if told else ""
        return lines[call.id]

    def pass_over(self, conversation: str, call_id: str) -> None:
        """A result went as it is because the decision took too long: it stays so."""
        with self._lock:
            self._lines.setdefault(conversation, {}).setdefault(call_id, "")


def with_lines(messages: Sequence[dict[str, Any]], lines: Mapping[str, str]) -> list[dict[str, Any]]:
    """Messages of OpenAI or Anthropic with the lines behind the results that they belong to, each once."""
    left = {call_id: line for call_id, line in lines.items() if line}
    return [_with_line(message, left) for message in messages] if left else list(messages)


def _with_line(message: dict[str, Any], left: dict[str, str]) -> dict[str, Any]:
    content = message.get("content")
    if message.get("role") == "tool":
        line = left.pop(str(message.get("tool_call_id")), "")
        return {**message, "content": _followed(content, line)} if line else message
    if isinstance(content, list) and any(_result_id(part) in left for part in content):
        parts = [
            {**part, "content": _followed(part.get("content"), left.pop(key))}
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


def _followed(content: object, line: str) -> object:
    if isinstance(content, list):
        return [*content, {"type": "text", "text": line}]
    return f"{content}\n\n{line}" if content else line


def _hint(asking: Asking, call: ToolCall, agent: str) -> str:
    if call.result is None or not call.result.text.strip():
        return ""
    # Most results are not those of a known failure. Judging takes longer than looking that up, so it comes second.
    text = asking.after(call.tool, call.arguments, call.result.text)
    if not text:
        return ""
    from seasoned.outcome.judge import judge

    return text if judge(call, agent=agent).verdict == "failed" else ""


def knows_repairs(store: Store, project: str) -> bool:
    """Whether there is anything that could be told after a failure in this project."""
    return store.row("experience.knows_repairs", {"project": project}) is not None
