"""A conversation: one turn after another with a model and its tools.

`turn` is the whole loop: prepare, step until the model has answered, record. The library runs the requests and tool
calls of a step; a step ends early only if the context is full, and then the conversation is compressed first.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import msgspec
from pydantic_ai import Agent, CancellationToken, RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import AgentRunError, RunCancelled, RunTimedOut, UsageLimitExceeded, UserError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.usage import UsageLimits

from seasoned.begin.ongoing import Retraction
from seasoned.review.context import Context
from seasoned.runner.record import BackgroundRecorder, body_of, new_ref
from seasoned.runner.runtime import Confirm, Runtime, build_agent, deny
from seasoned.runner.stream_events import Event, Turn, TurnCollector
from seasoned.session import Marks, Result, SessionRef, ToolCall
from seasoned.template.render.tokens import CALL_TOKENS, MESSAGE_TOKENS, count_tokens


def context_tokens(messages: Sequence[ModelMessage]) -> int:
    """Tokens that the next request would send. The last answer's own count covers instructions and tools too."""
    size = 0
    for message in reversed(messages):
        if isinstance(message, ModelResponse) and message.usage.input_tokens:
            return size + message.usage.input_tokens + message.usage.output_tokens
        size += estimate_tokens(message)
    return size


def estimate_tokens(message: ModelMessage) -> int:
    """Tokens of one message, estimated."""
    total = MESSAGE_TOKENS
    for part in message.parts:
        if part.part_kind == "tool-call":
            total += CALL_TOKENS + count_tokens(part.args_as_json_str())
        elif part.part_kind == "tool-return":
            total += MESSAGE_TOKENS + count_tokens(part.model_response_str())
        else:
            content = getattr(part, "content", "")
            total += count_tokens(content if isinstance(content, str) else str(content))
    return total


class Warmth(msgspec.Struct, frozen=True):
    """The messages of a warm block, and the reason if there are none."""

    messages: tuple[ModelMessage, ...]
    reason: str
    # `name@version`.
    template: str | None = None


class TurnLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of one turn, and of the context of a conversation."""

    # Requests to the model.
    steps: int = 50
    turn_seconds: float = 1800.0
    # Tokens that the model may write in one turn.
    output_tokens: int | None = 60_000
    # The model's context window; None if it is unknown, and then nothing is compressed.
    context_tokens: int | None = None
    # The share of the window at which the context is compressed.
    compress_at: float = 0.8
    # The share of the window whose messages are kept word for word.
    tail: float = 0.25

    @property
    def fullest(self) -> int | None:
        """Tokens that may be sent before the context must be compressed."""
        return None if self.context_tokens is None else int(self.context_tokens * self.compress_at)


# Continues a conversation in a child session with less to send.
Compress = Callable[["Conversation"], Awaitable[Event]]
# Called with the examples retracted so far; returns a retraction if others that were shown do harm.
Guard = Callable[[Collection[str]], Retraction | None]
# Called with a call and its result; returns what to tell the model about it, or nothing.
Hint = Callable[[ToolCall], str]
# Makes the warm block of a conversation from its first words.
Warm = Callable[[str], Warmth]
# The field of a result that a hint is written into.
_HINT = "seasoned"
_CUT_SHORT = "The call was interrupted before it had a result."
# A context that could not be made smaller is compressed again only after it has grown by this factor.
_GROWTH = 1.1


class _ContextFull(Exception):
    """The context nears its limit: raised between two requests, and answered by compressing."""


class Conversation:
    """One conversation. `turn` takes what the user says and returns the result; `history` holds the messages."""

    def __init__(
        self,
        runtime: Runtime,
        *,
        ref: SessionRef | None = None,
        parent: SessionRef | None = None,
        history: Sequence[ModelMessage] = (),
        limits: TurnLimits | None = None,
        confirm: Confirm = deny,
        recorder: BackgroundRecorder | None = None,
        compress: Compress | None = None,
        warm: Warm | None = None,
        guard: Guard | None = None,
        hint: Hint | None = None,
    ) -> None:
        self.runtime = runtime
        self.ref = ref or new_ref()
        self.parent = parent
        self.warmth: Warmth | None = None
        self.history = list(history)
        self.limits = limits or TurnLimits()
        self.recorder = recorder
        self._confirm = confirm
        self._compress = compress
        self._warm = warm
        self._guard = guard
        self._hint = hint
        self._retracted: set[str] = set()
        self._context: Context | None = None
        # The size of the context after the last compression.
        self._floor = 0
        self._recorded = len(self.history)
        self._token = CancellationToken()

    async def turn(self, prompt: str, *, on_event: Callable[[Event], None] = lambda event: None) -> Turn:
        """Run one turn. What goes wrong is reported in the result; the history holds what was done until then."""
        self._token = CancellationToken()
        collector = TurnCollector(on_event)
        await self._prepare(prompt)
        try:
            said: str | None = prompt
            # A step that finds the context full ends early; the next one continues without repeating the prompt.
            while not await self._step(said, collector):
                assert self._compress is not None, "only a conversation that can be compressed is found full"
                on_event(await self._compress(self))
                said, self._floor = None, context_tokens(self.history)
        finally:
            # Whatever ended the turn: no command outlives it, no call stays open, and all of it is recorded.
            self._stop_commands()
            self._answer_open_calls()
            self.record(self.history, turn_ends=True)
        note = await asyncio.to_thread(self.recorder.flush) if self.recorder is not None else None
        turn = collector.turn([note] if note is not None else [])
        # Only a failure can show that an example does harm.
        if turn.failed and self.runtime.prefix:
            await self._retract_harmful_examples()
        return turn

    async def _step(self, prompt: str | None, collector: TurnCollector) -> bool:
        """Run until the turn ends; False if the context must be compressed first."""
        try:
            await self._run(prompt, collector)
        except _ContextFull:
            return False
        except RunTimedOut:
            most = f"{self.limits.turn_seconds:g} seconds"
            collector.stop("time", f"The turn was stopped after {most}: say how to go on, or raise the limit.")
        except RunCancelled:
            collector.stop("interrupted", "The turn was interrupted.")
        except UsageLimitExceeded:
            # The library raises the same error for both limits.
            if collector.requests >= self.limits.steps:
                collector.stop("steps", f"The turn was stopped after {self.limits.steps} steps: say how to go on.")
            else:
                most = f"{self.limits.output_tokens:,} tokens"
                collector.stop("tokens", f"The turn was stopped after the model wrote {most}: say how to go on.")
        except (AgentRunError, UserError, OSError) as error:
            collector.stop("error", f"The model did not answer: {' '.join(str(error).split())[:500]}")
        return True

    async def _run(self, prompt: str | None, collector: TurnCollector) -> None:
        hooks, most = _RequestHooks(self, collector), self.limits.output_tokens
        agent: Agent[Any, str] = build_agent(self.runtime, confirm=self._confirm, capabilities=[hooks])
        events = agent.run_stream_events(
            prompt,
            message_history=self.history,
            deps=self._context,
            # Steps, tokens and time are limited for the turn, which may take several runs.
            usage_limits=UsageLimits(
                request_limit=self.limits.steps - collector.requests,
                output_tokens_limit=None if most is None else most - collector.output_tokens,
            ),
            timeout=max(0.01, self.limits.turn_seconds - collector.elapsed),
            cancellation_token=self._token,
        )
        async with events as stream:
            begun = False
            try:
                async for event in stream:
                    begun = True
                    collector.collect(event)
            finally:
                # Before its first event a stream has no messages, not even those that it was given.
                self.history = stream.all_messages() if begun else self.history

    async def _prepare(self, prompt: str) -> None:
        # A conversation whose process died in the middle of a call is resumed with that call open.
        self._answer_open_calls()
        if self._warm is not None:
            # Chosen for the first prompt, and then the same bytes as long as the conversation lives.
            warm, self._warm = self._warm, None
            self.warmth = await asyncio.to_thread(warm, prompt)
            self.runtime = replace(self.runtime, prefix=self.warmth.messages)
        if self.runtime.context is not None:
            parent = None if self.parent is None else str(self.parent)
            self._context = self.runtime.context.for_turn(session=str(self.ref), parent=parent, task=prompt)

    async def _retract_harmful_examples(self) -> None:
        """Retract harmful examples in one line. The block itself stays, because the prefix must not change."""
        found = await asyncio.to_thread(self._guard, self._retracted) if self._guard is not None else None
        if found is not None:
            self._retracted |= set(found.example_ids)
            self.history.append(ModelRequest(parts=[SystemPromptPart(found.text)]))

    def _answer_open_calls(self) -> None:
        """Give interrupted calls a result that says so: providers refuse a history with unanswered calls."""
        last = next((at for at in reversed(range(len(self.history))) if self.history[at].kind == "response"), None)
        if last is None:
            return
        after = self.history[last + 1 :]
        answered = {part.tool_call_id for one in after for part in one.parts if isinstance(part, ToolReturnPart)}
        calls = [part for part in self.history[last].parts if isinstance(part, ToolCallPart)]
        missing = [
            ToolReturnPart(call.tool_name, _CUT_SHORT, call.tool_call_id, outcome="interrupted")
            for call in calls
            if call.tool_call_id not in answered
        ]
        if not missing:
            return
        if after and isinstance(request := after[0], ModelRequest):
            self.history[last + 1] = replace(request, parts=[*request.parts, *missing])
        else:
            self.history.append(ModelRequest(parts=missing))
        # The request has changed, so it is written again if it was recorded before.
        self._recorded = min(self._recorded, last + 1)

    async def add_hints(self, messages: list[ModelMessage]) -> None:
        """Add what fixed such failures before to the newest results. It becomes part of the history."""
        if self._hint is None or not messages or not isinstance(request := messages[-1], ModelRequest):
            return
        made = {call.tool_call_id: call for call in _calls_before(messages)}
        parts = list(request.parts)
        for at, part in enumerate(parts):
            if not isinstance(part, ToolReturnPart) or (call := made.get(part.tool_call_id)) is None:
                continue
            result = Result(part.model_response_str(), Marks())
            given = ToolCall(part.tool_call_id, part.tool_name, call.args_as_dict(), result)
            if line := await asyncio.to_thread(self._hint, given):
                parts[at] = replace(part, content=_append_line(part.content, line))
        if parts != list(request.parts):
            messages[-1] = replace(request, parts=parts)

    def record(self, messages: Sequence[ModelMessage], *, turn_ends: bool = False) -> None:
        """Hand new messages to the recorder."""
        if self.recorder is not None and (turn_ends or len(messages) > self._recorded):
            bodies = [body_of(message) for message in messages[self._recorded :]]
            self.recorder.write(self._recorded, bodies, turn_ends=turn_ends)
            self._recorded = len(messages)

    def is_nearly_full(self, messages: Sequence[ModelMessage]) -> bool:
        """Whether the context should be compressed before these messages are sent."""
        fullest = self.limits.fullest
        if self._compress is None or fullest is None:
            return False
        return context_tokens([*self.runtime.prefix, *messages]) > max(fullest, self._floor * _GROWTH)

    def stop(self) -> None:
        """End the current turn; may be called from any thread."""
        self._stop_commands()
        self._token.cancel()

    def _stop_commands(self) -> None:
        if self._context is not None:
            self._context.stopping.set()

    def snapshot(self) -> list[ModelMessage]:
        """A copy of the history: what a fork does to it, this conversation does not see."""
        return copy.deepcopy(self.history)

    def continue_as(
        self, ref: SessionRef, history: Sequence[ModelMessage], recorder: BackgroundRecorder | None
    ) -> None:
        """Continue as another session with this history, which is recorded already."""
        self.ref, self.parent, self.history, self.recorder = ref, self.ref, list(history), recorder
        self._recorded = len(self.history)

    async def __aenter__(self) -> Self:
        """Keep the connection to the model open between turns."""
        await self.runtime.model.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self.runtime.model.__aexit__(*error)

    def close(self, reason: str | None = None) -> str | None:
        """End the conversation, with the reason if it is known; a sentence if it could not be recorded."""
        return None if self.recorder is None else self.recorder.close(reason)


def _calls_before(messages: Sequence[ModelMessage]) -> list[ToolCallPart]:
    """The calls of the model's last answer."""
    last = next((one for one in reversed(messages) if isinstance(one, ModelResponse)), None)
    return [] if last is None else [part for part in last.parts if isinstance(part, ToolCallPart)]


def _append_line(content: Any, line: str) -> Any:
    """A result with a line after it; an object gets one more field, so that it can still be read."""
    if isinstance(content, dict):
        return {**content, _HINT: line}
    try:
        found = msgspec.json.decode(content) if isinstance(content, str) else None
    except msgspec.DecodeError:
        found = None
    if isinstance(found, dict):
        return msgspec.json.encode({**found, _HINT: line}).decode()
    return f"{content}\n\n{line}" if isinstance(content, str) else content


@dataclass
class _RequestHooks(AbstractCapability[Any]):
    """Before each request: record what came before it, and stop if the context is nearly full."""

    conversation: Conversation
    collector: TurnCollector

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        last = ctx.messages[-1] if ctx.messages else None
        await self.conversation.add_hints(ctx.messages)
        if last is not None and ctx.messages[-1] is not last:
            # The request is sent from a separate list, not from the history.
            request_context.messages[-1] = ctx.messages[-1]
        self.conversation.record(ctx.messages)
        if self.conversation.is_nearly_full(ctx.messages):
            raise _ContextFull
        return request_context

    async def after_model_request(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, response: ModelResponse
    ) -> ModelResponse:
        self.collector.answered(response)
        return response
