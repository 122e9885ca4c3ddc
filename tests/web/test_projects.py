"""Pages that show one project, over a real server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest
from starlette.requests import Request

from seasoned.store import open_store
from seasoned.web.table import choice_of
from tests.web.filled import fill_sessions
from tests.web.pages import Site, Visitor, site

MIRA, JONAS = "/home/mira/waypost", "/home/jonas/src/waypost"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("home")
    fill_sessions(home)
    with site(home) as found:
        yield found


@pytest.fixture
def visitor(filled: Site) -> Iterator[Visitor]:
    with Visitor(filled.url) as one:
        answer = one.client.post(f"/login/{filled.visits.link}")
        one.path = answer.headers["location"].rpartition("/")[0]
        yield one


def look(visitor: Visitor, path: str) -> httpx2.Response:
    return visitor.client.get(f"{visitor.path}/{path}")


def test_the_list_of_sessions_shows_one_project(visitor: Visitor) -> None:
    def agents(query: str) -> list[str]:
        return [row["agent"] for row in look(visitor, f"sessions?{query}&as=json").json()["rows"]]

    assert agents(f"project={quote(JONAS)}") == ["codex"] * 5
    assert set(agents(f"project={quote(MIRA)}")) == {"claude-code"}
    # Also where few sessions are found by words, and sorted otherwise.
    assert len(agents(f"project={quote(JONAS)}&q=waypost&sort=-calls")) == 5
    assert agents(f"project={quote(JONAS)}&agent=claude-code") == []
    page = look(visitor, f"sessions?project={quote(MIRA)}").text
    assert f'<option value="{MIRA}" selected>waypost ({MIRA})</option>' in page


def test_usage_shows_one_project(visitor: Visitor) -> None:
    def recorded(query: str) -> list[dict]:
        return look(visitor, f"usage?days=all&{query}as=json&table=recorded").json()["rows"]

    for by in ("day", "model", "key"):
        of_one, of_all = recorded(f"by={by}&project={quote(JONAS)}&"), recorded(f"by={by}&")
        # A session of two days, or of two models, counts in both.
        counted = sum(row["sessions"] for row in of_one)
        assert counted == 5 if by == "key" else counted in (5, 6)
        assert sum(row["sessions"] for row in of_all) >= 19
    page = look(visitor, f"usage?days=all&project={quote(JONAS)}").text
    assert f"project={quote(JONAS, safe='')}" in page


def test_a_project_that_is_not_there_gets_a_sentence(visitor: Visitor) -> None:
    for page in ("sessions", "usage", "insight"):
        answer = look(visitor, f"{page}?project=nothing")
        assert answer.status_code == 404
        assert "No project" in answer.text
    ambiguous = look(visitor, "sessions?project=waypost")
    assert ambiguous.status_code in (400, 422)
    assert JONAS in ambiguous.text


def test_the_report_is_about_one_project(visitor: Visitor) -> None:
    text = ""
    while "As of" not in text:
        text = look(visitor, f"insight?project={quote(JONAS)}").text
        assert "data-working" in text or "As of" in text
    assert ": 5 sessions," in text


def test_a_name_that_hides_something_is_shown_plainly(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store:
        with store.write():
            store.connection.execute(
                "INSERT INTO session (agent, native_id, cwd, project) VALUES ('a', 'b', ?, ?)",
                ("/srv/\u202ex", "/srv/\u202ex"),
            )
        request = Request({"type": "http", "query_string": b"", "headers": []})
        assert choice_of(store, request).choices == (("/srv/\u202ex", "\ufffdx"),)
