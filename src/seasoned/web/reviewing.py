"""Reviews that a page began: a model looks back on a session, beside the pages."""

from __future__ import annotations

from importlib.util import find_spec

from seasoned.confirm.service.service import ConfirmService
from seasoned.errors import CannotDo
from seasoned.session import Session
from seasoned.web.work import Done, Tell, Work, Works

_BAD = ("failed", "budget", "time", "interrupted")


def name_of(ref: str) -> str:
    """The name of the work that reviews this session."""
    return f"review of {ref}"


def begin(works: Works, service: ConfirmService, session: Session) -> Work:
    """Begin it, or go on with the one that runs."""
    return works.begin(name_of(str(session.ref)), "Review", lambda tell: _review(service, session, tell))


def _review(service: ConfirmService, session: Session, tell: Tell) -> Done:
    if find_spec("pydantic_ai") is None:
        raise CannotDo("A review needs the agent: pip install 'seasoned[agent]'.")
    # Imported here: the library of models takes a second, and most servers never review.
    from seasoned.agent.loop.context import Context
    from seasoned.agent.loop.model import choose_model
    from seasoned.agent.review.due import settings_of
    from seasoned.agent.review.run import review_session

    config = service.config
    settings = settings_of(config)
    choice = choose_model(config, settings.model, None)
    tell(f"{choice.name} looks back on {len(session.messages)} messages")
    context = Context(
        home=config.home,
        secrecy=service.secrecy,
        memory_folder=config.memory_folder,
        skill_folder=config.skill_folder,
        staging=settings.staging,
    )
    done = review_session(config, settings, context, session, "both", choice)
    if done.state in _BAD:
        raise CannotDo(done.said or f"The review ended: {done.state}.")
    return Done(done.said or "Nothing to save.", "learned")
