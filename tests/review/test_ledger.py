"""The ledger: what reviews took today, and what became of each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from seasoned.review.due import ReviewSettings
from seasoned.review.ledger import (
    ReviewEnd,
    ReviewSpending,
    begin,
    count,
    end,
    midnight,
    over_budget,
    reviews,
    spent_today,
)
from seasoned.runner.agent import Run
from seasoned.session import SessionRef, Usage
from seasoned.store import Store, open_temporary
from tests.each_case import each_case

NOW = 1_790_000_000.0
PARENT = SessionRef("seasoned", "parent")


@pytest.fixture
def store() -> Iterator[Store]:
    with open_temporary() as opened:
        yield opened


def open_review(store: Store, name: str = "r1", now: float = NOW) -> int:
    about = {"model": "scripted", "platform": "cli", "task": "mend the build"}
    return begin(store, ref=f"seasoned:{name}", session=str(PARENT), **about, now=now)


def answer(tokens: int, cost: float | None = None) -> Run:
    return Run(usage=Usage(tokens - 5, 10, 5), cost_usd=cost)


def test_requests_add_up_in_the_row_and_in_the_day(store: Store) -> None:
    row = open_review(store)
    count(store, row, answer(100, 0.25))
    count(store, row, answer(200))
    review = end(store, row, ReviewEnd(state="nothing", said="Nothing to save."), now=NOW + 3)
    assert (review.requests, review.input_tokens, review.output_tokens, review.cache_read_tokens) == (2, 290, 20, 10)
    assert (review.cost_usd, review.unpriced) == (0.25, 1)
    assert spent_today(store, now=NOW) == ReviewSpending(1, 2, 320, 0.25, 1)
    assert reviews(store, now=NOW) == [review]


def test_a_review_without_a_request_has_no_tokens_rather_than_zero(store: Store) -> None:
    review = end(store, open_review(store), ReviewEnd(state="budget", said="Used up."), now=NOW)
    assert (review.requests, review.input_tokens, review.cost_usd) == (0, None, None)


def test_a_review_of_yesterday_does_not_count(store: Store) -> None:
    count(store, open_review(store, now=midnight(NOW) - 1), answer(100))
    assert spent_today(store, now=NOW).tokens == 0
    count(store, open_review(store, "r2", now=midnight(NOW)), answer(100))
    assert spent_today(store, now=NOW).tokens == 110


@each_case(
    ("spent", "expected", "is_over"),
    [
        (ReviewSpending(1, 1, 900, 0.0, 0), 100, False),
        (ReviewSpending(1, 1, 900, 0.0, 0), 101, True),
        (ReviewSpending(1, 1, 1_000, 0.0, 0), 0, True),
        (ReviewSpending(1, 1, 10, 0.49, 0), 10, False),
        (ReviewSpending(1, 1, 10, 0.5, 0), 10, True),
        (ReviewSpending(1, 0, 0, 0.0, 0), 1_001, True),
        (ReviewSpending(5, 5, 10, 0.0, 0), 10, True),
    ],
)
def test_a_request_that_would_go_over_the_budget_is_not_made(
    spent: ReviewSpending, expected: int, is_over: bool
) -> None:
    settings = ReviewSettings(tokens_per_day=1_000, usd_per_day=0.5)
    assert (over_budget(settings, spent, expected=expected) is not None) == is_over
    without = ReviewSettings(tokens_per_day=None, usd_per_day=None, per_day=9)
    assert over_budget(without, spent, expected=expected) is None


def test_an_agent_that_could_not_be_asked_is_not_counted(store: Store) -> None:
    count(store, open_review(store), Run(stopped_by="missing", reason="Codex is not installed."))
    assert spent_today(store, now=NOW) == ReviewSpending(0, 0, 0, 0.0, 0)


def test_a_review_whose_process_is_gone_is_lost(store: Store) -> None:
    row = open_review(store)
    assert reviews(store, now=NOW + 60)[0].state == "running"
    assert reviews(store, now=NOW + 48 * 3600)[0].state == "lost"
    store.connection.execute("UPDATE review SET pid = 99999999 WHERE id = ?", (row,))
    assert reviews(store, now=NOW + 60)[0].state == "lost"


def test_reviews_of_one_session_can_be_asked_for(store: Store) -> None:
    open_review(store, "r1")
    open_review(store, "r2")
    assert [one.ref for one in reviews(store, session=str(PARENT), now=NOW)] == ["seasoned:r2", "seasoned:r1"]
    assert reviews(store, session="codex:x", now=NOW) == []
    assert len(reviews(store, limit=1, now=NOW)) == 1


def test_what_a_forgotten_session_left_in_the_ledger_can_be_taken_out(store: Store) -> None:
    open_review(store)
    assert store.run("review.forget_session", {"session": "codex:other"}) == 0
    assert store.run("review.forget_session", {"session": str(PARENT)}) == 1
    assert reviews(store, now=NOW) == []
    open_review(store)
    assert store.run("review.forget_all") == 1
