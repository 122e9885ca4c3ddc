"""A line after a failed call comes with the next request or never."""

from __future__ import annotations

from pathlib import Path

from seasoned.hermes_plugin.hint import CallHints
from seasoned.lesson.ask import LessonLookup
from seasoned.lesson.lesson import Way
from seasoned.session import Marks, Result, ToolCall
from seasoned.store import open_store
from tests.lesson.stored import keep_lessons, repair

FAILS, ERROR = "echo 'wp: missing --env'; exit 2", "wp: missing --env"


def test_a_result_that_was_sent_without_a_line_stays_without(tmp_path: Path) -> None:
    """The decision came too late for the request: what the model has read must not change afterwards."""
    call = ToolCall("call_1", "terminal", {"command": FAILS}, Result(ERROR, Marks(failed=True)))
    with open_store(tmp_path / "store.db") as store:
        keep_lessons(
            store, "depot", repair("terminal", FAILS, ERROR, "python -m wp --env test", Way("option", "+--env"))
        )
        for is_late in (True, False):
            lookup = LessonLookup(store, "depot", f"hermes:{is_late}", None)
            line = CallHints().decide(lookup, call, agent="hermes", is_late=lambda: is_late)  # noqa: B023
            assert ("--env" in line) is not is_late and bool(line) is not is_late
