"""Plots in a real browser answer to a pointer, under a policy that lets nothing be evaluated."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.web.filled import fill_gateway, fill_live, fill_sessions, fill_templates
from tests.web.pages import Site, site

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home: Path = tmp_path_factory.mktemp("home")
    fill_sessions(home)
    fill_gateway(home)
    fill_live(home, fill_templates(home).examples[0].id)
    with site(home) as found:
        yield found


@pytest.fixture
def page(browser: Browser, filled: Site) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    with filled.visitor() as alice:
        cookie = alice.client.cookies.get("seasoned")
        assert cookie is not None
        context.add_cookies([{"name": "seasoned", "value": cookie, "url": f"{filled.url}{alice.path}"}])
        opened = context.new_page()
        complaints: list[str] = []
        opened.on("console", lambda message: complaints.append(message.text))
        opened.on("pageerror", lambda error: complaints.append(str(error)))
        opened.goto(f"{filled.url}{alice.path}/usage")
        yield opened
        assert complaints == []
    context.close()


def test_a_span_that_is_dragged_over_days_is_summed_up(page: Page) -> None:
    plot = page.locator("#plot-cost-gateway[data-drawn] svg")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 150, box["y"] + 90)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 90, steps=4)
    page.mouse.move(box["x"] + 450, box["y"] + 90, steps=4)
    page.mouse.up()
    said = plot.locator("text", has_text="in the chosen bars")
    said.wait_for()
    assert re.fullmatch(r"\$\d+\.\d\d in the chosen bars", said.text_content() or "")


def test_a_row_that_is_clicked_stands_out_and_its_figures_are_told(page: Page) -> None:
    page.goto(page.url.replace("/usage", "/experiments/autumn"))
    marks = page.locator("#plot-live-effects[data-drawn] svg .mark-symbol path")
    marks.first.wait_for()
    marks.first.scroll_into_view_if_needed()
    marks.first.hover()
    page.wait_for_function("document.querySelector('#plot-live-effects [title]')?.title.includes('warm − cold')")
    marks.first.click()
    page.wait_for_function("document.querySelector('#plot-live-effects .mark-symbol path[opacity=\"0.25\"]')")
    seen = [mark.get_attribute("opacity") for mark in marks.all()]
    assert seen[0] == "1" and set(seen[1:]) == {"0.25"}
