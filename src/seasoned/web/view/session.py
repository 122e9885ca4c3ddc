"""The page of one session: the conversation, and every call with its verdict and the reason."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from seasoned.app.stores import scan_into_store
from seasoned.confirm.service.service import service_of
from seasoned.errors import NotFound
from seasoned.history.reader.seasoned_db import NAME
from seasoned.history.resume import resume_command
from seasoned.live import RUNNING_SECONDS, streak_of
from seasoned.project import name_of
from seasoned.redact.redactor import Redactor
from seasoned.report.page.rows import moment, number
from seasoned.session import Session, Usage
from seasoned.store import DatabaseRow, Store
from seasoned.text import dollars
from seasoned.web.display import percent, project_link, session_link
from seasoned.web.history_store import histories_of
from seasoned.web.login import Here
from seasoned.web.response import PageRoute
from seasoned.web.table import Column, Table, TableCell, answer, cut, figure
from seasoned.web.view.conversation import (
    StoredRow,
    find_conversation,
    judged_since,
    last_page,
    redacted_commits,
    shown_call,
    turns,
    whole_text,
)
from seasoned.web.view.live import live_of

router = APIRouter(route_class=PageRoute)
# More marks in the bar would be thinner than a pixel.
_MOST_MARKS = 400
_CHILDREN = 20
_COMMITS = 50
# Of a conversation that is gone, on one page.
_CALLS = 100
_CALL_COLUMNS = (
    Column("position", "Call", is_number=True),
    Column("tool", "Tool"),
    Column("verdict", "Verdict"),
    Column("counts_as", "Counts as", is_minor=True),
    Column("reason", "Why"),
)


@router.get("/sessions/{ref:path}")
async def show(
    request: Request, here: Here, ref: str, at: str = "", show: str = "", whole: str = "", after: str | None = None
) -> Response:
    """The session; `at` is the message that it begins with, `whole` a text that was cut."""
    redactor = service_of(request).secrecy.redactor()
    # An address that was typed wrong shows the beginning instead of an error.
    first = -1 if at == "end" else int(at) if at.isascii() and at.isdecimal() and len(at) < 10 else 0
    if whole:

        def look_whole(store: Store) -> tuple[str, Any]:
            found = find_conversation(_row(store, ref))
            if not isinstance(found, Session):
                raise NotFound(found)
            return whole_text(found, whole, redactor)

        title, said = await histories_of(request).read(look_whole)
        return answer(request, here, "whole.html", title=title, said=said, back=session_link(ref))

    def look(store: Store) -> tuple[dict[str, Any], Session | str]:
        row: StoredRow = _row(store, ref)
        calls: Sequence[StoredRow] = store.rows("page.calls", {"session_id": row["id"]})
        found = find_conversation(row)
        if isinstance(found, Session) and (fresh := judged_since(found, calls, redactor)):
            calls, row = fresh, _counted_again(row, found, fresh)
        # Calls that were copied from an earlier session count there.
        own = [call for call in calls if call["copy_of"] is None]
        table = _call_table(f"{row['agent']}:{row['native_id']}", own, show, after)
        shown = {**_facts(store, row, own), **_conversation(found, calls, redactor, first)}
        return {"shown": shown, "tables": (table,)}, found

    try:
        values, found = await histories_of(request).read(look)
    except NotFound:
        # A session that began after the last scan is read now.
        if (live := live_of(request).find(ref)) is None:
            raise
        await asyncio.to_thread(scan_into_store, service_of(request).config, [Path(live.path)], by_person=False)
        values, found = await histories_of(request).read(look)
    lost = await _lost_turns(request, values["shown"]["ref"], found)
    return answer(request, here, "session.html", lost=lost, project_link=project_link, name_of=name_of, **values)


async def _lost_turns(request: Request, ref: str, found: Session | str) -> DatabaseRow | None:
    """How many turns went through the gateway but were not recorded. A file of the agent itself is complete."""
    if not isinstance(found, Session) or found.format != NAME:
        return None
    return await service_of(request).store.read(lambda book: book.database.row("gateway.lost_turns", {"session": ref}))


def _counted_again(row: StoredRow, found: Session, calls: Sequence[StoredRow]) -> dict[str, Any]:
    """The row with the figures of a session that has gone on since the last scan."""
    counts = Counter(call["counts_as"] for call in calls if call["copy_of"] is None)
    names = ("ok", "failed", "unclear", "declined", "cancelled", "interrupted", "trivial")
    fresh = {"messages": found.message_count, "calls": len(calls), "ended": found.ended}
    return {**dict(row), **fresh, **{name: counts[name] for name in names}}


def _is_live(path: str | None) -> bool:
    """Whether the file of a session changed a short while ago."""
    try:
        return path is not None and time.time() - Path(path).stat().st_mtime < RUNNING_SECONDS
    except OSError:
        return False


def _row(store: Store, ref: str) -> DatabaseRow:
    agent, _, native_id = ref.partition(":")
    found = store.row("page.ref", {"agent": agent, "native_id": native_id})
    row = None if found is None else store.row("page.session", {"id": found["id"]})
    if row is None:
        raise NotFound(f"There is no session {ref[:80]!r}, or it was forgotten. See the list of sessions.")
    return row


def _facts(store: Store, row: StoredRow, own: Sequence[StoredRow]) -> dict[str, Any]:
    """What the store knows of a session, without what was said."""
    ref = f"{row['agent']}:{row['native_id']}"
    return {
        "row": dict(row),
        "ref": ref,
        "title": row["title"] or row["native_id"],
        "figures": _figures(row, ref),
        "marks": _marks(own),
        "children": store.rows("page.children", {**dict(row), "limit": _CHILDREN}),
        # What to type to continue it in its own agent.
        "resume": resume_command(row["agent"], row["native_id"], row["cwd"]),
        "is_live": _is_live(row["path"]),
        # How many calls failed since the last one that worked.
        "streak": streak_of(call["counts_as"] for call in reversed(own)),
    }


def _conversation(found: Session | str, calls: Sequence[StoredRow], redactor: Redactor, first: int) -> dict[str, Any]:
    """One part of what was said and what git made of it; of a conversation that is gone, calls from the store."""
    if isinstance(found, str):
        more = len(calls) > first + _CALLS
        shown = [shown_call(row, redactor=redactor) for row in calls[max(0, first) : first + _CALLS]]
        following = first + _CALLS if more else None
        return {"gone": found, "calls": shown, "first": first, "following": following, "last": len(calls)}
    first = last_page(found) if first < 0 else first
    said = turns(found, calls, redactor, first=first)
    end = said[-1].index + 1 if said else len(found.messages)
    # The rest may be only results, which are shown with their calls.
    is_more = any(message.role != "tool" for message in found.messages[end:])
    commits = [(call, one) for call in found.calls() for one in redacted_commits(call, redactor)]
    return {
        "gone": "",
        "turns": said,
        "commits": commits[:_COMMITS],
        "first": first,
        "following": end if is_more else None,
        "last": len(found.messages),
    }


def _figures(row: StoredRow, ref: str) -> list[dict[str, Any]]:
    link = session_link(ref)
    counted = row["ok"] + row["failed"]
    left_out = row["declined"] + row["cancelled"] + row["interrupted"] + row["trivial"] + row["copies"]
    span_of = f"{moment(row['started'])} to {moment(row['ended'])}" if row["started"] else ""
    rate = f"{percent(row['failed'], counted)} of {counted} that count, {row['unclear']} unclear"
    estimate = f"an estimate by {row['price_source'] or 'published prices'}" if row["cost"] else "unknown"
    cached = row["cache_read_tokens"]
    prompt = Usage(row["input_tokens"], None, cached, row["cache_write_tokens"]).prompt
    tokens = f"{number(cached)} of them from the cache; " if cached else ""
    return [
        figure("Messages", number(row["messages"]), span_of),
        figure("Calls", number(row["calls"]), f"{left_out} left out", f"{link}#table-calls"),
        figure("Failed", number(row["failed"]), rate, f"{link}?show=failed#table-calls" if row["failed"] else None),
        figure("Compactions", number(len(msgspec.json.decode(row["compactions"])))),
        figure("Tokens in", number(prompt), f"{tokens}{number(row['output_tokens'])} out"),
        figure("Cost", dollars(row["cost"]), "" if row["cost_usd"] is not None else estimate),
    ]


def _marks(calls: Sequence[StoredRow]) -> list[tuple[str, str]]:
    # Divided and rounded up.
    step = -(-len(calls) // _MOST_MARKS) or 1
    marks = []
    for at in range(0, len(calls), step):
        group = [str(call["counts_as"]) for call in calls[at : at + step]]
        # A mark for several calls shows the worst, so that no failure disappears.
        worst = next((name for name in ("failed", "unclear", "ok") if name in group), "left-out")
        until = f" to {at + len(group)}" if step > 1 else ""
        marks.append((worst, f"{at + 1}{until}: {worst.replace('-', ' ')}"))
    return marks


def _call_table(ref: str, calls: Sequence[StoredRow], only: str, after: str | None) -> Table:
    shown, more = cut([one for one in calls if only not in ("failed", "unclear") or one["counts_as"] == only], after)
    link = session_link(ref)
    rows = [
        (
            TableCell(call["position"] + 1, href=f"{link}?at={call['message']}#call-{call['position']}"),
            TableCell(call["tool"]),
            TableCell(call["verdict"], tone=call["verdict"]),
            TableCell(call["counts_as"], href=f"{link}?show={quote(call['counts_as'])}#table-calls"),
            TableCell(call["reason"]),
        )
        for call in shown
    ]
    empty = "No calls of this kind." if calls else "No calls in this session."
    return Table(name="calls", title="Calls", columns=_CALL_COLUMNS, rows=rows, empty=empty, **more)
