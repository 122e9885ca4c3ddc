"""The fork of a conversation: the same model, tools, instructions, prefix and history, then one more message."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

from pydantic_ai import CancellationToken, RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import FunctionToolCallEvent, ModelMessage, ModelResponse, UserPromptPart
from pydantic_ai.models import Model, ModelRequestContext
from pydantic_ai.run import AgentRunResultEvent
from pydantic_ai.toolsets import FunctionToolset
from pydantic_ai.usage import UsageLimits

from seasoned.agent.loop.compress import OPENS
from seasoned.agent.loop.context import Context
from seasoned.agent.loop.conversation import context_tokens
from seasoned.agent.loop.record import body_of
from seasoned.agent.loop.runtime import Runtime, fork_agent
from seasoned.agent.review.ledger import Form
from seasoned.agent.review.prompt import SessionDigest, digest_instructions
from seasoned.agent.toolset.memory_skill import MEMORY, SKILLS
from seasoned.history.builder import SessionBuilder
from seasoned.history.reader.seasoned_db import NAME, read_message
from seasoned.session import Session, SessionRef
from seasoned.template.render.tokens import count_tokens

ALLOWED: tuple[str, ...] = tuple(function.__name__ for function in (*MEMORY, *SKILLS))


class ReviewGate:
    """Decides which tools a review may call, and remembers what it refused."""

    def __init__(self) -> None:
        self.refused: list[str] = []

    def __call__(self, tool: str) -> str | None:
        """None, or the sentence that the model gets instead of a result."""
        if tool in ALLOWED:
            return None
        self.refused.append(tool)
        return (
            f"{tool!r} was not run: this is a review, which may use only {', '.join(ALLOWED[:-1])} and {ALLOWED[-1]}. "
            "It keeps what the conversation taught and does nothing else. Go on with these, or end."
        )


@dataclass(frozen=True, kw_only=True)
class Fork:
    """What a review sends. It holds copies, so the conversation is never changed."""

    runtime: Runtime
    history: tuple[ModelMessage, ...]
    prompt: str
    form: Form
    # Whether the model's connection is the fork's own, and ends with it.
    owns_model: bool = False

    @property
    def size(self) -> int:
        """Tokens of its first request, estimated."""
        own = count_tokens(self.prompt)
        # With a history, the provider's last count includes the instructions.
        if not self.history:
            own += count_tokens(self.runtime.instructions)
        return own + context_tokens([*self.runtime.prefix, *self.history])


def whole_fork(runtime: Runtime, history: Sequence[ModelMessage], prompt: str, *, model: Model | None = None) -> Fork:
    """A fork that sends, byte for byte, what the conversation sent.

    `model` is the same model with its own connection: a connection belongs to the event loop that uses it.
    """
    return Fork(
        runtime=replace(runtime, model=model or runtime.model),
        history=tuple(history),
        prompt=prompt,
        form="fork",
        owns_model=model is not None,
    )


def digest_fork(model: Model, digest: SessionDigest, prompt: str, *, owns_model: bool = False) -> Fork:
    """A fork for a model that has not followed the session: a digest, and the tools of memory and skills alone."""
    runtime = Runtime(
        model=model,
        instructions=digest_instructions(),
        toolsets=(FunctionToolset(list(MEMORY), id="memory"), FunctionToolset(list(SKILLS), id="skill")),
    )
    text = f"{digest.text}\n\n{prompt}"
    return Fork(runtime=runtime, history=(), prompt=text, form="digest", owns_model=owns_model)


def session_of(ref: SessionRef, history: Sequence[ModelMessage], *, folder: str | None = None) -> Session:
    """A history as a Session, like the sessions of every other agent."""
    builder = SessionBuilder(ref, format=NAME, path="")
    builder.cwd = folder
    for place, message in enumerate(history):
        read_message(builder, body_of(message), place=place, summary=_is_summary(message))
    return builder.take()


def _is_summary(message: ModelMessage) -> bool:
    """Whether a compression wrote the message, in the user's name."""
    first = message.parts[0] if message.parts else None
    return isinstance(first, UserPromptPart) and isinstance(first.content, str) and first.content.startswith(OPENS)


def task_of(history: Sequence[ModelMessage]) -> str | None:
    """What the user asked for last."""
    for message in reversed(history):
        for part in message.parts:
            if isinstance(part, UserPromptPart) and isinstance(part.content, str):
                return part.content
    return None


@dataclass
class RequestObserver(AbstractCapability[Context]):
    """Asks before every request of a review whether it may be made, and accounts for each one."""

    # Given the tokens that would be sent; raises if that is too much.
    may_ask: Callable[[int], None]
    answered: Callable[[ModelResponse], None]
    # Tokens of the first request.
    first: int

    async def before_model_request(
        self, ctx: RunContext[Context], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        # Before the first answer there is no count by the provider, so the fork's own estimate is used.
        self.may_ask(context_tokens(ctx.messages) if ctx.run_step > 1 else self.first)
        return request_context

    async def after_model_request(
        self, ctx: RunContext[Context], *, request_context: ModelRequestContext, response: ModelResponse
    ) -> ModelResponse:
        self.answered(response)
        return response


@dataclass
class ForkProgress:
    """What a review has done so far, also one that did not end."""

    calls: int = 0
    answer: str = ""


async def run_fork(
    fork: Fork,
    *,
    context: Context,
    gate: ReviewGate,
    watch: RequestObserver,
    progress: ForkProgress,
    iterations: int,
    seconds: float,
    token: CancellationToken,
) -> None:
    """Run the fork until it ends or meets a limit, which is raised. Its text is shown to no one."""
    async with fork.runtime.model if fork.owns_model else nullcontext():
        agent = fork_agent(fork.runtime, refuse=gate, capabilities=[watch])
        events = agent.run_stream_events(
            fork.prompt,
            message_history=list(fork.history),
            deps=context,
            usage_limits=UsageLimits(request_limit=iterations),
            timeout=seconds,
            cancellation_token=token,
        )
        async with events as stream:
            async for event in stream:
                if isinstance(event, FunctionToolCallEvent):
                    progress.calls += 1
                elif isinstance(event, AgentRunResultEvent):
                    progress.answer = event.result.output
