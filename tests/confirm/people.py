"""A book with an agent that asks and two people who decide, for tests of notifications."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx2
import msgspec
from fastapi import FastAPI

from seasoned.config import Config
from seasoned.confirm.notify.http import open_client
from seasoned.confirm.notify.message import ConfiguredChannel
from seasoned.confirm.notify.notifier import Outbox, incoming_router, make_sender, unsent
from seasoned.confirm.people.credential import MOST_SECONDS, Credential, UnlockedPhones, find
from seasoned.confirm.policy import ActionRule, Channel, Policy
from seasoned.confirm.request.book import Book
from seasoned.confirm.request.request import NewRequest, Request
from seasoned.confirm.request.row import Seal
from seasoned.confirm.service.routes import on_error
from seasoned.errors import NotFound, SeasonedError
from seasoned.redact.key import Secrecy
from seasoned.store import open_database
from tests.confirm.books import Clock
from tests.confirm.keys import make_person, unlock, unlocked_phones
from tests.confirm.other_side import OneThread, serve_app

NOW = 1_790_000_000.0
MIRA, NOOR, STRANGER = "4711", "4712", "4713"
PEOPLE = {MIRA: "mira", NOOR: "noor"}
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


class Notified:
    """A store, a policy with channels, and who may use them. Books of it can be opened in any thread."""

    def __init__(self, config: Config, ways: Mapping[str, ConfiguredChannel], **policy: Any) -> None:
        self.config = config
        self.channels = dict(ways)
        self.clock = Clock(NOW)
        channels = {name: Channel(kind=way.kind, to=way.to, people=way.people) for name, way in ways.items()}
        rules = {"delete_data": ActionRule(count=1000, approvals=policy.pop("approvals", 1))}
        self.policy = Policy(channel=channels, action=rules, **policy)
        self.phones = UnlockedPhones()
        self.book = self.open_book()
        self.agent = self._credential("builder", "agent")
        self.mira = self._credential("mira", "approver")
        self.noor = self._credential("noor", "approver")
        self.phones = unlocked_phones(self.book.database, "mira", "noor", now=NOW, seconds=MOST_SECONDS)
        self.book.phones = self.phones

    def _credential(self, name: str, role: Any) -> Credential:
        try:
            found = find(self.book.database, name)
            return found if found.role == "agent" else unlock(self.book.database, name, now=NOW)
        except NotFound:
            return make_person(self.book.database, name, role, now=NOW)[0]

    def open_book(self) -> Book:
        database = open_database(self.config)
        secrecy = Secrecy(b"k" * 32)
        seal = Seal(b"s" * 32)
        return Book(database, policy=self.policy, seal=seal, secrecy=secrecy, clock=self.clock, phones=self.phones)

    def submit(self, **asked: Any) -> Request:
        given = {"action": "delete_data", "description": "Remove old rows", "details": {"table": "orders"}, **asked}
        return self.book.submit(self.agent, NewRequest(**given)).request

    def look(self, request: Request) -> Request:
        return self.book.look(self.mira, request.id)

    def outbox(self, name: str, client: httpx2.Client, *, book: Book | None = None) -> Outbox:
        book = book or self.book
        return Outbox(book, make_sender(self.channels[name], client, book.clock))

    def send_due(self, name: str, **more: Any) -> int:
        """One round of sending."""
        with open_client(connect_seconds=1.0, answer_seconds=more.pop("answer_seconds", 2.0)) as client:
            return self.outbox(name, client, **more).send_due()

    def rows(self) -> list[dict[str, Any]]:
        """What has not arrived yet."""
        return [msgspec.to_builtins(one) for one in unsent(self.book.database, limit=1000)]

    @contextmanager
    def served(self) -> Iterator[httpx2.Client]:
        """The incoming addresses behind a real server."""
        ask = OneThread(self.open_book)
        app = FastAPI()
        app.add_exception_handler(SeasonedError, on_error)
        app.include_router(incoming_router(ask, lambda: self.channels, self.clock))
        try:
            with serve_app(app) as url, httpx2.Client(base_url=url, timeout=10.0) as client:
                yield client
        finally:
            ask.close()

    def close(self) -> None:
        self.book.database.close()

    def __enter__(self) -> Notified:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
