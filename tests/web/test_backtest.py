"""The page of the backtest, over a real server: made beside the pages, and never about what is forgotten."""

from __future__ import annotations

import time
from collections.abc import Iterator
from urllib.parse import quote

import httpx2
import pytest

from seasoned.app.backtest import backtest_answer
from tests.web.filled import HOSTILE_FOLDER, fill_project, fill_sessions, store_of
from tests.web.pages import Site, Visitor, site

LIMIT = "A replay shows what would have been in front of the agent, not what it would have done."
SHOP = "/home/mira/shop"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("home")
    fill_sessions(home)
    fill_project(home, SHOP)
    fill_project(home, HOSTILE_FOLDER, sessions=4)
    with site(home) as found:
        yield found


def look(visitor: Visitor, path: str = "backtest") -> httpx2.Response:
    return visitor.client.get(f"{visitor.path}/{path}")


def made(visitor: Visitor, path: str = "backtest") -> str:
    """The page as soon as the backtest is there."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        text = look(visitor, path).text
        if "As of" in text and "data-working" not in text:
            return text
        time.sleep(0.05)
    raise AssertionError(f"no backtest was made: {text[-2000:]}")


def test_it_is_made_beside_the_page_and_shows_what_the_command_shows(filled: Site) -> None:
    with filled.visitor() as alice:
        began = time.monotonic()
        first = look(alice)
        assert first.status_code == 200 and time.monotonic() - began < 5
        assert LIMIT in first.text
        text = made(alice)
        assert "Up to date." in text and 'id="plot-comparison"' in text
        with store_of(filled.serving.home) as store:
            figures = backtest_answer(store).found
        found = look(alice, "backtest/backtest.json").json()
        assert found["schema"] == "seasoned/backtest/1"
        assert found["all"]["used"]["value"] == figures.all.used.value
        rows = look(alice, "backtest?as=json&table=start").json()["rows"]
        by_project = {row["project"]: row for row in rows}
        # Projects with few sessions are left out of all, and can be asked for.
        assert set(by_project) == {SHOP, "/home/mira/waypost", ""}
        assert by_project[SHOP]["used"] == 1.0 and by_project[SHOP]["foreign"] == 0
        assert f'href="{alice.path}/projects/{quote(SHOP, safe="")}"' in text


def test_the_comparison_has_every_choice_with_its_interval(filled: Site) -> None:
    with filled.visitor() as alice:
        made(alice)
        rows = look(alice, "backtest?as=json&table=comparison").json()["rows"]
        assert [row["choice"] for row in rows] == [
            "what Seasoned shows",
            "as many, by frequency",
            "as many, the newest",
            "as many, at random",
            "always the five most frequent",
        ]
        choices = look(alice, "backtest?as=json&table=choices").json()["rows"]
        assert {"chosen", "frequent", "newest", "random", "frequent_five"} < set(choices[0])


def test_one_project_is_shown_however_small_with_what_its_sessions_would_have_seen(filled: Site) -> None:
    path = f"backtest?project={quote(HOSTILE_FOLDER, safe='')}"
    with filled.visitor() as alice:
        text = made(alice, path)
        assert "<b>shop" not in text and "<img src=x" not in text
        rows = look(alice, f"{path}&as=json&table=seen").json()["rows"]
        assert rows and {row["project"] for row in rows} == {HOSTILE_FOLDER}
        assert [row["started"] for row in rows] == sorted((row["started"] for row in rows), reverse=True)
        hints = {row["outcome"] for row in rows if row["place"] in ("before a call", "after a failure")}
        assert hints == {"right"}
        assert f'href="{alice.path}/sessions/{rows[0]["session"]}"' in text
        assert look(alice, f"backtest/backtest.json?project={quote(SHOP)}&as=json").json()["project"] == SHOP


def test_it_is_replayed_again_on_request_with_the_form_of_this_visit(filled: Site) -> None:
    with filled.visitor() as alice:
        made(alice)
        address = f"{alice.path}/backtest/make"
        assert alice.client.post(address, data={"check": "guessed"}).status_code == 403
        assert alice.client.post(address, data={"check": alice.check()}).status_code == 303
        assert look(alice, "backtest?project=nothing").status_code == 404


def test_nothing_is_quoted_of_a_session_that_was_forgotten(tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("home")
    fill_project(home, SHOP)
    with site(home) as found, found.visitor() as alice:
        made(alice)
        gone = look(alice, "backtest?as=json&table=seen").json()["rows"][0]["session"]
        with store_of(home) as store, store.write():
            store.connection.execute("DELETE FROM session WHERE native_id = ?", (gone.partition(":")[2],))
        assert gone not in look(alice).text
        assert gone not in made(alice)


def test_without_sessions_it_says_what_to_do(shared: Site) -> None:
    with shared.visitor() as alice:
        assert "No sessions yet" in look(alice).text
        assert "No projects yet" in look(alice, "projects").text
