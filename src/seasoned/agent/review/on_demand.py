"""A review of any recorded session of any agent: what would be sent, made ready before a model is needed."""

from __future__ import annotations

from pathlib import Path

import msgspec

from seasoned.agent.context import Context
from seasoned.agent.review.digest import Digest, budget_for, digest_of
from seasoned.agent.review.due import Topic
from seasoned.agent.review.instruction import digest_instructions, instructions, prompt_of
from seasoned.errors import NotFound
from seasoned.session import Session
from seasoned.template.render.tokens import count_tokens


class Errand(msgspec.Struct, frozen=True):
    """A session to be reviewed, in the words in which a model will be told of it."""

    session: Session
    topic: Topic
    digest: Digest
    prompt: str

    @property
    def text(self) -> str:
        """All that is sent with the first request, beside the tools."""
        return f"{digest_instructions()}\n\n{self.digest.text}\n\n{self.prompt}"

    @property
    def tokens(self) -> int:
        return count_tokens(self.text)

    @property
    def task(self) -> str | None:
        """What the user asked for last."""
        said = [one.text for one in self.session.messages if one.role == "user" and not one.synthetic]
        return next((text for text in reversed(said) if text.strip()), None)


def make_ready(
    session: Session, context: Context, *, topic: Topic, own: Path | None = None, window: int | None = None
) -> Errand:
    """The errand of a session; one in which nothing was said cannot be reviewed."""
    redactor = context.secrecy.redactor()
    prompt = prompt_of(
        instructions(topic, own),
        memory_folder=context.memory_folder,
        skill_folder=context.skill_folder,
        redactor=redactor,
    )
    digest = digest_of(session, redactor, budget=budget_for(window, prompt))
    if not digest.messages:
        raise NotFound(f"{str(session.ref)!r} holds no messages that could be reviewed.")
    return Errand(session, topic, digest, prompt)
