"""Browsers that are logged in. They are known in memory alone: nothing that lies in a file makes one."""

from __future__ import annotations

import hmac
import math
import secrets
from collections.abc import Callable
from hashlib import sha256

import msgspec

from seasoned.confirm.people.credential import Credential
from seasoned.errors import Refused, Unauthorised

INVITATION_SECONDS = 600.0
VISIT_SECONDS = 12 * 3600.0
MOST_VISITS = 200
_DECIDING = ("approver", "admin")
ONLOOKER = "reading only"


class NotLoggedIn(Unauthorised):
    """Nobody is known to be at this browser."""


class LoginLink(msgspec.Struct, frozen=True):
    """What a login link is good for: one visit of one who decides, soon, or visits of onlookers while it runs."""

    # None for an onlooker, who sees the pages and decides nothing.
    who: Credential | None
    expires_at: float


class BrowserSession(msgspec.Struct, frozen=True, kw_only=True):
    """One browser that is logged in, as one credential, for a while."""

    # Stands in every address. Cookies are sent to every port of a machine, so the cookie is for this path alone: a page
    # that an agent serves on another port cannot know it, and is never sent the cookie.
    number: str
    cookie_hash: str
    # What every form must send back.
    check: str
    # None for an onlooker.
    who: Credential | None
    expires_at: float

    @property
    def path(self) -> str:
        return f"/visit/{self.number}"

    @property
    def name(self) -> str:
        return ONLOOKER if self.who is None else self.who.name


class BrowserSessions:
    """All visits and invitations of one running server."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._visits: dict[str, BrowserSession] = {}
        self._invitations: dict[str, LoginLink] = {}

    def invite(self, who: Credential) -> str:
        """The token of a login link, which logs in one browser, once."""
        token = secrets.token_urlsafe(32)
        self._drop_old()
        self._invitations[_hash(token)] = LoginLink(_check_role(who), self._clock() + INVITATION_SECONDS)
        return token

    def invite_onlooker(self) -> str:
        """The token of a link that lets browsers read as long as this server runs; it decides nothing."""
        token = secrets.token_urlsafe(32)
        self._invitations[_hash(token)] = LoginLink(None, math.inf)
        return token

    def invited(self, token: str) -> Credential | None:
        """Whom a link is for. Looking at it does not use it up."""
        found = self._invitations.get(_hash(token))
        if found is None or self._clock() >= found.expires_at:
            raise NotLoggedIn("This link was used already or is too old: log in with a token, or start anew.")
        return found.who

    def accept(self, token: str) -> Credential | None:
        """Whom a link is for; one that decides is used up."""
        who = self.invited(token)
        if who is not None:
            del self._invitations[_hash(token)]
        return who

    def begin(self, who: Credential | None) -> tuple[BrowserSession, str]:
        """A new visit and what its cookie holds."""
        cookie = secrets.token_urlsafe(32)
        visit = BrowserSession(
            number=secrets.token_urlsafe(16),
            cookie_hash=_hash(cookie),
            check=secrets.token_urlsafe(24),
            who=None if who is None else _check_role(who),
            expires_at=self._clock() + VISIT_SECONDS,
        )
        self._drop_old()
        self._visits[visit.number] = visit
        return visit, cookie

    def find(self, number: str, cookie: str) -> BrowserSession:
        """The visit of this address, if the cookie is its own."""
        visit = self._visits.get(number)
        if (
            visit is None
            or self._clock() >= visit.expires_at
            or not hmac.compare_digest(visit.cookie_hash, _hash(cookie))
        ):
            raise NotLoggedIn("You are not logged in, or no longer: log in again.")
        return visit

    def end(self, visit: BrowserSession) -> None:
        """Log out; the cookie is worth nothing from now on."""
        self._visits.pop(visit.number, None)

    def _drop_old(self) -> None:
        now = self._clock()
        self._visits = {number: one for number, one in self._visits.items() if now < one.expires_at}
        self._invitations = {key: one for key, one in self._invitations.items() if now < one.expires_at}
        while len(self._visits) >= MOST_VISITS:
            del self._visits[next(iter(self._visits))]


def _check_role(who: Credential) -> Credential:
    if who.role not in _DECIDING:
        raise Refused(f"{who.name!r} is an agent's credential: these pages are for those who decide.")
    return who


def _hash(secret: str) -> str:
    return sha256(secret.encode("utf-8", "replace")).hexdigest()
