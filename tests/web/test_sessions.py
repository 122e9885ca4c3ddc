"""The list of sessions and the page of one, over a real server: what they find, show, make and hide."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.web import hostile
from tests.web.filled import fill_sessions, store_of
from tests.web.pages import Site, Visitor, site

EVENTS = re.compile(r"on[a-z]+", re.IGNORECASE)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("home")
    fill_sessions(home)
    hostile.fill_hostile(home, tmp_path_factory.mktemp("hostile"))
    with site(home) as found:
        yield found


def rows(visitor: Visitor, query: str) -> list[dict]:
    answer = visitor.look(f"sessions?{query}{'&' if query else ''}as=json")
    assert answer.status_code == 200, answer.text
    return answer.json()["rows"]


class Elements(HTMLParser):
    """What a browser would make of a page, roughly: its elements with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def check_harmless(text: str) -> None:
    """Nothing in a page runs, loads from elsewhere, hides or turns around."""
    allowed = {"script": "/static/", "link": "/static/"}
    for tag, attributes in Elements(text).found:
        assert not any(EVENTS.fullmatch(name) for name in attributes), (tag, attributes)
        assert "style" not in attributes and tag not in ("img", "iframe", "object", "embed", "base", "style")
        assert tag != "svg" or attributes["class"] == "spark", "the only pictures are our own lines"
        for name in ("href", "src", "action", "formaction"):
            value = attributes.get(name)
            assert value is None or value.startswith(("/", "?", "#")), (tag, value)
        if tag in allowed and attributes.get("type") != "application/json":
            assert (attributes.get("src") or attributes.get("href") or "").startswith(allowed[tag])
    assert not set(text) & set("\u202e\u202c\u2066\u2069\u200b\u3164\ufeff\x1b\x07\x08\x00\x9b")


def test_sessions_are_found_by_words_agent_task_length_and_outcome(reader: Visitor) -> None:
    everything = rows(reader, "")
    assert len(everything) == 42
    assert everything == sorted(everything, key=lambda row: -(row["at"] or 0))
    assert {row["agent"] for row in rows(reader, "agent=codex")} == {"codex"}
    assert all(row["messages"] >= 100 for row in rows(reader, "length=long"))
    assert all(row["failed"] for row in rows(reader, "outcome=failures"))
    assert not any(row["failed"] for row in rows(reader, "outcome=flawless"))
    assert len(rows(reader, "outcome=failures")) + len(rows(reader, "outcome=flawless")) == 42
    assert [row["session"] for row in rows(reader, "q=cs-20260511-0015")] == ["openai:cs-20260511-0015"]
    assert rows(reader, "q=%25") == [] and rows(reader, "q=_______") == []
    assert len(rows(reader, "task=file")) + len(rows(reader, "task=mixed")) <= 42
    assert "No sessions match" in reader.look("sessions?q=nowhere").text


@pytest.mark.parametrize("name", ["messages", "calls", "failed", "rate", "cost"])
def test_sessions_are_sorted_by_every_number(reader: Visitor, name: str) -> None:
    found = [-1 if row[name] is None else row[name] for row in rows(reader, f"sort=-{name}")]
    assert len(found) == 42 and found == sorted(found, reverse=True)
    assert 'aria-sort="descending"' in reader.look(f"sessions?sort=-{name}").text


def test_page_by_page_every_session_comes_once(reader: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seasoned.web.view.sessions.PAGE_ROWS", 7)
    address, seen, pages = f"{reader.path}/sessions?sort=-failed", [], 0
    while address:
        text = reader.client.get(address).text
        seen += re.findall(r'<td><a href="[^"]*/sessions/([^"?#]+)"', text)
        following = re.search(r'href="([^"]+)" rel="next"', text)
        address = f"{reader.path}/sessions{following[1].replace('&amp;', '&')}" if following else ""
        pages += 1
    assert (len(seen), len(set(seen)), pages) == (42, 42, 6)


def test_a_session_is_shown_as_it_was_with_every_verdict_and_why(filled: Site, reader: Visitor) -> None:
    with store_of(filled.serving.config.home) as store:
        row = store.connection.execute(
            "SELECT session.id, agent || ':' || native_id AS ref, session.calls FROM session WHERE failed > 2"
            " AND messages > 100 LIMIT 1"
        ).fetchone()
        failed = store.rows("call.of_session", {"session_id": row["id"]})
    text = reader.look(f"sessions/{row['ref']}").text
    assert "<h1>Retries hammer the carriers" in text, "what has no title is known by how it began"
    assert "context compacted" in text
    page = reader.look(f"sessions/{row['ref']}?as=json&table=calls").json()
    shown = page["rows"]
    while page["next"]:
        page = reader.client.get(page["next"]).json()
        shown += page["rows"]
    assert len(shown) == row["calls"] == len([call for call in failed if call["copy_of"] is None])
    assert {one["verdict"] for one in shown} >= {"ok", "failed"} and all(one["reason"] for one in shown)
    following = re.search(r'rel="next" href="([^"]+)"', text)
    assert following is not None
    assert "Next part" in text and "From the beginning" in reader.client.get(following[1]).text


def test_a_session_whose_file_is_gone_shows_what_the_store_knows(tmp_path: Path) -> None:
    fill_sessions(tmp_path)
    hostile.fill_hostile(tmp_path, tmp_path / "hostile")
    for path in (tmp_path / "hostile").rglob("*.jsonl"):
        path.unlink()
    with site(tmp_path) as found, found.visitor() as alice:
        text = alice.look(f"sessions/{hostile.REF}").text
        assert "Its source file is gone" in text
        check_harmless(text)


def test_hostile_sessions_are_shown_harmless_and_without_secrets(reader: Visitor) -> None:
    pages = [
        "overview",
        "sessions",
        f"sessions/{hostile.REF}",
        f"sessions/{hostile.REF}?whole=call-toolu_1%3Cb%3E",
        f"sessions/{hostile.REF}?whole=message-0",
        f"sessions/{hostile.REF}?show=failed",
        "sessions?q=%3Cscript%3Ealert(1)%3C/script%3E&tool=%3Cimg%20src=x%3E",
    ]
    for page in pages:
        answer = reader.look(page)
        assert answer.status_code == 200, (page, answer.text[:500])
        check_harmless(answer.text)
        assert hostile.SECRET not in answer.text
    text = reader.look(f"sessions/{hostile.REF}").text
    assert len(text) < 400_000, "two million characters are cut"
    assert '<mark title="right-to-left override">U+202E</mark>' in text and "&lt;script&gt;alert(1)" in text
    assert "[image: image/svg+xml]" in text and "PHN2Zy" not in text, "a picture is named, not loaded"
    whole = reader.look(pages[3])
    assert len(whole.text) < 1_000_000 and "The first 300" in whole.text
    for page in ("sessions?as=json", f"sessions/{hostile.REF}?as=json&table=calls"):
        answer = reader.look(page)
        assert answer.headers["x-content-type-options"] == "nosniff" and hostile.SECRET not in answer.text
