"""The sessions of a running experiment, which its numbers are made of."""

from __future__ import annotations

import math
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from starlette.requests import Request as HTTPRequest
from starlette.responses import Response

from seasoned.confirm.service.service import service_of
from seasoned.errors import NotFound, UsageError
from seasoned.store import Database, DatabaseRow, Store
from seasoned.web.display import experiment_link, moment
from seasoned.web.history_store import histories_of
from seasoned.web.login import Here
from seasoned.web.response import PageRoute
from seasoned.web.table import FILE_ROWS, Column, Table, TableCell, answer, cell_of_ref, row_limit

sessions_router = APIRouter(include_in_schema=False, route_class=PageRoute)
Arm = Annotated[str | None, Query(max_length=200)]
_COLUMNS = (
    Column("session", "session"),
    Column("arm", "arm"),
    Column("at", "assigned", is_whole=True),
    Column("exposed_arm", "was shown the block of"),
    Column("exposed_at", "shown", is_whole=True),
)


def arm_link(name: str, arm: str | None = None) -> str:
    """The sessions of an experiment, or of one of its arms."""
    return f"{experiment_link(name)}/sessions" + ("" if arm is None else f"?{urlencode({'arm': arm})}")


@sessions_router.get("/experiments/{name}/sessions")
async def show_sessions(
    request: HTTPRequest, here: Here, name: str, arm: Arm = None, after: str | None = None
) -> Response:
    """Every session that was assigned, the newest first."""
    at, session = _place(after)
    limit = row_limit(request)
    wanted = {"experiment": name, "arm": arm, "at": at, "session": session, "limit": limit + 1}
    rows = await service_of(request).store.read(lambda book: _rows(book.database, wanted))
    more = rows[limit - 1] if len(rows) > limit else None
    names = await histories_of(request).read(lambda store: [_name(row, store, limit) for row in rows[:limit]])
    table = Table(
        name="assigned",
        title="Sessions",
        columns=_COLUMNS,
        rows=[_line(row, name) for row, name in zip(rows, names, strict=False)],
        empty="No sessions yet. The gateway, the hooks and the plugin assign new sessions when they begin.",
        after=None if more is None else f"{more['at']!r},{more['session']}",
        is_later=after is not None,
    )
    return answer(request, here, "experiment_sessions.html", tables=(table,), name=name, arm=arm)


def _rows(database: Database, wanted: dict[str, str | float | None]) -> list[DatabaseRow]:
    if not database.rows("experiment.splits", {"experiment": wanted["experiment"]}):
        raise NotFound(f"No experiment {str(wanted['experiment'])[:80]!r} is running. See the list of experiments.")
    return list(database.rows("experiment.arm_sessions", wanted))


def _name(row: DatabaseRow, store: Store, limit: int) -> TableCell:
    if limit < FILE_ROWS:
        return cell_of_ref(row["session"], store)
    return TableCell(row["session"])


def _line(row: DatabaseRow, name: TableCell) -> tuple[TableCell, ...]:
    return (
        name,
        TableCell(row["arm"]),
        TableCell(row["at"], shown=moment(row["at"])),
        TableCell(row["exposed_arm"], shown=row["exposed_arm"] or "nothing was shown"),
        TableCell(row["exposed_at"], shown=None if row["exposed_at"] is None else moment(row["exposed_at"])),
    )


def _place(after: str | None) -> tuple[float, str]:
    if after is None:
        return 1e300, ""
    at, _, session = after.partition(",")
    try:
        found = float(at)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise UsageError("This page of the list does not exist. Go to its first page.")
    return found, session
