"""The pages of projects, over a real server: what sessions see, where it comes from, and how it is changed."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest

from seasoned.app.lessons import lesson_view
from seasoned.store.project import merge_projects
from tests.web.filled import HOSTILE_FOLDER, SECRET, fill_project, fill_sessions, store_of
from tests.web.pages import Site, Visitor, site


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout whose Makefile has a target for tests only."""
    folder = tmp_path_factory.mktemp("shop")
    (folder / "Makefile").write_text("test:\n\techo 3 passed\n")
    return folder


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, shop: Path) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("home")
    fill_sessions(home)
    fill_project(home, shop)
    fill_project(home, HOSTILE_FOLDER)
    with site(home) as found:
        yield found


def page_of(key: Path | str) -> str:
    return f"projects/{quote(str(key), safe='')}"


def choose(visitor: Visitor, key: Path | str, choice: str, command: str, **fields: str) -> httpx2.Response:
    data = {"check": visitor.check(), "project": str(key), "choice": choice, "command": command, **fields}
    return visitor.client.post(f"{visitor.path}/project-line", data=data)


def states(visitor: Visitor, key: Path | str) -> dict[str, str]:
    """The state of each line of the sheet, as its card says it."""
    cards = r'<h3><code>([^<]*)</code></h3><span class="badge[^>]*>([^<]*)<'
    return dict(re.findall(cards, visitor.look(page_of(key)).text))


def test_a_project_shows_its_sheet_as_a_session_sees_it_with_its_evidence(filled: Site, shop: Path) -> None:
    with filled.visitor() as alice:
        # The Makefile has no target for the linter: the line is held back, and the page says why.
        assert states(alice, shop) == {"make test": "shown", "make lint": "silent"}
        text = alice.look(page_of(shop)).text
        with store_of(filled.serving.home) as store:
            sheet = lesson_view(store, str(shop), shop).text
        shown = re.search(r'<pre class="arguments"[^>]*>(.*?)</pre>', text, re.DOTALL)
        assert shown is not None and shown[1] == sheet
        assert "Makefile has no task &#39;lint&#39;" in text
        assert len(set(re.findall(r"sessions/claude-code:\d{8}-2222[\w-]+", text))) >= 5
        assert "10 of 10 sessions that did this" in text
        (mistake,) = alice.look(f"{page_of(shop)}?as=json&table=mistakes").json()["rows"]
        assert (mistake["form"], mistake["error"]) == ("rtk make test", "unknown command: make")
        assert (mistake["sessions"], mistake["calls"]) == (10, 10)
        assert mistake["said"].startswith("Test: `make test` works here (8 sessions, last ")


def test_rules_of_the_person_stand_on_the_page_with_their_state(filled: Site, shop: Path) -> None:
    with store_of(filled.serving.home) as store, store.write():
        row = store.row("project.session_ids", {"key": str(shop)})
        assert row is not None
        said = {"session_id": row["id"], "key": "ab12cd34", "text": "Never edit the <generated> files.", "lasts": 1}
        store.run("rule.save", {**said, "said_at": "1"})
    with filled.visitor() as alice:
        text = alice.look(page_of(shop)).text
        assert "Rules of yours" in text and "said once: accept it, or say it again" in text
        assert "&lt;generated&gt;" in text and "<generated>" not in text


def test_a_line_is_pinned_dropped_and_undone_by_who_may_and_not_by_a_reader(filled: Site, shop: Path) -> None:
    with filled.reader() as reader:
        text = reader.look(page_of(shop)).text
        assert "log in with your passphrase" in text and "project-line" not in text
    with filled.visitor() as alice:
        assert choose(alice, shop, "drop", "make test").headers["location"].endswith(f"{page_of(shop)}#sheet")
        assert states(alice, shop)["make test"] == "dropped"
        text = alice.look(page_of(shop)).text
        assert "Nothing: no command" in text and "You dropped it" in text
        assert choose(alice, shop, "undo", "make test").status_code == 303
        assert states(alice, shop)["make test"] == "shown"
        assert choose(alice, shop, "pin", "make docs").status_code == 303
        assert states(alice, shop)["make docs"] == "silent"
        # What a person pinned is not hidden among the silent ones, and can be undone.
        told, _, silent = alice.look(page_of(shop)).text.partition("<summary>1 silent line</summary>")
        card = told.partition("<code>make docs</code>")[2].partition("</li>")[0]
        assert ">Undo<" in card and ">Pin<" not in card and "<code>make lint</code>" in silent
        assert choose(alice, shop, "undo", "make docs").status_code == 303
        assert "make docs" not in states(alice, shop)


