"""The page of insight, over a real server: made beside the pages, said as of when, and never of what is forgotten."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from seasoned.report.report import Revision, revision
from tests.web.filled import fill_sessions, store_of
from tests.web.pages import Site, Visitor, site

_PATIENCE_SECONDS = 300.0


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("home")
    fill_sessions(home)
    with site(home) as found:
        yield found


def look(visitor: Visitor, path: str = "insight") -> httpx2.Response:
    return visitor.client.get(f"{visitor.path}/{path}")


def made(visitor: Visitor, word: str = "As of") -> str:
    """The page as soon as the report is there."""
    end = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < end:
        text = look(visitor).text
        if word in text and "data-working" not in text:
            return text
        time.sleep(0.05)
    raise AssertionError(f"no report was made: {text[-2000:]}")


def test_the_report_is_made_beside_the_page_which_says_so_and_then_shows_it(filled: Site) -> None:
    with filled.visitor() as alice:
        assert look(alice).status_code == 200
        text = made(alice)
        assert "Do sessions get better with experience?" in text
        assert "Up to date." in text and f'href="{alice.path}/insight/report"' in text
        report = look(alice, "insight/report")
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


def test_without_sessions_it_says_what_to_do(tmp_path: Path) -> None:
    with site(tmp_path) as found, found.visitor() as alice:
        text = look(alice).text
        assert "No sessions yet" in text and "seasoned scan" in text


def test_what_was_forgotten_is_taken_back_and_what_came_is_not() -> None:
    known = Revision(10, 100, 0)
    assert Revision(10, 100, 1).takes_back(known) and Revision(9, 100, 0).takes_back(known)
    assert not Revision(11, 120, 0).takes_back(known)


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
