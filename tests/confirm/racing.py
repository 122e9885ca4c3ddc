"""Processes that act on one request at the same moment."""

from __future__ import annotations

import multiprocessing
from multiprocessing.queues import SimpleQueue
from multiprocessing.synchronize import Barrier
from typing import Any, NamedTuple

from seasoned.config import Config
from seasoned.confirm.people.credential import Credential, without_key
from seasoned.confirm.policy import Policy
from seasoned.confirm.request.book import Book
from seasoned.confirm.request.request import Request
from seasoned.errors import Denied
from seasoned.store import open_database
from tests.confirm.books import Clock, Scene, open_book
from tests.confirm.keys import unlock

PRELOAD = ["tests.confirm.racing", "seasoned.redact.redactor", "seasoned.store.postgres", "psycopg"]


def open_again(config: Config) -> Any:
    """The store once more, as another process would open it."""
    return open_database(config, durable=True)


class Deed(NamedTuple):
    """What one process does with a request: redeem it, or decide it."""

    # Without its key, which does not leave its process.
    who: Credential
    request: Request
    approve: bool | None = None

    def do(self, book: Book) -> None:
        if self.approve is None:
            book.redeem(self.who, self.request.id, digest=self.request.digest)
        else:
            book.decide(unlock(book.database, self.who.name), self.request.id, approve=self.approve)


def race(config: Config, scene: Scene, deeds: list[Deed]) -> list[str]:
    """Let processes, each with a connection of its own, act at the same moment; what each was told."""
    # Children of a server without threads: quick, and nothing of this process is in them.
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload(PRELOAD)
    barrier, told = server.Barrier(len(deeds)), server.SimpleQueue()
    processes = [
        server.Process(
            target=_act,
            args=(config, scene.policy, scene.clock, deed._replace(who=without_key(deed.who)), barrier, told),
        )
        for deed in deeds
    ]
    for process in processes:
        process.start()
    found = [told.get() for _ in processes]
    for process in processes:
        process.join()
    return sorted(found)


def _act(config: Config, policy: Policy, clock: Clock, deed: Deed, barrier: Barrier, told: SimpleQueue[str]) -> None:
    try:
        with open_again(config) as database:
            book = open_book(database, policy, clock)
            barrier.wait(60)
            deed.do(book)
            told.put("won")
    except Denied as error:
        told.put(type(error).__name__)
    except BaseException as error:
        told.put(repr(error))
        raise
