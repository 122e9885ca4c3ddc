"""The report in a real browser: offline, light and dark, on a phone and on a desk, on paper, and with hostile text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from seasoned.report.page import render
from seasoned.report.report import Report
from tests.browser.walking import SIGHTS, Walk
from tests.report.planted_report import SCRIPT, empty_report, hostile_report, small_report

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PLOTS = 10
LEAST_TEXT_PIXELS = 11
WIDTHS = (1280, 390)

_PLOTS_SEEN = """() => [...document.querySelectorAll(".plot")].map(place => {
    const svg = place.querySelector("svg"), box = svg?.getBoundingClientRect();
    return {
        name: place.id, drawn: place.dataset.drawn, width: box?.width ?? 0, height: box?.height ?? 0,
        room: place.clientWidth, shapes: svg?.querySelectorAll("path[d]:not([d='']), text, line, rect").length ?? 0,
        marks: svg?.querySelectorAll("g.mark-symbol path, g.mark-rect path, g.mark-rule line").length ?? 0,
    };
})"""
_SMALL_TEXT = """least => [...document.querySelectorAll("body *")]
    .filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) && e.getClientRects().length)
    .filter(e => parseFloat(getComputedStyle(e).fontSize) < least)
    .map(e => e.tagName + " " + e.textContent.slice(0, 40))"""
_COLOURS = """() => [getComputedStyle(document.body).backgroundColor,
    getComputedStyle(document.querySelector(".plot g.mark-symbol path")).fill]"""


class Seen(Walk):
    """A page that was opened, with everything that went wrong on it."""

    def wait_for_plots(self) -> None:
        self.page.wait_for_function("[...document.querySelectorAll('.plot')].every(place => place.dataset.drawn)")


Open = Callable[..., Seen]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> str:
    return _write(tmp_path_factory.mktemp("page"), hostile_report())


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    contexts = []

    def open_it(address: str, *, width: int = 1280, **options: Any) -> Seen:
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}, **options))
        seen = Seen(contexts[-1].new_page(), address)
        seen.page.goto(address)
        return seen

    yield open_it
    for context in contexts:
        context.close()


def _write(folder: Path, report: Report) -> str:
    path = folder / "report.html"
    path.write_text(render(report), "utf-8")
    return path.as_uri()


@pytest.mark.parametrize(("width", "scheme"), SIGHTS)
def test_every_plot_is_drawn_and_nothing_is_asked_of_anyone(
    open_page: Open, hostile: str, width: int, scheme: str
) -> None:
    seen = open_page(hostile, width=width, color_scheme=scheme)
    seen.wait_for_plots()
    plots = seen.page.evaluate(_PLOTS_SEEN)
    assert len(plots) == PLOTS
    for plot in plots:
        assert plot["height"] > 60 and plot["shapes"] > 8 and plot["marks"] > 2, plot
        assert 0.8 * plot["room"] < plot["width"] <= plot["room"] + 1, plot
    seen.check_calm()
    assert seen.page.evaluate(_SMALL_TEXT, LEAST_TEXT_PIXELS) == []


def test_plots_and_paper_follow_the_colour_scheme_without_drawing_anew(open_page: Open, hostile: str) -> None:
    seen = open_page(hostile, color_scheme="light")
    seen.wait_for_plots()
    light = seen.page.evaluate(_COLOURS)
    seen.page.emulate_media(color_scheme="dark")
    dark = seen.page.evaluate(_COLOURS)
    assert all(one != other for one, other in zip(light, dark, strict=True))
    seen.page.emulate_media(color_scheme="dark", media="print")
    assert seen.page.evaluate(_COLOURS) == light


def test_hostile_text_is_read_as_text(open_page: Open, hostile: str) -> None:
    seen = open_page(hostile)
    seen.wait_for_plots()
    seen.page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    text = seen.page.inner_text("body")
    assert seen.page.inner_text("h1") == seen.page.title().split(" – ")[0] == SCRIPT
    for written in (
        "</script><img src=x onerror=alert(2)>",
        "{{7*1013}}{% raw %}",
        "\\u202egnp.exe",
        "\\u001b[31m\\u0000",
    ):
        assert written in text
    assert seen.page.locator("img").count() == 0
    seen.check_calm()


def test_a_script_that_is_not_ours_does_not_run(open_page: Open, hostile: str) -> None:
    seen = open_page(hostile)
    seen.page.evaluate(
        """() => {
            const added = document.createElement("script");
            added.textContent = "window.ran = true";
            document.body.append(added);
        }"""
    )
    assert seen.page.evaluate("window.ran") is None
    assert any("Content Security Policy" in problem for problem in seen.problems)


def test_without_scripts_the_tables_still_say_everything(open_page: Open, hostile: str) -> None:
    seen = open_page(hostile, java_script_enabled=False)
    assert seen.page.locator("figure table").count() == PLOTS
    seen.page.locator("#position summary").click()
    assert seen.page.locator("#position table").is_visible()
    assert seen.page.locator("#position td").first.inner_text().endswith("%")


@pytest.mark.parametrize("make", [small_report, empty_report])
@pytest.mark.parametrize("width", WIDTHS)
def test_too_little_data_makes_a_page_too(
    open_page: Open, tmp_path: Path, width: int, make: Callable[[], Report]
) -> None:
    seen = open_page(_write(tmp_path, make()), width=width)
    seen.wait_for_plots()
    assert seen.page.locator(".nothing").first.inner_text().startswith("– ")
    seen.check_calm()
