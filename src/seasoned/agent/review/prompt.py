"""The instructions of a review: texts in files, which people can replace with their own."""

from __future__ import annotations

from pathlib import Path

import msgspec

from seasoned.agent.loop.context import Context
from seasoned.agent.memory.memory_file import frozen
from seasoned.agent.review.digest import SessionDigest, budget_for, digest_of
from seasoned.agent.review.due import Topic
from seasoned.agent.skill.library import index
from seasoned.errors import CannotDo, NotFound
from seasoned.redact import Redactor
from seasoned.session import Session
from seasoned.template.render.tokens import count_tokens

_FOLDER = Path(__file__).parent / "instructions"
_LONGEST = 50_000


def instructions(topic: Topic, own: Path | None = None) -> str:
    """The instructions for a topic: the file `<topic>.md` of the folder given, else ours."""
    if own is not None and (text := _own(own / f"{topic}.md")):
        return text
    return (_FOLDER / f"{topic}.md").read_text("utf-8").strip()


def digest_instructions() -> str:
    """The instructions for a model that did not take part in the session."""
    return (_FOLDER / "digest.md").read_text("utf-8").strip()


def prompt_of(text: str, *, memory_folder: Path, skill_folder: Path, redactor: Redactor) -> str:
    """The instructions and what is kept now: the conversation itself shows only what was kept at its start."""
    kept = frozen(memory_folder, redactor=redactor) or "(empty)"
    known = index(skill_folder, redactor=redactor) or "(none yet)"
    return f"{text}\n\n## What is kept now\n\nMemory:\n\n{kept}\n\nSkills:\n\n{known}"


def _own(path: Path) -> str | None:
    try:
        text = path.read_text("utf-8").strip()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise CannotDo(f"The instructions {str(path)!r} cannot be read: {error}.") from error
    if len(text) > _LONGEST:
        raise CannotDo(f"The instructions {str(path)!r} have {len(text):,} characters, {_LONGEST:,} at most.")
    return text or None


class ReviewRequest(msgspec.Struct, frozen=True):
    """A session to review, as the model will see it."""

    session: Session
    topic: Topic
    digest: SessionDigest
    prompt: str

    @property
    def text(self) -> str:
        """Everything that the first request sends, except the tools."""
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
) -> ReviewRequest:
    """Make the review request of a session; NotFound if it has no messages."""
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
    return ReviewRequest(session, topic, digest, prompt)
