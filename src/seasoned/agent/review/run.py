"""One review from its first line in the ledger to its last: whatever happens in between, it is torn down and told."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event

from pydantic_ai import CancellationToken
from pydantic_ai.exceptions import RunCancelled, RunTimedOut, UsageLimitExceeded
from pydantic_ai.messages import ModelResponse

from seasoned.agent.body import body_of
from seasoned.agent.context import Context
from seasoned.agent.provenance import changes
from seasoned.agent.record import new_ref
from seasoned.agent.review.due import Topic
from seasoned.agent.review.fork import Fork, Heard, Watch, run_fork
from seasoned.agent.review.gate import Gate
from seasoned.agent.review.instruction import instructions, prompt_of
from seasoned.agent.review.ledger import (
    Closing,
    Ending,
    Occasion,
    Opening,
    Review,
    begin,
    count,
    end,
    over_budget,
    spent_today,
)
from seasoned.agent.review.settings import Settings
from seasoned.agent.review.summary import line_of
from seasoned.redact import Redactor
from seasoned.session import SessionRef
from seasoned.store import Store, open_store

NOTHING = "Nothing to save."
_TASK_CHARS = 200
_ANSWER_CHARS = 1_000
_REASON_CHARS = 300
_MOST_CHANGES = 1_000


class _OverBudget(Exception):
    """The next request would take more than a day may cost."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A review that can begin."""

    session: SessionRef
    """What is reviewed."""
    occasion: Occasion
    topic: Topic
    fork: Fork
    context: Context
    """Of the conversation, or of whoever asked for the review; the review gets one of its own."""
    task: str | None = None
    settings: Settings = field(default_factory=Settings)


def review_prompt(topic: Topic, context: Context, own: Path | None = None) -> str:
    """What a review is told."""
    return prompt_of(
        instructions(topic, own),
        memory_folder=context.memory_folder,
        skill_folder=context.skill_folder,
        redactor=context.secrecy.redactor(),
    )


async def carry_out(
    plan: Plan, *, token: CancellationToken | None = None, clock: Callable[[], float] = time.time
) -> Review:
    """Run a review, and return its line of the ledger. What goes wrong in it is said there, and not raised."""
    ref = new_ref(clock)
    sitting = _Sitting(plan, ref, clock)
    state: Ending = "interrupted"
    reason: str | None = "The review was interrupted."
    try:
        state, reason = await sitting.run(_context(plan, ref), token or CancellationToken())
    finally:
        done = sitting.end(state, reason)
    return done


class _Sitting:
    """A review while it runs. No store stays open over a request: it belongs to a thread, which may be left behind."""

    def __init__(self, plan: Plan, ref: SessionRef, clock: Callable[[], float]) -> None:
        self._gate = Gate()
        self._heard = Heard()
        self._plan = plan
        self._ref = ref
        self._clock = clock
        self._redactor = plan.context.secrecy.redactor()
        with _store(plan) as store:
            self._row = begin(store, _opening(plan, ref, self._redactor), now=clock())

    def end(self, state: Ending, reason: str | None) -> Review:
        """Close the ledger: only what the store has under the review's own name was kept."""
        redactor, why = self._redactor, None if reason is None else self._redactor.head(reason, _REASON_CHARS)
        with _store(self._plan) as store:
            written = changes(store, session=str(self._ref), limit=_MOST_CHANGES)
            line = line_of(written)
            closing = Closing(
                state="kept" if line and state == "nothing" else state,
                calls=self._heard.calls,
                refused=len(self._gate.refused),
                kept=sum(change.state == "kept" for change in written),
                staged=sum(change.state == "staged" for change in written),
                said=". ".join(part for part in (line, why) if part) or NOTHING,
                answer=redactor.head(self._heard.answer, _ANSWER_CHARS) or None,
            )
            return end(store, self._row, closing, now=self._clock())

    async def run(self, context: Context, token: CancellationToken) -> tuple[Ending, str | None]:
        """How it ended, and why where it did not end by itself."""
        settings = self._plan.settings
        working = asyncio.create_task(
            run_fork(
                self._plan.fork,
                context=context,
                gate=self._gate,
                watch=Watch(self._may_ask, self._answered, self._plan.fork.size),
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


def _ending(error: BaseException | None, is_cancelled: bool, settings: Settings) -> tuple[Ending, str | None]:
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


def _opening(plan: Plan, ref: SessionRef, redactor: Redactor) -> Opening:
    return Opening(
        ref=ref,
        session=plan.session,
        context=plan.occasion,
        topic=plan.topic,
        form=plan.fork.form,
        model=plan.fork.runtime.model.model_name,
        platform=plan.context.platform,
        task=None if plan.task is None else redactor.head(plan.task, _TASK_CHARS),
    )


def _context(plan: Plan, ref: SessionRef) -> Context:
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


def _store(plan: Plan) -> Store:
    return open_store(plan.context.home / "seasoned.db")
