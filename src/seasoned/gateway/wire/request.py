"""Requests and answers in one form for all three APIs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any, Literal

import msgspec

from seasoned.history.chat import spoken_text
from seasoned.history.coerce import as_list, identity
from seasoned.marks import BLOCK_ENDS, BLOCK_OPENS, OLDER_BLOCKS, is_synthetic_id, opens_block
from seasoned.session import NO_MARKS, Marks, Message, Result, Role, ToolCall, Usage

ApiName = Literal["chat", "responses", "anthropic"]


class ApiRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request to a model, as far as it is understood. The body itself stays as it came."""

    api: ApiName
    model: str
    # The system part, before everything that was said.
    system: str = ""
    # What was said after it. A `tool` message answers the call that it names; warm ones are synthetic.
    messages: tuple[Message, ...] = ()
    # The results among the messages, by call id.
    results: dict[str, Result] = {}
    # As they were given.
    tools: tuple[dict[str, Any], ...] = ()
    is_stream: bool = False
    # False for a chat stream that would end without its usage.
    wants_usage: bool = True
    # The answer that it continues; what was said before is with the provider, not in `messages`.
    previous_response_id: str | None = None
    # The conversation that the provider itself keeps; `messages` holds only what is new.
    conversation: str | None = None
    max_tokens: int | None = None
    prompt_cache_key: str | None = None
    # `metadata.user_id`, unchanged.
    user_id: str | None = None
    # What the client says about itself in the body (`client_metadata`).
    client: dict[str, Any] = {}
    # The JSON schema that the answer must follow, if there is one.
    answer_schema: dict[str, Any] = {}

    @property
    def carries_block(self) -> bool:
        return any(message.synthetic for message in self.messages)


class ApiResponse(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a request; if it broke off, what had arrived by then."""

    id: str | None = None
    model: str | None = None
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    # None: the provider said nothing, which is not zero.
    usage: Usage | None = None
    # The provider's own figures, kept so that the cost can be worked out again.
    raw_usage: dict[str, Any] | None = None
    # Why it ended, in the provider's word; None if it broke off.
    finish: str | None = None
    error: str | None = None

    @property
    def messages(self) -> tuple[Message, ...]:
        """The answer as part of the conversation; empty if nothing was said."""
        if not self.text and not self.calls:
            return ()
        return (Message("assistant", self.text, self.calls, model=self.model),)


def first_said(messages: Sequence[dict[str, Any]], is_system: Callable[[dict[str, Any]], bool]) -> int:
    """The index of the first message after the system part."""
    for at, message in enumerate(messages):
        # A block may be a system message. It is not counted among those, because they identify the conversation.
        if not is_system(message) or opens_block(spoken_text(message.get("content"))):
            return at
    return len(messages)


def tools_of(fields: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    """The tools that a request offers, as they were given."""
    return tuple([tool for tool in as_list(fields.get("tools")) if isinstance(tool, dict)])


_encode = msgspec.json.Encoder(order="deterministic").encode


class _TurnDraft:
    """A message to which calls and results are still added."""

    __slots__ = ("answers", "calls", "role", "text")

    def __init__(self, role: Role, text: str, answers: str | None = None) -> None:
        self.role = role
        self.text = text
        self.answers = answers
        self.calls: list[tuple[str, str, dict[str, Any]]] = []


class RequestTurns:
    """Collects the messages of one request."""

    def __init__(self) -> None:
        self._drafts: list[_TurnDraft] = []
        self._results: dict[str, Result] = {}
        # Calls that wait for a result, with their tools.
        self._open: dict[str, str] = {}
        self._named: dict[str, list[str]] = {}

    def say(self, role: Role, text: str) -> None:
        """Add a message."""
        self._drafts.append(_TurnDraft(role, text))

    def call(self, given: object, tool: str, arguments: dict[str, Any]) -> str:
        """Add a call to the last message; returns its unique id."""
        raw = call_id(given, tool, arguments)
        names = self._named.setdefault(raw, [])
        name = raw if not names else f"{raw}#{len(names) + 1}"
        names.append(name)
        if not self._drafts or self._drafts[-1].role != "assistant":
            self.say("assistant", "")
        self._drafts[-1].calls.append((name, tool, arguments))
        self._open[name] = tool
        return name

    def result(self, given: object, text: str, marks: Marks = NO_MARKS, *, tool: str | None = None) -> None:
        """Add a result. Without an id it belongs to the oldest open call, of this tool if one is named."""
        raw = identity(given)
        if raw is None:
            waiting = [name for name, called in self._open.items() if tool is None or called == tool]
            if not waiting:
                return
            name = waiting[0]
        else:
            names = self._named.get(raw, [raw])
            name = next((one for one in names if one in self._open), names[-1])
        self._open.pop(name, None)
        self._results[name] = Result(text, marks)
        self._drafts.append(_TurnDraft("tool", text, name))

    def take(self) -> tuple[tuple[Message, ...], dict[str, Result]]:
        """The messages, calls joined with their results, and the results by id."""
        warm = _warm(self._drafts)
        messages = []
        for at, draft in enumerate(self._drafts):
            is_warm = at in warm
            calls = [
                ToolCall(name, tool, arguments, self._results.get(name), synthetic=is_warm)
                for name, tool, arguments in draft.calls
            ]
            message = Message(draft.role, draft.text, tuple(calls), synthetic=is_warm, answers=draft.answers)
            messages.append(message)
        return tuple(messages), self._results


def call_id(given: object, tool: str, arguments: dict[str, Any]) -> str:
    """The id of a call; where the provider gave none, one that the same call has everywhere."""
    raw = identity(given)
    if raw is not None:
        return raw
    try:
        said = _encode([tool, arguments])
    except (UnicodeError, RecursionError):
        said = tool.encode("utf-8", "replace")
    return f"made_{blake2b(said, digest_size=8).hexdigest()}"


def _warm(drafts: list[_TurnDraft]) -> set[int]:
    """The positions of warm-start messages: whole blocks, and calls with its ids."""
    found: set[int] = set()
    for at, draft in enumerate(drafts):
        if draft.role == "assistant":
            found.update([at for name, _, _ in draft.calls if is_synthetic_id(name)])
        elif draft.role == "tool":
            found.update([at] if is_synthetic_id(draft.answers or "") else ())
        # Results and answers could say anything; only a prompt opens a block.
        elif draft.text.startswith(BLOCK_OPENS):
            found.update(range(at, _end_of_block(drafts, at) + 1))
        elif draft.text.startswith(OLDER_BLOCKS):
            found.add(at)
    return found


def _end_of_block(drafts: list[_TurnDraft], start: int) -> int:
    """The message that ends a block; a block without an end is one message long."""
    for at in range(start, len(drafts)):
        if drafts[at].role != "tool" and drafts[at].text.rstrip().endswith(BLOCK_ENDS):
            return at
    return start
