"""A report as a page: it says what the figures say, and no text of a session becomes anything but text."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.report.page import charts, render
from seasoned.report.page.plots import plots
from seasoned.report.page.rows import visible
from seasoned.report.report import Report
from tests.each_case import each_case
from tests.report.planted_report import HOSTILE, SCRIPT, empty_report, hostile_report, small_report

PAGE = Path(charts.__file__).parent
WITHOUT_END = {"meta", "br", "img"}


class Parsed(HTMLParser):
    """Elements with their attributes, the text of each kind of element, and what is left open."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in WITHOUT_END:
            self.open.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts[self.open[-1]][-1] += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@cache
def hostile() -> Report:
    return hostile_report()


@cache
def parsed() -> Parsed:
    return Parsed(render(hostile()))


def policy() -> str:
    (found,) = [meta["content"] for meta in parsed().all("meta") if meta.get("http-equiv")]
    assert found is not None
    return found


def leaves(value: Any, *path: str | int) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Every value of a tree, and the names too, with where it stands."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield (*path, "name"), name
            yield from leaves(inner, *path, name)
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            yield from leaves(inner, *path, number)
    else:
        yield path, value


def test_every_element_is_closed_and_only_our_scripts_are_there() -> None:
    assert parsed().open == []
    kinds = [script.get("type") for script in parsed().all("script")]
    assert kinds == ["application/json", None, None, None, None]
    assert parsed().all("img") == []


def test_the_policy_allows_these_scripts_and_this_style_and_nothing_else() -> None:
    rules = dict(rule.split(" ", 1) for rule in policy().split("; "))
    texts = {"script-src": parsed().texts["script"][1:], "style-src": parsed().texts["style"]}
    for name, expected in texts.items():
        digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in expected]
        assert rules[name].split() == [f"'sha256-{digest}'" for digest in digests]
    assert rules["default-src"] == rules["connect-src"] == "'none'"
    assert "unsafe" not in policy()


@each_case("text", HOSTILE)
def test_hostile_text_is_shown_as_text(text: str) -> None:
    shown = "".join(parsed().texts["th"])
    assert visible(text, 20)[:19] in shown
    assert "7091" not in "".join(parsed().texts["bdi"])


def test_text_of_sessions_stands_in_the_data_of_plots_alone() -> None:
    marks = [visible(text) for text in HOSTILE]
    for plot in plots(hostile()):
        assert plot.spec is not None, plot.name
        for path, value in leaves(plot.spec):
            if isinstance(value, str) and any(mark in value for mark in marks):
                assert path[:2] == ("data", "values"), (plot.name, path)


def test_the_data_in_the_page_is_json_that_cannot_end_its_script() -> None:
    data = parsed().texts["script"][0]
    assert not set("<>&\u2028\u2029") & set(data)
    labels = [row.get("label", "") for plot in json.loads(data)["plots"] for row in plot["wide"]["data"]["values"]]
    assert any(SCRIPT in label for label in labels)


@pytest.mark.parametrize("make", [hostile_report, small_report, empty_report])
def test_every_plot_says_what_it_shows_and_what_not_and_has_its_table(make: Any) -> None:
    for plot in plots(make()):
        assert re.fullmatch(r"[A-Z\d].*\.", plot.shows) and re.fullmatch(r"[A-Z\d].*\.", plot.hides), plot.name
        assert plot.spec is not None or plot.reason, plot.name
        assert {len(row) for row in plot.rows} <= {len(plot.head)}, plot.name
        assert all(cell for row in plot.rows for cell in row), plot.name
        assert {"interval", "level"} <= set(plot.head) and {"calls", "before"} & set(plot.head), plot.name


@pytest.mark.parametrize("make", [small_report, empty_report])
def test_unknown_is_a_dash_with_its_reason_and_never_zero(make: Any) -> None:
    report = make()
    found = Parsed(render(report))
    assert found.open == []
    (trend,) = [plot for plot in plots(report) if plot.name == "trend"]
    assert trend.rows[0][2].startswith("– (")
    assert any(text.startswith("– ") and len(text) > 10 for text in found.texts["p"])
    values = dict(zip(found.texts["dt"], found.texts["dd"][::2], strict=True))
    if not report.counts.counted:
        assert values["Error rate"] == "–"


def test_figures_of_the_page_are_those_of_the_report() -> None:
    overall = hostile().cohort.overall
    assert overall.rate.value is not None and overall.rate.interval is not None
    text = " ".join(parsed().texts["dd"]).replace("\N{NO-BREAK SPACE}", " ")
    assert f"{100 * overall.rate.value:.1f} %" in text
    assert f"{100 * overall.rate.interval.low:.1f}–{100 * overall.rate.interval.high:.1f} %" in text
    assert hostile().verdict.sentence in parsed().texts["p"]
    assert set(hostile().verdict.reasons) <= set(parsed().texts["li"])


def test_the_scripts_are_those_that_were_fetched_and_carry_their_licences() -> None:
    packages = json.loads((PAGE / "vega/versions.json").read_text("utf-8"))
    for package in packages:
        licence = (PAGE / f"vega/LICENSE-{package['name']}").read_text("utf-8")
        assert "Copyright" in licence and "--" not in licence
        assert licence in render(hostile())
        if "script" in package:
            script = (PAGE / f"vega/{package['name']}.js").read_bytes()
            assert hashlib.sha256(script).hexdigest() == package["script"]["sha256"]
            # The parser of a page reads another line end, and another hash, out of these.
            assert b"\r" not in script and b"</script" not in script.lower() and b"<!--" not in script


@given(st.text())
def test_what_is_visible_hides_and_turns_nothing(text: str) -> None:
    shown = visible(text)
    assert not set(shown) & set("\x00\x1b\u202e\u2066\u200b\u2028\ufeff")
    shown.encode("utf-8")
    assert len(visible(text, 10).encode("unicode-escape")) <= 10 * 12
