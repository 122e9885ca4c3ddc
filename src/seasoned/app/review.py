"""Reviews: a model writes down what a session taught, and a person decides what is kept."""

from __future__ import annotations

import time

import msgspec

from seasoned.app.stores import kept_secrecy, read_secrecy, store_or_empty
from seasoned.config import Config
from seasoned.errors import CannotDo
from seasoned.redact.key import Secrecy
from seasoned.review.answer import Context
from seasoned.review.due import Reviewer, ReviewSettings, reviewer_of, settings_of
from seasoned.review.ledger import Review, ReviewSpending, over_budget, reviews, spent_today
from seasoned.review.prompt import make_ready
from seasoned.review.run import review_session
from seasoned.runner.run import MODEL, problem_of
from seasoned.session import Session
from seasoned.store.project import ProjectFinder
from seasoned.store.search import find_session

# States of a review that ended without a result.
BAD_STATES = ("failed", "budget", "time", "interrupted")


class ReviewPreview(msgspec.Struct, frozen=True, kw_only=True):
    """What a review would send and where it would write, without asking a model."""

    session: str
    agent: str
    model: str | None
    problem: str | None
    messages: int
    whole_messages: int
    bytes: int
    tokens: int
    memory_folder: str
    skill_folder: str
    staging: bool
    text: str
    # The session's project, and where its notes and skills are kept; the folders above are for all projects.
    project: str | None = None
    project_folder: str | None = None
    # The tool that read a foreign page, if everything is staged because of it.
    page: str | None = None


def choose_reviewer(config: Config, session: Session, agent: str | None = None, model: str | None = None) -> Reviewer:
    """Who reviews a session: the agent and model given, else those of the settings."""
    if agent is not None or model is not None:
        # A model alone is one of an API, as `--model openai:NAME` says.
        config = msgspec.structs.replace(config, review_agent=agent or MODEL, review_model=model)
    found = reviewer_of(config, session.ref.agent)
    if found is None:
        raise CannotDo(f"Nobody reviews sessions of {session.ref.agent}. Name an agent with --agent, or a model.")
    return found


def review(config: Config, session: Session, reviewer: Reviewer, *, staging: bool) -> Review:
    """Have a session reviewed, and keep what it taught; with `staging`, the changes wait for a person."""
    return review_session(config, _context(config, kept_secrecy(config), session, staging=staging), session, reviewer)


def plan_review(config: Config, session: Session, reviewer: Reviewer, *, staging: bool) -> ReviewPreview:
    """What a review would send. It writes nothing, not even a new redaction key."""
    settings = settings_of(config)
    # Not kept_secrecy: that would write a new key, and a dry run must leave no file behind.
    context = _context(config, read_secrecy(config), session, staging=staging)
    ready = make_ready(session, context, window=config.context_length, tokens_per_day=settings.tokens_per_day)
    page = ready.foreign.page
    with store_or_empty(config) as store:
        spent = spent_today(store, now=time.time())
    return ReviewPreview(
        session=str(session.ref),
        agent=reviewer.agent,
        model=reviewer.model,
        problem=problem_of(config, reviewer.agent, reviewer.model)
        or over_budget(settings, spent, expected=ready.tokens),
        messages=ready.digest.messages,
        whole_messages=ready.digest.whole,
        bytes=len(ready.text.encode("utf-8", "replace")),
        tokens=ready.tokens,
        memory_folder=str(config.memory_folder),
        skill_folder=str(config.skill_folder),
        project=context.project,
        project_folder=None if context.project_folder is None else str(context.project_folder),
        staging=staging or settings.staging,
        page=None if page is None or not settings.stage_pages else page.tool,
        text=ready.text,
    )


def past_reviews(
    config: Config, session: str | None, limit: int
) -> tuple[list[Review], ReviewSpending, ReviewSettings]:
    """Past reviews, of one session or of all, what today's took, and the limits of a day."""
    now = time.time()
    with store_or_empty(config) as store:
        if session is not None:
            row = find_session(store, session)
            # Reviews are filed under the full name, and people type the beginning of an id.
            session = f"{row['agent']}:{row['native_id']}"
        found = reviews(store, session=session, limit=limit, now=now)
        return found, spent_today(store, now=now), settings_of(config)


def _context(config: Config, secrecy: Secrecy, session: Session, *, staging: bool) -> Context:
    with store_or_empty(config) as store:
        found = ProjectFinder(store).find(session.cwd, remote=session.remote, application=session.application)
    return Context(
        home=config.home,
        secrecy=secrecy,
        memory_folder=config.memory_folder,
        skill_folder=config.skill_folder,
        project=None if found is None else found.key,
        staging=staging,
    )
