"""Reviews: a model writes down what a session taught, and a person decides what is kept."""

from __future__ import annotations

import time

import msgspec

from seasoned.app.stores import kept_secrecy, read_secrecy, store_or_empty
from seasoned.config import Config
from seasoned.errors import CannotDo
from seasoned.redact.key import Secrecy
from seasoned.review.answer import Context
from seasoned.review.due import Reviewer, reviewer_of, settings_of
from seasoned.review.journal import Change
from seasoned.review.ledger import Review, ReviewSpending, over_budget, reviews, spent_since, spent_today
from seasoned.review.prompt import make_ready
from seasoned.review.run import kept_line, review_session
from seasoned.runner.run import MODEL, problem_of
from seasoned.session import Session
from seasoned.store import Store
from seasoned.store.project import ProjectFinder
from seasoned.store.search import find_session
from seasoned.text import dollars, plural

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


def review(config: Config, session: Session, reviewer: Reviewer) -> Review:
    """Have a session reviewed, and keep what it taught."""
    return review_session(config, _context(config, kept_secrecy(config), session), session, reviewer)


def plan_review(config: Config, session: Session, reviewer: Reviewer) -> ReviewPreview:
    """What a review would send. It writes nothing, not even a new redaction key."""
    settings = settings_of(config)
    # Not kept_secrecy: that would write a new key, and a dry run must leave no file behind.
    context = _context(config, read_secrecy(config), session)
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
        staging=bool(settings.staged),
        page=None if page is None or not settings.stage_pages else page.tool,
        text=ready.text,
    )


def past_reviews(
    config: Config, session: str | None, limit: int
) -> tuple[list[Review], ReviewSpending, WeekOfReviews | None]:
    """Past reviews, of one session or of all, what today's took, and the last seven days."""
    now = time.time()
    with store_or_empty(config) as store:
        if session is not None:
            row = find_session(store, session)
            # Reviews are filed under the full name, and people type the beginning of an id.
            session = f"{row['agent']}:{row['native_id']}"
        found = reviews(store, session=session, limit=limit, now=now)
        return found, spent_today(store, now=now), week_of_reviews(store, now=now)


_WEEK_SECONDS = 7 * 86_400.0


class WeekOfReviews(msgspec.Struct, frozen=True, kw_only=True):
    """What the reviews of the last seven days took and kept, and how many sessions have made use of it since."""

    reviews: int
    tokens: int
    # None where no price is known.
    cost_usd: float | None
    # Such as "memory +2; 1 rule"; None for nothing.
    kept: str | None
    # Sessions that were shown a note or the name of a skill, and those that read a skill.
    shown: int
    read: int

    @property
    def sentence(self) -> str:
        """All of it in one line."""
        cost = f"{self.tokens:,} tokens" + (f", {dollars(self.cost_usd)}" if self.cost_usd is not None else "")
        said = f"{plural(self.reviews, 'review')} in the last seven days ({cost}) kept {self.kept or 'nothing'}."
        if self.kept is None:
            return said
        return f"{said} Since then {plural(self.shown, 'session')} saw some of it, and {self.read} read a skill."


def week_of_reviews(store: Store, *, now: float) -> WeekOfReviews | None:
    """The last seven days in one line, for the terminal and the overview; None without a review."""
    since = {"since": now - _WEEK_SECONDS}
    spent = spent_since(store, since=now - _WEEK_SECONDS)
    if not spent.reviews:
        return None
    made = [msgspec.convert(dict(row), Change) for row in store.rows("review.changes_since", since)]
    rules = store.row("review.rules_since", since)
    told, read = set(), set()
    for row in store.rows("review.told_since", since) if made else ():
        if any(row["told_at"] > one.at and _words_of(one) in row["text"] for one in made):
            told.add(row["conversation"])
    names = {one.target: one.at for one in made if one.kind == "skill"}
    for row in store.rows("review.skills_read_since", since) if names else ():
        if any(row["at"] > at and name in row["arguments"] for name, at in names.items()):
            read.add(row["session_id"])
    return WeekOfReviews(
        reviews=spent.reviews,
        tokens=spent.tokens,
        cost_usd=spent.cost_usd if spent.requests > spent.unpriced else None,
        kept=kept_line(made, 0 if rules is None else rules["rules"]),
        shown=len(told),
        read=len(read),
    )


def _words_of(change: Change) -> str:
    """What a session sees of a change: the first line of a note, or the name of a skill."""
    return f"- {change.target}:" if change.kind == "skill" else f"- {(change.after or '').partition(chr(10))[0]}"


def _context(config: Config, secrecy: Secrecy, session: Session) -> Context:
    with store_or_empty(config) as store:
        found = ProjectFinder(store).find(session.cwd, remote=session.remote, application=session.application)
    return Context(
        home=config.home,
        secrecy=secrecy,
        memory_folder=config.memory_folder,
        skill_folder=config.skill_folder,
        project=None if found is None else found.key,
    )
