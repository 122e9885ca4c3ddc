"""The page that `seasoned backtest -o` writes, in a real browser: it opens offline, is accessible and runs no text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from seasoned.backtest.page import render
from seasoned.backtest.replay import conversations, figures, replay
from tests.browser.walking import SIGHTS, Walk
from tests.experience.sessions import ran, session
from tests.web.filled import HOSTILE, HOSTILE_FOLDER

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def page_of(days: int) -> str:
    some = [
        session(day, ran("rtk make test", "error: unrecognized subcommand"), ran("make test"), project=HOSTILE_FOLDER)
        for day in range(days)
    ]
    replayed = replay(conversations(some))
    told = [one for one in replayed if one.lines["chosen"] or one.hints]
    return render(figures(replayed), told, made_at=0.0, title=HOSTILE)


@pytest.mark.parametrize("days", [9, 1])
@pytest.mark.parametrize(("width", "scheme"), SIGHTS)
def test_it_opens_offline_on_a_desk_and_on_a_phone(
    browser: Browser, tmp_path: Path, width: int, scheme: str, days: int
) -> None:
    path = tmp_path / "backtest.html"
    path.write_text(page_of(days), "utf-8")
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True)
    try:
        walker = Walk(context.new_page(), path.as_uri())
        walker.go(path.as_uri())
        assert walker.page.locator(".plot svg").count() == (1 if days > 1 else 0)
        assert walker.page.locator("img").count() == 0
        assert "A replay shows" in walker.page.inner_text("header")
        walker.check_accessible()
    finally:
        context.close()
