"""The page of templates, over a real server: what is in them, from where, in every format, retired and restored."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import httpx2
import pytest

from seasoned.template.block import FORMATS, FORMS
from seasoned.template.library.storage import snapshot, state_history
from seasoned.web.history_store import HistoryStore
from tests.web.filled import SECRET, fill_sessions, fill_templates, first_session, store_of
from tests.web.pages import Site, Visitor, site


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("home")
    fill_sessions(home)
    for name in ("code-work", "other-work"):
        fill_templates(home, name=name)
    with site(home) as found:
        yield found


def look(visitor: Visitor, path: str) -> httpx2.Response:
    return visitor.client.get(f"{visitor.path}/{path}")


def send(visitor: Visitor, path: str, **fields: str) -> httpx2.Response:
    return visitor.client.post(f"{visitor.path}/{path}", data={"check": visitor.check(), **fields})


def active(found: Site, name: str) -> list[str]:
    with store_of(found.serving.home) as store:
        library = snapshot(store)
        template = library.find(name)
        assert template is not None
        return [example.id for example in library.active(template)]


def test_the_list_leads_to_each_template_and_is_there_as_csv_and_json(filled: Site) -> None:
    with filled.visitor() as alice:
        text = look(alice, "templates").text
        assert f'href="{alice.path}/templates/code-work"' in text
        found = look(alice, "templates?as=json&table=templates").json()
        assert {row["name"] for row in found["rows"]} == {"code-work", "other-work"}
        assert found["rows"][0]["usage_count"] == 3
        assert look(alice, "templates?as=csv").text.startswith("name,version,task_type")
        assert "No templates of this type" in look(alice, "templates?type=research").text
        assert look(alice, "templates?type=nonsense").status_code == 400


def test_each_example_says_where_it_came_from_and_leads_to_that_session(filled: Site) -> None:
    session = first_session(filled.serving.home)
    with filled.visitor() as alice:
        text = look(alice, "templates/code-work").text
        assert f'href="{alice.path}/sessions/{session}"' in text
        assert look(alice, f"sessions/{session}").status_code == 200
        rows = look(alice, "templates/code-work?as=json&table=examples").json()["rows"]
        assert [session in row["sources"] for row in rows] == [True, True, True]


@pytest.mark.parametrize("format", FORMATS)
def test_it_is_rendered_in_every_format_and_form(filled: Site, format: str) -> None:
    with filled.visitor() as alice:
        for form in FORMS:
            answer = look(alice, f"templates/code-work?format={format}&form={form}")
            shown = re.search(r'<pre class="arguments"[^>]*>(.*?)</pre>', answer.text, re.DOTALL)
            assert answer.status_code == 200 and shown is not None
            assert "search_files" in shown[1] and "<img" not in shown[1]


def test_an_unknown_format_and_an_unknown_template_are_said_so(filled: Site) -> None:
    with filled.visitor() as alice:
        assert look(alice, "templates/code-work?format=word").status_code == 400
        answer = look(alice, "templates/no-such")
        assert answer.status_code == 404 and "code-work" in answer.text


def test_what_sessions_said_is_shown_as_text_alone(filled: Site) -> None:
    with filled.visitor() as alice:
        text = look(alice, "templates/code-work").text
        assert "<img src=x" not in text and 'alert("hi")' not in text
        assert "&lt;img src=x" in text and 'title="right-to-left override"' in text


def test_an_example_is_retired_and_restored_with_a_reason_that_holds_no_secret(filled: Site) -> None:
    first = active(filled, "code-work")[0]
    path = f"templates/code-work/examples/{first}"
    with filled.visitor() as alice:
        answer = send(alice, f"{path}/retire", reason=f"It holds {SECRET}")
        assert answer.status_code == 303 and answer.headers["location"].endswith(f"#example-{first}")
        assert first not in active(filled, "code-work")
        text = look(alice, "templates/code-work").text
        assert "Retired" in text and SECRET not in text
        assert send(alice, f"{path}/restore").status_code == 303
    assert first in active(filled, "code-work")
    with store_of(filled.serving.home) as store:
        said = state_history(store, first)
    assert [one.state for one in said] == ["retired", "active"] and said[0].evidence == {"by": "alice"}
    assert SECRET not in said[0].reason


def test_a_whole_template_is_retired_and_restored_with_one_click(filled: Site) -> None:
    with filled.visitor() as alice:
        assert send(alice, "templates/other-work/retire").status_code == 303
        assert active(filled, "other-work") == []
        assert "all of its examples are retired" in look(alice, "templates/other-work").text
        assert send(alice, "templates/other-work/restore").status_code == 303
        assert len(active(filled, "other-work")) == 3
        assert send(alice, "templates/other-work/explode").status_code == 404


def test_a_change_needs_the_form_of_this_visit(filled: Site) -> None:
    with filled.visitor() as alice:
        address = f"{alice.path}/templates/code-work/retire"
        assert alice.client.post(address, data={"check": "guessed"}).status_code == 403
        other = {"origin": "http://evil.example"}
        assert alice.client.post(address, data={"check": alice.check()}, headers=other).status_code == 403
    assert len(active(filled, "code-work")) == 3


def test_an_example_leads_to_a_template_that_holds_it(filled: Site) -> None:
    first = active(filled, "code-work")[0]
    with filled.visitor() as alice:
        location = look(alice, f"templates/example/{first}").headers["location"]
        assert location == f"{alice.path}/templates/code-work#example-{first}"


def test_samples_are_looked_at_from_their_own_time_and_a_users_histories_from_today(filled: Site) -> None:
    path = filled.serving.config.store_path
    with store_of(filled.serving.home) as store:
        last = max(row["last"] for row in store.rows("session.totals"))
        assert last < HistoryStore(path, is_sample=True).now(store) < last + 2 * 86_400
        assert abs(HistoryStore(path).now(store) - time.time()) < 60
