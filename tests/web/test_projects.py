"""Pages that show one project, over a real server."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from starlette.requests import Request

from seasoned.store import open_store
from seasoned.web.table import choice_of
from tests.web.pages import Visitor

MIRA, JONAS = "/home/mira/waypost", "/home/jonas/src/waypost"


def test_the_list_of_sessions_shows_one_project(reader: Visitor) -> None:
    def agents(query: str) -> list[str]:
        return [row["agent"] for row in reader.look(f"sessions?{query}&as=json").json()["rows"]]

    assert agents(f"project={quote(JONAS)}") == ["codex"] * 5
    assert set(agents(f"project={quote(MIRA)}")) == {"claude-code"}
    # Also where few sessions are found by words, and sorted otherwise.
    assert len(agents(f"project={quote(JONAS)}&q=waypost&sort=-calls")) == 5
    assert agents(f"project={quote(JONAS)}&agent=claude-code") == []
    page = reader.look(f"sessions?project={quote(MIRA)}").text
    assert f'<option value="{MIRA}" selected>waypost ({MIRA})</option>' in page


def test_usage_shows_one_project(reader: Visitor) -> None:
    def recorded(query: str) -> list[dict]:
        return reader.look(f"usage?days=all&{query}as=json&table=recorded").json()["rows"]

    for by in ("day", "model", "key"):
        of_one, of_all = recorded(f"by={by}&project={quote(JONAS)}&"), recorded(f"by={by}&")
        # A session of two days, or of two models, counts in both.
        counted = sum(row["sessions"] for row in of_one)
        assert counted == 5 if by == "key" else counted in (5, 6)
        assert sum(row["sessions"] for row in of_all) >= 19
    page = reader.look(f"usage?days=all&project={quote(JONAS)}").text
    assert f"project={quote(JONAS, safe='')}" in page


def test_a_project_that_is_not_there_gets_a_sentence(reader: Visitor) -> None:
    for page in ("sessions", "usage", "insight"):
        answer = reader.look(f"{page}?project=nothing")
        assert answer.status_code == 404
        assert "No project" in answer.text
    ambiguous = reader.look("sessions?project=waypost")
    assert ambiguous.status_code in (400, 422)
    assert JONAS in ambiguous.text


def test_the_report_is_about_one_project(reader: Visitor) -> None:
    text = ""
    while "As of" not in text:
        text = reader.look(f"insight?project={quote(JONAS)}").text
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
