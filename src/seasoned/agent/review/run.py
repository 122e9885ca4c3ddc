"""One review from opening its row in the ledger to closing it; whatever fails in between ends up in that row."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event

from pydantic_ai import CancellationToken
from pydantic_ai.exceptions import RunCancelled, RunTimedOut, UsageLimitExceeded
from pydantic_ai.messages import ModelResponse

from seasoned.agent.loop.context import Context
from seasoned.agent.loop.model import ModelChoice, open_model
from seasoned.agent.loop.record import body_of, new_ref
from seasoned.agent.memory.journal import Change, changes
from seasoned.agent.memory.overlap import ForeignTexts
from seasoned.agent.review.due import ReviewSettings, Topic
from seasoned.agent.review.fork import Fork, ForkProgress, RequestObserver, ReviewGate, digest_fork, run_fork
from seasoned.agent.review.ledger import (
    Occasion,
    Review,
    ReviewEnd,
    ReviewEnding,
    ReviewStart,
    begin,
    count,
    end,
    over_budget,
    spent_today,
)
from seasoned.agent.review.prompt import instructions, make_ready, prompt_of
from seasoned.config import Config
from seasoned.redact import Redactor
from seasoned.session import Session, SessionRef
from seasoned.store import Store, open_store

_MEMORY = {"add": "+", "replace": "~", "remove": "−"}
_SHOWN = 6


def line_of(changes: Iterable[Change]) -> str | None:
    """The line, or None if nothing was written; made only of the changes, not of what the review says about itself."""
    written = sorted(changes, key=lambda change: change.id)
    kept = _summary([change for change in written if change.state == "kept"])
    staged = _summary([change for change in written if change.state == "staged"])
    parts = [f"Kept: {kept}"] if kept else []
    if staged:
        parts.append(f"Waiting for you (`seasoned review --staged`): {staged}")
    return ". ".join(parts) or None


def _summary(changes: Sequence[Change]) -> str:
    """The changes in a few words, such as `memory +1; skill `x` patched`."""
    parts = []
    counts = {sign: sum(_MEMORY.get(change.action) == sign for change in changes) for sign in _MEMORY.values()}
    if any(counts.values()):
        parts.append("memory " + " ".join(f"{sign}{number}" for sign, number in counts.items() if number))
    skills: dict[str, list[str]] = {}
    for change in changes:
        if change.kind == "skill":
            done = skills.setdefault(change.target, [])
            if (verb := _verb(change)) not in done:
                done.append(verb)
    parts += [f"skill `{name}` {', '.join(done)}" for name, done in list(skills.items())[:_SHOWN]]
    if len(skills) > _SHOWN:
        parts.append(f"{len(skills) - _SHOWN} more skills")
    return "; ".join(parts)


def _verb(change: Change) -> str:
    if change.action == "patch" and change.file != "SKILL.md":
        return f"patched in `{change.file}`"
    verbs = {
        "create": "created",
        "patch": "patched",
        "write_file": f"`{change.file}` written",
        "remove_file": f"`{change.file}` removed",
        "delete": "deleted",
    }
    return verbs[change.action]


NOTHING = "Nothing to save."
_TASK_CHARS = 200
_ANSWER_CHARS = 1_000
_REASON_CHARS = 300
_MOST_CHANGES = 1_000


class _OverBudget(Exception):
    """The next request would exceed the budget of the day."""


@dataclass(frozen=True, kw_only=True)
class ReviewPlan:
    """Everything a review needs to begin."""

    # What is reviewed.
    session: SessionRef
    occasion: Occasion
    topic: Topic
    fork: Fork
    # The context of the conversation or of the command; the review gets its own copy.
    context: Context
    # The texts of the session, by which what repeats its results or pages is recognised.
    foreign: ForeignTexts
    task: str | None = None
    settings: ReviewSettings = field(default_factory=ReviewSettings)


def review_prompt(topic: Topic, context: Context, own: Path | None = None) -> str:
    """The prompt of a review."""
    return prompt_of(instructions(topic, own), context)


async def carry_out(
    plan: ReviewPlan, *, token: CancellationToken | None = None, clock: Callable[[], float] = time.time
) -> Review:
    """Run a review and return its row of the ledger. What goes wrong is reported there, not raised."""
    ref = new_ref(clock)
    running = _RunningReview(plan, ref, clock)
    # What the ledger says if this task is cancelled before the review returns.
    state: ReviewEnding = "interrupted"
    reason: str | None = "The review was interrupted."
    try:
        state, reason = await running.run(_context(plan, ref), token or CancellationToken())
    finally:
        done = running.end(state, reason)
    return done


class _RunningReview:
    """A review while it runs. No store stays open during a request: its thread may be abandoned."""

    def __init__(self, plan: ReviewPlan, ref: SessionRef, clock: Callable[[], float]) -> None:
        self._gate = ReviewGate()
        self._progress = ForkProgress()
        self._plan = plan
        self._ref = ref
        self._clock = clock
        self._redactor = plan.context.secrecy.redactor()
        with _store(plan) as store:
            self._row = begin(store, _opening(plan, ref, self._redactor), now=clock())

    def end(self, state: ReviewEnding, reason: str | None) -> Review:
        """Close the ledger; only changes in the store under the review's own session count as kept."""
        redactor, why = self._redactor, None if reason is None else self._redactor.head(reason, _REASON_CHARS)
        with _store(self._plan) as store:
            written = changes(store, session=str(self._ref), limit=_MOST_CHANGES)
            line = line_of(written)
            closing = ReviewEnd(
                state="kept" if line and state == "nothing" else state,
                calls=self._progress.calls,
                refused=len(self._gate.refused),
                kept=sum(change.state == "kept" for change in written),
                staged=sum(change.state == "staged" for change in written),
                said=". ".join(part for part in (line, why) if part) or NOTHING,
                answer=redactor.head(self._progress.answer, _ANSWER_CHARS) or None,
            )
            return end(store, self._row, closing, now=self._clock())

    async def run(self, context: Context, token: CancellationToken) -> tuple[ReviewEnding, str | None]:
        """Run the fork; how it ended, and why if it was stopped."""
        settings = self._plan.settings
        working = asyncio.create_task(
            run_fork(
                self._plan.fork,
                context=context,
                gate=self._gate,
                watch=RequestObserver(self._may_ask, self._answered, self._plan.fork.size),
                progress=self._progress,
                iterations=settings.iterations,
                seconds=settings.seconds,
                token=token,
            )
        )
        try:
            # Waited for, not awaited: whatever a review raises becomes a row of the ledger.
            await asyncio.wait({working})
        finally:
            # Its tools end with it.
            context.stopping.set()
            if not working.done():
                working.cancel()
                await asyncio.wait({working})
        return _ending(None if working.cancelled() else working.exception(), working.cancelled(), settings)

    def _may_ask(self, expected: int) -> None:
        with _store(self._plan) as store:
            spent = spent_today(store, now=self._clock())
        why = over_budget(self._plan.settings, spent, expected=expected)
        if why is not None:
            raise _OverBudget(why)

    def _answered(self, response: ModelResponse) -> None:
        with _store(self._plan) as store:
            count(store, self._row, self._plan.session, body_of(response), now=self._clock())


