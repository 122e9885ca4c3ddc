"""Conversations for tests: real tools in a real folder, a real store, and a model that plays a script."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolCallPart, ToolReturnPart
from pydantic_ai.models import Model

from seasoned.config import command_environment
from seasoned.redact.key import Secrecy
from seasoned.review.context import Context
from seasoned.runner.compress import Compressor
from seasoned.runner.conversation import Conversation, TurnLimits
from seasoned.runner.record import BackgroundRecorder, ConversationInfo, new_ref
from seasoned.runner.runtime import Confirm, Runtime, deny
from seasoned.runner.stream_events import Event, Turn
from seasoned.runner.toolset.registry import build_toolsets, danger_of

SECRECY = Secrecy(b"k" * 32)
INSTRUCTIONS = "You are an agent in a test."


def folders(path: Path) -> tuple[Path, Path]:
    """A home and a working folder below a path."""
    home, folder = path / "home", path / "work"
    home.mkdir(exist_ok=True)
    folder.mkdir(exist_ok=True)
    return home, folder


def runtime_at(path: Path, model: Model, toolsets: Sequence[str] = ("terminal", "file"), **more: Any) -> Runtime:
    """A runtime with real tools."""
    home, folder = folders(path)
    context = Context(home=home, secrecy=SECRECY, memory_folder=home / "memory", skill_folder=home / "skills")

    def explain(tool: str, arguments: Any) -> str:
        found = danger_of(tool, arguments, folder)
        return "must be allowed" if found is None else found.reason

    values: dict[str, Any] = {
        "model": model,
        "instructions": INSTRUCTIONS,
        "toolsets": build_toolsets(toolsets, folder, environment=command_environment()),
        "context": context,
        "explain": explain,
    }
    return Runtime(**{**values, **more})


def conversation_at(
    path: Path,
    model: Model,
    *,
    limits: TurnLimits | None = None,
    confirm: Confirm = deny,
    toolsets: Sequence[str] = ("terminal", "file"),
    is_recorded: bool = True,
    **more: Any,
) -> Conversation:
    """A recorded conversation with real tools."""
    home, folder = folders(path)
    runtime = runtime_at(path, model, toolsets, **more)
    ref = new_ref()
    about = ConversationInfo(
        ref=ref, model="scripted", instructions=runtime.instructions, toolsets=tuple(toolsets), cwd=str(folder)
    )
    return Conversation(
        runtime,
        ref=ref,
        limits=limits,
        confirm=confirm,
        recorder=BackgroundRecorder(home / "seasoned.db", SECRECY, about) if is_recorded else None,
        compress=Compressor(home / "seasoned.db", SECRECY),
    )


def say(
    conversation: Conversation, *prompts: str, on_event: Callable[[Event], None] = lambda event: None
) -> list[Turn]:
    """Turns, one after the other, in one loop; then the conversation is closed."""

    async def talk() -> list[Turn]:
        async with conversation:
            return [await conversation.turn(prompt, on_event=on_event) for prompt in prompts]

    try:
        return asyncio.run(talk())
    finally:
        conversation.close()


def check_calls_are_answered(history: Sequence[ModelMessage]) -> None:
    """Every call has its result in the request right after it."""
    for message, after in zip(history, [*history[1:], None], strict=True):
        calls = [part.tool_call_id for part in message.parts if isinstance(part, ToolCallPart)]
        if isinstance(message, ModelResponse) and calls:
            assert isinstance(after, ModelRequest)
            assert calls == [part.tool_call_id for part in after.parts if isinstance(part, ToolReturnPart)]
