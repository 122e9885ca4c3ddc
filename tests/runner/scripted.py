"""Conversations for tests: real tools, a real store, and a model that plays a script."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from pydantic_ai.models import Model
from pydantic_ai.toolsets import FunctionToolset

from seasoned.redact.key import Secrecy
from seasoned.runner.conversation import Conversation, Runtime, Turn, TurnLimits
from seasoned.runner.record import BackgroundRecorder, ConversationInfo, new_ref

SECRECY = Secrecy(b"k" * 32)
INSTRUCTIONS = "You are an agent in a test."


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def divide(a: int, b: int) -> float:
    """Divide two numbers."""
    return a / b


async def wait(seconds: float) -> str:
    """Wait."""
    await asyncio.sleep(seconds)
    return "waited"


def conversation_at(
    path: Path, model: Model, *, limits: TurnLimits | None = None, is_recorded: bool = True, **more: Any
) -> Conversation:
    """A recorded conversation with three tools."""
    runtime = Runtime(
        model=model, instructions=INSTRUCTIONS, toolsets=(FunctionToolset([add, divide, wait], id="test"),), **more
    )
    ref = new_ref()
    about = ConversationInfo(ref=ref, model="scripted", cwd=str(path))
    recorder = BackgroundRecorder(path / "seasoned.db", SECRECY, about) if is_recorded else None
    return Conversation(runtime, ref=ref, limits=limits, recorder=recorder)


def say(conversation: Conversation, *prompts: str) -> list[Turn]:
    """Turns, one after the other, in one loop; then the conversation is closed."""

    async def talk() -> list[Turn]:
        async with conversation:
            return [await conversation.turn(prompt) for prompt in prompts]

    try:
        return asyncio.run(talk())
    finally:
        conversation.close()
