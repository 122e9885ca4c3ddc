"""Two walks with a real browser: a session is found by a word someone said in it, and what a project cost is seen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from seasoned.store.full_text import fill
from tests.browser.test_advice import look_closely
from tests.browser.walking import Walk
from tests.web.filled import fill_sessions, store_of
from tests.web.pages import site

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def test_a_session_is_found_by_a_word_and_what_a_project_cost_is_seen(browser: Browser, tmp_path: Path) -> None:
    fill_sessions(tmp_path)
    with store_of(tmp_path) as store:
        assert fill(store) == 0
    with site(tmp_path) as found:
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        try:
            walker = Walk(context.new_page(), found.url)
            page = walker.page
            visit = walker.enter(f"{found.url}/login/{found.visits.invite(found.credential('root'))}")
            page.keyboard.press("/")
            page.keyboard.type("carriers")
            page.keyboard.press("Enter")
            page.wait_for_selector(".found mark.hit")
            look_closely(walker, "search")
            page.click(".hits a")
            page.wait_for_selector(":target")
            assert page.evaluate("document.querySelector(':target').getBoundingClientRect().top") < 900
            assert "carriers" in page.inner_text("main").lower()
            walker.go(f"{visit}/usage?by=project&days=all")
            look_closely(walker, "cost")
            page.click("main table a:not([href*='sort'])")
            page.wait_for_load_state()
            assert "project=" in page.url or "/projects/" in page.url
        finally:
            context.close()
