"""Messages in OpenAI's formats: chat messages and items of the Responses API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from seasoned.history.builder import SessionBuilder
from seasoned.history.call_pairing import CallPairing
from seasoned.history.coerce import (
    arguments_of,
    as_list,
    as_object,
    first_of,
    identity,
    kind_of,
    openai_usage,
    string,
    text_of,
    time_of,
)
from seasoned.session import NO_MARKS, Marks, Role, Usage

ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "model": "assistant",
    "ai": "assistant",
    "gpt": "assistant",
    "tool": "tool",
    "function": "tool",
}
# Reasoning is not part of what the model said to the user.
_THOUGHT = frozenset({"thinking", "redacted_thinking", "reasoning", "reasoning_text"})
_CALL_ITEMS = frozenset({"function_call", "custom_tool_call", "mcp_call"})
_RESULT_ITEMS = frozenset({"function_call_output", "custom_tool_call_output", "computer_call_output"})
# Tools that the provider runs: their items have no name, so the type gives one.
_HOSTED_ITEMS = frozenset(
    {"web_search_call", "file_search_call", "computer_call", "code_interpreter_call", "image_generation_call"}
    | {"local_shell_call", "shell_call", "apply_patch_call"}
)
# Items that are neither text nor calls.
_SILENT_ITEMS = frozenset({"reasoning", "item_reference", "compaction", "mcp_list_tools"})
ITEMS = _CALL_ITEMS | _RESULT_ITEMS | _HOSTED_ITEMS | _SILENT_ITEMS

MarksOf = Callable[[dict[str, Any]], Marks]


def no_marks(_message: dict[str, Any]) -> Marks:
    """The marks of sources that record only the text: none."""
    return NO_MARKS


def spoken_text(content: object) -> str:
    """The text of a content without its reasoning parts."""
    if isinstance(content, list):
        content = [part for part in content if string(as_object(part).get("type")) not in _THOUGHT]
    return text_of(content)


def is_message(value: object) -> bool:
    """Whether this looks like a chat message, or an item of the Responses API."""
    if not isinstance(value, dict):
        return False
    if string(value.get("type")) in ITEMS:
        return True
    return isinstance(role := value.get("role"), str) and role in ROLES


class ChatReader:
    """Adds messages and items to a builder."""

    def __init__(self, builder: SessionBuilder, *, marks: MarksOf = no_marks) -> None:
        self.builder = builder
        self.calls = CallPairing(builder)
        self._marks = marks
        self._speaker: Role | None = None

    def add(self, message: object, *, where: str, place: int = 0, usage: Usage | None = None) -> None:
        """Add one message or item."""
        if not isinstance(message, dict):
            self.builder.unreadable(where, f"{kind_of(message)} where a message should be")
            return
        kind = message.get("type")
        if isinstance(kind, str) and kind in ITEMS:
            self._add_item(kind, message, where, place)
            return
        role = ROLES.get(message["role"]) if isinstance(message.get("role"), str) else None
        if role is None:
            self.builder.unreadable(where, f"a message whose role is {str(message.get('role'))[:40]!r}")
        elif role == "tool":
            self._add_result(message, place)
        else:
            self._add_words(role, message, where, place, usage)

    def _add_words(self, role: Role, message: dict[str, Any], where: str, place: int, usage: Usage | None) -> None:
        time = time_of(first_of(message, "timestamp", "created_at", "time", "created"))
        text = spoken_text(message.get("content")) or string(message.get("refusal")) or ""
        model = string(message.get("model")) if role == "assistant" else None
        if usage is None and role == "assistant":
            usage = openai_usage(message.get("usage"))
        self.builder.thinking(first_of(message, "reasoning_content", "reasoning"))
        self.builder.message(role, text, time=time, place=place, model=model, usage=usage)
        self._speaker = role
        if role == "assistant":
            self.calls.turn()
            self._add_calls(message, where, time, place)

    def _add_calls(self, message: dict[str, Any], where: str, time: float | None, place: int) -> None:
        calls = message.get("tool_calls")
        if calls is not None and not isinstance(calls, list):
            self.builder.unreadable(where, f"{kind_of(calls)} where a list of tool calls should be")
        for call in as_list(calls):
            self._add_call(call, where, time, place)
        if (legacy := message.get("function_call")) is not None:
            self._add_call({"function": legacy}, where, time, place)

    def _add_call(self, call: object, where: str, time: float | None, place: int) -> None:
        fields = as_object(call)
        function = fields.get("function")
        if isinstance(function, str):
            # Some loggers write the name where OpenAI has an object.
            function = {"name": function, "arguments": fields.get("arguments")}
        inner = as_object(function) or fields
        name = string(inner.get("name")) or string(fields.get("name"))
        arguments = arguments_of(first_of(inner, "arguments", "args", "input", "parameters"))
        self.calls.make_named(where, first_of(fields, "id", "call_id"), name, arguments, time=time, place=place)

    def _add_result(self, message: dict[str, Any], place: int) -> None:
        self.calls.answer(
            first_of(message, "tool_call_id", "call_id"),
            text_of(message.get("content")),
            self._marks(message),
            tool=string(first_of(message, "name", "tool_name")),
            time=time_of(first_of(message, "timestamp", "created_at", "time", "created")),
            place=place,
        )
        self._speaker = "tool"

    def _add_item(self, kind: str, item: dict[str, Any], where: str, place: int) -> None:
        time = time_of(first_of(item, "timestamp", "created_at"))
        if kind in _SILENT_ITEMS:
            return
        if kind in _RESULT_ITEMS:
            self.calls.answer(item.get("call_id"), text_of(item.get("output")), time=time, place=place)
            self._speaker = "tool"
            return
        name = string(item.get("name")) or (kind.removesuffix("_call") if kind in _HOSTED_ITEMS else None)
        if name is None:
            self.builder.unreadable(where, "a tool call without a tool name")
            return
        # The Responses API lists calls as items of their own, without a message around them.
        if self._speaker != "assistant":
            self.builder.message("assistant", time=time, place=place)
            self.calls.turn()
            self._speaker = "assistant"
        arguments = arguments_of(first_of(item, "arguments", "input", "action", "queries"))
        call_id = self.calls.make(first_of(item, "call_id", "id"), name, arguments, time=time, place=place)
        if kind == "mcp_call" and (item.get("output") is not None or item.get("error") is not None):
            failed = True if item.get("error") is not None else None
            text = text_of(first_of(item, "output", "error"))
            self.calls.answer(call_id, text, Marks(failed=failed), time=time, place=place)
            self._speaker = "tool"


def signature(message: object) -> int:
    """A hash that is equal for equal messages in either format; 0 for a message without content."""
    fields = as_object(message)
    kind = string(fields.get("type"))
    if kind in _SILENT_ITEMS:
        return 0
    ids = [identity(first_of(as_object(call), "id", "call_id")) for call in as_list(fields.get("tool_calls"))]
    own = identity(first_of(fields, "tool_call_id", "call_id"))
    role = str(fields.get("role"))
    text = spoken_text(first_of(fields, "content", "output"))
    return hash((ROLES.get(role, role), kind if kind in ITEMS else None, text, tuple(ids), own))
