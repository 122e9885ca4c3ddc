"""Runs one review: an agent reads the digest of a session and proposes what to keep; its row is in the ledger."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import msgspec

from seasoned.config import Config
from seasoned.review.answer import Context, ReviewAnswer, answer_schema, carry_out
from seasoned.review.due import Reviewer, settings_of
from seasoned.review.journal import Change, WriteReply, changes
from seasoned.review.ledger import (
    Review,
    ReviewEnd,
    ReviewEnding,
    begin,
    count,
    end,
    over_budget,
    spent_today,
)
from seasoned.review.prompt import ReviewRequest, make_ready
from seasoned.runner.agent import Run, RunRequest
from seasoned.runner.record import new_ref
from seasoned.runner.run import run
from seasoned.session import Session
from seasoned.store import open_store
from seasoned.text import plural

NOTHING = "Nothing to save."
_MEMORY = {"add": "+", "replace": "~", "remove": "−"}
_SHOWN = 6
_TASK_CHARS = 200
_ANSWER_CHARS = 1_000
_REASON_CHARS = 300
_MOST_CHANGES = 1_000
_LEAST_USD = 0.01


def review_session(
    config: Config,
    context: Context,
    session: Session,
    reviewer: Reviewer,
    *,
    clock: Callable[[], float] = time.time,
) -> Review:
    """Review a session of any agent and return the row of the ledger. What goes wrong is reported there, not raised."""
    settings, ref = settings_of(config), new_ref(clock)
    request = make_ready(
        session,
        context,
        window=config.context_length,
        tokens_per_day=settings.tokens_per_day,
    )
    # It writes as its own session, whose parent is the session that it reviews.
    context = replace(
        context,
        session=str(ref),
        parent=str(session.ref),
        task=request.task,
        staged=context.staged or settings.staged,
        foreign=request.foreign,
        stage_pages=settings.stage_pages,
    )
    task = None if request.task is None else context.secrecy.redactor().head(request.task, _TASK_CHARS)
    # No store stays open while the agent works.
    with open_store(context.store_path) as store:
        spent = spent_today(store, now=clock())
        row = begin(
            store,
            ref=str(ref),
            session=str(session.ref),
            model=f"{reviewer.agent} {reviewer.model}" if reviewer.model else reviewer.agent,
            platform=context.platform,
            task=task,
            now=clock(),
        )
    end_of_review = _Proposed()
    try:
        refusal = over_budget(settings, spent, expected=request.tokens)
        if refusal is not None:
            end_of_review = _Proposed(state="budget", why=refusal)
        else:
            left = None if settings.usd_per_day is None else max(_LEAST_USD, settings.usd_per_day - spent.cost_usd)
            ran = run(config, _wanted(request, reviewer, settings.seconds, left))
            with open_store(context.store_path) as store:
                count(store, row, ran)
            end_of_review = _answer_of(ran)
            end_of_review.carry_out(context, session)
    finally:
        done = _close(context, row, end_of_review, now=clock())
    return done


@dataclass
class _Proposed:
    """What the reviewer proposed, what became of it, and how the review ends if nothing of it is kept."""

    state: ReviewEnding = "interrupted"
    why: str = "The review was interrupted."
    answer: ReviewAnswer | None = None
    replies: Sequence[WriteReply] = ()
    rules: int = 0

    def carry_out(self, context: Context, session: Session) -> None:
        if self.answer is not None:
            self.replies, self.rules = carry_out(self.answer, context, session)

    @property
    def told(self) -> str:
        """What the review says of itself, and what it was refused."""
        refused = [reply.said for reply in self.replies if not reply.ok]
        return " ".join([*([] if self.answer is None else [self.answer.said]), *refused])


def _wanted(request: ReviewRequest, reviewer: Reviewer, seconds: float, budget_usd: float | None) -> RunRequest:
    return RunRequest(
        agent=reviewer.agent,
        prompt=request.prompt,
        model=reviewer.model,
        instructions=request.instructions,
        schema=answer_schema(),
        seconds=seconds,
        budget_usd=budget_usd,
    )


def _close(context: Context, row: int, proposed: _Proposed, *, now: float) -> Review:
    """Close the ledger; only changes in the store under the review's own session count as kept."""
    redactor = context.secrecy.redactor()
    with open_store(context.store_path) as store:
        written = changes(store, session=context.session, limit=_MOST_CHANGES)
        line = line_of(written, proposed.rules)
        closing = ReviewEnd(
            state="kept" if line and proposed.state == "nothing" else proposed.state,
            calls=len(proposed.replies),
            refused=sum(not one.ok for one in proposed.replies),
            kept=sum(change.state == "kept" for change in written) + proposed.rules,
            staged=sum(change.state == "staged" for change in written),
            said=". ".join(filter(None, (line, redactor.head(proposed.why, _REASON_CHARS)))) or NOTHING,
            answer=redactor.head(proposed.told, _ANSWER_CHARS) or None,
        )
        return end(store, row, closing, now=now)


def _answer_of(ran: Run) -> _Proposed:
    if ran.stopped_by is not None:
        states: dict[str, ReviewEnding] = {"time": "time", "budget": "budget", "interrupted": "interrupted"}
        return _Proposed(states.get(ran.stopped_by, "failed"), f"The review failed: {ran.reason}")
    try:
        return _Proposed("nothing", "", msgspec.convert(ran.data, ReviewAnswer))
    except msgspec.ValidationError as error:
        return _Proposed("failed", f"The review failed: the answer cannot be used ({error}).")


def line_of(changes: Iterable[Change], rules: int = 0) -> str | None:
    """What a review kept, in one line made only of its changes, not of what it says about itself; None if nothing."""
    written = sorted(changes, key=lambda change: change.id)
    kept = kept_line([change for change in written if change.state == "kept"], rules)
    staged = _summary([change for change in written if change.state == "staged"])
    parts = [f"Kept: {kept}"] if kept else []
    if staged:
        parts.append(f"Waiting for you (`seasoned inbox`): {staged}")
    return ". ".join(parts) or None


def kept_line(changes: Sequence[Change], rules: int) -> str | None:
    """Changes and rules in a few words, such as `memory +1; 1 rule`; None for nothing."""
    return "; ".join(filter(None, (_summary(changes), plural(rules, "rule") if rules else ""))) or None


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
    }
    return verbs[change.action]
