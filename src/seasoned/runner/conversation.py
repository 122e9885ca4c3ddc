"""A conversation with a model: its tools, its limits, and what a turn took. It is recorded as it happens."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import msgspec
import pydantic_ai
from pydantic_ai import Agent, CancellationToken, RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import AgentRunError, RunCancelled, RunTimedOut, UsageLimitExceeded, UserError
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models import Model, ModelRequestContext
from pydantic_ai.run import AgentRunResultEvent
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset
from pydantic_ai.usage import UsageLimits

from seasoned.history.reader.seasoned_db import cost_of, total_cost, usage_of
from seasoned.runner.record import BackgroundRecorder, body_of, new_ref
from seasoned.session import SessionRef, Usage, sum_usage

pydantic_ai.BANNER_ENABLED = False

Stop = Literal["interrupted", "steps", "time", "tokens", "error"]


@dataclass(frozen=True, kw_only=True)
class Runtime:
    """What a conversation runs on: model, instructions, tools, and messages that come before the first."""

    model: Model
    instructions: str
    toolsets: tuple[AbstractToolset[Any], ...] = ()
    # Passed to tools with every call.
    deps: object = None
    # The warm block: sent before the history with every request, never part of it.
    prefix: tuple[ModelMessage, ...] = ()
    settings: ModelSettings | None = None


class TurnLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of one turn."""

    # Requests to the model.
    steps: int = 50
    turn_seconds: float = 1800.0
    # Tokens that the model may write.
    output_tokens: int | None = 60_000


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one turn: the answer, what it used, and why it stopped if it was stopped."""

    text: str
    usage: Usage
    cost_usd: float | None
    requests: int
    seconds: float
    stopped: Stop | None = None
    # Why it was stopped, in a sentence that says what to do.
    reason: str | None = None
    # What the user should also know, for example that nothing is being recorded.
    notes: tuple[str, ...] = ()


def build_agent(runtime: Runtime, *, capabilities: Sequence[AbstractCapability[Any]] = ()) -> Agent[Any, str]:
    """The agent of a runtime. What a tool raises becomes its result."""
    return Agent(
        runtime.model,
        name="seasoned",
        instructions=runtime.instructions,
        deps_type=object,
        toolsets=runtime.toolsets,
        model_settings=runtime.settings,
        # How often the model may correct arguments that do not fit a tool's schema.
        retries=3,
        capabilities=[_Prefix(runtime.prefix), _ToolErrors(), *capabilities],
    )


@dataclass
class _Prefix(AbstractCapability[Any]):
    """Puts the warm block before the history of every request."""

    messages: tuple[ModelMessage, ...]

    async def prepare_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        if self.messages:
            # Only what is sent changes: the history of the run stays without it.
            request_context.messages = [*self.messages, *request_context.messages]
        return request_context


@dataclass
class _ToolErrors(AbstractCapability[Any]):
    """A tool that raises does not end the turn: the model sees the error and may try something else."""

    async def on_tool_execute_error(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: Any, error: Exception
    ) -> Any:
        return {"success": False, "error": f"{type(error).__name__}: {error}"}


class Conversation:
    """One conversation. `turn` takes what the user says and returns the result; `history` holds the messages."""

    def __init__(
        self,
        runtime: Runtime,
        *,
        ref: SessionRef | None = None,
        limits: TurnLimits | None = None,
        recorder: BackgroundRecorder | None = None,
    ) -> None:
        self.runtime = runtime
        self.ref = ref or new_ref()
        self.history: list[ModelMessage] = []
        self.limits = limits or TurnLimits()
        self.recorder = recorder
        self._recorded = 0
        self._token = CancellationToken()

    async def turn(self, prompt: str) -> Turn:
        """Run one turn. What goes wrong is reported in the result; the history holds what was done until then."""
        begun, requests, text = time.monotonic(), _Requests(self), ""
        self._token = CancellationToken()
        stopped: tuple[Stop, str] | None = None
        try:
            text = await self._run(prompt, requests)
        except RunTimedOut:
            stopped = ("time", f"The turn was stopped after {self.limits.turn_seconds:g} seconds: raise the limit.")
        except RunCancelled:
            stopped = ("interrupted", "The turn was interrupted.")
        except UsageLimitExceeded:
            # The library raises the same error for both limits.
            if len(requests.answers) >= self.limits.steps:
                stopped = ("steps", f"The turn was stopped after {self.limits.steps} requests to the model.")
            else:
                written = f"{self.limits.output_tokens:,} tokens"
                stopped = ("tokens", f"The turn was stopped after the model wrote {written}.")
        except (AgentRunError, UserError, OSError) as error:
            stopped = ("error", f"The model did not answer: {' '.join(str(error).split())[:500]}")
        finally:
            self.record(self.history, turn_ends=True)
        note = await asyncio.to_thread(self.recorder.flush) if self.recorder is not None else None
        bodies = [body_of(answer) for answer in requests.answers]
        why, reason = stopped or (None, None)
        return Turn(
            text=text,
            usage=sum_usage([usage_of(body) or Usage() for body in bodies]),
            cost_usd=total_cost([cost_of(body) for body in bodies]),
            requests=len(bodies),
            seconds=time.monotonic() - begun,
            stopped=why,
            reason=reason,
            notes=() if note is None else (note,),
        )

    async def _run(self, prompt: str, requests: _Requests) -> str:
        agent = build_agent(self.runtime, capabilities=[requests])
        events = agent.run_stream_events(
            prompt,
            message_history=self.history,
            deps=self.runtime.deps,
            usage_limits=UsageLimits(request_limit=self.limits.steps, output_tokens_limit=self.limits.output_tokens),
            timeout=self.limits.turn_seconds,
            cancellation_token=self._token,
        )
        text, begun = "", False
        async with events as stream:
            try:
                async for event in stream:
                    begun = True
                    if isinstance(event, AgentRunResultEvent):
                        text = event.result.output
            finally:
                # Before its first event a stream has no messages, not even those that it was given.
                self.history = stream.all_messages() if begun else self.history
        return text

    def record(self, messages: Sequence[ModelMessage], *, turn_ends: bool = False) -> None:
        """Hand new messages to the recorder."""
        if self.recorder is not None and (turn_ends or len(messages) > self._recorded):
            bodies = [body_of(message) for message in messages[self._recorded :]]
            self.recorder.write(self._recorded, bodies, turn_ends=turn_ends)
            self._recorded = len(messages)

    def stop(self) -> None:
        """End the current turn; may be called from any thread."""
        self._token.cancel()

    async def __aenter__(self) -> Self:
        """Keep the connection to the model open between turns."""
        await self.runtime.model.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self.runtime.model.__aexit__(*error)

    def close(self, reason: str | None = None) -> str | None:
        """End the conversation, with the reason if it is known; a sentence if it could not be recorded."""
        return None if self.recorder is None else self.recorder.close(reason)


class _Requests(AbstractCapability[Any]):
    """Records what came before each request, and keeps each answer."""

    def __init__(self, conversation: Conversation) -> None:
        self.answers: list[ModelResponse] = []
        self._conversation = conversation

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        self._conversation.record(ctx.messages)
        return request_context

    async def after_model_request(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, response: ModelResponse
    ) -> ModelResponse:
        self.answers.append(response)
        return response
