"""Takes the pictures of the pages in `docs/images`: `python -m tools.make_images [FOLDER]`. Needs chromium.

Below `pages`: six pages on a desk and on a phone, light and dark, as `PAGE-WIDTH-SCHEME.webp`.
"""

from __future__ import annotations

import base64
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

ROOT = Path(__file__).parent.parent
# The pictures show what the tests of the pages fill in.
sys.path.insert(0, str(ROOT))

from playwright.sync_api import sync_playwright  # noqa: E402
from tests.browser.conftest import start_chromium  # noqa: E402
from tests.browser.walking import Walk  # noqa: E402
from tests.web.filled import fill_sessions, store_of  # noqa: E402
from tests.web.pages import Site, site  # noqa: E402

from seasoned.config import Config  # noqa: E402
from seasoned.example.library.upkeep import auto  # noqa: E402
from seasoned.gateway.history_usage import fill_prices  # noqa: E402
from seasoned.lesson.storage import refresh  # noqa: E402
from seasoned.redact.key import Secrecy, load_key  # noqa: E402
from seasoned.store.search import fill as fill_search  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WIDE = (1280, 860)
PROJECT = "%2Fhome%2Fmira%2Fwaypost"
# A long session with failures and a compaction.
SESSION = "claude-code:c73c43e8-0996-4246-bf6f-52c9b26da87a"
DESK, PHONE = (1280, 800), (390, 844)
EVERY = {
    "overview": "overview",
    "project": f"projects/{PROJECT}",
    "session": f"sessions/{SESSION}",
    "usage": "usage?days=all&by=project",
    "search": "search?q=carriers",
    "lessons": f"projects/{PROJECT}#lines",
}
# What the agent said before it first edited something.
_TO_FIRST_EDIT = """() => {
  const edit = document.querySelector(".call .edit");
  const said = [...document.querySelectorAll(".turn:not(.silent)")];
  const before = said.filter((one) => one.compareDocumentPosition(edit) & Node.DOCUMENT_POSITION_FOLLOWING);
  (before.at(-1) ?? edit).scrollIntoView({ behavior: "instant" });
}"""
DELETE = {
    "action": "delete_data",
    "description": "Delete the logs of March, after the backup.",
    "details": {"command": "rm -r logs/2026-03", "host": "build-2"},
}
REPORT = {"action": "send_report", "description": "Send the weekly report to the team.", "details": {"to": "team"}}


def take(
    browser: Browser,
    found: Site,
    page: str,
    to: Path,
    *,
    size: tuple[int, int] = WIDE,
    scheme: str = "light",
    name: str = "root",
    then: Callable[[Page], None] = lambda page: None,
) -> None:
    """One picture of one page, after `then` has done something on it."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)  # type: ignore[arg-type]
    walker = Walk(context.new_page(), found.url)
    path = walker.log_in(found.serving.tokens[name])
    walker.go(f"{path}/{page}")
    then(walker.page)
    if to.suffix == ".webp":
        # A quarter of the size; playwright itself writes only PNG and JPEG.
        taken = context.new_cdp_session(walker.page).send("Page.captureScreenshot", {"format": "webp", "quality": 60})
        to.write_bytes(base64.b64decode(taken["data"]))
    else:
        walker.page.screenshot(path=to)
    context.close()
    sys.stdout.write(f"{to}\n")


def take_samples(browser: Browser, home: Path, folder: Path) -> None:
    """What someone sees after `seasoned up` without histories, with two requests pending."""
    fill_sessions(home)
    with store_of(home) as store:
        refresh(store)
        fill_search(store)
        fill_prices(store)
        # As of the samples' own time: seen from today all of it would be too old.
        now = max(row["last"] for row in store.rows("session.totals")) + 86_400
        auto(store, now=now, redactor=Secrecy(load_key(home)).redactor())
    with site(home, samples=Config(home=home).store_path) as found:
        found.serving.ask(**REPORT)
        asked = found.serving.ask(**DELETE)

        def advised(page: Page) -> None:
            # The inbox is gathered by another process.
            page.wait_for_selector("[data-working]", state="detached", timeout=90_000)
            page.wait_for_timeout(500)

        take(browser, found, "overview", folder / "overview.png", size=DESK, then=advised)

        def read_on(page: Page) -> None:
            page.evaluate(_TO_FIRST_EDIT)

        take(browser, found, f"projects/{PROJECT}", folder / "project.png", then=advised)
        take(browser, found, "search?q=carriers", folder / "search.png")
        take(browser, found, f"sessions/{SESSION}", folder / "session.png", scheme="dark", then=read_on)
        take(browser, found, f"confirmations/{asked['id']}", folder / "confirmations.png")
        (folder / "pages").mkdir(exist_ok=True)
        for name, page in EVERY.items():
            for size in (DESK, PHONE):
                for scheme in ("light", "dark"):
                    to = folder / "pages" / f"{name}-{size[0]}-{scheme}.webp"
                    take(browser, found, page, to, size=size, scheme=scheme, then=advised)


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs/images"
    with sync_playwright() as playwright, TemporaryDirectory() as home:
        browser = start_chromium(playwright)
        take_samples(browser, Path(home), folder)
        browser.close()


if __name__ == "__main__":
    main()
