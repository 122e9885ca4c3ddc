"""How a browser becomes somebody: by a link of the terminal, once, or by the token of one who decides."""

from __future__ import annotations

import hmac
from typing import Annotated

import msgspec
from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from seasoned.confirm.credential import Credential, authenticate, current
from seasoned.confirm.service.state import service_of
from seasoned.errors import Denied, Refused, Unauthorised
from seasoned.web.frame import LOGIN, PageRoute, go, read_form, render
from seasoned.web.visit import VISIT_SECONDS, NotLoggedIn, Visit, Visits

COOKIE = "seasoned"
HOME = "confirmations"
router = APIRouter(include_in_schema=False, route_class=PageRoute)


class Visitor(msgspec.Struct, frozen=True):
    """Somebody at a browser: the visit, and the credential as it stands now."""

    visit: Visit
    who: Credential


def visits_of(request: Request) -> Visits:
    """The visits of the server that a request came to."""
    found: Visits = request.app.state.visits
    return found


async def visitor(request: Request, number: str) -> Visitor:
    """Who is there; NotLoggedIn for nobody, and for a credential that was revoked meanwhile."""
    visits = visits_of(request)
    visit = visits.find(number, request.cookies.get(COOKIE, ""))
    try:
        who = await service_of(request).desk.read(lambda place: current(place.database, visit.who))
    except Refused as error:
        visits.end(visit)
        raise NotLoggedIn(str(error)) from error
    request.state.credential = who.name
    return Visitor(visit, who)


Here = Annotated[Visitor, Depends(visitor)]


async def read_change(request: Request, here: Visitor) -> dict[str, str]:
    """The fields of a form that changes something: it must hold what only our own page knows."""
    form = await read_form(request)
    if not hmac.compare_digest(form.get("check", "").encode(), here.visit.check.encode()):
        raise Refused("The form is not one of this page: load the page anew, and decide there.")
    return form


@router.get("/")
async def enter() -> Response:
    """There is no page for nobody."""
    return go(LOGIN)


@router.get(LOGIN)
async def show_form() -> Response:
    """Asks for a token."""
    return render("login.html")


@router.post(LOGIN)
async def log_in(request: Request) -> Response:
    """Begins a visit by a token, which the server then forgets."""
    token = (await read_form(request)).get("token", "").strip()
    service = service_of(request)
    try:
        who = await service.desk.read(lambda place: authenticate(place.database, token, now=service.clock()))
        return _begin(request, who)
    except Unauthorised:
        return render("login.html", status=401, wrong="This token is unknown or was revoked.")
    except Denied as error:
        return render("login.html", status=403, wrong=str(error))


@router.get(LOGIN + "/{token}")
async def show_link(request: Request, token: str) -> Response:
    """Shows whom a link is for; a program that only looks at links does not use it up."""
    return render("invited.html", name=visits_of(request).invited(token).name, token=token)


@router.post(LOGIN + "/{token}")
async def use_link(request: Request, token: str) -> Response:
    """Begins a visit by a link, once."""
    await read_form(request)
    return _begin(request, visits_of(request).accept(token))


@router.post("/visit/{number}/logout")
async def log_out(request: Request, here: Here) -> Response:
    """Ends the visit."""
    await read_change(request, here)
    visits_of(request).end(here.visit)
    gone = go(f"{LOGIN}?over=1")
    gone.delete_cookie(COOKIE, path=here.visit.path)
    return gone


def _begin(request: Request, who: Credential) -> Response:
    visit, cookie = visits_of(request).begin(who)
    entered = go(f"{visit.path}/{HOME}")
    is_https = request.url.scheme == "https" or service_of(request).base_url.startswith("https:")
    entered.set_cookie(
        COOKIE,
        cookie,
        max_age=int(VISIT_SECONDS),
        path=visit.path,
        httponly=True,
        samesite="strict",
        secure=is_https,
    )
    return entered
