"""Calls to receivers of notifications: short time-outs, no redirects, and no secret in error messages."""

from __future__ import annotations

import logging
import re
import ssl
import time
from collections.abc import Mapping
from functools import cache
from typing import Any

import httpx2
import msgspec

from seasoned.errors import CannotDo

# A channel has one thread: while a receiver hangs, the channel's other messages wait.
CONNECT_SECONDS = 3.0
ANSWER_SECONDS = 10.0
_MOST_BYTES = 1_000_000
_MOST_WORDS = 200
# Telegram's addresses contain the bot's token.
_BOT = re.compile(r"/bot[^/\s]+")


class NotSent(CannotDo):
    """The receiver did not accept it; it is retried unless that is pointless."""

    def __init__(self, reason: str, *, status: int | None = None, wait_seconds: float = 0.0) -> None:
        super().__init__(reason)
        self.status = status
        # How long the receiver asks us to wait.
        self.wait_seconds = wait_seconds

    @property
    def is_final(self) -> bool:
        """Whether the receiver says that it is gone for good."""
        # Standard Webhooks: a receiver that answers 410 wants no more.
        return self.status == 410


class HttpReply(msgspec.Struct, frozen=True):
    """The receiver's answer."""

    status: int
    body: bytes
    headers: dict[str, str]

    def value(self) -> dict[str, Any]:
        """The answer as a JSON object; empty if it is not one."""
        try:
            found = msgspec.json.decode(self.body)
        except (msgspec.DecodeError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}


class _WithoutToken(logging.Filter):
    """The client logs every address, and Telegram's contain the token."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(
                _BOT.sub("/bot…", str(each)) if isinstance(each, httpx2.URL) else each for each in record.args
            )
        return True


_WITHOUT_TOKEN = _WithoutToken()


@cache
def _trust() -> ssl.SSLContext:
    """The trusted certificates. Reading them takes long, so all channels share them."""
    return httpx2.create_ssl_context()


def open_client(*, connect_seconds: float = CONNECT_SECONDS, answer_seconds: float = ANSWER_SECONDS) -> httpx2.Client:
    """A client that follows no redirects: a moved address must be changed by a person."""
    logging.getLogger("httpx2").addFilter(_WITHOUT_TOKEN)
    timeout = httpx2.Timeout(answer_seconds, connect=connect_seconds)
    return httpx2.Client(timeout=timeout, follow_redirects=False, verify=_trust())


def call(
    client: httpx2.Client,
    method: str,
    url: str,
    *,
    body: bytes,
    headers: Mapping[str, str] | None = None,
    answer_seconds: float | None = None,
    hide: str = "",
) -> HttpReply:
    """Send, and return the answer of any status; NotSent if none came, or it was too slow or too long."""
    seconds = client.timeout.read if answer_seconds is None else answer_seconds
    limit = time.monotonic() + (seconds or ANSWER_SECONDS)
    timeout = httpx2.Timeout(seconds, connect=client.timeout.connect)
    given = {"content-type": "application/json", **(headers or {})}
    try:
        with client.stream(method, url, content=body, headers=given, timeout=timeout) as answer:
            pieces, size = [], 0
            for piece in answer.iter_bytes():
                size += len(piece)
                if size > _MOST_BYTES:
                    raise NotSent("the answer is too long; check the address.")
                # The client's time-out starts again with every piece; one that drips would never end.
                if time.monotonic() > limit:
                    raise NotSent(f"the answer was not complete after {seconds:g} s; it will be retried.")
                pieces.append(piece)
            return HttpReply(answer.status_code, b"".join(pieces), dict(answer.headers))
    except httpx2.TimeoutException as error:
        raise NotSent(f"no answer within {seconds:g} s ({type(error).__name__}); it will be retried.") from error
    except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError, ValueError) as error:
        # The client's message can contain the whole address.
        raise NotSent(
            f"no connection ({type(error).__name__}: {_without(str(error), hide)}); check the address."
        ) from None


def check(reply: HttpReply, *, hide: str = "") -> HttpReply:
    """The reply if it is a success; otherwise NotSent with the receiver's message."""
    if 200 <= reply.status < 300:
        return reply
    if 300 <= reply.status < 400:
        raise NotSent("the receiver redirects, which is not followed; set its final address.", status=reply.status)
    answer = reply.value()
    words = str(
        answer.get("description") or answer.get("message") or reply.body[:_MOST_WORDS].decode("utf-8", "replace")
    )
    raise NotSent(
        f"the receiver answered {reply.status}: {_without(words, hide)[:_MOST_WORDS]!r}.",
        status=reply.status,
        wait_seconds=_wait_seconds(answer, reply),
    )


def _wait_seconds(answer: dict[str, Any], reply: HttpReply) -> float:
    """Telegram has it in `parameters`, Discord beside its message, others in a header."""
    parameters = answer.get("parameters")
    inner = parameters.get("retry_after") if isinstance(parameters, dict) else None
    for given in (inner, answer.get("retry_after"), reply.headers.get("retry-after")):
        try:
            seconds = float(given) if given is not None else 0.0
        except (TypeError, ValueError):
            continue
        # A day or more must be a mistake.
        if 0 < seconds < 86_400:
            return seconds
    return 0.0


def _without(text: str, hide: str) -> str:
    return _BOT.sub("/bot…", text.replace(hide, "…") if hide else text)
