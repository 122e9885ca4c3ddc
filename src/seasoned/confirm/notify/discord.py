"""Discord through its HTTP API: a message with two buttons; presses come back signed with Ed25519."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import httpx2
import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from seasoned.confirm.notify.http import NotSent, call
from seasoned.confirm.notify.message import (
    NOT_ALLOWED,
    ConfiguredChannel,
    Notification,
    as_markdown,
    decide_for,
    escape_markdown,
)
from seasoned.confirm.request.book import Book
from seasoned.errors import UsageError

SIGNATURE_HEADER = "x-signature-ed25519"
TIMESTAMP_HEADER = "x-signature-timestamp"
FRESH_SECONDS = 300.0
# Numbers of Discord's API: kinds of interactions, a reply, and a message that only one person sees.
_PING, _COMPONENT = 1, 3
_ANSWER = 4
_ONLY_FOR_THEM = 1 << 6
_COLOURS = {True: 0xE0A000, False: 0x808080}
_APPROVE, _DENY = "approve", "deny"
_UNKNOWN = "Unknown kind of interaction: only pressed buttons are understood."


class _DiscordUser(msgspec.Struct):
    id: str
    bot: bool = False


class _DiscordMember(msgspec.Struct):
    user: _DiscordUser


class _ButtonData(msgspec.Struct):
    custom_id: str = ""


class Interaction(msgspec.Struct):
    """An interaction from Discord: a ping, or a pressed button."""

    type: int
    channel_id: str = ""
    data: _ButtonData = msgspec.field(default_factory=_ButtonData)
    # In a server.
    member: _DiscordMember | None = None
    # In a direct message.
    user: _DiscordUser | None = None

    @property
    def sender(self) -> _DiscordUser | None:
        return self.member.user if self.member is not None else self.user


class Discord:
    """Shows requests in one channel, with one message for each that always has the current status."""

    edits_message = True

    def __init__(self, channel: ConfiguredChannel, client: httpx2.Client) -> None:
        self.channel = channel
        self._client = client

    def send(self, message: Notification, message_id: str | None) -> str | None:
        """Send a message, or edit the one with this id; returns its id."""
        payload: dict[str, Any] = {
            "content": "",
            "embeds": [
                {
                    "title": message.text.title,
                    "description": as_markdown(message.text),
                    "color": _COLOURS[message.is_open],
                }
            ],
            "components": _buttons(message),
            # The text must never notify anyone.
            "allowed_mentions": {"parse": []},
        }
        folder = f"{self.channel.url}/channels/{self.channel.to}/messages"
        if message_id is None:
            # Discord drops a second message with the same nonce: a retry after a lost answer shows nothing twice.
            payload |= {"nonce": message.id[:25], "enforce_nonce": True}
            number = self._ask("POST", folder, payload).get("id")
            if not isinstance(number, str) or not number:
                raise NotSent("Discord's answer has no id; check the address of its API.")
            return number
        try:
            self._ask("PATCH", f"{folder}/{message_id}", payload)
        except NotSent as error:
            # The message was deleted: there is nothing to edit.
            if error.status != 404:
                raise
        return message_id

    def _ask(self, method: str, url: str, payload: dict[str, Any]) -> dict[str, Any]:
        headers = {"authorization": f"Bot {self.channel.token}", "user-agent": "DiscordBot (seasoned, 1)"}
        body = msgspec.json.encode(payload)
        return call(self._client, method, url, body=body, headers=headers, hide=self.channel.token)


def is_from_discord(
    channels: Sequence[ConfiguredChannel], *, signature: str, timestamp: str, body: bytes, now: float
) -> list[ConfiguredChannel]:
    """The channels whose key this was signed with, within the last minutes."""
    try:
        at = int(timestamp)
        signed = bytes.fromhex(signature)
    except ValueError:
        return []
    if not timestamp.isascii() or not timestamp.isdigit() or abs(now - at) > FRESH_SECONDS:
        return []
    return [channel for channel in channels if _is_signed(channel.incoming_secret, signed, timestamp.encode() + body)]


def receive_interaction(
    book: Book, channels: Sequence[ConfiguredChannel], body: bytes, *, sent_at: float
) -> dict[str, Any]:
    """Handle one interaction that is known to come from Discord; returns the reply, or UsageError for other kinds."""
    try:
        interaction = msgspec.json.decode(body, type=Interaction)
    except (msgspec.DecodeError, RecursionError) as error:
        raise UsageError(_UNKNOWN) from error
    if interaction.type == _PING:
        return {"type": 1}
    verb, _, request_id = interaction.data.custom_id.partition(":")
    channel = next((channel for channel in channels if channel.to == interaction.channel_id), None)
    sender = interaction.sender
    if interaction.type != _COMPONENT:
        raise UsageError(_UNKNOWN)
    if channel is None or sender is None or sender.bot or verb not in (_APPROVE, _DENY) or not request_id:
        return _private_reply(NOT_ALLOWED)
    reply = decide_for(book, channel, sender.id, request_id, approve=verb == _APPROVE, sent_at=sent_at)
    return _private_reply(reply.sentence)


def _is_signed(public_key: str, signature: bytes, signed: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key)).verify(signature, signed)
    except (ValueError, InvalidSignature):
        return False
    return True


def _private_reply(sentence: str) -> dict[str, Any]:
    content = escape_markdown(sentence)[:2000]
    payload = {"content": content, "flags": _ONLY_FOR_THEM, "allowed_mentions": {"parse": []}}
    return {"type": _ANSWER, "data": payload}


def _buttons(message: Notification) -> list[dict[str, Any]]:
    if not message.is_open:
        return []
    verbs = (("Approve", _APPROVE, 3), ("Deny", _DENY, 4))
    buttons = [
        {"type": 2, "style": style, "label": label, "custom_id": f"{verb}:{message.request_id}"}
        for label, verb, style in verbs
    ]
    return [{"type": 1, "components": buttons}]
