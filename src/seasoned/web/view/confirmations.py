"""The page on which people decide: pending requests, past decisions, and one request in full."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from starlette.requests import Request as HTTPRequest
from starlette.responses import Response

from seasoned.confirm.people.credential import Credential, UnlockedCredential, deciding_refusal
from seasoned.confirm.request.book import Book
from seasoned.confirm.request.request import Request
from seasoned.confirm.service.routes import check_id, decide, status_of, unlock
from seasoned.confirm.service.service import service_of
from seasoned.errors import CannotDo, Conflict, Refused, Unauthorised, UsageError
from seasoned.web.login import Decider, Deciding, Here, ask_to_decide, read_change, visits_of
from seasoned.web.response import Page, error_page, page_router, redirect, render, with_query
from seasoned.web.view.live import event_stream

PAGE = Page("Confirmations", "confirmations")
router = page_router()
_MOST_PENDING = 200
_MOST_RESOLVED = 40


class RequestList(msgspec.Struct, frozen=True):
    """The requests in the list."""

    pending: list[Request]
    resolved: list[Request]
    # The id after which there is more.
    older: str | None
    # Whether more requests wait than are shown.
    is_cut: bool


class ShownRequest(msgspec.Struct, frozen=True):
    """One request as one person sees it."""

    request: Request
    arguments: str
    # Why this person may not decide it.
    forbidden: str | None
    # What this person said already, where several must agree.
    said: bool | None

    @property
    def state(self) -> str:
        """Changes whenever the page of the request must be updated."""
        one = self.request
        return f"{one.status} {len(one.votes)} {one.redeemed_at}"


@router.get("/confirmations")
async def show_list(request: HTTPRequest, here: Here, before: str | None = None) -> Response:
    """Show pending requests and past decisions; a read-only visitor is asked for a passphrase."""
    # Such a visitor does not even see what is requested: agents may have read the link from the terminal.
    if not isinstance(here, Decider):
        return ask_to_decide(request, here, PAGE.path)
    return await _page(request, here, before=before)


@router.get("/confirmations/{request_id}")
async def show_one(request: HTTPRequest, here: Here, request_id: str) -> Response:
    """The list, with one request in full."""
    if not isinstance(here, Decider):
        return ask_to_decide(request, here, f"{PAGE.path}/{request_id}")
    return await _page(request, here, request_id=request_id)


@router.post("/confirmations/{request_id}/approve")
async def approve(request: HTTPRequest, here: Deciding, request_id: str) -> Response:
    """Approve a request."""
    return await _decide(request, here, request_id, approve=True)


@router.post("/confirmations/{request_id}/deny")
async def deny(request: HTTPRequest, here: Deciding, request_id: str) -> Response:
    """Deny a request."""
    return await _decide(request, here, request_id, approve=False)


async def _decide(request: HTTPRequest, here: Decider, request_id: str, *, approve: bool) -> Response:
    form = await read_change(request, here)
    try:
        who = await _unlocked(request, here, form)
        reason = form.get("reason", "").strip()
        await decide(service_of(request), who, request_id, approve=approve, reason=reason, via="page")
    except (Unauthorised, Conflict, Refused, UsageError) as error:
        said = _too_late(error) if isinstance(error, Conflict) else _sentence(error)
        return await _page(request, here, request_id=request_id, alert=said, status=status_of(error))
    except CannotDo as error:
        # A request that cannot be decrypted can still be seen and denied; a store that is gone cannot.
        try:
            return await _page(request, here, request_id=request_id, alert=_sentence(error), status=503)
        except CannotDo:
            return error_page(error)
    return redirect(f"{here.visit.path}/{PAGE.path}/{request_id}")


async def _unlocked(request: HTTPRequest, here: Decider, form: dict[str, str]) -> UnlockedCredential:
    """The person at the browser with their key: unlocked a short while ago, or by the passphrase in this form."""
    visits, typed = visits_of(request), form.get("passphrase", "")
    known = visits.unlocked(here.visit)
    if known is not None and not typed:
        return known
    if not typed:
        raise Unauthorised("Type your passphrase: being logged in is not enough to decide")
    who = await unlock(service_of(request), here.who, typed)
    visits.unlock(here.visit, who)
    return who


@router.post("/phone")
async def unlock_phone(request: HTTPRequest, here: Deciding) -> Response:
    """Let the phone of this person decide for a time."""
    form = await read_change(request, here)
    try:
        who = await _unlocked(request, here, form)
        await service_of(request).unlock_phone(who)
    except Unauthorised as error:
        return await _page(request, here, alert=_sentence(error), status=401)
    return redirect(f"{here.visit.path}/{PAGE.path}")


def _too_late(error: Conflict) -> str:
    return f"Too late: it was {error.status} before you decided. Nothing was changed. The outcome is below."


def _sentence(error: Exception) -> str:
    said = str(error)
    return said[:1].upper() + said[1:] + ("" if said.endswith(".") else ".")


async def _page(
    request: HTTPRequest,
    here: Decider,
    *,
    request_id: str | None = None,
    before: str | None = None,
    alert: str = "",
    status: int = 200,
) -> Response:
    service = service_of(request)
    checked = None if request_id is None else check_id(request_id)
    older = None if before is None else check_id(before)
    # Reading a request may expire it, so it is read before the list.
    one = None if checked is None else await service.store.read(lambda book: _shown(book, here.who, checked))
    listed = await service.store.read(lambda book: _listed(book, here.who, older))
    path = f"{here.visit.path}/{PAGE.path}"
    rest = f"/{checked}" if checked else with_query({}, before=older) if older else ""
    values: dict[str, Any] = {
        "path": path,
        "address": f"{path}{rest}",
        "listed": listed,
        "one": one,
        "alert": alert,
        "now": service.clock(),
        "who": here.who,
        "gives_up": service.policy.gives_up(),
        # The forms ask for a passphrase, unless it was typed a short while ago.
        "is_locked": visits_of(request).unlocked(here.visit) is None,
        "has_phone": bool(service.policy.channel),
        "phone_until": service.phones.until(here.who.name, now=service.clock()),
    }
    values |= {"visit": here.visit, "pages": request.app.state.pages, "here": f"{here.visit.path}/{PAGE.path}"}
    return render("confirmations.html", status=status, **values)


def _listed(book: Book, who: Credential, before: str | None) -> RequestList:
    pending = book.list(who, status="pending", limit=_MOST_PENDING)
    # Pending and resolved requests are mixed, so enough for both are read.
    found = book.list(who, limit=_MOST_PENDING + _MOST_RESOLVED, before=before)
    resolved = [one for one in found if one.is_resolved]
    has_more = len(resolved) > _MOST_RESOLVED or len(found) == _MOST_PENDING + _MOST_RESOLVED
    resolved = resolved[:_MOST_RESOLVED]
    older = resolved[-1].id if has_more and resolved else None
    # The request that expires first comes first.
    pending.sort(key=lambda one: one.expires_at)
    return RequestList(pending, resolved, older, len(pending) == _MOST_PENDING)


def _shown(book: Book, who: Credential, request_id: str) -> ShownRequest:
    found = book.look(who, request_id)
    row = book.database.row("confirm.request", {"id": request_id})
    forbidden = None if row is None else deciding_refusal(who, row, book.policy)
    said = next((vote.approve for vote in found.votes if vote.person == who.person), None)
    # As characters, not as escapes: the page spells out the invisible ones.
    written = json.dumps(found.details, ensure_ascii=False, indent=2)
    return ShownRequest(found, written, forbidden, said)


@router.get("/changes")
async def stream_changes(request: HTTPRequest, here: Here) -> Response:
    """Reports changes of requests; the page then reloads itself."""
    return event_stream(request, here)
