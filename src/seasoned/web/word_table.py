"""Tables that are made of words already, such as those below plots."""

from __future__ import annotations

import re
from collections.abc import Sequence

from seasoned.insight.page.plots import Plot
from seasoned.web.table import Cell, Column, Table

_NOT_A_NAME = re.compile(r"[^a-z0-9]+")


def word_table(name: str, title: str, head: Sequence[str], rows: Sequence[Sequence[str]], empty: str = "") -> Table:
    """A table of texts under these heads."""
    columns = tuple(Column(_NOT_A_NAME.sub("_", each.lower()).strip("_"), each) for each in head)
    cells = [tuple(Cell(plain(text)) for text in row) for row in rows]
    return Table(name=name, title=title, columns=columns, rows=cells, empty=empty or "There is nothing in it.")


def plain(text: str) -> str:
    """With spaces that everybody has: a page marks all others, for in sessions they hide something."""
    return text.replace("\N{NO-BREAK SPACE}", " ").replace("\N{NARROW NO-BREAK SPACE}", " ")


def plot_table(plot: Plot) -> Table:
    """The figures of a plot."""
    return word_table(plot.name, plot.title, plot.head, plot.rows, plot.reason or "")
