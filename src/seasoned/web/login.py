"""Logging in: to read with the link from the terminal, to decide with a token or a passphrase."""

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
from seasoned.web.browser_session import (
    READ_ONLY,
    VISIT_SECONDS,
    BrowserSession,
    BrowserSessions,
    NotLoggedIn,
)
from seasoned.web.response import LOGIN, PageRoute, read_form, redirect, render

COOKIE = "seasoned"
router = APIRouter(include_in_schema=False, route_class=PageRoute)


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


async def visitor(request: Request, number: str) -> Visitor:
    """The person at the browser; NotLoggedIn if there is none, or if the credential was revoked."""
    visit = visits_of(request).find(number, request.cookies.get(COOKIE, ""))
    found = visit.who
    if found is None:
        request.state.credential = READ_ONLY
        return Visitor(visit)
    try:
        # Checked with every request, so that a revoked credential loses access at once.
        who = await service_of(request).store.read(lambda book: current(book.database, found))
    except Refused as error:
        visits_of(request).end(visit)
        raise NotLoggedIn(str(error)) from error
    request.state.credential = who.name
    return Decider(visit, who)


Here = Annotated[Visitor, Depends(visitor)]


async def decider(here: Here) -> Decider:
    """The visitor, if they may decide; Refused for a read-only visitor."""
    if not isinstance(here, Decider):
        raise Refused("This link is read-only. Log in with your passphrase to decide.")
    return here


Deciding = Annotated[Decider, Depends(decider)]


async def read_change(request: Request, here: Visitor) -> dict[str, str]:
    """The fields of a form that changes something; Refused without the value that only our own pages hold (CSRF)."""
    form = await read_form(request)
    if not hmac.compare_digest(form.get("check", "").encode(), here.visit.check.encode()):
        raise Refused("This form is out of date. Reload the page and decide there.")
    return form


@router.get("/visit/{number}")
async def come_back(request: Request, here: Here) -> Response:
    """Go from the bare address of a browser session to its first page."""
    return redirect(f"{here.visit.path}/{request.app.state.pages[0].path}")


@router.get("/")
async def enter() -> Response:
    """Send browsers that are not logged in to the login page."""
    return redirect(LOGIN)


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
    """Show a button that logs in: other sites and scanners of mail, which only fetch addresses, begin no session."""
    visits_of(request).check_link(token)
    return render("invited.html", token=token)


@router.post(LOGIN + "/{token}")
async def use_link(request: Request, token: str) -> Response:
    """Log in with the link, to read."""
    await read_form(request)
    visits_of(request).check_link(token)
    return _begin(request, None)


@router.post("/visit/{number}/logout")
async def log_out(request: Request, here: Here) -> Response:
    """Log out."""
    await read_change(request, here)
    visits_of(request).end(here.visit)
    gone = redirect(f"{LOGIN}?over=1")
    gone.delete_cookie(COOKIE, path=here.visit.path)
    return gone


@router.post("/visit/{number}/decide")
async def become_decider(request: Request, here: Here) -> Response:
    """Log in with a passphrase: a session that may decide replaces the read-only one."""
    form = await read_change(request, here)
    service = service_of(request)
    name, passphrase = form.get("name", "").strip(), form.get("passphrase", "")
    try:
        who = await service.store.read(
            lambda book: authenticate_passphrase(book.database, name, passphrase, now=service.clock())
        )
    except Denied as error:
        return ask_to_decide(request, here, wrong=str(error), status=401)
    # A new session has a new address: agents may know the old one from the read-only link.
    visits_of(request).end(here.visit)
    return _begin(request, who, page=form.get("page", ""))


def ask_to_decide(request: Request, here: Visitor, *, wrong: str = "", status: int = 200) -> Response:
    """The form that asks a read-only visitor for a passphrase."""
    pages = request.app.state.pages
    return render("decide.html", status=status, visit=here.visit, pages=pages, here=request.url.path, wrong=wrong)


def _begin(request: Request, who: Credential | None, *, page: str = "") -> Response:
    visits, service = visits_of(request), service_of(request)
    visit, cookie = visits.begin(who)
    if isinstance(who, UnlockedCredential):
        visits.unlock(visit, who)
    known = [one.path for one in request.app.state.pages]
    # Only known pages: the value comes from a form.
    entered = redirect(f"{visit.path}/{page if page in known else known[0]}")
    # Behind a proxy that ends TLS, only the configured address shows that people use https.
    is_https = request.url.scheme == "https" or service.base_url.startswith("https:")
    entered.set_cookie(
        COOKIE,
        cookie,
        max_age=int(VISIT_SECONDS),
        # Browsers send cookies to all ports of a machine; agents serve pages there, but cannot know this path.
        path=visit.path,
        httponly=True,
        samesite="strict",
        secure=is_https,
    )
    return entered
