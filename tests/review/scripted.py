"""Reviews for tests: a session, real stores, and a model that plays a script."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic_ai.models import Model

from seasoned.begin.memory import MemoryName, read
from seasoned.redact.key import Secrecy
from seasoned.review.due import ReviewSettings, Topic
from seasoned.review.ledger import Review, reviews
from seasoned.review.prompt import make_ready
from seasoned.review.run import ReviewPlan, carry_out
from seasoned.review.tools import Context
from seasoned.session import Message, Session, SessionRef
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


def session_about(prompt: str, answer: str = "Done.") -> Session:
    """A session of one turn."""
    return Session(SessionRef("codex", "s1"), "codex", "", (Message("user", prompt), Message("assistant", answer)))


def open_at(home: Path) -> Store:
    return open_store(home / "seasoned.db")


async def review_now(
    model: Model,
    session: Session,
    context: Context,
    *,
    topic: Topic = "both",
    settings: ReviewSettings | None = None,
    **more: Any,
) -> Review:
    """One review of a session."""
    request = make_ready(session, context, topic=topic)
    plan = ReviewPlan(request=request, model=model, context=context, settings=settings or ReviewSettings())
    return await carry_out(plan, **more)


def notes_of(home: Path, which: MemoryName = "notes") -> list[str]:
    return list(read(home / "memory", which, limit=2_200).entries)


def ledger_of(home: Path) -> list[Review]:
    with open_at(home) as store:
        return reviews(store, now=NOW)
