"""The outbox: notifications that were written together with what they tell, sent until they arrive or are given up."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import httpx2
import msgspec

from seasoned.confirm.notify.channel import ConfiguredChannel
from seasoned.confirm.notify.discord import Discord
from seasoned.confirm.notify.http import NotSent, open_client
from seasoned.confirm.notify.link import link_url, make_link
from seasoned.confirm.notify.message import ChannelSender, Notification, compose, moment, visible
from seasoned.confirm.notify.telegram import Poller, Telegram
from seasoned.confirm.notify.webhook import Webhook
from seasoned.confirm.request.book import Book
from seasoned.confirm.request.request import Request
from seasoned.confirm.request.row import request_from_row
from seasoned.errors import NotFound, SeasonedError
from seasoned.store import Database
from seasoned.store.interface import DatabaseRow

_LOOK_SECONDS = 0.5
"""How often a courier looks for what another process wrote."""
_MOST_ERROR = 300
_log = logging.getLogger("seasoned.confirm")


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """How often and how long something is tried."""

    attempts: int = 12
    """Then it is given up, with its last error kept and shown."""
    first_seconds: float = 2.0
    most_seconds: float = 300.0
    lease_seconds: float = 60.0
    """For so long a row is one sender's; after a crash another one takes it. Longer than any attempt lasts."""

    def wait_seconds(self, attempts: int, asked: float = 0.0) -> float:
        """How long to wait after so many attempts: twice as long each time, and at least what the other side asks."""
        doubled = self.first_seconds * 2.0 ** min(attempts - 1, 60)
        return max(min(doubled, self.most_seconds), asked)


DEFAULT_RETRIES = RetryPolicy()


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


def unsent(database: Database, *, limit: int = 50, patience: RetryPolicy = DEFAULT_RETRIES) -> list[UnsentNotification]:
    """What has not arrived yet, the newest first; what was given up stays in it."""
    return [
        UnsentNotification(
            id=row["id"],
            request_id=row["request_id"],
            event=row["event"],
            channel=row["channel"],
            attempts=row["attempts"],
            next_at=row["next_at"],
            created_at=row["created_at"],
            last_error=row["last_error"],
            is_given_up=row["attempts"] >= patience.attempts,
        )
        for row in database.rows("notify.unsent", {"limit": limit})
    ]


def try_again(database: Database, *, now: float, patience: RetryPolicy = DEFAULT_RETRIES) -> int:
    """Take up again what was given up, for instance after a token was mended; how many there are."""
    with database.write():
        return database.run("notify.try_again", {"now": now, "most": patience.attempts})


class Outbox:
    """Sends what is due on one channel. No transaction is open while it waits for the other side."""

    def __init__(
        self,
        book: Book,
        way: ConfiguredChannel,
        sender: ChannelSender,
        *,
        link_key: bytes,
        clock: Callable[[], float] = time.time,
        patience: RetryPolicy = DEFAULT_RETRIES,
    ) -> None:
        self._book = book
        self._way = way
        self._sender = sender
        self._link_key = link_key
        self._clock = clock
        self._patience = patience
        self._redactor = book.redactor

    def send_due(self) -> int:
        """Try everything that is due now, once; how many attempts were made."""
        count = 0
        while (row := self._claim()) is not None:
            count += 1
            self._try(row)
        return count

    def next_due(self) -> float | None:
        """When there is something to do again."""
        row = self._book.database.row("notify.next_due", self._mine())
        return None if row is None else row["next_at"]

    def _mine(self, **more: Any) -> dict[str, Any]:
        return {"channel": self._way.name, "most": self._patience.attempts, **more}

    def _claim(self) -> DatabaseRow | None:
        """Take one row. Its lease is its next time: no other sender sees it before."""
        now = self._clock()
        with self._book.database.write():
            return self._book.database.row(
                "notify.claim", self._mine(now=now, until=now + self._patience.lease_seconds)
            )

    def _try(self, row: DatabaseRow) -> None:
        try:
            note = self._deliver(row)
        except NotSent as error:
            self._keep_failure(row, error)
            return
        with self._book.database.write():
            self._book.database.run("notify.sent", {"id": row["id"], "sent_at": self._clock(), "note": note})

    def _keep_failure(self, row: DatabaseRow, error: NotSent) -> None:
        wait = self._patience.wait_seconds(row["attempts"], error.wait_seconds)
        is_last = error.is_final or row["attempts"] >= self._patience.attempts
        said = self._redactor.text(str(error))[:_MOST_ERROR]
        with self._book.database.write():
            self._book.database.run(
                "notify.failed",
                {
                    "id": row["id"],
                    "attempts": row["attempts"],
                    "next_at": self._clock() + wait,
                    "last_error": said,
                    "is_final": int(error.is_final),
                    "most": self._patience.attempts,
                },
            )
        word_for_it = "given up" if is_last else f"tried again in {wait:g} s"
        _log.warning("channel %r, request %r: %s (%s)", self._way.name, row["request_id"], said, word_for_it)

    def _deliver(self, row: DatabaseRow) -> str | None:
        """Send one row; a note where there was nothing to send."""
        request = self._find(row["request_id"])
        if not self._sender.is_board:
            self._sender.tell(self._message(row, request), None)
            return None
        key = {"channel": self._way.name, "request_id": request.id}
        found = self._book.database.row("notify.place", key)
        if found is None and request.is_resolved:
            return "decided before anybody was told"
        place = found["place"] if found is not None else None
        self._show(row, request, place)
        return None

    def _show(self, row: DatabaseRow, request: Request, place: str | None) -> None:
        """Bring the one message about a request up to date, and once more if it was decided meanwhile."""
        told = self._sender.tell(self._message(row, request), place)
        if told is None:
            return
        if told != place:
            kept = {"channel": self._way.name, "request_id": request.id, "place": told, "told_at": self._clock()}
            with self._book.database.write():
                self._book.database.run("notify.keep_place", kept)
        # Whoever sent word of the decision may have found no message yet, and left it to this one.
        now = self._find(request.id)
        if now.status != request.status:
            self._sender.tell(self._message(row, now), told)

    def _find(self, request_id: str) -> Request:
        """The request as it stands. No credential looks at it here: who may be told is the policy's to say."""
        found = self._book.database.row("confirm.request", {"id": request_id})
        if found is None:
            raise NotFound(f"there is no request {request_id!r}")
        return request_from_row(self._book.database, found, self._book.seal)

    def _message(self, row: DatabaseRow, request: Request) -> Notification:
        return Notification(
            id=row["id"],
            event=row["event"],
            request_id=request.id,
            is_open=request.status == "pending",
            wording=compose(request, self._redactor),
            data=self._data(request),
            links=self._links(request),
        )

    def _data(self, request: Request) -> dict[str, Any]:
        said: dict[str, Any] = msgspec.to_builtins(request)
        said["description"] = self._redactor.text(request.description)
        said["details"] = self._redactor.value(request.details)
        said["label"] = self._redactor.text(request.label)
        said["finding"] = self._redactor.text(request.finding)
        said["reason"] = self._redactor.text(request.reason)
        said["is_exact"] = (said["description"], said["details"]) == (request.description, request.details)
        said["expires"] = moment(request.expires_at)
        del said["votes"]
        return said

    def _links(self, request: Request) -> dict[str, str]:
        if not (self._way.has_links and self._way.public_url and request.status == "pending"):
            return {}
        return {
            visible(person): link_url(
                self._way.public_url,
                make_link(
                    self._link_key,
                    request_id=request.id,
                    channel=self._way.name,
                    person=person,
                    expires_at=request.expires_at,
                ),
            )
            for person in self._way.people
        }


