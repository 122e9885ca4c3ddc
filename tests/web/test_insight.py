"""The page of insight, over a real server: made beside the pages, said as of when, and never of what is forgotten."""

from __future__ import annotations

import time
from pathlib import Path

from seasoned.report.report import revision
from tests.web.filled import fill_sessions, store_of
from tests.web.pages import Site, Visitor, site

_PATIENCE_SECONDS = 300.0


def made(visitor: Visitor, word: str = "As of") -> str:
    """The page as soon as the report is there."""
    end = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < end:
        text = visitor.look("insight").text
        if word in text and "data-working" not in text:
            return text
        time.sleep(0.05)
    raise AssertionError(f"no report was made: {text[-2000:]}")


def test_the_report_is_made_beside_the_page_which_says_so_and_then_shows_it(filled: Site) -> None:
    with filled.visitor() as alice:
        assert alice.look("insight").status_code == 200
        text = made(alice)
        assert "Do sessions get better with experience?" in text
        assert "Up to date." in text and f'href="{alice.path}/insight/report"' in text
        report = alice.look("insight/report")
        # Its scripts are in it, and its own policy allows nothing else.
        assert 'id="plot-tool"' in report.text and "content-security-policy" not in report.headers
        assert "script-src &#39;sha256-" in report.text or "script-src 'sha256-" in report.text


def test_sessions_that_came_since_are_told_and_the_report_is_made_anew(tmp_path: Path) -> None:
    fill_sessions(tmp_path)
    with site(tmp_path) as found, found.visitor() as alice:
        before = made(alice)
        with store_of(tmp_path) as store, store.write():
            store.connection.execute("INSERT INTO session (agent, native_id, messages) VALUES ('codex', 'new', 3)")
        after = made(alice, "Up to date.")
        assert _sessions(after) == _sessions(before) + 1


def _sessions(text: str) -> int:
    return int(text.partition("As of ")[2].partition(": ")[2].partition(" session")[0])


def test_the_revision_of_a_store_changes_when_something_comes_or_is_forgotten(tmp_path: Path) -> None:
    with store_of(tmp_path) as store:
        seen = [revision(store)]
        for statement in (
            "INSERT INTO session (agent, native_id) VALUES ('codex', 'a')",
            "INSERT INTO forgotten (agent, native_id, forgotten_at) VALUES ('codex', 'b', 1)",
        ):
            with store.write():
                store.connection.execute(statement)
            seen.append(revision(store))
    assert len(set(seen)) == 3
