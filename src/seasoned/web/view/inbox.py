"""The inbox page: what wants to become lasting, the change it would make, and what was decided."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec
from starlette.requests import Request as HTTPRequest
from starlette.responses import Response

from seasoned.app.inbox import (
    Gathered,
    Inbox,
    accept,
    find_decided,
    find_item,
    plan_of,
    read_inbox,
    reject,
    reworded,
    undo,
    undo_preview,
)
from seasoned.confirm.service.service import service_of
from seasoned.connect.plan import ConnectPlan, preview
from seasoned.errors import CannotDo, NotFound, UsageError
from seasoned.report.report import revision
from seasoned.store import Store
from seasoned.web.display import project_link, session_link, short
from seasoned.web.history_store import CacheLookup, histories_of, look_up
from seasoned.web.login import Deciding, Here, read_change
from seasoned.web.response import Page, page_router, redactor_of, redirect
from seasoned.web.table import answer, choice_of, session_cell

PAGE = Page("Inbox", "inbox")
router = page_router()
_T = TypeVar("_T")


class FoundInbox(msgspec.Struct, frozen=True):
    """The inbox for a page; `inbox` is None until what lessons propose was gathered."""

    inbox: Inbox | None
    gathered: Gathered | None
    lookup: CacheLookup[Gathered]
    names: dict[str, str] = {}  # what sessions are called that proposals rest on


class FileDiff(msgspec.Struct, frozen=True):
    """The change of one file, line by line."""

    path: str
    why: str
    lines: list[tuple[str, str]]  # went, came or stayed; and the line


async def inbox_for(request: HTTPRequest, project: str | None = None) -> FoundInbox:
    """The inbox of a project, or of all, gathered in the background, with the decisions made so far."""
    histories, config, redactor = histories_of(request), service_of(request).config, redactor_of(request)
    now = await histories.read(revision)
    found: CacheLookup[Gathered] = CacheLookup(Gathered())
    if now.sessions:
        found = look_up(request, "seasoned.app.inbox", Gathered, "Looking for what should last", now, project)
    gathered = found.value
    if gathered is None:
        return FoundInbox(None, None, found)

    def look(store: Store) -> FoundInbox:
        inbox = read_inbox(config, store, gathered, redactor, project=project)
        refs = {ref for one in inbox.items for ref in one.proposal.evidence.refs}
        names = {ref: short(str(cell.shown or cell.value)) for ref in refs if (cell := session_cell(ref, store))}
        return FoundInbox(inbox, gathered, found, names)

    return await histories.read(look)


@router.get("/inbox")
async def show(request: HTTPRequest, here: Here) -> Response:
    """Show all proposals, and what was decided."""
    chosen = await histories_of(request).read(lambda store: choice_of(store, request))
    found = await inbox_for(request, chosen.key)
    return answer(
        request, here, "inbox.html", found=found, project=chosen, project_link=project_link, session_link=session_link
    )


@router.get("/inbox/{name}")
async def show_one(request: HTTPRequest, here: Here, name: str) -> Response:
    """Show one proposal with the change that it would make, or that it made."""
    return await _page(request, here, name)


async def _page(request: HTTPRequest, here: Here, name: str, *, alert: str = "") -> Response:
    config = service_of(request).config
    chosen = await _ask(request, lambda store: choice_of(store, request))
    found, inbox = await _found(request, chosen.key)
    decided = next((one for one in inbox.decided if one.proposal.id == name), None)
    item = None if decided is not None else find_item(inbox, name)

    def make(store: Store) -> ConnectPlan:
        if decided is not None:
            return undo_preview(config, store, decided)
        return plan_of(store, find_item(inbox, name).proposal)

    plan, problem = None, ""
    try:
        plan = await histories_of(request).read(make)
    except (CannotDo, UsageError, NotFound) as error:
        problem = str(error)
    return answer(
        request,
        here,
        "inbox_one.html",
        status=409 if alert else 200,
        alert=alert,
        decided=decided,
        item=item,
        changes=[] if plan is None else _diffs(plan, redactor_of(request).text),
        problem=problem,
        project=chosen,
        names=found.names,
        is_sample=histories_of(request).is_sample,
        project_link=project_link,
        session_link=session_link,
    )


@router.post("/inbox/{name}/{verb}")
async def change(request: HTTPRequest, here: Deciding, name: str, verb: str) -> Response:
    """Accept, reject or undo a proposal; `text` has the words in which it is accepted."""
    form = await read_change(request, here)
    if histories_of(request).is_sample:
        raise UsageError("These are samples: nothing can be changed. Run `seasoned scan` to read your own histories.")
    config, redactor, by = service_of(request).config, redactor_of(request), f"person ({here.visit.name})"
    chosen = await _ask(request, lambda store: choice_of(store, request))
    _, inbox = await _found(request, chosen.key)

    def act(store: Store) -> None:
        if verb == "undo":
            undo(config, store, find_decided(inbox, name), by=by)
            return
        one = find_item(inbox, name).proposal
        if verb == "accept":
            accept(config, store, reworded(one, form.get("text") or one.text), redactor, by=by)
        elif verb == "reject":
            reject(config, store, one, by=by)
        else:
            raise NotFound(f"A proposal is accepted, rejected or undone, not {verb[:40]!r}.")

    try:
        await _ask(request, act)
    except UsageError as error:
        return await _page(request, here, name, alert=str(error))
    return redirect(f"{here.visit.path}/{PAGE.path}{chosen.query}")


async def _ask(request: HTTPRequest, ask: Callable[[Store], _T]) -> _T:
    try:
        return await histories_of(request).read(ask)
    except CannotDo as error:
        # About the user's own files, not the server, so the page shows the message.
        raise UsageError(str(error)) from error


async def _found(request: HTTPRequest, project: str | None) -> tuple[FoundInbox, Inbox]:
    """The inbox; raises UsageError until it was gathered."""
    found = await inbox_for(request, project)
    if found.inbox is None:
        raise UsageError("The sessions are still being read. Try again in a moment.")
    return found, found.inbox


def _diffs(plan: ConnectPlan, redact: Callable[[str], str]) -> list[FileDiff]:
    kinds = {"+": "came", "-": "went"}
    found = []
    for one in plan.changes:
        # The user's own files may hold secrets.
        lines = redact(preview(one)).splitlines()[2:]
        found.append(FileDiff(str(one.path), one.why, [(kinds.get(line[:1], "stayed"), line) for line in lines]))
    return found