def make_sender(
    way: ConfiguredChannel, client: httpx2.Client, *, clock: Callable[[], float] = time.time
) -> ChannelSender:
    """What sends on a way of its kind."""
    if way.kind == "telegram":
        return Telegram(way, client)
    if way.kind == "discord":
        return Discord(way, client)
    return Webhook(way, client, clock=clock)


class Notifier:
    """Carries everything in threads of its own, one for each channel: a slow receiver holds up nobody else."""

    def __init__(
        self,
        open_book: Callable[[], Book],
        ways: Mapping[str, ConfiguredChannel],
        *,
        link_key: bytes,
        clock: Callable[[], float] = time.time,
        patience: RetryPolicy = DEFAULT_RETRIES,
        connect: Callable[[], httpx2.Client] = open_client,
    ) -> None:
        self._open_book = open_book
        self._ways = ways
        self._link_key = link_key
        self._clock = clock
        self._patience = patience
        self._connect = connect
        self._stop = threading.Event()
        self._wakers = {name: threading.Event() for name in ways}
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Begin to send, and to ask Telegram for answers where it is not told to call us."""
        for way in self._ways.values():
            self._begin(f"seasoned-send-{way.name}", self._run, way)
        for ways in _polled(self._ways.values()):
            poller = Poller(ways, self._connect, self._open_book, clock=self._clock)
            self._begin(f"seasoned-poll-{ways[0].name}", poller.run, self._stop)

    def wake(self) -> None:
        """Look at once: something was written."""
        for waker in self._wakers.values():
            waker.set()

    def stop(self, *, wait_seconds: float = 5.0) -> None:
        """End after the attempts that are under way; what is cut off is sent again at the next start."""
        self._stop.set()
        self.wake()
        limit = time.monotonic() + wait_seconds
        for thread in self._threads:
            thread.join(max(0.0, limit - time.monotonic()))
        self._threads.clear()

    def _begin(self, name: str, target: Callable[[Any], None], argument: object) -> None:
        thread = threading.Thread(target=target, args=(argument,), name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _run(self, way: ConfiguredChannel) -> None:
        while not self._stop.is_set():
            try:
                self._carry(way)
            except SeasonedError as error:
                _log.warning("channel %r cannot be served, and is tried again: %s", way.name, error)
                self._stop.wait(1.0)

    def _carry(self, way: ConfiguredChannel) -> None:
        waker = self._wakers[way.name]
        book = self._open_book()
        try:
            with self._connect() as client:
                sender = make_sender(way, client, clock=self._clock)
                self._set_webhook(way, sender)
                outbox = Outbox(book, way, sender, link_key=self._link_key, clock=self._clock, patience=self._patience)
                while not self._stop.is_set():
                    waker.clear()
                    outbox.send_due()
                    waker.wait(_LOOK_SECONDS)
        finally:
            book.database.close()

    def _set_webhook(self, way: ConfiguredChannel, sender: ChannelSender) -> None:
        if isinstance(sender, Telegram) and is_called_by_telegram(way):
            try:
                sender.set_webhook(f"{way.public_url}/confirm/telegram")
            except NotSent as error:
                _log.warning("channel %r: Telegram was not told where to call: %s", way.name, error)


def is_called_by_telegram(way: ConfiguredChannel) -> bool:
    """Telegram calls only addresses with TLS, and is believed only with a secret; else it is asked for answers."""
    return bool(way.hearing) and way.public_url.startswith("https://")


def _polled(ways: Iterable[ConfiguredChannel]) -> list[list[ConfiguredChannel]]:
    """Ways of Telegram that must be asked, those with one token together: it allows one question at a time."""
    by_token: dict[str, list[ConfiguredChannel]] = {}
    for way in ways:
        if way.kind == "telegram" and not is_called_by_telegram(way):
            by_token.setdefault(way.token, []).append(way)
    return list(by_token.values())
