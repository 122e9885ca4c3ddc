"""One-time links: the page shows the request, and its form decides, once, for one person, until it expires."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import html
import json
import secrets
from collections.abc import Callable
from urllib.parse import parse_qs

import msgspec
from fastapi import APIRouter
from starlette.requests import Request as HttpRequest
from starlette.responses import HTMLResponse

from seasoned.confirm.notify.decision import STATUS, Ask, DecisionReply, credential_of, decide_as, read_body
from seasoned.confirm.notify.message import moment, visible
from seasoned.confirm.people.passphrase import authenticate_passphrase
from seasoned.confirm.request.book import Book
from seasoned.confirm.request.request import Request
from seasoned.errors import NotFound, Refused, StoreError, Unauthorised, UsageError

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;margin:1.5rem auto;max-width:42rem;padding:0 1rem;color:#1a1a1a;"
    "background:#fff}pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f3f3f3;padding:.75rem}"
    "dt{font-weight:600}dd{margin:0 0 .75rem;overflow-wrap:anywhere}button{font:inherit;padding:.6rem 1.4rem;"
    "margin-right:1rem}input{font:inherit;width:100%;box-sizing:border-box;margin:.25rem 0 1rem;padding:.4rem}"
    "@media(prefers-color-scheme:dark){body{color:#eee;background:#161616}pre{background:#262626}}"
)
# The page may use this one style, and no script at all.
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
# The address is the credential, so nothing may cache, index or frame the page, or pass its address on.
HEADERS = {
    "content-security-policy": (
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; form-action 'self'; frame-ancestors 'none';"
        " base-uri 'none'"
    ),
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "x-robots-tag": "noindex, nofollow",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
<h1>{title}</h1>
{body}
</main>
</body>
</html>
"""
_FORM = """<form method="post" action="">
<input type="hidden" name="token" value="{token}">
<input type="hidden" name="check" value="{check}">
<label for="reason">Reason (stored, and shown to the requester)</label>
<input id="reason" name="reason" maxlength="1000" autocomplete="off">
<label for="passphrase">Passphrase of {who}</label>
<input id="passphrase" name="passphrase" type="password" autocomplete="current-password" maxlength="4096" required>
<button name="decision" value="approve">Approve</button>
<button name="decision" value="deny">Deny</button>
</form>
"""


def request_page(request: Request, *, who: str, token: str, check: str, is_spent: bool) -> str:
    """The page with the exact request, and a form for this person while it can still be decided with this link."""
    rows = [
        ("Action", request.action),
        ("Warning", request.finding),
        ("Description", request.description),
        ("Asked by", request.requester + (f" (calls itself {request.label!r})" if request.label else "")),
        ("Session", request.session_key),
        ("Asked at", moment(request.created_at)),
        ("Expires at", moment(request.expires_at)),
        ("Status", request.status),
        ("Decided by", request.resolved_by or ""),
        ("Reason", request.reason),
        ("Digest", request.digest),
        ("Request", request.id),
    ]
    shown = "".join(f"<dt>{label}</dt><dd>{_text(text)}</dd>\n" for label, text in rows if text)
    details = json.dumps(request.details, ensure_ascii=False, indent=2, sort_keys=True, default=str)
    parts = [f"<dl>\n{shown}</dl>", f"<h2>Details</h2>\n<pre>{_text(details)}</pre>"]
    if request.status != "pending":
        parts.append("<p>Already decided. There is nothing left to do.</p>")
    elif is_spent:
        parts.append("<p>This link was already used. Decide another way.</p>")
    else:
        parts.append(_FORM.format(token=html.escape(token), check=html.escape(check), who=html.escape(who)))
    return page("Confirmation needed" if request.status == "pending" else "Confirmation", "\n".join(parts))


def sentence_page(title: str, sentence: str) -> str:
    return page(title, f"<p>{_text(sentence)}</p>")


def page(title: str, body: str) -> str:
    return _PAGE.format(title=html.escape(title), style=_STYLE, body=body)


def _text(text: str) -> str:
    return html.escape(visible(text))


PATH = "/confirm/link"
_VERSION = 1
_MOST_TOKEN = 1000
_MOST_FORM = 16_000
_MOST_REASON = 1000


class Link(msgspec.Struct, frozen=True, array_like=True):
    """The content of a link. A person who is removed from the channel can no longer use it."""

    version: int
    request_id: str
    channel: str
    person: str
    expires_at: float
    # Random, so that every link is different.
    number: str

    @property
    def hash(self) -> str:
        return hashlib.sha256(f"link:{self.number}".encode()).hexdigest()


def make_link(key: bytes, *, request_id: str, channel: str, person: str, expires_at: float) -> str:
    """A token for one person, one request and one use."""
    link = Link(_VERSION, request_id, channel, person, expires_at, secrets.token_urlsafe(16))
    payload = _encode(msgspec.json.encode(link))
    return f"{payload}.{_mac(key, 'link', payload)}"


def link_url(public_url: str, token: str) -> str:
    return f"{public_url.rstrip('/')}{PATH}/{token}"


def read_link(key: bytes, token: str, *, now: float) -> Link:
    """The link in a token; NotFound if we did not make it, Refused if it is too old."""
    payload, _, given = token.partition(".")
    # Nothing in a token is decoded before its MAC is right.
    expected = _mac(key, "link", payload)
    if len(token) > _MOST_TOKEN or not hmac.compare_digest(expected.encode(), given.encode("utf-8", "replace")):
        raise NotFound("Unknown link: check that it was copied completely.")
    try:
        link = msgspec.json.decode(_decode(payload), type=Link)
    except (msgspec.DecodeError, binascii.Error, ValueError) as error:
        raise NotFound("Unknown link: check that it was copied completely.") from error
    if link.version != _VERSION or now >= link.expires_at:
        raise Refused("This link has expired: decide another way.")
    return link


