"""The store for the tools of the server, opened for each call: a connection belongs to the thread that opened it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from seasoned.config import Config
from seasoned.redact.key import Secrecy, load_key
from seasoned.redact.redactor import Redactor
from seasoned.store import Store, open_store
from seasoned.template.recall.index import fill

# A model waits for the answer meanwhile. What is left is indexed by the next call or scan.
_FILL_SECONDS = 2.0


class StoreAccess:
    """The user's store, the redactor and the settings."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self._redactor: Redactor | None = None
        self._filling = Lock()

    @contextmanager
    def store(self) -> Iterator[Store]:
        with open_store(self.config.store_path) as store:
            yield store

    @property
    def redactor(self) -> Redactor:
        """Made when first needed: a server whose store is broken must still answer."""
        if self._redactor is None:
            self._redactor = Secrecy(load_key(self.config.home), self.config.redact).redactor()
        return self._redactor

    def catch_up(self, store: Store) -> None:
        """Index new sessions for at most two seconds, unless another call is doing so."""
        if self._filling.acquire(blocking=False):
            try:
                fill(store, within_seconds=_FILL_SECONDS)
            finally:
                self._filling.release()
