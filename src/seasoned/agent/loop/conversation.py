"""A conversation: history in, history out; told as it happens, recorded, limited, compressed when it must be."""

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

from seasoned.agent.loop.context import Context
from seasoned.agent.loop.context_size import context_tokens
from seasoned.agent.loop.record import BackgroundRecorder, body_of, new_ref
from seasoned.agent.loop.runtime import Confirm, Runtime, build_agent, deny
from seasoned.agent.loop.stream_events import Event, Turn, TurnCollector
from seasoned.agent.warm import Warmth
from seasoned.begin.ongoing import Retraction
from seasoned.session import SessionRef


class TurnLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of one turn, and of the context of a conversation."""

    # Requests to the model.
    steps: int = 50
    turn_seconds: float = 1800.0
    # Tokens that the model may write in one turn.
    output_tokens: int | None = 60_000
    # The model's window; None means that nobody knows it, and nothing is compressed.
    context_tokens: int | None = None
    # The share of the window at which the context is compressed.
    compress_at: float = 0.8
    # The share of the window that is kept as it was said.
    tail: float = 0.25

    @property
    def fullest(self) -> int | None:
        """So many tokens may be sent before the context must be compressed."""
        return None if self.context_tokens is None else int(self.context_tokens * self.compress_at)


# Continues a conversation in a child session with less to send, and tells of it.
Compress = Callable[["Conversation"], Awaitable[Event]]
# Looks whether examples that were shown do harm, given those that were taken back already.
Guard = Callable[[Collection[str]], Retraction | None]
# Makes the warm block of a conversation when its first words are known.
Warm = Callable[[str], Warmth]
_CUT_SHORT = "The call was interrupted before it had a result."
# What could not be made smaller is compressed again only when it has grown by so much.
_GROWTH = 1.1


class _ContextFull(Exception):
    """The context nears its limit: raised between two requests, and answered by compressing."""


class Conversation:
    """One conversation. `turn` takes what the user says and returns what came of it; `history` is what was said."""

    def __init__(
        self,
        runtime: Runtime,
        *,
        ref: SessionRef | None = None,
        parent: SessionRef | None = None,
        history: Sequence[ModelMessage] = (),
        limits: TurnLimits | None = None,
        confirm: Confirm = deny,
        scribe: BackgroundRecorder | None = None,
        compress: Compress | None = None,
        warm: Warm | None = None,
        guard: Guard | None = None,
    ) -> None:
        self.runtime = runtime
        self.ref = ref or new_ref()
        self.parent = parent
        self.warmth: Warmth | None = None
        self.history = list(history)
        self.limits = limits or TurnLimits()
        self.scribe = scribe
        self._confirm = confirm
        self._compress = compress
        self._warm = warm
        self._guard = guard
        self._retracted: set[str] = set()
        self._context: Context | None = None
        self._floor = 0
        self._written = len(self.history)
        self._token = CancellationToken()

    async def turn(self, prompt: str, *, on_event: Callable[[Event], None] = lambda event: None) -> Turn:
        """One turn. What goes wrong in it is said in the turn, and the history holds what was done until then."""
        self._token = CancellationToken()
        hearing = TurnCollector(on_event)
        await self._prepare(prompt)
        said: str | None = prompt
        try:
            while not await self._attempt(said, hearing):
                assert self._compress is not None
                on_event(await self._compress(self))
                said, self._floor = None, context_tokens(self.history)
        finally:
            self._stop_commands()
            self._answer_open_calls()
            self._record(turn_ends=True)
        note = await asyncio.to_thread(self.scribe.flush) if self.scribe is not None else None
        turn = hearing.turn([note] if note is not None else [])
        if turn.failed and self.runtime.prefix:
            await self._take_back()
        return turn

    def stop(self) -> None:
        """End the turn that is under way; from any thread."""
        self._stop_commands()
        self._token.cancel()

    def snapshot(self) -> list[ModelMessage]:
        """The history as it is now, in copies: whatever a fork does to it, this conversation does not see."""
        return copy.deepcopy(self.history)

    def continue_as(self, ref: SessionRef, history: Sequence[ModelMessage], scribe: BackgroundRecorder | None) -> None:
        """Go on as another session, whose history stands in the place of what was said; it is recorded already."""
        self.ref, self.parent, self.history, self.scribe = ref, self.ref, list(history), scribe
        self._written = len(self.history)

    async def __aenter__(self) -> Self:
        """Keep the connection to the model open between turns."""
        await self.runtime.model.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self.runtime.model.__aexit__(*error)

    def close(self, reason: str | None = None) -> str | None:
        """End the conversation, and say why where anybody knows; a sentence where it could not be recorded."""
        return None if self.scribe is None else self.scribe.close(reason)

    async def _prepare(self, prompt: str) -> None:
        # A conversation whose process died in the middle of a call is taken up with that call open.
        self._answer_open_calls()
        if self._warm is not None:
            # Chosen for the first words, and from then on the same for as long as the conversation lives.
            warm, self._warm = self._warm, None
            self.warmth = await asyncio.to_thread(warm, prompt)
            self.runtime = replace(self.runtime, prefix=self.warmth.messages)
        if self.runtime.context is not None:
            parent = None if self.parent is None else str(self.parent)
            self._context = self.runtime.context.for_turn(session=str(self.ref), parent=parent, task=prompt)

    async def _take_back(self) -> None:
        """Examples that do harm are taken back in one line: what was shown stays, for the prefix must not change."""
        found = await asyncio.to_thread(self._guard, self._retracted) if self._guard is not None else None
        if found is not None:
            self._retracted |= set(found.example_ids)
            self.history.append(ModelRequest(parts=[SystemPromptPart(found.text)]))

    def _stop_commands(self) -> None:
        if self._context is not None:
            self._context.stopping.set()

    async def _attempt(self, prompt: str | None, hearing: TurnCollector) -> bool:
        """Run until the turn has ended; False where the context must be compressed first."""
        try:
            await self._run(prompt, hearing)
        except _ContextFull:
            return False
        except RunTimedOut:
            most = f"{self.limits.turn_seconds:g} seconds"
            hearing.stop("time", f"The turn was ended after {most}: say how to go on, or raise the limit.")
        except RunCancelled:
            hearing.stop("interrupted", "The turn was interrupted.")
        except UsageLimitExceeded:
            if hearing.requests >= self.limits.steps:
                hearing.stop("steps", f"The turn was ended after {self.limits.steps} steps: say how to go on.")
            else:
                most = f"{self.limits.output_tokens:,} tokens"
                hearing.stop("tokens", f"The turn was ended after the model had written {most}: say how to go on.")
        except (AgentRunError, UserError, OSError) as error:
            hearing.stop("error", f"The model did not answer: {' '.join(str(error).split())[:500]}")
        return True

    async def _run(self, prompt: str | None, hearing: TurnCollector) -> None:
        agent: Agent[Any, str] = build_agent(
            self.runtime, confirm=self._confirm, capabilities=[_RequestHooks(self, hearing)]
        )
        events = agent.run_stream_events(
            prompt,
            message_history=self.history,
            deps=self._context,
            usage_limits=UsageLimits(
                request_limit=self.limits.steps - hearing.requests, output_tokens_limit=self.limits.output_tokens
            ),
            timeout=max(0.01, self.limits.turn_seconds - hearing.elapsed),
            cancellation_token=self._token,
        )
        async with events as stream:
            begun = False
            try:
                async for event in stream:
                    begun = True
                    hearing.hear(event)
            finally:
                self.history = stream.all_messages() if begun else self.history

    def _answer_open_calls(self) -> None:
        """Calls that were broken off get a result that says so: no provider takes a history without it."""
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
        self._written = min(self._written, last + 1)

    def note(self, messages: Sequence[ModelMessage]) -> None:
        """Have recorded what is new, while the turn is under way."""
        if self.scribe is not None and len(messages) > self._written:
            self.scribe.write(self._written, [body_of(message) for message in messages[self._written :]])
            self._written = len(messages)

    def _record(self, *, turn_ends: bool) -> None:
        if self.scribe is not None:
            bodies = [body_of(message) for message in self.history[self._written :]]
            self.scribe.write(self._written, bodies, turn_ends=turn_ends)
            self._written = len(self.history)

    def is_nearly_full(self, messages: Sequence[ModelMessage]) -> bool:
        """Whether the context should be compressed before these messages are sent."""
        fullest = self.limits.fullest
        if self._compress is None or fullest is None:
            return False
        return context_tokens([*self.runtime.prefix, *messages]) > max(fullest, self._floor * _GROWTH)


@dataclass
class _RequestHooks(AbstractCapability[Any]):
    """Looks at every request of a turn: records what came before it, and stops where the context is nearly full."""

    conversation: Conversation
    hearing: TurnCollector

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        self.conversation.note(ctx.messages)
        if self.conversation.is_nearly_full(ctx.messages):
            raise _ContextFull
        return request_context

    async def after_model_request(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, response: ModelResponse
    ) -> ModelResponse:
        self.hearing.answered(response)
        return response