def test_what_no_session_may_see_cannot_be_pinned(filled: Site, shop: Path) -> None:
    with filled.visitor() as alice:
        for command, said in (
            ("rm -rf /", "No session may be shown"),
            (f"curl -H 'x-api-key: {SECRET}' localhost", "contains a secret"),
            ("make test && make lint", "not a single command"),
            ("make " + 200 * "x", "at most 160"),
            ("", "is empty"),
        ):
            answer = choose(alice, shop, "pin", command)
            assert answer.status_code == 400 and said in answer.text, command
        assert choose(alice, shop, "drop", "make nothing").status_code == 404
        assert choose(alice, shop, "undo", "make nothing").status_code == 404
        assert choose(alice, shop, "explode", "make test").status_code == 400
        assert choose(alice, "/no/such", "pin", "make test").status_code == 404
        assert set(states(alice, shop)) == {"make test", "make lint"}


def test_a_project_with_a_hostile_name_is_found_and_shown_as_text(filled: Site) -> None:
    with filled.visitor() as alice:
        answer = alice.look(page_of(HOSTILE_FOLDER))
        assert answer.status_code == 200 and "Not checked against the files" in answer.text
        assert "<b>shop" not in answer.text and "&lt;b&gt;shop" in answer.text
        assert "<img src=x" not in answer.text
        assert states(alice, HOSTILE_FOLDER) == {"make test": "shown", "make lint": "shown"}
        answer = choose(alice, HOSTILE_FOLDER, "drop", "make lint")
        assert alice.look(answer.headers["location"].removeprefix(f"{alice.path}/")).status_code == 200
        assert states(alice, HOSTILE_FOLDER)["make lint"] == "dropped"
        assert choose(alice, HOSTILE_FOLDER, "undo", "make lint").status_code == 303


def test_an_unknown_project_and_a_folder_of_no_session_get_a_sentence(filled: Site, shop: Path) -> None:
    with filled.visitor() as alice:
        assert alice.look("projects/nowhere").status_code == 404
        assert f">{shop.name}</bdi></h1>" in alice.look(f"projects/{shop.name}").text
        answer = alice.look(f"{page_of(shop)}?folder=/etc")
        assert answer.status_code == 404 and "No session of this project ran in" in answer.text
        assert alice.look(f"{page_of(shop)}?folder={quote(str(shop))}").status_code == 200


def test_sessions_and_the_list_lead_to_the_project(filled: Site, shop: Path) -> None:
    with filled.visitor() as alice:
        rows = alice.look(f"sessions?project={quote(str(shop))}&as=json").json()["rows"]
        assert f'href="{alice.path}/{page_of(shop)}"' in alice.look(f"sessions/{rows[0]['session']}").text
        assert f'href="{alice.path}/projects/' in alice.look("projects").text


def test_a_merged_project_is_found_by_its_old_key_and_knows_both(tmp_path: Path) -> None:
    fill_project(tmp_path, "/home/mira/old", sessions=3)
    fill_project(tmp_path, "/home/mira/new", sessions=3)
    with store_of(tmp_path) as store:
        merge_projects(store, "/home/mira/old", "/home/mira/new", now=1.0)
    with site(tmp_path) as found, found.visitor() as alice:
        # What the merge left to do is done beside the page.
        while "data-working" in alice.look(page_of("/home/mira/old")).text:
            time.sleep(0.05)
        assert states(alice, "/home/mira/old") == {"make test": "shown", "make lint": "shown"}
        assert "6 of 6 sessions that did this" in alice.look(page_of("/home/mira/old")).text
