"""Webhooks as in Standard Webhooks: id, time and HMAC-SHA256, for those we send and those we receive."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence

import httpx2
import msgspec

from seasoned.confirm.notify.http import call
from seasoned.confirm.notify.message import (
    ConfiguredChannel,
    DecisionReply,
    Notification,
    decide_for,
)
from seasoned.confirm.request.book import Book
from seasoned.errors import Unauthorised, UsageError

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
