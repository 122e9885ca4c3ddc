"""Telegram and Discord: a message with two buttons for each request, edited when it is decided."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any

import httpx2
import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from seasoned.confirm.notify.http import NotSent, call, open_client
from seasoned.confirm.notify.message import (
    NOT_ALLOWED,
    ConfiguredChannel,
    Notification,
    as_html,
    as_markdown,
    decide_for,
    escape_markdown,
)
from seasoned.confirm.request.book import Book
from seasoned.errors import SeasonedError, UsageError

# Telegram allows longer polls, but one under way delays stopping.
POLL_SECONDS = 10
# Answers, all with status 400, to an edit that is not needed or no longer possible.
_GONE = ("message is not modified", "message to edit not found", "message can't be edited")
# Short: a button of Telegram carries at most 64 bytes.
_VERBS = {"Approve": "a", "Deny": "d"}
_log = logging.getLogger("seasoned.confirm")


class _Chat(msgspec.Struct):
    id: int


class _TelegramMessage(msgspec.Struct):
    chat: _Chat


class _TelegramUser(msgspec.Struct):
    id: int
    is_bot: bool = False


class _Press(msgspec.Struct):
    id: str
    user: _TelegramUser = msgspec.field(name="from")
    data: str = ""
    message: _TelegramMessage | None = None


class Update(msgspec.Struct):
    """An update from Telegram; only pressed buttons matter here."""

    callback_query: _Press | None = None


class Telegram:
    """Shows requests in one chat, with one message for each that always has the current status."""

    edits_message = True

    def __init__(self, channel: ConfiguredChannel, client: httpx2.Client) -> None:
        self.channel = channel
        self._client = client

    def send(self, message: Notification, message_id: str | None) -> str | None:
        """Send a message, or edit the one with this id; returns its id."""
        buttons = [{"text": text, "callback_data": data} for text, data in _buttons(message)]
        keyboard = [buttons] if buttons else []
        payload: dict[str, Any] = {
            "chat_id": self.channel.to,
            "text": as_html(message.text),
            "parse_mode": "HTML",
            "link_preview_options": {"is_disabled": True},
            "reply_markup": {"inline_keyboard": keyboard},
        }
        if message_id is None:
            result = self.ask("sendMessage", payload).get("result")
            number = result.get("message_id") if isinstance(result, dict) else None
            if not isinstance(number, int):
                raise NotSent("Telegram's answer has no message_id; check the address of its API.")
            return str(number)
        try:
            self.ask("editMessageText", {**payload, "message_id": int(message_id)})
        except NotSent as error:
            if error.status != 400 or not any(words in str(error) for words in _GONE):
                raise
        return message_id

    def ask(self, method: str, payload: dict[str, Any], *, answer_seconds: float | None = None) -> dict[str, Any]:
        """Call one method of the Bot API."""
        found = call(
            self._client,
            "POST",
            f"{self.channel.url}/bot{self.channel.token}/{method}",
            body=msgspec.json.encode(payload),
            answer_seconds=answer_seconds,
            hide=self.channel.token,
        )
        if found.get("ok") is not True:
            raise NotSent("the answer is not from Telegram's API; check its address.")
        return found


def receive_update(book: Book, channels: Sequence[ConfiguredChannel], body: bytes) -> dict[str, Any] | None:
    """Handle one update; returns the method that answers the press, or None."""
    try:
        update = msgspec.json.decode(body, type=Update)
    except (msgspec.DecodeError, RecursionError):
        return None
    press = update.callback_query
    if press is None:
        return None
    chat = str(press.message.chat.id) if press.message is not None else None
    person = None if press.user.is_bot else str(press.user.id)
    return _reply(press, _decided(book, channels, chat, person, press.data))


class Poller:
    """Polls Telegram for presses. Takes all channels that share one token."""

    def __init__(
        self,
        channels: Sequence[ConfiguredChannel],
        open_book: Callable[[], Book],
        *,
        poll_seconds: int = POLL_SECONDS,
    ) -> None:
        self._channels = channels
        self._open_book = open_book
        self._poll_seconds = poll_seconds
        self._offset = 0

    def run(self, stop: threading.Event) -> None:
        """Poll until stopped. An update is acknowledged only after it was handled."""
        wait = 1.0
        book = self._open_book()
        try:
            with open_client() as client:
                chat = Telegram(self._channels[0], client)
                while not stop.is_set():
                    try:
                        self.poll(book, chat)
                        wait = 1.0
                    except SeasonedError as error:
                        _log.warning("polling Telegram failed: %s", error)
                        asked = error.wait_seconds if isinstance(error, NotSent) else 0.0
                        stop.wait(max(wait, asked))
                        wait = min(2 * wait, 60.0)
        finally:
            book.database.close()

    def poll(self, book: Book, chat: Telegram) -> int:
        """One long poll; returns the number of updates."""
        payload = {
            "offset": self._offset,
            # A press comes with its message, which can take 30 kB, and an answer is read up to 64 kB.
            "limit": 2,
            "timeout": self._poll_seconds,
            "allowed_updates": ["callback_query"],
        }
        found = chat.ask("getUpdates", payload, answer_seconds=self._poll_seconds + 5.0).get("result")
        updates = found if isinstance(found, list) else []
        for update in updates:
            reply = receive_update(book, self._channels, msgspec.json.encode(update))
            if isinstance(update, dict) and isinstance(number := update.get("update_id"), int):
                # The next poll acknowledges everything before this number.
                self._offset = max(self._offset, number + 1)
            if reply is not None:
                self._answer(chat, reply)
        return len(updates)

    def _answer(self, chat: Telegram, reply: dict[str, Any]) -> None:
        try:
            chat.ask(reply.pop("method"), reply)
        except NotSent as error:
            # The decision stands; only the reply is lost, and the message is edited anyway.
            _log.warning("a press on Telegram was not answered: %s", error)


def _reply(press: _Press, sentence: str) -> dict[str, Any]:
    return {
        "method": "answerCallbackQuery",
        "callback_query_id": press.id,
        # Telegram's limit.
        "text": sentence[:200],
        "show_alert": True,
    }


def _buttons(message: Notification) -> list[tuple[str, str]]:
    """The buttons of a message, each with what a press sends; none once it is decided."""
    return [(text, f"{verb}:{message.request_id}") for text, verb in _VERBS.items()] if message.is_open else []


def _decided(
    book: Book,
    channels: Sequence[ConfiguredChannel],
    to: str | None,
    person: str | None,
    pressed: str,
    *,
    sent_at: float | None = None,
) -> str:
    """What a press did, in words; `person` is None for a bot, who may not decide."""
    verb, _, request_id = pressed.partition(":")
    channel = next((channel for channel in channels if channel.to == to), None)
    if channel is None or person is None or verb not in _VERBS.values() or not request_id:
        return NOT_ALLOWED
    return decide_for(book, channel, person, request_id, approve=verb == _VERBS["Approve"], sent_at=sent_at).sentence


SIGNATURE_HEADER = "x-signature-ed25519"
TIMESTAMP_HEADER = "x-signature-timestamp"
FRESH_SECONDS = 300.0
# Numbers of Discord's API: kinds of interactions, a reply, and a message that only one person sees.
_PING, _COMPONENT = 1, 3
_ANSWER = 4
_ONLY_FOR_THEM = 1 << 6
_COLOURS = {True: 0xE0A000, False: 0x808080}
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
        # A green button and a red one.
        buttons = [
            {"type": 2, "style": style, "label": label, "custom_id": data}
            for style, (label, data) in zip((3, 4), _buttons(message), strict=False)
        ]
        payload: dict[str, Any] = {
            "content": "",
            "embeds": [
                {
                    "title": message.text.title,
                    "description": as_markdown(message.text),
                    "color": _COLOURS[message.is_open],
                }
            ],
            "components": [{"type": 1, "components": buttons}] if buttons else [],
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
    if interaction.type != _COMPONENT:
        raise UsageError(_UNKNOWN)
    sender = interaction.sender
    person = None if sender is None or sender.bot else sender.id
    pressed = interaction.data.custom_id
    sentence = _decided(book, channels, interaction.channel_id, person, pressed, sent_at=sent_at)
    return _private_reply(sentence)


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
