"""What takes long is found once, kept, found again when something changed, and tried once where it fails."""

from __future__ import annotations

import threading
import time
from typing import Any

from seasoned.errors import CannotDo
from seasoned.report.report import Revision
from seasoned.web.history_store import CacheLookup, PageCache

ONE, TWO = Revision(1, 9, 0), Revision(2, 12, 0)


def settled(cache: PageCache, now: Revision, find: Any) -> CacheLookup[Any]:
    """What a page shows when the work is done."""
    while (seen := cache.look("a", "A", now, find)).work is not None and seen.work.is_running:
        time.sleep(0.01)
    return seen


def test_what_is_known_is_not_found_again_until_something_changes() -> None:
    cache, found = PageCache(), list[int]()

    def find(_: Any) -> int:
        found.append(1)
        return len(found)

    seen = [settled(cache, now, find) for now in (ONE, ONE, TWO)]
    assert [(one.value, one.is_current) for one in seen] == [(1, True), (1, True), (2, True)]


def test_a_slow_one_is_shown_as_it_was_while_it_is_found_again_and_what_was_forgotten_is_not() -> None:
    go_on, cache = threading.Event(), PageCache()
    settled(cache, ONE, lambda _: "old")

    def slow(tell: Any) -> str:
        tell(3, 9)
        go_on.wait(10)
        return "new"

    meanwhile = cache.look("a", "A", TWO, slow)
    assert (meanwhile.value, meanwhile.is_current) == ("old", False)
    # Without a value and without running work, the page would never look again.
    assert meanwhile.work is not None and meanwhile.work.is_running
    assert cache.look("a", "A", Revision(1, 3, 1), slow).value is None
    go_on.set()
    assert settled(cache, TWO, slow).value == "new"


def test_one_that_fails_says_why_and_is_not_tried_without_end() -> None:
    cache, tried = PageCache(), []

    def fail(_: Any) -> None:
        tried.append(1)
        raise CannotDo("the disk is full: make room.")

    for _ in range(3):
        seen = settled(cache, ONE, fail)
    assert seen.value is None and seen.work is not None and "make room" in seen.work.failure
    assert len(tried) == 1
    assert settled(cache, TWO, lambda _: "well").value == "well"
