"""What a request asks and what an answer says, whichever of the three APIs carried it."""

from __future__ import annotations

from typing import Any, Literal, Protocol

import msgspec

from seasoned.session import Message, Result, ToolCall, Usage

ApiName = Literal["chat", "responses", "anthropic"]


class ApiRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request to a model, as far as it is understood. The body itself stays as it came."""

    api: ApiName
    model: str
    # The system part: what stands before everything that was said.
    system: str = ""
    # What was said after it. A `tool` message answers the call that it names; warm ones are synthetic.
    messages: tuple[Message, ...] = ()
    # The results among the messages by call id, with what was recorded beside their text.
    results: dict[str, Result] = {}
    # As they were given.
    tools: tuple[dict[str, Any], ...] = ()
    is_stream: bool = False
    # False for a chat stream that would end without its usage.
    wants_usage: bool = True
    # The answer that it goes on from; what was said before is with the provider, and not in `messages`.
    previous_response_id: str | None = None
    # The conversation that the provider itself keeps; again only what is new is in `messages`.
    conversation: str | None = None
    max_tokens: int | None = None
    prompt_cache_key: str | None = None
    # `metadata.user_id`, as it was given.
    user_id: str | None = None
    # What the client says about itself in the body (`client_metadata`).
    client: dict[str, Any] = {}
    # The JSON schema that the answer must follow, where one is asked for.
    answer_schema: dict[str, Any] = {}

    @property
    def tool_names(self) -> tuple[str, ...]:
        """Of the tools that the request carries; those that the provider itself runs go by their type."""
        named = [_tool_name(tool) for tool in self.tools]
        return tuple([name for name in named if name])

    @property
    def carries_block(self) -> bool:
        return any(message.synthetic for message in self.messages)


class ApiResponse(msgspec.Struct, frozen=True, kw_only=True):
    """What came back. An answer that broke off has what came until then."""

    id: str | None = None
    model: str | None = None
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    # None: the provider said nothing, which is not zero.
    usage: Usage | None = None
    # The provider's own figures, kept so that the cost can be worked out again.
    raw_usage: dict[str, Any] | None = None
    # Why it ended, in the provider's word; None where it broke off.
    finish: str | None = None
    error: str | None = None

    @property
    def messages(self) -> tuple[Message, ...]:
        """The answer as part of the conversation; nothing where nothing was said."""
        if not self.text and not self.calls:
            return ()
        return (Message("assistant", self.text, self.calls, model=self.model),)


class StreamReader(Protocol):
    """Reads an event stream while it passes. It never raises: what it cannot read passes all the same."""

    @property
    def held(self) -> bytes:
        """What came and is not passed on yet."""

    def feed(self, chunk: bytes) -> bytes:
        """What to pass on now: the chunk itself, unless the usage event that we asked for may be in it."""

    def end(self) -> bytes:
        """What was held back when the upstream closed the stream."""

    def answer(self) -> ApiResponse:
        """What was read so far."""


def _tool_name(tool: dict[str, Any]) -> str:
    function = tool.get("function")
    inner = function if isinstance(function, dict) else tool
    name = inner.get("name") or tool.get("type")
    return name if isinstance(name, str) else ""
