"""Tables as values: one address returns them as a page or as JSON; and the choice of a project."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar
from urllib.parse import urlencode

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from seasoned.confirm.service.service import service_of
from seasoned.errors import NotFound, UsageError
from seasoned.project import name_of
from seasoned.store import DatabaseRow, Store
from seasoned.store.project import find_project
from seasoned.text import dollars
from seasoned.web.display import distinct_names, percent, session_link, short
from seasoned.web.login import Visitor
from seasoned.web.response import HEADERS, render, with_query

# A longer table continues on its next page; in JSON, at the address in `next`.
PAGE_ROWS = 50
Value = str | int | float | bool | None
_T = TypeVar("_T")
_NO_SUCH_PAGE = "This page of the list does not exist. Go to its first page."


class TableCell(msgspec.Struct, frozen=True):
    """One value: as programs get it, and as people see it."""

    value: Value
    # For people; the value itself where it is None.
    shown: str | None = None
    # A page with the details of this value; without a leading slash, below the address of the browser session.
    href: str | None = None
    # A class of the style for a badge: ok, failed, unclear, quiet.
    tone: str = ""
    # Text in `backticks` is shown as code.
    has_code: bool = False
    # Shown in small print after the value, such as a key.
    small_print: str = ""


class Column(msgspec.Struct, frozen=True):
    """A column; its name is that of the field in JSON."""

    name: str
    title: str
    is_number: bool = False
    # Of times: how long ago, with the exact time at hand.
    is_time: bool = False
    # Left out where there is little room.
    is_minor: bool = False
    # Whether its values stay on one line.
    no_wrap: bool = False
    # Whether its head is a link that sorts by it, the largest first.
    can_sort: bool = False


def numbers(*, is_minor: bool = False, **titles: str) -> tuple[Column, ...]:
    """Columns of numbers: the name of each, and its title."""
    return tuple(Column(name, title, is_number=True, is_minor=is_minor) for name, title in titles.items())


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """Rows and columns, and what to tell people if there are no rows."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: Sequence[tuple[TableCell, ...]]
    # What to do if there are no rows; text in `backticks` is shown as code.
    empty: str
    note: str = ""
    # The column by which it is sorted.
    sort: str | None = None
    # The cursor of the next page, if there is one.
    after: str | None = None
    # Whether this is not the first page.
    has_previous: bool = False


def sort_order(request: Request, columns: Sequence[Column], default: str) -> str:
    """The column that `?sort=name` or `?sort=-name` asks for."""
    name = request.query_params.get("sort", "").removeprefix("-") or default
    if name not in {column.name for column in columns if column.can_sort}:
        raise UsageError(f"The table cannot be sorted by {name[:40]!r}. Use its column headers.")
    return name


MOST_ID = 2**63 - 1  # what a database can hold


def cursor_place(after: str) -> tuple[float, int]:
    """Where a page of a list begins, from its cursor: the value it is sorted by, and an id."""
    value, _, last = after.partition("_")
    try:
        place = float(value), int(last)
        if abs(place[1]) > MOST_ID:
            raise ValueError(last)
        return place
    except (ValueError, OverflowError) as error:
        raise UsageError(_NO_SUCH_PAGE) from error


def row_offset(after: str | None) -> int:
    """Where a page of a list begins that is cut by position: `after` is the number of rows before it."""
    if after is None:
        return 0
    if not (after.isascii() and after.isdecimal() and len(after) < 10):
        raise UsageError(_NO_SUCH_PAGE)
    return int(after)


def cut(rows: Sequence[_T], after: str | None) -> tuple[Sequence[_T], dict[str, Any]]:
    """One page of rows that are all there, and what its table says about the others."""
    first = row_offset(after)
    more = str(first + PAGE_ROWS) if len(rows) > first + PAGE_ROWS else None
    return rows[first : first + PAGE_ROWS], {"after": more, "has_previous": first > 0}


