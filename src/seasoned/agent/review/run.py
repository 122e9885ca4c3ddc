"""One review from its first line in the ledger to its last: whatever happens in between, it is torn down and told."""

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
    """The line, or None where nothing was written. What was said in the conversation before does not come into it."""
    written = sorted(changes, key=lambda change: change.id)
    kept = _told([change for change in written if change.state == "kept"])
    staged = _told([change for change in written if change.state == "staged"])
    parts = [f"Kept: {kept}"] if kept else []
    if staged:
        kinds = " and ".join(sorted({f"`seasoned {change.kind} history`" for change in written if _waits(change)}))
        parts.append(f"Waits for you ({kinds}): {staged}")
    return ". ".join(parts) or None


def _waits(change: Change) -> bool:
    return change.state == "staged"


def _told(changes: Sequence[Change]) -> str:
    """`memory +1; skill `x` patched`."""
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
        "write_file": f"given `{change.file}`",
        "remove_file": f"freed of `{change.file}`",
        "delete": "put aside",
    }
    return verbs[change.action]


NOTHING = "Nothing to save."
_TASK_CHARS = 200
_ANSWER_CHARS = 1_000
_REASON_CHARS = 300
_MOST_CHANGES = 1_000


class _OverBudget(Exception):
    """The next request would take more than a day may cost."""


@dataclass(frozen=True, kw_only=True)
class ReviewPlan:
    """A review that can begin."""

    # What is reviewed.
    session: SessionRef
    occasion: Occasion
    topic: Topic
    fork: Fork
    # Of the conversation, or of whoever asked for the review; the review gets one of its own.
    context: Context
    task: str | None = None
    settings: ReviewSettings = field(default_factory=ReviewSettings)


def review_prompt(topic: Topic, context: Context, own: Path | None = None) -> str:
    """What a review is told."""
    return prompt_of(
        instructions(topic, own),
        memory_folder=context.memory_folder,
        skill_folder=context.skill_folder,
        redactor=context.secrecy.redactor(),
    )


async def carry_out(
    plan: ReviewPlan, *, token: CancellationToken | None = None, clock: Callable[[], float] = time.time
) -> Review:
    """Run a review, and return its line of the ledger. What goes wrong in it is said there, and not raised."""
    ref = new_ref(clock)
    sitting = _RunningReview(plan, ref, clock)
    state: ReviewEnding = "interrupted"
    reason: str | None = "The review was interrupted."
    try:
        state, reason = await sitting.run(_context(plan, ref), token or CancellationToken())
    finally:
        done = sitting.end(state, reason)
    return done


class _RunningReview:
    """A review while it runs. No store stays open over a request: it belongs to a thread, which may be left behind."""

    def __init__(self, plan: ReviewPlan, ref: SessionRef, clock: Callable[[], float]) -> None:
        self._gate = ReviewGate()
        self._heard = ForkProgress()
        self._plan = plan
        self._ref = ref
        self._clock = clock
        self._redactor = plan.context.secrecy.redactor()
        with _store(plan) as store:
            self._row = begin(store, _opening(plan, ref, self._redactor), now=clock())

    def end(self, state: ReviewEnding, reason: str | None) -> Review:
        """Close the ledger: only what the store has under the review's own name was kept."""
        redactor, why = self._redactor, None if reason is None else self._redactor.head(reason, _REASON_CHARS)
        with _store(self._plan) as store:
            written = changes(store, session=str(self._ref), limit=_MOST_CHANGES)
            line = line_of(written)
            closing = ReviewEnd(
                state="kept" if line and state == "nothing" else state,
                calls=self._heard.calls,
                refused=len(self._gate.refused),
                kept=sum(change.state == "kept" for change in written),
                staged=sum(change.state == "staged" for change in written),
                said=". ".join(part for part in (line, why) if part) or NOTHING,
                answer=redactor.head(self._heard.answer, _ANSWER_CHARS) or None,
            )
            return end(store, self._row, closing, now=self._clock())

    async def run(self, context: Context, token: CancellationToken) -> tuple[ReviewEnding, str | None]:
        """How it ended, and why where it did not end by itself."""
        settings = self._plan.settings
        working = asyncio.create_task(
            run_fork(
                self._plan.fork,
                context=context,
                gate=self._gate,
                watch=RequestObserver(self._may_ask, self._answered, self._plan.fork.size),
                heard=self._heard,
                iterations=settings.iterations,
                seconds=settings.seconds,
                token=token,
            )
        )
        try:
            # Looked at instead of raised: one review that breaks, in whatever way, is a line of the ledger.
            await asyncio.wait({working})
        finally:
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
    """Whoever writes is the review: its own session, with the one that it reviews as the parent."""
    return replace(
        plan.context,
        actor="review",
        origin="review",
        session=str(ref),
        parent=str(plan.session),
        task=plan.task,
        staging=plan.context.staging or plan.settings.staging,
        allow_person_skills=plan.context.allow_person_skills or plan.settings.allow_person_skills,
        stopping=Event(),
    )


def _store(plan: ReviewPlan) -> Store:
    return open_store(plan.context.home / "seasoned.db")


def review_session(
    config: Config, settings: ReviewSettings, context: Context, session: Session, topic: Topic, choice: ModelChoice
) -> Review:
    """Ask the model what the session taught, and keep that; the whole of it, until it is over."""
    opened = open_model(choice, context_length=config.context_length)
    window = config.context_length or opened.context_window
    errand = make_ready(session, context, topic=topic, own=config.home / "review", window=window)
    plan = ReviewPlan(
        session=session.ref,
        occasion="on demand",
        topic=topic,
        fork=digest_fork(opened, errand.digest, errand.prompt, owns_model=True),
        context=context,
        task=errand.task,
        settings=settings,
    )
    return asyncio.run(carry_out(plan))