def check_value(key: bytes, token: str) -> str:
    """What the form must send back; only the page of this link contains it."""
    return _mac(key, "form", token)


def show(book: Book, key: bytes, token: str, *, now: float) -> str:
    """The page of a link. Fetching it changes nothing."""
    link = read_link(key, token, now=now)
    who = credential_of(book, link.channel, link.person)
    if who is None:
        raise Refused("The person of this link may no longer decide here.")
    request = book.look(who, link.request_id)
    # Chat programs fetch links for previews, so showing the page must not use the link up.
    is_spent = book.database.row("notify.is_spent", {"hash": link.hash}) is not None
    return request_page(request, who=who.name, token=token, check=check_value(key, token), is_spent=is_spent)


def use(book: Book, key: bytes, token: str, form: dict[str, str], *, now: float) -> DecisionReply:
    """Decide with a link. It is marked as used before it decides, so that it never does so twice."""
    link = read_link(key, token, now=now)
    is_ours = hmac.compare_digest(form.get("token", "").encode(), token.encode())
    is_checked = hmac.compare_digest(form.get("check", "").encode(), check_value(key, token).encode())
    if not (is_ours and is_checked):
        raise Refused("The form does not belong to this link: open the link again.")
    if form.get("decision") not in ("approve", "deny"):
        raise UsageError("Neither approve nor deny was chosen: open the link again.")
    who = credential_of(book, link.channel, link.person)
    if who is None:
        raise Refused("The person of this link may no longer decide here.")
    if not form.get("passphrase"):
        # Anyone who can read the service's files can make a link.
        raise Refused("Your passphrase is missing: open the link again and type it.")
    # Before the link is used up: a mistyped passphrase must not cost it.
    unlocked = authenticate_passphrase(book.database, who.name, form["passphrase"], now=now)
    if not _spend(book, link, now):
        raise Refused("This link was already used: decide another way.")
    try:
        return decide_as(
            book,
            channel=link.channel,
            person=link.person,
            request_id=link.request_id,
            approve=form["decision"] == "approve",
            via="link",
            unlocked=unlocked,
            reason=form.get("reason", "")[:_MOST_REASON],
        )
    except (StoreError, UsageError):
        # Nothing was decided, so the person may try again.
        with book.database.write():
            book.database.run("notify.give_back", {"hash": link.hash})
        raise


def router(ask: Ask, key: bytes, clock: Callable[[], float]) -> APIRouter:
    """The pages of links. They need no other credential."""
    routes = APIRouter(include_in_schema=False)

    @routes.api_route(PATH + "/{token}", methods=["GET", "HEAD"])
    async def look_at_link(request: HttpRequest) -> HTMLResponse:
        token = _token(request)
        return await _page(ask, lambda book: (200, show(book, key, token, now=clock())))

    @routes.post(PATH + "/{token}")
    async def use_link(request: HttpRequest) -> HTMLResponse:
        # A form on another site must not decide, even if it has all the right values.
        if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return _html(403, sentence_page("Not allowed", "The form was sent from another site."))
        body = await read_body(request, _MOST_FORM)
        if body is None:
            return _html(413, sentence_page("Too long", "The form is too long: shorten the reason."))
        form, token = _fields(body), _token(request)
        return await _page(ask, lambda book: _used(use(book, key, token, form, now=clock())))

    return routes


def _token(request: HttpRequest) -> str:
    """The token in the address."""
    # Not a route parameter: FastAPI would build a model for it at the first request and change the warning filters of
    # the whole process meanwhile, which is not safe with threads.
    token: str = request.path_params["token"]
    return token


async def _page(ask: Ask, do: Callable[[Book], tuple[int, str]]) -> HTMLResponse:
    try:
        status, text = await ask(do)
    except NotFound as error:
        status, text = 404, sentence_page("Not found", str(error))
    except Unauthorised as error:
        status, text = 401, sentence_page("Not allowed", f"{error}. Open the link again.")
    except Refused as error:
        status, text = 403, sentence_page("Not allowed", str(error))
    except UsageError as error:
        status, text = 400, sentence_page("Not understood", str(error))
    return _html(status, text)


def _html(status: int, text: str) -> HTMLResponse:
    return HTMLResponse(text, status_code=status, headers=HEADERS)


def _used(answer: DecisionReply) -> tuple[int, str]:
    titles = {"decided": "Done", "counted": "Counted", "already": "Already decided", "unknown": "Not found"}
    title = titles.get(answer.outcome, "Not allowed")
    return STATUS[answer.outcome], sentence_page(title, answer.sentence)


def _fields(body: bytes) -> dict[str, str]:
    """The fields of a form. A field that appears twice is dropped, so that no reader picks the other one."""
    try:
        found = parse_qs(body.decode("ascii"), keep_blank_values=True, strict_parsing=True, max_num_fields=8)
    except ValueError:
        return {}
    return {name: values[0] for name, values in found.items() if len(values) == 1}


def _spend(book: Book, link: Link, now: float) -> bool:
    with book.database.write():
        spent = {"hash": link.hash, "purpose": "link", "request_id": link.request_id, "at": now}
        return bool(book.database.run("notify.spend", spent))


def _mac(key: bytes, purpose: str, text: str) -> str:
    return _encode(hmac.digest(key, f"{purpose}:{text}".encode("utf-8", "replace"), hashlib.sha256))


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    return base64.b64decode(text.encode() + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
