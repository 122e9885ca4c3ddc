"""Runs one review: a model reads the digest of a session and writes memory and skills; its row is in the ledger."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from pydantic_ai import CancellationToken, RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import RunCancelled, RunTimedOut, UsageLimitExceeded
from pydantic_ai.messages import FunctionToolCallEvent, ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestContext
from pydantic_ai.run import AgentRunResultEvent
from pydantic_ai.toolsets import FunctionToolset
from pydantic_ai.usage import UsageLimits

from seasoned.config import Config
from seasoned.redact import Redactor
from seasoned.review.due import ReviewSettings, Topic
from seasoned.review.journal import Change, changes
from seasoned.review.ledger import (
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
from seasoned.review.prompt import ReviewRequest, digest_instructions, make_ready, own_instructions
from seasoned.review.tools import MEMORY_AND_SKILLS, Context
from seasoned.runner.conversation import Runtime, build_agent
from seasoned.runner.model import ModelChoice, open_model
from seasoned.runner.record import body_of, new_ref
from seasoned.session import Session, SessionRef
from seasoned.store import Store, open_store

# What a review may call; any other tool is answered with a refusal that lists these.
ALLOWED: tuple[str, ...] = tuple(tool.__name__ for tool in MEMORY_AND_SKILLS)

_MEMORY = {"add": "+", "replace": "~", "remove": "−"}
_SHOWN = 6


def line_of(changes: Iterable[Change]) -> str | None:
    """What a review kept, in one line made only of its changes, not of what it says about itself; None if nothing."""
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
    """Everything that a review needs to start."""

    request: ReviewRequest
    # Its connection closes with the review.
    model: Model
    # The context of the command; the review gets its own copy.
    context: Context
    settings: ReviewSettings = field(default_factory=ReviewSettings)

    @property
    def session(self) -> SessionRef:
        """What is reviewed."""
        return self.request.session.ref


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
        self._calls = 0
        self._refused = 0
        self._answer = ""
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
                calls=self._calls,
                refused=self._refused,
                kept=sum(change.state == "kept" for change in written),
                staged=sum(change.state == "staged" for change in written),
                said=". ".join(part for part in (line, why) if part) or NOTHING,
                answer=redactor.head(self._answer, _ANSWER_CHARS) or None,
            )
            return end(store, self._row, closing, now=self._clock())

    async def run(self, context: Context, token: CancellationToken) -> tuple[ReviewEnding, str | None]:
        """Ask the model until it ends; how it ended, and why if it was stopped."""
        working = asyncio.create_task(self._ask(context, token))
        try:
            # Waited for, not awaited: an error in a review becomes a row of the ledger.
            await asyncio.wait({working})
        finally:
            if not working.done():
                working.cancel()
                await asyncio.wait({working})
        return _ending(None if working.cancelled() else working.exception(), working.cancelled(), self._plan.settings)

    async def _ask(self, context: Context, token: CancellationToken) -> None:
        """Run until the model ends, or raise when it reaches a limit. Its text is not shown."""
        request, settings = self._plan.request, self._plan.settings
        runtime = Runtime(
            model=self._plan.model,
            instructions=digest_instructions(),
            toolsets=(FunctionToolset(list(MEMORY_AND_SKILLS), id="review"),),
        )
        async with self._plan.model:
            events = build_agent(runtime, capabilities=[_BudgetCheck(self)]).run_stream_events(
                f"{request.digest.text}\n\n{request.prompt}",
                deps=context,
                usage_limits=UsageLimits(request_limit=settings.iterations),
                timeout=settings.seconds,
                cancellation_token=token,
            )
            async with events as stream:
                async for event in stream:
                    if isinstance(event, FunctionToolCallEvent):
                        self._calls += 1
                        # The library itself refuses a tool that was not offered, and says which there are.
                        self._refused += event.part.tool_name not in ALLOWED
                    elif isinstance(event, AgentRunResultEvent):
                        self._answer = event.result.output

    def before_request(self, messages: Sequence[ModelMessage], *, is_first: bool) -> None:
        """Raise _OverBudget if the next request would cost too much."""
        # Before the first answer there is no count from the provider, so it is estimated.
        expected = self._plan.request.tokens if is_first else _last_count(messages)
        with _store(self._plan) as store:
            spent = spent_today(store, now=self._clock())
        why = over_budget(self._plan.settings, spent, expected=expected)
        if why is not None:
            raise _OverBudget(why)

    def after_request(self, response: ModelResponse) -> None:
        """Account for a request that was answered."""
        with _store(self._plan) as store:
            count(store, self._row, body_of(response))


@dataclass
class _BudgetCheck(AbstractCapability[Context]):
    """Checks the budget before every request of a review, and accounts for each one."""

    review: _RunningReview

    async def before_model_request(
        self, ctx: RunContext[Context], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        self.review.before_request(ctx.messages, is_first=ctx.run_step <= 1)
        return request_context

    async def after_model_request(
        self, ctx: RunContext[Context], *, request_context: ModelRequestContext, response: ModelResponse
    ) -> ModelResponse:
        self.review.after_request(response)
        return response


def _last_count(messages: Sequence[ModelMessage]) -> int:
    """Tokens of the last request and its answer, as the provider counted them: the next one is a little larger."""
    answers = [one for one in messages if isinstance(one, ModelResponse)]
    return answers[-1].usage.input_tokens + answers[-1].usage.output_tokens if answers else 0


def _ending(
    error: BaseException | None, is_cancelled: bool, settings: ReviewSettings
) -> tuple[ReviewEnding, str | None]:
    if isinstance(error, RunTimedOut):
        return "time", f"The review was stopped after {settings.seconds:g} seconds."
    if is_cancelled or isinstance(error, RunCancelled):
        return "interrupted", "The review was interrupted."
    if error is None:
        return "nothing", None
    if isinstance(error, _OverBudget):
        return "budget", str(error)
    if isinstance(error, UsageLimitExceeded):
        return "steps", f"The review was stopped after {settings.iterations} requests."
    return "failed", f"The review failed: {type(error).__name__}: {' '.join(str(error).split())}"


def _opening(plan: ReviewPlan, ref: SessionRef, redactor: Redactor) -> ReviewStart:
    return ReviewStart(
        ref=ref,
        session=plan.session,
        context="on demand",
        topic=plan.request.topic,
        form="digest",
        model=plan.model.model_name,
        platform=plan.context.platform,
        task=None if plan.request.task is None else redactor.head(plan.request.task, _TASK_CHARS),
    )


def _context(plan: ReviewPlan, ref: SessionRef) -> Context:
    """The review writes as its own session, whose parent is the session that it reviews."""
    return replace(
        plan.context,
        actor="review",
        origin="review",
        session=str(ref),
        parent=str(plan.session),
        task=plan.request.task,
        staging=plan.context.staging or plan.settings.staging,
        foreign=plan.request.foreign,
        stage_pages=plan.settings.stage_pages,
        allow_person_skills=plan.context.allow_person_skills or plan.settings.allow_person_skills,
    )


def _store(plan: ReviewPlan) -> Store:
    return open_store(plan.context.home / "seasoned.db")


def review_session(
    config: Config, settings: ReviewSettings, context: Context, session: Session, topic: Topic, choice: ModelChoice
) -> Review:
    """Review a session of any agent from a digest, and wait until it is done."""
    opened = open_model(choice, context_length=config.context_length)
    window = config.context_length or opened.context_window
    request = make_ready(session, context, topic=topic, own=own_instructions(config), window=window)
    return asyncio.run(carry_out(ReviewPlan(request=request, model=opened, context=context, settings=settings)))
