"""Starts reviews from the configuration: the reviewer of a conversation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from seasoned.agent.conversation import Conversation
from seasoned.agent.model import Choice, choose_model, open_model
from seasoned.agent.review.background import Reviewer
from seasoned.agent.review.ledger import Review
from seasoned.agent.review.settings import settings_of
from seasoned.config import Config


def start_reviewer(
    config: Config,
    conversation: Conversation,
    choice: Choice,
    *,
    on_review: Callable[[Review], None] = lambda review: None,
) -> Reviewer:
    """The reviewer of a conversation. A small model reviews nothing, unless another one does it in its place."""
    settings = settings_of(config)
    other = None if settings.model is None else choose_model(config, settings.model)
    if other is None and choice.is_small:
        settings = msgspec.structs.replace(settings, memory_turns=0, skill_calls=0)
    root = str(conversation.ref) if conversation.scribe is None else conversation.scribe.about.lineage_root
    return Reviewer(
        settings,
        store_path=config.store_path,
        lineage_root=root,
        open_model=lambda: open_model(choice, context_length=config.context_length),
        open_other=None if other is None else lambda: open_model(other, context_length=config.context_length),
        own_instructions=own_instructions(config),
        on_review=on_review,
    )


def own_instructions(config: Config) -> Path:
    """Where the user's own instructions of reviews would lie."""
    return config.home / "review"