def answer(
    request: Request,
    here: Visitor,
    template: str,
    *,
    tables: Sequence[Table] = (),
    status: int = 200,
    **values: Any,
) -> Response:
    """The page, or one of its tables alone with `?as=json`."""
    if "as" in request.query_params:
        return _json(request, _named(tables, request.query_params.get("table")))
    return render(
        template,
        status=status,
        visit=here.visit,
        pages=request.app.state.pages,
        here=request.url.path,
        now=service_of(request).clock(),
        query={name: value for name, value in request.query_params.items() if name not in ("as", "table")},
        tables={table.name: table for table in tables},
        **values,
    )


def _named(tables: Sequence[Table], name: str | None) -> Table:
    for table in tables:
        if name is None or table.name == name:
            return table
    raise NotFound("There is no such table on this page. See the links below each table.")


def _json(request: Request, table: Table) -> Response:
    # Programs follow this address to the end of a table, and need not know how cursors work.
    following = None
    if table.after is not None:
        following = request.url.path + with_query(dict(request.query_params), after=table.after)
    names = [column.name for column in table.columns]
    rows = [dict(zip(names, [cell.value for cell in row], strict=True)) for row in table.rows]
    data = {"schema": f"seasoned/table-{table.name}/1", "count": len(rows), "rows": rows, "next": following}
    return Response(msgspec.json.encode(data), media_type="application/json", headers=HEADERS)


def cost_cell(cost: float | None, href: str | None = None, *, unknown: str = "unknown") -> TableCell:
    """An amount in US dollars."""
    return TableCell(cost, dollars(cost, unknown=unknown), href)


def rate_cell(part: int, whole: int) -> TableCell:
    """A share in percent; a dash where there is nothing to divide."""
    return TableCell(part / whole if whole else None, percent(part, whole))


def figure(name: str, value: object, note: str = "", href: str | None = None) -> dict[str, Any]:
    """A key figure at the head of a page, with a link to what it is made of."""
    return {"name": name, "value": value, "note": note, "href": href}


def name_cell(row: DatabaseRow) -> TableCell:
    """The name of a session, with a link."""
    ref = f"{row['agent']}:{row['native_id']}"
    return TableCell(ref, short(row["title"] or row["native_id"]), session_link(ref))


def session_cell(ref: str, store: Store) -> TableCell:
    """The name of a session by its reference, with a link; the session need not be in the store."""
    agent, _, native_id = ref.partition(":")
    row = store.row("page.named", {"agent": agent, "native_id": native_id})
    return TableCell(ref, short(row["title"]) if row is not None and row["title"] else None, session_link(ref))


_MOST_CHOICE = 80
_MOST_CHOICES = 300  # choices in the list; every project can be asked for in the address


class ProjectChoice(msgspec.Struct, frozen=True):
    """The chosen project (None for all), and the key and name of each project to choose from."""

    key: str | None
    choices: tuple[tuple[str, str], ...]

    @property
    def query(self) -> str:
        """The query for the chosen project; empty for all."""
        return "" if self.key is None else f"?{urlencode({'project': self.key})}"


def choice_of(store: Store, request: Request) -> ProjectChoice:
    """The project that the address asks for; NotFound or UsageError if it is unknown or ambiguous."""
    keys = [row["project"] for row in store.rows("project.keys", {"limit": _MOST_CHOICES})]
    asked = request.query_params.get("project", "").strip()
    key = None
    if asked:
        key = asked if asked in keys else find_project(store, asked, base="/").key
    shown = zip(keys, map(_choice_text, distinct_names(keys)), strict=True)
    choices = sorted(shown, key=lambda pair: pair[1].lower())
    if key is not None and key not in keys:
        choices.append((key, _choice_text(name_of(key))))
    return ProjectChoice(key, tuple(choices))


def _choice_text(text: str) -> str:
    """A name for a drop-down list, which cannot mark invisible characters: they are replaced."""
    shown = "".join([c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text])
    return shown if len(shown) <= _MOST_CHOICE else shown[: _MOST_CHOICE - 1] + "…"
