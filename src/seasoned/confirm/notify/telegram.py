"""Telegram through its Bot API: a message with two buttons, edited when it is decided; presses count by sender id."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any

import httpx2
import msgspec

from seasoned.confirm.notify.http import NotSent, call, open_client
from seasoned.confirm.notify.message import (
    NOT_ALLOWED,
    ConfiguredChannel,
    Notification,
    as_html,
    decide_for,
)
from seasoned.confirm.request.book import Book
from seasoned.errors import SeasonedError

# Telegram allows longer polls, but one under way delays stopping.
POLL_SECONDS = 10
# Answers, all with status 400, to an edit that is not needed or no longer possible.
_GONE = ("message is not modified", "message to edit not found", "message can't be edited")
# Short: a button carries at most 64 bytes.
_APPROVE, _DENY = "a", "d"
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
        payload: dict[str, Any] = {
            "chat_id": self.channel.to,
            "text": as_html(message.text),
            "parse_mode": "HTML",
            "link_preview_options": {"is_disabled": True},
            "reply_markup": {"inline_keyboard": _buttons(message)},
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
    verb, _, request_id = press.data.partition(":")
    chat = str(press.message.chat.id) if press.message is not None else None
    channel = next((channel for channel in channels if channel.to == chat), None)
    if channel is None or verb not in (_APPROVE, _DENY) or not request_id or press.user.is_bot:
        return _reply(press, NOT_ALLOWED)
    reply = decide_for(book, channel, str(press.user.id), request_id, approve=verb == _APPROVE)
    return _reply(press, reply.sentence)


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


def _buttons(message: Notification) -> list[list[dict[str, str]]]:
    if not message.is_open:
        return []
    verbs = (("Approve", _APPROVE), ("Deny", _DENY))
    return [[{"text": text, "callback_data": f"{verb}:{message.request_id}"} for text, verb in verbs]]
