"""The page of a session in a real browser: keys move through it, and it follows a session that runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.browser.walking import SIGHTS, Walk
from tests.history.claude_lines import SESSION, ClaudeFile
from tests.web.pages import site

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_TEXT = "Plan:\n\n| step | state |\n|---|---|\n| one | `done` |\n\n1. **look**\n2. [fix](https://x.example/a)"


def _file() -> ClaudeFile:
    file = ClaudeFile().user("fix the till").says(_TEXT)
    edit = {"file_path": "/home/mira/waypost/till.py", "old_string": "a = 1\nb = 2", "new_string": "a = 1\nb = 3"}
    file.calls("toolu_edit", "Edit", **edit).result("toolu_edit", "The file was updated.")
    for number in range(2):
        file.calls(f"toolu_{number}", command="make test")
        file.result(f"toolu_{number}", "\n".join(map(str, range(40))), is_error=True)
    return file


def test_a_session_is_read_by_keys_and_followed_while_it_runs(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "claude" / "projects" / "-home-mira-waypost" / "s.jsonl"
    path.parent.mkdir(parents=True)
    file = _file()
    file.write(path)
    with site(tmp_path / "home", settings={"claude_config_dir": tmp_path / "claude"}) as found:
        context = browser.new_context(viewport={"width": 1280, "height": 700})
        walker = Walk(context.new_page(), found.url)
        page = walker.page
        visit = walker.log_in(found.serving.tokens["root"])
        walker.go(f"{visit}/live")
        page.wait_for_selector(".card a")
        for width, scheme in SIGHTS:
            walker.change_to(width, scheme)
            walker.check_accessible()
        page.click(".card h2 a")
        page.wait_for_selector(".turns .difference .came")
        for width, scheme in SIGHTS:
            walker.change_to(width, scheme)
            walker.check_accessible()
        assert page.locator(".text ol li strong").inner_text() == "look" and page.locator(".turns .text a").count() == 0
        page.keyboard.press("n")
        assert page.locator(".current").get_attribute("id") == "call-1"
        page.keyboard.press("n")
        assert page.locator(".current").get_attribute("id") == "call-2"
        page.keyboard.press("k")
        page.keyboard.press("j")
        assert "turn" in (page.locator(".current").get_attribute("class") or "")
        page.keyboard.press("?")
        page.wait_for_selector("#keys[open]")
        page.keyboard.press("Escape")
        # A third failure in a row is seen without a reload, and what was opened stays open.
        page.evaluate("document.querySelector('#call-1 .fold').open = true")
        file.calls("toolu_late", command="make test").result("toolu_late", "no", is_error=True).write(path)
        page.wait_for_selector("#call-3.failed")
        page.wait_for_selector(".streak")
        assert page.evaluate("document.querySelector('#call-1 .fold').open")
        assert walker.problems == []
        assert SESSION in page.locator("#resume").inner_text()
        context.close()
