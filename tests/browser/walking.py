"""A walk through the pages in a real browser that notices everything that goes wrong on the way."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.torture import TORTURE

if TYPE_CHECKING:
    from playwright.sync_api import Page

AXE = Path(__file__).parent / "axe" / "axe.min.js"
_RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"], "resultTypes": ["violations"]}
_GRAVE = ("serious", "critical")
# A folder for screenshots.
SHOTS = os.environ.get("SEASONED_SHOTS")
# Only a page that never comes may fail for want of time, on however busy a machine.
PATIENCE_MS = 120_000
ALL_SIGHTS = ((1280, "light"), (390, "dark"), (1280, "dark"), (390, "light"))
# Widths and colour schemes to check a page in: each of them once, or all pairs with SEASONED_TORTURE.
SIGHTS = ALL_SIGHTS if TORTURE else ALL_SIGHTS[:2]


class Walk:
    """One browser page with what it complained of and what it asked for."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.problems: list[str] = []
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", lambda message: self.problems.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        page.on("dialog", self._dialog)
        page.on("request", self._asked)
        page.on("response", self._answered)
        page.on("requestfailed", self._failed)

    def _dialog(self, dialog: Any) -> None:
        self.problems.append(f"a script of a session ran: {dialog.message}")
        dialog.dismiss()

    def _asked(self, request: Any) -> None:
        if not request.url.startswith((self.url, "data:")):
            self.problems.append(f"asked elsewhere: {request.url}")

    def _answered(self, response: Any) -> None:
        if response.status >= 400:
            self.problems.append(f"{response.status}: {response.url}")

    def _failed(self, request: Any) -> None:
        # Leaving a page ends what it still asked for.
        if "ERR_ABORTED" not in (request.failure or ""):
            self.problems.append(f"failed: {request.url} {request.failure}")

    def enter(self, link: str) -> str:
        """Log in by a link; where the pages of the visit lie."""
        self.page.goto(link)
        self.page.wait_for_selector(".top nav a")
        return self.page.url.rpartition("/")[0]

    def log_in(self, token: str) -> str:
        """Log in by a token, to decide; where the pages of the visit lie."""
        self.page.goto(f"{self.url}/login")
        self.page.fill("#token", token)
        self.page.click("form button")
        self.page.wait_for_selector(".top nav a")
        return self.page.url.rpartition("/")[0]

    def go(self, address: str) -> None:
        """Open a page, and look at it as a strict visitor would."""
        self.page.goto(address)
        # By one condition on the page: a page that refreshes itself meanwhile takes its elements away.
        # What is computed beside a page loads it again when it is there.
        self.page.wait_for_selector("body:not(:has([data-working])):not(:has(.plot:not(:has(svg))))")
        self.check_calm()

    def change_to(self, width: int, scheme: str) -> None:
        """Give the open page another width and colour scheme, as turning a phone or the evening does."""
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.emulate_media(color_scheme=scheme)
        self.check_calm()

    def check_calm(self) -> None:
        """Nothing complained, nobody else was asked, nothing sticks out."""
        assert self.problems == [], self.page.url
        sticks_out = self.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert sticks_out <= 0, f"{self.page.url} sticks out by {sticks_out} pixels"

    def check_accessible(self, *, every: bool = False) -> None:
        """No serious fault of accessibility on the page that is open, or none at all."""
        if not self.page.evaluate("typeof window.axe === 'object'"):
            self.page.evaluate(AXE.read_text("utf-8"))
        found = self.page.evaluate("rules => axe.run(document, rules)", _RULES)
        grave = [
            f"{fault['id']}: {fault['help']}: {[node['html'][:160] for node in fault['nodes'][:3]]}"
            for fault in found["violations"]
            if every or fault["impact"] in _GRAVE
        ]
        assert grave == [], (self.page.url, grave)

    def shoot(self, name: str) -> None:
        """Keep a screenshot of the open page, if a folder for them is named."""
        if SHOTS:
            self.page.screenshot(path=Path(SHOTS) / f"{name}.png")

    def links(self, path: str) -> list[str]:
        """The addresses of pages that the open page links to, without what stands behind a question mark."""
        found = self.page.eval_on_selector_all("a[href]:not([download])", "all => all.map(one => one.href)")
        pages = [one.partition("#")[0].partition("?")[0] for one in found if one.startswith(path)]
        return list(dict.fromkeys(pages))
