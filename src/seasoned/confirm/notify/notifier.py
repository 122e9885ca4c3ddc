"""Tells people about requests: one thread for each channel, so that a slow receiver delays no other.

Notifications are stored in an outbox together with what they report, and sent until they arrive or are given up.
`incoming_router` has the endpoints for answers: a call that does not prove its origin changes nothing.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import httpx2
import msgspec
from fastapi import APIRouter
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse

from seasoned.confirm.notify.chat import (
    SIGNATURE_HEADER,
    TIMESTAMP_HEADER,
    Discord,
    Poller,
    Telegram,
    is_from_discord,
    receive_interaction,
)
from seasoned.confirm.notify.http import NotSent, Webhook, open_client, read_body, receive_webhook
from seasoned.confirm.notify.message import (
    STATUS,
    Ask,
    ChannelSender,
    ConfiguredChannel,
    Notification,
    compose,
    moment,
)
from seasoned.confirm.request.book import Book
from seasoned.confirm.request.request import Request
from seasoned.confirm.request.row import kept_details, request_from_row
from seasoned.errors import NotFound, SeasonedError, Unauthorised
from seasoned.store import Database
from seasoned.store.interface import DatabaseRow

# How often a channel looks for rows that another process wrote.
_LOOK_SECONDS = 0.5
_STOP_SECONDS = 5.0
# Texts that may contain secrets; `details` is redacted as a value.
_REDACTED = ("description", "label", "finding", "reason")
_MOST_ERROR = 300
_MOST_INCOMING_BYTES = 256_000
_log = logging.getLogger("seasoned.confirm")


# A delivery is tried so often; then it is given up, and its last error is kept and shown.
ATTEMPTS = 12
_FIRST_SECONDS = 2.0
_MOST_SECONDS = 300.0
# How long a claimed row belongs to one sender; after a crash another one takes it. Longer than an attempt lasts.
LEASE_SECONDS = 60.0


def wait_seconds(attempts: int, asked: float = 0.0) -> float:
    """How long to wait after so many attempts: doubled each time, and at least what the receiver asks for."""
    # Bounded, since a float overflows after a thousand doublings.
    doubled = _FIRST_SECONDS * 2.0 ** min(attempts - 1, 60)
    return max(min(doubled, _MOST_SECONDS), asked)


class UnsentNotification(msgspec.Struct, frozen=True, kw_only=True):
    """A notification that has not arrived, and why."""

    id: str
    request_id: str
    event: str
    channel: str
    attempts: int
    next_at: float
    created_at: float
    last_error: str | None
    is_given_up: bool


def unsent(database: Database, *, limit: int) -> list[UnsentNotification]:
    """Notifications that have not arrived, newest first, including those that were given up."""
    names = [name for name in UnsentNotification.__struct_fields__ if name != "is_given_up"]
    return [
        UnsentNotification(**{name: row[name] for name in names}, is_given_up=row["attempts"] >= ATTEMPTS)
        for row in database.rows("notify.unsent", {"limit": limit})
    ]


class Outbox:
    """Sends the due rows of one channel: the current state of the request that each is about.

    No transaction is open while it waits for the receiver.
    """

    def __init__(self, book: Book, sender: ChannelSender) -> None:
        self._book = book
        self._database = book.database
        self._channel = sender.channel.name
        self._sender = sender

    def send_due(self) -> int:
        """Try every row that is due now, once. Returns the number of attempts."""
        count = 0
        while (row := self._claim()) is not None:
            count += 1
            self._try(row)
        return count

    def _claim(self) -> DatabaseRow | None:
        """Take one row. Its next time is moved by the lease, so no other sender sees it before."""
        now = self._book.clock()
        key = {"channel": self._channel, "most": ATTEMPTS}
        with self._database.write():
            # Counts the attempt as well: a row that kills its sender every time is given up in the end.
            return self._database.row("notify.claim", {**key, "now": now, "until": now + LEASE_SECONDS})

    def _try(self, row: DatabaseRow) -> None:
        try:
            note = self._deliver(row)
        except NotSent as error:
            self._keep_failure(row, error)
            return
        self._run("notify.sent", {"id": row["id"], "sent_at": self._book.clock(), "note": note})

    def _keep_failure(self, row: DatabaseRow, error: NotSent) -> None:
        attempts = row["attempts"]
        wait = wait_seconds(attempts, error.wait_seconds)
        reason = self._book.redactor.text(str(error))[:_MOST_ERROR]
        # Standard Webhooks: a receiver that answers 410 wants no more.
        is_final = error.status == 410
        values = {"next_at": self._book.clock() + wait, "last_error": reason, "is_final": int(is_final)}
        self._run("notify.failed", {"id": row["id"], "attempts": attempts, "most": ATTEMPTS, **values})
        what_next = "given up" if is_final or attempts >= ATTEMPTS else f"trying again in {wait:g} s"
        _log.warning("channel %r, request %r: %s (%s)", self._channel, row["request_id"], reason, what_next)

    def _deliver(self, row: DatabaseRow) -> str | None:
        """Send one row, or raise NotSent; a note if there was nothing to send."""
        request = self._find(row["request_id"])
        # A webhook gets every event; a chat has one message for each request, which is brought up to date.
        if not self._sender.edits_message:
            self._sender.send(self._notification(row, request), None)
            return None
        found = self._database.row("notify.place", {"channel": self._channel, "request_id": request.id})
        if found is None and request.is_resolved:
            return "already decided; nothing was sent"
        self._update_message(row, request, None if found is None else found["place"])
        return None

    def _update_message(self, row: DatabaseRow, request: Request, message_id: str | None) -> None:
        """Bring the one message about a request up to date, and once more if it was decided meanwhile."""
        sent = self._sender.send(self._notification(row, request), message_id)
        if sent is None:
            return
        if sent != message_id:
            self._run("notify.keep_place", {"channel": self._channel, "request_id": request.id, "place": sent})
        # The row about the decision may have come while there was no message to edit yet.
        now = self._find(request.id)
        if now.status != request.status:
            self._sender.send(self._notification(row, now), sent)

    def _find(self, request_id: str) -> Request:
        # Without a credential: the policy says who gets notifications.
        found = self._database.row("confirm.request", {"id": request_id})
        if found is None:
            raise NotFound(f"unknown request {request_id!r}")
        return request_from_row(self._database, found, self._book.seal)

    def _notification(self, row: DatabaseRow, request: Request) -> Notification:
        redactor = self._book.redactor
        data: dict[str, Any] = msgspec.to_builtins(request)
        data |= {name: redactor.text(data[name]) for name in _REDACTED}
        data["details"] = redactor.value(kept_details(request.details))
        # A receiver must not take a tag for an argument.
        data["is_exact"] = (data["description"], data["details"]) == (request.description, request.details)
        data["expires"] = moment(request.expires_at)
        del data["votes"]
        return Notification(
            id=row["id"],
            event=row["event"],
            request_id=request.id,
            is_open=request.status == "pending",
            text=compose(request, redactor),
            data=data,
        )

    def _run(self, query: str, params: dict[str, Any]) -> None:
        with self._database.write():
            self._database.run(query, params)


def make_sender(channel: ConfiguredChannel, client: httpx2.Client, clock: Callable[[], float]) -> ChannelSender:
    """The sender for a channel of its kind."""
    if channel.kind == "telegram":
        return Telegram(channel, client)
    if channel.kind == "discord":
        return Discord(channel, client)
    return Webhook(channel, client, clock=clock)


class Notifier:
    """The threads that send notifications, and ask Telegram for answers."""

    def __init__(self, open_book: Callable[[], Book], channels: Mapping[str, ConfiguredChannel]) -> None:
        self._open_book = open_book
        self.channels = channels
        self._stop = threading.Event()
        self._wakers: list[threading.Event] = []
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Start a thread for each channel, and one for each bot of Telegram."""
        # Another one at every start: a thread that outlived `stop` must still see that it is over.
        self._stop = threading.Event()
        for channel in self.channels.values():
            waker = threading.Event()
            self._wakers.append(waker)
            self._start_thread(f"seasoned-send-{channel.name}", self._send, channel, waker, self._stop)
        for polled in _polled(self.channels.values()):
            poller = Poller(polled, self._open_book)
            self._start_thread(f"seasoned-poll-{polled[0].name}", poller.run, self._stop)

    def wake(self) -> None:
        """Look for due rows at once: something was written."""
        for waker in self._wakers:
            waker.set()

    def stop(self) -> None:
        """Stop after the attempts that are under way; what is cut off is sent again at the next start."""
        self._stop.set()
        self.wake()
        limit = time.monotonic() + _STOP_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, limit - time.monotonic()))
        self._threads.clear()
        self._wakers.clear()

    def _start_thread(self, name: str, target: Callable[..., None], *arguments: object) -> None:
        # A daemon: a receiver that hangs must not keep the process from ending.
        thread = threading.Thread(target=target, args=arguments, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _send(self, channel: ConfiguredChannel, waker: threading.Event, stop: threading.Event) -> None:
        while not stop.is_set():
            try:
                self._send_until_stopped(channel, waker, stop)
            except SeasonedError as error:
                _log.warning("channel %r cannot be served, trying again: %s", channel.name, error)
                stop.wait(1.0)

    def _send_until_stopped(self, channel: ConfiguredChannel, waker: threading.Event, stop: threading.Event) -> None:
        book = self._open_book()
        try:
            with open_client() as client:
                outbox = Outbox(book, make_sender(channel, client, book.clock))
                while not stop.is_set():
                    # Cleared first: a row that is written while others are sent sets it again.
                    waker.clear()
                    outbox.send_due()
                    waker.wait(_LOOK_SECONDS)
        finally:
            book.database.close()


def _polled(channels: Iterable[ConfiguredChannel]) -> list[list[ConfiguredChannel]]:
    """Telegram channels by token: Telegram allows one poll at a time for each."""
    by_token: dict[str, list[ConfiguredChannel]] = {}
    for channel in channels:
        if channel.kind == "telegram":
            by_token.setdefault(channel.token, []).append(channel)
    return list(by_token.values())


def incoming_router(
    ask: Ask, channels: Callable[[], Mapping[str, ConfiguredChannel]], clock: Callable[[], float]
) -> APIRouter:
    """The two endpoints. `channels` is called each time, since the policy can change."""
    routes = APIRouter(include_in_schema=False)

    def of(kind: str) -> Sequence[ConfiguredChannel]:
        return [channel for channel in channels().values() if channel.kind == kind]

    @routes.post("/confirm/discord")
    async def receive_from_discord(request: HttpRequest) -> JSONResponse:
        body = await read_body(request, _MOST_INCOMING_BYTES)
        signature, timestamp = _only(request, SIGNATURE_HEADER), _only(request, TIMESTAMP_HEADER)
        known = is_from_discord(of("discord"), signature=signature, timestamp=timestamp, body=body, now=clock())
        if not known:
            raise Unauthorised("Not from Discord: the signature is missing, wrong or old.")
        return JSONResponse(await ask(lambda book: receive_interaction(book, known, body, sent_at=float(timestamp))))

    @routes.post("/confirm/hook")
    async def receive_from_webhook(request: HttpRequest) -> JSONResponse:
        body = await read_body(request, _MOST_INCOMING_BYTES)
        given = {name: _only(request, name) for name in ("webhook-id", "webhook-timestamp", "webhook-signature")}
        reply = await ask(lambda book: receive_webhook(book, of("webhook"), given, body, now=clock()))
        values: dict[str, Any] = {"schema": "seasoned/confirm-hook/1", **msgspec.to_builtins(reply)}
        return JSONResponse(values, status_code=STATUS[reply.outcome])

    return routes


def _only(request: HttpRequest, name: str) -> str:
    """The value of a header that was sent exactly once; else empty."""
    # Of two headers, a proxy and this service could each believe another one.
    given = request.headers.getlist(name)
    return given[0] if len(given) == 1 else ""
