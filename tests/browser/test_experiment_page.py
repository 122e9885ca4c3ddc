"""The page of an experiment in a real browser: every plot is drawn, on a desk and on a phone, and nothing complains."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from seasoned.experiment.page import render
from tests.experiment.test_page import analysis

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.mark.parametrize("width", [1280, 390])
def test_every_plot_is_drawn_and_nothing_overflows_or_complains(browser: Browser, tmp_path: Path, width: int) -> None:
    path = tmp_path / "experiment.html"
    path.write_text(render("Does it help?", [analysis(), analysis()], made_at=0.0), "utf-8")
    page = browser.new_page(viewport={"width": width, "height": 900})
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(path.as_uri())
    page.wait_for_function(
        "document.querySelectorAll('.plot').length === document.querySelectorAll('[data-drawn]').length"
    )
    assert page.locator(".plot svg").count() == 4
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert complaints == []
    page.close()
