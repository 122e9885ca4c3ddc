"""What every page of plots shares: its own scripts and style under a policy, the data of the plots, the licences."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from seasoned.insight.page import charts
from seasoned.insight.page.plots import Plot
from seasoned.insight.page.rows import moment, number, plural, visible

if TYPE_CHECKING:
    from jinja2 import Environment

_FOLDER = Path(__file__).parent
_SCRIPTS = ("vega/vega.js", "vega/vega-lite.js", "vega/vega-interpreter.js", "show.js")
_LICENCES = ("vega", "vega-lite", "vega-interpreter", "d3", "topojson-client")
# What could end a script or be read as markup is written as JSON writes it; the values stay the same.
_IN_SCRIPT = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"})


def frame(drawn: Iterable[Plot], *, more_style: str = "") -> dict[str, Any]:
    """What the head and the foot of a page are filled with."""
    from markupsafe import Markup

    style = _read("page.css") + more_style
    scripts = [_read(name) for name in _SCRIPTS]
    # These are the project's own, or made so that nothing in them can end their element.
    return {
        "policy": policy(scripts, style),
        "style": Markup(style),
        "scripts": [Markup(script) for script in scripts],
        "licences": Markup("\n".join([_read(f"vega/LICENSE-{name}") for name in _LICENCES])),
        "data": Markup(plot_data(drawn)),
    }


@cache
def environment(folder: Path = _FOLDER) -> Environment:
    """Templates of a folder, and those that all pages share."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(loader=FileSystemLoader([folder, _FOLDER]), autoescape=True, undefined=StrictUndefined)
    made.filters |= {"visible": visible, "number": number, "plural": plural, "moment": moment}
    return made


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
