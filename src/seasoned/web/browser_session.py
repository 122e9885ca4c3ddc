"""Browsers that are signed in: to read, with a cookie that outlives the server; or to decide, for some hours."""

from __future__ import annotations

import hmac
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import msgspec

from seasoned.confirm.people.credential import Credential, UnlockedCredential, without_key
from seasoned.errors import Refused, Unauthorised
from seasoned.redact.key import load_key

VISIT_SECONDS = 12 * 3600.0
# How long a passphrase counts on the pages; then it is asked for again.
UNLOCKED_SECONDS = 600.0
# A program that logs in again and again must not fill the memory; the oldest session ends first.
MOST_VISITS = 200
_DECIDING = ("approver", "admin")
READ_ONLY = "reading only"


def load_pages_key(home: Path) -> bytes:
    """The key of the link and the cookie with which browsers read. Without its file, every browser needs a new link."""
    return load_key(home, name="pages.key")


class NotLoggedIn(Unauthorised):
    """This browser is not logged in."""


class BrowserSession(msgspec.Struct, kw_only=True):
    """One browser that is logged in; to decide, with one credential and for a limited time."""

    # Of one that decides it is part of every address. Browsers send a cookie to every port of a machine, so this one's
    # is for its path alone: a page that an agent serves on another port cannot know it, and is never sent the cookie.
    number: str = ""
    # The value that every form must send back (CSRF).
    check: str
    # None for one that reads: its pages have the same addresses after a restart.
    who: Credential | None = None
    cookie_hash: str = ""
    expires_at: float = 0.0
    # The person with their key, in memory alone, and until when.
    unlocked: tuple[UnlockedCredential, float] | None = None

    @property
    def path(self) -> str:
        """What the addresses of its pages begin with."""
        return f"/visit/{self.number}" if self.number else ""

    @property
    def name(self) -> str:
        return READ_ONLY if self.who is None else self.who.name

    @property
    def may_write(self) -> bool:
        """Whether its forms change anything."""
        return self.who is not None


class BrowserSessions:
    """Who may read, by a key that is kept in a file; and who decides, in memory alone.

    A file that an agent could read must not let it decide. What it could read there, it could read anyway.
    """

    def __init__(self, clock: Callable[[], float], key: bytes) -> None:
        self._clock = clock
        self._visits: dict[str, BrowserSession] = {}
        # 192 bits in 32 characters, so that the printed link fits into a line.
        self.link, self.reading_cookie, check = [
            urlsafe_b64encode(hmac.digest(key, purpose, "sha256")[:24]).decode()
            for purpose in (b"link", b"cookie", b"check")
        ]
        self._reading = BrowserSession(check=check)

    def unlock(self, visit: BrowserSession, who: UnlockedCredential) -> None:
        """Let a browser decide for a short time: its person has just typed the passphrase."""
        visit.unlocked = (who, self._clock() + UNLOCKED_SECONDS)

    def unlocked(self, visit: BrowserSession) -> UnlockedCredential | None:
        """The person at a browser with their key; None once the passphrase must be typed again."""
        if visit.unlocked is not None and self._clock() >= visit.unlocked[1]:
            visit.unlocked = None
        return visit.unlocked and visit.unlocked[0]

    def check_link(self, token: str) -> None:
        """Raise unless this is the token of the link that the server printed."""
        if not hmac.compare_digest(token.encode("utf-8", "replace"), self.link.encode()):
            raise NotLoggedIn("This link is not valid here. Open the one that `seasoned serve` prints.")

    def reader(self, cookie: str) -> BrowserSession:
        """The browser session of one that reads."""
        if not hmac.compare_digest(cookie.encode("utf-8", "replace"), self.reading_cookie.encode()):
            raise NotLoggedIn("You are not logged in. Log in again.")
        return self._reading

    def begin(self, who: Credential) -> tuple[BrowserSession, str]:
        """A new browser session of a person who decides, and the value of its cookie."""
        cookie = secrets.token_urlsafe(32)
        visit = BrowserSession(
            number=secrets.token_urlsafe(16),
            cookie_hash=_hash(cookie),
            check=secrets.token_urlsafe(24),
            who=_check_role(who),
            expires_at=self._clock() + VISIT_SECONDS,
        )
        self._drop_old()
        self._visits[visit.number] = visit
        return visit, cookie

    def find(self, number: str, cookie: str) -> BrowserSession:
        """The browser session of this address, if it has not ended and the cookie belongs to it."""
        visit = self._visits.get(number)
        if (
            visit is None
            or self._clock() >= visit.expires_at
            or not hmac.compare_digest(visit.cookie_hash, _hash(cookie))
        ):
            raise NotLoggedIn("You are not logged in. Log in again.")
        return visit

    def end(self, visit: BrowserSession) -> None:
        """Log out; the cookie is no longer valid."""
        self._visits.pop(visit.number, None)
        visit.unlocked = None

    def _drop_old(self) -> None:
        """Make room for one more; those who read take none."""
        now = self._clock()
        self._visits = {number: one for number, one in self._visits.items() if now < one.expires_at}
        while len(self._visits) >= MOST_VISITS:
            del self._visits[next(iter(self._visits))]


def _check_role(who: Credential) -> Credential:
    if who.role not in _DECIDING:
        raise Refused(f"{who.name!r} is an agent's credential. These pages are for people who decide.")
    # A link or a cookie never holds a key: the passphrase is typed into the page.
    return without_key(who)


def _hash(secret: str) -> str:
    return sha256(secret.encode("utf-8", "replace")).hexdigest()