def _ending(
    error: BaseException | None, is_cancelled: bool, settings: ReviewSettings
) -> tuple[ReviewEnding, str | None]:
    if isinstance(error, RunTimedOut):
        return "time", f"The review was ended after {settings.seconds:g} seconds."
    if is_cancelled or isinstance(error, RunCancelled):
        return "interrupted", "The review was interrupted."
    if error is None:
        return "nothing", None
    if isinstance(error, _OverBudget):
        return "budget", str(error)
    if isinstance(error, UsageLimitExceeded):
        return "steps", f"The review was ended after {settings.iterations} requests."
    return "failed", f"The review failed: {type(error).__name__}: {' '.join(str(error).split())}"


def _opening(plan: ReviewPlan, ref: SessionRef, redactor: Redactor) -> ReviewStart:
    return ReviewStart(
        ref=ref,
        session=plan.session,
        context=plan.occasion,
        topic=plan.topic,
        form=plan.fork.form,
        model=plan.fork.runtime.model.model_name,
        platform=plan.context.platform,
        task=None if plan.task is None else redactor.head(plan.task, _TASK_CHARS),
    )


def _context(plan: ReviewPlan, ref: SessionRef) -> Context:
    """The review writes as its own session, whose parent is the session that it reviews."""
    return replace(
        plan.context,
        actor="review",
        origin="review",
        session=str(ref),
        parent=str(plan.session),
        task=plan.task,
        staging=plan.context.staging or plan.settings.staging,
        foreign=plan.foreign,
        stage_pages=plan.settings.stage_pages,
        allow_person_skills=plan.context.allow_person_skills or plan.settings.allow_person_skills,
        stopping=Event(),
    )


def _store(plan: ReviewPlan) -> Store:
    return open_store(plan.context.home / "seasoned.db")


def review_session(
    config: Config, settings: ReviewSettings, context: Context, session: Session, topic: Topic, choice: ModelChoice
) -> Review:
    """Review a session of any agent from a digest, and wait until it is done."""
    opened = open_model(choice, context_length=config.context_length)
    window = config.context_length or opened.context_window
    request = make_ready(session, context, topic=topic, own=config.home / "review", window=window)
    plan = ReviewPlan(
        session=session.ref,
        occasion="on demand",
        topic=topic,
        fork=digest_fork(opened, request.digest, request.prompt, owns_model=True),
        context=context,
        foreign=request.foreign,
        task=request.task,
        settings=settings,
    )
    return asyncio.run(carry_out(plan))
