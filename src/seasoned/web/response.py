"""What all pages share: templates, headers, forms, and errors as pages."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import msgspec
from fastapi import APIRouter
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from jinja2 import Environment
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from seasoned.command.action import HIGH_RISK
from seasoned.confirm.notify.http import read_body
from seasoned.confirm.service.listen import host_name, is_known_host
from seasoned.confirm.service.routes import status_of
from seasoned.confirm.service.service import service_of
from seasoned.errors import Refused, SeasonedError
from seasoned.redact import Redactor
from seasoned.report.page import frame as report
from seasoned.web import display
from seasoned.web.browser_session import BrowserSession, NotLoggedIn
from seasoned.web.display import markdown

FOLDER = Path(__file__).parent / "page"
LOGIN = "/login"
# Pages show text from untrusted sessions: only our own files are loaded, and no inline code runs.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "cache-control": "no-store",
    # Anything stricter would also remove the origin of our own forms, which is checked.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "x-robots-tag": "noindex, nofollow",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_TITLES = {401: "Not logged in", 403: "Not allowed", 404: "Not found", 409: "Too late", 503: "Unavailable"}
_MOST_FORM = 64_000
_Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class Page(msgspec.Struct, frozen=True):
    """A page in the navigation."""

    title: str
    # Relative to the address of the browser session.
    path: str


def render(
    template: str,
    /,
    *,
    status: int = 200,
    visit: BrowserSession | None = None,
    pages: tuple[Page, ...] = (),
    here: str = "",
    **values: Any,
) -> HTMLResponse:
    """Render a template. `here` is the address of the page, so that the navigation can mark it."""
    values |= {"visit": visit, "pages": pages, "here": here}
    made = _templates().get_template(template).render(values)
    return HTMLResponse(made, status, HEADERS)


def message_page(title: str, sentence: str, *, status: int) -> HTMLResponse:
    """A page with one sentence."""
    return render("sentence.html", status=status, title=title, sentence=sentence, back=LOGIN)


def redirect(path: str) -> Response:
    """Send the browser to another page, so that reloading it repeats nothing."""
    return RedirectResponse(path, 303, {"cache-control": "no-store"})


def page_router() -> APIRouter:
    """The routes of a page: at the root for those who read, and below the address of each visit of a decider."""
    return APIRouter(include_in_schema=False, route_class=PageRoute)


class PageRoute(APIRoute):
    """A route whose errors become pages as well."""

    def get_route_handler(self) -> _Handler:
        handle = super().get_route_handler()

        async def answer(request: Request) -> Response:
            try:
                check_host(request)
                return await handle(request)
            except NotLoggedIn as error:
                # After a form, the person must see that nothing was changed.
                return _at_same_page(request) if request.method == "GET" else error_page(error)
            except SeasonedError as error:
                return error_page(error)
            except RequestValidationError as error:
                return message_page("Invalid request", f"{error.errors()[0]['msg']}.", status=400)

        return answer


def _at_same_page(request: Request) -> Response:
    """The same page for those who read, once a decider's visit has ended; else the form to log in."""
    if "number" not in request.path_params:
        return redirect(LOGIN)
    _, _, page = request.url.path.removeprefix("/visit/").partition("/")
    return redirect(f"/{page.lstrip('/')}" + (f"?{request.url.query}" if request.url.query else ""))


def error_page(error: SeasonedError) -> HTMLResponse:
    """An error as a page; details of server errors stay in the log."""
    status = status_of(error)
    said = str(error)
    if status >= 500:
        # The message of such an error may hold paths and addresses of the server.
        said = "The store cannot be used at the moment. Try again later, and see the server's log."
    return message_page(_TITLES.get(status, "Invalid request"), said[:1].upper() + said[1:], status=status)


async def read_form(request: Request) -> dict[str, str]:
    """The fields of one of our forms; a field that occurs twice is ignored."""
    check_origin(request)
    body = await read_body(request, _MOST_FORM)
    try:
        # Our forms have few fields, all of them ASCII once they are encoded.
        found = parse_qs(body.decode("ascii"), keep_blank_values=True, max_num_fields=16, errors="strict")
    except ValueError:
        return {}
    return {name: values[0] for name, values in found.items() if len(values) == 1}


def check_host(request: Request) -> None:
    """Refuse an unknown host name."""
    own = service_of(request).base_url
    name = host_name(f"//{request.headers.get('host', '')}")
    # With TLS the certificate proves the name.
    if request.url.scheme == "https" or is_known_host(name, (host_name(own),)):
        return
    raise Refused(f"This server is not known as {name[:80]!r}. Open {own}, or set `public_url` in the policy.")


def check_origin(request: Request) -> None:
    """Refuse forms sent from another site, including another port of this machine."""
    # Not every browser sends both headers, so each is checked where it is there.
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    if site is not None and site not in ("same-origin", "none"):
        raise Refused("The form was sent from another site. Open the page here and decide there.")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        raise Refused("The form was sent from another site. Open the page here and decide there.")


def with_query(query: dict[str, str], /, **changes: str | None) -> str:
    """The same address with a changed query; None removes a parameter."""
    changed = {name: value for name, value in {**query, **changes}.items() if value is not None}
    return f"?{urlencode(changed)}"


_REPORT = Path(report.__file__).parent
STATIC: dict[str, tuple[Path, str]] = {
    # The report and these pages share one style.
    "page.css": (_REPORT / "page.css", "text/css"),
    "web.css": (FOLDER / "web.css", "text/css"),
    "web.js": (FOLDER / "web.js", "text/javascript"),
    "icon.svg": (FOLDER / "icon.svg", "image/svg+xml"),
}


@cache
def static_version(name: str) -> str:
    """Changes with the content of a file, so that browsers may cache it forever."""
    return sha256(STATIC[name][0].read_bytes()).hexdigest()[:12]


def static(name: str) -> str:
    """The address of a file that all pages share."""
    return f"/static/{name}?v={static_version(name)}"


@cache
def _templates() -> Environment:
    made = report.environment(FOLDER)
    made.filters |= {
        "marked": display.marked,
        "spoken": display.spoken,
        "line": display.line,
        "markdown": markdown,
        "ago": display.ago,
        "span": display.span,
    }
    made.globals |= {"high_risk": HIGH_RISK, "static": static, "with_query": with_query}
    made.trim_blocks = made.lstrip_blocks = True
    return made


def redactor_of(request: Request) -> Redactor:
    """The redactor of the server, made once: pages show files that Seasoned did not write."""
    state = request.app.state
    if not hasattr(state, "redactor"):
        state.redactor = service_of(request).secrecy.redactor()
    found: Redactor = state.redactor
    return found
