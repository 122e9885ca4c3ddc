"""The clerk: a thread that writes everything down off the request path, in batches, at most a second late."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable

from seasoned.config import Config
from seasoned.errors import StoreError
from seasoned.gateway.account import Budgets, Price, Pricing, add_entries
from seasoned.gateway.exchange import Exchange
from seasoned.gateway.failure import Failures
from seasoned.gateway.journal import Entry, Journal
from seasoned.gateway.key import Ring
from seasoned.gateway.record import Archive
from seasoned.gateway.talk import Talks
from seasoned.redact.key import Secrecy
from seasoned.store import Database, open_database, open_store

WINDOW_SECONDS = 0.5
"""How long a message may wait to be written: what a crash can lose."""
_MOST_WAITING = 5000
_AT_ONCE = 200
_GUARD_SECONDS = 10.0
_BREATH_SECONDS = 0.001
_STOP_SECONDS = 10.0
_log = logging.getLogger("seasoned.gateway")


class Clerk:
    """Takes exchanges from the event loop, and writes them and the journal into the store."""

    def __init__(
        self,
        config: Config,
        *,
        secrecy: Secrecy,
        journal: Journal,
        ring: Ring,
        budgets: Budgets,
        talks: Talks,
        failures: Failures,
        price: Pricing,
        records: bool = True,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._config = config
        self._secrecy = secrecy
        self._journal = journal
        self._ring = ring
        self._budgets = budgets
        self._talks = talks
        self._failures = failures
        self._price = price
        self._records = records
        self._clock = clock
        self._given: deque[Exchange] = deque()
        self._recorded: list[str] = []
        self._is_grown = False
        self._guarded_at = float("-inf")
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._database: Database | None = None
        self._archive: Archive | None = None

    @property
    def waiting(self) -> int:
        return len(self._given)

    def give(self, exchange: Exchange) -> None:
        """Have a turn written down. When the store fails for long, the newest are lost, and counted."""
        if not self._records or exchange.asked is None or exchange.talk is None or not exchange.talk.is_recorded:
            return
        if len(self._given) >= _MOST_WAITING:
            self._failures.counts["record"] += 1
            return
        self._given.append(exchange)

    def start(self, *, needs_keys: bool) -> None:
        """Load what is known, then work in a thread of its own; without a store only where nobody needs a key."""
        if needs_keys:
            self._load_keys()
        else:
            with self._failures.shield("store"):
                self._load_keys()
        if self._records:
            with self._failures.shield("store"), open_store(self._config.store_path) as store:
                self._talks.load(store)
        with self._failures.shield("journal"):
            self._journal.open()
        self._thread = threading.Thread(target=self._work, name="seasoned-clerk", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Write what is left, and end."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(_STOP_SECONDS)

    def _load_keys(self) -> None:
        database = open_database(self._config)
        try:
            self._ring.load(database)
        finally:
            database.close()

    def _work(self) -> None:
        is_behind = False
        while not self._stopping.wait(0 if is_behind else WINDOW_SECONDS):
            is_behind = self._round()
        while self._round():
            pass
        # Once more for what the last one only made known.
        self._round()
        with self._failures.shield("store"):
            self._close()

    def _round(self) -> bool:
        """One batch; whether more was waiting than goes into one."""
        is_behind = False
        with self._failures.shield("store"):
            self._account()
        with self._failures.shield("store"):
            is_behind = self._record()
            if self._database is not None:
                self._mark_recorded(self._database)
        with self._failures.shield("guard"):
            self._guard()
        return is_behind

    def _account(self) -> None:
        try:
            if self._database is None:
                self._database = open_database(self._config)
            for path, entries in self._journal.take():
                try:
                    add_entries(self._database, entries, self._priced)
                except StoreError:
                    if path is None:
                        self._journal.put_back(entries)
                    raise
                if path is not None:
                    self._journal.done(path)
            self._mark_recorded(self._database)
            self._ring.load(self._database)
            for told in self._budgets.load(self._database, self._ring.keys, now=self._clock()):
                _log.warning("%s", told)
        except StoreError:
            # A connection that failed is not used again: the next batch opens another one.
            self._close()
            raise

    def _priced(self, entry: Entry) -> Price:
        """What an entry cost; where that cannot be worked out it is unknown, and the entry counts all the same."""
        with self._failures.shield("price"):
            return self._price(entry)
        return Price()

    def _mark_recorded(self, database: Database) -> None:
        if self._recorded:
            with database.write():
                self._recorded = [one for one in self._recorded if not database.run("gateway.recorded", {"id": one})]

    def _record(self) -> bool:
        if not self._given:
            return False
        try:
            if self._archive is None:
                self._archive = Archive(open_store(self._config.store_path), self._secrecy, clock=self._clock)
            for _ in range(min(_AT_ONCE, len(self._given))):
                self._write(self._archive, self._given[0])
                self._given.popleft()
                # The event loop gets its turn between two of them.
                time.sleep(_BREATH_SECONDS)
        except StoreError:
            self._close_archive()
            raise
        return bool(self._given)

    def _guard(self) -> None:
        """Have examples that do harm suspended, soon after the conversations that show it."""
        now = self._clock()
        if self._archive is None or not self._is_grown or now - self._guarded_at < _GUARD_SECONDS:
            return
        self._is_grown, self._guarded_at = False, now
        for told in self._archive.guard(now=now):
            _log.warning("%s", told)

    def _write(self, archive: Archive, exchange: Exchange) -> None:
        """One exchange: a store that fails is tried again later, anything else is this exchange's own fault."""
        failed: StoreError | None = None
        with self._failures.shield("record"):
            try:
                archive.write(exchange)
            except StoreError as error:
                failed = error
            else:
                if exchange.talk is not None and exchange.talk.purpose != "compaction":
                    self._recorded.append(exchange.id)
                    self._is_grown = True
        if failed is not None:
            raise failed

    def _close(self) -> None:
        if self._database is not None:
            database, self._database = self._database, None
            database.close()
        self._close_archive()

    def _close_archive(self) -> None:
        if self._archive is not None:
            archive, self._archive = self._archive, None
            archive.close()
