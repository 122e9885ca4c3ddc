"""A walk with a real browser: a proposal is shown, edited, accepted and undone; a note that waits is accepted."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from tests.browser.walking import ALL_SIGHTS, Walk
from tests.web.filled import fill_learned, fill_project
from tests.web.pages import site

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SHOTS = os.environ.get("SEASONED_SHOTS")


def look_closely(walker: Walk, name: str) -> None:
    """Check the open page in every width and colour scheme."""
    for width, scheme in ALL_SIGHTS:
        walker.change_to(width, scheme)
        walker.check_accessible()
        if SHOTS:
            walker.page.screenshot(path=Path(SHOTS) / f"{name}-{width}-{scheme}.png", full_page=True)
    walker.change_to(*ALL_SIGHTS[0])


def test_a_proposal_is_edited_accepted_and_undone_and_a_note_accepted(browser: Browser, tmp_path: Path) -> None:
    home, shop = tmp_path / "home", tmp_path / "shop"
    for folder in (home, shop / ".git"):
        folder.mkdir(parents=True)
    (shop / "Makefile").write_text("test:\n\ttrue\nlint:\n\ttrue\n", "utf-8")
    (shop / "CLAUDE.md").write_bytes(b"# Shop\n\nBuild with care.")
    before = (shop / "CLAUDE.md").read_bytes()
    fill_project(home, shop, sessions=6)
    fill_learned(home)
    with site(home) as found:
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        try:
            walker = Walk(context.new_page(), found.url)
            page = walker.page
            walker.log_in(found.serving.tokens["root"])
            page.wait_for_selector("#do [id^=proposal-] a")
            assert "no agent is connected" in page.inner_text("#did")
            look_closely(walker, "first-visit")
            page.click("#do a:has-text('instead of rtk make test')")
            page.wait_for_selector(".difference .came")
            look_closely(walker, "proposal")
            page.fill("textarea", "Never type `rtk`.")
            page.click("button:has-text('Accept')")
            page.wait_for_selector("#decided")
            assert (shop / "CLAUDE.md").read_bytes().endswith(b"- Never type `rtk`.")
            look_closely(walker, "inbox")
            page.click("#decided a")
            page.click("button:has-text('Undo')")
            page.wait_for_selector("#decided", state="detached")
            assert (shop / "CLAUDE.md").read_bytes() == before
            page.click("#proposal-change-5 button:has-text('Accept')")
            page.wait_for_selector("#decided a:has-text('Run the linter')")
            assert "Run the linter" in (home / "memory" / "MEMORY.md").read_text("utf-8")
            assert walker.problems == []
        finally:
            context.close()
