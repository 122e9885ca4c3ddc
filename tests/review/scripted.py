"""Conversations for tests of the review: real tools, real stores, a scripted model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import Model

from seasoned.experience.memory import MemoryName, read
from seasoned.redact.key import Secrecy
from seasoned.review.background import Reviewer
from seasoned.review.context import Context
from seasoned.review.due import ReviewSettings, Topic
from seasoned.review.ledger import Review, reviews
from seasoned.review.prompt import foreign_texts, review_prompt
from seasoned.review.run import ReviewPlan, carry_out, session_of, task_of, whole_fork
from seasoned.runner.conversation import Conversation
from seasoned.runner.record import BackgroundRecorder, ConversationInfo, new_ref
from seasoned.runner.runtime import Runtime
from seasoned.runner.toolset.registry import build_toolsets
from seasoned.store import Store, open_store

NOW = 1_790_000_000.0
SECRECY = Secrecy(b"k" * 32)
STEPS = "1. Run the build.\n2. Read the first error.\n"


def context_at(home: Path, **more: Any) -> Context:
    values = {
        "home": home,
        "secrecy": SECRECY,
        "memory_folder": home / "memory",
        "skill_folder": home / "skills",
        "platform": "test",
    }
    return Context(**{**values, **more})


def runtime_of(model: Model, home: Path, folder: Path, *, prefix: Sequence[ModelMessage] = (), **more: Any) -> Runtime:
    folder.mkdir(parents=True, exist_ok=True)
    return Runtime(
        model=model,
        instructions="You are an agent.",
        toolsets=build_toolsets(("terminal", "file", "memory", "skill"), folder, environment={}),
        context=context_at(home, **more),
        prefix=tuple(prefix),
    )


def conversation_of(runtime: Runtime, *, is_recorded: bool = False) -> Conversation:
    ref = new_ref()
    about = ConversationInfo(ref=ref, model="scripted", instructions=runtime.instructions, platform="test")
    assert runtime.context is not None
    recorder = BackgroundRecorder(store_path(runtime.context.home), SECRECY, about) if is_recorded else None
    return Conversation(runtime, ref=ref, recorder=recorder)


def store_path(home: Path) -> Path:
    return home / "seasoned.db"


def open_at(home: Path) -> Store:
    return open_store(store_path(home))


def reviewer_of(conversation: Conversation, settings: ReviewSettings | None = None, **more: Any) -> Reviewer:
    assert conversation.runtime.context is not None
    return Reviewer(
        settings or ReviewSettings(memory_turns=1, skill_calls=1),
        store_path=store_path(conversation.runtime.context.home),
        lineage_root=str(conversation.ref),
        **more,
    )


async def review_now(
    conversation: Conversation, *, topic: Topic = "both", settings: ReviewSettings | None = None, **more: Any
) -> Review:
    """One review of a conversation, without a thread."""
    context = conversation.runtime.context
    assert context is not None
    history = conversation.snapshot()
    plan = ReviewPlan(
        session=conversation.ref,
        occasion="background",
        topic=topic,
        fork=whole_fork(conversation.runtime, history, review_prompt(topic, context)),
        context=context,
        foreign=foreign_texts(session_of(conversation.ref, history, folder=context.folder), project=context.project),
        task=task_of(history),
        settings=settings or ReviewSettings(),
    )
    return await carry_out(plan, **more)


def notes_of(home: Path, which: MemoryName = "notes") -> list[str]:
    return list(read(home / "memory", which, limit=2_200).entries)


def ledger_of(home: Path) -> list[Review]:
    with open_at(home) as store:
        return reviews(store, now=NOW)
