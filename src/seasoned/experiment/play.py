"""What whoever runs an agent is given, and what must come back. The agent itself is no part of this room."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import msgspec

from seasoned.errors import CannotDo
from seasoned.experiment.environment import Answer, Tool
from seasoned.session import Session, SessionRef, Usage


class ModelUnreachable(CannotDo):
    """The model does not answer; what was finished until then is saved."""


class Play(msgspec.Struct, frozen=True, kw_only=True):
    """One conversation to be had: a model, what it is told and shown, its tools, and what is asked."""

    model: str
    instructions: str
    warm: bytes
    """Messages to begin with, as a block rendered for pydantic-ai; empty for a cold start."""
    tools: tuple[Tool, ...]
    call: Callable[[str, Mapping[str, Any]], Answer]
    """Makes a call in the world of the run."""
    prompt: str
    begin: Callable[[SessionRef], None]
    """To be told the session before the model is asked for the first time."""
    title: str
    seed: int
    temperature: float
    steps: int
    """Requests to the model."""
    seconds: float


class Played(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it."""

    session: Session
    """The conversation as it was recorded, without what it was warmed with."""
    answer: str
    usage: Usage
    cost_usd: float | None
    seconds: float
    requests: int


class RunAgent(Protocol):
    """Has one conversation and records it. Raises ModelUnreachable where the model does not answer."""

    def __call__(self, play: Play, /) -> Played: ...
