"""A report as one file of HTML: plots, tables and words, with nothing to load and a policy that lets nothing load."""

from __future__ import annotations

from seasoned.insight.page.frame import environment, frame
from seasoned.insight.page.plots import plots
from seasoned.insight.page.sections import PARTS, words
from seasoned.insight.report import Report


def render(report: Report) -> str:
    """The whole page. The same report always gives the same page."""
    drawn = {plot.name: plot for plot in plots(report)}
    return (
        environment()
        .get_template("page.html")
        .render(
            report=report,
            plots=drawn,
            parts=[(name, title, lead, [drawn[each] for each in names]) for name, title, lead, names in PARTS],
            **frame(drawn.values()),
            **words(report),
        )
    )
