"""The ledger of reviews: what each used and kept, how it ended, and what may still be spent today."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from datetime import datetime
from typing import Literal

import msgspec

from seasoned.review.due import ReviewSettings
from seasoned.runner.agent import Run
from seasoned.store import Store

ReviewEnding = Literal["kept", "nothing", "budget", "time", "interrupted", "failed"]
ReviewState = Literal["running", "kept", "nothing", "budget", "time", "interrupted", "failed", "lost"]
# Process ids are reused: after a day a review counts as lost, even if a process with its id runs.
_LONGEST_SECONDS = 24 * 3600.0


class Review(msgspec.Struct, frozen=True, kw_only=True):
    """One review: a row of the ledger."""

    id: int
    # The review's own session, which its writes name.
    ref: str
    # The reviewed session, as `agent:native id`; the parent of the review.
    session: str
    context: str
    form: str
    model: str | None
    platform: str | None
    task: str | None
    pid: int
    started_at: float
    ended_at: float | None
    state: ReviewState
    requests: int
    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int | None
    cost_usd: float | None
    # Requests with an unknown price; `cost_usd` does not include them.
    unpriced: int
    calls: int
    refused: int
    kept: int
    staged: int
    # One line: what was kept, or why nothing was.
    said: str | None
    # The review's final answer, redacted; it names skills that overlap, for example.
    answer: str | None


class ReviewEnd(msgspec.Struct, frozen=True, kw_only=True):
    """How a review ended."""

    state: ReviewEnding
    calls: int = 0
    refused: int = 0
    kept: int = 0
    staged: int = 0
    said: str | None = None
    answer: str | None = None


class ReviewSpending(msgspec.Struct, frozen=True):
    """What the reviews of one day have used so far."""

    reviews: int
    requests: int
    tokens: int
    cost_usd: float
    unpriced: int


def begin(
    store: Store, *, ref: str, session: str, model: str | None, platform: str | None, task: str | None, now: float
) -> int:
    """Open a row before anything is sent, so that a review whose process dies is recorded too.

    `ref` is the review's own session, `session` the one that it reads.
    """
    known = {"ref": ref, "session": session, "model": model, "platform": platform, "task": task}
    params = {**known, "context": "on demand", "form": "digest", "pid": os.getpid(), "started_at": now}
    with store.write():
        row = store.row("review.begin", params)
    assert row is not None, "an insert that returns its id has a row"
    return int(row["id"])


def count(store: Store, review: int, ran: Run) -> None:
    """Account for what the reviewer used, as soon as it has answered."""
    if ran.usage.with_cache is None and ran.stopped_by is not None:
        return  # nothing was sent, or nothing is known of it
    prompt = ran.usage.prompt
    figures = {
        "id": review,
        "input_tokens": None if prompt is None else prompt - (ran.usage.cache_read or 0),
        "output_tokens": ran.usage.output,
        "cache_read_tokens": ran.usage.cache_read,
        "cost_usd": ran.cost_usd,
    }
    with store.write():
        store.run("review.count_request", figures)


def end(store: Store, review: int, closing: ReviewEnd, *, now: float) -> Review:
    """Close the row and return it."""
    with store.write():
        store.run("review.end", {**msgspec.structs.asdict(closing), "id": review, "ended_at": now})
        row = store.row("review.by_id", {"id": review})
    assert row is not None, "it was there a moment ago"
    return msgspec.convert(dict(row), Review)


def reviews(store: Store, *, session: str | None = None, limit: int = 50, now: float) -> list[Review]:
    """Reviews, newest first. One whose process is gone is `lost`, though its row says `running`."""
    found = [
        msgspec.convert(dict(row), Review) for row in store.rows("review.list", {"session": session, "limit": limit})
    ]
    return [msgspec.structs.replace(one, state="lost") if _is_lost(one, now) else one for one in found]


def last_failure(store: Store, *, now: float) -> str | None:
    """Why the last review failed, in its own sentence; None if it did not, or there was none."""
    last = next(iter(reviews(store, limit=1, now=now)), None)
    return last.said if last is not None and last.state == "failed" else None


def spent_today(store: Store, *, now: float) -> ReviewSpending:
    """What reviews have used since local midnight."""
    return spent_since(store, since=midnight(now))


def spent_since(store: Store, *, since: float) -> ReviewSpending:
    """What reviews have used since a time."""
    row = store.row("review.spent", {"since": since})
    assert row is not None, "a sum always has a row"
    return ReviewSpending(**dict(row))


def midnight(now: float) -> float:
    """When the day began, in the local time zone."""
    day = datetime.fromtimestamp(now).astimezone()
    return day.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()


def over_budget(settings: ReviewSettings, spent: ReviewSpending, *, expected: int = 0) -> str | None:
    """Why the next request may not be made, in one sentence; `expected` is its size in tokens."""
    if spent.reviews >= settings.per_day:
        return f"The review budget is used up: {spent.reviews} of {settings.per_day} reviews today."
    most = settings.tokens_per_day
    if most is not None and (spent.tokens >= most or spent.tokens + expected > most):
        return (
            f"The review budget is used up: {spent.tokens:,} of {most:,} tokens today, "
            f"and the next request would take about {expected:,}."
        )
    dollars = settings.usd_per_day
    # A price is known only after the answer, so one request may exceed the budget.
    if dollars is not None and spent.cost_usd >= dollars:
        return f"The review budget is used up: {spent.cost_usd:.4f} of {dollars:.2f} US dollars today."
    return None


def _is_lost(review: Review, now: float) -> bool:
    if review.state != "running":
        return False
    return now - review.started_at > _LONGEST_SECONDS or not _lives(review.pid)


def _lives(pid: int) -> bool:
    """Whether a process with this id runs; if the system cannot tell, assume that it does."""
    if sys.platform == "win32":
        return True
    with suppress(PermissionError):
        try:
            # Signal 0 only asks whether the process exists. A PermissionError means that it does.
            os.kill(pid, 0)
        except (ProcessLookupError, OverflowError):
            return False
    return True
