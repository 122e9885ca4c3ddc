"""Five questions of someone new, each answered from the pages alone, beginning at the overview."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from seasoned.config import Config
from seasoned.gateway.history_usage import fill_prices
from tests.browser.test_inbox import look_closely
from tests.browser.walking import Walk
from tests.web.filled import fill_project, fill_sessions, store_of
from tests.web.pages import site

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PATIENCE = 60_000
PROJECT = "/home/mira/waypost"


def test_five_questions_are_answered_from_the_pages_alone(browser: Browser, tmp_path: Path) -> None:
    fill_sessions(tmp_path)
    fill_project(tmp_path, "/home/mira/shop")
    with store_of(tmp_path) as store:
        # The samples are older than a week; as of the day after the last failure, that was yesterday.
        last = store.connection.execute("SELECT max(at) FROM session WHERE failed > 0").fetchone()[0]
        store.connection.execute("DELETE FROM session WHERE COALESCE(ended, started, 0) > ?", (last,))
        fill_prices(store)  # as a scan does
    # Samples: what "today" is follows from them.
    with site(tmp_path, samples=Config(home=tmp_path).store_path) as found:
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        try:
            walker = Walk(context.new_page(), found.url)
            page = walker.page
            page.set_default_timeout(PATIENCE)
            visit = walker.log_in(found.serving.tokens["root"])
            assert page.evaluate("document.querySelector('.top').offsetHeight") < 70, "the navigation is one row"
            # What went wrong yesterday?
            assert page.inner_text("#wrong .lines .error").strip()
            page.click("#wrong .lines a")
            page.wait_for_selector(".call.failed:target")
            # What should I change?
            walker.go(f"{visit}/overview")
            page.wait_for_selector("#do .lines a")
            for width, height in ((1280, 800), (390, 844)):
                page.set_viewport_size({"width": width, "height": height})
                assert page.evaluate("document.documentElement.scrollHeight - innerHeight") <= 0, "one screen"
            page.set_viewport_size({"width": 1280, "height": 900})
            look_closely(walker, "questions")
            page.click("#do [id^=proposal-] a")
            page.wait_for_selector("h1")
            # What did a project cost?
            walker.go(f"{visit}/projects")
            page.click(f"#table-projects a[href$='{PROJECT.replace('/', '%2F')}']")
            page.wait_for_selector(".headline div:has-text('Cost') .value:has-text('$')")
            # What will its next session be told?
            page.wait_for_selector("h2:has-text('What the next session sees at its start')")
            # Has it helped?
            assert "seasoned backtest --project" in page.inner_text("main")
            # The page loads again when its inbox is there.
            page.wait_for_selector("[data-working]", state="detached")
            # The menu opens without a script, closes by Escape, and holds the other pages.
            page.click(".menu summary")
            walker.check_accessible()
            page.keyboard.press("Escape")
            assert page.query_selector(".menu[open]") is None
            page.keyboard.press("g")
            page.keyboard.press("3")
            page.wait_for_url("**/sessions")
            assert walker.problems == []
        finally:
            context.close()
