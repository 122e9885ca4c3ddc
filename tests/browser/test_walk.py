"""A walk through every page with something of everything in the store: nothing complains, nothing goes elsewhere."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from seasoned.lesson.storage import refresh
from seasoned.web.app import PAGES
from seasoned.web.display import project_link
from tests.browser.walking import ALL_SIGHTS, Walk
from tests.torture import TORTURE
from tests.web import hostile
from tests.web.filled import HOSTILE_FOLDER, fill_all, store_of
from tests.web.pages import Site, site

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# A folder for screenshots of every page.
SHOTS = os.environ.get("SEASONED_SHOTS")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("home")
    fill_all(home)
    hostile.fill_hostile(home, tmp_path_factory.mktemp("hostile"))
    with store_of(home) as store:
        refresh(store)
    with site(home) as started:
        # A request with a zero character is refused before anybody sees it.
        words = hostile.ALL.replace("\0", "")
        started.serving.ask(description=words, details={"command": words})
        started.serving.decide(started.serving.ask()["id"], "deny", "bob", reason=words)
        yield started


def walk(
    browser: Browser,
    site: Site,
    width: int,
    scheme: str,
    *,
    most: int,
    then: tuple[int, str] | None = None,
) -> Counter[str]:
    """From the first page along the links, a few of each kind of page; how many of each were seen.

    `then` is a second width and colour scheme, to which each page changes after it was checked in the first.
    """
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    try:
        walker = Walk(context.new_page(), site.url)
        path = walker.log_in(site.serving.tokens["root"])
        seen: Counter[str] = Counter()
        ways = [f"{path}/{page.path}" for page, _ in PAGES]
        ways[2:2] = [f"{path}/{one}" for one in (f"sessions/{hostile.REF}", project_link(HOSTILE_FOLDER))]
        known = set(ways)
        while ways:
            address = ways.pop(0)
            kind = address.removeprefix(f"{path}/").partition("/")[0]
            if seen[kind] >= most + 1:
                continue
            seen[kind] += 1
            walker.go(address)
            walker.check_accessible()
            if then is not None:
                walker.change_to(*then)
                walker.check_accessible()
                walker.change_to(width, scheme)
            if SHOTS:
                name = address.removeprefix(f"{path}/").replace("/", "_").replace(":", "_")[:60]
                walker.page.screenshot(path=Path(SHOTS) / f"{name}-{width}-{scheme}.png", full_page=True)
            new = [link for link in walker.links(f"{path}/") if link not in known and not link.endswith(".json")]
            known |= set(new)
            ways += new
        return seen
    finally:
        context.close()


def test_every_page_is_calm_and_accessible_wide_and_light_and_narrow_and_dark(browser: Browser, found: Site) -> None:
    seen = walk(browser, found, *ALL_SIGHTS[0], most=1, then=ALL_SIGHTS[1])
    assert set(seen) >= {page.path for page, _ in PAGES}
    assert seen["sessions"] >= 2 and seen["projects"] >= 2


@pytest.mark.skipif(not TORTURE, reason="long: set SEASONED_TORTURE=1")
@pytest.mark.parametrize(("width", "scheme"), ALL_SIGHTS)
def test_the_long_walk(browser: Browser, found: Site, width: int, scheme: str) -> None:
    assert walk(browser, found, width, scheme, most=12)["sessions"] > 2
