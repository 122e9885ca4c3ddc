"""A report as one file of HTML: plots, tables and words, with nothing to load and a policy that lets nothing load."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from seasoned.insight.page import charts
from seasoned.insight.page.plots import Plot, plots
from seasoned.insight.page.sections import PARTS, words
from seasoned.insight.page.value import moment, number, plural, visible
from seasoned.insight.report import Report

if TYPE_CHECKING:
    from jinja2 import Environment

_FOLDER = Path(__file__).parent
_SCRIPTS = ("vega/vega.js", "vega/vega-lite.js", "vega/vega-interpreter.js", "show.js")
_LICENCES = ("vega", "vega-lite", "vega-interpreter", "d3", "topojson-client")
_IN_SCRIPT = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"})
"""What could end a script or be read as markup is written as JSON writes it; the values stay the same."""


def render(report: Report) -> str:
    """The whole page. The same report always gives the same page."""
    from markupsafe import Markup

    drawn = {plot.name: plot for plot in plots(report)}
    style = _read("page.css")
    scripts = [_read(name) for name in _SCRIPTS]
    return (
        _environment()
        .get_template("page.html")
        .render(
            report=report,
            plots=drawn,
            parts=[(name, title, lead, [drawn[each] for each in names]) for name, title, lead, names in PARTS],
            policy=policy(scripts, style),
            # These five are the project's own, or made so that nothing in them can end their element.
            style=Markup(style),
            scripts=[Markup(script) for script in scripts],
            licences=Markup("\n".join([_read(f"vega/LICENSE-{name}") for name in _LICENCES])),
            data=Markup(plot_data(drawn.values())),
            **words(report),
        )
    )


def plot_data(drawn: Iterable[Plot]) -> str:
    """The specifications as JSON that may stand inside a script element, whatever the sessions said."""
    data = {
        "config": charts.CONFIG,
        "side": charts.SIDE,
        "plots": [
            {"name": plot.name, "wide": plot.spec, "narrow": charts.narrow(plot.spec)}
            for plot in drawn
            if plot.spec is not None
        ],
    }
    return msgspec.json.encode(data).decode().translate(_IN_SCRIPT)


def policy(scripts: Iterable[str], style: str) -> str:
    """Only these scripts and this style. Vega sets styles through the DOM, which no policy forbids."""
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {' '.join([_hash(script) for script in scripts])}",
            f"style-src {_hash(style)}",
            "img-src data:",
            "connect-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def _read(name: str) -> str:
    return (_FOLDER / name).read_text("utf-8")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(loader=FileSystemLoader(_FOLDER), autoescape=True, undefined=StrictUndefined)
    environment.filters |= {"visible": visible, "number": number, "plural": plural, "moment": moment}
    return environment
