"""Where the commands of `confirm` find the service, the store and the token."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from seasoned.config import Config, load
from seasoned.errors import CannotDo

if TYPE_CHECKING:
    from seasoned.confirm.request.book import Book

_NEEDED = ("argon2", "cryptography")


def need_server(*more: str) -> None:
    """Refuse in one sentence what cannot be done here. Asking over HTTP needs none of this."""
    missing = [name for name in (*_NEEDED, *more) if find_spec(name) is None]
    if missing:
        # Who only asks can ask a service elsewhere; who serves cannot.
        elsewhere = "" if more else ", or use --url"
        raise CannotDo(f"This needs {', '.join(missing)}: pip install 'seasoned[server]'{elsewhere}.")


@contextmanager
def open_book(config: Config | None = None, *, agreed: bool = False) -> Iterator[Book]:
    """The book of this machine's store, under its policy file; with `agreed`, only if that is the one agreed to."""
    need_server()
    from seasoned.confirm.policy import FILE, check_agreed, load_with_digest
    from seasoned.confirm.request.book import Book
    from seasoned.confirm.request.seal import load_seal
    from seasoned.redact.key import Secrecy, load_key
    from seasoned.store import open_database

    config = config or load()
    database = open_database(config, durable=True)
    try:
        policy, digest = load_with_digest(config.home / FILE)
        if agreed:
            check_agreed(database, config.home / FILE, digest)
        yield Book(
            database,
            policy=policy,
            seal=load_seal(config.home),
            secrecy=Secrecy(load_key(config.home), config.redact),
            clock=time.time,
        )
    finally:
        database.close()
