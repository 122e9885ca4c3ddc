"""One turn of a model with its tools, within limits; what went wrong is part of the result."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pydantic_ai
from pydantic_ai import Agent, CancellationToken, capture_run_messages
from pydantic_ai.exceptions import AgentRunError, RunCancelled, RunTimedOut, UsageLimitExceeded, UserError
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings
from pydantic_ai.toolsets import AbstractToolset
from pydantic_ai.usage import UsageLimits

from seasoned.history.reader.seasoned_db import cost_of, total_cost, usage_of
from seasoned.runner.agent import Run, StoppedBy
from seasoned.runner.record import body_of
from seasoned.session import Usage, sum_usage

pydantic_ai.BANNER_ENABLED = False

_LOOK_SECONDS = 0.2


@dataclass(frozen=True, kw_only=True)
class Runtime:
    """What a turn runs on: model, instructions, tools, limits, and messages that come before the first."""

    model: Model
    instructions: str
    toolsets: tuple[AbstractToolset[Any], ...] = ()
    # The warm block: sent before the conversation with every request, never part of it.
    prefix: tuple[ModelMessage, ...] = ()
    settings: ModelSettings | None = None
    # Requests to the model.
    steps: int = 50
    seconds: float = 1800.0
    # Tokens that the model may write.
    output_tokens: int | None = 60_000


async def converse(runtime: Runtime, prompt: str, *, stop: Callable[[], bool] = lambda: False) -> Run:
    """Run one turn; `stop` is asked several times a second."""
    begun, token = time.monotonic(), CancellationToken()
    text, stopped, reason = "", None, ""

    async def watch() -> None:
        while not stop():
            await asyncio.sleep(_LOOK_SECONDS)
        token.cancel()

    watching = asyncio.create_task(watch())
    with capture_run_messages() as messages:
        try:
            done = await _agent(runtime).run(
                prompt,
                message_history=runtime.prefix,
                usage_limits=UsageLimits(request_limit=runtime.steps, output_tokens_limit=runtime.output_tokens),
                timeout=runtime.seconds,
                cancellation_token=token,
            )
            text = done.output
        except (AgentRunError, UserError, OSError, RunTimedOut, RunCancelled) as error:
            answers = sum(isinstance(one, ModelResponse) for one in messages[len(runtime.prefix) :])
            stopped, reason = _why(error, runtime, answers)
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching
    said = messages[len(runtime.prefix) :]
    bodies = [body_of(one) for one in said if isinstance(one, ModelResponse)]
    return Run(
        text=text,
        messages=tuple(said),
        usage=sum_usage([usage_of(body) or Usage() for body in bodies]),
        cost_usd=total_cost([cost_of(body) for body in bodies]),
        seconds=time.monotonic() - begun,
        stopped_by=stopped,
        reason=reason,
    )


def ask(runtime: Runtime, prompt: str, *, stop: Callable[[], bool] = lambda: False) -> Run:
    """One turn in a separate loop, whose connection to the model is closed with it."""

    async def talk() -> Run:
        async with runtime.model:
            return await converse(runtime, prompt, stop=stop)

    return asyncio.run(talk())


def _agent(runtime: Runtime) -> Agent[None, str]:
    return Agent(
        runtime.model,
        name="seasoned",
        instructions=runtime.instructions,
        toolsets=runtime.toolsets,
        model_settings=runtime.settings,
        # How often the model may correct arguments that do not fit a tool's schema.
        retries=3,
    )


def _why(error: Exception, runtime: Runtime, answers: int) -> tuple[StoppedBy, str]:
    if isinstance(error, RunTimedOut):
        return "time", f"The turn was stopped after {runtime.seconds:g} seconds: raise the limit."
    if isinstance(error, RunCancelled):
        return "interrupted", "The turn was interrupted."
    if isinstance(error, UsageLimitExceeded):
        # The library raises the same error for both limits.
        if answers >= runtime.steps:
            return "budget", f"The turn was stopped after {runtime.steps} requests to the model."
        return "budget", f"The turn was stopped after the model wrote {runtime.output_tokens:,} tokens."
    return "failed", f"The model did not answer: {' '.join(str(error).split())[:500]}"
