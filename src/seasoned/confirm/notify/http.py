"""HTTP with receivers of notifications, and what they send: time-outs, limits, no redirects, no secret in messages.

Webhooks follow Standard Webhooks: id, time and HMAC-SHA256, for those that are sent and those that come in.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
import logging
import re
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import httpx2
import msgspec
from starlette.requests import Request

from seasoned.confirm.notify.message import (
    ConfiguredChannel,
    DecisionReply,
    Notification,
    decide_for,
)
from seasoned.confirm.request.book import Book
from seasoned.errors import CannotDo, SeasonedError, Unauthorised, UsageError

MOST_BYTES = 1_000_000
_READ_SECONDS = 30.0


class TooLarge(SeasonedError):
    """The body is too long."""


class TooSlow(SeasonedError):
    """The body did not arrive in time."""


async def read_body(request: Request, most: int = MOST_BYTES) -> bytes:
    """The body; TooLarge or TooSlow if it does not end in time."""
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(_READ_SECONDS):
            async for part in request.stream():
                size += len(part)
                if size <= most:
                    parts.append(part)
                # Some more is read and discarded, so that the sender gets to read the answer.
                elif size > most + 8 * MOST_BYTES:
                    break
    except TimeoutError as error:
        raise TooSlow(f"The body did not arrive within {_READ_SECONDS:g} seconds: send it again.") from error
    if size > most:
        raise TooLarge(f"The body has more than {most:,} bytes: send less, or a reference to the rest.")
    return b"".join(parts)


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


# An older webhook may be a recorded one that is sent again; five minutes allow for clocks that differ.
FRESH_SECONDS = 300.0
_PREFIX = "whsec_"
# A shorter secret could be guessed from one recorded webhook.
_LEAST_BYTES = 16
_MOST_ID = 200


class WebhookDecision(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of an incoming webhook: who decides what about which request."""

    request: str
    person: str
    # No default: what is not stated is not approved.
    approve: bool
    reason: str = ""
    # Needed only where the policy has several webhooks.
    channel: str = ""


class Webhook:
    """Sends every event to an address, signed."""

    edits_message = False

    def __init__(self, channel: ConfiguredChannel, client: httpx2.Client, *, clock: Callable[[], float]) -> None:
        self.channel = channel
        self._client = client
        self._clock = clock

    def send(self, message: Notification, message_id: str | None) -> str | None:
        """Send one event. The receiver recognises a copy by `webhook-id`."""
        event = {"schema": "seasoned/confirm-event/1", "type": f"confirm.{message.event}", "data": message.data}
        body = msgspec.json.encode(event)
        headers = sign(self.channel.token, message_id=message.id, now=self._clock(), body=body)
        call(self._client, "POST", self.channel.url, body=body, headers=headers, hide=self.channel.token)
        return message_id


def sign(secret: str, *, message_id: str, now: float, body: bytes) -> dict[str, str]:
    """The three headers that prove the origin and age of a body."""
    timestamp = str(int(now))
    return {
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": f"v1,{_mac(_key(secret), message_id, timestamp, body)}",
    }


def is_genuine(secret: str, headers: Mapping[str, str], body: bytes, *, now: float) -> bool:
    """Whether a webhook was signed with this secret within the last minutes."""
    message_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    signatures = headers.get("webhook-signature", "")
    # The signed text joins its parts with dots, so an id with a dot could shift them.
    if not secret or not message_id or len(message_id) > _MOST_ID or "." in message_id or not signatures:
        return False
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 15):
        return False
    if abs(now - int(timestamp)) > FRESH_SECONDS:
        return False
    expected = f"v1,{_mac(_key(secret), message_id, timestamp, body)}".encode()
    # All are compared, so that timing reveals nothing.
    matches = [hmac.compare_digest(expected, each.encode("utf-8", "replace")) for each in signatures.split(" ")[:16]]
    return any(matches)


def receive_webhook(
    book: Book, channels: Sequence[ConfiguredChannel], headers: Mapping[str, str], body: bytes, *, now: float
) -> DecisionReply:
    """Handle a decision by webhook: signature first, then body; anything not exactly right decides nothing."""
    # The body names the channel, and is not believed before a signature matches.
    verified = [one for one in channels if is_genuine(one.incoming_secret, headers, body, now=now)]
    if not verified:
        raise Unauthorised(
            "The webhook is not signed with a known secret, or not within the last 5 minutes: send webhook-id, "
            "webhook-timestamp and webhook-signature, and check secret and clocks."
        )
    try:
        ruling = msgspec.json.decode(body, type=WebhookDecision)
    except (msgspec.DecodeError, RecursionError) as error:
        raise UsageError(f"The webhook's body is wrong ({error}): send request, person and approve.") from error
    named = [one for one in verified if ruling.channel in ("", one.name)]
    if len(named) != 1:
        names = sorted(one.name for one in verified)
        raise UsageError(f"Say which channel it is for: `channel` must be one of {names}.")
    sent_at = float(headers["webhook-timestamp"])
    return decide_for(
        book, named[0], ruling.person, ruling.request, approve=ruling.approve, reason=ruling.reason, sent_at=sent_at
    )


def _mac(key: bytes, message_id: str, timestamp: str, body: bytes) -> str:
    signed = b".".join((message_id.encode(), timestamp.encode(), body))
    return base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()


def _key(secret: str) -> bytes:
    """The key in a secret: Base64 after `whsec_`, otherwise its bytes."""
    key = secret.encode()
    if secret.startswith(_PREFIX):
        try:
            key = base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
        except (binascii.Error, ValueError) as error:
            raise UsageError("The webhook's secret is not valid Base64 after 'whsec_': make a new one.") from error
    if len(key) < _LEAST_BYTES:
        raise UsageError(f"The webhook's secret has {len(key)} bytes: use at least {_LEAST_BYTES}.")
    return key
