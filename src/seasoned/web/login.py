"""Logging in: to read with the link from the terminal, to change things and decide with a token or a passphrase."""

from __future__ import annotations

import hmac
from typing import Annotated

import msgspec
from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from seasoned.confirm.people.credential import (
    Credential,
    UnlockedCredential,
    authenticate,
    authenticate_passphrase,
    current,
)
from seasoned.confirm.service.service import service_of
from seasoned.errors import Denied, Refused, Unauthorised
from seasoned.web.browser_session import READ_ONLY, VISIT_SECONDS, BrowserSession, BrowserSessions, NotLoggedIn
from seasoned.web.response import LOGIN, PageRoute, page_router, read_form, redirect, render

COOKIE, DECIDING_COOKIE = "seasoned", "seasoned-decides"
# As long as browsers keep any cookie.
_READING_SECONDS = 400 * 86_400
# The addresses of people who are not logged in, and those of people who are.
router = APIRouter(include_in_schema=False, route_class=PageRoute)
visit_router = page_router()


class Visitor(msgspec.Struct, frozen=True):
    """A person at a browser, who may read."""

    visit: BrowserSession


class Decider(Visitor, frozen=True):
    """A person who may decide: the browser session and the current credential."""

    who: Credential


def visits_of(request: Request) -> BrowserSessions:
    """The browser sessions of the server that handles a request."""
    found: BrowserSessions = request.app.state.visits
    return found


async def visitor(request: Request) -> Visitor:
    """The person at the browser; NotLoggedIn if there is none, or if the credential was revoked."""
    visits, number = visits_of(request), request.path_params.get("number", "")
    if not number:
        request.state.credential = READ_ONLY
        return Visitor(visits.reader(request.cookies.get(COOKIE, "")))
    visit = visits.find(number, request.cookies.get(DECIDING_COOKIE, ""))
    found = visit.who
    assert found is not None  # one that reads has no number
    try:
        # Checked with every request, so that a revoked credential loses access at once.
        who = await service_of(request).store.read(lambda book: current(book.database, found))
    except Refused as error:
        visits.end(visit)
        raise NotLoggedIn(str(error)) from error
    request.state.credential = who.name
    return Decider(visit, who)


Here = Annotated[Visitor, Depends(visitor)]


async def decider(here: Here) -> Decider:
    """The visitor, if they may change things; Refused for one who only reads."""
    if not isinstance(here, Decider):
        raise Refused("You are reading only. Log in with your passphrase to change something.")
    return here


Deciding = Annotated[Decider, Depends(decider)]


async def read_change(request: Request, here: Visitor) -> dict[str, str]:
    """The fields of a form that changes something; Refused without the value that only our own pages hold (CSRF)."""
    form = await read_form(request)
    if not hmac.compare_digest(form.get("check", "").encode(), here.visit.check.encode()):
        raise Refused("This form is out of date. Reload the page and decide there.")
    return form


@router.get("/")
async def enter(request: Request) -> Response:
    """Go to the first page."""
    return redirect(f"/{request.app.state.pages[0].path}")


@router.get(LOGIN)
async def show_form() -> Response:
    """Show the form that asks for a token."""
    return render("login.html")


@router.post(LOGIN)
async def log_in(request: Request) -> Response:
    """Log in with a token. The server does not keep it."""
    token = (await read_form(request)).get("token", "").strip()
    service = service_of(request)
    try:
        who = await service.store.read(lambda book: authenticate(book.database, token))
        return _begin(request, who)
    except Unauthorised:
        return render("login.html", status=401, wrong="This token is unknown or revoked.")
    except Denied as error:
        return render("login.html", status=403, wrong=str(error))


@router.get(LOGIN + "/{token}")
async def show_link(request: Request, token: str) -> Response:
    """Show a button that logs in: other sites and scanners of mail, which only fetch addresses, get no cookie."""
    visits_of(request).check_link(token)
    return render("invited.html", token=token)


@router.post(LOGIN + "/{token}")
async def use_link(request: Request, token: str) -> Response:
    """Log in with the link, to read."""
    await read_form(request)
    visits_of(request).check_link(token)
    entered = redirect(f"/{request.app.state.pages[0].path}")
    _keep_reading(request, entered)
    return entered


@visit_router.post("/logout")
async def log_out(request: Request, here: Here) -> Response:
    """Log out; of a person who decides, only that ends."""
    await read_change(request, here)
    visits_of(request).end(here.visit)
    gone = redirect("/" if here.visit.may_write else LOGIN)
    gone.delete_cookie(DECIDING_COOKIE if here.visit.may_write else COOKIE, path=here.visit.path or "/")
    return gone


@visit_router.get("/decide")
async def show_decide(request: Request, here: Here, page: str = "") -> Response:
    """Show the form that asks who only reads for a passphrase; `page` is where it leads."""
    return ask_to_decide(request, here, page)


@visit_router.post("/decide")
async def become_decider(request: Request, here: Here) -> Response:
    """Log in with a passphrase, to change things and decide."""
    form = await read_change(request, here)
    service = service_of(request)
    name, passphrase, page = form.get("name", "").strip(), form.get("passphrase", ""), form.get("page", "")
    try:
        who = await service.store.read(
            lambda book: authenticate_passphrase(book.database, name, passphrase, now=service.clock())
        )
    except Denied as error:
        return ask_to_decide(request, here, page, wrong=str(error), status=401)
    return _begin(request, who, page=page)


def ask_to_decide(request: Request, here: Visitor, page: str, *, wrong: str = "", status: int = 200) -> Response:
    """The form that asks a visitor who only reads for a passphrase."""
    address = f"{here.visit.path}/{page}"
    pages = request.app.state.pages
    return render("decide.html", status=status, visit=here.visit, pages=pages, here=address, page=page, wrong=wrong)


def _begin(request: Request, who: Credential, *, page: str = "") -> Response:
    visits = visits_of(request)
    visit, cookie = visits.begin(who)
    if isinstance(who, UnlockedCredential):
        visits.unlock(visit, who)
    known = [one.path for one in request.app.state.pages]
    # Only our own pages: the value comes from a form.
    entered = redirect(f"{visit.path}/{page if page.partition('/')[0] in known else known[0]}")
    entered.set_cookie(
        DECIDING_COOKIE,
        cookie,
        max_age=int(VISIT_SECONDS),
        path=visit.path,
        httponly=True,
        samesite="strict",
        secure=_is_https(request),
    )
    # Who decides may read, also when that has ended.
    _keep_reading(request, entered)
    return entered


def _keep_reading(request: Request, answer: Response) -> None:
    answer.set_cookie(
        COOKIE,
        visits_of(request).reading_cookie,
        max_age=_READING_SECONDS,
        httponly=True,
        # A link from another site may lead to a page: nothing can be changed there.
        samesite="lax",
        secure=_is_https(request),
    )


def _is_https(request: Request) -> bool:
    # Behind a proxy that ends TLS, only the configured address shows that people use https.
    return request.url.scheme == "https" or service_of(request).base_url.startswith("https:")
