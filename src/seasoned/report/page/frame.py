"""Shared by all pages with plots: scripts and style under a content security policy, plot data, licences."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from seasoned.report.page import charts
from seasoned.report.page.plots import Plot
from seasoned.report.page.rows import moment, number, plural, visible

if TYPE_CHECKING:
    from jinja2 import Environment

_FOLDER = Path(__file__).parent
_SCRIPTS = ("vega/vega.js", "vega/vega-lite.js", "vega/vega-interpreter.js", "show.js")
_LICENCES = ("vega", "vega-lite", "vega-interpreter", "d3", "topojson-client")
# Characters that could end a script or be read as markup, as JSON escapes.
_IN_SCRIPT = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"})


def frame(drawn: Iterable[Plot], *, more_style: str = "") -> dict[str, Any]:
    """Values for the head and the foot of a page."""
    from markupsafe import Markup

    style = _read("page.css") + more_style
    scripts = [_read(name) for name in _SCRIPTS]
    # Safe: the project's own files, or JSON without markup.
    return {
        "policy": policy(scripts, style),
        "style": Markup(style),
        "scripts": [Markup(script) for script in scripts],
        "licences": Markup("\n".join([_read(f"vega/LICENSE-{name}") for name in _LICENCES])),
        "data": Markup(plot_data(drawn)),
    }


@cache
def environment(folder: Path = _FOLDER) -> Environment:
    """The templates of a folder and the shared ones."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(loader=FileSystemLoader([folder, _FOLDER]), autoescape=True, undefined=StrictUndefined)
    made.filters |= {"visible": visible, "number": number, "plural": plural, "moment": moment}
    return made


def plot_data(drawn: Iterable[Plot]) -> str:
    """The specifications as JSON that is safe inside a script element."""
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
    """A policy for exactly these scripts and this style. Vega sets styles through the DOM, which is allowed."""
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
