"""Two walks with a real browser: from the first visit to a connected agent, and an action applied and undone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from seasoned.connect.apply import is_connected
from tests.browser.walking import ALL_SIGHTS, Walk
from tests.web.filled import fill_project
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


def test_from_the_first_visit_to_a_connected_agent_and_an_action_applied_and_undone(
    browser: Browser, tmp_path: Path
) -> None:
    home, claude, shop = tmp_path / "home", tmp_path / "claude", tmp_path / "shop"
    for folder in (home, claude, shop / ".git"):
        folder.mkdir(parents=True)
    (shop / "Makefile").write_text("test:\n\ttrue\nlint:\n\ttrue\n", "utf-8")
    (shop / "CLAUDE.md").write_bytes(b"# Shop\n\nBuild with care.")
    settings = claude / "settings.json"
    settings.write_bytes(b'{\n  "model": "opus"\n}\n')
    before = {path: path.read_bytes() for path in (shop / "CLAUDE.md", settings)}
    fill_project(home, shop, sessions=6)
    with site(home, settings={"claude_config_dir": claude}) as found:
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        try:
            walker = Walk(context.new_page(), found.url)
            page = walker.page
            visit = walker.log_in(found.serving.tokens["root"])
            # The first thing worth doing is to connect an agent.
            page.wait_for_selector("#do [id^=advice-] a")
            assert "no agent is connected" in page.inner_text("#did")
            look_closely(walker, "first-visit")
            page.click("#do a:has-text('Connect Claude Code')")
            page.wait_for_selector(".difference .came")
            assert "seasoned-hook" in page.inner_text("main")
            look_closely(walker, "connect")
            page.click("text=Apply")
            page.wait_for_selector("button:has-text('Undo')")
            assert is_connected("claude-code", home=home)
            assert settings.read_bytes() != before[settings]
            connected = page.url
            # Now the overview begins with what to do.
            walker.go(f"{visit}/overview")
            page.wait_for_selector("#do [id^=advice-] a")
            assert "no agent is connected" not in page.inner_text("#did")
            page.click("#do a:has-text('instead of rtk make test')")
            page.wait_for_selector(".difference .came")
            look_closely(walker, "action")
            page.click("text=Apply")
            page.wait_for_selector("text=Too early to tell")
            assert b"- Run `make test` instead of `rtk make test`." in (shop / "CLAUDE.md").read_bytes()
            look_closely(walker, "applied")
            page.click("button:has-text('Undo')")
            page.wait_for_selector("button:has-text('Apply')")
            page.goto(connected)
            page.click("button:has-text('Undo')")
            page.wait_for_selector("button:has-text('Apply')")
            walker.go(f"{visit}/advice")
            page.wait_for_selector(".card")
            look_closely(walker, "advice")
            assert {path: path.read_bytes() for path in before} == before
            assert not is_connected("claude-code", home=home)
            assert walker.problems == []
        finally:
            context.close()
