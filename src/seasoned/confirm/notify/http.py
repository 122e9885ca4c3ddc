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
_MOST_BYTES = 65_536
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


@cache
def _trust() -> ssl.SSLContext:
    """The trusted certificates. Reading them takes long, so all channels share them."""
    return httpx2.create_ssl_context()


def open_client(*, connect_seconds: float = CONNECT_SECONDS, answer_seconds: float = ANSWER_SECONDS) -> httpx2.Client:
    """A client that follows no redirects: a moved address must be changed by a person."""
    # It logs every address at a lower level, and Telegram's contain the token.
    logging.getLogger("httpx2").setLevel(logging.WARNING)
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
) -> dict[str, Any]:
    """Send; the JSON object of the answer, empty if it is none. NotSent if none came, or not a success."""
    seconds = answer_seconds or client.timeout.read or ANSWER_SECONDS
    timeout = httpx2.Timeout(seconds, connect=client.timeout.connect)
    given = {"content-type": "application/json", "accept-encoding": "identity", **(headers or {})}
    try:
        with client.stream(method, url, content=body, headers=given, timeout=timeout) as reply:
            content = _read(reply, seconds)
    except httpx2.TimeoutException as error:
        raise NotSent(f"no answer within {seconds:g} s ({type(error).__name__}); it will be retried.") from error
    except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError, ValueError) as error:
        # The client's message can contain the whole address.
        raise NotSent(
            f"no connection ({type(error).__name__}: {_without(str(error), hide)}); check the address."
        ) from None
    try:
        answer = msgspec.json.decode(content, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        answer = {}
    if reply.is_success:
        return answer
    status = reply.status_code
    if reply.is_redirect:
        raise NotSent("the receiver redirects, which is not followed; set its final address.", status=status)
    words = str(answer.get("description") or answer.get("message") or content.decode(errors="replace"))
    raise NotSent(
        f"the receiver answered {status}: {_without(words, hide)[:_MOST_WORDS]!r}.",
        status=status,
        wait_seconds=_wait_seconds(answer, reply),
    )


def _read(reply: httpx2.Response, seconds: float) -> bytes:
    """What was answered, as it came: compressed, it could be of any size."""
    # The client's own limit starts over with every piece that comes.
    until = time.monotonic() + seconds
    content = b""
    for piece in reply.iter_raw():
        content += piece
        if len(content) > _MOST_BYTES:
            raise NotSent(
                f"the answer is longer than {_MOST_BYTES // 1024} kB; check the address.", status=reply.status_code
            )
        if time.monotonic() > until:
            raise NotSent(f"no answer within {seconds:g} s, it was still coming; it will be retried.")
    return content


def _wait_seconds(answer: dict[str, Any], reply: httpx2.Response) -> float:
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
