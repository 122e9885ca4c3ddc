"""A review of a recorded session from its model to its end, for every door that offers one."""

from __future__ import annotations

import asyncio

from seasoned.agent.context import Context
from seasoned.agent.model import Choice, open_model
from seasoned.agent.review.due import Topic
from seasoned.agent.review.fork import digest_fork
from seasoned.agent.review.ledger import Review
from seasoned.agent.review.on_demand import make_ready
from seasoned.agent.review.run import Plan, carry_out
from seasoned.agent.review.settings import Settings
from seasoned.config import Config
from seasoned.session import Session


def review_session(
    config: Config, settings: Settings, context: Context, session: Session, topic: Topic, choice: Choice
) -> Review:
    """Ask the model what the session taught, and keep that; the whole of it, until it is over."""
    opened = open_model(choice, context_length=config.context_length)
    window = config.context_length or opened.context_window
    errand = make_ready(session, context, topic=topic, own=config.home / "review", window=window)
    plan = Plan(
        session=session.ref,
        occasion="on demand",
        topic=topic,
        fork=digest_fork(opened, errand.digest, errand.prompt, owns_model=True),
        context=context,
        task=errand.task,
        settings=settings,
    )
    return asyncio.run(carry_out(plan))
