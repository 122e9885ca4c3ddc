"""Turns for tests: real tools, a real store, and a model that plays a script."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic_ai.models import Model
from pydantic_ai.toolsets import FunctionToolset

from seasoned.redact.key import Secrecy
from seasoned.runner.agent import Run
from seasoned.runner.conversation import Runtime, ask
from seasoned.runner.record import ConversationInfo, new_ref, record_conversation

SECRECY = Secrecy(b"k" * 32)


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def divide(a: int, b: int) -> dict[str, Any]:
    """Divide two numbers."""
    return {"success": True, "result": a / b} if b else {"success": False, "error": "ZeroDivisionError"}


async def wait(seconds: float) -> str:
    """Wait."""
    await asyncio.sleep(seconds)
    return "waited"


def say(model: Model, prompt: str, *, stop: Callable[[], bool] = lambda: False, **more: Any) -> Run:
    """One turn with three tools."""
    tools = (FunctionToolset([add, divide, wait], id="test"),)
    runtime = Runtime(model=model, **{"instructions": "You are an agent in a test.", "toolsets": tools, **more})
    return ask(runtime, prompt, stop=stop)


def record(path: Path, turn: Run) -> ConversationInfo:
    """Record a turn in the store of a folder."""
    about = ConversationInfo(ref=new_ref(), model="scripted", cwd=str(path))
    assert record_conversation(path / "seasoned.db", SECRECY, about, turn.messages, ended=turn.stopped_by) is None
    return about
