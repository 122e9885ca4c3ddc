"""The choice of a project on pages: `?project=` with its key or a unique name."""

from __future__ import annotations

from urllib.parse import urlencode

import msgspec
from starlette.requests import Request

from seasoned.project import name_of
from seasoned.store import Store
from seasoned.store.project import find_project, settle_due
from seasoned.web.table import Table

_MOST_CHARS = 80
_MOST = 300  # choices in the list; every project can be asked for in the address


class ProjectChoice(msgspec.Struct, frozen=True):
    """The chosen project, None for all, and those that can be chosen: key and name."""

    key: str | None
    choices: tuple[tuple[str, str], ...]

    @property
    def query(self) -> str:
        """What an address needs to ask for the chosen project; empty for all."""
        return "" if self.key is None else f"?{urlencode({'project': self.key})}"

    def within(self, table: Table) -> Table:
        """The table with links to the sessions of the chosen project only."""
        if self.key is None:
            return table
        rows = [tuple(msgspec.structs.replace(cell, href=self.link(cell.href)) for cell in row) for row in table.rows]
        return msgspec.structs.replace(table, rows=rows)

    def link(self, href: str | None) -> str | None:
        """A link to the list of sessions, with the chosen project added; others stay as they are."""
        if self.key is None or href is None or href.partition("?")[0] != "sessions":
            return href
        return f"{href}{'&' if '?' in href else '?'}{urlencode({'project': self.key})}"


def choice_of(store: Store, request: Request) -> ProjectChoice:
    """What the address asks for; NotFound and UsageError say what there is."""
    settle_due(store)
    keys = [row["project"] for row in store.rows("project.keys", {"limit": _MOST})]
    asked = request.query_params.get("project", "").strip()
    key = None
    if asked:
        key = asked if asked in keys else find_project(store, asked, base="/").key
    # Of two projects with one name, the keys are shown too.
    names = [name_of(one) for one in keys]
    shown = [
        _plain(name if names.count(name) == 1 else f"{name} ({one})") for one, name in zip(keys, names, strict=True)
    ]
    choices = sorted(zip(keys, shown, strict=True), key=lambda pair: pair[1].lower())
    if key is not None and key not in keys:
        choices.append((key, _plain(name_of(key))))
    return ProjectChoice(key, tuple(choices))


def _plain(text: str) -> str:
    """A name for a list, in which nothing can be marked: what no one can see is replaced."""
    shown = "".join([c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text])
    return shown if len(shown) <= _MOST_CHARS else shown[: _MOST_CHARS - 1] + "…"
